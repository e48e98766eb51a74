"""The tables of the catalogue: one for each kind of row, with an index for each question.

The columns of a table are the fields of its row, in their order; columns named ``search_*`` come
after them and are computed from the row: the text that a search compares, without case.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, get_args, get_type_hints

import sqlalchemy as sa
from sqlalchemy.types import TypeEngine

from graph_model import identity, labels
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
    HostlessNameRow,
    JobRow,
    LogicalPlanRow,
    NameRow,
    PartitionRow,
    PatternRow,
    ReadVersionRow,
    RenameRow,
    Row,
    RunRow,
    SchemaRow,
    SchemaUseRow,
    SupportRow,
    key_fields,
)
from graph_model.stores.database import StoredId, StoredText


def fold(text: str) -> str:
    """Equal for texts that differ only in case or in the Unicode composition of accents.

    ``Straße => strasse``, ``ÉTÉ => été``, as one character or with a combining accent.
    """
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def dataset_text(row: DatasetRow) -> tuple[str, str]:
    return fold(row.name), fold(row.uri)


def job_text(row: JobRow) -> tuple[str, str]:
    return fold(row.name), fold(f"{row.namespace}/{row.name}")


def column_text(row: ColumnRow) -> tuple[str, str]:
    """A digest of the folded path, as short for every path, and the path."""
    path = fold(row.path)
    return identity.digest(path), path


_KEYS_THAT_TELL: Final = ('"owners"', '"description"', '"tags"')


def facet_text(body: str) -> str:
    """The texts in a facet's content, a line each, if it may have an owner, a description or a tag;
    else "".
    """
    if not any(key in body for key in _KEYS_THAT_TELL):
        return ""
    return fold("\n".join(_texts_in(json.loads(body))))


def _texts_in(content: Any) -> Iterator[str]:
    waiting = [content]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict | list):
            waiting += part.values() if isinstance(part, dict) else part


VERSION: Final = 24
"""Tables of an older version are emptied: the catalogue is made from the journal anyway. A further
index needs no version: a start makes it.
"""

metadata = sa.MetaData()

_NAME_AND_TEXT: Final = ("search_name", "search_text")


def _table(
    row: type[Row],
    name: str,
    *parts: sa.Index | sa.PrimaryKeyConstraint,
    ids: str,
    search: tuple[str, ...] = (),
    by_key: bool = False,
) -> sa.Table:
    """The table of a row. ``ids``: the fields that hold ids, as a rule; ``search``: its
    columns ``search_*``; ``by_key``: SQLite keeps the rows in the order of
    their key, which is the row, or nearly.
    """
    keys, packed = key_fields(row), ids.split()
    fields = (
        _field(field, hint, is_id=field in packed, in_key=field in keys)
        for field, hint in get_type_hints(row).items()
    )
    texts = [_field(column, str, is_id=column == "search_key", in_key=False) for column in search]
    return sa.Table(name, metadata, *fields, *texts, *parts, sqlite_with_rowid=not by_key)


def _field(name: str, hint: Any, *, is_id: bool, in_key: bool) -> sa.Column[Any]:
    (kind, *absent) = get_args(hint) or (hint,)
    stored = StoredId() if is_id else _STORED_AS[kind]()
    return sa.Column(name, stored, primary_key=in_key, nullable=bool(absent), autoincrement=False)


_STORED_AS: Final[dict[type, type[TypeEngine[Any]]]] = {
    str: StoredText,
    int: sa.BigInteger,
    bool: sa.Boolean,
}


def _partial_index(index: str, /, *columns: str, where: str) -> sa.Index:
    """An index of some rows. Only a statement that has ``where`` in its text uses it: a value there
    is no parameter (``reading.made_once``).
    """
    return sa.Index(index, *columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))


origins = sa.Table(  # one row at most: origin.Origin
    "catalogue_origin",
    metadata,
    sa.Column("journal", StoredText(), primary_key=True),
    sa.Column("round", sa.BigInteger, nullable=False),
    sa.Column("position", sa.BigInteger, nullable=False),
)

datasets = _table(
    DatasetRow,
    "catalogue_datasets",
    sa.Index("catalogue_datasets_by_uri", "uri", "scope"),
    sa.Index("catalogue_datasets_by_name", "name", "uri", "id"),
    ids="id",
    search=_NAME_AND_TEXT,
)

patterns = _table(
    PatternRow,
    "catalogue_patterns",
    sa.Index("catalogue_patterns_by_folder", "folder", "id"),
    ids="id folder",
    by_key=True,
)

columns = _table(
    ColumnRow,
    "catalogue_columns",
    sa.Index("catalogue_columns_by_dataset", "dataset", "path"),
    sa.Index("catalogue_columns_by_search_key", "search_key", "id"),
    ids="id dataset",
    search=("search_key", "search_text"),
)

schemas = _table(SchemaRow, "catalogue_schemas", ids="id dataset")

jobs = _table(
    JobRow,
    "catalogue_jobs",
    sa.Index("catalogue_jobs_by_name", "namespace", "name", "id"),
    ids="id",
    search=_NAME_AND_TEXT,
)

#: Of plans with the gap: not LIKE, whose % drivers read as a place for a value.
WITH_OPEN_COLUMNS: Final = f"replace(gaps, '\"{labels.OPEN_COLUMNS}\"', '') <> gaps"

logical_plans = _table(
    LogicalPlanRow,
    "catalogue_logical_plans",
    _partial_index("catalogue_logical_plans_that_read", "job", "id", where="target = ''"),
    _partial_index("catalogue_logical_plans_that_are_open", "target", where=WITH_OPEN_COLUMNS),
    ids="id job target",
)

execution_plans = _table(
    ExecutionPlanRow,
    "catalogue_execution_plans",
    sa.Index("catalogue_execution_plans_by_plan", "plan_id"),
    sa.Index("catalogue_execution_plans_by_logical_plan", "logical_plan"),
    ids="id subject plan_id logical_plan job",
)

executions = _table(
    ExecutionRow,
    "catalogue_executions",
    sa.Index("catalogue_executions_by_time", "at"),
    # The writers of a dataset, and the newest write of each: one seek for each answer.
    sa.Index(
        "catalogue_executions_by_writer", "target", "kind", "state", "logical_plan", "mode", "at"
    ),
    # The last full overwrite before a time.
    _partial_index(
        "catalogue_executions_by_overwrite",
        "target",
        "kind",
        "state",
        "at",
        "branch",
        where=f"mode = '{labels.OVERWRITE}'",
    ),
    # The versions of a branch, their last full overwrite, and the writes that made them.
    _partial_index(
        "catalogue_executions_by_number",
        "target",
        "branch",
        "version_number",
        "kind",
        "state",
        where="version_number IS NOT NULL",
    ),
    _partial_index(
        "catalogue_executions_by_overwritten_version",
        "target",
        "branch",
        "version_number",
        where=f"version_number IS NOT NULL AND mode = '{labels.OVERWRITE}'",
    ),
    _partial_index(
        "catalogue_executions_by_version", "target", "version", "at", where="version != ''"
    ),
    # Writes that one application reported twice.
    _partial_index(
        "catalogue_executions_by_application",
        "target",
        "application_id",
        "kind",
        "state",
        "producer",
        "command",
        where="application_id != ''",
    ),
    # Writes whose application other events of its run name.
    _partial_index(
        "catalogue_executions_by_unnamed_application",
        "target",
        "kind",
        "state",
        "run",
        where="application_id = ''",
    ),
    # Histories, newest first; the columns after the time serve filters and counts.
    sa.Index("catalogue_executions_by_target", "target", "at", "state", "kind", "branch"),
    sa.Index("catalogue_executions_by_logical_plan", "logical_plan", "at", "state", "kind"),
    sa.Index("catalogue_executions_by_job", "job", "at"),
    # The last failure of each job, or what stopped its last run.
    _partial_index(
        "catalogue_executions_unsuccessful", "job", "at", where=f"state != '{labels.COMPLETED}'"
    ),
    sa.Index("catalogue_executions_by_job_and_run", "job", "run", "at", "application_id"),
    sa.Index("catalogue_executions_by_run", "run", "at"),
    sa.Index("catalogue_executions_by_plan", "plan_id", "at", "execution_plan"),
    _partial_index("catalogue_executions_running", "at", "id", where="running IS TRUE"),
    # The doubtful ones: of all, and of a job.
    _partial_index("catalogue_executions_doubtful", "at", "id", where="ahead > 0"),
    _partial_index("catalogue_executions_doubtful_by_job", "job", "at", where="ahead > 0"),
    ids="id subject plan_id execution_plan logical_plan job run target",
)

events = _table(EventRow, "catalogue_events", ids="execution", by_key=True)

partitions = _table(PartitionRow, "catalogue_partitions", ids="execution dataset", by_key=True)

read_versions = _table(
    ReadVersionRow,
    "catalogue_read_versions",
    sa.Index("catalogue_read_versions_by_logical_plan", "logical_plan", "dataset"),
    ids="execution dataset logical_plan",
    by_key=True,
)

names = _table(
    NameRow,
    "catalogue_names",
    sa.Index("catalogue_names_by_execution", "execution"),
    sa.Index("catalogue_names_by_name", "name", "at", "execution", "location"),
    sa.Index("catalogue_names_by_location", "location", "name", "at", "execution"),
    ids="name location execution",
    by_key=True,
)

hostless_names = _table(
    HostlessNameRow,
    "catalogue_hostless_names",
    sa.Index("catalogue_hostless_names_by_execution", "execution"),
    sa.Index("catalogue_hostless_names_by_name", "name", "location"),
    sa.Index("catalogue_hostless_names_by_location", "location", "name"),
    ids="name location execution",
    by_key=True,
)

renames = _table(
    RenameRow,
    "catalogue_renames",
    sa.Index("catalogue_renames_by_execution", "execution"),
    sa.Index("catalogue_renames_by_former", "former", "at"),
    sa.Index("catalogue_renames_by_current", "current", "at"),
    ids="former current execution",
    by_key=True,
)

schema_uses = _table(
    SchemaUseRow,
    "catalogue_schema_uses",
    sa.Index("catalogue_schema_uses_by_dataset", "dataset", "logical_plan", "schema", "role"),
    ids="logical_plan dataset schema",
    by_key=True,
)

event_labels = _table(
    EventLabelRow,
    "catalogue_event_labels",
    sa.Index("catalogue_event_labels_by_name", "name", "value", "execution"),
    ids="execution",
    by_key=True,
)

supports = _table(
    SupportRow,
    "catalogue_supports",
    sa.PrimaryKeyConstraint("logical_plan", "subject"),  # no question goes from a subject to plans
    ids="subject logical_plan",
    by_key=True,
)

commands = _table(
    CommandRow,
    "catalogue_commands",
    sa.Index("catalogue_commands_by_kind", "kind", "at", "id"),
    ids="",
)

forgotten = _table(ForgottenRow, "catalogue_forgotten", ids="", by_key=True)

runs = _table(
    RunRow,
    "catalogue_runs",
    # One run, the runs below one, those of a root, of a job, and those that have not ended.
    sa.Index("catalogue_runs_by_subject", "subject"),
    sa.Index("catalogue_runs_by_run_id", "run_id", "scope"),
    sa.Index("catalogue_runs_by_run", "run", "part", "started_at", "id"),
    sa.Index("catalogue_runs_by_parent", "parent_run", "scope", "started_at"),
    sa.Index("catalogue_runs_by_root", "root_run", "scope", "started_at"),
    sa.Index("catalogue_runs_by_job", "job", "started_at"),
    sa.Index("catalogue_runs_by_state", "state", "last_at"),
    ids="id subject run_id run job parent_run root_run",
)

applications = _table(
    ApplicationRow,
    "catalogue_applications",
    # The names of a run, in both directions, and all names of an application.
    sa.Index("catalogue_applications_by_run", "run"),
    sa.Index("catalogue_applications_by_application", "application_id"),
    sa.Index("catalogue_applications_by_application_run", "application_run"),
    ids="id run application_run",
)

facets = _table(
    FacetRow,
    "catalogue_facets",
    # Most rows of a catalogue are these, and nearly all of a row is its key: it is kept once.
    ids="entity subject digest job",
    by_key=True,
)

facet_uses = sa.Table(
    "catalogue_facet_uses",  # how many facets have a digest: see ``listing.uses``
    metadata,
    sa.Column("digest", StoredId(), primary_key=True),
    sa.Column("uses", sa.BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

facet_bodies = _table(FacetBodyRow, "catalogue_facet_bodies", ids="id")

declarations = _table(
    DeclarationRow,
    "catalogue_declarations",
    sa.Index("catalogue_declarations_by_time", "declared_at", "id"),
    ids="",
)

searched_names = sa.Table(  # what a search reads: narrow, and columns with one path have one row
    "catalogue_searched_names",
    metadata,
    # PostgreSQL takes keys of 2,704 bytes at most, and names may be as long: none is in the key.
    sa.Column("kind", StoredText(), primary_key=True),
    sa.Column("id", StoredId(), primary_key=True),  # of columns their ``search_key``
    sa.Column("name", StoredText(), nullable=False),
    sa.Column("text", StoredText(), nullable=False),
    sqlite_with_rowid=False,
)

facet_texts = sa.Table(  # of the facet bodies that have a ``facet_text``
    "catalogue_facet_texts",
    metadata,
    sa.Column("digest", StoredId(), primary_key=True),
    sa.Column("text", StoredText(), nullable=False),
    sqlite_with_rowid=False,
)

arrivals = _table(ArrivalRow, "catalogue_arrivals", ids="told", by_key=True)

element_vertices = sa.Table(  # of an engine that forgets them: see ``elements``
    "catalogue_element_vertices",
    metadata,
    sa.Column("id", StoredId(), primary_key=True),
    sa.Column("label", StoredText(), nullable=False),
    sa.Column("properties", StoredText(), nullable=False),
    sqlite_with_rowid=False,
)

element_edges = sa.Table(
    "catalogue_element_edges",
    metadata,
    sa.Column("id", StoredId(), primary_key=True),
    sa.Column("label", StoredText(), nullable=False),
    sa.Column("out_id", StoredId(), nullable=False),
    sa.Column("in_id", StoredId(), nullable=False),
    sa.Column("properties", StoredText(), nullable=False),
    sqlite_with_rowid=False,
)


COUNTED: Final = ("at", "ahead")
_TIMES_OF_RUNS: Final = ("started_at", "ended_at", "last_at")


@dataclass(frozen=True, slots=True, eq=False)
class Storage:
    """The table of one kind of row. There is one object for each kind, hashed by its identity.

    Rows are looked up by the column ``owner`` of the key, which few of them share, or by their
    whole key if there is none. ``search`` gives the values of the columns ``search_*``.
    The values of ``counted`` have their number of rows kept. ``hashed``: the rows follow from
    documents, and are part of the catalogue's hash, as documents have them: without the values of
    ``of_receipts``, which follow from the times of receipts too (``facts.as_documented``).
    """

    row: type[Any]
    table: sa.Table
    owner: str | None
    search: Callable[[Any], tuple[str, str]] | None = None
    counted: str | None = None
    hashed: bool = True
    of_receipts: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, ...]:
        """The columns of ``facts.row_key``."""
        return key_fields(self.row)

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


STORAGES: Final = (
    Storage(DatasetRow, datasets, "id", dataset_text),
    Storage(PatternRow, patterns, "id"),
    Storage(ColumnRow, columns, "id", column_text),
    Storage(SchemaRow, schemas, "id"),
    Storage(JobRow, jobs, "id", job_text),
    Storage(LogicalPlanRow, logical_plans, "id"),
    Storage(ExecutionPlanRow, execution_plans, "id"),
    Storage(ExecutionRow, executions, "id", of_receipts=COUNTED),
    Storage(EventRow, events, "execution"),
    Storage(EventLabelRow, event_labels, "execution"),
    Storage(PartitionRow, partitions, "execution"),
    Storage(ReadVersionRow, read_versions, "execution"),
    Storage(NameRow, names, "execution", of_receipts=COUNTED),
    Storage(HostlessNameRow, hostless_names, "execution", of_receipts=COUNTED),
    Storage(RenameRow, renames, "execution", of_receipts=COUNTED),
    Storage(SchemaUseRow, schema_uses, "logical_plan"),
    Storage(SupportRow, supports, owner=None),
    Storage(CommandRow, commands, "id"),
    Storage(ForgottenRow, forgotten, "content_hash"),
    Storage(RunRow, runs, "id", of_receipts=_TIMES_OF_RUNS),
    Storage(ApplicationRow, applications, "id"),
    Storage(FacetRow, facets, owner=None, counted="digest", of_receipts=COUNTED),
    Storage(FacetBodyRow, facet_bodies, "id"),
    Storage(DeclarationRow, declarations, "id"),
    Storage(ArrivalRow, arrivals, "told", hashed=False),
)

STORAGE_OF: Final[dict[type[Any], Storage]] = {storage.row: storage for storage in STORAGES}
