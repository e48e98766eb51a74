"""The writes that runs which stay have read: no more of them stay, found in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from graph_model.facts import ExecutionRow
from graph_model.producers.commands import Prune
from graph_model.retention import coverage
from graph_model.retention.coverage import NeededWrites, Retention, resolve_prune
from graph_model.stores.documents import Submission
from graph_model.stores.pages import Page
from tests.projections import SmallHeadwater, lineage_event, project
from tests.unit.graph_model.producers.test_commands import START

HOUR = 3_600_000


def overwrite(job: str, at: int, source: str, target: str, **facets: Any) -> Submission:
    """A run at this hour that overwrites the target; ``source`` may name a version: ``t@7``."""
    return run(job, at, source, target, "OVERWRITE", **facets)


def append(job: str, at: int, source: str, target: str) -> Submission:
    return run(job, at, source, target, "APPEND")


def run(job: str, at: int, source: str, target: str, change: str, **facets: Any) -> Submission:
    facet = {"lifecycleStateChange": {"lifecycleStateChange": change}}
    name, _, version = source.partition("@")
    read = {"facets": {"version": {"datasetVersion": version}}} if version else {}
    return lineage_event(
        {
            "eventType": "COMPLETE",
            "eventTime": moment(at),
            "run": {"runId": f"{job}-{at}"},
            "job": {"namespace": "etl", "name": job},
            "inputs": [{"namespace": "file", "name": f"/{name}"} | read],
            "outputs": [{"namespace": "file", "name": f"/{target}", "facets": facet | facets}],
        }
    )


def moment(hour: int) -> str:
    return datetime.fromtimestamp((START + hour * HOUR) / 1000, UTC).isoformat()


@contextmanager
def estate(*submissions: Iterable[Submission]) -> Iterator[SmallHeadwater]:
    made = project([item for some in submissions for item in some], stepwise=False)
    try:
        yield made
    finally:
        made.close()


def prune(headwater: SmallHeadwater, keep: int) -> Prune:
    return resolve_prune(Retention(keep=keep), headwater.catalogue, drop_bodies=True)


def kept_from(headwater: SmallHeadwater, keep: int) -> dict[str, int]:
    """Per job the hour of its first execution that a prune command leaves."""
    before = {cutoff.name: cutoff.before for cutoff in prune(headwater, keep).cutoffs}
    rows = [row for row in headwater.catalogue.scan() if isinstance(row, ExecutionRow)]
    names = {job.id: job.name for job in headwater.catalogue.jobs({row.job for row in rows})}
    left = [row for row in rows if row.at >= before.get(names[row.job], 0)]
    return {
        name: min((row.at - START) // HOUR for row in left if names[row.job] == name)
        for name in names.values()
    }


def test_a_table_that_a_job_read_formerly_keeps_no_more_runs_than_any_other() -> None:
    """The job reads another table since hour 48; of its runs the last five stay, from hour 360."""
    staged = (overwrite("load", hour, "raw", "staged") for hour in range(480))
    former = (overwrite("fine", hour, "staged", "fine") for hour in range(1, 48, 24))
    now = (overwrite("fine", hour, "other", "fine") for hour in range(49, 480, 24))
    with estate(staged, former, now) as headwater:
        assert kept_from(headwater, 5)["load"] >= 470


def test_runs_that_stay_keep_what_they_read_though_the_first_read_an_unknown_table() -> None:
    """As where the loading job begins to report later than the job that reads from it."""
    reports = (append("report", hour, "staged", "report") for hour in range(1, 240, 24))
    staged = (overwrite("load", hour, "raw", "staged") for hour in range(48, 240))
    with estate(reports, staged) as headwater:
        assert kept_from(headwater, 5)["load"] == 48, "which the run at hour 49 read"


def test_runs_that_stay_keep_the_versions_they_read_though_the_first_read_an_unknown_one() -> None:
    """The runs at the hours 100 and 120 read versions that are older than themselves."""
    reports = [append("report", 100, "t@0", "report"), append("report", 120, "t@30", "report")]
    loads = (
        overwrite("load", hour, "raw", "t", version={"datasetVersion": f"{hour}"})
        for hour in range(10, 240)
    )
    with estate(reports, loads) as headwater:
        assert kept_from(headwater, 5)["load"] <= 30


def test_a_declared_table_keeps_the_states_of_its_source_since_runs_of_its_job_stay() -> None:
    declaration = lineage_event(
        {
            "eventTime": moment(0),
            "job": {"namespace": "etl", "name": "sheets"},
            "inputs": [{"namespace": "file", "name": "/staged"}],
            "outputs": [{"namespace": "file", "name": "/sheet"}],
        }
    )
    staged = (overwrite("load", hour, "raw", "staged") for hour in range(240))
    runs = (overwrite("sheets", hour, "other", "copies") for hour in range(1, 240, 24))
    with estate([declaration], staged, runs) as headwater:
        assert kept_from(headwater, 5)["load"] == 120, "its own last five runs begin with 235"


def made_of_themselves(runs: int) -> list[Submission]:
    """Each run makes the table from its former state, so that all runs are behind the last one."""
    return [overwrite("counts", hour, "counts", "counts") for hour in range(runs)]


def test_a_table_that_is_made_of_its_former_state_keeps_every_run_in_bounded_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(coverage, "_MOST_MOMENTS", 10)
    others = [overwrite("load", hour, "raw", "staged") for hour in range(60)]
    with estate(made_of_themselves(60), others) as headwater:
        plans = headwater.catalogue.logical_plans_of(headwater.catalogue.job_ids("", 9))
        wished = {plan.job: START + 50 * HOUR for plan in plans}
        needed = NeededWrites(plans, wished, headwater.catalogue)
        needed.follow()
        remembered = len(needed._history.visible_writes._known)
        first = {(item.job, item.target): needed.times[item.target] for item in plans}
    assert sorted(first.values()) == [START, START + 50 * HOUR]
    assert remembered <= 10


def test_each_execution_that_reads_a_version_is_looked_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also where the table is followed back a run at a time."""
    runs = [
        overwrite("counts", hour, f"counts@{hour}", "counts", version={"datasetVersion": f"{hour}"})
        for hour in range(1, 60)
    ]
    with estate(runs) as headwater:
        catalogue = headwater.catalogue
        looked: list[int] = []
        listed = type(catalogue).executions

        def executions(self: Any, **criteria: Any) -> Page[ExecutionRow]:
            page = listed(self, **criteria)
            if "logical_plan" in criteria:
                looked.append(len(page.items))
            return page

        monkeypatch.setattr(coverage, "_PAGE", 1)
        monkeypatch.setattr(type(catalogue), "executions", executions)
        assert prune(headwater, 5).cutoffs == ()
    assert sum(looked) <= 3 * 60
