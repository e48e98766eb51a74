"""Which operation of one plan is which of another: two plans of a job are never numbered alike.

Pure, and the same both ways round. What is surest is taken first:

    1. equal content above equal inputs, all the way down
    2. equal content (kind, name, parameters, columns, datasets)
    3. the same kind and name, whatever both share most: parameters, columns, neighbours (what
       shares nothing else must stand between the same two); a read only with a read of one of
       its datasets

A filter whose condition changed is the same filter; a read of another table is another read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from graph_model import identity, labels

#: Two groups of alike operations with more pairs than this are paired in their order.
MOST_PAIRS: Final = 40_000


@dataclass(frozen=True, slots=True)
class Step:
    """What is known of an operation: ``content`` are (what, text) pairs, free of the plan's ids."""

    id: str
    kind: str
    name: str
    content: frozenset[tuple[str, str]]
    inputs: tuple[str, ...]
    datasets: frozenset[str]


def align(before: Sequence[Step], after: Sequence[Step]) -> dict[str, str]:
    """Ids of the first plan -> ids of the second. Both list inputs before what uses them."""
    found = _Alignment(before, after)
    trunk_before, trunk_after = _trunks(before), _trunks(after)
    found.pair_equal(lambda step: trunk_before[step.id], lambda step: trunk_after[step.id])
    found.pair_alike(lambda step: (step.kind, step.name, step.content))
    found.pair_alike(lambda step: (step.kind, step.name))
    found.pair_alike(lambda step: (step.kind,) if step.kind != labels.TRANSFORM else (step.id,))
    return found.pairs


def _trunks(steps: Iterable[Step]) -> dict[str, str]:
    """Per operation a digest of it and of all below it."""
    trunks: dict[str, str] = {}
    for step in steps:
        below = [trunks.get(child, "") for child in step.inputs]
        trunks[step.id] = identity.digest(step.kind, step.name, sorted(step.content), below)
    return trunks


class _Alignment:
    """Pairs found so far; each round looks at what is left."""

    def __init__(self, before: Sequence[Step], after: Sequence[Step]) -> None:
        self.pairs: dict[str, str] = {}
        self._taken: set[str] = set()
        self._before, self._after = before, after
        self._places = (_places(before), _places(after))
        self._neighbours = (_neighbours(before), _neighbours(after))

    def pair_equal(
        self, key_before: Callable[[Step], object], key_after: Callable[[Step], object]
    ) -> None:
        """Equal keys, in the order of the plans."""
        for old, new in self._groups(key_before, key_after):
            for one, other in zip(old, new, strict=False):
                self._take(one, other)

    def pair_alike(self, key: Callable[[Step], object]) -> None:
        """Within equal keys those that share most."""
        for old, new in self._groups(key, key):
            if len(old) * len(new) > MOST_PAIRS:
                scored: Iterable[tuple[Step, Step]] = zip(old, new, strict=False)
            else:
                scored = self._best_first(old, new)
            for one, other in scored:
                if one.id not in self.pairs and other.id not in self._taken:
                    self._take(one, other)

    def _groups(
        self, key_before: Callable[[Step], object], key_after: Callable[[Step], object]
    ) -> Iterator[tuple[list[Step], list[Step]]]:
        """What is left of both, by key."""
        old: defaultdict[object, list[Step]] = defaultdict(list)
        new: defaultdict[object, list[Step]] = defaultdict(list)
        for step in self._before:
            if step.id not in self.pairs:
                old[key_before(step)].append(step)
        for step in self._after:
            if step.id not in self._taken:
                new[key_after(step)].append(step)
        yield from [(old[key], new[key]) for key in old if key in new]

    def _best_first(self, old: Sequence[Step], new: Sequence[Step]) -> list[tuple[Step, Step]]:
        """Ties go to those that stand at nearly the same place: the same whichever comes first."""
        scored = [
            (-score, *self._distance(one, other), one, other)
            for one in old
            for other in new
            if (score := self._score(one, other)) > 0
        ]
        scored.sort(key=lambda item: item[:3])
        return [(one, other) for *_, one, other in scored]

    def _distance(self, one: Step, other: Step) -> tuple[int, int]:
        first, second = self._places[0][one.id], self._places[1][other.id]
        return abs(first - second), first + second

    def _score(self, one: Step, other: Step) -> int:
        """How much both share; 0: nothing."""
        if one.kind == labels.READ and one.datasets.isdisjoint(other.datasets):
            return 0
        if one.kind == labels.WRITE:
            return 1  # a plan writes once
        beside = {self.pairs.get(step) for step in self._neighbours[0][one.id]} - {None}
        near = len(beside & self._neighbours[1][other.id])
        shared = len(one.content & other.content) + len(one.datasets & other.datasets)
        return shared + 2 * near if shared or near > 1 else 0

    def _take(self, one: Step, other: Step) -> None:
        self.pairs[one.id] = other.id
        self._taken.add(other.id)


def _places(steps: Sequence[Step]) -> dict[str, int]:
    """Counted from the write, which both plans have: what was put in below moves nothing above."""
    return {step.id: place for place, step in enumerate(reversed(steps))}


def _neighbours(steps: Sequence[Step]) -> Mapping[str, set[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for step in steps:
        for child in step.inputs:
            found[step.id].add(child)
            found[child].add(step.id)
    return found
