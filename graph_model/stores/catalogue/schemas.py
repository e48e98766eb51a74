"""The schema of a dataset, and the plans that use a schema."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from graph_model import labels
from graph_model.facts import DESCRIBED, SchemaRow, SchemaUseRow
from graph_model.stores.catalogue.names import NodeLookup
from graph_model.stores.catalogue.reading import (
    input_column,
    is_input,
    made_once,
    rows_for,
    successful,
    until_input,
)
from graph_model.stores.catalogue.tables import executions, facets, schema_uses, schemas


class SchemaHistory(NodeLookup):
    """Which schema a dataset has, and which plans use it.

    ``at`` is epoch ms, None the end of time: only executions with ``ExecutionRow.at <= at`` count.
    """

    def newest_schemas(self, datasets: Collection[str], at: int | None) -> dict[str, SchemaRow]:
        """Per dataset the schema that the newest completed execution (at or before ``at``) used.

        SchemaUseRow links plans to schemas; a write beats a read at the same time. A dataset that
        only plans without a completed execution touch gets the schema of the plan with the
        greatest id, so that its page is not empty. Datasets without any schema are left out.
        """
        with self.snapshot() as same:
            chosen = same.newest_schema_ids(datasets, at)
            rows = {row.id: row for row in same.schemas(set(chosen.values()))}
        return {dataset: rows[schema] for dataset, schema in chosen.items()}

    def newest_schema_ids(self, datasets: Collection[str], at: int | None) -> dict[str, str]:
        """The ids of ``newest_schemas``.

        Among equal times and roles the greatest ids of the plan and of the schema come first.
        """
        with self._read() as connection:
            uses: dict[str, list[_Use]] = {}
            for dataset, schema, time in rows_for(connection, _described(), datasets, at):
                uses[dataset] = [_Use("", dataset, schema, labels.WRITE, time, time)]
            alone = set(datasets) - uses.keys()
            chosen = _only_schemas(connection, alone) if at is None else {}
            left = set(datasets) - chosen.keys()
            for use in map(_Use._make, rows_for(connection, _schema_uses(), left, at)):
                uses.setdefault(use.dataset, []).append(use)
        for dataset, candidates in uses.items():
            schema = _newest_schema(candidates)
            if schema is not None:
                chosen[dataset] = schema
        return chosen

    def schema_uses(self, dataset: str, limit: int = 5_000) -> tuple[SchemaUseRow, ...]:
        """The plans that read or write a dataset, with their schemas; writing plans come first."""
        columns = schema_uses.c
        asked = (
            sa.select(schema_uses)
            .where(columns.dataset == dataset)
            .order_by(columns.role != labels.WRITE, columns.logical_plan, columns.schema)
            .limit(limit)
        )
        with self._read() as connection:
            return tuple(SchemaUseRow(*row) for row in connection.execute(asked))


class _Use(NamedTuple):
    """A SchemaUseRow with the newest execution of its plan at a time, and at any; ``logical_plan``
    "" for an event about the dataset alone.
    """

    logical_plan: str
    dataset: str
    schema: str
    role: str
    latest: int | None
    ever: int | None


def _only_schemas(connection: Connection, datasets: Collection[str]) -> dict[str, str]:
    """The schemas of the datasets that have only one, of any plan and time."""
    used: dict[str, set[str]] = {}
    for dataset, schema in rows_for(connection, _used_schemas(), datasets):
        used.setdefault(dataset, set()).add(schema)
    return {dataset: min(schemas) for dataset, schemas in used.items() if len(schemas) == 1}


@made_once
def _used_schemas() -> sa.Select[Any]:
    """Datasets with the schemas that are known of them."""
    uses = schema_uses.c
    return (
        sa.select(uses.dataset, uses.schema)
        .distinct()
        .join_from(schema_uses, schemas, schemas.c.id == uses.schema)
        .where(is_input(uses.dataset))
    )


@made_once
def _described() -> sa.Select[Any]:
    """Datasets with the newest schema that events about them alone gave them, and its time."""
    asked, seen, own = input_column(), facets.alias("seen").c, facets.c
    newest = (
        sa.select(sa.func.max(seen.at))
        .where(seen.entity == asked.c.value, seen.kind == DESCRIBED, until_input(seen.at))
        .scalar_subquery()
    )
    return (
        sa.select(asked.c.value, sa.func.max(own.name), own.at)
        .join_from(
            asked,
            facets,
            sa.and_(own.entity == asked.c.value, own.kind == DESCRIBED, own.at == newest),
        )
        .group_by(asked.c.value, own.at)
    )


@made_once
def _schema_uses() -> sa.Select[Any]:
    """The uses of schemas that are known, each with the time of its plan's newest execution."""
    uses = schema_uses.c

    def newest(*limit: sa.ColumnElement[bool]) -> Any:
        seen = executions.c
        return (
            sa.select(sa.func.max(seen.at))
            .where(
                seen.logical_plan == uses.logical_plan,
                *successful(seen, writes_only=False),
                *limit,
            )
            .scalar_subquery()
        )

    latest = newest(until_input(executions.c.at)).label("latest")
    return (
        sa.select(schema_uses, latest, newest().label("ever"))
        .join_from(schema_uses, schemas, schemas.c.id == uses.schema)
        .where(is_input(uses.dataset))
    )


def _newest_schema(uses: list[_Use]) -> str | None:
    seen = [use for use in uses if use.latest is not None]
    if not seen and any(use.ever is not None for use in uses):
        return None  # no execution had used a schema at that time
    best = max(
        seen or uses,
        key=lambda use: (
            -1 if use.latest is None else use.latest,
            use.role == labels.WRITE if seen else False,
            use.logical_plan,
            use.role == labels.WRITE,
            use.schema,
        ),
    )
    return best.schema
