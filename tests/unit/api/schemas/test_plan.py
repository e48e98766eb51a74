"""The schema of a plan and the typed pass agree: both take the same documents."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from marshmallow import ValidationError

from api.intake.documents import EventSchema, PlanSchema
from graph_model.errors import InvalidDocument
from graph_model.producers.spline import lifting
from graph_model.producers.spline.documents import read_event, read_plan
from graph_model.producers.spline.producer import spoken_version
from tests import captures
from tests.places import places

STAND_IN = "00000000-0000-0000-0000-000000000000"
PLANS = [
    lifting.lift(plan) if spoken_version(plan, "1") == "1" else plan
    for name in ("f_api1", "c_union", "c_window", "f_labels_file", "a2_managers")
    for plan in captures.plans(name)
]
EVENTS = [event for name in ("c_fail_udf", "a1_curate") for event in captures.events(name)]
VALUES: list[Any] = [None, True, 0, 1.5, "", "x", [], [None], [1], {}, {"a": 1}, [[]], ...]


def changed(document: Any, place: tuple[Any, ...], value: Any) -> Any:
    copied = copy.deepcopy(document)
    parent = copied
    for key in place[:-1]:
        parent = parent[key]
    if value is ...:
        del parent[place[-1]]
    else:
        parent[place[-1]] = value
    return copied


def reads(reader: Any, document: Any) -> bool:
    try:
        reader(document)
    except (InvalidDocument, ValidationError):
        return False
    return True


@given(st.data())
def test_the_plan_schema_takes_exactly_the_documents_that_the_reader_takes(
    data: st.DataObject,
) -> None:
    plan = data.draw(st.sampled_from(PLANS))
    place = data.draw(st.sampled_from(places(plan)))
    document = changed(plan, place, data.draw(st.sampled_from(VALUES)))
    taken = reads(lambda given: read_plan(given, STAND_IN), document)
    assert reads(PlanSchema().load, document) == taken


@given(st.data())
def test_the_event_schema_takes_exactly_the_documents_that_the_reader_takes(
    data: st.DataObject,
) -> None:
    event = data.draw(st.sampled_from(EVENTS))
    place = data.draw(st.sampled_from(places(event)))
    document = changed(event, place, data.draw(st.sampled_from(VALUES)))
    assert reads(EventSchema().load, document) == reads(read_event, document)
