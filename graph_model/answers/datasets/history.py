"""``/graph/datasets/<id>/history``: the executions that wrote a dataset.

The history of a renamed table continues under its new name: writes under the former names are in
the list too, each with its name.

    ALTER TABLE a RENAME TO b, at 12:00  =>  of b: its own, and those of a before 12:00

So are those of locations that share files with it: of a pattern those of its files.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from graph_model import labels
from graph_model.answers.datasets.renames import RENAMES_FOLLOWED
from graph_model.answers.executions import ExecutionView, execution_views, is_after
from graph_model.answers.nodes import dataset_row
from graph_model.answers.sources import Sources, of_one_state
from graph_model.answers.visibility import open_node
from graph_model.facts import ExecutionRow, RenameRow
from graph_model.lineage import Partial
from graph_model.lineage.history.history import History
from graph_model.stores.pages import EXECUTIONS, Page, write_cursor

LOCATIONS_LISTED: Final = 20
"""The locations that share files with a dataset of which a history has the writes: those written
last; of more the history is partial.
"""


@dataclass(frozen=True, slots=True)
class WritePage(Page[ExecutionView]):
    """``partial``: whether the writes of some locations are left out."""

    partial: Partial | None = None


@dataclass(frozen=True, slots=True)
class Tenure:
    """A period in which the table had this name: after ``since`` (None: from the first) to
    ``until`` (None: to the last), epoch ms.
    """

    dataset: str
    since: int | None
    until: int | None

    def holds(self, time: int) -> bool:
        return (self.since is None or time > self.since) and not is_after(time, self.until)


@of_one_state
def history(
    sources: Sources, dataset: str, *, limit: int, cursor: str | None, at: int | None
) -> WritePage:
    """The executions that wrote a dataset, failed ones too; a write reported twice is listed once.

    Its place is that of its earliest report, on whatever page the others are. At most 20 renames
    are followed back; a hidden former name ends the history.
    """
    sources = open_node(sources, labels.DATASET, dataset)
    dataset_row(sources, dataset)
    history = History(sources.catalogue)
    former = _former(sources, dataset, at)
    beside = _written_beside(sources, history, dataset, at)
    kept = beside[:LOCATIONS_LISTED]
    tenures = [Tenure(dataset, None, at), *former, *(Tenure(one, None, at) for one in kept)]
    reported = [(tenure, history.writes.reports_of(tenure.dataset)) for tenure in tenures]
    reports = [group for _, groups in reported for group in groups]
    repeated = {
        row.id
        for tenure, groups in reported
        for _, *again in groups
        for row in again
        if tenure.holds(row.at)
    }
    rows: list[ExecutionRow] = []
    while True:
        page = _written(sources, tenures, limit - len(rows), cursor)
        rows += [row for row in page.items if row.id not in repeated]
        cursor = page.next
        if cursor is None or len(rows) == limit:
            views = execution_views(sources, history.writes.completed(rows, reports))
            names = {tenure.dataset for tenure in former}
            marked = tuple(_marked(view, dataset, names) for view in views)
            partial = None if kept == beside else Partial("locations", LOCATIONS_LISTED)
            return WritePage(marked, page.total - len(repeated), cursor, partial)


def _written_beside(sources: Sources, history: History, dataset: str, at: int | None) -> list[str]:
    """The visible locations that share files with a dataset and were written, newest first."""
    around = set(history.locations.around_at((dataset,), at)[dataset]) - sources.hidden
    times = sources.catalogue.last_writes(around, at) if around else {}
    return sorted(times, key=lambda one: (-times[one], one))


def _former(sources: Sources, dataset: str, at: int | None) -> list[Tenure]:
    """The former names of the table, newest first; each takes one request."""
    found: list[Tenure] = []
    own = Tenure(dataset, None, at)
    renames = _renames(sources, own)
    while len(found) < RENAMES_FOLLOWED:
        came = next((r for r in renames if r.current == own.dataset and own.holds(r.at)), None)
        if came is None or came.former in sources.hidden or came.former == came.current:
            break
        own = Tenure(came.former, None, came.at - 1)
        renames = _renames(sources, own)
        went = next((r for r in renames if r.former == own.dataset), None)
        own = replace(own, since=None if went is None else went.at)
        found.append(own)
    return found


def _renames(sources: Sources, own: Tenure) -> tuple[RenameRow, ...]:
    """The newest rename to this name and the newest one away from it, within its period."""
    rows = sources.catalogue.renames_of((own.dataset,), own.until)
    return tuple(row for row in rows if own.holds(row.at))


def _written(
    sources: Sources, tenures: Sequence[Tenure], limit: int, cursor: str | None
) -> Page[ExecutionRow]:
    """One page of the executions of all periods, newest first; the periods share one cursor."""
    pages = [
        sources.catalogue.executions(target=one.dataset, at=one.until, limit=limit, cursor=cursor)
        for one in tenures
    ]
    held = [
        row
        for one, page in zip(tenures, pages, strict=True)
        for row in page.items
        if one.holds(row.at)
    ]
    held.sort(key=lambda row: (row.at, row.id), reverse=True)
    more = len(held) > limit or any(
        page.next is not None and one.holds(page.items[-1].at)
        for one, page in zip(tenures, pages, strict=True)
    )
    shown = held[:limit]
    following = write_cursor(EXECUTIONS, shown[-1].at, shown[-1].id) if more else None
    total = sum(page.total for page in pages) - sum(_earlier(sources, one) for one in tenures)
    return Page(tuple(shown), total, following)


def _earlier(sources: Sources, tenure: Tenure) -> int:
    """The number of executions under this name before the table had it."""
    if tenure.since is None:
        return 0
    return sources.catalogue.executions(target=tenure.dataset, at=tenure.since, limit=1).total


def _marked(view: ExecutionView, dataset: str, former: Collection[str]) -> ExecutionView:
    if view.target is None or view.target.id == dataset:
        return view
    if view.target.id in former:
        return replace(view, former_name=view.target)
    return replace(view, location=view.target)
