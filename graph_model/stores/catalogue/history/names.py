"""The present and former names of a dataset: catalog names and renames."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final

import sqlalchemy as sa

from graph_model.facts import NameRow, RenameRow
from graph_model.stores.catalogue.reading.conditions import pairs_from
from graph_model.stores.catalogue.reading.reader import CatalogueReader
from graph_model.stores.catalogue.reading.value_tables import (
    input_column,
    input_table,
    is_input,
    made_once,
    prepared,
    until_input,
)
from graph_model.stores.catalogue.tables import hostless_names, names, renames
from graph_model.stores.database import StoredId
from graph_model.stores.protocols import NEVER

_MOMENT: Final = (("name", StoredId()), ("at", sa.BigInteger()))
_RENAMES_BY: Final = prepared(sa.select(renames).where(is_input(renames.c.execution)))


class SqlCatalogNames(CatalogueReader):
    """See ``protocols.CatalogNames``."""

    def names_of(self, locations: Collection[str], at: int | None) -> tuple[NameRow, ...]:
        """Of several observations at one time the one of the greatest execution id counts."""
        found = self._rows_for(_names_of(), locations, at)
        return tuple(sorted(NameRow(*row) for row in found))

    def location_of(self, name: str, at: int | None) -> str | None:
        asked = sa.select(location_at(sa.literal(name, StoredId()), NEVER if at is None else at))
        with self._read() as connection:
            found: str | None = connection.execute(asked).scalar()
            if found is None:
                found = connection.execute(_only_location_of(name)).scalar()
        return found

    def locations_of(self, moments: Collection[tuple[str, int]]) -> dict[tuple[str, int], str]:
        found = self._rows_beside(_locations(), moments)
        return {(name, at): location for name, at, location in found if location is not None}

    def names_around(self, datasets: Collection[str]) -> frozenset[tuple[str, str]]:
        found = self._rows_for(_names_around(), datasets)
        pairs = frozenset((name, location) for name, location, hostless in found if not hostless)
        hostless = _only_locations((name, location) for name, location, flag in found if flag)
        return pairs | hostless

    def renames_of(self, datasets: Collection[str], at: int | None) -> tuple[RenameRow, ...]:
        found: set[RenameRow] = set()
        with self.snapshot() as same:
            for column in ("former", "current"):
                rows = same._rows_for(_renames_of(column), datasets, at)
                found.update(RenameRow(*row) for row in rows)
        return tuple(sorted(found))

    def renames_by(self, executions: Collection[str]) -> tuple[RenameRow, ...]:
        found = self._rows_for(_RENAMES_BY, executions)
        return tuple(sorted({RenameRow(*row) for row in found}))


@made_once
def _names_of() -> sa.Select[Any]:
    inner, outer = names.alias("listed").c, names.alias("seen").c
    pairs = pairs_from(inner.location, inner.name, input_column())
    latest = (
        sa.select(sa.func.max(outer.at))
        .where(
            outer.location == pairs.c.first,
            outer.name == pairs.c.second,
            until_input(outer.at),
        )
        .scalar_subquery()
    )
    newest = sa.select(pairs.c.first, pairs.c.second, latest.label("at")).cte("newest")
    columns = names.c
    return (
        sa.select(columns.name, columns.location, sa.func.max(columns.execution), columns.at)
        .join_from(
            newest,
            names,
            sa.and_(
                columns.location == newest.c.first,
                columns.name == newest.c.second,
                columns.at == newest.c.at,
            ),
        )
        .group_by(columns.name, columns.location, columns.at)
    )


@made_once
def _locations() -> sa.Select[Any]:
    asked = input_table(_MOMENT)
    return sa.select(asked, location_at(asked.c.name, asked.c.at).label("location"))


def location_at(name: Any, at: Any) -> Any:
    """The location of a name: the last one observed until then, or itself if that one has lost its
    names since; else the first one.
    """
    seen, lost = names.alias("seen_names").c, names.alias("lost_names").c
    order = (seen.at, seen.execution, seen.location)
    own = sa.select(seen.location).where(seen.name == name).limit(1)
    itself = lost.name == seen.location, lost.location == seen.location
    gone = sa.select(sa.func.min(lost.at)).where(*itself, lost.at > seen.at).scalar_subquery()
    stood = sa.case((gone <= at, seen.name), else_=seen.location)
    last = sa.select(stood).where(seen.name == name, seen.at <= at).limit(1)
    last = last.order_by(*(column.desc() for column in order))
    return sa.func.coalesce(last.scalar_subquery(), own.order_by(*order).scalar_subquery())


@made_once
def _names_around() -> sa.CompoundSelect[Any]:
    asked = input_column()
    pairs = (_pairs_around(asked, table) for table in (names, hostless_names))
    return sa.union_all(*(select for found in pairs for select in found))


def _only_location_of(name: str) -> sa.Select[Any]:
    """The location of a name without servers, where there is one and no other."""
    location, own = hostless_names.c.location, hostless_names.c.name == name
    return (
        sa.select(sa.func.min(location))
        .where(own)
        .having(sa.func.min(location) == sa.func.max(location))
    )


def _only_locations(pairs: Iterable[tuple[str, str]]) -> frozenset[tuple[str, str]]:
    """The pairs of the names that have one location and no other."""
    locations: dict[str, set[str]] = {}
    for name, location in pairs:
        locations.setdefault(name, set()).add(location)
    return frozenset((name, found.pop()) for name, found in locations.items() if len(found) == 1)


def _pairs_around(asked: sa.CTE, table: sa.Table) -> Iterator[sa.Select[Any]]:
    """The names of the given datasets, then every location of these names and of the given ones,
    with 1 for the names without servers; a name of a location that has lost names stands for itself
    as well.
    """
    seen = table.alias(f"seen_{table.name}").c
    names_of = pairs_from(seen.location, seen.name, asked, name=f"names_of_{table.name}").c
    called = sa.union_all(
        sa.select(asked.c.value),
        sa.select(names_of.second.label("value")).where(names_of.second.is_not(None)),
    ).cte(f"called_{table.name}")
    pairs = pairs_from(table.c.name, table.c.location, called, name=f"pairs_{table.name}").c
    flag: sa.ColumnElement[int] = sa.literal_column("1" if table is hostless_names else "0")
    yield sa.select(pairs.first, pairs.second, flag).where(pairs.second.is_not(None))
    if table is names:
        lost = names.alias("lost_names").c
        itself = lost.name == pairs.second, lost.location == pairs.second
        gone = sa.select(sa.literal(1)).where(*itself).exists()
        yield sa.select(pairs.first, pairs.first, flag).where(gone)


@made_once
def _renames_of(column: str) -> sa.Select[Any]:
    asked, seen, row = input_column(), renames.alias("seen").c, renames.c
    newest = (
        sa.select(sa.func.max(seen.at))
        .where(seen[column] == asked.c.value, until_input(seen.at))
        .scalar_subquery()
    )
    newest_rename = sa.and_(row[column] == asked.c.value, row.at == newest)
    return sa.select(renames).join_from(asked, renames, newest_rename)
