"""Who asks, and the role that a route needs of them: its blueprint names one of these rights.

    blueprint = Blueprint("openlineage", __name__, access=REPORTING)

A blueprint that names none is read by readers and changed by admins, so a new route is closed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from flask import g

from graph_model.errors import ForeignScope
from graph_model.stores.roles import Role

_READING: Final = frozenset({"GET", "HEAD"})
ANONYMOUS_NAME: Final = "anonymous"


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


@dataclass(frozen=True, slots=True)
class Principal:
    """``name`` goes onto receipts and into the log; ``scope`` is the key's capture scope.

    A scope is a boundary, unless the key may name ``any_scope``; a key without one has none.
    """

    name: str
    roles: frozenset[Role]
    scope: str = ""
    any_scope: bool = False

    def may(self, needed: Role) -> bool:
        """Whether this role is its own; an admin has every role."""
        return Role.ADMIN in self.roles or needed in self.roles

    def check_scopes(self, scopes: Iterable[str]) -> None:
        """Raises ForeignScope where a document of a request is of a scope of others."""
        if not self.scope or self.any_scope:
            return
        for scope in scopes:
            if scope != self.scope:
                raise ForeignScope(self.name, self.scope, scope)


EVERYBODY: Final = Principal(ANONYMOUS_NAME, frozenset({Role.ADMIN}))
"""Every caller, as long as no key was ever made."""


def admit(principal: Principal) -> None:
    """Set the principal of the current request."""
    g.principal = principal


def current_principal() -> Principal:
    """The principal of the current request; an unauthenticated one may do nothing."""
    principal: Principal = g.get("principal", Principal(ANONYMOUS_NAME, frozenset()))
    return principal
