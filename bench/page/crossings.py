"""Crossing edges of the layout beside those of dagre and elk, on the same graphs.

    python -m bench.page.crossings

Each edge is the line through its ends and its waypoints, of every layout in the same way. dagre and
elk are development dependencies of the page (``npm ci --prefix frontend``): nothing that is served
knows them.
"""

from __future__ import annotations

import json
import random
import re
import statistics
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any, Final

from graph_model.picture.layout import Box, arrange

_HERE: Final = Path(__file__).parent
_SAMPLE: Final = _HERE.parents[1] / "frontend" / "sample"
_PLACE: Final = re.compile(r"^s3://[^/]+/|/day=.*$")
_SIZES: Final = (30, 60, 120, 200)
_SEEDS: Final = 5
_WIDTH, _HEIGHT = 180.0, 46.0
_TIMEOUT_SECONDS: Final = 300

Line = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Graph:
    name: str
    nodes: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]


def sample_graph() -> Graph:
    """Jobs and tables of the page's sample."""
    edges: set[tuple[str, str]] = set()
    for recorded in json.loads((_SAMPLE / "spark.json").read_text("utf-8")):
        job, operations = f"job {recorded['job']}", recorded["plan"]["operations"]
        sources = [uri for read in operations["reads"] for uri in read["inputSources"]]
        edges |= {(_PLACE.sub("", uri), job) for uri in sources}
        edges.add((job, _PLACE.sub("", operations["write"]["outputSource"])))
    for recorded in json.loads((_SAMPLE / "estate.json").read_text("utf-8")):
        event = recorded["event"]
        job = f"job {event['job']['name']}"
        edges |= {(item["name"], job) for item in event["inputs"]}
        edges |= {(job, output["name"]) for output in event["outputs"]}
    return Graph("sample", *_parts(edges))


def estate_graph(seed: int, size: int) -> Graph:
    """Tables and jobs as estates have them: a job reads a few tables, sought-after ones more often,
    and writes one or two new ones.
    """
    choice = random.Random(seed)
    tables = [f"table {number:03d}" for number in range(max(4, size // 8))]
    weights = [1.0] * len(tables)
    edges: set[tuple[str, str]] = set()
    jobs = 0
    while len(tables) + jobs < size:
        job, jobs = f"job {jobs:03d}", jobs + 1
        for place in choice.choices(range(len(tables)), weights, k=choice.randint(1, 4)):
            edges.add((tables[place], job))
            weights[place] += 0.5
        for _ in range(choice.randint(1, 2)):
            tables.append(f"table {len(tables):03d}")
            weights.append(2.0)
            edges.add((job, tables[-1]))
    return Graph(f"estate {size} #{seed}", *_parts(edges))


def _parts(edges: set[tuple[str, str]]) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    return tuple(sorted({end for edge in edges for end in edge})), tuple(sorted(edges))


def own_lines(graph: Graph) -> list[Line]:
    boxes = [Box(node, _WIDTH, _HEIGHT, node) for node in graph.nodes]
    layout = arrange(boxes, graph.edges)
    places = layout.points
    return [
        tuple((p.x, p.y) for p in (places[a], *layout.routes.get((a, b), ()), places[b]))
        for a, b in graph.edges
    ]


def other_lines(graphs: Sequence[Graph]) -> list[Mapping[str, list[Line]]]:
    """By library the lines of each graph, asked for in one process."""
    asked = [{"nodes": graph.nodes, "edges": graph.edges} for graph in graphs]
    answer = subprocess.run(
        ["node", str(_HERE / "layouts.mjs")],
        input=json.dumps({"width": _WIDTH, "height": _HEIGHT, "graphs": asked}),
        capture_output=True, text=True, check=True, timeout=_TIMEOUT_SECONDS,
    )  # fmt: skip
    replies: list[dict[str, Any]] = json.loads(answer.stdout)
    return [
        {name: [_line(points) for points in lines] for name, lines in reply.items()}
        for reply in replies
    ]


def _line(points: list[list[float]]) -> Line:
    return tuple((x, y) for x, y in points)


def crossings(lines: Sequence[Line]) -> int:
    """Pairs of edges that cross; those that meet in a common end do not."""
    return sum(_cross(item, other) for item, other in combinations(lines, 2))


def _cross(one: Line, other: Line) -> bool:
    return any(_meet(a, b, c, d) for a, b in _segments(one) for c, d in _segments(other))


def _segments(line: Line) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
    return pairwise(line)


def _meet(
    a: tuple[float, float], b: tuple[float, float], c: tuple[float, float], d: tuple[float, float]
) -> bool:
    if max(a[0], b[0]) <= min(c[0], d[0]) or max(c[0], d[0]) <= min(a[0], b[0]):
        return False
    return _side(a, b, c) * _side(a, b, d) < 0 and _side(c, d, a) * _side(c, d, b) < 0


def _side(a: tuple[float, float], b: tuple[float, float], p: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])


def main() -> None:
    graphs = [sample_graph(), *(estate_graph(s, size) for size in _SIZES for s in range(_SEEDS))]
    others = other_lines(graphs)
    ratios: dict[str, list[float]] = {name: [] for name in others[0]}
    for graph, answer in zip(graphs, others, strict=True):
        own = crossings(own_lines(graph))
        counts = {name: crossings(lines) for name, lines in answer.items()}
        for name, count in counts.items():
            ratios[name].append((own + 1) / (count + 1))
        spelled = ", ".join(f"{name} {count}" for name, count in counts.items())
        print(f"{graph.name}: {len(graph.edges)} edges; own {own}, {spelled}", flush=True)
    for name, result in ratios.items():
        print(f"own to {name}, median of (own + 1) / (theirs + 1): {statistics.median(result):.2f}")


if __name__ == "__main__":
    main()
