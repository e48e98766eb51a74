"""Columns described in words: hand-written expectations in fixtures/definitions.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_model import labels
from graph_model.answers.columns import Source, define_column, phrase

CASES = json.loads((Path(__file__).parents[3] / "fixtures" / "definitions.json").read_text())


def source(dataset: str, column: str, how: str, expression: str) -> Source:
    kind = labels.DIRECT if how in labels.DIRECT_HOWS else labels.INDIRECT
    return Source(dataset, column, kind, how, expression)


@pytest.mark.parametrize(("sentence", "sources"), CASES, ids=lambda value: str(value)[:40])
def test_a_column_is_told_in_a_sentence(sentence: str, sources: list[Any]) -> None:
    name = sentence.partition(" is ")[0]
    assert define_column(name, [source(*one) for one in sources]) == sentence


@pytest.mark.parametrize(("sentence", "sources"), CASES[:8], ids=lambda value: str(value)[:40])
def test_the_order_of_derivations_does_not_matter(sentence: str, sources: list[Any]) -> None:
    name = sentence.partition(" is ")[0]
    turned = [source(*one) for one in reversed(sources)] * 2
    assert define_column(name, turned) == sentence


def test_a_long_expression_names_its_columns_instead() -> None:
    text = " + ".join(["a"] * 400)
    assert define_column("x", [source("t", "a", labels.TRANSFORMATION, text)]) == (
        "x is computed from a of t"
    )


def test_an_expression_that_nests_too_deep_has_no_words() -> None:
    assert phrase("f(" * 40 + "a" + ")" * 40) is None
    assert phrase("NOT " * 140 + "a") is None


def test_many_tables_and_conditions_are_counted() -> None:
    many = [source(f"t{number:02d}", "a", labels.TRANSFORMATION, "") for number in range(9)]
    many += [source("t00", f"c{n}", "FILTER", f"c{n} > 0") for n in range(5)]
    assert define_column("x", many) == (
        "x is computed from a of t00, a of t01, a of t02, a of t03, a of t04, a of t05 and 3 more, "
        "where c0 > 0 and c1 > 0 and c2 > 0 and 2 more"
    )


def test_a_bar_or_a_comma_inside_a_literal_does_not_split() -> None:
    sources = [
        source("t", "a", labels.AGGREGATION, "sum(a)"),
        source("t", "b", labels.FILTER, "b = 'x | y'"),
        source("t", "c", labels.GROUP_BY, "concat(c, ',', d), e"),
    ]
    assert define_column("s", sources) == (
        "s is the sum of a from t, per concat(c, ',', d) and e, where b = 'x | y'"
    )


@given(st.text(max_size=300), st.sampled_from([*labels.DIRECT_HOWS, "FILTER", "WINDOW"]))
def test_any_text_gives_a_bounded_sentence(text: str, how: str) -> None:
    sentence = define_column("x", [source("t", "a", how, text)])
    assert sentence.startswith("x is ")
    assert len(sentence) <= 800
