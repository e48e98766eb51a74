"""Declarations and commands of people, and facets of runs."""

from __future__ import annotations

import sqlalchemy as sa

from graph_model.facts import CommandRow, DeclarationRow
from graph_model.stores.catalogue.openlineage.run_facets import SqlRunFacets
from graph_model.stores.catalogue.tables import STORAGE_OF, commands, declarations
from graph_model.stores.pages import checked_limit


class SqlStatementLookup(SqlRunFacets):
    """See ``protocols.StatementLookup``."""

    def commands(self, kind: str) -> tuple[CommandRow, ...]:
        asked = (
            sa.select(*STORAGE_OF[CommandRow].fields)
            .where(commands.c.kind == kind)
            .order_by(commands.c.at, commands.c.id)
        )
        with self._read() as connection:
            return tuple(CommandRow(*row) for row in connection.execute(asked))

    def commands_after(
        self, kind: str, row: CommandRow | None, limit: int
    ) -> tuple[CommandRow, ...]:
        column = commands.c
        asked = (
            sa.select(*STORAGE_OF[CommandRow].fields)
            .where(column.kind == kind)
            .order_by(column.at, column.id)
            .limit(checked_limit(limit))
        )
        if row is not None:
            later = sa.or_(column.at > row.at, column.id > row.id)
            asked = asked.where(column.at >= row.at, later)
        with self._read() as connection:
            return tuple(CommandRow(*found) for found in connection.execute(asked))

    def declarations(self, node: str | None = None) -> tuple[DeclarationRow, ...]:
        """Reads all declarations: no index has their nodes."""
        asked = sa.select(*STORAGE_OF[DeclarationRow].fields)
        if node is not None:
            asked = asked.where(declarations.c.nodes.contains(node, autoescape=True))
        key = (declarations.c.declared_at, declarations.c.id, declarations.c.event)
        with self._read() as connection:
            found = connection.execute(asked.order_by(*key, declarations.c.scope))
            return tuple(DeclarationRow(*row) for row in found)
