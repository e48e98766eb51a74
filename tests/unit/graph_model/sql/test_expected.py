"""Statements of many dialects against what they do, worked out by hand (tests/fixtures/sql)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from graph_model.sql import SqlOpen, SqlStatement, translate

FIXTURES = Path(__file__).parents[3] / "fixtures" / "sql"


def cases() -> Iterator[Any]:
    for path in sorted(FIXTURES.glob("*.yaml")):
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
        given = {key: document[key] for key in document if key != "cases"}
        for number, case in enumerate(document["cases"], 1):
            yield pytest.param({**given, **case}, id=f"{path.stem}-{number}")


def described(statements: tuple[SqlStatement, ...]) -> dict[str, Any]:
    return {
        "reads": {table for one in statements for table in one.reads},
        "writes": {table for one in statements for table in one.writes},
        "columns": {
            f"{column.to or '*'} < {' '.join(column.sources)} {column.how}"
            for one in statements
            for column in one.columns
        },
        "gaps": {gap.code for one in statements for gap in one.gaps},
        "opens": [left_open(item) for one in statements for item in one.opens],
    }


def left_open(item: SqlOpen) -> str:
    """``u#* < s#* IDENTITY without a into x y``."""
    words = [item.to or "*", "<", f"{item.table}#{item.path}", item.how]
    for word, names in (("without", item.left_out), ("into", item.into), ("of", item.among[1:])):
        words += [word, *names] if names else []
    return " ".join(words)


@pytest.mark.parametrize("case", list(cases()))
def test_a_statement_does_what_was_worked_out_by_hand(case: dict[str, Any]) -> None:
    statements = translate(
        case["sql"],
        case["dialect"],
        schemas=case["schemas"],
        database=case.get("database", ""),
        schema=case.get("schema", ""),
    )
    made = described(statements)
    assert made == {
        "reads": set(case.get("reads", "").split()),
        "writes": set(case.get("writes", "").split()),
        "columns": set(case.get("columns", ())),
        "gaps": set(case.get("gaps", ())),
        "opens": case.get("opens", made["opens"]),
    }


@pytest.mark.parametrize(
    ("text", "dialect", "gaps"),
    [
        ("SET @x = (", "tsql", set()),
        ("SET @x = (", "mysql", set()),
        ("SET v = (", "snowflake", set()),
        ("EXEC p; SET @x = (", "tsql", {"called-procedure"}),
    ],
)
def test_a_value_that_ends_too_early_hides_no_gap_before_it(
    text: str, dialect: str, gaps: set[str]
) -> None:
    assert described(translate(text, dialect))["gaps"] - {"unreadable"} == gaps


def test_a_beginning_of_a_statement_raises_nothing() -> None:
    """Cut behind its first bracket; each second one at an eighth that moves, too."""
    raised = {}
    for number, parameters in enumerate(cases()):
        (case,) = parameters.values
        text, dialect = case["sql"], case["dialect"]
        eighths = [(number // 2 % 7 + 1) * len(text) // 8] if number % 2 else []
        for end in (text.find("(") + 1, *eighths):
            try:
                translate(text[:end], dialect, schemas=case["schemas"])
            except Exception as error:
                raised[f"{dialect}: {text[:end]}"] = repr(error)
    assert raised == {}


def test_the_expectations_are_many() -> None:
    assert len(list(cases())) >= 120
