"""One iterative post-order walk for graphs of any depth: plans are too deep to recurse."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

_Node = TypeVar("_Node", bound=Hashable)
_Result = TypeVar("_Result")


def evaluate(
    root: _Node,
    inputs: Callable[[_Node], Iterable[_Node]],
    combine: Callable[[_Node], _Result],
    known: dict[_Node, _Result],
) -> _Result:
    """The result of ``root``; ``combine`` runs once per node, when its inputs are in ``known``.

    ``known`` is the memory between calls, so that evaluating every node of a graph costs its
    nodes and edges once. On a cycle (a broken document) the edge that closes it is left out:
    ``combine`` then finds that input missing in ``known``.
    """
    if root in known:
        return known[root]
    stack = [root]
    entered: set[_Node] = set()  # the path from the root to here
    while stack:
        node = stack[-1]
        if node in known:
            stack.pop()
            continue
        if node not in entered and (missing := [i for i in inputs(node) if i not in known]):
            entered.add(node)
            if pending := [item for item in missing if item not in entered]:
                stack.extend(reversed(pending))
                continue
        stack.pop()
        entered.discard(node)
        known[node] = combine(node)
    return known[root]
