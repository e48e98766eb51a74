"""Differences -> JSON: graphs with a change on every element, plans, causes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from api.replies.graph import graph_reply, to_json
from graph_model.answers.difference.graphs import (
    ADDED,
    CHANGED,
    REMOVED,
    SCHEMA,
    ElementChange,
    FieldChange,
)
from graph_model.answers.difference.plans import OperationChange, PlanDifference
from graph_model.answers.difference.times import Sides, TimeDifference
from graph_model.answers.difference.upstream import UpstreamChanges
from graph_model.lineage import Partial
from graph_model.picture.view import GraphView, iso

_CHANGES: Final = (ADDED, REMOVED, CHANGED)
_NO_EVIDENCE: Final = Sides((), ())


def time_reply(found: TimeDifference, *, lack: Partial | None) -> dict[str, Any]:
    """Two answers as one graph, each element with its change, its changed fields and the plans
    behind it.
    """
    shown = graph_reply(found.shown, lack)
    changes = found.difference.changes
    return {
        "kind": "times",
        "node": found.node,
        **_both_sides(found),
        "counts": _counts(found.difference.nodes, found.difference.edges),
        "nodes": [_changed(one, changes, found) for one in shown["nodes"]],
        "edges": [_changed(one, changes, found) for one in shown["edges"]],
        "focus": shown["focus"],
        "layers": shown["layers"],
        "hidden": found.hidden,
        # An element missing on one side may only have been cut off there.
        "partial": to_json(lack or found.before.partial or found.after.partial),
    }


def _side(view: GraphView, at: int | None) -> dict[str, Any]:
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
        name: {change: sum(one.change == change for one in changes) for change in _CHANGES}
        for name, changes in zip(names, kinds, strict=True)
    }


def _changed(
    element: dict[str, Any], changes: dict[str, ElementChange], found: TimeDifference
) -> dict[str, Any]:
    change = changes.get(element["id"])
    if change is None:
        return element | {"change": None}
    evidence = found.evidence.get(change.id, _NO_EVIDENCE)
    return element | {
        "change": change.change,
        "changes": [_field(one) for one in change.fields],
        "evidence": to_json(evidence),
    }


def _field(one: FieldChange) -> dict[str, Any]:
    """The sides of a schema are long and shown as changed columns."""
    if one.field == SCHEMA:
        return {"field": SCHEMA, "columns": to_json(one.columns)}
    return {"field": one.field, "before": to_json(one.before), "after": to_json(one.after)}


# --- plans ---------------------------------------------------------------------------------------


def plan_difference_reply(found: PlanDifference, *, unchanged: bool) -> dict[str, Any]:
    """Two plans as one; without ``unchanged`` the operations and flows that differ."""
    operations = [one for one in found.operations if unchanged or one.change]
    flows = [one for one in found.flows if unchanged or one.change]
    reply: dict[str, Any] = to_json(replace(found, operations=(), flows=()))
    del reply["flows"]  # listed as edges
    return reply | {
        "fields": [_field(one) for one in found.fields],
        "counts": _operation_counts(found.operations),
        "operations": [_operation(one) for one in operations],
        "edges": [{"from": f.source, "to": f.target, "change": f.change} for f in flows],
        "columns": [_step(one) for one in reply["columns"]],
    }


def plan_partial(found: PlanDifference | None) -> Partial | None:
    if found is None or not (found.before.cut or found.after.cut):
        return None
    return Partial("nodes", len(found.operations))


def _operation_counts(operations: tuple[OperationChange, ...]) -> dict[str, int]:
    counts = {change: sum(one.change == change for one in operations) for change in _CHANGES}
    return counts | {"same": sum(one.change is None for one in operations)}


def _operation(one: OperationChange) -> dict[str, Any]:
    reply: dict[str, Any] = to_json(one)
    reply["properties"] = [_field(field) for field in one.properties]
    point = reply.pop("point")
    if point is None:
        del reply["width"], reply["height"]
        return reply
    return {**reply, **point}


def _step(step: dict[str, Any]) -> dict[str, Any]:
    dataset, column = step.pop("source")
    return {"from": {"dataset": dataset, "name": column}, "to": step.pop("target"), **step}


# --- causes --------------------------------------------------------------------------------------


def changes_reply(found: UpstreamChanges, lack: Partial | None) -> dict[str, Any]:
    """Changes upstream, ranked; both sides as in ``/graph/diff``."""
    sides = {} if found.difference is None else _both_sides(found.difference)
    return {
        "node": found.node,
        "subject": to_json(found.subject),
        "reference": to_json(found.reference),
        "since": found.since,
        "until": found.until,
        **sides,
        "items": [to_json(one) | {"at": iso(one.at)} for one in found.causes],
        "total": found.total,
        "partial": to_json(lack or found.partial),
    }


def _both_sides(found: TimeDifference) -> dict[str, Any]:
    return {
        "from": _side(found.before, found.times[0]),
        "to": _side(found.after, found.times[1]),
    }
