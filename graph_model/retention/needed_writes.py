"""The time since which the writes of each dataset are needed: a kept execution read them, or a
write that is needed itself.

    a person asks that runs since 15 January stay
    fine reads staged on 20 January; its last overwrite was on 10 January => it stays since then
    … and so do the inputs of that write of 10 January, as they were then

``lineage.history`` decides which writes a read saw, as in answers: by a version that it names, of
every name of a table, without writes to other branches.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import chain, takewhile
from typing import Final

from graph_model import labels
from graph_model.batches import batched
from graph_model.facts import ExecutionRow, LogicalPlanRow, ReadVersionRow
from graph_model.lineage.history import Moment
from graph_model.lineage.history.history import History
from graph_model.lineage.history.visible_write_reader import moment_of
from graph_model.stores.protocols import Catalogue, Page, walk_pages

_AT_ONCE: Final = 500
_PAGE: Final = 1_000


class NeededWrites:
    """``times``: per dataset the time (epoch ms) since which its writes are needed; it only moves
    back.

    ``wished`` is per job the time since which its executions stay; ``sources`` are per plan the
    datasets that it reads.
    """

    def __init__(
        self,
        plans: Mapping[str, LogicalPlanRow],
        wished: Mapping[str, int],
        sources: Mapping[str, Collection[str]],
        catalogue: Catalogue,
    ) -> None:
        self._plans = plans
        self._wished = wished
        self._sources = sources
        self._catalogue = catalogue
        self._history = History(catalogue)
        self._first = _first_times(plans, catalogue)
        self._bound = {plan for plan, _ in self._history.reads.bound(plans)}
        self.times: dict[str, int] = {}
        for one in plans.values():
            self._need(one.target, wished[one.job] + 1)

    def follow(self) -> None:
        """Follow the writes that are visible at the wished times upstream, until no time moves."""
        writing = [one for one in self._plans.values() if one.target]
        self._lower({moment_of(one.target, self._wished[one.job]) for one in writing})
        since: dict[str, int] = {}
        while waiting := {
            plan: at for plan, at in self._kept_since() if at < since.get(plan, at + 1)
        }:
            since |= waiting
            self._lower({one for plan, at in waiting.items() for one in self._read(plan, at)})

    def _kept_since(self) -> Iterator[tuple[str, int]]:
        """Per plan that ran the time of its first execution that may stay; all executions of a plan
        that only reads do.
        """
        for key, first in self._first.items():
            plan = self._plans[key]
            stays = min(self._wished[plan.job], self.times[plan.target]) if plan.target else first
            yield key, max(first, stays)

    def _read(self, plan: str, since: int) -> Iterator[Moment]:
        """The oldest states of its sources that the plan's executions since this time read."""
        for source in self._sources.get(plan, ()):
            yield moment_of(source, since - 1)
        if plan in self._bound:
            yield from self._history.reads.bound_moments(self._oldest_bound(plan, since))

    def _oldest_bound(self, plan: str, since: int) -> Collection[tuple[ReadVersionRow, int]]:
        """The oldest version of each branch that the plan's executions since this time read."""
        oldest: dict[object, tuple[ReadVersionRow, int]] = {}
        for rows in batched(self._executions(plan, since), _AT_ONCE):
            at = {row.id: row.at for row in rows}
            for read in self._catalogue.read_versions(at):
                key, found = _branch(read), (read, at[read.execution])
                oldest[key] = min(found, oldest.get(key, found), key=_age)
        return oldest.values()

    def _executions(self, plan: str, since: int) -> Iterator[ExecutionRow]:
        def ask(cursor: str | None) -> Page[ExecutionRow]:
            return self._catalogue.executions(
                logical_plan=plan, state=labels.COMPLETED, limit=_PAGE, cursor=cursor
            )

        newest_first = (row for page in walk_pages(ask) for row in page.items)
        return takewhile(lambda row: row.at >= since, newest_first)

    def _lower(self, moments: Collection[Moment]) -> None:
        """The writes that are visible in these moments are needed."""
        for some in batched(sorted(moments), _AT_ONCE):
            for visible in self._history.visible_writes.of(some).values():
                for write in visible.writes:
                    self._need(write.target, write.at)
                for older in visible.older:
                    if older.logical_plan in self._plans:
                        self._need(self._plans[older.logical_plan].target, older.first)

    def _need(self, target: str, at: int) -> None:
        self.times[target] = min(at, self.times.get(target, at))


def _first_times(plans: Collection[str], catalogue: Catalogue) -> dict[str, int]:
    """Per plan the time of its first completed execution; a plan without one is left out."""
    spans = chain.from_iterable(
        catalogue.plan_spans(some, None) for some in batched(sorted(plans), _AT_ONCE)
    )
    return {one.logical_plan: one.first for one in spans if one.state == labels.COMPLETED}


def _branch(read: ReadVersionRow) -> object:
    """Versions without a number have no order: each counts."""
    return (read.dataset, read.branch, read.version if read.number < 0 else None)


def _age(found: tuple[ReadVersionRow, int]) -> tuple[int, int]:
    read, at = found
    return (read.number if read.since < 0 else min(read.number, read.since)), at
