"""Upkeep works in steps, with pauses between them, and knows when nothing is left."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from api.http.bodies import PROCESS_MARK
from api.service import Service
from api.serving.upkeep import Upkeep
from graph_model.stores.database import open_database
from graph_model.stores.documents import DocumentKind, Receipt, Submission
from graph_model.stores.journal import Journal

OLD = [f"k{number:016x}-{number}" for number in range(3)]


def test_hashes_of_ended_processes_are_forgotten_in_steps_and_those_of_this_one_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.serving.upkeep.MOST_FORGOTTEN", 1)
    journal = Journal(open_database(tmp_path / "headwater.db"))
    own = f"{PROCESS_MARK}1"
    for number, raw_hash in enumerate([*OLD, own]):
        name = f"document {number}"
        document = Submission(DocumentKind("plan"), "1.2", name, "", name, name, b"{}")
        journal.accept([document], Receipt(0, "", "test", raw_hash))
    pauses: list[float] = []
    service = Service(journal, *cast("Any", (None, None, None)), clock=lambda: 0)
    upkeep = Upkeep(service, None, sleep=lambda seconds: not pauses.append(seconds))
    upkeep.look()
    assert [raw_hash for raw_hash in OLD if journal.recall(raw_hash, "")] == []
    assert journal.recall(own, "")
    assert len(pauses) == len(OLD)
    upkeep.look()
    assert len(pauses) == len(OLD)
    journal.close()


def test_a_service_that_ends_takes_no_further_step(tmp_path: Path) -> None:
    steps: list[int] = []
    upkeep = Upkeep(cast("Service", None), None, sleep=lambda _: False)
    upkeep._take_steps(lambda: not steps.append(1))
    assert steps == [1]
