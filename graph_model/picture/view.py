"""Nodes and edges of a picture: pure values, ready to become JSON.

Nodes and edges are tuples: an answer has thousands, and their cost is their making.

The values are ids, names, friendly labels, times as text, boxes with places. This module reads no
store; ``answers`` gathers the rows and calls :func:`draw`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from graph_model import labels, naming
from graph_model.facts import DatasetRow, ExecutionRow, JobRow
from graph_model.lineage import (
    Answer,
    ColumnEdge,
    ColumnNode,
    Influences,
    NotSeen,
    Partial,
    PlanUse,
    Route,
    holders,
)
from graph_model.naming.columns import ColumnSpelling
from graph_model.picture.layout import (
    EDGE_GAP,
    LEGIBLE,
    LONG_LINE,
    ROW_HEIGHT,
    Box,
    Course,
    Flow,
    Flowing,
    Layout,
    Point,
    Size,
    Window,
    arrange,
    course_within,
    row_width,
    size_of,
)
from graph_model.values import iso

#: How a column is known: see ``ColumnNodeView``.
SCHEMA: Final = "schema"
LINEAGE: Final = "lineage"
#: So many edges of one pair of boxes run beside each other; more lie upon one another.
_MOST_BESIDE: Final = 12


def known_mode(mode: str) -> str | None:
    """The mode of a write; None if no document names it."""
    return None if mode == labels.UNKNOWN_MODE else mode


@dataclass(frozen=True, slots=True)
class JobReference:
    id: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class DatasetReference:
    id: str
    uri: str
    label: str


def job_reference(row: JobRow) -> JobReference:
    return JobReference(row.id, row.namespace, row.name)


def dataset_reference(row: DatasetRow) -> DatasetReference:
    """Under its friendly name; its URI where it has none."""
    return DatasetReference(row.id, row.uri, row.name or row.uri)


@dataclass(frozen=True, slots=True)
class CheckView:
    """An assertion on a dataset, by the job that made it; ``column`` None: on the whole of it.
    ``fails``: the dataset fails by it.
    """

    assertion: str
    column: str | None
    passed: bool
    fails: bool
    severity: str | None
    name: str | None
    description: str | None
    expected: str | None
    actual: str | None
    at: str
    job: JobReference | None


@dataclass(frozen=True, slots=True)
class QualityMark:
    """Whether a dataset's checks passed: ``failed`` are the first 20 of ``failures``; ``checks``
    counts all, ``warnings`` those that failed and do not fail it; ``at`` is the newest's time.
    """

    state: str
    failed: tuple[CheckView, ...]
    checks: int
    failures: int
    warnings: int
    at: str


@dataclass(frozen=True, slots=True)
class Place:
    """Centre and size in pixels of an unscaled canvas."""

    x: float
    y: float
    width: float
    height: float


class More(NamedTuple):
    """How many neighbours on each side a limit has left out."""

    upstream: int
    downstream: int


class LastRun(NamedTuple):
    at: str
    state: str


class DatasetNode(NamedTuple):
    """``columns`` are ids in schema order, None when columns were not asked for. ``layer`` (or
    None) and ``classifications`` are statements of people about it.
    """

    id: str
    label: str
    uri: str
    scope: str
    type: str
    names: tuple[str, ...]
    last_write: str | None
    columns: tuple[str, ...] | None = None
    via: bool = False  # on the way, but not itself an answer
    quality: QualityMark | None = None  # None: no check
    more: More | None = None
    place: Place | None = None
    layer: str | None = None
    classifications: tuple[str, ...] = ()


class JobNode(NamedTuple):
    """``producer`` is that of its newest execution, in its own words; None: no run."""

    id: str
    label: str
    namespace: str
    name: str
    shared: bool
    plans: tuple[str, ...]
    last_run: LastRun | None
    producer: str | None = None
    more: More | None = None
    place: Place | None = None


class ColumnNodeView(NamedTuple):
    """``dataset`` is the URI; ``type`` None if no schema has it.

    ``known``: ``schema`` where the newest schema has the column, or the one that it is a field of;
    ``lineage`` where column lineage alone names it. ``parent``: the id of the innermost column
    drawn that it is a field of. ``influences``: the columns that decide over it; None: not counted.
    """

    id: str
    label: str
    dataset: str
    dataset_id: str
    name: str
    type: str | None
    known: str = SCHEMA
    parent: str | None = None
    via: bool = False  # on the way, but not itself an answer
    influences: Influences | None = None
    more: More | None = None
    place: Place | None = None
    classifications: tuple[str, ...] = ()


Node = DatasetNode | JobNode | ColumnNodeView


class FeedEdge(NamedTuple):
    """Between a dataset and a job, or with jobs left out between two datasets.

    ``attempted``: failed runs alone tried it, nothing flowed. ``seen`` is False where no chain of
    the answer has seen data flow, and it will at the next runs of plans in force. ``declared``: no
    run is behind it, only a declaration.
    """

    id: str
    source: str
    target: str
    plans: tuple[str, ...]
    modes: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()
    attempted: bool = False
    route: Route | None = None
    seen: bool = True
    declared: bool = False


class DrawnLayer(NamedTuple):
    name: str
    colour: str


@dataclass(frozen=True, slots=True)
class Lane:
    """``layer`` is None for datasets in no layer; ``top`` and ``bottom`` in pixels."""

    layer: str | None
    top: float
    bottom: float


@dataclass(frozen=True, slots=True)
class GraphView:
    """A graph reply; nodes sorted by kind, label and id, edges by their ends.

    ``hidden`` counts the nodes that were left out as hidden. ``layers`` are those of the datasets
    drawn; ``lanes`` None: no lanes were asked for.
    """

    nodes: tuple[Node, ...]
    edges: tuple[FeedEdge | ColumnEdge, ...]
    as_of: str | None
    depth_asked: int
    depth_reached: int
    partial: Partial | None
    folded: bool = False
    focus: str | None = None  # the node asked about, whichever way it was spelled
    hidden: int = 0
    layers: tuple[DrawnLayer, ...] = ()
    lanes: tuple[Lane, ...] | None = None
    not_seen: NotSeen | None = None  # what possible flow would add, if it was counted
    flow: Flow | None = None  # of a view with places


@dataclass(frozen=True, slots=True)
class Names:
    """The catalogue's rows of an answer's nodes, by id."""

    datasets: Mapping[str, DatasetRow]
    jobs: Mapping[str, JobRow]
    catalog_names: Mapping[str, Sequence[str]]
    last_writes: Mapping[str, int]
    last_runs: Mapping[str, tuple[int, str, str]]
    columns: Mapping[str, ColumnSpelling]
    plan_jobs: Mapping[str, str]
    quality: Mapping[str, QualityMark] = field(default_factory=dict)


def draw(answer: Answer, names: Names, *, jobs: bool, columns: bool) -> GraphView:
    """The nodes and edges of an answer, without places."""
    via = frozenset(answer.via)
    more = {left.node: More(left.upstream, left.downstream) for left in answer.left_out}
    column_nodes = _column_nodes(answer, names, via, more)
    nodes: list[Node] = []
    inside: dict[str, list[str]] = {}
    for column in column_nodes:
        inside.setdefault(column.dataset_id, []).append(column.id)
    for dataset in answer.datasets:
        if dataset in names.datasets:
            listed = tuple(inside.get(dataset, ())) if columns else None
            row = names.datasets[dataset]
            nodes.append(_dataset_node(row, names, listed, more.get(dataset), via=dataset in via))
    if jobs:
        plans = _plans_by_job(answer)
        nodes += [
            _job_node(names.jobs[job], plans.get(job, ()), names, more.get(job))
            for job in answer.jobs
        ]
    nodes.sort(key=lambda node: (type(node).__name__, node.label, node.id))
    nodes += column_nodes
    feeds = _feeds(answer) if jobs else _feeds_without_jobs(answer)
    edges: list[FeedEdge | ColumnEdge] = [
        *feeds,
        *(edge._replace(jobs=_jobs_of(edge.plans, names)) for edge in answer.column_edges),
    ]
    return GraphView(
        nodes=tuple(nodes),
        edges=tuple(edges),
        as_of=iso(answer.as_of),
        depth_asked=answer.depth_asked,
        depth_reached=answer.depth_reached,
        partial=answer.partial,
        folded=answer.folded,
        not_seen=answer.not_seen,
    )


def _dataset_node(
    row: DatasetRow,
    names: Names,
    columns: tuple[str, ...] | None,
    more: More | None,
    *,
    via: bool,
) -> DatasetNode:
    return DatasetNode(
        id=row.id,
        label=row.name or row.uri,
        uri=row.uri,
        scope=row.scope,
        type=row.kind,
        names=tuple(names.catalog_names.get(row.id, ())),
        last_write=iso(names.last_writes.get(row.id)),
        columns=columns,
        via=via,
        more=more,
        quality=names.quality.get(row.id),
    )


def _plans_by_job(answer: Answer) -> dict[str, tuple[str, ...]]:
    plans: dict[str, list[str]] = {}
    for use in answer.plans:
        plans.setdefault(use.job, []).append(use.logical_plan)
    return {job: tuple(listed) for job, listed in plans.items()}


def _job_node(row: JobRow, plans: tuple[str, ...], names: Names, more: More | None) -> JobNode:
    newest = names.last_runs.get(row.id)
    return JobNode(
        id=row.id,
        label=row.name,
        namespace=row.namespace,
        name=row.name,
        shared=row.shared,
        plans=plans,
        last_run=None if newest is None else LastRun(iso(newest[0]), newest[1]),
        producer=newest[2] if newest else None,
        more=more,
    )


def last_run(row: ExecutionRow | None, states: Mapping[str, str]) -> LastRun | None:
    """``states``: per execution its state at the time."""
    return None if row is None else LastRun(iso(row.at), states[row.id])


def _column_nodes(
    answer: Answer, names: Names, via: frozenset[str], more: Mapping[str, More]
) -> list[ColumnNodeView]:
    """In schema order within each dataset, fields below their column; columns that no schema lists
    come last, by path.
    """
    ordered = in_schema_order(answer.columns, names.columns)
    drawn = {(column.dataset, column.path): column.id for column in answer.columns}
    return [
        ColumnNodeView(
            **_spelled(column, names),
            parent=_parent_of(column, drawn),
            via=column.id in via,
            influences=answer.influences.get(column.id),
            more=more.get(column.id),
        )
        for column in ordered
        if column.dataset in names.datasets
    ]


def in_schema_order(
    columns: Collection[ColumnNode], spelled: Mapping[str, ColumnSpelling]
) -> list[ColumnNode]:
    """By dataset, then as the schema lists them, fields below their column; ``spelled`` by id."""

    def order(column: ColumnNode) -> tuple[str, bool, int, tuple[str, ...]]:
        spelling = spelled.get(column.id)
        position = 0 if spelling is None else spelling.position
        return (column.dataset, spelling is None, position, naming.split_path(column.path))

    return sorted(columns, key=order)


def _parent_of(column: ColumnNode, drawn: Mapping[tuple[str, str], str]) -> str | None:
    places = ((column.dataset, holder) for holder in holders(column.path)[1:])
    return next((drawn[place] for place in places if place in drawn), None)


def _spelled(column: ColumnNode, names: Names) -> dict[str, Any]:
    spelling = names.columns.get(column.id)
    name = column.path if spelling is None else spelling.name
    return {
        "id": column.id,
        "label": name,
        "dataset": names.datasets[column.dataset].uri,
        "dataset_id": column.dataset,
        "name": name,
        "type": None if spelling is None else spelling.type,
        "known": LINEAGE if spelling is None else SCHEMA,
    }


def _feeds(answer: Answer) -> list[FeedEdge]:
    """Dataset -> job -> dataset, one edge a pair, with the plans behind it; attempts
    alone where nothing flowed.
    """
    true = _feeds_of([use for use in answer.plans if use.seen and not use.attempted])
    coming = _feeds_of([use for use in answer.plans if not use.seen])
    tried = _feeds_of([use for use in answer.plans if use.attempted])
    edges = {key: edge._replace(attempted=True) for key, edge in tried.items()}
    edges |= {key: edge._replace(seen=False) for key, edge in coming.items()}
    edges |= true
    return [edges[pair] for pair in sorted(edges)]


def _feeds_of(uses: Iterable[PlanUse]) -> dict[tuple[str, str], FeedEdge]:
    plans: dict[tuple[str, str], set[str]] = {}
    modes: dict[tuple[str, str], set[str]] = {}
    for use in uses:
        for source in use.sources:
            plans.setdefault((source, use.job), set()).add(use.logical_plan)
        for target in use.targets:
            plans.setdefault((use.job, target), set()).add(use.logical_plan)
            if (mode := known_mode(use.mode)) is not None:
                modes.setdefault((use.job, target), set()).add(mode)
    return {
        pair: FeedEdge(
            f"{pair[0]}-{pair[1]}",
            pair[0],
            pair[1],
            tuple(sorted(plans[pair])),
            tuple(sorted(modes.get(pair, ()))),
        )
        for pair in plans
    }


def _feeds_without_jobs(answer: Answer) -> list[FeedEdge]:
    plans: dict[tuple[str, str], set[str]] = {}
    jobs: dict[tuple[str, str], set[str]] = {}
    seen: set[tuple[str, str]] = set()
    for use in answer.plans:
        for source in use.sources:
            for target in use.targets:
                seen |= {(source, target)} if use.seen else set()
                plans.setdefault((source, target), set()).add(use.logical_plan)
                jobs.setdefault((source, target), set()).add(use.job)
    return [
        FeedEdge(
            f"{pair[0]}-{pair[1]}",
            pair[0],
            pair[1],
            tuple(sorted(plans[pair])),
            jobs=tuple(sorted(jobs[pair])),
            seen=pair in seen,
        )
        for pair in sorted(plans)
    ]


def _jobs_of(plans: Iterable[str], names: Names) -> tuple[str, ...]:
    return tuple(sorted({names.plan_jobs[plan] for plan in plans if plan in names.plan_jobs}))


def mark_declared(view: GraphView, declared: frozenset[str]) -> GraphView:
    """The view with its edges that are ``declared`` alone: no run has followed one of the logical
    plans behind them.
    """
    if not declared:
        return view
    return replace(
        view,
        edges=tuple(
            edge._replace(declared=bool(edge.plans) and declared.issuperset(edge.plans))
            for edge in view.edges
        ),
    )


# --- places ------------------------------------------------------------------------------------


def place(view: GraphView, flow: Flowing = Flow.RIGHT) -> GraphView:
    """The same view with a place for every node; columns lie inside their tables. Edges between
    columns run from side to side: top down is for a view without them.
    """
    columns = [node for node in view.nodes if isinstance(node, ColumnNodeView)]
    inside: dict[str, list[ColumnNodeView]] = {}
    for column in columns:
        inside.setdefault(column.dataset_id, []).append(column)
    nodes = {node.id: node for node in view.nodes if not isinstance(node, ColumnNodeView)}
    widths = {name: row_width(name) for name in {column.label for column in columns}}
    sizes = {
        key: size_of(node.label, [widths[column.label] for column in inside.get(key, ())])
        for key, node in nodes.items()
    }
    ends = _ends(view, columns)
    course = Course(flow) if isinstance(flow, Flow) else Course(Flow.RIGHT)
    if isinstance(flow, Window) and not columns:
        low = {key: size_of(node.label, line=LONG_LINE) for key, node in nodes.items()}
        choices = {Flow.RIGHT: _boxes(nodes, sizes), Flow.DOWN: _boxes(nodes, low)}
        course = course_within(choices, ends, flow, LEGIBLE)
        sizes = low if course.flow is Flow.DOWN else sizes
    layout = arrange(_boxes(nodes, sizes), ends, course.flow, course.breadth)
    places = {
        key: _place(sizes[key], point, layout.widths[key]) for key, point in layout.points.items()
    }
    for dataset, listed in inside.items():
        if dataset in places:
            places |= _column_places(places[dataset], sizes[dataset].title, listed)
    routes = _routes(ends, _heights(view, inside), layout, course.flow)
    return replace(
        view,
        nodes=tuple(node._replace(place=places.get(node.id)) for node in view.nodes),
        edges=tuple(
            edge if route is None else edge._replace(route=route)
            for edge, route in zip(view.edges, routes, strict=True)
        ),
        flow=course.flow,
    )


def _boxes(nodes: Mapping[str, Node], sizes: Mapping[str, Size]) -> list[Box]:
    return [Box(key, size.width, size.height, nodes[key].label) for key, size in sizes.items()]


def _ends(view: GraphView, columns: Sequence[ColumnNodeView]) -> list[tuple[str, str]]:
    """Of each edge the boxes at its ends: a column stands in its table."""
    table = {column.id: column.dataset_id for column in columns}
    return [(table.get(e.source, e.source), table.get(e.target, e.target)) for e in view.edges]


def _heights(view: GraphView, inside: Mapping[str, Sequence[ColumnNodeView]]) -> list[int]:
    """Of each edge how far down its ends lie in their tables."""
    row = {column.id: n for listed in inside.values() for n, column in enumerate(listed)}
    return [row.get(edge.source, 0) + row.get(edge.target, 0) for edge in view.edges]


def _routes(
    ends: Sequence[tuple[str, str]], heights: Sequence[int], layout: Layout, flow: Flow
) -> list[Route | None]:
    """The route of each edge; edges of one pair of boxes run beside each other, from above as
    their ends lie.
    """
    of_pair: dict[tuple[str, str], list[int]] = {}
    for place, pair in enumerate(ends):
        of_pair.setdefault(pair, []).append(place)
    routes: list[Route | None] = [None] * len(ends)
    for pair, places in of_pair.items():
        points = layout.routes.get(pair)
        if points is None:
            continue
        beside = min(len(places), _MOST_BESIDE)
        lanes = [_lane(points, EDGE_GAP * (n - (beside - 1) / 2), flow) for n in range(beside)]
        for number, place in enumerate(sorted(places, key=lambda place: (heights[place], place))):
            routes[place] = lanes[number * beside // len(places)]
    return routes


def _lane(points: Sequence[Point], aside: float, flow: Flow) -> Route:
    x, y = (aside, 0.0) if flow is Flow.DOWN else (0.0, aside)
    return tuple((round(at.x + x, 1), round(at.y + y, 1)) for at in points)


def _place(size: Size, point: Point, width: float) -> Place:
    return Place(round(point.x, 1), round(point.y, 1), width, size.height)


def _column_places(
    table: Place, title: float, columns: Sequence[ColumnNodeView]
) -> dict[str, Place]:
    top = table.y - table.height / 2 + title
    return {
        column.id: Place(table.x, round(top + (i + 0.5) * ROW_HEIGHT, 1), table.width, ROW_HEIGHT)
        for i, column in enumerate(columns)
    }


# A picture in lanes, one for each storage layer, top to bottom: pure and deterministic.
#
# Boxes keep their distance from the left, so data still flows to the right; within a lane they keep
# their order and move up as far as there is room. A job is in the lane of its output.

_GAP: Final = 24.0
_LANE_GAP: Final = 36.0
_TITLE: Final = 28.0
_GRAIN: Final = 40.0  # pixels of width that are looked at together


def place_in_lanes(
    view: GraphView, layer_of: Mapping[str, str | None], order: Sequence[str]
) -> tuple[GraphView, tuple[Lane, ...]]:
    """A placed view in lanes: by dataset id its layer, and the layers in their order."""
    lanes = _lanes_of(view, layer_of, order)
    placed: dict[str, Place] = {}
    drawn: list[Lane] = []
    top = 0.0
    for layer in [*order, None]:
        nodes = [node for node in view.nodes if node.id in lanes and lanes[node.id] == layer]
        if nodes:
            stacked, bottom = _stack(nodes, top + _TITLE)
            placed |= stacked
            drawn.append(Lane(layer, top, bottom + _GAP))
            top = bottom + _GAP + _LANE_GAP
    edges = tuple(edge._replace(route=None) for edge in view.edges)
    return replace(view, nodes=_moved(view.nodes, placed), edges=edges), tuple(drawn)


def _lanes_of(
    view: GraphView, layer_of: Mapping[str, str | None], order: Sequence[str]
) -> dict[str, str | None]:
    """The lane of each table and job that has a place."""
    lanes = {
        node.id: layer_of.get(node.id)
        for node in view.nodes
        if isinstance(node, DatasetNode) and node.place is not None
    }
    rank = {layer: number for number, layer in enumerate(order)}
    beside: dict[str, tuple[int, int, str]] = {}  # job -> written first, then by rank of the layer
    for edge in view.edges:
        if isinstance(edge, FeedEdge):
            for job, dataset, side in (
                (edge.source, edge.target, 0),
                (edge.target, edge.source, 1),
            ):
                layer = lanes.get(dataset)
                if layer is not None:
                    known = beside.get(job, (2, 0, ""))
                    beside[job] = min(known, (side, rank.get(layer, len(rank)), layer))
    for node in view.nodes:
        if isinstance(node, JobNode) and node.place is not None:
            lanes[node.id] = beside[node.id][2] if node.id in beside else None
    return lanes


def _stack(nodes: Sequence[Node], top: float) -> tuple[dict[str, Place], float]:
    """Boxes below ``top`` in their order from above, each as high as there is room."""
    skyline: dict[int, float] = {}
    placed: dict[str, Place] = {}
    places = [(node.place, node.id) for node in nodes if node.place is not None]
    for place, key in sorted(places, key=lambda pair: (pair[0].y, pair[0].x, pair[1])):
        left = int((place.x - place.width / 2) // _GRAIN)
        columns = range(left, int((place.x + place.width / 2) // _GRAIN) + 1)
        upper = max((skyline.get(column, top) for column in columns), default=top)
        placed[key] = replace(place, y=round(upper + place.height / 2, 1))
        skyline |= dict.fromkeys(columns, upper + place.height + _GAP)
    return placed, max(skyline.values(), default=top) - _GAP


def _moved(nodes: Sequence[Node], placed: Mapping[str, Place]) -> tuple[Node, ...]:
    """Boxes where they are now, and columns as far from their tables' middle as before."""
    before = {node.id: node.place for node in nodes}

    def moved(node: Node) -> Node:
        home = node.dataset_id if isinstance(node, ColumnNodeView) else node.id
        now, was = placed.get(home), before.get(home)
        if node.place is None or now is None or was is None:
            return node
        y = round(node.place.y + now.y - was.y, 1)
        return node._replace(place=replace(node.place, y=y))

    return tuple(moved(node) for node in nodes)
