"""One level up: the writes of a dataset at a time, and their reads.

A state of the walk is a :class:`Moment`. A walk follows the executions of a logical plan one by
one while it has met at most ``EXACT_EXECUTIONS`` of them; all others of the plan share one interval
of time, so that a long history costs no more.

The same by plans in force (``WalkInForce``): what breaks does not depend on which job ran first.

    10:00 report reads daily        by history:          report read what was in daily before
    11:00 load writes daily         by plans in force:   load -> daily -> report, at its next run

There a state is a table (a branch of it) at the time of the question, whatever was written when; of
a read that named a version it is that version. Partitions do not count.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, NamedTuple

from graph_model import identity, labels
from graph_model.facts import MAIN_BRANCH, NO_NUMBER
from graph_model.lineage.history import Moment, Write
from graph_model.lineage.history.history import is_end
from graph_model.lineage.history.rules import (
    ANY_VERSION,
    BEGINNING,
    NO_DETAILS,
    Bound,
    VisibleWrites,
    write_of,
)
from graph_model.lineage.history.writes import EXACT_EXECUTIONS
from graph_model.lineage.questions import EDGE_LIMIT, HUB_LIMIT, Reach, WalkEvidence
from graph_model.stores.catalogue_values import DeclaredFlow, SuccessfulWrite
from graph_model.stores.graph import Direction


class Step(NamedTuple):
    """The writes of a moment by one logical plan, and their reads.

    ``target`` is the plan's name for the dataset written, "" where it only reads; ``inputs`` are
    pairs of the plan's name for a dataset read and the moment that it read. ``replaced_by``: the
    plans of a later run whose expressions replaced those of this one, where a walk asks for them.
    """

    logical_plan: str
    job: str
    target: str
    inputs: tuple[tuple[str, Moment], ...]
    replaced_by: frozenset[str] = frozenset()


_MARKER_AND_INPUTS: Final = (labels.HAS, labels.FEEDS)
"""The edges into a logical plan: HAS is its marker. The graph reads it first, so the inputs read
after it are complete.
"""


class Walk:
    """Expands moments. ``plans`` maps the logical plans to follow (None: all) to the inputs to
    follow for each (None: all inputs).

    ``until`` is the latest time that the walk considers. ``intervals`` are the moments that stand
    for several executions; walks that continue each other share them. ``columns``: the steps say
    which plans replaced their expressions. ``folded``: the walk followed one of the intervals, so
    the answer may contain more than the exact one.
    """

    def __init__(
        self,
        evidence: WalkEvidence,
        until: int,
        plans: Mapping[str, Collection[str] | None] | None = None,
        intervals: set[Moment] | None = None,
        *,
        columns: bool = False,
    ) -> None:
        self._evidence = evidence
        self.until = until
        self._plans = plans
        self._columns = columns
        self._sources: dict[str, tuple[str, ...] | None] = {}  # sorted; None: not complete
        self._exact: defaultdict[str, set[str]] = defaultdict(set)  # plan -> writes, one by one
        self._periods: dict[str, tuple[int, int]] = {}  # of the executions that share an interval
        self._intervals = set[Moment]() if intervals is None else intervals
        self._steps: dict[Moment, tuple[Step, ...]] = {}
        self._count = 0
        self.folded = False

    def expand(self, moments: Collection[Moment]) -> Mapping[Moment, tuple[Step, ...]]:
        """Per moment the steps from it: one for each execution, and one for the folded ones."""
        new = sorted(set(moments).difference(self._steps))
        if new:
            visible_by_moment = self._visible(new)
            self._evidence.bounds.note_locations(cut=self._evidence.history.locations.cut)
            self._learn_sources(visible_by_moment)
            exact, folded = self._divide(new, visible_by_moment)
            self._steps |= self._build(new, exact, folded)
            if self._columns:
                self._mark_replaced(visible_by_moment)
            for moment in new:
                self._steps[moment] += self._declared_steps(moment, visible_by_moment[moment])
            self._count += sum(len(s.inputs) for m in new for s in self._steps[m])
            if self._count > EDGE_LIMIT:
                self._evidence.bounds.cut("edges", EDGE_LIMIT)
        return {moment: self._steps[moment] for moment in moments}

    def _visible(self, moments: Collection[Moment]) -> Mapping[Moment, VisibleWrites]:
        """The writes of each moment, with the declared flows into it."""
        return self._evidence.history.visible_writes.of(moments)

    def _states_read(
        self, reads: Collection[tuple[Write, str]]
    ) -> Mapping[tuple[str, str], tuple[Moment, ...]]:
        """Per write (by id) and dataset that its plan reads, the states that it read."""
        return self._evidence.history.reads.moments(reads)

    def _learn_sources(self, visible_by_moment: Mapping[Moment, VisibleWrites]) -> None:
        """Read the inputs of the plans and their names; a plan without its marker is incomplete."""
        seen = {
            plan
            for visible in visible_by_moment.values()
            for plan in (
                *(write.logical_plan for write in visible.writes),
                *(older.logical_plan for older in visible.older),
                *(flow.logical_plan for flow in visible.declared),
            )
        }
        new = {plan for plan in seen.difference(self._sources) if self._follows(plan)}
        if not new:
            return
        given = {plan: read for plan in new if (read := (self._plans or {}).get(plan)) is not None}
        known: dict[str, Collection[str]] = {
            **read_sources(self._evidence, new.difference(given)),
            **{plan: given[plan] for plan in self._complete(given)},
        }
        self._sources |= dict.fromkeys(new)
        self._sources |= {plan: tuple(sorted(read)) for plan, read in known.items()}
        # Every step locates its reads: one statement reads the names of all.
        self._evidence.history.names.locations_of(
            {source for read in known.values() for source in read}
        )

    def _complete(self, plans: Collection[str]) -> set[str]:
        """The complete plans among these."""
        kept = set(self._evidence.structure.complete.find(plans))
        new = set(plans) - kept
        if not new:
            return kept
        complete = set(
            self._evidence.graph.neighbours(new, Direction.UPSTREAM, labels.HAS, 1).found
        )
        self._evidence.structure.complete.keep(dict.fromkeys(complete, True))
        return kept | complete

    def _follows(self, plan: str) -> bool:
        return self._plans is None or plan in self._plans

    def _divide(
        self, moments: Iterable[Moment], visible_by_moment: Mapping[Moment, VisibleWrites]
    ) -> tuple[dict[Moment, list[Write]], dict[Moment, dict[str, str]]]:
        """Per moment the writes to follow one by one, and {logical plan: job} of the others."""
        exact: dict[Moment, list[Write]] = {moment: [] for moment in moments}
        folded: dict[Moment, dict[str, str]] = {moment: {} for moment in moments}
        times: defaultdict[str, list[int]] = defaultdict(list)
        self._choose_exact(visible_by_moment.values())
        for moment in exact:
            visible = visible_by_moment[moment]
            for write in visible.writes:
                if self._sources.get(write.logical_plan) is None:
                    continue
                self.folded |= moment in self._intervals or visible.rough
                if write.id in self._exact[write.logical_plan]:
                    exact[moment].append(write)
                else:
                    times[write.logical_plan].append(write.at)
                    folded[moment][write.logical_plan] = write.job
            for older in visible.older:
                if self._sources.get(older.logical_plan) is not None:
                    self.folded |= moment in self._intervals or visible.rough
                    times[older.logical_plan] += (older.first, older.last)
                    folded[moment][older.logical_plan] = older.job
        for plan, at in times.items():
            self._widen_period(plan, min(at), max(at))
        return exact, folded

    def _choose_exact(self, level: Iterable[VisibleWrites]) -> None:
        """Choose the writes to follow one by one: those of plans that have few, with this level.

        Nine executions of a plan => all nine share its interval; to follow eight of them as well
        would only repeat reads that the interval contains.
        """
        new: defaultdict[str, set[str]] = defaultdict(set)
        for visible in level:
            for write in visible.writes:
                new[write.logical_plan].add(write.id)
        for plan, writes in new.items():
            if len(self._exact[plan] | writes) <= EXACT_EXECUTIONS:
                self._exact[plan] |= writes

    def _widen_period(self, plan: str, first: int, last: int) -> None:
        """Widen the period that stands for a plan's folded executions: the first one is as short as
        possible; if a later level needs more, it becomes the whole history.
        """
        since, until = self._periods.get(plan, (first, last))
        if first < since or last > until:
            since, until = BEGINNING, self.until
        self._periods[plan] = since, until

    def _build(
        self,
        moments: Iterable[Moment],
        exact: Mapping[Moment, list[Write]],
        folded: Mapping[Moment, dict[str, str]],
    ) -> dict[Moment, tuple[Step, ...]]:
        writes = {write.id: write for some in exact.values() for write in some}.values()
        reads = [(w, source) for w in writes for source in self._sources[w.logical_plan] or ()]
        states = self._states_read(reads)
        plans = {plan for jobs in folded.values() for plan in jobs}
        targets = {
            plan: row.target for plan, row in self._evidence.history.plans.rows(plans).items()
        }
        bound = self._evidence.history.reads.bound(plans)
        built = {write.id: self._exact_step(write, states) for write in writes}
        return {
            moment: (
                *(built[write.id] for write in exact[moment]),
                *(
                    self._folded_step(plan, job, targets.get(plan, moment.dataset), bound)
                    for plan, job in sorted(folded[moment].items())
                ),
            )
            for moment in moments
        }

    def _exact_step(
        self, write: Write, states: Mapping[tuple[str, str], tuple[Moment, ...]]
    ) -> Step:
        inputs = tuple(
            (source, moment)
            for source in self._sources[write.logical_plan] or ()
            for moment in states[write.id, source]
        )
        return Step(write.logical_plan, write.job, write.target, inputs)

    def _mark_replaced(self, visible_by_moment: Mapping[Moment, VisibleWrites]) -> None:
        for moment, plans in self._evidence.history.in_force.replaced(visible_by_moment).items():
            self._steps[moment] = tuple(
                step._replace(replaced_by=plans.get(step.logical_plan, frozenset()))
                for step in self._steps[moment]
            )

    def _declared_steps(self, moment: Moment, visible: VisibleWrites) -> tuple[Step, ...]:
        """The steps of the declarations in force; they read their sources at the moment itself."""
        steps: dict[tuple[str, str], Step] = {}
        for flow in visible.declared:
            sources = self._sources.get(flow.logical_plan)
            if sources is not None:
                key = flow.logical_plan, flow.target
                steps[key] = self._declared_step(flow, sources, moment)
        return tuple(steps.values())

    def _declared_step(self, flow: DeclaredFlow, sources: Iterable[str], at: Moment) -> Step:
        places = self._evidence.history.names.locate((source, at.until - 1) for source in sources)
        inputs = tuple(
            (source, Moment(place, at.since, at.until))
            for (source, _), place in sorted(places.items())
        )
        if at in self._intervals:
            self.folded = True
            self._intervals.update(moment for _, moment in inputs)
        return Step(flow.logical_plan, flow.job, flow.target, inputs)

    def _folded_step(
        self, plan: str, job: str, target: str, bound: Collection[tuple[str, str]]
    ) -> Step:
        """One step for all folded executions of a plan. Where some execution bound its read to a
        version, the step reads any version of the dataset.
        """
        since, until = self._periods[plan]
        places = self._evidence.history.names.locations_of(self._sources[plan] or ())
        self.folded |= any(len(locations) > 1 for locations in places.values())
        inputs = [
            (source, self._any_version(place))
            if (plan, source) in bound
            else (source, Moment(place, since, until))
            for source in sorted(places)
            for place in sorted(places[source])
        ]
        self._intervals.update(moment for _, moment in inputs)
        return Step(plan, job, target, tuple(inputs))

    def _any_version(self, place: str) -> Moment:
        return Moment(place, BEGINNING, self.until, bound=(ANY_VERSION,))


def read_sources(evidence: WalkEvidence, plans: Collection[str]) -> dict[str, Mapping[str, str]]:
    """The inputs of the complete plans among these, each with the ``origin`` of its edge ("" of the
    plan itself).
    """
    kept = evidence.structure.sources.find(plans)
    new = set(plans).difference(kept)
    if not new:
        return kept
    page = evidence.graph.edges(sorted(new), Direction.UPSTREAM, _MARKER_AND_INPUTS, HUB_LIMIT)
    evidence.bounds.note_hub(page.cut)
    inputs: dict[str, dict[str, str]] = {e.in_id: {} for e in page.edges if e.label == labels.HAS}
    for edge in page.edges:
        if edge.label == labels.FEEDS and edge.in_id in inputs:
            inputs[edge.in_id][edge.out_id] = str(edge.value("origin") or "")
    evidence.structure.complete.keep(dict.fromkeys(inputs, True))
    evidence.structure.sources.keep(
        {plan: read for plan, read in inputs.items() if plan not in page.cut}
    )
    return {**kept, **inputs}


def plans_of_job(evidence: WalkEvidence, job: str) -> set[str]:
    """The complete logical plans of a job."""
    page = evidence.graph.edges((job,), Direction.DOWNSTREAM, (labels.HAS,), HUB_LIMIT)
    evidence.bounds.note_hub(page.cut)
    return {e.in_id for e in page.edges if identity.kind_of(e.in_id) == labels.LOGICAL_PLAN}


def readers_of(evidence: WalkEvidence, datasets: Collection[str]) -> dict[str, set[str]]:
    """The logical plans that ever read one of these datasets, each with its names for them."""
    names = evidence.history.names.names_of(datasets)
    called = {name for dataset in datasets for name in (dataset, *names[dataset])}
    page = evidence.graph.neighbours(
        called, Direction.DOWNSTREAM, labels.FEEDS, HUB_LIMIT, labels.LOGICAL_PLAN
    )
    evidence.bounds.note_hub(page.cut)
    readers: dict[str, set[str]] = {}
    for dataset, fed in page.found.items():
        for plan in fed:
            readers.setdefault(plan, set()).add(dataset)
    return readers


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
        visible = self._of_heads(heads) if heads else {}
        visible |= self._of_readers(ends) if ends else {}
        return visible | (self._of_versions(versions) if versions else {})

    def _is_head(self, moment: Moment) -> bool:
        """Whether the moment is the newest state of a branch, not a version that a read named."""
        unnumbered = not moment.bound or moment.bound[0].number == NO_NUMBER
        return unnumbered and moment.until == self.until

    def _of_heads(self, moments: Collection[Moment]) -> dict[Moment, VisibleWrites]:
        """The writers of each table, also those of locations that share its files."""
        around = self._evidence.history.locations.around(
            {m.dataset for m in moments if not m.bound}
        )
        heads = {
            m: (m, *(m._replace(dataset=other) for other in around.get(m.dataset, ())))
            for m in moments
        }
        everything = {head for some in heads.values() for head in some}
        writers = self._evidence.history.in_force.writers(everything)
        declared = self._evidence.history.declared.flows(everything)
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
            m: Moment(m.dataset, self.until, self.until, bound=(ANY_VERSION,)) for m in moments
        }
        writers = self._evidence.history.in_force.writers(set(any_branch.values()))
        visible = {}
        for moment, seen in self._evidence.history.visible_writes.of(moments).items():
            plans = {write.logical_plan for write in seen.writes}
            plans |= {older.logical_plan for older in seen.older}
            rows = [row for row in writers[any_branch[moment]] if row.logical_plan in plans]
            visible[moment] = self._as_visible(rows, seen.declared)
        return visible

    def _of_readers(self, moments: Collection[Moment]) -> dict[Moment, VisibleWrites]:
        """The newest reading of each plan that writes nothing; ``_states_read`` leaves out the
        tables of which it is no longer in force.
        """
        seen = self._evidence.history.visible_writes.of(moments)
        self._learn_sources(seen)
        read = {m.dataset: self._sources.get(m.dataset) or () for m in moments}
        readings = self._evidence.history.in_force.readings(read, self.until)
        self._read |= {plan: sources for plan, (_, sources) in readings.items()}
        return {
            m: self._as_visible(
                [readings[m.dataset][0]] if m.dataset in readings else (), writes.declared
            )
            for m, writes in seen.items()
        }

    def _as_visible(
        self, rows: Collection[SuccessfulWrite], declared: tuple[DeclaredFlow, ...]
    ) -> VisibleWrites:
        self._evidence.history.plans.note(rows)
        self._evidence.history.reads.learn_versions(rows)
        return VisibleWrites(tuple(write_of((row,), NO_DETAILS) for row in rows), declared=declared)

    def _states_read(
        self, reads: Collection[tuple[Write, str]]
    ) -> Mapping[tuple[str, str], tuple[Moment, ...]]:
        places = self._evidence.history.names.locate(
            (source, self.until - 1) for _, source in reads
        )
        named = self._evidence.history.reads.moments(reads)
        states: dict[tuple[str, str], tuple[Moment, ...]] = {}
        for write, source in reads:
            head = Moment(places[source, self.until - 1], self.until, self.until)
            if not write.target and source not in self._read.get(write.logical_plan, ()):
                states[write.id, source] = ()
            elif rows := self._evidence.history.reads.versions_named(write, source):
                versions = [
                    head if _is_newest(moment, write) else moment._replace(partitions=())
                    for moment in named[write.id, source]
                ]
                heads = [
                    head._replace(bound=(Bound(row.branch, NO_NUMBER),)) if row.branch else head
                    for row in rows
                    if row.branch != MAIN_BRANCH or row.since != NO_NUMBER
                ]
                states[write.id, source] = tuple(dict.fromkeys((*versions, *heads)))
            else:
                states[write.id, source] = (head,)
        return states


WALKS: Final[Mapping[Reach, type[Walk]]] = {Reach.SEEN: Walk, Reach.IN_FORCE: WalkInForce}
"""The walk that follows a flow."""


def _is_newest(moment: Moment, write: Write) -> bool:
    """Whether the read saw the newest state at its time: no known version was named."""
    return not moment.bound and moment.until == write.at
