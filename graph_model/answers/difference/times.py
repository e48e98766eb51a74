"""Two answers to one question, at two times or at the times of two executions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from graph_model import identity, labels
from graph_model.answers.difference.graphs import (
    CHANGES,
    ElementChange,
    GraphDifference,
    GraphSide,
    compare_graphs,
    field_reply,
    focus_on_changes,
    read_schema,
)
from graph_model.answers.difference.plans import PlanDifference, PlanPairs
from graph_model.answers.lineage import draw_around
from graph_model.answers.nodes import (
    ExecutionView,
    execution_views,
    find_node,
    job_references,
    show_view,
)
from graph_model.answers.sources import Sources
from graph_model.errors import NotFound
from graph_model.facts import ExecutionRow
from graph_model.governance.statements import hide_nodes
from graph_model.lineage import Partial, Question
from graph_model.picture.json_form import graph_reply, to_json
from graph_model.picture.view import DatasetNode, GraphView, JobNode, JobReference, mark_declared
from graph_model.values import iso

#: Plans listed as evidence for one side of a change.
EVIDENCE: Final = 3


@dataclass(frozen=True, slots=True)
class Evidence:
    """A plan that produces an element at one of the two times, with its newest good run by then."""

    plan: str
    plan_id: str | None
    job: JobReference | None
    execution: str | None
    at: str | None


@dataclass(frozen=True, slots=True)
class Sides:
    """The evidence for both sides."""

    before: tuple[Evidence, ...]
    after: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class TimeDifference:
    """``hidden`` counts the nodes left out of both sides; ``evidence`` by element id; ``shown`` is
    the part of the merged view to draw.
    """

    node: str
    times: tuple[int | None, int | None]
    before: GraphView
    after: GraphView
    difference: GraphDifference
    evidence: Mapping[str, Sides]
    hidden: int
    shown: GraphView


def compare_times(
    sources: Sources,
    node: str,
    times: tuple[int | None, int | None],
    question: Question,
    *,
    jobs: bool = True,
    unchanged: bool = True,
    layout: bool = False,
) -> TimeDifference:
    """One question at two times, about a node in any spelling (a name may stand for another
    location at each). Without ``unchanged``, unchanged elements are shown only beside a change.
    """
    opened, first = find_node(sources, node, times[0])
    opened, second = find_node(opened, node, times[1])
    before, after = (
        draw_at(opened, replace(question, node=node_id, at=at), jobs=jobs)
        for node_id, at in zip((first, second), times, strict=True)
    )
    comparison = compare_views(opened, (before, after), times, second)
    return replace(
        comparison, shown=_shown(opened, comparison.difference, unchanged, layout=layout)
    )


def _shown(
    sources: Sources, difference: GraphDifference, unchanged: bool, *, layout: bool
) -> GraphView:
    view = difference.merged if unchanged else focus_on_changes(difference)
    plans = {plan for edge in view.edges for plan in edge.plans}
    view = mark_declared(view, sources.catalogue.declared_plans(plans))
    return show_view(sources, view, layout=layout)


def draw_at(sources: Sources, question: Question, *, jobs: bool = True) -> GraphView:
    """An answer before hiding; empty where the node was not known yet."""
    with sources.at_once() as same:
        view = draw_around(same, question, jobs=jobs)
    return _without_unborn(sources, view, question.at)


def compare_views(
    sources: Sources,
    views: tuple[GraphView, GraphView],
    times: tuple[int | None, int | None],
    node: str,
) -> TimeDifference:
    """Compare two answers, given for these times."""
    (before, less), (after, fewer) = (
        _side(sources, view, at) for view, at in zip(views, times, strict=True)
    )
    difference = compare_graphs(before, after)
    return TimeDifference(
        node=node,
        times=times,
        before=before.view,
        after=after.view,
        difference=difference,
        evidence=_evidence_of(sources, difference, times),
        hidden=max(less, fewer),
        shown=difference.merged,
    )


def _side(sources: Sources, view: GraphView, at: int | None) -> tuple[GraphSide, int]:
    """An answer with schemas and without hidden nodes, and the number of nodes hidden."""
    shown, hidden = hide_nodes(view, sources.hidden)
    datasets = [node.id for node in shown.nodes if isinstance(node, DatasetNode)]
    rows = sources.catalogue.newest_schemas(datasets, at)
    schemas = {dataset: read_schema(row.columns) for dataset, row in rows.items()}
    return GraphSide(shown, schemas), hidden


def _without_unborn(sources: Sources, view: GraphView, at: int | None) -> GraphView:
    """Without the requested node where it was not known yet."""
    alone = [node for node in view.nodes if node.id == view.focus]
    if at is None or not alone or any(view.focus in (e.source, e.target) for e in view.edges):
        return view
    node = alone[0]
    if isinstance(node, DatasetNode):
        known = bool(sources.catalogue.seen((node.id,), at))
    else:
        known = not isinstance(node, JobNode) or node.last_run is not None
    return view if known else replace(view, nodes=(), edges=())


def _evidence_of(
    sources: Sources, difference: GraphDifference, times: tuple[int | None, int | None]
) -> dict[str, Sides]:
    changes = difference.changes.values()
    before = evidence_by_plan(
        sources, {p for c in changes for p in c.plans_before[:EVIDENCE]}, times[0]
    )
    after = evidence_by_plan(
        sources, {p for c in changes for p in c.plans_after[:EVIDENCE]}, times[1]
    )
    return {change.id: _sides(change, before, after) for change in changes}


def evidence_by_plan(
    sources: Sources, plans: Collection[str], at: int | None
) -> dict[str, Evidence]:
    """Per logical plan its newest good run at the time; plans of hidden jobs are left out."""
    rows = {row.id: row for row in sources.catalogue.logical_plans(plans)}
    last = sources.catalogue.last_of_plans(plans, at)
    jobs = job_references(sources, {row.job for row in rows.values()})
    return {
        plan: _evidence(plan, jobs.get(row.job), last.get(plan))
        for plan, row in rows.items()
        if row.job not in sources.hidden
    }


def _evidence(plan: str, job: JobReference | None, row: ExecutionRow | None) -> Evidence:
    if row is None:
        return Evidence(plan, None, job, None, None)
    return Evidence(plan, row.plan_id, job, row.id, iso(row.at))


def _sides(
    change: ElementChange, before: Mapping[str, Evidence], after: Mapping[str, Evidence]
) -> Sides:
    return Sides(
        found_evidence(change.plans_before, before), found_evidence(change.plans_after, after)
    )


def found_evidence(plans: Iterable[str], evidence: Mapping[str, Evidence]) -> tuple[Evidence, ...]:
    """Sorted, newest first."""
    entries = [evidence[plan] for plan in plans if plan in evidence]
    return tuple(sorted(entries, key=lambda entry: (entry.at or "", entry.plan), reverse=True))


@dataclass(frozen=True, slots=True)
class ExecutionDifference:
    """``plan`` None: a plan without a stored document (a declaration, for example)."""

    before: ExecutionView
    after: ExecutionView
    lineage: TimeDifference
    plan: PlanDifference | None


def compare_executions(
    sources: Sources,
    executions: tuple[str, str],
    node: str | None,
    question: Question,
    *,
    jobs: bool = True,
    unchanged: bool = True,
    layout: bool = False,
) -> ExecutionDifference:
    """Two executions (ids), about the output of the second one unless a node is given."""
    before, after = (_find_execution(sources, execution) for execution in executions)
    lineage = compare_times(
        sources,
        node or after.target or after.job,
        (before.at, after.at),
        question,
        jobs=jobs,
        unchanged=unchanged,
        layout=layout,
    )
    first, second = execution_views(sources, (before, after))
    plan = _compare_plans(sources, before, after, layout=layout)
    return ExecutionDifference(first, second, lineage, plan)


def _find_execution(sources: Sources, execution: str) -> ExecutionRow:
    """One execution; NotFound where it is unknown or its job is hidden."""
    if identity.kind_of(execution) == labels.EXECUTION:
        rows = sources.catalogue.executions_of((execution,))
        if rows and sources.hidden.isdisjoint((rows[0].job, rows[0].target)):
            return rows[0]
    raise NotFound("execution", execution)


def _compare_plans(
    sources: Sources, before: ExecutionRow, after: ExecutionRow, *, layout: bool
) -> PlanDifference | None:
    """None where a plan has no stored document (a declaration, for example)."""
    try:
        return PlanPairs(sources).compare(_plan_of(before), _plan_of(after), layout=layout)
    except NotFound:
        return None


def _plan_of(row: ExecutionRow) -> str:
    return row.execution_plan or row.logical_plan


# --- as JSON --------------------------------------------------------------------------------------


_NO_EVIDENCE: Final = Sides((), ())


def time_reply(comparison: TimeDifference, *, lack: Partial | None) -> dict[str, Any]:
    """Two answers as one graph, each element with its change, its changed fields and the plans
    behind it.
    """
    shown = graph_reply(comparison.shown, lack)
    changes = comparison.difference.changes
    return {
        "kind": "times",
        "node": comparison.node,
        **both_sides(comparison),
        "counts": _counts(comparison.difference.nodes, comparison.difference.edges),
        "nodes": [_changed(node, changes, comparison) for node in shown["nodes"]],
        "edges": [_changed(edge, changes, comparison) for edge in shown["edges"]],
        "focus": shown["focus"],
        "layers": shown["layers"],
        "hidden": comparison.hidden,
        # An element missing on one side may only have been cut off there.
        "partial": to_json(lack or comparison.before.partial or comparison.after.partial),
    }


def both_sides(comparison: TimeDifference) -> dict[str, Any]:
    return {
        "from": _side_reply(comparison.before, comparison.times[0]),
        "to": _side_reply(comparison.after, comparison.times[1]),
    }


def _side_reply(view: GraphView, at: int | None) -> dict[str, Any]:
    return {
        "at": iso(at),
        "asOf": view.as_of,
        "depth": {"asked": view.depth_asked, "reached": view.depth_reached},
        "folded": view.folded,
        "partial": to_json(view.partial),
    }


def _counts(*kinds: tuple[ElementChange, ...]) -> dict[str, dict[str, int]]:
    names = ("nodes", "edges")
    return {
        name: {change: sum(element.change == change for element in changes) for change in CHANGES}
        for name, changes in zip(names, kinds, strict=True)
    }


def _changed(
    element: dict[str, Any], changes: dict[str, ElementChange], comparison: TimeDifference
) -> dict[str, Any]:
    change = changes.get(element["id"])
    if change is None:
        return element | {"change": None}
    evidence = comparison.evidence.get(change.id, _NO_EVIDENCE)
    return element | {
        "change": change.change,
        "changes": [field_reply(field) for field in change.fields],
        "evidence": to_json(evidence),
    }
