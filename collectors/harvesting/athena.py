"""The history of Amazon Athena: ListQueryExecutions, GetQueryExecution, and Glue for schemas.

    workgroup -> ids, newest first -> executions that have ended -> events, and the views they name

Athena keeps queries for 45 days and lists them by no time, so a round walks back page by page until
one holds only queries from before it. A query that runs at the end of a round is met by the next
one, which begins as much earlier as a query may run.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from collectors.harvesting.amazon import (
    GLUE_CATALOG,
    GlueTables,
    is_absent,
    milliseconds,
    open_client,
    pages_of,
    requests_to,
)
from collectors.harvesting.queries import (
    CatalogTable,
    Event,
    PastQuery,
    Warehouse,
    query_events,
    view_event,
)
from collectors.harvesting.rounds import Harvested
from graph_model.errors import HeadwaterError

_HOUR: Final = 3_600_000
_PAGE: Final = 50
_STATES: Final[Mapping[str, str]] = {
    "SUCCEEDED": "COMPLETE", "FAILED": "FAIL", "CANCELLED": "ABORT",
}  # fmt: skip


class AthenaHistory:
    """A HarvestSource: the queries of some workgroups, of all where none is named.

    ``overlap``: a query that changes data runs for 4 h at most (30 min unless the quota is raised).
    """

    name = "athena"
    overlap: int | None = 4 * _HOUR
    kept: int | None = 45 * 24 * _HOUR

    def __init__(
        self, region: str, workgroups: Sequence[str], *, readers: bool, jobs: str = ""
    ) -> None:
        self._athena = open_client("athena", region)
        self._tables = GlueTables(open_client("glue", region))
        self._workgroups = tuple(workgroups)
        self._readers = readers
        region = self._athena.meta.region_name
        place = f"awsathena://athena.{region}.amazonaws.com"
        self._warehouse = Warehouse("Athena", "athena", place, jobs or f"athena:{region}")
        self._views: dict[str, int] = {}

    def settings(self) -> Mapping[str, str]:
        return {
            "datasets": self._warehouse.namespace,
            "jobs": self._warehouse.jobs,
            "workgroups": ", ".join(sorted(self._workgroups)) or "all",
            "queries that only read": "taken" if self._readers else "left out",
        }

    def findings(self, since: int, known: Container[str]) -> Iterator[Harvested]:
        self._tables.forget()
        self._views.clear()  # a declaration may not have become durable in the round before
        for workgroup in self._workgroups or tuple(self._all_workgroups()):
            yield from self._of_workgroup(workgroup, since, known)

    def _all_workgroups(self) -> Iterator[str]:
        for page in pages_of("Athena", self._athena.list_work_groups):
            yield from (workgroup["Name"] for workgroup in page.get("WorkGroups", ()))

    def _of_workgroup(
        self, workgroup: str, since: int, known: Container[str]
    ) -> Iterator[Harvested]:
        listed = partial(self._athena.list_query_executions, WorkGroup=workgroup, MaxResults=_PAGE)
        for page in pages_of("Athena", listed):
            ids = page.get("QueryExecutionIds", ())
            asked = (self._execution(key) for key in ids if key not in known)
            executions = [execution for execution in asked if execution is not None]
            times = [_submitted(execution) for execution in executions]
            for execution, at in zip(executions, times, strict=True):
                if at >= since and execution["Status"].get("State") in _STATES:
                    events = partial(self._events, execution)
                    yield Harvested(execution["QueryExecutionId"], at, events)
            # Newest first is what Athena does and does not promise: of another order all is read.
            if len(times) == len(ids) > 0 and max(times) < since and times[0] >= times[-1]:
                return

    def _execution(self, key: str) -> Mapping[str, Any] | None:
        """None for one that is not kept any longer, and for one without a time."""
        try:
            with requests_to("Athena"):
                answer = self._athena.get_query_execution(QueryExecutionId=key)
        except HeadwaterError as error:
            if is_absent(error):
                return None
            raise
        execution: dict[str, Any] = answer.get("QueryExecution", {})
        timed = "SubmissionDateTime" in execution.get("Status", {})
        return {**execution, "QueryExecutionId": key} if timed else None

    # --- events ----------------------------------------------------------------------------------

    def _events(self, execution: Mapping[str, Any]) -> Sequence[Event]:
        query = _query(execution)
        made = query_events(query, self._warehouse, self._tables, readers=self._readers)
        return [*made, *self._view_events(self._tables_in(made))]

    def _tables_in(self, events: Sequence[Event]) -> list[str]:
        return [
            dataset["name"]
            for event in events
            for side in ("inputs", "outputs")
            for dataset in event.get(side, ())
            if dataset["namespace"] == self._warehouse.namespace
        ]

    def _view_events(self, names: list[str]) -> Iterator[Event]:
        """The declarations of the views among some tables, and of those below them, each once."""
        while names:
            name = names.pop()
            table = self._tables(name)
            if table is None or not table.definition or self._is_said(name, table):
                continue
            event = view_event(name, table, self._warehouse, self._tables)
            if event is not None:
                names += self._tables_in([event])
                yield event

    def _is_said(self, name: str, table: CatalogTable) -> bool:
        said = self._views.get(name) == table.changed_at
        self._views[name] = table.changed_at
        return said


def _submitted(execution: Mapping[str, Any]) -> int:
    return milliseconds(execution["Status"]["SubmissionDateTime"])


def _query(execution: Mapping[str, Any]) -> PastQuery:
    status, context = execution["Status"], execution.get("QueryExecutionContext", {})
    submitted = _submitted(execution)
    ended = status.get("CompletionDateTime")
    return PastQuery(
        key=execution["QueryExecutionId"],
        text=execution.get("Query", ""),
        started_at=submitted,
        ended_at=milliseconds(ended) if ended else submitted,
        state=_STATES[status["State"]],
        database=(context.get("Catalog") or GLUE_CATALOG).lower(),
        schema=context.get("Database") or "default",
        group=execution.get("WorkGroup") or "",
        error=status.get("StateChangeReason", "") if status["State"] == "FAILED" else "",
    )
