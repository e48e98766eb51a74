"""The lineage of a text as JSON, as lines for people, and as a report of what could not be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from graph_model.errors import count_of
from graph_model.sql.scopes import STAR, UNRESOLVED, UNSUPPORTED, SqlGap
from graph_model.sql.translation import (
    CALLED,
    DYNAMIC,
    FOREIGN,
    LARGE,
    NESTED,
    UNREADABLE,
    SqlColumn,
    SqlStatement,
)
from graph_model.sql.writes import TARGET

UNREAD: Final = frozenset({UNREADABLE, NESTED, LARGE, UNSUPPORTED, DYNAMIC, CALLED, FOREIGN})
"""Gaps of a statement that has no columns because of them."""

GAPS: Final[Mapping[str, str]] = {
    UNREADABLE: "the parser does not understand it; its tables are found among its words",
    NESTED: "it nests too deeply for the parser",
    LARGE: "it is larger than what is read",
    UNSUPPORTED: "a statement, or a part of one, of a kind that is not read",
    DYNAMIC: "SQL that a procedure puts together when it runs",
    CALLED: "a procedure whose statements are not in the text",
    FOREIGN: "a procedure that is not written in SQL",
    UNRESOLVED: "a column of which several tables, or none, may be the owner; schemas resolve it",
    STAR: "a * of a table whose columns are not known; schemas resolve it",
    TARGET: "the columns of the written table are not known: they have the query's names",
}
"""The codes of gaps, and their meaning."""


def statements_json(statements: Sequence[SqlStatement]) -> dict[str, Any]:
    """The reply of ``POST /sql``."""
    return {"statements": [_statement_json(statement) for statement in statements]}


def _statement_json(statement: SqlStatement) -> dict[str, Any]:
    return {
        "reads": list(statement.reads),
        "writes": list(statement.writes),
        "columns": [_column_json(column) for column in statement.columns],
        "gaps": [_gap_json(gap) for gap in statement.gaps],
    }


def _column_json(column: SqlColumn) -> dict[str, Any]:
    return {
        "to": column.to,
        "from": list(column.sources),
        "kind": column.kind,
        "how": column.how,
        "expression": column.expression,
    }


def _gap_json(gap: SqlGap) -> dict[str, str]:
    return {"code": gap.code, "detail": gap.detail}


def lines(statements: Sequence[SqlStatement]) -> Iterator[str]:
    """A few lines for each statement; a condition of a whole statement is under its kind."""
    for number, statement in enumerate(statements, 1):
        written = ", ".join(statement.writes) or "a result"
        read = ", ".join(statement.reads) or "nothing"
        yield f"{number}. {written} from {read}"
        for column in statement.columns:
            name = "" if column.to is None else f"{column.to}  "
            sources = ", ".join(column.sources)
            yield f"   {name}{column.how}  {sources}  {column.expression}"
        for gap in statement.gaps:
            yield f"   gap  {gap.code}: {gap.detail}"


def report_json(statements: Sequence[SqlStatement]) -> dict[str, Any]:
    """Numbers of statements, and of gaps by their code, most frequent first."""
    read = sum(not any(gap.code in UNREAD for gap in statement.gaps) for statement in statements)
    codes = Counter(gap.code for statement in statements for gap in statement.gaps)
    frequent = sorted(codes.items(), key=lambda item: (-item[1], item[0]))
    return {"statements": len(statements), "read": read, "gaps": dict(frequent)}


def report(statements: Sequence[SqlStatement]) -> Iterator[str]:
    """The share of the statements that is read, and the gaps by kind, most frequent first."""
    numbers = report_json(statements)
    read = numbers["read"]
    share = 100 * read / len(statements) if statements else 100.0
    yield f"{count_of(len(statements), 'statement')}, {read:,} read ({share:.1f} %)"
    if not numbers["gaps"]:
        yield "no gaps"
    for code, count in numbers["gaps"].items():
        yield f"{count:>6,}  {code}: {GAPS[code]}"
