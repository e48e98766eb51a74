"""The promises of a graph: reads by id, level by level; writes; checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from graph_model.facts import Edge, Facts, Vertex


class Direction(StrEnum):
    """``UPSTREAM`` follows edges against the flow of data, ``DOWNSTREAM`` with it."""

    UPSTREAM = "upstream"
    DOWNSTREAM = "downstream"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class EdgePage:
    """Edges found, sorted by id. ``cut``: the requested ids that have more than the limit."""

    edges: tuple[Edge, ...]
    cut: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Per requested id the ids at the other ends, sorted; ``cut`` as in EdgePage."""

    found: Mapping[str, tuple[str, ...]]
    cut: frozenset[str] = frozenset()


class GraphReader(Protocol):
    """Reads by id, level by level. Raises GraphUnavailable (GraphTimeout) or GraphRejected."""

    def vertices(self, ids: Collection[str]) -> tuple[Vertex, ...]:
        """The vertices that exist among these ids, sorted by id, with all properties."""

    def edges(
        self,
        ids: Collection[str],
        direction: Direction,
        labels: Sequence[str],
        limit: int,
    ) -> EdgePage:
        """Edges with one of these labels at these vertices, at most ``limit`` per vertex and label.

        DOWNSTREAM: edges that leave one of ``ids`` (out_id in ids); UPSTREAM: edges that enter one.
        BOTH is refused (ValueError): call twice. The engine chooses which edges survive a cut;
        ``EdgePage.cut`` has the ids. Unknown ids have no edges.

        If ``ids`` is a sequence, they are read one after the other, and the edges of each in the
        order of ``labels``: so a marker is read before the elements that it marks, while others
        write.
        """

    def neighbours(
        self,
        ids: Collection[str],
        direction: Direction,
        label: str,
        limit: int,
        kind: str | None = None,
    ) -> Neighbours:
        """The vertices at the other ends of the edges with this label: as ``edges``, with ids
        alone. With a ``kind`` only vertices of that label count.
        """

    def scan(self) -> Iterator[Vertex | Edge]:
        """Every vertex and edge, in any order, in bounded pages: for digests and exports."""

    def count(self) -> tuple[int, int]:
        """The number of vertices and of edges."""


class GraphWriter(Protocol):
    """Writes facts. Raises GraphUnavailable (GraphTimeout) after retries, or GraphRejected."""

    def write(self, facts: Facts) -> None:
        """Commit in the order of ``facts.stages``; idempotent; returns when all is committed.

        An interrupted write leaves only whole earlier stages or parts of one: never a marker of an
        incomplete plan. The rows of ``facts`` go to the catalogue, not here.
        """

    def remove(self, vertex_ids: Collection[str], edge_ids: Collection[str]) -> None:
        """Remove edges, then vertices (with the edges still at them); unknown ids: nothing."""

    def clear(self) -> None:
        """Remove everything."""


class Graph(GraphReader, GraphWriter, Protocol):
    """Both halves, and the end of them."""

    def ping(self) -> None:
        """Answer, or raise GraphUnavailable."""

    def close(self) -> None:
        """Give back connections; safe to call twice."""


class Checkpoints(Protocol):
    """Checkpoints of an in-memory graph (the embedded engine).

    The one writer calls all methods on its own thread; only ``voided`` may be used by any thread. A
    checkpoint holds the facts of every document before a position of the journal.
    """

    def wrote(self, elements: int) -> None:
        """Note the number of elements written since."""

    def projected(self, documents: int) -> None:
        """Note the number of documents projected since, whether they wrote anything or not."""

    def note_removals(self, ids: Collection[str]) -> Mapping[str, str]:
        """Note elements that left the graph because no document supports them any more: a restored
        graph is not to have them. Returns the settings that the journal must keep in the
        transaction that ends the round; without these the note does not count.
        """

    @property
    def due(self) -> bool:
        """Whether enough has changed for a new checkpoint."""

    @property
    def overdue(self) -> bool:
        """Whether so much has changed that it must not wait for a calm moment."""

    @property
    def worth_taking(self) -> bool:
        """Whether anything has changed, so that one should be taken before the end."""

    def take(self, epoch: str, position: Callable[[], int]) -> bool:
        """Save the graph; ``position`` returns the journal's first position that may be missing in
        it. Failures are logged; the former checkpoint stays.
        """

    def voided(self) -> AbstractContextManager[None]:
        """Set the checkpoint aside: the facts of documents before its position change."""

    def restore(self, epoch: str) -> int | None:
        """Fill the empty graph. Returns the first position that is not in it, or None when there is
        no checkpoint.
        """

    def find_foreign(self) -> str | None:
        """A checkpoint that this journal does not name, for a message; None where there is none."""

    def remove_foreign(self) -> None:
        """Remove every checkpoint that this journal does not name."""


class NoCheckpoints:
    """For graphs that forget nothing."""

    due = False
    overdue = False
    worth_taking = False

    def wrote(self, elements: int) -> None:
        """Nothing is counted."""

    def projected(self, documents: int) -> None:
        """Nor this."""

    def note_removals(self, ids: Collection[str]) -> Mapping[str, str]:  # noqa: ARG002
        return {}

    def take(self, epoch: str, position: Callable[[], int]) -> bool:  # noqa: ARG002
        return False

    def voided(self) -> AbstractContextManager[None]:
        return nullcontext()

    def restore(self, epoch: str) -> int | None:  # noqa: ARG002
        return None

    def find_foreign(self) -> str | None:
        return None

    def remove_foreign(self) -> None:
        """There is none."""
