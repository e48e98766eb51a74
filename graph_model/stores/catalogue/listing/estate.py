"""Totals of the whole catalogue, and the jobs that failed last.

One seek for each job, however long its history is.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from graph_model import labels
from graph_model.facts import JobRow
from graph_model.stores.catalogue.history.existence import dataset_born, job_born
from graph_model.stores.catalogue.history.newest_executions import newest_id
from graph_model.stores.catalogue.reading.conditions import BEFORE_EVERYTHING, until
from graph_model.stores.catalogue.reading.reader import CatalogueReader
from graph_model.stores.catalogue.reading.value_tables import (
    WORKED_OUT,
    at_values,
    input_column,
    is_input,
    made_once,
)
from graph_model.stores.catalogue.tables import STORAGE_OF, datasets, executions, jobs
from graph_model.stores.database import count_rows
from graph_model.stores.protocols import Estate, FailedJob

_EXECUTIONS_LOOKED_AT: Final = 100


class SqlEstate(CatalogueReader):
    """The whole of ``protocols.CatalogueLists``."""

    def estate(
        self, hidden: Collection[str], *, failures: int, at: int | None, since: int | None = None
    ) -> Estate:
        with self._read() as connection:
            failed, failed_since, named = _failed(connection, hidden, failures, at, since)
            return Estate(
                jobs=_count(connection, jobs, hidden, job_born(at)),
                datasets=_count(connection, datasets, hidden, dataset_born(at)),
                failed=failed,
                failed_since=failed_since,
                failures=named,
            )

    def attempts(self, jobs: Collection[str], at: int | None) -> frozenset[tuple[str, str]]:
        return frozenset((job, plan) for job, plan in self._rows_for(_attempts(), jobs, at))


def _count(
    connection: Connection,
    table: sa.Table,
    hidden: Collection[str],
    chosen: Sequence[sa.ColumnElement[bool]],
) -> int:
    shown = (sa.not_(is_input(table.c.id)), *chosen)
    return count_rows(connection, table, shown, at_values(hidden))


def _failed(
    connection: Connection,
    hidden: Collection[str],
    failures: int,
    at: int | None,
    since: int | None,
) -> tuple[int, int, tuple[FailedJob, ...]]:
    """How many, how many of them since a time, and the newest of them."""
    seen, last = executions.alias("seen").c, executions.c
    newest = (
        sa.select(seen.id)
        .where(seen.job == jobs.c.id, *until(seen.at, at))
        .order_by(seen.at.desc(), seen.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    fields = STORAGE_OF[JobRow].fields
    lately = last.at > (BEFORE_EVERYTHING if since is None else since)
    number, number_since = sa.func.count(), sa.func.sum(sa.case((lately, 1), else_=0))
    asked = (
        sa.select(number.over(), number_since.over(), last.at, last.error, *fields)
        .join_from(jobs, executions, last.id == newest)
        .where(last.state == labels.FAILED, sa.not_(is_input(jobs.c.id)))
        .order_by(last.at.desc(), jobs.c.id)
        .limit(failures)
    )
    rows = connection.execute(asked, at_values(hidden)).all()
    failed, failed_since = rows[0][:2] if rows else (0, 0)
    named = tuple(FailedJob(JobRow(*row[4:]), row[2], row[3]) for row in rows)
    return failed, int(failed_since), named


@made_once
def _attempts() -> sa.Select[Any]:
    asked, last, row = input_column(), executions.alias("last"), executions.alias("listed")
    lasts = (
        sa.select(last.c.job, last.c.run, last.c.at)
        .join_from(asked, last, last.c.id == newest_id("job", asked, "any"))
        .where(last.c.state == labels.FAILED)
        .cte("newest")
        .prefix_with(WORKED_OUT)
    )
    beside = executions.alias("beside").c
    cut = (
        sa.select(beside.at)
        .where(*_of_run(beside, lasts))
        .order_by(beside.at.desc())
        .limit(1)
        .offset(_EXECUTIONS_LOOKED_AT - 1)
        .scalar_subquery()
    )
    cuts = sa.select(lasts, cut.label("cut")).cte("cuts").prefix_with(WORKED_OUT)
    tried = sa.and_(
        *_of_run(row.c, cuts),
        row.c.at >= sa.func.coalesce(cuts.c.cut, BEFORE_EVERYTHING),
        row.c.state == labels.FAILED,
        row.c.kind.in_((labels.WRITE_KIND, labels.READ_KIND)),
    )
    return sa.select(cuts.c.job, row.c.logical_plan).join_from(cuts, row, tried).distinct()


def _of_run(row: Any, lasts: sa.CTE) -> tuple[sa.ColumnElement[bool], ...]:
    """The condition that an execution belongs to the run, and is not later than its last one."""
    return row.job == lasts.c.job, row.run == lasts.c.run, row.at <= lasts.c.at
