"""The result of a translation: vertices, edges and catalogue rows, as values.

Law 2 of the design: every fact has an id derived from its content, and its properties are a
function of that content. So facts can be written in any order, any number of times, by any
number of writers, and :func:`merge` is a plain union that refuses two facts with one id and
different content.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from operator import attrgetter
from typing import Any, Final, NamedTuple, get_args

from graph_model import identity, labels
from graph_model.errors import FactConflict

Scalar = str | int | float | bool
Properties = tuple[tuple[str, Scalar], ...]


def properties(values: Mapping[str, Scalar | None]) -> Properties:
    """Sorted by key, absent values left out: one spelling for equal content.

    A null character, which Neptune refuses, becomes U+FFFD: every engine holds the same.
    """
    kept = [(key, _storable(value)) for key, value in values.items() if value is not None]
    kept.sort()
    return tuple(kept)


def _storable(value: Scalar) -> Scalar:
    return value.replace("\0", "\ufffd") if isinstance(value, str) and "\0" in value else value


class Vertex(NamedTuple):
    """A vertex; ``label`` is one of ``labels.VERTEX_LABELS`` and never changes for an id.

    A tuple like Edge: a large plan has thousands of both, and their creation is their cost.
    """

    id: str
    label: str
    properties: Properties = ()

    def value(self, key: str) -> Scalar | None:
        for name, value in self.properties:  # a third of the time that a generator takes
            if name == key:
                return value
        return None


class Edge(NamedTuple):
    """``out_id -label-> in_id``, in the direction that data flows."""

    id: str
    label: str
    out_id: str
    in_id: str
    properties: Properties = ()

    def value(self, key: str) -> Scalar | None:
        for name, value in self.properties:  # a third of the time that a generator takes
            if name == key:
                return value
        return None


def edge(
    label: str,
    out_id: str,
    in_id: str,
    values: Mapping[str, Scalar | None] | None = None,
    *,
    discriminator: tuple[object, ...] = (),
) -> Edge:
    """Build an edge with its id; the discriminator joins the id (parallel edges)."""
    return Edge(
        identity.edge_id(label, out_id, in_id, *discriminator),
        label,
        out_id,
        in_id,
        properties(values) if values else (),
    )


# --- rows of the catalogue -----------------------------------------------------------------------
# A row's key is its ``id``; see row_key for the rows that have none. Tuples, for the same reason.


class DatasetRow(NamedTuple):
    """The names of a dataset: ``name`` is the friendly one, computed from the URI alone."""

    id: str
    uri: str
    scope: str
    name: str
    kind: str  # file, table, jdbc, topic, name, pattern, other (naming.py)


class PatternRow(NamedTuple):
    """A dataset that is a pattern, with the id that the folder above its first wildcard has as a
    dataset: the locations that it matches lie below.
    """

    id: str
    folder: str


class ColumnRow(NamedTuple):
    """A column that a schema or column lineage names; ``path`` is case-folded."""

    id: str
    dataset: str
    path: str


class SchemaRow(NamedTuple):
    """A schema's columns in order, as JSON ``[{"name", "type", "path"}, …]``."""

    id: str
    dataset: str
    columns: str


class JobRow(NamedTuple):
    id: str
    namespace: str
    name: str
    shared: bool  # a generic shell (pyspark-shell …) that many people share


class LogicalPlanRow(NamedTuple):
    """``target`` is the id of the dataset written; ``gaps`` JSON ``[{"code", "detail"}, …]``."""

    id: str
    job: str
    fingerprint: str
    target: str
    mode: str
    partition_keys: str  # JSON array of key names
    gaps: str


class ExecutionPlanRow(NamedTuple):
    """One plan document as its producer sent it. ``labels`` is JSON ``{name: [values]}``."""

    id: str
    subject: str
    scope: str
    plan_id: str
    content_hash: str
    api_version: str
    logical_plan: str
    job: str
    name: str
    system: str
    agent: str
    command: str  # the write command's class, e.g. InsertIntoHadoopFsRelationCommand
    labels: str


MAIN_BRANCH: Final = ""
EVERY_BRANCH: Final = "*"
"""Where a question is about all branches of a table; no branch is called so."""
NO_NUMBER: Final = -1


class Version(NamedTuple):
    """A version of a table. ``id`` is the format's name of it (Delta's version, Iceberg's snapshot
    id); ``number`` orders the versions of one branch, NO_NUMBER where only the id is known;
    ``since`` is the first version of a change feed, NO_NUMBER for a read of the table itself.
    """

    id: str
    number: int
    branch: str = MAIN_BRANCH
    since: int = NO_NUMBER


CURRENT_VERSION: Final = Version("", NO_NUMBER)
"""The newest one of the main branch, which an ordinary read finds."""


class ExecutionRow(NamedTuple):
    """One execution: the row that history selects by. Times are epoch milliseconds (event time).

    ``at`` is the time from which answers count it, ``ahead`` how much later the time is that its
    document claims (``producers.bounds``): 0 but for a doubtful one.

    ``mode`` is overwrite, append or lifecycle; ``dynamic`` is True when an overwrite replaces only
    the partitions it touches; ``kind`` is ``write``, ``lifecycle``, ``read`` (it writes nothing:
    ``target`` is empty) or ``declaration``;
    ``metrics`` is JSON ``{"read": {…}, "write": {…}}``; ``reads`` stands for the set of datasets
    read (``identity.set_text``), so that two reports of one write can be recognised. ``version``,
    ``version_number`` and ``branch`` are those of the ``Version`` that a completed write made.
    ``running``: its run had not ended then, and goes on reading and writing.
    """

    id: str
    subject: str
    plan_id: str
    execution_plan: str
    logical_plan: str
    job: str
    run: str
    target: str
    at: int
    state: str
    duration_ns: int | None
    error: str | None
    metrics: str
    mode: str
    dynamic: bool
    kind: str
    command: str
    producer: str
    application_id: str
    scope: str
    reads: str
    version: str = ""
    version_number: int | None = None
    branch: str = ""
    running: bool = False
    ahead: int = 0

    @property
    def claimed_at(self) -> int:
        """The execution's own time, which graph and pages show."""
        return self.at + self.ahead


LISTED: Final = "file"
"""The role of a file in a list that a pattern stands for."""


class PartitionRow(NamedTuple):
    """An execution touched one partition of a dataset. ``role`` is read, write or file.

    ``partition`` is the canonical ``key=value/key=value`` text, keys in path order. Of a list of
    files that was read as a pattern (file) it is what a name has in the place of the wildcard.
    """

    execution: str
    dataset: str
    role: str
    partition: str


class ReadVersionRow(NamedTuple):
    """An execution read a version of a dataset; the last four fields are a ``Version``.

    CURRENT_VERSION stands beside others where the same execution read the dataset unbound too.
    """

    execution: str
    dataset: str
    logical_plan: str
    version: str
    number: int
    branch: str
    since: int


class NameRow(NamedTuple):
    """At ``at`` an execution saw the dataset ``name`` stand for the dataset ``location``; with one
    id as both, it stands for itself from then on, and has lost the names that it had. ``ahead`` is
    that of the execution, here and below.
    """

    name: str
    location: str
    execution: str
    at: int
    ahead: int = 0


class HostlessNameRow(NamedTuple):
    """At ``at`` an execution used the dataset ``location``, which ``name`` is without its servers.

    Clients that leave out the servers use that name. It stands for the location while no other
    location has it.
    """

    name: str
    location: str
    execution: str
    at: int
    ahead: int = 0


class RenameRow(NamedTuple):
    """At ``at`` an execution gave the dataset ``former`` the name of the dataset ``current``.

    Two places where the data moved with the name, two catalog names where it stayed.
    """

    former: str
    current: str
    execution: str
    at: int
    ahead: int = 0


class SchemaUseRow(NamedTuple):
    """A logical plan reads or writes a dataset with this schema. ``role`` is read or write.

    With the plan's executions it shows which schema of a dataset was seen last.
    """

    logical_plan: str
    dataset: str
    schema: str
    role: str


class EventRow(NamedTuple):
    """The fields that lists of events show and search of an execution, beside its own row.

    ``format`` is that of the output (parquet, …), ``append`` the mode in the plan itself,
    ``words`` the text that a search looks through (``words.plain``); ``labels`` (JSON
    ``{name: [values]}``) and ``extra`` are the event's own, "{}" where they are too long.
    ``system`` and ``application`` are here where no plan's document has them, else "".
    """

    execution: str
    format: str
    append: bool
    words: str
    labels: str
    extra: str
    system: str = ""
    application: str = ""


class EventLabelRow(NamedTuple):
    """A label of an execution: its event's, or its plan's. Both texts end at 500 characters."""

    execution: str
    name: str
    value: str


class SupportRow(NamedTuple):
    """A subject supports a logical plan: while one does, the plan's facts stay.

    Of OpenLineage also the elements that no edge supports: the id of a job, dataset, schema, edge
    between jobs or ApplicationRow stands in the plan's place, or a schema supports a nested column
    (``subject``).
    """

    subject: str
    logical_plan: str


class CommandRow(NamedTuple):
    """An act of a person. ``id`` is the content hash of the command's document, ``at`` its own
    time, ``body`` its JSON without the long list of bodies that a forget command names.
    """

    id: str
    kind: str
    at: int
    author: str
    target: str
    body: str


class ForgottenRow(NamedTuple):
    """The command names the body with this content hash: it is not to be shown again."""

    content_hash: str
    command: str


class RunRow(NamedTuple):
    """A run as OpenLineage's events report it, ended or not: trees of runs are made of these.

    ``id`` is a digest of the row, so a run that goes on has another row; one row per subject is in
    force. ``run`` is the id of the graph's run vertex (Spark: of the application); ``namespace``
    and ``name`` are the job's as the client spells them. ``state`` is running, completed, failed
    or aborted; ``started_at`` is the time of START, else of the earliest event (``start_told``);
    ``folded``: a helper run of a Spark application, shown as a part of its parent;
    ``part``: a command of Spark or a step of its parent's job, under the vertex of that run;
    ``endless``: a streaming job or a service, of which silence says nothing. ``parent_run`` and
    ``root_run`` are run ids, "" for none, beside the ids of their jobs. Times are epoch
    milliseconds, as answers count them; ``last_at`` is the newest event's.
    """

    id: str
    subject: str
    run_id: str
    run: str
    job: str
    namespace: str
    name: str
    scope: str
    state: str
    folded: bool
    endless: bool
    application_id: str
    started_at: int
    ended_at: int | None
    last_at: int
    parent_run: str
    parent_job: str
    root_run: str
    root_job: str
    producer: str
    error: str | None
    start_told: bool = True
    part: bool = False


class ApplicationRow(NamedTuple):
    """The run that a client of Spark calls its application's is that of an application id.

    Told by any event that names both, for those that name the run alone. ``run`` and
    ``application_run`` are ids of run vertices, by the client's name and by the application id;
    ``id`` is a digest of the others. Subjects support it (SupportRow).
    """

    id: str
    run: str
    application_id: str
    application_run: str


CHECK: Final = "check"
READER: Final = "reader"
DESCRIBED: Final = "described"


class FacetRow(NamedTuple):
    """At ``at`` a subject gave an entity a facet, which replaces the entity's earlier one whole.

    ``entity`` is the id of a dataset, job or logical plan, or the subject of a run. ``kind`` is
    dataset, input, output, job, logical_plan or run; ``digest`` is the id of the FacetBodyRow, ""
    where the facet was ``deleted``. ``job`` is the job that reported it, "" for a dataset's own
    declaration.

    Three kinds are contents of a facet and not facets themselves: ``check``, one check of a dataset
    (``name`` is its key, "" where all were deleted); ``reader``, the content that a run without
    writes reports of itself, on each dataset that it read; ``described``, the schema (``name`` is
    its id) that an event about the dataset alone gave it. ``ahead`` is as in an ExecutionRow.
    """

    entity: str
    kind: str
    name: str
    at: int
    subject: str
    digest: str
    deleted: bool
    job: str
    ahead: int = 0


class FacetBodyRow(NamedTuple):
    """A facet's content as JSON, without ``_producer`` and ``_schemaURL``: once, by its hash."""

    id: str
    body: str


class DeclarationRow(NamedTuple):
    """A person declared lineage. ``id`` is equal for the same words of one person, ``event`` the
    digest of the document's event; ``plan_id`` stands for its documents in the journal.

    ``since`` and ``declared_at`` are epoch milliseconds; ``nodes`` the ids of its job and datasets,
    a space between two; ``body`` JSON ``{"job", "target", "sources", "columns"}``.
    """

    id: str
    event: str
    plan_id: str
    scope: str
    author: str
    declared_at: int
    since: int
    note: str
    job: str
    target: str
    nodes: str
    body: str


class ArrivalRow(NamedTuple):
    """At ``received_at`` (epoch ms) a document came first that reports this execution, or of this
    plan, by the id of its execution_plan: for lists that are frozen at a time.

    It is no part of the documents' content, so these rows are in no hash.
    """

    told: str
    received_at: int


Row = (
    DatasetRow
    | PatternRow
    | ColumnRow
    | SchemaRow
    | JobRow
    | LogicalPlanRow
    | ExecutionPlanRow
    | ExecutionRow
    | PartitionRow
    | ReadVersionRow
    | NameRow
    | HostlessNameRow
    | RenameRow
    | SchemaUseRow
    | EventRow
    | EventLabelRow
    | SupportRow
    | CommandRow
    | ForgottenRow
    | RunRow
    | ApplicationRow
    | FacetRow
    | FacetBodyRow
    | DeclarationRow
    | ArrivalRow
)


RowKey = tuple[str | int, ...]
"""The name of the row's kind, then the fields that identify it."""


def row_key(row: Row) -> RowKey:
    """The key of a row within the catalogue; two rows with one key must agree (``agreed``)."""
    return _KEY_READERS[type(row)](row)


CountedRow = ExecutionRow | NameRow | HostlessNameRow | RenameRow | FacetRow
"""The rows with a time that answers count, beside the one that a document claims."""


def as_documented(row: Row) -> Row:
    """The row as its documents have it, without what follows from the times of their receipts.

    The id of a run's row covers the times that its events claim.
    """
    if isinstance(row, CountedRow):
        return row._replace(at=row.at + row.ahead, ahead=0) if row.ahead else row
    if isinstance(row, RunRow):
        return row._replace(started_at=0, ended_at=None, last_at=0)
    return row


def agreed(row: Row, other: Row) -> Row:
    """Of two rows with one key the one that holds: that of the document received first.

    Raises FactConflict where their documents differ.
    """
    if as_documented(row) != as_documented(other):
        raise FactConflict(f"{row!r} and {other!r} share a key")
    if isinstance(row, RunRow) and isinstance(other, RunRow):
        return min(row, other, key=lambda row: (row.last_at, row.started_at, row.ended_at or 0))
    if isinstance(row, CountedRow) and isinstance(other, CountedRow):
        return min(row, other, key=lambda row: row.at)
    return row


_KEY_FIELDS: Final[Mapping[type[Any], tuple[str, ...]]] = {
    PartitionRow: ("execution", "dataset", "role", "partition"),
    ReadVersionRow: ("execution", "dataset", "version", "number", "branch", "since"),
    SchemaUseRow: ("logical_plan", "dataset", "schema", "role"),
    SupportRow: ("subject", "logical_plan"),
    ForgottenRow: ("content_hash", "command"),
    EventRow: ("execution",),
    EventLabelRow: ("execution", "name", "value"),
    NameRow: ("name", "location", "execution"),
    HostlessNameRow: ("name", "location", "execution"),
    RenameRow: ("former", "current", "execution"),
    FacetRow: ("entity", "kind", "name", "at", "subject", "digest", "job", "ahead"),
    DeclarationRow: ("id", "event", "scope"),
    ArrivalRow: ("told", "received_at"),
}
"""The fields of the key of each kind of row that has no ``id``."""


def key_fields(kind: type[Row]) -> tuple[str, ...]:
    """The fields that identify a row of this kind."""
    return _KEY_FIELDS.get(kind, ("id",))


def _key_reader(kind: type[Any]) -> Callable[[Any], RowKey]:
    name, fields = kind.__name__, key_fields(kind)
    read: Callable[[Any], Any] = attrgetter(*fields)
    if len(fields) == 1:
        return lambda row: (name, read(row))
    return lambda row: (name, *read(row))


_KEY_READERS: Final = {kind: _key_reader(kind) for kind in get_args(Row)}
"""Made once: every row of every run is asked for its key."""


# --- facts ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Facts:
    """A set of facts; every tuple is sorted and free of repeats. Build with :func:`merge`."""

    vertices: tuple[Vertex, ...] = ()
    edges: tuple[Edge, ...] = ()
    rows: tuple[Row, ...] = ()

    @property
    def size(self) -> int:
        """The number of vertices and edges."""
        return len(self.vertices) + len(self.edges)


@dataclass(frozen=True, slots=True)
class SharedFacts:
    """Facts that many subjects report alike, made where they are needed.

    ``key`` is :func:`key_of` them and decides whether two are equal, ``size`` the number of their
    vertices and edges.
    """

    key: str
    size: int = field(compare=False)
    make: Callable[[], Facts] = field(compare=False, repr=False)


Part = Facts | SharedFacts
"""A part of the facts of a subject."""


def whole(part: Part) -> Facts:
    """The facts themselves."""
    return part if isinstance(part, Facts) else part.make()


def key_of(facts: Facts) -> str:
    """A digest of all of them: the id of an element covers its content, a row is its content."""
    ids = [element.id for part in (facts.vertices, facts.edges) for element in part]
    content = repr((ids, facts.rows)).encode("utf-8", "surrogatepass")
    return blake2b(content, digest_size=16).hexdigest()


@dataclass(slots=True)
class FactCollector:
    """Collects facts while a translation runs; raises FactConflict on a contradiction."""

    _vertices: dict[str, Vertex] = field(default_factory=dict)
    _edges: dict[str, Edge] = field(default_factory=dict)
    _rows: dict[RowKey, Row] = field(default_factory=dict)

    def add(self, *elements: Vertex | Edge | Row) -> None:
        for element in elements:
            first: Vertex | Edge
            if isinstance(element, Edge):
                first = self._edges.setdefault(element.id, element)
            elif isinstance(element, Vertex):
                first = self._vertices.setdefault(element.id, element)
            else:
                self._add_row(element)
                continue
            if first is not element and first != element:
                raise FactConflict(f"{first!r} and {element!r} share an id")

    def _add_row(self, row: Row) -> None:
        key = row_key(row)
        first = self._rows.setdefault(key, row)
        if first is not row and first != row:
            self._rows[key] = agreed(first, row)

    def facts(self) -> Facts:
        return Facts(
            tuple(map(self._vertices.__getitem__, sorted(self._vertices))),
            tuple(map(self._edges.__getitem__, sorted(self._edges))),
            tuple(map(self._rows.__getitem__, sorted(self._rows))),
        )


def merge(parts: Iterable[Part]) -> Facts:
    """The union; raises FactConflict where two facts share an id and differ."""
    wholes = [part for part in map(whole, parts) if part.vertices or part.edges or part.rows]
    if len(wholes) == 1:
        return wholes[0]
    collector = FactCollector()
    for part in wholes:
        collector.add(*part.vertices, *part.edges, *part.rows)
    return collector.facts()


# --- order of commit -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Stages:
    """Facts in the order in which a graph must commit them (DESIGN "Vocabulary").

    Structure first, then the marker ``job -has-> logical_plan`` that makes a plan visible, then
    the executions. Within a stage vertices go before edges.
    """

    vertices: tuple[Vertex, ...]
    edges: tuple[Edge, ...]
    markers: tuple[Edge, ...]
    execution_vertices: tuple[Vertex, ...]
    execution_edges: tuple[Edge, ...]


_EXECUTION_KINDS: Final = frozenset({labels.DAY, labels.RUN, labels.EXECUTION})
_EXECUTION_PREFIXES: Final = tuple(f"{identity.PREFIXES[kind]}_" for kind in _EXECUTION_KINDS)
_JOB_PREFIX: Final = f"{identity.PREFIXES[labels.JOB]}_"
_LOGICAL_PLAN_PREFIX: Final = f"{identity.PREFIXES[labels.LOGICAL_PLAN]}_"


def is_marker(candidate: Edge) -> bool:
    """Whether an edge is ``job -has-> logical_plan``, the marker of a complete plan."""
    return (
        candidate.label == labels.HAS
        and candidate.out_id.startswith(_JOB_PREFIX)
        and candidate.in_id.startswith(_LOGICAL_PLAN_PREFIX)
    )


def stages(facts: Facts) -> Stages:
    """Split facts into the stages of a commit."""
    structure: list[Vertex] = []
    runs: list[Vertex] = []
    for vertex in facts.vertices:
        (runs if vertex.label in _EXECUTION_KINDS else structure).append(vertex)
    edges: list[Edge] = []
    markers: list[Edge] = []
    run_edges: list[Edge] = []
    for candidate in facts.edges:
        if is_marker(candidate):
            markers.append(candidate)
        elif _touches_execution(candidate):
            run_edges.append(candidate)
        else:
            edges.append(candidate)
    return Stages(tuple(structure), tuple(edges), tuple(markers), tuple(runs), tuple(run_edges))


def is_of_run(element: Vertex | Edge) -> bool:
    """Whether this is a day, a run or an execution, or an edge at one."""
    if isinstance(element, Vertex):
        return element.label in _EXECUTION_KINDS
    return _touches_execution(element)


def _touches_execution(candidate: Edge) -> bool:
    prefixes = _EXECUTION_PREFIXES
    return candidate.out_id.startswith(prefixes) or candidate.in_id.startswith(prefixes)
