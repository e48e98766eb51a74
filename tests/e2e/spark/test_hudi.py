"""The listener's reports of Hudi on Spark 3.5, job by job, as ``test_table_formats`` does it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import pytest

from tests.e2e.spark.spark_jars import hudi_jar
from tests.e2e.spark.table_format_worker import EVERY, HUDI, topics
from tests.e2e.spark.test_listener import python_of, run_worker
from tests.e2e.spark.test_table_formats import Reports, check

_SPARK = "3.5"
LISTED: list[tuple[str, Mapping[str, Any]]] = [
    (topic, job) for topic, listed in topics(HUDI).items() for job in listed["jobs"]
]


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Reports:
    python = python_of(_SPARK)
    root = tmp_path_factory.mktemp("tables")
    arguments = (HUDI, _SPARK, EVERY, hudi_jar(os.environ))
    said = run_worker(python, "tests.e2e.spark.table_format_worker", root, *arguments)
    assert "A write is not reported" not in said
    return Reports(root, _SPARK)


@pytest.mark.spark
@pytest.mark.part("hudi")
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("topic", "job"), LISTED, ids=[job["name"] for _, job in LISTED])
def test_a_job_over_hudi_is_told_as_it_was_written_down(
    reports: Reports, topic: str, job: Mapping[str, Any]
) -> None:
    check(reports, topic, job)
