"""The newest executions of the whole catalogue: an index by time, read from its end."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import sqlalchemy as sa

from graph_model import labels
from graph_model.stores.catalogue.asked import asked_column, at_values
from graph_model.stores.catalogue.openlineage.applications import run_of
from graph_model.stores.catalogue.past.conditions import until
from graph_model.stores.catalogue.reading import CatalogueReader
from graph_model.stores.catalogue.tables import executions
from graph_model.stores.cursors import checked_limit, read_cursor, write_cursor
from graph_model.stores.protocols import Page, RecentExecution

_NANOSECONDS: Final = 1_000_000
_ERROR_READ: Final = 4_000
_KINDS: Final = (labels.WRITE_KIND, labels.READ_KIND)


class SqlRecentExecutions(CatalogueReader):
    """Of ``protocols.CatalogueLists`` the list of all executions."""

    def recent_executions(
        self,
        hidden: Collection[str],
        *,
        state: str | None = None,
        counted: bool = True,
        limit: int = 100,
        cursor: str | None = None,
        at: int | None = None,
    ) -> Page[RecentExecution]:
        columns, unseen = executions.c, asked_column().c.value
        chosen = [
            columns.kind.in_(_KINDS),
            columns.job.not_in(sa.select(unseen)),
            columns.target.not_in(sa.select(unseen)),
            *until(columns.at, at),
        ]
        if state is not None:
            chosen.append(columns.state == state)
        asked = sa.select(
            columns.id,
            columns.job,
            run_of(columns).label("run"),
            columns.target,
            columns.at,
            columns.state,
            columns.kind,
            (columns.duration_ns // _NANOSECONDS).label("duration_ms"),
            sa.func.substr(columns.error, 1, _ERROR_READ).label("error"),
            columns.metrics,
        ).where(*chosen)
        if cursor is not None:
            last_at, last_id = read_cursor(cursor, "recent", int, str)
            asked = asked.where(
                sa.or_(columns.at < last_at, sa.and_(columns.at == last_at, columns.id < last_id))
            )
        asked = asked.order_by(columns.at.desc(), columns.id.desc())
        asked = asked.limit(checked_limit(limit) + 1)
        total = sa.select(sa.func.count()).select_from(executions).where(*chosen)
        values = at_values(hidden)
        with self._read() as connection:
            rows = [RecentExecution(*row) for row in connection.execute(asked, values)]
            number = int(connection.execute(total, values).scalar_one()) if counted else 0
        more = len(rows) > limit
        rows = rows[:limit]
        next_page = write_cursor("recent", rows[-1].at, rows[-1].id) if more else None
        return Page(tuple(rows), number, next_page)
