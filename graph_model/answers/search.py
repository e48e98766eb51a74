"""``/graph/search``: datasets, jobs and columns by name."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from graph_model import labels
from graph_model.answers.sources import Sources
from graph_model.facts import DatasetRow
from graph_model.stores.pages import Page
from graph_model.stores.protocols import Match


@dataclass(frozen=True, slots=True)
class SearchItem:
    kind: str
    id: str
    label: str
    detail: str
    node: str


@dataclass(frozen=True, slots=True)
class TaggedItem(SearchItem):
    """A dataset or a column, with its own tags."""

    classifications: tuple[str, ...]


def search(sources: Sources, text: str, *, kinds: Collection[str], limit: int) -> Page[SearchItem]:
    """Search by name; a URI is spelled as ingestion spells it (``s3a://…`` finds ``s3://…``)."""
    page = sources.catalogue.search(
        _searched(sources, text), kinds=kinds, limit=limit, hidden=sources.hidden
    )
    ids = {match.dataset or match.id for match in page.items if match.kind != labels.JOB}
    datasets = {row.id: row for row in sources.catalogue.datasets(ids)}
    tags = sources.governance.tags
    items = tuple(_search_item(match, datasets, tags) for match in page.items)
    return Page(items, page.total, page.next)


def _searched(sources: Sources, text: str) -> str:
    words = text.strip()
    scheme, separator, rest = words.partition("://")
    if not separator or not rest or " " in words:
        return words
    aliases = dict(sources.rules.scheme_aliases)
    return f"{aliases.get(scheme.lower(), scheme)}://{rest}"


def _search_item(
    match: Match, datasets: Mapping[str, DatasetRow], tags: Mapping[str, tuple[str, ...]]
) -> SearchItem:
    if match.kind == labels.JOB:
        namespace, _, name = match.text.partition("/")
        return SearchItem(match.kind, match.id, name or match.text, namespace, match.id)
    row = datasets.get(match.dataset or match.id)
    uri = "" if row is None else row.uri
    label = match.text if match.kind == labels.COLUMN else (row.name if row else "") or uri
    return TaggedItem(match.kind, match.id, label, uri, match.id, tags.get(match.id, ()))
