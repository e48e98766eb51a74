"""``/graph/datasets``: datasets, and one dataset with its schema, writers and readers, and with the
former and the later names that ALTER TABLE ... RENAME TO gave it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Final

from graph_model import identity, labels
from graph_model.answers.facets import (
    DatasetFacets,
    dataset_facets,
    described_columns,
    nodes_of_owner,
    owners_of,
)
from graph_model.answers.home import rows_of
from graph_model.answers.lineage import spellings_of
from graph_model.answers.nodes import (
    TagView,
    catalog_names,
    dataset_filter,
    dataset_references,
    dataset_row,
    job_references,
    open_node,
    tags_of,
)
from graph_model.answers.openlineage_reports import ColumnDescription, Tag
from graph_model.answers.sources import Sources, of_one_state
from graph_model.facts import DatasetRow, LogicalPlanRow, RenameRow
from graph_model.governance.statements import walk_datasets
from graph_model.lineage import HUB_LIMIT, ColumnNode, Partial, holders
from graph_model.lineage.history.history import History, moment_of
from graph_model.lineage.history.rules import END
from graph_model.naming.columns import ColumnSpelling
from graph_model.picture.view import (
    LINEAGE,
    SCHEMA,
    DatasetReference,
    JobReference,
    in_schema_order,
    known_mode,
)
from graph_model.stores.graph import Direction
from graph_model.stores.pages import DatasetOrder, Page, read_cursor, write_cursor
from graph_model.values import batched, iso

_KEPT = "datasets-kept"
#: Datasets that are looked at together for readers, and so many edges of each.
_AT_ONCE: Final = 500
_READERS_SEEN: Final = 200
#: Edges of a dataset that are read where more than ``_READERS_SEEN`` leave it: hidden jobs may be
#: in front of a visible one.
_READERS_MOST: Final = HUB_LIMIT
#: Datasets that are searched for unread columns, and so many of these are shown of each.
_COLUMNS_SEARCHED: Final = 500
_COLUMNS_SHOWN: Final = 20
_NO_GAPS: Final = "[]"


@dataclass(frozen=True, slots=True)
class DatasetItem:
    id: str
    uri: str
    scope: str
    label: str
    type: str
    last_write: str | None
    layer: str | None
    classifications: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnreadColumns:
    """``names``: the first twenty paths, in order."""

    total: int
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ListedDataset(DatasetItem):
    """``rows``: those of the last write, where its metrics tell them; ``unread_columns`` None: they
    were not asked for.
    """

    owners: tuple[str, ...]
    rows: int | None
    unread_columns: UnreadColumns | None = None


@dataclass(frozen=True, slots=True)
class DatasetListing:
    """``partial``: a dataset is listed as unread of which not all readers were looked at, or more
    datasets pass the other filters than were searched for unread columns. ``unexplained``: so many
    were left out of those with unread columns, since a reader does not tell which it reads.
    """

    page: Page[ListedDataset]
    partial: Partial | None
    unexplained: int | None = None


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
    classifications: tuple[TagView, ...] = ()


@dataclass(frozen=True, slots=True)
class SchemaView:
    """``columns``: those of the schema, then those that only column lineage names (their ``known``
    is ``lineage``), each with its known fields. ``id`` None: no schema is known.
    """

    id: str | None
    columns: tuple[SchemaColumnView, ...]


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A job that writes or reads a dataset through one logical plan.

    ``at``: the time of its newest write; of its newest read where it writes nothing; or the time
    from which it is declared.
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
    about: DatasetFacets | None = None
    renamed_from: RenameEnd | None = None
    renamed_to: RenameEnd | None = None
    layer: str | None = None
    classifications: tuple[TagView, ...] = ()


@of_one_state
def datasets(
    sources: Sources,
    *,
    query: str,
    limit: int,
    cursor: str | None,
    at: int | None,
    layer: str | None = None,
    classification: str | None = None,
    owner: str | None = None,
    unread: bool = False,
    unread_columns: bool = False,
    least_rows: int | None = None,
    most_rows: int | None = None,
    order: DatasetOrder = DatasetOrder.NAME,
) -> DatasetListing:
    """Datasets in an order; filtered by layer, by a tag on the dataset or one of its columns, by
    owner, by the rows of the last write (the bounds included; unknown rows are not within them).
    ``unread``: those that no visible job ever read, but to write them again; ``unread_columns``:
    those that one reads, with columns that none does.
    """
    keep = dataset_filter(sources, layer, classification)
    counted = least_rows is not None or most_rows is not None
    partial, unexplained = None, None
    columns: dict[str, UnreadColumns] = {}
    if keep is None and owner is None and not (unread or unread_columns) and not counted:
        page = sources.catalogue.list_datasets(
            hidden=sources.hidden, query=query, limit=limit, cursor=cursor, at=at, order=order
        )
    else:
        kept = [*walk_datasets(sources.catalogue, query, at, sources.hidden)]
        if keep is not None:
            kept = [*filter(keep, kept)]
        if owner is not None:
            owned = nodes_of_owner(sources, labels.DATASET, owner, at)
            kept = [row for row in kept if row.id in owned]
        if counted:
            rows = _rows_written(sources, [row.id for row in kept], at)
            least, most = least_rows or 0, float("inf") if most_rows is None else most_rows
            kept = [row for row in kept if row.id in rows and least <= rows[row.id] <= most]
        if unread:
            kept, partial = _unread(sources, kept)
        if unread_columns:
            bound = Partial("nodes", _COLUMNS_SEARCHED) if len(kept) > _COLUMNS_SEARCHED else None
            columns, unexplained = _with_unread_columns(sources, kept[:_COLUMNS_SEARCHED], at)
            kept, partial = [row for row in kept if row.id in columns], partial or bound
        page = _page_of(_sorted(sources, kept, order, at), limit, cursor, f"{_KEPT} by {order}")
    items = tuple(_listed(sources, page.items, columns, at))
    return DatasetListing(Page(items, page.total, page.next), partial, unexplained)


def _listed(
    sources: Sources,
    rows: Sequence[DatasetRow],
    columns: Mapping[str, UnreadColumns],
    at: int | None,
) -> Iterator[ListedDataset]:
    ids = [row.id for row in rows]
    times = History(sources.catalogue).writes.last(ids, at)
    written = _rows_written(sources, ids, at)
    owners = owners_of(sources, ids, labels.DATASET, at)
    for row in rows:
        item = _dataset_item(sources, row, times.get(row.id))
        own = {field.name: getattr(item, field.name) for field in fields(item)}
        yield ListedDataset(
            **own,
            owners=owners.get(row.id, ()),
            rows=written.get(row.id),
            unread_columns=columns.get(row.id),
        )


def _rows_written(sources: Sources, datasets: Collection[str], at: int | None) -> dict[str, int]:
    """Per dataset the rows of its last write, where the write's metrics tell them."""
    times = History(sources.catalogue).writes.last(datasets, at)
    writers = sources.catalogue.last_writers(datasets, at)
    known = {
        dataset: rows_of(writer)
        for dataset, writer in writers.items()
        if writer.at == times.get(dataset)
    }
    return {dataset: rows for dataset, rows in known.items() if rows is not None}


def _unread(
    sources: Sources, rows: Iterable[DatasetRow]
) -> tuple[list[DatasetRow], Partial | None]:
    """Those that no visible plan reads under any name, but to write the same dataset; partial
    where more plans than ``_READERS_MOST`` read one of these, so that not all were looked at.
    """
    names = History(sources.catalogue).names
    left: list[DatasetRow] = []
    partial = None
    for some in batched(rows, _AT_ONCE):
        called = {
            place: {place, *others}
            for place, others in names.names_of([row.id for row in some]).items()
        }
        targets, cut = _reading(sources, {name for own in called.values() for name in own})
        unread = [
            row
            for row in some
            if all(targets.get(name, set()) <= called[row.id] for name in called[row.id])
        ]
        if any(not cut.isdisjoint(called[row.id]) for row in unread):
            partial = Partial("hub", _READERS_MOST)
        left += unread
    return left, partial


def _with_unread_columns(
    sources: Sources, rows: Sequence[DatasetRow], at: int | None
) -> tuple[dict[str, UnreadColumns], int]:
    """Of the datasets that visible plans read, those with columns that none of these does, be it
    to derive a column or to decide about rows; and how many were left out, since one of their
    readers has gaps or names no column of theirs. Plans that write the same dataset do not count.
    """
    names = History(sources.catalogue).names
    unread: dict[str, UnreadColumns] = {}
    unexplained = 0
    for some in batched(rows, _AT_ONCE):
        called = {
            place: {place, *others}
            for place, others in names.names_of([row.id for row in some]).items()
        }
        readers = _other_readers(sources, called)
        places = {dataset for dataset, plans in readers.items() if plans}
        known = sources.lineage.columns_at(places, at)
        used = _used_columns(sources, {place: called[place] for place in places}, known)
        for dataset in (row.id for row in some if row.id in places):
            plans, paths = readers[dataset], used[dataset]
            if not plans.keys() <= paths.keys() or set(plans.values()) != {_NO_GAPS}:
                unexplained += 1
                continue
            read = {path for plan in plans for path in paths[plan]}
            left = sorted(path for path in known[dataset] if not _is_read(path, read))
            if left:
                unread[dataset] = UnreadColumns(len(left), tuple(left[:_COLUMNS_SHOWN]))
    return unread, unexplained


def _is_read(path: str, read: Collection[str]) -> bool:
    """Whether a column is read, one that holds it, or a field of it."""
    return any(
        path == other or path.startswith(f"{other}.") or other.startswith(f"{path}.")
        for other in read
    )


def _other_readers(
    sources: Sources, called: Mapping[str, Collection[str]]
) -> dict[str, dict[str, str]]:
    """Per dataset the gaps of the visible plans that read it under one of its names, and write
    another one.
    """
    every = {name for own in called.values() for name in own}
    edges = sources.graph.edges(every, Direction.DOWNSTREAM, (labels.FEEDS,), _READERS_MOST).edges
    ends = {edge.in_id for edge in edges}
    plans = _shown_plans(sources, ends)
    reading: dict[str, set[str]] = {}
    for edge in edges:
        reading.setdefault(edge.out_id, set()).add(edge.in_id)
    return {
        dataset: {
            plan: plans[plan].gaps
            for name in own
            for plan in reading.get(name, ())
            if plan in plans and plans[plan].target not in own
        }
        for dataset, own in called.items()
    }


def _used_columns(
    sources: Sources, called: Mapping[str, Collection[str]], known: Mapping[str, Collection[str]]
) -> dict[str, dict[str, set[str]]]:
    """Per dataset and plan the paths of the columns of which a value or an influence goes out."""
    ids = {
        identity.column_id(name, path): (dataset, path)
        for dataset, own in called.items()
        for name in own
        for path in known[dataset]
    }
    leaving = (labels.DERIVES, labels.INFLUENCES)
    used: dict[str, dict[str, set[str]]] = {dataset: {} for dataset in called}
    for edge in sources.graph.edges(ids, Direction.DOWNSTREAM, leaving, _READERS_MOST).edges:
        dataset, path = ids[edge.out_id]
        derives = edge.label == labels.DERIVES
        plan = str(edge.value("logical_plan")) if derives else edge.in_id
        used[dataset].setdefault(plan, set()).add(path)
    return used


def _shown_plans(sources: Sources, ends: Collection[str]) -> dict[str, LogicalPlanRow]:
    """The visible plans among these vertices."""
    plans = {end for end in ends if identity.kind_of(end) == labels.LOGICAL_PLAN}
    rows = sources.catalogue.logical_plans(plans)
    return {row.id: row for row in rows if sources.hidden.isdisjoint((row.job, row.target))}


def _reading(
    sources: Sources, datasets: Collection[str]
) -> tuple[dict[str, set[str]], frozenset[str]]:
    """Per dataset the targets of the visible plans that read it, empty of one that only reads; and
    the datasets of which only ``_READERS_MOST`` edges were looked at.
    """
    page = sources.graph.edges(datasets, Direction.DOWNSTREAM, (labels.FEEDS,), _READERS_SEEN)
    edges, cut = page.edges, page.cut
    if cut:  # a visible reader may stand behind so many hidden ones
        more = sources.graph.edges(cut, Direction.DOWNSTREAM, (labels.FEEDS,), _READERS_MOST)
        edges = (*(edge for edge in edges if edge.out_id not in cut), *more.edges)
        cut = more.cut
    plans = _shown_plans(sources, {edge.in_id for edge in edges})
    target = {plan: row.target for plan, row in plans.items()}
    by_dataset: dict[str, set[str]] = {}
    for edge in edges:
        if edge.in_id in target:
            by_dataset.setdefault(edge.out_id, set()).add(target[edge.in_id])
    return by_dataset, frozenset(cut)


def _sorted(
    sources: Sources, rows: Iterable[DatasetRow], order: DatasetOrder, at: int | None
) -> list[DatasetRow]:
    """Datasets that come by name, in an order; unknown times last."""
    listed = list(rows)
    if order.field == DatasetOrder.LAST_WRITE:
        writes = History(sources.catalogue).writes.last([row.id for row in listed], at)
        known = [row for row in listed if row.id in writes]
        known.sort(key=lambda row: writes[row.id], reverse=order.falls)
        return known + [row for row in listed if row.id not in writes]
    keys: dict[str, Callable[[DatasetRow], str]] = {
        DatasetOrder.NAME: lambda row: row.name,
        DatasetOrder.URI: lambda row: row.uri,
        DatasetOrder.TYPE: lambda row: row.kind,
    }
    return sorted(listed, key=keys[order.field], reverse=order.falls)


def _page_of(
    rows: Sequence[DatasetRow], limit: int, cursor: str | None, name: str
) -> Page[DatasetRow]:
    start = int(read_cursor(cursor, name, int)[0]) if cursor else 0
    end = start + limit
    following = write_cursor(name, end) if end < len(rows) else None
    return Page(tuple(rows[start:end]), len(rows), following)


@of_one_state
def dataset(sources: Sources, dataset: str, at: int | None) -> DatasetPage:
    """One dataset (an id): its schema, its current writers and readers, its names."""
    sources = open_node(sources, labels.DATASET, dataset)
    row = dataset_row(sources, dataset)
    history = History(sources.catalogue)
    around = set(history.locations.around_at((dataset,), at)[dataset]) - sources.hidden
    item = _dataset_item(
        sources, row, max(history.writes.last({dataset, *around}, at).values(), default=None)
    )
    times = _visible_plans(history, (dataset,), at)
    written_by = sources.catalogue.logical_plans(times.keys())
    keys = {key for plan in written_by for key in json.loads(plan.partition_keys)}
    about = dataset_facets(sources, dataset, at)
    renamed = rename_ends(sources, history, dataset, at)
    return DatasetPage(
        id=item.id,
        uri=item.uri,
        scope=item.scope,
        label=item.label,
        type=item.type,
        last_write=item.last_write,
        names=tuple(catalog_names(sources, history, (dataset,), at).get(dataset, ())),
        schema=_schema(sources, dataset, at, about),
        writers=_neighbours(sources, written_by, times),
        readers=_readers(sources, history, {dataset, *around}, at),
        partition_keys=tuple(sorted(keys)),
        about=about,
        renamed_from=renamed.came_from,
        renamed_to=renamed.went_to,
        layer=item.layer,
        classifications=tags_of(sources, dataset),
    )


def _readers(
    sources: Sources, history: History, places: Collection[str], at: int | None
) -> tuple[Neighbour, ...]:
    """Plans that read one of these places (a dataset, the locations that share files with it) under
    any name, and that have visible writes or write nothing.
    """
    names = history.names.names_of(places)
    called = {name for place in places for name in (place, *names[place])}
    page = sources.graph.edges(called, Direction.DOWNSTREAM, (labels.FEEDS,), HUB_LIMIT)
    plans = {e.in_id for e in page.edges if identity.kind_of(e.in_id) == labels.LOGICAL_PLAN}
    rows = sources.catalogue.logical_plans(plans)
    located = history.names.locations_of({row.target for row in rows})
    targets = {place for of_target in located.values() for place in of_target if place}
    reading = {row.id for row in rows if not row.target}
    times = _visible_plans(history, targets | reading, at)
    return _neighbours(sources, [row for row in rows if row.id in times], times)


def _visible_plans(history: History, ends: Collection[str], at: int | None) -> dict[str, int]:
    """Logical plans with visible writes into these datasets, or (``ends`` may hold plans) those
    that only read: each with its newest time.
    """
    times: dict[str, int] = {}
    for visible in history.visible_writes.of({moment_of(end, at) for end in ends}).values():
        newest = [(write.logical_plan, write.at) for write in visible.writes]
        newest += [(older.logical_plan, older.last) for older in visible.older]
        newest += [(flow.logical_plan, flow.since) for flow in visible.declared]
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
    sources: Sources, dataset: str, at: int | None, about: DatasetFacets
) -> SchemaView | None:
    schema = sources.catalogue.newest_schema_ids((dataset,), at).get(dataset)
    columns = sources.lineage.columns_of((dataset,), at)
    if schema is None and not columns:
        return None
    described = described_columns(about)
    ids = {column.path: column.id for column in columns}
    spelled = spellings_of(sources, columns, at)
    listed = [
        _schema_column(
            column,
            spelled.get(column.id),
            described.get(column.path),
            ids,
            tags_of(sources, column.id),
        )
        for column in in_schema_order(columns, spelled)
    ]
    return SchemaView(schema, tuple(listed))


def _dataset_item(sources: Sources, row: DatasetRow, last_write_at: int | None) -> DatasetItem:
    return DatasetItem(
        id=row.id,
        uri=row.uri,
        scope=row.scope,
        label=row.name or row.uri,
        type=row.kind,
        last_write=iso(last_write_at),
        layer=sources.governance.layers.of(row.uri),
        classifications=sources.governance.tags.get(row.id, ()),
    )


def _schema_column(
    column: ColumnNode,
    spelling: ColumnSpelling | None,
    described: ColumnDescription | None,
    ids: Mapping[str, str],
    tags: tuple[TagView, ...],
) -> SchemaColumnView:
    """``ids``: the table's column ids by path."""
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
        tags,
    )


RENAMES_FOLLOWED: Final = 20
"""The most renames that an answer follows back."""


@dataclass(frozen=True, slots=True)
class RenameEnd:
    """The other name of a renamed table, and the time of the rename."""

    dataset: DatasetReference
    at: str


@dataclass(frozen=True, slots=True)
class RenameEnds:
    """The newest rename to the name of a dataset, and the newest one away from it."""

    came_from: RenameEnd | None
    went_to: RenameEnd | None


@dataclass(frozen=True, slots=True)
class Renaming:
    """A rename that an answer followed: ``former`` became ``current``."""

    former: DatasetReference
    current: DatasetReference
    at: str


def rename_ends(sources: Sources, history: History, dataset: str, at: int | None) -> RenameEnds:
    """The renames of a dataset, and of the catalog names that stand for it at the time."""
    own = _called(history, dataset, at)
    rows = sorted(sources.catalogue.renames_of(own, at), key=lambda row: (row.at, row))
    came = [(row.former, row.at) for row in rows if row.current in own and row.former not in own]
    went = [(row.current, row.at) for row in rows if row.former in own and row.current not in own]
    return RenameEnds(_newest(sources, came), _newest(sources, went))


def _called(history: History, dataset: str, at: int | None) -> set[str]:
    moment = END if at is None else at
    stood = history.names.locate(
        (name, moment) for name in history.names.names_of((dataset,))[dataset]
    )
    return {dataset, *(name for (name, _), place in stood.items() if place == dataset)}


def _newest(sources: Sources, ends: list[tuple[str, int]]) -> RenameEnd | None:
    if not ends:
        return None
    other, time = ends[-1]
    known = dataset_references(sources, (other,))
    return RenameEnd(known[other], iso(time)) if other in known else None


def rename_of(sources: Sources, execution: str, target: str) -> RenameRow | None:
    """The rename of ``target`` by an execution, unless the former name is hidden."""
    rows = (row for row in sources.catalogue.renames_by((execution,)) if row.current == target)
    return next((row for row in rows if row.former not in sources.hidden), None)


def renaming(sources: Sources, row: RenameRow) -> Renaming:
    ends = dataset_references(sources, (row.former, row.current))
    return Renaming(ends[row.former], ends[row.current], iso(row.at))
