"""SqlKeys: the keys in the relational database."""

from __future__ import annotations

import time
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from graph_model.errors import InvalidInput, NotFound, Unavailable
from graph_model.stores.database import insert_new, prepare, read, write
from graph_model.stores.keys.key import Key, digest, id_of
from graph_model.stores.keys.tables import VERSION, api_keys, metadata
from graph_model.stores.roles import Role

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
                found = connection.execute(sa.select(api_keys.c.id).limit(1)).first()
            self._believed_until = time.monotonic() + self._believed_seconds
            self._some = self._some or found is not None
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
    return {
        "id": key.id,
        "name": key.name,
        "roles": ",".join(sorted(role.value for role in key.roles)),
        "scope": key.scope,
        "rate_per_minute": key.rate_per_minute,
        "digest": key.digest,
        "last_four": key.last_four,
        "created_at": key.created_at,
        "revoked_at": key.revoked_at,
        "any_scope": int(key.any_scope),
    }


def _key(row: Any) -> Key:
    return Key(
        id=row.id,
        name=row.name,
        roles=frozenset(Role(role) for role in row.roles.split(",")),
        scope=row.scope,
        rate_per_minute=row.rate_per_minute,
        digest=row.digest,
        last_four=row.last_four,
        created_at=row.created_at,
        revoked_at=row.revoked_at,
        any_scope=bool(row.any_scope),
    )
