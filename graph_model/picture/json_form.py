"""Pictures and other frozen values of answers as JSON, in the spelling that docs/http.md promises.

Field names become camelCase; ``source`` and ``target`` of an edge become ``from`` and ``to``. What
else a question says as JSON stands in its module of ``answers``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any, Final

from graph_model import labels
from graph_model.lineage import ColumnEdge, Influences, NotSeen, Partial
from graph_model.picture.operations import OperationView
from graph_model.picture.view import (
    ColumnNodeView,
    DatasetNode,
    FeedEdge,
    GraphView,
    JobNode,
    LastRun,
    More,
    Node,
)
from graph_model.stores.pages import Page

_NODE_KINDS: Final[dict[type, str]] = {
    DatasetNode: "dataset",
    JobNode: "job",
    ColumnNodeView: "column",
}


#: Tuples that become objects.
_TUPLES: Final = frozenset({*_NODE_KINDS, LastRun, More})


#: Types whose values are JSON already, and most of a reply.
_PLAIN: Final = frozenset({str, int, float, bool, type(None)})


#: Fields of a node that are left out if they were not requested, or are unknown.
_OPTIONAL: Final = ("columns", "more", "place", "quality")
#: Fields of a node with what people state about it.
_MARKS: Final = ("layer", "classifications")


def to_json(value: Any) -> Any:
    """Dataclasses and drawn elements become objects, other tuples lists; the rest is JSON."""
    kind: Any = type(value)
    if kind in _PLAIN:
        return value
    if named := members(kind):
        return {key: to_json(getattr(value, name)) for name, key in named}
    if isinstance(value, tuple | list):
        return [to_json(item) for item in value]
    return value


@lru_cache(maxsize=512)
def members(kind: Any) -> tuple[tuple[str, str], ...]:
    """The fields of a value that becomes an object, each with its name in JSON."""
    names: Iterable[str] = kind._fields if kind in _TUPLES else ()
    if is_dataclass(kind):
        names = (field.name for field in fields(kind))
    return tuple((name, camel(name)) for name in names)


def camel(name: str) -> str:
    """``last_run`` => ``lastRun``."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def page_reply(page: Page[Any]) -> dict[str, Any]:
    return {"items": to_json(page.items), "total": page.total, "next": page.next}


def graph_reply(view: GraphView, lack: Partial | None) -> dict[str, Any]:
    """A graph; while the graph is behind the journal the answer is marked."""
    lanes = {} if view.lanes is None else {"lanes": to_json(view.lanes)}
    return {
        "nodes": [_node(node) for node in view.nodes],
        "edges": [_edge(edge) for edge in view.edges],
        "asOf": view.as_of,
        "depth": {"asked": view.depth_asked, "reached": view.depth_reached},
        "folded": view.folded,
        "focus": view.focus,
        "partial": to_json(lack or view.partial),
        "layers": [{"name": layer.name, "colour": layer.colour} for layer in view.layers],
        "hidden": view.hidden,
        **({} if view.flow is None else {"flow": view.flow}),
        **lanes,
        **_not_seen(view.not_seen),
    }


def _not_seen(not_seen: NotSeen | None) -> dict[str, Any]:
    """``partial`` where these are the least numbers: a bound was met."""
    return {} if not_seen is None else {"notSeen": not_seen._asdict()}


def _node(node: Node) -> dict[str, Any]:
    kind: Any = type(node)
    reply: dict[str, Any] = {"kind": _NODE_KINDS[kind]}
    for (_, key), value in zip(members(kind), node, strict=True):
        if key not in _MARKS and (value is not None or key not in _OPTIONAL):
            reply[key] = value if type(value) in _PLAIN else to_json(value)
    if isinstance(node, ColumnNodeView):
        del reply["influences"]
        reply["indirect"] = count_influences(node.influences)
    if "place" in reply:
        reply |= reply.pop("place")
    return reply | {key: to_json(getattr(node, key)) for key in _MARKS if hasattr(node, key)}


def count_influences(influences: Influences | None) -> dict[str, int] | None:
    """``{"FILTER": 2}``: how many columns decide over a column, by how they do."""
    if influences is None:
        return None
    counts: dict[str, int] = {}
    for influence in influences:
        counts[influence.how] = counts.get(influence.how, 0) + influence.columns
    return counts


def _edge(edge: FeedEdge | ColumnEdge) -> dict[str, Any]:
    if isinstance(edge, ColumnEdge):
        chain: dict[str, Any] = {} if edge.hops is None else {"hops": edge.hops}
        chain |= {"masking": True} if edge.masking else {}
        chain |= {} if edge.seen else {"seen": False}
        chain |= {"joined": True} if edge.joined else {}
        return _between(edge, edge.kind) | {
            "how": edge.how,
            "expression": edge.expression,
            "plans": list(edge.plans),
            "jobs": list(edge.jobs),
            **chain,
            **_route(edge),
            **_origin(edge),
        }
    reply = _between(edge, "feeds") | {"plans": list(edge.plans)}
    if edge.modes:
        reply["modes"] = list(edge.modes)
    if edge.jobs:
        reply["jobs"] = list(edge.jobs)
    if edge.attempted:
        reply["attempted"] = True
    if not edge.seen:
        reply["seen"] = False
    return reply | _route(edge) | _origin(edge)


def _origin(edge: FeedEdge | ColumnEdge) -> dict[str, str]:
    return {"origin": labels.DECLARED} if edge.declared else {}


def _route(edge: FeedEdge | ColumnEdge) -> dict[str, Any]:
    return {} if edge.route is None else {"route": edge.route}


def _between(edge: FeedEdge | ColumnEdge, kind: str) -> dict[str, Any]:
    return {"id": edge.id, "from": edge.source, "to": edge.target, "kind": kind}


def operation_reply(operation: OperationView[Any]) -> dict[str, Any]:
    reply: dict[str, Any] = to_json(operation)
    reply["properties"] = [
        {"name": entry.name, "text": entry.text} for entry in operation.properties
    ]
    point = reply.pop("point")
    if point is None:
        del reply["width"], reply["height"]
        return reply
    return {**reply, **point}
