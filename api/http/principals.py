"""The principal of a request, once it is allowed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from flask import g

from graph_model.errors import ForeignScope
from graph_model.stores.roles import Role

ANONYMOUS_NAME: Final = "anonymous"


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
