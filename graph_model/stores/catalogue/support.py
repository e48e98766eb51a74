"""What stands behind the rows: commands and declarations of people, subjects, plans, documents.

The origin of a plan id is the job and the producer of its first execution. A plan that never ran,
and a run that has not ended, have none: no answer contains them. The number of a job's runs is read
here too, because the documents of a sample need both.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from graph_model.facts import CommandRow, DeclarationRow, SchemaUseRow
from graph_model.stores.catalogue.reading import (
    CatalogueReader,
    input_column,
    is_input,
    made_once,
    prepared,
)
from graph_model.stores.catalogue.tables import (
    STORAGE_OF,
    commands,
    declarations,
    execution_plans,
    executions,
    facet_uses,
    forgotten,
    jobs,
    runs,
    schema_uses,
    supports,
)
from graph_model.stores.pages import checked_limit

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


class SupportLookup(CatalogueReader):
    """Statements and orders of people; subjects, plans and documents: for forget and prune."""

    def plan_ids(self, logical_plans: Collection[str]) -> frozenset[str]:
        """Every plan id with one of these logical plans, however many there are.

        For OpenLineage these are the subject keys, in the place of a plan id.
        """
        with self.snapshot() as same:
            asked = (_WITH_DOCUMENT, _WITHOUT_DOCUMENT)
            rows = [row for statement in asked for row in same._rows_for(statement, logical_plans)]
        return frozenset(plan_id for (plan_id,) in rows)

    def uses(
        self, *, logical_plans: Collection[str] = (), datasets: Collection[str] = ()
    ) -> frozenset[SchemaUseRow]:
        """Every dataset that these logical plans read or write, and every logical plan that reads
        or writes these datasets: as many as there are.
        """
        with self.snapshot() as same:
            rows = same._rows_for(_USED_BY, logical_plans) + same._rows_for(_USES_OF, datasets)
        return frozenset(SchemaUseRow(*row) for row in rows)

    def run_subjects(self, job: str) -> frozenset[str]:
        """The subjects of all of a job's RunRows, ended or not."""
        asked = sa.select(runs.c.subject).where(runs.c.job == job).distinct()
        with self._read() as connection:
            return frozenset(connection.execute(asked).scalars())

    def supporters(self, logical_plan: str, limit: int = 2) -> tuple[str, ...]:
        """Subjects that support a logical plan, or another vertex or edge of this id.

        By id.
        """
        asked = (
            sa.select(supports.c.subject)
            .where(supports.c.logical_plan == logical_plan)
            .order_by(supports.c.subject)
            .limit(limit)
        )
        with self._read() as connection:
            return tuple(connection.execute(asked).scalars())

    def facets_in_use(self, digests: Collection[str]) -> frozenset[str]:
        """The digests among these that some FacetRow has."""
        return frozenset(digest for (digest,) in self._rows_for(_FACETS, digests))

    def forgotten(self, hashes: Collection[str]) -> frozenset[str]:
        """The content hashes among these that a forget command names."""
        return frozenset(content_hash for (content_hash,) in self._rows_for(_FORGOTTEN, hashes))

    def commands(self, kind: str) -> tuple[CommandRow, ...]:
        """All commands of this kind, by (at, id)."""
        asked = (
            sa.select(*STORAGE_OF[CommandRow].fields)
            .where(commands.c.kind == kind)
            .order_by(commands.c.at, commands.c.id)
        )
        with self._read() as connection:
            return tuple(CommandRow(*row) for row in connection.execute(asked))

    def commands_after(
        self, kind: str, row: CommandRow | None, limit: int
    ) -> tuple[CommandRow, ...]:
        """The first commands of this kind that follow this one (None: all), by (at, id)."""
        column = commands.c
        asked = (
            sa.select(*STORAGE_OF[CommandRow].fields)
            .where(column.kind == kind)
            .order_by(column.at, column.id)
            .limit(checked_limit(limit))
        )
        if row is not None:
            later = sa.or_(column.at > row.at, column.id > row.id)
            asked = asked.where(column.at >= row.at, later)
        with self._read() as connection:
            return tuple(CommandRow(*values) for values in connection.execute(asked))

    def declarations(self, node: str | None = None) -> tuple[DeclarationRow, ...]:
        """Declarations (of this job or dataset, by id), by (declared_at, id, event).

        Reads all declarations: no index has their nodes.
        """
        asked = sa.select(*STORAGE_OF[DeclarationRow].fields)
        if node is not None:
            asked = asked.where(declarations.c.nodes.contains(node, autoescape=True))
        key = (declarations.c.declared_at, declarations.c.id, declarations.c.event)
        with self._read() as connection:
            rows = connection.execute(asked.order_by(*key, declarations.c.scope))
            return tuple(DeclarationRow(*row) for row in rows)

    def plan_origins(self, plan_ids: Collection[str]) -> dict[str, PlanOrigin]:
        """Per plan id that has executions; a few seeks in indexes for each."""
        rows = self._rows_for(_origins_asked(), plan_ids)
        return {plan_id: PlanOrigin(*origin) for plan_id, *origin in rows}

    def run_counts(self, jobs: Collection[str], most: int) -> dict[str, int]:
        """Per job id the number of runs that have executions, counted up to ``most``."""
        return dict(self._rows_for(_runs_asked(most), jobs))


class PlanOrigin(NamedTuple):
    """``target``: the id of the dataset that is written, "" where none is."""

    namespace: str
    job: str
    producer: str
    target: str


@made_once
def _runs_asked(most: int) -> sa.Select[Any]:
    """Of each job the number of different runs in its range of an index."""
    asked, of_job = input_column(), executions.alias("of_job").c
    runs = sa.select(of_job.run).where(of_job.job == asked.c.value).distinct().limit(most)
    counted = sa.select(sa.func.count()).select_from(runs.correlate(asked).subquery())
    return sa.select(asked.c.value, counted.correlate(asked).scalar_subquery())


@made_once
def _origins_asked() -> sa.Select[Any]:
    """Of each plan id the job, the producer and the target of its first execution."""
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
        sa.select(asked.c.value, jobs.c.namespace, jobs.c.name, row.producer, row.target)
        .join_from(asked, executions, row.id == first)
        .join(jobs, jobs.c.id == row.job)
    )
