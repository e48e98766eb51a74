"""Columns that Delta computes: which they are, and the plan that has them. The rest needs Delta."""

from __future__ import annotations

import json

import pytest

from spark_agent_config.capture.captured import CapturedQuery, Target
from spark_agent_config.capture.command_effects import (
    GeneratedColumns,
    generated,
    with_query,
)
from spark_agent_config.capture.questions import Questions
from tests.unit.spark_agent_config.fake_jvm import Fuse, Node

SCHEMA = json.dumps(
    {
        "type": "struct",
        "fields": [
            {"name": "id", "type": "long", "metadata": {}},
            {"name": "Twice", "type": "long", "metadata": {"delta.generationExpression": "id * 2"}},
            {"name": "plain", "type": "long"},
            {"name": "pay", "type": "long", "metadata": {"CURRENT_DEFAULT": "7"}},
            {"name": "number", "type": "long", "metadata": {"delta.identity.start": 1}},
        ],
    }
)


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        (
            ["id"],
            {"Twice": "id * 2", "pay": "7", "number": "monotonically_increasing_id()"},
        ),
        (["id", "TWICE", "number"], {"pay": "7"}),
        (["id", "twice", "Pay", "Number"], {}),
    ],
)
def test_a_generated_column_is_one_that_the_write_does_not_give(
    given: list[str], missing: dict[str, str]
) -> None:
    assert generated(SCHEMA, given) == missing


def test_a_table_without_generated_columns_is_not_read() -> None:
    assert generated("no JSON at all", ["id"]) == {}


def test_another_query_takes_the_place_of_the_first_wherever_a_command_keeps_it() -> None:
    query = [{"class": "Project", "num-children": 1}, {"class": "Range", "num-children": 0}]
    below = [{"class": "AppendData", "num-children": 1, "query": 0}, {"class": "Range"}]
    inside = [{"class": "Save", "num-children": 0, "query": [{"class": "Range"}]}]

    assert json.loads(with_query(json.dumps(below), json.dumps(query))) == [below[0], *query]
    assert json.loads(with_query(json.dumps(inside), json.dumps(query))) == [
        {**inside[0], "query": query}
    ]


@pytest.mark.parametrize("form", ["delta", "parquet"])
def test_a_write_that_delta_says_nothing_of_stays_as_it_is(form: str) -> None:
    captured = CapturedQuery("AppendData", "[]", Target("file:/t", format=form), schema="{}")

    result = GeneratedColumns(Questions(), Node(Fuse())).complete(captured, None, None)

    assert result is captured
