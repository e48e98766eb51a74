"""Proof of the journal that a catalogue was made from, and of its position there.

    round n   catalogue: rows, Origin(journal, n, position)     one transaction
              journal:   states, round n                        the next one

A crash between the two leaves the catalogue one round ahead, and the projector repeats the round.
Any other difference means a file that was lost, restored or replaced by hand: the projector makes
the catalogue anew from the journal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from graph_model.stores.catalogue.tables import origins
from graph_model.stores.journal import Journal

#: The journal's note whether the catalogue has everything: FILLING from when it is emptied until
#: it is WHOLE again.
CATALOGUE_KEY: Final = "catalogue"
FILLING: Final = "filling"
WHOLE: Final = "whole"
ROUND_KEY: Final = "catalogue_round"
"""The journal's setting for the number of the last round that it has concluded."""


def is_catalogue_whole(journal: Journal) -> bool:
    """Whether the catalogue in force has had everything since it was emptied last."""
    return journal.get_meta(CATALOGUE_KEY) != FILLING


@dataclass(frozen=True, slots=True)
class Origin:
    """The journal that a catalogue was made from: its id, the number of the projector's last round
    in the catalogue, and the position of the newest document in it (``catalogue.origin``).
    """

    journal: str
    round: int
    position: int


def read_origin(connection: Connection) -> Origin | None:
    """None for a catalogue that was never stamped, or was emptied."""
    row = connection.execute(sa.select(origins)).first()
    return None if row is None else Origin(*row)


def stamp(connection: Connection, origin: Origin) -> None:
    """Note the origin of the rows of this transaction; the position never goes back."""
    known = read_origin(connection)
    values = {"journal": origin.journal, "round": origin.round, "position": origin.position}
    if known is None:
        connection.execute(origins.insert(), values)
        return
    if known.journal == origin.journal:
        values["position"] = max(known.position, origin.position)
    connection.execute(origins.update().values(values))


def mismatch_with(origin: Origin | None, journal: str, concluded: int, newest: int) -> str | None:
    """The reason for which a catalogue does not match this journal as it is now; None if it does.

    ``concluded`` is the last round of the journal, ``newest`` the position of its newest document.
    """
    if origin is None:
        return "it was missing or empty"
    if origin.journal != journal:
        return f"it was made from another journal ({origin.journal[:8]}, this one is {journal[:8]})"
    if origin.round < concluded:
        return f"it is older than the journal: round {origin.round:,} of {concluded:,}"
    if origin.round > concluded + 1 or origin.position > newest:
        return (
            f"it is newer than the journal: round {origin.round:,} and document"
            f" {origin.position:,}, the journal has {concluded:,} and {newest:,}"
        )
    return None
