"""SqlCatalogue: the catalogue of ``graph_model.store`` in a relational database."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from copy import copy as copy_of
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from graph_model import labels
from graph_model.catalogue import (
    estate,
    history,
    lists,
    reads,
    search,
    table_versions,
    uses,
    versions,
    writes,
)
from graph_model.catalogue.applications import under_applications
from graph_model.catalogue.asked import AT_ONCE, at_values
from graph_model.catalogue.bulk import copy
from graph_model.catalogue.events import SqlEvents
from graph_model.catalogue.origin import read_origin
from graph_model.catalogue.records import SqlFacetRecords, SqlRunRecords
from graph_model.catalogue.rows import clear, digest, record, scan, withdraw
from graph_model.catalogue.run_facets import run_facets
from graph_model.catalogue.tables import (
    STORAGE_OF,
    VERSION,
    commands,
    datasets,
    declarations,
    execution_plans,
    executions,
    forgotten,
    jobs,
    metadata,
    runs,
)
from graph_model.database import chunks, damage, is_in_memory, noted_damage, prepare, read
from graph_model.errors import Unavailable
from graph_model.facts import (
    ColumnRow,
    CommandRow,
    DatasetRow,
    DeclarationRow,
    ExecutionPlanRow,
    ExecutionRow,
    JobRow,
    LogicalPlanRow,
    NameRow,
    PartitionRow,
    ReadVersionRow,
    RenameRow,
    Row,
    SchemaRow,
    SchemaUseRow,
)
from graph_model.store import (
    DeclaredFlow,
    Estate,
    JobSummary,
    Match,
    Origin,
    Page,
    PlanSpan,
    RunFacet,
    RunSummary,
    Span,
    SpanWrites,
    Standing,
    SuccessfulWrite,
    VersionSpan,
    VersionWrites,
    Writer,
)

_Row = TypeVar("_Row", ColumnRow, DatasetRow, ExecutionRow, JobRow, LogicalPlanRow, SchemaRow)


class SqlCatalogue:
    """Rows in the tables ``catalogue_*`` of an engine from ``open_database``.

    The semantics of every method stand in ``store.Catalogue``. Several threads may share one.
    Every method may raise Unavailable; the constructor raises ConfigurationError for a database
    that it cannot use. What is asked for by ids comes back sorted.
    """

    def __init__(self, engine: Engine) -> None:
        prepare(engine, "catalogue", VERSION, metadata, empty_older=True)
        self._engine = engine
        self._held: Connection | None = None

    @property
    def events(self) -> SqlEvents:
        """See ``store.Catalogue``."""
        return SqlEvents(self._read)

    @property
    def runs(self) -> SqlRunRecords:
        """See ``store.Catalogue``."""
        return SqlRunRecords(self._read)

    @property
    def facets(self) -> SqlFacetRecords:
        """See ``store.Catalogue``."""
        return SqlFacetRecords(self._read)

    @contextmanager
    def snapshot(self) -> Iterator[SqlCatalogue]:
        """See ``store.Catalogue``. One transaction on one connection, for one thread.

        A database in memory has one connection, which others wait for: it is not held.
        """
        if self._held is not None or is_in_memory(self._engine):
            yield self
            return
        with self._read() as connection:
            held = copy_of(self)
            held._held = connection
            yield held

    # --- writing ---------------------------------------------------------------------------------

    def record(self, rows: Sequence[Row], origin: Origin | None = None) -> None:
        record(self._engine, rows, origin)

    def origin(self) -> Origin | None:
        """What was noted last; None for an empty catalogue."""
        with self._read() as connection:
            return read_origin(connection)

    @property
    def damage(self) -> str | None:
        """What reading or writing it has met; None while it is whole."""
        return noted_damage(self._engine)

    def examine(self) -> tuple[str, ...]:
        """What the database itself finds wrong with its file; walks all of it."""
        with self._read() as connection:
            return damage(connection)

    def copy(self, rows: Sequence[Row]) -> None:
        """Add rows of which none is known and none comes twice, fast; FactConflict otherwise."""
        copy(self._engine, rows)

    def withdraw(self, rows: Sequence[Row]) -> None:
        withdraw(self._engine, rows)

    def clear(self) -> None:
        clear(self._engine)

    def scan(self) -> Iterator[Row]:
        return scan(self._engine)

    def digest(self) -> str:
        """SHA-256 in hex over all rows: equal for equal content, whatever the order it came in."""
        return digest(self._engine)

    # --- by id -----------------------------------------------------------------------------------

    def datasets(self, ids: Collection[str]) -> tuple[DatasetRow, ...]:
        return self._by_id(DatasetRow, ids)

    def columns(self, ids: Collection[str]) -> tuple[ColumnRow, ...]:
        return self._by_id(ColumnRow, ids)

    def fields(self, columns: Collection[tuple[str, str]]) -> tuple[ColumnRow, ...]:
        with self._read() as connection:
            return tuple(history.fields(connection, columns))

    def columns_of(self, datasets: Collection[str], limit: int) -> tuple[ColumnRow, ...]:
        """See ``store.Catalogue``."""
        with self._read() as connection:
            return tuple(history.columns_of(connection, datasets, limit))

    def jobs(self, ids: Collection[str]) -> tuple[JobRow, ...]:
        return self._by_id(JobRow, ids)

    def logical_plans(self, ids: Collection[str]) -> tuple[LogicalPlanRow, ...]:
        return self._by_id(LogicalPlanRow, ids)

    def execution_plans(
        self,
        *,
        plan_id: str | None = None,
        id: str | None = None,
        logical_plan: str | None = None,
        limit: int = 100,
    ) -> tuple[ExecutionPlanRow, ...]:
        """See ``store.Catalogue``; ValueError unless exactly one criterion is given."""
        criteria = _given(plan_id=plan_id, id=id, logical_plan=logical_plan)
        if len(criteria) != 1:
            raise ValueError("expected exactly one of plan_id, id and logical_plan")
        ((column, value),) = criteria.items()
        with self._read() as connection:
            return tuple(history.list_execution_plans(connection, column, value, limit))

    def plan_ids(self, logical_plans: Collection[str]) -> frozenset[str]:
        """See ``store.Catalogue``."""
        found: set[str] = set()
        with self._read() as connection:
            for chunk in chunks(sorted(set(logical_plans))):
                documented = sa.select(execution_plans.c.plan_id).where(
                    execution_plans.c.logical_plan.in_(chunk)
                )
                told = sa.select(executions.c.plan_id).where(
                    executions.c.logical_plan.in_(chunk), executions.c.execution_plan == ""
                )
                for asked in (documented, told):
                    found.update(connection.execute(asked.distinct()).scalars())
        return frozenset(found)

    def logical_plans_of(self, jobs: Collection[str]) -> tuple[LogicalPlanRow, ...]:
        """See ``store.Catalogue``. No index: who forgets or prunes looks at every plan once."""
        with self._read() as connection:
            return tuple(versions.logical_plans_of(connection, jobs))

    def uses(
        self, *, logical_plans: Collection[str] = (), datasets: Collection[str] = ()
    ) -> frozenset[SchemaUseRow]:
        """See ``store.Catalogue``."""
        with self._read() as connection:
            return frozenset(versions.uses(connection, logical_plans, datasets))

    def run_subjects(self, job: str) -> frozenset[str]:
        """See ``store.Catalogue``."""
        asked = sa.select(runs.c.subject).where(runs.c.job == job).distinct()
        with self._read() as connection:
            return frozenset(connection.execute(asked).scalars())

    def supporters(self, logical_plan: str, limit: int = 2) -> tuple[str, ...]:
        with self._read() as connection:
            return tuple(history.supporters(connection, logical_plan, limit))

    def facets_in_use(self, digests: Collection[str]) -> frozenset[str]:
        """See ``store.Catalogue``."""
        with self._read() as connection:
            return uses.in_use(connection, digests)

    # --- what people did ------------------------------------------------------------------------

    def commands(self, kind: str) -> tuple[CommandRow, ...]:
        """See ``store.Catalogue``."""
        asked = (
            sa.select(*STORAGE_OF[CommandRow].fields)
            .where(commands.c.kind == kind)
            .order_by(commands.c.at, commands.c.id)
        )
        with self._read() as connection:
            return tuple(CommandRow(*row) for row in connection.execute(asked))

    def run_facets(
        self, targets: Collection[str], names: Collection[str], at: int | None
    ) -> tuple[RunFacet, ...]:
        """See ``store.Catalogue``."""
        with self._read() as connection:
            return tuple(run_facets(connection, targets, names, at))

    def declared_flows(self, targets: Collection[str]) -> tuple[DeclaredFlow, ...]:
        """See ``store.Catalogue``."""
        with self._read() as connection:
            return tuple(writes.declared_flows(connection, targets))

    def declared_plans(self, logical_plans: Collection[str]) -> frozenset[str]:
        """See ``store.Catalogue``."""
        with self._read() as connection:
            return frozenset(writes.declared_plans(connection, logical_plans))

    def declarations(self, node: str | None = None) -> tuple[DeclarationRow, ...]:
        """See ``store.Catalogue``. One pass over what people declared."""
        asked = sa.select(*STORAGE_OF[DeclarationRow].fields)
        if node is not None:
            asked = asked.where(declarations.c.nodes.contains(node, autoescape=True))
        key = (declarations.c.declared_at, declarations.c.id, declarations.c.event)
        with self._read() as connection:
            found = connection.execute(asked.order_by(*key, declarations.c.scope))
            return tuple(DeclarationRow(*row) for row in found)

    def forgotten(self, hashes: Collection[str]) -> frozenset[str]:
        """See ``store.Catalogue``."""
        found: set[str] = set()
        with self._read() as connection:
            for chunk in chunks(sorted(set(hashes))):
                asked = sa.select(forgotten.c.content_hash).where(
                    forgotten.c.content_hash.in_(chunk)
                )
                found.update(connection.execute(asked).scalars())
        return frozenset(found)

    # --- by name ---------------------------------------------------------------------------------

    def datasets_by_uri(self, uri: str) -> tuple[DatasetRow, ...]:
        asked = (
            sa.select(*STORAGE_OF[DatasetRow].fields)
            .where(datasets.c.uri == uri)
            .order_by(datasets.c.scope, datasets.c.id)
        )
        with self._read() as connection:
            return tuple(DatasetRow(*row) for row in connection.execute(asked))

    def job_by_name(self, namespace: str, name: str) -> JobRow | None:
        asked = (
            sa.select(*STORAGE_OF[JobRow].fields)
            .where(jobs.c.namespace == namespace, jobs.c.name == name)
            .order_by(jobs.c.id)
            .limit(1)
        )
        with self._read() as connection:
            row = connection.execute(asked).first()
        return None if row is None else JobRow(*row)

    # --- history ---------------------------------------------------------------------------------

    def writers(self, targets: Collection[str], at: int | None) -> tuple[Writer, ...]:
        with self._read() as connection:
            return tuple(history.writers(connection, targets, at))

    def executions(
        self,
        *,
        logical_plan: str | None = None,
        target: str | None = None,
        job: str | None = None,
        run: str | None = None,
        plan_id: str | None = None,
        state: str | None = None,
        at: int | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[ExecutionRow]:
        criteria = _given(
            logical_plan=logical_plan,
            target=target,
            job=job,
            run=run,
            plan_id=plan_id,
            state=state,
        )
        with self._read() as connection:
            return history.list_executions(connection, criteria, at, limit, cursor)

    def has_execution(
        self,
        job: str,
        since: int,
        before: int,
        *,
        run: str | None = None,
        logical_plan: str | None = None,
    ) -> bool:
        criteria = _given(job=job, run=run, logical_plan=logical_plan)
        with self._read() as connection:
            return history.has_execution(connection, criteria, since, before)

    def partitions(self, executions: Collection[str]) -> tuple[PartitionRow, ...]:
        with self._read() as connection:
            return tuple(history.partitions_of(connection, executions))

    def standing(
        self, reads: Collection[tuple[Span, ...]], *, reach: int, most: int, per_plan: int
    ) -> dict[tuple[Span, ...], Standing]:
        with self._read() as connection:
            return writes.standing(connection, reads, reach, most, per_plan)

    def writes(
        self, spans: Collection[Span], *, most: int, per_plan: int
    ) -> dict[Span, SpanWrites]:
        with self._read() as connection:
            return writes.writes(connection, spans, most, per_plan)

    def version_writes(
        self, spans: Collection[VersionSpan], *, most: int
    ) -> dict[VersionSpan, VersionWrites]:
        """See ``store.Catalogue``. One statement."""
        with self._read() as connection:
            return table_versions.version_writes(connection, spans, most)

    def told_versions(
        self, asked: Collection[tuple[str, str]]
    ) -> dict[tuple[str, str], SuccessfulWrite]:
        """See ``store.Catalogue``."""
        with self._read() as connection:
            return table_versions.told_versions(connection, asked)

    def read_versions(self, executions: Collection[str]) -> tuple[ReadVersionRow, ...]:
        """See ``store.Catalogue``."""
        with self._read() as connection:
            return tuple(table_versions.versions_read(connection, executions))

    def bound_reads(self, logical_plans: Collection[str]) -> frozenset[tuple[str, str]]:
        """See ``store.Catalogue``."""
        with self._read() as connection:
            return frozenset(table_versions.bound_reads(connection, logical_plans))

    def readings(
        self, moments: Collection[tuple[str, int]], *, per_plan: int
    ) -> dict[tuple[str, int], SpanWrites]:
        """See ``store.Catalogue``."""
        with self._read() as connection:
            return reads.readings(connection, moments, per_plan)

    def declared_reads(self, logical_plans: Collection[str]) -> tuple[DeclaredFlow, ...]:
        """See ``store.Catalogue``."""
        with self._read() as connection:
            return tuple(reads.declared_reads(connection, logical_plans))

    def companions(
        self, pairs: Collection[tuple[str, str]], state: str = labels.COMPLETED
    ) -> tuple[SuccessfulWrite, ...]:
        with self._read() as connection:
            return tuple(writes.companions(connection, pairs, state))

    def told_twice(self, target: str, state: str = labels.COMPLETED) -> tuple[SuccessfulWrite, ...]:
        with self._read() as connection:
            return tuple(writes.told_twice(connection, target, state))

    def last_executions(self, jobs: Collection[str], at: int | None) -> dict[str, ExecutionRow]:
        with self._read() as connection:
            return history.newest_executions(connection, "job", jobs, at, only="any")

    def last_states(self, jobs: Collection[str], at: int | None) -> dict[str, tuple[int, str]]:
        with self._read() as connection:
            return history.last_states(connection, jobs, at)

    def last_writers(self, targets: Collection[str], at: int | None) -> dict[str, ExecutionRow]:
        with self._read() as connection:
            return history.newest_executions(connection, "target", targets, at, only="writes")

    def last_writes(self, targets: Collection[str], at: int | None) -> dict[str, int]:
        with self._read() as connection:
            return history.last_writes(connection, targets, at)

    def lone_last_writes(
        self, targets: Collection[str], at: int | None, *, apart: int
    ) -> dict[str, int | None]:
        with self._read() as connection:
            return history.lone_last_writes(connection, targets, at, apart)

    def newest_event(self, at: int | None) -> int | None:
        with self._read() as connection:
            return history.newest_event(connection, at)

    def names_of(self, locations: Collection[str], at: int | None) -> tuple[NameRow, ...]:
        """See ``store.Catalogue``: the newest observation of each (name, location)."""
        with self._read() as connection:
            return tuple(history.names_of(connection, locations, at))

    def renames_of(self, datasets: Collection[str], at: int | None) -> tuple[RenameRow, ...]:
        with self._read() as connection:
            return tuple(history.renames_of(connection, datasets, at))

    def renames_by(self, executions: Collection[str]) -> tuple[RenameRow, ...]:
        with self._read() as connection:
            return tuple(history.renames_by(connection, executions))

    def location_of(self, name: str, at: int | None) -> str | None:
        with self._read() as connection:
            return history.location_of(connection, name, at)

    def locations_of(self, moments: Collection[tuple[str, int]]) -> dict[tuple[str, int], str]:
        with self._read() as connection:
            return writes.locations_of(connection, moments)

    def names_around(self, datasets: Collection[str]) -> frozenset[tuple[str, str]]:
        with self._read() as connection:
            return history.names_around(connection, datasets)

    def seen(self, datasets: Collection[str], at: int) -> frozenset[str]:
        with self._read() as connection:
            return frozenset(writes.seen(connection, datasets, at))

    def newest_schema_ids(self, datasets: Collection[str], at: int | None) -> dict[str, str]:
        with self._read() as connection:
            return history.newest_schema_ids(connection, datasets, at)

    def newest_schemas(self, datasets: Collection[str], at: int | None) -> dict[str, SchemaRow]:
        with self.snapshot() as same:
            chosen = same.newest_schema_ids(datasets, at)
            rows = {row.id: row for row in same.schemas(set(chosen.values()))}
        return {dataset: rows[schema] for dataset, schema in chosen.items()}

    # --- versions --------------------------------------------------------------------------------

    def schemas(self, ids: Collection[str]) -> tuple[SchemaRow, ...]:
        """See ``store.Catalogue``."""
        return self._by_id(SchemaRow, ids)

    def schema_uses(self, dataset: str, limit: int = 5_000) -> tuple[SchemaUseRow, ...]:
        """See ``store.Catalogue``."""
        with self._read() as connection:
            return tuple(versions.uses_of_schemas(connection, dataset, limit))

    def plan_spans(self, logical_plans: Collection[str], at: int | None) -> tuple[PlanSpan, ...]:
        """See ``store.Catalogue``."""
        with self._read() as connection:
            return tuple(versions.plan_spans(connection, logical_plans, at))

    def last_of_plans(
        self, logical_plans: Collection[str], at: int | None
    ) -> dict[str, ExecutionRow]:
        """See ``store.Catalogue``."""
        with self._read() as connection:
            return history.newest_executions(
                connection, "logical_plan", logical_plans, at, only="completed"
            )

    def executions_of(self, ids: Collection[str]) -> tuple[ExecutionRow, ...]:
        """See ``store.Catalogue``."""
        found = self._by_id(ExecutionRow, ids)
        with self._read() as connection:
            return tuple(under_applications(connection, found))

    # --- lists -----------------------------------------------------------------------------------

    def list_datasets(
        self,
        *,
        query: str = "",
        limit: int = 100,
        cursor: str | None = None,
        at: int | None = None,
    ) -> Page[DatasetRow]:
        with self._read() as connection:
            return lists.list_datasets(connection, query, limit, cursor, at)

    def walk_datasets(
        self,
        *,
        query: str = "",
        after: DatasetRow | None = None,
        limit: int = 1000,
        at: int | None = None,
    ) -> tuple[DatasetRow, ...]:
        with self._read() as connection:
            return tuple(lists.walk_datasets(connection, query, after, limit, at))

    def list_jobs(
        self,
        *,
        query: str = "",
        namespace: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
        at: int | None = None,
    ) -> Page[JobSummary]:
        with self._read() as connection:
            return lists.list_jobs(connection, query, namespace, limit, cursor, at)

    def estate(self, hidden: Collection[str], *, failures: int, at: int | None) -> Estate:
        """See ``store.Catalogue``."""
        with self._read() as connection:
            return estate.estate(connection, hidden, failures, at)

    def attempts(self, jobs: Collection[str], at: int | None) -> frozenset[tuple[str, str]]:
        """See ``store.Catalogue``."""
        with self._read() as connection:
            return frozenset(estate.attempts(connection, jobs, at))

    def list_runs(
        self,
        job: str,
        *,
        run: str | None = None,
        at: int | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[RunSummary]:
        with self._read() as connection:
            return lists.list_runs(connection, job, run, at, limit, cursor)

    def written_by(self, job: str, runs: Collection[str]) -> frozenset[tuple[str, str]]:
        with self._read() as connection:
            return lists.written_by(connection, job, runs)

    def search(self, text: str, *, kinds: Collection[str], limit: int) -> Page[Match]:
        """See ``store.Catalogue``. There is one page: ``next`` is None, ``total`` counts all."""
        with self._read() as connection:
            return search.search(connection, text, kinds, limit)

    def close(self) -> None:
        """Give back the connections of the engine; safe to call twice."""
        self._engine.dispose()

    # --- parts -----------------------------------------------------------------------------------

    def _read(self) -> AbstractContextManager[Connection]:
        return read(self._engine, Unavailable) if self._held is None else nullcontext(self._held)

    def _by_id(self, kind: type[_Row], ids: Collection[str]) -> tuple[_Row, ...]:
        found: list[_Row] = []
        with self._read() as connection:
            for chunk in chunks(sorted(set(ids)), AT_ONCE):
                rows = history.BY_IDS[kind].rows(connection, at_values(chunk))
                found += [kind(*row) for row in rows]
        return tuple(sorted(found, key=_id))


def _id(row: _Row) -> str:
    return row.id


def _given(**criteria: Any) -> dict[str, Any]:
    return {name: value for name, value in criteria.items() if value is not None}
