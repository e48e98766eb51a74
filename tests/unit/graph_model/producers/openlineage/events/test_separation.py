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
        "eventTime": f"2026-03-01T{10 + minute // 60}:{minute % 60:02}:00Z",
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
    return sorted([event.at // 60_000 % 1440 - 600 for event in run.members] for run in runs)


def table(name: str, **facets: Any) -> dict[str, Any]:
    return {"namespace": "s3://lake", "name": name, "facets": facets}


IN, OUT = table("in"), table("out")
TABLES: dict[str, Any] = {"inputs": [IN], "outputs": [OUT]}
ROWS = {"outputStatistics": {"rowCount": 7}}


def nominal(day: int, clock: str = "00:00:00Z") -> dict[str, Any]:
    facet = {"nominalStartTime": f"2026-03-{day:02}T{clock}"}
    return {"run": {"runId": UUID, "facets": {"nominalTime": facet}}}


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


@pytest.mark.parametrize(
    ("events", "runs"),
    [
        # sent again; two ends of one query of Spark, the second without or with other tables
        ([(0, "COMPLETE", TABLES), (0, "COMPLETE", TABLES)], [[0, 0]]),
        ([(0, "COMPLETE", TABLES), (1, "COMPLETE", {"outputs": [OUT]})], [[0, 1]]),
        ([(0, "COMPLETE", TABLES), (1, "COMPLETE", {})], [[0, 1]]),
        # an end for each table that is copied
        ([(0, "COMPLETE", TABLES), (50, "COMPLETE", {"outputs": [table("b")]}),
          (100, "COMPLETE", {"outputs": [table("c")]})], [[0, 50, 100]]),
        # facets alone, at any time; metadata that OTHER or an unknown type adds
        ([(0, "COMPLETE", TABLES), (300, "COMPLETE", {})], [[0, 300]]),
        ([(0, "COMPLETE", TABLES), (300, "OTHER", {"outputs": [OUT | {"outputFacets": ROWS}]})],
         [[0, 300]]),
        ([(0, "COMPLETE", TABLES), (300, "AUDIT", TABLES)], [[0, 300]]),
        # the same id an hour later
        ([(0, "COMPLETE", TABLES), (60, "COMPLETE", TABLES), (120, "FAIL", TABLES)],
         [[0], [60], [120]]),
        ([(0, "COMPLETE", TABLES), (60, "RUNNING", {"inputs": [IN]}),
          (61, "COMPLETE", {"outputs": [OUT]})], [[0], [60, 61]]),
        ([(0, "COMPLETE", TABLES), (60, "START", {}), (61, "COMPLETE", TABLES)], [[0], [60, 61]]),
        ([(0, "START", TABLES), (5, "COMPLETE", TABLES), (300, "COMPLETE", TABLES)],
         [[0, 5], [300]]),
        # days that are made up for, one after the other
        ([(0, "COMPLETE", TABLES | nominal(1)), (1, "COMPLETE", TABLES | nominal(2)),
          (2, "COMPLETE", nominal(2))], [[0], [1, 2]]),
        ([(0, "COMPLETE", TABLES | nominal(1)), (1, "COMPLETE", TABLES)], [[0, 1]]),
        ([(0, "COMPLETE", TABLES | nominal(1)), (1, "COMPLETE", nominal(1, "01:00:00.000+01:00"))],
         [[0, 1]]),
        # a run that is still going
        ([(0, "START", nominal(1)), (300, "COMPLETE", TABLES | nominal(1))], [[0, 300]]),
        ([(0, "RUNNING", TABLES), (300, "RUNNING", TABLES)], [[0, 300]]),
    ],
)  # fmt: skip
def test_a_run_is_over_where_its_id_ends_again_much_later(events, runs) -> None:
    assert minutes(*(told(minute, kind, **more) for minute, kind, more in events)) == runs


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
