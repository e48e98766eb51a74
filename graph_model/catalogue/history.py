"""Questions asked at a time: who wrote, which execution was newest, what a name stood for.

Every function takes ``at``, epoch milliseconds or None for the end of time, and looks only at
executions and observations at or before it. What is asked for in bulk is answered by one seek in
an index for each answer, not by a walk over the history: a table that was overwritten a million
times by one plan has one writer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Any, Final, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from graph_model import labels
from graph_model.catalogue.tables import (
    STORAGES,
    execution_plans,
    executions,
    names,
    partitions,
    schema_uses,
    schemas,
    supports,
)
from graph_model.cursors import checked_limit, read_cursor, write_cursor
from graph_model.database import CHUNK, StoredText, chunks
from graph_model.facts import (
    ExecutionPlanRow,
    ExecutionRow,
    NameRow,
    PartitionRow,
    SchemaRow,
)
from graph_model.store import Page, Writer

KIND_WRITE: Final = "write"
_CURSOR: Final = "executions"
_SIZES: Final = (1, 3, 10, 30, 100, CHUNK)
_END_OF_TIME: Final = 2**63 - 1
_VALUE: Final = (("value", StoredText()),)

#: Rows of a kind by their ids, the parameter ``ids``: statements made once are compiled once.
BY_IDS: Final[dict[type[Any], sa.Select[Any]]] = {
    storage.row: sa.select(*storage.fields).where(
        storage.table.c.id.in_(sa.bindparam("ids", expanding=True))
    )
    for storage in STORAGES
    if storage.key == ("id",)
}


def until(column: sa.ColumnElement[int], at: int | None) -> tuple[sa.ColumnElement[bool], ...]:
    """The condition that a time sets, for ``where(*until(…))``."""
    return () if at is None else (column <= at,)


def given(values: Sequence[str], name: str = "given") -> sa.CTE:
    """The values (one at least) as a table with one column, ``value``.

    Written as text because SQLAlchemy compiles its own VALUES anew for every call, and repeated up
    to a few sizes because it keeps what it compiled by the number of values: for a handful of
    values that takes longer than the database does.
    """
    size = next(size for size in _SIZES if size >= len(values))
    padded = [*values, *[values[0]] * (size - len(values))]
    keys = [f"{name}_{number}" for number in range(size)]
    rows = ", ".join(f"(:{key})" for key in keys)
    binds = [
        sa.bindparam(key, value, StoredText()) for key, value in zip(keys, padded, strict=True)
    ]
    # Only the names of parameters are put into the text; both engines call the column column1.
    text = sa.text(f"SELECT DISTINCT column1 AS value FROM (VALUES {rows}) AS t")  # noqa: S608
    return text.bindparams(*binds).columns(sa.column("value", StoredText())).cte(name)


Column = tuple[str, Any]
"""The name and the type of a column of what is asked."""


def asked_table(size: int, types: Sequence[Column]) -> sa.CTE:
    """So many rows of parameters as a table ``asked``, each once; see ``asked_values``."""
    lines, binds = [], []
    for number in range(size):
        keys = [f"asked_{number}_{name}" for name, _ in types]
        lines.append(f"({', '.join(f':{key}' for key in keys)})")
        binds += [
            sa.bindparam(key, type_=kind, required=True)
            for key, (_, kind) in zip(keys, types, strict=True)
        ]
    listed = ", ".join(f"column{n} AS {name}" for n, (name, _) in enumerate(types, 1))
    # Only the names of parameters and columns are put into the text.
    text = sa.text(f"SELECT DISTINCT {listed} FROM (VALUES {', '.join(lines)}) AS t")  # noqa: S608
    columns = [sa.column(name, kind) for name, kind in types]
    return text.bindparams(*binds).columns(*columns).cte("asked")


def asked_size(count: int) -> int:
    """How many rows a table of ``count`` rows is padded to: few sizes, so few statements."""
    return next(size for size in _SIZES if size >= count)


def asked_values(rows: Sequence[Sequence[Any]], types: Sequence[Column]) -> dict[str, Any]:
    """The parameters of ``asked_table``; the first row stands for what is missing."""
    padded = [*rows, *[rows[0]] * (asked_size(len(rows)) - len(rows))]
    return {
        f"asked_{number}_{name}": value
        for number, row in enumerate(padded)
        for (name, _), value in zip(types, row, strict=True)
    }


def at_values(values: Sequence[str], at: int | None = None) -> dict[str, Any]:
    """The parameters of a statement made once: for ``asked_column`` and ``until_asked``."""
    rows = [(value,) for value in values]
    return asked_values(rows, _VALUE) | {"until": _END_OF_TIME if at is None else at}


def asked_column(size: int) -> sa.CTE:
    """So many values as a table with one column, ``value``."""
    return asked_table(size, _VALUE)


def until_asked(column: sa.ColumnElement[int]) -> sa.ColumnElement[bool]:
    """The condition that a time sets which is a parameter."""
    return column <= sa.bindparam("until", type_=sa.BigInteger(), required=True)


def successful(of: Any, *, writes_only: bool) -> tuple[sa.ColumnElement[bool], ...]:
    """The condition that an execution (``of``: columns of the table or an alias) has worked."""
    completed = of.state == labels.COMPLETED
    return (of.kind == KIND_WRITE, completed) if writes_only else (completed,)


def pairs_from(
    first: sa.ColumnElement[str],
    second: sa.ColumnElement[str],
    start: sa.CTE,
    *conditions: sa.ColumnElement[bool],
) -> sa.CTE:
    """Each ``value`` of ``start`` with every ``second`` beside it; the last one is null.

    A loose index scan: from one ``second`` the next is found by a seek, however many rows hold it.
    """

    def least(of: sa.ColumnElement[str], *more: sa.ColumnElement[bool]) -> Any:
        return (
            sa.select(sa.func.min(second)).where(first == of, *conditions, *more).scalar_subquery()
        )

    pairs = sa.select(start.c.value.label("first"), least(start.c.value).label("second")).cte(
        "pairs", recursive=True
    )
    return pairs.union_all(
        sa.select(pairs.c.first, least(pairs.c.first, second > pairs.c.second)).where(
            pairs.c.second.is_not(None)
        )
    )


# --- executions ----------------------------------------------------------------------------------


def writers(connection: Connection, targets: Collection[str], at: int | None) -> list[Writer]:
    """Per (target, logical plan, mode) the newest successful write."""
    found = []
    for chunk in chunks(sorted(set(targets))):
        statement = _writers(asked_size(len(chunk)))
        rows = connection.execute(statement, at_values(chunk, at))
        for target, logical_plan, mode, latest in rows:
            if latest is not None:
                found.append(Writer(target, logical_plan, mode, latest))
    return sorted(found)


@lru_cache
def _writers(size: int) -> sa.Select[Any]:
    inner, outer = executions.alias("listed").c, executions.alias("seen").c
    pairs = pairs_from(
        inner.target, inner.logical_plan, asked_column(size), *successful(inner, writes_only=True)
    )
    modes = given(labels.EXECUTION_MODES, "modes")
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
    chosen = [columns[name] == value for name, value in sorted(criteria.items())]
    chosen += until(columns.at, at)
    asked = execution_page(chosen, checked_limit(limit) + 1, cursor)
    rows = [ExecutionRow(*row) for row in connection.execute(asked)]
    counted = sa.select(sa.func.count()).select_from(executions).where(*chosen)
    total = connection.execute(counted).scalar_one()
    more = len(rows) > limit
    last = rows[limit - 1] if more else None
    following = None if last is None else write_cursor(_CURSOR, last.at, last.id)
    return Page(tuple(rows[:limit]), total, following)


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
    for chunk in chunks(sorted(set(values))):
        statement = _newest_executions(column, only, asked_size(len(chunk)))
        for row in connection.execute(statement, at_values(chunk, at)):
            found[row.value] = ExecutionRow(*row[:-1])
    return found


@lru_cache
def _newest_executions(column: str, only: Only, size: int) -> sa.Select[Any]:
    asked, seen = asked_column(size), executions.alias("seen").c
    conditions = () if only == "any" else successful(seen, writes_only=only == "writes")
    newest = (
        sa.select(seen.id)
        .where(seen[column] == asked.c.value, *conditions, until_asked(seen.at))
        .order_by(seen.at.desc(), seen.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    return sa.select(executions, asked.c.value).join_from(
        asked, executions, executions.c.id == newest
    )


_PARTITIONS: Final = sa.select(partitions).where(
    partitions.c.execution.in_(sa.bindparam("ids", expanding=True))
)


def partitions_of(connection: Connection, ids: Collection[str]) -> list[PartitionRow]:
    """The partitions that these executions touched."""
    found = []
    for chunk in chunks(sorted(set(ids))):
        found += [PartitionRow(*row) for row in connection.execute(_PARTITIONS, {"ids": chunk})]
    return sorted(found)


def newest_event(connection: Connection, at: int | None) -> int | None:
    """The greatest time of an execution."""
    asked = sa.select(sa.func.max(executions.c.at)).where(*until(executions.c.at, at))
    newest: int | None = connection.execute(asked).scalar()
    return newest


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
    for chunk in chunks(sorted(set(locations))):
        statement = _names_of(asked_size(len(chunk)))
        found += [NameRow(*row) for row in connection.execute(statement, at_values(chunk, at))]
    return sorted(found)


@lru_cache
def _names_of(size: int) -> sa.Select[Any]:
    inner, outer = names.alias("listed").c, names.alias("seen").c
    pairs = pairs_from(inner.location, inner.name, asked_column(size))
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


def location_of(connection: Connection, name: str, at: int | None) -> str | None:
    """The location last observed at or before ``at``, else the first one ever observed."""
    order = (names.c.at, names.c.execution, names.c.location)
    asked = sa.select(names.c.location).where(names.c.name == name).limit(1)
    last = asked.where(*until(names.c.at, at)).order_by(*(column.desc() for column in order))
    found: str | None = connection.execute(last).scalar()
    if found is None and at is not None:
        found = connection.execute(asked.order_by(*order)).scalar()
    return found


def locations_ever(connection: Connection, asked: Collection[str]) -> frozenset[tuple[str, str]]:
    """(name, location) for every location ever observed of these names."""
    found: set[tuple[str, str]] = set()
    for chunk in chunks(sorted(set(asked))):
        statement = _locations_ever(asked_size(len(chunk)))
        rows = connection.execute(statement, at_values(chunk))
        found.update((name, location) for name, location in rows)
    return frozenset(found)


@lru_cache
def _locations_ever(size: int) -> sa.Select[Any]:
    pairs = pairs_from(names.c.name, names.c.location, asked_column(size))
    return sa.select(pairs.c.first, pairs.c.second).where(pairs.c.second.is_not(None))


# --- schemas -------------------------------------------------------------------------------------


def newest_schemas(
    connection: Connection, datasets: Collection[str], at: int | None
) -> dict[str, SchemaRow]:
    """Per dataset the schema that the newest successful execution used (see ``store``).

    Equal times and roles are told apart by the ids of the plan and of the schema, greatest first.
    """
    chosen: dict[str, str] = {}
    for chunk in chunks(sorted(set(datasets))):
        uses: dict[str, list[Any]] = {}
        parameters = {"datasets": chunk, "until": _END_OF_TIME if at is None else at}
        for use in connection.execute(_schema_uses(), parameters):
            uses.setdefault(use.dataset, []).append(use)
        for dataset, candidates in uses.items():
            schema = _newest_schema(candidates)
            if schema is not None:
                chosen[dataset] = schema
    rows: dict[str, SchemaRow] = {}
    for chunk in chunks(sorted(set(chosen.values()))):
        found = connection.execute(BY_IDS[SchemaRow], {"ids": chunk})
        rows |= {row.id: SchemaRow(*row) for row in found}
    return {dataset: rows[schema] for dataset, schema in chosen.items()}


@lru_cache
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
        .where(uses.dataset.in_(sa.bindparam("datasets", expanding=True)))
    )


def _newest_schema(uses: list[Any]) -> str | None:
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
    return str(best.schema)
