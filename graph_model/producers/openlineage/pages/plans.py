"""Plans from OpenLineage's events: found by their runs, read from the journal.

A logical plan is shared by its runs; its page shows the newest one's events, as a page of Spline's
shows the newest document. A declaration is its own event.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from graph_model import identity, labels
from graph_model.errors import NotFound
from graph_model.facts import ExecutionRow
from graph_model.naming import Rules
from graph_model.producers.openlineage import DatasetEvent, JobEvent, RunEvent
from graph_model.producers.openlineage.datasets import DatasetNamer
from graph_model.producers.openlineage.events.accumulate import JobStatement, accumulate, declared
from graph_model.producers.openlineage.events.documents import Event
from graph_model.producers.openlineage.events.separation import separate_runs
from graph_model.producers.openlineage.pages.events import EventOf, shown_event
from graph_model.producers.openlineage.pages.inspection import (
    EventDataset,
    Use,
    bodies,
    event_datasets,
)
from graph_model.producers.openlineage.pages.listing import system_text
from graph_model.stores.protocols import Catalogue, StoredDocument
from graph_model.stores.protocols.journal import JournalDocuments

#: Of a run with more events (a stream), only the newest are read.
MOST_EVENTS: Final = 1_000
_PLANS_LOOKED_AT: Final = 1_000


@dataclass(frozen=True, slots=True)
class EventPlan:
    """The content of the events of a run or declaration that is not in the graph. ``run_id`` "" for
    a declaration; facets are as the client wrote them; ``events`` counts those read, ``cut``: there
    are more; ``explicit``: one of them has a lineage facet. ``cut_job_facets`` and
    ``cut_run_facets`` name those without a body because a page has no room for it.
    """

    system: str
    producer: str
    namespace: str
    name: str
    run_id: str
    job_facets: dict[str, Any]
    run_facets: dict[str, Any]
    datasets: tuple[EventDataset, ...]
    events: int
    cut: bool
    explicit: bool
    cut_job_facets: tuple[str, ...] = ()
    cut_run_facets: tuple[str, ...] = ()


def without_facets(event_plan: EventPlan) -> EventPlan:
    """Without the parts that are shown as the client wrote them."""
    datasets = tuple(replace(one, facets={}, usage={}, cut=()) for one in event_plan.datasets)
    return replace(
        event_plan,
        job_facets={},
        run_facets={},
        datasets=datasets,
        cut_job_facets=(),
        cut_run_facets=(),
    )


@dataclass(frozen=True, slots=True)
class FoundPlan:
    """The requested logical plan, the run whose events describe it, and the number of the run's
    other plans.
    """

    logical_plan: str
    execution: ExecutionRow
    others: int


class EventPlans:
    """Reads one catalogue and one journal."""

    def __init__(
        self,
        catalogue: Catalogue,
        journal: JournalDocuments,
        rules: Rules,
        event_of: EventOf,
    ) -> None:
        self._catalogue = catalogue
        self._journal = journal
        self._rules = rules
        self._event_of = event_of

    def find(self, plan: str, at: int | None) -> FoundPlan:
        """By a logical plan's id, a client's run id or a subject key. Raises NotFound."""
        if identity.kind_of(plan) == labels.LOGICAL_PLAN:
            for time in (at, None):  # a plan without a run by then is shown with a later run
                rows = self._catalogue.executions(logical_plan=plan, at=time, limit=1).items
                if rows and not rows[0].execution_plan:
                    return FoundPlan(plan, rows[0], 0)
            raise NotFound("plan", plan)
        for key in (plan, f"run:{plan}"):
            page = self._catalogue.executions(plan_id=key, limit=_PLANS_LOOKED_AT)
            rows = tuple(row for row in page.items if not row.execution_plan)
            if rows:
                others = {row.logical_plan for row in rows}
                return FoundPlan(rows[0].logical_plan, rows[0], len(others) - 1)
        raise NotFound("plan", plan)

    def events(self, execution: ExecutionRow) -> tuple[StoredDocument, ...]:
        """The documents behind an execution, by event time; NotFound where none is left."""
        documents = self._journal.newest_documents(execution.plan_id, execution.scope, MOST_EVENTS)
        events = ((self._event(one), one) for one in documents)
        found = [(event, one) for event, one in events if event is not None]
        if not any(isinstance(event, RunEvent) for event, _ in found):
            found = [(event, one) for event, one in found if event.at == execution.claimed_at][-1:]
        if not found:
            raise NotFound("events of plan", execution.plan_id)
        return tuple(one for _, one in sorted(found, key=_order))

    def read(
        self,
        execution: ExecutionRow,
        documents: Sequence[StoredDocument],
        reads: Sequence[Use],
        write: Use | None,
    ) -> EventPlan:
        """The content of the documents; ``reads`` and ``write`` are the plan's
        edges in the graph.
        """
        events = self._of(execution, map(self._event, documents))
        statement = self._statement(events)
        names = DatasetNamer.of(statement.inputs, statement.outputs, execution.scope, self._rules)
        run_id = next((event.run_id for event in events if isinstance(event, RunEvent)), "")
        return EventPlan(
            system_text(statement),
            execution.producer,
            statement.namespace,
            statement.name,
            run_id,
            bodies(statement.job_facets),
            bodies(statement.run_facets),
            event_datasets(statement, names, reads, write),
            len(events),
            len(documents) == MOST_EVENTS,
            _is_explicit(statement),
        )

    def _event(self, document: StoredDocument) -> Event | None:
        return shown_event(document, self._rules, self._event_of)

    def _of(self, execution: ExecutionRow, events: Iterable[Event | None]) -> list[Event]:
        """The events of the execution's own run: another run of the same id may have sent the
        others.
        """
        found = [event for event in events if event is not None]
        told = [event for event in found if isinstance(event, RunEvent)]
        runs = separate_runs(told, lambda event: event)
        if len(runs) < 2:
            return found
        rows = self._catalogue.runs.of_subjects((execution.subject,))
        named = {(row.namespace, row.name) for row in rows if row.job == execution.job}
        then = [
            run for run in runs if any(event.at == execution.claimed_at for event in run.members)
        ]
        own = [
            run
            for run in then
            if any((event.job.namespace, event.job.name) in named for event in run.members)
        ]
        # A `lineage` facet tells of further jobs, which have no event of their own.
        return [event for run in own or then for event in run.members]

    def _statement(self, events: Sequence[Event]) -> JobStatement:
        runs = [event for event in events if isinstance(event, RunEvent)]
        if runs:
            return accumulate(runs, self._rules).statement
        return _declared(events[-1])


def _is_explicit(statement: JobStatement) -> bool:
    outputs = (dataset.facets for dataset in statement.outputs)
    return any("lineage" in facets for facets in (statement.job_facets, *outputs))


def _declared(event: Event) -> JobStatement:
    if isinstance(event, JobEvent):
        return declared(event)
    listed = (event.dataset,) if isinstance(event, DatasetEvent) else ()
    return JobStatement("", "", {}, {}, (), listed, (), explicit=False)


def raw_events(documents: Iterable[StoredDocument]) -> list[Any]:
    """The bodies as received (masked before they were stored)."""
    return [json.loads(document.body) for document in documents]


def _order(item: tuple[Event, StoredDocument]) -> tuple[int, int]:
    event, document = item
    return event.time, document.position
