"""An expression as nested JSON-able values, for the page of a plan.

    {"kind": "function", "name": "add", "text": "a + b", "type": "int", "children": [
        {"kind": "column", "name": "a", "id": "attr-0", "type": "int"}, …]}

The root may be a column: its one child is then its definition. Columns below are not opened, so
that a page shows one step at a time.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Final

from graph_model.documents import ExecutionPlan, Reference
from graph_model.expressions.roles import Role, canonical, reference_type, roles
from graph_model.expressions.text import Renderer, alias_name

MAX_NODES: Final = 500
MAX_DEPTH: Final = 64
_MAX_TEXT: Final = 200


def expression_tree(
    plan: ExecutionPlan,
    reference: Reference,
    renderer: Renderer | None = None,
    *,
    max_nodes: int = MAX_NODES,
    max_depth: int = MAX_DEPTH,
) -> dict[str, Any]:
    """The tree below a reference, breadth first until a bound; ``more`` counts children left out.

    Nodes have ``kind`` (column, function, literal, unknown), ``name``, ``text`` and ``type``; a
    function's children carry the ``role`` that they play in it (value, condition, window).
    """
    writer = renderer if renderer is not None else Renderer(plan)
    root = _node(plan, reference, writer)
    waiting = deque([(reference, root, 0)])
    count = 1
    while waiting:
        current, node, depth = waiting.popleft()
        children = _children(plan, current, writer, opened=node is root)
        room = 0 if depth >= max_depth else max_nodes - count
        for child, role in children[:room]:
            count += 1
            below = _node(plan, child, writer)
            if role is not None:
                below["role"] = role.value
            node.setdefault("children", []).append(below)
            waiting.append((child, below, depth + 1))
        if len(children) > max(room, 0):
            node["more"] = len(children) - max(room, 0)
    return root


def _children(
    plan: ExecutionPlan, reference: Reference, writer: Renderer, *, opened: bool
) -> list[tuple[Reference, Role | None]]:
    if reference.kind == "attribute":
        inputs = writer.definitions.of(reference.id).inputs if opened else ()
        return [(item, None) for item in inputs if isinstance(item, Reference)]
    function = plan.functions.get(reference.id)
    if function is None:
        return []
    given = roles(function, canonical(function))
    return list(zip(function.children, given, strict=True))


def _node(plan: ExecutionPlan, reference: Reference, writer: Renderer) -> dict[str, Any]:
    text = writer.text(reference, inline=False)
    node: dict[str, Any] = {
        "kind": "unknown",
        "name": text,
        "id": reference.id,
        "text": text if len(text) <= _MAX_TEXT else text[: _MAX_TEXT - 1] + "…",
        "type": reference_type(plan, reference),
    }
    if reference.kind == "attribute":
        node.update(kind="column", name=writer.definitions.name_of(reference.id))
    elif reference.id in plan.constants:
        node.update(kind="literal")
    elif (function := plan.functions.get(reference.id)) is not None:
        alias = canonical(function) == "alias"
        node.update(kind="function", name=alias_name(function) if alias else function.name)
    return node
