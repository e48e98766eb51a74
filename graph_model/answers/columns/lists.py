"""``/graph/columns``: the columns of all datasets."""

from __future__ import annotations

from dataclasses import dataclass

from graph_model.answers.nodes import dataset_references
from graph_model.answers.sources import Sources, of_one_state
from graph_model.picture.view import DatasetReference
from graph_model.stores.pages import ColumnOrder, Page


@dataclass(frozen=True, slots=True)
class ColumnItem:
    """``name`` is the whole path, as in ``address.street``."""

    id: str
    name: str
    dataset: DatasetReference
    classifications: tuple[str, ...]


@of_one_state
def list_columns(
    sources: Sources, *, query: str, limit: int, cursor: str | None, order: ColumnOrder
) -> Page[ColumnItem]:
    page = sources.catalogue.list_columns(
        hidden=sources.hidden, query=query, limit=limit, cursor=cursor, order=order
    )
    datasets = dataset_references(sources, {row.dataset for row in page.items})
    tags = sources.governance.tags
    items = tuple(
        ColumnItem(row.id, row.path, datasets[row.dataset], tags.get(row.id, ()))
        for row in page.items
        if row.dataset in datasets
    )
    return Page(items, page.total, page.next)
