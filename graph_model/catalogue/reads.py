"""When logical plans that write nothing have read: a seek for each plan, whatever ran how often."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from graph_model import labels
from graph_model.catalogue.asked import AT_ONCE, asked_table, asked_values, made_once
from graph_model.catalogue.history import successful
from graph_model.catalogue.tables import executions
from graph_model.catalogue.writes import fields_of_write
from graph_model.database import StoredText, chunks
from graph_model.store import NEVER, DeclaredFlow, OlderWrites, SpanWrites, SuccessfulWrite

_BEFORE_EVERYTHING: Final = -(2**63) + 1
_WORKED_OUT: Final = "MATERIALIZED"  # once, not again for every row that is joined to it
_MOMENT: Final = (("plan", StoredText()), ("before", sa.BigInteger()))
_PLAN: Final = (("plan", StoredText()),)


def readings(
    connection: Connection, moments: Collection[tuple[str, int]], per_plan: int
) -> dict[tuple[str, int], SpanWrites]:
    """See ``store.Catalogue``."""
    found: defaultdict[tuple[str, int], list[SuccessfulWrite]] = defaultdict(list)
    older: dict[tuple[str, int], tuple[OlderWrites, ...]] = {}
    for chunk in chunks(sorted(set(moments)), AT_ONCE):
        rows = _newest().rows(connection, asked_values(chunk) | {"per_plan": per_plan})
        for plan, before, job, cut, first, *values in rows:
            if cut is not None:
                older[plan, before] = (OlderWrites(plan, job, first, cut),)
            if values[0] is not None:
                found[plan, before].append(SuccessfulWrite(*values))
    return {one: SpanWrites(tuple(found[one]), older.get(one, ())) for one in moments}


@made_once
def _newest() -> sa.Select[Any]:
    """The newest reads of each plan before a time; ``cut`` is the first one too many, or null."""
    asked = asked_table(_MOMENT)
    seen, row = executions.alias("seen").c, executions.alias("listed")
    own = _read_by(seen, asked)
    cut = sa.select(seen.at).where(*own).order_by(seen.at.desc()).limit(1).offset(
        sa.bindparam("per_plan", type_=sa.BigInteger(), required=True)
    )  # fmt: skip
    first = sa.select(seen.at).where(*own).order_by(seen.at).limit(1)
    job = sa.select(seen.job).where(*own).limit(1)
    plans = (
        sa.select(
            asked, job.scalar_subquery().label("job"), cut.scalar_subquery().label("cut"),
            first.scalar_subquery().label("first"),
        )
        .cte("plans")
        .prefix_with(_WORKED_OUT)
    )  # fmt: skip
    newer = row.c.at > sa.func.coalesce(plans.c.cut, _BEFORE_EVERYTHING)
    listed = (plans.c.plan, plans.c.before, plans.c.job, plans.c.cut, plans.c.first)
    return (
        sa.select(*listed, *fields_of_write(row))
        .join_from(plans, row, sa.and_(*_read_by(row.c, plans), newer), isouter=True)
        .where(plans.c.first.is_not(None))
    )


def _read_by(row: Any, asked: sa.CTE) -> tuple[sa.ColumnElement[bool], ...]:
    return (
        row.logical_plan == asked.c.plan,
        row.kind == labels.READ_KIND,
        *successful(row, writes_only=False),
        row.at < asked.c.before,
    )


def declared_reads(connection: Connection, plans: Collection[str]) -> list[DeclaredFlow]:
    """See ``store.Catalogue``. A seek for each plan and for each of its declarations."""
    found = []
    for chunk in chunks(sorted(set(plans)), AT_ONCE):
        asked = asked_values((plan,) for plan in chunk)
        found += [DeclaredFlow(*row) for row in _declared().rows(connection, asked)]
    return sorted(found)


@made_once
def _declared() -> sa.Select[Any]:
    asked, row = asked_table(_PLAN), executions.alias("listed")
    later = executions.alias("seen").c
    replaced = (
        sa.select(later.at)
        .where(
            later.plan_id == row.c.plan_id,
            later.subject == row.c.subject,
            later.at > row.c.at,
            sa.or_(later.target != "", later.reads != ""),
        )
        .order_by(later.plan_id, later.at)  # by the index of plans, not that of all times
        .limit(1)
        .scalar_subquery()
    )
    fields = (row.c.target, row.c.logical_plan, row.c.job, row.c.at)
    return sa.select(*fields, sa.func.coalesce(replaced, NEVER)).where(
        row.c.logical_plan.in_(sa.select(asked.c.plan)),
        row.c.kind == labels.DECLARATION_KIND,
        row.c.target == "",
    )
