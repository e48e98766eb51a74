"""The home page's answers: rhythm, lateness, failures of the day, the map of the estate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from graph_model.answers import home as home_answers
from graph_model.answers.home import all_runs, areas_of, estate_map, home, is_late, rhythm_of
from graph_model.lineage import Partial
from tests.projections import SmallHeadwater, lineage_event, small_headwater

MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR
MIDNIGHT = 1_772_323_200_000  # 2026-03-01T00:00:00Z


def event(job: str, day: int, hour: int, target: str, *sources: str, failed: bool = False) -> Any:
    facets = {"errorMessage": {"message": "boom\nat line 2"}} if failed else {}
    return lineage_event({
        "eventType": "FAIL" if failed else "COMPLETE",
        "eventTime": f"2026-03-{day:02d}T{hour:02d}:00:00Z",
        "run": {"runId": f"{job} {day} {hour}", "facets": facets},
        "job": {"namespace": "n", "name": job},
        "inputs": [{"namespace": "s3://lake", "name": one} for one in sources],
        "outputs": [{"namespace": "s3://lake", "name": target}],
    })  # fmt: skip


@pytest.fixture(scope="module")
def estate() -> Iterator[SmallHeadwater]:
    headwater = small_headwater()
    events = [event("daily", day, 2, "curated/orders", "raw/orders") for day in range(1, 8)]
    events += [event("stopped", day, 3, "curated/old", "raw/old") for day in range(1, 6)]
    events += [event("broken", day, 4, "mart/sales", "curated/orders") for day in range(1, 7)]
    events += [event("broken", 7, 4, "mart/sales", "curated/orders", failed=True)]
    events += [event("long ago", 1, 5, "mart/gone", "raw/orders", failed=True)]
    headwater.accept(*events)
    headwater.project()
    yield headwater
    headwater.close()


def at(day: int, hour: int) -> int:
    return MIDNIGHT + (day - 1) * DAY + hour * HOUR


def test_a_rhythm_is_the_median_between_runs_and_needs_four() -> None:
    assert rhythm_of([0, HOUR, 2 * HOUR]) is None
    assert rhythm_of([0, HOUR, 2 * HOUR, 3 * HOUR, 30 * HOUR]) == HOUR


def test_a_failed_run_and_its_three_repetitions_change_no_rhythm() -> None:
    attempts = [6 * DAY + minutes * MINUTE for minutes in (0, 5, 10, 15)]
    assert rhythm_of([3 * DAY, 4 * DAY, 5 * DAY, *attempts]) == DAY


def test_late_begins_after_one_and_a_half_times_and_ends_when_the_job_has_stopped() -> None:
    assert not is_late(0, HOUR, 90 * MINUTE)
    assert is_late(0, HOUR, 96 * MINUTE)
    assert not is_late(0, HOUR, 11 * HOUR)


@pytest.mark.parametrize(
    ("uri", "kind", "areas"),
    [
        ("s3://lake/curated/hr/employees", "file", ("s3://lake", "curated", "hr")),
        ("s3://lake/employees", "file", ("s3://lake",)),
        (
            "jdbc:redshift://wh/analytics:mart.x",
            "jdbc",
            ("jdbc:redshift://wh", "analytics", "mart"),
        ),
        ("hive://metastore/hr.employees", "name", ("hive://metastore", "hr")),
        ("arn:aws:glue:eu-west-1:12/hr.staff", "name", ("arn:aws:glue:eu-west-1:12", "hr")),
        ("spark_catalog/hr.staff", "name", ("spark_catalog", "hr")),
        ("kafka:web.clicks", "topic", ("kafka:",)),
        ("kafka://broker:9092/clicks", "topic", ("kafka://broker:9092",)),
        ("kafka://broker:9092", "other", ("kafka://broker:9092",)),
        ("bigquery://shop:mart.orders", "table", ("bigquery://shop", "mart")),
        ("file:/data/a/b", "file", ("file:", "data", "a")),
        ("no uri at all", "other", ()),
    ],
)
def test_the_areas_of_a_dataset_come_from_its_uri_and_kind(
    uri: str, kind: str, areas: tuple[str, ...]
) -> None:
    assert areas_of(uri, kind) == areas


def test_failures_of_the_last_day_are_named_with_their_cause_and_older_ones_are_not(
    estate: SmallHeadwater,
) -> None:
    found = home(estate.sources, now=at(7, 12))
    assert (found.failed, [one.job.name for one in found.failures]) == (1, ["broken"])
    assert found.failures[0].error == "boom"
    assert found.totals.failed == 2
    assert home(estate.sources, now=at(9, 12)).failed == 0


def test_a_job_that_missed_its_time_is_late_and_one_that_stopped_long_ago_is_not(
    estate: SmallHeadwater,
) -> None:
    assert [one.job.name for one in home(estate.sources, now=at(7, 3)).late_jobs] == ["stopped"]
    late = home(estate.sources, now=at(9, 12)).late_jobs
    assert [(one.job.name, one.every_ms) for one in late] == [
        ("stopped", DAY), ("daily", DAY), ("broken", DAY),
    ]  # fmt: skip
    assert home(estate.sources, now=at(28, 0)).late == 0


def test_the_bound_of_the_executions_is_reported_where_more_might_name_more_tables(
    estate: SmallHeadwater, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = home(estate.sources, now=at(7, 12))
    assert (whole.executions, whole.partial) == (20, None)
    monkeypatch.setattr(home_answers, "EXECUTIONS_READ", 5)
    cut = home(estate.sources, now=at(7, 12))
    assert (cut.executions, cut.partial) == (5, Partial("executions", 5))
    monkeypatch.setattr(home_answers, "EXECUTIONS_READ", 20)
    assert home(estate.sources, now=at(7, 12)).partial is None, "there are no more than these"
    monkeypatch.setattr(home_answers, "EXECUTIONS_READ", 5)
    monkeypatch.setattr(home_answers, "_MOST_NAMED", 1)
    assert home(estate.sources, now=at(7, 12)).partial is None, "all that are named were found"


def test_failures_are_those_that_the_totals_and_the_list_of_jobs_count() -> None:
    headwater = small_headwater()
    headwater.accept(
        event("of a hidden table", 6, 2, "curated/orders", failed=True),
        event("repaired", 6, 3, "curated/sales", failed=True),
        event("repaired", 6, 4, "curated/orders"),
    )
    headwater.project()
    [hidden] = headwater.catalogue.datasets_by_uri("s3://lake/curated/orders")
    sources = replace(headwater.sources, hidden=frozenset({hidden.id}))
    found = home(sources, now=at(6, 12))
    listed = headwater.catalogue.list_jobs(now=0, hidden=sources.hidden, states=["failed"]).items
    assert [one.job.name for one in found.failures] == [one.job.name for one in listed]
    assert (found.failed, found.totals.failed) == (1, 1)
    headwater.close()


def test_written_tables_are_listed_once_newest_first(estate: SmallHeadwater) -> None:
    found = home(estate.sources, now=at(7, 12))
    assert [one.dataset.label for one in found.written] == ["orders", "sales", "old"]


def test_runs_of_all_jobs_are_listed_and_filtered(estate: SmallHeadwater) -> None:
    failed = all_runs(estate.sources, state="failed", limit=10, cursor=None, at=None).page
    assert [(one.job and one.job.name, one.error) for one in failed.items] == [
        ("broken", "boom"), ("long ago", "boom"),
    ]  # fmt: skip
    first = all_runs(estate.sources, state=None, limit=5, cursor=None, at=None).page
    assert (first.total, len(first.items)) == (20, 5)
    of_job = all_runs(
        estate.sources, state=None, job="job:n/broken", limit=99, cursor=None, at=None
    ).page
    assert {one.job and one.job.name for one in of_job.items} == {"broken"}


def test_words_are_looked_for_among_the_newest_runs_and_a_bound_is_said(
    estate: SmallHeadwater, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(query: str) -> tuple[int, Partial | None]:
        asked = all_runs(
            estate.sources, state=None, query=query, limit=99, cursor=None, at=None
        )  # fmt: skip
        return asked.page.total, asked.partial

    assert found("BOOM broken") == (1, None)
    monkeypatch.setattr("graph_model.answers.home.RUNS_SEARCHED", 3)
    assert found("boom")[1] == Partial("executions", 3)
    assert found(" ") == (20, None)


def test_the_map_opens_step_by_step_down_to_tables(estate: SmallHeadwater) -> None:
    def drawn(*within: str) -> dict[str, tuple[str, int]]:
        found = estate_map(estate.sources, by="place", within=within)
        return {area.label: (area.kind, area.datasets) for area in found.areas}

    assert drawn() == {"s3://lake": ("area", 6)}
    assert drawn("s3://lake") == {
        "raw": ("area", 2), "curated": ("area", 2), "mart": ("area", 2),
    }  # fmt: skip
    assert drawn("s3://lake", "mart") == {
        "sales": ("dataset", 1), "gone": ("dataset", 1), "curated": ("outside", 2),
    }  # fmt: skip


def test_the_flows_of_the_map_count_jobs_and_its_areas_their_failures(
    estate: SmallHeadwater,
) -> None:
    found = estate_map(estate.sources, by="place", within=["s3://lake"])
    label = {area.id: area.label for area in found.areas}
    flows = {(label[one.source], label[one.target]): one.jobs for one in found.flows}
    assert flows == {("raw", "curated"): 2, ("curated", "mart"): 1}
    assert {area.label: area.failed for area in found.areas}["mart"] == 1


def test_the_flow_of_a_hidden_job_is_not_counted(estate: SmallHeadwater) -> None:
    rows = estate.catalogue.walk_jobs(query="daily")
    sources = replace(estate.sources, hidden=frozenset(row.id for row in rows))
    found = estate_map(sources, by="place", within=["s3://lake"])
    label = {area.id: area.label for area in found.areas}
    flows = {(label[one.source], label[one.target]): one.jobs for one in found.flows}
    assert flows == {("raw", "curated"): 1, ("curated", "mart"): 1}


def test_the_map_has_every_table_of_the_totals_but_names_with_a_known_location() -> None:
    headwater = small_headwater()
    link = {"namespace": "hive://hms:9083", "name": "sales.orders", "type": "TABLE"}
    headwater.accept(lineage_event({
        "eventType": "COMPLETE", "eventTime": "2026-03-01T02:00:00Z", "run": {"runId": "1"},
        "job": {"namespace": "n", "name": "report"},
        "inputs": [{"namespace": "s3://lake", "name": "sales/orders",
                    "facets": {"symlinks": {"identifiers": [link]}}}],
        "outputs": [{"namespace": "hive://hms:9083", "name": "mart.report"}],
    }))  # fmt: skip
    headwater.project()
    found = estate_map(headwater.sources, by="place", within=())
    label = {area.id: area.label for area in found.areas}
    assert set(label.values()) == {"s3://lake", "hive://hms"}
    flows = {(label[one.source], label[one.target]): one.jobs for one in found.flows}
    assert flows == {("s3://lake", "hive://hms"): 1}
    assert (found.datasets, found.names) == (2, 1)
    assert home(headwater.sources, now=MIDNIGHT).totals.datasets == 3
    opened = estate_map(headwater.sources, by="place", within=["hive://hms", "mart"])
    assert ("dataset", "mart.report") in {(area.kind, area.label) for area in opened.areas}
    headwater.close()


def test_by_layer_tables_without_one_have_an_area_of_their_own(estate: SmallHeadwater) -> None:
    [area] = estate_map(estate.sources, by="layer", within=()).areas
    assert (area.label, area.datasets) == ("no layer", 6)
