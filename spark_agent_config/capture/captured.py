"""One query as plain values that outlive the JVM objects.

The callback fills these in while Spark waits; everything after that is pure and runs elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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
    is set for an RDD whose query is known: ``sources`` are all that it reads then.
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
