"""``/graph/search``: datasets, jobs and columns by name."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from graph_model import labels
from graph_model.answers.sources import Sources
from graph_model.facts import (
    DatasetRow,
)
from graph_model.store import (
    Match,
    Page,
)


@dataclass(frozen=True, slots=True)
class SearchItem:
    kind: str
    id: str
    label: str
    detail: str
    node: str


def search(sources: Sources, text: str, *, kinds: Collection[str], limit: int) -> Page[SearchItem]:
    """By name; a URI is looked up as ingestion spells it (``s3a://…`` finds ``s3://…``)."""
    page = sources.catalogue.search(_searched(sources, text), kinds=kinds, limit=limit)
    ids = {match.dataset or match.id for match in page.items if match.kind != labels.JOB}
    datasets = {row.id: row for row in sources.catalogue.datasets(ids)}
    items = tuple(_search_item(match, datasets) for match in page.items)
    return Page(items, page.total, page.next)


def _searched(sources: Sources, text: str) -> str:
    words = text.strip()
    scheme, separator, rest = words.partition("://")
    if not separator or not rest or " " in words:
        return words
    aliases = dict(sources.rules.scheme_aliases)
    return f"{aliases.get(scheme.lower(), scheme)}://{rest}"


def _search_item(match: Match, datasets: dict[str, DatasetRow]) -> SearchItem:
    if match.kind == labels.JOB:
        namespace, _, name = match.text.partition("/")
        return SearchItem(match.kind, match.id, name or match.text, namespace, match.id)
    row = datasets.get(match.dataset or match.id)
    uri = "" if row is None else row.uri
    if match.kind == labels.COLUMN:
        return SearchItem(match.kind, match.id, match.text, uri, match.id)
    return SearchItem(match.kind, match.id, (row.name if row else "") or uri, uri, match.id)
