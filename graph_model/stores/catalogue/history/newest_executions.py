"""The newest execution of a job, a dataset or a plan: one seek in an index for each."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from graph_model.facts import MAIN_BRANCH, ExecutionRow
from graph_model.stores.catalogue.reading.applications import under_applications
from graph_model.stores.catalogue.reading.conditions import successful
from graph_model.stores.catalogue.reading.reader import rows_for
from graph_model.stores.catalogue.reading.value_tables import input_column, made_once, until_input
from graph_model.stores.catalogue.tables import executions

Only = Literal["any", "completed", "writes", "main"]
"""The executions that count: all, the completed ones, the completed writes, or the completed writes
of the main branch of their table.
"""


def newest_executions(
    connection: Connection,
    column: str,
    values: Collection[str],
    at: int | None,
    *,
    only: Only,
) -> dict[str, ExecutionRow]:
    """Per value of the column its newest execution by (at, id), among those that count."""
    rows = rows_for(connection, _newest_executions(column, only), values, at)
    found = {row[-1]: ExecutionRow(*row[:-1]) for row in rows}
    return dict(zip(found, under_applications(connection, found.values()), strict=True))


@made_once
def _newest_executions(column: str, only: Only) -> sa.Select[Any]:
    asked = input_column()
    newest = newest_id(column, asked, only)
    return sa.select(executions, asked.c.value).join_from(
        asked, executions, executions.c.id == newest
    )


def newest_id(column: str, asked: sa.CTE, only: Only) -> Any:
    """The id of the newest execution of each given value, as a subquery."""
    seen = executions.alias("seen").c
    return (
        sa.select(seen.id)
        .where(seen[column] == asked.c.value, *_condition_of(seen, only), until_input(seen.at))
        .order_by(seen.at.desc(), seen.id.desc())
        .limit(1)
        .scalar_subquery()
    )


def _condition_of(of: Any, only: Only) -> tuple[sa.ColumnElement[bool], ...]:
    if only == "main":
        return wrote_main(of)
    return () if only == "any" else successful(of, writes_only=only == "writes")


def wrote_main(of: Any) -> tuple[sa.ColumnElement[bool], ...]:
    """A write to another branch is none of the table until the branch is published."""
    return (*successful(of, writes_only=True), of.branch == MAIN_BRANCH)
