"""The typed pass and the schemas take the same documents; only one of them names the error."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

import pytest
from marshmallow import Schema, ValidationError

from api.intake.documents import EventSchema, PlanSchema
from graph_model.errors import InvalidDocument
from graph_model.producers.spline.documents import read_event, read_plan
from graph_model.producers.spline.producer import STAND_IN
from tests.e2e.producer_service import a_plan, an_event
from tests.places import places

CHANGES = 1_500
VALUES: list[Any] = [
    None, 0, -1, 1.5, True, "", "x", STAND_IN, [], [1], ["a"], {}, {"a": 1}, [{}], [None],
    [{"id": "op-0"}], "true", 10**20, "\x00",
]  # fmt: skip
NAMES = ["id", "name", "childIds", "extra", "params", "output", "labels", "version", "timestamp"]
LABELLED = {"labels": {"team": ["a"]}, "discriminator": "d"}


def changed(document: Any, rng: random.Random) -> Any:
    """One place removed, replaced, or given another member."""
    document = copy.deepcopy(document)
    *path, last = rng.choice(places(document))
    inner = document
    for name in path:
        inner = inner[name]
    match rng.randrange(4):
        case 0:
            del inner[last]
        case 1 if isinstance(inner, dict):
            inner[rng.choice(NAMES)] = rng.choice(VALUES)
        case _:
            inner[last] = rng.choice(VALUES)
    return document


def taken_by_schema(schema: Schema, document: Any) -> bool:
    try:
        schema.load(document)
    except ValidationError:
        return False
    return True


def taken(read: Callable[[Any], object], document: Any) -> bool:
    try:
        read(document)
    except InvalidDocument:
        return False
    return True


@pytest.mark.parametrize(
    ("schema", "read", "document"),
    [
        (PlanSchema(), lambda body: read_plan(body, STAND_IN), a_plan(**LABELLED, extraInfo={})),
        (EventSchema(), read_event, an_event(**LABELLED, error="boom")),
    ],
    ids=["plans", "events"],
)
def test_both_take_and_refuse_the_same_changed_documents(
    schema: Schema, read: Callable[[Any], object], document: Any
) -> None:
    rng = random.Random(1)
    answers = set()
    for _ in range(CHANGES):
        body = changed(document, rng)
        answers.add(taken(read, body))
        assert taken(read, body) == taken_by_schema(schema, body), body
    assert answers == {True, False}
