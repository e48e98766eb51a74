"""The principal of a request, once it is allowed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from flask import g

from graph_model.stores.roles import Role

ANONYMOUS_NAME: Final = "anonymous"


@dataclass(frozen=True, slots=True)
class Principal:
    """``name`` goes onto receipts and into the log; ``scope`` is the key's capture scope."""

    name: str
    roles: frozenset[Role]
    scope: str = ""

    def may(self, needed: Role) -> bool:
        """Whether this role is its own; an admin has every role."""
        return Role.ADMIN in self.roles or needed in self.roles


EVERYBODY: Final = Principal(ANONYMOUS_NAME, frozenset({Role.ADMIN}))
"""Every caller, as long as no key was ever made."""


def admit(principal: Principal) -> None:
    """Set the principal of the current request."""
    g.principal = principal


def current_principal() -> Principal:
    """The principal of the current request; an unauthenticated one may do nothing."""
    principal: Principal = g.get("principal", Principal(ANONYMOUS_NAME, frozenset()))
    return principal
