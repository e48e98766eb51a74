"""Fields of query strings: their values, and the words in which they refuse others."""

from __future__ import annotations

from typing import Any

import pytest
from marshmallow import ValidationError

from api.schemas.fields import (
    CaselessChoice,
    Choice,
    Choices,
    Flag,
    Instant,
    IntegerField,
    Query,
    TextField,
)
from graph_model.stores.graph import Direction


class Example(Query):
    node = TextField(5, required=True)
    depth = IntegerField(0, 50, load_default=1)
    direction = Choice(Direction, load_default=Direction.BOTH)
    kind = Choices(("dataset", "job", "column"), load_default=("dataset", "job", "column"))
    at = Instant()
    layout = Flag(load_default=False)
    order = CaselessChoice(("asc", "DESC"), load_default="asc")


def load(**given: Any) -> Any:
    return Example().load({"node": "x", **given})


def test_defaults_stand_for_missing_values() -> None:
    assert load() == {
        "node": "x",
        "depth": 1,
        "direction": Direction.BOTH,
        "kind": ("dataset", "job", "column"),
        "at": None,
        "layout": False,
        "order": "asc",
    }


def test_what_is_expected_of_a_choice_is_a_sentence_however_few_there_are() -> None:
    expected = [Choice(texts).expected for texts in (("a",), ("a", "b"), ("a", "b", "c"))]
    assert expected == ["a", "a or b", "a, b or c"]


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("depth", "0", 0),
        ("depth", "050", 50),
        ("direction", "upstream", Direction.UPSTREAM),
        ("kind", "column,dataset", ("dataset", "column")),
        ("at", "2026-03-01", 1_772_323_200_000),
        ("layout", "1", True),
        ("order", "ASC", "asc"),
        ("order", "desc", "DESC"),
        ("layout", "false", False),
        ("node", "äöü", "äöü"),
    ],
)
def test_a_valid_value_is_understood(name: str, text: str, value: object) -> None:
    assert load(**{name: text})[name] == value


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("depth", "51", "an integer from 0 to 50"),
        ("depth", "-1", "an integer from 0 to 50"),
        ("depth", "5.0", "an integer from 0 to 50"),
        ("depth", " 5", "an integer from 0 to 50"),
        ("depth", "1_0", "an integer from 0 to 50"),
        ("depth", "٣", "an integer from 0 to 50"),
        ("depth", "9" * 5000, "an integer from 0 to 50"),
        ("depth", "", "an integer from 0 to 50"),
        ("direction", "up", "upstream, downstream or both"),
        ("kind", "dataset,table", "one or more of dataset, job, column"),
        ("kind", "", "one or more of dataset, job, column"),
        ("layout", "yes", "true, false, 1 or 0"),
        ("layout", "True", "true, false, 1 or 0"),
        ("node", "abcdef", "a text of 1 to 5 characters"),
        ("node", " ", "a text of 1 to 5 characters"),
        (
            "at",
            "yesterday",
            "a time: epoch milliseconds or ISO 8601, such as 2026-03-01T08:15:00.000Z",
        ),
    ],
)
def test_a_wrong_value_is_refused_with_the_expected_one(
    name: str, text: str, expected: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        load(**{name: text})
    assert caught.value.messages == {name: [expected]}


def test_a_missing_parameter_is_refused_in_the_same_words() -> None:
    with pytest.raises(ValidationError) as caught:
        Example().load({})
    assert caught.value.messages == {"node": ["a text of 1 to 5 characters"]}


def test_an_unknown_parameter_is_refused_with_those_known() -> None:
    with pytest.raises(ValidationError) as caught:
        load(deep="1")
    assert caught.value.messages == {
        "deep": ["one of the parameters at, depth, direction, kind, layout, node, order"]
    }
