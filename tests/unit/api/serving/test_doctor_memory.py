"""The doctor and /health/ready say when the embedded engine is nearly full, and why it is away."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from api.service.parts import ask_parts
from api.service.storage import MEASURES_KEY, StorageUse
from api.serving import doctor
from api.serving.server import ENGINE_FOLDER
from api.serving.storage import open_storage
from api.settings import read_settings
from graph_model.retention.forecast import Measure, write_measures
from graph_model.stores.gremlin.engine.memory import Kill, Overflows, note_kill
from graph_model.stores.gremlin.engine.supervisor import Memory
from graph_model.stores.journal import Journal
from tests.e2e.producer_service import headwater


def after_a_measure(folder: Path, elements: int) -> None:
    database = open_storage(read_settings({"HEADWATER_DATA": str(folder)}), make=True)
    measures = write_measures([Measure(1, 1, 1, 1, elements)])
    Journal(database).set_meta(MEASURES_KEY, measures)
    database.dispose()


@pytest.mark.parametrize(
    ("elements", "right", "words"),
    [(1_000, True, "1,000 elements fill"), (1_500_000, False, "HEADWATER_GREMLIN_HEAP (now 1024)")],
)
def test_the_doctor_holds_the_last_measure_against_the_heap(
    tmp_path: Path, elements: int, right: bool, words: str
) -> None:
    after_a_measure(tmp_path, elements)
    settings = read_settings({"HEADWATER_DATA": str(tmp_path), "HEADWATER_GREMLIN_HEAP": "1024"})
    (finding,) = doctor._memory(settings, None)
    assert finding.right is right
    assert words in finding.text


def test_the_doctor_says_when_the_heap_is_larger_than_the_machine(tmp_path: Path) -> None:
    settings = read_settings({"HEADWATER_DATA": str(tmp_path)})
    (finding,) = doctor._memory(replace(settings, gremlin_heap_mb=1_000_000_000), None)
    assert not finding.right
    assert "this machine, or container, has" in finding.text


def test_the_doctor_counts_on_the_capacity_that_an_overflow_has_lowered(tmp_path: Path) -> None:
    after_a_measure(tmp_path, 1_100_000)
    settings = read_settings({"HEADWATER_DATA": str(tmp_path), "HEADWATER_GREMLIN_HEAP": "1024"})
    assert doctor._memory(settings, None)[0].right
    (tmp_path / ENGINE_FOLDER).mkdir()
    Overflows(1024, tmp_path / ENGINE_FOLDER).add()
    (finding,) = doctor._memory(settings, None)
    assert not finding.right
    assert "before it overflowed" in finding.text


def test_the_doctor_reports_a_kill_until_the_heap_is_smaller(tmp_path: Path) -> None:
    settings = read_settings({"HEADWATER_DATA": str(tmp_path), "HEADWATER_GREMLIN_HEAP": "1024"})
    assert doctor._killed(settings, 3_600) == ()
    (tmp_path / ENGINE_FOLDER).mkdir()
    note_kill(Kill(0, 1024, 1_000_000_000), tmp_path / ENGINE_FOLDER)
    (finding,) = doctor._killed(settings, 3_600)
    assert (finding.name, finding.right) == ("engine", False)
    assert finding.text.startswith("1970-01-01T00:00:00.000Z: the engine was killed")
    assert doctor._killed(replace(settings, gremlin_heap_mb=512), 3_600) == ()
    elsewhere = replace(settings, gremlin_url="ws://neptune.example:8182/gremlin")
    assert doctor._killed(elsewhere, 3_600) == ()


def test_the_doctor_is_silent_about_a_server_of_ones_own(tmp_path: Path) -> None:
    settings = read_settings({"HEADWATER_GREMLIN_URL": "ws://neptune.example:8182/gremlin"})
    assert doctor._memory(settings, None) == ()


def test_readiness_tells_how_full_the_engine_is() -> None:
    with headwater() as running:
        running.projector.state = "ready"
        service = replace(running.service, engine_memory=lambda: Memory(1_500_000, 1024))
        readiness = ask_parts(service)
        assert "HEADWATER_GREMLIN_HEAP" in readiness.checks["memory"]
        assert readiness.status == "ready", "nearly full is no reason to take it out of service"
        running.projector.full = "the graph is full"
        assert (ask_parts(service).status, ask_parts(service).checks["room"]) == (
            "ready",
            "the graph is full",
        )
        assert "memory" not in ask_parts(replace(service, engine_memory=lambda: None)).checks
        assert "memory" not in ask_parts(running.service).checks


def test_readiness_warns_of_a_full_heap_while_the_graph_is_filled_too() -> None:
    with headwater() as running:
        storage = StorageUse(
            running.journal, running.service.generations, lambda: 0, holds=lambda: True
        )
        running.projector.state = "rebuilding"
        readiness = ask_parts(replace(running.service, storage=storage))
        assert readiness.status == "rebuilding"
        assert "heap is full now" in readiness.checks["storage"]
