"""Frozen values of the read road -> JSON, in the spelling that docs/http.md promises.

Field names become camelCase; ``source`` and ``target`` of an edge become ``from`` and ``to``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any, Final

from graph_model import labels
from graph_model.answers.plans.column_steps import ColumnStep
from graph_model.answers.plans.pages import PlanPage
from graph_model.answers.runs.pages import RunView
from graph_model.impact.check import CheckReport, PlanCheck
from graph_model.impact.report import ImpactReport
from graph_model.inspection import OperationView
from graph_model.lineage import Influences, Partial
from graph_model.run_trees import RunBranch, RunBrief, RunTree
from graph_model.store import Page
from graph_model.view import (
    ColumnEdgeView,
    ColumnNodeView,
    DatasetNode,
    FeedEdge,
    GraphView,
    JobNode,
    LastRun,
    More,
    Node,
)

_NODE_KINDS: Final[dict[type, str]] = {
    DatasetNode: "dataset",
    JobNode: "job",
    ColumnNodeView: "column",
}
#: Tuples that become objects.
_TUPLES: Final = frozenset({*_NODE_KINDS, LastRun, More})
#: Types whose values are JSON already, and most of a reply.
_PLAIN: Final = frozenset({str, int, float, bool, type(None)})
#: Fields of a node that are left out where they were not asked for, or nothing is known.
_OPTIONAL: Final = ("columns", "more", "place", "quality")


def to_json(value: Any) -> Any:
    """Dataclasses and what is drawn become objects, other tuples lists; else it is JSON already."""
    kind: Any = type(value)
    if kind in _PLAIN:
        return value
    if members := _members(kind):
        return {key: to_json(getattr(value, name)) for name, key in members}
    if isinstance(value, tuple | list):
        return [to_json(item) for item in value]
    return value


@lru_cache(maxsize=512)
def _members(kind: Any) -> tuple[tuple[str, str], ...]:
    """The fields of a value that becomes an object, each with its name in JSON."""
    names: Iterable[str] = kind._fields if kind in _TUPLES else ()
    if is_dataclass(kind):
        names = (field.name for field in fields(kind))
    return tuple((name, camel(name)) for name in names)


@lru_cache(maxsize=512)
def camel(name: str) -> str:
    """``last_run`` => ``lastRun``."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def page_reply(page: Page[Any]) -> dict[str, Any]:
    return {"items": to_json(page.items), "total": page.total, "next": page.next}


def runs_reply(
    page: Page[RunView], states: Mapping[str, RunBrief], going: Sequence[RunBrief]
) -> dict[str, Any]:
    """Runs as their list shows them, without their executions.

    ``states``: what OpenLineage tells of some; ``going``: the runs that have not ended.
    """
    reply = page_reply(page)
    for item in reply["items"]:
        del item["items"], item["partial"]
        told = states.get(item["id"])
        item["told"] = to_json(told)
        if told is not None and told.state not in labels.STATES:
            item["state"] = told.state
    return {**reply, "open": to_json(tuple(going))}


def graph_reply(view: GraphView, rebuilding: bool) -> dict[str, Any]:
    """A graph; while the graph is behind the journal the answer says so."""
    partial = view.partial
    if rebuilding:
        partial = Partial("rebuilding", 0)
    return {
        "nodes": [_node(node) for node in view.nodes],
        "edges": [_edge(edge) for edge in view.edges],
        "asOf": view.as_of,
        "depth": {"asked": view.depth_asked, "reached": view.depth_reached},
        "folded": view.folded,
        "focus": view.focus,
        "partial": to_json(partial),
    }


def impact_reply(report: ImpactReport) -> dict[str, Any]:
    """The table of what lies downstream."""
    return {
        "starts": to_json(report.starts),
        "items": to_json(report.items),
        "total": len(report.items),
        "asOf": report.as_of,
        "depth": {"asked": report.depth_asked, "reached": report.depth_reached},
        "folded": report.folded,
        "partial": to_json(report.partial),
        "hidden": report.hidden,
        "verdict": report.verdict,
    }


def check_reply(report: CheckReport) -> dict[str, Any]:
    """What captured plans change, and what that breaks."""
    return {
        "plans": [_plan_check(plan) for plan in report.plans],
        "missing": list(report.missing),
        **impact_reply(report.impact),
    }


def _plan_check(plan: PlanCheck) -> dict[str, Any]:
    changes = [{**to_json(change), "effect": change.effect.value} for change in plan.changes]
    return {"job": plan.job, "target": plan.target, "plan": plan.plan, "changes": changes}


def _node(node: Node) -> dict[str, Any]:
    kind: Any = type(node)
    reply: dict[str, Any] = {"kind": _NODE_KINDS[kind]}
    for (_, key), value in zip(_members(kind), node, strict=True):
        if value is not None or key not in _OPTIONAL:
            reply[key] = value if type(value) in _PLAIN else to_json(value)
    if isinstance(node, ColumnNodeView):
        del reply["influences"]
        reply["indirect"] = count_influences(node.influences)
    if "place" in reply:
        reply |= reply.pop("place")
    return reply


def count_influences(influences: Influences | None) -> dict[str, int] | None:
    """``{"FILTER": 2}``: how many columns decide over a column, by how they do."""
    if influences is None:
        return None
    counts: dict[str, int] = {}
    for one in influences:
        counts[one.how] = counts.get(one.how, 0) + one.columns
    return counts


def _edge(edge: FeedEdge | ColumnEdgeView) -> dict[str, Any]:
    if isinstance(edge, ColumnEdgeView):
        chain = {} if edge.hops is None else {"hops": edge.hops}
        return _between(edge, edge.kind) | {
            "how": edge.how,
            "expression": edge.expression,
            "plans": list(edge.plans),
            "jobs": list(edge.jobs),
            **chain,
        }
    reply = _between(edge, "feeds") | {"plans": list(edge.plans)}
    if edge.modes:
        reply["modes"] = list(edge.modes)
    if edge.jobs:
        reply["jobs"] = list(edge.jobs)
    if edge.attempted:
        reply["attempted"] = True
    return reply


def _between(edge: FeedEdge | ColumnEdgeView, kind: str) -> dict[str, Any]:
    return {"id": edge.id, "from": edge.source, "to": edge.target, "kind": kind}


def plan_reply(page: PlanPage, rebuilding: bool) -> dict[str, Any]:
    """The fine view of a plan."""
    reply: dict[str, Any] = to_json(page)
    del reply["inspection"]
    if page.document is None:
        del reply["document"]
    partial: Partial | None = None
    if rebuilding:
        partial = Partial("rebuilding", 0)
    elif page.inspection.cut:
        partial = Partial("nodes", len(page.inspection.operations))
    return reply | {
        "operations": [_operation(operation) for operation in page.inspection.operations],
        "edges": [{"from": a, "to": b} for a, b in page.inspection.edges],
        "columns": [_column_step(step) for step in page.columns],
        "partial": to_json(partial),
    }


def _operation(operation: OperationView[Any]) -> dict[str, Any]:
    reply: dict[str, Any] = to_json(operation)
    point = reply.pop("point")
    if point is None:
        del reply["width"], reply["height"]
        return reply
    return {**reply, **point}


def _column_step(step: ColumnStep) -> dict[str, Any]:
    return {
        "from": to_json(step.source),
        "to": to_json(step.target),
        "kind": step.kind,
        "how": step.how,
        "expression": step.expression,
        "origin": step.origin,
        "masking": step.masking,
    }


def run_tree_reply(tree: RunTree, executions: Mapping[str, Any] | None) -> dict[str, Any]:
    """A run with its tree; ``executions``: the items of its run vertex, and whether all are."""
    listed = executions or {"items": [], "partial": None}
    return {
        **branch_reply(tree.branch),
        "parent": to_json(tree.parent),
        "root": to_json(tree.root),
        "ancestors": to_json(tree.ancestors),
        "history": to_json(tree.history),
        "facets": tree.facets,
        "items": listed["items"],
        "partial": to_json(tree.partial) or listed["partial"],
    }


def branch_reply(branch: RunBranch) -> dict[str, Any]:
    """A run with those below it."""
    return {
        **to_json(branch.run),
        "rolledUp": branch.rolled_up,
        "below": dict(branch.below),
        "children": [branch_reply(child) for child in branch.children],
    }
