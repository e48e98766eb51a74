"""Applications that Spline's and OpenLineage's agents reported side by side: one identity."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from graph_model import identity, labels
from graph_model.answers.runs import newest
from graph_model.facts import ExecutionRow, Facts, JobRow, NameRow, RunRow, merge
from graph_model.naming import Rules
from graph_model.producers.openlineage.events.documents import RunEvent, read_event, subject_key
from graph_model.producers.openlineage.events.facets import read_once
from graph_model.producers.openlineage.plans import heads_of
from graph_model.producers.spline.documents import read_event as read_spline_event
from graph_model.producers.spline.documents import read_plan
from graph_model.producers.spline.plan_logic import PlanDocument
from tests import captures
from tests.openlineage_facts import facts_of_run
from tests.spline_facts import facts_of_plan

_FOLDER = Path(__file__).parents[4] / "fixtures" / "openlineage" / "captured"
NAMES = sorted(path.stem for path in _FOLDER.glob("*.json"))
#: Values that one agent reports and the other does not, for reasons of theirs.
ONLY_OPENLINEAGE = {
    "c_struct_fields": {"column"},  # nested fields are columns of a dataset
}
ONLY_SPLINE = {
    "c_jdbc_sqlite": {"dataset", "column"},  # a write that OpenLineage's agent did not report
}


def documents(name: str) -> list[Any]:
    found: list[Any] = json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return found


def runs(name: str) -> dict[str, list[RunEvent]]:
    found: dict[str, list[RunEvent]] = {}
    for event in map(read_event, documents(name)):
        assert isinstance(event, RunEvent)
        found.setdefault(subject_key(event), []).append(event)
    return found


def openlineage(name: str, scope: str = "") -> Facts:
    return merge(facts_of_run(events, scope=scope) for events in runs(name).values())


def spline(name: str, scope: str = "") -> Facts:
    plans = {plan.id: plan for plan in map(read_plan, captures.plans(name))}
    events: dict[str, list[Any]] = {}
    for event in map(read_spline_event, captures.events(name)):
        events.setdefault(event.plan_id, []).append(event)
    return merge(
        facts_of_plan(PlanDocument(plan, scope, "", "1.2"), tuple(events.get(key, ())))
        for key, plan in plans.items()
    )


def ids(facts: Facts, label: str) -> set[str]:
    return {vertex.id for vertex in facts.vertices if vertex.label == label}


def executions(facts: Facts) -> list[ExecutionRow]:
    return [row for row in facts.rows if isinstance(row, ExecutionRow)]


@pytest.mark.parametrize("scope", ["", "lab"])
@pytest.mark.parametrize("name", NAMES)
def test_both_agents_mean_the_same_vertices(name: str, scope: str) -> None:
    ours, theirs = openlineage(name, scope), spline(name, scope)
    merge([ours, theirs])  # and say nothing different of one of them
    for label in (labels.JOB, labels.DATASET, labels.COLUMN):
        one, other = ids(ours, label), ids(theirs, label)
        assert one & other
        if label not in ONLY_OPENLINEAGE.get(name, ()):
            assert one <= other
        if label not in ONLY_SPLINE.get(name, ()):
            assert other <= one


@pytest.mark.parametrize("name", NAMES)
def test_both_agents_mean_one_job_and_one_run_of_each_application(name: str) -> None:
    ours, theirs = openlineage(name), spline(name)
    assert ids(ours, labels.JOB) == ids(theirs, labels.JOB)
    applications = {row.application_id for row in executions(theirs)} - {""}
    known = {row.application_id for row in executions(ours)} - {""}
    assert applications == known
    for application in applications:
        run = identity.vertex_id(labels.RUN, "", application)
        assert run in ids(ours, labels.RUN)
        assert run in ids(theirs, labels.RUN)


@pytest.mark.parametrize("name", ["a1_curate", "a2_managers", "a3_agg", "c_append", "c_case_when"])
def test_a_write_seen_by_both_can_be_paired(name: str) -> None:
    """Equal application, target and reads, at most ten seconds apart, as pairing requires."""
    ours = [row for row in executions(openlineage(name)) if row.kind == "write"]
    theirs = [row for row in executions(spline(name)) if row.kind == "write"]
    keys = [Counter((r.application_id, r.target, r.reads) for r in rows) for rows in (ours, theirs)]
    assert keys[0] == keys[1]
    for one, other in zip(
        sorted(ours, key=lambda row: row.at), sorted(theirs, key=lambda row: row.at), strict=True
    ):
        assert abs(one.at - other.at) <= 10_000
        assert one.producer.startswith("openlineage-spark ")


def test_the_two_executions_of_a_create_table_as_select_can_be_told() -> None:
    rows = [row for row in executions(openlineage("c_ctas_cte")) if row.kind == "write"]
    assert [row.command for row in sorted(rows, key=lambda row: row.at)] == [
        "InsertIntoHadoopFsRelationCommand",
        "CreateDataSourceTableAsSelectCommand",
    ]
    assert len({(row.target, row.reads, row.application_id, row.mode) for row in rows}) == 1


def test_helper_runs_are_rows_under_their_application_and_nothing_else() -> None:
    facts = openlineage("a1_curate")
    rows = newest(row for row in facts.rows if isinstance(row, RunRow))
    helpers = [row for row in rows.values() if row.folded]
    assert {row.name for row in helpers} == {
        "employee_curate.collect_limit",
        "employee_curate.map_partitions_sql_execution_map_partitions_file_scan",
    }
    assert {row.job for row in rows.values()} == ids(facts, labels.JOB)
    assert len(executions(facts)) == 1
    assert len(ids(facts, labels.LOGICAL_PLAN)) == 1


def test_a_table_has_the_catalog_name_that_spline_gives_it() -> None:
    ours, theirs = (
        {(row.name, row.location) for row in facts.rows if isinstance(row, NameRow)}
        for facts in (openlineage("c_insert_into"), spline("c_insert_into"))
    )
    assert ours
    assert ours == theirs


def test_a_failure_that_spark_calls_complete_stays_a_failure() -> None:
    rows = sorted(executions(openlineage("c_ignore_mode")), key=lambda row: row.at)
    assert [row.state for row in rows] == ["failed", "completed", "completed"]
    assert rows[0].error is not None
    assert rows[0].error.startswith("Job aborted due to stage failure")


def test_a_namespace_that_a_rule_names_is_kept() -> None:
    rules = Rules(spark_own_namespaces=("h1",))
    facts = merge(facts_of_run(events, rules) for events in runs("a1_curate").values())
    jobs = [(row.namespace, row.name) for row in facts.rows if isinstance(row, JobRow)]
    assert jobs == [("h1", "employee-curate")]


@pytest.mark.parametrize("name", NAMES)
def test_events_in_any_order_and_repeated_give_equal_facts(name: str) -> None:
    for events in runs(name).values():
        shuffled = [*events, *events]
        random.Random(name).shuffle(shuffled)
        assert facts_of_run(shuffled) == facts_of_run(events)


def test_column_lineage_that_nine_events_repeat_is_read_once() -> None:
    listed = documents("c_ctas_cte")
    for document in listed:  # columns that no other test names
        for output in document["outputs"]:
            fields = output["facets"].get("columnLineage", {}).get("fields", {})
            fields["told_nine_times"] = {"inputFields": []}
    carrying = [
        document
        for document in listed
        if any("columnLineage" in output["facets"] for output in document["outputs"])
    ]
    for document in documents("c_ctas_cte"):
        read_event(document)  # all their other facets are known from here on
    before = read_once.cache_info().misses
    events = [read_event(document) for document in carrying]
    assert len(events) == 11
    assert (
        read_once.cache_info().misses - before <= 4
    )  # two lineages, each spelled in two orders at most
    by_run: dict[str, list[RunEvent]] = {}
    for event in events:
        assert isinstance(event, RunEvent)
        by_run.setdefault(event.run_id, []).append(event)
    before = heads_of.cache_info().misses
    for run in by_run.values():
        facts_of_run(run)
    translated = heads_of.cache_info().misses - before
    for run in by_run.values():
        facts_of_run(run)
    assert heads_of.cache_info().misses - before == translated == 2
