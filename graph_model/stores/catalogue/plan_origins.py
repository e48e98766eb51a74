"""The job and the producer that reported a plan id, by its first execution.

A plan that never ran, and a run that has not ended, have none: they are in no answer.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import sqlalchemy as sa

from graph_model.stores.catalogue.reading import CatalogueReader
from graph_model.stores.catalogue.tables import executions, jobs
from graph_model.stores.catalogue.value_tables import AT_ONCE, at_values, input_column, made_once
from graph_model.stores.database import chunks


class PlanOrigin(NamedTuple):
    namespace: str
    job: str
    producer: str


class SqlPlanOrigins(CatalogueReader):
    """The job and the producer of plan ids."""

    def plan_origins(self, plan_ids: Collection[str]) -> dict[str, PlanOrigin]:
        """Per plan id that has executions: a seek or two each, of many at once."""
        with self._read() as connection:
            return {
                plan_id: PlanOrigin(*origin)
                for chunk in chunks(sorted(set(plan_ids)), AT_ONCE)
                for plan_id, *origin in _origins_asked().rows(connection, at_values(chunk))
            }


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
