"""Executions that read the output of an execution, and so on downstream.

``graph_model.lineage`` answers for the datasets of a time; this module follows an execution's
output even if all of it has been overwritten since, level by level. A state is a dataset with the
interval in which the data was there: from a write to the first full overwrite after it. The runs of
one plan in one interval are one node.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from graph_model import identity, labels
from graph_model.facts import ExecutionRow, LogicalPlanRow
from graph_model.lineage import HUB_LIMIT, PlanUse
from graph_model.lineage.history.history import History
from graph_model.stores.graph import Direction, GraphReader
from graph_model.stores.protocols import Catalogue


@dataclass(frozen=True, slots=True, order=True)
class Stretch:
    """Reads after ``since`` and up to ``until`` (None: the end of time) saw the data."""

    dataset: str
    since: int
    until: int | None

    def covers(self, other: Stretch) -> bool:
        """Whether every read in the other stretch is in this one too."""
        later = self.until is None or (other.until is not None and other.until <= self.until)
        return self.dataset == other.dataset and self.since <= other.since and later


class Forward:
    """Follows the data that executions wrote. Raises GraphUnavailable."""

    def __init__(
        self, graph: GraphReader, catalogue: Catalogue, expired: Callable[[], bool], limit: int
    ) -> None:
        self._graph = graph
        self._catalogue = catalogue
        self._events = catalogue.events
        self._history = History(catalogue)
        self._expired = expired
        self._limit = limit
        self._uses: dict[tuple[str, str], PlanUse] = {}
        self.cut = ""  # "time" or "nodes" where something is left out

    def uses(self, execution: ExecutionRow, target: str, depth: int) -> tuple[PlanUse, ...]:
        """The plans within this many levels, one use for every dataset that a plan read."""
        start = Stretch(target, execution.at, self._end_of(execution))
        frontier, seen = [start], [start]
        for _ in range(depth):
            following: list[Stretch] = []
            readers = self._readers({stretch.dataset for stretch in frontier})
            for stretch in frontier:
                if not self._is_full():
                    following += self._step(stretch, readers.get(stretch.dataset, set()))
            frontier = []
            for stretch in following:
                if not any(known.covers(stretch) for known in seen):
                    seen.append(stretch)
                    frontier.append(stretch)
            if not frontier or self._is_full():
                break
        return tuple(self._uses.values())

    def _is_full(self) -> bool:
        if self._expired():
            self.cut = "time"
        elif len(self._uses) >= self._limit:
            self.cut = "nodes"
        return self.cut != ""

    def _readers(self, datasets: Collection[str]) -> dict[str, set[str]]:
        """Per dataset the plans that ever read it, under any of its names."""
        called: dict[str, set[str]] = {dataset: {dataset} for dataset in datasets}
        for row in self._catalogue.names_of(datasets, None):
            called.setdefault(row.name, set()).add(row.location)
        page = self._graph.edges(called, Direction.DOWNSTREAM, (labels.FEEDS,), HUB_LIMIT)
        readers: dict[str, set[str]] = {}
        for edge in page.edges:
            if identity.kind_of(edge.in_id) == labels.LOGICAL_PLAN:
                for dataset in called[edge.out_id]:
                    readers.setdefault(dataset, set()).add(edge.in_id)
        return readers

    def _step(self, stretch: Stretch, plans: Collection[str]) -> list[Stretch]:
        """The writes of the plans that read within a stretch, and how long each was visible."""
        self._note_reading_plans(stretch, plans)
        last = self._events.newest_of_plans(plans, stretch.until)
        last = {plan: row for plan, row in last.items() if row.at > stretch.since}
        first = self._events.first_of_plans(last, stretch.since)
        rows = {row.id: row for row in self._catalogue.logical_plans(last)}
        return [
            self._wrote(stretch, rows[plan], first[plan], row)
            for plan, row in sorted(last.items())
            if plan in rows and plan in first and len(self._uses) < self._limit
        ]

    def _note_reading_plans(self, stretch: Stretch, plans: Collection[str]) -> None:
        """Note the plans that read in a stretch and write nothing: chains end there."""
        rows = {row.id: row for row in self._catalogue.logical_plans(plans) if not row.target}
        last = self._catalogue.last_of_plans(rows, stretch.until)
        for plan, row in sorted(last.items()):
            if row.kind == labels.READ_KIND and row.at > stretch.since and not self._is_full():
                use = PlanUse(plan, row.job, rows[plan].mode, (stretch.dataset,), ())
                self._uses[plan, stretch.dataset] = use

    def _wrote(
        self, stretch: Stretch, plan: LogicalPlanRow, first: int, last: ExecutionRow
    ) -> Stretch:
        moment = (plan.target, last.at)
        target = self._catalogue.locations_of((moment,)).get(moment, plan.target)
        use = PlanUse(plan.id, plan.job, plan.mode, (stretch.dataset,), (target,))
        self._uses[plan.id, stretch.dataset] = use
        return Stretch(target, first, self._end_of(last))

    def _end_of(self, execution: ExecutionRow) -> int | None:
        """The time at which the next full overwrite replaced the execution's output."""
        pair = (execution.target, execution.application_id)
        same = {
            row.id
            for reports in self._history.writes.reports({pair})
            if any(row.id == execution.id for row in reports)
            for row in reports
        }
        return self._events.next_overwrite(execution, same)
