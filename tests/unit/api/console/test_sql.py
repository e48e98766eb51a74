"""``headwater sql``: a file's lineage as lines, as JSON, as a report."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from api.command_line import run


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "load.sql"
    path.write_text("INSERT INTO t SELECT * FROM s WHERE k = 'hunter2'", encoding="utf-8")
    (tmp_path / "s.json").write_text('{"p.s": ["a"], "p.t": ["b"]}', encoding="utf-8")
    return path


def called(*arguments: object) -> tuple[int, str, str]:
    out, errors = io.StringIO(), io.StringIO()
    code = run(["sql", *map(str, arguments)], {}, out, errors)
    return code, out.getvalue(), errors.getvalue()


def test_a_file_is_translated_with_its_schemas(script: Path) -> None:
    schemas = (
        "--schema",
        script.parent / "s.json",
        "--default-schema",
        "p",
        "--default-database",
        "d",
    )
    code, out, _ = called(script, "--dialect", "redshift", "--json", *schemas)
    (statement,) = json.loads(out)["statements"]
    assert code == 0
    assert (statement["reads"], statement["writes"]) == (["d.p.s"], ["d.p.t"])
    assert statement["columns"][0]["to"] == "d.p.t#b"
    assert statement["columns"][0]["from"] == ["d.p.s#a"]
    assert "hunter2" not in out


def test_lines_are_for_people_and_the_report_is_of_gaps(script: Path) -> None:
    assert called(script, "--dialect", "redshift")[1].startswith("1. t from s\n   t#*  IDENTITY")
    code, out, _ = called(script, "--dialect", "redshift", "--report")
    assert code == 0
    assert out.splitlines()[0] == "1 statement, 1 read (100.0 %)"
    assert "unknown-columns" in out
    both = json.loads(called(script, "--dialect", "redshift", "--report", "--json")[1])
    assert both["report"]["statements"] == 1


def test_a_wrong_call_ends_with_2_and_a_missing_file_with_1(script: Path) -> None:
    code, _, errors = called(script, "--dialect", "klingon")
    assert code == 2
    assert errors.startswith("headwater: --dialect: expected one of athena")
    script.write_text("[1]", encoding="utf-8")
    assert called(script, "--dialect", "spark", "--schema", script)[0] == 2
    assert called(script.parent / "none.sql", "--dialect", "spark")[0] == 1
