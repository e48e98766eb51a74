"""A plan id that two different plans share: the effect of a discriminator, in any order."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_model.facts import ExecutionRow
from graph_model.producers.registry import PRODUCERS
from graph_model.producers.spline.documents import EVENT_KIND, PLAN_KIND
from graph_model.stores.documents import DocumentKind, DocumentState, Submission
from tests.projections import SmallHeadwater, budget, project
from tests.unit.graph_model.projection.projector.test_projector import (
    TROUBLE,
    a_plan,
    an_event,
    event,
    plan,
    writing_to,
)

EVENT_B = event(an_event(discriminator="b"))
PLAN_A = plan(a_plan(discriminator="a"))
OLDER_PLAN_A = plan(a_plan(discriminator="a"), api_version="1.1")
PLAN_B = plan(writing_to("file:/data/other") | {"discriminator": "b"})


def states_of(headwater: SmallHeadwater, kind: DocumentKind) -> list[tuple[str, str | None]]:
    result = headwater.journal.entries(kind=kind, limit=1000).items
    return sorted(((item.state.value, item.reason) for item in result), key=repr)


def executions(headwater: SmallHeadwater) -> int:
    return sum(isinstance(row, ExecutionRow) for row in headwater.catalogue.scan())


def outcome(documents: list[Submission], *, stepwise: bool) -> tuple[object, ...]:
    """Everything that must not depend on the order: elements, rows, states with reasons."""
    headwater = project(documents, stepwise=stepwise)
    result = (
        headwater.elements(),
        *(states_of(headwater, kind) for kind in PRODUCERS.kinds),
        headwater.journal.summary().pending,
    )
    headwater.close()
    return result


def test_an_event_that_contradicts_its_plan_fails_with_a_reason_to_act_on() -> None:
    headwater = project([PLAN_A, EVENT_B], stepwise=True)
    ((state, reason),) = states_of(headwater, EVENT_KIND)
    assert state == "failed"
    assert reason is not None
    assert "'b' is not 'a'" in reason
    assert "give one of them an id of its own" in reason
    assert executions(headwater) == 0
    assert states_of(headwater, PLAN_KIND) == [("projected", None)]
    headwater.close()


@pytest.mark.parametrize(
    ("of_plan", "of_event"),
    [("a", "a"), (None, "a"), ("a", None), (None, None), (7, "7")],
)
def test_an_equal_or_missing_discriminator_contradicts_nothing(of_plan: Any, of_event: Any) -> None:
    headwater = project(
        [plan(a_plan(discriminator=of_plan)), event(an_event(discriminator=of_event))],
        stepwise=False,
    )
    assert executions(headwater) == 1
    assert headwater.journal.summary().failed == 0
    headwater.close()


def test_a_failed_event_is_taken_up_when_its_own_plan_speaks_in_the_end() -> None:
    headwater = project([OLDER_PLAN_A, EVENT_B], stepwise=True)
    assert headwater.journal.summary().failed == 1
    headwater.accept(PLAN_B)
    headwater.project()
    assert states_of(headwater, EVENT_KIND) == [("projected", None)]
    assert executions(headwater) == 1
    headwater.close()


def test_a_projected_event_is_withdrawn_when_another_plan_speaks_in_the_end() -> None:
    run = event(an_event(discriminator="a"))
    headwater = project([OLDER_PLAN_A, run], stepwise=True)
    assert executions(headwater) == 1
    headwater.accept(PLAN_B)
    headwater.project()
    ((state, _),) = states_of(headwater, EVENT_KIND)
    assert (state, executions(headwater)) == ("failed", 0)
    headwater.close()


def test_a_second_body_with_another_discriminator_is_ranked_like_any_other() -> None:
    headwater = project([OLDER_PLAN_A, PLAN_B], stepwise=False)
    assert [state for state, _ in states_of(headwater, PLAN_KIND)] == ["projected"] * 2
    assert headwater.catalogue.datasets_by_uri("file:/data/out") == ()
    assert len(headwater.catalogue.datasets_by_uri("file:/data/other")) == 1
    headwater.close()


def test_an_event_that_failed_for_another_reason_is_not_taken_up_again() -> None:
    headwater = project([OLDER_PLAN_A, event(an_event())], stepwise=True)
    (run,) = headwater.journal.entries(kind=EVENT_KIND).items
    headwater.journal.settle([run.position], DocumentState.FAILED, "cannot be read")
    headwater.accept(PLAN_B)
    headwater.project()
    assert states_of(headwater, EVENT_KIND) == [("failed", "cannot be read")]
    headwater.close()


COLLISION = [
    OLDER_PLAN_A,
    PLAN_B,
    EVENT_B,
    event(an_event(1_700_000_000_001, discriminator="a")),
    event(an_event(1_700_000_000_002)),
]


def test_every_order_of_a_collision_ends_the_same() -> None:
    expected = outcome(COLLISION, stepwise=False)
    for number, order in enumerate(itertools.permutations(COLLISION)):
        assert outcome(list(order), stepwise=number % 3 == 0) == expected


@given(st.data(), st.booleans())
@budget(25)
def test_collisions_among_other_trouble_end_the_same(data: st.DataObject, stepwise: bool) -> None:
    documents = TROUBLE + COLLISION
    expected = outcome(documents, stepwise=False)
    order = data.draw(st.permutations(documents))
    repeated = data.draw(st.lists(st.sampled_from(documents), max_size=4))
    assert outcome([*order, *repeated], stepwise=stepwise) == expected
