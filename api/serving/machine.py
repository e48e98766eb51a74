"""A check for Python, Java, Node, Chromium and a server, before anything is installed.

Standard library only, and modules of ours that need no more: ``make`` runs it before the virtual
environment exists.

    python3 -m api.serving.machine serve|demo|engine|spark|test|check|fuzz
    URL=http://127.0.0.1:8080 python3 -m api.serving.machine server

prints one line for each missing program, with the package to install, and ends with 1; prints
nothing when all are there.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TextIO

from graph_model.errors import ConfigurationError
from graph_model.stores.gremlin.engine import jars

OLDEST_PYTHON: Final = (3, 11)
NEWEST_SPARK_PYTHON: Final = (3, 13)
"""PySpark 3.5 names 3.11 as its newest; DataFrames and Python functions were tried up to 3.13."""

NEWEST_SPARK_JAVA: Final = 22
"""Hadoop's login in Spark 3.5 needs Subject.getSubject, which fails from Java 23 on."""

OLDEST_NODE: Final = 20
BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_ANSWER_SECONDS: Final = 30
_SERVER_SECONDS: Final = 10

Run = Callable[[Sequence[str]], str]


@dataclass(frozen=True, slots=True)
class Finding:
    """One check; ``text`` is its result, or the problem and its remedy."""

    name: str
    right: bool
    text: str


def output_of(command: Sequence[str]) -> str:
    """The output of a command, both streams; empty when it cannot be run."""
    try:
        done = subprocess.run(  # noqa: S603 - fixed commands, no shell
            command, capture_output=True, text=True, timeout=_ANSWER_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr


def check_python(version: tuple[int, int], *, spark: bool) -> Finding:
    """Python itself; with ``spark`` also that the pinned PySpark knows it."""
    running = ".".join(map(str, version))
    oldest, newest = (".".join(map(str, each)) for each in (OLDEST_PYTHON, NEWEST_SPARK_PYTHON))
    if version < OLDEST_PYTHON:
        text = (
            f"Python {oldest} or newer is needed, this is {running}: install it, or name one with "
            "PYTHON="
        )
        return Finding("Python", False, text)
    if spark and version > NEWEST_SPARK_PYTHON:
        text = (
            f"PySpark 3.5 needs Python {oldest} to {newest}, this is {running}: name one with "
            f"PYTHON= (make clean first)"
        )
        return Finding("Python", False, text)
    return Finding("Python", True, running)


def check_java(environment: Mapping[str, str], *, spark: bool) -> Finding:
    """The runtime that serves here; with ``spark`` one that the pinned PySpark knows."""
    try:
        runtime = jars.find_java(environment, newest=NEWEST_SPARK_JAVA if spark else None)
    except ConfigurationError as error:
        return Finding("Java", False, str(error))
    return Finding("Java", True, f"{runtime.version} ({runtime.place})")


def check_node(run: Run = output_of) -> Finding:
    """Node and npm, which install the page's one library, check its types and run its tests."""
    install = f"install Node {OLDEST_NODE} or newer with npm (nodejs.org, or your package manager)"
    match = re.match(r"v(\d+)\.(\S+)", run(["node", "--version"]))
    if match is None:
        return Finding("Node", False, f"Node is not found in PATH: {install}")
    if int(match[1]) < OLDEST_NODE:
        return Finding("Node", False, f"Node {match[1]}.{match[2]} is too old: {install}")
    if not re.match(r"\d+\.", run(["npm", "--version"])):
        return Finding("Node", False, f"npm is not found in PATH: {install}")
    return Finding("Node", True, f"{match[1]}.{match[2]}")


def check_browser(environment: Mapping[str, str]) -> Finding:
    """A Chromium for the tests of the page."""
    path = environment.get("PATH")
    browser = next((place for name in BROWSERS if (place := shutil.which(name, path=path))), None)
    if browser is None:
        text = (
            "Chromium is not found in PATH: install it (apt-get install chromium), or leave the "
            "browser's tests out with ARGS='-m \"not browser\"'"
        )
        return Finding("Chromium", False, text)
    return Finding("Chromium", True, browser)


def check_server(url: str) -> Finding:
    """A running Headwater, which the demo reports to."""
    try:
        if not url.startswith(("http://", "https://")):
            raise ValueError("expected http://host:port")
        address = f"{url.rstrip('/')}/health/live"
        with urllib.request.urlopen(address, timeout=_SERVER_SECONDS):  # noqa: S310 (checked above)
            return Finding("server", True, url)
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        text = (
            f"no Headwater answers at {url} ({reason}): start it with make run in another "
            "terminal, or name another with PORT= or URL="
        )
        return Finding("server", False, text)


def check_for(purpose: str, environment: Mapping[str, str]) -> tuple[Finding, ...]:
    """The programs that a purpose needs here.

    ``serve`` and ``demo`` need Python alone. ``engine`` and ``spark`` look for a Java runtime;
    where there is none, ``make run`` and ``make demo`` install one. ``server`` asks the one at URL.
    """
    spark = purpose not in {"serve", "engine"}  # the tools of development include PySpark
    version = (sys.version_info.major, sys.version_info.minor)
    findings = [check_python(version, spark=spark)]
    if purpose == "server":
        findings.append(check_server(environment.get("URL", "")))
    if purpose in {"engine", "spark", "test"}:
        findings.append(check_java(environment, spark=spark))
    if purpose in {"test", "check"}:
        findings.append(check_node())
    if purpose == "test" and "not browser" not in environment.get("ARGS", ""):
        findings.append(check_browser(environment))
    return tuple(findings)


def main(arguments: Sequence[str], environment: Mapping[str, str], errors: TextIO) -> int:
    """0 when everything for the purpose is there, else 1 and a line for each thing that is not."""
    wrong = [finding for finding in check_for(arguments[0], environment) if not finding.right]
    for finding in wrong:
        errors.write(f"headwater: {finding.text}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ, sys.stderr))
