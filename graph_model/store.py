"""The seams: what a graph, a catalogue and a journal must do, in the words of the model.

Two graphs keep these promises (``memory`` and ``gremlin``) and one contract suite holds both to
them (tests/contract). Everything is bounded by its arguments; nothing here is a query language.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

from graph_model import labels
from graph_model.consumer.events import Events
from graph_model.facts import (
    MAIN_BRANCH,
    NO_NUMBER,
    ColumnRow,
    CommandRow,
    DatasetRow,
    DeclarationRow,
    Edge,
    ExecutionPlanRow,
    ExecutionRow,
    Facts,
    JobRow,
    LogicalPlanRow,
    NameRow,
    PartitionRow,
    ReadVersionRow,
    RenameRow,
    Row,
    SchemaRow,
    SchemaUseRow,
    Vertex,
)
from graph_model.records import FacetRecords, RunRecords

NO_SETTINGS: Final[Mapping[str, str]] = MappingProxyType({})


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


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Per id asked that has some the ids at the other ends, sorted; ``cut`` as in EdgePage."""

    found: Mapping[str, tuple[str, ...]]
    cut: frozenset[str] = frozenset()


class GraphReader(Protocol):
    """Reads by id, level by level. Raises GraphUnavailable (GraphTimeout) or GraphRejected."""

    def vertices(self, ids: Collection[str]) -> tuple[Vertex, ...]:
        """The vertices that exist among these ids, sorted by id, with all properties."""

    def edges(
        self,
        ids: Collection[str],
        direction: Direction,
        labels: Sequence[str],
        limit: int,
    ) -> EdgePage:
        """Edges with one of these labels at these vertices, at most ``limit`` per vertex and label.

        DOWNSTREAM: edges that leave one of ``ids`` (out_id in ids); UPSTREAM: edges that enter one.
        BOTH is refused (ValueError): a caller asks twice. Which edges survive a cut is up to the
        engine; ``EdgePage.cut`` says where one happened. Unknown ids have no edges.

        Where ``ids`` is a sequence, one is read after the other, and of each the edges in the order
        of ``labels``: a marker before what it marks, while others write.
        """

    def neighbours(
        self, ids: Collection[str], direction: Direction, label: str, limit: int
    ) -> Neighbours:
        """What stands at the other ends of the edges with this label: as ``edges``, for who needs
        no more of them.
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


class Checkpoints(Protocol):
    """What spares a graph that forgets (the embedded engine) a start from nothing.

    The one writer calls all of it on its own thread, but ``voided``, which any thread may use. A
    checkpoint holds what every document before a position of the journal stands for.
    """

    def wrote(self, elements: int) -> None:
        """So many elements were written since."""

    def projected(self, documents: int) -> None:
        """So many documents were projected since, whether they wrote anything or not."""

    @property
    def due(self) -> bool:
        """Whether enough has changed for a new one."""

    @property
    def overdue(self) -> bool:
        """Whether so much has changed that it must not wait for a calm moment."""

    @property
    def worth_taking(self) -> bool:
        """Whether anything has changed, so that one should be taken before the end."""

    def take(self, epoch: str, position: Callable[[], int], last: int = 0) -> bool:
        """Save the graph; ``position`` gives the journal's first position that may be missing in
        it, ``last`` is the newest in it. What fails is logged; the former checkpoint stays.
        """

    def voided(self) -> AbstractContextManager[None]:
        """Set the checkpoint aside: what documents before its position stand for is changed."""

    def void_overtaken(self, positions: Iterable[int]) -> None:
        """Something that these documents said is withdrawn: set aside a checkpoint that holds
        them out of order.
        """

    def restore(self, epoch: str) -> int | None:
        """Fill the empty graph; the first position not in it, or None when there is none."""


class NoCheckpoints:
    """For graphs that forget nothing."""

    due = False
    overdue = False
    worth_taking = False

    def wrote(self, elements: int) -> None:
        """Nothing is counted."""

    def projected(self, documents: int) -> None:
        """Nor this."""

    def take(self, epoch: str, position: Callable[[], int], last: int = 0) -> bool:  # noqa: ARG002
        return False

    def voided(self) -> AbstractContextManager[None]:
        return nullcontext()

    def void_overtaken(self, positions: Iterable[int]) -> None:
        """There is none."""

    def restore(self, epoch: str) -> int | None:  # noqa: ARG002
        return None


# --- the catalogue -------------------------------------------------------------------------------


Item = TypeVar("Item")


ROUND_KEY: Final = "catalogue_round"
"""Where the journal keeps the number of the last round that it has concluded."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What a catalogue was made from: the id of a journal, the number of the projector's last round
    that is in it, and the position of the newest document that is (``catalogue.origin``).
    """

    journal: str
    round: int
    position: int


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """One page of a list: ``total`` over all pages, ``next`` an opaque cursor or None."""

    items: tuple[Item, ...]
    total: int
    next: str | None


def walk_pages(ask: Callable[[str | None], Page[Item]]) -> Iterator[Page[Item]]:
    """Every page of a list, each asked for with the ``next`` of the one before."""
    cursor: str | None = None
    while True:
        page = ask(cursor)
        yield page
        cursor = page.next
        if cursor is None:
            return


@dataclass(frozen=True, slots=True, order=True)
class Writer:
    """A logical plan that wrote a dataset: ``latest`` is its newest such write (epoch ms)."""

    target: str
    logical_plan: str
    mode: str
    latest: int


class SuccessfulWrite(NamedTuple):
    """What history needs of a completed ``write`` execution; the fields are those of its row.

    Of a failed one, too, where somebody asks who told of it; of a read, whose ``target`` is "".
    ``partitioned``: whether partitions are known that it read or wrote; ``bound``: whether it
    read a version of something.
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


class Span(NamedTuple):
    """The writes of ``target`` with ``since <= at < before`` (epoch ms).

    ``place``: where ``target`` is a catalog name, those alone that were made while the name stood
    for this dataset; "" for all. ``partition``: writes of another value of this canonical text's
    first key may be left out; "" for none. ``branch``: of this one alone, or of EVERY_BRANCH.
    """

    target: str
    since: int
    before: int
    place: str = ""
    partition: str = ""
    branch: str = MAIN_BRANCH


class VersionSpan(NamedTuple):
    """The versions of one branch of ``target`` up to ``number``; ``place`` as in ``Span``.

    They begin with the last full overwrite; with the last version before ``since``, where that is
    not NO_NUMBER; or with the first one (``whole``).
    """

    target: str
    branch: str
    number: int
    since: int = NO_NUMBER
    place: str = ""
    whole: bool = False


class NumberedTime(NamedTuple):
    """The number of a version and the event time (epoch ms) of its write."""

    number: int
    at: int


@dataclass(frozen=True, slots=True)
class VersionWrites:
    """``writes`` of a VersionSpan in any order, the newest ``most`` where there are more (``cut``).

    ``floor``: whether an overwrite stands before the others. ``first`` is the lowest version of
    the branch, ``following`` the lowest one above the span.
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
"""The time of what has not happened."""


@dataclass(frozen=True, slots=True, order=True)
class RunFacet:
    """At ``at`` a run of a job wrote a dataset; the run has this facet, by name and digest."""

    target: str
    job: str
    at: int
    name: str
    digest: str


@dataclass(frozen=True, slots=True, order=True)
class DeclaredFlow:
    """Into ``target`` flows what a logical plan reads: declared, and standing from ``since`` on,
    until the same subject declares something else (``ends``, ``NEVER`` where it did not).
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


class Standing(NamedTuple):
    """What stood where one read looked: ``floor`` is the time of the last full overwrite before
    it, None where there was none; ``declared``: whether anything is declared of a target.
    """

    floor: int | None
    spans: Mapping[Span, SpanWrites]
    declared: bool


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
class FailedJob:
    """A job whose newest execution failed, and when that ended (epoch ms)."""

    job: JobRow
    at: int


@dataclass(frozen=True, slots=True)
class Estate:
    """How many jobs and datasets there are (catalog names aside, which are no places), how many
    jobs' newest execution failed, and the newest of these failures, newest first.
    """

    jobs: int
    datasets: int
    failed: int
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


@dataclass(frozen=True, slots=True, order=True)
class PlanSpan:
    """How often a logical plan ended in a state, and its first and last time (epoch ms)."""

    logical_plan: str
    state: str
    executions: int
    first: int
    last: int


class Catalogue(Protocol):
    """When, what it is called, how many. Serves rows; knows no connectivity.

    Every method that takes ``at`` (epoch ms or None for the end of time) looks only at executions
    with ``ExecutionRow.at <= at``. Lists are ordered and paged; ``limit`` is 1..1000. ``cursor``
    is what ``Page.next`` gave; a cursor that it did not give raises InvalidReference.
    """

    @property
    def events(self) -> Events:
        """Lists of executions and data sources with filters, in any order."""

    @property
    def runs(self) -> RunRecords:
        """Runs as OpenLineage's events tell them, ended or not."""

    @property
    def facets(self) -> FacetRecords:
        """Facets over time."""

    def snapshot(self) -> AbstractContextManager[Catalogue]:
        """The catalogue as it is now: who asks several things asks all of them of one state, and
        sooner. For reading, in one thread, and not for long.
        """

    # writing: idempotent, one transaction a call
    def record(self, rows: Sequence[Row], origin: Origin | None = None) -> None:
        """Insert rows whose key is new; a known key with other content raises FactConflict.

        ``origin`` is noted in the same transaction.
        """

    def withdraw(self, rows: Sequence[Row]) -> None:
        """Delete exactly these rows; unknown rows are ignored."""

    def clear(self) -> None: ...

    def scan(self) -> Iterator[Row]:
        """Every row, in any order, in bounded pages: for digests and exports."""

    def digest(self) -> str:
        """SHA-256 in hex over all rows: equal for equal content."""

    # by id
    def datasets(self, ids: Collection[str]) -> tuple[DatasetRow, ...]: ...
    def columns(self, ids: Collection[str]) -> tuple[ColumnRow, ...]: ...
    def fields(self, columns: Collection[tuple[str, str]]) -> tuple[ColumnRow, ...]:
        """The columns nested in these (dataset, path): ``a.b`` and ``a.b.c`` in ``a``."""

    def columns_of(self, datasets: Collection[str], limit: int) -> tuple[ColumnRow, ...]:
        """The columns that these datasets ever had, by (dataset, path); the first ``limit``."""

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

    def plan_ids(self, logical_plans: Collection[str]) -> frozenset[str]:
        """Every plan id that says one of these logical plans: as many as there are.

        Of OpenLineage the subject keys, which stand in the place of a plan id.
        """

    def logical_plans_of(self, jobs: Collection[str]) -> tuple[LogicalPlanRow, ...]:
        """Every logical plan of these jobs: as many as there are."""

    def uses(
        self, *, logical_plans: Collection[str] = (), datasets: Collection[str] = ()
    ) -> frozenset[SchemaUseRow]:
        """Every dataset that these logical plans read or write, and every logical plan that reads
        or writes these datasets: as many as there are.
        """

    def run_subjects(self, job: str) -> frozenset[str]:
        """The subjects of all of a job's RunRows, ended or not."""

    def supporters(self, logical_plan: str, limit: int = 2) -> tuple[str, ...]:
        """Subjects that support a logical plan, or another vertex or edge of this id."""

    def facets_in_use(self, digests: Collection[str]) -> frozenset[str]:
        """Those of these digests of facets that some FacetRow has."""

    # what people did
    def commands(self, kind: str) -> tuple[CommandRow, ...]:
        """All commands of this kind, by (at, id)."""

    def run_facets(
        self, targets: Collection[str], names: Collection[str], at: int | None
    ) -> tuple[RunFacet, ...]:
        """Per (target, logical plan) these facets of the newest run that wrote it, or failed to,
        at or before ``at``; nothing where that run has none.
        """

    def declared_flows(self, targets: Collection[str]) -> tuple[DeclaredFlow, ...]:
        """What is declared to flow into these, with the times between which it holds."""

    def declared_plans(self, logical_plans: Collection[str]) -> frozenset[str]:
        """Those of these logical plans that are declared and that no run has followed."""

    def declarations(self, node: str | None = None) -> tuple[DeclarationRow, ...]:
        """What people declare (of this job or dataset, by id), by (declared_at, id, event)."""

    def forgotten(self, hashes: Collection[str]) -> frozenset[str]:
        """Those of these content hashes that a forget command names."""

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
        """Newest first by (at, id); the criteria given are combined.

        Everywhere an execution or a run whose events name its application's run, and not the
        application, stands under that as far as other events tell it (``ApplicationRow``).
        """

    def has_execution(
        self,
        job: str,
        since: int,
        before: int,
        *,
        run: str | None = None,
        logical_plan: str | None = None,
    ) -> bool:
        """Whether there is one at ``since <= at < before``, with the run of its own events."""

    def partitions(self, executions: Collection[str]) -> tuple[PartitionRow, ...]: ...

    def standing(
        self, reads: Collection[tuple[Span, ...]], *, reach: int, most: int, per_plan: int
    ) -> dict[tuple[Span, ...], Standing]:
        """Per read (the spans in which it looked: one table under all its names) what stood there.

        The floor is the newest full overwrite (mode ``overwrite``) of any of the targets before
        ``since``; a span's writes are those from ``reach`` ms before the floor on, or all, until
        ``before``, cut as in ``writes``.
        """

    def writes(
        self, spans: Collection[Span], *, most: int, per_plan: int
    ) -> dict[Span, SpanWrites]:
        """Per span its completed writes, in any order.

        Of a span with more than ``most`` of them the newest ``per_plan`` of each logical plan,
        and where the others of the plan lie. At such a cut equal times are left out together.
        """

    def version_writes(
        self, spans: Collection[VersionSpan], *, most: int
    ) -> dict[VersionSpan, VersionWrites]:
        """Per span its completed writes whose version is known by number."""

    def told_versions(
        self, asked: Collection[tuple[str, str]]
    ) -> dict[tuple[str, str], SuccessfulWrite]:
        """Per (target, id of a version) the first write that says it made it, where one does."""

    def read_versions(self, executions: Collection[str]) -> tuple[ReadVersionRow, ...]:
        """What these executions read of versions."""

    def bound_reads(self, logical_plans: Collection[str]) -> frozenset[tuple[str, str]]:
        """(logical plan, dataset) of those reads of which some execution read a version."""

    def readings(
        self, moments: Collection[tuple[str, int]], *, per_plan: int
    ) -> dict[tuple[str, int], SpanWrites]:
        """Per (logical plan that only reads, time) its completed ``read`` executions before the
        time: the newest ``per_plan``, and where the others lie.
        """

    def declared_reads(self, logical_plans: Collection[str]) -> tuple[DeclaredFlow, ...]:
        """When these plans, which write nothing, are declared to read; ``target`` is ""."""

    def companions(
        self, pairs: Collection[tuple[str, str]], state: str = labels.COMPLETED
    ) -> tuple[SuccessfulWrite, ...]:
        """Per (target, application id) all its writes of a state, where several may be one.

        That is where several producers tell of them, or one is of a command that tells its writes
        twice (``history.CTAS_COMMANDS``); elsewhere none.
        """

    def told_twice(self, target: str, state: str = labels.COMPLETED) -> tuple[SuccessfulWrite, ...]:
        """``companions`` of a target in all applications that wrote it, or failed to."""

    def last_executions(self, jobs: Collection[str], at: int | None) -> dict[str, ExecutionRow]:
        """Per job its newest execution by (at, id), whatever its state."""

    def last_states(self, jobs: Collection[str], at: int | None) -> dict[str, tuple[int, str]]:
        """Of ``last_executions`` the time and the state."""

    def last_writers(self, targets: Collection[str], at: int | None) -> dict[str, ExecutionRow]:
        """Per dataset its newest completed ``write`` execution by (at, id)."""

    def last_writes(self, targets: Collection[str], at: int | None) -> dict[str, int]:
        """Per dataset the time of its newest completed ``write`` execution."""

    def lone_last_writes(
        self, targets: Collection[str], at: int | None, *, apart: int
    ) -> dict[str, int | None]:
        """Of ``last_writes`` those before which no other lies within ``apart`` milliseconds; None
        for what has no write.
        """

    def newest_event(self, at: int | None) -> int | None:
        """The greatest ``ExecutionRow.at`` considered: the ``asOf`` of an answer."""

    def names_of(self, locations: Collection[str], at: int | None) -> tuple[NameRow, ...]:
        """Names observed for these locations (newest observation of each name)."""

    def renames_of(self, datasets: Collection[str], at: int | None) -> tuple[RenameRow, ...]:
        """Per dataset the newest rename away from it and the newest to it, at or before ``at``."""

    def renames_by(self, executions: Collection[str]) -> tuple[RenameRow, ...]:
        """The renames that these executions made."""

    def location_of(self, name: str, at: int | None) -> str | None:
        """The location a name stood for: last observed at or before ``at``, else the first."""

    def locations_of(self, moments: Collection[tuple[str, int]]) -> dict[tuple[str, int], str]:
        """``location_of`` for many (name, at) at once; what is no name is left out."""

    def names_around(self, datasets: Collection[str]) -> frozenset[tuple[str, str]]:
        """(name, location), every pair ever observed, of these and of the names that ever stood
        for them.
        """

    def seen(self, datasets: Collection[str], at: int) -> frozenset[str]:
        """Those of these datasets that were there by then (``catalogue.births``)."""

    # schemas
    def newest_schemas(self, datasets: Collection[str], at: int | None) -> dict[str, SchemaRow]:
        """Per dataset the schema that the newest completed execution (at or before ``at``) used.

        SchemaUseRow links plans to schemas; a write beats a read at the same time. A dataset that
        only plans without a completed execution touch gets the schema of the plan with the
        greatest id, so that its page is not empty. Datasets without any schema are left out.
        """

    def newest_schema_ids(self, datasets: Collection[str], at: int | None) -> dict[str, str]:
        """The ids of ``newest_schemas``."""

    # versions
    def schemas(self, ids: Collection[str]) -> tuple[SchemaRow, ...]: ...

    def schema_uses(self, dataset: str, limit: int = 5_000) -> tuple[SchemaUseRow, ...]:
        """Which plans read or write a dataset with which schema; those that write it first."""

    def plan_spans(self, logical_plans: Collection[str], at: int | None) -> tuple[PlanSpan, ...]:
        """Per logical plan and state of its executions their number, the first and the last."""

    def last_of_plans(
        self, logical_plans: Collection[str], at: int | None
    ) -> dict[str, ExecutionRow]:
        """Per logical plan its newest completed execution by (at, id)."""

    def executions_of(self, ids: Collection[str]) -> tuple[ExecutionRow, ...]:
        """The executions that exist among these ids, by id."""

    # lists
    def list_datasets(
        self,
        *,
        query: str = "",
        limit: int = 100,
        cursor: str | None = None,
        at: int | None = None,
    ) -> Page[DatasetRow]:
        """By name, then URI, what was there at the time; ``query`` is a case-insensitive
        substring of the URI.
        """

    def walk_datasets(
        self,
        *,
        query: str = "",
        after: DatasetRow | None = None,
        limit: int = 1000,
        at: int | None = None,
    ) -> tuple[DatasetRow, ...]:
        """By name, then URI, the rows behind ``after``: for what looks at every dataset."""

    def list_jobs(
        self,
        *,
        query: str = "",
        namespace: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
        at: int | None = None,
    ) -> Page[JobSummary]:
        """By namespace and name, what was there at the time; ``query`` is a case-insensitive
        substring of the name.
        """

    def estate(self, hidden: Collection[str], *, failures: int, at: int | None) -> Estate:
        """All that was there at the time but what is hidden (ids); so many failures are named."""

    def attempts(self, jobs: Collection[str], at: int | None) -> frozenset[tuple[str, str]]:
        """(job, logical plan) of those of these jobs whose newest execution failed: the plans that
        failed among the newest 100 executions of that run.
        """

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

    def written_by(self, job: str, runs: Collection[str]) -> frozenset[tuple[str, str]]:
        """(target, application id) of all that these runs of a job wrote."""

    def search(self, text: str, *, kinds: Collection[str], limit: int) -> Page[Match]:
        """Datasets, jobs and columns whose name holds the text (any case).

        Ranked: equal name, then prefix of a name or of a path part, then substring; shorter first.
        """

    def close(self) -> None: ...


class Generations(Protocol):
    """The catalogue in force, and the next one while everything is projected anew.

    ``version`` counts changes of what a catalogue holds: another one is another epoch.
    """

    @property
    def version(self) -> int: ...

    @property
    def current(self) -> Catalogue:
        """The catalogue in force. One answer asks once and keeps it."""

    @property
    def damage(self) -> str | None:
        """What somebody met who read or wrote the catalogue in force; None while it is whole."""

    def doubt(self) -> str | None:
        """Why the catalogue in force is none of this journal as it is now; None where it is.

        To be asked while nobody projects (``Journal.projecting``).
        """

    @property
    def trusted(self) -> bool:
        """Whether ``doubt`` found nothing, or the catalogue was made here since."""

    def set_aside(self) -> None:
        """An empty catalogue in place of the one in force, which is kept under another name where
        it holds something. It is not trusted until ``adopt`` or ``switch``.
        """

    def adopt(self) -> None:
        """What is missing in the catalogue in force is PENDING in the journal: it is trusted."""

    def refresh(self) -> bool:
        """Follow a switch that another process has made; whether there was one."""

    def begin(self) -> Catalogue:
        """The next catalogue, empty."""

    def switch(self) -> None:
        """Put the next catalogue in force, durably; the former stays until ``drop_former``."""

    def drop_former(self) -> None: ...

    def close(self) -> None: ...


# --- the journal ---------------------------------------------------------------------------------


class DocumentKind(StrEnum):
    PLAN = "plan"
    EVENT = "event"
    COMMAND = "command"
    RUN_EVENT = "run-event"
    JOB_EVENT = "job-event"
    DATASET_EVENT = "dataset-event"

    @property
    def is_openlineage(self) -> bool:
        """Whether it is one of OpenLineage's events; ``plan_id`` is then its subject key."""
        return self in _OPENLINEAGE


_OPENLINEAGE: Final = frozenset(
    {DocumentKind.RUN_EVENT, DocumentKind.JOB_EVENT, DocumentKind.DATASET_EVENT}
)


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


REOPENED: Final = "it was projected and is to be projected again"
"""Why a document is PENDING that the graph or the catalogue may already show."""


class Body(NamedTuple):
    """The body of a document; ``damage`` says why it cannot be read, "" where it can."""

    content: bytes
    damage: str = ""


class StoredDocument(NamedTuple):
    """A document of the journal. ``position`` is the order of first receipt, from 1.

    ``damage`` says what is wrong with the stored body ("" for nothing, or where nobody looked):
    such a document has an empty ``body`` and cannot be translated.

    A tuple, for a round of the projector makes some of each document that it looks at.
    """

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
    damage: str = ""

    @property
    def is_fresh(self) -> bool:
        """Whether no round was ever concluded with it."""
        return self.state == DocumentState.PENDING and self.reason != REOPENED


@dataclass(frozen=True, slots=True)
class JournalSummary:
    """Counts of distinct documents: ``received`` is the sum of the others."""

    received: int
    waiting: int
    pending: int
    projected: int
    failed: int


@dataclass(frozen=True, slots=True)
class JournalStatistics:
    """For operators. ``oldest_pending_at``: epoch ms at which the pending document with the
    lowest position was first received; ``database_bytes``: of the whole database.
    """

    documents: dict[tuple[DocumentKind, DocumentState], int]
    oldest_pending_at: int | None
    database_bytes: int

    @property
    def pending(self) -> int:
        return sum(n for (_, state), n in self.documents.items() if state == DocumentState.PENDING)


@dataclass(frozen=True, slots=True)
class JournalSize:
    """``stored_bytes`` on disk; ``oldest`` and ``newest`` receipt of a document, epoch ms."""

    stored_bytes: int
    oldest: int | None
    newest: int | None


class Journal(Protocol):
    """What was said. Every method is safe from several threads; raises JournalUnavailable.

    ``id`` is given to a journal when it is made, and tells it from every other one.

    Every body that is read is held against its content hash. Where several documents are read, one
    whose body is damaged comes with its ``damage`` and without its body; where one is asked for,
    DamagedDocument is raised.
    """

    @property
    def id(self) -> str: ...

    def accept(
        self, submissions: Sequence[Submission], receipt: Receipt, *, remember: bool = True
    ) -> tuple[int, ...]:
        """Make documents durable (fsync) in one transaction; their positions, in order.

        With ``remember`` the bytes are recognised by ``recall`` when they come again.

        A document is its (content hash, scope): a repeat adds a receipt, stores no body again and
        keeps its state. A new plan or event starts as PENDING (the projector decides on WAITING).
        """

    def ensure_taking(self) -> None:
        """Raise JournalUnavailable while documents are refused: the last one was, or an attempt
        that needs what documents need. At most one attempt a second while they succeed.
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

    def plans(self, plan_ids: Collection[str]) -> dict[str, tuple[StoredDocument, ...]]:
        """Of these plan ids that have documents what ``plan`` gives, all in one go."""

    def told(self, plan_id: str, scope: str, limit: int) -> tuple[StoredDocument, ...]:
        """The newest documents of a plan id in one scope, by position, with bodies."""

    def event_positions(
        self, plan_id: str, hashes: Collection[str] | None = None
    ) -> tuple[int, ...]:
        """In order, those of the events of a plan id that are not PENDING: as many as there are.

        With ``hashes`` of those alone that have one of these contents.
        """

    def documents(self, positions: Collection[int]) -> tuple[StoredDocument, ...]:
        """The documents known among these, by position, with bodies."""

    def content_hashes(self, plan_id: str) -> tuple[str, ...]:
        """Of all documents of a plan id, by position; several scopes may share one."""

    def outline(self, plan_ids: Collection[str]) -> dict[str, tuple[StoredDocument, ...]]:
        """Per plan id its plan documents and its PENDING ones, by position, without bodies.

        Two requests, whatever the number of plan ids; an unknown one is left out.
        """

    def bodies(self, positions: Collection[int]) -> dict[int, Body]:
        """The bodies of these documents."""

    def pending(self, limit: int) -> tuple[str, ...]:
        """Plan ids that have a PENDING document: commands, then the others, oldest first."""

    def plan_ids(self, after: str, limit: int) -> tuple[str, ...]:
        """All plan ids, in order, from the first one behind ``after`` ("" for the beginning)."""

    def plan_ids_of(self, subjects: Collection[str]) -> frozenset[str]:
        """The plan ids of these subjects' documents."""

    def count_plan_ids(self) -> int: ...

    def settle(
        self, positions: Collection[int], state: DocumentState, reason: str | None = None
    ) -> None:
        """Set the state of documents."""

    def reopen(
        self,
        *,
        states: Collection[DocumentState],
        subject: str | None = None,
        first: int = 1,
    ) -> int:
        """Set documents in these states back to PENDING (replay, rebuild); how many.

        With ``first`` only those at this position or after it. Those that were PROJECTED get the
        reason REOPENED, for what they stood for may still be there.
        """

    def first_unprojected(self) -> int:
        """The position before which nothing is PENDING: that of the oldest such document, else
        the one that the next new document may get.
        """

    def newest(self) -> int:
        """The position of the newest document; 0 before the first."""

    def conclude(
        self,
        settlements: Collection[tuple[Collection[int], DocumentState, str | None]],
        dropped: Collection[int] = (),
        settings: Mapping[str, str] = NO_SETTINGS,
    ) -> None:
        """Set the states of documents, and remove the dropped ones for good, with their receipts
        and bodies that nothing else has; set ``settings`` as ``set_meta`` does. All of it in one
        transaction, none for nothing.
        """

    def states(self, positions: Collection[int]) -> dict[int, DocumentState]: ...

    def document(self, position: int) -> StoredDocument | None:
        """The document at this position. Raises DamagedDocument."""

    def plan_document(self, plan_id: str, content_hash: str | None = None) -> StoredDocument | None:
        """The plan document with this plan id (and hash): highest API version, then least hash.

        Raises DamagedDocument.
        """

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

    def size(self) -> JournalSize:
        """A few seeks, whatever the size: cheap enough for every scrape of the metrics."""

    def projecting(self) -> AbstractContextManager[None]:
        """Held while documents are projected: one projector at a time, whatever the processes.

        What one withdraws, another may be about to support. Blocks while another holds it, for a
        bounded time (JournalUnavailable); a process that dies gives it back.
        """

    def statistics(self) -> JournalStatistics: ...

    def get_every_meta(self) -> Mapping[str, str]:
        """All that ``set_meta`` keeps, as it is at one moment."""

    def get_meta(self, key: str) -> str | None:
        """A small durable setting (projection epoch, graph epoch)."""

    def set_meta(self, key: str, value: str) -> None: ...

    def close(self) -> None: ...
