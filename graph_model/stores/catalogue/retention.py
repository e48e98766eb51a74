"""Subjects, plans and documents behind the rows: for forget and prune."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import sqlalchemy as sa

from graph_model.facts import SchemaUseRow
from graph_model.stores.catalogue.reading.reader import CatalogueReader
from graph_model.stores.catalogue.reading.value_tables import is_input, prepared
from graph_model.stores.catalogue.tables import (
    execution_plans,
    executions,
    facet_uses,
    forgotten,
    runs,
    schema_uses,
    supports,
)

_WITH_DOCUMENT: Final = prepared(
    sa.select(execution_plans.c.plan_id).where(is_input(execution_plans.c.logical_plan)).distinct()
)
_WITHOUT_DOCUMENT: Final = prepared(
    sa.select(executions.c.plan_id)
    .where(is_input(executions.c.logical_plan), executions.c.execution_plan == "")
    .distinct()
)
_USED_BY: Final = prepared(sa.select(schema_uses).where(is_input(schema_uses.c.logical_plan)))
_USES_OF: Final = prepared(sa.select(schema_uses).where(is_input(schema_uses.c.dataset)))
_FACETS: Final = prepared(sa.select(facet_uses.c.digest).where(is_input(facet_uses.c.digest)))
_FORGOTTEN: Final = prepared(
    sa.select(forgotten.c.content_hash).where(is_input(forgotten.c.content_hash))
)


class SqlSupportLookup(CatalogueReader):
    """See ``protocols.SupportLookup``."""

    def plan_ids(self, logical_plans: Collection[str]) -> frozenset[str]:
        with self.snapshot() as same:
            asked = (_WITH_DOCUMENT, _WITHOUT_DOCUMENT)
            found = [row for one in asked for row in same._rows_for(one, logical_plans)]
        return frozenset(plan_id for (plan_id,) in found)

    def uses(
        self, *, logical_plans: Collection[str] = (), datasets: Collection[str] = ()
    ) -> frozenset[SchemaUseRow]:
        with self.snapshot() as same:
            found = same._rows_for(_USED_BY, logical_plans) + same._rows_for(_USES_OF, datasets)
        return frozenset(SchemaUseRow(*row) for row in found)

    def run_subjects(self, job: str) -> frozenset[str]:
        asked = sa.select(runs.c.subject).where(runs.c.job == job).distinct()
        with self._read() as connection:
            return frozenset(connection.execute(asked).scalars())

    def supporters(self, logical_plan: str, limit: int = 2) -> tuple[str, ...]:
        """By id."""
        asked = (
            sa.select(supports.c.subject)
            .where(supports.c.logical_plan == logical_plan)
            .order_by(supports.c.subject)
            .limit(limit)
        )
        with self._read() as connection:
            return tuple(connection.execute(asked).scalars())

    def facets_in_use(self, digests: Collection[str]) -> frozenset[str]:
        return frozenset(digest for (digest,) in self._rows_for(_FACETS, digests))

    def forgotten(self, hashes: Collection[str]) -> frozenset[str]:
        return frozenset(found for (found,) in self._rows_for(_FORGOTTEN, hashes))
