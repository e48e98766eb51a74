"""``/graph/columns``: the columns of all datasets, and one column with its definition.

The definition comes from the derivations of the plans whose writes are visible at the time; it is
not stored.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from graph_model import labels
from graph_model.answers.column_wording import Source, define_column
from graph_model.answers.nodes import dataset_references
from graph_model.answers.sources import Sources, of_one_state
from graph_model.answers.visibility import open_node
from graph_model.errors import NotFound
from graph_model.facts import ColumnRow
from graph_model.lineage import ColumnDerivation
from graph_model.naming.schemas import ColumnSpelling, read_spellings, spell_column
from graph_model.picture.view import (
    LINEAGE,
    SCHEMA,
    DatasetReference,
    JobReference,
    dataset_reference,
    job_reference,
)
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.pages import ColumnOrder, Page

_MOST_PLANS: Final = 20
_MOST_WAYS: Final = 3


@dataclass(frozen=True, slots=True)
class Definition:
    """How one logical plan of a job computes the column."""

    plan: str
    job: JobReference
    sentence: str


@dataclass(frozen=True, slots=True)
class PlanGap:
    """A gap in the column lineage of a plan that writes the dataset."""

    plan: str
    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class ColumnPage:
    """``sentence`` is None where no plan is known to compute the column; ``definitions`` are those
    of the first 20 plans, by job. ``known`` as in ``view.ColumnNodeView``; ``indirect`` counts, by
    kind of influence, the columns that decide over it.
    """

    id: str
    name: str
    dataset: DatasetReference
    type: str | None
    known: str
    indirect: Mapping[str, int]
    sentence: str | None
    definitions: tuple[Definition, ...]
    gaps: tuple[PlanGap, ...]
    classifications: tuple[str, ...]


@of_one_state
def describe_column(sources: Sources, column: str, at: int | None) -> ColumnPage:
    """The page of a column (an id). Raises NotFound for an unknown one.

    Definitions by hidden jobs and sources in hidden datasets are left out.
    """
    sources = open_node(sources, labels.COLUMN, column)
    catalogue = sources.catalogue
    rows = catalogue.columns((column,))
    if not rows:
        raise NotFound("column", column)
    (row,) = rows
    (dataset,) = catalogue.datasets((row.dataset,))
    spelling = _spelling(row, at, catalogue)
    name = spelling.name if spelling else row.path
    found = sources.lineage.derivations(column, at)
    shown = [one for one in found if sources.hidden.isdisjoint((one.job, one.source[0]))]
    definitions = _definitions(name, shown, catalogue)
    return ColumnPage(
        id=column,
        name=name,
        dataset=dataset_reference(dataset),
        type=spelling.type if spelling else None,
        known=SCHEMA if spelling else LINEAGE,
        indirect=_count_indirect(shown),
        sentence=_sentence(name, definitions),
        definitions=definitions,
        gaps=_gaps(row.dataset, at, catalogue),
        classifications=sources.governance.tags.get(column, ()),
    )


def _spelling(row: ColumnRow, at: int | None, catalogue: Catalogue) -> ColumnSpelling | None:
    """Name and type in the newest schema; None where that schema has no such column."""
    schema = catalogue.newest_schemas((row.dataset,), at).get(row.dataset)
    return spell_column(row.path, read_spellings(schema.columns)) if schema else None


def _count_indirect(derivations: Iterable[ColumnDerivation]) -> dict[str, int]:
    influences = {(one.how, one.source) for one in derivations if one.kind == labels.INDIRECT}
    return dict(sorted(Counter(how for how, _ in influences).items()))


def _definitions(
    name: str, derivations: Collection[ColumnDerivation], catalogue: Catalogue
) -> tuple[Definition, ...]:
    plans: dict[str, list[ColumnDerivation]] = {}
    for derivation in derivations:
        plans.setdefault(derivation.logical_plan, []).append(derivation)
    tables = {
        one.id: one.name or one.uri
        for one in catalogue.datasets({one.source[0] for one in derivations})
    }
    jobs = {one.id: one for one in catalogue.jobs({one.job for one in derivations})}
    found = []
    for plan, listed in plans.items():
        job = jobs[listed[0].job]
        sentence = define_column(name, (_source(one, tables) for one in listed))
        found.append(Definition(plan, job_reference(job), sentence))
    found.sort(key=lambda one: (one.job.namespace, one.job.name, one.plan))
    return tuple(found[:_MOST_PLANS])


def _source(derivation: ColumnDerivation, tables: dict[str, str]) -> Source:
    dataset, path = derivation.source
    return Source(
        tables.get(dataset, dataset), path, derivation.kind, derivation.how, derivation.expression
    )


def _sentence(name: str, definitions: Iterable[Definition]) -> str | None:
    """One sentence for all plans; where plans differ, one for each with its job."""
    jobs: dict[str, list[str]] = {}
    for one in definitions:
        jobs.setdefault(one.sentence, []).append(one.job.name)
    if len(jobs) < 2:
        return next(iter(jobs), None)
    ways = [f"{sentence} ({', '.join(dict.fromkeys(by))})" for sentence, by in jobs.items()]
    more = [f"{len(ways) - _MOST_WAYS} more"] if len(ways) > _MOST_WAYS else []
    return f"{name} is made in {len(jobs)} ways: {'; '.join([*ways[:_MOST_WAYS], *more])}"


def _gaps(dataset: str, at: int | None, catalogue: Catalogue) -> tuple[PlanGap, ...]:
    plans = {writer.logical_plan for writer in catalogue.writers((dataset,), at)}
    return tuple(
        PlanGap(plan.id, str(gap.get("code", "")), str(gap.get("detail", "")))
        for plan in catalogue.logical_plans(plans)
        for gap in json.loads(plan.gaps)
    )


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
