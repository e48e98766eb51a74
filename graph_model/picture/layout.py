"""Layered layout, left to right or top down in the direction of flow: pure and deterministic.

The steps are Sugiyama's (K. Sugiyama, S. Tagawa, M. Toda 1981): break cycles, put every box in a
layer by its longest path from a source, run long edges through waypoints, order each layer so that
few edges cross (all of this in ``ranks``), then give coordinates. Equal input gives
equal output: ties are broken by the ``key`` of a box, never by an order of arrival. A waypoint has
room of its own in its layer, so an edge that follows its route crosses no box.

Coordinates are pixels of an unscaled canvas; ``x`` and ``y`` are the centre of a box.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate, pairwise
from typing import Final

from graph_model.picture.ranks import (
    broken_ranks,
    components_of,
    ordered,
    ranks_of,
    without_cycles,
)
from graph_model.values import batched

LAYER_GAP: Final = 46.0
#: Top down ranks follow closer, since boxes are lower than they are wide: more of them are in view.
FALL_GAP: Final = 14.0
ROW_GAP: Final = 20.0
COMPONENT_GAP: Final = 60.0
#: Distance of two edges that run beside each other through a layer.
EDGE_GAP: Final = 4.0
_STRAIGHTENING_ROUNDS: Final = 12
_WAYPOINT_GAP: Final = 10.0
_MOST_BUNDLED: Final = 12
_PASSING: Final = EDGE_GAP + ROW_GAP
_PHONE: Final = 600.0
#: Ranks are broken to the breadth of a window in pictures of so many boxes, none of which has so
#: many neighbours on one side: the page folds those, and ranks of their neighbours would be empty.
_MOST_BROKEN: Final = 400
_FAN: Final = 20


class Flow(StrEnum):
    """The way that data takes through a picture: to the right, or downwards."""

    RIGHT = "right"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class Window:
    """The room for a picture, in pixels of the screen: it flows as it is read best there."""

    width: float
    height: float

    @property
    def is_narrow(self) -> bool:
        """Whether it is that of a phone, where pictures run down."""
        return self.width < _PHONE


@dataclass(frozen=True, slots=True)
class Course:
    """A flow; ``breadth`` is the most that a rank has across it, where ranks are broken."""

    flow: Flow
    breadth: float | None = None


Flowing = Flow | Window


@dataclass(frozen=True, slots=True)
class Box:
    """A box to place; ``key`` breaks ties (a name that people would sort by)."""

    id: str
    width: float
    height: float
    key: str = ""


@dataclass(frozen=True, slots=True)
class Point:
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Layout:
    """``points`` and ``widths`` by box: all boxes of a layer have the width of its widest, except
    top down, where each keeps its own.

    ``routes``: by edge the points through which it runs from its source to its target, one for
    each layer between them; no edge between neighbours is in it.
    """

    points: dict[str, Point]
    widths: dict[str, float]
    routes: dict[tuple[str, str], tuple[Point, ...]]


def lay_out(boxes: Sequence[Box], edges: Iterable[tuple[str, str]]) -> dict[str, Point]:
    """Where each box goes; see :func:`arrange`."""
    return arrange(boxes, edges).points


def course_within(
    boxes: Mapping[Flow, Sequence[Box]],
    edges: Iterable[tuple[str, str]],
    window: Window,
    legible: float,
) -> Course:
    """To the right where the picture can be read then, at a zoom of ``legible``; else the way of
    which more is in the window at that zoom, with ranks broken to its breadth where still more is.
    Ranks alone are looked at: the order in them changes no size. ``boxes`` are the same ones for
    either flow, in the sizes that they have then.
    """
    sizes = {flow: {box.id: box for box in listed} for flow, listed in boxes.items()}
    known, repeats = _known(boxes[Flow.RIGHT], edges)
    parts = [
        (nodes, without_cycles(nodes, links)) for nodes, links in _parts(known, sorted(repeats))
    ]
    courses = [Course(flow) for flow in Flow if not (flow is Flow.RIGHT and window.is_narrow)]
    if len(known) <= _MOST_BROKEN and not _has_fan(repeats):
        across = {Flow.RIGHT: window.height, Flow.DOWN: window.width}
        courses += [Course(course.flow, across[course.flow] / legible) for course in courses]
    best, most = courses[0], 0.0
    for course in courses:
        extents = (_extent(sizes[course.flow], *part, course) for part in parts)
        share = min((_share(extent, window, legible) for extent in extents), default=1.0)
        if share > most:
            best, most = course, share
    return best


def _has_fan(links: Iterable[tuple[str, str]]) -> bool:
    near = Counter(end for a, b in links for end in ((a, 1), (b, 0)))
    return max(near.values(), default=0) >= _FAN


def _share(extent: tuple[float, float], window: Window, zoom: float) -> float:
    """How much of a picture a window shows at a zoom, 0 to 1."""
    width, height = extent
    across = min(1.0, window.width / (width * zoom))
    return across * min(1.0, window.height / (height * zoom))


def _extent(
    known: Mapping[str, Box],
    nodes: Sequence[str],
    forward: Sequence[tuple[str, str]],
    course: Course,
) -> tuple[float, float]:
    """Width and height of a part."""
    lying = course.flow is Flow.DOWN
    own = [_lying(known[node]) if lying else known[node] for node in nodes]
    rank_of = _ranks(own, forward, course.breadth)
    ranks: dict[int, list[Box]] = {}
    for box in own:
        ranks.setdefault(rank_of[box.id], []).append(box)
    passing = Counter(rank for a, b in forward for rank in range(rank_of[a] + 1, rank_of[b]))
    along = sum(max(box.width for box in rank) for rank in ranks.values())
    along += (FALL_GAP if lying else LAYER_GAP) * (len(ranks) - 1)
    across = max(
        sum(box.height + ROW_GAP for box in ranks[rank]) - ROW_GAP + passing[rank] * _PASSING
        for rank in ranks
    )
    return (across, along) if lying else (along, across)


def _lying(box: Box) -> Box:
    return Box(box.id, box.height, box.width, box.key)


def _ranks(
    boxes: Sequence[Box], forward: Sequence[tuple[str, str]], breadth: float | None
) -> dict[str, int]:
    nodes = [box.id for box in boxes]
    if breadth is None:
        return ranks_of(nodes, forward)
    breadths = {box.id: box.height + ROW_GAP for box in boxes}
    return broken_ranks(nodes, forward, breadths, _PASSING, breadth + ROW_GAP)


def arrange(
    boxes: Sequence[Box],
    edges: Iterable[tuple[str, str]],
    flow: Flow = Flow.RIGHT,
    breadth: float | None = None,
) -> Layout:
    """Where each box and each long edge goes. Edges to unknown boxes and loops are ignored; of
    repeats the first counts, the others make its waypoints higher. ``breadth`` is the most that a
    rank has across the flow, as far as its boxes allow; None: ranks are as broad as they are.
    """
    if flow is Flow.DOWN:
        return _turned(_arrange([*map(_lying, boxes)], edges, FALL_GAP, breadth), boxes)
    return _arrange(boxes, edges, LAYER_GAP, breadth)


def _turned(layout: Layout, boxes: Sequence[Box]) -> Layout:
    """A layout of boxes that lay on their sides, with the boxes upright again."""
    return Layout(
        {node: Point(at.y, at.x) for node, at in layout.points.items()},
        {box.id: box.width for box in boxes},
        {link: tuple(Point(at.y, at.x) for at in route) for link, route in layout.routes.items()},
    )


def _arrange(
    boxes: Sequence[Box], edges: Iterable[tuple[str, str]], gap: float, breadth: float | None
) -> Layout:
    """To the right, with so much room between two layers."""
    known, repeats = _known(boxes, edges)
    whole = Layout({}, {}, {})
    alone: list[Box] = []
    top = 0.0
    for nodes, inside in _parts(known, sorted(repeats)):
        if len(nodes) == 1:
            alone.append(known[nodes[0]])
            continue
        part = _place_component([known[node] for node in nodes], inside, repeats, gap, breadth)
        top = _stack(part, known, whole, top)
    _place_alone(alone, whole, top)
    return whole


def _known(
    boxes: Sequence[Box], edges: Iterable[tuple[str, str]]
) -> tuple[dict[str, Box], dict[tuple[str, str], int]]:
    """The boxes in the order of their keys, and how often each edge between two is given."""
    known = {box.id: box for box in sorted(boxes, key=lambda box: (box.key, box.id))}
    repeats: dict[tuple[str, str], int] = {}
    for a, b in edges:
        if a in known and b in known and a != b:
            repeats[a, b] = repeats.get((a, b), 0) + 1
    return known, repeats


def _parts(
    known: Mapping[str, Box], links: Sequence[tuple[str, str]]
) -> Iterator[tuple[list[str], list[tuple[str, str]]]]:
    """The connected components with their links, largest first."""
    components = components_of(list(known), links)
    number_of = {node: number for number, nodes in enumerate(components) for node in nodes}
    own: list[list[tuple[str, str]]] = [[] for _ in components]
    for link in links:
        own[number_of[link[0]]].append(link)
    return zip(components, own, strict=True)


def _stack(part: Layout, boxes: Mapping[str, Box], whole: Layout, top: float) -> float:
    """Put a component below the placed ones; the new top."""
    first = min(point.y - boxes[node].height / 2 for node, point in part.points.items())
    last = max(point.y + boxes[node].height / 2 for node, point in part.points.items())
    through = [point.y for route in part.routes.values() for point in route]
    first, last = min([first, *through]), max([last, *through])
    down = top - first
    whole.points.update({node: Point(at.x, at.y + down) for node, at in part.points.items()})
    whole.widths.update(part.widths)
    for link, route in part.routes.items():
        whole.routes[link] = tuple(Point(at.x, at.y + down) for at in route)
    return top + (last - first) + COMPONENT_GAP


def _place_alone(alone: Sequence[Box], whole: Layout, top: float) -> None:
    """Boxes without edges go into a grid below the rest, in reading order."""
    columns = max(1, min(6, round(len(alone) ** 0.5)))
    width = max((box.width for box in alone), default=0.0)
    y = top
    for row in batched(alone, columns):
        height = max(box.height for box in row)
        for place, box in enumerate(row):
            x = place * (width + LAYER_GAP / 2) + width / 2
            whole.points[box.id] = Point(x, y + height / 2)
            whole.widths[box.id] = width
        y += height + ROW_GAP


def _place_component(
    boxes: Sequence[Box],
    links: Sequence[tuple[str, str]],
    repeats: Mapping[tuple[str, str], int],
    gap: float,
    breadth: float | None,
) -> Layout:
    forward = without_cycles([box.id for box in boxes], links)
    grid = _Grid(boxes, forward, _ranks(boxes, forward, breadth), repeats)
    grid.order()
    return grid.place(links, gap, breadth)


class _Grid:
    """Layers of cells: boxes, and the waypoints of edges that cross several layers."""

    def __init__(
        self,
        boxes: Sequence[Box],
        links: Sequence[tuple[str, str]],
        layer_of: Mapping[str, int],
        repeats: Mapping[tuple[str, str], int],
    ) -> None:
        self.boxes = {box.id: box for box in boxes}
        self.height = {box.id: box.height for box in boxes}
        self.waypoints: dict[tuple[str, str], list[str]] = {}
        first = min(layer_of.values())
        self.layers: list[list[str]] = [[] for _ in range(max(layer_of.values()) - first + 1)]
        for box in boxes:
            self.layers[layer_of[box.id] - first].append(box.id)
        self.before: dict[str, list[str]] = {box.id: [] for box in boxes}
        self.after: dict[str, list[str]] = {box.id: [] for box in boxes}
        for a, b in links:
            edges = repeats.get((a, b), 0) + repeats.get((b, a), 0)
            height = EDGE_GAP * min(max(1, edges), _MOST_BUNDLED)
            self._connect(a, b, range(layer_of[a] - first + 1, layer_of[b] - first), height)

    def _connect(self, a: str, b: str, between: range, height: float) -> None:
        last = a
        for layer in between:
            waypoint = f"{a}\0{b}\0{layer}"
            self.layers[layer].append(waypoint)
            self.waypoints.setdefault((a, b), []).append(waypoint)
            self.before[waypoint], self.after[waypoint] = [], []
            self.height[waypoint] = height
            self._link(last, waypoint)
            last = waypoint
        self._link(last, b)

    def _link(self, a: str, b: str) -> None:
        self.after[a].append(b)
        self.before[b].append(a)

    def order(self) -> None:
        """The order of the cells in each layer in which few edges cross."""
        cells = [cell for layer in self.layers for cell in layer]
        number = {cell: place for place, cell in enumerate(cells)}
        after = [[number[near] for near in self.after[cell]] for cell in cells]
        layers = ordered([[number[cell] for cell in layer] for layer in self.layers], after)
        self.layers = [[cells[place] for place in layer] for layer in layers]

    # coordinates

    def place(self, links: Iterable[tuple[str, str]], gap: float, breadth: float | None) -> Layout:
        """``links`` as they were given: the route of one that was turned round runs back. ``gap``
        is the room between two layers; layers that fit stay inside ``breadth``.
        """
        widths = self._layer_widths()
        x = _centres(widths, gap)
        y = self._rows()
        gaps = [self._distances(layer) for layer in self.layers]
        for round_number in range(_STRAIGHTENING_ROUNDS):
            self._straighten(y, self.before if round_number % 2 == 0 else self.after, gaps, breadth)
        points = {
            cell: Point(x[index], y[cell])
            for index, layer in enumerate(self.layers)
            for cell in layer
        }
        routes = {}
        for a, b in links:
            if (a, b) in self.waypoints:
                routes[a, b] = tuple(points[cell] for cell in self.waypoints[a, b])
            elif (b, a) in self.waypoints:
                routes[a, b] = tuple(points[cell] for cell in reversed(self.waypoints[b, a]))
        return Layout(
            {cell: point for cell, point in points.items() if cell in self.boxes},
            {
                cell: width
                for layer, width in zip(self.layers, widths, strict=True)
                for cell in layer
                if cell in self.boxes
            },
            routes,
        )

    def _layer_widths(self) -> list[float]:
        return [
            max((self.boxes[cell].width for cell in layer if cell in self.boxes), default=0.0)
            for layer in self.layers
        ]

    def _rows(self) -> dict[str, float]:
        """Layers packed and centred on one line, as a start."""
        y: dict[str, float] = {}
        for layer in self.layers:
            gaps = [*self._gaps(layer), 0.0]
            top = -(sum(self.height[cell] for cell in layer) + sum(gaps)) / 2
            for cell, gap in zip(layer, gaps, strict=True):
                y[cell] = top + self.height[cell] / 2
                top += self.height[cell] + gap
        return y

    def _gaps(self, layer: Sequence[str]) -> list[float]:
        """Between each cell and the next: edges may run closer to each other than boxes stand."""
        return [
            ROW_GAP if a in self.boxes or b in self.boxes else _WAYPOINT_GAP
            for a, b in pairwise(layer)
        ]

    def _distances(self, layer: Sequence[str]) -> list[float]:
        """Between the middles of each cell and the next."""
        return [
            (self.height[a] + self.height[b]) / 2 + gap
            for (a, b), gap in zip(pairwise(layer), self._gaps(layer), strict=True)
        ]

    def _straighten(
        self,
        y: dict[str, float],
        beside: Mapping[str, list[str]],
        distances: Sequence[Sequence[float]],
        breadth: float | None,
    ) -> None:
        """Move each cell towards the mean of its neighbours, keeping order and gaps."""
        for layer, gaps in zip(self.layers, distances, strict=True):
            wanted: list[float] = []
            for cell in layer:
                near = beside[cell]
                if len(near) == 1:
                    wanted.append(y[near[0]])
                else:
                    wanted.append(sum([y[n] for n in near]) / len(near) if near else y[cell])
            places = _spread(wanted, gaps)
            if breadth is not None and layer:
                rims = (self.height[layer[0]] / 2, self.height[layer[-1]] / 2)
                places = _within(places, gaps, rims, breadth)
            y.update(zip(layer, places, strict=True))


def _centres(widths: Iterable[float], gap: float) -> list[float]:
    centres = []
    left = 0.0
    for width in widths:
        centres.append(left + width / 2)
        left += width + gap
    return centres


def _spread(wanted: Sequence[float], gaps: Sequence[float]) -> list[float]:
    """The places nearest to ``wanted`` (least squares) that keep order and gaps.

    Pool adjacent violators: taking the gaps off turns it into isotonic regression.
    """
    offset = 0.0
    offsets = [0.0]
    for gap in gaps:
        offset += gap
        offsets.append(offset)
    blocks: list[tuple[float, int]] = []  # (sum, count)
    for value, shift in zip(wanted, offsets, strict=True):
        total, count = value - shift, 1
        while blocks and blocks[-1][0] / blocks[-1][1] > total / count:
            other, size = blocks.pop()
            total, count = total + other, count + size
        blocks.append((total, count))
    flat = [total / count for total, count in blocks for _ in range(count)]
    return [value + shift for value, shift in zip(flat, offsets, strict=True)]


def _within(
    places: Sequence[float], gaps: Sequence[float], rims: tuple[float, float], breadth: float
) -> list[float]:
    """Spread places moved into a breadth around zero, the least that they must; order and gaps
    stay. A layer that is broader stands in the middle.
    """
    offsets = [0.0, *accumulate(gaps)]
    first, last = rims[0] - breadth / 2, breadth / 2 - rims[1] - offsets[-1]
    if first > last:
        first = last = (first + last) / 2
    return [
        min(last, max(first, place - offset)) + offset
        for place, offset in zip(places, offsets, strict=True)
    ]


# How large a box is drawn for its name: pixels of an unscaled canvas. Pure.
#
# Names stand whole on at most two lines. The widths of letters are those of a wide bold face, so
# that a name fits in the faces of other systems too; the page breaks the lines by the same rule
# (``linesOf`` of the page), measured in its own face.

#: Height of the letters of a name and of a column: the page has the same (``shapes.js``).
TITLE_LETTERS: Final = 15.0
ROW_LETTERS: Final = 14.0
ROW_HEIGHT: Final = 22.0
#: From this zoom on names are 11 pixels high on the screen.
LEGIBLE: Final = 11 / TITLE_LETTERS
#: Height of a box whose name has one line, and what a second one adds.
_HEIGHT: Final = 42.0
_LINE: Final = 17.0
_MIN_WIDTH: Final = 130.0
_MAX_WIDTH: Final = 280.0
#: A name that is wider than this has two lines: ranks are narrow, and heights are used.
_BREAKS_FROM: Final = 150.0
#: Where heights lack, top down in a window: as far as the widest box allows.
LONG_LINE: Final = 224.0
#: Room for the rims and the glyph beside a name, and for the rims of a column.
_BESIDE_NAME: Final = 56.0
_BESIDE_ROW: Final = 44.0
_LONGEST: Final = 200  # characters of a name that are looked at
_NARROW: Final = frozenset("ijlI.,:;'|/()[]! ")
_SLIM: Final = frozenset('frtsJ_-*"`')
_WIDE: Final = frozenset("mwMW@%")
#: A name is broken behind a separator, or before a capital: ``daily_|revenue``, ``Daily|Revenue``.
_PARTS: Final = re.compile(r"[^\s_.:/-]*?(?:[\s_.:/-]+|(?<=[a-z0-9])(?=[A-Z])|$)")


@dataclass(frozen=True, slots=True)
class Size:
    """``title`` is the height of the part with the name; of a box without columns all of it."""

    width: float
    height: float
    title: float


def size_of(label: str, rows: Collection[float] = (), line: float = _BREAKS_FROM) -> Size:
    """The box of a table, a job or a step of a plan, with ``rows`` of these widths for the columns
    in it. A name that is wider than ``line`` has two lines.
    """
    longest, lines = _broken(label[:_LONGEST], line)
    title = _HEIGHT + (lines - 1) * _LINE
    width = max(_MIN_WIDTH, longest + _BESIDE_NAME, *rows)
    below = len(rows) * ROW_HEIGHT + 8 if rows else 0.0
    return Size(round(min(_MAX_WIDTH, width)), title + below, title)


def row_width(name: str) -> float:
    """How wide a box must be for the row of a column with this name."""
    return text_width(name[:_LONGEST], ROW_LETTERS) + _BESIDE_ROW


def text_width(text: str, letters: float) -> float:
    """How much room a text needs in bold letters of this height."""
    return letters * sum(map(_em, text))


def _broken(label: str, line: float) -> tuple[float, int]:
    """The width of the longest line and the number of lines."""
    whole = text_width(label, TITLE_LETTERS)
    if whole <= line:
        return whole, 1
    widths = [text_width(part, TITLE_LETTERS) for part in _PARTS.findall(label) if part]
    first, best = 0.0, whole
    for width in widths[:-1]:
        first += width
        best = min(best, max(first, whole - first))
    return best, 2


def _em(letter: str) -> float:
    if letter in _NARROW:
        return 0.38
    if letter in _SLIM:
        return 0.53
    if letter in _WIDE or unicodedata.east_asian_width(letter) in "WF":
        return 1.03
    return 0.78 if letter.isupper() else 0.7
