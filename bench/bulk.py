"""What does the Spark rebuild of a large journal take on one machine?

    python -m bench.bulk --documents 100000
    python -m bench.bulk --documents 1000000 --master local[4]

The documents of ``bench.endurance`` (plans and events of Spline, runs of OpenLineage) are written
as journal exports, and ``headwater-pipeline rebuild`` translates them in processes of its own.
Reported are its time, the CPU of all its processes, and their greatest resident memory: Spark's
JVM (driver and executor in one), and the Python processes together.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path
from typing import Any, Final

from api.intake.documents import prepare_events, prepare_plans
from bench.endurance.documents import Document, documents
from bench.endurance.rhythms import DEFAULT, read_rhythms
from bench.endurance.year import Year
from bench.ingest.workload import EVENTS, PLANS
from bench.processes import cpu_of, resident, tree
from bench.selection import positive
from graph_model.producers.openlineage.producer import event_submission
from graph_model.stores.documents import Submission

_VERSION: Final = "1.2"
_PAUSE_SECONDS: Final = 0.5
_JAVA: Final = "java"


def submissions(year: Year) -> Iterator[Submission]:
    """The documents of the year's runs, each once."""
    seen: set[str] = set()
    for number in count():
        for document in documents(year, number):
            for item in _read(document):
                if item.content_hash not in seen:
                    seen.add(item.content_hash)
                    yield item


def _read(document: Document) -> tuple[Submission, ...]:
    said = json.loads(document.body)
    if document.path == PLANS:
        return prepare_plans(said, _VERSION)
    if document.path == EVENTS:
        return prepare_events(said, _VERSION)
    return (event_submission(said),)


def export(listed: Iterator[Submission], folder: Path, files: int) -> None:
    """As ``headwater journal export`` writes them, in turns into so many files."""
    opened = [(folder / f"part-{number:02}.jsonl").open("w") for number in range(files)]
    for position, first in enumerate(listed, start=1):
        line = {
            "position": position,
            "kind": first.kind,
            "apiVersion": first.api_version,
            "planId": first.subject_key,
            "scope": first.scope,
            "receivedAt": position,
            "body": json.loads(first.body),
        }
        opened[position % files].write(json.dumps(line) + "\n")
    for file in opened:
        file.close()


@dataclass
class Use:
    """Of a process and all below it: CPU seconds, and the most megabytes at one time."""

    cpu: dict[int, float] = field(default_factory=dict)
    java: float = 0.0
    python: float = 0.0

    def look(self, pid: int) -> None:
        listed = tree(pid)
        self.cpu |= {item: cpu_of(item) for item in listed if cpu_of(item)}
        java = resident(*filter(_is_java, listed))
        self.java = max(self.java, java)
        self.python = max(self.python, resident(*listed) - java)


def _is_java(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip() == _JAVA
    except OSError:
        return False


def rebuild(source: Path, destination: Path, master: str) -> tuple[float, Use]:
    """The seconds that it took, with its CPU and memory. Raises RuntimeError where it failed."""
    command = [sys.executable, "-m", "pipeline", "rebuild", "--master", master]
    command += ["--from", str(source), "--to", str(destination), "--graph-runs", "newest:3"]
    use, began = Use(), time.monotonic()
    with subprocess.Popen(command, env=dict(os.environ), stdout=sys.stderr) as process:
        while process.poll() is None:
            use.look(process.pid)
            time.sleep(_PAUSE_SECONDS)
    if process.returncode:
        raise RuntimeError(f"the rebuild ends with {process.returncode}")
    return time.monotonic() - began, use


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.bulk", description=__doc__)
    parser.add_argument("--documents", type=positive, default=100_000)
    parser.add_argument("--jobs", type=positive, default=5_000)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--files", type=positive, default=8)
    options = parser.parse_args()
    year = Year(1, options.jobs, read_rhythms(DEFAULT))
    with tempfile.TemporaryDirectory() as folder:
        source, destination = Path(folder, "exports"), Path(folder, "result")
        source.mkdir()
        export(islice(submissions(year), options.documents), source, options.files)
        size = sum(file.stat().st_size for file in source.iterdir())
        print(f"{options.documents:,} documents, {size / 1e6:,.0f} MB", flush=True)
        seconds, use = rebuild(source, destination, options.master)
        manifest: dict[str, Any] = json.loads((destination / "manifest.json").read_text())
        written = sum(path.stat().st_size for path in destination.rglob("*.gz"))
    cpu = sum(use.cpu.values())
    print(
        f"{seconds:,.0f} s, {cpu:,.0f} s of CPU: {1000 * cpu / options.documents:.2f} ms a document"
    )
    print(f"at most {use.java:,.0f} MB of Java and {use.python:,.0f} MB of Python")
    print(f"{written / 1e6:,.0f} MB of files; complete: {manifest['complete']}")


if __name__ == "__main__":
    main()
