"""The writes that a read saw, from the rows that a catalogue selected: pure.

By time, partition by partition, a read saw the latest overwrite strictly before the read, and the
appends since then. Partition values are unbounded, so a part of a table is gone only when one later
overwrite covers all of it. By version, where the read was bound to one:

    version 1 (overwrite), 2 (append), 3 (overwrite); a read bound to 2  =>  1 and 2

Writes without a version are placed by time. Those up to the version read count; where no report
names the write of that version, those before the next known version and before the read. A branch
begins with the content of the main branch before its own first version.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, takewhile
from operator import itemgetter
from typing import Final, NamedTuple

from graph_model.facts import EVERY_BRANCH, MAIN_BRANCH, NO_NUMBER
from graph_model.lineage.history.merging import WHOLE, Part, Write, part_of
from graph_model.stores.catalogue_values import (
    DeclaredFlow,
    NumberedTime,
    OlderWrites,
    VersionWrites,
)


class Bound(NamedTuple):
    """The version that a read was bound to: its branch, up to ``number``.

    A read of a change feed sees every write from ``since`` on, overwritten or not.
    """

    branch: str
    number: int
    since: int = NO_NUMBER


ANY_VERSION: Final = Bound(EVERY_BRANCH, NO_NUMBER)
"""The bound of executions that share an interval of time, where some of them were bound."""


class Moment(NamedTuple):
    """The state of a dataset at a time, or at every time from ``since`` to ``until``.

    Times are epoch ms; writes strictly before ``until`` count. ``partitions`` are the canonical
    texts of the partitions read, () for the whole. ``dataset`` may be a logical plan that writes
    nothing: a chain ends in its reads as other chains end in a dataset. ``bound`` has at most one
    element. With it, the version decides which writes count, and the time decides only for writes
    without a version; without it, branches do not count. A named tuple, because walks look up
    moments more often than anything else.
    """

    dataset: str
    since: int
    until: int
    partitions: tuple[str, ...] = ()
    bound: tuple[Bound, ...] = ()

    @property
    def branch(self) -> str:
        """The branch of the table that is read."""
        return self.bound[0].branch if self.bound else MAIN_BRANCH


def visible_writes(
    writes: Iterable[Write], since: int, until: int, parts: tuple[Part, ...] = (WHOLE,)
) -> list[Write]:
    """The writes that a read of these parts sees at some time from ``since`` to ``until``, newest
    first.

    ``since == until`` is one read. ``writes`` are those of one dataset, each once.
    """
    listed = sorted(writes, key=lambda write: write.order, reverse=True)
    if len(listed) == 1 and listed[0].parts == parts == (WHOLE,):  # nothing replaces it
        return [write for write in listed if write.at < until]
    closed: set[Part] = set()
    seen = []
    for write in listed:
        if write.at >= until:
            continue
        if any(not _is_closed(part, closed) for part in _common(write.parts, parts)):
            seen.append(write)
        if write.at < since:
            closed.update(write.closes)
    return seen


def visible_versions(
    versions: Iterable[Write],
    others: Iterable[Write],
    since: int,
    parts: tuple[Part, ...],
) -> list[Write]:
    """The writes that a read of these parts, bound to the newest of ``versions``, sees.

    ``versions`` are those of one branch, by number; ``others`` have no version, or precede the
    branch. Newest first.
    """
    listed = _in_order_of_versions(versions, others)
    if since != NO_NUMBER:  # a change feed reports every write
        feed = takewhile(lambda write: write.number is None or write.number >= since, listed)
        return [write for write in feed if any(True for _ in _common(write.parts, parts))]
    closed: set[Part] = set()
    seen = []
    for write in listed:
        if any(not _is_closed(part, closed) for part in _common(write.parts, parts)):
            seen.append(write)
        closed.update(write.closes)
    return seen


def _in_order_of_versions(versions: Iterable[Write], others: Iterable[Write]) -> list[Write]:
    """All these writes, newest first. A write without a version comes before a version that ended
    at its time or later, if all later versions did too: clocks differ, numbers do not.

        version 1 at 10:05, version 2 at 10:03, another at 10:04  =>  1, 2, the other
    """
    numbered = [(write.number or 0, write.order, write) for write in versions]
    placed = [((write.at, 0, 0, write.order), write) for write in others]
    latest: int | None = None
    for number, order, write in sorted(numbered, key=itemgetter(0, 1), reverse=True):
        latest = write.at if latest is None else min(latest, write.at)
        placed.append(((latest, 1, number, order), write))
    return [write for _, write in sorted(placed, key=itemgetter(0), reverse=True)]


def surely_touched(write: Write, part: Part) -> bool:
    """Whether the write replaced all of this part, or certainly wrote into it."""
    inside = any(part <= written for written in write.parts if written != WHOLE)
    return inside or any(closed <= part for closed in write.closes)


def maybe_touched(write: Write, part: Part) -> bool:
    """Whether the write touched a partition of this part."""
    return any(True for _ in _common(write.parts, (part,)))


def _common(written: Iterable[Part], read: Iterable[Part]) -> Iterator[Part]:
    """The intersections of written and read parts that exist: no key with two values."""
    for part in written:
        for other in read:
            both = part | other
            if len({key for key, _ in both}) == len(both):
                yield both


def _is_closed(part: Part, closed: set[Part]) -> bool:
    """Whether a closed part covers this one: some of its pairs, and no other."""
    if WHOLE in closed or part in closed:
        return True
    if not closed:
        return False
    return any(
        frozenset(some) in closed
        for size in range(1, len(part))
        for some in combinations(part, size)
    )


BEGINNING: Final = -(2**62)
END: Final = 2**62


class VisibleWrites(NamedTuple):
    """The visible writes of a moment, newest first.

    ``older``: for each logical plan with too many writes, the period of the writes that were not
    read. ``rough``: one of those may have replaced some of these. ``declared``: the declared flows
    into the moment, which no write replaces.
    """

    writes: tuple[Write, ...] = ()
    older: tuple[OlderWrites, ...] = ()
    rough: bool = False
    declared: tuple[DeclaredFlow, ...] = ()


@dataclass(frozen=True, slots=True)
class BranchVersions:
    """The versions of a branch up to the one read; the other fields are of ``VersionWrites``."""

    writes: tuple[Write, ...]
    cut: bool
    floor: bool
    first: NumberedTime | None
    following: NumberedTime | None

    @property
    def is_closed(self) -> bool:
        """Whether a full overwrite is among the versions."""
        return any(WHOLE in write.closes for write in self.writes)

    def fork(self, moment: Moment) -> Moment | None:
        """The main branch's version when this branch began; None where that does not matter."""
        (bound,) = moment.bound
        if bound.branch == MAIN_BRANCH or self.cut:
            return None
        if self.first is None or not self.writes:
            return moment._replace(bound=(bound._replace(branch=MAIN_BRANCH),))
        if self.is_closed or bound.since != NO_NUMBER:
            return None
        return Moment(moment.dataset, self.first.at, self.first.at, moment.partitions)

    def times(self, moment: Moment) -> tuple[int, int]:
        """The period in which writes without a version may belong among these versions."""
        since = min((write.at for write in self.writes), default=BEGINNING)
        before = self._before(moment)
        if self.cut:
            return BEGINNING, max(before, *(write.at + 1 for write in self.writes))
        return since if self.floor else BEGINNING, before

    def _before(self, moment: Moment) -> int:
        own = [write.at for write in self.writes if write.number == moment.bound[0].number]
        if own:
            return max(own) + 1
        return moment.until if self.following is None else min(moment.until, self.following.at + 1)

    def takes(self, moment: Moment, write: Write) -> bool:
        """Whether a write found in that period counts in addition to the versions."""
        return (
            moment.bound[0].branch == write.branch == MAIN_BRANCH
            and write.number is None
            and write.at < self._before(moment)
        )

    def visible_writes(self, moment: Moment, base: VisibleWrites) -> VisibleWrites:
        """The visible writes; ``base`` are the writes without a version of this branch.

        A branch without a version of its own equals the main branch at the version read; the writes
        keep the order of that branch, even where their times contradict it.
        """
        if not self.writes and moment.bound[0].branch != MAIN_BRANCH and not self.cut:
            return base
        parts = tuple(map(part_of, moment.partitions)) or (WHOLE,)
        seen = visible_versions(self.writes, base.writes, moment.bound[0].since, parts)
        return VisibleWrites(tuple(seen), base.older, base.rough or self.cut or bool(base.older))


def branch_versions(
    bound: Bound, writes: Iterable[Write], versions: Collection[VersionWrites]
) -> BranchVersions:
    """The versions up to the one that a moment is bound to. ``versions`` are the rows of a table
    under each of its names, ``writes`` all writes that they report.
    """
    firsts = [row.first for row in versions if row.first is not None]
    following = [row.following for row in versions if row.following is not None]
    return BranchVersions(
        tuple(w for w in writes if w.branch == bound.branch and _is_within(w.number, bound)),
        cut=any(row.cut for row in versions),
        floor=any(row.floor for row in versions),
        first=min(firsts, default=None),
        following=min(following, default=None),
    )


def _is_within(number: int | None, bound: Bound) -> bool:
    return number is not None and number <= bound.number
