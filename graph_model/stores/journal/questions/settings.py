"""The values that a journal keeps by their keys."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from graph_model.errors import JournalUnavailable
from graph_model.stores.database import PreparedStatement, write
from graph_model.stores.journal.document_states import replace_value, set_value
from graph_model.stores.journal.questions.connection import JournalConnection
from graph_model.stores.journal.tables import meta

_META: Final = PreparedStatement(
    sa.select(meta.c.value).where(meta.c.key == sa.bindparam("asked", required=True))
)
_EVERY_META: Final = sa.select(meta.c.key, meta.c.value)


class SqlJournalSettings(JournalConnection):
    """See ``protocols.journal.JournalSettings``."""

    def get_every_meta(self) -> dict[str, str]:
        with self._read() as connection:
            return {row.key: row.value for row in connection.execute(_EVERY_META)}

    def get_meta(self, key: str) -> str | None:
        with self._read() as connection:
            found = _META.rows(connection, {"asked": key})
        return str(found[0][0]) if found else None

    def set_meta(self, key: str, value: str) -> None:
        """Durable on return."""
        write(self._engine, lambda c: set_value(c, key, value), JournalUnavailable)

    def replace_meta(self, key: str, former: str | None, value: str) -> bool:
        """Durable on return."""
        return write(
            self._engine, lambda c: replace_value(c, key, former, value), JournalUnavailable
        )
