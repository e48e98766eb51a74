"""``/graph/map``: the areas of the estate and the flows between them, step by step down to tables.

At each step the areas within the one that is open are drawn, then the datasets that lie in it
directly, and beside them the areas outside with which it exchanges data.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from graph_model import labels
from graph_model.answers.home.areas import areas_of
from graph_model.answers.sources import Sources, of_one_state
from graph_model.facts import DatasetRow
from graph_model.governance.previews import walk_datasets
from graph_model.lineage import Partial, PlanUse
from graph_model.picture.layout import Box, arrange
from graph_model.picture.view import Place, Route

DATASETS_READ: Final = 10_000
BOXES_DRAWN: Final = 60
_WIDTH: Final = 210.0
_HEIGHT: Final = 64.0
_NO_LAYER: Final = "no layer"


@dataclass(frozen=True, slots=True)
class AreaNode:
    """``kind``: area, outside (not in the open one), dataset, or rest (those without a box).

    ``path`` opens it; ``failed``: of the jobs that write into it.
    """

    id: str
    kind: str
    label: str
    path: tuple[str, ...]
    datasets: int
    failed: int
    place: Place


@dataclass(frozen=True, slots=True)
class AreaFlow:
    """``jobs``: how many move data from one to the other."""

    source: str
    target: str
    jobs: int
    route: Route | None


@dataclass(frozen=True, slots=True)
class EstateMap:
    """``names``: how many catalog names the whole map leaves out, because their tables are in it by
    their locations.
    """

    within: tuple[str, ...]
    areas: tuple[AreaNode, ...]
    flows: tuple[AreaFlow, ...]
    datasets: int
    names: int
    partial: Partial | None


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where a dataset is drawn."""

    kind: str
    label: str
    path: tuple[str, ...]


@of_one_state
def estate_map(sources: Sources, *, by: str, within: Sequence[str]) -> EstateMap:
    """``by`` is place or layer; ``within`` the area that is open, from the widest on."""
    walk = walk_datasets(sources.catalogue, hidden=sources.hidden)
    rows = list(islice(walk, DATASETS_READ + 1))
    partial = Partial("nodes", DATASETS_READ) if len(rows) > DATASETS_READ else None
    rows = rows[:DATASETS_READ]
    lineage = sources.lineage
    drawn = list(lineage.history.names.tables(rows))
    read = _path_reader(sources, by)
    spots = {row.id: _spot(row, read(row), tuple(within)) for row in drawn}
    flows, cut = lineage.flows_into(spots.keys())
    uses = [use for use in flows if use.job not in sources.hidden]
    last = sources.catalogue.last_states({use.job for use in uses}, None)
    failing = {job for job, (_, state, _) in last.items() if state == labels.FAILED}
    spots = _folded(spots, _near(spots, uses))
    return _draw(tuple(within), spots, uses, failing, len(rows) - len(drawn), partial or cut)


def _path_reader(sources: Sources, by: str) -> Callable[[DatasetRow], tuple[str, ...]]:
    """The areas of a dataset; by layer the layer is the widest."""
    layers = sources.governance.layers
    if by == "layer":
        return lambda row: (layers.of(row.uri) or _NO_LAYER, *areas_of(row.uri, row.kind))
    return lambda row: areas_of(row.uri, row.kind) or (row.kind,)


def _spot(row: DatasetRow, path: tuple[str, ...], within: tuple[str, ...]) -> _Spot:
    depth = len(within)
    if path[:depth] != within:
        parts = next((n for n, (a, b) in enumerate(zip(path, within, strict=False)) if a != b), 0)
        return _Spot("outside", path[min(parts, len(path) - 1)], path[: parts + 1])
    if len(path) == depth:
        return _Spot("dataset", row.name or row.uri, (*path, row.id))
    return _Spot("area", path[depth], path[: depth + 1])


def _near(spots: Mapping[str, _Spot], uses: Iterable[PlanUse]) -> set[_Spot]:
    """The neighbours that exchange data with the open area, and its own content."""
    near = {spot for spot in spots.values() if spot.kind != "outside"}
    for use in uses:
        ends = {spots[one] for one in (*use.sources, *use.targets) if one in spots}
        if any(one.kind != "outside" for one in ends):
            near |= ends
    return near


def _folded(spots: Mapping[str, _Spot], near: set[_Spot]) -> dict[str, _Spot]:
    """The spots that are drawn; beyond the limit the smallest become one box."""
    sizes = Counter(spot for spot in spots.values() if spot in near)
    drawn = {spot for spot, _ in sizes.most_common(BOXES_DRAWN)}
    rest = _Spot("rest", f"{len(sizes) - len(drawn)} more", ())
    return {key: spot if spot in drawn else rest for key, spot in spots.items() if spot in near}


def _draw(
    within: tuple[str, ...],
    spots: Mapping[str, _Spot],
    uses: Sequence[PlanUse],
    failing: Collection[str],
    names: int,
    partial: Partial | None,
) -> EstateMap:
    flows: defaultdict[tuple[_Spot, _Spot], set[str]] = defaultdict(set)
    failed: defaultdict[_Spot, set[str]] = defaultdict(set)
    for use in uses:
        sources = {spots[one] for one in use.sources if one in spots}
        targets = {spots[one] for one in use.targets if one in spots}
        for target in targets:
            if use.job in failing:
                failed[target].add(use.job)
            for source in sources - {target}:
                flows[source, target].add(use.job)
    sizes = Counter(spots.values())
    ids = {spot: f"area-{number}" for number, spot in enumerate(_ordered(sizes))}
    boxes = [Box(ids[spot], _WIDTH, _HEIGHT, spot.label) for spot in ids]
    layout = arrange(boxes, [(ids[a], ids[b]) for a, b in flows])
    return EstateMap(
        within=within,
        areas=tuple(
            AreaNode(
                id=key,
                kind=spot.kind,
                label=spot.label,
                path=spot.path,
                datasets=sizes[spot],
                failed=len(failed[spot]),
                place=Place(layout.points[key].x, layout.points[key].y, _WIDTH, _HEIGHT),
            )
            for spot, key in ids.items()
        ),
        flows=tuple(
            AreaFlow(
                ids[a],
                ids[b],
                len(found),
                tuple((at.x, at.y) for at in layout.routes[ids[a], ids[b]])
                if (ids[a], ids[b]) in layout.routes
                else None,
            )
            for (a, b), found in sorted(
                flows.items(), key=lambda one: (ids[one[0][0]], ids[one[0][1]])
            )
        ),
        datasets=len(spots),
        names=names,
        partial=partial,
    )


def _ordered(sizes: Mapping[_Spot, int]) -> list[_Spot]:
    return sorted(sizes, key=lambda spot: (-sizes[spot], spot.path, spot.label))
