"""The job and the producer that reported a plan id, by its first execution.

A plan that never ran, and a run that has not ended, have none: no answer contains them. The number
of a job's runs is read here too, because the documents of a sample need both.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import sqlalchemy as sa

from graph_model.stores.catalogue.reading.reader import CatalogueReader
from graph_model.stores.catalogue.reading.value_tables import input_column, made_once
from graph_model.stores.catalogue.tables import executions, jobs


class PlanOrigin(NamedTuple):
    namespace: str
    job: str
    producer: str


class SqlPlanOrigins(CatalogueReader):
    """The job and the producer of plan ids; the runs of jobs."""

    def plan_origins(self, plan_ids: Collection[str]) -> dict[str, PlanOrigin]:
        """Per plan id that has executions; a few seeks in indexes for each."""
        found = self._rows_for(_origins_asked(), plan_ids)
        return {plan_id: PlanOrigin(*origin) for plan_id, *origin in found}

    def run_counts(self, jobs: Collection[str], most: int) -> dict[str, int]:
        """Per job id the number of runs that have executions, counted up to ``most``."""
        return dict(self._rows_for(_runs_asked(most), jobs))


@made_once
def _runs_asked(most: int) -> sa.Select[Any]:
    """Of each job the number of different runs in its range of an index."""
    asked, of_job = input_column(), executions.alias("of_job").c
    runs = sa.select(of_job.run).where(of_job.job == asked.c.value).distinct().limit(most)
    counted = sa.select(sa.func.count()).select_from(runs.correlate(asked).subquery())
    return sa.select(asked.c.value, counted.correlate(asked).scalar_subquery())


@made_once
def _origins_asked() -> sa.Select[Any]:
    """Of each plan id the job and the producer of its first execution."""
    asked, of_plan = input_column(), executions.alias("of_plan").c
    first = (
        sa.select(of_plan.id)
        .where(of_plan.plan_id == asked.c.value)
        .order_by(of_plan.at, of_plan.execution_plan)
        .limit(1)
        .scalar_subquery()
    )
    row = executions.c
    return (
        sa.select(asked.c.value, jobs.c.namespace, jobs.c.name, row.producer)
        .join_from(asked, executions, row.id == first)
        .join(jobs, jobs.c.id == row.job)
    )
