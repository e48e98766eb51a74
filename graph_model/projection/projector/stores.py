"""The stores that one projector reads and writes, and the producers of its documents."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from graph_model.producers.registry import Producers
from graph_model.projection.attempts import Outline
from graph_model.stores.protocols import Checkpoints, Generations, Graph, Journal


@dataclass(frozen=True, slots=True)
class ProjectionStores:
    """``checkpoints`` are those of an in-memory graph."""

    journal: Journal
    graph: Graph
    generations: Generations
    checkpoints: Checkpoints
    producers: Producers

    def outline(self, plan_ids: Collection[str]) -> Outline:
        """Of each the documents that its additions build on, and the new ones."""
        return self.journal.outline(plan_ids, self.producers.bases) if plan_ids else {}

    def void_checkpoint(self) -> None:
        """Something that it holds is about to change: the next start is not to begin with it."""
        with self.checkpoints.voided():
            pass
