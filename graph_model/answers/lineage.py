"""``/graph/lineage``: the neighbourhood of a dataset, a job or a column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from graph_model import identity, labels
from graph_model.answers.drawing import draw_answer, filter_answer, walk_lineage
from graph_model.answers.nodes import located_column, location_of
from graph_model.answers.sources import Sources, of_one_state
from graph_model.filtering import (
    EVERYTHING,
    Filter,
)
from graph_model.lineage import (
    Question,
)
from graph_model.view import (
    GraphView,
)


@of_one_state
def lineage(
    sources: Sources,
    question: Question,
    *,
    jobs: bool = True,
    layout: bool = False,
    wanted: Filter = EVERYTHING,
    expired: Callable[[], bool] = lambda: False,
    time_limit_ms: int = 0,
) -> GraphView:
    """The neighbourhood of ``question.node`` (an id that ``references`` resolved).

    ``wanted`` leaves nodes out of what was found, never the one asked about.
    """
    lineage = walk_lineage(sources, expired, time_limit_ms)
    answer = lineage.ask(question)
    if identity.kind_of(question.node) == labels.DATASET:
        question = replace(question, node=location_of(sources, question.node, question.at))
    elif identity.kind_of(question.node) == labels.COLUMN:
        question = replace(question, node=located_column(sources, question.node, question.at))
    answer = filter_answer(sources, answer, lineage.past, wanted, frozenset({question.node}))
    columns = question.columns or identity.kind_of(question.node) == labels.COLUMN
    view = draw_answer(
        sources, answer, lineage.past, question.at, jobs=jobs, columns=columns, layout=layout
    )
    return replace(view, focus=question.node)
