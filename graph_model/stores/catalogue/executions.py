"""Executions over time: pages of them, writers, the newest.

``at`` is epoch milliseconds or None for the end of time: only executions at or before it count.
Questions about many nodes cost one index seek an answer, not a walk over the history: a table that
one plan overwrote a million times has one writer.

A dataset or job exists from the time of its first dated row, also of a failed run. Rows that date
a dataset: the execution of a plan that reads or writes it (with a schema), an execution that writes
it, a name that stands for it or that it is, a facet. Rows that date a job: an execution or a run. A
dataset or job without a dated row (a plan that never ran) exists at every time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from graph_model import labels
from graph_model.facts import MAIN_BRANCH, ExecutionRow, PartitionRow
from graph_model.stores.catalogue.reading import (
    BEFORE_EVERYTHING,
    MATERIALIZED,
    CatalogueReader,
    application_of,
    at_values,
    excluding,
    excluding_hidden,
    input_column,
    input_table,
    is_doubtful,
    is_input,
    made_once,
    names_of_runs,
    pairs_from,
    prepared,
    rows_for,
    run_of,
    shown_state,
    state_of_run,
    successful,
    under_applications,
    until,
    until_input,
)
from graph_model.stores.catalogue.tables import (
    datasets,
    executions,
    facets,
    jobs,
    logical_plans,
    names,
    partitions,
    runs,
    schema_uses,
)
from graph_model.stores.catalogue_values import PlanSpan, Writer
from graph_model.stores.database import StoredId, StoredText, chunks, count_rows, rows_of
from graph_model.stores.pages import EXECUTIONS, Page, checked_limit, read_cursor, write_cursor

_SEEKS_A_STATEMENT: Final = 20


class ExecutionHistory(CatalogueReader):
    """Executions, and the newest of a job, a dataset or a plan.

    ``at`` is epoch ms, None the end of time: only executions with ``ExecutionRow.at <= at`` count.
    """

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
        hidden: Collection[str] = (),
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[ExecutionRow]:
        """Newest first by (at, id); the given criteria are combined. Those of ``hidden`` jobs and
        datasets (ids) do not count.

        An execution or run whose events name its application's run, and not the application, counts
        under the application that other events give for it (``ApplicationRow``).
        """
        own = executions.c
        given = _equal(
            logical_plan=logical_plan, target=target, job=job, plan_id=plan_id, state=state
        )
        with self._read() as connection:
            named = [] if run is None else [own.run.in_(names_of_runs(connection, (run,)))]
            chosen = [*given, *named, *until(own.at, at)]
            chosen += [*excluding(own.job, hidden), *excluding(own.target, hidden)]
            asked = _page(chosen, checked_limit(limit) + 1, cursor)
            listed = [ExecutionRow(*row) for row in connection.execute(asked)]
            rows = under_applications(connection, listed)
            total = count_rows(connection, executions, chosen)
        last = rows[limit - 1] if len(rows) > limit else None
        following = None if last is None else write_cursor(EXECUTIONS, last.at, last.id)
        return Page(tuple(rows[:limit]), total, following)

    def has_execution(
        self,
        job: str,
        since: int,
        before: int,
        *,
        run: str | None = None,
        logical_plan: str | None = None,
    ) -> bool:
        """Whether there is an execution at ``since <= claimed_at < before``; it counts under the
        run that its own events name.
        """
        own = executions.c
        given = _equal(job=job, run=run, logical_plan=logical_plan)
        counted = sa.and_(own.ahead == 0, own.at >= since, own.at < before)
        claimed = own.at + own.ahead
        doubtful = sa.and_(is_doubtful(own), claimed >= since, claimed < before)
        asked = sa.select(own.id).where(*given, sa.or_(counted, doubtful)).limit(1)
        with self._read() as connection:
            return connection.execute(asked).first() is not None

    def times_of_runs(self, jobs: Collection[str], limit: int) -> dict[str, list[tuple[str, int]]]:
        """Per job (run, at) of each of its newest ``limit`` executions by (at, id), with the runs
        of their own events; in any order.
        """
        times: dict[str, list[tuple[str, int]]] = {job: [] for job in jobs}
        with self._read() as connection:
            for some in chunks(sorted(times), _SEEKS_A_STATEMENT):
                asked = _numbered_parameters("job", some) | {"limit": limit}
                for job, run, at in rows_of(connection, _times_of_runs(len(some)), asked):
                    times[job].append((run, at))
        return times

    def newest_runs_since(self, job: str, runs: int, executions: int) -> int | None:
        """The time of the oldest execution of a job's newest ``runs`` runs, or of all its runs
        where it has fewer, but no earlier than its ``executions``-th newest execution. Runs are
        ordered by (time of their newest execution, id) and are those that ``executions`` lists.
        None for a job without executions.

        From an index alone, but for executions that do not name their application.
        """
        values = {"job": job, "runs": runs, "passed": executions - 1}
        with self._read() as connection:
            ((oldest,),) = rows_of(connection, _oldest_of_newest_runs(), values)
            bound = rows_of(connection, _time_at_place(), values)
        return None if oldest is None else max((oldest, *(at for (at,) in bound)))

    def executions_of_runs(
        self, runs: Mapping[str, Collection[str]], limit: int
    ) -> dict[str, list[ExecutionRow]]:
        """Per job the newest ``limit`` executions by (at, id) of its runs in ``runs``, newest
        first; an execution belongs to the run that its own events name.
        """
        newest: dict[str, list[ExecutionRow]] = {job: [] for job in runs}
        pairs = sorted((job, run) for job, some in runs.items() for run in some)
        with self._read() as connection:
            for chunk in chunks(pairs, _SEEKS_A_STATEMENT):
                jobs, names = zip(*chunk, strict=True)
                values = _numbered_parameters("job", jobs) | _numbered_parameters("run", names)
                values |= {"limit": limit}
                for row in rows_of(connection, _executions_of_runs(len(chunk)), values):
                    execution = ExecutionRow(*row)
                    newest[execution.job].append(execution)
        return {
            job: sorted(rows, key=lambda row: (row.at, row.id), reverse=True)[:limit]
            for job, rows in newest.items()
        }

    def executions_since(
        self,
        since: int,
        limit: int,
        *,
        before: int | None = None,
        after: str = "",
        job: str | None = None,
    ) -> tuple[ExecutionRow, ...]:
        """The executions at ``since <= at < before`` (None: no end) by (at, id), with the runs that
        their own events name; at ``since`` itself only ids after ``after``. ``job``: only its own.
        """
        own = executions.c
        asked = sa.select(executions).where(own.at >= since, sa.or_(own.at > since, own.id > after))
        if before is not None:
            asked = asked.where(own.at < before)
        if job is not None:
            asked = asked.where(own.job == job)
        asked = asked.order_by(own.at, own.id).limit(limit)
        with self._read() as connection:
            return tuple(ExecutionRow(*row) for row in connection.execute(asked))

    def partitions(self, executions: Collection[str]) -> tuple[PartitionRow, ...]:
        rows = self._rows_for(_PARTITIONS, executions)
        return tuple(sorted(PartitionRow(*row) for row in rows))

    def writers(
        self, targets: Collection[str], at: int | None, *, main: bool = False
    ) -> tuple[Writer, ...]:
        """Per (target, logical plan, mode) the newest completed ``write`` execution; ``main``: of
        the main branches alone.
        """
        rows = self._rows_for(_writers(main), targets, at)
        return tuple(sorted(Writer(*row) for row in rows))

    def last_executions(self, jobs: Collection[str], at: int | None) -> dict[str, ExecutionRow]:
        """Per job its newest execution by (at, id), whatever its state."""
        with self._read() as connection:
            return newest_executions(connection, "job", jobs, at, only="any")

    def last_states(
        self, jobs: Collection[str], at: int | None, now: int
    ) -> dict[str, tuple[int, str, str]]:
        """The time, the state for people at ``at``, else ``now`` (epoch ms), and the producer of
        each of ``last_executions``.
        """
        with self._read() as connection:
            return last_states_of(connection, jobs, at, now)

    def shown_states(
        self, rows: Iterable[ExecutionRow], at: int | None, now: int
    ) -> dict[str, str]:
        """Per execution its state; ``at`` and ``now`` as in ``last_states``. Only of those that are
        running their runs are read.
        """
        listed = list(rows)
        running = {row.id for row in listed if row.running}
        states = {row.id: row.state for row in listed}
        if running:
            states |= dict(self._rows_for(_states(), running, now=now if at is None else at))
        return states

    def last_writers(
        self, targets: Collection[str], at: int | None, hidden: Collection[str] = ()
    ) -> dict[str, ExecutionRow]:
        """Per dataset its newest completed ``write`` execution by (at, id), without writes to
        branches and those of ``hidden`` jobs (ids).
        """
        with self._read() as connection:
            return newest_executions(connection, "target", targets, at, only="main", hidden=hidden)

    def last_writes(self, targets: Collection[str], at: int | None) -> dict[str, int]:
        """The times of ``last_writers``.

        From an index alone.
        """
        rows = self._rows_for(_times_of_writes(), targets, at)
        return {target: newest for target, newest, _ in rows if newest is not None}

    def lone_last_writes(
        self, targets: Collection[str], at: int | None, *, apart: int
    ) -> dict[str, int | None]:
        """The ``last_writes`` that have no other write within ``apart`` milliseconds before them;
        None for a target without a write.
        """
        return {
            target: newest
            for target, newest, second in self._rows_for(_times_of_writes(), targets, at)
            if newest is None or second is None or second < newest - apart
        }

    def jobs_that_tried(self, target: str, at: int | None) -> frozenset[str]:
        """The jobs of which a run that was to write the dataset failed or was aborted.

        A seek for each plan that tried, however often it did.
        """
        states = (labels.FAILED, labels.ABORTED)
        tried = (row for state in states for row in self._rows_for(_tried(state), (target,), at))
        return frozenset(job for (job,) in tried)

    def last_completed(self, jobs: Collection[str], at: int | None) -> dict[str, ExecutionRow]:
        """Per job its newest completed execution by (at, id)."""
        with self._read() as connection:
            return newest_executions(connection, "job", jobs, at, only="completed")

    def first_failures(self, moments: Collection[tuple[str, int]]) -> dict[str, int]:
        """Per (job, epoch ms) the job's first failed execution after that time; jobs without one
        are left out.
        """
        rows = self._rows_beside(_first_failures(), moments)
        return {job: at for job, at in rows if at is not None}

    def newest_writes_of(
        self, targets: Collection[str], most: int
    ) -> dict[str, tuple[ExecutionRow, ...]]:
        """Per dataset its newest completed writes, newest first, at most ``most`` of them; datasets
        without one are left out. A bounded walk over an index for each dataset.
        """
        with self._read() as connection:
            stored = rows_for(connection, _newest_writes(), targets, others=most - 1)
        writes: defaultdict[str, list[ExecutionRow]] = defaultdict(list)
        for row in map(ExecutionRow._make, stored):
            writes[row.target].append(row)
        return {
            target: tuple(sorted(rows, key=lambda row: (row.at, row.id), reverse=True)[:most])
            for target, rows in writes.items()
        }

    def last_of_plans(
        self, logical_plans: Collection[str], at: int | None
    ) -> dict[str, ExecutionRow]:
        """Per logical plan its newest completed execution by (at, id)."""
        with self._read() as connection:
            return newest_executions(
                connection, "logical_plan", logical_plans, at, only="completed"
            )

    def last_of_runs(self, runs: Collection[str], at: int | None = None) -> dict[str, ExecutionRow]:
        """Per run vertex its newest execution by (at, id), whatever its state."""
        with self._read() as connection:
            return newest_executions(connection, "run", runs, at, only="any")

    def plan_spans(self, logical_plans: Collection[str], at: int | None) -> tuple[PlanSpan, ...]:
        """Per logical plan and state of its executions their number, the first and the last.

        From one index.
        """
        rows = self._rows_for(_plan_spans(), logical_plans, at)
        return tuple(sorted(PlanSpan(*row) for row in rows))

    def newest_event(self, at: int | None) -> int | None:
        """The greatest ``ExecutionRow.at`` considered: the ``asOf`` of an answer."""
        newest: int | None
        with self._read() as connection:
            ((newest,),) = rows_of(connection, _newest_event(), at_values((), at))
        return newest

    def written_by(self, job: str, runs: Collection[str]) -> frozenset[tuple[str, str]]:
        """(target, application id) of every write of these runs of a job."""
        own = executions.c
        asked = sa.select(own.target, application_of(own)).distinct()
        with self._read() as connection:
            chosen = (own.job == job, own.run.in_(names_of_runs(connection, runs)))
            pairs = connection.execute(asked.where(*chosen))
            return frozenset((target, name) for target, name in pairs)

    def seen(self, datasets: Collection[str], at: int) -> frozenset[str]:
        """The datasets among these that existed by then (the module says when)."""
        existing: set[str] = set()
        with self._read() as connection:
            for chunk in chunks(sorted(set(datasets))):
                asked = sa.select(_DATASET).where(_DATASET.in_(chunk), *dataset_existed(at))
                existing.update(connection.execute(asked).scalars())
        return frozenset(existing)


_DATASET: Final = datasets.c.id
_PARTITIONS: Final = prepared(sa.select(partitions).where(is_input(partitions.c.execution)))


def _equal(**given: str | None) -> list[sa.ColumnElement[bool]]:
    """The conditions that columns of an execution have these values; None sets none."""
    return [executions.c[name] == value for name, value in given.items() if value is not None]


def _page(
    chosen: Iterable[sa.ColumnElement[bool]], limit: int, cursor: str | None
) -> sa.Select[Any]:
    """The statement behind a page of executions, newest first."""
    columns = executions.c
    asked = sa.select(executions).where(*chosen)
    if cursor is not None:
        at, last = read_cursor(cursor, EXECUTIONS, int, str)
        # The first condition bounds the walk over the index, the second cuts within one time.
        asked = asked.where(columns.at <= at, sa.or_(columns.at < at, columns.id < last))
    return asked.order_by(columns.at.desc(), columns.id.desc()).limit(limit)


def _modes() -> sa.CTE:
    each = (sa.literal(mode, StoredText()).label("value") for mode in labels.EXECUTION_MODES)
    return sa.union_all(*map(sa.select, each)).cte("modes")


@made_once
def _writers(main: bool) -> sa.Select[Any]:
    inner, outer = executions.alias("listed").c, executions.alias("seen").c
    pairs = pairs_from(
        inner.target, inner.logical_plan, input_column(), *successful(inner, writes_only=True)
    )
    modes = _modes()
    latest = (
        sa.select(sa.func.max(outer.at))
        .where(
            outer.target == pairs.c.first,
            *(wrote_main(outer) if main else successful(outer, writes_only=True)),
            outer.logical_plan == pairs.c.second,
            outer.mode == modes.c.value,
            until_input(outer.at),
        )
        .scalar_subquery()
    )
    newest = (
        sa.select(pairs.c.first, pairs.c.second, modes.c.value, latest.label("latest"))
        .select_from(pairs.join(modes, sa.true()))
        .where(pairs.c.second.is_not(None))
        .cte("writers")
        .prefix_with(MATERIALIZED)
    )
    return sa.select(newest).where(newest.c.latest.is_not(None))


@made_once
def _tried(state: str) -> sa.Select[Any]:
    inner, outer = executions.alias("listed").c, executions.alias("seen").c
    is_write = (inner.kind == labels.WRITE_KIND, inner.state == state)
    pairs = pairs_from(inner.target, inner.logical_plan, input_column(), *is_write)
    attempt = sa.select(outer.id).where(
        outer.target == pairs.c.first,
        outer.kind == labels.WRITE_KIND,
        outer.state == state,
        outer.logical_plan == pairs.c.second,
        outer.mode.in_(labels.EXECUTION_MODES),  # a seek for each in the index of writers
        until_input(outer.at),
    )
    plan = logical_plans.c
    asked = sa.select(plan.job).join_from(pairs, logical_plans, plan.id == pairs.c.second)
    return asked.where(attempt.exists()).distinct()


@made_once
def _times_of_writes() -> sa.Select[Any]:
    asked, seen = input_column(), executions.alias("seen").c

    def newest(place: int) -> Any:
        times = sa.select(seen.at).where(
            seen.target == asked.c.value,
            *wrote_main(seen),
            until_input(seen.at),
        )
        return times.order_by(seen.at.desc()).limit(1).offset(place).scalar_subquery()

    return sa.select(asked.c.value, newest(0).label("newest"), newest(1).label("second"))


def last_states_of(
    connection: Connection, jobs: Collection[str], at: int | None, now: int
) -> dict[str, tuple[int, str, str]]:
    """``CatalogueReader.last_states``."""
    rows = rows_for(connection, _last_states(), jobs, at, now=now if at is None else at)
    return {job: (time, state, producer) for job, time, state, producer in rows}


_NOW: Final = sa.bindparam("now", type_=sa.BigInteger(), required=True)


@made_once
def _states() -> sa.Select[Any]:
    own = executions.c
    return sa.select(own.id, shown_state(own, _NOW)).where(is_input(own.id))


@made_once
def _last_states() -> sa.Select[Any]:
    asked, own = input_column(), executions.c
    newest = newest_id("job", asked, "any")
    return sa.select(asked.c.value, own.at, state_of_run(own, _NOW), own.producer).join_from(
        asked, executions, own.id == newest
    )


@made_once
def _plan_spans() -> sa.Select[Any]:
    own = executions.c
    return (
        sa.select(
            own.logical_plan, own.state, sa.func.count(), sa.func.min(own.at), sa.func.max(own.at)
        )
        .where(is_input(own.logical_plan), until_input(own.at))
        .group_by(own.logical_plan, own.state)
    )


@made_once
def _newest_event() -> sa.Select[Any]:
    return sa.select(sa.func.max(executions.c.at)).where(until_input(executions.c.at))


@made_once
def _times_of_runs(count: int) -> sa.CompoundSelect[Any]:
    own = executions.c
    chosen = sa.select(own.job, own.run, own.at)
    return _all_of([_newest_of_job(chosen, place) for place in range(count)])


@made_once
def _oldest_of_newest_runs() -> sa.Select[Any]:
    own = executions.c
    run, newest = run_of(own).label("run"), sa.func.max(own.at)
    newest_runs = (
        sa.select(run, sa.func.min(own.at).label("oldest"))
        .where(own.job == _job())
        .group_by(run)
        .order_by(newest.desc(), run.desc())
        .limit(sa.bindparam("runs", type_=sa.Integer(), required=True))
        .subquery("newest_runs")
    )
    return sa.select(sa.func.min(newest_runs.c.oldest))


@made_once
def _time_at_place() -> sa.Select[Any]:
    """The time of a job's execution after ``passed`` newer ones; no row where the job has fewer."""
    own = executions.c
    passed = sa.bindparam("passed", type_=sa.Integer(), required=True)
    times = sa.select(own.at).where(own.job == _job())
    return times.order_by(own.at.desc()).limit(1).offset(passed)


@made_once
def _executions_of_runs(count: int) -> sa.CompoundSelect[Any]:
    """A seek for each run, so that the other runs of its job cost nothing."""
    chosen = sa.select(executions)
    return _all_of(
        [
            _newest_of_job(chosen.where(executions.c.run == _id_at("run", place)), place)
            for place in range(count)
        ]
    )


def _newest_of_job(chosen: sa.Select[Any], place: int) -> sa.Select[Any]:
    """The newest executions of the job that one parameter names, as many as ``limit`` says."""
    own = executions.c
    limit = sa.bindparam("limit", type_=sa.Integer(), required=True)
    newest = chosen.where(own.job == _id_at("job", place))
    return newest.order_by(own.at.desc(), own.id.desc()).limit(limit)


def _all_of(seeks: Iterable[sa.Select[Any]]) -> sa.CompoundSelect[Any]:
    """The rows of all of them in one statement, each with its own order and limit."""
    return sa.union_all(*(sa.select(seek.subquery(f"seek_{n}")) for n, seek in enumerate(seeks)))


def _numbered_parameters(name: str, values: Sequence[str]) -> dict[str, Any]:
    """``job`` and (a, b) => {"job_0": a, "job_1": b}."""
    return {f"{name}_{place}": value for place, value in enumerate(values)}


def _id_at(name: str, place: int) -> sa.BindParameter[str]:
    return sa.bindparam(f"{name}_{place}", type_=StoredId(), required=True)


def _job() -> sa.BindParameter[str]:
    return sa.bindparam("job", type_=StoredId(), required=True)


Only = Literal["any", "completed", "writes", "main"]
"""The executions that count: all, the completed ones, the completed writes, or the completed writes
of the main branch of their table.
"""


def newest_executions(
    connection: Connection,
    column: str,
    values: Collection[str],
    at: int | None,
    *,
    only: Only,
    hidden: Collection[str] = (),
) -> dict[str, ExecutionRow]:
    """Per value of the column its newest execution by (at, id), among those that count and are not
    of a ``hidden`` job (an id).
    """
    asked = _newest_executions(column, only, is_hiding=bool(hidden))
    rows = rows_for(connection, asked, values, at, **({"hidden": hidden} if hidden else {}))
    newest = {row[-1]: ExecutionRow(*row[:-1]) for row in rows}
    return dict(zip(newest, under_applications(connection, newest.values()), strict=True))


@made_once
def _newest_executions(column: str, only: Only, *, is_hiding: bool) -> sa.Select[Any]:
    asked = input_column()
    newest = newest_id(column, asked, only, is_hiding=is_hiding)
    return sa.select(executions, asked.c.value).join_from(
        asked, executions, executions.c.id == newest
    )


def newest_id(column: str, asked: sa.CTE, only: Only, *, is_hiding: bool = False) -> Any:
    """The id of the newest execution of each given value, as a subquery; ``is_hiding``: of a job
    that is none of those in the parameter ``hidden``.
    """
    seen = executions.alias("seen").c
    chosen = (*_condition_of(seen, only), *excluding_hidden(seen.job, is_hiding))
    return (
        sa.select(seen.id)
        .where(seen[column] == asked.c.value, *chosen, until_input(seen.at))
        .order_by(seen.at.desc(), seen.id.desc())
        .limit(1)
        .scalar_subquery()
    )


def _condition_of(of: Any, only: Only) -> tuple[sa.ColumnElement[bool], ...]:
    if only == "main":
        return wrote_main(of)
    return () if only == "any" else successful(of, writes_only=only == "writes")


def wrote_main(of: Any) -> tuple[sa.ColumnElement[bool], ...]:
    """A write to another branch is none of the table until the branch is published."""
    return (*successful(of, writes_only=True), of.branch == MAIN_BRANCH)


@made_once
def _first_failures() -> sa.Select[Any]:
    """A seek for each job."""
    asked = input_table((("job", StoredId()), ("after", sa.BigInteger())))
    seen = executions.alias("seen").c
    failed = (seen.state != labels.COMPLETED, seen.state == labels.FAILED)  # the index, and of it
    first = sa.select(sa.func.min(seen.at)).where(
        seen.job == asked.c.job, *failed, seen.at > asked.c.after
    )
    return sa.select(asked.c.job, first.correlate(asked).scalar_subquery())


@made_once
def _newest_writes() -> sa.Select[Any]:
    """Of each target the newest write, ``others`` more, and what is as old as the last of them."""
    asked, seen, row = input_column(), executions.alias("seen").c, executions.alias("listed")
    oldest = (
        sa.select(seen.at)
        .where(seen.target == asked.c.value, *wrote_main(seen), ~seen.running)
        .order_by(seen.at.desc())
        .limit(1)
        .offset(sa.bindparam("others", type_=sa.BigInteger(), required=True))
        .scalar_subquery()
    )
    since = sa.func.coalesce(oldest, BEFORE_EVERYTHING).label("since")
    bounds = sa.select(asked.c.value, since).cte("bounds").prefix_with(MATERIALIZED)
    newest = (row.c.target == bounds.c.value, row.c.at >= bounds.c.since)
    return sa.select(row).join_from(
        bounds, row, sa.and_(*newest, *wrote_main(row.c), ~row.c.running)
    )


Condition = sa.ColumnElement[bool]


def dataset_existed(at: int | None) -> tuple[Condition, ...]:
    """The condition that a dataset existed, for ``where(*…)``; none for the end of time."""
    if at is None:
        return ()
    return (sa.or_(_dataset_reported(at), sa.not_(_dataset_reported(None))),)


def job_existed(at: int | None) -> tuple[Condition, ...]:
    """The condition that a job existed, for ``where(*…)``; none for the end of time."""
    if at is None:
        return ()
    return (sa.or_(_job_reported(at), sa.not_(_job_reported(None))),)


def _dataset_reported(at: int | None) -> Condition:
    key, uses = datasets.c.id, schema_uses.c
    used = (
        sa.select(sa.literal(1))
        .select_from(schema_uses.join(executions, executions.c.logical_plan == uses.logical_plan))
        .where(uses.dataset == key, *until(executions.c.at, at))
    )
    return sa.or_(
        _reported(executions, executions.c.target == key, executions.c.at, at),
        used.exists(),
        _reported(names, names.c.name == key, names.c.at, at),
        _reported(names, names.c.location == key, names.c.at, at),
        _reported(facets, facets.c.entity == key, facets.c.at, at),
    )


def _job_reported(at: int | None) -> Condition:
    return sa.or_(
        _reported(executions, executions.c.job == jobs.c.id, executions.c.at, at),
        _reported(runs, runs.c.job == jobs.c.id, runs.c.started_at, at),
    )


def _reported(table: sa.Table, own: Condition, column: Any, at: int | None) -> Condition:
    return sa.select(sa.literal(1)).select_from(table).where(own, *until(column, at)).exists()
