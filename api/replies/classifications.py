"""Tags and the columns of a class -> JSON."""

from __future__ import annotations

from typing import Any

from api.http.times import format_instant
from api.replies.graph import to_json
from graph_model.answers.classifications import ClassifiedColumns, SpreadNames, TaggedNodes
from graph_model.governance.classifications import Assignment, Block, write_block
from graph_model.governance.propagation import Carrier, UnfollowedPlan
from graph_model.lineage import ColumnEdge, Partial


def tagged_reply(found: TaggedNodes) -> dict[str, Any]:
    """The nodes with a tag, and the edges that it does not follow."""
    items = [assignment_reply(node, one) for node, one in found.assigned]
    return {"items": items, "total": len(items), "blocks": [*map(block_reply, found.blocks)]}


def assignment_reply(node: str, one: Assignment) -> dict[str, Any]:
    scope, uri, *path = one.node.names
    return {
        "tag": one.tag, "id": node, "kind": one.node.kind, "uri": uri, "scope": scope,
        "path": path[0] if path else None, "owner": one.owner, "note": one.note,
        "author": one.author, "at": format_instant(one.at),
    }  # fmt: skip


def block_reply(one: Block) -> dict[str, Any]:
    return {**write_block(one), "author": one.author, "at": format_instant(one.at)}


def columns_reply(found: ClassifiedColumns, lack: Partial | None) -> dict[str, Any]:
    """The columns of a class."""
    spread, names = found.spread, found.names
    return {
        "tag": found.tag,
        "propagate": found.propagate,
        "items": [_carrier(one, names) for one in spread.carriers],
        "total": len(spread.carriers),
        "blocked": [_edge(edge, names) for edge in spread.blocked],
        "gaps": [_gap(gap, names) for gap in spread.gaps],
        "asOf": format_instant(spread.as_of) if spread.as_of is not None else None,
        "folded": spread.folded,
        "partial": to_json(lack or spread.partial),
    }


def _carrier(one: Carrier, names: SpreadNames) -> dict[str, Any]:
    return {
        **to_json(names.column(one.column)),
        "direct": not one.path,
        "reason": {
            "origin": to_json(names.column(one.origin)),
            "owner": one.assignment.owner,
            "note": one.assignment.note,
            "author": one.assignment.author,
            "at": format_instant(one.assignment.at),
        },
        "path": [_edge(edge, names) for edge in one.path],
    }


def _edge(edge: ColumnEdge, names: SpreadNames) -> dict[str, Any]:
    return {
        "from": to_json(names.column(edge.source)),
        "to": to_json(names.column(edge.target)),
        "how": edge.how,
        "expression": edge.expression,
        "jobs": to_json(names.jobs_of(edge.plans)),
        **({"masking": True} if edge.masking else {}),
    }


def _gap(gap: UnfollowedPlan, names: SpreadNames) -> dict[str, Any]:
    return {
        "plan": gap.logical_plan,
        "job": to_json(names.job(gap.job)),
        "reads": to_json(names.datasets(gap.sources)),
        "writes": to_json(names.datasets(gap.targets)),
        "gaps": [dict(one) for one in gap.gaps],
    }
