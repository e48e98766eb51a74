"""The writes behind a version of a table, from the rows that a catalogue selected: pure.

    version 1 (overwrite), 2 (append), 3 (overwrite); a read bound to 2  =>  1 and 2

Writes without a version are placed by time. Those up to the version read count; where no report
names the write of that version, those before the next known version and before the read. A branch
begins with the content of the main branch before its own first version.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from graph_model.facts import MAIN_BRANCH, NO_NUMBER
from graph_model.lineage.history.merging import WHOLE, Write, part_of
from graph_model.lineage.history.read_rule import Bound, Moment, visible_versions
from graph_model.stores.protocols import DeclaredFlow, NumberedTime, OlderWrites, VersionWrites

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
    firsts = [one.first for one in versions if one.first is not None]
    following = [one.following for one in versions if one.following is not None]
    return BranchVersions(
        tuple(w for w in writes if w.branch == bound.branch and _is_within(w.number, bound)),
        cut=any(one.cut for one in versions),
        floor=any(one.floor for one in versions),
        first=min(firsts, default=None),
        following=min(following, default=None),
    )


def _is_within(number: int | None, bound: Bound) -> bool:
    return number is not None and number <= bound.number
