"""A prune in steps of a bounded number of executions, so that documents are projected in between.

    5,000 executions before March of one job -> 1,000 before 3 January, 1,000 before 9 January, …

A step is computed after the one before it was carried out, without the removed executions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from graph_model.producers.commands.documents import MOST_CUTOFFS, Cutoff
from graph_model.retention.coverage import count_covered
from graph_model.stores.protocols import Catalogue

MOST_EXECUTIONS: Final = 1_000
"""Executions that one step takes away; those of one job and one millisecond go together."""
LEAST_SHARE: Final = 10
"""A cut-off is moved once it takes the tenth part of its job's executions on that dataset: every
move is a command that is kept for ever."""

Count = Callable[[int], int]
"""How many executions there are before a time (epoch ms)."""


@dataclass(frozen=True, slots=True)
class RetentionStep:
    """``cutoffs`` remove ``executions``; ``rest`` is the remaining work."""

    cutoffs: tuple[Cutoff, ...]
    executions: int
    rest: tuple[Cutoff, ...]


def worth_moving(cutoffs: Sequence[Cutoff], catalogue: Catalogue) -> tuple[Cutoff, ...]:
    """The cut-offs that remove a sufficient share of the executions."""
    return tuple(one for one in cutoffs if _takes_a_share(one, catalogue))


def _takes_a_share(cutoff: Cutoff, catalogue: Catalogue) -> bool:
    job, target = cutoff.key
    covered = count_covered(catalogue, job, target, cutoff.before)
    total = catalogue.executions(job=job, target=target, limit=1).total
    return covered > 0 and covered * LEAST_SHARE >= total


def next_step(
    cutoffs: Sequence[Cutoff], catalogue: Catalogue, most: int = MOST_EXECUTIONS
) -> RetentionStep:
    """As many of the first as take ``most`` executions away together; part of one that has more."""
    taken: list[Cutoff] = []
    executions = 0
    for place, cutoff in enumerate(cutoffs[:MOST_CUTOFFS]):
        count = _counting(cutoff, catalogue)
        covered = count(cutoff.before)
        if covered > most and not taken:
            before = split_time(count, cutoff.before, most)
            part = replace(cutoff, before=before)
            return RetentionStep((part,), count(before), tuple(cutoffs[place:]))
        if executions + covered > most:
            return RetentionStep(tuple(taken), executions, tuple(cutoffs[place:]))
        if covered:
            taken.append(cutoff)
            executions += covered
    return RetentionStep(tuple(taken), executions, tuple(cutoffs[MOST_CUTOFFS:]))


def _counting(cutoff: Cutoff, catalogue: Catalogue) -> Count:
    job, target = cutoff.key
    return lambda before: count_covered(catalogue, job, target, before)


def split_time(count: Count, before: int, most: int) -> int:
    """The latest time before which there are at most ``most``, and at least one; ``before`` has
    more. Where those of one millisecond are more than that, they are together.
    """
    low, high = 0, before
    while high - low > 1:
        middle = (low + high) // 2
        if count(middle) <= most:
            low = middle
        else:
            high = middle
    return low if count(low) else high
