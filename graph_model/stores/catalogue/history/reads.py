"""The reads of logical plans that write nothing: one index seek a plan, for any number of runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from typing import Any, Final

import sqlalchemy as sa

from graph_model import labels
from graph_model.stores.catalogue.history.write_columns import bounds_of_plan, fields_of_write
from graph_model.stores.catalogue.reading.conditions import BEFORE_EVERYTHING, successful
from graph_model.stores.catalogue.reading.reader import CatalogueReader
from graph_model.stores.catalogue.reading.value_tables import MATERIALIZED, input_table, made_once
from graph_model.stores.catalogue.tables import executions
from graph_model.stores.database import StoredId
from graph_model.stores.protocols import OlderWrites, SpanWrites, SuccessfulWrite

_MOMENT: Final = (("plan", StoredId()), ("before", sa.BigInteger()))


class SqlPlanReads(CatalogueReader):
    """The reads of ``protocols.SeenWrites``."""

    def readings(
        self, moments: Collection[tuple[str, int]], *, per_plan: int
    ) -> dict[tuple[str, int], SpanWrites]:
        found: defaultdict[tuple[str, int], list[SuccessfulWrite]] = defaultdict(list)
        older: dict[tuple[str, int], tuple[OlderWrites, ...]] = {}
        rows = self._rows_beside(_newest(), moments, per_plan=per_plan)
        for plan, before, job, cut, first, *values in rows:
            if cut is not None:
                older[plan, before] = (OlderWrites(plan, job, first, cut),)
            if values[0] is not None:
                found[plan, before].append(SuccessfulWrite(*values))
        return {one: SpanWrites(tuple(found[one]), older.get(one, ())) for one in moments}


@made_once
def _newest() -> sa.Select[Any]:
    """The newest reads of each plan before a time."""
    asked = input_table(_MOMENT)
    seen, row = executions.alias("seen").c, executions.alias("listed")
    own = _read_by(seen, asked)
    plans = sa.select(asked, *bounds_of_plan(seen, own)).cte("plans").prefix_with(MATERIALIZED)
    newer = row.c.at > sa.func.coalesce(plans.c.cut, BEFORE_EVERYTHING)
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
