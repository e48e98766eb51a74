"""One level up by plans in force: what breaks does not depend on which job ran first.

    10:00 report reads daily        by history:          report read what was in daily before
    11:00 load writes daily         by plans in force:   load -> daily -> report, at its next run

A state is a table (a branch of it) at the time of the question, whatever was written when; of a
read that named a version it is that version. Partitions do not count.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from graph_model.facts import MAIN_BRANCH, NO_NUMBER
from graph_model.lineage.history import Moment, Write
from graph_model.lineage.history.merging import NO_DETAILS, write_of
from graph_model.lineage.history.read_rule import ANY_VERSION, Bound
from graph_model.lineage.history.versions import VisibleWrites
from graph_model.lineage.history.visible_write_reader import is_end
from graph_model.lineage.questions import Reach
from graph_model.lineage.walk import Walk
from graph_model.stores.protocols import DeclaredFlow, SuccessfulWrite


class WalkInForce(Walk):
    """Expands moments by the plans in force at ``until`` (``history.plans.PlansInForce``) and the
    declarations that hold then.

    Of jobs that write nothing, ``plans`` must have all readers of the tables that matter: a later
    run of such a job replaces its readings of the same tables.
    """

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._columns = False  # nothing has replaced a plan in force
        self._read: dict[str, frozenset[str]] = {}  # plan without a target -> what is in force

    def _visible(self, moments: Collection[Moment]) -> Mapping[Moment, VisibleWrites]:
        ends = {moment for moment in moments if is_end(moment)}
        heads = {moment for moment in moments if moment not in ends and self._is_head(moment)}
        versions = set(moments) - ends - heads
        found = self._of_heads(heads) if heads else {}
        found |= self._of_readers(ends) if ends else {}
        return found | (self._of_versions(versions) if versions else {})

    def _is_head(self, moment: Moment) -> bool:
        """Whether the moment is the newest state of a branch, not a version that a read named."""
        unnumbered = not moment.bound or moment.bound[0].number == NO_NUMBER
        return unnumbered and moment.until == self._until

    def _of_heads(self, moments: Collection[Moment]) -> dict[Moment, VisibleWrites]:
        """The writers of each table, also those of locations that share its files."""
        around = self._history.locations.around({m.dataset for m in moments if not m.bound})
        heads = {
            m: (m, *(m._replace(dataset=other) for other in around.get(m.dataset, ())))
            for m in moments
        }
        everything = {head for some in heads.values() for head in some}
        writers = self._history.in_force.writers(everything)
        declared = self._history.declared.flows(everything)
        return {
            m: self._as_visible(
                list({row.id: row for head in some for row in writers[head]}.values()),
                tuple(dict.fromkeys(flow for head in some for flow in declared[head])),
            )
            for m, some in heads.items()
        }

    def _of_versions(self, moments: Collection[Moment]) -> dict[Moment, VisibleWrites]:
        """Of the writes that led to a version, those whose plan is in force."""
        any_branch = {
            m: Moment(m.dataset, self._until, self._until, bound=(ANY_VERSION,)) for m in moments
        }
        writers = self._history.in_force.writers(set(any_branch.values()))
        found = {}
        for moment, seen in self._history.visible_writes.of(moments).items():
            plans = {write.logical_plan for write in seen.writes}
            plans |= {older.logical_plan for older in seen.older}
            rows = [row for row in writers[any_branch[moment]] if row.logical_plan in plans]
            found[moment] = self._as_visible(rows, seen.declared)
        return found

    def _of_readers(self, moments: Collection[Moment]) -> dict[Moment, VisibleWrites]:
        """The newest reading of each plan that writes nothing; ``_states_read`` leaves out the
        tables of which it is no longer in force.
        """
        seen = self._history.visible_writes.of(moments)
        self._learn_sources(seen)
        read = {m.dataset: self._sources.get(m.dataset) or () for m in moments}
        found = self._history.in_force.readings(read, self._until)
        self._read |= {plan: sources for plan, (_, sources) in found.items()}
        return {
            m: self._as_visible([found[m.dataset][0]] if m.dataset in found else (), one.declared)
            for m, one in seen.items()
        }

    def _as_visible(
        self, rows: Collection[SuccessfulWrite], declared: tuple[DeclaredFlow, ...]
    ) -> VisibleWrites:
        self._history.plans.note(rows)
        self._history.reads.learn_versions(rows)
        return VisibleWrites(tuple(write_of((row,), NO_DETAILS) for row in rows), declared=declared)

    def _states_read(
        self, reads: Collection[tuple[Write, str]]
    ) -> Mapping[tuple[str, str], tuple[Moment, ...]]:
        places = self._history.names.locate((source, self._until - 1) for _, source in reads)
        named = self._history.reads.moments(reads)
        found: dict[tuple[str, str], tuple[Moment, ...]] = {}
        for write, source in reads:
            head = Moment(places[source, self._until - 1], self._until, self._until)
            if not write.target and source not in self._read.get(write.logical_plan, ()):
                found[write.id, source] = ()
            elif rows := self._history.reads.versions_named(write, source):
                versions = [
                    head if _is_newest(moment, write) else moment._replace(partitions=())
                    for moment in named[write.id, source]
                ]
                heads = [
                    head._replace(bound=(Bound(row.branch, NO_NUMBER),)) if row.branch else head
                    for row in rows
                    if row.branch != MAIN_BRANCH or row.since != NO_NUMBER
                ]
                found[write.id, source] = tuple(dict.fromkeys((*versions, *heads)))
            else:
                found[write.id, source] = (head,)
        return found


WALKS: Final[Mapping[Reach, type[Walk]]] = {Reach.SEEN: Walk, Reach.IN_FORCE: WalkInForce}
"""The walk that follows a flow."""


def _is_newest(moment: Moment, write: Write) -> bool:
    """Whether the read saw the newest state at its time: no known version was named."""
    return not moment.bound and moment.until == write.at
