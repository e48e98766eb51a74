"""A change of a real job, captured by the listener on empty tables, held against production."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest

from api import command_line
from graph_model.answers.impact.changes import relocate
from graph_model.documents.files import Piece, prepare, recognise
from tests.e2e.small_client import serving
from tests.e2e.spark.test_listener import python_of
from tests.projections import SmallHeadwater, small_headwater

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]
_ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("check")
    python = python_of("3.5")
    done = subprocess.run(
        [python, "-m", "tests.e2e.spark.impact_jobs", str(root)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(_ROOT), "PYSPARK_PYTHON": str(python)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return root


def production(root: Path) -> SmallHeadwater:
    """The production run of the same, in another place."""
    made = small_headwater()
    with (root / "production.ndjson").open(encoding="utf-8") as file:
        for piece in recognise(file, "production", 10_000_000):
            assert isinstance(piece, Piece)
            body = relocate(piece.document, [(f"file:{root}/", "s3://")])
            moved = Piece(piece.kind, piece.api_version, body, piece.where)
            made.accept(prepare(moved).submission)
    made.project()
    return made


@pytest.fixture
def url(captured: Path) -> Iterator[str]:
    made = production(captured)
    try:
        with serving(made, 1_800_000_000_000) as address:
            yield address
    finally:
        made.close()


def impact(url: str, *arguments: str) -> tuple[int, str, str]:
    out, errors = StringIO(), StringIO()
    code = command_line.run(["impact", *arguments, "--url", url], {}, out, errors)
    return code, out.getvalue(), errors.getvalue()


def test_a_renamed_and_a_retyped_column_are_found_with_all_that_breaks(
    captured: Path, url: str
) -> None:
    move = f"file:{captured}/=s3://"
    code, said, errors = impact(url, "--plan", f"{captured}/change.ndjson", "--map", move)
    assert (code, errors) == (3, "")
    lines = said.splitlines()
    assert lines[0] == "default/load writes s3://lake/orders"
    assert "  column-renamed: status  status => state  (breaks its readers)" in lines
    assert "  column-retyped: id  int => bigint  (may break its readers)" in lines
    assert any("daily filters by orders.status, which is renamed to state" in li for li in lines)
    assert lines[-1].startswith("something breaks, ")


def test_the_same_jobs_as_in_production_break_nothing(captured: Path, url: str) -> None:
    move = f"file:{captured}/=s3://"
    file = f"{captured}/production.ndjson"
    code, said, errors = impact(url, "--plan", file, "--map", move, "--format", "json")
    assert (code, errors) == (0, "")
    reply = json.loads(said)
    assert reply["verdict"] == "none"
    assert [(plan["job"], plan["changes"]) for plan in reply["plans"]] == [
        ("default/daily", []), ("default/load", []),
    ]  # fmt: skip


def test_a_server_that_is_not_there_is_told_in_one_line(captured: Path) -> None:
    code, said, errors = impact("http://127.0.0.1:9", "--dataset", "s3://lake/orders")
    assert (code, said) == (1, "")
    assert errors.startswith("headwater: no Headwater answers at http://127.0.0.1:9")
    assert errors.count("\n") == 1
