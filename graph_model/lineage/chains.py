"""Chains of states: those from a root to a goal that are short enough, and the shortest ones.

    s3://lake/orders -> (daily_orders) -> s3://lake/daily -> (report) -> s3://lake/report

A walk downstream has kept its steps and knows the distance of each state from the start, so the
shortest chains need no second walk: a chain takes the shortest step again and again, and is as true
in time as the walk.

Between columns a chain is also one edge from end to end:

    raw.a -IDENTITY-> clean.a -AGGREGATION-> report.total  =>  raw.a -AGGREGATION-> report.total

Its ``how`` is composed along the way: IDENTITY < TRANSFORMATION < AGGREGATION; one INDIRECT step
makes the whole chain INDIRECT, by the step nearest to the computed column. Pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Final, Generic, TypeVar

from graph_model import labels
from graph_model.lineage.questions import Answer, Chain, ChainFlow, ColumnEdge, Link

FAR: Final = 2**31
"""More steps than any walk takes."""

_State = TypeVar("_State", bound=Hashable)


@dataclass(frozen=True, slots=True)
class ShortChains(Generic[_State]):
    """The chains of at most ``depth`` steps from one of the ``roots`` to a goal.

    ``levels``: per state on the way from them the least number of steps from a root. ``away``: per
    state the least number of steps to a goal, added to the goal's own number.
    """

    depth: int
    roots: Set[_State]
    levels: Mapping[_State, int]
    away: Mapping[_State, int]

    def hold(self, state: _State, following: _State) -> bool:
        """Whether one of them has the step from a state of ``levels`` to the following one."""
        return self.levels[state] + 1 + self.away.get(following, self.depth) <= self.depth


def short_chains(
    nexts: Mapping[_State, Collection[_State]],
    roots: Iterable[_State],
    goals: Mapping[_State, int],
    depth: int,
    *,
    at_goal: bool = False,
) -> ShortChains[_State]:
    """The chains of at most ``depth`` steps; ``nexts`` are the states that follow each.

    A table may derive from itself, so a chain has at least one step. ``at_goal``: a root that is a
    goal with a number of its own has them behind it.
    """
    away = _distances(nexts, goals)
    kept = {root for root in roots if _steps_away(root, nexts, away, at_goal) <= depth}
    return ShortChains(depth, kept, _levels(nexts, kept), away)


def _distances(
    nexts: Mapping[_State, Collection[_State]], goals: Mapping[_State, int]
) -> dict[_State, int]:
    """Per state the least number of steps to a goal, added to the goal's own number.

    States that reach no goal are left out. Linear in the number of steps, cycles included.
    """
    previous: defaultdict[_State, list[_State]] = defaultdict(list)
    for state, following in nexts.items():
        for follower in following:
            previous[follower].append(state)
    distances: dict[_State, int] = {}
    waiting: defaultdict[int, list[_State]] = defaultdict(list)
    for goal, number in goals.items():
        waiting[number].append(goal)
    while waiting:
        distance = min(waiting)
        for state in waiting.pop(distance):
            if state not in distances:
                distances[state] = distance
                if previous[state]:
                    waiting[distance + 1] += previous[state]
    return distances


def _levels(
    nexts: Mapping[_State, Collection[_State]], roots: Iterable[_State]
) -> dict[_State, int]:
    """Per state the least number of steps from a root."""
    levels = dict.fromkeys(roots, 0)
    frontier = list(levels)
    while frontier:
        following = []
        for state in frontier:
            for follower in nexts.get(state, ()):
                if follower not in levels:
                    levels[follower] = levels[state] + 1
                    following.append(follower)
        frontier = following
    return levels


def _steps_away(
    state: _State,
    nexts: Mapping[_State, Collection[_State]],
    away: Mapping[_State, int],
    at_goal: bool,
) -> int:
    """The least number of steps, at least one, from a state to a goal; FAR where there is none.

    ``at_goal``: whether a goal's own number counts.
    """
    if at_goal:
        return away.get(state, FAR)
    return 1 + min(
        (away[follower] for follower in nexts.get(state, ()) if follower in away), default=FAR
    )


State = TypeVar("State", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Way(Generic[State]):
    """A step down to a state: from ``source``, or (None) from the requested job."""

    job: str
    source: State | None
    kind: str = ""
    how: str = ""
    expression: str = ""


@dataclass(frozen=True)
class Trace(Generic[State]):
    """The state of a walk at its end.

    ``away``: the number of steps from the requested node, 0 for itself. ``roots``: the states
    visible at the requested time that derive from it. ``ways`` gives the steps down to a state,
    ``name`` its id. ``jobs`` and ``known`` are filled during the search: the last step to each job,
    and per state the start and the links of its chain.
    """

    away: Mapping[State, int]
    roots: Collection[State]
    ways: Callable[[State], Iterable[Way[State]]]
    name: Callable[[State], str]
    jobs: dict[str, Way[State]] = field(default_factory=dict)
    known: dict[State, tuple[str, tuple[Link, ...]]] = field(default_factory=dict)

    def note_job(self, way: Way[State]) -> None:
        """Record a job on a chain of the answer; its shortest way is kept."""
        shortest = self.jobs.get(way.job)
        if shortest is None or self._order(way) < self._order(shortest):
            self.jobs[way.job] = way

    def chains(self) -> tuple[Chain, ...]:
        """One chain to each root and one to each job, by depth."""
        chains = [self._chain_to(root) for root in self.roots]
        for way in self.jobs.values():
            start, links = self._links_before(way)
            chains.append(Chain(start, (*links, _link(way, ""))))
        return tuple(sorted(chains, key=lambda chain: (chain.depth, chain)))

    def _chain_to(self, root: State) -> Chain:
        way = self._nearest(root)
        start, links = self._links_before(way)
        return Chain(start, (*links, _link(way, self.name(root))))

    def _links_before(self, way: Way[State]) -> tuple[str, tuple[Link, ...]]:
        """The start, and the links down to the beginning of a step. Links that several chains share
        are computed once.
        """
        passed: list[tuple[State, Way[State]]] = []
        while way.source is not None and self.away[way.source] > 0 and way.source not in self.known:
            state = way.source
            way = self._nearest(state)
            passed.append((state, way))
        if way.source in self.known:
            start, links = self.known[way.source]
        else:
            start, links = way.job if way.source is None else self.name(way.source), ()
        for state, own in reversed(passed):
            links = (*links, _link(own, self.name(state)))
            self.known[state] = start, links
        return start, links

    def _nearest(self, state: State) -> Way[State]:
        return min(self.ways(state), key=self._order)

    def _order(self, way: Way[State]) -> tuple[int, str, str, str, str]:
        """Shortest first, then a value before an influence (DIRECT < INDIRECT), then by name."""
        if way.source is None:
            return (0, way.kind, way.job, "", "")
        return (self.away.get(way.source, FAR), way.kind, way.job, self.name(way.source), way.how)


def join_chains(seen: Iterable[Chain], in_force: Iterable[Chain]) -> tuple[Chain, ...]:
    """The chains of possible flow, one to each end of either, by depth: the shorter one; of two as
    long the one in force.
    """
    current = {chain.end: chain for chain in in_force}
    former = {chain.end: chain for chain in seen}
    chains = []
    for end, chain in current.items():
        other = former.pop(end, None)
        shortest = chain if other is None or chain.depth <= other.depth else other
        chains.append(replace(shortest, flow=ChainFlow.NEXT if other is None else ChainFlow.SEEN))
    chains += [replace(chain, flow=ChainFlow.PAST) for chain in former.values()]
    return tuple(sorted(chains, key=lambda chain: (chain.depth, chain)))


def _link(way: Way[State], target: str) -> Link:
    return Link(way.job, target, way.kind, way.how, way.expression)


_Derivation = tuple[str, str]
"""(kind, how) of a chain."""

_STRENGTH: Final = {labels.IDENTITY: 0, labels.TRANSFORMATION: 1, labels.AGGREGATION: 2}
_NOTHING: Final[_Derivation] = (labels.DIRECT, labels.IDENTITY)


def keep_ends(answer: Answer, start: Collection[str], hidden: Collection[str] = ()) -> Answer:
    """The requested columns, their first sources and their last results; ``hidden`` are datasets
    (ids): a chain leads through their columns, and ends before them.

    An end has no further step in the answer. In a cycle that nothing else leads into, the end is
    the column farthest from the start. ``hops`` of an edge is the least number of steps that it
    replaces.
    """
    into: defaultdict[str, list[ColumnEdge]] = defaultdict(list)
    out_of: defaultdict[str, list[ColumnEdge]] = defaultdict(list)
    hidden_columns = {node.id for node in answer.columns if node.dataset in hidden}
    for edge in _without_ends(answer.column_edges, hidden_columns.difference(start)):
        into[edge.target].append(edge)
        out_of[edge.source].append(edge)
    edges: list[ColumnEdge] = []
    for column in sorted(set(start) & {node.id for node in answer.columns}):
        edges += _edges_to_ends(column, into, upstream=True)
        edges += _edges_to_ends(column, out_of, upstream=False)
    kept = {*start, *(end for edge in edges for end in (edge.source, edge.target))}
    columns = tuple(node for node in answer.columns if node.id in kept)
    return replace(
        answer,
        columns=columns,
        column_edges=tuple(sorted(set(edges))),
        datasets=tuple(sorted({node.dataset for node in columns})),
        via=tuple(node for node in answer.via if node in kept),
        left_out=tuple(left for left in answer.left_out if left.node in kept),
    )


def _without_ends(
    edges: Sequence[ColumnEdge], hidden_columns: Collection[str]
) -> Sequence[ColumnEdge]:
    """The edges without those that only lead into, or only come out of, these columns."""
    while hidden_columns:
        fed = {edge.target for edge in edges if edge.source != edge.target}
        feeding = {edge.source for edge in edges if edge.source != edge.target}
        kept = [
            edge
            for edge in edges
            if (edge.target not in hidden_columns or edge.target in feeding)
            and (edge.source not in hidden_columns or edge.source in fed)
        ]
        if len(kept) == len(edges):
            break
        edges = kept
    return edges


def _edges_to_ends(
    start: str, edges: Mapping[str, list[ColumnEdge]], *, upstream: bool
) -> Iterable[ColumnEdge]:
    """Edges from a column to the ends on one side of it, one for each kind of derivation."""
    hops = _walk(start, edges, upstream=upstream)
    last = max(hops.values())
    beyond = {column: _others(column, edges, upstream=upstream) for column, _ in hops}
    ends = {column for column, others in beyond.items() if not others and column != start}
    if not ends and last:
        ends = {column for (column, _), count in hops.items() if count == last}
    for (column, (kind, how)), count in hops.items():
        if column in ends and count:
            source, target = (column, start) if upstream else (start, column)
            yield _edge(source, target, kind, how, count, edges[start])


def _edge(
    source: str, target: str, kind: str, how: str, hops: int, first: Iterable[ColumnEdge]
) -> ColumnEdge:
    """The edge for a chain; the edge for a single step keeps its expression and plans."""
    if hops == 1:
        for edge in first:
            if (edge.source, edge.target, edge.kind, edge.how) == (source, target, kind, how):
                return edge._replace(hops=1)
    return ColumnEdge(source, target, kind, how, "", (), hops)


def _others(column: str, edges: Mapping[str, list[ColumnEdge]], *, upstream: bool) -> set[str]:
    """The neighbours one step further, without the column itself."""
    return {edge.source if upstream else edge.target for edge in edges.get(column, ())} - {column}


def _walk(
    start: str, edges: Mapping[str, list[ColumnEdge]], *, upstream: bool
) -> dict[tuple[str, _Derivation], int]:
    """Per column and kind of derivation the least number of steps from the start."""
    hops = {(start, _NOTHING): 0}
    frontier = [(start, _NOTHING)]
    while frontier:
        following = []
        for column, derivation in frontier:
            for edge in edges.get(column, ()):
                further = edge.source if upstream else edge.target
                state = (
                    further,
                    _compose(derivation, (edge.kind, edge.how), nearer_first=upstream),
                )
                if state not in hops:
                    hops[state] = hops[column, derivation] + 1
                    following.append(state)
        frontier = following
    return hops


def _compose(derivation: _Derivation, step: _Derivation, *, nearer_first: bool) -> _Derivation:
    """``nearer_first``: the first steps of the walk are nearest to the computed column."""
    if labels.INDIRECT in (derivation[0], step[0]):
        order = (derivation, step) if nearer_first else (step, derivation)
        return next(either for either in order if either[0] == labels.INDIRECT)
    return max(derivation, step, key=lambda either: _STRENGTH.get(either[1], 0))
