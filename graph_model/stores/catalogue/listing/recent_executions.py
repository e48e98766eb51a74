"""The executions of the whole catalogue, newest first from an index by time.

By duration the statement sorts all of them: no index is kept for so rare a question.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

import sqlalchemy as sa

from graph_model import labels
from graph_model.stores.catalogue.reading.applications import run_of
from graph_model.stores.catalogue.reading.conditions import is_doubtful, shown_state, until
from graph_model.stores.catalogue.reading.reader import CatalogueReader
from graph_model.stores.catalogue.reading.sort_orders import ListKeys, unknown_last
from graph_model.stores.catalogue.reading.value_tables import at_values, input_column
from graph_model.stores.catalogue.tables import executions
from graph_model.stores.database import count_rows
from graph_model.stores.pages import ExecutionOrder, Page
from graph_model.stores.protocols import RecentExecution

DURATION_MS: Final = executions.c.duration_ns // 1_000_000
_KINDS: Final = (labels.WRITE_KIND, labels.READ_KIND)


class SqlRecentExecutions(CatalogueReader):
    """Of ``protocols.CatalogueLists`` the list of all executions."""

    def recent_executions(
        self,
        hidden: Collection[str],
        *,
        state: str | None = None,
        doubtful: bool = False,
        counted: bool = True,
        limit: int = 100,
        cursor: str | None = None,
        at: int | None = None,
        order: ExecutionOrder = ExecutionOrder.AT_FALLING,
    ) -> Page[RecentExecution]:
        columns, unseen = executions.c, input_column().c.value
        chosen = [
            columns.kind.in_(_KINDS),
            columns.job.not_in(sa.select(unseen)),
            columns.target.not_in(sa.select(unseen)),
            *until(columns.at, at),
        ]
        if state is not None:
            running = state == labels.RUNNING
            chosen.append(columns.running if running else columns.state == state)
            if state == labels.COMPLETED:
                chosen.append(~columns.running)
        if doubtful:
            chosen.append(is_doubtful(columns))
        asked = sa.select(
            columns.id,
            columns.job,
            run_of(columns).label("run"),
            columns.target,
            columns.at,
            shown_state(columns).label("state"),
            columns.kind,
            DURATION_MS.label("duration_ms"),
            columns.error,
            columns.metrics,
            columns.ahead,
        ).where(*chosen)
        keys = ListKeys(f"recent by {order}", order.falls, _keys(order))
        values = at_values(hidden)
        with self._read() as connection:
            rows, next_page = keys.read(connection, asked, cursor, limit, values)
            total = count_rows(connection, executions, chosen, values) if counted else 0
        return Page(tuple(RecentExecution(*row) for row in rows), total, next_page)


def _keys(order: ExecutionOrder) -> tuple[sa.ColumnElement[Any], ...]:
    columns = executions.c
    if order.field == ExecutionOrder.DURATION:
        return unknown_last(columns.duration_ns, order), columns.at, columns.id
    return columns.at, columns.id
