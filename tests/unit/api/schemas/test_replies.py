"""The shapes of replies that follow from the values of an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from marshmallow import RAISE

from api.schemas.graph import reply_of
from graph_model.picture.json_form import to_json


@dataclass(frozen=True)
class Step:
    name: str
    last_rows: int | None


@dataclass(frozen=True)
class Road:
    first: Step
    other: Step | None
    steps: tuple[Step, ...]
    words: tuple[str, ...] | None
    certain: bool
    share: float
    metrics: Any


ROAD = Road(Step("read", 3), None, (Step("write", None),), None, True, 0.5, {"rows": [1]})


def test_a_reply_has_the_fields_of_its_value_and_no_others() -> None:
    assert reply_of(Road)(unknown=RAISE).validate(to_json(ROAD)) == {}
    assert reply_of(Road)(unknown=RAISE).validate(to_json(ROAD) | {"more": 1}) != {}


def test_a_reply_says_what_is_wrong_within_its_values() -> None:
    wrong = to_json(ROAD) | {
        "first": {"name": "read"},
        "steps": [{"name": None, "lastRows": 1}],
        "certain": None,
        "words": [1],
    }
    assert reply_of(Road)().validate(wrong).keys() == {"first", "steps", "certain", "words"}
