"""Declared flows, and the time in which each was in force: a seek for each endpoint."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal

import sqlalchemy as sa

from graph_model import labels
from graph_model.stores.catalogue.reading.reader import CatalogueReader
from graph_model.stores.catalogue.reading.value_tables import input_column, is_input, made_once
from graph_model.stores.catalogue.tables import executions
from graph_model.stores.protocols import NEVER, DeclaredFlow


class SqlDeclaredFlows(CatalogueReader):
    """The declarations of ``protocols.SeenWrites``."""

    def declared_flows(self, targets: Collection[str]) -> tuple[DeclaredFlow, ...]:
        found = self._rows_for(_declared("target"), targets)
        return tuple(sorted(DeclaredFlow(*row) for row in found))

    def declared_reads(self, logical_plans: Collection[str]) -> tuple[DeclaredFlow, ...]:
        found = self._rows_for(_declared("logical_plan"), logical_plans)
        return tuple(sorted(DeclaredFlow(*row) for row in found))

    def declared_plans(self, logical_plans: Collection[str]) -> frozenset[str]:
        """A seek for each plan, and of a declared one its few executions."""
        return frozenset(plan for (plan,) in self._rows_for(_declared_plans(), logical_plans))


@made_once
def _declared(endpoint: Literal["target", "logical_plan"]) -> sa.Select[Any]:
    """Declared flows into a target, or reads of a plan that writes nothing."""
    row, later = executions.alias("listed"), executions.alias("seen").c
    only_reads = endpoint == "logical_plan"
    own = (row.c.target == "",) if only_reads else ()
    replaces = sa.or_(later.target != "", later.reads != "") if only_reads else later.target != ""
    replaced = (
        sa.select(later.at)
        .where(
            later.plan_id == row.c.plan_id,
            later.subject == row.c.subject,
            later.at > row.c.at,
            replaces,
        )
        .order_by(later.plan_id, later.at)  # by the index of plans, not that of all times
        .limit(1)
        .scalar_subquery()
    )
    fields = (row.c.target, row.c.logical_plan, row.c.job, row.c.at)
    return sa.select(*fields, sa.func.coalesce(replaced, NEVER)).where(
        is_input(row.c[endpoint]),  # a join would make SQLite index the table
        row.c.kind == labels.DECLARATION_KIND,
        *own,
    )


@made_once
def _declared_plans() -> sa.Select[Any]:
    asked, row = input_column(), executions.c

    def any_of(*conditions: sa.ColumnElement[bool]) -> sa.Exists:
        return sa.select(row.id).where(row.logical_plan == asked.c.value, *conditions).exists()

    ran = any_of(row.kind != labels.DECLARATION_KIND)
    return sa.select(asked.c.value).where(sa.not_(ran), any_of())
