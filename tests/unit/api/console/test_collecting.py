"""``headwater harvest``: round after round, and a stop in the middle."""

from __future__ import annotations

import io
import json
import signal
from collections.abc import Container, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from api.command_line import run
from collectors.harvesting.dbt import DbtArtifacts
from collectors.harvesting.rounds import Harvested

CLUSTER = "postgres://db:5432"


@pytest.fixture
def artefacts(tmp_path: Path) -> Path:
    """Two models."""
    nodes = {
        f"model.shop.{name}": {
            "resource_type": "model", "name": name, "schema": "public",
            "config": {"materialized": "table"},
        }
        for name in ("a", "b")
    }  # fmt: skip
    manifest = {"metadata": {"generated_at": "2026-03-01T12:00:00Z"}, "nodes": nodes}
    (tmp_path / "target").mkdir()
    (tmp_path / "target" / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return tmp_path


def called(folder: Path, *more: str) -> tuple[int, list[str]]:
    out, errors = io.StringIO(), io.StringIO()
    place = ("--datasets", CLUSTER, "--data", str(folder / "data"))
    code = run(["harvest", "dbt", str(folder / "target"), *place, *more], {}, out, errors)
    assert errors.getvalue() == ""
    return code, out.getvalue().splitlines()


class Rounds:
    """Time that passes at once: it is stopped in the wait after a number of rounds."""

    def __init__(self, number: int) -> None:
        self.left = number
        self.waited: list[float] = []

    def is_set(self) -> bool:
        return self.left == 0

    def wait(self, seconds: float) -> None:
        self.left -= 1
        self.waited.append(seconds)


def test_rounds_follow_each_other_and_a_source_that_is_away_is_asked_again(
    artefacts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds, manifest = Rounds(3), artefacts / "target" / "manifest.json"
    whole, wait = manifest.read_text("utf-8"), rounds.wait

    def wait_and_write(seconds: float) -> None:
        """At the second round dbt is writing, at the third it has written."""
        manifest.write_text("{" if len(rounds.waited) == 0 else whole, encoding="utf-8")
        wait(seconds)

    @contextmanager
    def stopping() -> Iterator[Rounds]:
        yield rounds

    monkeypatch.setattr(rounds, "wait", wait_and_write)
    monkeypatch.setattr("api.console.collecting.stop_signal", stopping)
    code, lines = called(artefacts, "--direct", "--yes", "--every", "5m")
    assert (code, rounds.waited) == (0, [300.0] * 3)
    assert [one for one in lines if one.startswith("dbt: ")] == [
        "dbt: 2 found, 2 documents taken, 0 refused",
        "dbt: 0 found, 0 documents taken, 0 refused",
    ]


def test_a_signal_ends_a_round_with_what_it_has_and_the_next_call_goes_on(
    artefacts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    findings = DbtArtifacts.findings

    def interrupted(self: DbtArtifacts, since: int, known: Container[str]) -> Iterator[Harvested]:
        first, *others = findings(self, since, known)
        yield first
        signal.raise_signal(signal.SIGTERM)
        yield from others

    with monkeypatch.context() as patched:
        patched.setattr(DbtArtifacts, "findings", interrupted)
        code, lines = called(artefacts, "--direct", "--yes", "--every", "5m")
    assert (code, lines[-1]) == (0, "dbt: 1 found, 1 documents taken, 0 refused")
    assert called(artefacts, "--direct")[1][-1] == "dbt: 1 found, 1 documents taken, 0 refused"


def test_a_dry_run_writes_nothing_at_all(artefacts: Path) -> None:
    before = sorted(artefacts.rglob("*"))
    code, lines = called(artefacts, "--dry-run", "--position", str(artefacts / "p.json"))
    assert (code, len(lines)) == (0, 2)
    assert sorted(artefacts.rglob("*")) == before


def test_a_beginning_in_the_future_is_refused(
    artefacts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        called(artefacts, "--yes", "--since", "9000-01-01")
    assert "expected a past time" in capsys.readouterr().err
    assert not (artefacts / "data").exists()
