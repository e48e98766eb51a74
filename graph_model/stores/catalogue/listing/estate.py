"""Totals of the whole catalogue, and the jobs that failed last.

Each job costs a few seeks in indexes, however long its history is.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from graph_model import labels
from graph_model.facts import JobRow
from graph_model.stores.catalogue.history.existence import dataset_existed, job_existed
from graph_model.stores.catalogue.reading.conditions import BEFORE_EVERYTHING
from graph_model.stores.catalogue.reading.reader import CatalogueReader
from graph_model.stores.catalogue.reading.value_tables import (
    MATERIALIZED,
    at_values,
    input_column,
    is_input,
    made_once,
    until_input,
)
from graph_model.stores.catalogue.tables import STORAGE_OF, datasets, executions, jobs
from graph_model.stores.database import count_rows
from graph_model.stores.protocols import Estate, FailedJob

_EXECUTIONS_OF_RUN: Final = 100


class SqlEstate(CatalogueReader):
    """The whole of ``protocols.CatalogueLists``."""

    def estate(
        self, hidden: Collection[str], *, failures: int, at: int | None, since: int | None = None
    ) -> Estate:
        with self._read() as connection:
            failed, failed_since, named = _failed(connection, hidden, failures, at, since)
            return Estate(
                jobs=_count(connection, jobs, hidden, job_existed(at)),
                datasets=_count(connection, datasets, hidden, dataset_existed(at)),
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
    """The number of jobs that failed last, of those since a time, and the newest of them. The
    numbers are 0 where ``failures`` is 0.
    """
    values = at_values(hidden, at) | {"since": BEFORE_EVERYTHING if since is None else since}
    rows = _failures(failures).rows(connection, values)
    failed, failed_since = rows[0][:2] if rows else (0, 0)
    named = tuple(FailedJob(JobRow(*row[4:]), row[2], row[3]) for row in rows)
    return failed, int(failed_since), named


@made_once
def _failures(most: int) -> sa.Select[Any]:
    shown = sa.select(jobs.c.id.label("job")).where(sa.not_(is_input(jobs.c.id))).cte("shown")
    last = _last_where_failed(shown.c.job)
    since = sa.bindparam("since", type_=sa.BigInteger(), required=True)
    number = sa.func.count()
    number_since = sa.func.sum(sa.case((last.c.at > since, 1), else_=0))
    return (
        sa.select(
            number.over(), number_since.over(), last.c.at, last.c.error, *STORAGE_OF[JobRow].fields
        )
        .join_from(last, jobs, jobs.c.id == last.c.job)
        .order_by(last.c.at.desc(), jobs.c.id)
        .limit(most)
    )


def _last_where_failed(job: sa.ColumnElement[str]) -> sa.CTE:
    """The newest executions of these jobs that failed: ``job, run, at, error``.

    A job failed last only if its newest failure has the time of its newest execution. Both times
    are seeks in an index; the execution itself is read for such jobs alone.
    """
    failed, seen, last = (executions.alias(name) for name in ("failed", "seen", "last"))
    failure = _newest_time(failed, job, failed.c.state == labels.FAILED)
    failures = sa.select(job.label("job"), failure.label("at")).cte("failures")
    failures = failures.prefix_with(MATERIALIZED)
    beside = executions.alias("beside")
    later = sa.select(beside.c.id).where(
        beside.c.job == last.c.job, beside.c.at == last.c.at, beside.c.id > last.c.id
    )
    of_failure = sa.and_(last.c.job == failures.c.job, last.c.at == failures.c.at)
    return (
        sa.select(last.c.job, last.c.run, last.c.at, last.c.error)
        .join_from(failures, last, of_failure)
        .where(
            failures.c.at == _newest_time(seen, failures.c.job),
            last.c.state == labels.FAILED,
            sa.not_(later.exists()),
        )
        .cte("newest")
        .prefix_with(MATERIALIZED)
    )


def _newest_time(
    seen: sa.FromClause, job: sa.ColumnElement[str], *chosen: sa.ColumnElement[bool]
) -> sa.ScalarSelect[Any]:
    newest = sa.select(sa.func.max(seen.c.at))
    newest = newest.where(seen.c.job == job, *chosen, until_input(seen.c.at))
    return newest.correlate_except(seen).scalar_subquery()


@made_once
def _attempts() -> sa.Select[Any]:
    asked, row = input_column(), executions.alias("listed")
    lasts = _last_where_failed(asked.c.value)
    beside = executions.alias("beside").c
    cut = (
        sa.select(beside.at)
        .where(*_of_run(beside, lasts))
        .order_by(beside.at.desc())
        .limit(1)
        .offset(_EXECUTIONS_OF_RUN - 1)
        .scalar_subquery()
    )
    cuts = sa.select(lasts, cut.label("cut")).cte("cuts").prefix_with(MATERIALIZED)
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
