"""Edges against movements: confirmed, refuted, untested, and movements that no edge explains."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from bench.truth.comparison import ROWS, Movement
from bench.truth.perturbation import Change
from bench.truth.schema import Leaf

CONFIRMED: Final = "confirmed"
REFUTED: Final = "refuted"
UNTESTED: Final = "untested"
DIRECT: Final = "DIRECT"
INDIRECT: Final = "INDIRECT"
IDENTITY: Final = "IDENTITY"


@dataclass(frozen=True, slots=True)
class Edge:
    """A read column (or a field below it) and the output column that it is said to reach.

    ``output`` ROWS: an influence on the whole output, of kind INDIRECT.
    """

    source: Leaf
    output: int
    kind: str
    how: str


@dataclass(frozen=True, slots=True)
class Probe:
    """One re-run and the columns that it moved."""

    change: Change
    movement: Movement


@dataclass(frozen=True, slots=True)
class Verdict:
    edge: Edge
    word: str
    reason: str = ""


@dataclass(frozen=True, slots=True, order=True)
class Pair:
    """A source whose change moved an output column, or the rows (ROWS).

    ``arrived``: the source's own values came through, so only a DIRECT edge explains it.
    """

    source: Leaf
    output: int
    arrived: bool


@dataclass(frozen=True, slots=True)
class Judgement:
    """All that is known of one job. ``missing`` are the pairs that no edge explains."""

    verdicts: tuple[Verdict, ...]
    explained: tuple[Pair, ...]
    missing: tuple[Pair, ...]

    def count(self, word: str) -> int:
        return sum(verdict.word == word for verdict in self.verdicts)

    def of(self, word: str) -> tuple[Verdict, ...]:
        return tuple(verdict for verdict in self.verdicts if verdict.word == word)


def judge(
    edges: Sequence[Edge],
    probes: Sequence[Probe],
    *,
    key: Sequence[int] = (),
    strangers: Iterable[int] = (),
) -> Judgement:
    """``strangers``: outputs that held a value which none of their IDENTITY sources held."""
    odd = frozenset(strangers)
    verdicts = tuple(_verdict(edge, edges, probes, odd) for edge in dict.fromkeys(edges))
    pairs = sorted(set(_pairs(probes)))
    explained = tuple(pair for pair in pairs if _explained(pair, edges, key))
    return Judgement(verdicts, explained, tuple(p for p in pairs if p not in set(explained)))


def covers(edge: Leaf, changed: Leaf) -> bool:
    """Whether the two name the same value or one that holds the other."""
    if (edge.table, edge.column) != (changed.table, changed.column):
        return False
    shared = min(len(edge.path), len(changed.path))
    return edge.path[:shared] == changed.path[:shared]


def _verdict(
    edge: Edge, edges: Sequence[Edge], probes: Sequence[Probe], strangers: frozenset[int]
) -> Verdict:
    ours = [probe for probe in probes if covers(edge.source, probe.change.leaf)]
    if edge.how == IDENTITY and edge.output in strangers:
        return Verdict(edge, REFUTED, "the output holds values that no identical source has")
    if edge.kind == INDIRECT and edge.output != ROWS:
        direct = any(_is_direct(other, edge.source, edge.output) for other in edges)
        if not direct and any(edge.output in probe.movement.arrived for probe in ours):
            return Verdict(edge, REFUTED, "the source's own values arrive in the output")
    moving = [probe for probe in ours if _moves(edge, probe.movement)]
    if moving:
        first = moving[0].change
        return Verdict(edge, CONFIRMED, f"{first.strategy} {first.seed}")
    return Verdict(edge, UNTESTED, f"{len(ours)} changes moved nothing")


def _moves(edge: Edge, movement: Movement) -> bool:
    if edge.output == ROWS:
        return not movement.still
    return edge.output in movement.columns or edge.output in movement.arrived


def _is_direct(edge: Edge, source: Leaf, output: int) -> bool:
    return edge.kind == DIRECT and edge.output == output and covers(edge.source, source)


def _pairs(probes: Iterable[Probe]) -> Iterator[Pair]:
    for probe in probes:
        for place in probe.movement.columns:
            yield Pair(probe.change.leaf, place, False)
        for place in probe.movement.arrived:
            yield Pair(probe.change.leaf, place, True)


def _explained(pair: Pair, edges: Sequence[Edge], key: Sequence[int]) -> bool:
    ours = [edge for edge in edges if covers(edge.source, pair.source)]
    if pair.arrived:
        return any(_is_direct(edge, pair.source, pair.output) for edge in ours)
    if any(edge.output == ROWS for edge in ours):
        return True
    if pair.output == ROWS:
        # Other keys are other rows: whatever makes a key column explains them.
        return any(edge.output in key for edge in ours)
    return any(edge.output == pair.output for edge in ours)
