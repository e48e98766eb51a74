"""Which writes a read saw: pure.

A read saw a write, partition by partition, when it is the latest overwrite of that partition
strictly before the read, or an append to it since then. Partition values are unbounded, so a part
of a table is gone only when one later overwrite covers all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import NamedTuple

from graph_model.history.merging import WHOLE, Part, Write


class Moment(NamedTuple):
    """A dataset as it was found at a time, or at every time from ``since`` to ``until``.

    Epoch ms; what was written strictly before counts. ``partitions`` are the canonical texts of
    those that were looked at, () for the whole. A tuple, because walks look up nothing as often:
    it is hashed and compared in C.
    """

    dataset: str
    since: int
    until: int
    partitions: tuple[str, ...] = ()


def visible_writes(
    writes: Iterable[Write], since: int, until: int, parts: tuple[Part, ...] = (WHOLE,)
) -> list[Write]:
    """Those seen by a read of these parts at some time from ``since`` to ``until``, newest first.

    ``since == until`` is one read. ``writes`` are of one dataset, each once.
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


def _common(written: Iterable[Part], read: Iterable[Part]) -> Iterator[Part]:
    """The parts that both speak of."""
    for one in written:
        for other in read:
            both = one | other
            if len({key for key, _ in both}) == len(both):
                yield both


def _is_closed(part: Part, closed: set[Part]) -> bool:
    """Whether one of the closed parts covers this one: names some of its pairs and no other."""
    if WHOLE in closed or part in closed:
        return True
    if not closed:
        return False
    return any(
        frozenset(some) in closed
        for size in range(1, len(part))
        for some in combinations(part, size)
    )
