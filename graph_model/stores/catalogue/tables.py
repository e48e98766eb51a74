"""The tables of the catalogue: one for each kind of row, with an index for each question.

The columns of a table are the fields of its row, in their order; columns named ``search_*`` come
after them and are computed from the row (see ``search.fold``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa

from graph_model import labels
from graph_model.facts import (
    ApplicationRow,
    ArrivalRow,
    ColumnRow,
    CommandRow,
    DatasetRow,
    DeclarationRow,
    EventLabelRow,
    EventRow,
    ExecutionPlanRow,
    ExecutionRow,
    FacetBodyRow,
    FacetRow,
    ForgottenRow,
    JobRow,
    LogicalPlanRow,
    NameRow,
    PartitionRow,
    ReadVersionRow,
    RenameRow,
    Row,
    RunRow,
    SchemaRow,
    SchemaUseRow,
    SupportRow,
)
from graph_model.stores.catalogue.listing.search_text import column_text, dataset_text, job_text
from graph_model.stores.database import StoredId, StoredText

VERSION: Final = 17
"""Tables of an older version are emptied: the catalogue is made from the journal anyway."""

metadata = sa.MetaData()


def _key(name: str) -> sa.Column[str]:
    return sa.Column(name, StoredText(), primary_key=True)


def _id_key(name: str) -> sa.Column[str]:
    return sa.Column(name, StoredId(), primary_key=True)


def _id(name: str) -> sa.Column[str]:
    return sa.Column(name, StoredId(), nullable=False)


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, StoredText(), nullable=False)


def _partial_index(index: str, /, *columns: str, **only: str) -> sa.Index:
    """An index of the rows that have these values. A statement with a parameter for one of them
    does not use it: the value is part of its text (``asked.made_once``).
    """
    chosen = sa.and_(*(sa.column(column, StoredText()) == value for column, value in only.items()))
    return sa.Index(index, *columns, sqlite_where=chosen, postgresql_where=chosen)


origins = sa.Table(  # one row at most: store.Origin
    "catalogue_origin",
    metadata,
    _key("journal"),
    sa.Column("round", sa.BigInteger, nullable=False),
    sa.Column("position", sa.BigInteger, nullable=False),
)


def _index_of_versions(index: str, /, *columns: str, where: str) -> sa.Index:
    """An index of the few executions whose version is known; ``where`` as questions spell it."""
    return sa.Index(index, *columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))


datasets = sa.Table(
    "catalogue_datasets",
    metadata,
    _id_key("id"),
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
    _id_key("id"),
    _id("dataset"),
    _text("path"),
    _text("search_name"),
    _text("search_text"),
    sa.Index("catalogue_columns_by_dataset", "dataset", "path"),
)

schemas = sa.Table(
    "catalogue_schemas",
    metadata,
    _id_key("id"),
    _id("dataset"),
    _text("columns"),
)

jobs = sa.Table(
    "catalogue_jobs",
    metadata,
    _id_key("id"),
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
    _id_key("id"),
    _id("job"),
    _text("fingerprint"),
    _id("target"),
    _text("mode"),
    _text("partition_keys"),
    _text("gaps"),
)

execution_plans = sa.Table(
    "catalogue_execution_plans",
    metadata,
    _id_key("id"),
    _id("subject"),
    _text("scope"),
    _id("plan_id"),
    _text("content_hash"),
    _text("api_version"),
    _id("logical_plan"),
    _id("job"),
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
    _id_key("id"),
    _id("subject"),
    _id("plan_id"),
    _id("execution_plan"),
    _id("logical_plan"),
    _id("job"),
    _id("run"),
    _id("target"),
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
    _text("version"),
    sa.Column("version_number", sa.BigInteger),
    _text("branch"),
    sa.Index("catalogue_executions_by_time", "at"),
    # The writers of a dataset, and the newest write of each: one seek for each answer.
    sa.Index(
        "catalogue_executions_by_writer", "target", "kind", "state", "logical_plan", "mode", "at"
    ),
    # The last full overwrite before a time: the statement must have the mode in its text.
    _partial_index(
        "catalogue_executions_by_overwrite",
        "target",
        "kind",
        "state",
        "at",
        "branch",
        mode=labels.OVERWRITE,
    ),
    # The versions of a branch, their last full overwrite, and the writes that made them.
    _index_of_versions(
        "catalogue_executions_by_number",
        "target",
        "branch",
        "version_number",
        "kind",
        "state",
        where="version_number IS NOT NULL",
    ),
    _index_of_versions(
        "catalogue_executions_by_overwritten_version",
        "target",
        "branch",
        "version_number",
        where=f"version_number IS NOT NULL AND mode = '{labels.OVERWRITE}'",
    ),
    _index_of_versions(
        "catalogue_executions_by_version", "target", "version", "at", where="version != ''"
    ),
    # Writes that one application reported twice: the statement must have this condition in its
    # text.
    sa.Index(
        "catalogue_executions_by_application",
        "target",
        "application_id",
        "kind",
        "state",
        "producer",
        "command",
        sqlite_where=sa.text("application_id != ''"),
        postgresql_where=sa.text("application_id != ''"),
    ),
    # Writes whose application other events of its run name.
    sa.Index(
        "catalogue_executions_by_unnamed_application",
        "target",
        "kind",
        "state",
        "run",
        sqlite_where=sa.text("application_id = ''"),
        postgresql_where=sa.text("application_id = ''"),
    ),
    # Histories, newest first; the columns after the time serve filters and counts.
    sa.Index("catalogue_executions_by_target", "target", "at", "state", "kind", "branch"),
    sa.Index("catalogue_executions_by_logical_plan", "logical_plan", "at", "state", "kind"),
    sa.Index("catalogue_executions_by_job", "job", "at"),
    sa.Index("catalogue_executions_by_job_and_run", "job", "run", "at", "application_id"),
    sa.Index("catalogue_executions_by_run", "run", "at"),
    sa.Index("catalogue_executions_by_plan", "plan_id", "at", "execution_plan"),
)

events = sa.Table(
    "catalogue_events",
    metadata,
    _id_key("execution"),
    _text("format"),
    sa.Column("append", sa.Boolean, nullable=False),
    _text("words"),
    _text("labels"),
    _text("extra"),
    _text("system"),
    _text("application"),
    sqlite_with_rowid=False,
)

# Of the tables below the key is the row, or nearly: they are kept in the order of their key.

partitions = sa.Table(
    "catalogue_partitions",
    metadata,
    _id_key("execution"),
    _id_key("dataset"),
    _key("role"),
    _key("partition"),
    sqlite_with_rowid=False,
)

read_versions = sa.Table(
    "catalogue_read_versions",
    metadata,
    _id_key("execution"),
    _id_key("dataset"),
    _id("logical_plan"),
    _key("version"),
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    _key("branch"),
    sa.Column("since", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Index("catalogue_read_versions_by_logical_plan", "logical_plan", "dataset"),
    sqlite_with_rowid=False,
)

names = sa.Table(
    "catalogue_names",
    metadata,
    _id_key("name"),
    _id_key("location"),
    _id_key("execution"),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.Index("catalogue_names_by_execution", "execution"),
    sa.Index("catalogue_names_by_name", "name", "at", "execution", "location"),
    sa.Index("catalogue_names_by_location", "location", "name", "at", "execution"),
    sqlite_with_rowid=False,
)

renames = sa.Table(
    "catalogue_renames",
    metadata,
    _id_key("former"),
    _id_key("current"),
    _id_key("execution"),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.Index("catalogue_renames_by_execution", "execution"),
    sa.Index("catalogue_renames_by_former", "former", "at"),
    sa.Index("catalogue_renames_by_current", "current", "at"),
    sqlite_with_rowid=False,
)

schema_uses = sa.Table(
    "catalogue_schema_uses",
    metadata,
    _id_key("logical_plan"),
    _id_key("dataset"),
    _id_key("schema"),
    _key("role"),
    sa.Index("catalogue_schema_uses_by_dataset", "dataset", "logical_plan", "schema", "role"),
    sqlite_with_rowid=False,
)

event_labels = sa.Table(
    "catalogue_event_labels",
    metadata,
    _id_key("execution"),
    _key("name"),
    _key("value"),
    sa.Index("catalogue_event_labels_by_name", "name", "value", "execution"),
    sqlite_with_rowid=False,
)

supports = sa.Table(
    "catalogue_supports",
    metadata,
    _id("subject"),
    _id("logical_plan"),
    sa.PrimaryKeyConstraint("logical_plan", "subject"),  # no question goes from a subject to plans
    sqlite_with_rowid=False,
)

commands = sa.Table(
    "catalogue_commands",
    metadata,
    _key("id"),
    _text("kind"),
    sa.Column("at", sa.BigInteger, nullable=False),
    _text("author"),
    _text("target"),
    _text("body"),
    sa.Index("catalogue_commands_by_kind", "kind", "at", "id"),
)

forgotten = sa.Table(
    "catalogue_forgotten",
    metadata,
    _key("content_hash"),
    _key("command"),
    sqlite_with_rowid=False,
)

runs = sa.Table(
    "catalogue_runs",
    metadata,
    _id_key("id"),
    _id("subject"),
    _id("run_id"),
    _id("run"),
    _id("job"),
    _text("namespace"),
    _text("name"),
    _text("scope"),
    _text("state"),
    sa.Column("folded", sa.Boolean, nullable=False),
    sa.Column("endless", sa.Boolean, nullable=False),
    _text("application_id"),
    sa.Column("started_at", sa.BigInteger, nullable=False),
    sa.Column("ended_at", sa.BigInteger),
    sa.Column("last_at", sa.BigInteger, nullable=False),
    _id("parent_run"),
    _text("parent_job"),
    _id("root_run"),
    _text("root_job"),
    _text("producer"),
    sa.Column("error", StoredText()),
    sa.Column("start_told", sa.Boolean, nullable=False),
    # One run, the runs below one, those of a root, of a job, and those that have not ended.
    sa.Index("catalogue_runs_by_subject", "subject"),
    sa.Index("catalogue_runs_by_run_id", "run_id", "scope"),
    sa.Index("catalogue_runs_by_run", "run", "started_at", "id"),
    sa.Index("catalogue_runs_by_parent", "parent_run", "scope", "started_at"),
    sa.Index("catalogue_runs_by_root", "root_run", "scope", "started_at"),
    sa.Index("catalogue_runs_by_job", "job", "started_at"),
    sa.Index("catalogue_runs_by_state", "state", "last_at"),
)

applications = sa.Table(
    "catalogue_applications",
    metadata,
    _id_key("id"),
    _id("run"),
    _text("application_id"),
    _id("application_run"),
    # The names of a run, in both directions, and all names of an application.
    sa.Index("catalogue_applications_by_run", "run"),
    sa.Index("catalogue_applications_by_application", "application_id"),
    sa.Index("catalogue_applications_by_application_run", "application_run"),
)

facets = sa.Table(
    "catalogue_facets",
    metadata,
    _id_key("entity"),
    _key("kind"),
    _key("name"),
    sa.Column("at", sa.BigInteger, primary_key=True, autoincrement=False),
    _id_key("subject"),
    _id_key("digest"),
    sa.Column("deleted", sa.Boolean, nullable=False),
    _id_key("job"),
    # Most rows of a catalogue are these, and nearly all of a row is its key: it is kept once.
    sqlite_with_rowid=False,
)

facet_uses = sa.Table(
    "catalogue_facet_uses",  # how many facets have a digest: see ``uses``
    metadata,
    _id_key("digest"),
    sa.Column("uses", sa.BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

facet_bodies = sa.Table(
    "catalogue_facet_bodies",
    metadata,
    _id_key("id"),
    _text("body"),
)

declarations = sa.Table(
    "catalogue_declarations",
    metadata,
    _key("id"),
    _key("event"),
    _text("plan_id"),
    _key("scope"),
    _text("author"),
    sa.Column("declared_at", sa.BigInteger, nullable=False),
    sa.Column("since", sa.BigInteger, nullable=False),
    _text("note"),
    _text("job"),
    _text("target"),
    _text("nodes"),
    _text("body"),
    sa.Index("catalogue_declarations_by_time", "declared_at", "id"),
)

arrivals = sa.Table(
    "catalogue_arrivals",
    metadata,
    _id_key("told"),
    sa.Column("received_at", sa.BigInteger, primary_key=True, autoincrement=False),
    sqlite_with_rowid=False,
)


@dataclass(frozen=True, slots=True, eq=False)
class Storage:
    """The table of one kind of row; one value a kind, so that it is found by its identity.

    ``key`` are the columns of ``facts.row_key``; rows are looked up by the column ``owner``, which
    few of them share, or by their whole key if there is none. ``search`` gives the values of
    ``search_name`` and ``search_text``. The values of ``counted`` have their number of rows kept.
    ``hashed``: the rows follow from documents, and are part of the catalogue's hash.
    """

    row: type[Any]
    table: sa.Table
    key: tuple[str, ...]
    owner: str | None
    search: Callable[[Any], tuple[str, str]] | None = None
    counted: str | None = None
    hashed: bool = True

    @property
    def order(self) -> tuple[str, ...]:
        """The columns of the key, in the order in which rows are kept by it."""
        return tuple(column.name for column in self.table.primary_key)

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
    Storage(EventRow, events, ("execution",), "execution"),
    Storage(EventLabelRow, event_labels, ("execution", "name", "value"), "execution"),
    Storage(PartitionRow, partitions, ("execution", "dataset", "role", "partition"), "execution"),
    Storage(
        ReadVersionRow,
        read_versions,
        ("execution", "dataset", "version", "number", "branch", "since"),
        "execution",
    ),
    Storage(NameRow, names, ("name", "location", "execution"), "execution"),
    Storage(RenameRow, renames, ("former", "current", "execution"), "execution"),
    Storage(
        SchemaUseRow, schema_uses, ("logical_plan", "dataset", "schema", "role"), "logical_plan"
    ),
    Storage(SupportRow, supports, ("subject", "logical_plan"), owner=None),
    _by_id(CommandRow, commands),
    Storage(ForgottenRow, forgotten, ("content_hash", "command"), "content_hash"),
    _by_id(RunRow, runs),
    _by_id(ApplicationRow, applications),
    Storage(
        FacetRow,
        facets,
        ("entity", "kind", "name", "at", "subject", "digest", "job"),
        owner=None,
        counted="digest",
    ),
    _by_id(FacetBodyRow, facet_bodies),
    Storage(DeclarationRow, declarations, ("id", "event", "scope"), "id"),
    Storage(ArrivalRow, arrivals, ("told", "received_at"), "told", hashed=False),
)

STORAGE_OF: Final[dict[type[Any], Storage]] = {storage.row: storage for storage in STORAGES}
