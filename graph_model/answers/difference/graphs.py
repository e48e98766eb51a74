"""Two answers to one question: nodes and edges added, removed, changed; two schemas of one dataset,
column by column; two plans, operation by operation.

Pure. The comparison covers the content of an element, not the time of its last run:

    dataset  names, schema        feeds            modes; without job nodes the plans too
    job      plans                DIRECT, INDIRECT how, expression
    column   name, type

The difference of an answer with itself is empty; the reverse difference is the mirror image; and
the first answer with the difference applied equals the second one. In a schema a column is known by
its folded path (``naming.fold``), so another spelling is no other column; a type by its meaning
(``long`` is ``bigint``):

    (id int, pay int)  =>  (id int, Pay bigint, day date)
    pay retyped int -> bigint, pay respelled pay -> Pay, day added

Operations of two plans, whose numbers differ, are aligned; the surest pairs are made first:

    1. equal content above equal inputs, all the way down
    2. equal content (kind, name, parameters, columns, datasets)
    3. the same kind and name, the pair that shares most: parameters, columns, neighbours (a pair
       that shares nothing else must stand between the same two); a read only with a read of one
       of its datasets

A filter whose condition changed is the same filter; a read of another table is another read.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

from graph_model import identity, labels
from graph_model.lineage import ColumnEdge
from graph_model.naming.columns import same_type
from graph_model.picture.json_form import to_json
from graph_model.picture.view import (
    ColumnNodeView,
    DatasetNode,
    FeedEdge,
    GraphView,
    JobNode,
    Node,
)

SCHEMA: Final = "schema"
_TYPE: Final = "type"
PLANS: Final = "plans"
Edge = FeedEdge | ColumnEdge
Element = TypeVar("Element", bound=Node | Edge)
Contents = Mapping[str, Any]
"""The compared contents of an element, by the name of the field."""


@dataclass(frozen=True, slots=True)
class FieldChange:
    """``columns`` lists the changed columns of a schema; a reply leaves out its two sides."""

    field: str
    before: Any
    after: Any
    columns: tuple[ColumnChange, ...] = ()


@dataclass(frozen=True, slots=True)
class ElementChange:
    """``id`` is that of the merged view; the plans are those that produce the
    element on each side.
    """

    id: str
    change: str
    fields: tuple[FieldChange, ...] = ()
    plans_before: tuple[str, ...] = ()
    plans_after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GraphSide:
    """An answer with the schemas of its datasets at its time, by id."""

    view: GraphView
    schemas: Mapping[str, Schema] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GraphDifference:
    """``merged`` holds both views: an element in both is drawn as in the second."""

    merged: GraphView
    nodes: tuple[ElementChange, ...]
    edges: tuple[ElementChange, ...]

    @property
    def changes(self) -> dict[str, ElementChange]:
        return {change.id: change for change in (*self.nodes, *self.edges)}


def compare_graphs(before: GraphSide, after: GraphSide) -> GraphDifference:
    """The changes from the first answer to the second. Elements in the order of the merged view."""
    pairs = pair_edges(before.view.edges, after.view.edges)
    nodes = _union(before.view.nodes, after.view.nodes)
    edges = _union((old for old, new in pairs if new is None and old), after.view.edges)
    former = {node.id: node for node in before.view.nodes}
    merged = replace(
        after.view,
        nodes=tuple(_with_both_columns(node, former.get(node.id)) for node in nodes),
        edges=edges,
        focus=after.view.focus or before.view.focus,
    )
    changed_nodes = _changed_nodes(before, after)
    changed_edges = {change.id: change for change in _changed_edges(pairs, after.view.edges)}
    return GraphDifference(
        merged,
        tuple(changed_nodes[node.id] for node in merged.nodes if node.id in changed_nodes),
        tuple(changed_edges[edge.id] for edge in merged.edges if edge.id in changed_edges),
    )


def focus_on_changes(difference: GraphDifference) -> GraphView:
    """The merged view reduced to the changes and the nodes at their ends."""
    view, changes = difference.merged, difference.changes
    edges = tuple(edge for edge in view.edges if edge.id in changes)
    kept = {end for edge in edges for end in (edge.source, edge.target)} | changes.keys()
    homes = {
        node.dataset_id
        for node in view.nodes
        if isinstance(node, ColumnNodeView) and node.id in kept
    }
    nodes = tuple(node for node in view.nodes if node.id in kept or node.id in homes)
    return replace(view, nodes=nodes, edges=edges)


def unite(views: Sequence[GraphView], base: GraphView) -> GraphView:
    """The union of several answers at one time: an element in several of them appears once, with
    all its plans.

    ``base`` gives the fields beside the nodes: requested depth, focus.
    """
    nodes: dict[str, Node] = {}
    edges: dict[str, Edge] = {}
    for view in (base, *views):
        for node in view.nodes:
            nodes[node.id] = _same_node(nodes.get(node.id), node)
        for edge in view.edges:
            edges[edge.id] = _same_edge(edges.get(edge.id), edge)
    return replace(
        base,
        nodes=tuple(nodes.values()),
        edges=tuple(edges[key] for key in sorted(edges)),
        as_of=max((v.as_of for v in (base, *views) if v.as_of), default=None),
        depth_reached=max((view.depth_reached for view in views), default=0),
        partial=next((view.partial for view in views if view.partial), base.partial),
        folded=any(view.folded for view in views),
    )


def _same_node(known: Node | None, node: Node) -> Node:
    if isinstance(known, JobNode) and isinstance(node, JobNode):
        return node._replace(plans=tuple(sorted({*known.plans, *node.plans})))
    return node


def _same_edge(known: Edge | None, edge: Edge) -> Edge:
    if known is None:
        return edge
    united = edge._replace(plans=tuple(sorted({*known.plans, *edge.plans})))
    if isinstance(known, FeedEdge) and isinstance(united, FeedEdge):
        return united._replace(modes=tuple(sorted({*known.modes, *united.modes})))
    return united


# --- comparing contents --------------------------------------------------------------------------


def node_contents(node: Node, schemas: Mapping[str, Schema]) -> Contents:
    match node:
        case DatasetNode():
            return {"names": node.names, SCHEMA: schemas.get(node.id, ())}
        case JobNode():
            return {PLANS: tuple(sorted(node.plans))}
        case ColumnNodeView():
            return {"name": node.name, _TYPE: node.type}


def edge_contents(edge: Edge) -> Contents:
    if isinstance(edge, ColumnEdge):
        return {"how": edge.how, "expression": edge.expression}
    return {"modes": edge.modes, **({PLANS: edge.plans} if edge.jobs else {})}


def compare_contents(before: Contents, after: Contents) -> tuple[FieldChange, ...]:
    """The fields that differ, in the order of the first. A schema known on one side only is no
    change.
    """
    names = [*before, *(name for name in after if name not in before)]
    if not (before.get(SCHEMA, True) and after.get(SCHEMA, True)):
        names.remove(SCHEMA)
    return tuple(
        FieldChange(name, before.get(name), after.get(name), _columns(name, before, after))
        for name in names
        if _differs(name, before.get(name), after.get(name))
    )


def _differs(name: str, before: Any, after: Any) -> bool:
    if name == SCHEMA and before and after:
        return bool(compare_schemas(before, after))
    return not same_type(before, after) if name == _TYPE else before != after


def _columns(name: str, before: Contents, after: Contents) -> tuple[ColumnChange, ...]:
    return compare_schemas(before[name], after[name]) if name == SCHEMA else ()


# --- nodes ---------------------------------------------------------------------------------------


def _changed_nodes(before: GraphSide, after: GraphSide) -> dict[str, ElementChange]:
    old = {node.id: node for node in before.view.nodes}
    new = {node.id: node for node in after.view.nodes}
    said_before, said_after = _plans_at(before.view), _plans_at(after.view)
    changes: dict[str, ElementChange] = {}
    for key in old.keys() | new.keys():
        fields = _node_fields(old.get(key), new.get(key), before.schemas, after.schemas)
        if key in old and key in new and not fields:
            continue
        change = CHANGED if key in old and key in new else ADDED if key in new else REMOVED
        element = ElementChange(key, change, fields)
        changes[key] = _with_plans(element, said_before.get(key, ()), said_after.get(key, ()))
    return changes


def _node_fields(
    old: Node | None,
    new: Node | None,
    schemas_before: Mapping[str, Schema],
    schemas_after: Mapping[str, Schema],
) -> tuple[FieldChange, ...]:
    if old is None or new is None:
        return ()
    return compare_contents(node_contents(old, schemas_before), node_contents(new, schemas_after))


def _plans_at(view: GraphView) -> dict[str, tuple[str, ...]]:
    """Per node the plans that produce it: a job's own; of a dataset or a column those that write
    it, otherwise those that read it.
    """
    entering: defaultdict[str, set[str]] = defaultdict(set)
    leaving: defaultdict[str, set[str]] = defaultdict(set)
    for edge in view.edges:
        entering[edge.target].update(edge.plans)
        leaving[edge.source].update(edge.plans)
    own = {node.id: node.plans for node in view.nodes if isinstance(node, JobNode)}
    return {
        node.id: tuple(sorted(own.get(node.id) or entering[node.id] or leaving[node.id]))
        for node in view.nodes
    }


def _with_plans(
    change: ElementChange, before: Collection[str], after: Collection[str]
) -> ElementChange:
    """For a changed element, the plans on one side only, where there are any."""
    if change.change != CHANGED:
        return replace(change, plans_before=tuple(before), plans_after=tuple(after))
    return replace(
        change,
        plans_before=tuple(sorted(set(before) - set(after) or before)),
        plans_after=tuple(sorted(set(after) - set(before) or after)),
    )


def _with_both_columns(node: Node, former: Node | None) -> Node:
    """A table in both views lists the columns of both."""
    if not isinstance(node, DatasetNode) or not isinstance(former, DatasetNode):
        return node
    if node.columns is None or not former.columns:
        return node
    return node._replace(columns=tuple(dict.fromkeys((*node.columns, *former.columns))))


# --- edges ---------------------------------------------------------------------------------------


def pair_edges(
    before: Iterable[Edge], after: Iterable[Edge]
) -> list[tuple[Edge | None, Edge | None]]:
    """Pair edges of both sides with the same ends and kind; among several, those of equal ``how``
    first.
    """
    old, new = _by_ends(before), _by_ends(after)
    pairs: list[tuple[Edge | None, Edge | None]] = []
    for ends in sorted(old.keys() | new.keys()):
        pairs += pair_by(old.get(ends, []), new.get(ends, []), _how)
    return pairs


Item = TypeVar("Item")


def pair_by(
    before: Sequence[Item], after: Sequence[Item], how: Any
) -> Iterator[tuple[Item | None, Item | None]]:
    """Pairs of equal ``how``; then the remaining ones in order of ``how``; then those without a
    partner.
    """
    old, new = {how(item): item for item in before}, {how(item): item for item in after}
    both = old.keys() & new.keys()
    yield from ((old[key], new[key]) for key in sorted(both))
    left = [old[key] for key in sorted(old.keys() - both)]
    right = [new[key] for key in sorted(new.keys() - both)]
    common = min(len(left), len(right))
    yield from zip(left[:common], right[:common], strict=True)
    yield from ((item, None) for item in left[common:])
    yield from ((None, item) for item in right[common:])


def _how(edge: Edge) -> str:
    return edge.how if isinstance(edge, ColumnEdge) else ""


def _by_ends(edges: Iterable[Edge]) -> dict[tuple[str, str, str], list[Edge]]:
    by_ends: dict[tuple[str, str, str], list[Edge]] = {}
    for edge in edges:
        kind = edge.kind if isinstance(edge, ColumnEdge) else ""
        by_ends.setdefault((edge.source, edge.target, kind), []).append(edge)
    return by_ends


def _changed_edges(
    pairs: Iterable[tuple[Edge | None, Edge | None]], after: Iterable[Edge]
) -> Iterator[ElementChange]:
    writers: defaultdict[str, set[str]] = defaultdict(set)
    for edge in after:
        writers[edge.target].update(edge.plans)
    for old, new in pairs:
        if new is None and old is not None:
            instead = tuple(sorted(writers[old.target] - set(old.plans)))
            yield ElementChange(old.id, REMOVED, (), old.plans, instead)
        elif old is None and new is not None:
            yield ElementChange(new.id, ADDED, (), (), new.plans)
        elif old is not None and new is not None:
            fields = compare_contents(edge_contents(old), edge_contents(new))
            if fields:
                yield _with_plans(ElementChange(new.id, CHANGED, fields), old.plans, new.plans)


def _union(before: Iterable[Element], after: Sequence[Element]) -> tuple[Element, ...]:
    """The elements of the second side, then those that only the first side has."""
    known = {element.id for element in after}
    return (*after, *(element for element in before if element.id not in known))


ADDED: Final = "added"
REMOVED: Final = "removed"
CHANGED: Final = "changed"
RETYPED: Final = "retyped"
RESPELLED: Final = "respelled"
MOVED: Final = "moved"


@dataclass(frozen=True, slots=True)
class ComparedColumn:
    path: str
    name: str
    type: str | None


@dataclass(frozen=True, slots=True)
class ColumnChange:
    """``before`` and ``after`` are types; for a respelled column names; for a moved one its place
    (from 1) among the columns of both schemas; None on the side without the column.
    """

    change: str
    path: str
    before: str | None
    after: str | None


Schema = tuple[ComparedColumn, ...]


def read_schema(columns: str) -> Schema:
    """The columns of a ``SchemaRow``; the first of two with one path."""
    compared = {
        column["path"]: ComparedColumn(column["path"], column["name"], column.get("type"))
        for column in reversed(json.loads(columns))
    }
    return tuple(reversed(compared.values()))


def compare_schemas(
    before: Sequence[ComparedColumn], after: Sequence[ComparedColumn]
) -> tuple[ColumnChange, ...]:
    """The changes from one schema to the other; empty for equal ones. Added and removed in schema
    order.
    """
    old = {column.path: column for column in before}
    new = {column.path: column for column in after}
    return (
        *(ColumnChange(REMOVED, c.path, c.type or "", None) for c in before if c.path not in new),
        *(ColumnChange(ADDED, c.path, None, c.type or "") for c in after if c.path not in old),
        *(change for path, c in old.items() if path in new for change in _within(c, new[path])),
        *_moved([path for path in old if path in new], [path for path in new if path in old]),
    )


def _within(before: ComparedColumn, after: ComparedColumn) -> Iterator[ColumnChange]:
    if not same_type(before.type, after.type):
        yield ColumnChange(RETYPED, before.path, before.type, after.type)
    if before.name != after.name:
        yield ColumnChange(RESPELLED, before.path, before.name, after.name)


def _moved(before: Sequence[str], after: Sequence[str]) -> Iterator[ColumnChange]:
    """The columns of both in another place, which matters to an insert by position."""
    places = {path: place for place, path in enumerate(after, 1)}
    for place, path in enumerate(before, 1):
        if places[path] != place:
            yield ColumnChange(MOVED, path, str(place), str(places[path]))


def describe(changes: Sequence[ColumnChange]) -> tuple[str, ...]:
    """One short sentence for each change."""
    return tuple(_sentence(change) for change in changes)


def _sentence(change: ColumnChange) -> str:
    if change.change == ADDED:
        return f"column {change.path} added{_typed(change.after)}"
    if change.change == REMOVED:
        return f"column {change.path} removed"
    if change.change == RESPELLED:
        return f"column {change.before} is now spelled {change.after}"
    if change.change == MOVED:
        return f"column {change.path} moved from place {change.before} to {change.after}"
    return f"column {change.path} was {change.before or 'untyped'}, is {change.after or 'untyped'}"


def _typed(text: str | None) -> str:
    return f" ({text})" if text else ""


# --- as JSON --------------------------------------------------------------------------------------


CHANGES: Final = (ADDED, REMOVED, CHANGED)


def field_reply(change: FieldChange) -> dict[str, Any]:
    """The sides of a schema are long and shown as changed columns."""
    if change.field == SCHEMA:
        return {"field": SCHEMA, "columns": to_json(change.columns)}
    return {"field": change.field, "before": to_json(change.before), "after": to_json(change.after)}


#: Two groups of similar operations with more pairs than this are paired in their order.
MOST_PAIRS: Final = 40_000


@dataclass(frozen=True, slots=True)
class PlanStep:
    """An operation to align: ``content`` are (kind, text) pairs, free of the plan's ids."""

    id: str
    kind: str
    name: str
    content: frozenset[tuple[str, str]]
    inputs: tuple[str, ...]
    datasets: frozenset[str]


def align(before: Sequence[PlanStep], after: Sequence[PlanStep]) -> dict[str, str]:
    """Ids of the first plan -> ids of the second. In both lists an operation follows its inputs."""
    alignment = _Alignment(before, after)
    trunk_before, trunk_after = _trunks(before), _trunks(after)
    alignment.pair_equal(lambda step: trunk_before[step.id], lambda step: trunk_after[step.id])
    alignment.pair_alike(lambda step: (step.kind, step.name, step.content))
    alignment.pair_alike(lambda step: (step.kind, step.name))
    alignment.pair_alike(lambda step: (step.kind,) if step.kind != labels.TRANSFORM else (step.id,))
    return alignment.pairs


def _trunks(steps: Iterable[PlanStep]) -> dict[str, str]:
    """Per operation a digest of it and of everything below it."""
    trunks: dict[str, str] = {}
    for step in steps:
        below = [trunks.get(child, "") for child in step.inputs]
        trunks[step.id] = identity.digest(step.kind, step.name, sorted(step.content), below)
    return trunks


class _Alignment:
    """The pairs found so far; each round pairs some of the remaining operations."""

    def __init__(self, before: Sequence[PlanStep], after: Sequence[PlanStep]) -> None:
        self.pairs: dict[str, str] = {}
        self._taken: set[str] = set()
        self._before, self._after = before, after
        self._places = (_places(before), _places(after))
        self._neighbours = (_neighbours(before), _neighbours(after))

    def pair_equal(
        self, key_before: Callable[[PlanStep], object], key_after: Callable[[PlanStep], object]
    ) -> None:
        """Pair operations with equal keys, in the order of the plans."""
        for old, new in self._groups(key_before, key_after):
            for step, other in zip(old, new, strict=False):
                self._take(step, other)

    def pair_alike(self, key: Callable[[PlanStep], object]) -> None:
        """Among operations with equal keys, pair those with most content in common."""
        for old, new in self._groups(key, key):
            if len(old) * len(new) > MOST_PAIRS:
                scored: Iterable[tuple[PlanStep, PlanStep]] = zip(old, new, strict=False)
            else:
                scored = self._best_first(old, new)
            for step, other in scored:
                if step.id not in self.pairs and other.id not in self._taken:
                    self._take(step, other)

    def _groups(
        self, key_before: Callable[[PlanStep], object], key_after: Callable[[PlanStep], object]
    ) -> Iterator[tuple[list[PlanStep], list[PlanStep]]]:
        """The unpaired operations of both plans, by key."""
        old: defaultdict[object, list[PlanStep]] = defaultdict(list)
        new: defaultdict[object, list[PlanStep]] = defaultdict(list)
        for step in self._before:
            if step.id not in self.pairs:
                old[key_before(step)].append(step)
        for step in self._after:
            if step.id not in self._taken:
                new[key_after(step)].append(step)
        yield from [(old[key], new[key]) for key in old if key in new]

    def _best_first(
        self, old: Sequence[PlanStep], new: Sequence[PlanStep]
    ) -> list[tuple[PlanStep, PlanStep]]:
        """Ties go to operations at nearly the same place, which makes the result symmetric."""
        scored = [
            (-score, *self._distance(step, other), step, other)
            for step in old
            for other in new
            if (score := self._score(step, other)) > 0
        ]
        scored.sort(key=lambda item: item[:3])
        return [(step, other) for *_, step, other in scored]

    def _distance(self, step: PlanStep, other: PlanStep) -> tuple[int, int]:
        first, second = self._places[0][step.id], self._places[1][other.id]
        return abs(first - second), first + second

    def _score(self, step: PlanStep, other: PlanStep) -> int:
        """How much content both have in common; 0: nothing."""
        if step.kind == labels.READ and step.datasets.isdisjoint(other.datasets):
            return 0
        if step.kind == labels.WRITE:
            return 1  # a plan writes once
        beside = {self.pairs.get(key) for key in self._neighbours[0][step.id]} - {None}
        near = len(beside & self._neighbours[1][other.id])
        shared = len(step.content & other.content) + len(step.datasets & other.datasets)
        return shared + 2 * near if shared or near > 1 else 0

    def _take(self, step: PlanStep, other: PlanStep) -> None:
        self.pairs[step.id] = other.id
        self._taken.add(other.id)


def _places(steps: Sequence[PlanStep]) -> dict[str, int]:
    """Places counted from the write, which both plans have: an operation inserted below it moves
    none above.
    """
    return {step.id: place for place, step in enumerate(reversed(steps))}


def _neighbours(steps: Sequence[PlanStep]) -> Mapping[str, set[str]]:
    neighbours: defaultdict[str, set[str]] = defaultdict(set)
    for step in steps:
        for child in step.inputs:
            neighbours[step.id].add(child)
            neighbours[child].add(step.id)
    return neighbours
