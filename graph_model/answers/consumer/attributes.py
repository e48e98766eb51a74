"""The origins and the uses of one column inside one plan: a viewer highlights them.

The nodes are the attributes that an operation emits. The sources of one are found through any
number of expressions, and through attributes that no operation emits; ``expressions.Definitions``
adds those that ``childRefs`` miss. All walks are iterative: plans are thousands deep.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from graph_model.producers.spline.documents import ExecutionPlan, Reference
from graph_model.producers.spline.expressions import Definitions
from graph_model.producers.spline.expressions.definitions import Inputs, Node


@dataclass(frozen=True, slots=True)
class AttributeNode:
    """``origin`` is the operation that introduces the attribute, ``passed``
    those that pass it on.
    """

    attribute: str
    name: str
    origin: str
    passed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AttributeGraph:
    """``edges`` are (derived attribute, its source): against the flow of data."""

    nodes: tuple[AttributeNode, ...]
    edges: tuple[tuple[str, str], ...]


class PlanAttributes:
    """The attributes of one plan."""

    def __init__(self, plan: ExecutionPlan) -> None:
        self._plan = plan
        self._definitions = Definitions(plan)
        self._origins: dict[str, str] = {}
        self._emitters: dict[str, list[str]] = {}
        for operation in plan.operations:
            self._register(operation.id, operation.children)
        self._takers: dict[Node, list[Node]] | None = None

    def _register(self, operation: str, children: Sequence[str]) -> None:
        outputs = self._definitions.outputs
        emitted = outputs[operation] or ()
        received = {item for child in children for item in outputs[child] or ()}
        for attribute in dict.fromkeys(emitted):
            self._emitters.setdefault(attribute, []).append(operation)
            if attribute not in received:
                self._origins.setdefault(attribute, operation)

    @property
    def emitted(self) -> Collection[str]:
        """The ids of all attributes that an operation emits."""
        return self._emitters.keys()

    def lineage(self, attribute: str) -> AttributeGraph:
        """The attributes behind this one, which is the last node."""
        found: dict[str, None] = {attribute: None}
        edges: dict[tuple[str, str], None] = {}
        waiting = [attribute]
        while waiting:
            current = waiting.pop()
            for source in self._sources(current):
                edges[(current, source)] = None
                if source not in found:
                    found[source] = None
                    waiting.append(source)
        before = self._before(self._origins[attribute])
        others = [self._node(key, before) for key in found if key != attribute]
        return AttributeGraph((*others, self._node(attribute, ())), tuple(edges))

    def impact(self, attribute: str) -> AttributeGraph:
        """The attributes derived from this one, which is the first node."""
        reached = self._reached(attribute)
        nodes = [attribute, *(key for key in reached if key != attribute)]
        known = set(nodes)
        edges = {
            (derived, source): None
            for derived in nodes
            if derived != attribute
            for source in self._sources(derived)
            if source in known
        }
        every = {operation.id for operation in self._plan.operations}
        return AttributeGraph(tuple(self._node(key, every) for key in nodes), tuple(edges))

    def _node(self, attribute: str, among: Collection[str]) -> AttributeNode:
        origin = self._origins[attribute]
        passed = (key for key in self._emitters[attribute] if key != origin and key in among)
        name = self._definitions.name_of(attribute)
        return AttributeNode(attribute, name, origin, tuple(passed))

    def _before(self, operation: str) -> set[str]:
        """The operations whose output this one reads."""
        found: set[str] = set()
        waiting = [operation]
        while waiting:
            for child in self._definitions.operations[waiting.pop()].children:
                if child not in found:
                    found.add(child)
                    waiting.append(child)
        return found

    # --- one step --------------------------------------------------------------------------------

    def _inputs(self, node: Node) -> Iterator[Node]:
        """The attributes and expressions referenced in a definition or an expression."""
        if isinstance(node, Inputs):
            yield from self._definitions.inputs_of(node.operation)
        elif node.kind == "attribute":
            yield from self._definitions.of(node.id).inputs
        elif (function := self._plan.functions.get(node.id)) is not None:
            yield from function.children

    def _is_shown(self, node: Node) -> bool:
        return isinstance(node, Reference) and node.kind == "attribute" and node.id in self._origins

    def _sources(self, attribute: str) -> list[str]:
        """The nearest attributes that an operation emits, each once, in the document's order."""
        start = Reference("attribute", attribute)
        found: dict[str, None] = {}
        seen: set[Node] = {start}
        waiting = list(self._inputs(start))[::-1]
        while waiting:
            node = waiting.pop()
            if node in seen:
                continue
            seen.add(node)
            if self._is_shown(node):
                found[node.id] = None  # type: ignore[union-attr]
            else:
                waiting.extend(list(self._inputs(node))[::-1])
        return list(found)

    def _reached(self, attribute: str) -> list[str]:
        """Every emitted attribute that derives from this one, nearest first."""
        takers = self._all_takers()
        start: Node = Reference("attribute", attribute)
        seen: dict[Node, None] = {start: None}
        frontier = [start]
        while frontier:
            following = [taker for node in frontier for taker in takers.get(node, ())]
            frontier = [node for node in dict.fromkeys(following) if node not in seen]
            seen.update(dict.fromkeys(frontier))
        return [node.id for node in seen if self._is_shown(node)]  # type: ignore[union-attr]

    def _all_takers(self) -> dict[Node, list[Node]]:
        """The derivations of the plan, reversed; computed once."""
        if self._takers is None:
            takers: dict[Node, list[Node]] = {}
            seen: set[Node] = {Reference("attribute", key) for key in self._origins}
            waiting = list(seen)
            while waiting:
                node = waiting.pop()
                for item in self._inputs(node):
                    takers.setdefault(item, []).append(node)
                    if item not in seen:
                        seen.add(item)
                        waiting.append(item)
            self._takers = takers
        return self._takers
