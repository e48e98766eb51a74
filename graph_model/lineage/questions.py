"""What is asked about lineage, and what an answer holds: frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from graph_model.lineage.traces import Chain
from graph_model.store import Direction


@dataclass(frozen=True, slots=True)
class Question:
    """``node`` is an id; ``at`` epoch ms or None for the end of time; ``limit`` counts nodes.

    ``chains``: tell a shortest chain to everything that lies downstream.
    """

    node: str
    direction: Direction = Direction.BOTH
    depth: int = 1
    at: int | None = None
    columns: bool = False
    indirect: bool = False
    limit: int = 500
    chains: bool = False

    @property
    def directions(self) -> tuple[Direction, ...]:
        """The one asked for, or both."""
        if self.direction == Direction.BOTH:
            return (Direction.UPSTREAM, Direction.DOWNSTREAM)
        return (self.direction,)


@dataclass(frozen=True, slots=True)
class Partial:
    """Why an answer is not whole: ``nodes``, ``edges``, ``bytes``, ``time``, ``hub`` or
    ``rebuilding``.
    """

    reason: str
    limit: int


class PlanUse(NamedTuple):
    """A logical plan in an answer, with the datasets of it that the answer draws.

    ``attempted``: a failed run tried it; it says nothing of what flowed.
    """

    logical_plan: str
    job: str
    mode: str
    sources: tuple[str, ...]
    targets: tuple[str, ...]
    attempted: bool = False


class ColumnEdge(NamedTuple):
    """One per (source, target, kind, how), whatever number of plans stands behind it.

    ``hops``: of a chain that is drawn as one edge the number of its steps (``ends``).
    """

    source: str
    target: str
    kind: str
    how: str
    expression: str
    plans: tuple[str, ...]
    hops: int | None = None


class ColumnNode(NamedTuple):
    id: str
    dataset: str  # the dataset's id
    path: str


class InfluenceCount(NamedTuple):
    """How many columns of ``dataset`` (an id) decide over a column by ``how`` (FILTER, JOIN)."""

    how: str
    dataset: str
    columns: int


Influences = tuple[InfluenceCount, ...]


class LeftOut(NamedTuple):
    """Neighbours of a drawn node that the walk has met and a limit has left out.

    Of a dataset they are jobs, of a job datasets, of a column columns.
    """

    node: str
    upstream: int
    downstream: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What a question found; all tuples sorted. ``as_of`` is the newest event considered.

    ``via``: the datasets and columns among them that only lie on the way: part of a chain that
    was true at its time, but no answer at the time asked. ``folded``: repeated runs were taken
    together, so the answer contains the exact one and perhaps a little more. ``chains``, where
    they were asked for: one to each answer and to each job downstream, the start itself aside.
    ``influences``: by column (id) what decides over it one step up, drawn or not; a column that is
    missing was not looked at, for the time was up.
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
