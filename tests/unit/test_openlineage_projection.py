"""OpenLineage through journal and projector: any order, any repetition, the same graph."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_model.facts import ExecutionRow, RunRow
from graph_model.store import DocumentState
from tests.projections import SmallHeadwater, lineage_event, project, small_headwater

_FIXTURES = Path(__file__).parents[1] / "fixtures" / "openlineage"
SCENARIOS = sorted(path.stem for path in (_FIXTURES / "scenarios").glob("*.json"))
CAPTURED = ["a3_agg", "c_ctas_cte", "c_struct_fields"]


def scenario(name: str) -> list[Any]:
    path = _FIXTURES / "scenarios" / f"{name}.json"
    events: list[Any] = json.loads(path.read_text(encoding="utf-8"))["events"]
    return events


def captured(name: str) -> list[Any]:
    path = _FIXTURES / "captured" / f"{name}.json"
    events: list[Any] = json.loads(path.read_text(encoding="utf-8"))
    return events


def dataset(name: str, *fields: str, **facets: Any) -> dict[str, Any]:
    said: dict[str, Any] = dict(facets)
    if fields:
        said["schema"] = {"fields": [{"name": one, "type": "string"} for one in fields]}
    return {"namespace": "s3://lake", "name": name, "facets": said}


def run_event(
    run_id: str, kind: str, minute: int, job: str = "curate", **more: Any
) -> dict[str, Any]:
    facets = more.pop("run_facets", {})
    return {
        "eventType": kind,
        "eventTime": f"2026-03-01T10:{minute:02d}:00Z",
        "run": {"runId": run_id, "facets": facets},
        "job": {"namespace": "etl", "name": job, "facets": more.pop("job_facets", {})},
        **more,
    }


def columns(of: str, field: str, source: str) -> dict[str, Any]:
    found = {"inputFields": [{"namespace": "s3://lake", "name": of, "field": source}]}
    return {"fields": {field: found}}


def parent(job: str) -> dict[str, Any]:
    return {"parent": {"run": {"runId": f"of {job}"}, "job": {"namespace": "etl", "name": job}}}


def every_kind_of_trouble() -> list[dict[str, Any]]:
    """Late inputs, changed minds, two terminal events, declarations of what runs say too."""
    nested = {"name": "place", "type": "struct", "fields": [{"name": "zip", "type": "int"}]}
    structured = dataset("t")
    structured["facets"]["schema"] = {"fields": [nested]}
    snapshot = {
        "jobType": {
            "processingType": "STREAMING", "integration": "FLINK",
            "emissionPattern": {"eventContentMode": "COMPLETE_SNAPSHOT"},
        }
    }  # fmt: skip
    owner = {"ownership": {"owners": [{"name": "finance"}]}}
    return [
        run_event("r1", "START", 0, inputs=[dataset("a", "x")]),
        run_event("r1", "COMPLETE", 5, outputs=[dataset("t", "x")]),
        run_event("r1", "RUNNING", 2, inputs=[dataset("b", "y")]),
        run_event("r2", "COMPLETE", 7, inputs=[dataset("a", "x")], outputs=[dataset("t", "x")]),
        run_event("r2", "FAIL", 8, run_facets={"errorMessage": {"message": "no space"}}),
        run_event("r3", "START", 9, run_facets=parent("dag")),
        run_event("r3", "COMPLETE", 10, outputs=[structured], run_facets=parent("other dag")),
        run_event("r4", "COMPLETE", 11, outputs=[structured], run_facets=parent("dag")),
        run_event("r4", "COMPLETE", 12, outputs=[dataset("t", "z")], job_facets=owner),
        run_event("r5", "START", 13, job="going on", run_facets=parent("dag")),
        run_event("s", "RUNNING", 14, job="stream", job_facets=snapshot,
                  inputs=[dataset("old", "o")], outputs=[dataset("live")]),
        run_event("s", "RUNNING", 15, job="stream", job_facets=snapshot,
                  inputs=[dataset("new", "n")], outputs=[dataset("live")]),
        run_event("r6", "COMPLETE", 16, inputs=[dataset("a", "x")],
                  outputs=[dataset("u", "k", columnLineage=columns("a", "k", "x"))]),
        run_event("r6", "OTHER", 17,
                  outputs=[dataset("u", "k", columnLineage=columns("b", "k", "y"))]),
        {"eventTime": "2026-03-01T11:00:00Z", "dataset": dataset("t", "x", **owner)},
        {"eventTime": "2026-03-01T11:01:00Z", "dataset": dataset("old", "o")},
        {"eventTime": "2026-03-01T11:02:00Z", "job": {"namespace": "etl", "name": "declared"},
         "inputs": [dataset("a", "x")], "outputs": [dataset("t", "x")]},
        {"eventTime": "2026-03-01T11:03:00Z", "job": {"namespace": "etl", "name": "dag"}},
    ]  # fmt: skip


TROUBLE = every_kind_of_trouble()


def elements_of(events: Iterable[Any], *, stepwise: bool) -> tuple[object, object]:
    headwater = project(map(lineage_event, events), stepwise=stepwise)
    found = headwater.elements()
    headwater.close()
    return found


@pytest.fixture(scope="module")
def expected() -> tuple[object, object]:
    return elements_of(TROUBLE, stepwise=False)


@given(st.randoms(use_true_random=False), st.booleans(), st.data())
@settings(deadline=None, max_examples=25)
def test_any_order_and_repetition_of_events_gives_the_same_projection(
    expected: tuple[object, object], rng: random.Random, stepwise: bool, data: st.DataObject
) -> None:
    repeated = data.draw(st.lists(st.sampled_from(range(len(TROUBLE))), max_size=6))
    events = TROUBLE + [TROUBLE[i] for i in repeated]
    rng.shuffle(events)
    assert elements_of(events, stepwise=stepwise) == expected


@given(st.data())
@settings(deadline=None, max_examples=40)
def test_what_was_withdrawn_for_later_events_leaves_no_trace(data: st.DataObject) -> None:
    events = data.draw(st.permutations(TROUBLE))[: data.draw(st.integers(1, len(TROUBLE)))]
    assert elements_of(events, stepwise=True) == elements_of(
        sorted(events, key=TROUBLE.index), stepwise=False
    )


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_comes_to_the_same_in_both_orders(name: str) -> None:
    events = scenario(name)
    at_once = elements_of(events, stepwise=False)
    assert elements_of(events, stepwise=True) == at_once
    assert elements_of(reversed(events), stepwise=True) == at_once


@pytest.mark.parametrize("name", CAPTURED)
def test_captured_events_come_to_the_same_one_by_one(name: str) -> None:
    events = captured(name)
    assert elements_of(reversed(events), stepwise=True) == elements_of(events, stepwise=False)


def rebuild(headwater: SmallHeadwater) -> None:
    headwater.projector.request_rebuild()
    while headwater.projector.rebuild_step():
        pass


def test_a_rebuild_gives_the_same(expected: tuple[object, object]) -> None:
    headwater = project(map(lineage_event, TROUBLE), stepwise=True)
    rebuild(headwater)
    assert headwater.elements() == expected
    headwater.close()


@pytest.mark.parametrize("arriving_after", range(6))
def test_events_that_arrive_during_a_rebuild_are_in_its_result(
    expected: tuple[object, object], arriving_after: int
) -> None:
    early, late = TROUBLE[::2], TROUBLE[1::2]
    headwater = project(map(lineage_event, early), stepwise=True)
    headwater.projector.request_rebuild()
    steps = 0
    while headwater.projector.rebuild_step():
        steps += 1
        if steps >= arriving_after and late:
            headwater.accept(lineage_event(late.pop()))
            headwater.project()
    for event in late:
        headwater.accept(lineage_event(event))
    headwater.project()
    rebuild(headwater)
    assert headwater.elements() == expected
    headwater.close()


def test_an_empty_graph_is_filled_again(expected: tuple[object, object]) -> None:
    headwater = project(map(lineage_event, TROUBLE), stepwise=True)
    headwater.graph.clear()
    headwater.projector.prepare()
    headwater.project()
    assert headwater.elements() == expected
    headwater.close()


def test_an_event_that_cannot_be_read_is_set_aside_alone() -> None:
    headwater = small_headwater()
    good = run_event("r1", "COMPLETE", 5, outputs=[dataset("t")])
    poison = lineage_event(run_event("r1", "START", 0), eventTime="yesterday")
    positions = headwater.accept(lineage_event(good), poison)
    headwater.project()
    states = headwater.journal.states(positions)
    assert list(states.values()) == [DocumentState.PROJECTED, DocumentState.FAILED]
    assert "eventTime" in (headwater.journal.document(positions[1]).reason or "")  # type: ignore[union-attr]
    assert [row.state for row in headwater.catalogue.scan() if isinstance(row, RunRow)] == [
        "completed"
    ]
    headwater.close()


def test_a_running_run_is_known_and_draws_nothing() -> None:
    headwater = project([lineage_event(TROUBLE[0])], stepwise=True)
    rows = list(headwater.catalogue.scan())
    assert [row.state for row in rows if isinstance(row, RunRow)] == ["running"]
    assert not [row for row in rows if isinstance(row, ExecutionRow)]
    assert headwater.graph.count() == (1, 0)  # its job
    headwater.close()


def test_two_scopes_with_one_run_id_are_two_runs() -> None:
    event = TROUBLE[3]
    one, other = lineage_event(event, "east"), lineage_event(event, "west")
    headwater = project([one, other], stepwise=False)
    rows = [row for row in headwater.catalogue.scan() if isinstance(row, RunRow)]
    assert {row.scope for row in rows} == {"east", "west"}
    headwater.close()
