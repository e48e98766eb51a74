"""The front door: its promises, and that it names a missing program in one line."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROMISED = (
    "run", "demo", "test", "test-all", "test-parts", "test-busy", "green", "fuzz", "check", "lock",
    "clean", "help",
)  # fmt: skip
TOOLS = ("sh", "env", "make", "test", "echo", "awk", "dirname", "uname")

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="no make on this machine")


def make(
    *arguments: str, path: str | None = None, **settings: str
) -> subprocess.CompletedProcess[str]:
    own = {"PATH": path or os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}
    return subprocess.run(
        ["make", "--no-print-directory", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env=own | settings,
    )


def program(folder: Path, name: str, text: str) -> str:
    place = folder / name
    place.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    place.chmod(0o755)
    return str(place)


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A PATH with a shell and Python and nothing else."""
    for name in TOOLS:
        if result := shutil.which(name):
            (tmp_path / name).symlink_to(result)
    program(tmp_path, "python3", f'exec "{sys.executable}" "$@"')
    return tmp_path


def test_help_lists_every_promised_target_with_a_sentence() -> None:
    listed = dict(re.findall(r"^  make ([\w-]+) +(\S.*)$", make("help").stdout, re.MULTILINE))
    assert set(PROMISED) <= set(listed)


def test_run_hands_its_variables_on() -> None:
    recipe = make("--dry-run", "run", "PORT=8081", "DATA=/srv/x", "GREMLIN_PORT=8183").stdout
    assert 'HEADWATER_PORT="8081"' in recipe
    assert 'HEADWATER_DATA="/srv/x"' in recipe
    assert 'HEADWATER_GREMLIN_PORT="8183"' in recipe


def test_run_keeps_the_settings_of_the_environment() -> None:
    settings = {
        "HEADWATER_PORT": "8081",
        "HEADWATER_DATA": "/srv/x",
        "HEADWATER_GREMLIN_PORT": "8183",
    }
    recipe = make("--dry-run", "run", **settings).stdout
    assert all(f'{name}="{value}"' in recipe for name, value in settings.items())
    assert 'HEADWATER_PORT="8082"' in make("--dry-run", "run", "PORT=8082", **settings).stdout


def test_run_does_not_need_pyspark() -> None:
    recipe = make("--dry-run", "run", "VENV=/nowhere").stdout
    assert "requirements/serve.txt" in recipe
    assert "spark.txt" not in recipe
    assert "development.txt" not in recipe


@pytest.mark.parametrize("target", ["run", "demo"])
def test_python_alone_serves_to_run_and_to_show(target: str) -> None:
    recipe = make("--dry-run", "--always-make", target).stdout
    assert "npm" not in recipe
    assert "requirements/java.txt" in recipe


def test_python_alone_is_looked_for_before_anything_is_installed(bare: Path) -> None:
    """No Java, no Node."""
    for target in ("ready-serve", "ready-demo"):
        done = make(target, path=str(bare))
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("target", ["test", "test-busy"])
def test_tests_keep_compiled_sources_whatever_the_environment_says(
    tmp_path: Path, target: str
) -> None:
    """The recipe of the tests, with a program for Python that shows the variable."""
    folder = tmp_path / "bin"
    folder.mkdir()
    shown = program(folder, "python", 'echo "told: $PYTHONDONTWRITEBYTECODE."')
    recipe = make("--dry-run", target, "ARGS=-q", f"VENV={tmp_path}").stdout
    [line] = [line for line in recipe.splitlines() if re.search(r"-m (pytest|tests\.busy) ", line)]
    done = subprocess.run(
        ["sh", "-c", line],
        capture_output=True, text=True, check=True, cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert shown in line
    assert done.stdout == "told: .\n"


def test_check_holds_the_types_of_the_page() -> None:
    recipe = make("--dry-run", "--always-make", "check").stdout
    installs = re.findall(r"^npm ci .*$", recipe, re.MULTILINE)
    assert "--include=dev" in installs[-1]
    assert "run check" in recipe[recipe.index(installs[-1]) :]


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    """The only line beside make's own."""
    assert done.returncode != 0
    said = [line for line in done.stderr.splitlines() if not line.startswith("make:")]
    assert len(said) == 1
    return said[0]


def test_a_missing_python_is_named_in_one_line() -> None:
    said = one_line(make("run", "PYTHON=python-nowhere"))
    assert "Python 3.11 or newer is needed, python-nowhere is not found" in said


def test_an_old_python_is_named_in_one_line(tmp_path: Path) -> None:
    old = program(tmp_path, "python-old", "exit 1")
    assert "is older" in one_line(make("run", f"PYTHON={old}"))


def test_the_demo_asks_for_a_server_before_anything_is_installed(bare: Path) -> None:
    new = bare / "venv"
    said = one_line(make("demo", "PORT=9", f"VENV={new}", path=str(bare)))
    assert "no Headwater answers at http://127.0.0.1:9 " in said
    assert "PORT= or URL=" in said
    assert not new.exists()


def test_make_leaves_the_question_to_the_demo_that_is_installed(tmp_path: Path) -> None:
    (tmp_path / ".spark-installed").touch()
    installed = make("--dry-run", "demo", f"VENV={tmp_path}").stdout
    assert "machine server" not in installed
    assert "headwater demo" in installed


def test_the_demo_reports_to_the_port_or_the_url_that_make_is_given() -> None:
    assert '--url "http://127.0.0.1:9000"' in make("--dry-run", "demo", "PORT=9000").stdout
    assert '--url "http://h:1"' in make("--dry-run", "demo", "URL=http://h:1").stdout


def test_a_missing_java_is_named_in_one_line(bare: Path) -> None:
    assert "Java 17 to 22 is needed, none is found" in one_line(make("truth", path=str(bare)))


def test_an_old_java_is_named_in_one_line(bare: Path) -> None:
    program(bare, "java", "echo 'openjdk version \"11.0.1\"' >&2")
    assert "(PATH) is Java 11" in one_line(make("truth", path=str(bare)))


def test_an_old_node_is_named_in_one_line(bare: Path) -> None:
    program(bare, "node", "echo v18.0.0")
    assert "Node 18.0.0 is too old" in one_line(make("check", path=str(bare)))


def test_a_missing_browser_says_how_to_get_one_or_do_without(bare: Path) -> None:
    program(bare, "node", "echo v20.1.0")
    program(bare, "npm", "echo 10.1.0")
    program(bare, "java", "echo 'openjdk version \"17.0.1\"' >&2")
    said = one_line(make("test", path=str(bare)))
    assert "apt-get install chromium" in said
    assert "not browser" in said


@pytest.mark.parametrize(
    "lock",
    [
        "serve",
        "java",
        "spark",
        "spark4",
        "spark41",
        "spark42",
        "spark43",
        "dbt",
        "notebooks",
        "development",
        "build",
    ],
)
def test_every_requirement_is_locked_by_hash(lock: str) -> None:
    text = (ROOT / "requirements" / f"{lock}.txt").read_text(encoding="utf-8")
    entries = re.split(r"\n(?=\S)", text.strip())
    pinned = [entry for entry in entries if not entry.startswith("#")]
    assert pinned
    for entry in pinned:
        assert re.match(r"[A-Za-z0-9._-]+(?:\[[\w,-]+\])?==\S+", entry), entry[:80]
        assert "--hash=sha256:" in entry, entry[:80]


def test_tests_install_what_they_need_and_nothing_for_the_parts_that_they_leave_out() -> None:
    recipe = make("--dry-run", "--always-make", "test").stdout
    assert "requirements/spark41.txt" in recipe
    for lock in ("spark4", "spark42", "spark43", "dbt", "notebooks"):
        assert f"requirements/{lock}.txt" not in recipe


def test_tests_begin_with_the_checks_unless_they_are_a_selection() -> None:
    recipe = make("--dry-run", "test").stdout
    assert recipe.index("mypy") < recipe.index("-m pytest")
    assert "mypy" not in make("--dry-run", "test", "ARGS=tests/unit").stdout


def test_parts_run_with_random_examples_of_a_number_that_is_given() -> None:
    recipe = make("--dry-run", "test-parts", "PARTS=hudi wheel", "SEED=7").stdout
    assert '--parts="hudi wheel" --hypothesis-profile=random --hypothesis-seed=7' in recipe
    assert '--parts="all"' in make("--dry-run", "test-parts").stdout
    assert "--hypothesis-seed" not in make("--dry-run", "test").stdout


def test_continuous_integration_says_the_same_words() -> None:
    """Its last line is that of pytest, which ends with an error where a part has no test."""
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "set -eu" in script
    assert "\nmake test\n" in script
    assert script.splitlines()[-1].startswith('make test-parts PARTS="$parts" SEED=')
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
