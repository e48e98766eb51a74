"""A key, the making and the parsing of its text. Pure: randomness comes as an argument.

hw_3f9c21ab77e0_q5mQ…     the text that a caller sends: prefix, id, secret
id, may be seen  secret, 32 random bytes in base64url
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from dataclasses import dataclass
from typing import Final

from graph_model.errors import InvalidInput
from graph_model.stores.roles import ROLES, Role

RESERVED_NAMES: Final = frozenset({"anonymous", "console"})
"""Principals without a key: a key with such a name would look like one of them."""

SECRET_BYTES: Final = 32
ID_BYTES: Final = 6
MOST_REQUESTS_A_MINUTE: Final = 1_000_000
_MOST_SCOPE: Final = 200
_MOST_TEXT: Final = 200
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_TEXT: Final = re.compile(r"hw_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
_IN_TEXT: Final = re.compile(r"\bhw_([0-9a-f]{12})_[A-Za-z0-9_-]{6,}")


@dataclass(frozen=True, slots=True)
class Key:
    """A key as it is kept. ``created_at`` and ``revoked_at`` are epoch milliseconds.

    ``scope`` is the capture scope of its documents, and ``any_scope`` allows them to name others;
    ``rate_per_minute`` 0 is no limit; ``digest`` the SHA-256 of the whole text in hex,
    ``last_four`` the text's end.
    """

    id: str
    name: str
    roles: frozenset[Role]
    scope: str
    rate_per_minute: int
    digest: str
    last_four: str
    created_at: int
    revoked_at: int | None = None
    any_scope: bool = False

    def proves(self, text: str) -> bool:
        """Whether this text is the key's own; takes the same time whatever is wrong with it."""
        return hmac.compare_digest(self.digest, digest(text)) and self.revoked_at is None


@dataclass(frozen=True, slots=True)
class KeyRequest:
    """The fields of a new key; :meth:`checked` refuses invalid ones."""

    name: str
    roles: frozenset[Role]
    scope: str = ""
    rate_per_minute: int = 0
    any_scope: bool = False

    def checked(self) -> KeyRequest:
        """Itself; raises InvalidInput with the field and the expected value."""
        if not _NAME.fullmatch(self.name) or self.name in RESERVED_NAMES:
            raise InvalidInput(
                f"name {self.name[:80]!r}: expected up to 64 letters, digits, dots, dashes and "
                f"underscores, and none of {', '.join(sorted(RESERVED_NAMES))}"
            )
        if not self.roles:
            raise InvalidInput(f"roles: expected at least one of {', '.join(ROLES)}")
        if len(self.scope) > _MOST_SCOPE or not self.scope.isprintable():
            raise InvalidInput(f"scope: expected up to {_MOST_SCOPE} printable characters")
        if not 0 <= self.rate_per_minute <= MOST_REQUESTS_A_MINUTE:
            raise InvalidInput(
                f"rate: expected 0 (no limit) to {MOST_REQUESTS_A_MINUTE} requests a minute"
            )
        return self


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key just made, with its text: which is shown only this once."""

    key: Key
    text: str

    def __repr__(self) -> str:
        return f"NewKey({self.key.name!r}, {masked(self.text)!r})"


def make_key(request: KeyRequest, random: bytes, now: int) -> NewKey:
    """A key from ID_BYTES + SECRET_BYTES random bytes. Raises InvalidInput."""
    if len(random) != ID_BYTES + SECRET_BYTES:
        raise ValueError(f"expected {ID_BYTES + SECRET_BYTES} random bytes")
    wanted = request.checked()
    identifier = random[:ID_BYTES].hex()
    secret = base64.urlsafe_b64encode(random[ID_BYTES:]).decode("ascii").rstrip("=")
    text = f"hw_{identifier}_{secret}"
    key = Key(
        id=identifier,
        name=wanted.name,
        roles=wanted.roles,
        scope=wanted.scope.strip(),
        rate_per_minute=wanted.rate_per_minute,
        digest=digest(text),
        last_four=text[-4:],
        created_at=now,
        any_scope=wanted.any_scope,
    )
    return NewKey(key, text)


def digest(text: str) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def id_of(text: str) -> str | None:
    """The id inside a key's text; None for a text that is no key."""
    found = _TEXT.fullmatch(text) if len(text) <= _MOST_TEXT else None
    return found.group(1) if found else None


def masked(text: str) -> str:
    """Any text with the secrets of keys hidden: ``hw_3f9c21ab77e0_*****``."""
    return _IN_TEXT.sub(r"hw_\1_*****", text) if "hw_" in text else text
