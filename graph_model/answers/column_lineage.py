"""``/graph/column-lineage``: columns across jobs, with the expression at every hop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from graph_model.answers.drawing import draw_answer, walk_lineage
from graph_model.answers.nodes import located_column, location_of
from graph_model.answers.sources import Sources, of_one_state
from graph_model.lineage import (
    Question,
    keep_ends,
)
from graph_model.references import References
from graph_model.view import (
    GraphView,
)


@of_one_state
def column_lineage(
    sources: Sources,
    dataset: str,
    column: str | None,
    question: Question,
    *,
    ends: bool = False,
    layout: bool = False,
    expired: Callable[[], bool] = lambda: False,
    time_limit_ms: int = 0,
) -> GraphView:
    """Columns across jobs, from one column or from all of a dataset (URI or id).

    ``ends``: what a chain begins and ends with alone (``lineage.keep_ends``).
    """
    lineage = walk_lineage(sources, expired, time_limit_ms)
    references = References(sources.catalogue, sources.graph, sources.rules, lineage.past.columns)
    dataset_id = references.dataset(dataset.removeprefix("dataset:"), question.at)
    if column is not None:
        start = [references.column(dataset_id, column)]
        answer = lineage.ask_columns(start, question)
        start = [located_column(sources, one, question.at) for one in start]
    else:
        answer = lineage.ask_columns_of((dataset_id,), question)
        place = location_of(sources, dataset_id, question.at)
        start = [node.id for node in answer.columns if node.dataset == place]
    if ends:
        answer = keep_ends(answer, start)
    if dataset_id not in answer.datasets:
        answer = replace(answer, datasets=tuple(sorted({*answer.datasets, dataset_id})))
    view = draw_answer(
        sources, answer, lineage.past, question.at, jobs=False, columns=True, layout=layout
    )
    return replace(view, focus=dataset_id if column is None else start[0])
