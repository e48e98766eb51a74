"""What another set of layers, or of naming rules, would do to what is known, without doing it.

Layers are tried on the datasets of the catalogue. Naming rules are tried on history: on the URIs
and application names as the plans of the journal spell them, for a canonical URI no longer says
what a rule took off.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from graph_model import naming
from graph_model.errors import HeadwaterError
from graph_model.facts import DatasetRow
from graph_model.governance.layers import Layers
from graph_model.governance.standing import Governance
from graph_model.naming import Rules
from graph_model.projection.plans import read_plan_document
from graph_model.store import Catalogue, DocumentKind, Journal, Page, StoredDocument, walk_pages
from graph_model.translate import PlanDocument

MOST_SHOWN: Final = 200
MOST_PLANS: Final = 2_000
"""Plan documents of the journal that naming rules are tried on, the newest."""
_PAGE: Final = 1_000


# --- layers --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LayerChange:
    id: str
    uri: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class LayerPreview:
    """``items`` are the first ``MOST_SHOWN`` of ``total`` changes among ``datasets`` looked at."""

    items: tuple[LayerChange, ...]
    total: int
    datasets: int


def preview_layers(before: Layers, after: Layers, catalogue: Catalogue) -> LayerPreview:
    """Which datasets would be in another layer, by name."""
    items: list[LayerChange] = []
    total = looked_at = 0
    for row in walk_datasets(catalogue):
        looked_at += 1
        old, new = before.of(row.uri), after.of(row.uri)
        if old != new:
            total += 1
            if len(items) < MOST_SHOWN:
                items.append(LayerChange(row.id, row.uri, old, new))
    return LayerPreview(tuple(items), total, looked_at)


def count_datasets(governance: Governance, catalogue: Catalogue) -> Counter[str | None]:
    """How many datasets are in each layer, under None in none; what is hidden counts nowhere."""
    return Counter(
        governance.layers.of(row.uri)
        for row in walk_datasets(catalogue)
        if row.id not in governance.hidden
    )


def walk_datasets(
    catalogue: Catalogue, query: str = "", at: int | None = None
) -> Iterator[DatasetRow]:
    """Every dataset whose name holds the query, by name, URI and id, a page at a time."""
    after: DatasetRow | None = None
    while page := catalogue.walk_datasets(query=query, after=after, limit=_PAGE, at=at):
        yield from page
        after = page[-1]


# --- naming rules --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, order=True)
class NameChange:
    """``spelling`` is how a plan wrote it; before and after are canonical."""

    spelling: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class NamesPreview:
    """``items`` are the first of ``total`` spellings that get another name. ``merged``: names that
    take the place of several; ``split``: names that several take the place of.
    """

    items: tuple[NameChange, ...]
    total: int
    spellings: int
    merged: int
    split: int


@dataclass(frozen=True, slots=True)
class RulesPreview:
    """``plans`` documents were looked at, of ``plans_known``."""

    datasets: NamesPreview
    jobs: NamesPreview
    partitions: NamesPreview
    plans: int
    plans_known: int


@dataclass(slots=True)
class _Names:
    """Spelling -> its name before and after."""

    pairs: dict[str, tuple[str, str]] = field(default_factory=dict)

    def preview(self) -> NamesPreview:
        changed = sorted(
            NameChange(spelling, *pair)
            for spelling, pair in self.pairs.items()
            if pair[0] != pair[1]
        )
        return NamesPreview(
            tuple(changed[:MOST_SHOWN]),
            len(changed),
            len(self.pairs),
            _several((after, before) for before, after in self.pairs.values()),
            _several(self.pairs.values()),
        )


def _several(pairs: Iterable[tuple[str, str]]) -> int:
    """How many firsts have more than one second."""
    seconds: dict[str, set[str]] = {}
    for first, second in pairs:
        seconds.setdefault(first, set()).add(second)
    return sum(len(found) > 1 for found in seconds.values())


def preview_rules(
    before: Rules, after: Rules, journal: Journal, expired: Callable[[], bool] = lambda: False
) -> RulesPreview:
    """What these rules would make of the names in the newest plans of the journal."""
    datasets, jobs, partitions = _Names(), _Names(), _Names()
    plans = known = 0
    for document, total in _newest_plans(journal):
        known = total
        if plans >= MOST_PLANS or expired():
            break
        plans += 1
        labels, scope = document.plan.labels, document.scope
        old, new = (
            naming.job_name(labels, document.plan.name, scope, rules) for rules in (before, after)
        )
        written = f"{document.plan.name} {dict(labels)}" if labels else str(document.plan.name)
        jobs.pairs[f"{scope}@{written}" if scope else written] = (
            f"{old.namespace}/{old.name}", f"{new.namespace}/{new.name}",
        )  # fmt: skip
        for uri in _uris(document):
            _add_uri(uri, scope, (before, after), datasets, partitions)
    return RulesPreview(
        datasets.preview(), jobs.preview(), partitions.preview(), plans, max(known, plans)
    )


def _newest_plans(journal: Journal) -> Iterator[tuple[PlanDocument, int]]:
    def ask(cursor: str | None) -> Page[StoredDocument]:
        return journal.entries(kind=DocumentKind.PLAN, limit=100, cursor=cursor)

    for page in walk_pages(ask):
        for entry in page.items:
            try:
                stored = journal.plan_document(entry.plan_id, entry.content_hash)
                if stored is not None:
                    yield read_plan_document(stored), page.total
            except (HeadwaterError, ValueError):
                continue  # what cannot be read has no names


def _uris(document: PlanDocument) -> Iterator[str]:
    for operation in document.plan.operations:
        yield from (operation.target,) if operation.kind == "write" else operation.sources


def _add_uri(
    uri: str, scope: str, rules: tuple[Rules, Rules], datasets: _Names, partitions: _Names
) -> None:
    old, new = (naming.normalise(uri, scope, one) for one in rules)
    spelling = f"{scope}@{uri}" if scope else uri
    spelling = naming.mask_text(spelling)
    datasets.pairs[spelling] = (_written(old), _written(new))
    keys = [", ".join("/".join(name.partition_keys) for name in names) for names in (old, new)]
    if any(keys):
        partitions.pairs[spelling] = (keys[0], keys[1])


def _written(names: Iterable[naming.DatasetName]) -> str:
    return ", ".join(f"{name.scope}@{name.uri}" if name.scope else name.uri for name in names)
