"""A prune in steps of a bounded number of executions, so that documents are projected in between.

    5,000 executions before March of one job -> 1,000 before 3 January, 1,000 before 9 January, …

A step is computed after the one before it was carried out, and begins where that one ended. An
execution that is still there, though it lies before a cut-off in force, stays: its run also wrote
something that stays, and no later command about the same table removes it. All tables of a job are
cut at one time, since a run goes only when all its writes are covered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from graph_model.facts import ExecutionRow
from graph_model.producers.commands import MOST_CUTOFFS, Cutoff
from graph_model.retention.coverage import count_covered
from graph_model.stores.catalogue import Catalogue
from graph_model.values import batched

MOST_EXECUTIONS: Final = 1_000
"""Executions that one step covers; executions of one job in one millisecond go together."""
LEAST_SHARE: Final = 10
"""A cut-off is moved once it covers another tenth part of its job's executions on that dataset:
every move is a command that is kept for ever."""
_PAGE: Final = 1_000


@dataclass(frozen=True, slots=True)
class Move:
    """A cut-off that moves on from ``since``, the time of the one in force (epoch ms, 0: none)."""

    cutoff: Cutoff
    since: int = 0

    @property
    def job(self) -> tuple[str, str]:
        return self.cutoff.namespace, self.cutoff.name

    def count(self, catalogue: Catalogue) -> int:
        """How many executions it covers beyond the cut-off in force."""
        if self.since >= self.cutoff.before:
            return 0
        before, since = (
            count_covered(catalogue, *self.cutoff.key, time)
            for time in (self.cutoff.before, self.since)
        )
        return before - since

    def until(self, time: int) -> Move:
        """The part of this move before a time."""
        return replace(self, cutoff=replace(self.cutoff, before=min(time, self.cutoff.before)))

    def after(self, time: int) -> Move:
        """The rest of this move from a time on."""
        return replace(self, since=max(time, self.since))


@dataclass(frozen=True, slots=True)
class RetentionStep:
    """``cutoffs`` cover ``executions`` more; ``rest`` is the remaining work."""

    cutoffs: tuple[Cutoff, ...]
    executions: int
    rest: tuple[Move, ...]


def worth_moving(
    cutoffs: Sequence[Cutoff], in_force: Mapping[tuple[str, str], int], catalogue: Catalogue
) -> tuple[Move, ...]:
    """The cut-offs, by job, that cover enough more executions than those ``in_force`` (per job id
    and dataset id); see ``LEAST_SHARE``.
    """
    moves = (Move(cutoff, in_force.get(cutoff.key, 0)) for cutoff in sorted(cutoffs))
    return tuple(move for move in moves if _takes_a_share(move, catalogue))


def _takes_a_share(move: Move, catalogue: Catalogue) -> bool:
    covered = move.count(catalogue)
    job, target = move.cutoff.key
    total = catalogue.executions(job=job, target=target, limit=1).total
    return covered > 0 and covered * LEAST_SHARE >= total


def next_step(moves: Sequence[Move], catalogue: Catalogue, most: int) -> RetentionStep:
    """The first jobs whose executions together are at most ``most``; a part of the first job where
    it alone has more.
    """
    taken: list[Move] = []
    executions = passed = 0
    for job in _by_job(moves):
        covered = _covering(job, catalogue)
        count = sum(covered.values())
        if executions + count > most or len(taken) + len(covered) > MOST_CUTOFFS:
            if not taken:
                return _first_part(job, moves[passed + len(job) :], catalogue, most)
            break
        taken += covered
        executions += count
        passed += len(job)
    cutoffs = tuple(move.cutoff for move in taken)
    return RetentionStep(cutoffs, executions, tuple(moves[passed:]))


def _by_job(moves: Sequence[Move]) -> Iterator[tuple[Move, ...]]:
    """The moves of each job, at most as many together as a command may name."""
    for _, of_job in groupby(moves, key=lambda move: move.job):
        yield from map(tuple, batched(of_job, MOST_CUTOFFS))


def _first_part(
    job: Sequence[Move], others: Sequence[Move], catalogue: Catalogue, most: int
) -> RetentionStep:
    """The oldest executions of a job that has more than ``most``."""
    time = split_time(job, catalogue, most)
    parts = _covering((move.until(time) for move in job), catalogue)
    rest = [move.after(time) for move in job if move.cutoff.before > time]
    cutoffs = tuple(part.cutoff for part in parts)
    return RetentionStep(cutoffs, sum(parts.values()), (*rest, *others))


def _covering(moves: Iterable[Move], catalogue: Catalogue) -> dict[Move, int]:
    """Each move that covers anything, with the number of its executions."""
    return {move: count for move in moves if (count := move.count(catalogue))}


def split_time(job: Sequence[Move], catalogue: Catalogue, most: int) -> int:
    """The latest time before which these moves of one job cover at most ``most`` executions (but at
    least one millisecond's); the end of the moves where they cover no more than that.

    Reads the job's executions from the oldest on, until the time is found.
    """
    first, end = None, max(move.cutoff.before for move in job)
    for place, at in enumerate(_times(job, catalogue)):
        first = at if first is None else first
        if place >= most and at > first:
            return at
    return end


def _times(job: Sequence[Move], catalogue: Catalogue) -> Iterator[int]:
    """The times of the executions that these moves cover, the oldest first."""
    by_target = {move.cutoff.key: move for move in job}
    ((job_id, _), *_) = by_target
    since, before = min(move.since for move in job), max(move.cutoff.before for move in job)
    for row in _rows(catalogue, job_id, since, before):
        move = by_target.get((row.job, row.target))
        if move is not None and move.since <= row.at < move.cutoff.before:
            yield row.at


def _rows(catalogue: Catalogue, job: str, since: int, before: int) -> Iterator[ExecutionRow]:
    after = ""
    while page := catalogue.executions_since(since, _PAGE, before=before, after=after, job=job):
        yield from page
        since, after = page[-1].at, page[-1].id
