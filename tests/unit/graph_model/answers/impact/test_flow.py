"""Impact by plans in force: what breaks does not depend on which job ran last."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest

from graph_model import identity
from graph_model.answers.impact.changes import ChangeKind
from graph_model.answers.impact.check import ImpactCheck
from graph_model.answers.impact.report import Impact, Scope
from graph_model.answers.impact.tables import write_csv, write_markdown
from graph_model.lineage import Reach
from graph_model.stores.documents import Submission
from tests.projections import SmallHeadwater, lineage_event, small_headwater

START = 1_700_000_000_000
MINUTE = 60_000


class Run(NamedTuple):
    """A successful run, which copies the column ``k`` of each table that it reads."""

    job: str
    minute: float
    reads: str
    writes: str = ""
    run: str = ""  # else a run of its own
    version: str = ""  # of all that it reads


def dataset(table: str) -> dict[str, Any]:
    return {"namespace": "s3://lake", "name": table}


def told(run: Run) -> Submission:
    at = datetime.fromtimestamp((START + run.minute * MINUTE) / 1_000, UTC)
    version = {"facets": {"version": {"datasetVersion": run.version}}} if run.version else {}
    source = [{**dataset(table), "field": "k"} for table in run.reads.split()]
    columns = {"columnLineage": {"fields": {"k": {"inputFields": source}}}}
    return lineage_event(
        {
            "eventType": "COMPLETE",
            "eventTime": at.isoformat(),
            "producer": "a test",
            "run": {"runId": str(uuid.uuid5(uuid.NAMESPACE_URL, run.run or repr(run)))},
            "job": {"namespace": "default", "name": run.job},
            "inputs": [{**dataset(table), **version} for table in run.reads.split()],
            "outputs": [{**dataset(run.writes), "facets": columns}] if run.writes else [],
        }
    )


@contextmanager
def after(*runs: Run) -> Iterator[SmallHeadwater]:
    made = small_headwater()
    try:
        made.accept(*map(told, runs))
        made.project()
        yield made
    finally:
        made.close()


def flows(headwater: SmallHeadwater, table: str, **bounds: Any) -> dict[str, tuple[int, str]]:
    """Per name downstream its depth and flow."""
    node = identity.dataset_id("", f"s3://lake/{table}")
    report = Impact(headwater.sources).of_node(node, Scope(depth=50, **bounds))
    return {item.label: (item.depth, str(item.flow)) for item in report.items}


def minute(number: float) -> int:
    return START + int(number * MINUTE)


LOAD, REPORT = Run("load", 60, "raw", "daily"), Run("report", 61, "daily", "report")


@pytest.mark.parametrize(
    ("earlier", "flow"), [(0.0, "seen"), (1.0, "next"), (61.0, "next")], ids=str
)
def test_a_reader_is_listed_whether_it_ran_after_with_or_before_the_writer(
    earlier: float, flow: str
) -> None:
    with after(LOAD, REPORT._replace(minute=61 - earlier), Run("board", 0, "report")) as made:
        found = flows(made, "raw")
        assert found["daily"] == (1, "seen")
        assert found["report"] == (2, flow)
        assert found["board"] == (3, "next")  # it ran before them all


def test_a_plan_that_a_later_run_replaced_is_past_and_breaks_nothing() -> None:
    changed = Run("load", 70, "other", "daily")
    with after(LOAD, REPORT, changed) as made:
        found = flows(made, "raw")
        assert {flow for _, flow in found.values()} == {"past"}
        assert flows(made, "other")["report"] == (2, "next")
        assert flows(made, "raw", at=minute(69))["report"] == (2, "seen")
        column = identity.column_id(identity.dataset_id("", "s3://lake/raw"), "k")
        report = ImpactCheck(made.sources).of_column(
            column, ChangeKind.COLUMN_DROPPED, Scope(depth=50, indirect=True)
        )
        assert report.items
        assert (report.verdict, {item.verdict for item in report.items}) == ("none", {"none"})


def test_a_column_breaks_what_reads_it_at_the_next_run() -> None:
    with after(LOAD, REPORT._replace(minute=5), Run("board", 4, "report")) as made:
        column = identity.column_id(identity.dataset_id("", "s3://lake/raw"), "k")
        report = ImpactCheck(made.sources).of_column(
            column, ChangeKind.COLUMN_DROPPED, Scope(depth=50, indirect=True)
        )
        found = {item.path[-1].label: (item.verdict, item.flow) for item in report.items}
        assert found["report.k"] == ("breaks", "next")
        assert found["report"] == ("breaks", "next")
        assert found["board"] == ("may-break", "next")
        assert "(at its next run)" in write_markdown(report)
        assert write_csv(report).splitlines()[1].endswith((",seen,", ",next,"))


def test_every_plan_of_the_newest_run_is_in_force_and_every_one_of_a_shared_job() -> None:
    twice = (
        Run("load", 10, "raw", "daily", run="one"),
        Run("load", 12, "more", "daily", run="one"),
    )
    with after(*twice) as made:
        assert flows(made, "raw")["daily"] == flows(made, "more")["daily"] == (1, "seen")
    shell = (Run("pyspark-shell", 10, "raw", "daily"), Run("pyspark-shell", 12, "more", "daily"))
    with after(*shell, Run("report", 1, "daily", "report")) as made:
        assert flows(made, "raw")["report"] == flows(made, "more")["report"] == (2, "next")


def test_a_later_reading_of_a_table_replaces_an_earlier_one_of_the_same_job() -> None:
    board = (Run("board", 1, "daily extra"), Run("board", 2, "daily"))
    with after(*board, LOAD, Run("load-extra", 60, "raw", "extra")) as made:
        assert flows(made, "daily")["board"] == (1, "seen")
        assert flows(made, "extra")["board"] == (1, "seen")  # nothing replaced that reading
        assert flows(made, "raw")["board"] == (2, "next")


def test_a_read_of_a_version_stays_with_it() -> None:
    first, second = Run("load", 10, "raw", "daily"), Run("load", 30, "raw", "daily")
    pinned = Run("report", 20, "daily", "report", version="4")
    with after(first, second, pinned) as made:
        assert flows(made, "raw")["report"] == (2, "seen")
    with after(second, pinned) as made:  # the version was read before anything was written
        assert "report" not in flows(made, "raw")


def test_what_was_seen_alone_can_be_asked_for() -> None:
    with after(LOAD, REPORT._replace(minute=5)) as made:
        assert flows(made, "raw", reach=Reach.SEEN).keys() == {"daily", "load"}


def test_a_row_says_that_its_last_step_reads_metadata_alone() -> None:
    """``audit`` reads ``daily.snapshots``, which is about ``daily``, and ``both`` its rows too."""
    audit = Run("audit", 62, "daily.snapshots", "log")
    both = Run("both", 62, "daily daily.snapshots", "checked")
    with after(LOAD, audit, both, Run("trend", 63, "log", "curve")) as made:
        node = identity.dataset_id("", "s3://lake/daily")
        report = Impact(made.sources).of_node(node, Scope(depth=50))
    reads = {item.label: item.reads for item in report.items}
    assert reads == {"audit": "metadata", "log": "metadata", "both": None, "checked": None,
                     "trend": None, "curve": None}  # fmt: skip
    lines = [line for line in write_markdown(report).splitlines() if "(metadata only)" in line]
    assert [line.split(" | ")[1] for line in lines] == ["s3://lake/log", "default/audit"]
    assert write_csv(report).count(",metadata\r\n") == 2
