"""The least that a first load could cost: parse, append, write the same elements."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.ingest.workload import Pair, Workload
from bench.processes import cpu_of
from graph_model.facts import Facts, merge
from graph_model.producers.spline.documents import read_event, read_plan
from graph_model.producers.spline.plan_logic import PlanDocument
from graph_model.stores.gremlin.engine.server import EmbeddedServer
from graph_model.stores.gremlin.graph import open_graph
from tests.spline_facts import facts_of_plan

_TOGETHER: Final = 16
_PLANS_A_WRITE: Final = 200


@dataclass(frozen=True, slots=True)
class Floor:
    """CPU seconds of each part; ``engine`` is the JVM's share of the writing."""

    parsing: float
    appending: float
    writing: float
    engine: float

    @property
    def cpu(self) -> float:
        return self.parsing + self.appending + self.writing + self.engine


def measure_floor(jobs: range, folder: Path) -> Floor:
    """Over one run of these jobs; ``folder`` is made and used."""
    folder.mkdir()
    pairs = list(Workload().pairs(jobs, 0))
    parsing = _parse(pairs)
    appending = _append(pairs, folder / "log")
    writing, engine = _write(list(_facts(pairs)), folder / "engine")
    return Floor(parsing, appending, writing, engine)


def _parse(pairs: Sequence[Pair]) -> float:
    began = time.process_time()
    for pair in pairs:
        json.loads(pair.plan)
        json.loads(pair.event)
    return time.process_time() - began


def _append(pairs: Sequence[Pair], path: Path) -> float:
    began = time.process_time()
    with path.open("ab") as log:
        for start in range(0, len(pairs), _TOGETHER):
            for pair in pairs[start : start + _TOGETHER]:
                log.write(pair.plan)
                log.write(pair.event)
            log.flush()
            os.fsync(log.fileno())
    return time.process_time() - began


def _facts(pairs: Iterable[Pair]) -> Iterable[Facts]:
    for pair in pairs:
        body = json.loads(pair.plan)
        document = PlanDocument(read_plan(body, body["id"]), "", body["id"], "1.2")
        yield facts_of_plan(document, (read_event(json.loads(pair.event)[0]),))


def _write(facts: Sequence[Facts], folder: Path) -> tuple[float, float]:
    engine = EmbeddedServer(folder, environment=os.environ, port=0, heap_mb=1024)
    engine.start()
    try:
        graph = open_graph(engine.url)
        together = [
            merge(facts[start : start + _PLANS_A_WRITE])
            for start in range(0, len(facts), _PLANS_A_WRITE)
        ]
        pid = engine.pid or 0
        before, began = cpu_of(pid), time.process_time()
        for part in together:
            graph.write(part)
        own, jvm = time.process_time() - began, cpu_of(pid) - before
        graph.close()
        return own, jvm
    finally:
        engine.stop()
