"""``/graph/impact`` and ``/graph/impact/plan``: one changed column, or the captured plans of a
changed job, compared with the graph.

captured documents -> translation -> outlines ──┐
the job's plans in the graph -> outlines ───────┴-> changes -> everything downstream -> verdicts

Of changes those come first that others read. A dropped column beside a new one with the same
sources and the same expression counts as renamed; that is a guess, and is marked as one.

A plan that uses a dropped or renamed column breaks, whether it takes the value or only filters,
joins, groups or sorts by it: Spark cannot analyse it any more, and plans on its results lose their
source. A column of another type may break its users.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, Final

from graph_model import identity, labels, naming
from graph_model.answers.impact.changes import Change, ChangeKind, Effect
from graph_model.answers.impact.outlines import (
    ColumnOutline,
    PlanOutline,
    RowInfluence,
    known_outlines,
)
from graph_model.answers.impact.report import (
    PREFIX,
    Impact,
    ImpactItem,
    ImpactReport,
    Scope,
    impact_reply,
    order_of,
)
from graph_model.answers.nodes import find_node, location_of
from graph_model.answers.sources import Sources
from graph_model.errors import InvalidInput
from graph_model.facts import Vertex
from graph_model.lineage import HUB_LIMIT, ChainFlow, holders
from graph_model.naming.columns import field_changes, same_nesting, same_type
from graph_model.picture.json_form import to_json
from graph_model.stores.graph import Direction
from graph_model.values import iso

_EXECUTIONS_OF_A_RUN = 1_000


@dataclass(frozen=True, slots=True)
class PlanCheck:
    """One captured plan. ``plan`` is the logical plan compared with it; None: the plan is new."""

    job: str
    target: str
    plan: str | None
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class CheckReport:
    """``missing``: URIs that the job's last run wrote and that no captured plan writes.

    ``unmet``: known jobs of which no captured plan writes an output, or reads an input where an
    output has moved. Their places were probably not mapped, so a verdict says nothing about them.
    """

    plans: tuple[PlanCheck, ...]
    missing: tuple[str, ...]
    unmet: tuple[str, ...]
    effect: Effect
    impact: ImpactReport


class ImpactCheck:
    """Checks changes against one graph and one catalogue.

    A hidden plan is treated as unknown: a captured plan that replaces it counts as new.
    """

    def __init__(self, sources: Sources) -> None:
        self._graph = sources.graph
        self._catalogue = sources.catalogue
        self._impact = Impact(sources)
        self._hidden = sources.hidden

    def of_column(self, column: str, kind: ChangeKind, scope: Scope) -> ImpactReport:
        """The impact of dropping, renaming or retyping a column (an id).

        The fields of a struct are included. Raises InvalidInput for an id that is not a column's.
        """
        if identity.kind_of(column) != labels.COLUMN:
            raise InvalidInput("change: expected a column as node")
        change = Change(kind, column)
        starts = self._with_fields((column,)).get(column, frozenset())
        fates = dict.fromkeys(starts, fate(change))
        return judge(self._impact.of_columns(starts, scope), change.effect, fates)

    def of_plans(self, captured: Collection[PlanOutline], scope: Scope) -> CheckReport:
        """The impact of replacing the plans that their jobs run now by these plans."""
        pairs: list[tuple[PlanOutline, PlanOutline | None]] = []
        missing: list[str] = []
        unmet: list[str] = []
        for job in sorted({plan.job for plan in captured}):
            new = [self._shown(plan) for plan in captured if plan.job == job]
            current = self._current(job, new, scope.at)
            paired = pair(new, current)
            pairs += paired
            taken = {old.logical_plan for _, old in paired if old is not None}
            missing += [old.target_uri for old in current if old.logical_plan not in taken]
            if current and not any(old and _meets(plan, old) for plan, old in paired):
                unmet.append("/".join(new[0].job_name))
        checks = [(new, old, compare(old, new) if old else ()) for new, old in pairs]
        impact = self._impact_of([(old, changes) for _, old, changes in checks if old], scope)
        return CheckReport(
            plans=tuple(
                PlanCheck(
                    "/".join(new.job_name), new.target_uri, old.logical_plan if old else None,
                    changes,
                )
                for new, old, changes in checks
            ),
            missing=tuple(sorted(set(missing))),
            unmet=tuple(sorted(unmet)),
            effect=Effect(impact.verdict or Effect.NONE),
            impact=impact,
        )  # fmt: skip

    def _shown(self, plan: PlanOutline) -> PlanOutline:
        inputs = {key: uri for key, uri in plan.inputs.items() if key not in self._hidden}
        return replace(plan, inputs=inputs)

    def _current(
        self, job: str, captured: Collection[PlanOutline], at: int | None
    ) -> list[PlanOutline]:
        """The plans that a job runs now, hidden ones left out."""
        plans = self._plans_of_last_run(job, {plan.target for plan in captured}, at)
        return [
            self._shown(plan)
            for plan in known_outlines(plans, self._graph, self._catalogue)
            if self._hidden.isdisjoint((plan.job, plan.target))
        ]

    def _plans_of_last_run(
        self, job: str, targets: Collection[str], at: int | None
    ) -> frozenset[str]:
        """The logical plans of the job's last good run, and its last plan for each of these
        targets.
        """
        plans: set[str] = set()
        last = self._catalogue.executions(job=job, state=labels.COMPLETED, at=at, limit=1).items
        if last:
            page = self._catalogue.executions(
                job=job, run=last[0].run, state=labels.COMPLETED, at=at, limit=_EXECUTIONS_OF_A_RUN
            )
            plans |= {row.logical_plan for row in page.items if row.kind == labels.WRITE_KIND}
        written = {row.target for row in self._catalogue.logical_plans(plans)}
        for target in set(targets) - written:
            page = self._catalogue.executions(
                job=job, target=target, state=labels.COMPLETED, at=at, limit=1
            )
            plans |= {row.logical_plan for row in page.items}
        return frozenset(plans)

    # --- impact downstream of the changes --------------------------------------------------------

    def _impact_of(
        self, changed: Sequence[tuple[PlanOutline, tuple[Change, ...]]], scope: Scope
    ) -> ImpactReport:
        reports = [self._nothing(scope)]  # even without changes: it carries asOf
        for effect in (Effect.BREAKS, Effect.MAY_BREAK):
            fates: dict[str, str] = {}
            for plan, changes in changed:
                fates |= self._fates(plan, _of_columns(changes, effect), scope.at)
            if fates:
                reports.append(judge(self._impact.of_columns(fates.keys(), scope), effect, fates))
        for plan, changes in changed:
            moved = [change for change in changes if change.kind == ChangeKind.TARGET_MOVED]
            reports += [self._moved(plan, change, scope) for change in moved]
        return join_reports(reports)

    def _nothing(self, scope: Scope) -> ImpactReport:
        as_of = iso(self._catalogue.newest_event(scope.at))
        return ImpactReport((), (), as_of, scope.depth, 0, False, None, 0)

    def _moved(self, plan: PlanOutline, change: Change, scope: Scope) -> ImpactReport:
        place = location_of(self._catalogue, plan.target, scope.at)
        report = self._impact.of_node(place, replace(scope, columns=False))
        return judge(report, change.effect, {place: fate(change)})

    def _fates(
        self, plan: PlanOutline, changes: Sequence[Change], at: int | None
    ) -> dict[str, str]:
        """Per known column the effect of these changes on it; of two changes
        the later one counts.
        """
        if not changes:
            return {}
        place = location_of(self._catalogue, plan.target, at)
        asked = [(identity.column_id(place, change.subject), change) for change in changes]
        known = self._with_fields({column for column, _ in asked})
        fates: dict[str, str] = {}
        for column, change in asked:
            changed = known.get(column, frozenset())
            fates |= dict.fromkeys(
                changed & {column} if _by_fields(change) else changed, fate(change)
            )
        return fates

    def _with_fields(self, columns: Collection[str]) -> dict[str, frozenset[str]]:
        """Per known column among these, the column itself and its known fields."""
        tops = self._graph.vertices(columns)
        datasets = {str(vertex.value("dataset_id")) for vertex in tops}
        held = self._graph.edges(datasets, Direction.DOWNSTREAM, (labels.HAS,), HUB_LIMIT)
        inside = _inside(self._graph.vertices({edge.in_id for edge in held.edges}))
        return {top.id: frozenset({top.id, *inside.get(_name(top), ())}) for top in tops}


def _meets(captured: PlanOutline, known: PlanOutline) -> bool:
    """Whether the two have a place in common: the target, else (it has moved) an input."""
    same_target = captured.target == known.target
    return same_target or not captured.inputs.keys().isdisjoint(known.inputs)


def _of_columns(changes: Iterable[Change], effect: Effect) -> list[Change]:
    """The changes with this effect on columns; a moved target is treated separately."""
    return [
        change
        for change in changes
        if change.effect == effect and change.kind != ChangeKind.TARGET_MOVED
    ]


def _by_fields(change: Change) -> bool:
    """Whether a struct has another type because of fields that are listed as changes themselves."""
    if change.kind != ChangeKind.COLUMN_RETYPED or change.before is None or change.after is None:
        return False
    return same_nesting(change.before, change.after)


def _name(column: Vertex) -> tuple[str, str]:
    return str(column.value("dataset_id")), str(column.value("path"))


def _inside(columns: Iterable[Vertex]) -> dict[tuple[str, str], set[str]]:
    """Per (dataset, path) of a struct the ids of its nested columns among these."""
    inside: dict[tuple[str, str], set[str]] = {}
    for column in columns:
        dataset, path = _name(column)
        for holder in holders(path)[1:]:
            inside.setdefault((dataset, holder), set()).add(column.id)
    return inside


def impact(sources: Sources, reference: str, scope: Scope) -> ImpactReport:
    """Everything downstream of a dataset, a column, a job (in any spelling) or a ``prefix:``."""
    if reference.startswith(PREFIX):
        return Impact(sources).of_prefix(reference.removeprefix(PREFIX), scope)
    sources, node = find_node(sources, reference, scope.at)
    return Impact(sources).of_node(node, scope)


def impact_of_change(
    sources: Sources, reference: str, change: ChangeKind, scope: Scope
) -> ImpactReport:
    """The impact of dropping, renaming or retyping a column."""
    sources, node = find_node(sources, reference, scope.at)
    return ImpactCheck(sources).of_column(node, change, scope)


def check_plans(
    sources: Sources, captured: Iterable[PlanOutline], job: str | None, scope: Scope
) -> CheckReport:
    """The impact of replacing current plans by captured ones; ``job`` (its id or
    ``<namespace>/<name>``, a known job): treat the captured plans as plans of this job.
    """
    if job is not None:
        node = job if identity.kind_of(job) == labels.JOB else f"job:{job}"
        sources, job_id = find_node(sources, node)
        row = sources.catalogue.jobs((job_id,))[0]
        name = (row.namespace, row.name)
        captured = [replace(outline, job=row.id, job_name=name) for outline in captured]
    return ImpactCheck(sources).of_plans(tuple(captured), scope)


_SHOWN_DIGITS: Final = 8


def compare(before: PlanOutline, after: PlanOutline) -> tuple[Change, ...]:
    """The differences, in the order of :class:`ChangeKind`, then of the columns."""
    changes = [
        *_columns(before, after),
        *_rows(before, after),
        *_inputs(before, after),
        *_writes(before, after),
    ]
    if not changes:
        changes += _remaining(before, after)
    order = list(ChangeKind)
    return tuple(sorted(changes, key=lambda change: order.index(change.kind)))


def _remaining(before: PlanOutline, after: PlanOutline) -> Iterator[Change]:
    """A difference that outlines do not show: a limit, the order of the columns, another step."""
    if before.fingerprint != after.fingerprint:
        ends = before.fingerprint[:_SHOWN_DIGITS], after.fingerprint[:_SHOWN_DIGITS]
        yield Change(ChangeKind.PLAN_CHANGED, "fingerprint", *ends)


# --- columns -------------------------------------------------------------------------------------


def _columns(before: PlanOutline, after: PlanOutline) -> Iterator[Change]:
    if before.columns is None or after.columns is None:
        if before.columns != after.columns:
            yield Change(ChangeKind.SCHEMA_UNKNOWN, after.target_uri)
        return
    old = {column.path: column for column in before.columns}
    new = {column.path: column for column in after.columns}
    dropped = [column for path, column in old.items() if path not in new]
    added = [column for path, column in new.items() if path not in old]
    renamed = _renamed(dropped, added, before.columns, after.columns)
    for column in dropped:
        if column.path in renamed:
            to = renamed[column.path]
            yield Change(ChangeKind.COLUMN_RENAMED, column.path, column.name, to.name)
        else:
            yield Change(ChangeKind.COLUMN_DROPPED, column.path, column.type)
    taken = {column.path for column in renamed.values()}
    for column in added:
        if column.path not in taken:
            yield Change(ChangeKind.COLUMN_ADDED, column.path, None, column.type)
    for path, column in old.items():
        if path in new:
            yield from _column(column, new[path])


def _column(before: ColumnOutline, after: ColumnOutline) -> Iterator[Change]:
    if before.type is not None and after.type is not None:
        if not same_type(before.type, after.type):
            yield Change(ChangeKind.COLUMN_RETYPED, before.path, before.type, after.type)
        yield from _inside_type(before.path, before.type, after.type)
    if (before.sources, before.expressions) != (after.sources, after.expressions):
        yield Change(
            ChangeKind.COLUMN_RECOMPUTED,
            before.path,
            labels.BETWEEN_EXPRESSIONS.join(before.expressions),
            labels.BETWEEN_EXPRESSIONS.join(after.expressions),
        )


def _inside_type(path: str, before: str, after: str) -> Iterator[Change]:
    """The fields of a struct, as columns of their own: a reader of ``person.email`` breaks without
    it, whatever else ``person`` holds.
    """
    for field in field_changes(before, after):
        names = (*naming.split_path(path), *map(naming.fold, field.path))
        kind = ChangeKind.COLUMN_RETYPED
        if field.before is None or field.after is None:
            gone = field.after is None
            kind = ChangeKind.COLUMN_DROPPED if gone else ChangeKind.COLUMN_ADDED
        yield Change(kind, naming.column_path(names), field.before, field.after)


def _renamed(
    dropped: Sequence[ColumnOutline],
    added: Sequence[ColumnOutline],
    before: Sequence[ColumnOutline],
    after: Sequence[ColumnOutline],
) -> dict[str, ColumnOutline]:
    """Path of a dropped column -> the added column that is probably its new
    name; each used once.
    """
    old_place = {column.path: place for place, column in enumerate(before)}
    new_place = {column.path: place for place, column in enumerate(after)}

    def unlikeness(old: ColumnOutline, new: ColumnOutline) -> tuple[bool, bool, int]:
        apart = abs(old_place[old.path] - new_place[new.path])
        return old.expressions != new.expressions, not same_type(old.type, new.type), apart

    pairs = [
        (unlikeness(old, new), old.path, new)
        for old in dropped
        for new in added
        if old.sources and old.sources == new.sources
    ]
    renamed: dict[str, ColumnOutline] = {}
    taken: set[str] = set()
    for _, path, new in sorted(pairs, key=lambda pair: (pair[0], pair[1], pair[2].path)):
        if path not in renamed and new.path not in taken:
            renamed[path] = new
            taken.add(new.path)
    return renamed


# --- rows, mode and target -----------------------------------------------------------------------

_DECIDING: Final = {
    labels.FILTER: "filtered by",
    labels.JOIN: "joined by",
    labels.GROUP_BY: "grouped by",
    labels.SORT: "sorted by",
}


def _rows(before: PlanOutline, after: PlanOutline) -> Iterator[Change]:
    """Changes to the set of rows: filters, joins, groupings and sort orders."""
    for how in sorted({influence.how for influence in before.influences | after.influences}):
        old = {influence for influence in before.influences if influence.how == how}
        new = {influence for influence in after.influences if influence.how == how}
        if _differ(old, new):
            subject = _DECIDING.get(how, how)
            yield Change(ChangeKind.ROWS_CHANGED, subject, _conditions(old), _conditions(new))
    if before.joins is not None and after.joins is not None and before.joins != after.joins:
        ends = ", ".join(before.joins), ", ".join(after.joins)
        yield Change(ChangeKind.ROWS_CHANGED, "join types", *ends)


def _differ(old: Set[RowInfluence], new: Set[RowInfluence]) -> bool:
    """Columns alone are compared where a producer does not report its conditions."""
    if all(influence.expression for influence in old | new):
        return old != new
    return {(influence.dataset, influence.path) for influence in old} != {
        (influence.dataset, influence.path) for influence in new
    }


def _conditions(influences: Iterable[RowInfluence]) -> str:
    """The conditions, or the columns without one, each once: a condition stands at each of its
    columns. One that holds the separator itself (``flags | 4 > 0``) stands in two parts.
    """
    texts = {
        text
        for influence in influences
        for text in (influence.expression or influence.path).split(labels.BETWEEN_EXPRESSIONS)
    }
    return ", ".join(sorted(texts))


def _inputs(before: PlanOutline, after: PlanOutline) -> Iterator[Change]:
    for dataset in sorted(before.inputs.keys() - after.inputs.keys()):
        yield Change(ChangeKind.INPUT_DROPPED, before.inputs[dataset])
    for dataset in sorted(after.inputs.keys() - before.inputs.keys()):
        yield Change(ChangeKind.INPUT_ADDED, after.inputs[dataset])


def _writes(before: PlanOutline, after: PlanOutline) -> Iterator[Change]:
    if before.target != after.target:
        yield Change(
            ChangeKind.TARGET_MOVED, before.target_uri, before.target_uri, after.target_uri
        )
    if before.mode != after.mode and labels.UNKNOWN_MODE not in (before.mode, after.mode):
        yield Change(ChangeKind.MODE_CHANGED, before.target_uri, before.mode, after.mode)
    if before.partition_keys != after.partition_keys:
        yield Change(
            ChangeKind.PARTITIONING_CHANGED,
            before.target_uri,
            ", ".join(before.partition_keys),
            ", ".join(after.partition_keys),
        )


# --- pairing plans of a job ---------------------------------------------------------------------


def pair(
    captured: Sequence[PlanOutline], current: Sequence[PlanOutline]
) -> list[tuple[PlanOutline, PlanOutline | None]]:
    """Per captured plan the plan of the job that it replaces; None for a new one.

    Equal plans are paired first, then plans with one target, those with most columns and inputs in
    common before others. Last, if one plan is left on each side, these two are paired: the target
    has moved.
    """
    places: dict[int, int] = {}
    candidates = sorted(
        (-_likeness(new, old), number, place)
        for number, new in enumerate(captured)
        for place, old in enumerate(current)
        if new.target == old.target
    )
    for _, number, place in candidates:
        if number not in places and place not in places.values():
            places[number] = place
    left = [number for number in range(len(captured)) if number not in places]
    free = [place for place in range(len(current)) if place not in places.values()]
    if len(left) == len(free) == 1:
        places[left[0]] = free[0]
    return [
        (new, current[places[number]] if number in places else None)
        for number, new in enumerate(captured)
    ]


def _likeness(outline: PlanOutline, other: PlanOutline) -> int:
    if outline.fingerprint == other.fingerprint:
        return 1_000_000
    columns = {c.path for c in outline.columns or ()} & {c.path for c in other.columns or ()}
    return len(columns) + len(outline.inputs.keys() & other.inputs.keys())


_WORST_FIRST: Final = (Effect.BREAKS, Effect.MAY_BREAK, Effect.NONE)
_VERBS: Final = {
    labels.IDENTITY: "copies",
    labels.TRANSFORMATION: "computes with",
    labels.AGGREGATION: "aggregates",
    labels.WINDOW: "orders or divides by",
    labels.CONDITIONAL: "decides by",
    labels.FILTER: "filters by",
    labels.JOIN: "joins by",
    labels.GROUP_BY: "groups by",
    labels.SORT: "sorts by",
    labels.MAY_READ: "may read",
}
_FURTHER: Final = {Effect.BREAKS: "breaks", Effect.MAY_BREAK: "may break"}


def fate(change: Change) -> str:
    """``is dropped``, ``is renamed to b``, ``changes from int to string``."""
    match change.kind:
        case ChangeKind.COLUMN_DROPPED:
            return "is dropped"
        case ChangeKind.COLUMN_RENAMED:
            return f"is renamed to {change.after}" if change.after else "is renamed"
        case ChangeKind.COLUMN_RETYPED:
            types = change.before is not None and change.after is not None
            return f"changes from {change.before} to {change.after}" if types else "is retyped"
        case ChangeKind.TARGET_MOVED:
            return f"is written to {change.after} instead"
        case _:
            return "changes"


def judge(report: ImpactReport, effect: Effect, fates: Mapping[str, str]) -> ImpactReport:
    """The report with a verdict on every item; ``fates`` gives the change of each start."""
    writers = {node.id for item in report.items for node in item.path[:-1]}
    items = tuple(
        replace(
            item,
            verdict=_effect_on(item, effect).value,
            reason=_reason(item, effect, fates, writes=item.id in writers),
        )
        for item in report.items
    )
    return replace(report, items=items, verdict=worst(_effect_on(i, effect) for i in items).value)


def _effect_on(item: ImpactItem, effect: Effect) -> Effect:
    """A reader that may read the column may break, if it reads it. What only former plans reached
    runs no more: nothing of it breaks.
    """
    if item.flow == ChainFlow.PAST:
        return Effect.NONE
    uncertain = item.how == labels.MAY_READ and effect == Effect.BREAKS
    return Effect.MAY_BREAK if uncertain else effect


def _reason(item: ImpactItem, effect: Effect, fates: Mapping[str, str], *, writes: bool) -> str:
    """``report joins by daily#customer, which is dropped``; ``writes``: something lies behind the
    item, so that a job is no mere reader.
    """
    at = len(item.path) - (2 if item.kind == labels.JOB else 3)
    used, job = item.path[at], item.path[at + 1]
    if item.flow == ChainFlow.PAST:
        return f"a former plan of {job.label} read {used.label}; its newest run did not"
    becomes = fates.get(used.id, "changes") if at == 0 else _FURTHER[effect]
    verb = _VERBS.get(item.how or "", "uses" if item.how else "reads")
    if item.kind == labels.JOB and item.how == labels.IDENTITY and not writes:
        verb = "reads"
    return f"{job.label} {verb} {used.label}, which {becomes}"


def worst(effects: Iterable[Effect]) -> Effect:
    """The worst of these; NONE for none."""
    present = set(effects)
    return next((effect for effect in _WORST_FIRST if effect in present), Effect.NONE)


def join_reports(reports: Sequence[ImpactReport]) -> ImpactReport:
    """Several reports as one: an item in two of them keeps the worse verdict, then the shorter
    path.
    """
    items = [item for report in reports for item in report.items]
    items.sort(key=_order)
    kept: dict[str, ImpactItem] = {}
    for item in items:
        kept.setdefault(item.id, item)
    return replace(
        reports[0],
        starts=tuple(dict.fromkeys(start for report in reports for start in report.starts)),
        items=tuple(kept.values()),
        depth_reached=max(report.depth_reached for report in reports),
        folded=any(report.folded for report in reports),
        partial=next((report.partial for report in reports if report.partial), None),
        hidden=max(report.hidden for report in reports),
        verdict=worst(Effect(report.verdict or Effect.NONE) for report in reports).value,
    )


def _order(item: ImpactItem) -> tuple[int, tuple[int, int, str, str, str]]:
    return _WORST_FIRST.index(Effect(item.verdict or Effect.NONE)), order_of(item)


# --- as JSON --------------------------------------------------------------------------------------


def check_reply(report: CheckReport) -> dict[str, Any]:
    """The changes of captured plans, and their effects."""
    return {
        "plans": [_plan_check(plan) for plan in report.plans],
        "missing": list(report.missing),
        "unmet": list(report.unmet),
        **impact_reply(report.impact),
    }


def _plan_check(plan: PlanCheck) -> dict[str, Any]:
    changes = [{**to_json(change), "effect": change.effect.value} for change in plan.changes]
    return {"job": plan.job, "target": plan.target, "plan": plan.plan, "changes": changes}
