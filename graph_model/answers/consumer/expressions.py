"""Expressions of a plan as the trees that Spline puts into an operation's parameters.

    {"_typeHint": "expr.Binary", "dataTypeId": …, "name": "+", "symbol": "+", "children": [
        {"_typeHint": "expr.AttrRef", "dataTypeId": …, "name": "a", "refId": "<plan>:attr-0"}, …]}

A plan's expressions may share parts and may be thousands deep, so a tree is bounded in nodes and
depth; a part beyond that is one leaf with its text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from graph_model import identity
from graph_model.answers.consumer.identifiers import local_id
from graph_model.producers.spline.documents import ExecutionPlan, Function, Reference, as_reference
from graph_model.producers.spline.expressions import Renderer

MOST_NODES: Final = 20_000
MOST_DEPTH: Final = 100
_CHARACTERS_OF_A_NODE: Final = 200
_ALIAS: Final = "expr.Alias"
_BINARY: Final = "expr.Binary"
_UDF: Final = "expr.UDF"
_LEAF: Final = "expr.GenericLeaf"
_GENERIC: Final = "expr.Generic"
_UNTYPED: Final = "expr.UntypedExpression"
_HINTS: Final = frozenset({_ALIAS, _BINARY, _UDF, _LEAF, _GENERIC, _UNTYPED})

Tree = dict[str, Any]


class Trees:
    """Builds trees for one operation, whose parameters share one bound on the number of nodes."""

    def __init__(self, plan: ExecutionPlan) -> None:
        self._plan = plan
        self._renderer = Renderer(plan)
        self._left = MOST_NODES
        self._weights: dict[str, int] = {}

    def replaced(self, value: Any) -> Any:
        """A copy of a JSON value with every reference in it replaced by its tree. Iterative."""
        whole: list[Any] = [None]
        waiting: list[tuple[Any, Any, Any]] = [(whole, 0, value)]
        while waiting:
            holder, place, current = waiting.pop()
            reference = as_reference(current)
            if reference is not None:
                holder[place] = self.tree(reference)
            elif isinstance(current, Mapping):
                copied = dict.fromkeys(current)
                holder[place] = copied
                waiting.extend((copied, key, current[key]) for key in reversed(list(current)))
            elif isinstance(current, list):
                listed: list[Any] = [None] * len(current)
                holder[place] = listed
                waiting.extend((listed, n, current[n]) for n in range(len(current) - 1, -1, -1))
            else:
                holder[place] = current
        return whole[0]

    def tree(self, reference: Reference) -> Tree:
        """The tree below a reference; attributes are leaves."""
        holder: list[Tree] = [{}]
        waiting: list[tuple[list[Tree], int, Reference, int]] = [(holder, 0, reference, 1)]
        while waiting:
            siblings, place, current, depth = waiting.pop()
            function = self._plan.functions.get(current.id)
            if current.kind == "attribute" or function is None:
                siblings[place] = self._leaf(current)
            elif depth > MOST_DEPTH or not self._has_room(function):
                siblings[place] = self._cut(current, function)
            else:
                siblings[place], children = self._node(function)
                waiting.extend(
                    (children, number, child, depth + 1)
                    for number, child in reversed(list(enumerate(function.children)))
                    if number < len(children)
                )
        return _finished(holder[0])

    def _has_room(self, function: Function) -> bool:
        """Whether the node's children fit into the bound, repeated parameters included; counts them
        if so.
        """
        weight = self._weights.get(function.id)
        if weight is None:
            parameters = len(identity.spelled(dict(function.params))) // _CHARACTERS_OF_A_NODE
            weight = self._weights[function.id] = len(function.children) + parameters
        fits = weight <= self._left
        self._left -= weight if fits else 0
        return fits

    def _node(self, function: Function) -> tuple[Tree, list[Tree]]:
        """A node and the list for its children; all still empty."""
        hint = function.hint if function.hint in _HINTS else _GENERIC
        node = _start(hint, function.data_type, function.name)
        children: list[Tree] = [{} for _ in function.children]
        if hint == _ALIAS and children:
            node |= {"alias": function.params.get("name", function.name), "child": children[:1]}
            return node, node["child"]
        if hint == _BINARY:
            node |= {"symbol": function.symbol or function.name, "children": children}
        elif hint == _UDF:
            node |= {"children": children}
        else:
            node |= {"exprType": function.class_name, "params": dict(function.params)}
            if hint == _LEAF:
                return node, []
            node |= {"children": children}
        return node, children

    def _leaf(self, reference: Reference) -> Tree:
        """A column, a literal, or a reference to something that the document does not hold."""
        if reference.kind == "attribute":
            attribute = self._plan.attributes.get(reference.id)
            return _start(
                "expr.AttrRef",
                None if attribute is None else attribute.data_type,
                self._renderer.definitions.name_of(reference.id),
            ) | {"refId": local_id(self._plan.id, reference.id)}
        constant = self._plan.constants.get(reference.id)
        if constant is None:
            return _start(_UNTYPED, None, "?") | {"exprType": "", "params": {}, "children": []}
        return _start("expr.Literal", constant.data_type, None) | {"value": constant.value}

    def _cut(self, reference: Reference, function: Function) -> Tree:
        text = self._renderer.text(reference, inline=False)
        return _start(_LEAF, function.data_type, text) | {
            "exprType": function.class_name,
            "params": {},
        }


def _start(hint: str, data_type: str | None, name: str | None) -> Tree:
    return {"_typeHint": hint, "dataTypeId": data_type, "name": name}


def _finished(root: Tree) -> Tree:
    """``child`` was built as a list; its one entry replaces it."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node.get("child"), list):
            (node["child"],) = node["child"]
            waiting.append(node["child"])
        waiting.extend(node.get("children", ()))
    return root
