"""The elements of an engine that forgets them, beside the rows of the same facts.

No question reads them: connectivity always comes from the graph. They are written before the engine
has them, in the transaction of their rows (``Catalogue.record``), and are there as long as the
catalogue is, so a catalogue that is set aside or replaced takes its elements along. With a graph
that keeps its elements itself these tables stay empty.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from graph_model.errors import Unavailable
from graph_model.facts import Edge, Facts, Properties, Vertex
from graph_model.stores.catalogue.tables import element_edges, element_vertices
from graph_model.stores.database import chunks, count_rows, in_list, insert_rows, read, write

NOTHING: Final = Facts()
_PAGE: Final = 4_000
_TABLES: Final = (element_edges, element_vertices)


def keep_elements(connection: Connection, facts: Facts) -> None:
    """Insert those that are not kept yet, in the transaction of the caller."""
    if facts.vertices:
        rows = [(each.id, each.label, _text(each.properties)) for each in facts.vertices]
        insert_rows(connection, element_vertices, rows)
    if facts.edges:
        ends = [
            (each.id, each.label, each.out_id, each.in_id, _text(each.properties))
            for each in facts.edges
        ]
        insert_rows(connection, element_edges, ends)


class Elements:
    """Vertices and edges of an engine that forgets them when it ends. No question reads them."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def remove(self, vertex_ids: Collection[str], edge_ids: Collection[str]) -> None:
        """Forget these elements, in one transaction; the edges at a vertex are not looked for."""

        def work(connection: Connection) -> None:
            for table, ids in zip(_TABLES, (edge_ids, vertex_ids), strict=True):
                for some in chunks(sorted(set(ids))):
                    gone = table.delete().where(in_list(table.c.id, "gone"))
                    connection.execute(gone, {"gone": some})

        if vertex_ids or edge_ids:
            write(self._engine, work, Unavailable)

    def clear(self) -> None:
        def work(connection: Connection) -> None:
            for table in _TABLES:
                connection.execute(table.delete())

        if any(self.count()):
            write(self._engine, work, Unavailable)

    def count(self) -> tuple[int, int]:
        """The number of vertices and of edges."""
        with read(self._engine, Unavailable) as connection:
            return count_rows(connection, element_vertices), count_rows(connection, element_edges)

    def pages(self) -> Iterator[Facts]:
        """All of them in bounded pages, the vertices first."""
        for page in self._pages(element_vertices):
            yield Facts(tuple(Vertex(key, label, _properties(text)) for key, label, text in page))
        for page in self._pages(element_edges):
            yield Facts(
                edges=tuple(
                    Edge(key, label, out_id, in_id, _properties(text))
                    for key, label, out_id, in_id, text in page
                )
            )

    def _pages(self, table: sa.Table) -> Iterator[Sequence[Any]]:
        """A page is one transaction; none is open between pages."""
        page: Sequence[Any] = ()
        while True:
            asked = sa.select(table).order_by(table.c.id).limit(_PAGE)
            if page:
                asked = asked.where(table.c.id > page[-1][0])
            with read(self._engine, Unavailable) as connection:
                page = connection.execute(asked).all()
            if page:
                yield page
            if len(page) < _PAGE:
                return


_text: Final[Callable[[Properties], str]] = json.JSONEncoder(separators=(",", ":")).encode


def _properties(text: str) -> Properties:
    return tuple((key, value) for key, value in json.loads(text))
