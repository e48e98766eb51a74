"""What a version of a table has in it, from the rows that a catalogue selected: pure.

    version 1 (overwrite), 2 (append), 3 (overwrite); a read bound to 2  =>  1 and 2

Writes without a version have their place by time: those up to the version read, or where nobody
tells who made that one, those before the next version that is known and before the read. A branch
holds what the main one held before the first version of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from graph_model.facts import MAIN_BRANCH, NO_NUMBER
from graph_model.history.merging import WHOLE, Write, part_of
from graph_model.history.visibility import Bound, Moment, visible_versions
from graph_model.store import DeclaredFlow, NumberedTime, OlderWrites, VersionWrites

BEGINNING: Final = -(2**62)
END: Final = 2**62


class Sight(NamedTuple):
    """What was to be seen at a moment: writes, newest first.

    ``older``: where there were too many of a logical plan, between which times the others lie.
    ``rough``: some of the writes may have been replaced by one that was not looked at.
    ``declared``: what people say flows into it; no write replaces that.
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
        """Whether a full overwrite is among them."""
        return any(WHOLE in write.closes for write in self.writes)

    def fork(self, moment: Moment) -> Moment | None:
        """Where the main branch stood when this one began; None where that does not count."""
        (bound,) = moment.bound
        if bound.branch == MAIN_BRANCH or self.cut:
            return None
        if self.first is None or not self.writes:
            return moment._replace(bound=(bound._replace(branch=MAIN_BRANCH),))
        if self.is_closed or bound.since != NO_NUMBER:
            return None
        return Moment(moment.dataset, self.first.at, self.first.at, moment.partitions)

    def times(self, moment: Moment) -> tuple[int, int]:
        """From when, and before when, writes without a version may stand among these."""
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
        """Whether a write found at these times counts beside the versions."""
        return (
            moment.bound[0].branch == write.branch == MAIN_BRANCH
            and write.number is None
            and write.at < self._before(moment)
        )

    def sight(self, moment: Moment, base: Sight) -> Sight:
        """What was to be seen; ``base`` are the writes that have no version of this branch.

        A branch without a version of its own is the main one at the version read: what that had
        is in its order already, which times may contradict.
        """
        if not self.writes and moment.bound[0].branch != MAIN_BRANCH and not self.cut:
            return base
        parts = tuple(map(part_of, moment.partitions)) or (WHOLE,)
        seen = visible_versions(self.writes, base.writes, moment.bound[0].since, parts)
        return Sight(tuple(seen), base.older, base.rough or self.cut or bool(base.older))


def branch_versions(
    bound: Bound, writes: Iterable[Write], told: Collection[VersionWrites]
) -> BranchVersions:
    """``told`` are the rows of a table under each of its names, ``writes`` what all of them say."""
    firsts = [one.first for one in told if one.first is not None]
    following = [one.following for one in told if one.following is not None]
    return BranchVersions(
        tuple(w for w in writes if w.branch == bound.branch and _is_within(w.number, bound)),
        cut=any(one.cut for one in told),
        floor=any(one.floor for one in told),
        first=min(firsts, default=None),
        following=min(following, default=None),
    )


def _is_within(number: int | None, bound: Bound) -> bool:
    return number is not None and number <= bound.number
