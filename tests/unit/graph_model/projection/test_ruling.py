"""Another set of naming rules: beside those in force, with documents in between, and back."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from graph_model.naming import DEFAULT_RULES
from graph_model.producers.commands import (
    Command,
    CommandKind,
    Forget,
    Statement,
    submit,
    write_value,
)
from graph_model.projection.projector import Projector
from graph_model.stores.documents import DocumentState, Submission
from tests.projections import SmallHeadwater, lineage_event, small_headwater
from tests.unit.graph_model.producers.openlineage.test_projection import run_event
from tests.unit.graph_model.projection.projector.test_projector import a_plan, an_event, event, plan

START = 1_700_000_000_000
OTHER = {
    "jobPatterns": [{"pattern": "(?P<job>.+)-[0-9]+", "name": r"\g<job>"}],
    "schemeAliases": [["s3a", "s3"], ["s3n", "s3"], ["gcs", "s3"]],
}


@pytest.fixture
def headwater() -> Iterator[SmallHeadwater]:
    made = small_headwater()
    for number in range(30):  # more than one step of a rebuild
        made.accept(*run_of(number))
    made.project()
    yield made
    made.close()


def run_of(number: int, event_number: int = 0) -> tuple[Submission, Submission]:
    body = copy.deepcopy(
        a_plan(id=f"{number:08d}-2222-5333-8444-555555555555", name=f"etl-{number}")
    )
    body["operations"]["write"]["outputSource"] = "gcs://lake/out"
    at = START + number * 1_000 + event_number
    return plan(body), event(an_event(at, planId=body["id"]))


def rules(document: Mapping[str, Any] | None, at: int) -> Submission:
    value = None if document is None else write_value(document)
    statement = Statement(CommandKind.RULES, "rules", value)
    return submit(Command("ann", at, "", "naming rules", statement))


def job_names(headwater: SmallHeadwater) -> set[str]:
    return {item.job.name for item in headwater.catalogue.list_jobs(now=0, limit=1000).items}


def finish(projector: Projector) -> None:
    while projector.project_pending() or projector.rebuild_step():
        pass


def rows_and_elements(headwater: SmallHeadwater) -> Any:
    vertices, rows = headwater.elements()
    return vertices, [row for row in rows if type(row).__name__ != "CommandRow"]


def from_nothing(*submissions: Submission) -> Any:
    """The content of a Headwater that knew the rules before the first document."""
    fresh = small_headwater()
    fresh.accept(*submissions)
    finish(fresh.projector)
    shown = rows_and_elements(fresh)
    fresh.close()
    return shown


def everything(number: int = 30) -> list[Submission]:
    return [item for each in range(number) for item in run_of(each)]


def test_other_rules_have_the_result_of_a_start_under_them(headwater: SmallHeadwater) -> None:
    assert len(job_names(headwater)) == 30
    headwater.accept(rules(OTHER, START))
    finish(headwater.projector)
    assert job_names(headwater) == {"etl"}
    assert rows_and_elements(headwater) == from_nothing(rules(OTHER, START), *everything())


def test_the_projection_in_force_answers_under_its_own_rules_until_it_is_replaced(
    headwater: SmallHeadwater,
) -> None:
    headwater.accept(rules(OTHER, START))
    headwater.project()
    headwater.projector.rebuild_step()
    assert len(job_names(headwater)) == 30
    assert headwater.projector.rules == DEFAULT_RULES
    finish(headwater.projector)
    assert headwater.projector.rules != DEFAULT_RULES


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 4])
def test_documents_that_come_meanwhile_are_shown_under_both(
    headwater: SmallHeadwater, steps: int
) -> None:
    headwater.accept(rules(OTHER, START))
    headwater.project()
    for _ in range(steps):
        headwater.projector.rebuild_step()
    known, new = run_of(0, 7)[1], run_of(99)  # of a plan that was translated already; a new one
    positions = headwater.accept(known, *new)
    headwater.project()
    assert set(headwater.journal.states(positions).values()) == {DocumentState.PROJECTED}
    finish(headwater.projector)
    expected = from_nothing(rules(OTHER, START), *everything(), known, *new)
    assert rows_and_elements(headwater) == expected


def test_the_way_back_restores_the_former_projection(headwater: SmallHeadwater) -> None:
    before = rows_and_elements(headwater)
    headwater.accept(rules(OTHER, START))
    finish(headwater.projector)
    headwater.accept(rules(None, START + 1))
    finish(headwater.projector)
    assert rows_and_elements(headwater) == before


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_rules_that_are_taken_back_half_way_leave_nothing(
    headwater: SmallHeadwater, steps: int
) -> None:
    before = rows_and_elements(headwater)
    headwater.accept(rules(OTHER, START))
    headwater.project()
    for _ in range(steps):
        headwater.projector.rebuild_step()
    headwater.accept(rules(None, START + 1))
    finish(headwater.projector)
    assert rows_and_elements(headwater) == before


@pytest.mark.parametrize("steps", [0, 1, 3])
def test_another_process_takes_up_where_one_died(headwater: SmallHeadwater, steps: int) -> None:
    headwater.accept(rules(OTHER, START))
    headwater.project()
    for _ in range(steps):
        headwater.projector.rebuild_step()
    headwater.kill_rebuilding_process()
    second = Projector(headwater.journal, headwater.graph, headwater.generations)
    second.prepare()
    known = run_of(0, 7)[1]
    positions = headwater.accept(known)
    finish(second)
    assert set(headwater.journal.states(positions).values()) == {DocumentState.PROJECTED}
    expected = from_nothing(rules(OTHER, START), *everything(), known)
    assert rows_and_elements(headwater) == expected


def test_the_newest_rules_hold_whatever_the_order_of_arrival(headwater: SmallHeadwater) -> None:
    headwater.accept(rules(OTHER, START + 5))
    headwater.accept(rules(None, START))
    finish(headwater.projector)
    assert job_names(headwater) == {"etl"}


def test_rules_that_cannot_be_read_change_nothing(headwater: SmallHeadwater) -> None:
    headwater.accept(rules({"unknown": []}, START))
    finish(headwater.projector)
    assert len(job_names(headwater)) == 30
    assert json.loads(headwater.catalogue.commands("rules")[0].body)["value"] == {"unknown": []}


def test_a_second_process_takes_up_the_rules_that_another_has_put_in_force(
    headwater: SmallHeadwater,
) -> None:
    second = Projector(headwater.journal, headwater.graph, headwater.generations)
    second.prepare()
    headwater.accept(rules(OTHER, START))
    finish(headwater.projector)
    known = run_of(0, 7)[1]
    positions = headwater.accept(known)
    finish(second)
    assert second.rules == headwater.projector.rules
    assert set(headwater.journal.states(positions).values()) == {DocumentState.PROJECTED}
    expected = from_nothing(rules(OTHER, START), *everything(), known)
    assert rows_and_elements(headwater) == expected


@pytest.mark.parametrize("second", ["RUNNING", "COMPLETE", "forget"])
def test_a_run_that_goes_on_during_a_rebuild_under_other_rules_is_told_once(second: str) -> None:
    """Its facts under the new rules, which the rebuild wrote, go like those under the old."""
    kind = {"processingType": "BATCH", "integration": "ANY", "jobType": "JOB"}

    def of_run(kind_of_event: str, minute: int) -> Submission:
        told = run_event("goes on", kind_of_event, minute, "a job")
        told["job"]["facets"] = {"jobType": kind | {"_producer": "x:y", "_schemaURL": "x:y"}}
        return lineage_event(told)

    start, running = of_run("START", 1), of_run("RUNNING", 2)
    forgotten = Forget((running.subject_key,), (running.content_hash,))
    then = submit(Command("ann", 1, "", "", forgotten)) if second == "forget" else of_run(second, 3)
    ruled = rules({"endlessProcessing": ["BATCH"]}, 1)
    made, fresh = small_headwater(), small_headwater()
    made.accept(start, running)
    made.project()
    made.accept(ruled)
    made.project()
    made.projector.rebuild_step()  # all is translated under the new rules
    made.accept(then)
    finish(made.projector)
    fresh.accept(ruled, start, running, then)
    finish(fresh.projector)
    assert made.elements() == fresh.elements()
    made.close()
    fresh.close()
