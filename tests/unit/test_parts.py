"""Which parts of ``make test-all`` a change needs, and that each has tests and its turn."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from datetime import date, timedelta
from pathlib import Path

import pytest

from tests.parts import (
    AFFORDABLE_SECONDS,
    NAMES,
    PARTS,
    RANDOM,
    SOURCES,
    choose,
    in_turn,
    parts_of,
    stamps_of,
)

pytest_plugins = ("pytester",)

ROOT = Path(__file__).resolve().parents[2]
DAY = date(2026, 3, 1)
SECONDS = {part.name: part.seconds for part in PARTS}


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("docs/graph.md", ()),
        ("frontend/js/page.js", ()),
        ("aws/take.py", ("recovery",)),
        ("tests/e2e/spark/test_hudi.py", ("hudi",)),
        (
            "graph_model/stores/gremlin/graph.py",
            ("janusgraph", "notebooks", "pipeline", "recovery"),
        ),
        ("graph_model/producers/openlineage/reading.py", ("openlineage", "connect", "dbt", RANDOM)),
        ("Makefile", NAMES),
        ("somewhere/else.py", None),
    ],
)
def test_a_path_has_the_parts_of_the_first_beginning_that_is_its_own(
    path: str, parts: tuple[str, ...] | None
) -> None:
    assert parts_of(path) == parts


def test_the_table_names_parts_that_there_are_and_nothing_twice() -> None:
    assert {name for _, parts in SOURCES for name in parts} == set(NAMES)
    assert {count for _, count in Counter(beginning for beginning, _ in SOURCES).items()} == {1}


def test_no_beginning_hides_a_later_one() -> None:
    beginnings = [beginning for beginning, _ in SOURCES]
    hidden = [b for n, b in enumerate(beginnings) if b.startswith(tuple(beginnings[:n]))]
    assert hidden == []


def test_the_table_knows_every_path_at_the_top_of_the_repository() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("no clone")
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    paths = done.stdout.splitlines()
    assert [path for path in paths if parts_of(path) is None] == []
    unused = {beginning for beginning, _ in SOURCES if not _any_below(paths, beginning)}
    assert unused <= {".ci/green"}


def _any_below(paths: list[str], beginning: str) -> bool:
    return any(path.startswith(beginning) for path in paths)


@pytest.mark.parametrize("name", sorted(set(NAMES) - {RANDOM}))
def test_a_part_has_tests(name: str) -> None:
    named = re.compile(rf'mark\.part\("{re.escape(name)}"\)|in_parts\([^)]*"{name[6:]}"')
    sources = (path.read_text("utf-8") for path in (ROOT / "tests").rglob("*.py"))
    assert any(named.search(text) for text in sources)


def test_a_change_runs_the_parts_that_look_at_it_and_those_in_turn() -> None:
    chosen = choose(["docs/graph.md", "pipeline/rebuild.py"], DAY)
    assert chosen.runs["pipeline"] == "pipeline/rebuild.py changed"
    assert set(chosen.runs) == {"pipeline", *in_turn(DAY)} - {RANDOM}
    assert set(chosen.left) == set(NAMES) - set(chosen.runs)


@pytest.mark.parametrize("changed", [None, ["docs/graph.md", "somewhere/else.py"], ["Makefile"]])
def test_all_that_is_affordable_runs_where_a_change_concerns_every_part(
    changed: list[str] | None,
) -> None:
    chosen = choose(changed, DAY)
    taken = sum(SECONDS[name] for name in chosen.runs)
    assert taken <= AFFORDABLE_SECONDS < sum(SECONDS.values())
    without = set(chosen.left) - {RANDOM}
    assert all(taken + SECONDS[name] > AFFORDABLE_SECONDS for name in without)
    assert set(in_turn(DAY)) - {RANDOM} <= set(chosen.runs)
    assert "no time is left" in "".join(set(chosen.left.values()))


def test_the_parts_in_turn_and_then_the_short_ones_run_first() -> None:
    for number in range(len(NAMES)):
        day = DAY + timedelta(days=number)
        chosen = choose(["Makefile"], day)
        beside = set(chosen.runs) - set(in_turn(day))
        longest = max(SECONDS[name] for name in beside)
        assert all(SECONDS[name] >= longest for name in set(chosen.left) - {RANDOM})


@pytest.mark.parametrize("changed", [None, ["graph_model/facts.py"], ["Makefile"]])
def test_random_examples_decide_about_no_commit(changed: list[str] | None) -> None:
    days = [DAY + timedelta(days=n) for n in range(len(NAMES))]
    assert not any(RANDOM in choose(changed, day).runs for day in days)


def test_seven_days_in_a_row_have_every_part() -> None:
    for start in range(30):
        week = [in_turn(DAY + timedelta(days=start + n)) for n in range(7)]
        assert {name for day in week for name in day} == set(NAMES) - {RANDOM}


def test_parts_that_share_an_environment_install_it_once() -> None:
    assert stamps_of(["connect", "spark-4.1", "hive"]) == ["build/spark41/.installed"]
    with pytest.raises(SystemExit, match="no part is named nothing"):
        stamps_of(["nothing"])


def test_what_is_installed_is_a_target_of_make() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    listed = re.search(r"^APART = (.*)$", makefile, re.MULTILINE)
    assert listed is not None
    assert set(stamps_of(NAMES)) == {f"build/{name}/.installed" for name in listed[1].split()}


def test_parts_are_chosen_before_anything_is_installed() -> None:
    command = [sys.executable, "-S", "-m", "tests.parts", "choose"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) <= set(NAMES)
    assert "Parts of make test-all:" in done.stderr


def test_no_test_makes_its_own_choice_between_random_examples_and_the_same_ones() -> None:
    """A setting of a test goes on from the profile, which make chooses (``tests/conftest.py``)."""
    word = re.compile(r"\bderandomize=|\bload_profile\(")
    listed = [path for path in (ROOT / "tests").rglob("*.py") if word.search(path.read_text())]
    assert listed == [ROOT / "tests" / "conftest.py"]


@pytest.fixture
def three_files(pytester: pytest.Pytester) -> pytest.Pytester:
    """A test of a part, one with an engine and one of neither, with the hooks of our tests."""
    hooks = "pytest_addoption, pytest_collection_modifyitems"
    pytester.makeconftest(f"from tests.conftest import {hooks}")
    text = "import pytest\n{}\ndef test_it(): pass"
    pytester.makepyfile(
        test_a=text.format(""),
        test_b=text.format("@pytest.mark.part('hudi')"),
        test_c=text.format("@pytest.mark.engine"),
    )
    return pytester


def collected(folder: pytest.Pytester, *options: str) -> list[str]:
    lines = folder.runpytest("--collect-only", "-q", *options).stdout.lines
    return [line for line in lines if "::" in line]


def test_a_part_runs_when_it_is_asked_for_and_then_alone(three_files: pytest.Pytester) -> None:
    assert collected(three_files, "--parts=hudi") == ["test_b.py::test_it"]
    assert collected(three_files, "--parts=all") == ["test_b.py::test_it"]


def test_the_slowest_files_run_first_and_none_of_a_part(three_files: pytest.Pytester) -> None:
    assert collected(three_files) == ["test_c.py::test_it", "test_a.py::test_it"]


def test_a_part_without_a_test_is_a_failure(three_files: pytest.Pytester) -> None:
    result = three_files.runpytest("--parts=hudi wheel")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*no test is of the part wheel*"])
