"""A question about lineage, what its walks read within which bounds, and its answer.

The answer carries the first bound that was met, and counts the nodes that a limit left out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from graph_model import labels
from graph_model.lineage.history.writes import LOCATION_LIMIT
from graph_model.stores.graph import Direction, GraphReader

if TYPE_CHECKING:
    from graph_model.lineage.history.history import History
    from graph_model.lineage.structure import Structure
    from graph_model.stores.catalogue import Catalogue


class Reach(StrEnum):
    """The flow that an answer follows. ``SEEN``: what reads have seen; ``IN_FORCE``: what plans in
    force read of what plans in force write, whichever ran last; ``POSSIBLE``: both.
    """

    SEEN = "seen"
    POSSIBLE = "possible"
    IN_FORCE = "in-force"


@dataclass(frozen=True, slots=True)
class Question:
    """``node`` is an id, ``at`` epoch ms (None: the end of time), ``limit`` a number of nodes.

    ``chains``: also return a shortest chain to each node downstream. ``readers``: of columns also
    one to each job that may read a column, where no document names the columns that it reads.
    ``not_seen``: of SEEN also count what POSSIBLE would add.
    """

    node: str
    direction: Direction = Direction.BOTH
    depth: int = 1
    at: int | None = None
    columns: bool = False
    indirect: bool = False
    limit: int = 500
    chains: bool = False
    readers: bool = False
    reach: Reach = Reach.SEEN
    not_seen: bool = False

    @property
    def directions(self) -> tuple[Direction, ...]:
        """The requested direction, or both."""
        if self.direction == Direction.BOTH:
            return (Direction.UPSTREAM, Direction.DOWNSTREAM)
        return (self.direction,)

    @property
    def parts(self) -> tuple[Question, ...]:
        """The questions whose answers together are the answer: one for each walk."""
        if self.reach != Reach.POSSIBLE:
            return (self,)
        return tuple(replace(self, reach=reach) for reach in (Reach.SEEN, Reach.IN_FORCE))


@dataclass(frozen=True, slots=True)
class Partial:
    """The bound that truncated an answer: ``nodes``, ``edges``, ``bytes``, ``time``, ``hub``,
    ``locations``, ``open-columns`` or ``rebuilding``.
    """

    reason: str
    limit: int


class NotSeen(NamedTuple):
    """How many tables (of an answer about columns: columns' tables) and jobs possible flow would
    add to an answer; at least so many where a bound was met (``partial``).
    """

    tables: int
    jobs: int
    partial: bool = False


class PlanUse(NamedTuple):
    """A logical plan in an answer, with those of its datasets that the answer draws.

    ``attempted``: only a failed run followed the plan, so no data flowed. ``seen`` is False for
    flow that is possible, and that no chain of the answer has seen. ``metadata``: the sources of
    which the plan reads tables about them (Iceberg's ``t.snapshots``) and no row; known where the
    question asks for chains.
    """

    logical_plan: str
    job: str
    mode: str
    sources: tuple[str, ...]
    targets: tuple[str, ...]
    attempted: bool = False
    seen: bool = True
    metadata: tuple[str, ...] = ()


Route = tuple[tuple[float, float], ...]
"""The points through which a drawn edge runs past the boxes between its ends."""


class ColumnEdge(NamedTuple):
    """One edge per (source, target, kind, how), for any number of plans.

    ``hops``: the number of steps of a chain that is drawn as one edge (``ends``). ``masking``:
    every plan behind it masks the value; of a chain of several steps it is not known. ``seen``: as
    of a PlanUse. ``joined``: no document has it, schemas of the catalogue have (``open_columns``).
    A picture marks it: with the ``jobs`` of its plans (ids), its ``route``, and whether no run is
    behind it, only a declaration.
    """

    source: str
    target: str
    kind: str
    how: str
    expression: str
    plans: tuple[str, ...]
    hops: int | None = None
    masking: bool = False
    seen: bool = True
    jobs: tuple[str, ...] = ()
    route: Route | None = None
    declared: bool = False
    joined: bool = False

    @property
    def id(self) -> str:
        return f"{self.source}-{self.target}-{self.kind}-{self.how}"


class ColumnNode(NamedTuple):
    id: str
    dataset: str  # the dataset's id
    path: str


class InfluenceCount(NamedTuple):
    """The number of columns of ``dataset`` (an id) that influence a column by ``how`` (FILTER,
    JOIN).
    """

    how: str
    dataset: str
    columns: int


Influences = tuple[InfluenceCount, ...]


class LeftOut(NamedTuple):
    """Neighbours of a drawn node that the walk found and a limit left out.

    Those of a dataset are jobs, those of a job datasets, those of a column columns; hidden ones do
    not count.
    """

    node: str
    upstream: int
    downstream: int


@dataclass(frozen=True, slots=True, order=True)
class Link:
    """A job made ``target`` (the id of a dataset or a column) from the link before it.

    ``target`` is "" where a chain ends at the job. ``kind``, ``how`` and ``expression`` are those
    of a column's derivation.
    """

    job: str
    target: str
    kind: str = ""
    how: str = ""
    expression: str = ""


class ChainFlow(StrEnum):
    """What an end of possible flow is: ``SEEN``: its data came from the start, and plans in force
    bring it again; ``NEXT``: they will at their next runs; ``PAST``: it came by plans of history.
    """

    SEEN = "seen"
    NEXT = "next"
    PAST = "past"


@dataclass(frozen=True, slots=True, order=True)
class Chain:
    """A shortest chain from ``start`` (the id of a dataset, a column or a job)."""

    start: str
    links: tuple[Link, ...]
    flow: ChainFlow = ChainFlow.SEEN

    @property
    def end(self) -> str:
        """The id of the chain's end."""
        return self.links[-1].target or self.links[-1].job

    @property
    def depth(self) -> int:
        """Steps from table to table or from column to column; 1 for a direct neighbour."""
        return len(self.links)


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question; all tuples sorted. ``as_of`` is the newest event considered.

    ``via``: the datasets and columns that only lie on the way. Each is part of a chain that was
    true at its time, but is no answer at the requested time. ``folded``: repeated runs were merged,
    so the answer contains the exact one and possibly more. ``chains``, where requested: one to each
    answer and to each job downstream, without the start. ``influences``: by column (id) the
    influences one step up, drawn or not; a column that is missing here was not examined, because
    the time limit had passed.
    """

    datasets: tuple[str, ...]
    jobs: tuple[str, ...]
    plans: tuple[PlanUse, ...]
    columns: tuple[ColumnNode, ...]
    column_edges: tuple[ColumnEdge, ...]
    as_of: int | None
    depth_asked: int
    depth_reached: int
    partial: Partial | None
    folded: bool = False
    via: tuple[str, ...] = ()
    chains: tuple[Chain, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    influences: Mapping[str, Influences] = field(default_factory=dict)
    not_seen: NotSeen | None = None


#: Edges of one label at a single vertex beyond which an answer is truncated.
HUB_LIMIT: Final = 5_000
#: Columns drawn in one answer, in addition to their tables.
COLUMN_LIMIT: Final = 20_000
#: Steps from a write to its reads that one walk may follow.
EDGE_LIMIT: Final = 100_000
#: Tables (or columns) that a downstream walk may consider before it compares times.
CANDIDATE_LIMIT: Final = 20_000
#: Characters of expressions in one answer.
TEXT_LIMIT: Final = 20_000_000


_OF_A_DATASET: Final = ("hub", "locations", labels.OPEN_COLUMNS)


class Bounds:
    """The time limit and the other bounds. ``partial`` is the first bound that was reached."""

    def __init__(self, expired: Callable[[], bool], time_limit_ms: int) -> None:
        self._expired = expired
        self._time_limit_ms = time_limit_ms
        self.partial: Partial | None = None

    def cut(self, reason: str, limit: int) -> None:
        self.partial = self.partial or Partial(reason, limit)

    def note_hub(self, cut: Collection[str]) -> None:
        if cut:
            self.cut("hub", HUB_LIMIT)

    def note_locations(self, *, cut: bool) -> None:
        if cut:
            self.cut("locations", LOCATION_LIMIT)

    def late(self) -> bool:
        """Whether the time limit has passed."""
        late = self._expired()
        if late:
            self.cut("time", self._time_limit_ms)
        return late

    def over(self) -> bool:
        """Whether to stop: the time limit has passed, or a bound was reached that is not one of a
        single dataset (``hub``, ``locations``, ``open-columns``).
        """
        self.late()
        return self.partial is not None and self.partial.reason not in _OF_A_DATASET


@dataclass(frozen=True, slots=True)
class WalkEvidence:
    """What the walks of one question read. ``structure`` is what earlier questions have read of the
    graph, ``history`` what this request has read of the catalogue; a reading that is cut is noted
    in ``bounds``.
    """

    graph: GraphReader
    catalogue: Catalogue
    history: History
    structure: Structure
    bounds: Bounds


def count_left_out(
    steps: Iterable[tuple[str, str]], drawn: Collection[str], hidden: Collection[str]
) -> tuple[LeftOut, ...]:
    """Per drawn node the number of its neighbours upstream and downstream that are not drawn,
    without the hidden ones (ids).

    ``steps`` are pairs of neighbours, in the direction of flow:

        a drawn table, read by 5,000 jobs of which 499 are drawn => 4,501 more downstream
    """
    upstream: dict[str, set[str]] = {}
    downstream: dict[str, set[str]] = {}
    for source, target in steps:
        if source in hidden or target in hidden:
            continue
        if source in drawn and target not in drawn:
            downstream.setdefault(source, set()).add(target)
        elif target in drawn and source not in drawn:
            upstream.setdefault(target, set()).add(source)
    return tuple(
        LeftOut(node, len(upstream.get(node, ())), len(downstream.get(node, ())))
        for node in sorted(upstream.keys() | downstream.keys())
    )
