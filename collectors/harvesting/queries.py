"""A query of a history, or a view -> events of OpenLineage.

The events hold the text, its dialect and its defaults, and the schemas of the tables that it names;
their columns are read from them when they are projected, and again at each rebuild. A query that
writes is a job for each target and normal text, so that runs which differ in literals are runs of
one job; a query that only reads is one for each user and normal text.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from graph_model.sql import (
    SqlStatement,
    normal_text,
    qualified_name,
    quoted_name,
    split_name,
    translate,
)
from graph_model.values import iso

PRODUCER: Final = "urn:headwater:harvest"
_SPECIFICATION: Final = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/"
_RUNS: Final = uuid.UUID("6f1c1f0a-9d4e-5c58-8d0b-4b0a2f6f6a52")
_MOST_MESSAGE: Final = 2_000

Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class CatalogTable:
    """A table as its source's catalogue has it: columns (name, type) in order, other names
    (namespace, name, type), and of a view its definition as of ``changed_at`` (epoch ms).
    """

    columns: tuple[tuple[str, str], ...] = ()
    symlinks: tuple[tuple[str, str, str], ...] = ()
    definition: str = ""
    database: str = ""
    schema: str = ""
    changed_at: int = 0


#: The table of a name ``database.schema.table``; None where the catalogue has none.
Tables = Callable[[str], CatalogTable | None]


@dataclass(frozen=True, slots=True)
class Warehouse:
    """Where queries ran. ``namespace`` is of its datasets, ``jobs`` of its jobs."""

    product: str
    dialect: str
    namespace: str
    jobs: str


@dataclass(frozen=True, slots=True)
class PastQuery:
    """One that has ended. ``state`` is the event type; ``group`` begins the name of its job: a
    workgroup, a user. ``text`` holds what is needed to read it: the statements that made its
    temporary tables, too.
    """

    key: str
    text: str
    started_at: int
    ended_at: int
    state: str
    database: str
    schema: str
    group: str
    user: str = ""
    error: str = ""
    rows: int | None = None


def query_events(
    query: PastQuery,
    warehouse: Warehouse,
    tables: Tables,
    *,
    readers: bool,
    is_system: Callable[[str], bool] = lambda _: False,
) -> Sequence[Event]:
    """The beginning and the end of a run; nothing for a text without lineage, and for one that only
    reads where ``readers`` are not wanted. Reads of what ``is_system`` are left out.
    """
    named, writes = _tables_of(query.text, warehouse.dialect, query.database, query.schema)
    reads = tuple(name for name in named if not is_system(name))
    if not writes and not (reads and readers):
        return ()
    text = normal_text(query.text, warehouse.dialect)
    job = _job(query.text, warehouse, query.database, query.schema)
    job["name"] = _job_name(query, writes, text)
    change = _change(text)
    inputs = [_dataset(name, warehouse, tables) for name in reads]
    outputs = [_dataset(name, warehouse, tables, change, query.rows) for name in writes]
    return _run_events(query, warehouse, job, inputs, outputs)


def rename_events(
    query: PastQuery, warehouse: Warehouse, former: str, name: str, tables: Tables
) -> Sequence[Event]:
    """The run of a statement that renames a table: the data go with it. Names as written."""
    old, new = (
        qualified_name(_qualified(split_name(table), query.database, query.schema))
        for table in (former, name)
    )
    job = _job(query.text, warehouse, query.database, query.schema)
    job["name"] = _job_name(query, (new,), normal_text(query.text, warehouse.dialect))
    output = _dataset(new, warehouse, tables)
    output.setdefault("facets", {})["lifecycleStateChange"] = facet(
        "LifecycleStateChangeDatasetFacet",
        lifecycleStateChange="RENAME",
        previousIdentifier={"namespace": warehouse.namespace, "name": old},
    )
    return _run_events(query, warehouse, job, [], [output])


def view_event(
    name: str, table: CatalogTable, warehouse: Warehouse, tables: Tables
) -> Event | None:
    """The declaration that a view is computed from its definition; None where it reads nothing."""
    quoted = quoted_name(split_name(name), warehouse.dialect)
    text = f"CREATE VIEW {quoted} AS {table.definition}"
    defaults = (table.database, table.schema)
    reads, _ = _tables_of(text, warehouse.dialect, *defaults)
    if not reads:
        return None
    job = _job(text, warehouse, *defaults)
    job["name"] = f"view.{qualified_name(split_name(name)[-2:])}"
    return _declared(table.changed_at, job, warehouse, tables, reads, (name,))


def procedure_event(
    name: str,
    text: str,
    defaults: tuple[str, str],
    at: int,
    warehouse: Warehouse,
    tables: Tables,
) -> Event | None:
    """The declaration of what a procedure writes when it is called, by the statement that makes it;
    None where it writes nothing. ``defaults`` are database and schema of names without them.
    """
    reads, writes = _tables_of(text, warehouse.dialect, *defaults)
    if not writes:
        return None
    job = _job(text, warehouse, *defaults)
    job["name"] = f"procedure.{name}"
    return _declared(at, job, warehouse, tables, reads, writes)


def _declared(
    at: int,
    job: Mapping[str, Any],
    warehouse: Warehouse,
    tables: Tables,
    reads: Sequence[str],
    writes: Sequence[str],
) -> Event:
    return {
        **event_of_job(at, job),
        "inputs": [_dataset(table, warehouse, tables) for table in reads],
        "outputs": [_dataset(table, warehouse, tables) for table in writes],
    }


def _tables_of(
    text: str, dialect: str, database: str, schema: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names that a text reads and writes, sorted, qualified and folded."""
    statements: tuple[SqlStatement, ...] = translate(
        text, dialect, database=database, schema=schema
    )
    reads = {name for statement in statements for name in statement.reads}
    writes = {name for statement in statements for name in statement.writes}
    return tuple(sorted(reads)), tuple(sorted(writes))


def facet(kind: str, /, **fields: Any) -> dict[str, Any]:
    """A facet of OpenLineage with the two fields that each has."""
    url = f"https://openlineage.io/spec/facets/1-0-0/{kind}.json"
    return {"_producer": PRODUCER, "_schemaURL": url, **fields}


def event_of_run(at: int, job: Mapping[str, Any], run: Mapping[str, Any], state: str) -> Event:
    """An event of a run, without data; ``at`` in epoch ms."""
    event = _envelope(at, "RunEvent")
    return {"eventType": state, **event, "run": run, "job": job}


def event_of_job(at: int, job: Mapping[str, Any]) -> Event:
    """A declaration of a job, without data; ``at`` in epoch ms."""
    return {**_envelope(at, "JobEvent"), "job": job}


def event_of_dataset(at: int, dataset: Mapping[str, Any]) -> Event:
    """A declaration of a dataset; ``at`` in epoch ms."""
    return {**_envelope(at, "DatasetEvent"), "dataset": dataset}


def error_facets(message: str) -> dict[str, Any]:
    """Why a run failed; the first 2,000 characters."""
    shown = message[:_MOST_MESSAGE]
    error = facet("ErrorMessageRunFacet", message=shown, programmingLanguage="SQL")
    return {"errorMessage": error}


def table_facets(
    columns: Sequence[tuple[str, str]],
    symlinks: Sequence[tuple[str, str, str]] = (),
    described: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """The facets of a table: its columns (name, type) with what is written about them, by their
    names in lower case; its other names (namespace, name, type).
    """
    facets: dict[str, Any] = {}
    if columns:
        fields = [_field(name, kind, described.get(name.lower(), "")) for name, kind in columns]
        facets["schema"] = facet("SchemaDatasetFacet", fields=fields)
    if symlinks:
        names = [
            {"namespace": namespace, "name": name, "type": kind}
            for namespace, name, kind in symlinks
        ]
        facets["symlinks"] = facet("SymlinksDatasetFacet", identifiers=names)
    return facets


# --- parts of an event ---------------------------------------------------------------------------


def _run_events(
    query: PastQuery,
    warehouse: Warehouse,
    job: Mapping[str, Any],
    inputs: Sequence[Mapping[str, Any]],
    outputs: Sequence[Mapping[str, Any]],
) -> Sequence[Event]:
    run = {"runId": str(uuid.uuid5(_RUNS, f"{warehouse.namespace} {query.key}"))}
    ended = {**run, "facets": _run_facets(query, warehouse)}
    data = {"inputs": inputs, "outputs": outputs}
    return (
        event_of_run(query.started_at, job, run, "START"),
        event_of_run(query.ended_at, job, ended, query.state) | data,
    )


def _qualified(parts: Sequence[str], database: str, schema: str) -> Sequence[str]:
    return (*(database, schema)[: max(3 - len(parts), 0)], *parts)


def _envelope(at: int, kind: str) -> Event:
    return {
        "eventTime": iso(at),
        "producer": PRODUCER,
        "schemaURL": f"{_SPECIFICATION}{kind}",
    }


def _field(name: str, kind: str, description: str) -> dict[str, str]:
    field = {"name": name, "type": kind, "description": description}
    return {key: value for key, value in field.items() if value}


def _job(text: str, warehouse: Warehouse, database: str, schema: str) -> dict[str, Any]:
    """Everything but its name."""
    integration = warehouse.product.upper()
    defaults = {"database": database, "schema": schema}
    return {
        "namespace": warehouse.jobs,
        "facets": {
            "sql": facet("SQLJobFacet", query=text, dialect=warehouse.dialect, **defaults),
            "jobType": facet(
                "JobTypeJobFacet", processingType="BATCH", integration=integration, jobType="QUERY"
            ),
        },
    }


def _job_name(query: PastQuery, writes: Sequence[str], text: str) -> str:
    """``etl.sales.totals.3f2a91c0d1e2``: where it ran, its target, and a digest of what tells its
    job from others. A job that only reads is its user's: ``etl.query.…``.
    """
    target = "query" if not writes else "script"
    if len(writes) == 1:
        target = qualified_name(split_name(writes[0])[-2:])
    marks = (query.database, query.schema, text, "" if writes else query.user)
    digest = hashlib.sha256("\0".join(marks).encode()).hexdigest()[:12]
    return ".".join(part for part in (query.group, target, digest) if part)


def _run_facets(query: PastQuery, warehouse: Warehouse) -> dict[str, Any]:
    engine = facet("ProcessingEngineRunFacet", name=warehouse.product, version="")
    facets = {"processing_engine": engine}
    if query.user:
        tag = {"key": "user", "value": query.user, "source": warehouse.product}
        facets["tags"] = facet("TagsRunFacet", tags=[tag])
    return facets | (error_facets(query.error) if query.error else {})


def _change(text: str) -> str:
    """What a normal text does to its table as a whole; "" where it adds to it or changes it.

    Its last statement counts: those before it only make temporary tables.
    """
    words = text.rpartition(" ; ")[2].split(" ", 2)
    if words[0] == "CREATE":
        return "CREATE"
    return "OVERWRITE" if words[:2] == ["INSERT", "OVERWRITE"] else ""


def _dataset(
    name: str, warehouse: Warehouse, tables: Tables, change: str = "", rows: int | None = None
) -> dict[str, Any]:
    """A dataset of an event: a file or folder by its URI, a table in the warehouse's namespace."""
    scheme, separator, place = name.partition("://")
    if separator:
        host, _, path = place.partition("/")
        return {"namespace": f"{scheme}://{host}", "name": path or "/"}
    dataset: dict[str, Any] = {"namespace": warehouse.namespace, "name": name}
    table = tables(name) or CatalogTable()
    facets = table_facets(table.columns, table.symlinks)
    if change:
        facets["lifecycleStateChange"] = facet(
            "LifecycleStateChangeDatasetFacet", lifecycleStateChange=change
        )
    if facets:
        dataset["facets"] = facets
    if rows is not None:
        statistics = facet("OutputStatisticsOutputDatasetFacet", rowCount=rows)
        dataset["outputFacets"] = {"outputStatistics": statistics}
    return dataset
