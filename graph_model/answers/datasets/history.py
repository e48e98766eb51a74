"""``/graph/datasets/<id>/history``: the executions that wrote a dataset."""

from __future__ import annotations

from graph_model.answers.executions import ExecutionView, execution_views, repeated_executions
from graph_model.answers.nodes import dataset_row
from graph_model.answers.sources import Sources, of_one_state
from graph_model.facts import (
    ExecutionRow,
)
from graph_model.history.past import Past
from graph_model.store import (
    Page,
)


@of_one_state
def history(
    sources: Sources, dataset: str, *, limit: int, cursor: str | None, at: int | None
) -> Page[ExecutionView]:
    """The executions that wrote a dataset, failed ones too; a write told twice is shown once.

    It stands where its earliest telling does, whatever page one looks at.
    """
    dataset_row(sources, dataset)
    past = Past(sources.catalogue)
    reports = past.reports_of(dataset)
    repeated = repeated_executions(reports, at)
    rows: list[ExecutionRow] = []
    while True:
        page = sources.catalogue.executions(
            target=dataset, at=at, limit=limit - len(rows), cursor=cursor
        )
        rows += [row for row in page.items if row.id not in repeated]
        cursor = page.next
        if cursor is None or len(rows) == limit:
            views = execution_views(sources, past.completed(rows, reports))
            return Page(views, page.total - len(repeated), cursor)
