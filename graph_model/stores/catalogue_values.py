"""What the catalogue is asked for and answers with, beside the rows of ``facts``.

Values without SQLAlchemy: the pure modules compute with them (``lineage.history``). The methods
that take and return them are in ``stores.catalogue``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Generic, NamedTuple, TypeVar

from graph_model.facts import (
    MAIN_BRANCH,
    NO_NUMBER,
    DatasetRow,
    ExecutionRow,
    JobRow,
)


class Surroundings(NamedTuple):
    """Where to look for datasets that may share files with another one: at the ``folder`` with this
    id, or where URIs of a ``scope`` begin with ``beneath``.
    """

    folder: str = ""
    scope: str = ""
    beneath: str = ""


@dataclass(frozen=True, slots=True, order=True)
class Writer:
    """A logical plan that wrote a dataset: ``latest`` is its newest such write (epoch ms)."""

    target: str
    logical_plan: str
    mode: str
    latest: int


class SuccessfulWrite(NamedTuple):
    """The fields of a completed ``write`` execution that history needs, as in its row.

    Also used for a failed one, because of its report, and for a read, with the ``target`` "".
    ``partitioned``: whether its read or written partitions are known; ``bound``: whether it read a
    version of a table.
    """

    id: str
    target: str
    at: int
    logical_plan: str
    job: str
    mode: str
    dynamic: bool
    command: str
    producer: str
    application_id: str
    reads: str
    partitioned: bool = True
    bound: bool = True
    version_number: int | None = None
    branch: str = MAIN_BRANCH
    running: bool = False


class Span(NamedTuple):
    """The writes of ``target`` with ``since <= at < before`` (epoch ms).

    ``place``: if ``target`` is a catalog name, only the writes while the name stood for this
    dataset; "" for all. ``partition`` (canonical text, or ""): writes with another value of its
    first key may be left out. ``branch``: only the writes to it, or to EVERY_BRANCH.
    """

    target: str
    since: int
    before: int
    place: str = ""
    partition: str = ""
    branch: str = MAIN_BRANCH


class VersionSpan(NamedTuple):
    """The versions of one branch of ``target`` up to ``number``; ``place`` as in ``Span``.

    They begin with the first version (``whole``), with the last version before ``since`` (where
    that is not NO_NUMBER), or else with the last full overwrite.
    """

    target: str
    branch: str
    number: int
    since: int = NO_NUMBER
    place: str = ""
    whole: bool = False


class VersionId(NamedTuple):
    """A format's own name of a version of ``target``, on the branch that a read names."""

    target: str
    id: str
    branch: str


class NumberedTime(NamedTuple):
    """The number of a version and the event time (epoch ms) of its write."""

    number: int
    at: int


@dataclass(frozen=True, slots=True)
class VersionWrites:
    """``writes`` of a VersionSpan in any order, the newest ``most`` if there are more (``cut``).

    ``floor``: whether an overwrite comes before the others. ``first`` is the lowest version of the
    branch, ``following`` the lowest one above the span.
    """

    writes: tuple[SuccessfulWrite, ...] = ()
    cut: bool = False
    floor: bool = False
    first: NumberedTime | None = None
    following: NumberedTime | None = None


@dataclass(frozen=True, slots=True)
class OlderWrites:
    """The writes of a span by one logical plan that were left out: their first and last time."""

    logical_plan: str
    job: str
    first: int
    last: int


NEVER: Final = 2**62
"""The time of an event that has not happened."""


@dataclass(frozen=True, slots=True, order=True)
class DeclaredFlow:
    """A declared flow from the reads of a logical plan into ``target``, in force from ``since``
    until the same subject declares something else (``ends``, ``NEVER`` if it did not).
    """

    target: str
    logical_plan: str
    job: str
    since: int
    ends: int


class SpanWrites(NamedTuple):
    """The writes of one span; ``older`` is empty where they are all of them."""

    writes: tuple[SuccessfulWrite, ...] = ()
    older: tuple[OlderWrites, ...] = ()


class NewestWrite(NamedTuple):
    """The newest write of a span by one logical plan, and the run under which it is listed."""

    write: SuccessfulWrite
    run: str


class ReadableWrites(NamedTuple):
    """The writes that one read could see: ``floor`` is the time of the last full overwrite before
    it, None where there was none; ``declared``: whether anything is declared of a target.
    """

    floor: int | None
    spans: Mapping[Span, SpanWrites]
    declared: bool


@dataclass(frozen=True, slots=True, order=True)
class PlanSpan:
    """How often a logical plan ended in a state, and its first and last time (epoch ms)."""

    logical_plan: str
    state: str
    executions: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Match:
    """A hit of a search. ``kind`` is dataset, job or column; ``text`` is the matching one (a URI, a
    ``namespace/name``, a column path); ``dataset`` is the id of a column's dataset.
    """

    kind: str
    id: str
    text: str
    dataset: str | None = None


@dataclass(frozen=True, slots=True)
class JobSummary:
    """A job as its list shows it; ``last_*`` are None without executions."""

    job: JobRow
    runs: int
    last_at: int | None
    last_state: str | None


@dataclass(frozen=True, slots=True)
class FailedJob:
    """A job whose newest execution failed, with the time of its end (epoch ms) and its error, of
    which the beginning is enough.
    """

    job: JobRow
    at: int
    error: str | None


@dataclass(frozen=True, slots=True)
class Estate:
    """The numbers of jobs and datasets (those that are listed), the number of jobs whose newest
    execution failed, at any time and since the given one, and the newest of these failures, newest
    first.
    """

    jobs: int
    datasets: int
    failed: int
    failed_since: int
    failures: tuple[FailedJob, ...]


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run of a job: its executions folded. ``state`` is failed when one of them failed."""

    run: str
    application_id: str
    started_at: int | None  # epoch ms; the earliest end minus its duration, None: it has none
    ended_at: int
    state: str
    executions: int
    error: str | None


@dataclass(frozen=True, slots=True)
class RecentExecution:
    """An execution that wrote or read, as the list of all runs shows it; ``target`` "" where it
    wrote nothing; ``metrics`` is JSON. ``at`` and ``ahead`` are those of its ExecutionRow.
    """

    id: str
    job: str
    run: str
    target: str
    at: int
    state: str
    kind: str
    duration_ms: int | None
    error: str | None
    metrics: str
    ahead: int


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


_Row = TypeVar("_Row")


@dataclass(frozen=True, slots=True)
class Rows(Generic[_Row]):
    """Rows in order; ``cut``: there are more than the limit."""

    rows: tuple[_Row, ...]
    cut: bool


@dataclass(frozen=True, slots=True, order=True)
class RunFacet:
    """At ``at`` a run of a job wrote a dataset; the run has this facet, by name and digest."""

    target: str
    job: str
    at: int
    name: str
    digest: str
