"""The whole: how much of everything there is, and which jobs failed last.

One seek for each job, however long its history is.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from graph_model import labels
from graph_model.catalogue.asked import (
    AT_ONCE,
    asked_column,
    at_values,
    is_asked,
    made_once,
)
from graph_model.catalogue.births import dataset_born, job_born
from graph_model.catalogue.history import newest_id, until
from graph_model.catalogue.tables import STORAGE_OF, datasets, executions, jobs
from graph_model.database import chunks
from graph_model.facts import JobRow
from graph_model.store import Estate, FailedJob

_CATALOG_NAME: Final = "name"
_EXECUTIONS_LOOKED_AT: Final = 100
_BEFORE_EVERYTHING: Final = -(2**63) + 1
_WORKED_OUT: Final = "MATERIALIZED"  # once, not again for every row that is joined to it


def estate(
    connection: Connection, hidden: Collection[str], failures: int, at: int | None
) -> Estate:
    """See ``store.Catalogue``."""
    failed, named = _failed(connection, hidden, failures, at)
    places = (datasets.c.kind != _CATALOG_NAME, *dataset_born(at))
    return Estate(
        jobs=_count(connection, jobs, hidden, job_born(at)),
        datasets=_count(connection, datasets, hidden, places),
        failed=failed,
        failures=named,
    )


def _count(
    connection: Connection,
    table: sa.Table,
    hidden: Collection[str],
    chosen: Sequence[sa.ColumnElement[bool]],
) -> int:
    counted = sa.select(sa.func.count()).select_from(table)
    counted = counted.where(sa.not_(is_asked(table.c.id)), *chosen)
    return int(connection.execute(counted, at_values(hidden)).scalar_one())


def _failed(
    connection: Connection, hidden: Collection[str], failures: int, at: int | None
) -> tuple[int, tuple[FailedJob, ...]]:
    """How many, and the newest of them."""
    seen, last = executions.alias("seen").c, executions.alias("last")
    newest = (
        sa.select(seen.id)
        .where(seen.job == jobs.c.id, *until(seen.at, at))
        .order_by(seen.at.desc(), seen.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    fields = STORAGE_OF[JobRow].fields
    asked = (
        sa.select(sa.func.count().over(), last.c.at, *fields)
        .join_from(jobs, last, last.c.id == newest)
        .where(last.c.state == labels.FAILED, sa.not_(is_asked(jobs.c.id)))
        .order_by(last.c.at.desc(), jobs.c.id)
        .limit(failures)
    )
    rows = connection.execute(asked, at_values(hidden)).all()
    named = tuple(FailedJob(JobRow(*row[2:]), row[1]) for row in rows)
    return (rows[0][0] if rows else 0), named


def attempts(
    connection: Connection, of_jobs: Collection[str], at: int | None
) -> set[tuple[str, str]]:
    """See ``store.Catalogue``."""
    found: set[tuple[str, str]] = set()
    for chunk in chunks(sorted(set(of_jobs)), AT_ONCE):
        found.update(
            (job, plan) for job, plan in _attempts().rows(connection, at_values(chunk, at))
        )
    return found


@made_once
def _attempts() -> sa.Select[Any]:
    asked, last, row = asked_column(), executions.alias("last"), executions.alias("listed")
    lasts = (
        sa.select(last.c.job, last.c.run, last.c.at)
        .join_from(asked, last, last.c.id == newest_id("job", asked, "any"))
        .where(last.c.state == labels.FAILED)
        .cte("newest")
        .prefix_with(_WORKED_OUT)
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
    cuts = sa.select(lasts, cut.label("cut")).cte("cuts").prefix_with(_WORKED_OUT)
    tried = sa.and_(
        *_of_run(row.c, cuts),
        row.c.at >= sa.func.coalesce(cuts.c.cut, _BEFORE_EVERYTHING),
        row.c.state == labels.FAILED,
        row.c.kind.in_((labels.WRITE_KIND, labels.READ_KIND)),
    )
    return sa.select(cuts.c.job, row.c.logical_plan).join_from(cuts, row, tried).distinct()


def _of_run(row: Any, lasts: sa.CTE) -> tuple[sa.ColumnElement[bool], ...]:
    """The condition that an execution belongs to the run, and is not later than its last one."""
    return row.job == lasts.c.job, row.run == lasts.c.run, row.at <= lasts.c.at
