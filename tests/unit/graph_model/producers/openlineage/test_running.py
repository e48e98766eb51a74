"""Runs in progress: their tables, and what a stream wrote before its end."""

from __future__ import annotations

from typing import Any

import pytest

from graph_model import labels
from graph_model.answers.jobs import jobs
from graph_model.facts import DatasetRow, ExecutionRow
from graph_model.lineage.questions import Question
from graph_model.producers.openlineage.events.documents import read_event
from tests.openlineage_facts import facts_of_run
from tests.projections import SmallHeadwater, lineage_event, small_headwater

STREAM = {"jobType": {"processingType": "STREAMING", "integration": "FLINK"}}


def told(time: str, kind: str, *, job: str = "s", facets: Any = None, **tables: str) -> Any:
    """An event of a run; ``inputs`` and ``outputs`` are the names of tables."""
    return {
        "eventType": kind,
        "eventTime": f"2026-01-05T{time}:00Z",
        "run": {"runId": f"run-of-{job}"},
        "job": {"namespace": "etl", "name": job, "facets": STREAM if facets is None else facets},
        **{
            role: [{"namespace": "s3://lake", "name": name} for name in names.split()]
            for role, names in tables.items()
        },
    }


EVENTS = [
    told("08:00", "START", inputs="i", outputs="o"),
    told("08:20", "RUNNING"),
    told("09:00", "RUNNING"),
    told("09:10", "RUNNING", inputs="i j", outputs="o"),
    told("11:00", "RUNNING", inputs="i j", outputs="o"),
]


def seen(events: list[Any]) -> list[ExecutionRow]:
    rows = facts_of_run(map(read_event, events)).rows
    return sorted(
        (row for row in rows if isinstance(row, ExecutionRow)), key=lambda row: (row.at, row.state)
    )


@pytest.mark.parametrize("end", ["ABORT", "FAIL", "COMPLETE"])
def test_what_a_stream_wrote_before_a_time_stays_whatever_comes_later(end: str) -> None:
    events = [*EVENTS, told("20:00", end)]
    known: list[ExecutionRow] = []
    for count in range(1, len(events) + 1):
        found = seen(events[:count])
        assert found[: len(known)] == known
        known = found
    times = [row.at // 60_000 % 1440 for row in known if row.running]
    assert times == [480, 540, 550, 660]  # one an hour, and one where the tables change
    states = {"COMPLETE": labels.COMPLETED, "FAIL": labels.FAILED, "ABORT": labels.ABORTED}
    assert known[-1].state == states[end]
    assert not known[-1].running


def test_a_stream_whose_failure_alone_names_its_tables_wrote_since_its_start() -> None:
    found = seen([told("08:00", "START"), told("20:00", "FAIL", inputs="i", outputs="o")])
    assert [(row.state, row.running) for row in found] == [("completed", True), ("failed", False)]


def test_the_write_of_a_batch_job_in_progress_closes_nothing_and_goes_with_its_failure() -> None:
    overwrites = {"lifecycleStateChange": {"lifecycleStateChange": "OVERWRITE"}}
    start = told("08:00", "START", facets={}, inputs="i", outputs="o")
    start["outputs"][0]["facets"] = overwrites
    (row,) = seen([start])
    assert (row.mode, row.running, row.state) == ("unknown", True, "completed")
    (row,) = seen([start, told("09:00", "COMPLETE", facets={})])
    assert (row.mode, row.running) == ("overwrite", False)
    (row,) = seen([start, told("09:00", "FAIL", facets={})])
    assert (row.state, row.running) == ("failed", False)


def names_of(headwater: SmallHeadwater, state: str) -> list[str]:
    page = jobs(headwater.sources, query="", namespace=None, limit=9, cursor=None, at=None, now=0,
                state=state)  # fmt: skip
    return [item.name for item in page.items]


def test_a_running_job_is_running_in_lists_and_its_tables_are_connected() -> None:
    headwater = small_headwater()
    try:
        for event in (
            told("10:00", "RUNNING", job="service", facets={}, inputs="i", outputs="o"),
            told("10:00", "RUNNING", job="next", facets={}, inputs="o", outputs="p"),
            told("11:00", "COMPLETE", job="batch", facets={}, inputs="x", outputs="y"),
        ):
            headwater.accept(lineage_event(event))
        headwater.project()
        assert names_of(headwater, "running") == ["next", "service"]
        assert names_of(headwater, "completed") == ["batch"]
        rows = headwater.elements()[1]
        names = {row.uri: row.id for row in rows if isinstance(row, DatasetRow)}
        answer = headwater.sources.lineage.ask(Question(names["s3://lake/p"], depth=9))
        assert {names["s3://lake/i"], names["s3://lake/o"]} <= set(answer.datasets)
    finally:
        headwater.close()
