"""API keys: the clients and people of a Headwater, and their roles.

    hw_3f9c21ab77e0_q5mQ…     the text that a caller sends: prefix, id, secret
    id, may be seen  secret, 32 random bytes in base64url

The secret is shown once: only its SHA-256 is kept (a random secret needs no salt and no slow
hash). Keys are rows of the relational database, so several processes see the same ones, and a
revoked key ends at once. Rows are never deleted: a principal in the journal keeps its meaning.

A key may also sign requests as clients of AWS do. Its signing secret is not kept: it is computed
from the key of this installation, which is neither in the database nor in a backup.

In a backup a key is a line, its row, which holds no secret:

    {"key": {"id": "3f9c21ab77e0", "name": "jobs", "roles": "producer", "digest": "…", …}}

A key that the database holds already stays as it is: a key that was revoked after the backup stays
revoked.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import re
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from graph_model.errors import ConfigurationError, InvalidInput, NotFound, Unavailable
from graph_model.stores.database import StoredText, insert_new, prepare, read, write
from graph_model.values import ROLES, Role

RESERVED_NAMES: Final = frozenset({"anonymous", "console"})
"""Principals without a key: a key with such a name would look like one of them."""

SECRET_BYTES: Final = 32
_INSTALLATION_BYTES: Final = 32
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
    ``last_four`` the text's end. ``signs``: it may sign requests in the place of sending its text.
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
    signs: bool = False

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
    signs: bool = False

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
        signs=wanted.signs,
    )
    return NewKey(key, text)


def digest(text: str) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def id_of(text: str) -> str | None:
    """The id inside a key's text; None for a text that is no key."""
    match = _TEXT.fullmatch(text) if len(text) <= _MOST_TEXT else None
    return match.group(1) if match else None


def signing_secret(installation: bytes, identifier: str) -> str:
    """The secret with which the key of this id signs, from the key of the installation."""
    secret = hmac.digest(installation, f"headwater signing {identifier}".encode(), "sha256")
    return base64.urlsafe_b64encode(secret).decode("ascii").rstrip("=")


def read_installation(file: Path) -> bytes | None:
    """The key of the installation in a file; None where there is no whole one."""
    try:
        with file.open("rb") as opened:
            text = opened.read(_INSTALLATION_BYTES * 2 + 2).strip()
        key = bytes.fromhex(text.decode("ascii"))
    except (OSError, ValueError):
        return None
    return key if len(key) == _INSTALLATION_BYTES else None


def make_installation(file: Path, random: bytes) -> bytes:
    """The key in the file, which is made from 32 random bytes, for its owner alone, if there is
    none. Raises ConfigurationError for a file that cannot be made or holds no key.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        opened = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(opened, "w", encoding="ascii") as made:
            made.write(random.hex() + "\n")
    except FileExistsError:
        pass
    except OSError as error:
        raise ConfigurationError(f"the signing key cannot be made in {file}: {error}") from error
    key = read_installation(file)
    if key is None:
        raise ConfigurationError(f"{file}: expected {_INSTALLATION_BYTES} bytes in hex")
    return key


def masked(text: str) -> str:
    """Any text with the secrets of keys hidden: ``hw_3f9c21ab77e0_*****``."""
    return _IN_TEXT.sub(r"hw_\1_*****", text) if "hw_" in text else text


# --- the table -----------------------------------------------------------------------------------

VERSION: Final = 3

metadata = sa.MetaData()

api_keys = sa.Table(
    "api_keys",
    metadata,
    sa.Column("id", StoredText(), primary_key=True),
    sa.Column("name", StoredText(), nullable=False, unique=True),
    sa.Column("roles", StoredText(), nullable=False),  # sorted, with commas
    sa.Column("scope", StoredText(), nullable=False),
    sa.Column("rate_per_minute", sa.Integer, nullable=False),  # 0: no limit
    sa.Column("digest", StoredText(), nullable=False),
    sa.Column("last_four", StoredText(), nullable=False),
    sa.Column("created_at", sa.BigInteger, nullable=False),  # epoch ms
    sa.Column("revoked_at", sa.BigInteger),
    # Keys of version 1 have their scope as their boundary.
    sa.Column("any_scope", sa.Integer, nullable=False, server_default="0"),  # 0 or 1
    sa.Column("signs", sa.Integer, nullable=False, server_default="0"),  # 0 or 1
)

_NOBODY: Final = Key("", "", frozenset(), "", 0, digest(""), "", 0, 0)
"""Compared with where no key has the id, so that an unknown id takes as long as a wrong secret."""


class SqlKeys:
    """The table ``api_keys`` of an engine from ``open_database``.

    Several threads may share one, several processes the database. Every method may raise
    Unavailable; the constructor raises ConfigurationError for a database that it cannot use.
    ``believed_seconds`` is how long a service without keys relies on its last look for the first
    key: it needs one before every request.
    """

    def __init__(self, engine: Engine, *, believed_seconds: float = 0.0) -> None:
        prepare(engine, "keys", VERSION, metadata)
        self._engine = engine
        self._some = False
        self._believed_seconds = believed_seconds
        self._believed_until = 0.0

    def exist(self) -> bool:
        """Whether a key was ever made; revoking the last one does not change that."""
        if not self._some and time.monotonic() >= self._believed_until:
            # No key is ever deleted, so only the answer no is asked again.
            with read(self._engine, Unavailable) as connection:
                row = connection.execute(sa.select(api_keys.c.id).limit(1)).first()
            self._believed_until = time.monotonic() + self._believed_seconds
            if row is not None:  # else another thread may have added one meanwhile
                self._some = True
        return self._some

    def find(self, text: str) -> Key | None:
        """The key of this text; None for an unknown, a wrong and a revoked one alike."""
        identifier = id_of(text)
        if identifier is None:
            return None
        asked = sa.select(api_keys).where(api_keys.c.id == identifier)
        with read(self._engine, Unavailable) as connection:
            row = connection.execute(asked).first()
        key = _NOBODY if row is None else _key(row)
        return key if key.proves(text) else None

    def signer(self, identifier: str) -> Key | None:
        """The key of this id that may sign; None for an unknown and a revoked one."""
        asked = sa.select(api_keys).where(api_keys.c.id == identifier, api_keys.c.signs == 1)
        with read(self._engine, Unavailable) as connection:
            row = connection.execute(asked).first()
        return None if row is None or row.revoked_at is not None else _key(row)

    def add(self, key: Key) -> None:
        """Keep a new key. Raises InvalidInput when the name was given before, to whomever."""

        def work(connection: Connection) -> bool:
            connection.execute(insert_new(connection, api_keys), _row(key))
            kept = sa.select(api_keys.c.digest).where(api_keys.c.name == key.name)
            return connection.execute(kept).scalar() == key.digest

        if not write(self._engine, work, Unavailable):
            raise InvalidInput(
                f"name {key.name!r} is or was the name of a key; a name is never used twice, "
                "because receipts name the key"
            )
        self._some = True

    def revoke(self, name_or_id: str, now: int) -> Key:
        """End a key at this time (epoch ms); one that has ended stays as it is.

        Raises NotFound.
        """
        return self._change(name_or_id, revoked_at=now)

    def allow(self, name_or_id: str, *, any_scope: bool) -> Key:
        """Let a key name any capture scope, or its own alone; one that has ended stays as it is.

        Raises NotFound.
        """
        return self._change(name_or_id, any_scope=int(any_scope))

    def _change(self, name_or_id: str, **values: int) -> Key:
        chosen = sa.or_(api_keys.c.name == name_or_id, api_keys.c.id == name_or_id)

        def work(connection: Connection) -> Any:
            row = connection.execute(sa.select(api_keys).where(chosen)).first()
            if row is not None and row.revoked_at is None:
                own = api_keys.c.id == row.id
                connection.execute(api_keys.update().where(own).values(**values))
                row = connection.execute(sa.select(api_keys).where(own)).one()
            return row

        row = write(self._engine, work, Unavailable)
        if row is None:
            raise NotFound("key", name_or_id)
        return _key(row)

    def list(self) -> tuple[Key, ...]:
        """Every key, oldest first, revoked ones too."""
        asked = sa.select(api_keys).order_by(api_keys.c.created_at, api_keys.c.id)
        with read(self._engine, Unavailable) as connection:
            return tuple(_key(row) for row in connection.execute(asked))


def _row(key: Key) -> dict[str, Any]:
    """A column has the name of its field."""
    return {
        **asdict(key),
        "roles": ",".join(sorted(role.value for role in key.roles)),
        "any_scope": int(key.any_scope),
        "signs": int(key.signs),
    }


def _key(row: sa.Row[Any]) -> Key:
    fields = dict(row._mapping)
    fields["roles"] = frozenset(Role(role) for role in row.roles.split(","))
    return Key(**fields | {"any_scope": bool(row.any_scope), "signs": bool(row.signs)})


# --- lines of a backup ---------------------------------------------------------------------------

_NUMBERS = ("rate_per_minute", "created_at", "any_scope", "signs")
_ADDED = {"any_scope": 0, "signs": 0}
"""Fields that a backup of an earlier version lacks."""


def key_lines(connection: Connection) -> Iterator[dict[str, Any]]:
    """A line for each key, oldest first; none if the table of keys was never made.

    A table of an earlier version, which no service of this one has opened yet, lacks columns.
    """
    inspector = sa.inspect(connection)
    if not inspector.has_table(api_keys.name):
        return
    names = {column["name"] for column in inspector.get_columns(api_keys.name)}
    present = [column for column in api_keys.columns if column.name in names]
    asked = sa.select(*present).order_by(api_keys.c.created_at, api_keys.c.id)
    for row in connection.execute(asked):
        yield {"key": dict(row._mapping)}


def checked_key(values: Any) -> dict[str, Any]:
    """The row of a line's key. Raises ValueError, KeyError or TypeError for an invalid line."""
    row = {column.name: {**_ADDED, **values}[column.name] for column in api_keys.columns}
    texts = [row[name] for name in ("id", "name", "roles", "scope", "digest", "last_four")]
    numbers = [row[name] for name in _NUMBERS]
    if not all(isinstance(text, str) for text in texts) or not all(map(_is_whole, numbers)):
        raise ValueError("its key has a field of another type")
    if row["revoked_at"] is not None and not _is_whole(row["revoked_at"]):
        raise ValueError("its key is revoked at no time")
    for role in row["roles"].split(","):
        Role(role)
    return row


def insert_keys(connection: Connection, rows: list[dict[str, Any]]) -> None:
    """Keep these keys; one whose id or name is known stays as it is."""
    if rows:
        connection.execute(insert_new(connection, api_keys), rows)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
