"""The writes that executions report, each once: rows of a catalogue, merged; and the partitions,
the files of lists and the versions that they report.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from graph_model import identity, labels
from graph_model.facts import LISTED, DatasetRow, ExecutionRow, LogicalPlanRow, ReadVersionRow
from graph_model.lineage.history.rules import (
    BEGINNING,
    END,
    REACH_MS,
    Details,
    Moment,
    Reports,
    VisibleWrites,
    Write,
    as_one,
    as_report,
    group_executions,
    merge_writes,
    write_of,
)
from graph_model.lineage.structure import PlacedDataset, StructureCache
from graph_model.naming import varying_part
from graph_model.naming.containment import Location, begins, folders_above, holds, meets
from graph_model.stores.catalogue_values import (
    NewestWrite,
    Span,
    SpanWrites,
    SuccessfulWrite,
    Surroundings,
)
from graph_model.values import batched

if TYPE_CHECKING:
    from graph_model.stores.catalogue import Catalogue


# The names and the locations of datasets: a table has a location and catalog names, and both
# change; a location may hold others, for ever.

_READ_AT_ONCE: Final = 1_000


class DatasetNames:
    """Names and locations from one catalogue, kept for the life of the object."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._names: dict[str, frozenset[str]] = {}  # location -> every name it had
        self._locations: dict[str, frozenset[str]] = {}  # name -> every location it stood for

    def names_of(self, datasets: Collection[str]) -> dict[str, frozenset[str]]:
        """Per dataset all its catalog names."""
        self._learn_names(set(datasets).difference(self._names))
        return {dataset: self._names[dataset] for dataset in datasets}

    def locations_of(self, datasets: Collection[str]) -> dict[str, frozenset[str]]:
        """Per dataset all its locations: itself if it is no catalog name."""
        self._learn_names(set(datasets).difference(self._locations))
        return {dataset: self._locations[dataset] for dataset in datasets}

    def tables(self, rows: Iterable[DatasetRow]) -> Iterator[DatasetRow]:
        """Each table once: without catalog names that have a location, where its data flows."""
        for some in batched(rows, _READ_AT_ONCE):
            places = self.locations_of({row.id for row in some if row.kind == "name"})
            yield from (row for row in some if row.id in places.get(row.id, (row.id,)))

    def locate(self, moments: Iterable[tuple[str, int]]) -> dict[tuple[str, int], str]:
        """Per (dataset, time) its location: every step of a walk uses this function."""
        asked = set(moments)
        places = self.locations_of({dataset for dataset, _ in asked})
        only = {
            dataset: next(iter(locations))
            for dataset, locations in places.items()
            if len(locations) == 1
        }
        located = {moment: only[moment[0]] for moment in asked if moment[0] in only}
        moved = asked.difference(located) if len(only) < len(places) else set()
        return located | (self._catalogue.locations_of(moved) if moved else {})

    def targets_of(self, datasets: Collection[str]) -> dict[str, list[tuple[str, str]]]:
        """Per dataset its names as a write's target: (target, required location or "")."""
        names = self.names_of(datasets)
        places = self.locations_of({name for own in names.values() for name in own})
        return {
            dataset: [
                *([] if dataset in own else [(dataset, "")]),  # a name that lost its location
                *((name, dataset if len(places[name]) > 1 else "") for name in sorted(own)),
            ]
            for dataset, own in names.items()
        }

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


#: Locations that share files with one dataset, of each kind of surroundings.
LOCATION_LIMIT: Final = 1_000
_PATTERN: Final = "pattern"
_LOCATIONS: Final = ("file", _PATTERN)


class SharedLocations:
    """The locations that share files with a dataset, from one catalogue; kept for the life of the
    object. Which do follows from their URIs (``naming.containment``).

        s3://land/in/orders_*.csv  =>  s3://land/in, s3://land/in/orders_1.csv

    ``cut``: some were left out, because there are more than ``LOCATION_LIMIT``. ``known`` keeps
    datasets for later questions.
    """

    def __init__(self, catalogue: Catalogue, known: StructureCache[str, PlacedDataset]) -> None:
        self._catalogue = catalogue
        self._known = known
        self._around: dict[str, tuple[str, ...]] = {}
        self._placed: dict[str, PlacedDataset] = {}
        self._seen: dict[Surroundings, tuple[DatasetRow, ...]] = {}
        self.cut = False

    def around(self, datasets: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Per dataset the others that share files with it, none for nearly all."""
        new = set(datasets).difference(self._around)
        if new:
            self._learn(new)
        return {dataset: self._around[dataset] for dataset in datasets}

    def around_at(self, datasets: Collection[str], at: int | None) -> dict[str, tuple[str, ...]]:
        """As ``around``, without locations that did not exist yet; None: the end of time."""
        around = self.around(datasets)
        others = {other for some in around.values() for other in some}
        if at is None or not others:
            return around
        seen = self._catalogue.seen(others, at)
        return {dataset: tuple(o for o in some if o in seen) for dataset, some in around.items()}

    def with_shared(self, datasets: Collection[str], at: int | None) -> set[str]:
        """These datasets, and those that share files with one of them and existed."""
        around = self.around_at(datasets, at)
        return {*datasets, *(other for some in around.values() for other in some)}

    def folders_of(self, dataset: str) -> tuple[str, ...]:
        """The ids that the folders above a location have as datasets; it has been asked for, or
        shares files with one that has.
        """
        return self._placed[dataset].folders

    def holds(self, outer: str, inner: str) -> bool:
        """Whether one location holds all of the other one; both are known as in ``folders_of``."""
        holder, held = self._placed[outer], self._placed[inner]
        return holder.row.scope == held.row.scope and holds(holder.location, held.location)

    def lists(self, pattern: str, files: Collection[str], other: str) -> bool:
        """Whether a read of a list of files, for which a pattern stands, may have read another
        location: it holds the whole pattern, or it is one of the files or lies in one.
        """
        return (
            other == pattern
            or self.holds(other, pattern)
            or varying_part(self._placed[other].location.uri, self._placed[pattern].location.uri)
            in files
        )

    def is_pattern(self, dataset: str) -> bool:
        return self._placed[dataset].location.is_pattern

    def _learn(self, datasets: Collection[str]) -> None:
        self._around |= dict.fromkeys(datasets, ())
        self._read(datasets)
        placed = [self._placed[dataset] for dataset in datasets if dataset in self._placed]
        self._look({place for own in placed for place in own.surroundings})
        for own in placed:
            rows = {row.id: row for place in own.surroundings for row in self._seen[place]}
            rows.pop(own.row.id, None)
            if rows:
                self._note(rows.values())
                near = (key for key in rows if meets(own.location, self._placed[key].location))
                self._around[own.row.id] = tuple(sorted(near))

    def _read(self, datasets: Collection[str]) -> None:
        self._placed |= self._known.find(set(datasets).difference(self._placed))
        new = set(datasets).difference(self._placed)
        if new:
            self._note(self._catalogue.datasets(new))
            self._known.keep({key: self._placed[key] for key in new & self._placed.keys()})

    def _note(self, rows: Iterable[DatasetRow]) -> None:
        ids: dict[tuple[str, str], str] = {}  # most tables share their folders with others
        self._placed |= {row.id: _placed(row, ids) for row in rows if row.id not in self._placed}

    def _look(self, places: Collection[Surroundings]) -> None:
        new = set(places).difference(self._seen)
        if not new:
            return
        for place, rows in self._catalogue.datasets_around(new, LOCATION_LIMIT).items():
            self.cut |= len(rows) > LOCATION_LIMIT
            self._seen[place] = tuple(row for row in rows if row.kind in _LOCATIONS)


def _placed(row: DatasetRow, ids: dict[tuple[str, str], str]) -> PlacedDataset:
    """``ids``: by scope and URI those of the folders that earlier rows lie in; grows."""
    if row.kind not in _LOCATIONS:
        return PlacedDataset(row, Location(row.uri, is_pattern=False))
    location = Location(row.uri, row.kind == _PATTERN)
    above = [(row.scope, uri) for uri in folders_above(location)]
    ids |= {folder: identity.dataset_id(*folder) for folder in above if folder not in ids}
    folders = tuple(ids[folder] for folder in above)
    beneath = Surroundings("", row.scope, begins(location))
    return PlacedDataset(row, location, folders, (*map(Surroundings, folders), beneath))


# --------------------------------------------------------------------------------------------------

# The rows of logical plans, each read once, and the plans that are in force at a time.


class PlanRows:
    """Rows from one catalogue, kept for the life of the object.

    ``known`` keeps them for later questions; a plan's id determines its row.
    """

    def __init__(
        self, catalogue: Catalogue, known: StructureCache[str, LogicalPlanRow] | None = None
    ) -> None:
        self._catalogue = catalogue
        self._known = known
        self._rows: dict[str, LogicalPlanRow] = {}
        self._jobs: dict[str, str] = {}  # logical plan that has written -> its job

    def rows(self, ids: Collection[str]) -> dict[str, LogicalPlanRow]:
        """The rows of these logical plans, as far as known."""
        new = set(ids).difference(self._rows)
        if new:
            self._rows |= self._read(new)
        return {plan: self._rows[plan] for plan in ids if plan in self._rows}

    def _read(self, ids: Collection[str]) -> dict[str, LogicalPlanRow]:
        kept = self._known.find(ids) if self._known else {}
        new = set(ids).difference(kept)
        rows = {row.id: row for row in self._catalogue.logical_plans(new)} if new else {}
        if self._known:
            self._known.keep(rows)
        return {**kept, **rows}

    def jobs_of(self, plans: Collection[str]) -> dict[str, str]:
        """The jobs of these logical plans, as far as known."""
        unseen = self.rows(set(plans).difference(self._jobs))
        seen = {plan: self._jobs[plan] for plan in plans if plan in self._jobs}
        return seen | {plan: row.job for plan, row in unseen.items()}

    def declared(self, plans: Collection[str]) -> frozenset[str]:
        """The logical plans among these that are declared and that no run has followed."""
        unseen = set(plans).difference(self._jobs)  # a plan that wrote has run
        return self._catalogue.declared_plans(unseen) if unseen else frozenset()

    def note(self, rows: Iterable[SuccessfulWrite]) -> None:
        """Note the jobs of these executions' plans, so that they need no look-up."""
        self._jobs |= {row.logical_plan: row.job for row in rows}

    def incomplete(self, plans: Collection[str]) -> frozenset[str]:
        """The plans among these whose inputs are incomplete: they have a subquery known as text
        only.
        """
        rows = self.rows(plans).values()
        listed = ((plan.id, json.loads(plan.gaps)) for plan in rows if labels.SUBQUERY in plan.gaps)
        return frozenset(
            plan for plan, gaps in listed if any(gap["code"] == labels.SUBQUERY for gap in gaps)
        )


class Output(NamedTuple):
    """What a job writes, a branch of a dataset; of a job that writes nothing ("" as branch) a
    dataset that it reads. The ``moment`` is that of the question.
    """

    moment: Moment
    job: str
    branch: str


class PlansInForce:
    """The plans that jobs follow at a time, from one catalogue: of each output the plans of the
    newest successful run that wrote it; of a shared job all plans.

    A plan that a later run of its job replaced is history, one for another output is in force.
    """

    def __init__(self, catalogue: Catalogue, names: DatasetNames, plans: PlanRows) -> None:
        self._catalogue = catalogue
        self._names = names
        self._plans = plans
        self._writers: dict[Moment, tuple[SuccessfulWrite, ...]] = {}

    def writers(self, moments: Collection[Moment]) -> dict[Moment, tuple[SuccessfulWrite, ...]]:
        """Per dataset at the end of a moment, on its branch, the newest write of each plan in force
        that writes it.
        """
        new = [moment for moment in moments if moment not in self._writers]
        self._writers |= self._read_writers(new) if new else {}
        return {moment: self._writers[moment] for moment in moments}

    def _read_writers(
        self, moments: Collection[Moment]
    ) -> dict[Moment, tuple[SuccessfulWrite, ...]]:
        targets = self._names.targets_of({moment.dataset for moment in moments})
        spans = {
            moment: [
                Span(target, BEGINNING, moment.until, place, "", moment.branch)
                for target, place in targets[moment.dataset]
            ]
            for moment in moments
        }
        writes = self._catalogue.newest_writes({span for some in spans.values() for span in some})
        written: dict[Moment, dict[Output, list[NewestWrite]]] = {m: {} for m in moments}
        for moment, some in spans.items():
            for newest in (write for span in some for write in writes[span]):
                row = newest.write
                output = Output(moment, row.job, row.branch)
                written[moment].setdefault(output, []).append(newest)
        plans = self._of_newest_runs(
            {output: rows for groups in written.values() for output, rows in groups.items()}
        )
        return {
            moment: tuple(
                newest.write
                for output, rows in groups.items()
                for newest in rows
                if newest.write.logical_plan in plans[output]
            )
            for moment, groups in written.items()
        }

    def readings(
        self, sources: Mapping[str, Collection[str]], until: int
    ) -> dict[str, tuple[SuccessfulWrite, frozenset[str]]]:
        """Of the given plans that write nothing (each with datasets that it reads) those that have
        read before ``until``: the newest reading, and the datasets of which it is in force, since
        no later run of the job read them by other plans alone.
        """
        newest = self._catalogue.last_of_plans(sources, until - 1).items()
        rows = {plan: row for plan, row in newest if row.kind == labels.READ_KIND}
        places = self._names.locate(
            (source, until - 1) for plan in rows for source in sources[plan]
        )
        groups: defaultdict[Output, list[NewestWrite]] = defaultdict(list)
        outputs: dict[tuple[str, str], Output] = {}
        for plan, row in rows.items():
            for source in sources[plan]:
                output = Output(Moment(places[source, until - 1], until, until), row.job, "")
                outputs[plan, source] = output
                groups[output].append(NewestWrite(as_report(row), row.run))
        plans = self._of_newest_runs(groups)
        return {
            plan: (
                as_report(row),
                frozenset(
                    source for source in sources[plan] if plan in plans[outputs[plan, source]]
                ),
            )
            for plan, row in rows.items()
        }

    def replaced(
        self, seen: Mapping[Moment, VisibleWrites]
    ) -> dict[Moment, dict[str, frozenset[str]]]:
        """Per moment the plans whose expressions are history, each with those that replaced them:
        other plans, of the newest run of its job that is visible, write the same output, and no
        document says in which mode it wrote, so that its rows may be gone.

            amount * rate on Monday, round(amount * rate, 2) on Friday  =>  the latter from then on

        None at an interval: any of them may be the newest at some time of it.
        """
        written = self._written_by_several(seen)
        reports = {
            report
            for outputs in written.values()
            for plans in outputs.values()
            for write in plans.values()
            for report in write.executions
        }
        rows = {row.id: row for row in self._catalogue.executions_of(reports)} if reports else {}
        newest = self._of_newest_runs(
            {
                output: [
                    NewestWrite(as_report(row)._replace(id=write.id, at=write.at), row.run)
                    for plan, write in plans.items()
                    for row in map(rows.__getitem__, write.executions)
                    if row.logical_plan == plan
                ]
                for outputs in written.values()
                for output, plans in outputs.items()
            }
        )
        return {
            moment: {
                plan: frozenset(newest[output])
                for output, plans in outputs.items()
                for plan, write in plans.items()
                if plan not in newest[output]
                and all(
                    rows[execution].mode == labels.UNKNOWN_MODE for execution in write.executions
                )
            }
            for moment, outputs in written.items()
        }

    def _written_by_several(
        self, seen: Mapping[Moment, VisibleWrites]
    ) -> dict[Moment, dict[Output, dict[str, Write]]]:
        """Per moment the outputs that a job wrote by several plans, one of them in an unknown mode,
        each with the newest write of each plan.
        """
        several = {}
        for moment, visible in seen.items():
            if moment.since == moment.until and not visible.rough:
                jobs: defaultdict[str, dict[str, Write]] = defaultdict(dict)
                for write in visible.writes:  # newest first
                    if write.target:
                        jobs[write.job].setdefault(write.logical_plan, write)
                several[moment] = [plans for plans in jobs.values() if len(plans) > 1]
        rows = self._plans.rows({p for some in several.values() for plans in some for p in plans})
        unknown = {plan for plan, row in rows.items() if row.mode == labels.UNKNOWN_MODE}
        listed = [
            (moment, write)
            for moment, some in several.items()
            for plans in some
            if not unknown.isdisjoint(plans)
            for write in plans.values()
        ]
        places = self._names.locate((write.target, moment.until - 1) for moment, write in listed)
        by_output: defaultdict[Moment, dict[Output, dict[str, Write]]] = defaultdict(dict)
        for moment, write in listed:
            place = moment._replace(dataset=places[write.target, moment.until - 1])
            output = Output(place, write.job, write.branch)
            by_output[moment].setdefault(output, {})[write.logical_plan] = write
        return by_output

    def _of_newest_runs(
        self, groups: Mapping[Output, Collection[NewestWrite]]
    ) -> dict[Output, set[str]]:
        """Per output those of its plans that belong to its newest run; of a shared job all of them.

        A plan belongs to each run in which it succeeded: runs of one job may overlap.
        """
        several = [out for out, rows in groups.items() if len({row.run for row in rows}) > 1]
        shared = self._shared({output.job for output in several})
        newest = {
            output: max(groups[output], key=lambda row: (row.write.at, row.write.id)).run
            for output in several
            if output.job not in shared
        }
        earlier = {
            (row.write.logical_plan, run, output.moment.until)
            for output, run in newest.items()
            for row in groups[output]
            if row.run != run
        }
        also = self._catalogue.runs_with(earlier) if earlier else frozenset()
        plans: dict[Output, set[str]] = {}
        for output, rows in groups.items():
            run = newest.get(output)
            plans[output] = {
                row.write.logical_plan
                for row in rows
                if run is None
                or row.run == run
                or (row.write.logical_plan, run, output.moment.until) in also
            }
        return plans

    def _shared(self, jobs: Collection[str]) -> set[str]:
        return {row.id for row in self._catalogue.jobs(jobs) if row.shared} if jobs else set()


# --------------------------------------------------------------------------------------------------


class ReportedParts:
    """Partitions, files and versions from one catalogue, kept for the life of the object."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self.written: dict[str, list[str]] = {}  # execution -> partitions
        self._read: dict[str, dict[str, frozenset[str]]] = {}  # execution -> dataset -> partitions
        self._files: dict[str, dict[str, frozenset[str]]] = {}  # the same of listed files
        self._lists: dict[
            tuple[str, ...], frozenset[str]
        ] = {}  # what stands for a list => its files
        self._bound: dict[str, list[ReadVersionRow]] = {}  # execution -> versions it read

    def partitions_read(self, write: Write, dataset: str) -> tuple[str, ...]:
        """The partitions of a dataset that all executions of a write report as read; () for the
        whole. Of a pattern that stands for a list it is one text for the list (``files``).
        """
        if read := _reported_by_all(self._files, write, dataset):
            listed = (f"{LISTED}={identity.digest(*sorted(read))}",)
            self._lists[listed] = read
            return listed
        return tuple(sorted(_reported_by_all(self._read, write, dataset)))

    def files(self, partitions: tuple[str, ...]) -> frozenset[str] | None:
        """The files of the list that these partitions stand for; None for any others."""
        return self._lists.get(partitions) if self._lists else None

    def bound_reads_of(self, write: Write, dataset: str) -> list[ReadVersionRow]:
        return [
            row
            for execution in write.executions
            for row in self._bound.get(execution, ())
            if row.dataset == dataset
        ]

    def learn_partitions(self, rows: Collection[SuccessfulWrite]) -> None:
        targets = {row.id: row.target for row in rows if row.partitioned}
        new = {execution for execution in targets if execution not in self.written}
        self.written |= {execution: [] for execution in new}
        for part in self._catalogue.partitions(new) if new else ():
            if part.role == "write" and part.dataset == targets[part.execution]:
                self.written[part.execution].append(part.partition)
            elif part.role != "write":
                kept = self._files if part.role == LISTED else self._read
                read = kept.setdefault(part.execution, {})
                read[part.dataset] = read.get(part.dataset, frozenset()) | {part.partition}

    def learn_bound_reads(self, rows: Collection[SuccessfulWrite]) -> None:
        new = {row.id for row in rows if row.bound and row.id not in self._bound}
        self._bound |= {execution: [] for execution in new}
        for read in self._catalogue.read_versions(new) if new else ():
            self._bound[read.execution].append(read)


def _reported_by_all(
    known: Mapping[str, Mapping[str, frozenset[str]]], write: Write, dataset: str
) -> frozenset[str]:
    """What the executions of a write report of a dataset; nothing where one of them does not."""
    reported = [known.get(execution, {}).get(dataset) for execution in write.executions]
    return frozenset[str]().union(*filter(None, reported)) if all(reported) else frozenset()


_Key = TypeVar("_Key")
_Row = TypeVar("_Row", SuccessfulWrite, Write)

#: Where writes depend on each other, so many since the last overwrite are read one by one: for all
#: moments together, and the least number for each.
_ROWS_AT_ONCE: Final = 2_000
_LEAST_ROWS: Final = 64
#: The most executions of a logical plan, and writes of a table since its last overwrite, that are
#: followed one by one; of more, the first and the last bound the others.
EXACT_EXECUTIONS: Final = 8


class ReportedWrites:
    """Writes and attempted writes from one catalogue."""

    def __init__(
        self, catalogue: Catalogue, names: DatasetNames, plans: PlanRows, parts: ReportedParts
    ) -> None:
        self._catalogue = catalogue
        self._names = names
        self._plans = plans
        self._parts = parts

    def read(self, spans: Mapping[_Key, Collection[Span]]) -> dict[_Key, SpanWrites]:
        asked = {span for some in spans.values() for span in some}
        most = most_rows(len(asked))
        writes = self._catalogue.writes(asked, most=most, per_plan=EXACT_EXECUTIONS + 1)
        return {key: joined([writes[span] for span in some]) for key, some in spans.items()}

    def merged(self, rows: Mapping[_Key, SpanWrites]) -> dict[_Key, list[Write]]:
        """Per key the writes, merged from all reports of the same applications; a write counts if
        one of its executions is among the rows.
        """
        listed = _distinct(row for some in rows.values() for row in some.writes)
        self._plans.note(listed)
        pairs = {(row.target, row.application_id) for row in listed if row.application_id}
        everything = _distinct((*listed, *(self._catalogue.companions(pairs) if pairs else ())))
        self._parts.learn_bound_reads(everything)
        by_execution = {
            execution: write
            for write in merge_writes(everything, self._details(everything))
            for execution in write.executions
        }
        return {
            key: _distinct(by_execution[row.id] for row in some.writes)
            for key, some in rows.items()
        }

    def last(self, datasets: Collection[str], at: int | None) -> dict[str, int]:
        """Per dataset the time of its newest completed write at or before ``at``.

        A write to a branch of a table is not a write of the table: see ``datasets.last_writer``.
        """
        alone = {d for d, names in self._names.targets_of(datasets).items() if len(names) == 1}
        # An execution far from all others in time cannot be a second report of their write.
        known = self._catalogue.lone_last_writes(alone, at, apart=REACH_MS)
        lone = {dataset: last for dataset, last in known.items() if last is not None}
        return lone | self._merged_last(set(datasets).difference(known), at)

    def _merged_last(self, datasets: Collection[str], at: int | None) -> dict[str, int]:
        if not datasets:
            return {}
        targets = self._names.targets_of(datasets)
        asked = {target for names in targets.values() for target, _ in names}
        newest = self._catalogue.last_writes(asked, at)
        spans: dict[str, list[Span]] = {}
        moved = {name for name, place in chain(*targets.values()) if place and name in newest}
        places = self._names.locate((name, newest[name]) for name in moved)
        for dataset, names in targets.items():
            written = [(target, place) for target, place in names if target in newest]
            if not written:
                continue
            last = max(newest[target] for target, _ in written)
            since, before = last - REACH_MS, last + 1
            if any(place and places[name, newest[name]] != place for name, place in written):
                # The name's newest write is one of another location.
                since, before = BEGINNING, END if at is None else at + 1
            spans[dataset] = [Span(target, since, before, place) for target, place in names]
        rows = self.read(spans)
        writes = self.merged(rows)
        return {
            dataset: max(write.at for write in writes[dataset])
            for dataset in spans
            if writes[dataset]
        }

    def reports_of(self, target: str, states: Sequence[str] = labels.STATES) -> list[Reports]:
        """The reports of each write or attempted write of a dataset that has several."""
        return self._reports(
            lambda state: self._catalogue.companions_of_target(target, state), states
        )

    def reports(self, pairs: Collection[tuple[str, str]]) -> list[Reports]:
        """The reports that ``reports_of`` gives, of these pairs (target, application id) alone."""
        named = {pair for pair in pairs if pair[1]}
        return self._reports(lambda state: self._catalogue.companions(named, state), labels.STATES)

    def _reports(
        self, rows_of: Callable[[str], Iterable[SuccessfulWrite]], states: Iterable[str]
    ) -> list[Reports]:
        groups: list[Reports] = []
        for state in states:
            rows = list(rows_of(state))
            incomplete = self._plans.incomplete({row.logical_plan for row in rows})
            groups += group_executions(rows, incomplete)
        return [group for group in groups if len(group) > 1]

    def completed(
        self, rows: Iterable[ExecutionRow], reports: Iterable[Reports]
    ) -> list[ExecutionRow]:
        """These rows, each completed from other reports of the same write."""
        listed = list(rows)
        group_of = {row.id: group for group in reports for row in group}
        others = {other.id for row in listed for other in group_of.get(row.id, ())}
        known = {row.id: row for row in self._catalogue.executions_of(others)} if others else {}
        completed = []
        for row in listed:
            ids = (other.id for other in group_of.get(row.id, ()) if other.id != row.id)
            more = [known[other] for other in ids if other in known]
            completed.append(as_one([row, *more]) if more else row)
        return completed

    def reported(
        self, rows: Iterable[ExecutionRow], reports: Iterable[Reports]
    ) -> dict[str, Write]:
        """Per row the write or attempted write that it reports, merged with the other reports of
        it.
        """
        group_of = {row.id: group for group in reports for row in group}
        groups = {row.id: group_of.get(row.id) or (as_report(row),) for row in rows}
        details = self._details({report for group in groups.values() for report in group})
        return {key: write_of(group, details) for key, group in groups.items()}

    def _details(self, rows: Collection[SuccessfulWrite]) -> Details:
        self._parts.learn_partitions(rows)
        plans = self._plans.rows(_plans_to_compare(rows))
        return Details(
            self._parts.written,
            {plan: _number_of_gaps(row.gaps) for plan, row in plans.items()},
            {plan: _key_names(row.partition_keys) for plan, row in plans.items()},
            self._plans.incomplete(plans),
        )


def _distinct(rows: Iterable[_Row]) -> list[_Row]:
    """Each once, by its id: a text keeps its hash, a row computes it from all fields every time."""
    return list({row.id: row for row in rows}.values())


def _plans_to_compare(rows: Collection[SuccessfulWrite]) -> set[str]:
    """The plans whose details may decide a merge: their application has several reports, or they
    wrote in dynamic mode.
    """
    reports = Counter((row.target, row.application_id) for row in rows if row.application_id)
    return {
        row.logical_plan
        for row in rows
        if row.dynamic or reports[row.target, row.application_id] > 1
    }


def _number_of_gaps(gaps: str) -> int:
    """The number of gaps in column lineage; gaps about replaced partitions do not count."""
    return sum(gap["code"] != labels.PARTITIONS_UNKNOWN for gap in json.loads(gaps))


def _key_names(partition_keys: str) -> frozenset[str]:
    return frozenset(json.loads(partition_keys))


def most_rows(spans: int) -> int:
    """The number of writes of each span to read one by one, for this many spans."""
    return max(_LEAST_ROWS, _ROWS_AT_ONCE // max(1, spans))


def joined(parts: Collection[SpanWrites]) -> SpanWrites:
    if len(parts) == 1:
        return next(iter(parts))
    writes = dict.fromkeys(write for some in parts for write in some.writes)
    older = dict.fromkeys(plan for some in parts for plan in some.older)
    return SpanWrites(tuple(writes), tuple(older))
