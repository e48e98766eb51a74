"""Job names: labels, then the application name by the platform's rules."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_model.naming import JobName, job_name

ID = "c618a9fa-f5eb-4af9-9746-ae1035b36bc7"


@pytest.mark.parametrize(
    ("app_name", "name", "shared"),
    [
        ("employee-curate", "employee-curate", False),
        ("nativespark-emp-curate-jr_0a1b2c3d4e5f", "emp-curate", False),
        ("nativespark-emp-curate-jr_0a1b2c3d_attempt_1", "emp-curate", False),
        (f"nativespark-emp-{ID}", "emp", False),
        ("nativespark_emp_curate_jr_0a1b2c3d4e5f", "emp_curate", False),
        ("nativespark_emp_curate_jr_0a1b2c3d_attempt_1", "emp_curate", False),
        ("nativespark_emp_jr_team", "nativespark_emp_jr_team", False),
        (f"GlueReplApp-{ID}", "GlueReplApp", True),
        ("pyspark-shell", "pyspark-shell", True),
        ("Spark shell", "Spark shell", True),
        ("Databricks Shell", "Databricks Shell", True),
        ("SparkSQL::10.0.0.7", "SparkSQL", True),
        ("livy-session-12", "livy-session", True),
        ("daily_agg_2024-01-31", "daily_agg", False),
        ("daily_agg-20240131", "daily_agg", False),
        ("daily agg 2024-01-31 06:00:00", "daily agg", False),
        ("daily-2024-01-31T06:00:00+00:00", "daily", False),
        (f"export-{ID}", "export", False),
        ("report-2024", "report-2024", False),
        ("2024-01-31", "2024-01-31", False),
        ("tpch-q01", "tpch-q01", False),
        ("  padded ", "padded", False),
        (None, "unnamed", False),
        ("", "unnamed", False),
        ("x" * 100_000, "x" * 100_000, False),
    ],
)
def test_an_application_name_becomes_a_job_name(app_name, name, shared):
    assert job_name({}, app_name, "") == JobName("default", name, shared)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SparkSQL", "SparkSQL::10.0.0.7"),
        ("livy-session", "livy-session-12"),
        ("pyspark-shell", "pyspark-shell-2024-01-31"),
    ],
)
def test_one_job_is_shared_or_not_whichever_way_its_name_came(one, other):
    by_label = job_name({"job": [one]}, "emp-curate", "")
    assert job_name({}, one, "") == job_name({}, other, "") == by_label
    assert by_label.shared


def test_labels_win():
    labels = {"job": ["emp-curate"], "namespace": ["hr"], "team": ["x"]}
    assert job_name(labels, "pyspark-shell", "emr") == JobName("hr", "emp-curate", shared=False)


def test_the_capture_scope_is_the_namespace_where_no_label_says_one():
    assert job_name({}, "a", "emr").namespace == "emr"
    assert job_name({"namespace": ["", " "]}, "a", "emr").namespace == "emr"
    assert job_name({"namespace": ["", "hr"]}, "a", "emr").namespace == "hr"


def test_a_label_is_taken_as_it_is():
    assert job_name({"job": ["daily-2024-01-31"]}, "x", "").name == "daily-2024-01-31"


@settings(deadline=None)
@given(st.none() | st.text(st.characters()), st.text(st.characters()))
def test_every_application_has_a_job(app_name, scope):
    result = job_name({}, app_name, scope)
    assert result.name
    assert result.namespace
    assert job_name({}, result.name, scope).namespace == result.namespace
