"""``/graph/datasets``: datasets, and one dataset with its schema, writers and readers."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from graph_model import identity, labels
from graph_model.about import About, DatasetAbout, described_columns
from graph_model.answers.datasets.renames import RenameEnd, rename_ends
from graph_model.answers.drawing import spellings_of, walk_lineage
from graph_model.answers.nodes import catalog_names, dataset_row, job_references
from graph_model.answers.sources import Sources, of_one_state
from graph_model.facts import (
    DatasetRow,
    LogicalPlanRow,
)
from graph_model.history.past import Past, moment_of
from graph_model.lineage import (
    HUB_LIMIT,
    ColumnNode,
    holders,
)
from graph_model.openlineage.descriptions import ColumnDescription, Tag
from graph_model.spellings import ColumnSpelling
from graph_model.store import (
    Direction,
    Page,
)
from graph_model.view import (
    LINEAGE,
    SCHEMA,
    JobReference,
    in_schema_order,
    iso,
    known_mode,
)


@dataclass(frozen=True, slots=True)
class DatasetItem:
    id: str
    uri: str
    scope: str
    label: str
    type: str
    last_write: str | None


@dataclass(frozen=True, slots=True)
class SchemaColumnView:
    id: str
    name: str
    path: str
    type: str | None
    description: str = ""
    tags: tuple[Tag, ...] = ()
    known: str = SCHEMA
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class SchemaView:
    """``columns``: those of the schema, then (``known`` is ``lineage``) those that column lineage
    alone names, all with the fields that are known in them. ``id`` None: there is no schema.
    """

    id: str | None
    columns: tuple[SchemaColumnView, ...]


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A job that writes or reads a dataset through one logical plan.

    ``at``: of its newest write, or read where it writes nothing, or since when it is declared.
    """

    job: JobReference
    plan: str
    mode: str | None
    at: str | None


@dataclass(frozen=True, slots=True)
class DatasetPage:
    id: str
    uri: str
    scope: str
    label: str
    type: str
    last_write: str | None
    names: tuple[str, ...]
    schema: SchemaView | None
    writers: tuple[Neighbour, ...]
    readers: tuple[Neighbour, ...]
    partition_keys: tuple[str, ...]
    about: DatasetAbout | None = None
    renamed_from: RenameEnd | None = None
    renamed_to: RenameEnd | None = None


@of_one_state
def datasets(
    sources: Sources, *, query: str, limit: int, cursor: str | None, at: int | None
) -> Page[DatasetItem]:
    page = sources.catalogue.list_datasets(query=query, limit=limit, cursor=cursor, at=at)
    last = Past(sources.catalogue).last_writes([row.id for row in page.items], at)
    items = tuple(_dataset_item(row, last.get(row.id)) for row in page.items)
    return Page(items, page.total, page.next)


def dataset_items(
    sources: Sources, rows: Sequence[DatasetRow], at: int | None
) -> tuple[DatasetItem, ...]:
    """These datasets as a list shows them, in this order."""
    writes = sources.catalogue.last_writes([row.id for row in rows], at)
    return tuple(_dataset_item(row, writes.get(row.id)) for row in rows)


@of_one_state
def dataset(sources: Sources, dataset: str, at: int | None) -> DatasetPage:
    """One dataset (an id): schema, who writes and reads it now, what it is called."""
    row = dataset_row(sources, dataset)
    past = Past(sources.catalogue)
    item = _dataset_item(row, past.last_writes((dataset,), at).get(dataset))
    times = _visible_plans(past, (dataset,), at)
    written_by = sources.catalogue.logical_plans(times.keys())
    keys = {key for plan in written_by for key in json.loads(plan.partition_keys)}
    about = About(sources.catalogue, sources.quality_rules).dataset(dataset, at)
    renamed = rename_ends(sources, past, dataset, at)
    return DatasetPage(
        id=item.id,
        uri=item.uri,
        scope=item.scope,
        label=item.label,
        type=item.type,
        last_write=item.last_write,
        names=tuple(catalog_names(sources, past, (dataset,), at).get(dataset, ())),
        schema=_schema(sources, dataset, at, about),
        writers=_neighbours(sources, written_by, times),
        readers=_readers(sources, past, dataset, at),
        partition_keys=tuple(sorted(keys)),
        about=about,
        renamed_from=renamed.came_from,
        renamed_to=renamed.went_to,
    )


def _readers(sources: Sources, past: Past, dataset: str, at: int | None) -> tuple[Neighbour, ...]:
    """Plans that read it, under any of its names, and whose writes are still to be seen or that
    write nothing.
    """
    called = {dataset, *past.names_of((dataset,))[dataset]}
    page = sources.graph.edges(called, Direction.DOWNSTREAM, (labels.FEEDS,), HUB_LIMIT)
    plans = {e.in_id for e in page.edges if identity.kind_of(e.in_id) == labels.LOGICAL_PLAN}
    rows = sources.catalogue.logical_plans(plans)
    places = past.locations_of({row.target for row in rows})
    targets = {place for found in places.values() for place in found if place}
    reading = {row.id for row in rows if not row.target}
    times = _visible_plans(past, targets | reading, at)
    return _neighbours(sources, [row for row in rows if row.id in times], times)


def _visible_plans(past: Past, ends: Collection[str], at: int | None) -> dict[str, int]:
    """Logical plans whose writes are to be seen in these datasets, or (``ends`` may be plans)
    that read and write nothing: each with its newest time.
    """
    times: dict[str, int] = {}
    for sight in past.sights({moment_of(end, at) for end in ends}).values():
        newest = [(write.logical_plan, write.at) for write in sight.writes]
        newest += [(older.logical_plan, older.last) for older in sight.older]
        newest += [(flow.logical_plan, flow.since) for flow in sight.declared]
        for plan, time in newest:
            times[plan] = max(time, times.get(plan, time))
    return times


def _neighbours(
    sources: Sources, rows: Iterable[LogicalPlanRow], times: dict[str, int]
) -> tuple[Neighbour, ...]:
    listed = sorted(rows, key=lambda row: (-times.get(row.id, 0), row.id))
    jobs = job_references(sources, {row.job for row in listed})
    return tuple(
        Neighbour(jobs[row.job], row.id, known_mode(row.mode), iso(times.get(row.id)))
        for row in listed
        if row.job in jobs
    )


def _schema(
    sources: Sources, dataset: str, at: int | None, about: DatasetAbout
) -> SchemaView | None:
    schema = sources.catalogue.newest_schema_ids((dataset,), at).get(dataset)
    columns = walk_lineage(sources).columns_of(dataset, at)
    if schema is None and not columns:
        return None
    described = described_columns(about)
    ids = {column.path: column.id for column in columns}
    spelled = spellings_of(sources, columns, at)
    listed = [
        _schema_column(column, spelled.get(column.id), described.get(column.path), ids)
        for column in in_schema_order(columns, spelled)
    ]
    return SchemaView(schema, tuple(listed))


def _dataset_item(row: DatasetRow, last_write_at: int | None) -> DatasetItem:
    return DatasetItem(
        row.id, row.uri, row.scope, row.name or row.uri, row.kind, iso(last_write_at)
    )


def _schema_column(
    column: ColumnNode,
    spelling: ColumnSpelling | None,
    described: ColumnDescription | None,
    ids: Mapping[str, str],
) -> SchemaColumnView:
    """``ids``: of the table's columns by their paths."""
    above = (holder for holder in holders(column.path)[1:] if holder in ids)
    return SchemaColumnView(
        column.id,
        spelling.name if spelling else column.path,
        column.path,
        spelling.type if spelling else None,
        described.description if described else "",
        described.tags if described else (),
        SCHEMA if spelling else LINEAGE,
        next((ids[holder] for holder in above), None),
    )
