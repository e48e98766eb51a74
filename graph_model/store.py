"""The seams: what a graph, a catalogue and a journal must do, in the words of the model.

Two graphs keep these promises (``memory`` and ``gremlin``) and one contract suite holds both to
them (tests/contract). Everything is bounded by its arguments; nothing here is a query language.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, Protocol, TypeVar

from graph_model.facts import (
    DatasetRow,
    Edge,
    ExecutionPlanRow,
    ExecutionRow,
    Facts,
    JobRow,
    LogicalPlanRow,
    NameRow,
    PartitionRow,
    Row,
    SchemaRow,
    Vertex,
)


class Direction(StrEnum):
    """``UPSTREAM`` follows edges against the flow of data, ``DOWNSTREAM`` with it."""

    UPSTREAM = "upstream"
    DOWNSTREAM = "downstream"
    BOTH = "both"


# --- the graph -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EdgePage:
    """Edges found, sorted by id. ``cut``: the ids asked that have more than the limit."""

    edges: tuple[Edge, ...]
    cut: frozenset[str] = frozenset()


class GraphReader(Protocol):
    """Reads by id, level by level. Raises GraphUnavailable (GraphTimeout) or GraphRejected."""

    def vertices(self, ids: Collection[str]) -> tuple[Vertex, ...]:
        """The vertices that exist among these ids, sorted by id, with all properties."""

    def edges(
        self, ids: Collection[str], direction: Direction, labels: Sequence[str], limit: int
    ) -> EdgePage:
        """Edges with one of these labels at these vertices, at most ``limit`` per vertex and label.

        DOWNSTREAM: edges that leave one of ``ids`` (out_id in ids); UPSTREAM: edges that enter one.
        BOTH is refused (ValueError): a caller asks twice. Which edges survive a cut is up to the
        engine; ``EdgePage.cut`` says where one happened. Unknown ids have no edges.
        """

    def scan(self) -> Iterator[Vertex | Edge]:
        """Every vertex and edge, in any order, in bounded pages: for digests and exports."""

    def count(self) -> tuple[int, int]:
        """The number of vertices and of edges."""


class GraphWriter(Protocol):
    """Writes facts. Raises GraphUnavailable (GraphTimeout) after retries, or GraphRejected."""

    def write(self, facts: Facts) -> None:
        """Commit in the order of ``facts.stages``; idempotent; returns when all is committed.

        An interrupted write leaves only whole earlier stages or parts of one: never a marker
        whose plan is incomplete. The rows of ``facts`` are not the graph's affair.
        """

    def remove(self, vertex_ids: Collection[str], edge_ids: Collection[str]) -> None:
        """Remove edges, then vertices (with the edges still at them); unknown ids: nothing."""

    def clear(self) -> None:
        """Remove everything."""


class Graph(GraphReader, GraphWriter, Protocol):
    """Both halves, and the end of them."""

    def ping(self) -> None:
        """Answer, or raise GraphUnavailable."""

    def close(self) -> None:
        """Give back connections; safe to call twice."""


# --- the catalogue -------------------------------------------------------------------------------


Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """One page of a list: ``total`` over all pages, ``next`` an opaque cursor or None."""

    items: tuple[Item, ...]
    total: int
    next: str | None


@dataclass(frozen=True, slots=True, order=True)
class Writer:
    """A logical plan that wrote a dataset: ``latest`` is its newest such write (epoch ms)."""

    target: str
    logical_plan: str
    mode: str
    latest: int


@dataclass(frozen=True, slots=True)
class Match:
    """A hit of a search. ``kind`` is dataset, job or column; ``text`` is what matched (a URI, a
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
class DatasetSummary:
    """A dataset with its newest successful write at or before the time asked."""

    dataset: DatasetRow
    last_write_at: int | None
    last_write_job: str | None


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run of a job: its executions folded. ``state`` is failed when one of them failed."""

    run: str
    application_id: str
    started_at: int  # epoch ms; the earliest end minus its duration
    ended_at: int
    state: str
    executions: int
    error: str | None


class Catalogue(Protocol):
    """When, what it is called, how many. Serves rows; knows no connectivity.

    Every method that takes ``at`` (epoch ms or None for the end of time) looks only at executions
    with ``ExecutionRow.at <= at``. Lists are ordered and paged; ``limit`` is 1..1000. ``cursor``
    is what ``Page.next`` gave; a cursor that it did not give raises InvalidReference.
    """

    # writing: idempotent, one transaction a call
    def record(self, rows: Sequence[Row]) -> None:
        """Insert rows whose key is new; a known key with other content raises FactConflict."""

    def withdraw(self, rows: Sequence[Row]) -> None:
        """Delete exactly these rows; unknown rows are ignored."""

    def clear(self) -> None: ...

    def scan(self) -> Iterator[Row]:
        """Every row, in any order, in bounded pages: for digests and exports."""

    # by id
    def datasets(self, ids: Collection[str]) -> tuple[DatasetRow, ...]: ...
    def jobs(self, ids: Collection[str]) -> tuple[JobRow, ...]: ...
    def logical_plans(self, ids: Collection[str]) -> tuple[LogicalPlanRow, ...]: ...
    def execution_plans(
        self,
        *,
        plan_id: str | None = None,
        id: str | None = None,
        logical_plan: str | None = None,
        limit: int = 100,
    ) -> tuple[ExecutionPlanRow, ...]:
        """Exactly one criterion; newest content first (by their latest execution, then id)."""

    def supporters(self, logical_plan: str, limit: int = 2) -> tuple[str, ...]:
        """Subjects that support a logical plan."""

    # by name
    def datasets_by_uri(self, uri: str) -> tuple[DatasetRow, ...]:
        """All scopes that know this canonical URI, ordered by scope."""

    def job_by_name(self, namespace: str, name: str) -> JobRow | None: ...

    # history
    def writers(self, targets: Collection[str], at: int | None) -> tuple[Writer, ...]:
        """Per (target, logical plan, mode) the newest completed ``write`` execution."""

    def executions(
        self,
        *,
        logical_plan: str | None = None,
        target: str | None = None,
        job: str | None = None,
        run: str | None = None,
        plan_id: str | None = None,
        state: str | None = None,
        at: int | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[ExecutionRow]:
        """Newest first by (at, id); the criteria given are combined."""

    def partitions(self, executions: Collection[str]) -> tuple[PartitionRow, ...]: ...

    def last_executions(self, jobs: Collection[str], at: int | None) -> dict[str, ExecutionRow]:
        """Per job its newest execution by (at, id), whatever its state."""

    def last_writes(self, targets: Collection[str], at: int | None) -> dict[str, int]:
        """Per dataset the time of its newest completed ``write`` execution."""

    def newest_event(self, at: int | None) -> int | None:
        """The greatest ``ExecutionRow.at`` considered: the ``asOf`` of an answer."""

    def names_of(self, locations: Collection[str], at: int | None) -> tuple[NameRow, ...]:
        """Names observed for these locations (newest observation of each name)."""

    def location_of(self, name: str, at: int | None) -> str | None:
        """The location a name stood for: last observed at or before ``at``, else the first."""

    # schemas
    def newest_schemas(self, datasets: Collection[str], at: int | None) -> dict[str, SchemaRow]:
        """Per dataset the schema that the newest completed execution (at or before ``at``) used.

        SchemaUseRow links plans to schemas; a write beats a read at the same time. A dataset that
        only plans without a completed execution touch gets the schema of the plan with the
        greatest id, so that its page is not empty. Datasets without any schema are left out.
        """

    # lists
    def list_datasets(
        self,
        *,
        query: str = "",
        limit: int = 100,
        cursor: str | None = None,
        at: int | None = None,
    ) -> Page[DatasetSummary]:
        """By name, then URI; ``query`` is a case-insensitive substring of the URI."""

    def list_jobs(
        self,
        *,
        query: str = "",
        namespace: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
        at: int | None = None,
    ) -> Page[JobSummary]:
        """By namespace and name; ``query`` is a case-insensitive substring of the name."""

    def list_runs(
        self,
        job: str,
        *,
        run: str | None = None,
        at: int | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[RunSummary]:
        """Runs of a job, newest first; with ``run`` that one alone."""

    def search(self, text: str, *, kinds: Collection[str], limit: int) -> Page[Match]:
        """Datasets, jobs and columns whose name holds the text (any case).

        Ranked: equal name, then prefix of a name or of a path part, then substring; shorter first.
        """

    def close(self) -> None: ...


# --- the journal ---------------------------------------------------------------------------------


class DocumentKind(StrEnum):
    PLAN = "plan"
    EVENT = "event"


class DocumentState(StrEnum):
    """``WAITING``: an event whose plan has not come. ``PENDING``: accepted, not projected yet."""

    WAITING = "waiting"
    PENDING = "pending"
    PROJECTED = "projected"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Submission:
    """One document on its way into the journal: checked at the edge, masked, not yet durable.

    ``content_hash`` covers kind, API version and ``body`` (inflated, masked JSON, UTF-8); ``scope``
    is the capture scope in force (plan label, else that of the receipt, else empty).
    """

    kind: DocumentKind
    api_version: str
    plan_id: str
    scope: str
    subject: str
    content_hash: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Receipt:
    """How documents came: ``received_at`` epoch ms; ``raw_hash`` of the bytes on the wire."""

    received_at: int
    principal: str
    route: str
    raw_hash: str


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document of the journal. ``position`` is the order of first receipt, from 1."""

    position: int
    kind: DocumentKind
    api_version: str
    plan_id: str
    scope: str
    subject: str
    content_hash: str
    state: DocumentState
    reason: str | None
    received_at: int
    size: int
    body: bytes


@dataclass(frozen=True, slots=True)
class JournalSummary:
    """Counts of distinct documents: ``received`` is the sum of the others."""

    received: int
    waiting: int
    pending: int
    projected: int
    failed: int


class Journal(Protocol):
    """What was said. Every method is safe from several threads; raises JournalUnavailable."""

    def accept(self, submissions: Sequence[Submission], receipt: Receipt) -> tuple[int, ...]:
        """Make documents durable (fsync) in one transaction; their positions, in order.

        A document is its (content hash, scope): a repeat adds a receipt, stores no body again and
        keeps its state. A new plan or event starts as PENDING (the projector decides on WAITING).
        """

    def recall(self, raw_hash: str, scope: str) -> tuple[StoredDocument, ...]:
        """What these very bytes were taken as before (without bodies), or ()."""

    def acknowledge(self, raw_hash: str, scope: str, receipt: Receipt) -> bool:
        """Add receipts for bytes that ``recall`` knows; False when it does not know them."""

    def plan(self, plan_id: str, *, all_events: bool = True) -> tuple[StoredDocument, ...]:
        """The documents of a plan id, of every scope, by position, with bodies.

        ``all_events=False`` leaves out events that are not PENDING: a new event of a plan that
        has run ten thousand times must not cost ten thousand.
        """

    def pending(self, limit: int) -> tuple[str, ...]:
        """Plan ids that have a PENDING document, oldest first."""

    def settle(
        self, positions: Collection[int], state: DocumentState, reason: str | None = None
    ) -> None:
        """Set the state of documents."""

    def reopen(self, *, states: Collection[DocumentState], subject: str | None = None) -> int:
        """Set documents in these states back to PENDING (replay, rebuild); how many."""

    def states(self, positions: Collection[int]) -> dict[int, DocumentState]: ...

    def document(self, position: int) -> StoredDocument | None: ...

    def plan_document(self, plan_id: str, content_hash: str | None = None) -> StoredDocument | None:
        """The plan document with this plan id (and hash): highest API version, then least hash."""

    def entries(
        self,
        *,
        state: DocumentState | None = None,
        kind: DocumentKind | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[StoredDocument]:
        """Newest first, without bodies."""

    def summary(self) -> JournalSummary: ...

    def get_meta(self, key: str) -> str | None:
        """A small durable setting (projection epoch, graph epoch)."""

    def set_meta(self, key: str, value: str) -> None: ...

    def close(self) -> None: ...
