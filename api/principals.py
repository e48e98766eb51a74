"""Who a request speaks for, once it has been let in."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from flask import g

from graph_model.keys import Key, Role

ANONYMOUS_NAME: Final = "anonymous"
CONSOLE_NAME: Final = "console"
"""Whoever runs a command on the data folder itself."""


@dataclass(frozen=True, slots=True)
class Principal:
    """``name`` goes onto receipts and into the log; ``scope`` is the key's capture scope."""

    name: str
    roles: frozenset[Role]
    scope: str = ""

    def may(self, needed: Collection[Role]) -> bool:
        """Whether one of these roles is its own; an admin has every role."""
        return Role.ADMIN in self.roles or not self.roles.isdisjoint(needed)


EVERYBODY: Final = Principal(ANONYMOUS_NAME, frozenset({Role.ADMIN}))
"""Every caller, as long as no key was ever made."""


def principal_of(key: Key) -> Principal:
    """The principal that a key stands for."""
    return Principal(key.name, key.roles, key.scope)


def admit(principal: Principal) -> None:
    """The current request speaks for this principal."""
    g.principal = principal


def current_principal() -> Principal:
    """Who the current request speaks for; one that nobody has let in may do nothing."""
    principal: Principal = g.get("principal", Principal(ANONYMOUS_NAME, frozenset()))
    return principal
