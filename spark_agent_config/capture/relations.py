"""The leaves of a plan as reads, in the stock agent's spelling."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from spark_agent_config.capture.captured import EarlierQuery, Relation, Table
from spark_agent_config.capture.questions import (
    MOST,
    NO_OPTIONS,
    Questions,
    class_name,
    items,
    read_java_map,
    read_list,
    read_map,
)
from spark_agent_config.capture.table_versions import TableVersions
from spark_agent_config.capture.tables import (
    Tables,
    name_in_catalog,
    name_of_table,
    stores_nothing,
)

#: Leaves that need no answer: they read nothing that is stored.
_SILENT_LEAVES: Final = frozenset(
    {
        "LocalRelation", "Range", "OneRowRelation", "CTERelationRef", "UnionLoopRef", "Transpose",
        "ResolvedIdentifier", "StreamingRelation",
    }
)  # fmt: skip
#: The kinds of paths that a pattern was expanded to.
FILES: Final = "files"
FOLDERS: Final = "folders"
_WILDCARDS: Final = re.compile(r"[*?\[{]")
_CHANGE_FEED: Final = "DeltaCDFRelation"
KAFKA: Final = "kafka"
_KAFKA_RELATION: Final = "KafkaRelation"
#: The options of Kafka that tell the topics. Others have offsets, of each run, or secrets.
_KAFKA_OPTIONS: Final = (
    "kafka.bootstrap.servers", "topic", "subscribe", "subscribepattern", "assign",
)  # fmt: skip
_CHANGELOG: Final = "SparkChangelogTable"
_WITH: Final = re.compile(r"WITH\s", re.IGNORECASE)
_MADE_TEMPORARY: Final = re.compile(r"\sINTO\s+(?P<name>#\w+)(?=\s)", re.IGNORECASE)
_GENERATED_ALIAS: Final = re.compile(r"SPARK_GEN_SUBQ_\d+$")
#: ``emp_id#7``, ``pay#8L``, and of a column with a watermark ``at#9-T600000ms``.
_COLUMN_ID: Final = re.compile(r"#(\d+)L?(?:-T\d+ms)?$")
#: The largest origin of an RDD: if each round of a loop checkpoints, the plan has all rounds.
_MOST_ORIGIN_BYTES: Final = 2_000_000
_LEAST_ORIGIN_BYTES: Final = 10_000
_MOST_ORIGINS_BYTES: Final = 20_000_000


class Relations:
    """Reads leaves. ``jvm`` is a py4j handle.

    ``plan_of`` gives the JSON of a query, empty where it is too large; ``running`` the streaming
    queries of the JVM.
    """

    def __init__(
        self,
        questions: Questions,
        tables: Tables,
        versions: TableVersions,
        jvm: Any,
        plan_of: Callable[[Any], str],
        running: Callable[[], Sequence[Any]],
    ) -> None:
        self._plan_of = plan_of
        self._running = running
        self._versions = versions
        self._ask = questions.ask
        self._ask_quietly = questions.ask_quietly
        self._tables = tables
        self._jvm = jvm
        self._origins: dict[tuple[int, ...], EarlierQuery] = {}

    def of_query(self, query: Any, session: Any = None) -> dict[int, Relation]:
        """Answers for the leaves of a query and of the subqueries in it, by expression id.

        ``session`` has the settings that it ran with; None: unknown.
        """
        relations: dict[int, Relation] = {}
        subqueries: list[Any] = self._ask(
            "subqueries", lambda: list(items(query.subqueriesAll())), []
        )
        for plan in (query, *subqueries):
            for leaf in self._leaves(plan):
                for key, read in self._answer(leaf, session).items():
                    former = relations.get(key)
                    leaves = 1 if former is None else former.leaves + 1
                    relations[key] = replace(read, leaves=leaves)
        return relations

    def remember_checkpoint(self, execution: Any) -> EarlierQuery | None:
        """Keep the query of a checkpoint: its RDD forgets it, and keeps the ids of its columns."""
        plan, session = execution.analyzed(), self._ask_quietly(execution.sparkSession)
        return self._remember(plan, self.of_query(plan, session))

    def remember_stream(self, stream: Any) -> EarlierQuery | None:
        """Keep the query of a running ``StreamExecution``: a batch function sees RDDs of it."""
        query = stream.logicalPlan().query()
        return self._remember(query, self.of_stream(stream, query))

    def of_stream(self, stream: Any, query: Any) -> dict[int, Relation]:
        """As ``of_query``. Spark 3.5's running plan keeps no table of a v2 source; the one before
        it does.
        """
        analyzed = self._ask_quietly(lambda: self.of_query(stream.analyzedPlan()))
        return {**(analyzed or {}), **self.of_query(query)}

    def _remember(self, plan: Any, relations: Mapping[int, Relation]) -> EarlierQuery | None:
        columns = self._ask_quietly(lambda: column_ids(plan))
        if not columns:
            return None
        text = self._plan_of(plan)
        within = sum(r.origin.weight for r in relations.values() if r.origin is not None)
        weight = max(_LEAST_ORIGIN_BYTES, len(text)) + within
        if weight > _MOST_ORIGIN_BYTES:  # its tables alone
            relations = {key: replace(read, origin=None) for key, read in relations.items()}
            text, weight = "", _LEAST_ORIGIN_BYTES
        return self._keep(columns, EarlierQuery(text, relations, weight))

    def _keep(self, key: tuple[int, ...], origin: EarlierQuery) -> EarlierQuery:
        """The last ones, in a bounded number of bytes."""
        self._origins.pop(key, None)
        self._origins[key] = origin
        room = _MOST_ORIGINS_BYTES
        for kept, each in reversed(list(self._origins.items())):
            room -= each.weight
            if room < 0:
                del self._origins[kept]
        while len(self._origins) > MOST:
            del self._origins[next(iter(self._origins))]
        return origin

    def logical(self, leaf: Any) -> Relation:
        """A relation of the first data source API: files, JDBC, and vendors' additions."""
        relation = leaf.relation()
        table = self._tables.of_node(leaf)
        if class_name(relation) == "JDBCRelation":
            return self._jdbc(relation.jdbcOptions(), table)
        options = self._ask("relation options", lambda: read_map(relation.options()), NO_OPTIONS)
        version = self._ask_quietly(lambda: self._versions.of_delta_relation(relation))
        read = Relation((), self.format_of(relation), options, table, version=version)
        if table is not None and table.location is not None:
            return replace(read, sources=(table.location,))
        if class_name(relation) == _CHANGE_FEED:
            place = self._ask("change feed", lambda: _changed_place(relation), None)
            return replace(read, sources=_optional(place))
        if class_name(relation) == _KAFKA_RELATION:
            no_options: dict[str, str] = {}
            kafka = self._ask("topics", lambda: _kafka_options(relation), no_options)
            read = replace(read, format=KAFKA, options=kafka)
        placed = self._of_files(relation.location, read)
        uris = source_uris(read.format or "", lower_names(read.options))
        if placed is None and not uris:
            return replace(read, unplaced=class_name(relation))
        return placed or replace(read, sources=uris)

    def v2(
        self,
        table: Any,
        name: Table | None,
        options: Mapping[str, str],
        catalog: str | None = None,
    ) -> Relation:
        """A table of the second data source API: its files, its location, its JDBC table.

        If it has no place, its name in its catalog or that of its source stands for one.
        """
        read = self._v2(table, name, options, catalog)
        if catalog is not None and name is not None and read.unplaced is None and read.sources:
            self._tables.remember_in(catalog, name, read.sources[0])
        return read

    def _v2(
        self, table: Any, name: Table | None, options: Mapping[str, str], catalog: str | None
    ) -> Relation:
        table = self._ask_quietly(lambda: _wrapped_table(table)) or table
        properties = self._ask(
            "table properties",
            lambda: read_java_map(table.properties()),
            NO_OPTIONS,
        )
        provider = properties.get("provider") or self._ask_quietly(
            lambda: str(table.formatName()).lower()
        )
        read = self._of_files(table.fileIndex, Relation((), provider, options, name))
        if read is None and "location" in properties:
            read = Relation((with_scheme(properties["location"]),), provider, options, name)
        if read is not None:
            if provider == "delta" and name is not None:  # a table of the session's own catalog
                self._tables.remember(replace(name, location=read.sources[0]))
            return read
        jdbc = self._ask_quietly(table.jdbcOptions)
        if jdbc is not None:
            return self._jdbc(jdbc, name)
        kind = self._ask_quietly(lambda: str(table.name())) or ""
        uris = source_uris(kind, lower_names(options))
        if KAFKA in kind.lower():
            provider, options = KAFKA, _telling(options)
        if uris:
            return Relation(uris, provider, options, name)
        uri: str | None
        if catalog is not None and name is not None:
            uri = name_in_catalog(catalog, name.database, name.name)
        else:
            uri = name_of_table(kind, lower_names(options))
        return Relation(_optional(uri), provider, options, name, unplaced=uri)

    def _of_files(self, index: Callable[[], Any], read: Relation) -> Relation | None:
        """A read with the paths that it was given; None where it has no index of files."""
        roots = self._ask_quietly(lambda: read_list(index().rootPaths()))
        if not roots:
            return None
        kind = None
        if has_pattern(read.options):
            kind = self._ask("kind of paths", lambda: _kind_of_roots(index()), None)
        return replace(read, sources=roots, roots=kind)

    def v2_relation(self, leaf: Any, session: Any = None) -> Relation:
        """The same for a relation in a plan, which knows its name and options."""
        name = self._ask_quietly(lambda: v2_name(leaf.identifier().get()))
        options = self._ask_quietly(lambda: read_java_map(leaf.options().asCaseSensitiveMap()))
        catalog = self._ask_quietly(lambda: str(leaf.catalog().get().name()))
        read = self.v2(leaf.table(), name, options or NO_OPTIONS, catalog)
        if read.format == "iceberg":
            table = self._ask_quietly(lambda: _wrapped_table(leaf.table())) or leaf.table()
            version = self._ask_quietly(
                lambda: self._versions.of_iceberg_table(table, read.options, session)
            )
            read = replace(read, version=version)
        is_placed = bool(read.sources) and read.unplaced is None
        if is_placed or class_name(leaf.table()) != _CHANGELOG:
            return read
        return self._ask("changelog", lambda: self._changed_table(leaf, read), read)

    def _changed_table(self, leaf: Any, changes: Relation) -> Relation:
        """Iceberg's ``db.t.changes`` is read from db.t, and has no place of its own."""
        changed = list(leaf.identifier().get().namespace())
        identifier = self._jvm.org.apache.spark.sql.connector.catalog.Identifier.of(
            self._strings(changed[:-1]), changed[-1]
        )
        table = leaf.catalog().get().loadTable(identifier)
        read = self.v2(table, v2_name(identifier), changes.options)
        version = self._ask_quietly(lambda: self._versions.of_iceberg_changes(table, read.options))
        return replace(read, version=version)

    def _strings(self, names: Sequence[str]) -> Any:
        kind = self._jvm.java.lang.Class.forName("java.lang.String")
        array = self._jvm.java.lang.reflect.Array.newInstance(kind, len(names))
        for index, name in enumerate(names):
            array[index] = name
        return array

    def only_leaf(self, plan: Any) -> Relation | None:
        """The read of a plan that is one table under some names."""
        return self._leaf(plan.collectLeaves().head())

    def format_of(self, holder: Any) -> str | None:
        """``parquet``: the short name of a relation's or command's file format."""
        return self._ask_quietly(lambda: str(holder.fileFormat().shortName())) or self._ask_quietly(
            lambda: str(holder.fileFormat().toString()).lower()
        )

    # --- leaves ------------------------------------------------------------------------------

    def _leaves(self, plan: Any) -> list[Any]:
        return self._ask("leaves", lambda: list(items(plan.collectLeaves())), [])

    def _answer(self, leaf: Any, session: Any) -> dict[int, Relation]:
        def read() -> dict[int, Relation]:
            relation = self._leaf(leaf, session)
            return {} if relation is None else {expression_id(leaf): relation}

        nothing: dict[int, Relation] = {}
        return self._ask("leaf", read, nothing)

    def _leaf(self, leaf: Any, session: Any = None) -> Relation | None:
        name = str(leaf.nodeName()).split(" ")[0]
        if name in _SILENT_LEAVES:
            return None
        if name == "LogicalRelation":
            return self.logical(leaf)
        if name == "HiveTableRelation":
            return self._hive(leaf)
        if name == "LogicalRDD":
            return self._rdd(leaf)
        if name == "StreamingExecutionRelation":
            return self._stream_source(leaf)
        if name.startswith(("StreamingDataSourceV2", "StreamingRelationV2")):
            return self._stream_table(leaf)
        return self.v2_relation(leaf, session)

    def _jdbc(self, jdbc: Any, table: Table | None) -> Relation:
        options = self._ask("jdbc parameters", lambda: read_map(jdbc.parameters()), NO_OPTIONS)
        # Spark counts these aliases per session, which would make every run another plan.
        source = _GENERATED_ALIAS.sub("SPARK_GEN_SUBQ_0", str(jdbc.tableOrQuery()))
        source = with_prepared(source, self._ask_quietly(lambda: str(jdbc.prepareQuery())) or "")
        return Relation((f"{jdbc.url()}:{source}",), "jdbc", options, table)

    def _hive(self, leaf: Any) -> Relation:
        table = self._tables.described(leaf.tableMeta())
        return Relation(_optional(table.location), "hive", {}, table)

    # --- streams ---------------------------------------------------------------------------

    def _stream_source(self, leaf: Any) -> Relation:
        """A source of the first API calls itself by its place: ``FileStreamSource[file:/lake/in]``.

        The batch's own plan would name the files of that batch.
        """
        table = self._tables.of_node(leaf)
        kind, place = bracketed(str(leaf.source().toString()))
        form = "delta" if kind == "DeltaSource" else None
        if table is not None and table.location is not None:
            return Relation((table.location,), form, NO_OPTIONS, table)
        if "/" in place:
            return Relation((with_scheme(place),), form)
        return Relation((), form, unplaced=None if stores_nothing(kind) else kind)

    def _stream_table(self, leaf: Any) -> Relation:
        holder = self._ask_quietly(leaf.relation) or leaf
        options = self._ask_quietly(
            lambda: read_java_map(holder.extraOptions().asCaseSensitiveMap())
        ) or self._ask_quietly(lambda: read_java_map(holder.options().asCaseSensitiveMap()))
        name = self._ask_quietly(lambda: v2_name(holder.identifier().get()))
        catalog = self._ask_quietly(lambda: str(holder.catalog().get().name()))
        return self.v2(holder.table(), name, options or NO_OPTIONS, catalog)

    # --- RDDs --------------------------------------------------------------------------------

    def _rdd(self, leaf: Any) -> Relation | None:
        """An RDD turned into a DataFrame: the query that it was cut from, else the files at the
        bottom of its lineage.

        Directories are reported, not part files: the directory is the writer's name for it.
        """
        origin = self._ask("origin of an RDD", lambda: self._origin_of(leaf), None)
        if origin is not None and (origin.plan or origin.sources):
            return Relation(origin.sources, node="CheckpointRDD", origin=origin)
        sources: dict[str, None] = {}
        node: str | None = None
        pending = [leaf.rdd()]
        for _ in range(MOST):
            if not pending:
                break
            rdd = pending.pop()
            name = class_name(rdd)
            places = self._rdd_files(rdd, name)
            if places:
                node = name
                sources |= dict.fromkeys(places)
            else:
                pending.extend(dependency.rdd() for dependency in items(rdd.dependencies()))
        return Relation(tuple(sources), None, {}, None, node) if node else None

    def _origin_of(self, leaf: Any) -> EarlierQuery | None:
        """By the ids of its columns. The second use of a frame in a query has others: by its RDD,
        whose first use comes before.
        """
        rdd = (-1, int(leaf.rdd().id()))  # no columns have such ids
        columns = column_ids(leaf)
        origin = self._origins.get(columns) or self._origins.get(rdd) or self._batch(columns)
        return None if origin is None else self._keep(rdd, origin)

    def _batch(self, columns: tuple[int, ...]) -> EarlierQuery | None:
        """The running stream that has these columns."""
        for stream in self._running():
            if self._ask_quietly(partial(_columns_of_stream, stream)) == columns:
                return self.remember_stream(stream)
        return None

    def _rdd_files(self, rdd: Any, name: str) -> tuple[str, ...]:
        if name == "FileScanRDD":
            return self._ask("scanned files", lambda: _scanned_directories(rdd), ())
        if name == "DataSourceRDD":
            return self._ask("scanned table", lambda: _scanned_table(rdd), ())
        if name == "HadoopRDD":
            return self._ask("input paths", lambda: self._input_paths(rdd), ())
        return ()

    def _input_paths(self, rdd: Any) -> tuple[str, ...]:
        reader = self._jvm.org.apache.hadoop.mapred.FileInputFormat
        return tuple(str(path.toString()) for path in reader.getInputPaths(rdd.getJobConf()))


def source_uris(provider: str, options: Mapping[str, str]) -> tuple[str, ...]:
    """The URIs of a source that its options describe (names in small letters), as the agent has it.

    ``{"url": "jdbc:derby:db", "dbtable": "emp"}`` => ``jdbc:derby:db:emp``. A topic comes with its
    brokers, which the agent leaves out: clusters have topics of one name. Of a pattern of topics
    the topics are not known.
    """
    table = options.get("dbtable") or options.get("query")
    if options.get("url", "").startswith("jdbc:") and table:
        return (f"{options['url']}:{table}",)
    if KAFKA not in provider.lower():
        return ()
    servers = options.get("kafka.bootstrap.servers", "")
    start = f"kafka://{servers}/" if servers else "kafka:"
    return tuple(f"{start}{topic}" for topic in _topics(options))


def _topics(options: Mapping[str, str]) -> tuple[str, ...]:
    """``{"subscribe": "a,b"}`` or ``{"assign": '{"a": [0], "b": [0, 1]}'}`` => a, b."""
    if topic := options.get("topic"):
        return (topic,)
    if listed := options.get("subscribe"):
        return tuple(filter(None, map(str.strip, listed.split(","))))
    try:
        return tuple(json.loads(options.get("assign", "{}")))
    except ValueError:
        return ()


def _kafka_options(relation: Any) -> dict[str, str]:
    """A ``KafkaRelation`` has its options in a field that is not public."""
    field = relation.getClass().getDeclaredField("sourceOptions")
    field.setAccessible(True)
    return _telling(read_map(field.get(relation)))


def _telling(options: Mapping[str, str]) -> dict[str, str]:
    """The options of Kafka that tell the topics."""
    return {name: text for name, text in options.items() if name.lower() in _KAFKA_OPTIONS}


def with_prepared(source: str, prepared: str) -> str:
    """A table or query of JDBC with the statement that Spark sends before it (``prepareQuery``).

    ``t`` after ``WITH t AS (SELECT id FROM emp)`` is no table of the database: both are one query.
    Nor is ``#t`` after ``SELECT id INTO #t FROM emp``. Other statements leave the source as it is.
    """
    statement = prepared.strip()
    if made := _MADE_TEMPORARY.search(statement):
        rest = f"{statement[: made.start()]} {statement[made.end() :]}".strip("; ")
        statement = f"WITH {made['name']} AS ({rest})"
    if not _WITH.match(statement):
        return source
    return f"({statement} SELECT * FROM {source}) SPARK_GEN_SUBQ_0"  # noqa: S608 (never run)


def has_pattern(options: Mapping[str, str]) -> bool:
    """Whether a path in the options may have been expanded: ``/in/*.csv``."""
    named = lower_names(options)
    return any(_WILDCARDS.search(named.get(name, "")) for name in ("path", "paths"))


def bracketed(text: str) -> tuple[str, str]:
    """``FileSink[file:/lake/t]`` => (``FileSink``, ``file:/lake/t``)."""
    kind, _, place = text.partition("[")
    return kind, place.removesuffix("]")


def lower_names(options: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in options.items()}


def with_scheme(location: str) -> str:
    """``/lake/t`` => ``file:/lake/t``; a location that has a scheme stays as it is."""
    return location if ":" in location.split("/")[0] else f"file:{location}"


def v2_name(identifier: Any) -> Table:
    """A catalog's Identifier => the table's name."""
    return Table(str(identifier.name()), ".".join(identifier.namespace()) or None)


def expression_id(leaf: Any) -> int:
    """The id of a leaf's first output column: the key of its JSON."""
    return int(leaf.output().head().exprId().id())


def _columns_of_stream(stream: Any) -> tuple[int, ...]:
    return column_ids(stream.logicalPlan().query())


def column_ids(plan: Any) -> tuple[int, ...]:
    """The ids of a plan's output, in one call; none where one is not to be read from its text."""
    ids = [_COLUMN_ID.search(column) for column in read_list(plan.output())]
    return tuple(int(match[1]) for match in ids if match) if all(ids) else ()


def directory(path: str) -> str:
    """``file:///lake/t/part-0.parquet`` => ``file:///lake/t``."""
    return path.rpartition("/")[0] or path


def _changed_place(relation: Any) -> str:
    """The place of the table whose changes are read by its path."""
    return with_scheme(str(relation.snapshotWithSchemaMode().snapshot().path().getParent()))


def _kind_of_roots(index: Any) -> str | None:
    """FILES or FOLDERS if an index has only such paths: of listed paths only files are files."""
    roots = index.rootPaths().toSet()
    files = int(roots.intersect(index.leafFiles().keySet()).size())
    return {0: FOLDERS, int(roots.size()): FILES}.get(files)


def _wrapped_table(table: Any) -> Any | None:
    """The table of a row-level operation, which wraps it and has few fields itself."""
    return table.table() if class_name(table) == "RowLevelOperationTable" else None


def _scanned_directories(rdd: Any) -> tuple[str, ...]:
    directories: dict[str, None] = {}
    for partition in items(rdd.filePartitions()):
        for file in partition.files():
            directories[directory(str(file.filePath().toString()))] = None
    return tuple(directories)


def _scanned_table(rdd: Any) -> tuple[str, ...]:
    """The Iceberg table of a scan: its parts carry it, in a class that is not public."""
    for partition in rdd.partitions():
        for part in items(partition.inputPartitions()):
            table = part.getClass().getDeclaredMethod("table", None)
            table.setAccessible(True)
            return (with_scheme(str(table.invoke(part, None).location())),)
    return ()


def _optional(value: str | None) -> tuple[str, ...]:
    return () if value is None else (value,)
