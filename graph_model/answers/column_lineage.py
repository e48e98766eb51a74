"""``/graph/column-lineage``: columns across jobs, with the expression at every hop."""

from __future__ import annotations

from dataclasses import replace

from graph_model.answers.drawing import draw_answer
from graph_model.answers.nodes import located_column, location_of
from graph_model.answers.references import References
from graph_model.answers.sources import Sources, of_one_state
from graph_model.answers.visibility import find_dataset, show_view
from graph_model.lineage import Question, keep_ends
from graph_model.picture.view import GraphView


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
