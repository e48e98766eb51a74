"""The roles of API keys. Console, settings and their descriptions follow from this list."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class Role(StrEnum):
    """A key has one or more; ``ADMIN`` has them all. A route names the one that it needs
    (``api.http.blueprint``).
    """

    READER = "reader"
    PRODUCER = "producer"
    ADMIN = "admin"


MAY: Final[Mapping[Role, str]] = {
    Role.READER: "read",
    Role.PRODUCER: "report",
    Role.ADMIN: "do everything",
}
ROLES: Final = tuple(role.value for role in Role)
ANONYMOUS_ROLES: Final = tuple(role.value for role in Role if role is not Role.ADMIN)
"""The roles that a caller without a key can have."""
