"""What versions are made of: which schemas a dataset had, and when each logical plan ran."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from graph_model import labels
from graph_model.catalogue.history import until
from graph_model.catalogue.tables import STORAGE_OF, executions, logical_plans, schema_uses
from graph_model.database import chunks
from graph_model.facts import LogicalPlanRow, SchemaUseRow
from graph_model.store import PlanSpan


def uses_of_schemas(connection: Connection, dataset: str, limit: int) -> Iterator[SchemaUseRow]:
    """Those of plans that write it first."""
    columns = schema_uses.c
    asked = (
        sa.select(schema_uses)
        .where(columns.dataset == dataset)
        .order_by(columns.role != labels.WRITE, columns.logical_plan, columns.schema)
        .limit(limit)
    )
    return (SchemaUseRow(*row) for row in connection.execute(asked).all())


def uses(
    connection: Connection, plans: Collection[str], datasets: Collection[str]
) -> Iterator[SchemaUseRow]:
    """Every dataset that these plans read or write, every plan that reads or writes these."""
    columns = schema_uses.c
    for column, values in ((columns.logical_plan, plans), (columns.dataset, datasets)):
        for chunk in chunks(sorted(set(values))):
            asked = sa.select(schema_uses).where(column.in_(chunk))
            yield from (SchemaUseRow(*row) for row in connection.execute(asked))


def logical_plans_of(connection: Connection, jobs: Collection[str]) -> Iterator[LogicalPlanRow]:
    for chunk in chunks(sorted(set(jobs))):
        asked = sa.select(*STORAGE_OF[LogicalPlanRow].fields).where(logical_plans.c.job.in_(chunk))
        yield from (LogicalPlanRow(*row) for row in connection.execute(asked))


def plan_spans(
    connection: Connection, plans: Collection[str], at: int | None
) -> Iterator[PlanSpan]:
    """Per logical plan and state how many executions, the first and the last: from one index."""
    columns = executions.c
    for chunk in chunks(sorted(set(plans))):
        asked = (
            sa.select(
                columns.logical_plan,
                columns.state,
                sa.func.count(),
                sa.func.min(columns.at),
                sa.func.max(columns.at),
            )
            .where(columns.logical_plan.in_(chunk), *until(columns.at, at))
            .group_by(columns.logical_plan, columns.state)
            .order_by(columns.logical_plan, columns.state)
        )
        yield from (PlanSpan(*row) for row in connection.execute(asked).all())
