"""The bytes that repeated runs add to journal and catalogue, by table and by index.

    python -m bench.disk                      300 jobs, three more runs of each, both formats
    python -m bench.disk --jobs 1000 --runs 5 --all
    python -m bench.disk --postgresql

Requests go through the application into SQLite files, or a PostgreSQL of its own; the graph stays
in memory: kept elements of the embedded engine are no part of it. Growth is counted over the
repeated runs, when every plan is known: in SQLite of pages that are in use, table by table
(``dbstat``), in PostgreSQL of the files after a VACUUM, without the log. A pair is a plan and its
event; of OpenLineage a run is a START and a COMPLETE of some 8 kB, and the number is that of one
event.
"""

from __future__ import annotations

import argparse
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final

import sqlalchemy as sa

from api.application import create_app
from api.service import Service
from api.settings import read_settings
from bench.ingest.clients import Workload
from bench.ingest.workload import Workload as Pairs
from bench.openlineage.workload import Workload as Events
from graph_model.projection.projector import Projector
from graph_model.stores.catalogue import Generations
from graph_model.stores.database import open_database
from graph_model.stores.journal import Journal
from tests.contract.postgresql import postgresql
from tests.memory_graph import MemoryGraph

_SHOWN: Final = 14
_NOW: Final = 1_767_225_600_000


_RELATIONS: Final = sa.text(
    "SELECT c.relname, CASE c.relkind WHEN 'r' THEN pg_table_size(c.oid)"
    " ELSE pg_relation_size(c.oid) END FROM pg_class c"
    " JOIN pg_namespace n ON n.oid = c.relnamespace"
    " WHERE c.relkind IN ('r', 'i') AND n.nspname NOT IN ('pg_catalog', 'pg_toast')"
)


class Small:
    """An application without an engine: ``place`` is its file of SQLite, or a URL."""

    def __init__(self, place: Path | str) -> None:
        self._place = place
        journal = Journal(open_database(place))
        graph = MemoryGraph()
        generations = Generations(open_database(place), journal)
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
        """Bytes per table or index."""
        if isinstance(self._place, str):
            return _vacuumed(self._place)
        result: Counter[str] = Counter()
        for file in sorted(self._place.parent.glob("*.db")):
            result.update(dict(_used(file)))
        return result


def _vacuumed(url: str) -> Counter[str]:
    engine = open_database(url)
    try:
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("VACUUM")
            result: Counter[str] = Counter()
            for name, size in connection.execute(_RELATIONS):
                result[name] += size
            return result
    finally:
        engine.dispose()


def _used(file: Path) -> Iterator[tuple[str, int]]:
    connection = sqlite3.connect(file)
    try:
        query = "SELECT name, sum(pgsize) FROM dbstat GROUP BY name"
        yield from connection.execute(query)
    finally:
        connection.close()


@contextmanager
def sqlite_file() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "headwater.db"


@contextmanager
def postgresql_url() -> Iterator[str]:
    with postgresql() as server:
        yield server.url


def measure(
    workload: Workload, jobs: int, runs: int, database: AbstractContextManager[Path | str]
) -> tuple[Counter[str], int]:
    """Bytes by table that the repeated runs added, and how many documents they were."""
    with database as place:
        small = Small(place)
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
    parser.add_argument("--postgresql", action="store_true", help="instead of SQLite")
    options = parser.parse_args()
    for name, workload, documents_each in (
        ("a repeated pair", Pairs(), 2),
        ("an OpenLineage event", Events(options.jobs), 1),
    ):
        database = postgresql_url() if options.postgresql else sqlite_file()
        grown, documents = measure(workload, options.jobs, options.runs, database)
        number = documents / documents_each
        print(f"{name}: {grown.total() / number:,.0f} bytes")
        for table, size in grown.most_common(None if options.all else _SHOWN):
            print(f"  {size / number:>8,.0f}  {table}")


if __name__ == "__main__":
    main()
