"""The result of a rebuild -> a graph and a catalogue, through the protocols of the stores.

For graphs without a bulk loader, and to prove that a rebuild equals the service's projection: every
file is read as Neptune's loader would read it, and the hashes of the stores are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from graph_model import identity
from graph_model.batches import batched
from graph_model.errors import ConfigurationError, InvalidInput
from graph_model.facts import Facts, Row
from graph_model.stores.digests import elements_digest
from graph_model.stores.graph import Graph
from graph_model.stores.protocols import Catalogue
from pipeline.output.manifest import Manifest
from pipeline.output.result import Result

_ELEMENTS: Final = 5_000
_ROWS: Final = 10_000

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Loaded:
    """The content of the stores now. ``whole`` is the hash that ``headwater rebuild`` prints."""

    vertices: int
    edges: int
    rows: int
    elements_digest: str
    catalogue_digest: str

    @property
    def whole(self) -> str:
        return identity.digest(self.elements_digest, self.catalogue_digest)


def load(
    result: Result, graph: Graph, catalogue: Catalogue, say: Say, *, empty_strings: bool = True
) -> Loaded:
    """Load everything into an empty graph and an empty catalogue.

    Raises ConfigurationError if the graph or the catalogue is not empty, InvalidInput for files
    that the loader would refuse, or that differ from the manifest.
    """
    if graph.count() != (0, 0) or next(catalogue.scan(), None) is not None:
        raise ConfigurationError("the graph and the catalogue to load into must be empty")
    manifest = result.manifest()
    load_graph(result, graph, say, empty_strings=empty_strings)
    rows = load_rows(result, catalogue.record, say)
    counted = graph.count()
    loaded = Loaded(*counted, rows, elements_digest(graph.scan()), catalogue.digest())
    check(loaded, manifest)
    return loaded


def load_graph(result: Result, graph: Graph, say: Say, *, empty_strings: bool = True) -> None:
    """All vertices, then all edges: no query runs while the graph is loaded."""
    done = 0
    for vertices in batched(result.vertices(empty_strings=empty_strings), _ELEMENTS):
        graph.write(Facts(vertices=tuple(vertices)))
        done += len(vertices)
    say(f"{done:,} vertices loaded")
    done = 0
    for edges in batched(result.edges(empty_strings=empty_strings), _ELEMENTS):
        graph.write(Facts(edges=tuple(edges)))
        done += len(edges)
    say(f"{done:,} edges loaded")


def load_rows(result: Result, add: Callable[[Sequence[Row]], None], say: Say) -> int:
    """All rows, thousands in one call of ``add``, a transaction each; how many."""
    done = 0
    for rows in batched(result.rows(), _ROWS):
        add(rows)
        done += len(rows)
    say(f"{done:,} rows loaded")
    return done


def check(loaded: Loaded, manifest: Manifest) -> None:
    """Raises InvalidInput if the stores differ from the manifest."""
    expected = (*manifest.elements, manifest.row_count, manifest.elements_digest)
    found = (loaded.vertices, loaded.edges, loaded.rows, loaded.elements_digest)
    if found != expected:
        raise InvalidInput(f"loaded {found}, the manifest says {expected}")
