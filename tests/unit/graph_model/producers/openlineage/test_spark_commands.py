"""The mode of every command of OpenLineage's Spark client."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graph_model.facts import ExecutionRow
from graph_model.producers.openlineage.events.documents import read_event
from tests.openlineage_facts import facts_of_run

_FIXTURE = Path(__file__).parents[4] / "fixtures" / "openlineage" / "spark_commands.json"
COMMANDS = json.loads(_FIXTURE.read_text(encoding="utf-8"))["commands"]
JOB_TYPE = {"processingType": "BATCH", "integration": "SPARK", "jobType": "SQL_JOB"}


def write_of(command: str, change: str, *, reads: bool, **properties: str) -> ExecutionRow:
    """The execution of a completed command that has a table ``t`` among its outputs."""
    facets = {} if change == "-" else {"lifecycleStateChange": {"lifecycleStateChange": change}}
    told: dict[str, Any] = {
        "eventTime": "2026-01-05T08:00:00Z",
        "eventType": "COMPLETE",
        "run": {"runId": "r", "facets": {"spark_properties": {"properties": properties}}},
        "job": {"namespace": "n", "name": f"app.{command}.t", "facets": {"jobType": JOB_TYPE}},
        "inputs": [{"namespace": "s3://lake", "name": "s"}] if reads else [],
        "outputs": [{"namespace": "s3://lake", "name": "t", "facets": facets}],
    }
    rows = facts_of_run([read_event(told)]).rows
    (row,) = (row for row in rows if isinstance(row, ExecutionRow) and row.target)
    return row


@pytest.mark.parametrize(("command", "change", "reading", "alone"), COMMANDS)
def test_a_command_has_the_mode_of_its_name(
    command: str, change: str, reading: str, alone: str
) -> None:
    modes = [write_of(command, change, reads=reads).mode for reads in (True, False)]
    assert modes == [reading, alone]


def test_a_dynamic_overwrite_names_no_partition_that_it_replaced() -> None:
    setting = {"spark.sql.sources.partitionOverwriteMode": "DYNAMIC"}
    insert = "execute_insert_into_hadoop_fs_relation_command"
    assert write_of("overwrite_partitions_dynamic", "OVERWRITE", reads=True).dynamic
    assert write_of(insert, "OVERWRITE", reads=True, **setting).dynamic
    assert not write_of(insert, "OVERWRITE", reads=True).dynamic
    assert not write_of(insert, "-", reads=True, **setting).dynamic
