"""The promises of a graph: reads by id, level by level; writes. One hash over all its elements.

A store reads its elements in its own order, so each is hashed alone and the hashes are added up
(modulo 2^256). Adding takes constant memory, and one that comes twice shows. Equal content, equal
hash, in any order; rows of a catalogue are hashed likewise.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

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

    def edge_ids_at(self, vertex_ids: Collection[str]) -> Sequence[str]:
        """The ids of all edges at these vertices: those that leave the graph with them."""

    def scan(self) -> Iterator[Vertex | Edge]:
        """Every vertex and edge, in any order, in bounded pages: for digests and exports."""

    def count(self) -> tuple[int, int]:
        """The number of vertices and of edges."""


class GraphWriter(Protocol):
    """Writes facts. Raises GraphUnavailable (GraphTimeout) after retries, or GraphRejected."""

    @property
    def forgets(self) -> bool:
        """Whether its elements end with its server, so that the catalogue keeps them beside its
        rows. ``write`` follows that then, otherwise it precedes the rows.
        """

    def check(self, facts: Facts) -> None:
        """Before facts are kept for a graph that forgets. Raises GraphRejected where no server can
        hold one of them; writes nothing of them.
        """

    def catch_up(self) -> None:
        """Give a server that forgets what is kept and it did not take, for the one writer."""

    def write(self, facts: Facts) -> None:
        """Commit in the order of ``facts.stages``; idempotent; returns when all is committed.

        An interrupted write leaves only whole earlier stages or parts of one: never a marker of an
        incomplete plan. The rows of ``facts`` go to the catalogue, not here.
        """

    def correct(self, vertices: Collection[Vertex]) -> None:
        """Give vertices that exist these values, which a former version said otherwise; their
        edges stay.
        """

    def remove(self, vertex_ids: Collection[str], edge_ids: Collection[str]) -> None:
        """Remove edges, then vertices (with the edges still at them); unknown ids: nothing."""

    def clear(self) -> None:
        """Remove everything."""


class Graph(GraphReader, GraphWriter, Protocol):
    """Both halves, and the end of them."""

    def is_whole(self) -> bool:
        """Whether the server has what was committed; True for one that keeps its elements. For the
        one writer, between writes.
        """

    def doubt(self) -> None:
        """Another process may have committed something: a server that has only what this process
        gave it is not whole until it is restored.
        """

    def restore(self, stopping: Callable[[], bool] = ...) -> None:
        """Give a server that forgot its elements, or has others, all that was committed. Raises
        ProjectionStopped where ``stopping`` returns True in between.
        """

    def ping(self) -> None:
        """Answer, or raise GraphUnavailable."""

    def close(self) -> None:
        """Give back connections; safe to call twice."""


_MODULUS: Final = 1 << 256


def element_hash(element: Vertex | Edge) -> int:
    """SHA-256 over kind, id, label, ends and all properties of one element."""
    ends = (element.out_id, element.in_id) if isinstance(element, Edge) else ()
    text = json.dumps(
        [element.id, element.label, *ends, element.properties],
        ensure_ascii=True,
        separators=(",", ":"),
    )
    return _hash_of(text.encode())


def _hash_of(content: bytes) -> int:
    return int.from_bytes(hashlib.sha256(content).digest(), "big")


class HashSum:
    """The sum of the hashes of contents, added one by one."""

    def __init__(self) -> None:
        self._total = 0

    def add_content(self, content: bytes) -> None:
        """Add the hash of one content."""
        self._add(_hash_of(content))

    def _add(self, digest: int) -> None:
        self._total = (self._total + digest) % _MODULUS

    def digest(self) -> str:
        """64 hex digits over all that was added so far."""
        return f"{self._total:064x}"


class ElementSum(HashSum):
    """The sum of the hashes of elements."""

    def add(self, element: Vertex | Edge) -> None:
        """Add one element."""
        self._add(element_hash(element))


def elements_digest(elements: Iterable[Vertex | Edge]) -> str:
    """64 hex digits over all elements, in any order."""
    total = ElementSum()
    for element in elements:
        total.add(element)
    return total.digest()
