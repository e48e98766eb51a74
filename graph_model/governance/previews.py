"""The effect of other layers or naming rules, computed and not stored.

Layers are tried on the datasets of the catalogue. Naming rules are tried on history: on the URIs
and application names as the plans of the journal spell them, for a canonical URI no longer says
the part that a rule took off.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import merge
from typing import Final

from graph_model import identity, naming
from graph_model.errors import HeadwaterError
from graph_model.governance.quality_rules import DatasetChange
from graph_model.governance.statements import Governance, Layers, walk_datasets
from graph_model.naming import Rules
from graph_model.producers.producer import SpelledRead, Spellings
from graph_model.producers.registry import PRODUCERS, Producers
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.documents import DocumentKind, StoredDocument
from graph_model.stores.journal import Journal
from graph_model.stores.pages import Page, walk_pages
from spark_agent_config.masking import mask_text

MOST_SHOWN: Final = 200
MOST_PLANS: Final = 2_000
"""Plan documents of the journal that naming rules are tried on, the newest."""
_MOST_NAMED: Final = 5


# --- layers --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LayerPreview:
    """``items`` are the first ``MOST_SHOWN`` of ``total`` changes among ``datasets`` looked at."""

    items: tuple[DatasetChange, ...]
    total: int
    datasets: int


def preview_layers(
    before: Layers, after: Layers, catalogue: Catalogue, hidden: Collection[str]
) -> LayerPreview:
    """Which datasets would be in another layer, by name; hidden ones (ids) are not looked at."""
    items: list[DatasetChange] = []
    total = looked_at = 0
    for row in walk_datasets(catalogue, hidden=hidden):
        looked_at += 1
        old, new = before.of(row.uri), after.of(row.uri)
        if old != new:
            total += 1
            if len(items) < MOST_SHOWN:
                items.append(DatasetChange(row.id, row.uri, old, new))
    return LayerPreview(tuple(items), total, looked_at)


def count_datasets(governance: Governance, catalogue: Catalogue) -> Counter[str | None]:
    """How many datasets are in each layer, under None in none; hidden ones do not count."""
    shown = walk_datasets(catalogue, hidden=governance.hidden)
    return Counter(governance.layers.of(row.uri) for row in shown)


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
    """Spelling -> its name before and after. Of ``hidden`` (ids) there is no spelling."""

    hidden: Collection[str] = ()
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
    return sum(len(values) > 1 for values in seconds.values())


def preview_rules(
    before: Rules,
    after: Rules,
    journal: Journal,
    expired: Callable[[], bool] = lambda: False,
    hidden: Collection[str] = (),
    producers: Producers = PRODUCERS,
) -> RulesPreview:
    """The effect of these rules on the names in the newest documents of the journal whose producer
    tells them; ``hidden`` are ids under the rules before.
    """
    datasets, jobs, partitions = _Names(hidden), _Names(hidden), _Names(hidden)
    plans = 0
    for scope, spelled in _newest(journal, producers):
        if plans >= MOST_PLANS or expired():
            break
        plans += 1
        _add_job(spelled, scope, (before, after), jobs)
        _add_uri(spelled.target, scope, (before, after), datasets, partitions)
        for read in spelled.reads:
            _add_read(read, scope, (before, after), datasets, partitions)
    known = sum(journal.entries(kind=kind, limit=1).total for kind in producers.spelled)
    return RulesPreview(
        datasets.preview(), jobs.preview(), partitions.preview(), plans, max(known, plans)
    )


def _newest(journal: Journal, producers: Producers) -> Iterator[tuple[str, Spellings]]:
    """The newest documents first: their scope, and their names. Unreadable ones have none."""
    listed = (_entries(journal, kind) for kind in producers.spelled)
    for entry in merge(*listed, key=lambda entry: -entry.position):
        try:
            stored = journal.document_of(entry.subject_key, entry.content_hash)
        except HeadwaterError:
            continue
        spelled = None if stored is None else producers.spellings(stored)
        if spelled is not None:
            yield entry.scope, spelled


def _entries(journal: Journal, kind: DocumentKind) -> Iterator[StoredDocument]:
    def ask(cursor: str | None) -> Page[StoredDocument]:
        return journal.entries(kind=kind, limit=100, cursor=cursor)

    return (entry for page in walk_pages(ask) for entry in page.items)


def _add_job(spelled: Spellings, scope: str, rules: tuple[Rules, Rules], jobs: _Names) -> None:
    labels, name = spelled.labels, spelled.job
    old, new = (naming.job_name(labels, name, scope, rule_set) for rule_set in rules)
    if identity.job_id(old.namespace, old.name) in jobs.hidden:
        return
    written = f"{name} {dict(labels)}" if labels else str(name)
    jobs.pairs[f"{scope}@{written}" if scope else written] = (
        f"{old.namespace}/{old.name}", f"{new.namespace}/{new.name}",
    )  # fmt: skip


def _add_uri(
    uri: str, scope: str, rules: tuple[Rules, Rules], datasets: _Names, partitions: _Names
) -> None:
    old, new = (naming.normalise(uri, scope, rule_set) for rule_set in rules)
    if _is_hidden(old, datasets.hidden):
        return
    spelling = f"{scope}@{uri}" if scope else uri
    spelling = mask_text(spelling)
    datasets.pairs[spelling] = (_written(old), _written(new))
    keys = [", ".join("/".join(name.partition_keys) for name in names) for names in (old, new)]
    if any(keys):
        partitions.pairs[spelling] = (keys[0], keys[1])


def _add_read(
    read: SpelledRead, scope: str, rules: tuple[Rules, Rules], datasets: _Names, partitions: _Names
) -> None:
    """The sources of one read. Files that one set of rules alone takes for one are a line: the
    first of them, and how many more there are.
    """
    old, new = (read.folded(rule_set) for rule_set in rules)
    if set(old) == set(new):
        for uri in old:
            _add_uri(uri, scope, rules, datasets, partitions)
        return
    if _is_hidden(
        [name for uri in old for name in naming.normalise(uri, scope, rules[0])], datasets.hidden
    ):
        return
    first, more = min(read.sources), len(set(read.sources)) - 1
    spelling = mask_text(f"{scope}@{first}" if scope else first)
    becomes = (_of_read(old, scope, rules[0]), _of_read(new, scope, rules[1]))
    datasets.pairs[f"{spelling} and {more:,} more"] = becomes


def _is_hidden(names: Iterable[naming.DatasetName], hidden: Collection[str]) -> bool:
    return any(identity.dataset_id(name.scope, name.uri) in hidden for name in names)


def _of_read(sources: Sequence[str], scope: str, rules: Rules) -> str:
    """Where the names are many, how many."""
    names = {name for uri in sources for name in naming.normalise(uri, scope, rules)}
    ordered = sorted(names, key=lambda name: name.uri)
    return _written(ordered) if len(ordered) <= _MOST_NAMED else f"{len(ordered):,} datasets"


def _written(names: Iterable[naming.DatasetName]) -> str:
    return ", ".join(f"{name.scope}@{name.uri}" if name.scope else name.uri for name in names)
