"""``/graph/lineage``: the neighbourhood of a dataset, a job or a column;
``/graph/column-lineage``: columns across jobs, with the expression at every hop.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from graph_model import identity, labels
from graph_model.answers.facets import quality_marks
from graph_model.answers.nodes import (
    Selection,
    catalog_names,
    filter_of,
    find_dataset,
    find_node,
    located_column,
    location_of,
    show_view,
)
from graph_model.answers.sources import JoinedColumns, References, Sources, of_one_state
from graph_model.errors import InvalidReference
from graph_model.lineage import Answer, ColumnNode, Lineage, PlanUse, Question, keep_ends
from graph_model.lineage.history.history import History
from graph_model.naming.columns import ColumnSpelling, read_spellings, spell_column
from graph_model.picture.filtering import (
    EVERYTHING,
    Filter,
    count_beyond,
    keep_datasets,
    keep_derivations,
    keep_jobs,
    with_attempts,
)
from graph_model.picture.layout import Flow, Flowing
from graph_model.picture.view import GraphView, Names, draw, mark_declared

# An answer of ``lineage`` with names and times, for the graph's routes.


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
        last_runs=sources.catalogue.last_states(answer.jobs, at, sources.now),
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
    rows = sources.catalogue.schemas(set(schemas).difference(kept))
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


# --------------------------------------------------------------------------------------------------

ALL = Selection()


@of_one_state
def lineage(
    sources: Sources,
    question: Question,
    *,
    jobs: bool = True,
    layout: bool = False,
    by_layer: bool = False,
    beyond: bool = False,
    flow: Flowing = Flow.RIGHT,
    selection: Selection = ALL,
) -> GraphView:
    """The neighbourhood of ``question.node``, in any spelling that ``references`` resolves.

    ``selection`` leaves nodes out of the result, never the requested one. ``beyond``: with the
    attempts of failed runs, and the number of neighbours not drawn. Raises InvalidReference
    for a column whose picture shall flow down: its edges run from side to side.
    """
    sources, node = find_node(sources, question.node, question.at)
    if flow is Flow.DOWN and identity.kind_of(node) == labels.COLUMN:
        raise InvalidReference(question.node, "a dataset or a job, where flow is down")
    wanted = filter_of(sources, selection, question.at)
    view = draw_around(
        sources,
        replace(question, node=node),
        jobs=jobs,
        wanted=wanted,
        beyond=beyond,
    )
    return show_view(sources, view, layout=layout, by_layer=by_layer, flow=flow)


def draw_around(
    sources: Sources,
    question: Question,
    *,
    jobs: bool,
    wanted: Filter = EVERYTHING,
    beyond: bool = False,
) -> GraphView:
    """The neighbourhood of a node (an id), hidden nodes included."""
    lineage = sources.lineage
    answer = lineage.ask(question)
    if identity.kind_of(question.node) == labels.DATASET:
        place = location_of(sources.catalogue, question.node, question.at)
        question = replace(question, node=place)
    elif identity.kind_of(question.node) == labels.COLUMN:
        question = replace(question, node=located_column(sources, question.node, question.at))
    answer = filter_answer(sources, answer, lineage.history, wanted, frozenset({question.node}))
    if beyond and question.depth > 0:
        # Of a job that never wrote it the history of writes knows nothing.
        tried = sources.catalogue.jobs_that_tried(question.node, question.at) - sources.hidden
        around = _uses_around(lineage, answer, tried, question)
        whole = with_attempts(answer, around, question.direction, node=question.node)
        if (whole.datasets, whole.jobs) != (answer.datasets, answer.jobs):
            around = _uses_around(lineage, whole, tried, question)
        answer = replace(whole, left_out=count_beyond(whole, around, sources.hidden))
    columns = question.columns or identity.kind_of(question.node) == labels.COLUMN
    view = draw_answer(sources, answer, lineage.history, question.at, jobs=jobs, columns=columns)
    return replace(view, focus=question.node)


def _uses_around(
    lineage: Lineage, answer: Answer, tried: Collection[str], question: Question
) -> tuple[PlanUse, ...]:
    """The plans that ``question.reach`` follows between the drawn nodes, with the jobs that
    ``tried`` to write the one in question, and their neighbours.
    """
    jobs = {*answer.jobs, *tried}
    datasets, jobs, _ = lineage.with_neighbours(answer.datasets, jobs, question.at)
    return lineage.overview(datasets, jobs, question.at, question.reach).plans


@of_one_state
def column_lineage(
    sources: Sources,
    dataset: str,
    column: str | None,
    question: Question,
    *,
    ends: bool = False,
    layout: bool = False,
    by_layer: bool = False,
) -> GraphView:
    """Column lineage across jobs, from one column or from every column of a dataset (URI or id).

    ``ends``: each chain is reduced to its first and last column (``lineage.keep_ends``).
    """
    sources, dataset_id = find_dataset(sources, dataset.removeprefix("dataset:"), question.at)
    lineage = sources.lineage
    if column is not None:
        references = References(
            sources.catalogue,
            sources.graph,
            sources.rules,
            lineage.history.columns.places,
            JoinedColumns(sources.structure, sources.catalogue, lineage),
        )
        start = [references.column(dataset_id, column)]
        answer = lineage.ask_columns(start, question)
        start = [located_column(sources, node_id, question.at) for node_id in start]
    else:
        answer = lineage.ask_columns_of((dataset_id,), question)
        place = location_of(sources.catalogue, dataset_id, question.at)
        start = [node.id for node in answer.columns if node.dataset == place]
    if ends:
        answer = keep_ends(answer, start, sources.hidden)
    if dataset_id not in answer.datasets:
        answer = replace(answer, datasets=tuple(sorted({*answer.datasets, dataset_id})))
    view = draw_answer(sources, answer, lineage.history, question.at, jobs=False, columns=True)
    view = replace(view, focus=dataset_id if column is None else start[0])
    return show_view(sources, view, layout=layout, by_layer=by_layer)


@of_one_state
def columns_of_tables(sources: Sources, datasets: Collection[str], question: Question) -> GraphView:
    """Column lineage from every column of these datasets (ids), in one walk."""
    lineage = sources.lineage
    answer = lineage.ask_columns_of(datasets, question)
    answer = replace(answer, datasets=tuple(sorted({*answer.datasets, *datasets})))
    view = draw_answer(sources, answer, lineage.history, question.at, jobs=False, columns=True)
    return show_view(sources, view, layout=False, by_layer=False)
