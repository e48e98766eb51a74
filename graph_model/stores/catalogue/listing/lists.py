"""Lists of datasets, jobs and runs: in order, page by page, each with its true total."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from graph_model import labels
from graph_model.error_text import cause_line
from graph_model.facts import ColumnRow, DatasetRow, ExecutionRow, JobRow
from graph_model.stores.catalogue.history.existence import dataset_existed, job_existed
from graph_model.stores.catalogue.history.newest_executions import newest_executions, wrote_main
from graph_model.stores.catalogue.listing.recent_executions import DURATION_MS
from graph_model.stores.catalogue.listing.search import holds
from graph_model.stores.catalogue.reading.applications import (
    application_of,
    names_of_runs,
    run_of,
)
from graph_model.stores.catalogue.reading.conditions import shown_state, until
from graph_model.stores.catalogue.reading.reader import CatalogueReader
from graph_model.stores.catalogue.reading.sort_orders import ListKeys, unknown_last
from graph_model.stores.catalogue.reading.value_tables import at_values, is_input
from graph_model.stores.catalogue.search_text import fold
from graph_model.stores.catalogue.tables import (
    STORAGE_OF,
    applications,
    columns,
    datasets,
    executions,
    jobs,
    names,
)
from graph_model.stores.database import after_keys, count_rows
from graph_model.stores.pages import ColumnOrder, DatasetOrder, JobOrder, Page, checked_limit
from graph_model.stores.protocols import JobSummary, RunSummary


class SqlCatalogueLists(CatalogueReader):
    """The lists of ``protocols.CatalogueLists``."""

    def list_datasets(
        self,
        *,
        hidden: Collection[str] = (),
        query: str = "",
        limit: int = 100,
        cursor: str | None = None,
        at: int | None = None,
        order: DatasetOrder = DatasetOrder.NAME,
    ) -> Page[DatasetRow]:
        """Equal names and URIs by id. By name an index is read, else all datasets are sorted."""
        chosen = _datasets_like(query, at) + _not_hidden(hidden, datasets.c.id)
        keys = ListKeys(f"datasets by {order}", order.falls, _dataset_keys(order, at))
        asked = sa.select(*STORAGE_OF[DatasetRow].fields).where(*chosen)
        values = at_values(hidden)
        with self._read() as connection:
            rows, following = keys.read(connection, asked, cursor, limit, values)
            total = count_rows(connection, datasets, chosen, values)
        return Page(tuple(DatasetRow(*row) for row in rows), total, following)

    def walk_datasets(
        self,
        *,
        query: str = "",
        after: DatasetRow | None = None,
        limit: int = 1000,
        at: int | None = None,
    ) -> tuple[DatasetRow, ...]:
        """No totals, no times."""
        own = datasets.c
        asked = sa.select(*STORAGE_OF[DatasetRow].fields).where(*_datasets_like(query, at))
        last = None if after is None else (after.name, after.uri, after.id)
        asked = _walked(asked, (own.name, own.uri, own.id), last)
        with self._read() as connection:
            rows = connection.execute(asked.limit(checked_limit(limit)))
            return tuple(DatasetRow(*row) for row in rows)

    def walk_jobs(
        self,
        *,
        query: str = "",
        namespace: str | None = None,
        after: JobRow | None = None,
        limit: int = 1000,
        at: int | None = None,
    ) -> tuple[JobRow, ...]:
        own = jobs.c
        asked = sa.select(*STORAGE_OF[JobRow].fields).where(*_jobs_like(query, namespace, at))
        last = None if after is None else (after.namespace, after.name, after.id)
        asked = _walked(asked, (own.namespace, own.name, own.id), last)
        with self._read() as connection:
            rows = connection.execute(asked.limit(checked_limit(limit)))
            return tuple(JobRow(*row) for row in rows)

    def list_jobs(
        self,
        *,
        hidden: Collection[str] = (),
        query: str = "",
        namespace: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
        at: int | None = None,
        state: str | None = None,
        order: JobOrder = JobOrder.NAMESPACE,
    ) -> Page[JobSummary]:
        """Equal names by id. By namespace an index is read, else all jobs are sorted."""
        chosen = _jobs_like(query, namespace, at) + _not_hidden(hidden, jobs.c.id)
        if state is not None:
            chosen.append(_state_of_last_run(at) == state)
        keys = ListKeys(f"jobs by {order}", order.falls, _job_keys(order, at))
        asked = sa.select(*STORAGE_OF[JobRow].fields).where(*chosen)
        values = at_values(hidden)
        with self._read() as connection:
            rows, following = keys.read(connection, asked, cursor, limit, values)
            listed = [JobRow(*row) for row in rows]
            ids = [row.id for row in listed]
            runs = _run_counts(connection, ids, at)
            newest = newest_executions(connection, "job", ids, at, only="any")
            total = count_rows(connection, jobs, chosen, values)
        items = (_job_summary(row, runs.get(row.id, 0), newest.get(row.id)) for row in listed)
        return Page(tuple(items), total, following)

    def list_columns(
        self,
        *,
        hidden: Collection[str] = (),
        query: str = "",
        limit: int = 100,
        cursor: str | None = None,
        order: ColumnOrder = ColumnOrder.NAME,
    ) -> Page[ColumnRow]:
        """Columns of datasets that have a row; equal ones by id. All columns are sorted."""
        chosen = [holds(columns.c.search_text, fold(query))] if query else []
        chosen += _not_hidden(hidden, columns.c.dataset)
        keys = ListKeys(f"columns by {order}", order.falls, _column_keys(order))
        placed = columns.join(datasets, datasets.c.id == columns.c.dataset)
        asked = sa.select(*STORAGE_OF[ColumnRow].fields).select_from(placed).where(*chosen)
        values = at_values(hidden)
        with self._read() as connection:
            rows, following = keys.read(connection, asked, cursor, limit, values)
            total = count_rows(connection, placed, chosen, values)
        return Page(tuple(ColumnRow(*row) for row in rows), total, following)

    def list_runs(
        self,
        job: str,
        *,
        run: str | None = None,
        at: int | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[RunSummary]:
        """By the end of a run, then by its id."""
        columns = executions.c
        with self._read() as connection:
            one = () if run is None else (columns.run.in_(names_of_runs(connection, (run,))),)
            chosen = (columns.job == job, *one, *until(columns.at, at))
            ended = _runs(connection, *chosen).c
            newest = sa.select(ended.run, sa.func.max(ended.ended).label("ended"))
            listed = newest.group_by(ended.run).subquery()
            keys = ListKeys("runs", True, (listed.c.ended, listed.c.run))
            rows, following = keys.read(connection, sa.select(listed.c.run), cursor, limit)
            runs = [run for (run,) in rows]
            folded = {summary.run: summary for summary in _folded(connection, chosen, runs)}
            total = count_rows(connection, listed)
        return Page(tuple(folded[run] for run in runs), total, following)


# --- datasets ------------------------------------------------------------------------------------


def _not_hidden(
    hidden: Collection[str], column: sa.ColumnElement[str]
) -> list[sa.ColumnElement[bool]]:
    """The condition that an id is not hidden; the statement gets ``at_values(hidden)``."""
    return [sa.not_(is_input(column))] if hidden else []


def _datasets_like(query: str, at: int | None) -> list[sa.ColumnElement[bool]]:
    chosen = [holds(datasets.c.search_text, fold(query))] if query else []
    return [*chosen, *dataset_existed(at)]


def _dataset_keys(order: DatasetOrder, at: int | None) -> tuple[sa.ColumnElement[Any], ...]:
    own = datasets.c
    names_first = (own.name, own.uri, own.id)
    match order.field:
        case DatasetOrder.URI:
            return own.uri, own.scope, own.id
        case DatasetOrder.TYPE:
            return own.kind, *names_first
        case DatasetOrder.LAST_WRITE:
            return unknown_last(_last_write(at), order), *names_first
    return names_first


def _last_write(at: int | None) -> sa.ColumnElement[Any]:
    """The time of the last write of a dataset, under any of its names."""
    written = executions.alias("written").c
    own = datasets.c.id
    newest = sa.select(sa.func.max(written.at).label("at"))
    newest = newest.where(*wrote_main(written), *until(written.at, at)).correlate(datasets)
    alike = sa.union_all(
        newest.where(written.target == own),
        newest.where(names.c.name == own, written.target == names.c.location),
        newest.where(names.c.location == own, written.target == names.c.name),
    ).subquery("alike")
    return sa.select(sa.func.max(alike.c.at)).correlate(datasets).scalar_subquery()


# --- jobs ----------------------------------------------------------------------------------------


def _jobs_like(query: str, namespace: str | None, at: int | None) -> list[sa.ColumnElement[bool]]:
    chosen = [holds(jobs.c.search_name, fold(query))] if query else []
    if namespace is not None:
        chosen.append(jobs.c.namespace == namespace)
    return [*chosen, *job_existed(at)]


def _job_summary(row: JobRow, runs: int, last: ExecutionRow | None) -> JobSummary:
    if last is None:
        return JobSummary(row, runs, None, None)
    return JobSummary(row, runs, last.at, last.shown_state)


def _job_keys(order: JobOrder, at: int | None) -> tuple[sa.ColumnElement[Any], ...]:
    own = jobs.c
    place = (own.namespace, own.name, own.id)
    last_run = unknown_last(_of_last_run(_time, at), order)
    match order.field:
        case JobOrder.NAME:
            return own.name, own.namespace, own.id
        case JobOrder.LAST_RUN:
            return last_run, *place
        case JobOrder.STATE:
            state = _state_of_last_run(at)
            failed = sa.case((state == labels.FAILED, 1), (state.is_not(None), 0))
            return unknown_last(failed, order), last_run, *place
        case JobOrder.RUNS:
            return _run_count(at), *place
    return place


def _of_last_run(
    column: Callable[[Any], sa.ColumnElement[Any]], at: int | None
) -> sa.ColumnElement[Any]:
    """A column of the newest execution of a job by (at, id); null where it has none."""
    seen = executions.alias("seen").c
    return (
        sa.select(column(seen))
        .where(seen.job == jobs.c.id, *until(seen.at, at))
        .order_by(seen.at.desc(), seen.id.desc())
        .limit(1)
        .scalar_subquery()
    )


def _time(of: Any) -> sa.ColumnElement[int]:
    column: sa.ColumnElement[int] = of.at
    return column


def _state_of_last_run(at: int | None) -> sa.ColumnElement[str]:
    return _of_last_run(shown_state, at)


def _run_count(at: int | None) -> sa.ColumnElement[Any]:
    seen = executions.alias("seen").c
    number = sa.func.count(run_of(seen).distinct())
    return sa.select(number).where(seen.job == jobs.c.id, *until(seen.at, at)).scalar_subquery()


def _run_counts(connection: Connection, ids: Sequence[str], at: int | None) -> dict[str, int]:
    columns = executions.c
    runs = _runs(connection, columns.job.in_(ids), *until(columns.at, at)).c
    asked = sa.select(runs.job, sa.func.count(runs.run.distinct()).label("runs"))
    return {row.job: row.runs for row in connection.execute(asked.group_by(runs.job))}


def _runs(connection: Connection, *chosen: sa.ColumnElement[bool]) -> sa.Subquery:
    """Job, run and end, at least a row for each run: from an index alone, but for executions that
    do not name their application.
    """
    columns = executions.c
    elsewhere = (
        sa.select(applications.c.id)
        .join_from(executions, applications, applications.c.run == columns.run)
        .where(*chosen, columns.application_id == "")
        .limit(1)
    )
    if connection.execute(elsewhere).first() is None:  # nearly always: grouped once
        own = sa.select(columns.job, columns.run, columns.at.label("ended"))
        return own.where(*chosen).subquery()
    stored = (
        sa.select(
            columns.job,
            columns.run,
            sa.func.max(columns.at).label("ended"),
            sa.func.max(columns.application_id).label("application_id"),
        )
        .where(*chosen)
        .group_by(columns.job, columns.run)
        .subquery("stored")
        .c
    )
    return sa.select(stored.job, run_of(stored).label("run"), stored.ended).subquery()


# --- columns -------------------------------------------------------------------------------------


def _column_keys(order: ColumnOrder) -> tuple[sa.ColumnElement[Any], ...]:
    own, table = columns.c, datasets.c
    if order.field == ColumnOrder.TABLE:
        return table.name, table.uri, own.path, own.id
    return own.path, table.uri, own.id


# --- runs ----------------------------------------------------------------------------------------


def _folded(
    connection: Connection, chosen: Sequence[sa.ColumnElement[bool]], runs: Sequence[str]
) -> list[RunSummary]:
    named = (*chosen, executions.c.run.in_(names_of_runs(connection, runs)))
    folded = connection.execute(_summed(named)).all()
    errors = _newest_errors(connection, named, [row.run for row in folded if row.failed])
    return [
        RunSummary(
            run=row.run,
            application_id=row.application_id,
            started_at=_start(row.started_at, row.first_end),
            ended_at=row.ended_at,
            state=labels.FAILED if row.failed else labels.COMPLETED,
            executions=row.executions,
            error=errors.get(row.run),
        )
        for row in folded
    ]


def _start(known: int | None, first_end: int) -> int | None:
    """The earliest known start of a run, unless an execution without a duration ended before it."""
    return known if known is not None and known <= first_end else None


def _summed(chosen: Sequence[sa.ColumnElement[bool]]) -> sa.Select[Any]:
    columns = executions.c
    rows = (
        sa.select(
            run_of(columns).label("run"),
            application_of(columns).label("application_id"),
            (columns.at - DURATION_MS).label("started_at"),
            columns.at.label("ended_at"),
            sa.case((columns.state == labels.FAILED, 1), else_=0).label("failed"),
        )
        .where(*chosen)
        .subquery()
        .c
    )
    return sa.select(
        rows.run,
        sa.func.max(rows.application_id).label("application_id"),
        sa.func.min(rows.started_at).label("started_at"),
        sa.func.min(rows.ended_at).label("first_end"),
        sa.func.max(rows.ended_at).label("ended_at"),
        sa.func.max(rows.failed).label("failed"),
        sa.func.count().label("executions"),
    ).group_by(rows.run)


def _newest_errors(
    connection: Connection, chosen: Sequence[sa.ColumnElement[bool]], runs: Sequence[str]
) -> dict[str, str | None]:
    """Per run the cause of its newest failed execution that has an error.

    ``runs`` are those with a failed execution, usually none.
    """
    if not runs:
        return {}
    columns = executions.c
    order = (columns.at.desc(), columns.id.desc())
    run = run_of(columns)
    place = sa.func.row_number().over(partition_by=run, order_by=order)
    failures = (
        sa.select(run.label("run"), columns.id, place.label("place"))
        .where(*chosen, columns.state == labels.FAILED, columns.error.is_not(None))
        .subquery()
    )
    asked = (
        sa.select(failures.c.run, columns.error)
        .join_from(failures, executions, columns.id == failures.c.id)
        .where(failures.c.place == 1)
    )
    return {row.run: cause_line(row.error) for row in connection.execute(asked)}


# --- pages ---------------------------------------------------------------------------------------


def _walked(
    asked: sa.Select[Any], key: Sequence[sa.ColumnElement[Any]], last: Sequence[str] | None
) -> sa.Select[Any]:
    """In the order of the key, the rows behind the one with these values."""
    return (asked if last is None else asked.where(after_keys(key, last))).order_by(*key)
