"""Where the bytes go: what repeated runs add to journal and catalogue, by table and by index.

    python -m bench.disk                      300 jobs, three more runs of each, both formats
    python -m bench.disk --jobs 1000 --runs 5 --all

Requests go through the application into SQLite files, the graph stays in memory: a checkpoint of
the engine is no part of it. Growth is counted over the repeated runs, when every plan is known: of
pages that are in use, table by table (``dbstat``). A pair is a plan and its event; of OpenLineage a
run is a START and a COMPLETE of some 8 kB, and the number is that of one event.
"""

from __future__ import annotations

import argparse
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from api.application import create_app
from api.service import Service
from api.settings import read_settings
from bench.ingest.clients import Workload
from bench.ingest.workload import Workload as Pairs
from bench.openlineage.workload import Workload as Events
from graph_model.projection.projector import Projector
from graph_model.stores.catalogue import SqlGenerations
from graph_model.stores.database import open_database
from graph_model.stores.journal import SqlJournal
from tests.memory_graph import MemoryGraph

_SHOWN: Final = 14
_NOW: Final = 1_767_225_600_000


class Small:
    """An application without an engine in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        journal = SqlJournal(open_database(folder / "headwater.db"))
        graph = MemoryGraph()
        generations = SqlGenerations(open_database(folder / "headwater.db"), journal)
        self._projector = Projector(journal, graph, generations)
        self._projector.prepare()
        service = Service(journal, self._projector, graph, generations, lambda: _NOW)
        environment = {"HEADWATER_PROJECTION_WAIT": "0"}
        self._client = create_app(read_settings(environment), service).test_client()

    def run(self, workload: Workload, jobs: int, run: int) -> int:
        """Post one run of each job and project it; how many documents."""
        count = 0
        for job in range(jobs):
            for path, body in workload.requests(job, run):
                answer = self._client.post(path, data=body, content_type=workload.content_type)
                assert answer.status_code < 300, answer.text
                count += 1
        while self._projector.project_pending():
            pass
        return count

    def used(self) -> Counter[str]:
        """Bytes of pages per table or index."""
        found: Counter[str] = Counter()
        for file in sorted(self._folder.glob("*.db")):
            found.update(dict(_used(file)))
        return found


def _used(file: Path) -> Iterator[tuple[str, int]]:
    connection = sqlite3.connect(file)
    try:
        query = "SELECT name, sum(pgsize) FROM dbstat GROUP BY name"
        yield from connection.execute(query)
    finally:
        connection.close()


def measure(workload: Workload, jobs: int, runs: int) -> tuple[Counter[str], int]:
    """Bytes by table that the repeated runs added, and how many documents they were."""
    with tempfile.TemporaryDirectory() as folder:
        small = Small(Path(folder))
        small.run(workload, jobs, 0)
        before = small.used()
        documents = sum(small.run(workload, jobs, run + 1) for run in range(runs))
        after = small.used()
    return Counter({name: after[name] - before[name] for name in after}), documents


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.disk", description=__doc__)
    parser.add_argument("--jobs", type=int, default=300)
    parser.add_argument("--runs", type=int, default=3, help="repeated runs of every job")
    parser.add_argument("--all", action="store_true", help="every table and index")
    options = parser.parse_args()
    for name, workload, documents_each in (
        ("a repeated pair", Pairs(), 2),
        ("an OpenLineage event", Events(options.jobs), 1),
    ):
        grown, documents = measure(workload, options.jobs, options.runs)
        number = documents / documents_each
        print(f"{name}: {grown.total() / number:,.0f} bytes")
        for table, size in grown.most_common(None if options.all else _SHOWN):
            print(f"  {size / number:>8,.0f}  {table}")


if __name__ == "__main__":
    main()
