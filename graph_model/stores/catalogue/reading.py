"""The parts of which the statements of all questions are made.

Many values or rows of a question are a table inside its statement: one parameter, a JSON text that
the database takes apart. So a statement is compiled once for any number of values: a parameter for
each value costs more than the database does. Constants of a statement are part of its text
(``made_once``).

    input_values([("a", 1), ("b", 2)])  =>  {"inputs": '[["a", 1], ["b", 2]]'}

All keys of a list's order go in one direction, so that "behind the last row shown" is one
comparison of tuples, and they end with an id, so that no row is listed twice or left out. An
unknown value counts as greater than every other one, and comes last.

Some events do not name their Spark application. OpenLineage's client may lose the START of a query;
the remaining events name the application's run by the client's id. Other events of that run name
the application (``ApplicationRow``). Rows keep their own events' run; questions get them under the
application:

    run_r ""  with  run_r => app-1, run_a     gives     run_a app-1

So the order of the events, or the removal of one, does not matter. A run that several applications
claim (its id was set by hand) identifies none.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from copy import copy
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import Any, Final, ParamSpec, Self, TypeVar, cast

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.sql import visitors

from graph_model import labels
from graph_model.errors import Unavailable
from graph_model.facts import ExecutionRow, RunRow
from graph_model.stores.catalogue.tables import applications, executions, runs
from graph_model.stores.database import (
    JsonCell,
    JsonRows,
    PackedId,
    StoredId,
    StoredText,
    after_keys,
    chunks,
    in_list,
    is_in_memory,
    none_of,
    read,
    rows_of,
)
from graph_model.stores.pages import ListOrder, checked_limit, read_cursor, write_cursor
from graph_model.values import storable, storable_value

_Given = ParamSpec("_Given")

Column = tuple[str, sa.types.TypeEngine[Any]]
"""The name and the type of a column of the given values: a text or an integer."""

AT_ONCE: Final = 5_000
"""Rows that one statement asks for."""

_END_OF_TIME: Final = 2**63 - 1
_INPUT: Final = "inputs"
_UNTIL: Final = "until"
MATERIALIZED: Final = "MATERIALIZED"
"""The prefix of a common table expression that the database computes once, and not again for every
row that is joined to it."""


def input_table(types: Sequence[Column]) -> sa.CTE:
    """Rows of values as a table ``inputs``, with columns of these names; see ``input_values``."""
    given = sa.bindparam(_INPUT, type_=sa.Text(), required=True)
    rows = JsonRows(given).table_valued("value", name="given")
    cells = [
        _typed(JsonCell(rows.c.value, sa.literal_column(str(number))), kind).label(name)
        for number, (name, kind) in enumerate(types)
    ]
    return sa.select(*cells).cte(_INPUT).prefix_with(MATERIALIZED)


def _typed(cell: sa.ColumnElement[Any], kind: sa.types.TypeEngine[Any]) -> sa.ColumnElement[Any]:
    """A text stays as it is: a cast would give it another collation than the column's."""
    if isinstance(kind, StoredId):
        return sa.type_coerce(PackedId(cell), kind)
    return sa.type_coerce(cell, kind) if isinstance(kind, StoredText) else sa.cast(cell, kind)


def input_values(rows: Iterable[Sequence[str | int]]) -> dict[str, Any]:
    """The parameter of ``input_table``."""
    listed = [tuple(row) for row in rows]
    text = json.dumps(listed, ensure_ascii=False)
    if "\\u" in text:  # an escape may be a NUL, which no database stores
        listed = [tuple(map(storable_value, row)) for row in listed]
        text = json.dumps(listed, ensure_ascii=False)
    return {_INPUT: storable(text)}


def input_column(kind: sa.types.TypeEngine[str] | None = None) -> sa.CTE:
    """Values as a table ``inputs`` with one column, ``value``; see ``at_values``. ``kind`` is that
    of the column that they are compared with; without it they are ids.
    """
    return input_table((("value", kind or StoredId()),))


def at_values(values: Iterable[str], at: int | None = None) -> dict[str, Any]:
    """The parameters of a statement with ``input_column``, and with ``until_input`` or without."""
    return input_values((value,) for value in values) | {_UNTIL: _END_OF_TIME if at is None else at}


def until_input(column: sa.ColumnElement[int]) -> sa.ColumnElement[bool]:
    """The condition that a time is not after the one in ``at_values``."""
    return column <= sa.bindparam(_UNTIL, type_=sa.BigInteger(), required=True)


def is_input(column: sa.ColumnElement[str]) -> sa.ColumnElement[bool]:
    """The condition that a column has one of the values of ``input_column``."""
    return column.in_(sa.select(input_column(column.type).c.value))


def made_once(build: Callable[_Given, sa.SelectBase]) -> Callable[_Given, sa.Executable]:
    """A function whose statement is built once, with its constants in its text.

    SQLAlchemy makes each constant a parameter, which is compiled, sent and bound with every
    execution: 47 of them cost a third of the time of a statement that finds ten rows.

        WHERE kind = ? AND target = ?  =>  WHERE kind = 'write' AND target = ?
    """

    @lru_cache
    @wraps(build)
    def make(*given: _Given.args, **named: _Given.kwargs) -> sa.Executable:
        return prepared(build(*given, **named))

    return cast("Callable[_Given, sa.Executable]", make)


def prepared(statement: sa.SelectBase) -> sa.Executable:
    """A statement for many executions, with its constants in its text."""
    text: sa.Executable = visitors.replacement_traverse(cast("Any", statement), {}, _in_text)
    return text


def _in_text(element: Any, **_: Any) -> Any:
    """A constant as part of a text; None: the element stays as it is."""
    if not isinstance(element, sa.BindParameter) or element.required:
        return None
    text = str(element.compile(compile_kwargs={"literal_binds": True}))
    return sa.literal_column(text, type_=element.type)


BEFORE_EVERYTHING: Final = -(2**63) + 1


def until(column: sa.ColumnElement[int], at: int | None) -> tuple[sa.ColumnElement[bool], ...]:
    """The condition that a time is not after ``at``, for ``where(*until(…))``."""
    return () if at is None else (column <= at,)


def excluding(
    column: sa.ColumnElement[str], values: Collection[str]
) -> tuple[sa.ColumnElement[bool], ...]:
    """The condition that a text is none of these, for ``where(*excluding(…))``."""
    return (none_of(column, values),) if values else ()


def excluding_hidden(
    column: sa.ColumnElement[str], is_hiding: bool
) -> tuple[sa.ColumnElement[bool], ...]:
    """The same of the parameter ``hidden``, for a statement that is made once."""
    return (sa.not_(in_list(column, "hidden")),) if is_hiding else ()


def is_doubtful(of: Any) -> sa.ColumnElement[bool]:
    """The condition that an execution counts from its receipt (``producers.bounds``), in the
    words of its indexes.
    """
    doubtful: sa.ColumnElement[bool] = of.ahead > sa.literal_column("0")
    return doubtful


def is_running(of: Any) -> sa.ColumnElement[bool]:
    """The condition that an execution is one of a run in progress, in the words of its index."""
    running: sa.ColumnElement[bool] = of.running.op("IS")(sa.literal_column("TRUE"))
    return running


def successful(of: Any, *, writes_only: bool) -> tuple[sa.ColumnElement[bool], ...]:
    """The condition that an execution (``of``: columns of the table or an alias) completed."""
    completed = of.state == labels.COMPLETED
    return (of.kind == labels.WRITE_KIND, completed) if writes_only else (completed,)


def shown_state(of: Any, now: Any) -> sa.ColumnElement[str]:
    """The state for people of an execution (``of``: columns of the table or an alias) at a time
    (epoch ms, or a parameter). One of a run in progress is running until the run ends: by its own
    event it stays what it is, without one (``answers.runs.status``) it is aborted.
    """
    own_run = runs.alias("own_run")
    ended, stopped = _ends(own_run, of, now)
    reached = sa.select(sa.case((ended, of.state), else_=labels.ABORTED))
    reached = reached.where(own_run.c.subject == of.subject, sa.or_(ended, stopped)).limit(1)
    known = sa.func.coalesce(reached.scalar_subquery(), labels.RUNNING)
    return sa.case((of.running, known), else_=of.state)


def state_of_run(of: Any, now: Any) -> sa.ColumnElement[str]:
    """The same of the run that the execution is the newest of: after a completed command of Spark
    that of its application, as in the list of a job's runs. Where no event of the application came,
    no other command speaks for it.
    """
    first = runs.alias("first_run")
    ended, stopped = _ends(first, of, now)
    state = sa.case(
        (first.c.part, None),
        (ended, first.c.state),
        (stopped, labels.ABORTED),
        else_=labels.RUNNING,
    )
    known = sa.select(state).where(first.c.run == run_of(of))
    known = known.order_by(*first_of_run(first.c)).limit(1)
    shown = sa.func.coalesce(known.scalar_subquery(), of.state)
    return sa.case((of.state == labels.COMPLETED, shown), else_=of.state)


def first_of_run(of: Any) -> tuple[sa.ColumnElement[Any], ...]:
    """The order in which the run that a vertex is of comes before its parts (``RunRow.part``)."""
    return of.part, of.started_at, of.id


def _ends(
    own_run: sa.FromClause, of: Any, now: Any
) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    """Whether a run has ended by its own event, and whether the end of a run above or silence ends
    it. It is heard through the runs below it, and an application through the executions of its
    commands as well. Clocks differ: it is no earlier than the execution.
    """
    own, above = own_run.c, _above(own_run).c
    time = sa.case((of.at > now, of.at), else_=now)
    ended_above = sa.select(above.run_id).where(above.run_id != own.run_id, above.ended_at <= now)
    below = sa.func.coalesce(heard_below(own_run), BEFORE_EVERYTHING)
    unheard = sa.and_(*(at < time - labels.STALE_AFTER_MS for at in (own.last_at, of.at, below)))
    stopped = sa.or_(ended_above.exists(), sa.and_(sa.not_(own.endless), unheard))
    return own.ended_at <= time, stopped


def _above(own_run: sa.FromClause) -> sa.CTE:
    """The runs above one as ``answers.runs.ancestors`` has them: its parents, and its root."""
    own, parent = own_run.c, runs.alias("parent_run").c
    level = sa.case((parent.run_id == own.parent_run, 1), else_=labels.MOST_RUNS_ABOVE)
    above = (
        sa.select(parent.run_id, parent.parent_run, parent.ended_at, level.label("level"))
        .where(parent.run_id.in_((own.parent_run, own.root_run)), parent.scope == own.scope)
        .correlate(own_run)
        .cte("runs_above", recursive=True, nesting=True)
    )
    further = runs.alias("further_run").c
    return above.union(  # each row once a level: a run's id may stand in several rows, in a cycle
        sa.select(further.run_id, further.parent_run, further.ended_at, above.c.level + 1)
        .where(
            further.run_id == above.c.parent_run,
            further.scope == own.scope,
            above.c.level < labels.MOST_RUNS_ABOVE,
        )
        .correlate(own_run)
    )


def heard_below(own_run: sa.FromClause) -> sa.ScalarSelect[int]:
    """When the runs below one (``own_run``: ``run_id, scope``), at any level, last sent an event;
    null where there is none.
    """
    own, child, further = own_run.c, runs.alias("child_run").c, runs.alias("further_child").c
    below = (
        sa.select(child.run_id, child.last_at)
        .where(child.parent_run == own.run_id, child.scope == own.scope)
        .correlate(own_run)
        .cte("runs_below", recursive=True, nesting=True)
    )
    below = below.union(  # each row once: a cycle of parents ends there
        sa.select(further.run_id, further.last_at)
        .where(further.parent_run == below.c.run_id, further.scope == own.scope)
        .correlate(own_run)
    )
    return sa.select(sa.func.max(below.c.last_at)).scalar_subquery()


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


class CatalogueReader:
    """Questions of one kind. ``held`` is the connection of a snapshot. Every method may raise
    Unavailable.
    """

    def __init__(self, engine: Engine, held: Connection | None = None) -> None:
        self._engine = engine
        self._held = held

    @contextmanager
    def snapshot(self) -> Iterator[Self]:
        """The catalogue as it is now, so that several questions read one state, and faster. Only
        for reading, in one thread, and for a short time.

        One transaction on one connection, for one thread.

        An in-memory database has one connection for all threads and is not held.
        """
        if self._held is not None or is_in_memory(self._engine.url):
            yield self
            return
        with self._read() as connection:
            same = copy(self)
            same._held = connection
            yield same

    def _read(self) -> AbstractContextManager[Connection]:
        return read(self._engine, Unavailable) if self._held is None else nullcontext(self._held)

    def _rows_for(
        self,
        statement: sa.Executable,
        values: Iterable[str],
        at: int | None = None,
        **parameters: Any,
    ) -> list[tuple[Any, ...]]:
        """See ``rows_for``."""
        with self._read() as connection:
            return rows_for(connection, statement, values, at, **parameters)

    def _rows_beside(
        self, statement: sa.Executable, asked: Iterable[tuple[Any, ...]], **parameters: Any
    ) -> list[tuple[Any, ...]]:
        """The rows of a statement with ``input_table``, for any number of given rows."""
        rows: list[tuple[Any, ...]] = []
        with self._read() as connection:
            for chunk in chunks(sorted(set(asked)), AT_ONCE):
                rows += rows_of(connection, statement, input_values(chunk) | parameters)
        return rows


def rows_for(
    connection: Connection,
    statement: sa.Executable,
    values: Iterable[str],
    at: int | None = None,
    **parameters: Any,
) -> list[tuple[Any, ...]]:
    """The rows of a statement with ``input_column``, for any number of values."""
    rows: list[tuple[Any, ...]] = []
    for chunk in chunks(sorted(set(values)), AT_ONCE):
        rows += rows_of(connection, statement, at_values(chunk, at) | parameters)
    return rows


_AFTER_EVERYTHING: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class ListKeys:
    """``name``, that of the list and its order, is part of the cursors: those of another one are
    refused. ``keys`` are columns or expressions of integers and texts, never null.
    """

    name: str
    falls: bool
    keys: Sequence[sa.ColumnElement[Any]]

    def read(
        self,
        connection: Connection,
        asked: sa.Select[Any],
        cursor: str | None,
        limit: int,
        values: Mapping[str, Any] | None = None,
    ) -> tuple[list[tuple[Any, ...]], str | None]:
        """The rows behind the cursor, and the cursor of the next page. ``values`` are those of the
        parameters of ``asked``.
        """
        if cursor is not None:
            last = read_cursor(cursor, self.name, *self._types)
            asked = asked.where(after_keys(self.keys, last, falls=self.falls))
        ways = [key.desc() if self.falls else key.asc() for key in self.keys]
        page = asked.add_columns(*self.keys).order_by(*ways).limit(checked_limit(limit) + 1)
        rows = connection.execute(page, values or {}).all()
        shown = [tuple(row)[: -len(self.keys)] for row in rows[:limit]]
        if len(rows) <= limit:
            return shown, None
        return shown, write_cursor(self.name, *tuple(rows[limit - 1])[-len(self.keys) :])

    @property
    def _types(self) -> list[type]:
        return [int if isinstance(key.type, sa.Integer) else str for key in self.keys]


def unknown_last(number: sa.ColumnElement[Any], order: ListOrder) -> sa.ColumnElement[Any]:
    """A number that may be null, as a key."""
    beyond = BEFORE_EVERYTHING if order.falls else _AFTER_EVERYTHING
    return sa.func.coalesce(number, sa.literal(beyond, sa.BigInteger()), type_=sa.BigInteger())


_Row = TypeVar("_Row", ExecutionRow, RunRow)
_OF_RUNS: Final = prepared(
    sa.select(
        applications.c.run, applications.c.application_id, applications.c.application_run
    ).where(is_input(applications.c.run))
)
#: Spline's agent may claim a run for each of its writes (``elements.dispatched_run``): only those
#: count under which something was reported.
_CLAIMED: Final = prepared(
    sa.select(applications.c.run).where(
        is_input(applications.c.application_run),
        sa.or_(
            sa.select(executions.c.run).where(executions.c.run == applications.c.run).exists(),
            sa.select(runs.c.run).where(runs.c.run == applications.c.run).exists(),
        ),
    )
)


def under_applications(connection: Connection, rows: Iterable[_Row]) -> list[_Row]:
    """The same rows in their order, each under its application if any event names it."""
    listed = list(rows)
    known = applications_of(connection, {row.run for row in listed if not row.application_id})
    return [
        row._replace(application_id=known[row.run][0], run=known[row.run][1])
        if not row.application_id and row.run in known
        else row
        for row in listed
    ]


def applications_of(connection: Connection, runs: Collection[str]) -> dict[str, tuple[str, str]]:
    """Per run under a client's id: its application's id, and the run under that id."""
    if not runs:
        return {}
    pairs: dict[str, set[tuple[str, str]]] = {}
    for run, application, named in rows_for(connection, _OF_RUNS, runs):
        pairs.setdefault(run, set()).add((application, named))
    return {run: next(iter(ids)) for run, ids in pairs.items() if len(ids) == 1}


def names_of_runs(connection: Connection, runs: Collection[str]) -> frozenset[str]:
    """All ids in the rows of these runs, from any one of them."""
    known = applications_of(connection, runs)
    own = {known[run][1] if run in known else run for run in runs}
    claimed = {run for (run,) in rows_for(connection, _CLAIMED, own)}
    return frozenset(own | applications_of(connection, claimed).keys())


def run_of(of: Any) -> sa.ColumnElement[str]:
    """In a statement: the run under which an execution is listed (``of``: columns of the table or
    an alias).

    Only executions that do not name their application are looked up.
    """
    named = _sole_claim(of.run, "application_run")
    return sa.case((of.application_id != "", of.run), else_=sa.func.coalesce(named, of.run))


def application_of(of: Any) -> sa.ColumnElement[str]:
    """In a statement: the application of an execution (``of``: as for ``run_of``)."""
    own = sa.func.nullif(of.application_id, "")
    return sa.func.coalesce(own, _sole_claim(of.run, "application_id"), "")


def _sole_claim(run: sa.ColumnElement[str], name: str) -> sa.ScalarSelect[Any]:
    """A column of the only application that claims the run; null where none or several do. The run
    is that of any query around it.
    """
    claims = applications.alias("claims")
    only = sa.select(sa.func.min(claims.c[name])).where(claims.c.run == run)
    return only.having(sa.func.count() == 1).correlate_except(claims).scalar_subquery()
