"""The result of a rebuild -> a graph and a catalogue, through the stores.

For graphs without a bulk loader, and to prove that a rebuild equals the service's projection: every
file is read as Neptune's loader would read it, and the hashes of the stores are compared.

The catalogue's rows of a rebuild -> the database of a service, as its catalogue in force.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from graph_model import identity
from graph_model.errors import ConfigurationError, InvalidInput
from graph_model.facts import Facts, Row
from graph_model.projection.projector import EPOCH_KEY
from graph_model.projection.runs.window import RUNS_KEY
from graph_model.stores.bodies import LargeBodies, open_bodies
from graph_model.stores.catalogue import Catalogue, Generations
from graph_model.stores.database import Database, claim_database
from graph_model.stores.documents import DocumentState
from graph_model.stores.graph import Graph, elements_digest
from graph_model.stores.journal import NEW_KEY, Journal, read_meta
from graph_model.stores.journal.large_bodies import PLACE_KEY, keep_large
from graph_model.values import batched
from pipeline.result import Manifest, Result

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
    stored = (loaded.vertices, loaded.edges, loaded.rows, loaded.elements_digest)
    if stored != expected:
        raise InvalidInput(f"loaded {stored}, the manifest says {expected}")


def place_catalogue(result: Result, database: Database, say: Say, *, in_force: bool) -> str:
    """Load all rows into the next catalogue of this database; the hash over it.

    With ``in_force`` it takes the place of the one in force, documents that came after the rebuild
    are projected by the next service, and no others. No service may run on the database.
    Raises InvalidInput for rows of other tables than this Headwater's, or of another number.
    """
    manifest = result.manifest()
    if place := read_meta(database, PLACE_KEY):  # no body is read or written here
        keep_large(database, LargeBodies(open_bodies(place), sys.maxsize))
    journal = Journal(database)
    generations = Generations(database, journal)
    if manifest.catalogue_version != generations.version:
        raise InvalidInput(
            f"the rows are of version {manifest.catalogue_version}, this Headwater's tables of "
            f"{generations.version}: rebuild with this one"
        )
    with claim_database(database, shared=False) as alone:
        if not alone:
            raise ConfigurationError("a running Headwater uses this database: stop it first")
        catalogue = generations.begin()
        try:
            rows = load_rows(result, catalogue.copy, say)
            if rows != manifest.row_count:
                raise InvalidInput(f"{rows:,} rows, the manifest says {manifest.row_count:,}")
            digest = catalogue.digest()
            if in_force:
                generations.switch()
                _remember(journal, manifest)
                generations.drop_former()
                say("in force: the next headwater serve goes on from here")
        finally:
            generations.close()
    return digest


def _remember(journal: Journal, manifest: Manifest) -> None:
    """Note the projected position in the journal; later documents are to be projected again."""
    journal.reopen(
        states=(DocumentState.PROJECTED, DocumentState.WAITING),
        first=manifest.journal.last_position + 1,
    )
    journal.set_meta(NEW_KEY, "")  # catalogue and graph are made from it, so nothing is foreign
    journal.set_meta(EPOCH_KEY, manifest.epoch)
    journal.set_meta(RUNS_KEY, manifest.graph_runs)  # the next start compares it with its setting
