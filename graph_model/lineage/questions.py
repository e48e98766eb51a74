"""A question about lineage and its answer, as frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple

from graph_model.lineage.chains import Chain
from graph_model.stores.graph import Direction


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
    ``locations`` or ``rebuilding``.
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


class ColumnEdge(NamedTuple):
    """One edge per (source, target, kind, how), for any number of plans.

    ``hops``: the number of steps of a chain that is drawn as one edge (``ends``). ``masking``:
    every plan behind it masks the value; of a chain of several steps it is not known. ``seen``: as
    of a PlanUse.
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
