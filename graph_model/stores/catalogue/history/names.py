"""The present and former names of a dataset: catalog names and renames."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final

import sqlalchemy as sa

from graph_model.facts import NameRow, RenameRow
from graph_model.stores.catalogue.reading.conditions import pairs_from, until
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

_MOMENT: Final = (("name", StoredId()), ("at", sa.BigInteger()))
_RENAMES_BY: Final = prepared(sa.select(renames).where(is_input(renames.c.execution)))


class SqlCatalogNames(CatalogueReader):
    """See ``protocols.CatalogNames``."""

    def names_of(self, locations: Collection[str], at: int | None) -> tuple[NameRow, ...]:
        """Of several observations at one time the one of the greatest execution id counts."""
        found = self._rows_for(_names_of(), locations, at)
        return tuple(sorted(NameRow(*row) for row in found))

    def location_of(self, name: str, at: int | None) -> str | None:
        order = (names.c.at, names.c.execution, names.c.location)
        asked = sa.select(names.c.location).where(names.c.name == name).limit(1)
        last = asked.where(*until(names.c.at, at)).order_by(*(column.desc() for column in order))
        with self._read() as connection:
            found: str | None = connection.execute(last).scalar()
            if found is None and at is not None:
                found = connection.execute(asked.order_by(*order)).scalar()
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
    """The location of a name: the last one observed until then, else the first one."""
    seen = names.alias("seen_names").c
    order = (seen.at, seen.execution, seen.location)
    own = sa.select(seen.location).where(seen.name == name).limit(1)
    last = own.where(seen.at <= at).order_by(*(column.desc() for column in order))
    return sa.func.coalesce(last.scalar_subquery(), own.order_by(*order).scalar_subquery())


@made_once
def _names_around() -> sa.CompoundSelect[Any]:
    asked = input_column()
    pairs = (_pairs_around(asked, table) for table in (names, hostless_names))
    return sa.union_all(*pairs)


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


def _pairs_around(asked: sa.CTE, table: sa.Table) -> sa.Select[Any]:
    """The names of the given datasets, then every location of these names and of the given ones,
    with 1 for the names without servers.
    """
    seen = table.alias(f"seen_{table.name}").c
    names_of = pairs_from(seen.location, seen.name, asked, name=f"names_of_{table.name}").c
    called = sa.union_all(
        sa.select(asked.c.value),
        sa.select(names_of.second.label("value")).where(names_of.second.is_not(None)),
    ).cte(f"called_{table.name}")
    pairs = pairs_from(table.c.name, table.c.location, called, name=f"pairs_{table.name}").c
    flag: sa.ColumnElement[int] = sa.literal_column("1" if table is hostless_names else "0")
    return sa.select(pairs.first, pairs.second, flag).where(pairs.second.is_not(None))


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
