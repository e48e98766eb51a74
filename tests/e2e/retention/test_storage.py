"""``GET /storage``, ``headwater storage`` and the warnings: the use of room, and a bounded look."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from api.application import create_app
from api.console.storage import describe_storage
from api.service import Service
from api.service import storage as storage_module
from api.service.storage import StorageUse
from api.settings import read_settings
from graph_model.producers.commands import Command, submit
from graph_model.projection.run_window import RunWindow
from graph_model.retention.coverage import Retention, resolve_prune
from graph_model.retention.forecast import TOO_EARLY
from graph_model.retention.policy import RetentionPolicy
from graph_model.stores.documents import Receipt, Submission
from graph_model.values import iso
from tests.e2e.small_client import running
from tests.projections import SmallHeadwater, lineage_event, small_headwater
from tests.unit.graph_model.producers.test_commands import DAY, START, daily
from tests.waiting import eventually


@dataclass
class Memory:
    elements: int = 100
    capacity: int = 1_000
    element_bytes: int = 1_000


class Clock:
    now = START + 20 * DAY

    def __call__(self) -> int:
        return self.now


@dataclass
class Asked:
    small: SmallHeadwater
    storage: StorageUse
    client: FlaskClient
    clock: Clock
    memory: Memory


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Asked]:
    small = small_headwater()
    for day in range(20):
        body = daily("load", 1, "file:/raw", "file:/staged", [day])
        few = daily("other", 2, "file:/raw", "file:/else", [day] if day % 5 == 0 else [])
        small.journal.accept([*body, *few], Receipt(START + day * DAY, "", "test", "raw"))
    clock, memory = Clock(), Memory()
    with running(small):
        small.project()
        storage = StorageUse(
            small.journal,
            small.generations,
            clock,
            folder=tmp_path,
            memory=lambda: memory,  # type: ignore[arg-type,return-value]
            runs=RunWindow(1_000),
            keep=RetentionPolicy(runs=5),
        )
        service = Service(
            small.journal, small.projector, small.graph, small.generations, clock, storage=storage
        )
        client = create_app(read_settings({}), service).test_client()
        yield Asked(small, storage, client, clock, memory)


def test_it_tells_the_parts_that_take_room_and_the_jobs_that_fill_it(asked: Asked) -> None:
    found = asked.client.get("/storage").get_json()
    assert found["documents"] == asked.small.journal.newest()
    assert found["stored"]["journal"] > 10_000
    assert (found["stored"]["elements"], found["stored"]["heap"]) == (100, 100_000)
    assert (found["measuredSince"], found["keep"]) == (None, "runs=5")
    assert found["growth"] == {"documents": None, "bytes": None, "elements": None}
    assert found["full"]["heap"] == {"room": 900, "days": None, "soon": False}
    assert found["sampled"] == asked.small.journal.summary().received
    jobs = [one["name"] for one in found["by"]["job"]]
    assert jobs == ["default/load", "default/other"]
    for shares in found["by"].values():
        assert sum(one["share"] for one in shares) == pytest.approx(1.0)
    assert found["warning"] is None


def test_it_tells_the_elements_of_runs_in_the_graph_and_the_savings_of_a_setting(
    asked: Asked,
) -> None:
    runs = asked.client.get("/storage").get_json()["runs"]
    taken = 7 * 24  # each execution in a run of its own, on a day of its own
    saved = taken - 7 * 3 * 2  # three runs of both jobs stay
    assert (runs["setting"], runs["elements"], runs["bytes"]) == (
        "newest:1000",
        taken,
        1_000 * taken,
    )
    assert runs["saved"] == {
        "HEADWATER_GRAPH_RUNS=newest:3": {"elements": saved, "bytes": 1_000 * saved},
        "HEADWATER_GRAPH_RUNS=none": {"elements": taken, "bytes": 1_000 * taken},
    }


def test_the_share_that_days_would_save_is_that_of_older_documents(asked: Asked) -> None:
    asked.clock.now = START + 40 * DAY
    found = asked.client.get("/storage").get_json()
    assert "days= goes by the arrival of documents" in found["savedNote"]
    used = found["stored"]["journal"] + found["stored"]["catalogue"]
    sampled = asked.small.journal.summary().received
    assert found["saved"]["HEADWATER_KEEP=days=30"] == int(12 * (used / sampled)), "10 and 2 runs"
    assert found["saved"]["HEADWATER_KEEP=days=90"] == 0
    listed = [line for line in describe_storage(found) if "would give back" in line]
    assert [line.split()[0] for line in listed] == ["HEADWATER_KEEP=days=30"]
    assert found["savedNote"] in describe_storage(found)


def test_documents_that_retention_has_removed_are_not_saved_a_second_time(asked: Asked) -> None:
    """Of the first ten days two runs of the other job are left, and the plans."""
    order = resolve_prune(Retention(keep=4), asked.small.catalogue, drop_bodies=True)
    asked.small.accept(submit(Command("retention", START, "", "", order)))
    eventually(lambda: asked.small.journal.summary().received < 20)
    asked.clock.now = START + 40 * DAY
    found = asked.client.get("/storage").get_json()
    used = found["stored"]["journal"] + found["stored"]["catalogue"]
    sampled = asked.small.journal.summary().received
    assert found["saved"]["HEADWATER_KEEP=days=30"] == int(2 * (used / sampled))


def finished_runs(job: str, count: int) -> list[Submission]:
    """A START and a COMPLETE event of each run."""
    return [
        lineage_event(
            {
                "eventType": state,
                "eventTime": f"2026-03-01T{run // 60:02}:{run % 60:02}:{second}.000Z",
                "producer": "https://example.org/tool",
                "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
                "run": {"runId": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{job}/{run}"))},
                "job": {"namespace": "tool", "name": job},
                "outputs": [{"namespace": "s3://lake", "name": f"out/{job}"}],
            }
        )
        for run in range(count)
        for state, second in (("START", "10"), ("COMPLETE", "50"))
    ]


def saved_by_runs(*jobs: list[Submission]) -> float:
    """As a share of the stored bytes."""
    with running(small_headwater()) as small:
        small.accept(*(one for job in jobs for one in job))
        small.project()
        report = StorageUse(small.journal, small.generations, Clock()).report()
    return report.saved["HEADWATER_KEEP=runs=10"] / report.forecast.measured.disk_bytes


@pytest.fixture
def few_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage_module, "KEPT_RUNS", 10)
    monkeypatch.setattr(storage_module, "SAMPLE", 40)


@pytest.mark.usefixtures("few_are_looked_at")
def test_jobs_with_fewer_runs_than_are_kept_save_nothing() -> None:
    assert saved_by_runs(*(finished_runs(f"job-{number}", 9) for number in range(12))) == 0.0


@pytest.mark.usefixtures("few_are_looked_at")
def test_a_start_and_a_completion_are_one_run_and_the_share_is_that_of_the_older_runs() -> None:
    assert saved_by_runs(finished_runs("load", 10)) == 0.0
    assert saved_by_runs(finished_runs("load", 40)) == pytest.approx(0.75, abs=0.001)
    both = saved_by_runs(finished_runs("load", 40), finished_runs("small", 5))
    assert both == pytest.approx(0.75 * 80 / 90, abs=0.05)


def test_a_full_heap_is_the_same_warning_everywhere_though_nothing_grows(asked: Asked) -> None:
    asked.memory.elements = 1_000
    found = asked.client.get("/storage").get_json()
    assert found["full"]["heap"] == {"room": 0, "days": 0.0, "soon": True}
    assert "the engine's heap is full now" in found["warning"]
    assert "the heap is full now" in describe_storage(found)
    assert asked.client.get("/health/ready").get_json()["checks"]["storage"] == found["warning"]
    assert 'headwater_storage_full_days{room="heap"} 0.0' in asked.client.get("/metrics").text


def test_a_graph_that_holds_documents_is_full_before_anything_was_counted(tmp_path: Path) -> None:
    with running(small_headwater()) as small:
        storage = StorageUse(small.journal, small.generations, Clock(), holds=lambda: True)
        assert "the engine's heap is full now" in str(storage.forecast().warning)


def test_the_logs_are_shown_beside_what_is_stored(asked: Asked, tmp_path: Path) -> None:
    (tmp_path / "headwater.db-wal").write_bytes(b"x" * 5_000)
    found = asked.client.get("/storage").get_json()
    assert found["stored"]["log"] == 5_000
    lines = [line.strip() for line in describe_storage(found)]
    assert "5.0 kB  write-ahead logs" in lines


def test_growth_is_known_after_a_while_and_a_near_date_is_a_warning_that_stays_ready(
    asked: Asked,
) -> None:
    asked.storage.keep_measure()
    asked.clock.now += 60_000
    young = asked.client.get("/storage").get_json()
    assert young["measuredSince"] == iso(START + 20 * DAY)
    assert young["tooEarly"] == TOO_EARLY
    assert any(f"since {young['measuredSince']}" in line for line in describe_storage(young))
    asked.clock.now += DAY - 60_000
    asked.memory.elements = 200
    found = asked.client.get("/storage").get_json()
    assert found["tooEarly"] is None
    assert found["growth"]["elements"] == pytest.approx(100.0)
    assert found["full"]["heap"]["days"] == pytest.approx(8.0)
    assert (found["full"]["heap"]["soon"], found["full"]["disk"]["soon"]) == (True, False)
    assert "heap is full in 8.0 days" in found["warning"]
    ready = asked.client.get("/health/ready")
    assert ready.status_code == 200
    assert ready.get_json()["checks"]["storage"] == found["warning"]
    text = asked.client.get("/metrics").text
    assert 'headwater_storage_full_days{room="heap"} 8.0' in text
    assert "headwater_engine_elements 200.0" in text
    assert "headwater_storage_measured_seconds 86400.0" in text
    assert not any("HEADWATER_KEEP=days=90" in line for line in describe_storage(found))


def test_a_hidden_job_is_not_named(asked: Asked) -> None:
    wish = {"command": "hide", "node": "job:default/load", "note": ""}
    assert asked.client.post("/commands", json=wish).status_code == 202
    found = asked.client.get("/storage").get_json()
    named = [one["name"] for one in found["by"]["job"] if one["name"]]
    assert named == ["default/other"]


def test_a_hidden_job_of_a_namespace_with_slashes_is_not_named_either(asked: Asked) -> None:
    run = {"runId": "9b1c1f0e-6f0a-5d6e-8a44-0f7f4f1d2c10"}
    job, outputs = {"namespace": "spark://prod", "name": "a"}, [{"namespace": "file", "name": "/b"}]
    event = {"eventTime": "2026-01-01T00:00:00Z", "run": run, "job": job, "outputs": outputs}
    asked.small.accept(lineage_event({"eventType": "COMPLETE", **event}))
    asked.small.project()

    def named() -> set[str]:
        return {each["name"] for each in asked.client.get("/storage").get_json()["by"]["job"]}

    assert "spark%3A%2F%2Fprod/a" in named()
    wish = {"command": "hide", "node": "job:spark%3A%2F%2Fprod/a", "note": ""}
    assert asked.client.post("/commands", json=wish).status_code == 202
    assert "spark%3A%2F%2Fprod/a" not in named()


def test_a_sample_is_bounded_and_reaches_from_the_first_to_the_newest(asked: Asked) -> None:
    sample = asked.small.journal.sample(5)
    assert len(sample) == 5
    assert len({one.subject_key for one in asked.small.journal.sample(1_000)}) == 2


def test_an_empty_headwater_has_an_answer(tmp_path: Path) -> None:
    with running(small_headwater()) as small:
        storage = StorageUse(small.journal, small.generations, Clock(), folder=tmp_path)
        report = storage.report()
        assert report.sampled == 0
        assert set(report.saved.values()) == {0}
        assert report.forecast.capacity is None


def test_a_failed_measurement_does_not_make_it_unready(asked: Asked, tmp_path: Path) -> None:
    tmp_path.rmdir()
    ready = asked.client.get("/health/ready")
    assert (ready.status_code, "storage" in ready.get_json()["checks"]) == (200, False)
    assert "headwater_journal_up 1.0" in asked.client.get("/metrics").text
    refused = asked.client.get("/storage")
    assert refused.status_code == 503
    assert "disk of the data folder cannot be measured" in refused.get_data(as_text=True)
    assert str(tmp_path) not in refused.get_data(as_text=True)
