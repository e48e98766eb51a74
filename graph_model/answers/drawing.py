"""An answer of ``lineage`` with names and times, for the graph's routes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from graph_model.answers.facets import quality_marks
from graph_model.answers.nodes import catalog_names
from graph_model.answers.sources import Sources
from graph_model.lineage import Answer, ColumnNode
from graph_model.lineage.history.history import History
from graph_model.naming.schemas import ColumnSpelling, read_spellings, spell_column
from graph_model.picture.filtering import Filter, keep_datasets, keep_derivations, keep_jobs
from graph_model.picture.view import GraphView, Names, draw, mark_declared


def draw_answer(
    sources: Sources,
    answer: Answer,
    history: History,
    at: int | None,
    *,
    jobs: bool,
    columns: bool,
) -> GraphView:
    """The picture of an answer with its hidden nodes, which ``show_view`` takes out; a step of a
    hidden job that would be an edge between visible nodes is not drawn.
    """
    names = _names(sources, answer, history, at, columns=columns)
    answer = _without_hidden_steps(answer, names.plan_jobs, sources.hidden, jobs=jobs)
    view = draw(answer, names, jobs=jobs, columns=columns)
    return mark_declared(view, history.plans.declared(_plans_of(answer)))


def _without_hidden_steps(
    answer: Answer, plan_jobs: Mapping[str, str], hidden: Collection[str], *, jobs: bool
) -> Answer:
    """Between columns, and between tables where no ``jobs`` are drawn, an edge names its jobs."""
    if not hidden:
        return answer
    shown = {plan for plan, job in plan_jobs.items() if job not in hidden}
    edges = (
        edge._replace(plans=tuple(plan for plan in edge.plans if plan in shown))
        for edge in answer.column_edges
        if not edge.plans or not shown.isdisjoint(edge.plans)
    )
    uses = tuple(use for use in answer.plans if jobs or use.job not in hidden)
    return replace(answer, plans=uses, column_edges=tuple(edges))


def _names(
    sources: Sources, answer: Answer, history: History, at: int | None, *, columns: bool
) -> Names:
    datasets = answer.datasets
    plans = {plan for edge in answer.column_edges for plan in edge.plans}
    return Names(
        datasets={row.id: row for row in sources.catalogue.datasets(datasets)},
        jobs={row.id: row for row in sources.catalogue.jobs(answer.jobs)} if answer.jobs else {},
        catalog_names=catalog_names(sources, history, datasets, at),
        last_writes=history.writes.last(datasets, at),
        last_runs=sources.catalogue.last_states(answer.jobs, at) if answer.jobs else {},
        columns=spellings_of(sources, answer.columns, at) if columns else {},
        plan_jobs=history.plans.jobs_of(plans),
        quality=quality_marks(sources, datasets, at),
    )


def spellings_of(
    sources: Sources, columns: Collection[ColumnNode], at: int | None
) -> dict[str, ColumnSpelling]:
    chosen = sources.catalogue.newest_schema_ids({column.dataset for column in columns}, at)
    listed = _listed(sources, set(chosen.values()))
    spellings: dict[str, ColumnSpelling] = {}
    for column in columns:
        columns_of_schema = listed.get(chosen.get(column.dataset, ""), {})
        spelling = spell_column(column.path, columns_of_schema)
        if spelling is not None:
            spellings[column.id] = spelling
    return spellings


def _listed(sources: Sources, schemas: Collection[str]) -> dict[str, Mapping[str, ColumnSpelling]]:
    """Per schema its columns by path."""
    kept = sources.structure.spellings.find(schemas)
    rows = sources.catalogue.schemas(set(schemas) - kept.keys())
    read = {row.id: read_spellings(row.columns) for row in rows}
    sources.structure.spellings.keep(read)
    return {**kept, **read}


def _plans_of(answer: Answer) -> set[str]:
    """The logical plans on the answer's edges."""
    derived = {plan for edge in answer.column_edges for plan in edge.plans}
    return derived | {use.logical_plan for use in answer.plans}


def filter_answer(
    sources: Sources, answer: Answer, history: History, wanted: Filter, asked: frozenset[str]
) -> Answer:
    """The part of an answer that passes the filter ``wanted``; ``asked`` (ids) always stays."""
    if wanted.namespace or wanted.job:
        plans = history.plans.rows({plan for edge in answer.column_edges for plan in edge.plans})
        rows = sources.catalogue.jobs({*answer.jobs, *(row.job for row in plans.values())})
        jobs = {row.id for row in rows if wanted.takes(row)} - sources.hidden
        if answer.jobs:
            answer = keep_jobs(answer, jobs, asked)
        else:
            derived = {plan for plan, row in plans.items() if row.job in jobs}
            answer = keep_derivations(answer, derived, asked)
    if wanted.keep is not None:
        datasets = sources.catalogue.datasets(answer.datasets)
        home = {column.dataset for column in answer.columns if column.id in asked}
        kept = {row.id for row in datasets if wanted.keep(row)}
        answer = keep_datasets(answer, kept, asked | home)
    return answer
