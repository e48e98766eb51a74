"""A service is killed in the middle of its night of retention."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from graph_model.facts import ExecutionRow
from graph_model.producers.spline.documents import EVENT_KIND
from graph_model.retention.policy import SILENT_MS
from graph_model.stores.documents import Submission
from tests.e2e.retention.retention_process import headwater_in, nightly
from tests.e2e.retention.test_upkeep import MIDNIGHT
from tests.projections import SmallHeadwater
from tests.unit.graph_model.producers.test_commands import DAY, daily

NIGHT = MIDNIGHT + DAY


def two_jobs() -> list[Submission]:
    load = daily("load", 1, "file:/raw", "file:/staged", range(30))
    return [*load, *daily("fine", 2, "file:/staged", "file:/fine", range(30))]


def fill(folder: Path) -> None:
    with headwater_in(folder) as headwater:
        assert headwater.projector.wait(headwater.accept(*two_jobs()), 30.0)
        assert nightly(headwater, MIDNIGHT).look() == 0


def kill_after(steps: int, folder: Path) -> None:
    """The end of a service right after so many steps, while it goes on with the next."""
    command = [
        sys.executable,
        "-m",
        "tests.e2e.retention.retention_process",
        str(folder),
        str(NIGHT),
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    for _ in range(steps):
        assert process.stdout.readline() == b"step\n"
    process.kill()
    process.communicate()


def kept(headwater: SmallHeadwater) -> tuple[set[ExecutionRow], int, set[str]]:
    """Executions, events in the journal, elements of the graph."""
    rows = {row for row in headwater.catalogue.scan() if isinstance(row, ExecutionRow)}
    events = headwater.journal.entries(kind=EVENT_KIND, limit=1000).items
    return rows, len(events), {element.id for element in headwater.graph.scan()}


@pytest.mark.parametrize("steps", [1, 4])
def test_the_next_service_goes_on_where_a_killed_one_stood(tmp_path: Path, steps: int) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    fill(whole)
    with headwater_in(whole) as headwater:
        gone = nightly(headwater, NIGHT).look()
        expected = kept(headwater)
    fill(killed)
    kill_after(steps, killed)
    with headwater_in(killed) as headwater:
        assert nightly(headwater, NIGHT + SILENT_MS).look() == 0
        left = nightly(headwater, NIGHT + SILENT_MS + 1).look()
        assert 0 < left < gone
        assert kept(headwater) == expected
