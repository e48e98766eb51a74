"""The writes that a read saw: pure.

Partition by partition, a read saw the latest overwrite strictly before the read, and the appends
since then. Partition values are unbounded, so a part of a table is gone only when one later
overwrite covers all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations, takewhile
from operator import itemgetter
from typing import Final, NamedTuple

from graph_model.facts import EVERY_BRANCH, MAIN_BRANCH, NO_NUMBER
from graph_model.lineage.history.merging import WHOLE, Part, Write


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
    since: int = NO_NUMBER,
    parts: tuple[Part, ...] = (WHOLE,),
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
    for one in written:
        for other in read:
            both = one | other
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
