"""The vocabulary of the graph: every label and property key, spelled here and nowhere else.

Notebooks and saved queries depend on these words; docs/graph.md explains them, and a test holds
the two together. Edges point the way data flows, so ``out()`` walks downstream.
"""

from __future__ import annotations

from typing import Final

# Vertices.
DATASET: Final = "dataset"
COLUMN: Final = "column"
SCHEMA: Final = "schema"
JOB: Final = "job"
LOGICAL_PLAN: Final = "logical_plan"
OPERATION: Final = "operation"
EXECUTION_PLAN: Final = "execution_plan"
DAY: Final = "day"
RUN: Final = "run"
EXECUTION: Final = "execution"

VERTEX_LABELS: Final = (
    DATASET, COLUMN, SCHEMA, JOB, LOGICAL_PLAN, OPERATION, EXECUTION_PLAN, DAY, RUN, EXECUTION,
)  # fmt: skip

# Edges.
HAS: Final = "has"
FEEDS: Final = "feeds"
READS: Final = "reads"
WRITES: Final = "writes"
DERIVES: Final = "derives"
INFLUENCES: Final = "influences"
NAMES: Final = "names"
SUPPLIES: Final = "supplies"
IS: Final = "is"
PERFORMED: Final = "performed"
FOLLOWED: Final = "followed"

EDGE_LABELS: Final = (
    HAS, FEEDS, READS, WRITES, DERIVES, INFLUENCES, SUPPLIES, NAMES, IS, PERFORMED, FOLLOWED,
)  # fmt: skip

# Kinds of a column edge: a value flows (DIRECT), or only decides (INDIRECT).
DIRECT: Final = "DIRECT"
INDIRECT: Final = "INDIRECT"

# How a value flows, weakest first; composing two steps keeps the stronger.
IDENTITY: Final = "IDENTITY"
TRANSFORMATION: Final = "TRANSFORMATION"
AGGREGATION: Final = "AGGREGATION"
DIRECT_HOWS: Final = (IDENTITY, TRANSFORMATION, AGGREGATION)

# How a column decides: the first two concern one output column, the others the whole plan.
WINDOW: Final = "WINDOW"
CONDITIONAL: Final = "CONDITIONAL"
FILTER: Final = "FILTER"
JOIN: Final = "JOIN"
GROUP_BY: Final = "GROUP_BY"
SORT: Final = "SORT"
COLUMN_INDIRECT_HOWS: Final = (WINDOW, CONDITIONAL)
PLAN_INDIRECT_HOWS: Final = (FILTER, JOIN, GROUP_BY, SORT)
# An influence whose kind a document leaves open. Other words are a client's own, kept as they are.
UNSPECIFIED: Final = "UNSPECIFIED"
# In answers alone: a job reads the column's table, and no document names the columns that it reads.
MAY_READ: Final = "MAY_READ"
# In answers alone: all columns of a table (``supplies``).
ANY_COLUMN: Final = "*"
# Between several expressions in the one ``expression`` of an edge, which are sorted.
BETWEEN_EXPRESSIONS: Final = " | "

# The effect of a write on the former content.
OVERWRITE: Final = "overwrite"
APPEND: Final = "append"
LIFECYCLE: Final = "lifecycle"  # DROP, TRUNCATE, CREATE without a query: never a write
UNKNOWN_MODE: Final = "unknown"  # no document says it; it closes nothing
MODES: Final = (OVERWRITE, APPEND, LIFECYCLE, UNKNOWN_MODE)
NO_WRITE: Final = "none"  # a plan that only reads
# Of an execution alone: an overwrite of some partitions, which closes nothing of the others.
OVERWRITE_PARTITIONS: Final = "overwrite-partitions"
OVERWRITES: Final = (OVERWRITE, OVERWRITE_PARTITIONS)
KEEPING_MODES: Final = (APPEND, UNKNOWN_MODE)  # the former content may still be there
EXECUTION_MODES: Final = (*MODES, OVERWRITE_PARTITIONS)

# States of an execution and of a run. Aborted: stopped or skipped, by its own end, by the end of
# the run above it, or because it is silent; it is no failure that somebody has to mend.
COMPLETED: Final = "completed"
FAILED: Final = "failed"
ABORTED: Final = "aborted"
STATES: Final = (COMPLETED, FAILED, ABORTED)
# Of a run, and of an execution while its run has not ended: it is a completed one until then.
RUNNING: Final = "running"
SHOWN_STATES: Final = (*STATES, RUNNING)
#: A run without an event for so long is stale (milliseconds).
STALE_AFTER_MS: Final = 24 * 3_600_000
#: So many parents, each above the one before, are looked at for the state of a run.
MOST_RUNS_ABOVE: Final = 100

# Kinds of an execution: the effect of its row on history.
LIFECYCLE_KIND: Final = "lifecycle"
WRITE_KIND: Final = "write"
READ_KIND: Final = "read"
DECLARATION_KIND: Final = "declaration"
# The beginning of the subject key of a person's declaration.
DECLARATION_SUBJECT: Final = "declaration:"

# Where an edge comes from; without one it comes from a plan.
EXPLICIT: Final = "explicit"  # a lineage facet says so
COLUMN_ORIGIN: Final = "column"  # column lineage says so
SQL_ORIGIN: Final = "sql"  # the text of the job's query says so
IMPLIED: Final = "implied"  # a run has it among its inputs and outputs
DECLARED: Final = "declared"  # a person says so; inputs and outputs of a job described, not run
METADATA: Final = "metadata"  # a plan reads a table about this one (Iceberg's t.snapshots), no row
ORIGINS: Final = (EXPLICIT, COLUMN_ORIGIN, SQL_ORIGIN, IMPLIED, DECLARED, METADATA)

# Kinds of an operation: by the list of the plan that it stands in.
READ: Final = "read"
TRANSFORM: Final = "transform"
WRITE: Final = "write"

# The name of every write operation: the command's class names the way, not the write.
WRITE_NAME: Final = "Write"

# Commands that run an insert of their own; Spark reports both, the insert first.
HIVE_CTAS: Final = "CreateHiveTableAsSelectCommand"
CTAS_COMMANDS: Final = (
    "CreateDataSourceTableAsSelectCommand",
    HIVE_CTAS,
    "InsertIntoDataSourceDirCommand",  # INSERT OVERWRITE DIRECTORY
)

# The producers of one write that Spline's agent reports in two forms.
AGENT: Final = "spline"
DISPATCHER: Final = "openlineage-spline"  # the agent's OpenLineage dispatcher

# Codes of the gaps of a plan: parts that its document leaves open. A producer may have its own.
#: A text leaves open which columns it takes of a table (``*``), or of which table a column is: the
#: schemas in the catalogue say so when a question is asked.
OPEN_COLUMNS: Final = "open-columns"
#: An expression holds a query that is not in the document.
SUBQUERY: Final = "subquery"
#: An overwrite that may have kept some partitions: no document reports which.
PARTITIONS_UNKNOWN: Final = "partitions-unknown"
#: Parts that are left out because the plan grows too large.
TOO_LARGE: Final = "column-lineage-too-large"
SCHEMAS_TOO_LARGE: Final = "schemas-too-large"
OPERATIONS_TOO_LARGE: Final = "operations-too-large"
#: The fields of structs with their sources are too many: a field has the sources of its struct.
FIELDS_TOO_MANY: Final = "fields-too-many"


def kind_of(how: str) -> str:
    """The kind of flow that a value takes from a column (DIRECT), or by which one decides."""
    return DIRECT if how in DIRECT_HOWS else INDIRECT
