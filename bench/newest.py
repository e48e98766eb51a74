"""The newest clients that their registries have, against us: is one newer, and does it work?

    python -m bench.newest                       every client: a table, and what to do
    python -m bench.newest --only pyspark        one of them
    python -m bench.newest --all                 run also those that are as tested

The tested version of a client is what the tests have: a lock file of ``requirements``, the lock of
Spark's archives, or a recording. Of a client with a newer one this installs that into a throw-away
environment below ``build/newest`` and runs a selection of our own tests with it, each against a
server or a recording one that the test starts. The table says of each client:

    as tested   the registry has nothing newer (not run without --all)
    passed      the selection passes with the newest version: lock it
    broke       it does not: the tests that fail stand in the last column
    not run     nothing here can run it, or nothing of it is tested yet: the last column says why

Exit code 0; 1 where a version newer than the tested one breaks, 2 where the newest version of a
client could not be found out or installed. It takes minutes, and 900 MB for a new Spark: a weekly
run (CONTRIBUTING.md).
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.selection import select
from graph_model.errors import ConfigurationError
from graph_model.stores.gremlin.engine.jars import REPOSITORY_SETTING, Jar, source_of

_ROOT: Final = Path(__file__).parents[1]
_PLACE: Final = _ROOT / "build" / "newest"
_FAILED: Final = re.compile(r"^(?:FAILED|ERROR) \S*?::(\S+)", re.MULTILINE)
_MOST_NAMED: Final = 5
AS_TESTED, PASSED, BROKE, NOT_RUN, UNKNOWN = "as tested", "passed", "broke", "not run", "unknown"


@dataclass(frozen=True)
class Client:
    """A client, and where its tested version is written: ``version`` finds it in the text of
    ``source``.

    ``installed`` are the requirements of its environment, ``{}`` for the newest version; the tests
    find the folder in ``variable``. Without a variable the packages go before those of our own
    environment. ``tests`` are arguments of pytest; without any, ``why`` says what is missing;
    ``needs`` says what an installation needs beside its registry.
    """

    name: str
    source: str
    version: str
    tests: tuple[str, ...] = ()
    installed: tuple[str, ...] = ()
    variable: str = ""
    archives: tuple[str, ...] = ()
    why: str = ""
    needs: str = ""


_LISTENER: Final = ("tests/e2e/spark/test_listener.py", "--parts=spark-4.3")
CLIENTS: Final = (
    Client(
        "pyspark", "requirements/spark43.txt", r"^pyspark==(\S+)",
        (*_LISTENER, "tests/e2e/spark/test_declarative_pipelines.py"),
        ("pyspark[connect,pipelines]=={}",), "HEADWATER_TEST_SPARK43",
    ),
    Client(
        "delta-spark", "tests/e2e/spark/spark_jars.lock", r"^io\.delta:delta-spark_4\.2\S+:(\S+)",
        ("tests/e2e/spark/test_listener.py", "--parts=spark-4.2", "-k", "delta or just_ends"),
        variable="HEADWATER_TEST_DELTA",
        archives=("io.delta:delta-spark_4.2_2.13:{}", "io.delta:delta-storage:{}"),
    ),
    Client(
        "openlineage-python", "requirements/development.txt", r"^openlineage-python==(\S+)",
        ("tests/e2e/openlineage/test_python.py",), ("openlineage-python=={}",),
    ),
    Client(
        "openlineage-dbt", "requirements/dbt.txt", r"^openlineage-dbt==(\S+)",
        ("tests/e2e/openlineage/test_python.py", "--parts=dbt"),
        ("dbt-core>=1.10,<1.11", "dbt-duckdb>=1.10,<1.11", "openlineage-dbt=={}"),
        "HEADWATER_TEST_DBT",
    ),
    Client(
        "dbt-core", "requirements/dbt.txt", r"^dbt-core==(\S+)",
        ("tests/e2e/openlineage/test_python.py", "--parts=dbt"),
        ("dbt-core=={}", "dbt-duckdb", "openlineage-dbt"), "HEADWATER_TEST_DBT",
        needs="from 1.12 on, its installation downloads a parser from github.com",
    ),
    Client(
        "dbt", "requirements/dbt.txt", r"^dbt==(\S+)",
        why="OpenLineage's wrapper does not run with dbt 2",
    ),
    Client(
        "apache-airflow-providers-openlineage",
        "tests/fixtures/openlineage/airflow/nightly_sales.json",
        r"providers-openlineage/(\d[\d.]*)",
        why="its events are a recording: record a run anew",
    ),
    Client(
        "boto3", "requirements/development.txt", r"^boto3==(\S+)",
        ("tests/e2e/http/test_datazone.py", "tests/unit/collectors/harvesting"),
        ("boto3=={}",),
    ),
    Client(
        "graph-notebook", "requirements/notebooks.txt", r"^graph-notebook==(\S+)",
        ("tests/e2e/notebooks", "--parts=notebooks"),
        ("graph-notebook=={}", "ipykernel>=6.29,<7", "nbclient>=0.10,<1"),
        "HEADWATER_TEST_NOTEBOOKS",
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """One row. ``tested`` and ``newest`` are empty where they are unknown."""

    client: str
    tested: str
    newest: str
    result: str
    changed: str = ""


Find = Callable[[Client], str]
"""The newest version of a client. Raises OSError where its registry does not say it."""
Run = Callable[[Client, str], Sequence[str]]
"""Install a client's version and run its tests -> the names of those that fail. Raises OSError
where it cannot be installed."""


def is_newer(version: str, tested: str) -> bool:
    """By their numbers: ``1.10`` is newer than ``1.9``; nothing behind the numbers is compared."""
    return _numbers(version) > _numbers(tested)


def _numbers(version: str) -> tuple[int, ...]:
    leading = re.match(r"\d+(?:\.\d+)*", version)
    numbers = [int(part) for part in leading[0].split(".")] if leading else []
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


def version_in(client: Client, text: str) -> str:
    """The newest of the versions that a text names; empty where it names none."""
    return max(re.findall(client.version, text, re.MULTILINE), key=_numbers, default="")


def outcome(client: Client, tested: str, find: Find, run: Run, *, everything: bool) -> Outcome:
    try:
        newest = find(client)
    except OSError as error:
        return Outcome(client.name, tested, "", UNKNOWN, str(error))
    newer = is_newer(newest, tested)
    if not client.tests and (newer or not tested):
        return Outcome(client.name, tested, newest, NOT_RUN, client.why)
    if not client.tests or not (newer or everything):
        return Outcome(client.name, tested, newest, AS_TESTED)
    try:
        failed = run(client, newest)
    except OSError as error:
        said = f"{client.needs}: {error}" if client.needs else str(error)
        return Outcome(client.name, tested, newest, UNKNOWN, said)
    named = ", ".join((*failed[:_MOST_NAMED], *(("…",) if len(failed) > _MOST_NAMED else ())))
    return Outcome(client.name, tested, newest, BROKE if failed else PASSED, named)


def table(outcomes: Sequence[Outcome]) -> str:
    rows = [("client", "tested", "newest", "result", "what changed")]
    for each in outcomes:
        rows.append(
            (each.client, each.tested or "-", each.newest or "-", each.result, each.changed)
        )
    widths = [max(len(row[n]) for row in rows) for n in range(4)]
    lines = ("  ".join((*map(str.ljust, row, widths), row[4])).rstrip() for row in rows)
    return "\n".join(lines)


def exit_code(outcomes: Sequence[Outcome]) -> int:
    results = {each.result for each in outcomes}
    return 1 if BROKE in results else 2 if UNKNOWN in results else 0


# --- registries and tests ------------------------------------------------------------------------


def find_newest(client: Client) -> str:
    """Asks pip, as an installation would, or Maven for Java archives; no version before release.

    Delta's package for Python is ahead of its archives.
    """
    if client.archives:
        group, name, _ = client.archives[0].split(":")
        metadata = _read(f"{group.replace('.', '/')}/{name}/maven-metadata.xml")
        return newest_release(metadata.decode())
    done = _call([sys.executable, "-m", "pip", "index", "versions", client.name, *_QUIET])
    return done.split("(", 1)[1].split(")", 1)[0]


def newest_release(metadata: str) -> str:
    """Of the versions that Maven's metadata list; OSError where there is none."""
    versions: list[str] = re.findall(r"<version>(\d+(?:\.\d+)*)</version>", metadata)
    if not versions:
        raise OSError("Maven lists no release")
    return max(versions, key=_numbers)


_QUIET: Final = ("--disable-pip-version-check", "--no-input")


def run_tests(client: Client, version: str) -> list[str]:
    folder = _PLACE / client.name
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rfE", "-p", "no:cacheprovider", *client.tests],
        cwd=_ROOT,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, **_installed(client, version, folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    sys.stderr.write(done.stdout[-20_000:])
    if done.returncode:
        return _FAILED.findall(done.stdout) or [f"pytest ended with {done.returncode}"]
    return [] if re.search(r"\d+ passed", done.stdout) else ["every test was skipped"]


def _installed(client: Client, version: str, folder: Path) -> dict[str, str]:
    """Installs it; the variables by which tests find it."""
    if client.archives:
        places = [_archive(each.format(version), folder) for each in client.archives]
        return {client.variable: os.pathsep.join(map(str, places))}
    packages = [each.format(version) for each in client.installed]
    pip = ("-m", "pip", "install", "--quiet", "--upgrade", *_QUIET)
    if not client.variable:
        _call([sys.executable, *pip, "--target", str(folder), *packages])
        return {"PYTHONPATH": os.pathsep.join((str(folder), str(_ROOT)))}
    _call([sys.executable, "-m", "venv", str(folder)])
    _call([str(folder / "bin" / "python"), *pip, *packages])
    return {client.variable: str(folder)}


def _archive(coordinate: str, folder: Path) -> Path:
    jar = Jar(coordinate, sha256="", size=0)  # no lock knows the newest
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / jar.filename
    place.write_bytes(_read(jar.path))
    return place


def _read(path: str) -> bytes:
    """A file of the Maven repository that the service's archives come from. Raises OSError."""
    source = source_of(os.environ.get(REPOSITORY_SETTING))
    if isinstance(source, Path):
        return (source / path).read_bytes()
    with urllib.request.urlopen(f"{source}/{path}", timeout=60) as answer:
        content: bytes = answer.read()
    return content


def _call(command: Sequence[str]) -> str:
    """The output of a command. Raises OSError with what it says where it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(reason(done.stderr or done.stdout) or f"exit code {done.returncode}")
    return done.stdout


def reason(said: str) -> str:
    """The line that says why a command failed: its last error by name, else its last line.

    pip ends with "hint: See above", and tells above that a package could not be built.
    """
    lines = [line.strip() for line in said.strip().splitlines()]
    errors = [line for line in lines if re.match(r"(?:ERROR|\w*Error): ", line)]
    return (errors or lines or [""])[-1]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.newest",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", nargs="+", default=(), metavar="CLIENT")
    parser.add_argument("--all", action="store_true", help="run also what is as tested")
    options = parser.parse_args(arguments)
    try:
        clients = select(CLIENTS, options.only, lambda client: client.name)
    except ConfigurationError as error:
        parser.error(str(error))
    outcomes = list(_outcomes(clients, everything=options.all))
    print(table(outcomes))
    return exit_code(outcomes)


def _outcomes(clients: Sequence[Client], *, everything: bool) -> Iterator[Outcome]:
    texts: Mapping[str, str] = {
        client.source: (_ROOT / client.source).read_text("utf-8") for client in clients
    }
    for client in clients:
        sys.stderr.write(f"{client.name} …\n")
        tested = version_in(client, texts[client.source])
        yield outcome(client, tested, find_newest, run_tests, everything=everything)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
