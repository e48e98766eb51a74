"""Lists of executions, data sources and labels: queries, and the catalogue's rows for them.

An execution is listed when its plan's document is known, in whatever state it ended: failed runs
and lifecycle commands are events too. Times are epoch milliseconds.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from graph_model.facts import DatasetRow, ExecutionPlanRow, ExecutionRow


class SortField(StrEnum):
    """The fields of an item that can be sorted by."""

    EXECUTION_EVENT_ID = "executionEventId"
    EXECUTION_PLAN_ID = "executionPlanId"
    FRAMEWORK_NAME = "frameworkName"
    APPLICATION_NAME = "applicationName"
    APPLICATION_ID = "applicationId"
    TIMESTAMP = "timestamp"
    DURATION_NS = "durationNs"
    DATA_SOURCE_NAME = "dataSourceName"
    DATA_SOURCE_URI = "dataSourceUri"
    DATA_SOURCE_TYPE = "dataSourceType"
    APPEND = "append"
    ERROR = "error"


class SortOrder(StrEnum):
    ASCENDING = "asc"
    DESCENDING = "desc"


@dataclass(frozen=True, slots=True)
class EventFilter:
    """A filter of events; all conditions together.

    ``since`` and ``until`` are inclusive. ``targets`` are ids of datasets, None for any. ``append``
    lists the wanted write modes, None among them for data sources that were never written; empty:
    any. ``labels`` are (name, values): one of the values of each name, in the event or in its plan.
    ``search`` is a substring of ``EventRow.words``. ``received_by`` leaves out later receipts,
    ``without`` executions by their ids, ``hidden`` datasets with their writes, and executions of
    jobs, by ids.
    """

    since: int | None = None
    until: int | None = None
    application_id: str | None = None
    targets: frozenset[str] | None = None
    append: frozenset[bool | None] = frozenset()
    labels: tuple[tuple[str, tuple[str, ...]], ...] = ()
    search: str = ""
    received_by: int | None = None
    without: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ListPage:
    """``sort`` with its order, and which rows of the sorted list."""

    sort: SortField
    order: SortOrder
    offset: int
    limit: int


@dataclass(frozen=True, slots=True)
class WriteRecord:
    """An execution as lists show it. ``labels`` and ``extra`` are JSON."""

    execution: ExecutionRow
    system: str
    application: str
    format: str
    append: bool
    labels: str
    extra: str
    ambiguous: bool  # another execution of the same plan id has the same time


@dataclass(frozen=True, slots=True)
class EventRecord:
    """A data source, and its write: None when it was never written."""

    dataset: DatasetRow
    write: WriteRecord | None


class Events(Protocol):
    """The catalogue's answers for the consumer API. Raises Unavailable."""

    def executions(self, event_filter: EventFilter, page: ListPage) -> tuple[EventRecord, ...]: ...

    def count_executions(self, event_filter: EventFilter) -> int: ...

    def data_sources(self, event_filter: EventFilter, page: ListPage) -> tuple[EventRecord, ...]:
        """One item for each dataset, with its last execution by (time, id), failed ones too."""

    def count_data_sources(self, event_filter: EventFilter) -> int: ...

    def repeated_writes(self, event_filter: EventFilter, most: int) -> tuple[tuple[str, str], ...]:
        """(target, application id) where the executions listed may report one write twice: by
        several producers, or one of ``labels.CTAS_COMMANDS``. Only the newest ``most`` of the
        executions are compared.
        """

    def listed(self, event_filter: EventFilter, ids: Collection[str]) -> frozenset[str]:
        """The executions among these that are listed, on whatever page."""

    def execution_times(self, event_filter: EventFilter) -> tuple[int, int] | None:
        """The first and last time; the requested window is ignored."""

    def data_source_times(self, event_filter: EventFilter) -> tuple[int, int] | None: ...

    def executions_at(self, moments: Collection[tuple[str, int]]) -> tuple[ExecutionRow, ...]:
        """For each (plan id, time) the executions of the plan id at exactly this time; by id."""

    def newest_of_plans(self, plans: Collection[str], at: int | None) -> dict[str, ExecutionRow]:
        """Per logical plan its newest completed write at or before ``at``."""

    def first_of_plans(self, plans: Collection[str], after: int) -> dict[str, int]:
        """Per logical plan the time of its first completed write after this one."""

    def next_overwrite(self, execution: ExecutionRow, but: Collection[str] = ()) -> int | None:
        """The time of the first completed full overwrite of its target, and of the branch that it
        wrote, after this execution.

        ``but``: ids of executions that report the same write.
        """

    def plan_ids(
        self, at: int | None, offset: int, limit: int, hidden: Collection[str] = ()
    ) -> tuple[tuple[str, ...], int]:
        """Plan ids with an execution at or before ``at``, by their newest one; and how many there
        are. Executions of ``hidden`` jobs or datasets (ids) do not count.
        """

    def plans(self, ids: Collection[str]) -> tuple[ExecutionPlanRow, ...]:
        """The rows of plan documents by their own ids."""

    def label_names(self, hidden: Collection[str] = ()) -> tuple[str, ...]:
        """Of executions, without those of ``hidden`` jobs or datasets (ids)."""

    def label_values(self, name: str, hidden: Collection[str] = ()) -> tuple[str, ...]:
        """As ``label_names``."""
