"""The catalogue's rows of a rebuild -> the database of a service, as its catalogue in force."""

from __future__ import annotations

import sys
from collections.abc import Callable

from graph_model.errors import ConfigurationError, InvalidInput
from graph_model.projection.projector import EPOCH_KEY
from graph_model.projection.runs.carried_runs import RUNS_KEY
from graph_model.stores.bodies import LargeBodies, open_bodies
from graph_model.stores.database import Database, claim_database
from graph_model.stores.documents import DocumentState
from graph_model.stores.journal import NEW_KEY, Journal, read_meta
from graph_model.stores.journal.large_bodies import PLACE_KEY, keep_large
from graph_model.stores.opening import open_generations, open_journal
from pipeline.output.loading import load_rows
from pipeline.output.manifest import Manifest
from pipeline.output.result import Result

Say = Callable[[str], None]


def place_catalogue(result: Result, database: Database, say: Say, *, in_force: bool) -> str:
    """Load all rows into the next catalogue of this database; the hash over it.

    With ``in_force`` it takes the place of the one in force, documents that came after the rebuild
    are projected by the next service, and no others. No service may run on the database.
    Raises InvalidInput for rows of other tables than this Headwater's, or of another number.
    """
    manifest = result.manifest()
    if place := read_meta(database, PLACE_KEY):  # no body is read or written here
        keep_large(database, LargeBodies(open_bodies(place), sys.maxsize))
    journal = open_journal(database)
    generations = open_generations(database, journal)
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
