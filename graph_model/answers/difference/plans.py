"""Two plans, operation by operation, with the documents' own values.

The graph masks dates and ids in literals, so that two runs are one logical plan; this module
compares the original literals: ``PlanPairs`` reads the pages of both, ``compare_plans`` is pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from graph_model import labels
from graph_model.answers.difference.graphs import (
    ADDED,
    CHANGED,
    CHANGES,
    REMOVED,
    ColumnChange,
    ComparedColumn,
    FieldChange,
    PlanStep,
    align,
    compare_contents,
    compare_schemas,
    describe,
    field_reply,
    pair_by,
)
from graph_model.answers.plans import ColumnStep, PlanPage, plan
from graph_model.answers.sources import Sources
from graph_model.errors import NotFound
from graph_model.lineage import Partial
from graph_model.naming import fold
from graph_model.naming.columns import same_type
from graph_model.picture.json_form import to_json
from graph_model.picture.layout import Box, Point, lay_out
from graph_model.picture.operations import OperationView, OutputColumn
from graph_model.picture.view import DatasetReference, JobReference
from graph_model.producers.spline.expressions.forms import stable

_SENTENCES: Final = 12
_SHORT: Final = 160
_Operation = OperationView[DatasetReference]


@dataclass(frozen=True, slots=True)
class PlanReference:
    """One side: its document, its graph facts, and whether the whole plan was examined."""

    id: str
    plan_id: str
    plan: str
    job: JobReference
    name: str
    target: DatasetReference | None
    cut: bool


@dataclass(frozen=True, slots=True)
class OutputChange:
    """An output column of an operation; expressions None: it passes through unchanged."""

    change: str
    name: str
    type_before: str | None
    type_after: str | None
    expression_before: str | None
    expression_after: str | None


@dataclass(frozen=True, slots=True)
class OperationChange:
    """``id`` is that of the merged plan; ``before`` and ``after`` are ids in the documents.

    ``change`` None: the same on both sides. ``properties`` are the parameters that differ.
    """

    id: str
    change: str | None
    kind: str
    name: str
    label: str
    before: str | None
    after: str | None
    properties: tuple[FieldChange, ...]
    columns: tuple[OutputChange, ...]
    point: Point | None = None
    width: float = 0.0
    height: float = 0.0


@dataclass(frozen=True, slots=True)
class FlowChange:
    source: str
    target: str
    change: str | None


@dataclass(frozen=True, slots=True)
class StepChange:
    """A column edge of the plan; ``source`` is (dataset URI, column)."""

    change: str
    source: tuple[str, str]
    target: str
    kind: str
    how_before: str | None
    how_after: str | None
    expression_before: str | None
    expression_after: str | None


@dataclass(frozen=True, slots=True)
class PlanDifference:
    """``same_logic``: both are one logical plan in the graph. ``operations`` and ``flows`` are the
    merged plan, inputs first; an element that is the same on both sides has the change None.
    """

    before: PlanReference
    after: PlanReference
    same_logic: bool
    fields: tuple[FieldChange, ...]
    sources_added: tuple[DatasetReference, ...]
    sources_removed: tuple[DatasetReference, ...]
    schema: tuple[ColumnChange, ...]
    operations: tuple[OperationChange, ...]
    flows: tuple[FlowChange, ...]
    columns: tuple[StepChange, ...]
    summary: tuple[str, ...]


def compare_plans(before: PlanPage, after: PlanPage, *, layout: bool = False) -> PlanDifference:
    """The changes from the first plan to the second; none where the contents are equal under other
    ids.
    """
    sources_before, sources_after = _by_id(before.sources), _by_id(after.sources)
    cut = before.inspection.cut or after.inspection.cut
    shown = [
        _without_columns(page.inspection.operations) if cut else page.inspection.operations
        for page in (before, after)
    ]
    operations, flows = merge_operations(shown[0], shown[1], layout=layout)
    difference = PlanDifference(
        before=_reference(before),
        after=_reference(after),
        same_logic=before.plan == after.plan,
        fields=_compare_facts(_facts(before), _facts(after)),
        sources_added=tuple(s for k, s in sources_after.items() if k not in sources_before),
        sources_removed=tuple(s for k, s in sources_before.items() if k not in sources_after),
        schema=compare_schemas(_written(before), _written(after)),
        operations=operations,
        flows=flows,
        columns=tuple(_compare_steps(before.columns, after.columns)),
        summary=(),
    )
    return _with_summary(difference)


def _reference(page: PlanPage) -> PlanReference:
    return PlanReference(
        page.id, page.plan_id, page.plan, page.job, page.name, page.target, page.inspection.cut
    )


def _compare_facts(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[FieldChange, ...]:
    """An unreported mode is no change."""
    changes = compare_contents(before, after)
    return tuple(c for c in changes if c.field != "mode" or None not in (c.before, c.after))


def _facts(page: PlanPage) -> dict[str, Any]:
    return {
        "job": f"{page.job.namespace}/{page.job.name}",
        "target": page.target.uri if page.target else None,
        "mode": page.mode,
        "command": page.command,
        "system": page.system,
        "agent": page.agent,
        "labels": page.labels,
    }


def _by_id(references: Iterable[DatasetReference]) -> dict[str, DatasetReference]:
    return {
        reference.id: reference
        for reference in sorted(references, key=lambda reference: (reference.uri, reference.id))
    }


def _written(page: PlanPage) -> tuple[ComparedColumn, ...]:
    """The output columns of the write by folded name; of two equal names the first."""
    write = next((o for o in page.inspection.operations if o.kind == labels.WRITE), None)
    columns = write.schema if write is not None and write.schema is not None else ()
    compared = {
        fold(c.name): ComparedColumn(fold(c.name), c.name, c.type) for c in reversed(columns)
    }
    return tuple(reversed(compared.values()))


# --- operations ----------------------------------------------------------------------------------


def merge_operations(
    before: Sequence[_Operation], after: Sequence[_Operation], *, layout: bool
) -> tuple[tuple[OperationChange, ...], tuple[FlowChange, ...]]:
    """Both plans merged: the operations of the second, and those that only the first has."""
    pairs = align(
        [_step(operation) for operation in before], [_step(operation) for operation in after]
    )
    old = {operation.id: operation for operation in before}
    partner = {new: old[key] for key, new in pairs.items()}
    ids = {f"after {operation.id}": f"operation-{n}" for n, operation in enumerate(after, 1)}
    gone = [operation for operation in before if operation.id not in pairs]
    ids |= {
        f"before {operation.id}": f"operation-{n}"
        for n, operation in enumerate(gone, len(after) + 1)
    }
    ids |= {f"before {key}": ids[f"after {other}"] for key, other in pairs.items()}
    flows = _flows(before, after, ids)
    labelled = {operation.id: operation.label for operation in after}
    changes = [_alone(ids[f"before {operation.id}"], operation, REMOVED) for operation in gone]
    for operation in after:
        key, former = ids[f"after {operation.id}"], partner.get(operation.id)
        if former is None:
            changes.append(_alone(key, operation, ADDED))
        else:
            changes.append(_on_both_sides(key, former, operation, pairs, labelled))
    return _placed(changes, flows) if layout else tuple(changes), flows


def _without_columns(operations: Iterable[_Operation]) -> tuple[_Operation, ...]:
    """Where a plan is too wide to show all columns, only the write's columns are compared: where
    the list is cut depends on the plan, not on the operation.
    """
    return tuple(
        operation if operation.kind == labels.WRITE else replace(operation, schema=None)
        for operation in operations
    )


def _step(operation: _Operation) -> PlanStep:
    content = {("parameter", f"{name}={text}") for name, text in _stated(operation)}
    for place, column in enumerate(operation.schema or ()):
        content.add(("column", f"{column.name} {column.type} {column.expression}"))
        content.add(("place", f"{place} {column.name}"))
    return PlanStep(
        operation.id,
        operation.kind,
        stable(operation.name),
        frozenset(content),
        operation.inputs,
        frozenset(dataset.id for dataset in operation.datasets),
    )


def _flows(
    before: Sequence[_Operation], after: Sequence[_Operation], ids: dict[str, str]
) -> tuple[FlowChange, ...]:
    old, new = (
        {
            (ids[f"{side} {child}"], ids[f"{side} {operation.id}"])
            for operation in operations
            for child in operation.inputs
            if f"{side} {child}" in ids
        }
        for side, operations in (("before", before), ("after", after))
    )
    return tuple(
        FlowChange(
            *ends, None if ends in old and ends in new else ADDED if ends in new else REMOVED
        )
        for ends in sorted(old | new)
    )


def _alone(key: str, operation: _Operation, change: str) -> OperationChange:
    """An operation on one side only."""
    return OperationChange(
        id=key,
        change=change,
        kind=operation.kind,
        name=operation.name,
        label=operation.label,
        before=operation.id if change == REMOVED else None,
        after=operation.id if change == ADDED else None,
        properties=(),
        columns=(),
        width=operation.width,
        height=operation.height,
    )


def _on_both_sides(
    key: str,
    old: _Operation,
    new: _Operation,
    pairs: Mapping[str, str],
    labelled: Mapping[str, str],
) -> OperationChange:
    properties = compare_contents(_parameters(old), _parameters(new))
    properties += _inputs(old, new, pairs, labelled)
    columns = tuple(_compare_outputs(old.schema or (), new.schema or ()))
    return replace(
        _alone(key, new, ADDED),
        change=CHANGED if properties or columns else None,
        before=old.id,
        properties=properties,
        columns=columns,
    )


def _stated(operation: _Operation) -> Iterator[tuple[str, str]]:
    """The properties of the plan itself: no counts of the run that is shown."""
    return ((entry.name, entry.text) for entry in operation.properties if not entry.measured)


def _parameters(operation: _Operation) -> dict[str, Any]:
    return {
        "name": stable(operation.name),
        **dict(_stated(operation)),
        "datasets": tuple(sorted(dataset.uri for dataset in operation.datasets)),
    }


def _inputs(
    old: _Operation, new: _Operation, pairs: Mapping[str, str], labelled: Mapping[str, str]
) -> tuple[FieldChange, ...]:
    """Changed inputs: no parameter shows an operation inserted before this one or removed."""
    if tuple(pairs.get(child, "") for child in old.inputs) == new.inputs:
        return ()
    return (
        FieldChange(
            "inputs",
            tuple(labelled.get(pairs.get(child, ""), child) for child in old.inputs),
            tuple(labelled.get(child, child) for child in new.inputs),
        ),
    )


def _compare_outputs(
    before: Sequence[OutputColumn], after: Sequence[OutputColumn]
) -> Iterator[OutputChange]:
    old, new = _named(before), _named(after)
    for key, column in old.items():
        if key not in new:
            yield OutputChange(REMOVED, column.name, column.type, None, column.expression, None)
    for key, column in new.items():
        former = old.get(key)
        if former is None:
            yield OutputChange(ADDED, column.name, None, column.type, None, column.expression)
        elif former.expression != column.expression or not same_type(former.type, column.type):
            yield OutputChange(
                CHANGED, column.name, former.type, column.type, former.expression, column.expression
            )  # fmt: skip


def _named(columns: Sequence[OutputColumn]) -> dict[tuple[str, int], OutputColumn]:
    """By name and occurrence: a self-join has two columns of each name."""
    counted: dict[str, int] = {}
    named: dict[tuple[str, int], OutputColumn] = {}
    for column in columns:
        counted[column.name] = counted.get(column.name, 0) + 1
        named[column.name, counted[column.name]] = column
    return named


def _placed(
    changes: Sequence[OperationChange], flows: Sequence[FlowChange]
) -> tuple[OperationChange, ...]:
    boxes = [
        Box(change.id, change.width, change.height, f"{n:06d}") for n, change in enumerate(changes)
    ]
    points = lay_out(boxes, [(flow.source, flow.target) for flow in flows])
    return tuple(replace(change, point=points.get(change.id)) for change in changes)


# --- columns -------------------------------------------------------------------------------------


def _compare_steps(
    before: Sequence[ColumnStep], after: Sequence[ColumnStep]
) -> Iterator[StepChange]:
    old, new = _by_end(before), _by_end(after)
    for end in sorted(old.keys() | new.keys()):
        for step, other in pair_by(old.get(end, []), new.get(end, []), lambda step: step.how):
            change = _step_change(end, step, other)
            if change is not None:
                yield change


_End = tuple[str, str, str, str]


def _by_end(steps: Sequence[ColumnStep]) -> dict[_End, list[ColumnStep]]:
    by_end: dict[_End, list[ColumnStep]] = {}
    for step in steps:
        end = (step.target.name, step.source.dataset, step.source.name, step.kind)
        by_end.setdefault(end, []).append(step)
    return by_end


def _step_change(end: _End, old: ColumnStep | None, new: ColumnStep | None) -> StepChange | None:
    if old and new and (old.how, old.expression) == (new.how, new.expression):
        return None
    target, dataset, column, kind = end
    return StepChange(
        CHANGED if old and new else ADDED if new else REMOVED,
        (dataset, column),
        target,
        kind,
        old.how if old else None,
        new.how if new else None,
        old.expression if old else None,
        new.expression if new else None,
    )


# --- summaries in words --------------------------------------------------------------------------


def _with_summary(difference: PlanDifference) -> PlanDifference:
    sentences = list(_sentences(difference))
    more = len(sentences) - _SENTENCES
    if more > 0:
        sentences = [*sentences[:_SENTENCES], f"and {more:,} more"]
    return replace(difference, summary=tuple(sentences))


def _sentences(difference: PlanDifference) -> Iterator[str]:
    yield from (f"reads {source.uri} (new)" for source in difference.sources_added)
    yield from (f"reads {source.uri} no longer" for source in difference.sources_removed)
    for change in difference.fields:
        yield f"{change.field} was {_short(change.before)}, is {_short(change.after)}"
    yield from describe(difference.schema)
    for operation in difference.operations:
        yield from _operation_sentences(operation)


def _operation_sentences(operation: OperationChange) -> Iterator[str]:
    called = (
        f"{operation.name} {operation.label}"
        if operation.label != operation.name
        else operation.name
    )
    if operation.change in {ADDED, REMOVED}:
        yield f"operation {_short(called)} {operation.change}"
        return
    for change in operation.properties:
        if change.field not in {"datasets", "inputSources", "outputSource", "mode", "inputs"}:
            sides = f"{change.field} was {_short(change.before)}, is {_short(change.after)}"
            yield f"{_short(called)}: {sides}"
        elif change.field in {"inputSources", "outputSource", "inputs"}:
            yield f"{_short(called)}: {change.field} changed"
    for column in operation.columns:
        if column.change == CHANGED and column.expression_before != column.expression_after:
            yield (
                f"{_short(called)}: column {column.name} was "
                f"{_short(column.expression_before or column.name)}, "
                f"is {_short(column.expression_after or column.name)}"
            )


def _short(value: Any) -> str:
    text = (
        "nothing"
        if value in (None, "", (), [])
        else value
        if isinstance(value, str)
        else str(value)
    )
    text = " ".join(text.split())
    return text if len(text) <= _SHORT else f"{text[: _SHORT - 1]}…"


_PAGES_KEPT: Final = 4


class PlanPairs:
    """Plans compared in sequence: the pages of the last few are kept. Raises NotFound."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._pages: dict[str, PlanPage] = {}

    def compare(self, before: str, after: str, *, layout: bool = False) -> PlanDifference:
        """Compare two plans, by any id that ``/graph/plans/<id>`` accepts; each must be visible."""
        return compare_plans(self._page(before), self._page(after), layout=layout)

    def summary(self, before: str, after: str) -> tuple[str, ...] | None:
        """A short summary of the changes between two plans; None where one has no document."""
        try:
            return self.compare(before, after).summary
        except NotFound:
            return None

    def _page(self, plan_id: str) -> PlanPage:
        """The page of one plan; the last few are kept, because versions are
        compared in sequence.
        """
        if plan_id not in self._pages:
            strict = replace(self._sources, opens_hidden=False)
            page = plan(strict, plan_id, at=None, document=False, layout=False)
            self._pages[plan_id] = page
            if len(self._pages) > _PAGES_KEPT:
                del self._pages[next(iter(self._pages))]
        return self._pages[plan_id]


# --- as JSON --------------------------------------------------------------------------------------


def plan_difference_reply(difference: PlanDifference, *, unchanged: bool) -> dict[str, Any]:
    """Two plans as one; without ``unchanged`` the operations and flows that differ."""
    operations = [operation for operation in difference.operations if unchanged or operation.change]
    flows = [flow for flow in difference.flows if unchanged or flow.change]
    reply: dict[str, Any] = to_json(replace(difference, operations=(), flows=()))
    del reply["flows"]  # listed as edges
    return reply | {
        "fields": [field_reply(change) for change in difference.fields],
        "counts": _operation_counts(difference.operations),
        "operations": [_operation_reply(operation) for operation in operations],
        "edges": [{"from": f.source, "to": f.target, "change": f.change} for f in flows],
        "columns": [_step_reply(step) for step in reply["columns"]],
    }


def plan_partial(difference: PlanDifference | None) -> Partial | None:
    if difference is None or not (difference.before.cut or difference.after.cut):
        return None
    return Partial("nodes", len(difference.operations))


def _operation_counts(operations: tuple[OperationChange, ...]) -> dict[str, int]:
    counts = {
        change: sum(operation.change == change for operation in operations) for change in CHANGES
    }
    return counts | {"same": sum(operation.change is None for operation in operations)}


def _operation_reply(operation: OperationChange) -> dict[str, Any]:
    reply: dict[str, Any] = to_json(operation)
    reply["properties"] = [field_reply(field) for field in operation.properties]
    point = reply.pop("point")
    if point is None:
        del reply["width"], reply["height"]
        return reply
    return {**reply, **point}


def _step_reply(step: dict[str, Any]) -> dict[str, Any]:
    dataset, column = step.pop("source")
    return {"from": {"dataset": dataset, "name": column}, "to": step.pop("target"), **step}
