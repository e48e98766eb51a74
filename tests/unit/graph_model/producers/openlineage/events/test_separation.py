"""Which runs the events under one run id are about."""

from __future__ import annotations

import random
from typing import Any

import pytest

from graph_model.facts import ExecutionRow, RunRow
from graph_model.producers.openlineage.events.accumulate import separate_runs
from graph_model.producers.openlineage.events.documents import RunEvent, read_event
from tests.projections import lineage_event, small_headwater

UUID = "0195cf5b-7c01-7e51-a42d-4b0b0b1a1f00"


def told(minute: int, kind: str, job: str = "load", **more: Any) -> dict[str, Any]:
    return {
        "eventType": kind,
        "eventTime": f"2026-03-01T10:{minute:02}:00Z",
        "run": {"runId": UUID},
        "job": {"namespace": "etl", "name": job},
        **more,
    }


def minutes(*events: dict[str, Any]) -> list[list[int]]:
    """The minutes of the events of each run, in any order of arrival."""
    read = [read_event(event) for event in events]
    mixed = random.Random(7).sample(read, len(read))
    runs = separate_runs([one for one in mixed if isinstance(one, RunEvent)], lambda event: event)
    assert len({run.mark for run in runs}) == len(runs)
    return sorted([event.at // 60_000 % 60 for event in run.members] for run in runs)


@pytest.mark.parametrize(
    ("events", "runs"),
    [
        # two jobs with one id
        ([(0, "START", "a"), (1, "START", "b"), (5, "COMPLETE", "a"), (6, "COMPLETE", "b")],
         [[0, 5], [1, 6]]),
        ([(5, "COMPLETE", "a"), (6, "FAIL", "b")], [[5], [6]]),
        # a job that was renamed while it ran
        ([(0, "START", "a"), (1, "RUNNING", "a.t"), (2, "COMPLETE", "a.t")], [[0, 1, 2]]),
        # an id that is used again
        ([(0, "START", "a"), (1, "COMPLETE", "a"), (2, "START", "a"), (3, "FAIL", "a")],
         [[0, 1], [2, 3]]),
        ([(0, "START", "a"), (1, "FAIL", "a"), (2, "START", "a")], [[0, 1], [2]]),
        # clocks that differ, starts and ends that are sent twice
        ([(0, "COMPLETE", "a"), (1, "START", "a"), (2, "ABORT", "a")], [[0, 1, 2]]),
        ([(0, "START", "a"), (1, "START", "a"), (2, "COMPLETE", "a"), (3, "COMPLETE", "a")],
         [[0, 1, 2, 3]]),
        ([(0, "COMPLETE", "a"), (0, "START", "a"), (1, "RUNNING", "a")], [[0, 0, 1]]),
    ],
)  # fmt: skip
def test_a_run_is_told_by_its_job_its_start_and_its_end(events, runs) -> None:
    assert minutes(*(told(*event) for event in events)) == runs


def test_every_use_of_a_run_id_is_a_run_with_its_own_tables() -> None:
    headwater = small_headwater()
    try:
        for start in (0, 10, 20):
            for job in ("load", "copy"):
                source, target = (
                    {"namespace": "s3://lake", "name": f"{job}_{end}{start}"}
                    for end in ("in", "out")
                )
                headwater.accept(
                    lineage_event(told(start, "START", job, inputs=[source])),
                    lineage_event(told(start + 5, "COMPLETE", job, outputs=[target])),
                )
                headwater.project()
        rows = headwater.elements()[1]
        writes = [row for row in rows if isinstance(row, ExecutionRow) and row.target]
        assert len(writes) == len({(row.run, row.reads, row.target) for row in writes}) == 6
        assert {len(row.reads.split()) for row in writes} == {1}
        assert {row.run for row in writes} == {row.run for row in rows if isinstance(row, RunRow)}
    finally:
        headwater.close()
