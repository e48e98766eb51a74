"""The questions, and the time of their answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlencode

from bench.reads.floor import walk
from bench.reads.lake import COLUMNS, Hub, Lake, dataset_id
from bench.reads.stores import Stores
from graph_model import identity
from graph_model.stores.graph import Direction

UP: Final = (Direction.UPSTREAM,)
BOTH: Final = (Direction.UPSTREAM, Direction.DOWNSTREAM)


@dataclass(frozen=True, slots=True)
class Question:
    """``path`` of the n-th request; ``floor`` walks over its answer (None: no graph)."""

    name: str
    path: Callable[[int], str]
    floor: Callable[[int], object] | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """Milliseconds, per request: wall times in order, CPU in the mean; ``edges`` of the replies."""

    times: tuple[float, ...]
    cpu: float
    edges: float = 0.0
    size: float = 0.0

    def percentile(self, share: float) -> float:
        return self.times[round(share * (len(self.times) - 1))]


def measure(stores: Stores, count: int, *works: Callable[[int], object]) -> list[Cost]:
    """Call each of ``works`` with 0, 1, …, in turns; it may return a reply.

    In turns, so that none of them has the engine's compiler at work for the others.
    """
    sums = [_Sums() for _ in works]
    for number in range(count):
        for work, cost in zip(works, sums, strict=True):
            cpu, began = stores.cpu(), time.perf_counter()
            reply = work(number)
            cost.times.append(1000 * (time.perf_counter() - began))
            cost.cpu += 1000 * (stores.cpu() - cpu)
            if isinstance(reply, dict):
                cost.edges += len(reply.get("edges", []))
                cost.size += len(reply.get("nodes") or reply.get("items") or [])
    return [total.mean(count) for total in sums]


@dataclass(slots=True)
class _Sums:
    """Sums over requests."""

    times: list[float] = field(default_factory=list)
    cpu: float = 0.0
    edges: int = 0
    size: int = 0

    def mean(self, count: int) -> Cost:
        return Cost(
            tuple(sorted(self.times)), self.cpu / count, self.edges / count, self.size / count
        )


def ask(stores: Stores, path: str) -> Any:
    """The JSON of a reply; an error ends the measurement."""
    reply = stores.client.get(path)
    if reply.status_code != 200:
        raise RuntimeError(f"{path}: {reply.status_code} {reply.text[:300]}")
    return reply.get_json()


def questions(stores: Stores, lake: Lake) -> list[Question]:
    """All of them; those about one node go round over nodes of a layer."""
    middle, last = lake.layers // 2, lake.layers - 1
    return [
        _lineage(stores, lake, "lineage, depth 2", middle, 2, BOTH),
        _lineage(stores, lake, "lineage, depth 5", middle, 5, BOTH),
        _lineage(stores, lake, "whole upstream, depth 20", last, 20, UP),
        _lineage(stores, lake, "lineage, depth 2, possible flow", middle, 2, BOTH, "possible"),
        _lineage(stores, lake, "whole upstream, possible flow", last, 20, UP, "possible"),
        _impact(lake, "impact by history", middle, "seen"),
        _impact(lake, "impact by possible flow", middle, "possible"),
        _columns(stores, lake, "column up, depth 20", last, 20, UP),
        _columns(stores, lake, "column both ways, depth 20", middle, 20, BOTH),
        Question("100 jobs", lambda n: f"/graph/jobs?limit=100&q=load_{'ocps'[n % 4]}"),
        Question("100 datasets", lambda n: f"/graph/datasets?limit=100&q=l0{n % lake.layers}"),
        Question("search a topic", lambda n: f"/graph/search?q={'ocps'[n % 4]}&limit=20"),
        Question("search a name", lambda n: f"/graph/search?q=_{_job(lake, 0, n):05d}&limit=20"),
        Question(
            "search a misspelt name",
            lambda n: f"/graph/search?q=laod+{_job(lake, 0, n):05d}&limit=20",
        ),
        Question("one dataset", lambda n: f"/graph/datasets/{_node(lake, middle, n)}"),
    ]


def hub_questions(stores: Stores) -> list[Question]:
    """About a table that very many jobs read."""
    node = dataset_id(Hub.table)

    def path(limit: int) -> Callable[[int], str]:
        asked = {"node": node, "direction": "downstream", "limit": limit}
        return lambda _: f"/graph/lineage?{urlencode(asked)}"

    def floor(_: int) -> int:
        return walk(stores, {node}, (Direction.DOWNSTREAM,), 1)

    return [
        Question("a hub, 500 nodes of it", path(500), floor),
        Question("a hub, 5,000 nodes of it", path(5000), floor),
    ]


def _job(lake: Lake, layer: int, number: int) -> int:
    return min(lake.jobs - 1, layer * lake.width + (number * 37 + 11) % lake.width)


def _node(lake: Lake, layer: int, number: int) -> str:
    return lake.dataset_id(_job(lake, layer, number))


def _lineage(
    stores: Stores,
    lake: Lake,
    name: str,
    layer: int,
    depth: int,
    directions: Sequence[Direction],
    reach: str = "seen",
) -> Question:
    way = "both" if len(directions) > 1 else directions[0].value

    def path(number: int) -> str:
        node = _node(lake, layer, number)
        asked = {"node": node, "depth": depth, "direction": way, "reach": reach}
        return f"/graph/lineage?{urlencode({**asked, 'limit': 5000})}"

    return Question(name, path, lambda n: walk(stores, {_node(lake, layer, n)}, directions, depth))


def _impact(lake: Lake, name: str, layer: int, reach: str) -> Question:
    def path(number: int) -> str:
        asked = {"node": _node(lake, layer, number), "limit": 5000, "reach": reach}
        return f"/graph/impact?{urlencode(asked)}"

    return Question(name, path)


def _columns(
    stores: Stores, lake: Lake, name: str, layer: int, depth: int, directions: Sequence[Direction]
) -> Question:
    way = "both" if len(directions) > 1 else directions[0].value

    def path(number: int) -> str:
        asked = {
            "dataset": _node(lake, layer, number), "column": COLUMNS[number % 10][0],
            "depth": depth, "direction": way, "limit": 5000,
        }  # fmt: skip
        return f"/graph/column-lineage?{urlencode(asked)}"

    def floor(number: int) -> int:
        column = identity.column_id(_node(lake, layer, number), COLUMNS[number % 10][0])
        return walk(stores, {column}, directions, depth)

    return Question(name, path, floor)
