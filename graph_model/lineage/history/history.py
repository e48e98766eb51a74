"""The history that one question reads from a catalogue, each row once: all readers of this package,
that of the states which reads saw, that of the columns in schemas, and that of what is visible at a
moment of a dataset: the writes, and the flows that people declared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from graph_model import identity, labels
from graph_model.facts import EVERY_BRANCH, NO_NUMBER, ReadVersionRow
from graph_model.lineage.history.rules import (
    ANY_VERSION,
    BEGINNING,
    END,
    REACH_MS,
    WHOLE,
    Bound,
    BranchVersions,
    Moment,
    VisibleWrites,
    Write,
    branch_versions,
    part_of,
    visible_writes,
)
from graph_model.lineage.history.writes import (
    EXACT_EXECUTIONS,
    DatasetNames,
    PlanRows,
    PlansInForce,
    ReportedParts,
    ReportedWrites,
    SharedLocations,
    joined,
    most_rows,
)
from graph_model.lineage.structure import Structure
from graph_model.stores.catalogue_values import (
    DeclaredFlow,
    OlderWrites,
    ReadableWrites,
    Span,
    SpanWrites,
    SuccessfulWrite,
    VersionId,
    VersionSpan,
)

if TYPE_CHECKING:
    from graph_model.stores.catalogue import Catalogue
if TYPE_CHECKING:
    from graph_model.stores.catalogue import Catalogue


class History:
    """Readers that share the results of catalogue queries. Not to be shared between threads.

    ``structure`` keeps datasets and rows of logical plans for later questions.
    """

    def __init__(self, catalogue: Catalogue, structure: Structure | None = None) -> None:
        structure = structure or Structure()
        parts = ReportedParts(catalogue)
        self.names = DatasetNames(catalogue)
        self.locations = SharedLocations(catalogue, structure.datasets)
        self.plans = PlanRows(catalogue, structure.plans)
        self.columns = SchemaColumns(catalogue)
        self.writes = ReportedWrites(catalogue, self.names, self.plans, parts)
        self.reads = ReadStates(catalogue, self.names, parts)
        self.in_force = PlansInForce(catalogue, self.names, self.plans)
        self.declared = DeclaredFlows(catalogue, self.names)
        self.visible_writes = VisibleWriteReader(
            catalogue, self.names, self.locations, self.plans, parts, self.writes, self.declared
        )


_Key = TypeVar("_Key", bound=Hashable)

_BoundRead = tuple[Moment, Collection[ReadVersionRow]]
"""A read as if it named no version, and the versions that it named."""


class ReadStates:
    """Reads and the versions that they named, from one catalogue."""

    def __init__(self, catalogue: Catalogue, names: DatasetNames, parts: ReportedParts) -> None:
        self._catalogue = catalogue
        self._names = names
        self._parts = parts

    def moments(
        self, reads: Iterable[tuple[Write, str]]
    ) -> dict[tuple[str, str], tuple[Moment, ...]]:
        """Per write (by id) and dataset that its plan reads, the state that it read: the newest one
        at the time of the write, or the versions to which the read was bound.
        """
        listed = list(reads)
        places = self._names.locate((source, write.at) for write, source in listed)
        states: dict[tuple[str, str], tuple[Moment, ...]] = {}
        bound: dict[tuple[str, str], _BoundRead] = {}
        for write, source in listed:
            partitions = self._parts.partitions_read(write, source)
            until = write.at + write.running  # a run in progress reads what comes at its time, too
            own = Moment(places[source, write.at], until, until, partitions)
            states[write.id, source] = (own,)
            if rows := self._parts.bound_reads_of(write, source):
                bound[write.id, source] = own, rows
        return states | self._of_versions(bound)

    def learn_versions(self, rows: Collection[SuccessfulWrite]) -> None:
        """Read the versions that these executions named."""
        self._parts.learn_bound_reads(rows)

    def versions_named(self, write: Write, source: str) -> Sequence[ReadVersionRow]:
        """The versions of a dataset that a write named in its reads, as far as they are learnt."""
        return self._parts.bound_reads_of(write, source)

    def bound_moments(self, reads: Collection[tuple[ReadVersionRow, int]]) -> set[Moment]:
        """The states that these reads of versions saw, each at its time (epoch ms)."""
        places = self._names.locate((row.dataset, at) for row, at in reads)
        states = self._of_versions(
            {(row, at): (Moment(places[row.dataset, at], at, at), (row,)) for row, at in reads}
        )
        return {moment for moments in states.values() for moment in moments}

    def _of_versions(self, reads: Mapping[_Key, _BoundRead]) -> dict[_Key, tuple[Moment, ...]]:
        """Per read the states that it saw, each once."""
        writes = self._writes_of_versions(
            _version_of(own, row) for own, rows in reads.values() for row in rows
        )
        states = {}
        for key, (own, rows) in reads.items():
            moments = (_bound_moment(own, row, writes.get(_version_of(own, row))) for row in rows)
            states[key] = tuple(dict.fromkeys(moments))
        return states

    def bound(self, plans: Collection[str]) -> frozenset[tuple[str, str]]:
        """(logical plan, dataset) of the reads that some execution bound to a version."""
        return self._catalogue.bound_reads(plans) if plans else frozenset()

    def _writes_of_versions(self, asked: Iterable[VersionId]) -> dict[VersionId, SuccessfulWrite]:
        """Per id of a version of a dataset the write that made it, where a document reports it."""
        versions = {version for version in asked if version.id}
        if not versions:
            return {}
        targets = self._names.targets_of({version.target for version in versions})
        under_names = {
            version: [version._replace(target=target) for target, _ in targets[version.target]]
            for version in versions
        }
        writes = self._catalogue.writes_by_version(
            {named for some in under_names.values() for named in some}
        )
        by_version = {}
        for version, some in under_names.items():
            rows = [writes[named] for named in some if named in writes]
            if rows:
                by_version[version] = min(rows, key=lambda row: _preference(row, version.branch))
        return by_version


def _version_of(own: Moment, row: ReadVersionRow) -> VersionId:
    return VersionId(own.dataset, row.version, row.branch)


def _bound_moment(own: Moment, row: ReadVersionRow, write: SuccessfulWrite | None) -> Moment:
    """``own`` bound to the version that was read; ``write`` made it.

    A snapshot belongs to the branch to which it was written, whichever branch a read names:

        snapshot 7 of audit, read by its id (as main, number 4)  =>  audit, up to 4
    """
    made = None if write is None or write.version_number is None else write
    if made is not None and (row.number == NO_NUMBER or made.branch != row.branch):
        return own._replace(bound=(Bound(made.branch, made.version_number or 0, row.since),))
    if row.number != NO_NUMBER:
        return own._replace(bound=(Bound(row.branch, row.number, row.since),))
    if write is None:
        return own
    return own._replace(since=write.at + 1, until=write.at + 1)


def _preference(row: SuccessfulWrite, branch: str) -> tuple[bool, int, str]:
    """The order of preference among writes that report one version: writes to its branch come
    first, then the earliest.
    """
    return (row.branch != branch, row.at, row.id)


class SchemaColumns:
    """Columns from one catalogue, kept for the life of the object."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._columns: dict[str, tuple[str, str]] = {}  # column -> (dataset, path)

    def places(self, ids: Collection[str]) -> dict[str, tuple[str, str]]:
        """Per column that occurs in a schema its dataset and path."""
        new = set(ids).difference(self._columns)
        if new:
            rows = self._catalogue.columns(new)
            self._columns |= {row.id: (row.dataset, row.path) for row in rows}
        return {column: self._columns[column] for column in ids if column in self._columns}

    def fields(self, columns: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
        """The known columns nested in these, each a (dataset, path)."""
        return {(row.dataset, row.path) for row in self._catalogue.fields(columns)}


def end_of(at: int | None) -> int:
    """The first millisecond after ``at``; without a time the end of all times."""
    return END if at is None else min(at + 1, END)


def moment_of(dataset: str, at: int | None) -> Moment:
    """The dataset at the end of the millisecond ``at``, or at the end of all times."""
    before = end_of(at)
    return Moment(dataset, before, before)


def is_end(moment: Moment) -> bool:
    """Whether the moment ends a chain: it belongs to a plan that writes nothing."""
    return identity.kind_of(moment.dataset) == labels.LOGICAL_PLAN


class VisibleWriteReader:
    """Visible writes from one catalogue, kept for the life of the object.

    A fixed number of catalogue queries answers for many moments together.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        names: DatasetNames,
        locations: SharedLocations,
        plans: PlanRows,
        parts: ReportedParts,
        writes: ReportedWrites,
        declared: DeclaredFlows,
    ) -> None:
        self._catalogue = catalogue
        self._names = names
        self._locations = locations
        self._plans = plans
        self._parts = parts
        self._writes = writes
        self._declared = declared
        self._known: dict[Moment, VisibleWrites] = {}  # of a moment's own dataset alone
        self._shared: dict[Moment, VisibleWrites] = {}

    def of(self, moments: Collection[Moment]) -> dict[Moment, VisibleWrites]:
        """The visible writes of each moment, also those of locations that share its files.

        A version is one of a table: a moment bound to one has the writes of its dataset alone.
        """
        new = set(moments).difference(self._shared)
        open_moments = [moment for moment in new if not is_end(moment) and not moment.bound]
        around = self._locations.around({moment.dataset for moment in open_moments})
        others = {
            moment: [
                Moment(other, moment.since, moment.until)
                for other in around[moment.dataset]
                if self.reads(moment, other)
            ]
            for moment in open_moments
            if around[moment.dataset]
        }
        own = self._of_own({*new, *(other for some in others.values() for other in some)})
        self._shared |= {moment: own[moment] for moment in new}
        for moment, some in others.items():
            visible = {other.dataset: own[other] for other in some}
            self._shared[moment] = self._across(moment, {**visible, moment.dataset: own[moment]})
        return {moment: self._shared[moment] for moment in moments}

    def reads(self, moment: Moment, other: str) -> bool:
        """Whether a read of a moment may have read another location that shares files with the
        dataset of the moment; of a list of files, for which a pattern stands, only those count.
        """
        files = self._parts.files(moment.partitions)
        return files is None or self._locations.lists(moment.dataset, files, other)

    def _across(self, moment: Moment, own: Mapping[str, VisibleWrites]) -> VisibleWrites:
        """The writes to locations that share files with the moment's, each location seen on its
        own; a later overwrite of all that a location shares with the moment's has closed it.

            in/orders_1.csv at 1, the folder in at 2, in/orders_2.csv at 3, in/orders_*.csv read
            at 4  =>  the writes at 2 and 3
        """
        closed = {dataset: last for dataset, seen in own.items() if (last := _closed(moment, seen))}
        everything = {place for place in closed if self._locations.holds(place, moment.dataset)}
        patterns = [place for place in closed if self._locations.is_pattern(place)]
        left = []
        for dataset, seen in own.items():
            if not (seen.writes or seen.older or seen.declared):
                continue
            holders = closed.keys() & self._locations.folders_of(dataset)
            holders |= {place for place in patterns if self._locations.holds(place, dataset)}
            closing = [closed[place] for place in (holders | everything) - {dataset}]
            left.append(_since(seen, max(closing)) if closing else seen)
        return _joined(left)

    def _of_own(self, moments: Collection[Moment]) -> dict[Moment, VisibleWrites]:
        """The visible writes of the dataset of each moment."""
        unknown = set(moments).difference(self._known)
        ends = {moment for moment in unknown if is_end(moment)}
        bound = {moment for moment in unknown - ends if _is_bound(moment)}
        newest = unknown - ends - bound
        self._known |= self._reads_of_plans(ends) if ends else {}
        self._known |= self._of_versions(bound) if bound else {}
        self._known |= self._of_times(newest) if newest else {}
        return {moment: self._known[moment] for moment in moments}

    def _of_times(self, moments: Collection[Moment]) -> dict[Moment, VisibleWrites]:
        """Per moment the newest writes before it."""
        readable = self._readable_writes(moments)
        merged = self._merged_reads(readable)
        more = self._more_writes([m for m in moments if _depends_on_more(m, *merged[m])])
        merged |= self._merged_reads(more)
        floors = {m: _floor(m, merged[m][1]) for m, s in readable.items() if s.floor is not None}
        # A write is no full overwrite if another producer reports that it wrote some partitions.
        without_floor = [moment for moment, floor in floors.items() if floor is None]
        merged |= self._read_from_beginning(without_floor)
        declared = self._declared.flows([m for m, s in readable.items() if s.declared])
        return {
            moment: _visible_writes(moment, floors.get(moment), *merged[moment])._replace(
                declared=declared.get(moment, ())
            )
            for moment in moments
        }

    def _reads_of_plans(self, moments: Collection[Moment]) -> dict[Moment, VisibleWrites]:
        """Per moment of a plan that writes nothing, its reads: no read replaces another."""
        readings = self._catalogue.readings(
            [(moment.dataset, moment.until) for moment in moments], per_plan=EXACT_EXECUTIONS + 1
        )
        rows = {row for some in readings.values() for row in some.writes}
        self._plans.note(rows)
        self._parts.learn_partitions(rows)
        self._parts.learn_bound_reads(rows)
        flows: defaultdict[str, list[DeclaredFlow]] = defaultdict(list)
        for flow in self._catalogue.declared_reads({moment.dataset for moment in moments}):
            flows[flow.logical_plan].append(flow)
        visible_by_moment = {}
        for moment in moments:
            reads, older = readings[moment.dataset, moment.until]
            declared = [flow for flow in flows[moment.dataset] if holds(flow, moment)]
            newest = sorted(map(_as_write, reads), key=lambda read: read.order, reverse=True)
            visible_by_moment[moment] = VisibleWrites(
                tuple(newest), older, declared=tuple(declared)
            )
        return visible_by_moment

    def _readable_writes(self, moments: Collection[Moment]) -> dict[Moment, ReadableWrites]:
        """Per moment the rows since just before its floor, if they are no more than a walk follows
        one by one. Of more, the period of each plan, and at a time the plan's newest rows.
        """
        intervals = self._spans(filter(_is_interval, moments))
        times = self._spans(moment for moment in moments if not _is_interval(moment))
        return {
            **self._read_since_floors(intervals, most=EXACT_EXECUTIONS, per_plan=0),
            **self._read_since_floors(times, most=EXACT_EXECUTIONS, per_plan=EXACT_EXECUTIONS + 1),
        }

    def _more_writes(self, moments: Collection[Moment]) -> dict[Moment, ReadableWrites]:
        """As ``_readable_writes``, with as many rows as are read at once."""
        spans = self._spans(moments)
        most = most_rows(sum(map(len, spans.values())))
        return self._read_since_floors(spans, most=most, per_plan=EXACT_EXECUTIONS + 1)

    def _read_since_floors(
        self, reads: Mapping[Moment, tuple[Span, ...]], *, most: int, per_plan: int
    ) -> dict[Moment, ReadableWrites]:
        if not reads:
            return {}
        readable = self._catalogue.readable_writes(
            set(reads.values()), reach=REACH_MS, most=most, per_plan=per_plan
        )
        return {moment: readable[spans] for moment, spans in reads.items()}

    def _spans(self, moments: Iterable[Moment]) -> dict[Moment, tuple[Span, ...]]:
        listed = list(moments)
        targets = self._names.targets_of({moment.dataset for moment in listed})
        return {
            moment: tuple(
                Span(target, moment.since, moment.until, place, part, moment.branch)
                for target, place in targets[moment.dataset]
                for part in moment.partitions or ("",)
            )
            for moment in listed
        }

    def _read_from_beginning(
        self, moments: Collection[Moment]
    ) -> dict[Moment, tuple[SpanWrites, list[Write]]]:
        """Per moment its rows from the beginning, and the writes that they report."""
        if not moments:
            return {}
        spans = {
            moment: [span._replace(since=BEGINNING) for span in some]
            for moment, some in self._spans(moments).items()
        }
        return self._merged(self._writes.read(spans))

    def _merged_reads(
        self, reads: Mapping[Moment, ReadableWrites]
    ) -> dict[Moment, tuple[SpanWrites, list[Write]]]:
        return self._merged(
            {moment: joined(readable.spans.values()) for moment, readable in reads.items()}
        )

    def _merged(
        self, rows: Mapping[Moment, SpanWrites]
    ) -> dict[Moment, tuple[SpanWrites, list[Write]]]:
        writes = self._writes.merged(rows)
        return {moment: (rows[moment], writes[moment]) for moment in rows}

    def _of_versions(self, moments: Collection[Moment]) -> dict[Moment, VisibleWrites]:
        """Per moment that is bound to a version, the writes that led to that version."""
        versions = self._versions(moments)
        # An overwrite is none of the whole table if another producer reports partitions. A change
        # feed begins with a given version, overwrite or not.
        without_overwrite = [
            m
            for m, own in versions.items()
            if own.floor and not own.cut and not own.is_closed and m.bound[0].since == NO_NUMBER
        ]
        versions |= self._versions(without_overwrite, whole=True) if without_overwrite else {}
        forks = {m: moment for m, own in versions.items() if (moment := own.fork(m)) is not None}
        at_forks = self._of_own(forks.values()) if forks else {}
        unversioned = self._unversioned({m: own for m, own in versions.items() if m not in forks})
        declared = self._declared.flows(moments)
        visible_by_moment = {}
        for moment, own in versions.items():
            base = at_forks[forks[moment]] if moment in forks else unversioned[moment]
            visible_by_moment[moment] = own.visible_writes(moment, base)._replace(
                declared=declared[moment]
            )
        return visible_by_moment

    def _versions(
        self, moments: Collection[Moment], *, whole: bool = False
    ) -> dict[Moment, BranchVersions]:
        targets = self._names.targets_of({moment.dataset for moment in moments})
        spans = {
            moment: [
                VersionSpan(target, *moment.bound[0], place, whole)
                for target, place in targets[moment.dataset]
            ]
            for moment in moments
        }
        asked = {span for some in spans.values() for span in some}
        rows = self._catalogue.version_writes(asked, most=most_rows(len(asked)))
        answers = {moment: [rows[span] for span in some] for moment, some in spans.items()}
        writes = self._writes.merged(
            {
                moment: SpanWrites(
                    tuple(dict.fromkeys(row for answer in some for row in answer.writes))
                )
                for moment, some in answers.items()
            }
        )
        return {m: branch_versions(m.bound[0], writes[m], some) for m, some in answers.items()}

    def _unversioned(
        self, versions: Mapping[Moment, BranchVersions]
    ) -> dict[Moment, VisibleWrites]:
        """Per moment the writes without a version that may belong among the writes with one, and
        the period of the other writes of that branch if there are too many.
        """
        targets = self._names.targets_of({moment.dataset for moment in versions})
        spans = {
            moment: [
                Span(target, *own.times(moment), place, part, moment.bound[0].branch)
                for target, place in targets[moment.dataset]
                for part in moment.partitions or ("",)
            ]
            for moment, own in versions.items()
        }
        rows = self._writes.read(spans) if spans else {}
        return {
            moment: VisibleWrites(
                tuple(write for write in writes if versions[moment].takes(moment, write)),
                rows[moment].older,
            )
            for moment, writes in self._writes.merged(rows).items()
        }


def _as_write(read: SuccessfulWrite) -> Write:
    """A read as the last write of a chain, without a target."""
    return Write(read.id, read.at, "", read.logical_plan, read.job, (WHOLE,), (), (read.id,))


def _is_interval(moment: Moment) -> bool:
    return moment.since < moment.until


def _depends_on_more(moment: Moment, rows: SpanWrites, writes: Collection[Write]) -> bool:
    """Whether rows that were not read may decide which of the others count: they may report the
    same writes, or have replaced partitions. The newest rows of each plan show whether its rows do
    either.
    """
    if not rows.older or _is_interval(moment):
        return False
    floor = _floor(moment, writes)
    later = [write for write in writes if floor is None or write.at > floor]
    unknown = {plan.logical_plan for plan in rows.older} - {row.logical_plan for row in rows.writes}
    return bool(unknown) or any(write.closes or len(write.executions) > 1 for write in later)


def _floor(moment: Moment, writes: Iterable[Write]) -> int | None:
    """The time of the last full overwrite before the moment, if there is one."""
    own = _of_branch(writes, moment.branch)
    closing = (write.at for write in own if WHOLE in write.closes and write.at < moment.since)
    return max(closing, default=None)


def _is_bound(moment: Moment) -> bool:
    return bool(moment.bound) and moment.bound[0] != ANY_VERSION


def _of_branch(writes: Iterable[Write], branch: str) -> list[Write]:
    return [write for write in writes if branch in (write.branch, EVERY_BRANCH)]


def _visible_writes(
    moment: Moment, floor: int | None, rows: SpanWrites, written: Collection[Write]
) -> VisibleWrites:
    writes = _of_branch(written, moment.branch)
    since = BEGINNING if floor is None else floor
    if rows.older:  # the overwrites before the floor may be among those not read
        writes = [write for write in writes if write.at >= since]
    older = tuple(plan for plan in rows.older if plan.last >= since)
    parts = tuple(map(part_of, moment.partitions)) or (WHOLE,)
    seen = tuple(visible_writes(writes, moment.since, moment.until, parts))
    rough = bool(older) and any(write.closes and write.at > since for write in writes)
    if older and _is_interval(moment):
        return VisibleWrites((), (*older, *map(_period_of, seen)), rough)
    return VisibleWrites(seen, older, rough)


def _closed(moment: Moment, seen: VisibleWrites) -> tuple[int, str] | None:
    """The order of the last full overwrite before the moment, if there is one."""
    full = (w.order for w in seen.writes if WHOLE in w.closes and w.at < moment.since)
    return max(full, default=None)


def _since(seen: VisibleWrites, closing: tuple[int, str]) -> VisibleWrites:
    """The writes after an overwrite that replaced all; of those that were not read the period."""
    at, _ = closing
    older = tuple(plan for plan in seen.older if plan.last >= at)
    writes = tuple(write for write in seen.writes if write.order > closing)
    return VisibleWrites(writes, older, seen.rough or bool(older), seen.declared)


def _joined(visible: Collection[VisibleWrites]) -> VisibleWrites:
    writes = {write.id: write for seen in visible for write in seen.writes}.values()
    return VisibleWrites(
        tuple(sorted(writes, key=lambda write: write.order, reverse=True)),
        tuple(dict.fromkeys(older for seen in visible for older in seen.older)),
        any(seen.rough for seen in visible),
        tuple(dict.fromkeys(flow for seen in visible for flow in seen.declared)),
    )


def _period_of(write: Write) -> OlderWrites:
    return OlderWrites(write.logical_plan, write.job, write.at, write.at)


class DeclaredFlows:
    """Declared flows into datasets, from one catalogue."""

    def __init__(self, catalogue: Catalogue, names: DatasetNames) -> None:
        self._catalogue = catalogue
        self._names = names

    def flows(self, moments: Collection[Moment]) -> dict[Moment, tuple[DeclaredFlow, ...]]:
        """Per moment the declared flows into its dataset, under any name, in force at the time."""
        if not moments:
            return {}
        targets = self._names.targets_of({moment.dataset for moment in moments})
        asked = {target for names in targets.values() for target, _ in names}
        flows: dict[str, list[DeclaredFlow]] = {}
        for flow in self._catalogue.declared_flows(asked):
            flows.setdefault(flow.target, []).append(flow)
        if not flows:
            return dict.fromkeys(moments, ())
        return self._where_placed(
            {
                moment: [
                    (flow, place)
                    for target, place in targets[moment.dataset]
                    for flow in flows.get(target, ())
                    if holds(flow, moment)
                ]
                for moment in moments
            }
        )

    def _where_placed(
        self, by_moment: Mapping[Moment, Collection[tuple[DeclaredFlow, str]]]
    ) -> dict[Moment, tuple[DeclaredFlow, ...]]:
        """Per moment those flows whose target, a catalog name that has moved, stood for the
        location just before the moment ends; a required location of "" always matches.
        """
        locations = self._names.locate(
            (flow.target, moment.until - 1)
            for moment, flows in by_moment.items()
            for flow, place in flows
            if place
        )
        return {
            moment: tuple(
                flow
                for flow, place in flows
                if not place or locations[flow.target, moment.until - 1] == place
            )
            for moment, flows in by_moment.items()
        }


def holds(flow: DeclaredFlow, moment: Moment) -> bool:
    return flow.since < moment.until and flow.ends >= moment.since
