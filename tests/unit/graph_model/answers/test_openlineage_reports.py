"""Descriptions of jobs, datasets and runs by facets, whatever shape they have."""

from __future__ import annotations

from typing import Any

import pytest

from graph_model.answers.openlineage_reports import (
    JobDependency,
    describe_columns,
    describe_dataset,
    describe_job,
)
from graph_model.facts import EventLabelRow, EventRow, FacetRow, JobRow
from graph_model.producers.openlineage.events.documents import read_event
from graph_model.producers.openlineage.quality import MOST_CHECKS, Check, judge, read_checks
from tests.openlineage_facts import facts_of_declaration, facts_of_run

EVENT: dict[str, Any] = {
    "eventType": "COMPLETE",
    "eventTime": "2026-03-01T10:00:00Z",
    "producer": "https://github.com/OpenLineage/OpenLineage/tree/1.54.0/integration/flink",
    "run": {"runId": "r1"},
    "job": {"namespace": "etl", "name": "load"},
    "outputs": [{"namespace": "s3://lake", "name": "t"}],
}


def event_row(**changes: Any) -> EventRow:
    facts = facts_of_run([read_event({**EVENT, **changes})])  # type: ignore[list-item]
    (found,) = [row for row in facts.rows if isinstance(row, EventRow)]
    return found


# --- lists ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("run_facets", "job_facets", "system"),
    [
        ({"processing_engine": {"name": "Flink", "version": "2.0"}}, {}, "flink 2.0"),
        ({"processing_engine": {"version": "2.0"}}, {}, "2.0"),
        ({"processing_engine": {"name": 7}}, {"jobType": {"integration": "AIRFLOW"}}, "airflow"),
        ({}, {}, "openlineage-flink 1.54.0"),
    ],
)
def test_a_run_s_system_is_its_engine_else_its_integration_else_its_producer(
    run_facets: dict[str, Any], job_facets: dict[str, Any], system: str
) -> None:
    row = event_row(
        run={"runId": "r1", "facets": run_facets}, job={**EVENT["job"], "facets": job_facets}
    )
    assert (row.system, row.application) == (system, "load")


def test_a_run_is_searched_by_job_target_and_tagged_like_a_plan_with_labels() -> None:
    tags = {"tags": [{"key": "team", "value": "red", "source": "CONFIG"}]}
    event = {**EVENT, "run": {"runId": "r1", "facets": {"tags": tags}}}
    rows = facts_of_run([read_event(event)]).rows  # type: ignore[list-item]
    (row,) = [row for row in rows if isinstance(row, EventRow)]
    assert row.words.split("\n")[0] == "load"
    assert "s3://lake/t" in row.words
    assert row.labels == '{"team":["red"]}'
    labelled = [row for row in rows if isinstance(row, EventLabelRow)]
    assert [(row.name, row.value) for row in labelled] == [("team", "red")]


def test_a_declaration_is_no_event() -> None:
    declared = {key: value for key, value in EVENT.items() if key not in ("run", "eventType")}
    facts = facts_of_declaration(read_event(declared))  # type: ignore[arg-type]
    assert not [row for row in facts.rows if isinstance(row, EventRow)]


# --- descriptions --------------------------------------------------------------------------------


def test_a_dataset_is_described_by_its_facets() -> None:
    said = describe_dataset(
        {
            "datasetType": {"datasetType": "TABLE", "subType": "EXTERNAL"},
            "catalog": {"framework": "iceberg", "type": "glue", "name": "main"},
            "dataSource": {"uri": "s3://lake"},
            "hierarchy": {"hierarchy": [{"type": "DATABASE", "name": "hr"}, {"name": "staff"}]},
        }
    )
    assert (said.dataset_type, said.catalog) == ("TABLE EXTERNAL", "iceberg glue main")
    assert (said.data_source, said.hierarchy) == ("s3://lake", ("DATABASE hr", "staff"))


def test_a_column_has_its_description_and_the_tags_on_it_in_any_case() -> None:
    found = describe_columns(
        {
            "schema": {"fields": [{"name": "Id", "description": "the key"}, {"name": "x"}]},
            "tags": {"tags": [{"key": "pii", "field": "MAIL"}, {"key": "gold"}]},
        }
    )
    assert {path: (one.description, len(one.tags)) for path, one in found.items()} == {
        "id": ("the key", 0), "mail": ("", 1),
    }  # fmt: skip


@pytest.mark.parametrize("odd", [None, 1, "x", [], [1], [[]], [{}], {"a": 1}, True])
def test_a_facet_without_a_known_shape_describes_nothing(odd: Any) -> None:
    names = ("ownership", "tags", "sql", "sourceCode", "sourceCodeLocation", "schema", "hierarchy")
    keys = ("owners", "tags", "query", "sourceCode", "url", "fields", "hierarchy")
    facets = {name: {key: odd} for name, key in zip(names, keys, strict=True)}
    facets["jobDependencies"] = {"upstream": odd, "downstream": [{"job": odd, "run": odd}]}
    assert (describe_job(facets).owners, describe_job(facets).dependencies) == ((), ())
    assert describe_dataset(facets).tags == ()
    assert describe_columns(facets) == {}


def test_the_jobs_before_and_after_a_run_are_its_jobs_order_and_feed_nothing() -> None:
    before = {
        "job": {"namespace": "airflow", "name": "ingest"},
        "run": {"runId": "r0"},
        "dependency_type": "IMPLICIT_DEPENDENCY",
        "sequence_trigger_rule": "FINISH_TO_START",
        "status_trigger_rule": "EXECUTE_ON_SUCCESS",
    }
    after = {"job": {"namespace": "airflow", "name": "report"}}
    body = {"upstream": [before], "downstream": [after, {}], "trigger_rule": "ALL_DONE"}
    order = {"jobDependencies": body}
    facts = facts_of_run([read_event({**EVENT, "run": {"runId": "r", "facets": order}})])  # type: ignore[list-item]
    kinds = {row.kind for row in facts.rows if isinstance(row, FacetRow)}
    assert kinds >= {"run", "job"}
    assert {row.name for row in facts.rows if isinstance(row, JobRow)} == {"load"}
    found = describe_job(order)
    assert found.trigger_rule == "ALL_DONE"
    assert found.dependencies == (
        JobDependency(
            "upstream", "airflow", "ingest", "r0",
            "IMPLICIT_DEPENDENCY", "FINISH_TO_START", "EXECUTE_ON_SUCCESS",
        ),
        JobDependency("downstream", "airflow", "report", "", "", "", ""),
    )  # fmt: skip


# --- quality -------------------------------------------------------------------------------------


def test_one_failed_check_fails_the_dataset_and_repeats_count_once() -> None:
    body = {
        "assertions": [
            {"assertion": "not_null", "success": True, "column": "id"},
            {"assertion": "not_null", "success": True, "column": "id"},
            {"assertion": "row_count", "success": False, "expected": 5, "actual": 4.5},
        ]
    }
    quality = judge(read_checks(body, 7, "job-1"))
    assert quality is not None
    assert (quality.state, quality.checks, quality.failures, quality.at) == ("failed", 2, 1, 7)
    (failed,) = quality.failed
    assert (failed.assertion, failed.expected, failed.actual) == ("row_count", "5", "4.5")


def test_checks_that_all_passed_pass_and_none_say_nothing() -> None:
    passed = Check(1, "job", "", "any", passed=True)
    assert judge([passed]) is not None
    assert judge([passed]).state == "passed"  # type: ignore[union-attr]
    assert judge([]) is None
    assert judge(read_checks({"assertions": [{"assertion": "x"}, "y", None]}, 1, "")) is None


@pytest.mark.parametrize(
    ("severity", "state", "failures", "warnings"),
    [("warn", "passed", 0, 1), ("WARN", "passed", 0, 1), ("info", "passed", 0, 1),
     ("error", "failed", 1, 0), ("", "failed", 1, 0), ("blocker", "failed", 1, 0)],
)  # fmt: skip
def test_a_check_of_severity_warn_fails_no_table(
    severity: str, state: str, failures: int, warnings: int
) -> None:
    quality = judge([Check(1, "job", "id", "unique", passed=False, severity=severity)])
    assert quality is not None
    assert (quality.state, quality.failures, quality.warnings) == (state, failures, warnings)


DBT = "openlineage-dbt 1.53.0"
UNRUN = {"assertion": "unique", "name": "unique_t_id", "success": False, "severity": "error"}


@pytest.mark.parametrize(
    ("assertions", "producer", "said"),
    [
        ([UNRUN], DBT, []),
        ([UNRUN | {"success": True}], DBT, [True]),
        ([UNRUN | {"expected": "0", "actual": "3"}], DBT, [False]),
        ([UNRUN | {"actual": 3}], DBT, [False]),
        ([UNRUN | {"name": ""}], DBT, [False]),  # an older client: it tells no check's values
        ([UNRUN], "openlineage-airflow 2.20.3", [False]),
        ([UNRUN, {"assertion": "rows", "success": True, "expected": "1"}], "", [True]),
    ],
)  # fmt: skip
def test_a_check_that_did_not_run_says_nothing(
    assertions: list[dict[str, Any]], producer: str, said: list[bool]
) -> None:
    found = read_checks({"assertions": assertions}, 1, "job", producer)
    assert [one.passed for one in found] == said


def test_of_a_list_without_end_the_failures_are_kept() -> None:
    many = [{"assertion": f"a{n}", "success": n != 4_999} for n in range(5_000)]
    found = read_checks({"assertions": many}, 1, "job")
    assert (len(found), found[0].passed) == (MOST_CHECKS, False)


def test_of_many_failures_the_first_twenty_are_shown_and_all_are_counted() -> None:
    body = {"assertions": [{"assertion": f"a{n:02}", "success": False} for n in range(31)]}
    quality = judge(read_checks(body, 1, ""))
    assert quality is not None
    assert (quality.failures, len(quality.failed), quality.failed[0].assertion) == (31, 20, "a00")
