"""The cost of an element in the embedded engine: memory, disk, and the time to fill it again.

    python -m bench.engine_memory --elements 200000 1000000 --heap 2048

For each size a fresh engine is filled with plans as Spark jobs report them (a job, its logical
plan, three datasets of twenty columns, four operations, their edges), then measured: heap in use
after a full collection (``jcmd``, part of a JDK), resident memory, the bytes that are kept on the
disk, and the time of a start that loads them. One line of JSON a size; times in seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

from bench.processes import cpu_of, resident
from graph_model import identity, labels
from graph_model.errors import GraphTimeout
from graph_model.facts import Edge, FactCollector, Facts, Vertex, edge, properties
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.database import open_database
from graph_model.stores.graph import Graph
from graph_model.stores.gremlin.engine.forgetful import ForgetfulGraph
from graph_model.stores.gremlin.engine.server import EmbeddedServer
from graph_model.stores.gremlin.graph import open_graph

_COLUMNS: Final = 20
_PLANS_AT_ONCE: Final = 20
_TRIES: Final = 5
_Result = TypeVar("_Result")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--elements", type=int, nargs="+", default=[200_000])
    parser.add_argument("--heap", type=int, default=2048, help="heap of the engine, MB")
    options = parser.parse_args(arguments)
    for size in options.elements:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(measure(Path(folder), size, options.heap)), flush=True)
    return 0


def measure(folder: Path, size: int, heap_mb: int) -> dict[str, Any]:
    """Fill, end, start again, fill from what is kept. Returns the cost of each."""
    server = EmbeddedServer(folder, environment=os.environ, port=0, heap_mb=heap_mb)
    result: dict[str, Any] = {"asked": size, "heap_mb": heap_mb}
    catalogue = Catalogue(open_database(folder / "catalogue.db"))
    with server:
        graph = ForgetfulGraph(open_graph(server.url), lambda: [catalogue.elements])
        result["empty_heap_mb"] = heap_in_use(server.pid)
        result["fill_s"], _ = timed(lambda: fill(graph, size))
        result["count_s"], (vertices, edges) = timed(graph.count)
        result |= {"vertices": vertices, "edges": edges, "filled_rss_mb": _resident(server)}
        result["heap_mb_in_use"] = heap_in_use(server.pid)
        result["kept_mb"] = round(catalogue.used_bytes() / 1e6, 1)
        graph.close()
    result["start_s"], _ = timed(server.start)
    with server:
        graph = ForgetfulGraph(open_graph(server.url), lambda: [catalogue.elements])
        engine, own = cpu_of(server.pid or 0), time.process_time()
        result["load_s"], _ = timed(graph.restore)
        result["load_engine_cpu_s"] = round(cpu_of(server.pid or 0) - engine, 1)
        result["load_own_cpu_s"] = round(time.process_time() - own, 1)
        result |= {"same": graph.is_whole(), "loaded_rss_mb": _resident(server)}
        result["loaded_heap_mb"] = heap_in_use(server.pid)
        graph.close()
    catalogue.close()
    if result["heap_mb_in_use"] is not None:
        used = (result["heap_mb_in_use"] - result["empty_heap_mb"]) * 2**20
        result["bytes_per_element"] = round(used / (vertices + edges))
    return result


def fill(graph: Graph, size: int) -> None:
    """Write plans until there are at least ``size`` elements."""
    written = number = 0
    while written < size:
        facts = plans(range(number, number + _PLANS_AT_ONCE))
        write(graph, facts)
        written += facts.size
        number += _PLANS_AT_ONCE


def write(graph: Graph, facts: Facts) -> None:
    """Write as the projector does: a write that fails during a long collection is repeated."""
    for _ in range(_TRIES - 1):
        try:
            return graph.write(facts)
        except GraphTimeout as failure:
            print(f"again: {failure}", file=sys.stderr)
    return graph.write(facts)


def plans(numbers: range) -> Facts:
    collector = FactCollector()
    for number in numbers:
        collector.add(*plan(number))
    return collector.facts()


def plan(number: int) -> Iterator[Vertex | Edge]:
    """Two datasets are joined into a third, column by column; one execution."""
    name = f"curated-orders-{number:06d}"
    job = _vertex(labels.JOB, name, namespace="prod", name=name)
    logical = _vertex(
        labels.LOGICAL_PLAN, name, fingerprint="f" * 32, mode="overwrite", partition_keys="[]"
    )
    yield from (job, logical, edge(labels.HAS, job.id, logical.id))
    sides = [list(_dataset(f"s3://lake/{part}/{name}")) for part in ("raw", "reference", "curated")]
    for side in sides:
        yield from side
    heads = [side[0].id for side in sides]
    yield edge(labels.FEEDS, heads[0], logical.id)
    yield edge(labels.FEEDS, heads[1], logical.id)
    yield edge(labels.FEEDS, logical.id, heads[2], {"mode": "overwrite", "partition_keys": "[]"})
    operations = [_operation(name, logical.id, position) for position in range(4)]
    for first, following in zip(operations, [*operations[1:], None], strict=True):
        yield from (first, edge(labels.HAS, logical.id, first.id))
        if following is not None:
            yield edge(labels.FEEDS, first.id, following.id)
    yield from _derivations(sides, logical.id)


def _dataset(uri: str) -> Iterator[Vertex | Edge]:
    dataset = _vertex(labels.DATASET, uri, uri=uri, name=uri[5:], kind="file", scope="")
    yield dataset
    described = [{"name": f"column_{n}", "type": "string", "path": f"column_{n}"} for n in range(9)]
    schema = _vertex(labels.SCHEMA, uri, columns=json.dumps(described), dataset=uri)
    yield schema
    for number in range(_COLUMNS):
        path = f"column_{number}"
        column = _vertex(labels.COLUMN, uri, path, path=path, dataset=uri, dataset_id=dataset.id)
        yield from (column, edge(labels.HAS, dataset.id, column.id))
        yield edge(labels.HAS, schema.id, column.id)


def _operation(name: str, logical: str, position: int) -> Vertex:
    output = json.dumps([{"name": f"column_{n}", "type": "string"} for n in range(_COLUMNS)])
    return _vertex(
        labels.OPERATION,
        name,
        position,
        name="Project",
        kind="transform",
        position=position,
        parameters='{"projectList": ["column_1", "upper(column_2) AS column_2"]}',
        output=output,
        logical_plan=logical,
    )


def _derivations(sides: list[list[Vertex | Edge]], logical: str) -> Iterator[Edge]:
    columns = [
        [each.id for each in side if isinstance(each, Vertex) and each.label == labels.COLUMN]
        for side in sides
    ]
    said = {"kind": "DIRECT", "how": "TRANSFORMATION", "expression": "upper(column_2)"}
    for source in columns[:2]:
        for first, other in zip(source, columns[2], strict=True):
            yield edge(labels.DERIVES, first, other, {**said, "logical_plan": logical})


def _vertex(label: str, *key: object, **values: str | int) -> Vertex:
    return Vertex(identity.vertex_id(label, *key), label, properties(values))


# --- measuring -----------------------------------------------------------------------------------


def timed(work: Callable[[], _Result]) -> tuple[float, _Result]:
    begun = time.perf_counter()
    result = work()
    return round(time.perf_counter() - begun, 2), result


def _resident(server: EmbeddedServer) -> int:
    """Resident memory of the engine, MB."""
    return round(resident(server.pid or 0))


def heap_in_use(pid: int | None) -> float | None:
    """Heap in use after a full collection, MB; None without ``jcmd``."""
    jcmd = shutil.which("jcmd")
    if jcmd is None:
        return None
    for order in ("GC.run", "GC.heap_info"):
        done = subprocess.run(
            [jcmd, str(pid), order], capture_output=True, text=True, timeout=120, check=True
        )
    used = re.findall(r"(?:PSYoungGen|ParOldGen)\s+total \d+K, used (\d+)K", done.stdout)
    return round(sum(map(int, used)) / 1024, 1)


if __name__ == "__main__":
    sys.exit(main())
