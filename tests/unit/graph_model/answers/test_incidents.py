"""The desk of the person on call: failures by their error, unusual writes, failed checks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from graph_model import labels
from graph_model.answers.home import incidents, is_slow, is_small, pattern_of, without_ctas
from graph_model.lineage import Partial
from tests.contract.rows import an_execution
from tests.projections import SmallHeadwater, lineage_event, small_headwater

HOUR = 3_600_000
MIDNIGHT = 1_772_323_200_000  # 2026-03-01T00:00:00Z
NOON = MIDNIGHT + 6 * 24 * HOUR + 12 * HOUR  # of the seventh


def event(
    job: str,
    day: int,
    target: str | None,
    *sources: str,
    state: str = "COMPLETE",
    error: str = "",
    rows: int = 1_000,
    failed_check: str = "",
    hour: int = 4,
) -> Any:
    """One that is RUNNING is a stream's."""
    at = f"2026-03-{day:02d}T{hour:02d}:00:00Z"
    stream = {"processingType": "STREAMING", "integration": "FLINK"}
    checks = [{"assertion": failed_check, "success": False, "column": "id"}] if failed_check else []
    output = {
        "namespace": "s3://lake",
        "name": target,
        "facets": {"dataQualityAssertions": {"assertions": checks}} if checks else {},
        "outputFacets": {"outputStatistics": {"rowCount": rows}},
    }
    return lineage_event({
        "eventType": state,
        "eventTime": at,
        "run": {
            "runId": f"{job} {day}",
            "facets": {"errorMessage": {"message": error}} if error else {},
        },
        "job": {
            "namespace": "n",
            "name": job,
            "facets": {
                "ownership": {"owners": [{"name": f"team of {job}", "type": "OWNER"}]},
                **({"jobType": stream} if state == "RUNNING" else {}),
            },
        },
        "inputs": [{"namespace": "s3://lake", "name": one} for one in sources],
        "outputs": [output] if target else [],
    })  # fmt: skip


@pytest.fixture(scope="module")
def estate() -> Iterator[SmallHeadwater]:
    full = "No space left on device: /data/part-{}"
    events = [event("load", day, "orders", "raw") for day in range(1, 5)]
    events += [
        event("load", day, "orders", "raw", state="FAIL", error=full.format(day))
        for day in (5, 6, 7)
    ]
    events += [event("copy", 7, "copies", "raw", state="FAIL", error=full.format("00031"))]
    events += [event("other", 7, "x", state="FAIL", error="boom")]
    events += [event("old", 3, "y", state="FAIL", error="boom")]
    events += [event("sum", 4, "mart/sums", "orders"), event("board", 4, None, "mart/sums")]
    events += [event("small", day, "feed", rows=100_000) for day in range(1, 7)]
    events += [event("small", 7, "feed", rows=1_200)]
    events += [event("steady", day, "steady", rows=100_000 + day) for day in range(1, 8)]
    events += [event("checked", 7, "checked", failed_check="not_null")]
    events += [event("busy", 7, "busy", state="RUNNING", hour=hour) for hour in range(4, 9)]
    events.append(event("calm", 7, "calm", state="RUNNING", hour=6))
    headwater = small_headwater()
    headwater.accept(*events)
    headwater.project()
    yield headwater
    headwater.close()


def test_failures_that_differ_by_numbers_alone_are_one_incident_and_older_ones_are_none(
    estate: SmallHeadwater,
) -> None:
    found = incidents(estate.sources, now=NOON)
    names = [[one.job.name for one in incident.members] for incident in found.incidents]
    assert found.failed == 3
    assert sorted(map(sorted, names), key=len) == [["other"], ["copy", "load"]]
    assert found.incidents[1].error == "boom"


def test_a_failing_job_says_since_when_it_fails_and_which_run_was_good(
    estate: SmallHeadwater,
) -> None:
    members = {
        one.job.name: one
        for incident in incidents(estate.sources, now=NOON).incidents
        for one in incident.members
    }
    load, copy = members["load"], members["copy"]
    assert (load.since[:10], load.at[:10], (load.good_at or "")[:10]) == (
        "2026-03-05", "2026-03-07", "2026-03-04",
    )  # fmt: skip
    assert load.good_run not in (None, load.run)
    assert load.owners == ("team of load",)
    assert (copy.since, copy.good_run) == (copy.at, None)


def test_an_incident_counts_the_tables_and_readers_downstream(estate: SmallHeadwater) -> None:
    full, other = incidents(estate.sources, now=NOON).incidents
    assert (full.tables, full.readers, full.partial) == (3, 1, None)  # orders, copies, mart/sums
    assert (other.tables, other.readers) == (1, 0)


def test_a_writer_of_a_table_beyond_the_limit_is_no_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """``raw -> orders``, which four jobs copy: the limit has room for their plans alone."""
    headwater = small_headwater()
    headwater.accept(event("load", 7, "orders", "raw", state="FAIL", error="boom"))
    headwater.accept(*(event(f"copy {place}", 6, f"t{place}", "orders") for place in range(4)))
    headwater.project()
    monkeypatch.setattr("graph_model.answers.home._NODES", 5)
    (failed,) = incidents(headwater.sources, now=NOON).incidents
    headwater.close()
    assert failed.partial is not None
    assert failed.readers == 0


def test_a_long_chain_downstream_counts_whole_and_a_wide_one_is_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """``raw -> t0 -> ... -> t9``, and ``raw -> u``, which 25 jobs copy."""
    headwater = small_headwater()
    headwater.accept(event("load", 7, "t0", "raw", state="FAIL", error="long"))
    headwater.accept(*(event(f"step {n}", 6, f"t{n}", f"t{n - 1}") for n in range(1, 10)))
    headwater.accept(event("board", 6, None, "t9"))
    headwater.accept(event("fill", 7, "u", "raw", state="FAIL", error="wide"))
    headwater.accept(*(event(f"copy {n}", 6, f"u{n}", "u") for n in range(25)))
    headwater.project()
    monkeypatch.setattr("graph_model.answers.home._NODES", 25)
    counted = {
        incident.error: (incident.tables, incident.readers, incident.partial)
        for incident in incidents(headwater.sources, now=NOON).incidents
    }
    headwater.close()
    assert counted == {"long": (10, 1, None), "wide": (1, 0, Partial("nodes", 25))}


def test_a_hidden_table_is_not_counted_downstream(estate: SmallHeadwater) -> None:
    (sums,) = estate.sources.catalogue.datasets_by_uri("s3://lake/mart/sums")
    sources = replace(estate.sources, hidden=frozenset({sums.id}))
    full, _ = incidents(sources, now=NOON).incidents
    assert full.tables == 2


def test_a_write_with_a_small_part_of_the_usual_rows_is_named_with_both_numbers(
    estate: SmallHeadwater,
) -> None:
    (found,) = incidents(estate.sources, now=NOON).small
    assert (found.dataset.uri, found.value, found.usual) == ("s3://lake/feed", 1_200, 100_000)


def test_a_create_table_as_select_is_measured_by_its_insert() -> None:
    """Spark reports both, the command last, which knows no rows."""
    own = {"target": "ds-1", "application_id": "app-1"}
    command = an_execution("c", at=9_000, command=labels.CTAS_COMMANDS[0], **own)
    insert, other = an_execution("i", at=8_000, **own), an_execution("o", at=5_000, **own)
    late = command._replace(id="l", at=30_000)
    rows = [late, command, insert, other]
    assert [row.id for row in without_ctas(rows)] == ["l", "i", "o"]


def test_slow_is_more_than_twice_the_usual_and_a_minute_and_small_less_than_a_quarter() -> None:
    assert not is_slow(2 * HOUR, HOUR)
    assert is_slow(2 * HOUR + 1, HOUR)
    assert not is_slow(60_000, 10_000)
    assert not is_small(25, 100)
    assert is_small(24, 100)


def test_running_jobs_and_tables_with_failed_checks_are_named(estate: SmallHeadwater) -> None:
    found = incidents(estate.sources, now=NOON)
    assert (found.running, [(running.job.name, running.at) for running in found.running_jobs]) == (
        2, [("busy", "2026-03-07T08:00:00.000Z"), ("calm", "2026-03-07T06:00:00.000Z")]
    )  # fmt: skip
    assert [(one.dataset.uri, one.check, one.failures) for one in found.checks] == [
        ("s3://lake/checked", "not_null (id)", 1)
    ]


@pytest.mark.parametrize(
    ("error", "other"),
    [
        ("part-00012 is lost", "part-00031 is lost"),
        ("run 5f2c9a7e-0000-4000-8000-00000000aaaa", "run 0b1d2c3e-0000-4000-8000-00000000bbbb"),
    ],
)
def test_numbers_and_ids_are_left_out_of_the_pattern_of_an_error(error: str, other: str) -> None:
    assert pattern_of(error) == pattern_of(other) != pattern_of("part is lost")
