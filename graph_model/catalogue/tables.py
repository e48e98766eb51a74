"""The tables of the catalogue: one for each kind of row, with an index for each question.

The columns of a table are the fields of its row, in their order; columns named ``search_*`` come
after them and are worked out from the row (see ``search.fold``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa

from graph_model.catalogue.search_text import column_text, dataset_text, job_text
from graph_model.database import StoredText
from graph_model.facts import (
    ColumnRow,
    DatasetRow,
    ExecutionPlanRow,
    ExecutionRow,
    JobRow,
    LogicalPlanRow,
    NameRow,
    PartitionRow,
    Row,
    SchemaRow,
    SchemaUseRow,
    SupportRow,
)

VERSION: Final = 1

metadata = sa.MetaData()


def _key(name: str) -> sa.Column[str]:
    return sa.Column(name, StoredText(), primary_key=True)


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, StoredText(), nullable=False)


datasets = sa.Table(
    "catalogue_datasets",
    metadata,
    _key("id"),
    _text("uri"),
    _text("scope"),
    _text("name"),
    _text("kind"),
    _text("search_name"),
    _text("search_text"),
    sa.Index("catalogue_datasets_by_uri", "uri", "scope"),
    sa.Index("catalogue_datasets_by_name", "name", "uri", "id"),
)

columns = sa.Table(
    "catalogue_columns",
    metadata,
    _key("id"),
    _text("dataset"),
    _text("path"),
    _text("search_name"),
    _text("search_text"),
    sa.Index("catalogue_columns_by_dataset", "dataset", "path"),
)

schemas = sa.Table(
    "catalogue_schemas",
    metadata,
    _key("id"),
    _text("dataset"),
    _text("columns"),
)

jobs = sa.Table(
    "catalogue_jobs",
    metadata,
    _key("id"),
    _text("namespace"),
    _text("name"),
    sa.Column("shared", sa.Boolean, nullable=False),
    _text("search_name"),
    _text("search_text"),
    sa.Index("catalogue_jobs_by_name", "namespace", "name", "id"),
)

logical_plans = sa.Table(
    "catalogue_logical_plans",
    metadata,
    _key("id"),
    _text("job"),
    _text("fingerprint"),
    _text("target"),
    _text("mode"),
    _text("partition_keys"),
    _text("gaps"),
)

execution_plans = sa.Table(
    "catalogue_execution_plans",
    metadata,
    _key("id"),
    _text("subject"),
    _text("scope"),
    _text("plan_id"),
    _text("content_hash"),
    _text("api_version"),
    _text("logical_plan"),
    _text("job"),
    _text("name"),
    _text("system"),
    _text("agent"),
    _text("command"),
    _text("labels"),
    sa.Index("catalogue_execution_plans_by_plan", "plan_id"),
    sa.Index("catalogue_execution_plans_by_logical_plan", "logical_plan"),
)

executions = sa.Table(
    "catalogue_executions",
    metadata,
    _key("id"),
    _text("subject"),
    _text("plan_id"),
    _text("execution_plan"),
    _text("logical_plan"),
    _text("job"),
    _text("run"),
    _text("target"),
    sa.Column("at", sa.BigInteger, nullable=False),
    _text("state"),
    sa.Column("duration_ns", sa.BigInteger),
    sa.Column("error", StoredText()),
    _text("metrics"),
    _text("mode"),
    sa.Column("dynamic", sa.Boolean, nullable=False),
    _text("kind"),
    _text("command"),
    _text("producer"),
    _text("application_id"),
    _text("scope"),
    _text("reads"),
    sa.Index("catalogue_executions_by_time", "at"),
    # The writers of a dataset, and the newest write of each: one seek for each answer.
    sa.Index(
        "catalogue_executions_by_writer", "target", "kind", "state", "logical_plan", "mode", "at"
    ),
    # Histories, newest first; what stands after the time is there to filter and count within.
    sa.Index("catalogue_executions_by_target", "target", "at", "state", "kind"),
    sa.Index("catalogue_executions_by_logical_plan", "logical_plan", "at", "state", "kind"),
    sa.Index("catalogue_executions_by_job", "job", "at"),
    sa.Index("catalogue_executions_by_job_and_run", "job", "run", "at"),
    sa.Index("catalogue_executions_by_run", "run", "at"),
    sa.Index("catalogue_executions_by_plan", "plan_id", "at", "execution_plan"),
)

# Of the tables below the key is the row, or nearly: they are kept in the order of their key.

partitions = sa.Table(
    "catalogue_partitions",
    metadata,
    _key("execution"),
    _key("dataset"),
    _key("role"),
    _key("partition"),
    sqlite_with_rowid=False,
)

names = sa.Table(
    "catalogue_names",
    metadata,
    _key("name"),
    _key("location"),
    _key("execution"),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.Index("catalogue_names_by_execution", "execution"),
    sa.Index("catalogue_names_by_name", "name", "at", "execution", "location"),
    sa.Index("catalogue_names_by_location", "location", "name", "at", "execution"),
    sqlite_with_rowid=False,
)

schema_uses = sa.Table(
    "catalogue_schema_uses",
    metadata,
    _key("logical_plan"),
    _key("dataset"),
    _key("schema"),
    _key("role"),
    sa.Index("catalogue_schema_uses_by_dataset", "dataset", "logical_plan", "schema", "role"),
    sqlite_with_rowid=False,
)

supports = sa.Table(
    "catalogue_supports",
    metadata,
    _key("subject"),
    _key("logical_plan"),
    sa.Index("catalogue_supports_by_logical_plan", "logical_plan", "subject"),
    sqlite_with_rowid=False,
)


@dataclass(frozen=True, slots=True)
class Storage:
    """Where rows of one kind are kept.

    ``key`` are the columns of ``facts.row_key``; rows are looked up by the column ``owner``, which
    few of them share. ``search`` gives what stands in ``search_name`` and ``search_text``.
    """

    row: type[Any]
    table: sa.Table
    key: tuple[str, ...]
    owner: str
    search: Callable[[Any], tuple[str, str]] | None = None

    @property
    def fields(self) -> tuple[sa.Column[Any], ...]:
        """The columns that hold the row itself, in the order of its fields."""
        return tuple(
            column for column in self.table.columns if not column.name.startswith("search_")
        )


def _by_id(
    row: type[Row], table: sa.Table, search: Callable[[Any], tuple[str, str]] | None = None
) -> Storage:
    return Storage(row, table, ("id",), "id", search)


STORAGES: Final[tuple[Storage, ...]] = (
    _by_id(DatasetRow, datasets, dataset_text),
    _by_id(ColumnRow, columns, column_text),
    _by_id(SchemaRow, schemas),
    _by_id(JobRow, jobs, job_text),
    _by_id(LogicalPlanRow, logical_plans),
    _by_id(ExecutionPlanRow, execution_plans),
    _by_id(ExecutionRow, executions),
    Storage(PartitionRow, partitions, ("execution", "dataset", "role", "partition"), "execution"),
    Storage(NameRow, names, ("name", "location", "execution"), "execution"),
    Storage(
        SchemaUseRow, schema_uses, ("logical_plan", "dataset", "schema", "role"), "logical_plan"
    ),
    Storage(SupportRow, supports, ("subject", "logical_plan"), "subject"),
)

STORAGE_OF: Final[dict[type[Any], Storage]] = {storage.row: storage for storage in STORAGES}
