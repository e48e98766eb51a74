"""The jobs that have waited for their next run longer than they usually do.

For each job the statement walks over its newest runs, with a few seeks in indexes for each run,
however long the history of the job is and however many executions a run has. Most jobs wait no
longer than usual: their walk ends after half of these runs, and none of their times are read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import sqlalchemy as sa

from graph_model.stores.catalogue.reading.reader import CatalogueReader
from graph_model.stores.catalogue.reading.value_tables import (
    MATERIALIZED,
    at_values,
    is_input,
    made_once,
)
from graph_model.stores.catalogue.tables import executions, jobs


class SqlWaitingJobs(CatalogueReader):
    """Of ``protocols.CatalogueLists`` the jobs that wait."""

    def waiting_jobs(
        self, hidden: Collection[str], *, now: int, most: int
    ) -> dict[str, tuple[int, ...]]:
        with self._read() as connection:
            rows = _waiting_jobs(most).rows(connection, at_values(hidden) | {"now": now})
        return {job: tuple(sorted(map(int, times.split()), reverse=True)) for job, times in rows}


@made_once
def _waiting_jobs(most: int) -> sa.Select[Any]:
    """The walk of a job is a subquery of its row, so it stays on the index pages of that job."""
    lasts = _lasts()
    walk = _walk(lasts, most)
    times = (
        sa.select(sa.func.aggregate_strings(sa.cast(walk.c.at, sa.Text()), " "))
        .having(sa.func.max(_as_long(walk, lasts)) < most // 2)
        .scalar_subquery()
    )
    found = sa.select(lasts.c.job, times.label("times")).cte("found").prefix_with(MATERIALIZED)
    return sa.select(found).where(found.c.times.is_not(None))


def _lasts() -> sa.CTE:
    """Each job that is not hidden, with the time of its newest execution."""
    seen = executions.alias("seen").c
    newest = sa.select(sa.func.max(seen.at)).where(seen.job == jobs.c.id).scalar_subquery()
    shown = sa.select(jobs.c.id.label("job"), newest.label("newest"))
    shown = shown.where(sa.not_(is_input(jobs.c.id)))
    return shown.cte("lasts").prefix_with(MATERIALIZED)


def _walk(lasts: sa.CTE, most: int) -> sa.CTE:
    """The ends of the newest runs of a job, ``at``, each with that of the run ``later``; the last
    may be null. ``as_long``: how many of the waits until ``later`` were as long as the present one.
    """
    nothing = sa.null().cast(sa.BigInteger())
    walk = (
        sa.select(
            lasts.c.newest.label("at"),
            nothing.label("later"),
            sa.literal(0).label("as_long"),
            sa.literal(1).label("number"),
        )
        .correlate(lasts)
        .cte("walk", recursive=True, nesting=True)
    )
    as_long = _as_long(walk, lasts)
    return walk.union_all(
        sa.select(_older(walk, lasts), walk.c.at, as_long, walk.c.number + 1)
        .where(walk.c.at.is_not(None), walk.c.number < most, as_long < most // 2)
        .correlate(lasts)
    )


def _as_long(walk: sa.CTE, lasts: sa.CTE) -> sa.ColumnElement[int]:
    """``as_long`` of the row, counting also the wait that ended with the run ``later``."""
    now = sa.bindparam("now", type_=sa.BigInteger(), required=True)
    is_as_long = walk.c.later - walk.c.at >= now - lasts.c.newest
    return walk.c.as_long + sa.case((is_as_long, 1), else_=0)


def _older(walk: sa.CTE, lasts: sa.CTE) -> sa.ScalarSelect[Any]:
    """The time of the newest execution before the first one of the run that ended at ``at``: of
    several that ended then, the one of the first execution by id.
    """
    ended = executions.alias("seen").c
    run = (
        sa.select(ended.run)
        .where(ended.job == lasts.c.job, ended.at == walk.c.at)
        .order_by(ended.id)
        .limit(1)
        .correlate(lasts, walk)
        .scalar_subquery()
    )
    begin = _of_job(lasts, sa.func.min, lambda of: of.run == run)
    return _of_job(lasts, sa.func.max, lambda of: of.at < begin)


def _of_job(
    lasts: sa.CTE,
    extreme: Callable[[Any], sa.ColumnElement[Any]],
    condition: Callable[[Any], sa.ColumnElement[bool]],
) -> sa.ScalarSelect[Any]:
    """The least or the greatest time among executions of the job: one seek."""
    own = executions.alias("seen")
    chosen = (own.c.job == lasts.c.job, condition(own.c))
    return sa.select(extreme(own.c.at)).where(*chosen).correlate_except(own).scalar_subquery()
