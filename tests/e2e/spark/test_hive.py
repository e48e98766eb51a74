"""Renames, LOAD DATA and partitions in a Hive metastore, job by job, as `test_table_formats`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.e2e.spark.table_format_worker import EVERY, HIVE, topics
from tests.e2e.spark.test_listener import python_of, run_worker
from tests.e2e.spark.test_table_formats import Reports, check

_SPARK = "3.5"
LISTED: list[tuple[str, Mapping[str, Any]]] = [
    (topic, job) for topic, listed in topics(HIVE).items() for job in listed["jobs"]
]


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Reports:
    root = tmp_path_factory.mktemp("tables")
    worker = "tests.e2e.spark.table_format_worker"
    run_worker(python_of(_SPARK), worker, root, HIVE, _SPARK, EVERY)
    return Reports(root, _SPARK)


@pytest.mark.spark
@pytest.mark.part("hive")
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("topic", "job"), LISTED, ids=[job["name"] for _, job in LISTED])
def test_a_job_over_a_hive_metastore_is_reported_as_it_was_written_down(
    reports: Reports, topic: str, job: Mapping[str, Any]
) -> None:
    check(reports, topic, job)
