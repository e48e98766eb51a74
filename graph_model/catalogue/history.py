"""Questions asked at a time: who wrote, which execution was newest, what a name stood for.

Every function takes ``at``, epoch milliseconds or None for the end of time, and looks only at
executions and observations at or before it. What is asked for in bulk is answered by one seek in
an index for each answer, not by a walk over the history: a table that was overwritten a million
times by one plan has one writer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final, Literal, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from graph_model import labels
from graph_model.catalogue.applications import names_of_runs, under_applications
from graph_model.catalogue.asked import (
    AT_ONCE,
    asked_column,
    asked_table,
    asked_values,
    at_values,
    is_asked,
    made_once,
    prepared,
    until_asked,
)
from graph_model.catalogue.tables import (
    STORAGES,
    columns,
    execution_plans,
    executions,
    names,
    partitions,
    renames,
    schema_uses,
    schemas,
    supports,
)
from graph_model.cursors import checked_limit, read_cursor, write_cursor
from graph_model.database import Prepared, StoredText, chunks
from graph_model.facts import (
    ColumnRow,
    ExecutionPlanRow,
    ExecutionRow,
    NameRow,
    PartitionRow,
    RenameRow,
)
from graph_model.store import Page, Writer

KIND_WRITE: Final = "write"
_CURSOR: Final = "executions"

#: Rows of a kind by their ids, see ``at_values``.
BY_IDS: Final[dict[type[Any], Prepared]] = {
    storage.row: prepared(sa.select(*storage.fields).where(is_asked(storage.table.c.id)))
    for storage in STORAGES
    if storage.key == ("id",)
}


def until(column: sa.ColumnElement[int], at: int | None) -> tuple[sa.ColumnElement[bool], ...]:
    """The condition that a time sets, for ``where(*until(…))``."""
    return () if at is None else (column <= at,)


def successful(of: Any, *, writes_only: bool) -> tuple[sa.ColumnElement[bool], ...]:
    """The condition that an execution (``of``: columns of the table or an alias) has worked."""
    completed = of.state == labels.COMPLETED
    return (of.kind == KIND_WRITE, completed) if writes_only else (completed,)


def pairs_from(
    first: sa.ColumnElement[str],
    second: sa.ColumnElement[str],
    start: sa.CTE,
    *conditions: sa.ColumnElement[bool],
    name: str = "pairs",
) -> sa.CTE:
    """Each ``value`` of ``start`` with every ``second`` beside it; the last one is null.

    A loose index scan: from one ``second`` the next is found by a seek, however many rows hold it.
    """

    def least(of: sa.ColumnElement[str], *more: sa.ColumnElement[bool]) -> Any:
        return (
            sa.select(sa.func.min(second)).where(first == of, *conditions, *more).scalar_subquery()
        )

    pairs = sa.select(start.c.value.label("first"), least(start.c.value).label("second")).cte(
        name, recursive=True
    )
    return pairs.union_all(
        sa.select(pairs.c.first, least(pairs.c.first, second > pairs.c.second)).where(
            pairs.c.second.is_not(None)
        )
    )


# --- columns -------------------------------------------------------------------------------------

_COLUMN: Final = (("dataset", StoredText()), ("path", StoredText()))


def fields(connection: Connection, of: Collection[tuple[str, str]]) -> list[ColumnRow]:
    """See ``store.Catalogue``. A seek for each column asked for."""
    found: set[ColumnRow] = set()
    for chunk in chunks(set(of), AT_ONCE):
        rows = _fields().rows(connection, asked_values(chunk))
        found.update(ColumnRow(*row) for row in rows)
    return sorted(found)


def columns_of(
    connection: Connection, datasets: Collection[str], limit: int
) -> Iterator[ColumnRow]:
    """See ``store.Catalogue``."""
    for chunk in chunks(sorted(set(datasets)), AT_ONCE):
        if limit <= 0:
            return
        asked = at_values(chunk) | {"most": limit}
        for row in _columns_of().rows(connection, asked):
            limit -= 1
            yield ColumnRow(*row)


@made_once
def _columns_of() -> sa.Select[Any]:
    column = columns.c
    return (
        sa.select(column.id, column.dataset, column.path)
        .where(is_asked(column.dataset))
        .order_by(column.dataset, column.path)
        .limit(sa.bindparam("most", type_=sa.BigInteger(), required=True))
    )


@made_once
def _fields() -> sa.Select[Any]:
    asked, column = asked_table(_COLUMN), columns.c
    return sa.select(column.id, column.dataset, column.path).join_from(
        asked,
        columns,
        sa.and_(
            column.dataset == asked.c.dataset,
            column.path > asked.c.path.concat("."),
            column.path < asked.c.path.concat("/"),  # what stands right behind the dot
        ),
    )


# --- executions ----------------------------------------------------------------------------------


def writers(connection: Connection, targets: Collection[str], at: int | None) -> list[Writer]:
    """Per (target, logical plan, mode) the newest successful write."""
    found = []
    for chunk in chunks(sorted(set(targets)), AT_ONCE):
        rows = _writers().rows(connection, at_values(chunk, at))
        for target, logical_plan, mode, latest in rows:
            if latest is not None:
                found.append(Writer(target, logical_plan, mode, latest))
    return sorted(found)


def _modes() -> sa.CTE:
    each = (sa.literal(mode, StoredText()).label("value") for mode in labels.EXECUTION_MODES)
    return sa.union_all(*map(sa.select, each)).cte("modes")


@made_once
def _writers() -> sa.Select[Any]:
    inner, outer = executions.alias("listed").c, executions.alias("seen").c
    pairs = pairs_from(
        inner.target, inner.logical_plan, asked_column(), *successful(inner, writes_only=True)
    )
    modes = _modes()
    latest = (
        sa.select(sa.func.max(outer.at))
        .where(
            outer.target == pairs.c.first,
            *successful(outer, writes_only=True),
            outer.logical_plan == pairs.c.second,
            outer.mode == modes.c.value,
            until_asked(outer.at),
        )
        .scalar_subquery()
    )
    return (
        sa.select(pairs.c.first, pairs.c.second, modes.c.value, latest)
        .select_from(pairs.join(modes, sa.true()))
        .where(pairs.c.second.is_not(None))
    )


def list_executions(
    connection: Connection,
    criteria: dict[str, str],
    at: int | None,
    limit: int,
    cursor: str | None,
) -> Page[ExecutionRow]:
    """Newest first by (at, id); ``criteria`` are columns and their values."""
    columns = executions.c
    chosen = [_is(connection, name, value) for name, value in sorted(criteria.items())]
    chosen += until(columns.at, at)
    asked = execution_page(chosen, checked_limit(limit) + 1, cursor)
    rows = under_applications(connection, [ExecutionRow(*row) for row in connection.execute(asked)])
    counted = sa.select(sa.func.count()).select_from(executions).where(*chosen)
    total = connection.execute(counted).scalar_one()
    more = len(rows) > limit
    last = rows[limit - 1] if more else None
    following = None if last is None else write_cursor(_CURSOR, last.at, last.id)
    return Page(tuple(rows[:limit]), total, following)


def _is(connection: Connection, name: str, value: str) -> sa.ColumnElement[bool]:
    if name == "run":
        return executions.c.run.in_(names_of_runs(connection, (value,)))
    return executions.c[name] == value


def has_execution(
    connection: Connection, criteria: dict[str, str], since: int, before: int
) -> bool:
    """Whether one is stored so; ``criteria`` are columns and their values."""
    columns = executions.c
    chosen = [columns[name] == value for name, value in sorted(criteria.items())]
    asked = sa.select(columns.id).where(*chosen, columns.at >= since, columns.at < before)
    return connection.execute(asked.limit(1)).first() is not None


def execution_page(
    chosen: Iterable[sa.ColumnElement[bool]], limit: int, cursor: str | None
) -> sa.Select[Any]:
    """The statement behind a page of executions, newest first."""
    columns = executions.c
    asked = sa.select(executions).where(*chosen)
    if cursor is not None:
        at, last = read_cursor(cursor, _CURSOR, int, str)
        # The first condition bounds the walk over the index, the second cuts within one time.
        asked = asked.where(columns.at <= at, sa.or_(columns.at < at, columns.id < last))
    return asked.order_by(columns.at.desc(), columns.id.desc()).limit(limit)


Only = Literal["any", "completed", "writes"]
"""Which executions count: all, those that have worked, those that have worked and written."""


def newest_executions(
    connection: Connection,
    column: str,
    values: Collection[str],
    at: int | None,
    *,
    only: Only,
) -> dict[str, ExecutionRow]:
    """Per value of the column its newest execution by (at, id), of those that ``only`` leaves."""
    found: dict[str, ExecutionRow] = {}
    for chunk in chunks(sorted(set(values)), AT_ONCE):
        for row in _newest_executions(column, only).rows(connection, at_values(chunk, at)):
            found[row[-1]] = ExecutionRow(*row[:-1])
    return dict(zip(found, under_applications(connection, found.values()), strict=True))


def last_writes(connection: Connection, targets: Collection[str], at: int | None) -> dict[str, int]:
    """Per target the time of its newest completed write: from an index alone."""
    found = _two_newest(connection, targets, at)
    return {target: newest for target, newest, _ in found if newest is not None}


def lone_last_writes(
    connection: Connection, targets: Collection[str], at: int | None, apart: int
) -> dict[str, int | None]:
    """See ``store.Catalogue``."""
    return {
        target: newest
        for target, newest, second in _two_newest(connection, targets, at)
        if newest is None or second is None or second < newest - apart
    }


def _two_newest(
    connection: Connection, targets: Collection[str], at: int | None
) -> Iterator[tuple[Any, ...]]:
    """Per target the times of its newest completed write and of the one before."""
    for chunk in chunks(sorted(set(targets)), AT_ONCE):
        yield from _times_of_writes().rows(connection, at_values(chunk, at))


@made_once
def _times_of_writes() -> sa.Select[Any]:
    asked, seen = asked_column(), executions.alias("seen").c

    def newest(place: int) -> Any:
        times = sa.select(seen.at).where(
            seen.target == asked.c.value,
            *successful(seen, writes_only=True),
            until_asked(seen.at),
        )
        return times.order_by(seen.at.desc()).limit(1).offset(place).scalar_subquery()

    return sa.select(asked.c.value, newest(0).label("newest"), newest(1).label("second"))


def last_states(
    connection: Connection, jobs: Collection[str], at: int | None
) -> dict[str, tuple[int, str]]:
    """See ``store.Catalogue``."""
    found: dict[str, tuple[int, str]] = {}
    for chunk in chunks(sorted(set(jobs)), AT_ONCE):
        for job, time, state in _last_states().rows(connection, at_values(chunk, at)):
            found[job] = time, state
    return found


@made_once
def _last_states() -> sa.Select[Any]:
    asked, own = asked_column(), executions.c
    newest = newest_id("job", asked, "any")
    return sa.select(asked.c.value, own.at, own.state).join_from(
        asked, executions, own.id == newest
    )


@made_once
def _newest_executions(column: str, only: Only) -> sa.Select[Any]:
    asked = asked_column()
    newest = newest_id(column, asked, only)
    return sa.select(executions, asked.c.value).join_from(
        asked, executions, executions.c.id == newest
    )


def newest_id(column: str, asked: sa.CTE, only: Only) -> Any:
    """The id of the newest execution of each value asked for, as a subquery."""
    seen = executions.alias("seen").c
    conditions = () if only == "any" else successful(seen, writes_only=only == "writes")
    return (
        sa.select(seen.id)
        .where(seen[column] == asked.c.value, *conditions, until_asked(seen.at))
        .order_by(seen.at.desc(), seen.id.desc())
        .limit(1)
        .scalar_subquery()
    )


_PARTITIONS: Final = prepared(sa.select(partitions).where(is_asked(partitions.c.execution)))


def partitions_of(connection: Connection, ids: Collection[str]) -> list[PartitionRow]:
    """The partitions that these executions touched."""
    found = []
    for chunk in chunks(sorted(set(ids)), AT_ONCE):
        found += [PartitionRow(*row) for row in _PARTITIONS.rows(connection, at_values(chunk))]
    return sorted(found)


def newest_event(connection: Connection, at: int | None) -> int | None:
    """The greatest time of an execution."""
    newest: int | None
    ((newest,),) = _newest_event().rows(connection, at_values((), at))
    return newest


@made_once
def _newest_event() -> sa.Select[Any]:
    return sa.select(sa.func.max(executions.c.at)).where(until_asked(executions.c.at))


# --- plans ---------------------------------------------------------------------------------------


def list_execution_plans(
    connection: Connection, column: str, value: str, limit: int
) -> list[ExecutionPlanRow]:
    """By their newest execution, those without one last, then by id."""
    plans = execution_plans.c
    latest = (
        sa.select(sa.func.max(executions.c.at))
        .where(executions.c.plan_id == plans.plan_id, executions.c.execution_plan == plans.id)
        .scalar_subquery()
        .label("latest")
    )
    asked = (
        sa.select(execution_plans, latest)
        .where(plans[column] == value)
        .order_by(latest.is_(None), latest.desc(), plans.id)
        .limit(checked_limit(limit))
    )
    return [ExecutionPlanRow(*row[:-1]) for row in connection.execute(asked)]


def supporters(connection: Connection, logical_plan: str, limit: int) -> list[str]:
    """Subjects that support a logical plan, in their order."""
    asked = (
        sa.select(supports.c.subject)
        .where(supports.c.logical_plan == logical_plan)
        .order_by(supports.c.subject)
        .limit(limit)
    )
    return list(connection.execute(asked).scalars())


# --- names ---------------------------------------------------------------------------------------


def names_of(connection: Connection, locations: Collection[str], at: int | None) -> list[NameRow]:
    """Per location and name the newest observation; of several at one time the greatest id."""
    found = []
    for chunk in chunks(sorted(set(locations)), AT_ONCE):
        found += [NameRow(*row) for row in _names_of().rows(connection, at_values(chunk, at))]
    return sorted(found)


@made_once
def _names_of() -> sa.Select[Any]:
    inner, outer = names.alias("listed").c, names.alias("seen").c
    pairs = pairs_from(inner.location, inner.name, asked_column())
    latest = (
        sa.select(sa.func.max(outer.at))
        .where(
            outer.location == pairs.c.first,
            outer.name == pairs.c.second,
            until_asked(outer.at),
        )
        .scalar_subquery()
    )
    newest = sa.select(pairs.c.first, pairs.c.second, latest.label("at")).cte("newest")
    columns = names.c
    return (
        sa.select(columns.name, columns.location, sa.func.max(columns.execution), columns.at)
        .join_from(
            newest,
            names,
            sa.and_(
                columns.location == newest.c.first,
                columns.name == newest.c.second,
                columns.at == newest.c.at,
            ),
        )
        .group_by(columns.name, columns.location, columns.at)
    )


def renames_of(
    connection: Connection, datasets: Collection[str], at: int | None
) -> list[RenameRow]:
    """Per dataset the newest rename that took its name away, and the newest that gave it one."""
    found: set[RenameRow] = set()
    for chunk in chunks(sorted(set(datasets)), AT_ONCE):
        for column in ("former", "current"):
            rows = _renames_of(column).rows(connection, at_values(chunk, at))
            found.update(RenameRow(*row) for row in rows)
    return sorted(found)


@made_once
def _renames_of(column: str) -> sa.Select[Any]:
    asked, seen, row = asked_column(), renames.alias("seen").c, renames.c
    newest = (
        sa.select(sa.func.max(seen.at))
        .where(seen[column] == asked.c.value, until_asked(seen.at))
        .scalar_subquery()
    )
    told = sa.and_(row[column] == asked.c.value, row.at == newest)
    return sa.select(renames).join_from(asked, renames, told)


def renames_by(connection: Connection, executions_of: Collection[str]) -> list[RenameRow]:
    found: set[RenameRow] = set()
    for chunk in chunks(sorted(set(executions_of)), AT_ONCE):
        found.update(RenameRow(*row) for row in _renames_by().rows(connection, at_values(chunk)))
    return sorted(found)


@made_once
def _renames_by() -> sa.Select[Any]:
    return sa.select(renames).where(is_asked(renames.c.execution))


def location_of(connection: Connection, name: str, at: int | None) -> str | None:
    """The location last observed at or before ``at``, else the first one ever observed."""
    order = (names.c.at, names.c.execution, names.c.location)
    asked = sa.select(names.c.location).where(names.c.name == name).limit(1)
    last = asked.where(*until(names.c.at, at)).order_by(*(column.desc() for column in order))
    found: str | None = connection.execute(last).scalar()
    if found is None and at is not None:
        found = connection.execute(asked.order_by(*order)).scalar()
    return found


def names_around(connection: Connection, asked: Collection[str]) -> frozenset[tuple[str, str]]:
    """See ``store.Catalogue``."""
    found: set[tuple[str, str]] = set()
    for chunk in chunks(set(asked), AT_ONCE):
        rows = _names_around().rows(connection, at_values(chunk))
        found.update((name, location) for name, location in rows)
    return frozenset(found)


@made_once
def _names_around() -> sa.Select[Any]:
    return _pairs_around(asked_column())


def _pairs_around(asked: sa.CTE) -> sa.Select[Any]:
    """What stood for those asked for, then every place of these names and of those asked for."""
    seen = names.alias("seen").c
    standing = pairs_from(seen.location, seen.name, asked, name="standing").c
    called = sa.union_all(
        sa.select(asked.c.value),
        sa.select(standing.second.label("value")).where(standing.second.is_not(None)),
    ).cte("called")
    pairs = pairs_from(names.c.name, names.c.location, called)
    return sa.select(pairs.c.first, pairs.c.second).where(pairs.c.second.is_not(None))


# --- schemas -------------------------------------------------------------------------------------


class _Use(NamedTuple):
    """A SchemaUseRow with the newest execution of its plan at a time, and at any."""

    logical_plan: str
    dataset: str
    schema: str
    role: str
    latest: int | None
    ever: int | None


def newest_schema_ids(
    connection: Connection, datasets: Collection[str], at: int | None
) -> dict[str, str]:
    """Per dataset the id of the schema that the newest successful execution used (see ``store``).

    Equal times and roles are told apart by the ids of the plan and of the schema, greatest first.
    """
    chosen: dict[str, str] = {}
    if at is None:
        chosen = _only_schemas(connection, datasets)
    for chunk in chunks(sorted(set(datasets) - chosen.keys()), AT_ONCE):
        uses: dict[str, list[_Use]] = {}
        for use in map(_Use._make, _schema_uses().rows(connection, at_values(chunk, at))):
            uses.setdefault(use.dataset, []).append(use)
        for dataset, candidates in uses.items():
            schema = _newest_schema(candidates)
            if schema is not None:
                chosen[dataset] = schema
    return chosen


def _only_schemas(connection: Connection, datasets: Collection[str]) -> dict[str, str]:
    """The schemas of those that have only one, whoever used it and when."""
    found: dict[str, set[str]] = {}
    for chunk in chunks(sorted(set(datasets)), AT_ONCE):
        for dataset, schema in _used_schemas().rows(connection, at_values(chunk)):
            found.setdefault(dataset, set()).add(schema)
    return {dataset: min(schemas) for dataset, schemas in found.items() if len(schemas) == 1}


@made_once
def _used_schemas() -> sa.Select[Any]:
    """Datasets with the schemas that are known of them."""
    uses = schema_uses.c
    return (
        sa.select(uses.dataset, uses.schema)
        .distinct()
        .join_from(schema_uses, schemas, schemas.c.id == uses.schema)
        .where(is_asked(uses.dataset))
    )


@made_once
def _schema_uses() -> sa.Select[Any]:
    """The uses of schemas that are known, each with the time of its plan's newest execution."""
    uses = schema_uses.c

    def newest(*limit: sa.ColumnElement[bool]) -> Any:
        seen = executions.c
        return (
            sa.select(sa.func.max(seen.at))
            .where(
                seen.logical_plan == uses.logical_plan,
                *successful(seen, writes_only=False),
                *limit,
            )
            .scalar_subquery()
        )

    latest = newest(until_asked(executions.c.at)).label("latest")
    return (
        sa.select(schema_uses, latest, newest().label("ever"))
        .join_from(schema_uses, schemas, schemas.c.id == uses.schema)
        .where(is_asked(uses.dataset))
    )


def _newest_schema(uses: list[_Use]) -> str | None:
    seen = [use for use in uses if use.latest is not None]
    if not seen and any(use.ever is not None for use in uses):
        return None  # at that time nobody had used it yet
    best = max(
        seen or uses,
        key=lambda use: (
            -1 if use.latest is None else use.latest,
            use.role == labels.WRITE if seen else False,
            use.logical_plan,
            use.role == labels.WRITE,
            use.schema,
        ),
    )
    return best.schema
