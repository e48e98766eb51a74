"""The writes of datasets at given times, from a catalogue.

A fixed number of catalogue queries answers for many moments together. The object keeps their
results for its life, which is one question.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final, Protocol, TypeVar

from graph_model import identity, labels
from graph_model.facts import (
    EVERY_BRANCH,
    MAIN_BRANCH,
    NO_NUMBER,
    ColumnRow,
    ExecutionRow,
    LogicalPlanRow,
    ReadVersionRow,
)
from graph_model.gaps import PARTITIONS_UNKNOWN, SUBQUERY
from graph_model.lineage.history.merging import (
    REACH_MS,
    WHOLE,
    Details,
    Write,
    as_one,
    group_executions,
    merge_writes,
    part_of,
    write_of,
)
from graph_model.lineage.history.versions import (
    BEGINNING,
    END,
    BranchVersions,
    Sight,
    branch_versions,
)
from graph_model.lineage.history.visibility import ANY_VERSION, Bound, Moment, visible_writes
from graph_model.stores.protocols import (
    Catalogue,
    DeclaredFlow,
    ReadableWrites,
    Span,
    SpanWrites,
    SuccessfulWrite,
    VersionId,
    VersionSpan,
)

_Key = TypeVar("_Key")

Reports = tuple[SuccessfulWrite, ...]
"""The executions that report one write, by (at, id)."""

#: Writes since the last overwrite that are read one by one: in all, and at least for one moment.
_ROWS_AT_ONCE: Final = 2_000
_LEAST_ROWS: Final = 64
#: Beyond that limit, so many of each logical plan are read; the first and last bound the others.
EXACT_EXECUTIONS: Final = 8


def moment_of(dataset: str, at: int | None) -> Moment:
    """The dataset at the end of the millisecond ``at``, or at the end of time."""
    before = END if at is None else min(at + 1, END)
    return Moment(dataset, before, before)


def is_end(moment: Moment) -> bool:
    """Whether the moment ends a chain: it belongs to a plan that writes nothing."""
    return identity.kind_of(moment.dataset) == labels.LOGICAL_PLAN


def _holds(flow: DeclaredFlow, moment: Moment) -> bool:
    return flow.since < moment.until and flow.ends >= moment.since


def _as_write(read: SuccessfulWrite) -> Write:
    """A read as the last write of a chain, without a target."""
    return Write(read.id, read.at, "", read.logical_plan, read.job, (WHOLE,), (), (read.id,))


class KnownPlans(Protocol):
    """Rows of logical plans that earlier questions have read (``lineage.structure``)."""

    def find(self, keys: Iterable[str]) -> Mapping[str, LogicalPlanRow]: ...

    def keep(self, values: Mapping[str, LogicalPlanRow]) -> None: ...


class Past:
    """Answers from one catalogue. Not to be shared between threads.

    ``known`` keeps rows of logical plans for later questions; a plan's id determines its row.
    """

    def __init__(self, catalogue: Catalogue, known: KnownPlans | None = None) -> None:
        self._catalogue = catalogue
        self._known = known
        self._names: dict[str, frozenset[str]] = {}  # location -> every name it had
        self._locations: dict[str, frozenset[str]] = {}  # name -> every location it stood for
        self._plans: dict[str, LogicalPlanRow] = {}
        self._columns: dict[str, tuple[str, str]] = {}  # column -> (dataset, path)
        self._written: dict[str, list[str]] = {}  # execution -> partitions
        self._read: dict[str, dict[str, frozenset[str]]] = {}  # execution -> dataset -> partitions
        self._bound: dict[str, list[ReadVersionRow]] = {}  # execution -> versions it read
        self._sights: dict[Moment, Sight] = {}
        self._jobs: dict[str, str] = {}  # logical plan that has written -> its job

    # --- names

    def names_of(self, datasets: Collection[str]) -> dict[str, frozenset[str]]:
        """Per dataset all its catalog names."""
        self._learn_names(set(datasets) - self._names.keys())
        return {dataset: self._names[dataset] for dataset in datasets}

    def locations_of(self, datasets: Collection[str]) -> dict[str, frozenset[str]]:
        """Per dataset all its locations: itself if it is no catalog name."""
        self._learn_names(set(datasets) - self._locations.keys())
        return {dataset: self._locations[dataset] for dataset in datasets}

    def _learn_names(self, datasets: Collection[str]) -> None:
        """Reads both directions at once: a question for one usually needs the other next."""
        if datasets:
            self._note_names(datasets, self._catalogue.names_around(datasets))

    def _note_names(self, datasets: Collection[str], pairs: Collection[tuple[str, str]]) -> None:
        names: defaultdict[str, set[str]] = defaultdict(set)
        places: defaultdict[str, set[str]] = defaultdict(set)
        for name, location in pairs:
            names[location].add(name)
            places[name].add(location)
        self._names |= {d: frozenset(names.get(d, ())) for d in datasets}
        self._locations |= {d: frozenset(places.get(d, (d,))) for d in {*datasets, *places}}

    def locate(self, moments: Iterable[tuple[str, int]]) -> dict[tuple[str, int], str]:
        """Per (dataset, time) its location: every step of a walk uses this function."""
        asked = set(moments)
        places = self.locations_of({dataset for dataset, _ in asked})
        moved = {moment for moment in asked if len(places[moment[0]]) > 1}
        found = {moment: next(iter(places[moment[0]])) for moment in asked - moved}
        return found | (self._catalogue.locations_of(moved) if moved else {})

    # --- plans

    def plans(self, ids: Collection[str]) -> dict[str, LogicalPlanRow]:
        """The rows of these logical plans, as far as known."""
        new = set(ids) - self._plans.keys()
        if new:
            self._plans |= self._learn_plans(new)
        return {plan: self._plans[plan] for plan in ids if plan in self._plans}

    def _learn_plans(self, ids: Collection[str]) -> dict[str, LogicalPlanRow]:
        kept = self._known.find(ids) if self._known else {}
        new = set(ids) - kept.keys()
        rows = {row.id: row for row in self._catalogue.logical_plans(new)} if new else {}
        if self._known:
            self._known.keep(rows)
        return {**kept, **rows}

    def jobs_of(self, plans: Collection[str]) -> dict[str, str]:
        """The jobs of these logical plans, as far as known."""
        unseen = self.plans(set(plans) - self._jobs.keys())
        seen = {plan: self._jobs[plan] for plan in plans if plan in self._jobs}
        return seen | {plan: row.job for plan, row in unseen.items()}

    def declared_plans(self, plans: Collection[str]) -> frozenset[str]:
        """Those of these logical plans that are declared and that no run has followed."""
        unseen = set(plans) - self._jobs.keys()  # a plan that wrote has run
        return self._catalogue.declared_plans(unseen) if unseen else frozenset()

    def columns(self, ids: Collection[str]) -> dict[str, tuple[str, str]]:
        """Per column that occurs in a schema its dataset and path."""
        new = set(ids) - self._columns.keys()
        if new:
            self._note_columns(self._catalogue.columns(new))
        return {column: self._columns[column] for column in ids if column in self._columns}

    def _note_columns(self, rows: Iterable[ColumnRow]) -> None:
        self._columns |= {row.id: (row.dataset, row.path) for row in rows}

    def fields(self, columns: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
        """The known columns nested in these, each a (dataset, path)."""
        return {(row.dataset, row.path) for row in self._catalogue.fields(columns)}

    def moments_read(
        self, reads: Iterable[tuple[Write, str]]
    ) -> dict[tuple[str, str], tuple[Moment, ...]]:
        """Per write (by id) and dataset that its plan reads, the state that it read: the newest at
        the time of the write, or the versions that the read was bound to.
        """
        listed = list(reads)
        places = self.locate((source, write.at) for write, source in listed)
        rows = {(write.id, source): self._bound_to(write, source) for write, source in listed}
        found = {}
        writes = self._writes_of_versions(
            VersionId(places[source, write.at], row.version, row.branch)
            for write, source in listed
            for row in rows[write.id, source]
        )
        for write, source in listed:
            place, partitions = places[source, write.at], self.partitions_read(write, source)
            own = Moment(place, write.at, write.at, partitions)
            bound = [
                _bound_moment(own, row, writes.get(VersionId(place, row.version, row.branch)))
                for row in rows[write.id, source]
            ]
            found[write.id, source] = tuple(dict.fromkeys(bound)) or (own,)
        return found

    def bound_moments(self, reads: Collection[tuple[ReadVersionRow, int]]) -> set[Moment]:
        """The states that these reads of versions saw, each at its time (epoch ms)."""
        places = self.locate((row.dataset, at) for row, at in reads)
        spelled = [
            (VersionId(places[row.dataset, at], row.version, row.branch), row, at)
            for row, at in reads
        ]
        writes = self._writes_of_versions(version for version, _, _ in spelled)
        return {
            _bound_moment(Moment(version.target, at, at), row, writes.get(version))
            for version, row, at in spelled
        }

    def _bound_to(self, write: Write, dataset: str) -> list[ReadVersionRow]:
        rows = (row for execution in write.executions for row in self._bound.get(execution, ()))
        return [row for row in rows if row.dataset == dataset]

    def _writes_of_versions(self, asked: Iterable[VersionId]) -> dict[VersionId, SuccessfulWrite]:
        """Per id of a version of a dataset the write that made it, where one reports it."""
        versions = {version for version in asked if version.id}
        if not versions:
            return {}
        targets = self._targets({version.target for version in versions})
        spelled = {
            version: [version._replace(target=target) for target, _ in targets[version.target]]
            for version in versions
        }
        asked = {one for some in spelled.values() for one in some}
        writes = self._catalogue.writes_by_version(asked)
        found = {}
        for version, some in spelled.items():
            rows = [writes[one] for one in some if one in writes]
            if rows:
                found[version] = min(rows, key=lambda row: _preference(row, version.branch))
        return found

    def bound_reads(self, plans: Collection[str]) -> frozenset[tuple[str, str]]:
        """(logical plan, dataset) of the reads that some execution bound to a version."""
        return self._catalogue.bound_reads(plans) if plans else frozenset()

    def partitions_read(self, write: Write, dataset: str) -> tuple[str, ...]:
        """The partitions of a dataset that all executions of a write report as read; () for the
        whole.
        """
        read = [self._read.get(execution, {}).get(dataset) for execution in write.executions]
        known = [partitions for partitions in read if partitions]
        if len(known) < len(read):
            return ()
        return tuple(sorted(frozenset[str]().union(*known)))

    # --- writes

    def sights(self, moments: Collection[Moment]) -> dict[Moment, Sight]:
        """The visible writes of each moment."""
        unknown = set(moments) - self._sights.keys()
        ends = {moment for moment in unknown if is_end(moment)}
        self._sights |= self._readings(ends) if ends else {}
        bound = {moment for moment in unknown - ends if _is_bound(moment)}
        self._sights |= self._of_versions(bound) if bound else {}
        new = unknown - ends - bound
        if new:
            readable = self._readable_writes(new)
            found = self._merged({m: _joined(s.spans.values()) for m, s in readable.items()})
            floors = {m: s.floor for m, s in readable.items() if s.floor is not None}
            # A write that another producer reports as one of some partitions is no full overwrite.
            again = [m for m in floors if not found[m][0].older and not _is_closed(m, found[m][1])]
            found |= self._look(again)
            declared = self._declared([m for m, s in readable.items() if s.declared])
            for moment in new:
                floor = BEGINNING if moment in again else floors.get(moment, BEGINNING)
                sight = _sight(moment, floor, *found[moment])
                if moment in declared:
                    sight = sight._replace(declared=declared[moment])
                self._sights[moment] = sight
        return {moment: self._sights[moment] for moment in moments}

    def _readings(self, moments: Collection[Moment]) -> dict[Moment, Sight]:
        """Per moment of a plan that writes nothing its reads: none of them replaces another."""
        found = self._catalogue.readings(
            [(moment.dataset, moment.until) for moment in moments], per_plan=EXACT_EXECUTIONS + 1
        )
        rows = {row for some in found.values() for row in some.writes}
        self._jobs |= {row.logical_plan: row.job for row in rows}
        self._learn_partitions(rows)
        self._learn_bound_reads(rows)
        flows: defaultdict[str, list[DeclaredFlow]] = defaultdict(list)
        for flow in self._catalogue.declared_reads({moment.dataset for moment in moments}):
            flows[flow.logical_plan].append(flow)
        sights = {}
        for moment in moments:
            reads, older = found[moment.dataset, moment.until]
            declared = [flow for flow in flows[moment.dataset] if _holds(flow, moment)]
            newest = sorted(map(_as_write, reads), key=lambda read: read.order, reverse=True)
            sights[moment] = Sight(tuple(newest), older, declared=tuple(declared))
        return sights

    def _readable_writes(self, moments: Collection[Moment]) -> dict[Moment, ReadableWrites]:
        """Per moment the rows since just before its floor."""
        reads = self._spans(moments)
        most = _most(sum(len(spans) for spans in reads.values()))
        found = self._catalogue.readable_writes(
            set(reads.values()), reach=REACH_MS, most=most, per_plan=EXACT_EXECUTIONS + 1
        )
        return {moment: found[spans] for moment, spans in reads.items()}

    def _spans(self, moments: Collection[Moment]) -> dict[Moment, tuple[Span, ...]]:
        targets = self._targets({moment.dataset for moment in moments})
        return {
            moment: tuple(
                Span(target, moment.since, moment.until, place, part, _branch(moment))
                for target, place in targets[moment.dataset]
                for part in moment.partitions or ("",)
            )
            for moment in moments
        }

    # --- versions

    def _of_versions(self, moments: Collection[Moment]) -> dict[Moment, Sight]:
        """Per moment that is bound to a version the writes that led to that version."""
        found = self._versions(moments)
        again = [m for m, own in found.items() if own.floor and not own.cut and not own.is_closed]
        found |= self._versions(again, whole=True) if again else {}
        forks = {m: moment for m, own in found.items() if (moment := own.fork(m)) is not None}
        stood = self.sights(forks.values()) if forks else {}
        beside = self._beside({m: own for m, own in found.items() if m not in forks})
        declared = self._declared(moments)
        sights = {}
        for moment, own in found.items():
            base = stood[forks[moment]] if moment in forks else beside[moment]
            sights[moment] = own.sight(moment, base)._replace(declared=declared[moment])
        return sights

    def _versions(
        self, moments: Collection[Moment], *, whole: bool = False
    ) -> dict[Moment, BranchVersions]:
        targets = self._targets({moment.dataset for moment in moments})
        spans = {
            moment: [
                VersionSpan(target, *moment.bound[0], place, whole)
                for target, place in targets[moment.dataset]
            ]
            for moment in moments
        }
        asked = {span for some in spans.values() for span in some}
        rows = self._catalogue.version_writes(asked, most=_most(len(asked)))
        answers = {moment: [rows[span] for span in some] for moment, some in spans.items()}
        writes = self._writes(
            {
                moment: SpanWrites(tuple(dict.fromkeys(row for one in some for row in one.writes)))
                for moment, some in answers.items()
            }
        )
        return {m: branch_versions(m.bound[0], writes[m], some) for m, some in answers.items()}

    def _beside(self, found: Mapping[Moment, BranchVersions]) -> dict[Moment, Sight]:
        """Per moment the writes without a version that may belong among those with one, and the
        period of the other writes of that branch if there are too many.
        """
        targets = self._targets({moment.dataset for moment in found})
        spans = {
            moment: [
                Span(target, *own.times(moment), place, part, moment.bound[0].branch)
                for target, place in targets[moment.dataset]
                for part in moment.partitions or ("",)
            ]
            for moment, own in found.items()
        }
        rows = self._rows(spans) if spans else {}
        return {
            moment: Sight(
                tuple(write for write in writes if found[moment].takes(moment, write)),
                rows[moment].older,
            )
            for moment, writes in self._writes(rows).items()
        }

    def _declared(self, moments: Collection[Moment]) -> dict[Moment, tuple[DeclaredFlow, ...]]:
        """Per moment the declarations of its dataset in force then, under any of its names."""
        if not moments:
            return {}
        targets = self._targets({moment.dataset for moment in moments})
        asked = {target for found in targets.values() for target, _ in found}
        flows: dict[str, list[DeclaredFlow]] = {}
        for flow in self._catalogue.declared_flows(asked):
            flows.setdefault(flow.target, []).append(flow)
        return self._of_their_places(
            {
                moment: [
                    (flow, place)
                    for target, place in targets[moment.dataset]
                    for flow in flows.get(target, ())
                    if _holds(flow, moment)
                ]
                for moment in moments
            }
        )

    def _of_their_places(
        self, found: Mapping[Moment, Collection[tuple[DeclaredFlow, str]]]
    ) -> dict[Moment, tuple[DeclaredFlow, ...]]:
        """Per moment those writes whose target, a catalog name that has moved, stood for the
        location just before the moment ends; a required location of "" always matches.
        """
        stood = self.locate(
            (flow.target, moment.until - 1)
            for moment, flows in found.items()
            for flow, place in flows
            if place
        )
        return {
            moment: tuple(
                flow
                for flow, place in flows
                if not place or stood[flow.target, moment.until - 1] == place
            )
            for moment, flows in found.items()
        }

    def last_writes(self, datasets: Collection[str], at: int | None) -> dict[str, int]:
        """Per dataset the time of its newest completed write at or before ``at``.

        A write to a branch of a table is not a write of the table: see ``datasets.last_writer``.
        """
        alone = {d for d, found in self._targets(datasets).items() if len(found) == 1}
        # an execution far from all others does not repeat another's report
        known = self._catalogue.lone_last_writes(alone, at, apart=REACH_MS)
        lone = {dataset: last for dataset, last in known.items() if last is not None}
        return lone | self._merged_last_writes(set(datasets) - known.keys(), at)

    def _merged_last_writes(self, datasets: Collection[str], at: int | None) -> dict[str, int]:
        if not datasets:
            return {}
        targets = self._targets(datasets)
        asked = {target for found in targets.values() for target, _ in found}
        newest = self._catalogue.last_writes(asked, at)
        spans: dict[str, list[Span]] = {}
        for dataset, found in targets.items():
            times = [newest[target] for target, place in found if target in newest and not place]
            times = times or [newest[target] for target, _ in found if target in newest]
            if times:
                last = max(times)
                spans[dataset] = [
                    Span(target, last - REACH_MS, last + 1, place) for target, place in found
                ]
        rows = self._rows(spans)
        writes = self._writes(rows)
        return {
            dataset: max(write.at for write in writes[dataset])
            for dataset in spans
            if writes[dataset]
        }

    def _look(self, moments: Collection[Moment]) -> dict[Moment, tuple[SpanWrites, list[Write]]]:
        """Per moment its rows from the beginning, and the writes that they report."""
        if not moments:
            return {}
        spans = {
            moment: [span._replace(since=BEGINNING) for span in some]
            for moment, some in self._spans(moments).items()
        }
        return self._merged(self._rows(spans))

    def _merged(
        self, rows: Mapping[Moment, SpanWrites]
    ) -> dict[Moment, tuple[SpanWrites, list[Write]]]:
        writes = self._writes(rows)
        return {moment: (rows[moment], writes[moment]) for moment in rows}

    def _targets(self, datasets: Collection[str]) -> dict[str, list[tuple[str, str]]]:
        """Per dataset its names as a write's target: (target, required location or "")."""
        names = self.names_of(datasets)
        places = self.locations_of({name for found in names.values() for name in found})
        return {
            dataset: [
                *([] if dataset in found else [(dataset, "")]),  # a name that lost its location
                *((name, dataset if len(places[name]) > 1 else "") for name in sorted(found)),
            ]
            for dataset, found in names.items()
        }

    def _rows(self, spans: Mapping[_Key, Collection[Span]]) -> dict[_Key, SpanWrites]:
        asked = {span for some in spans.values() for span in some}
        most = _most(len(asked))
        found = self._catalogue.writes(asked, most=most, per_plan=EXACT_EXECUTIONS + 1)
        return {key: _joined([found[span] for span in some]) for key, some in spans.items()}

    def _writes(self, rows: Mapping[_Key, SpanWrites]) -> dict[_Key, list[Write]]:
        """The writes merged from all reports of the same applications; a write counts if one of its
        executions is among the rows.
        """
        listed = {row for some in rows.values() for row in some.writes}
        self._jobs |= {row.logical_plan: row.job for row in listed}
        pairs = {(row.target, row.application_id) for row in listed if row.application_id}
        everything = listed | set(self._catalogue.companions(pairs) if pairs else ())
        self._learn_bound_reads(everything)
        by_execution = {
            execution: write
            for write in merge_writes(everything, self._details(everything))
            for execution in write.executions
        }
        return {
            key: list(dict.fromkeys(by_execution[row.id] for row in some.writes))
            for key, some in rows.items()
        }

    def reports_of(self, target: str, states: Sequence[str] = labels.STATES) -> list[Reports]:
        """The reports of those writes and attempted writes of a dataset that several executions
        report.
        """
        return self._reports(
            lambda state: self._catalogue.companions_of_target(target, state), states
        )

    def reports(self, pairs: Collection[tuple[str, str]]) -> list[Reports]:
        """``reports_of`` of these (target, application id) alone."""
        named = {pair for pair in pairs if pair[1]}
        return self._reports(lambda state: self._catalogue.companions(named, state), labels.STATES)

    def _reports(
        self, rows_of: Callable[[str], Iterable[SuccessfulWrite]], states: Iterable[str]
    ) -> list[Reports]:
        found: list[Reports] = []
        for state in states:
            rows = list(rows_of(state))
            incomplete = _incomplete(self.plans({row.logical_plan for row in rows}).values())
            found += group_executions(rows, incomplete)
        return [group for group in found if len(group) > 1]

    def completed(
        self, rows: Iterable[ExecutionRow], reports: Iterable[Reports]
    ) -> list[ExecutionRow]:
        """These rows, each completed from other reports of the same write."""
        listed = list(rows)
        beside = {row.id: group for group in reports for row in group}
        others = {one.id for row in listed for one in beside.get(row.id, ())}
        known = {row.id: row for row in self._catalogue.executions_of(others)} if others else {}
        found = []
        for row in listed:
            more = [known[o.id] for o in beside.get(row.id, ()) if o.id in known and o.id != row.id]
            found.append(as_one([row, *more]) if more else row)
        return found

    def reported_writes(
        self, rows: Iterable[ExecutionRow], reports: Iterable[Reports]
    ) -> dict[str, Write]:
        """Per row the write or attempted write that it reports, merged with the other reports of
        it.
        """
        beside = {row.id: group for group in reports for row in group}
        groups = {row.id: beside.get(row.id) or (_report(row),) for row in rows}
        details = self._details({one for group in groups.values() for one in group})
        return {key: write_of(group, details) for key, group in groups.items()}

    def _details(self, rows: Collection[SuccessfulWrite]) -> Details:
        self._learn_partitions(rows)
        plans = self.plans(_of_interest(rows))
        return Details(
            self._written,
            {plan: _count(row.gaps) for plan, row in plans.items()},
            {plan: _keys(row.partition_keys) for plan, row in plans.items()},
            _incomplete(plans.values()),
        )

    def _learn_bound_reads(self, rows: Collection[SuccessfulWrite]) -> None:
        new = {row.id for row in rows if row.bound} - self._bound.keys()
        self._bound |= {execution: [] for execution in new}
        for read in self._catalogue.read_versions(new) if new else ():
            self._bound[read.execution].append(read)

    def _learn_partitions(self, rows: Collection[SuccessfulWrite]) -> None:
        targets = {row.id: row.target for row in rows if row.partitioned}
        new = targets.keys() - self._written.keys()
        self._written |= {execution: [] for execution in new}
        for part in self._catalogue.partitions(new) if new else ():
            if part.role == "write" and part.dataset == targets[part.execution]:
                self._written[part.execution].append(part.partition)
            elif part.role == "read":
                read = self._read.setdefault(part.execution, {})
                read[part.dataset] = read.get(part.dataset, frozenset()) | {part.partition}


def _report(row: ExecutionRow) -> SuccessfulWrite:
    fields = (name for name in SuccessfulWrite._fields if name not in ("partitioned", "bound"))
    return SuccessfulWrite(**{name: getattr(row, name) for name in fields})


def _of_interest(rows: Collection[SuccessfulWrite]) -> set[str]:
    """The plans whose details may matter for merging: those of applications with several reports,
    or with dynamic mode.
    """
    reports = Counter((row.target, row.application_id) for row in rows if row.application_id)
    return {
        row.logical_plan
        for row in rows
        if row.dynamic or reports[row.target, row.application_id] > 1
    }


# Nearly all plans have the default.


@lru_cache(maxsize=1_000)
def _count(gaps: str) -> int:
    """The number of gaps in column lineage; a gap about replaced partitions does not count."""
    return sum(gap["code"] != PARTITIONS_UNKNOWN for gap in json.loads(gaps))


@lru_cache(maxsize=1_000)
def _keys(partition_keys: str) -> frozenset[str]:
    return frozenset(json.loads(partition_keys))


def _incomplete(plans: Iterable[LogicalPlanRow]) -> frozenset[str]:
    """Plans with a subquery known as text only: their inputs are incomplete."""
    listed = ((plan.id, json.loads(plan.gaps)) for plan in plans if SUBQUERY in plan.gaps)
    return frozenset(plan for plan, gaps in listed if any(gap["code"] == SUBQUERY for gap in gaps))


def _most(spans: int) -> int:
    """The number of writes of each span to read one by one, for this many spans."""
    return max(_LEAST_ROWS, _ROWS_AT_ONCE // max(1, spans))


def _joined(found: Collection[SpanWrites]) -> SpanWrites:
    if len(found) == 1:
        return next(iter(found))
    writes = dict.fromkeys(write for some in found for write in some.writes)
    older = dict.fromkeys(plan for some in found for plan in some.older)
    return SpanWrites(tuple(writes), tuple(older))


def _is_closed(moment: Moment, writes: Iterable[Write]) -> bool:
    """Whether a full overwrite is among the writes before the moment."""
    return any(
        WHOLE in write.closes and write.at < moment.since
        for write in _of_branch(writes, _branch(moment))
    )


def _is_bound(moment: Moment) -> bool:
    return bool(moment.bound) and moment.bound[0] != ANY_VERSION


def _branch(moment: Moment) -> str:
    return moment.bound[0].branch if moment.bound else MAIN_BRANCH


def _of_branch(writes: Iterable[Write], branch: str) -> list[Write]:
    return [write for write in writes if branch in (write.branch, EVERY_BRANCH)]


def _preference(row: SuccessfulWrite, branch: str) -> tuple[bool, int, str]:
    """Among writes that report one version those of its branch come first, then the earliest."""
    return (row.branch != branch, row.at, row.id)


def _bound_moment(own: Moment, row: ReadVersionRow, write: SuccessfulWrite | None) -> Moment:
    """``own`` bound to the version that was read; ``write`` made it.

    A snapshot belongs to the branch that it was written to, whichever branch a read names:

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


def _sight(moment: Moment, floor: int, rows: SpanWrites, found: Collection[Write]) -> Sight:
    writes = _of_branch(found, _branch(moment))
    if rows.older:  # the overwrite at the floor may be one of those not read
        writes = [write for write in writes if write.at >= floor]
    parts = tuple(map(part_of, moment.partitions)) or (WHOLE,)
    seen = tuple(visible_writes(writes, moment.since, moment.until, parts))
    rough = bool(rows.older) and any(w.closes and WHOLE not in w.closes for w in writes)
    return Sight(seen, rows.older, rough)
