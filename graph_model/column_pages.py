"""One column: where it lives, and what it is in words.

The words come from the derivations of the plans whose writes are to be seen at the time; nothing
of them is stored.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Final

from graph_model import labels
from graph_model.errors import NotFound
from graph_model.facts import ColumnRow
from graph_model.lineage import Derivation, Lineage, Structure
from graph_model.spellings import ColumnSpelling, read_spellings, spell_column
from graph_model.store import Catalogue, GraphReader
from graph_model.view import (
    LINEAGE,
    SCHEMA,
    DatasetReference,
    JobReference,
    dataset_reference,
    job_reference,
)
from graph_model.wording import Source, define_column

_MOST_PLANS: Final = 20
_MOST_SAID: Final = 3


@dataclass(frozen=True, slots=True)
class Definition:
    """What one logical plan of a job makes of the column."""

    plan: str
    job: JobReference
    sentence: str


@dataclass(frozen=True, slots=True)
class Gap:
    """What the lineage of a plan that writes the dataset does not know."""

    plan: str
    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class ColumnPage:
    """``sentence`` is None where no plan is known to compute the column; ``definitions`` are those
    of the first 20 plans, by job. ``known`` as in ``view.ColumnNodeView``; ``indirect``: how many
    columns decide over it, by how they do.
    """

    id: str
    name: str
    dataset: DatasetReference
    type: str | None
    known: str
    indirect: Mapping[str, int]
    sentence: str | None
    definitions: tuple[Definition, ...]
    gaps: tuple[Gap, ...]


def describe_column(
    column: str,
    at: int | None,
    graph: GraphReader,
    catalogue: Catalogue,
    hidden: Set[str] = frozenset(),
    structure: Structure | None = None,
) -> ColumnPage:
    """The page of a column (an id). Raises NotFound for an unknown one.

    What a hidden job makes, or what comes of a hidden dataset, is left out.
    """
    rows = catalogue.columns((column,))
    if not rows:
        raise NotFound("column", column)
    (row,) = rows
    (dataset,) = catalogue.datasets((row.dataset,))
    lineage = Lineage(graph, catalogue, structure=structure)
    spelling = _spelling(row, at, catalogue)
    name = spelling.name if spelling else row.path
    found = lineage.derivations(column, at)
    shown = [one for one in found if not {one.job, one.source[0]} & hidden]
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
    )


def _spelling(row: ColumnRow, at: int | None, catalogue: Catalogue) -> ColumnSpelling | None:
    """Name and type in the newest schema; None where that has no such column."""
    schema = catalogue.newest_schemas((row.dataset,), at).get(row.dataset)
    return spell_column(row.path, read_spellings(schema.columns)) if schema else None


def _count_indirect(derivations: Iterable[Derivation]) -> dict[str, int]:
    deciding = {(one.how, one.source) for one in derivations if one.kind == labels.INDIRECT}
    return dict(sorted(Counter(how for how, _ in deciding).items()))


def _definitions(
    name: str, derivations: Collection[Derivation], catalogue: Catalogue
) -> tuple[Definition, ...]:
    plans: dict[str, list[Derivation]] = {}
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


def _source(derivation: Derivation, tables: dict[str, str]) -> Source:
    dataset, path = derivation.source
    return Source(
        tables.get(dataset, dataset), path, derivation.kind, derivation.how, derivation.expression
    )


def _sentence(name: str, definitions: Iterable[Definition]) -> str | None:
    """One for all plans; where they differ each with its job."""
    jobs: dict[str, list[str]] = {}
    for one in definitions:
        jobs.setdefault(one.sentence, []).append(one.job.name)
    if len(jobs) < 2:
        return next(iter(jobs), None)
    said = [f"{sentence} ({', '.join(dict.fromkeys(by))})" for sentence, by in jobs.items()]
    more = [f"{len(said) - _MOST_SAID} more"] if len(said) > _MOST_SAID else []
    return f"{name} is made in {len(jobs)} ways: {'; '.join([*said[:_MOST_SAID], *more])}"


def _gaps(dataset: str, at: int | None, catalogue: Catalogue) -> tuple[Gap, ...]:
    plans = {writer.logical_plan for writer in catalogue.writers((dataset,), at)}
    return tuple(
        Gap(plan.id, str(gap.get("code", "")), str(gap.get("detail", "")))
        for plan in catalogue.logical_plans(plans)
        for gap in json.loads(plan.gaps)
    )
