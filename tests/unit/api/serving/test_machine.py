"""The requirements of this computer: found, missing, too old, too new."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from api.serving import machine
from graph_model.stores.gremlin.engine import jars

ROOT = Path(__file__).resolve().parents[4]


def answering(**answers: str) -> Callable[[Sequence[str]], str]:
    """Programs that print something; all others are not there."""
    return lambda command: answers.get(Path(command[0]).name, "")


@pytest.mark.parametrize(
    ("version", "spark", "right"),
    [
        ((3, 10), False, False),
        ((3, 11), False, True),
        ((3, 14), False, True),
        ((3, 13), True, True),
        ((3, 14), True, False),
    ],
)
def test_python_must_be_new_enough_and_for_spark_not_too_new(
    version: tuple[int, int], spark: bool, right: bool
) -> None:
    assert machine.check_python(version, spark=spark).right is right


def a_java(folder: Path, version: str) -> dict[str, str]:
    """An environment with a ``java`` on its PATH that reports a version."""
    program = folder / "java"
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n", "utf-8")
    program.chmod(0o755)
    return {"PATH": str(folder)}


@pytest.mark.parametrize(
    ("version", "spark", "right", "said"),
    [
        ("17.0.15", False, True, "17 (PATH)"),
        ("21", True, True, "21 (PATH)"),
        ("11.0.2", False, False, "17 or newer"),
        ("25.0.1", False, True, "25 (PATH)"),
        ("25.0.1", True, False, "17 to 22"),
    ],
)
def test_java_must_be_new_enough_and_for_spark_not_too_new(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    version: str,
    spark: bool,
    right: bool,
    said: str,
) -> None:
    monkeypatch.setattr(jars, "JAVA_PACKAGE", "no_runtime_here")
    finding = machine.check_java(a_java(tmp_path, version), spark=spark)
    assert finding.right is right
    assert said in finding.text


@pytest.mark.parametrize(
    ("node", "npm", "right", "said"),
    [
        ("v20.20.2\n", "10.8.2\n", True, "20.20.2"),
        ("v18.1.0\n", "9.0.0\n", False, "too old"),
        ("", "", False, "Node is not found"),
        ("v22.0.0\n", "", False, "npm is not found"),
    ],
)
def test_node_and_npm_must_be_there(node: str, npm: str, right: bool, said: str) -> None:
    finding = machine.check_node(answering(node=node, npm=npm))
    assert finding.right is right
    assert said in finding.text


def test_a_browser_is_looked_for_where_the_path_points(tmp_path: Path) -> None:
    assert not machine.check_browser({"PATH": str(tmp_path)}).right
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    assert machine.check_browser({"PATH": str(tmp_path)}).text == str(program)


def test_only_the_parts_that_a_purpose_needs_are_looked_at() -> None:
    def names(purpose: str, **environment: str) -> list[str]:
        return [found.name for found in machine.check_for(purpose, environment)]

    assert names("serve") == ["Python"]
    assert names("demo") == ["Python"]
    assert names("engine") == ["Python", "Java"]
    assert names("spark") == ["Python", "Java"]
    assert names("check") == ["Python", "Node"]
    assert names("fuzz") == ["Python"]
    assert names("test") == ["Python", "Java", "Node", "Chromium"]
    assert names("test", ARGS='-m "not browser"') == ["Python", "Java", "Node"]


def test_each_missing_thing_is_one_line(tmp_path: Path) -> None:
    errors = io.StringIO()
    nothing_there = {"JAVA_HOME": str(tmp_path), "PATH": str(tmp_path)}
    assert machine.main(["spark"], nothing_there, errors) == 1
    assert len(errors.getvalue().splitlines()) == 1
    assert errors.getvalue().startswith("headwater: Java 17")


def test_it_runs_before_anything_is_installed() -> None:
    """Isolated from every installed package, as ``make`` runs it the first time."""
    done = subprocess.run(
        [sys.executable, "-S", "-E", "-m", "api.serving.machine", "check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
