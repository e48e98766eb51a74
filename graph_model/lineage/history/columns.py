"""Columns that occur in the schemas of datasets."""

from __future__ import annotations

from collections.abc import Collection

from graph_model.stores.protocols import Catalogue


class SchemaColumns:
    """Columns from one catalogue, kept for the life of the object."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._columns: dict[str, tuple[str, str]] = {}  # column -> (dataset, path)

    def places(self, ids: Collection[str]) -> dict[str, tuple[str, str]]:
        """Per column that occurs in a schema its dataset and path."""
        new = set(ids) - self._columns.keys()
        if new:
            rows = self._catalogue.columns(new)
            self._columns |= {row.id: (row.dataset, row.path) for row in rows}
        return {column: self._columns[column] for column in ids if column in self._columns}

    def fields(self, columns: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
        """The known columns nested in these, each a (dataset, path)."""
        return {(row.dataset, row.path) for row in self._catalogue.fields(columns)}
