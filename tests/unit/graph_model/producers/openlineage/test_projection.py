"""OpenLineage through journal and projector: any order, any repetition, the same graph."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_model import identity, labels
from graph_model.facts import CommandRow, DatasetRow, ExecutionRow, ForgottenRow, RunRow
from graph_model.naming import DEFAULT_RULES
from graph_model.producers.commands import Command, Cutoff, Forget, Prune, submit
from graph_model.producers.openlineage.translate import read_run
from graph_model.producers.producer import NO_EFFECTS
from graph_model.producers.registry import Translation
from graph_model.retention.coverage import (
    resolve_forget,
    subject_keys_of_dataset,
    subject_keys_of_job,
    subjects_without_plan,
)
from graph_model.stores.documents import DocumentState
from tests.projections import (
    SmallHeadwater,
    budget,
    elements_of_events,
    lineage_event,
    project,
    small_headwater,
)

_FIXTURES = Path(__file__).parents[4] / "fixtures" / "openlineage"
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
    """Late inputs, changed minds, two terminal events, declarations that runs report too."""
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


@pytest.fixture(scope="module")
def expected() -> tuple[object, object]:
    return elements_of_events(TROUBLE, stepwise=False)


@given(st.randoms(use_true_random=False), st.booleans(), st.data())
@budget(25)
def test_any_order_and_repetition_of_events_gives_the_same_projection(
    expected: tuple[object, object], rng: random.Random, stepwise: bool, data: st.DataObject
) -> None:
    repeated = data.draw(st.lists(st.sampled_from(range(len(TROUBLE))), max_size=6))
    events = TROUBLE + [TROUBLE[i] for i in repeated]
    rng.shuffle(events)
    assert elements_of_events(events, stepwise=stepwise) == expected


@given(st.data())
@budget(40)
def test_facts_withdrawn_for_later_events_leave_no_trace(data: st.DataObject) -> None:
    events = data.draw(st.permutations(TROUBLE))[: data.draw(st.integers(1, len(TROUBLE)))]
    assert elements_of_events(events, stepwise=True) == elements_of_events(
        sorted(events, key=TROUBLE.index), stepwise=False
    )


@pytest.mark.parametrize("run_id", ["r1", "r2", "r3", "r4", "s", "r6"])
def test_a_run_alone_comes_to_the_same_in_every_order(run_id: str) -> None:
    events = [event for event in TROUBLE if event.get("run", {}).get("runId") == run_id]
    at_once = elements_of_events(events, stepwise=False)
    for order in permutations(events):
        assert elements_of_events(order, stepwise=True) == at_once


ENGINE = {"processing_engine": {"name": "spark", "version": "3.5.1"}}
TAGGED = {"tags": {"tags": [{"key": "team", "value": "sales"}]}}
STORED = {"storage": {"storageLayer": "delta", "fileFormat": "parquet"}}
FLINK = {"jobType": {"processingType": "BATCH", "integration": "FLINK", "jobType": "JOB"}}


@pytest.mark.parametrize(
    "late",
    [
        pytest.param(run_event("r", "RUNNING", 3, run_facets=ENGINE), id="its engine"),
        pytest.param(run_event("r", "RUNNING", 3, run_facets=TAGGED), id="its tags"),
        pytest.param(run_event("r", "OTHER", 6, job_facets=FLINK), id="its integration"),
        pytest.param(run_event("r", "RUNNING", 3, outputs=[dataset("t", **STORED)]), id="a format"),
    ],
)
def test_a_late_event_that_changes_only_a_line_of_the_lists_changes_it(late: Any) -> None:
    ended = run_event("r", "COMPLETE", 5, inputs=[dataset("a", "x")], outputs=[dataset("t", "x")])
    headwater = project(map(lineage_event, [ended, late]), stepwise=True)
    states = {document.state for document in headwater.journal.documents_of("run:r")}
    assert states == {DocumentState.PROJECTED}
    assert not headwater.projector.rebuild_waits
    assert headwater.elements() == elements_of_events([late, ended], stepwise=False)
    headwater.close()


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_comes_to_the_same_in_both_orders(name: str) -> None:
    events = scenario(name)
    at_once = elements_of_events(events, stepwise=False)
    assert elements_of_events(events, stepwise=True) == at_once
    assert elements_of_events(reversed(events), stepwise=True) == at_once


@pytest.mark.parametrize("name", CAPTURED)
def test_captured_events_come_to_the_same_one_by_one(name: str) -> None:
    events = captured(name)
    at_once = elements_of_events(events, stepwise=False)
    assert elements_of_events(reversed(events), stepwise=True) == at_once


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


def test_a_running_run_without_tables_is_known_and_draws_nothing() -> None:
    headwater = project([lineage_event(run_event("r1", "START", 0))], stepwise=True)
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


# --- commands of people --------------------------------------------------------------------------


def give(headwater: SmallHeadwater, order: Forget | Prune, at: int = 1) -> None:
    headwater.accept(submit(Command("ana", at, "", "", order)))
    headwater.project()


def forget(headwater: SmallHeadwater, node: str) -> None:
    subjects = subjects_without_plan(node, headwater.catalogue)
    kind = identity.kind_of(node)
    covers = subject_keys_of_job if kind == labels.JOB else subject_keys_of_dataset
    subject_keys = covers(node, headwater.catalogue)
    for order in resolve_forget(
        subject_keys | headwater.journal.subject_keys_of(subjects), headwater.journal
    ):
        give(headwater, order)


def told(headwater: SmallHeadwater) -> tuple[object, object]:
    """All elements without the commands' own rows."""
    elements, rows = headwater.elements()
    return elements, tuple(row for row in rows if not isinstance(row, CommandRow | ForgottenRow))


def test_a_forgotten_job_leaves_the_reports_of_others() -> None:
    headwater = project(map(lineage_event, TROUBLE), stepwise=True)
    forget(headwater, identity.job_id("etl", "curate"))
    others = [e for e in TROUBLE if e.get("job", {}).get("name") != "curate"]
    assert told(headwater) == elements_of_events(others, stepwise=False)
    rebuild(headwater)
    assert told(headwater) == elements_of_events(others, stepwise=False)
    headwater.close()


def test_a_forgotten_dataset_is_gone_with_every_run_and_declaration_of_it() -> None:
    headwater = project(map(lineage_event, TROUBLE), stepwise=True)
    forget(headwater, identity.dataset_id("", "s3://lake/t"))
    uris = [row.uri for row in headwater.catalogue.scan() if isinstance(row, DatasetRow)]
    assert "s3://lake/t" not in uris
    assert b"s3://lake" not in b"".join(
        one.body for key in ("run:r1", "run:r2") for one in headwater.journal.documents_of(key)
    )
    before = headwater.elements()
    rebuild(headwater)
    assert headwater.elements() == before
    headwater.close()


def test_a_forgotten_event_is_no_part_of_its_run() -> None:
    headwater = project(map(lineage_event, TROUBLE), stepwise=True)
    gone = lineage_event(TROUBLE[2])
    give(headwater, Forget((gone.subject_key,), (gone.content_hash,)))
    assert told(headwater) == elements_of_events([*TROUBLE[:2], *TROUBLE[3:]], stepwise=False)
    assert len(headwater.journal.documents_of("run:r1")) == 2
    headwater.close()


@pytest.mark.parametrize("drop", [False, True])
def test_pruned_runs_go_whole_and_a_rebuild_agrees(drop: bool) -> None:
    headwater = project(map(lineage_event, TROUBLE), stepwise=True)
    before = max(row.at for row in headwater.catalogue.scan() if isinstance(row, ExecutionRow))
    cutoff = Cutoff("etl", "curate", "", "s3://lake/t", before)
    give(headwater, Prune((cutoff,), drop))
    left = [e for e in TROUBLE if e.get("run", {}).get("runId") not in {"r1", "r2", "r3", "r4"}]
    assert told(headwater) == elements_of_events(left, stepwise=False)
    assert bool(headwater.journal.documents_of("run:r1")) is not drop
    rebuild(headwater)
    assert told(headwater) == elements_of_events(left, stepwise=False)
    headwater.close()


def model(run_id: str, minute: int, *exposures: str) -> dict[str, Any]:
    """A run of the model ``orders``, whose table these exposures read."""
    listed = [{"unique_id": name, "name": name} for name in exposures]
    facets = {"dbt_exposures": {"exposures": listed}} if listed else {}
    orders = dataset("orders", **facets)
    return run_event(run_id, "COMPLETE", minute, "orders", outputs=[orders])


def test_a_pruned_run_takes_the_exposures_along_that_it_alone_declared() -> None:
    runs = [model("o1", 10, "board", "study"), model("o2", 20, "board")]
    headwater = project(map(lineage_event, runs), stepwise=True)
    before = max(row.at for row in headwater.catalogue.scan() if isinstance(row, ExecutionRow))
    give(headwater, Prune((Cutoff("etl", "orders", "", "s3://lake/orders", before),), False))
    assert told(headwater) == elements_of_events(runs[1:], stepwise=False)
    rebuild(headwater)
    assert told(headwater) == elements_of_events(runs[1:], stepwise=False)
    headwater.close()


def test_the_declared_reads_of_repeated_runs_are_one_flow() -> None:
    headwater = project(
        map(lineage_event, [model(f"o{n}", n, "board") for n in range(1, 4)]), stepwise=False
    )
    declared = [
        row
        for row in headwater.catalogue.scan()
        if isinstance(row, ExecutionRow) and row.kind == labels.DECLARATION_KIND
    ]
    (flow,) = headwater.catalogue.declared_reads({row.logical_plan for row in declared})
    assert len(declared) == 3
    assert flow.since == min(row.at for row in declared)
    headwater.close()


def explicit(run_id: str, job: str) -> dict[str, Any]:
    """A run that says: the job ``feeder`` fills a column of ``v`` that no schema has."""
    source = {"type": "JOB", "namespace": "etl", "name": "feeder"}
    entry = {
        "type": "DATASET", "namespace": "s3://lake", "name": "v",
        "fields": {"k": {"inputs": [source]}},
    }  # fmt: skip
    facets = {"lineage": {"entries": [entry]}}
    return run_event(run_id, "COMPLETE", 20, job, job_facets=facets, outputs=[dataset("v")])


def test_elements_that_another_run_links_to_stay() -> None:
    one, other = explicit("e1", "one"), explicit("e2", "other")
    headwater = project(map(lineage_event, [one, other]), stepwise=True)
    gone = lineage_event(one)
    give(headwater, Forget((gone.subject_key,), (gone.content_hash,)))
    assert told(headwater) == elements_of_events([other], stepwise=False)
    headwater.close()


def test_a_forgotten_declaration_takes_its_names_along() -> None:
    link = {"identifiers": [{"namespace": "hive://m", "name": "db.t", "type": "TABLE"}]}
    said = [
        {"eventTime": f"2026-03-01T12:0{minute}:00Z", "dataset": dataset("t", symlinks=link)}
        for minute in range(2)
    ]
    headwater = project(map(lineage_event, said), stepwise=True)
    for at, event in enumerate(said, 1):
        gone = lineage_event(event)
        give(headwater, Forget((gone.subject_key,), (gone.content_hash,)), at)
        assert told(headwater) == elements_of_events(said[at:], stepwise=False)
    headwater.close()


# --- remembered translations ---------------------------------------------------------------------


@pytest.fixture
def translations(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many events each translation of a run had."""
    found: list[int] = []

    def counted(events: Any, *arguments: Any) -> Any:
        found.append(len(events))
        return read_run(events, *arguments)

    monkeypatch.setattr("graph_model.producers.openlineage.producer.read_run", counted)
    return found


def test_events_of_a_run_before_its_end_are_remembered_and_give_the_same_result_as_anew(
    headwater: SmallHeadwater, translations: list[int]
) -> None:
    start = run_event("r-1", "START", 0, inputs=[dataset("raw", "id")])
    complete = run_event("r-1", "COMPLETE", 5, outputs=[dataset("curated", "id")])
    headwater.accept(lineage_event(start))
    remembering = Translation(DEFAULT_RULES)
    remembering.project(headwater.journal.documents_of("run:r-1"))
    headwater.project()
    headwater.accept(lineage_event(complete))
    documents = headwater.journal.documents_of("run:r-1")
    translations.clear()
    remembered = remembering.project(documents)
    assert translations == [2]
    anew = Translation(DEFAULT_RULES).project(documents)
    assert translations == [2, 2, 1]
    assert remembered == anew
    assert remembered.former is not None


def test_a_run_that_a_command_covers_is_not_remembered(
    headwater: SmallHeadwater, translations: list[int]
) -> None:
    start = lineage_event(run_event("r-1", "START", 0))
    headwater.accept(start, lineage_event(run_event("r-1", "RUNNING", 1)))
    documents = headwater.journal.documents_of("run:r-1")
    translation = Translation(DEFAULT_RULES)
    forgets = replace(NO_EFFECTS, forgotten=frozenset({start.content_hash}))
    translation.project(documents, forgets)
    headwater.project()
    headwater.accept(lineage_event(run_event("r-1", "COMPLETE", 2)))
    translations.clear()
    found = translation.project(headwater.journal.documents_of("run:r-1"))
    assert translations == [3, 2]
    assert found.former == Translation(DEFAULT_RULES).project_all(documents).facts


def _with_text(run: str, text: str, **parts: Any) -> Any:
    sql = {"query": text, "dialect": "spark"}
    return run_event(run, "COMPLETE", 5, job_facets={"sql": sql}, **parts)


OF_OTHER_JOBS = [
    run_event("schema", "COMPLETE", 5, outputs=[dataset("orders", "id", "amount")]),
    _with_text(
        "view",
        "CREATE VIEW paid AS SELECT id, amount FROM orders",
        inputs=[dataset("orders")],
        outputs=[dataset("paid")],
    ),
    _with_text(
        "star",
        "INSERT INTO totals SELECT *, amount * 2 AS twice FROM paid",
        inputs=[dataset("paid")],
        outputs=[dataset("totals", "id", "amount", "twice")],
    ),
    run_event("later", "COMPLETE", 5, outputs=[dataset("paid", "id", "amount", "more")]),
]


def test_texts_over_tables_that_other_jobs_describe_come_to_the_same_in_every_order() -> None:
    """A text is read with the schemas of its own event: what arrives before it changes nothing."""
    at_once = elements_of_events(OF_OTHER_JOBS, stepwise=False)
    for order in permutations(OF_OTHER_JOBS):
        assert elements_of_events(order, stepwise=True) == at_once
    assert "('origin', 'sql')" in repr(at_once), "the texts give columns"
