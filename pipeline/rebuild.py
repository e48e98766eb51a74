"""The Spark job: a journal -> files for the bulk loader, catalogue rows, and a manifest.

    lines -> sorted by subject key -> translated (once, kept under work/)
          -> one record an id, contradictions listed -> counted and hashed -> files

Every stage ends in files, so nothing is translated twice when memory runs short. A task holds a
few plans (``subjects``) and its latest records, so that it repeats fewer of them.

Which executions the graph is to carry, with Spark's means: as ``graph_model.projection.kept_runs``.

newest:3    ranked by job, and the executions of these runs
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

from pyspark import RDD
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as f
from pyspark.sql.types import BooleanType, StringType, StructField, StructType

from graph_model import identity
from graph_model.errors import ConfigurationError
from graph_model.facts import Edge, ExecutionRow, Vertex
from graph_model.producers.elements import run_elements
from graph_model.producers.registry import PRODUCERS, Producers, projection_epoch
from graph_model.projection.run_window import DEFAULT, CarriedRuns, RunWindow
from graph_model.stores.catalogue.tables import VERSION as CATALOGUE_VERSION
from pipeline.journal import REFUSED, Line, Source, WorkerCommands, read_commands_in_force
from pipeline.records import (
    CONTENT_PARTS,
    COUNTS,
    EDGES,
    ROWS,
    SET_ASIDE,
    VERTICES,
    Record,
    element_record,
    header,
    read_element,
    record,
)
from pipeline.result import FILE, FileGroup, JournalCounts, Manifest, write_manifest
from pipeline.translating import ORDER, RANK, PartitionTranslation, problems_of, sum_counts

_MODULUS: Final = 1 << 256  # of digests.elements_digest
_CONFLICTS_NAMED: Final = 100
_GROUPS_TOGETHER: Final = 4
_SCHEMA: Final = StructType([StructField(name, StringType(), False) for name in Record._fields])
_UNIQUE: Final = StructType([*_SCHEMA.fields, StructField("conflict", BooleanType(), False)])

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Request:
    """``file_bytes``: about how large a file may be before it is compressed. ``runs``: those that
    the graph is to carry.
    """

    source: Source
    destination: str
    created_at: int  # epoch ms
    file_bytes: int
    partitions: int | None = None
    keep_work: bool = False
    producers: Producers = PRODUCERS
    runs: RunWindow = DEFAULT


def rebuild(spark: SparkSession, request: Request, say: Say) -> Manifest:
    """Run the job. Raises ConfigurationError for a destination that holds something."""
    destination = OutputFolder(spark, request.destination)
    destination.check_empty()
    job = _Job(spark, request, destination, _Watch(say))
    manifest = job.run()
    if not request.keep_work:
        destination.remove("work")
    destination.write_text(FILE, write_manifest(manifest))
    return manifest


class _Watch:
    """Prints the finished steps, and their times."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._last = time.monotonic()

    def done(self, text: str) -> None:
        now = time.monotonic()
        self._say(f"{now - self._last:8.1f} s  {text}")
        self._last = now


@dataclass(frozen=True, slots=True)
class _Summary:
    """Of one label, or one kind of row. ``total`` is the sum of the hashes."""

    count: int
    size: int
    total: int
    shapes: frozenset[str]

    def __add__(self, other: _Summary) -> _Summary:
        return _Summary(
            self.count + other.count,
            self.size + other.size,
            (self.total + other.total) % _MODULUS,
            self.shapes | other.shapes,
        )


_NOTHING: Final = _Summary(0, 0, 0, frozenset())
_Summaries = dict[tuple[str, str], _Summary]


class _Job:
    def __init__(
        self, spark: SparkSession, request: Request, destination: OutputFolder, watch: _Watch
    ) -> None:
        self._spark = spark
        self._request = request
        self._destination = destination
        self._watch = watch
        self._partitions = request.partitions or 3 * spark.sparkContext.defaultParallelism

    def run(self) -> Manifest:
        commands = read_commands_in_force(self._request.source.commands(self._spark))
        self._watch.done(f"{commands.count:,} commands read")
        self._translate(commands)
        counts, states = sum_counts(self._counts())
        self._watch.done(
            f"{counts['documents']:,} documents of {counts['plan_ids']:,} plan ids translated"
        )
        conflict_count, conflicts = self._deduplicate()
        noted = self._add_runs()
        summaries = self._summarise()
        groups = {part: self._write_part(part, summaries) for part in CONTENT_PARTS}
        self._write_set_aside()
        return Manifest(
            created_at=self._request.created_at,
            epoch=identity.digest(
                projection_epoch(commands.rules, self._request.producers), CATALOGUE_VERSION
            ),
            translator=" ".join(map(str, self._request.producers.versions)),
            catalogue_version=CATALOGUE_VERSION,
            journal=JournalCounts(
                counts["documents"],
                counts["plan_ids"],
                counts["commands"],
                counts["last_position"],
                dict(sorted(states.items())),
                counts[REFUSED],
            ),
            vertices=groups[VERTICES],
            edges=groups[EDGES],
            rows=groups[ROWS],
            elements_digest=_elements_digest(summaries),
            conflict_count=conflict_count,
            conflicts=conflicts,
            problems=problems_of(counts),
            graph_runs=noted,
        )

    # --- journal -> records ----------------------------------------------------------------------

    def _translate(self, commands: WorkerCommands) -> None:
        producers = self._request.producers
        shared = self._spark.sparkContext.broadcast((commands, producers))

        def translate(rows: Iterator[Any]) -> Iterator[Record]:
            rules, formats = shared.value
            translation = PartitionTranslation(rules, producers=formats)
            return translation.records(_lines(rows))

        adds = f.col("kind").isin(sorted(producers.additions))
        lines = self._request.source.lines(self._spark, self._partitions).withColumn(RANK, adds)
        together = lines.repartition(self._partitions, "subject_key").sortWithinPartitions(*ORDER)
        records = together.rdd.mapPartitions(translate)
        self._keep("facts", self._spark.createDataFrame(records, _SCHEMA, verifySchema=False))

    def _keep(self, name: str, records: DataFrame, *, beside: bool = False) -> None:
        """``beside``: there are others already."""
        writer = records.write.mode("append" if beside else "error")
        writer.partitionBy("part", "name").parquet(self._destination.path("work", name))

    def _kept(self, name: str) -> DataFrame:
        schema = _UNIQUE if name == "unique" else _SCHEMA
        return self._spark.read.schema(schema).parquet(self._destination.path("work", name))

    def _counts(self) -> list[str]:
        kept = self._kept("facts")
        return [row["content"] for row in kept.where(kept["part"] == COUNTS).collect()]

    # --- each id once ----------------------------------------------------------------------------

    def _deduplicate(self) -> tuple[int, tuple[str, ...]]:
        """How many ids came with different content, and the first of them; the least is kept."""
        facts = self._kept("facts").where(f.col("part").isin(*CONTENT_PARTS))
        self._keep("unique", each_once(facts))
        conflicting = self._kept("unique").where("conflict")
        named = conflicting.orderBy("part", "name", "id").limit(_CONFLICTS_NAMED).collect()
        conflicts = tuple(f"{row['part']} {row['name']} {row['id']}" for row in named)
        count = conflicting.count() if len(named) == _CONFLICTS_NAMED else len(named)
        self._watch.done(f"each fact kept once, {count:,} contradict each other")
        return count, conflicts

    def _add_runs(self) -> str:
        """Of the executions that came out those that the window wants become elements; the text
        that notes it.
        """
        window, kept = self._request.runs, self._kept("unique")
        rows = kept.where((kept["part"] == ROWS) & (kept["name"] == ExecutionRow.__name__))
        executions = executions_of(rows)
        wanted = wanted_executions(executions, window)
        records = wanted.select("content").rdd.mapPartitions(run_records)
        elements = self._spark.createDataFrame(records, _SCHEMA, verifySchema=False)
        self._keep("unique", each_once(elements), beside=True)
        self._watch.done(f"runs added: {window}")
        return str(CarriedRuns(window))

    def _summarise(self) -> _Summaries:
        total: _Summaries = {}
        for key, summary in self._kept("unique").rdd.mapPartitions(_summarise).collect():
            total[key] = total.get(key, _NOTHING) + summary
        self._watch.done(
            f"{sum(summary.count for summary in total.values()):,} facts counted and hashed"
        )
        return total

    # --- records -> files ------------------------------------------------------------------------

    def _write_part(self, part: str, summaries: _Summaries) -> dict[str, FileGroup]:
        """Several labels at a time: most of them are one small task, and a cluster has many."""
        chosen = {name: summary for (of, name), summary in sorted(summaries.items()) if of == part}
        with ThreadPoolExecutor(_GROUPS_TOGETHER) as threads:
            written = threads.map(lambda item: self._write_group(part, *item), chosen.items())
            groups = dict(zip(chosen, written, strict=True))
        self._watch.done(f"{sum(group.count for group in groups.values()):,} {part} written")
        return groups

    def _write_group(self, part: str, name: str, summary: _Summary) -> FileGroup:
        columns = columns_of(name, summary.shapes)
        files = max(1, -(-summary.size // self._request.file_bytes))
        kept = self._kept("unique")
        chosen = kept.where((kept["part"] == part) & (kept["name"] == name)).select("id", "content")
        spread = chosen.coalesce(1) if files == 1 else chosen.repartition(files, "id")

        def write(rows: Iterator[Any]) -> Iterator[str]:
            return _file(part, columns, (row["content"] for row in rows))

        lines = spread.sortWithinPartitions("id").rdd.mapPartitions(write)
        self._destination.write_lines(lines, part, name)
        return FileGroup(summary.count, self._destination.count_files(part, name), columns)

    def _write_set_aside(self) -> None:
        kept = self._kept("facts")
        lines = kept.where(kept["part"] == SET_ASIDE).select("content").coalesce(1)
        self._destination.write_lines(lines.rdd.map(lambda row: row["content"]), SET_ASIDE)


def each_once(facts: DataFrame) -> DataFrame:
    """One record an id; where several differ the least, marked as a ``conflict``."""
    counted = facts.groupBy("part", "name", "id").agg(
        f.min(f.struct("content", "shape")).alias("least"),
        f.max("content").alias("greatest"),
    )
    conflict = (f.col("least.content") != f.col("greatest")).alias("conflict")
    return counted.select("part", "name", "id", "least.content", "least.shape", conflict)


def _lines(rows: Iterable[Any]) -> Iterator[Line]:
    for row in rows:
        line = Line(*row[: len(Line._fields)])
        yield line._replace(body=bytes(line.body))


def _summarise(rows: Iterable[Any]) -> Iterator[tuple[tuple[str, str], _Summary]]:
    """Per label and kind of row; a record's content is the text that ``HashSum`` hashes."""
    total: _Summaries = {}
    for row in rows:
        key, content = (row["part"], row["name"]), row["content"].encode()
        hashed = int.from_bytes(hashlib.sha256(content).digest(), "big")
        summary = _Summary(1, len(content), hashed, frozenset({row["shape"]}))
        total[key] = total.get(key, _NOTHING) + summary
    yield from total.items()


def _elements_digest(summaries: _Summaries) -> str:
    """The result of ``digests.elements_digest`` for the same elements."""
    total = sum(summary.total for (part, _), summary in summaries.items() if part != ROWS)
    return f"{total % _MODULUS:064x}"


def columns_of(name: str, shapes: Iterable[str]) -> dict[str, str]:
    """Property -> type over all shapes. Raises ConfigurationError where a property has two types.

    ``("index:Long", "index:Long,mode:String") => {"index": "Long", "mode": "String"}``
    """
    columns: dict[str, str] = {}
    for shape in sorted(shapes):
        for column in filter(None, shape.split(",")):
            key, _, kind = column.rpartition(":")
            if columns.setdefault(key, kind) != kind:
                raise ConfigurationError(f"{name}.{key} is {kind} here and {columns[key]} there")
    return dict(sorted(columns.items()))


def _file(part: str, columns: Mapping[str, str], contents: Iterator[str]) -> Iterator[str]:
    """The lines of one file; none for an empty one."""
    for number, content in enumerate(contents):
        if part == ROWS:
            yield content
            continue
        if number == 0:
            yield header(Vertex if part == VERTICES else Edge, columns)
        yield record(read_element(part, content), columns)


_FIELDS: Final = ("id", "job", "run", "at")


def executions_of(rows: DataFrame) -> DataFrame:
    """Records of executions -> ``id``, ``job``, ``run``, ``at`` (epoch ms), ``content``."""
    columns = {
        name: f.get_json_object("content", f"$[{ExecutionRow._fields.index(name)}]")
        for name in _FIELDS
    }
    columns["at"] = columns["at"].cast("long")
    named = [column.alias(name) for name, column in columns.items()]
    return rows.select(*named, "content")


def wanted_executions(executions: DataFrame, window: RunWindow) -> DataFrame:
    """The executions that the window selects."""
    if not window.count:
        return executions.limit(0)
    seen = _first(executions, window.executions, "at", "id")
    runs = seen.groupBy("job", "run").agg(f.max("at").alias("at"))
    newest = _first(runs, window.count, "at", "run").select("job", "run")
    return _first(executions.join(newest, ["job", "run"]), window.executions, "at", "id")


def _first(rows: DataFrame, count: int, *order: str) -> DataFrame:
    """The greatest of each job by these columns."""
    by_job = Window.partitionBy("job").orderBy(*(f.desc(name) for name in order))
    ranked = rows.withColumn("place", f.row_number().over(by_job))
    return ranked.where(f.col("place") <= count).drop("place")


def run_records(rows: Iterable[Any]) -> Iterator[Record]:
    """The elements of each execution, days and runs as often as they are named. Plain Python."""
    for row in rows:
        for element in run_elements(ExecutionRow(*json.loads(row["content"]))):
            yield element_record(element)


_GZIP: Final = "org.apache.hadoop.io.compress.GzipCodec"
_NO_MARK: Final = "mapreduce.fileoutputcommitter.marksuccessfuljobs"


class OutputFolder:
    """One folder. Hadoop's classes are reached through the session's own bridge to Java."""

    def __init__(self, spark: SparkSession, root: str) -> None:
        self._root = root.rstrip("/")
        context: Any = spark.sparkContext
        self._java = context._jvm
        self._configuration = context._jsc.hadoopConfiguration()
        # An empty _SUCCESS among the files would be one more for Neptune's loader to read.
        self._configuration.set(_NO_MARK, "false")
        self._system = self._path().getFileSystem(self._configuration)
        self._system.setWriteChecksum(False)  # no .crc files, which would go to S3 with the rest

    def path(self, *parts: str) -> str:
        """``path("work", "facts") => "s3a://bucket/prefix/work/facts"``."""
        return "/".join((self._root, *parts))

    def check_empty(self) -> None:
        """Raises ConfigurationError for a folder that holds something: two rebuilds in one folder
        would be loaded as one graph.
        """
        if self._system.exists(self._path()) and self._system.listStatus(self._path()):
            raise ConfigurationError(f"{self._root} is not empty: name a fresh folder or prefix")

    def write_lines(self, lines: RDD[str], *parts: str) -> None:
        """One gzip file for each partition."""
        lines.saveAsTextFile(self.path(*parts), compressionCodecClass=_GZIP)

    def write_text(self, name: str, text: str) -> None:
        """One small file."""
        stream = self._system.create(self._path(name))
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()

    def count_files(self, *parts: str) -> int:
        """How many files of lines there are."""
        statuses = self._system.listStatus(self._path(*parts))
        return sum(status.getPath().getName().endswith(".gz") for status in statuses)

    def remove(self, *parts: str) -> None:
        """A folder below, with all in it."""
        self._system.delete(self._path(*parts), True)

    def _path(self, *parts: str) -> Any:
        return self._java.org.apache.hadoop.fs.Path(self.path(*parts))
