"""Plans that OpenLineage's events tell: found by their runs, read from the journal.

A logical plan is shared by its runs; its page shows the newest one's events, as a page of Spline's
shows the newest document. A declaration is its own event.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from graph_model import identity, labels
from graph_model.errors import InvalidDocument, NotFound
from graph_model.facts import ExecutionRow
from graph_model.naming import Rules
from graph_model.openlineage import DatasetEvent, JobEvent, RunEvent, accumulate, read_event
from graph_model.openlineage.accumulate import Statement, declared
from graph_model.openlineage.datasets import Names
from graph_model.openlineage.documents import Event, run_home
from graph_model.openlineage.inspection import ToldDataset, Use, bodies, told_datasets
from graph_model.openlineage.listing import system_text
from graph_model.store import Catalogue, DocumentState, Journal, StoredDocument

#: Of a run with more events, a stream's, the newest are read.
MOST_EVENTS: Final = 1_000
_PLANS_LOOKED_AT: Final = 1_000


@dataclass(frozen=True, slots=True)
class ToldPlan:
    """What the events of the run or declaration say beside the graph. ``run_id`` "" for a
    declaration; facets are as they came; ``events`` counts those read, ``cut``: there are more;
    ``explicit``: a lineage facet is among them.
    """

    system: str
    producer: str
    namespace: str
    name: str
    run_id: str
    job_facets: dict[str, Any]
    run_facets: dict[str, Any]
    datasets: tuple[ToldDataset, ...]
    events: int
    cut: bool
    explicit: bool


@dataclass(frozen=True, slots=True)
class Found:
    """The logical plan asked for, the run that speaks of it, and how many others the run has."""

    logical_plan: str
    execution: ExecutionRow
    others: int


class ToldPlans:
    """Asks one catalogue and one journal."""

    def __init__(self, catalogue: Catalogue, journal: Journal, rules: Rules) -> None:
        self._catalogue = catalogue
        self._journal = journal
        self._rules = rules

    def find(self, plan: str, at: int | None) -> Found:
        """By a logical plan's id, a client's run id or a subject key. Raises NotFound."""
        if identity.kind_of(plan) == labels.LOGICAL_PLAN:
            for time in (at, None):  # a plan that had not run by then is shown as it ran later
                rows = self._catalogue.executions(logical_plan=plan, at=time, limit=1).items
                if rows and not rows[0].execution_plan:
                    return Found(plan, rows[0], 0)
            raise NotFound("plan", plan)
        for key in (plan, f"run:{plan}"):
            page = self._catalogue.executions(plan_id=key, limit=_PLANS_LOOKED_AT)
            rows = tuple(row for row in page.items if not row.execution_plan)
            if rows:
                others = {row.logical_plan for row in rows}
                return Found(rows[0].logical_plan, rows[0], len(others) - 1)
        raise NotFound("plan", plan)

    def events(self, execution: ExecutionRow) -> tuple[StoredDocument, ...]:
        """The documents behind an execution, by event time; NotFound where none is left."""
        documents = self._journal.told(execution.plan_id, execution.scope, MOST_EVENTS)
        found = [(event, one) for one in documents if (event := readable(one)) is not None]
        if not any(isinstance(event, RunEvent) for event, _ in found):
            found = [(event, one) for event, one in found if event.at == execution.at][-1:]
        if not found:
            raise NotFound("events of plan", execution.plan_id)
        return tuple(one for _, one in sorted(found, key=_order))

    def read(
        self,
        execution: ExecutionRow,
        documents: Sequence[StoredDocument],
        reads: Sequence[Use],
        write: Use | None,
    ) -> ToldPlan:
        """What the documents say; ``reads`` and ``write`` are the plan's edges in the graph."""
        events = self._of(execution, map(readable, documents))
        statement = self._statement(events)
        names = Names(execution.scope, self._rules)
        run_id = next((event.run_id for event in events if isinstance(event, RunEvent)), "")
        return ToldPlan(
            system_text(statement),
            execution.producer,
            statement.namespace,
            statement.name,
            run_id,
            bodies(statement.job_facets),
            bodies(statement.run_facets),
            told_datasets(statement, names, reads, write),
            len(events),
            len(documents) == MOST_EVENTS,
            _is_explicit(statement),
        )

    def _of(self, execution: ExecutionRow, events: Iterable[Event | None]) -> list[Event]:
        """Those of the execution's own run: another of the same id may have told the others."""
        found = [event for event in events if event is not None]
        homes = {run_home(event) for event in found if isinstance(event, RunEvent)}
        if len(homes) < 2:
            return found
        rows = self._catalogue.runs.of_subjects((execution.subject,))
        own = {row.namespace for row in rows if row.job == execution.job}
        return [one for one in found if isinstance(one, RunEvent) and run_home(one) in own]

    def _statement(self, events: Sequence[Event]) -> Statement:
        runs = [event for event in events if isinstance(event, RunEvent)]
        if runs:
            return accumulate(runs, self._rules).statement
        return _declared(events[-1])


def _is_explicit(statement: Statement) -> bool:
    outputs = (dataset.facets for dataset in statement.outputs)
    return any("lineage" in facets for facets in (statement.job_facets, *outputs))


def _declared(event: Event) -> Statement:
    if isinstance(event, JobEvent):
        return declared(event)
    listed = (event.dataset,) if isinstance(event, DatasetEvent) else ()
    return Statement("", "", {}, {}, (), listed, (), explicit=False)


def readable(document: StoredDocument) -> Event | None:
    """The event in a document; None for one that was set aside, or whose body is damaged."""
    is_left_out = document.state == DocumentState.FAILED or document.damage != ""
    if is_left_out or not document.kind.is_openlineage:
        return None
    try:
        return read_event(document.body)
    except InvalidDocument:
        return None


def raw_events(documents: Iterable[StoredDocument]) -> list[Any]:
    """The bodies as they came (masked before they were stored)."""
    return [json.loads(document.body) for document in documents]


def _order(item: tuple[Event, StoredDocument]) -> tuple[int, int]:
    event, document = item
    return event.time, document.position
