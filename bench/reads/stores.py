"""An embedded engine, a database and the app over them, in this process."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from flask.testing import FlaskClient

from api.application import create_app
from api.service import Service
from api.serving.server import collect_rarely
from api.settings import read_settings
from bench.processes import cpu_of
from graph_model import naming
from graph_model.facts import Facts, Row, merge
from graph_model.naming import Rules
from graph_model.projection.rebuilding import Progress
from graph_model.stores.catalogue import Catalogue, Generations
from graph_model.stores.database import chunks, open_database
from graph_model.stores.documents import DocumentState
from graph_model.stores.gremlin.engine.server import EmbeddedServer
from graph_model.stores.gremlin.graph import GremlinGraph, open_graph
from graph_model.stores.journal import Journal

_AT_ONCE: Final = 250


class Settled:
    """A projector that has nothing to do."""

    state = "ready"
    progress: Progress | None = None
    failure: str | None = None
    rebuild_reason: str | None = None
    full: str | None = None
    rebuild_waits = False

    @property
    def rules(self) -> Rules:
        return naming.DEFAULT_RULES

    idle = True

    def notify(self) -> None:
        """Everything is projected when it is asked about."""

    def wait(self, positions: Collection[int], timeout: float) -> bool:
        del positions, timeout
        return True

    def replay(self, states: Collection[DocumentState]) -> int:
        del states
        return 0

    def request_rebuild(self) -> Progress:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Stores:
    """``cpu`` is the CPU that this process and the engine have used, in seconds."""

    graph: GremlinGraph
    catalogue: Catalogue
    journal: Journal
    client: FlaskClient
    cpu: Callable[[], float]

    def load(self, facts: Iterable[Facts]) -> tuple[int, int]:
        """Write graph and catalogue; how many vertices and edges there are then."""
        rows: dict[Row, None] = {}
        for part in map(merge, chunks(facts, _AT_ONCE)):
            self.graph.write(part)
            rows |= dict.fromkeys(part.rows)
        self.catalogue.copy(list(rows))
        return self.graph.count()


@contextmanager
def open_stores(folder: Path, heap_mb: int) -> Iterator[Stores]:
    """Everything empty, in ``folder``, and gone at the end."""
    engine = EmbeddedServer(folder / "engine", environment=os.environ, port=0, heap_mb=heap_mb)
    engine.start()
    try:
        database = open_database(f"sqlite:///{folder / 'headwater.db'}")
        journal = Journal(database)
        generations = Generations(database, journal)
        graph = open_graph(engine.url)
        service = Service(journal, Settled(), graph, generations, lambda: time.time_ns() // 10**6)
        client = create_app(read_settings({}), service).test_client()
        collect_rarely()
        pid = engine.pid or 0
        yield Stores(
            graph, generations.current, journal, client, lambda: time.process_time() + cpu_of(pid)
        )
        graph.close()
        generations.close()
        journal.close()
    finally:
        engine.stop()
