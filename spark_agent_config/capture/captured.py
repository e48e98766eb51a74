"""One query as plain values that outlive the JVM objects: whose job it is, and which write it is.

The callback fills these in while Spark waits; everything after that is pure and runs elsewhere.

**Flows.** Each flow of a Declarative Pipeline is a job of its own. ``spark-pipelines run`` starts a
Python process that hosts the Connect server, so its listener hears the writes of all flows, in one
application. A flow that streams names its query, as ``spark_catalog.default.hours_worked``; one
that does not (a materialised view) has the name of the table that it writes. The pipeline's name is
in its specification.

    payroll: managers, hours_worked -> jobs payroll/default.managers, payroll/default.hours_worked

A view is computed anew by each run: Spark empties its table, which is no query, and appends all of
its rows, so this is an overwrite.

**Writes inside another.** Spark reports both, the inner one first. An INSERT INTO a catalog table
over JDBC runs a save of its own, a CREATE TABLE AS SELECT of the second data source API an append.
Only the outer one knows the query and the table, so a possible inner one waits for it:

    a write into a table under creation (``staged``)   a minute: the outer write will come
    a write that may have no outer one (JDBC)          a moment

Queries of several threads end in any order, so the end of another query does not end the wait.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Final

UNKNOWN_MODE: Final = "Unknown"


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a catalog. ``location`` is the place of its data, if it is known."""

    name: str
    database: str | None = None
    location: str | None = None


@dataclass(frozen=True, slots=True)
class TableVersion:
    """A version of a Delta or Iceberg table.

    ``id`` is the format's own name of it (Delta's version, Iceberg's snapshot id). ``number``
    orders the versions of one ``branch``; None is the main one. ``since`` is the first version of
    a change feed.
    """

    id: str
    number: int
    branch: str | None = None
    since: int | None = None


@dataclass(frozen=True, slots=True)
class EarlierQuery:
    """The query whose rows an RDD holds: a checkpoint, or one batch of a stream.

    ``plan`` is its JSON, empty where that is too large; ``relations`` are the reads of its leaves.
    ``weight`` is about how many bytes it holds on to, with the origins of its own leaves.
    """

    plan: str
    relations: Mapping[int, Relation]
    weight: int

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(uri for r in self.relations.values() for uri in r.sources))


@dataclass(frozen=True, slots=True)
class Relation:
    """The read of a leaf of the plan.

    ``sources`` are URIs as the stock agent spells them: a Hadoop-qualified path, ``<jdbc
    url>:<table or query>``, a table's location, ``kafka:<topic>``. Empty means unknown. ``node``
    names the reading node if it is not the leaf itself (an RDD). ``version`` is set if the read is
    bound to one. ``roots`` is FILES or FOLDERS if a pattern was expanded to nothing else.
    ``unplaced`` is the name of the input if Spark does not give the place of the data. ``origin``
    is set for an RDD whose query is known: ``sources`` are all that it reads then. ``leaves`` is
    how many leaves of the plan are this one: a copied part of a plan keeps its ids.
    """

    sources: tuple[str, ...] = ()
    format: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    table: Table | None = None
    node: str | None = None
    version: TableVersion | None = None
    roots: str | None = None
    unplaced: str | None = None
    origin: EarlierQuery | None = None
    leaves: int = 1

    @property
    def extra(self) -> dict[str, str | None]:
        """The fields for an operation beside its parameters."""
        return {"sourceType": self.format, **({"roots": self.roots} if self.roots else {})}


@dataclass(frozen=True, slots=True)
class Target:
    """The target and the mode of a command.

    ``mode`` is Spark's SaveMode by name (Append, Overwrite, ErrorIfExists, Ignore), empty for a
    command that writes no rows, or UNKNOWN_MODE. ``partition_columns`` None: not known; empty: the
    target is not partitioned. ``replaced_by`` are the columns whose values decide which rows an
    overwrite replaces; None: not known. ``renamed`` is set for a renamed table: (former, current).
    ``unplaced`` is as in a Relation: ``uri`` is a name then.
    """

    uri: str
    mode: str = ""
    format: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    table: Table | None = None
    partition_columns: tuple[str, ...] | None = None
    static_partitions: Mapping[str, str] = field(default_factory=dict)
    dynamic_partition_overwrite: bool | None = None
    replaced_by: tuple[str, ...] | None = ()
    renamed: tuple[Table, Table] | None = None
    unplaced: str | None = None

    @property
    def append(self) -> bool:
        """Whether the former rows stay. An unknown mode counts as append: it hides no history."""
        return self.mode in {"Append", UNKNOWN_MODE}

    @property
    def replaces_partitions(self) -> bool:
        """Whether an overwrite replaces every partition that it changes as a whole.

        ``replaceWhere dt = 'd1'`` does in a table partitioned by dt; ``amount > 7`` leaves rows.
        """
        keys = {name.lower() for name in self.partition_columns or ()}
        return self.replaced_by is not None and keys.issuperset(map(str.lower, self.replaced_by))


@dataclass(frozen=True, slots=True)
class Application:
    """The Spark application that runs the queries, and the labels its plans carry.

    ``pipeline`` is the name of the Declarative Pipeline that it runs.
    """

    id: str
    name: str
    user: str
    spark_version: str
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    pipeline: str | None = None


@dataclass(frozen=True, slots=True)
class CapturedQuery:
    """One finished query with a write.

    ``plan`` is the analyzed plan's JSON as Spark writes it. ``relations`` are the reads of its
    leaves, keyed by the expression id of a leaf's first output column: ids are unique in a session,
    and two leaves with one id read the same table. ``schema`` is the type JSON of the written rows
    (the plan's JSON leaves out the types of computed columns). ``timestamp`` is epoch ms at the
    end; ``error`` is set when the query failed, ``duration_ns`` None where it is unknown, as of a
    query that failed before it was planned. ``written_partitions`` are ``dt=d1/h=3`` as paths spell
    them; empty: unknown. ``written_version`` is the version that the write made of a versioned
    table. ``reason`` is the effect of a command that moved no rows; ``unread`` the part of it that
    is unknown. ``staged``: the write is part of a command that makes the table (True), stands by
    itself (False), or unknown (None). ``stream`` is the name of the streaming query, if it has one.
    """

    command: str
    plan: str
    target: Target
    relations: Mapping[int, Relation] = field(default_factory=dict)
    schema: str | None = None
    timestamp: int = 0
    duration_ns: int | None = None
    error: str | None = None
    read_metrics: Mapping[str, int] = field(default_factory=dict)
    write_metrics: Mapping[str, int] = field(default_factory=dict)
    written_partitions: tuple[str, ...] = ()
    written_version: TableVersion | None = None
    reason: str | None = None
    unread: str | None = None
    staged: bool | None = None
    stream: str | None = None


# --- flows of a Declarative Pipeline -------------------------------------------------------------

#: The program of ``spark-pipelines``, inside PySpark.
_PROGRAM: Final = ("pyspark", "pipelines", "cli.py")
_COMMANDS: Final = frozenset({"run", "dry-run"})
_SPEC: Final = "--spec"
_SPECS: Final = ("spark-pipeline.yaml", "spark-pipeline.yml")
_OWN_CATALOG: Final = "spark_catalog."
_JOB, _NAMESPACE = "job", "namespace"
#: The commands of ``saveAsTable``. A MERGE of a flow of changes is another.
_OF_VIEWS: Final = frozenset({
    "CreateDataSourceTableAsSelectCommand", "InsertIntoHadoopFsRelationCommand", "AppendData",
    "SaveAsV1TableCommand", "InsertIntoHiveTable", "SaveIntoDataSourceCommand",
})  # fmt: skip


def pipeline_of(arguments: Sequence[str], folder: Path) -> str | None:
    """The pipeline that this process runs, by its command line; None: it runs none.

    A specification that cannot be read names it by its folder: the run fails, or knows better.
    """
    program, *rest = arguments or [""]
    if PurePath(program).parts[-3:] != _PROGRAM or not _COMMANDS.intersection(rest[:1]):
        return None
    spec = _given_spec(rest, folder) or _nearest_spec(folder)
    if spec is None:
        return folder.name
    try:
        import yaml  # spark-pipelines needs it, no other job of Spark does

        name = yaml.safe_load(spec.read_text("utf-8"))["name"]
    except Exception:
        name = None
    return name if isinstance(name, str) and name else spec.absolute().parent.name


def of_flow(application: Application, query: CapturedQuery) -> Application:
    """The application as the flow that made a write: the flow is the job, in the pipeline's
    namespace. A job that is set replaces the pipeline's name; in a namespace that is set, that name
    is part of the job's.
    """
    if application.pipeline is None:
        return application
    (pipeline,) = application.labels.get(_JOB) or (application.pipeline,)
    flow = _flow_of(query)
    if _NAMESPACE in application.labels:
        return replace(application, labels={**application.labels, _JOB: (f"{pipeline}.{flow}",)})
    labels = {_JOB: (flow,), _NAMESPACE: (pipeline,)}
    return replace(application, labels={**application.labels, **labels})


def with_view(application: Application, query: CapturedQuery) -> CapturedQuery:
    """The query with its mode, if it is that of a pipeline's view: the batch that appends."""
    target = query.target
    is_view = application.pipeline is not None and query.stream is None
    if not (is_view and target.mode == "Append" and query.command in _OF_VIEWS):
        return query
    return replace(
        query, target=replace(target, mode="Overwrite", dynamic_partition_overwrite=False)
    )


def _flow_of(query: CapturedQuery) -> str:
    """``default.managers``; a catalog that is not Spark's own counts."""
    table = query.target.table
    if query.stream is not None:
        name = query.stream
    elif table is not None:
        name = f"{table.database}.{table.name}" if table.database else table.name
    else:
        name = query.target.uri.rstrip("/").rpartition("/")[2]
    return name.removeprefix(_OWN_CATALOG)


def _given_spec(arguments: Sequence[str], folder: Path) -> Path | None:
    for position, argument in enumerate(arguments):
        if argument.startswith(f"{_SPEC}="):
            return folder / argument.partition("=")[2]
        if argument == _SPEC:
            return next((folder / path for path in arguments[position + 1 :]), None)
    return None


def _nearest_spec(folder: Path) -> Path | None:
    """In the folder, else in the nearest one above it, as ``spark-pipelines`` looks for it."""
    places = (above / name for above in (folder, *folder.parents) for name in _SPECS)
    return next((place for place in places if place.is_file()), None)


# --- writes inside another -----------------------------------------------------------------------

#: The command around, and the commands that it may have run.
_ENCLOSED: Final = {
    "InsertIntoDataSourceCommand": frozenset({"SaveIntoDataSourceCommand"}),
    "DeleteFromTable": frozenset({"SaveIntoDataSourceCommand"}),  # Hudi's
    "CreateTableAsSelect": frozenset({"AppendData", "OverwriteByExpression"}),
    "ReplaceTableAsSelect": frozenset({"AppendData", "OverwriteByExpression"}),
}
_INNER: Final = frozenset(name for names in _ENCLOSED.values() for name in names)
_ALONE_SECONDS: Final = 5.0
#: The time for the commit to the catalog, which comes in between.
_STAGED_SECONDS: Final = 60.0
_MOST_HELD: Final = 100


@dataclass(frozen=True, slots=True)
class _Held:
    query: CapturedQuery
    until: float


class NestedWrites:
    """Holds writes until the one around them ends. Not for several threads at once.

    ``now`` is in seconds, by a clock that never goes back.
    """

    def __init__(self) -> None:
        self._held: list[_Held] = []

    @property
    def next_due(self) -> float | None:
        """When the first held write has waited long enough; None: no write is held."""
        return min((held.until for held in self._held), default=None)

    def admit(self, captured: list[CapturedQuery], now: float) -> list[CapturedQuery]:
        """The writes to report now that a query has ended with these; may be empty."""
        ready = []
        for query in captured:
            query = self._with_inner(query)
            if query.command in _INNER and query.staged is not False:
                wait = _STAGED_SECONDS if _is_going_on(query) else _ALONE_SECONDS
                self._held.append(_Held(query, now + wait))
            else:
                ready.append(query)
        return [*self.due(now), *ready]

    def due(self, now: float) -> list[CapturedQuery]:
        """The held queries whose wait is over, and the oldest where there are too many."""
        late = [held for held in self._held[:-_MOST_HELD] if held.until > now]
        return self._take([*(held for held in self._held if held.until <= now), *late])

    def release(self, *, staged: bool) -> list[CapturedQuery]:
        """The held writes; with ``staged`` also parts of an unfinished write."""
        return self._take([held for held in self._held if staged or not _is_going_on(held.query)])

    def _take(self, taken: list[_Held]) -> list[CapturedQuery]:
        self._held = [held for held in self._held if held not in taken]
        return [held.query for held in taken]

    def _with_inner(self, outer: CapturedQuery) -> CapturedQuery:
        """A write with the fields of the one inside it, which is then held no longer."""
        inside = [held for held in self._held if _encloses(outer, held.query)]
        if not inside:
            return outer
        (inner,) = self._take(inside[-1:])
        return _with_outcome(outer, inner)


def _is_going_on(query: CapturedQuery) -> bool:
    """Whether the command that makes the table will be heard of: it may not know its place then
    where the write inside it failed.
    """
    return query.staged is True and query.error is None


def _encloses(outer: CapturedQuery, inner: CapturedQuery) -> bool:
    inside = _ENCLOSED.get(outer.command, frozenset())
    return inner.command in inside and (
        inner.target.uri == outer.target.uri or _is_its_place(outer.target, inner.target)
    )


def _is_its_place(outer: Target, inner: Target) -> bool:
    """Whether a write that failed inside another knows the place of the table, which is gone."""
    if outer.unplaced is None or outer.table is None or inner.table is None:
        return False
    named = (outer.table.database, outer.table.name)
    return inner.unplaced is None and named == (inner.table.database, inner.table.name)


def _with_outcome(outer: CapturedQuery, inner: CapturedQuery) -> CapturedQuery:
    target = outer.target
    if target.unplaced is not None:
        target = replace(
            target, uri=inner.target.uri, format=inner.target.format, unplaced=inner.target.unplaced
        )
    return replace(
        outer,
        target=target,
        read_metrics=outer.read_metrics or inner.read_metrics,
        write_metrics=outer.write_metrics or inner.write_metrics,
        written_partitions=outer.written_partitions or inner.written_partitions,
        written_version=outer.written_version or inner.written_version,
    )
