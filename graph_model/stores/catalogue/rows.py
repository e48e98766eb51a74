"""Rows in and out: record, withdraw, clear, scan, digest; many rows into an empty catalogue.

The number of rows with a value is kept in a table where no index has it. A facet's body goes with
the last facet that has its digest. An index by digest would repeat the whole key of every facet; a
number for each digest is a fortieth of it. The transaction that adds or removes rows also updates
the number, by the rows that it really added or removed.

The elements of an engine that forgets them are kept in the transaction of their rows, before the
engine has them, and are there as long as the catalogue is. No question reads them: connectivity
always comes from the graph. With a graph that keeps its elements itself these tables stay empty.

That transaction also notes the journal that the rows were made from, and the position there:

    round n   catalogue: rows, Origin(journal, n, position)     one transaction
              journal:   states, round n                        the next one

A crash between the two leaves the catalogue one round ahead, and the projector repeats the round.
Any other difference means a file that was lost, restored or replaced by hand: the projector makes
the catalogue anew from the journal.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import exc
from sqlalchemy.engine import Connection, Engine

from graph_model import labels
from graph_model.errors import FactConflict, Unavailable
from graph_model.facts import (
    ColumnRow,
    DatasetRow,
    Edge,
    FacetBodyRow,
    Facts,
    JobRow,
    Properties,
    Row,
    Vertex,
    agreed,
    as_documented,
)
from graph_model.stores.catalogue.reading import (
    AT_ONCE,
    CatalogueReader,
    input_table,
    input_values,
    is_input,
)
from graph_model.stores.catalogue.tables import (
    COUNTED,
    STORAGE_OF,
    STORAGES,
    Storage,
    element_edges,
    element_vertices,
    facet_bodies,
    facet_text,
    facet_texts,
    facet_uses,
    metadata,
    origins,
    searched_names,
)
from graph_model.stores.database import (
    Lock,
    after_keys,
    chunks,
    count_rows,
    in_list,
    insert_rows,
    keep_order,
    read,
    write,
)
from graph_model.stores.graph import HashSum
from graph_model.stores.journal import Journal
from graph_model.values import storable_value

#: The journal's note whether the catalogue has everything: FILLING from when it is emptied until
#: it is WHOLE again.
CATALOGUE_KEY: Final = "catalogue"
FILLING: Final = "filling"
WHOLE: Final = "whole"
ROUND_KEY: Final = "catalogue_round"
"""The journal's setting for the number of the last round that it has concluded."""


def is_catalogue_whole(journal: Journal) -> bool:
    """Whether the catalogue in force has had everything since it was emptied last."""
    return journal.get_meta(CATALOGUE_KEY) != FILLING


@dataclass(frozen=True, slots=True)
class Origin:
    """The journal that a catalogue was made from: its id, the number of the projector's last round
    in the catalogue, and the position of the newest document in it (``Catalogue.origin``).
    """

    journal: str
    round: int
    position: int


def read_origin(connection: Connection) -> Origin | None:
    """None for a catalogue that was never stamped, or was emptied."""
    row = connection.execute(sa.select(origins)).first()
    return None if row is None else Origin(*row)


def stamp(connection: Connection, origin: Origin) -> None:
    """Note the origin of the rows of this transaction; the position never goes back."""
    known = read_origin(connection)
    values = {"journal": origin.journal, "round": origin.round, "position": origin.position}
    if known is None:
        connection.execute(origins.insert(), values)
        return
    if known.journal == origin.journal:
        values["position"] = max(known.position, origin.position)
    connection.execute(origins.update().values(values))


def mismatch_with(origin: Origin | None, journal: str, concluded: int, newest: int) -> str | None:
    """The reason for which a catalogue does not match this journal as it is now; None if it does.

    ``concluded`` is the last round of the journal, ``newest`` the position of its newest document.
    """
    if origin is None:
        return "it was missing or empty"
    if origin.journal != journal:
        return f"it was made from another journal ({origin.journal[:8]}, this one is {journal[:8]})"
    if origin.round < concluded:
        return f"it is older than the journal: round {origin.round:,} of {concluded:,}"
    if origin.round > concluded + 1 or origin.position > newest:
        return (
            f"it is newer than the journal: round {origin.round:,} and document"
            f" {origin.position:,}, the journal has {concluded:,} and {newest:,}"
        )
    return None


NOTHING: Final = Facts()
_ELEMENTS_PAGE: Final = 4_000
_TABLES: Final = (element_edges, element_vertices)


def keep_elements(connection: Connection, facts: Facts) -> None:
    """Insert those that are not kept yet, in the transaction of the caller."""
    if facts.vertices:
        rows = [(each.id, each.label, _properties_text(each.properties)) for each in facts.vertices]
        insert_rows(connection, element_vertices, rows)
    if facts.edges:
        ends = [
            (each.id, each.label, each.out_id, each.in_id, _properties_text(each.properties))
            for each in facts.edges
        ]
        insert_rows(connection, element_edges, ends)


class Elements:
    """Vertices and edges of an engine that forgets them when it ends. No question reads them."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def remove(self, vertex_ids: Collection[str], edge_ids: Collection[str]) -> None:
        """Forget these elements, in one transaction; the edges at a vertex are not looked for."""

        def work(connection: Connection) -> None:
            for table, ids in zip(_TABLES, (edge_ids, vertex_ids), strict=True):
                for some in chunks(sorted(set(ids))):
                    gone = table.delete().where(in_list(table.c.id, "gone"))
                    connection.execute(gone, {"gone": some})

        if vertex_ids or edge_ids:
            write(self._engine, work, Unavailable)

    def clear(self) -> None:
        def work(connection: Connection) -> None:
            for table in _TABLES:
                connection.execute(table.delete())

        if any(self.count()):
            write(self._engine, work, Unavailable)

    def count(self) -> tuple[int, int]:
        """The number of vertices and of edges."""
        with read(self._engine, Unavailable) as connection:
            return count_rows(connection, element_vertices), count_rows(connection, element_edges)

    def pages(self) -> Iterator[Facts]:
        """All of them in bounded pages, the vertices first."""
        for page in self._pages(element_vertices):
            properties = _properties_of(page)
            yield Facts(
                tuple(
                    Vertex(key, label, own)
                    for (key, label, _), own in zip(page, properties, strict=True)
                )
            )
        for page in self._pages(element_edges):
            properties = _properties_of(page)
            yield Facts(
                edges=tuple(
                    Edge(key, label, out_id, in_id, own)
                    for (key, label, out_id, in_id, _), own in zip(page, properties, strict=True)
                )
            )

    def _pages(self, table: sa.Table) -> Iterator[Sequence[Any]]:
        """A page is one transaction; none is open between pages."""
        page: Sequence[Any] = ()
        while True:
            asked = sa.select(table).order_by(table.c.id).limit(_ELEMENTS_PAGE)
            if page:
                asked = asked.where(table.c.id > page[-1][0])
            with read(self._engine, Unavailable) as connection:
                page = connection.execute(asked).all()
            if page:
                yield page
            if len(page) < _ELEMENTS_PAGE:
                return


_properties_text: Final[Callable[[Properties], str]] = json.JSONEncoder(
    separators=(",", ":")
).encode


def _properties_of(page: Sequence[Any]) -> Iterator[Properties]:
    """Those of each row, whose last value is their text: parsed together, as one list."""
    texts = ",".join([row[-1] for row in page])
    return (tuple(map(tuple, pairs)) for pairs in json.loads(f"[{texts}]"))


Values = tuple[Any, ...]
Batch = dict[Values, Values]  # key -> the fields of a row, as they are stored
_Part = tuple[Storage, Batch]
_Insert = Callable[[Connection, Sequence[_Part]], None]

_PAGE: Final = 1_000


class CatalogueRows(CatalogueReader):
    """Rows in and out: idempotent; each call that writes is one transaction."""

    def record(
        self,
        rows: Sequence[Row],
        origin: Origin | None = None,
        elements: Facts = NOTHING,
    ) -> None:
        """Insert rows whose key is new; a known key with other content raises FactConflict.

        In the same transaction ``origin`` is noted, and the vertices and edges of ``elements`` are
        kept for an engine that forgets them.

        Insert the rows whose key is new, and note their origin; FactConflict changes nothing.
        A row that agrees with a stored one and counts from earlier takes its place. ``elements``
        are kept for an engine that forgets them.

        Known rows are looked up first, outside the transaction, so a repeat takes no lock. From the
        first table with a new row on, the insert in the transaction finds the known rows itself.
        """
        asked = self._new(_batches(rows)) if rows else ()
        if not asked and origin is None and not elements.size:
            return

        def work(connection: Connection, insert: _Insert) -> None:
            insert(connection, asked)
            keep_elements(connection, elements)
            if origin is not None:
                stamp(connection, origin)

        try:
            write(self._engine, lambda connection: work(connection, _insert), Unavailable)
        except _PartlyKnown:
            write(self._engine, lambda connection: work(connection, _insert_unknown), Unavailable)

    def _new(self, batches: dict[Storage, Batch]) -> Sequence[_Part]:
        with read(self._engine, Unavailable) as connection:
            return _from_the_first_new(connection, batches)

    def withdraw(self, rows: Sequence[Row]) -> None:
        """Delete exactly these rows; unknown rows are ignored.

        Delete the rows that are stored with exactly these values, whatever the time from which
        they count.
        """
        asked: dict[Storage, list[Values]] = {}
        for row in rows:
            asked.setdefault(STORAGE_OF[type(row)], []).append(stored_values(row))

        def work(connection: Connection) -> None:
            take_turn(connection, asked)
            for storage, batch in asked.items():
                if storage.counted is None:
                    _remove(connection, storage, batch)
                elif stored := _stored(connection, storage, batch):
                    _remove(connection, storage, stored)
                    count_removed(connection, storage, stored)

        if asked:
            write(self._engine, work, Unavailable)

    def clear(self) -> None:
        """Delete every row of every table."""

        def work(connection: Connection) -> None:
            take_turn(connection, STORAGES)
            for table in metadata.sorted_tables:
                connection.execute(table.delete())

        write(self._engine, work, Unavailable)

    def scan(self) -> Iterator[Row]:
        """Every row, in any order, in bounded pages: for digests and exports.

        Every row, by table and key. A page is one transaction; none is open between pages.
        """
        for storage in STORAGES:
            last: Values | None = None
            while True:
                with read(self._engine, Unavailable) as connection:
                    page = connection.execute(_page_after(storage, last)).all()
                for stored in page:
                    row: Row = storage.row(*stored)
                    yield row
                if len(page) < _PAGE:
                    break
                last = _reader(storage, storage.order)(tuple(page[-1]))

    def digest(self) -> str:
        """SHA-256 in hex over all rows: equal for equal content.

        64 hex digits over all rows, in any order: equal for equal content of documents.
        """
        total = HashSum()
        with read(self._engine, Unavailable) as connection:
            for storage in (storage for storage in STORAGES if storage.hashed):
                stored = connection.execute(
                    sa.select(*storage.fields), execution_options={"yield_per": _PAGE}
                )
                for row in stored:
                    total.add_content(_content(storage, tuple(row)))
        return total.digest()

    def copy(self, rows: Sequence[Row]) -> None:
        """Add the rows, in one transaction; FactConflict for a key that is known or comes twice."""
        batches: dict[Storage, list[Values]] = {}
        for row in rows:
            batches.setdefault(STORAGE_OF[type(row)], []).append(stored_values(row))

        def work(connection: Connection) -> None:
            take_turn(connection, batches)
            add = _copy if connection.dialect.name == _POSTGRESQL else _insert_values
            for storage, batch in batches.items():
                new = records(storage, batch)
                add(connection, storage, new)
                _note_texts(connection, storage, new)
                count_added(connection, storage, batch)

        try:
            write(self._engine, work, Unavailable)
        except exc.IntegrityError as error:
            raise FactConflict(
                "rows to be added: a key is known already, or comes twice"
            ) from error


class _PartlyKnown(Exception):
    """Some of the rows to be counted are stored already: the next attempt looks up the new ones."""


def _from_the_first_new(connection: Connection, batches: dict[Storage, Batch]) -> Sequence[_Part]:
    parts = list(batches.items())
    for place, (storage, batch) in enumerate(parts):
        if new := _unknown(connection, storage, batch):
            return [(storage, new), *parts[place + 1 :]]
    return ()


def _insert(connection: Connection, parts: Sequence[_Part]) -> None:
    take_turn(connection, (storage for storage, _ in parts))
    for storage, batch in parts:
        new = records(storage, batch.values())
        added = insert_rows(connection, storage.table, new)
        _note_texts(connection, storage, new)
        if added != len(batch):
            earlier = _unknown(connection, storage, batch)
            if storage.counted is not None:
                raise _PartlyKnown
            if earlier:
                _replace(connection, storage, earlier)
        count_added(connection, storage, batch.values())


def _insert_unknown(connection: Connection, parts: Sequence[_Part]) -> None:
    take_turn(connection, (storage for storage, _ in parts))
    unknown = ((storage, _unknown(connection, storage, batch)) for storage, batch in parts)
    _insert(connection, [(storage, batch) for storage, batch in unknown if batch])


def _batches(rows: Iterable[Row]) -> dict[Storage, Batch]:
    """The rows by table; raises FactConflict where two of them contradict each other."""
    batches: dict[Storage, Batch] = {storage: {} for storage in STORAGES}
    for row in rows:
        storage = STORAGE_OF[type(row)]
        values = stored_values(row)
        key = _key_reader(storage)(values)
        known = batches[storage].setdefault(key, values)
        if known is not values and known != values:
            batches[storage][key] = _agreed(storage, known, values)
    return {storage: batch for storage, batch in batches.items() if batch}


def _unknown(connection: Connection, storage: Storage, batch: Batch) -> Batch:
    """The part of a batch that is not stored, or that is to take the place of a stored row;
    FactConflict for a stored row with the same key that does not agree.
    """
    unknown, key_of = dict(batch), _key_reader(storage)
    for known in _near(connection, storage, batch):
        key = key_of(known)
        asked = unknown.get(key)
        if asked is not None and (asked == known or _agreed(storage, known, asked) == known):
            del unknown[key]
    return unknown


def _agreed(storage: Storage, values: Values, other: Values) -> Values:
    return stored_values(agreed(storage.row(*values), storage.row(*other)))


def _replace(connection: Connection, storage: Storage, batch: Batch) -> None:
    """Put these rows in the place of the stored ones with the same keys."""
    _remove(connection, storage, list(batch.values()))
    insert_rows(connection, storage.table, records(storage, batch.values()))


def _near(connection: Connection, storage: Storage, batch: Batch) -> Iterator[Values]:
    """The stored rows that share an owner, or where there is none the key, with one of these."""
    if storage.owner is None:
        for keys in chunks(batch, AT_ONCE):
            rows = connection.execute(_keyed(storage), input_values(keys))
            yield from (tuple(stored) for stored in rows if stored[0] is not None)
        return
    place = _field_names(storage).index(storage.owner)
    for owners in chunks(sorted({values[place] for values in batch.values()}), AT_ONCE):
        asked = input_values((owner,) for owner in owners)
        yield from map(tuple, connection.execute(_owned(storage, storage.owner), asked))


@lru_cache
def _owned(storage: Storage, owner: str) -> sa.Select[Any]:
    return sa.select(*storage.fields).where(is_input(storage.table.c[owner]))


@lru_cache
def _keyed(storage: Storage) -> sa.Select[Any]:
    """A row for each given key, of nothing but NULL if it is missing: so each is a seek. An inner
    join may be reversed, and then reads the whole table.
    """
    own = storage.table.c
    asked = input_table([(name, own[name].type) for name in storage.key])
    same = (own[name] == asked.c[name] for name in storage.key)
    return sa.select(*storage.fields).select_from(asked.outerjoin(storage.table, sa.and_(*same)))


def _stored(connection: Connection, storage: Storage, batch: Sequence[Values]) -> list[Values]:
    """The rows of a batch that are stored with the same values, each once."""
    key_of = _key_reader(storage)
    near = _near(connection, storage, {key_of(values): values for values in batch})
    return sorted(set(batch).intersection(near))


def _remove(connection: Connection, storage: Storage, batch: Sequence[Values]) -> None:
    names = [f"old_{name}" for name in _field_names(storage)]
    connection.execute(
        _delete(storage), [dict(zip(names, values, strict=True)) for values in batch]
    )
    _forget_texts(connection, storage, records(storage, batch))


@lru_cache
def _delete(storage: Storage) -> sa.Delete:
    same, given = [], {}
    for field in storage.fields:
        given[field.name] = value = sa.bindparam(f"old_{field.name}", type_=field.type)
        if field.name in storage.key or field.name not in storage.of_receipts:
            same.append(field.is_not_distinct_from(value) if field.nullable else field == value)
    if storage.of_receipts == COUNTED and COUNTED[0] not in storage.key:
        own = storage.table.c
        same.append(own.at + own.ahead == given["at"] + given["ahead"])
    return storage.table.delete().where(*same)


def _page_after(storage: Storage, last: Values | None) -> sa.Select[Any]:
    key = [storage.table.c[name] for name in storage.order]
    asked = sa.select(*storage.fields).order_by(*key).limit(_PAGE)
    return asked if last is None else asked.where(after_keys(key, last))


def _content(storage: Storage, values: Values) -> bytes:
    if storage.of_receipts:
        values = as_documented(storage.row(*values))
    line = json.dumps([storage.table.name, *values], ensure_ascii=True, separators=(",", ":"))
    return line.encode()


# --- one row -------------------------------------------------------------------------------------


def _field_names(storage: Storage) -> tuple[str, ...]:
    fields: tuple[str, ...] = storage.row._fields
    return fields


def _key_reader(storage: Storage) -> Callable[[Values], Values]:
    return _reader(storage, storage.key)


def _reader(storage: Storage, names: Sequence[str]) -> Callable[[Values], Values]:
    """A function that returns the values of these fields of a row."""
    places = [_field_names(storage).index(name) for name in names]
    if len(places) == 1:
        (place,) = places
        return lambda values: (values[place],)
    return itemgetter(*places)


def stored_values(row: Row) -> Values:
    """The fields of a row as every database keeps them."""
    text = "".join([value for value in row if isinstance(value, str)])
    if text.isascii() and "\0" not in text:  # nearly every row: nothing to replace in any of it
        return row
    return tuple(map(storable_value, row))


def records(storage: Storage, batch: Iterable[Values]) -> list[Values]:
    """The values of the table's columns, in their order, with those for searches."""
    search = storage.search
    if search is None:
        return list(batch)
    return [(*values, *search(storage.row(*values))) for values in batch]


# --- what a search reads -------------------------------------------------------------------------

_KIND_OF: Final = {DatasetRow: labels.DATASET, JobRow: labels.JOB, ColumnRow: labels.COLUMN}


def _note_texts(connection: Connection, storage: Storage, stored: Iterable[Values]) -> None:
    if storage.row in _KIND_OF:
        insert_rows(connection, searched_names, _searched(storage, stored))
    elif storage.row is FacetBodyRow:
        texts = [(digest, text) for digest, body in stored if (text := facet_text(body))]
        if texts:
            insert_rows(connection, facet_texts, texts)


def _forget_texts(connection: Connection, storage: Storage, removed: Iterable[Values]) -> None:
    """Of removed rows, but those that a row which is still stored has, too."""
    if storage.row in _KIND_OF:
        keys = [{"old_id": key} for _, key, _, _ in _searched(storage, removed)]
        connection.execute(_UNSEARCHED[storage.row], keys)
    elif storage.row is FacetBodyRow:
        connection.execute(_NOT_TELLING, [{"old_digest": digest} for digest, _ in removed])


def _searched(storage: Storage, stored: Iterable[Values]) -> Collection[Values]:
    kind = _KIND_OF[storage.row]
    if storage.row is ColumnRow:  # the name of ``address.street`` is ``street``
        return dict.fromkeys(
            (kind, key, path.rpartition(".")[2] or path, path) for *_, key, path in stored
        )
    return [(kind, key, name, text) for key, *_, name, text in stored]


def _unsearched(storage: Storage) -> sa.Delete:
    name, old = searched_names.c, sa.bindparam("old_id", type_=searched_names.c.id.type)
    own = storage.table.c.search_key if storage.row is ColumnRow else storage.table.c.id
    is_kept = sa.exists().where(own == old)
    return searched_names.delete().where(
        name.kind == _KIND_OF[storage.row], name.id == old, ~is_kept
    )


_UNSEARCHED: Final = {row: _unsearched(STORAGE_OF[row]) for row in _KIND_OF}

_OLD_DIGEST: Final = sa.bindparam("old_digest", type_=facet_texts.c.digest.type)
_NOT_TELLING: Final = facet_texts.delete().where(
    facet_texts.c.digest == _OLD_DIGEST, ~sa.exists().where(facet_bodies.c.id == _OLD_DIGEST)
)

_THIS: Final = facet_uses.c.digest == sa.bindparam("value")
_ADD: Final = facet_uses.update().where(_THIS).values(uses=facet_uses.c.uses + sa.bindparam("more"))
_DROP: Final = facet_uses.delete().where(_THIS, facet_uses.c.uses <= 0)


def take_turn(connection: Connection, storages: Iterable[Storage]) -> None:
    """Begin a transaction that counts: until its end no other one adds or removes rows."""
    if any(storage.counted is not None for storage in storages):
        keep_order(connection, Lock.COUNTS)


def count_added(connection: Connection, storage: Storage, rows: Iterable[tuple[Any, ...]]) -> None:
    """Add these rows, which were not stored before, to the number of their value."""
    if counted := _counted(storage, rows):
        insert_rows(connection, facet_uses, [(value, 0) for value in counted])
        connection.execute(_ADD, [{"value": v, "more": n} for v, n in counted.items()])


def count_removed(
    connection: Connection, storage: Storage, rows: Iterable[tuple[Any, ...]]
) -> None:
    """Subtract these rows, which were stored, from the number of their value."""
    if counted := _counted(storage, rows):
        connection.execute(_ADD, [{"value": v, "more": -n} for v, n in counted.items()])
        connection.execute(_DROP, [{"value": value} for value in counted])


def _counted(storage: Storage, rows: Iterable[tuple[Any, ...]]) -> Counter[str]:
    if storage.counted is None:
        return Counter()
    place = storage.row._fields.index(storage.counted)
    return Counter(row[place] for row in rows)


_POSTGRESQL: Final = "postgresql"


def _insert_values(connection: Connection, storage: Storage, batch: Sequence[Values]) -> None:
    names = storage.table.columns.keys()
    connection.execute(
        storage.table.insert(), [dict(zip(names, values, strict=True)) for values in batch]
    )


def _copy(connection: Connection, storage: Storage, batch: Sequence[Values]) -> None:
    quote = connection.dialect.identifier_preparer
    schemas = connection.get_execution_options().get("schema_translate_map") or {}
    table = sa.table(storage.table.name, schema=schemas.get(None))
    names = tuple(column.name for column in storage.table.columns)
    columns = ", ".join(quote.quote(name) for name in names)
    statement = f"COPY {quote.format_table(table)} ({columns}) FROM STDIN"
    driver: Any = connection.connection.driver_connection
    errors: Any = connection.dialect.loaded_dbapi
    try:
        with driver.cursor() as cursor, cursor.copy(statement) as copying:
            for values in batch:
                copying.write_row(values)
    except errors.Error as error:  # SQLAlchemy does not see this statement
        raise exc.DBAPIError.instance(
            statement, None, error, errors.Error, dialect=connection.dialect
        ) from error
