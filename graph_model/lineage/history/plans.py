"""The rows of logical plans, each read once, and the plans that are in force at a time."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from graph_model import labels
from graph_model.facts import LogicalPlanRow
from graph_model.lineage.history.merging import Write, as_report
from graph_model.lineage.history.names import DatasetNames
from graph_model.lineage.history.read_rule import BEGINNING, Moment, VisibleWrites
from graph_model.lineage.structure import StructureCache
from graph_model.stores.catalogue_values import NewestWrite, Span, SuccessfulWrite

if TYPE_CHECKING:
    from graph_model.stores.catalogue import Catalogue


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
        new = set(ids) - self._rows.keys()
        if new:
            self._rows |= self._read(new)
        return {plan: self._rows[plan] for plan in ids if plan in self._rows}

    def _read(self, ids: Collection[str]) -> dict[str, LogicalPlanRow]:
        kept = self._known.find(ids) if self._known else {}
        new = set(ids) - kept.keys()
        rows = {row.id: row for row in self._catalogue.logical_plans(new)} if new else {}
        if self._known:
            self._known.keep(rows)
        return {**kept, **rows}

    def jobs_of(self, plans: Collection[str]) -> dict[str, str]:
        """The jobs of these logical plans, as far as known."""
        unseen = self.rows(set(plans) - self._jobs.keys())
        seen = {plan: self._jobs[plan] for plan in plans if plan in self._jobs}
        return seen | {plan: row.job for plan, row in unseen.items()}

    def declared(self, plans: Collection[str]) -> frozenset[str]:
        """The logical plans among these that are declared and that no run has followed."""
        unseen = set(plans) - self._jobs.keys()  # a plan that wrote has run
        return self._catalogue.declared_plans(unseen) if unseen else frozenset()

    def note(self, rows: Iterable[SuccessfulWrite]) -> None:
        """Note the jobs of these executions' plans, so that they need no look-up."""
        self._jobs |= {row.logical_plan: row.job for row in rows}

    def incomplete(self, plans: Collection[str]) -> frozenset[str]:
        """The plans among these whose inputs are incomplete: they have a subquery known as text
        only.
        """
        found = self.rows(plans).values()
        listed = (
            (plan.id, json.loads(plan.gaps)) for plan in found if labels.SUBQUERY in plan.gaps
        )
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
        found = self._catalogue.newest_writes({span for some in spans.values() for span in some})
        written: dict[Moment, dict[Output, list[NewestWrite]]] = {m: {} for m in moments}
        for moment, some in spans.items():
            for newest in (one for span in some for one in found[span]):
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
        places = self._names.locate((one, until - 1) for plan in rows for one in sources[plan])
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
                frozenset(one for one in sources[plan] if plan in plans[outputs[plan, one]]),
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
                and all(rows[one].mode == labels.UNKNOWN_MODE for one in write.executions)
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
        found: defaultdict[Moment, dict[Output, dict[str, Write]]] = defaultdict(dict)
        for moment, write in listed:
            place = moment._replace(dataset=places[write.target, moment.until - 1])
            output = Output(place, write.job, write.branch)
            found[moment].setdefault(output, {})[write.logical_plan] = write
        return found

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
        found: dict[Output, set[str]] = {}
        for output, rows in groups.items():
            run = newest.get(output)
            found[output] = {
                row.write.logical_plan
                for row in rows
                if run is None
                or row.run == run
                or (row.write.logical_plan, run, output.moment.until) in also
            }
        return found

    def _shared(self, jobs: Collection[str]) -> set[str]:
        return {row.id for row in self._catalogue.jobs(jobs) if row.shared} if jobs else set()
