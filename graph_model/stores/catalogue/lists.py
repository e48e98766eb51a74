"""Lists of datasets, jobs and runs: in order, page by page, each with its true total.

Totals of the whole catalogue, and the jobs that failed last, cost a few seeks in indexes for each
job, however long its history is. The executions of the whole catalogue come newest first from an
index by time; by duration the statement sorts all of them: no index is kept for so rare a question.

For the jobs that have waited for their next run longer than they usually do, the statement walks
over the newest runs of each job, with a few seeks for each run, however many executions it has.
Most jobs wait no longer than usual: their walk ends after half of these runs, and none of their
times are read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from graph_model import labels
from graph_model.facts import ColumnRow, DatasetRow, JobRow
from graph_model.stores.catalogue.executions import (
    dataset_existed,
    job_existed,
    last_states_of,
    wrote_main,
)
from graph_model.stores.catalogue.reading import (
    BEFORE_EVERYTHING,
    MATERIALIZED,
    CatalogueReader,
    ListKeys,
    application_of,
    at_values,
    input_column,
    is_doubtful,
    is_input,
    is_running,
    made_once,
    names_of_runs,
    run_of,
    shown_state,
    state_of_run,
    unknown_last,
    until,
    until_input,
)
from graph_model.stores.catalogue.search import holds
from graph_model.stores.catalogue.tables import (
    STORAGE_OF,
    applications,
    columns,
    datasets,
    executions,
    fold,
    jobs,
    names,
)
from graph_model.stores.catalogue_values import (
    Estate,
    FailedJob,
    JobSummary,
    RecentExecution,
    RunSummary,
)
from graph_model.stores.database import after_keys, count_rows, rows_of
from graph_model.stores.pages import (
    ColumnOrder,
    DatasetOrder,
    ExecutionOrder,
    JobOrder,
    Page,
    checked_limit,
)
from graph_model.values import cause_line


class CatalogueLists(CatalogueReader):
    """Lists, counts and search. Lists are ordered and paged; ``limit`` is 1..1000. ``cursor`` is a
    former ``Page.next`` of the same list in the same order; any other raises InvalidReference.
    ``hidden`` are ids of datasets and jobs that are left out, of pages, totals and cursors.

    ``at`` is epoch ms, None the end of time: only executions with ``ExecutionRow.at <= at`` count.
    """

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
        """The datasets that existed at the time, in an order, then by name and URI; ``query`` is a
        case-insensitive substring of the URI.

        The last write is the newest row of a completed write of the dataset, or of one of its
        other names, whichever producer reported it.

        Equal names and URIs by id. By name an index is read, else all datasets are sorted.
        """
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
        """By name, then URI, the rows behind ``after``: for callers that need every dataset.

        No totals, no times.
        """
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
        """The jobs behind ``after``, as ``list_jobs`` orders them by namespace and name; only rows,
        so that the cost does not grow with the runs.
        """
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
        states: Collection[str] = (),
        among: Collection[str] | None = None,
        order: JobOrder = JobOrder.NAMESPACE,
        now: int,
    ) -> Page[JobSummary]:
        """The jobs that existed at the time, in an order, then by namespace and name; ``query`` is
        a case-insensitive substring of the name, ``states`` those of the last run, () any,
        ``among`` are the ids of the only jobs to list. ``now``: as in ``last_states``.

        Equal names by id. By namespace an index is read, else all jobs are sorted.
        """
        chosen = _jobs_like(query, namespace, at)
        if among is None:
            values = at_values(hidden)
            chosen += _not_hidden(hidden, jobs.c.id)
        else:
            values = at_values(set(among) - set(hidden))
            chosen.append(is_input(jobs.c.id))
        if states:
            chosen.append(_state_of_last_run(at, now).in_(sorted(states)))
        keys = ListKeys(f"jobs by {order}", order.falls, _job_keys(order, at, now))
        asked = sa.select(*STORAGE_OF[JobRow].fields).where(*chosen)
        with self._read() as connection:
            rows, following = keys.read(connection, asked, cursor, limit, values)
            listed = [JobRow(*row) for row in rows]
            ids = [row.id for row in listed]
            runs = _run_counts(connection, ids, at)
            newest = last_states_of(connection, ids, at, now)
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
        """The columns of all datasets; ``query`` is a case-insensitive substring of the path.

        Columns of datasets that have a row; equal ones by id. All columns are sorted.
        """
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
        """The runs of a job, newest first; with ``run`` only that one.

        By the end of a run, then by its id.
        """
        columns = executions.c
        with self._read() as connection:
            of_run = () if run is None else (columns.run.in_(names_of_runs(connection, (run,))),)
            chosen = (columns.job == job, *of_run, *until(columns.at, at))
            ended = _runs(connection, *chosen).c
            newest = sa.select(ended.run, sa.func.max(ended.ended).label("ended"))
            listed = newest.group_by(ended.run).subquery()
            keys = ListKeys("runs", True, (listed.c.ended, listed.c.run))
            rows, following = keys.read(connection, sa.select(listed.c.run), cursor, limit)
            runs = [run for (run,) in rows]
            folded = {summary.run: summary for summary in _folded(connection, chosen, runs)}
            total = count_rows(connection, listed)
        return Page(tuple(folded[run] for run in runs), total, following)

    def estate(
        self, hidden: Collection[str], *, failures: int, at: int | None, since: int | None = None
    ) -> Estate:
        """The totals of all nodes that existed at the time, without hidden ones (ids), and up to
        this many failures. ``failed_since`` counts those after ``since`` (epoch ms), or all.
        """
        with self._read() as connection:
            failed, failed_since, named = _failed(connection, hidden, failures, at, since)
            return Estate(
                jobs=_count(connection, jobs, hidden, job_existed(at)),
                datasets=_count(connection, datasets, hidden, dataset_existed(at)),
                failed=failed,
                failed_since=failed_since,
                failures=named,
            )

    def attempts(self, jobs: Collection[str], at: int | None) -> frozenset[tuple[str, str]]:
        """(job, logical plan) for the jobs among these whose newest execution failed or was
        aborted: the plans that did so among the newest 100 executions of that run.
        """
        return frozenset((job, plan) for job, plan in self._rows_for(_attempts(), jobs, at))

    def recent_executions(
        self,
        hidden: Collection[str],
        *,
        state: str | None = None,
        doubtful: bool = False,
        job: str | None = None,
        query: str = "",
        by_job_name: bool = True,
        since: int | None = None,
        counted: bool = True,
        limit: int = 100,
        cursor: str | None = None,
        at: int | None = None,
        now: int,
        order: ExecutionOrder = ExecutionOrder.AT_FALLING,
    ) -> Page[RecentExecution]:
        """The writes and reads of all jobs, or of one (an id), without those of hidden jobs and
        datasets. The total is 0 unless it is ``counted``. ``doubtful``: only those with a doubtful
        time. ``query``: each of its words is in the error, the job's name or the application id, in
        any case, or is the id of a run or plan; it looks at the executions after ``since``. Without
        ``by_job_name`` at least one word is not in the job's name alone. ``now``: as in
        ``last_states``. A run that failed with its last part is listed by that alone.
        """
        columns = executions.c
        time = now if at is None else at
        unseen = input_column().c.value

        def listed(of: Any) -> list[sa.ColumnElement[bool]]:
            chosen = _recent(of, state, at, time, doubtful=doubtful, job=job)
            chosen += [column.not_in(sa.select(unseen)) for column in (of.job, of.target)]
            chosen += [] if since is None else [of.at > since]
            return chosen + _each_word(of, query.split(), by_job_name)

        chosen = [*listed(columns), sa.not_(_is_told_by_a_part(columns, listed))]
        asked = sa.select(
            columns.id,
            columns.job,
            run_of(columns).label("run"),
            columns.target,
            columns.at,
            shown_state(columns, time).label("state"),
            columns.kind,
            DURATION_MS.label("duration_ms"),
            columns.error,
            columns.metrics,
            columns.ahead,
        ).where(*chosen)
        keys = ListKeys(f"recent by {order}", order.falls, _keys(order))
        values = at_values(hidden)
        with self._read() as connection:
            rows, next_page = keys.read(connection, asked, cursor, limit, values)
            total = count_rows(connection, executions, chosen, values) if counted else 0
        return Page(tuple(RecentExecution(*row) for row in rows), total, next_page)

    def recent_until(
        self,
        number: int,
        *,
        state: str | None = None,
        job: str | None = None,
        at: int | None,
        now: int,
    ) -> int | None:
        """The time (epoch ms) of the newest execution, of any kind, that is not among the newest
        ``number``.
        """
        columns = executions.c
        time = now if at is None else at
        chosen = _recent(columns, state, at, time, doubtful=False, job=job, of_any_kind=True)
        asked = sa.select(columns.at).where(*chosen).order_by(columns.at.desc())
        with self._read() as connection:
            row = connection.execute(asked.offset(number).limit(1)).first()
            return None if row is None else int(row.at)

    def waiting_jobs(
        self, hidden: Collection[str], *, now: int, most: int
    ) -> dict[str, tuple[int, ...]]:
        """The jobs that have waited longer than they usually do, each with the ends of its newest
        ``most`` runs, newest first. A job is left out if it never ran, or if in at least
        ``most // 2`` cases it waited as long between two of these runs as it has waited ``now``
        (epoch ms).

        The ends are those of the newest execution, of the newest one before the first execution of
        its run, and so on: a run that lies within a newer one does not count. An execution belongs
        to the run that its own events name.
        """
        with self._read() as connection:
            rows = rows_of(connection, _waiting_jobs(most), at_values(hidden) | {"now": now})
        return {job: tuple(sorted(map(int, times.split()), reverse=True)) for job, times in rows}


def _recent(
    columns: Any,
    state: str | None,
    at: int | None,
    now: int,
    *,
    doubtful: bool,
    job: str | None,
    of_any_kind: bool = False,
) -> list[sa.ColumnElement[bool]]:
    chosen = [*until(columns.at, at)] + ([] if of_any_kind else [columns.kind.in_(_KINDS)])
    if state is not None:
        chosen.append(shown_state(columns, now) == state)
    if state == labels.RUNNING:
        chosen.append(is_running(columns))  # no other one is shown so: from an index of few
    if doubtful:
        chosen.append(is_doubtful(columns))
    return chosen if job is None else [*chosen, columns.job == job]


def _is_told_by_a_part(
    whole: Any, listed: Callable[[Any], Sequence[sa.ColumnElement[bool]]]
) -> sa.ColumnElement[bool]:
    """The condition that an execution without tables failed or was aborted with an execution with
    tables that is listed under the same run: an application with its command, a task with its
    query. That is the last one before its end, and the two do not tell different errors.
    """
    part, later = executions.alias("part_of_it"), executions.alias("later_part")
    of_run = _of_run(later.c, whole, run_of(whole))
    between = (later.c.at > part.c.at, later.c.at <= whole.at, _has_tables(later.c))
    followed = sa.select(later.c.id).where(*of_run, *between).correlate(executions, part)
    told = sa.select(part.c.id).where(
        *_of_run(part.c, whole, run_of(whole)),
        part.c.state == whole.state,
        sa.or_(whole.error.is_(None), whole.error == part.c.error),
        _has_tables(part.c),
        *listed(part.c),
        sa.not_(followed.exists()),
    )
    alone = sa.and_(sa.not_(_has_tables(whole)), whole.state.in_(_UNSUCCESSFUL))
    return sa.and_(alone, told.correlate(executions).exists())


def _has_tables(of: Any) -> sa.ColumnElement[bool]:
    return sa.or_(of.target != "", of.reads != "")


def _each_word(
    columns: Any, words: Sequence[str], by_job_name: bool
) -> list[sa.ColumnElement[bool]]:
    """Each word is in the execution or the name of its job; unless ``by_job_name``, one is in the
    execution.
    """
    in_execution = [_in_execution(columns, word) for word in words]
    if len(words) < 2 and not by_job_name:
        return in_execution
    named = (sa.select(jobs.c.id).where(holds(jobs.c.search_name, fold(word))) for word in words)
    chosen = [
        sa.or_(columns.job.in_(job_ids), condition)
        for job_ids, condition in zip(named, in_execution, strict=True)
    ]
    return chosen if by_job_name else [*chosen, sa.or_(*in_execution)]


def _in_execution(columns: Any, word: str) -> sa.ColumnElement[bool]:
    """Ids are compared whole: SQLite holds them as bytes."""
    texts = (columns.error, columns.application_id)
    return sa.or_(
        columns.plan_id.in_((word, f"run:{word}")),
        *(holds(sa.func.lower(text), fold(word)) for text in texts),
    )


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


def _job_summary(row: JobRow, runs: int, last: tuple[int, str, str] | None) -> JobSummary:
    time, state, _ = (None, None, "") if last is None else last
    return JobSummary(row, runs, time, state)


def _job_keys(order: JobOrder, at: int | None, now: int) -> tuple[sa.ColumnElement[Any], ...]:
    own = jobs.c
    place = (own.namespace, own.name, own.id)
    last_run = unknown_last(_of_last_run(_time, at), order)
    match order.field:
        case JobOrder.NAME:
            return own.name, own.namespace, own.id
        case JobOrder.LAST_RUN:
            return last_run, *place
        case JobOrder.STATE:
            state = _state_of_last_run(at, now)
            return unknown_last(_badness(state), order), last_run, *place
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


def _state_of_last_run(at: int | None, now: int) -> sa.ColumnElement[str]:
    return _of_last_run(lambda of: state_of_run(of, now if at is None else at), at)


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
    errors = _newest_errors(connection, named, [row.run for row in folded if row.badness])
    return [
        RunSummary(
            run=row.run,
            application_id=row.application_id,
            started_at=_start(row.started_at, row.first_end),
            ended_at=row.ended_at,
            state=_BY_BADNESS[row.badness],
            executions=row.executions,
            error=errors.get(row.run),
        )
        for row in folded
    ]


_BY_BADNESS: Final = (labels.COMPLETED, labels.ABORTED, labels.FAILED)


def _badness(state: sa.ColumnElement[str]) -> sa.ColumnElement[int]:
    """A number by which the worst state of several is the greatest; null for no state."""
    numbers = {name: number for number, name in enumerate(_BY_BADNESS)}
    return sa.case({**numbers, labels.RUNNING: 0}, value=state)


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
            _badness(columns.state).label("badness"),
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
        sa.func.max(rows.badness).label("badness"),
        sa.func.count().label("executions"),
    ).group_by(rows.run)


def _newest_errors(
    connection: Connection, chosen: Sequence[sa.ColumnElement[bool]], runs: Sequence[str]
) -> dict[str, str | None]:
    """Per run the cause of its newest execution of the worst state that has an error.

    ``runs`` are those with a failed or aborted execution, usually none.
    """
    if not runs:
        return {}
    columns = executions.c
    order = (_badness(columns.state).desc(), columns.at.desc(), columns.id.desc())
    run = run_of(columns)
    place = sa.func.row_number().over(partition_by=run, order_by=order)
    failures = (
        sa.select(run.label("run"), columns.id, place.label("place"))
        .where(*chosen, columns.state != labels.COMPLETED, columns.error.is_not(None))
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


_EXECUTIONS_OF_RUN: Final = 100


def _count(
    connection: Connection,
    table: sa.Table,
    hidden: Collection[str],
    chosen: Sequence[sa.ColumnElement[bool]],
) -> int:
    shown = (sa.not_(is_input(table.c.id)), *chosen)
    return count_rows(connection, table, shown, at_values(hidden))


def _failed(
    connection: Connection,
    hidden: Collection[str],
    failures: int,
    at: int | None,
    since: int | None,
) -> tuple[int, int, tuple[FailedJob, ...]]:
    """The number of jobs that failed last, of those since a time, and the newest of them. The
    numbers are 0 where ``failures`` is 0.
    """
    values = at_values(hidden, at) | {"since": BEFORE_EVERYTHING if since is None else since}
    rows = rows_of(connection, _failures(failures), values)
    failed, failed_since = rows[0][:2] if rows else (0, 0)
    named = tuple(FailedJob(JobRow(*row[4:]), row[2], row[3]) for row in rows)
    return failed, int(failed_since), named


@made_once
def _failures(most: int) -> sa.Select[Any]:
    shown = sa.select(jobs.c.id.label("job")).where(sa.not_(is_input(jobs.c.id))).cte("shown")
    last = _last_unsuccessful(shown.c.job, (labels.FAILED,))
    since = sa.bindparam("since", type_=sa.BigInteger(), required=True)
    number = sa.func.count()
    number_since = sa.func.sum(sa.case((last.c.at > since, 1), else_=0))
    return (
        sa.select(
            number.over(), number_since.over(), last.c.at, last.c.error, *STORAGE_OF[JobRow].fields
        )
        .join_from(last, jobs, jobs.c.id == last.c.job)
        .order_by(last.c.at.desc(), jobs.c.id)
        .limit(most)
    )


_UNSUCCESSFUL: Final = (labels.FAILED, labels.ABORTED)


def _last_unsuccessful(job: sa.ColumnElement[str], states: Sequence[str]) -> sa.CTE:
    """The newest executions of these jobs that ended in such a state: ``job, at, error``, and
    under ``listed_run`` the run that lists them.

    A job failed last only if its newest failure has the time of its newest execution. Both times
    are seeks in an index; the execution itself is read for such jobs alone.
    """
    failed, seen, last = (executions.alias(name) for name in ("failed", "seen", "last"))
    failure = _newest_time(failed, job, failed.c.state != labels.COMPLETED)
    failures = sa.select(job.label("job"), failure.label("at")).cte("failures")
    failures = failures.prefix_with(MATERIALIZED)
    beside = executions.alias("beside")
    later = sa.select(beside.c.id).where(
        beside.c.job == last.c.job, beside.c.at == last.c.at, beside.c.id > last.c.id
    )
    of_failure = sa.and_(last.c.job == failures.c.job, last.c.at == failures.c.at)
    error = sa.func.coalesce(last.c.error, _error_of_run(last))
    return (
        sa.select(last.c.job, last.c.at, error.label("error"), run_of(last.c).label("listed_run"))
        .join_from(failures, last, of_failure)
        .where(
            failures.c.at == _newest_time(seen, failures.c.job),
            last.c.state.in_(states),
            sa.not_(later.exists()),
        )
        .cte("newest")
        .prefix_with(MATERIALIZED)
    )


def _error_of_run(last: sa.FromClause) -> sa.ScalarSelect[Any]:
    """The newest one: an application without a message failed as its command did."""
    stopped = executions.alias("stopped").c
    errors = sa.select(stopped.error).where(
        *_of_run(stopped, last.c, run_of(last.c)),
        stopped.at <= last.c.at,
        stopped.state != labels.COMPLETED,
        stopped.error.is_not(None),
    )
    newest = errors.order_by(stopped.at.desc(), stopped.id.desc()).limit(1)
    return newest.correlate(last).scalar_subquery()


def _newest_time(
    seen: sa.FromClause, job: sa.ColumnElement[str], *chosen: sa.ColumnElement[bool]
) -> sa.ScalarSelect[Any]:
    newest = sa.select(sa.func.max(seen.c.at))
    newest = newest.where(seen.c.job == job, *chosen, until_input(seen.c.at))
    return newest.correlate_except(seen).scalar_subquery()


@made_once
def _attempts() -> sa.Select[Any]:
    asked, row = input_column(), executions.alias("listed")
    lasts = _last_unsuccessful(asked.c.value, _UNSUCCESSFUL)
    beside = executions.alias("beside").c
    cut = (
        sa.select(beside.at)
        .where(*_of_run(beside, lasts.c, lasts.c.listed_run), beside.at <= lasts.c.at)
        .order_by(beside.at.desc())
        .limit(1)
        .offset(_EXECUTIONS_OF_RUN - 1)
        .scalar_subquery()
    )
    cuts = sa.select(lasts, cut.label("cut")).cte("cuts").prefix_with(MATERIALIZED)
    tried = sa.and_(
        *_of_run(row.c, cuts.c, cuts.c.listed_run),
        row.c.at <= cuts.c.at,
        row.c.at >= sa.func.coalesce(cuts.c.cut, BEFORE_EVERYTHING),
        row.c.state.in_(_UNSUCCESSFUL),
        row.c.kind.in_((labels.WRITE_KIND, labels.READ_KIND)),
    )
    return sa.select(cuts.c.job, row.c.logical_plan).join_from(cuts, row, tried).distinct()


def _of_run(
    row: Any, of: Any, listed_run: sa.ColumnElement[str]
) -> tuple[sa.ColumnElement[bool], ...]:
    """The condition that an execution belongs to a run of the job (``of``: columns with that),
    which is listed under a vertex, whichever way its events name the run.
    """
    claims = applications.alias("claims_of_it")
    claimed = sa.select(claims.c.run).where(claims.c.application_run == listed_run)
    names = (select.correlate_except(claims) for select in (sa.select(listed_run), claimed))
    return row.job == of.job, row.run.in_(sa.union_all(*names))


DURATION_MS: Final = executions.c.duration_ns // 1_000_000
_KINDS: Final = (labels.WRITE_KIND, labels.READ_KIND)


def _keys(order: ExecutionOrder) -> tuple[sa.ColumnElement[Any], ...]:
    columns = executions.c
    if order.field == ExecutionOrder.DURATION:
        return unknown_last(columns.duration_ns, order), columns.at, columns.id
    return columns.at, columns.id


@made_once
def _waiting_jobs(most: int) -> sa.Select[Any]:
    """The walk of a job is a subquery of its row, so it stays on the index pages of that job."""
    lasts = _lasts()
    walk = _walk(lasts, most)
    times = (
        sa.select(sa.func.aggregate_strings(sa.cast(walk.c.at, sa.Text()), " "))
        .having(sa.func.max(_as_long(walk, lasts)) < most // 2)
        .scalar_subquery()
    )
    walked = sa.select(lasts.c.job, times.label("times")).cte("found").prefix_with(MATERIALIZED)
    return sa.select(walked).where(walked.c.times.is_not(None))


def _lasts() -> sa.CTE:
    """Each job that is not hidden, with the time of its newest execution."""
    seen = executions.alias("seen").c
    newest = sa.select(sa.func.max(seen.at)).where(seen.job == jobs.c.id).scalar_subquery()
    shown = sa.select(jobs.c.id.label("job"), newest.label("newest"))
    shown = shown.where(sa.not_(is_input(jobs.c.id)))
    return shown.cte("lasts").prefix_with(MATERIALIZED)


def _walk(lasts: sa.CTE, most: int) -> sa.CTE:
    """The ends of the newest runs of a job, ``at``, each with that of the run ``later``; the last
    may be null. ``as_long``: how many of the waits until ``later`` were as long as the present one.
    """
    nothing = sa.null().cast(sa.BigInteger())
    walk = (
        sa.select(
            lasts.c.newest.label("at"),
            nothing.label("later"),
            sa.literal(0).label("as_long"),
            sa.literal(1).label("number"),
        )
        .correlate(lasts)
        .cte("walk", recursive=True, nesting=True)
    )
    as_long = _as_long(walk, lasts)
    return walk.union_all(
        sa.select(_older(walk, lasts), walk.c.at, as_long, walk.c.number + 1)
        .where(walk.c.at.is_not(None), walk.c.number < most, as_long < most // 2)
        .correlate(lasts)
    )


def _as_long(walk: sa.CTE, lasts: sa.CTE) -> sa.ColumnElement[int]:
    """``as_long`` of the row, counting also the wait that ended with the run ``later``."""
    now = sa.bindparam("now", type_=sa.BigInteger(), required=True)
    is_as_long = walk.c.later - walk.c.at >= now - lasts.c.newest
    return walk.c.as_long + sa.case((is_as_long, 1), else_=0)


def _older(walk: sa.CTE, lasts: sa.CTE) -> sa.ScalarSelect[Any]:
    """The time of the newest execution before the first one of the run that ended at ``at``: of
    several that ended then, the one of the first execution by id.
    """
    ended = executions.alias("seen").c
    run = (
        sa.select(ended.run)
        .where(ended.job == lasts.c.job, ended.at == walk.c.at)
        .order_by(ended.id)
        .limit(1)
        .correlate(lasts, walk)
        .scalar_subquery()
    )
    begin = _of_job(lasts, sa.func.min, lambda of: of.run == run)
    return _of_job(lasts, sa.func.max, lambda of: of.at < begin)


def _of_job(
    lasts: sa.CTE,
    extreme: Callable[[Any], sa.ColumnElement[Any]],
    condition: Callable[[Any], sa.ColumnElement[bool]],
) -> sa.ScalarSelect[Any]:
    """The least or the greatest time among executions of the job: one seek."""
    own = executions.alias("seen")
    chosen = (own.c.job == lasts.c.job, condition(own.c))
    return sa.select(extreme(own.c.at)).where(*chosen).correlate_except(own).scalar_subquery()
