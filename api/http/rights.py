"""The role that a request to a route needs: its blueprint names one of these rights.

    blueprint = Blueprint("openlineage", __name__, access=REPORTING)

A blueprint that names none is read by readers and changed by admins, so a new route is closed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from graph_model.stores.roles import Role

_READING: Final = frozenset({"GET", "HEAD"})


@dataclass(frozen=True, slots=True)
class RouteAccess:
    """The role that reads, and the one that does anything else. None: no key is needed."""

    reading: Role | None
    changing: Role | None

    def needed(self, method: str) -> Role | None:
        """The role for a request with this method; an admin has it, too."""
        return self.reading if method in _READING else self.changing


OPEN: Final = RouteAccess(None, None)
"""Probes and files, which hold no lineage."""

READING: Final = RouteAccess(Role.READER, Role.ADMIN)
ASKING: Final = RouteAccess(Role.READER, Role.READER)
"""A question with a body, which changes nothing."""

REPORTING: Final = RouteAccess(Role.PRODUCER, Role.PRODUCER)
"""Takes documents, the agents' handshake included."""

DECLARING: Final = RouteAccess(Role.READER, Role.PRODUCER)
"""A client that may report lineage may declare it."""
