"""``/graph/search``: datasets, jobs, columns and runs by what people remember of them.

A name holds the words (``stores.catalogue.search``), or a text about the node does: an owner, a
tag, a description, the comment of a column. Words may be spread over a name and such texts:
``orders ana`` finds the table ``orders`` of Ana. A run is found by its application, its id, that of
its plan or its error; a path of a file by the table that it belongs to:

    s3a://lake/orders/day=2026-03-01/part-00000.parquet  =>  s3://lake/orders

Hidden nodes are no results and make no word known. Each item says by what it was found, where that
is not its name.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from graph_model import identity, labels
from graph_model.answers.nodes import job_references
from graph_model.answers.openlineage_reports import (
    describe_columns,
    describe_dataset,
    describe_job,
)
from graph_model.answers.sources import Sources
from graph_model.errors import AmbiguousReference, InvalidReference, NotFound
from graph_model.facts import DatasetRow
from graph_model.lineage import Partial
from graph_model.stores.catalogue.tables import fold
from graph_model.stores.catalogue_values import Match, RecentExecution
from graph_model.stores.pages import Page
from graph_model.values import cause_line, iso

RUN: Final = "run"
_NAMED: Final = (labels.DATASET, labels.JOB, labels.COLUMN)
KINDS: Final = (*_NAMED, RUN)
#: What a path of a file, or a column behind its table, stands for.
_MEANT_BY_PARTS: Final = frozenset({labels.DATASET, labels.COLUMN})
#: The newest executions that are searched, and so many of those that match are grouped by run.
_EXECUTIONS_SEARCHED: Final = 10_000
_EXECUTIONS_READ: Final = 200
#: Facets that hold a word, of which texts are read.
_FACETS_READ: Final = 1_000
#: So many of the last parts of a path are taken off for the table that holds a file.
_PARTS_TAKEN_OFF: Final = 12
#: Tables of which the columns are searched where a text names both, and so many of these columns.
_TABLES_LOOKED_AT: Final = 20
_COLUMNS_LOOKED_AT: Final = 5_000
_SHOWN: Final = 200


@dataclass(frozen=True, slots=True)
class Matched:
    """By what an item was found; ``what``: owner, tag, note, description, comment, error, id (of an
    application, a run or a plan) or path.
    """

    what: str
    text: str


@dataclass(frozen=True, slots=True)
class SearchItem:
    """``node`` is the id for a question about lineage, of a run that of its job; ``matched`` None:
    the name.
    """

    kind: str
    id: str
    label: str
    detail: str
    node: str
    matched: Matched | None = None


@dataclass(frozen=True, slots=True)
class TaggedItem(SearchItem):
    """A dataset or a column, with its own tags."""

    classifications: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """``set_aside``: the words that nothing of any kind holds; the others were searched.
    ``partial``: more executions or facets hold a word than are read.
    """

    page: Page[SearchItem]
    set_aside: tuple[str, ...]
    partial: Partial | None


@dataclass(frozen=True, slots=True)
class _Hits:
    items: tuple[SearchItem, ...]
    total: int
    partial: Partial | None = None


def search(sources: Sources, text: str, *, kinds: Collection[str], limit: int) -> SearchAnswer:
    """What holds all words; where nothing does, the words that nothing of any kind holds are left
    out. A URI is spelled as ingestion spells it (``s3a://…`` finds ``s3://…``). A question for
    several kinds finds what one for each of them finds.
    """
    answer = _find(sources, text, kinds, limit)
    words = text.split()
    aside: tuple[str, ...] = ()
    if _MEANT_BY_PARTS.intersection(kinds) and not any(
        item.kind in _NAMED for item in answer.items
    ):
        parts = _holder_of(sources, text.strip()) if len(words) == 1 else _Hits((), 0)
        parts = parts if parts.items else _columns_of_tables(sources, text, limit)
        asked = any(item.kind in kinds for item in parts.items)
        if asked and not _find(sources, text, _NAMED, 1).items:
            total = parts.total + answer.total
            answer = replace(answer, items=(*parts.items, *answer.items), total=total)
    if not answer.items and len(words) > 1:
        known = [word for word in words if _find(sources, word, KINDS, 1).items]
        if 0 < len(known) < len(words):
            answer = _find(sources, " ".join(known), kinds, limit)
        aside = tuple(word for word in words if word not in known)
    return SearchAnswer(Page(answer.items[:limit], answer.total, None), aside, answer.partial)


def _find(sources: Sources, text: str, kinds: Collection[str], limit: int) -> _Hits:
    """By name, then by other texts; first by these where names are only near the words."""
    words = [fold(word) for word in text.split()]
    named_kinds = [kind for kind in _NAMED if kind in kinds]
    page = search_names(sources, text, kinds=named_kinds, limit=limit)
    named = page.items
    described, partial = _by_texts(sources, words, named_kinds) if named_kinds else ([], None)
    listed = {item.id for item in named}
    described = [item for item in described if item.id not in listed]
    near = named and not any(word in fold(_name_of(named[0])) for word in words)
    items = [*described, *named] if near else [*named, *described]
    runs = _runs(sources, text, words) if RUN in kinds else _Hits((), 0)
    all_items = (*items, *runs.items)
    return _Hits(all_items, page.total + len(described) + runs.total, partial or runs.partial)


# --- names ---------------------------------------------------------------------------------------


def search_names(
    sources: Sources, text: str, *, kinds: Collection[str], limit: int
) -> Page[SearchItem]:
    """Datasets, jobs and columns of which the name holds all words, or nearly does."""
    page = sources.catalogue.search(
        _searched(sources, text), kinds=kinds, limit=limit, hidden=sources.hidden
    )
    return Page(tuple(_items(sources, page.items, {})), page.total, page.next)


def _items(
    sources: Sources, matches: Sequence[Match], matched: Mapping[str, Matched]
) -> list[SearchItem]:
    ids = {match.dataset or match.id for match in matches if match.kind != labels.JOB}
    datasets = {row.id: row for row in sources.catalogue.datasets(ids)} if ids else {}
    tags = sources.governance.tags
    return [
        replace(_search_item(match, datasets, tags), matched=matched.get(match.id))
        for match in matches
    ]


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
    own = tags.get(match.id, ())
    return TaggedItem(match.kind, match.id, label, uri, match.id, classifications=own)


def _name_of(item: SearchItem) -> str:
    return f"{item.detail}/{item.label}"


# --- owners, tags, descriptions, comments --------------------------------------------------------


_Texts = dict[str, list[Matched]]
"""Per node (id) the texts about it."""


def _by_texts(
    sources: Sources, words: Sequence[str], kinds: Collection[str]
) -> tuple[list[SearchItem], Partial | None]:
    """The visible nodes of which a text holds a word, and name and texts together all of them."""
    texts, partial = _texts(sources, words)
    held = {node: own for node, own in texts.items() if _first_holding(own, words)}
    matches = [match for match in _matches(sources, held) if match.kind in kinds]
    chosen: dict[str, Matched] = {}
    for match in matches:
        own = held[match.id]
        whole = fold(" ".join((match.text, *(matched.text for matched in own))))
        first = _first_holding(own, words)
        if first and all(word in whole for word in words):
            chosen[match.id] = replace(first, text=_around(first.text, words))
    shown = [match for match in matches if match.id in chosen]
    shown.sort(key=lambda match: (KINDS.index(match.kind), match.text, match.id))
    return _items(sources, shown, chosen), partial


def _first_holding(texts: Sequence[Matched], words: Sequence[str]) -> Matched | None:
    return next((text for text in texts if any(word in fold(text.text) for word in words)), None)


def _around(text: str, words: Sequence[str]) -> str:
    """The part of a long text that holds the first of the words in it."""
    place = min((fold(text).find(word) for word in words if word in fold(text)), default=0)
    start = max(0, min(place - _SHOWN // 4, len(text) - _SHOWN))
    return text[start : start + _SHOWN]


def _texts(sources: Sources, words: Sequence[str]) -> tuple[_Texts, Partial | None]:
    governance = sources.governance
    texts: _Texts = defaultdict(list)
    for node, tags in governance.tags.items():
        texts[node] += (Matched("tag", tag) for tag in tags)
    for (_, node), assignment in governance.assigned.items():
        named = (("owner", assignment.owner), ("note", assignment.note))
        texts[node] += (Matched(what, text) for what, text in named if text)
    facets = sources.catalogue.facets_holding(words, sources.hidden, limit=_FACETS_READ)
    for kind, node, name, body in facets.rows:
        content = {name: json.loads(body)}
        texts[node] += _texts_of(content, kind)
        for path, column in describe_columns(content).items() if kind == labels.DATASET else ():
            own = texts[identity.column_id(node, path)]
            own += (Matched("tag", f"{tag.key} {tag.value}".strip()) for tag in column.tags)
            own += (Matched("comment", column.description),) if column.description else ()
    return texts, Partial("facets", _FACETS_READ) if facets.cut else None


def _texts_of(content: Mapping[str, Mapping[str, object]], kind: str) -> Iterator[Matched]:
    about = describe_job(content) if kind == labels.JOB else describe_dataset(content)
    yield from (Matched("owner", owner.name) for owner in about.owners)
    yield from (Matched("tag", f"{tag.key} {tag.value}".strip()) for tag in about.tags)
    if about.documentation:
        yield Matched("description", about.documentation)


def _matches(sources: Sources, nodes: Collection[str]) -> Iterator[Match]:
    """The visible datasets, jobs and columns among these ids, with the texts of their names."""
    of_kind: defaultdict[str | None, list[str]] = defaultdict(list)
    for node in nodes:
        of_kind[identity.kind_of(node)].append(node)
    for row in sources.catalogue.datasets(of_kind[labels.DATASET]):
        if row.id not in sources.hidden:
            yield Match(labels.DATASET, row.id, row.uri, None)
    for job in sources.catalogue.jobs(of_kind[labels.JOB]):
        if job.id not in sources.hidden:
            yield Match(labels.JOB, job.id, f"{job.namespace}/{job.name}", None)
    for column in sources.catalogue.columns(of_kind[labels.COLUMN]):
        if column.dataset not in sources.hidden:
            yield Match(labels.COLUMN, column.id, column.path, column.dataset)


# --- runs ----------------------------------------------------------------------------------------


def _runs(sources: Sources, text: str, words: Sequence[str]) -> _Hits:
    """The runs of which an error or an id holds a word, newest first; each once."""
    catalogue = sources.catalogue
    since = catalogue.recent_until(_EXECUTIONS_SEARCHED, at=None, now=sources.now)
    page = catalogue.recent_executions(
        sources.hidden,
        query=text,
        by_job_name=False,
        since=since,
        limit=_EXECUTIONS_READ,
        counted=False,
        now=sources.now,
    )
    jobs = job_references(sources, {row.job for row in page.items})
    items: dict[str, SearchItem] = {}
    for row in page.items:
        job = jobs.get(row.job)
        if job is None or row.run in items or all(word in fold(job.name) for word in words):
            continue  # the job itself is found by its name
        items[row.run] = SearchItem(
            RUN,
            row.run,
            job.name,
            f"{row.state}, {iso(row.at)}",
            row.job,
            _matched_run(row, text, words),
        )
    partial = Partial("executions", _EXECUTIONS_READ) if page.next else None
    return _Hits(tuple(items.values()), len(items), partial)


def _matched_run(row: RecentExecution, text: str, words: Sequence[str]) -> Matched:
    error = row.error or ""
    if not any(word in fold(error) for word in words):
        return Matched("id", text.strip())
    line = cause_line(error) or ""
    return Matched(
        "error", line if any(word in fold(line) for word in words) else _around(error, words)
    )


# --- columns of a table --------------------------------------------------------------------------


def _columns_of_tables(sources: Sources, text: str, limit: int) -> _Hits:
    """``orders.amount`` or ``orders amount``: the visible columns that the last part names, of the
    tables that the parts before it do.
    """
    table, _, column = ".".join(text.split()).rpartition(".")
    if not table or not column:
        return _Hits((), 0)
    tables = sources.catalogue.search(
        table, kinds=(labels.DATASET,), limit=_TABLES_LOOKED_AT, hidden=sources.hidden
    ).items
    rows = sources.catalogue.columns_of([match.id for match in tables], _COLUMNS_LOOKED_AT)
    held = [row for row in rows if fold(column) in row.path and row.id not in sources.hidden]
    held.sort(key=lambda row: row.path != fold(column))
    matches = [Match(labels.COLUMN, row.id, row.path, row.dataset) for row in held[:limit]]
    return _Hits(tuple(_items(sources, matches, {})), len(held))


# --- paths of files ------------------------------------------------------------------------------


def _holder_of(sources: Sources, path: str) -> _Hits:
    """The visible table that a file or a folder with this path belongs to; none for other texts."""
    parts = path.rstrip("/").split("/")
    absolute = ":" in parts[0] or not parts[0]
    least = 3 if "://" in path else 1
    for taken in range(min(len(parts) - least, _PARTS_TAKEN_OFF) + 1):
        place = "/".join(parts[: len(parts) - taken])
        if not absolute and taken and "/" in place:
            matches = sources.catalogue.search(
                place, kinds=(labels.DATASET,), limit=1, hidden=sources.hidden
            ).items
            holders = [match for match in matches if fold(match.text).endswith(f"/{fold(place)}")]
        else:
            holders = [*_matches(sources, _known(sources, place))] if absolute else []
        if holders:
            items = _items(sources, holders, {holders[0].id: Matched("path", path)})
            return _Hits(tuple(items), len(items))
    return _Hits((), 0)


def _known(sources: Sources, place: str) -> tuple[str, ...]:
    try:
        return (sources.references.dataset(place),)
    except AmbiguousReference as error:
        return error.candidates
    except (InvalidReference, NotFound):
        return ()
