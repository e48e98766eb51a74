"""The facets of the runs that wrote datasets last."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from graph_model import labels
from graph_model.stores.catalogue.reading.conditions import pairs_from
from graph_model.stores.catalogue.reading.reader import CatalogueReader
from graph_model.stores.catalogue.reading.value_tables import (
    AT_ONCE,
    at_values,
    input_column,
    until_input,
)
from graph_model.stores.catalogue.tables import executions, facets
from graph_model.stores.database import StoredText, chunks
from graph_model.stores.protocols import RunFacet


class SqlRunFacets(CatalogueReader):
    """The facets of runs of ``protocols.StatementLookup``."""

    def run_facets(
        self, targets: Collection[str], names: Collection[str], at: int | None
    ) -> tuple[RunFacet, ...]:
        """A seek for each (target, logical plan), whatever its history."""
        newest: dict[tuple[str, str], Any] = {}
        with self._read() as connection:
            for chunk in chunks(sorted(set(targets)), AT_ONCE):
                asked = at_values(chunk, at)
                for state in labels.STATES:
                    for row in connection.execute(_newest(), asked | {"state": state}):
                        key = (row.target, row.logical_plan)
                        if key not in newest or _order(newest[key]) < _order(row):
                            newest[key] = row
            return tuple(_read(connection, list(newest.values()), names))


def _order(row: Any) -> tuple[int, str]:
    return row.at, row.id


@lru_cache
def _newest() -> sa.Select[Any]:
    """Of each pair of a target and a plan the newest execution in a state; made once."""
    listed, seen = executions.alias("listed").c, executions.alias("seen").c
    state = sa.bindparam("state", type_=StoredText(), required=True)
    asked = input_column()
    wrote = (listed.kind == labels.WRITE_KIND, listed.state == state)
    pairs = pairs_from(listed.target, listed.logical_plan, asked, *wrote)
    newest = (
        sa.select(seen.id)
        .where(
            seen.target == pairs.c.first,
            seen.kind == labels.WRITE_KIND,
            seen.state == state,
            seen.logical_plan == pairs.c.second,
            until_input(seen.at),
        )
        .order_by(seen.at.desc(), seen.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    row = executions.c
    fields = (row.id, row.target, row.logical_plan, row.subject, row.job, row.at)
    return sa.select(*fields).join_from(pairs, executions, row.id == newest)


def _read(connection: Connection, rows: Sequence[Any], names: Collection[str]) -> list[RunFacet]:
    newest: dict[tuple[str, str], tuple[int, str]] = {}
    for chunk in chunks(sorted({row.subject for row in rows})):
        columns = facets.c
        asked = sa.select(columns.entity, columns.name, columns.at, columns.digest).where(
            columns.entity.in_(chunk),
            columns.kind == "run",
            columns.name.in_(sorted(set(names))),
            sa.not_(columns.deleted),
        )
        for entity, name, at, digest in connection.execute(asked):
            newest[entity, name] = max((at, digest), newest.get((entity, name), (at, digest)))
    by_subject: dict[str, list[tuple[str, str]]] = {}
    for (entity, name), (_, digest) in newest.items():
        by_subject.setdefault(entity, []).append((name, digest))
    return sorted(
        RunFacet(row.target, row.job, row.at, name, digest)
        for row in rows
        for name, digest in by_subject.get(row.subject, ())
    )
