"""What versions are made of: which schemas a dataset had, and when each logical plan ran."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from graph_model import labels
from graph_model.catalogue.history import given, successful, until
from graph_model.catalogue.tables import executions, schema_uses
from graph_model.database import chunks
from graph_model.facts import ExecutionRow, SchemaUseRow
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


def newest_of_plans(
    connection: Connection, plans: Collection[str], at: int | None
) -> Iterator[ExecutionRow]:
    """Per logical plan its newest successful execution by (at, id): a seek each."""
    seen = executions.alias("seen").c
    for chunk in chunks(sorted(set(plans))):
        asked = given(chunk)
        newest = (
            sa.select(seen.id)
            .where(
                seen.logical_plan == asked.c.value,
                *successful(seen, writes_only=False),
                *until(seen.at, at),
            )
            .order_by(seen.at.desc(), seen.id.desc())
            .limit(1)
            .scalar_subquery()
        )
        statement = sa.select(executions).join_from(asked, executions, executions.c.id == newest)
        yield from (ExecutionRow(*row) for row in connection.execute(statement).all())
