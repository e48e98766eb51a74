"""Existence at a time: conditions on datasets and jobs.

A dataset or job exists from the time of its first dated row, also of a failed run. Rows that date
a dataset: the execution of a plan that reads or writes it (with a schema), an execution that writes
it, a name that stands for it or that it is, a facet. Rows that date a job: an execution or a run. A
dataset or job without a dated row (a plan that never ran) exists at every time.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from graph_model.stores.catalogue.reading.conditions import until
from graph_model.stores.catalogue.tables import (
    datasets,
    executions,
    facets,
    jobs,
    names,
    runs,
    schema_uses,
)

Condition = sa.ColumnElement[bool]


def dataset_existed(at: int | None) -> tuple[Condition, ...]:
    """The condition that a dataset existed, for ``where(*…)``; none for the end of time."""
    if at is None:
        return ()
    return (sa.or_(_dataset_reported(at), sa.not_(_dataset_reported(None))),)


def job_existed(at: int | None) -> tuple[Condition, ...]:
    """The condition that a job existed, for ``where(*…)``; none for the end of time."""
    if at is None:
        return ()
    return (sa.or_(_job_reported(at), sa.not_(_job_reported(None))),)


def _dataset_reported(at: int | None) -> Condition:
    key, uses = datasets.c.id, schema_uses.c
    used = (
        sa.select(sa.literal(1))
        .select_from(schema_uses.join(executions, executions.c.logical_plan == uses.logical_plan))
        .where(uses.dataset == key, *until(executions.c.at, at))
    )
    return sa.or_(
        _reported(executions, executions.c.target == key, executions.c.at, at),
        used.exists(),
        _reported(names, names.c.name == key, names.c.at, at),
        _reported(names, names.c.location == key, names.c.at, at),
        _reported(facets, facets.c.entity == key, facets.c.at, at),
    )


def _job_reported(at: int | None) -> Condition:
    return sa.or_(
        _reported(executions, executions.c.job == jobs.c.id, executions.c.at, at),
        _reported(runs, runs.c.job == jobs.c.id, runs.c.started_at, at),
    )


def _reported(table: sa.Table, own: Condition, column: Any, at: int | None) -> Condition:
    return sa.select(sa.literal(1)).select_from(table).where(own, *until(column, at)).exists()
