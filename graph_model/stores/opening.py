"""The journal and the catalogues on a database: the one place that chooses their classes.

Each class is imported where it is opened: a command that asks the journal alone does without the
catalogue's tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graph_model.stores.catalogue import Generations
    from graph_model.stores.database import Database
    from graph_model.stores.journal import Journal


def open_journal(database: Database) -> Journal:
    """The journal; it makes the tables that are missing.

    Raises ConfigurationError for a database that it cannot use, JournalUnavailable for one that
    does not answer.
    """
    from graph_model.stores.journal import Journal

    return Journal(database)


def open_generations(database: Database, journal: Journal) -> Generations:
    """The catalogue of this journal, and the next one; raises like ``open_journal``."""
    from graph_model.stores.catalogue import Generations

    return Generations(database, journal)
