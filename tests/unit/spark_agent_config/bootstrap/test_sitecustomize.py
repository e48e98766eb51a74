"""A job that is not changed: what Python imports at its start observes its session."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import spark_agent_config
from spark_agent_config.bootstrap.sitecustomize import SessionFinder, observe_sessions

_FOLDER = Path(spark_agent_config.__file__).parent / "bootstrap"
#: A PySpark whose session says what happens to it.
_SESSIONS = """
class Context:
    applicationId = "app-1"

class SparkSession:
    sparkContext = Context()

    def __init__(self, name):
        self.name = name
"""
_JOB = """
import json, sys
before = "pyspark" in sys.modules
from pyspark.sql.session import SparkSession
import spark_agent_config.listener as listener
seen = []
listener.observe = lambda session: seen.append(session.name)
sessions = [SparkSession("first"), SparkSession("second")]
print(json.dumps([before, getattr(sys, "hidden", None), seen]))
"""


class Sessions:
    """A module like ``pyspark.sql.session``."""

    class SparkSession:
        def __init__(self, name: str) -> None:
            self.name = name

        @property
        def sparkContext(self) -> Any:
            raise ConnectionError("the JVM is gone")


def test_the_first_session_of_an_application_is_observed_and_a_hidden_sitecustomize_runs(
    tmp_path: Path,
) -> None:
    package = tmp_path / "pyspark" / "sql"
    package.mkdir(parents=True)
    (tmp_path / "pyspark" / "__init__.py").touch()
    (package / "__init__.py").touch()
    (package / "session.py").write_text(_SESSIONS)
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.hidden = 'ran'\n")
    path = os.pathsep.join(map(str, (_FOLDER, tmp_path)))

    done = subprocess.run(
        [sys.executable, "-c", _JOB],
        env={"PYTHONPATH": path},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=240,
    )

    assert json.loads(done.stdout) == [False, "ran", ["first"]]


def test_two_copies_on_the_path_run_the_hidden_sitecustomize_once(tmp_path: Path) -> None:
    copy = tmp_path / "other" / "spark_agent_config" / "bootstrap"
    shutil.copytree(_FOLDER, copy)
    (tmp_path / "linked").symlink_to(_FOLDER)
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.stdout.write('ran')\n")
    path = os.pathsep.join(map(str, (_FOLDER, copy, tmp_path / "linked", tmp_path)))

    done = subprocess.run(
        [sys.executable, "-c", "import sys; print('', len(sys.meta_path))"],
        env={"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
        timeout=240,
    )

    ran, finders = done.stdout.split()
    assert (ran, done.stderr) == ("ran", "")
    assert int(finders) < len(sys.meta_path) + 3


def test_a_session_that_cannot_be_observed_begins_all_the_same() -> None:
    observe_sessions(Sessions)
    assert Sessions.SparkSession("a").name == "a"


def test_a_pyspark_without_sessions_is_left_as_it_is() -> None:
    observe_sessions(object())


def test_a_process_without_pyspark_is_left_alone() -> None:
    """``import pyspark`` may stand in a try: it fails there, and in no other way."""
    assert SessionFinder().find_spec("pyspark.sql.session", []) is None
