"""Pairs of equal operations of two plans, whose numbers differ.

Pure, and the same in both directions. The surest pairs are made first:

    1. equal content above equal inputs, all the way down
    2. equal content (kind, name, parameters, columns, datasets)
    3. the same kind and name, the pair that shares most: parameters, columns, neighbours (a pair
       that shares nothing else must stand between the same two); a read only with a read of one
       of its datasets

A filter whose condition changed is the same filter; a read of another table is another read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from graph_model import identity, labels

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
