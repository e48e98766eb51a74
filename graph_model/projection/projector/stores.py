"""The stores that one projector reads and writes, and the producers of its documents."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from graph_model.producers.registry import Producers
from graph_model.projection.attempts import Outline
from graph_model.projection.fullness import Fullness
from graph_model.stores.catalogue import Generations
from graph_model.stores.graph import Graph
from graph_model.stores.journal import Journal


@dataclass(frozen=True, slots=True)
class ProjectionStores:
    """``fullness`` is that of an in-memory graph."""

    journal: Journal
    graph: Graph
    generations: Generations
    producers: Producers
    fullness: Fullness

    def outline(self, subject_keys: Collection[str], most: int | None = None) -> Outline:
        """Per subject the documents that its additions build on, and its new documents: at most
        ``most`` of these.
        """
        return (
            self.journal.outline(subject_keys, self.producers.bases, most) if subject_keys else {}
        )
