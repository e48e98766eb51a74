"""Many values or rows of a question as a table inside its statement.

All of them are one parameter, a JSON text that the database takes apart. So a statement is compiled
once for any number of values: a parameter for each value costs more than the database does.

    input_values([("a", 1), ("b", 2)])  =>  {"inputs": '[["a", 1], ["b", 2]]'}

Constants of a statement are part of its text (``made_once``).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, wraps
from typing import Any, Final, ParamSpec, cast

import sqlalchemy as sa
from sqlalchemy.sql import visitors

from graph_model.storable_text import storable_value
from graph_model.stores.database import (
    JsonCell,
    JsonRows,
    PackedId,
    PreparedStatement,
    StoredId,
    StoredText,
)

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
    text = json.dumps(listed)
    if "\\u" in text:  # an escape may be a character that no database stores
        listed = [tuple(map(storable_value, row)) for row in listed]
        text = json.dumps(listed)
    return {_INPUT: text}


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


def made_once(build: Callable[_Given, sa.SelectBase]) -> Callable[_Given, PreparedStatement]:
    """A function whose statement is built and compiled once, with its constants in its text.

    SQLAlchemy makes each constant a parameter, which is compiled, sent and bound with every
    execution: 47 of them cost a third of the time of a statement that finds ten rows.

        WHERE kind = ? AND target = ?  =>  WHERE kind = 'write' AND target = ?
    """

    @lru_cache
    @wraps(build)
    def make(*given: _Given.args, **named: _Given.kwargs) -> PreparedStatement:
        return prepared(build(*given, **named))

    return cast(Callable[_Given, PreparedStatement], make)


def prepared(statement: sa.SelectBase) -> PreparedStatement:
    """A statement for many executions, with its constants in its text."""
    return PreparedStatement(cast(Any, visitors.replacement_traverse(statement, {}, _in_text)))


def _in_text(element: Any, **_: Any) -> Any:
    """A constant as part of a text; None: the element stays as it is."""
    if not isinstance(element, sa.BindParameter) or element.required:
        return None
    text = str(element.compile(compile_kwargs={"literal_binds": True}))
    return sa.literal_column(text, type_=element.type)
