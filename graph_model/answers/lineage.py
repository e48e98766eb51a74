"""``/graph/lineage``: the neighbourhood of a dataset, a job or a column;
``/graph/column-lineage``: columns across jobs, with the expression at every hop.
"""

from __future__ import annotations

from dataclasses import replace

from graph_model import identity, labels
from graph_model.answers.drawing import draw_answer, filter_answer
from graph_model.answers.nodes import located_column, location_of
from graph_model.answers.references import References
from graph_model.answers.sources import Sources, of_one_state
from graph_model.answers.visibility import Selection, filter_of, find_dataset, find_node, show_view
from graph_model.errors import InvalidReference
from graph_model.lineage import Answer, Lineage, PlanUse, Question, keep_ends
from graph_model.picture.filtering import EVERYTHING, Filter
from graph_model.picture.layout import Flow, Flowing
from graph_model.picture.undrawn_neighbours import count_beyond, with_attempts
from graph_model.picture.view import GraphView

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
        around = _uses_around(lineage, answer, question)
        whole = with_attempts(answer, around, question.direction, node=question.node)
        if (whole.datasets, whole.jobs) != (answer.datasets, answer.jobs):
            around = _uses_around(lineage, whole, question)
        answer = replace(whole, left_out=count_beyond(whole, around, sources.hidden))
    columns = question.columns or identity.kind_of(question.node) == labels.COLUMN
    view = draw_answer(sources, answer, lineage.history, question.at, jobs=jobs, columns=columns)
    return replace(view, focus=question.node)


def _uses_around(lineage: Lineage, answer: Answer, question: Question) -> tuple[PlanUse, ...]:
    """The plans that ``question.reach`` follows between the drawn nodes and their neighbours."""
    datasets, jobs, _ = lineage.with_neighbours(answer.datasets, answer.jobs, question.at)
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
            sources.catalogue, sources.graph, sources.rules, lineage.history.columns.places
        )
        start = [references.column(dataset_id, column)]
        answer = lineage.ask_columns(start, question)
        start = [located_column(sources, one, question.at) for one in start]
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
