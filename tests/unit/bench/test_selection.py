"""A measurement that is asked for an unknown part measures nothing, and says so."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from bench.agreement.__main__ import queries
from bench.selection import positive, select
from bench.truth import __main__ as truth
from bench.truth.jobs import JOBS
from bench.truth.report import Score, passes
from graph_model.errors import ConfigurationError


def test_without_names_everything_is_chosen_and_with_names_these_alone() -> None:
    assert select(["a", "b"], (), str) == ["a", "b"]
    assert select(["a", "b"], ["b"], str) == ["b"]


@pytest.mark.parametrize("only", [["c"], ["a", "c"], ["A"], [""]])
def test_an_unknown_name_is_an_error_that_lists_the_known_ones(only: list[str]) -> None:
    with pytest.raises(ConfigurationError, match="known are: a, b"):
        select(["a", "b"], only, str)


def test_the_truth_harness_refuses_an_unknown_job(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(truth.tpch, "queries", lambda _: ())
    report = tmp_path / "report.json"
    assert truth.main(["--only", "no_such_job", "--json", str(report)], {}) == 2
    said = capsys.readouterr()
    assert "no_such_job" in said.err
    assert all(job.name in said.err for job in JOBS)
    assert said.out == ""
    assert not report.exists()


def test_where_nothing_was_tested_no_floor_is_reached() -> None:
    assert not passes(Score(), 0.0)
    assert not passes(Score(untested=5), 0.9)
    assert passes(Score(confirmed=1, explained=1), 0.9)


@pytest.mark.parametrize("text", ["0", "-1", "x"])
def test_at_least_one_round_is_run(text: str) -> None:
    with pytest.raises(ValueError, match=text):
        positive(text)


def test_a_query_of_any_folder_is_known_and_no_other(tmp_path: Path) -> None:
    archive = tmp_path / "queries.jar"
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("tpcds/q1.sql", "SELECT 1")
        opened.writestr("tpcds-v2.7.0/q2.sql", json.dumps("SELECT 2"))
    folders = ["tpcds", "tpcds-v2.7.0"]
    assert [query[:2] for query in queries(archive, folders, ["q2"])] == [("tpcds-v2.7.0", "q2")]
    with pytest.raises(ConfigurationError, match="q1, q2"):
        queries(archive, folders, ["q3"])
