"""The doctor says when disk and heap are full, from the service's last measurements, and whose
clocks are wrong, from the catalogue.
"""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from api.service.storage import MEASURES_KEY
from api.serving import doctor
from api.serving.machine import Finding
from api.serving.server import ENGINE_FOLDER
from api.serving.storage import DATABASE_FILE, claim, open_storage
from api.settings import Settings, read_settings
from graph_model.projection.fullness import HELD_KEY
from graph_model.retention.forecast import DAY_MS, TOO_EARLY, Measure, write_measures
from graph_model.stores.catalogue import Generations
from graph_model.stores.gremlin.engine.memory import Overflows
from graph_model.stores.journal import Journal
from tests.contract.rows import an_execution


def settings_of(folder: Path) -> Settings:
    return read_settings({"HEADWATER_DATA": str(folder), "HEADWATER_GREMLIN_HEAP": "1024"})


def keep(folder: Path, *measures: Measure) -> None:
    database = open_storage(settings_of(folder), make=True)
    Journal(database).set_meta(MEASURES_KEY, write_measures(measures))
    database.dispose()


def storage(folder: Path) -> Finding:
    (finding,) = doctor._storage(settings_of(folder))
    return finding


def test_a_heap_that_is_soon_full_is_a_finding_with_its_remedy(tmp_path: Path) -> None:
    day = Measure(0, 1, 1_000, 1_000, 0)
    keep(tmp_path, day, Measure(DAY_MS, 2, 1_000, 1_000, 1_200_000))
    finding = storage(tmp_path)
    assert not finding.right
    assert "the engine's heap is full in 0." in finding.text
    assert "headwater storage" in finding.text


def test_a_heap_that_is_over_full_and_stands_still_is_a_finding(tmp_path: Path) -> None:
    keep(tmp_path, Measure(DAY_MS, 2, 1_000, 1_000, 1_700_000))
    finding = storage(tmp_path)
    assert not finding.right
    assert "the engine's heap is full now" in finding.text


def test_a_graph_that_holds_documents_is_a_full_heap(tmp_path: Path) -> None:
    keep(tmp_path, Measure(DAY_MS, 2, 1_000, 1_000, 300_000))
    assert storage(tmp_path).right
    database = open_storage(settings_of(tmp_path))
    Journal(database).set_meta(HELD_KEY, "40")
    database.dispose()
    assert "the engine's heap is full now" in storage(tmp_path).text


def test_the_heap_is_full_earlier_where_an_overflow_has_lowered_it(tmp_path: Path) -> None:
    keep(tmp_path, Measure(DAY_MS, 2, 1_000, 1_000, 1_400_000))
    assert storage(tmp_path).right
    (tmp_path / ENGINE_FOLDER).mkdir()
    Overflows(1024, tmp_path / ENGINE_FOLDER).add()
    assert "the engine's heap is full now" in storage(tmp_path).text


def test_a_disk_without_room_is_a_finding_whether_or_not_anything_grows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(tmp_path, Measure(DAY_MS, 2, 1_000, 1_000, 0))
    usage = shutil.disk_usage(tmp_path)._replace(free=4_096)
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda _: usage)
    finding = storage(tmp_path)
    assert not finding.right
    assert "new documents are refused" in finding.text
    unreserved = replace(settings_of(tmp_path), disk_reserve_bytes=0)
    (finding,) = doctor._storage(unreserved)
    assert not finding.right
    assert "the disk is full now" in finding.text


@pytest.mark.parametrize(
    ("free", "reserve", "text"),
    [
        (5_000_000_000, 256, "5.0 GB free"),
        (500_000_000, 256, "0.5 GB free, less than 1 GB"),
        (200_000_000, 256, "190.7 MB free, 256.0 MB are reserved for removals"),
        (200_000_000, 0, "0.2 GB free, less than 1 GB"),
        (5_000_000_000, 8_000, "new documents are refused"),
    ],
)
def test_a_disk_with_only_its_reserve_left_is_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, reserve: int, text: str
) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=free)
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda _: usage)
    finding = doctor._disk(replace(settings_of(tmp_path), disk_reserve_bytes=reserve << 20))
    assert text in finding.text
    assert finding.right == (text == "5.0 GB free")


def test_the_disk_of_a_server_has_no_reserve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=200_000_000)
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda _: usage)
    served = replace(settings_of(tmp_path), database="postgresql://me@db.example.org/headwater")
    assert "reserved" not in doctor._disk(served).text


def test_a_disk_that_fills_slowly_is_told_with_its_days(tmp_path: Path) -> None:
    keep(tmp_path, Measure(0, 1, 1_000, 0, 0), Measure(DAY_MS, 2, 3_000, 0, 1_000))
    finding = storage(tmp_path)
    assert finding.right
    assert "the disk is full in" in finding.text
    assert "the engine's heap is full in" in finding.text


def test_the_forecast_is_told_while_a_service_holds_the_folder(tmp_path: Path) -> None:
    keep(tmp_path, Measure(0, 1, 1_500_000, 0, 0))
    with claim(tmp_path):
        text = storage(tmp_path).text
    assert text == f"1.5 MB in use; {TOO_EARLY}"


def test_looking_makes_no_table_and_records_no_version(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    open_storage(settings, make=True).dispose()
    with closing(sqlite3.connect(tmp_path / DATABASE_FILE)) as database:
        database.execute("CREATE TABLE another (name TEXT)")
        assert "not measured yet" in storage(tmp_path).text
        assert doctor._elements_measured(settings) == 0
        tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    assert tables == [("another",)]


def test_before_the_first_measurement_and_without_a_journal_nothing_is_wrong(
    tmp_path: Path,
) -> None:
    assert doctor._storage(settings_of(tmp_path)) == ()
    keep(tmp_path)
    assert "not measured yet" in storage(tmp_path).text


def test_runs_that_claim_a_time_to_come_are_a_finding_of_the_last_week(tmp_path: Path) -> None:
    settings, day = settings_of(tmp_path), 86_400_000
    database = open_storage(settings, make=True)
    generations = Generations(database, Journal(database))
    right, doubtful = an_execution("ex-1", at=day), an_execution("ex-2", at=day, ahead=5)
    generations.current.record([right, doubtful])
    generations.close()
    database.dispose()
    (finding,) = doctor._clocks(settings, now=8 * 86_400)
    assert not finding.right
    assert "of the runs of the last 7 days 1 claim a time more than 24 h after" in finding.text
    (later,) = doctor._clocks(settings, now=9 * 86_400)
    assert later.right
