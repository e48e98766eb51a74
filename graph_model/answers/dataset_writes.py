"""The writes of one dataset.

``/graph/datasets/<id>/last-writer``: the newest write of a dataset or of a partition.
``/graph/datasets/<id>/history``: the executions that wrote a dataset. The history of a renamed
table continues under its new name: writes under the former names are in the list too, each with its
name. So are those of locations that share files with it: of a pattern those of its files.

    ALTER TABLE a RENAME TO b, at 12:00  =>  of b: its own, and those of a before 12:00
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from graph_model import labels, naming
from graph_model.answers.datasets import RENAMES_FOLLOWED, Renaming, rename_of, renaming
from graph_model.answers.nodes import (
    ExecutionView,
    dataset_row,
    execution_views,
    is_after,
    open_node,
    repeated_executions,
)
from graph_model.answers.plans import EXECUTIONS_SHOWN
from graph_model.answers.sources import Sources, of_one_state
from graph_model.errors import InvalidReference
from graph_model.facts import MAIN_BRANCH, ExecutionRow, RenameRow
from graph_model.lineage import Partial
from graph_model.lineage.history.history import History
from graph_model.lineage.history.rules import (
    Part,
    Reports,
    Write,
    maybe_touched,
    part_of,
    surely_touched,
)
from graph_model.stores.pages import EXECUTIONS, Page, walk_pages, write_cursor

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
    sources: Sources,
    dataset: str,
    *,
    limit: int,
    cursor: str | None,
    at: int | None,
    of_hidden: bool = True,
) -> WritePage:
    """The executions that wrote a dataset, failed ones too; a write reported twice is listed once.
    Those of hidden jobs are among them, or not (``of_hidden``).

    Its place is that of its earliest report, on whatever page the others are. At most 20 renames
    are followed back; a hidden former name ends the history.
    """
    sources = open_node(sources, labels.DATASET, dataset)
    dataset_row(sources, dataset)
    history = History(sources.catalogue)
    former = _former(sources, dataset, at)
    beside = _written_beside(sources, history, dataset, at)
    kept = beside[:LOCATIONS_LISTED]
    tenures = [
        Tenure(dataset, None, at),
        *former,
        *(Tenure(location, None, at) for location in kept),
    ]
    reported = [(tenure, history.writes.reports_of(tenure.dataset)) for tenure in tenures]
    reports = [group for _, groups in reported for group in groups]
    left_out = frozenset[str]() if of_hidden else sources.hidden
    repeated = {
        row.id
        for tenure, groups in reported
        for _, *again in groups
        for row in again
        if tenure.holds(row.at) and row.job not in left_out
    }
    rows: list[ExecutionRow] = []
    while True:
        page = _written(sources, tenures, left_out, limit - len(rows), cursor)
        rows += [row for row in page.items if row.id not in repeated]
        cursor = page.next
        if cursor is None or len(rows) == limit:
            views = execution_views(sources, history.writes.completed(rows, reports), at)
            names = {tenure.dataset for tenure in former}
            marked = tuple(_marked(view, dataset, names) for view in views)
            cut = None if kept == beside else Partial("locations", LOCATIONS_LISTED)
            return WritePage(marked, page.total - len(repeated), cursor, cut)


def _written_beside(sources: Sources, history: History, dataset: str, at: int | None) -> list[str]:
    """The visible locations that share files with a dataset and were written, newest first."""
    around = set(history.locations.around_at((dataset,), at)[dataset]) - sources.hidden
    times = sources.catalogue.last_writes(around, at) if around else {}
    return sorted(times, key=lambda location: (-times[location], location))


def _former(sources: Sources, dataset: str, at: int | None) -> list[Tenure]:
    """The former names of the table, newest first; each takes one request."""
    tenures: list[Tenure] = []
    own = Tenure(dataset, None, at)
    renames = _renames(sources, own)
    while len(tenures) < RENAMES_FOLLOWED:
        came = next((r for r in renames if r.current == own.dataset and own.holds(r.at)), None)
        if came is None or came.former in sources.hidden or came.former == came.current:
            break
        own = Tenure(came.former, None, came.at - 1)
        renames = _renames(sources, own)
        went = next((r for r in renames if r.former == own.dataset), None)
        own = replace(own, since=None if went is None else went.at)
        tenures.append(own)
    return tenures


def _renames(sources: Sources, own: Tenure) -> tuple[RenameRow, ...]:
    """The newest rename to this name and the newest one away from it, within its period."""
    rows = sources.catalogue.renames_of((own.dataset,), own.until)
    return tuple(row for row in rows if own.holds(row.at))


def _written(
    sources: Sources,
    tenures: Sequence[Tenure],
    left_out: frozenset[str],
    limit: int,
    cursor: str | None,
) -> Page[ExecutionRow]:
    """One page of the executions of all periods, newest first, without those of the jobs that are
    left out; the periods share one cursor.
    """
    written = partial(sources.catalogue.executions, hidden=left_out)
    pages = [
        written(target=tenure.dataset, at=tenure.until, limit=limit, cursor=cursor)
        for tenure in tenures
    ]
    held = [
        row
        for tenure, page in zip(tenures, pages, strict=True)
        for row in page.items
        if tenure.holds(row.at)
    ]
    held.sort(key=lambda row: (row.at, row.id), reverse=True)
    more = len(held) > limit or any(
        page.next is not None and tenure.holds(page.items[-1].at)
        for tenure, page in zip(tenures, pages, strict=True)
    )
    shown = held[:limit]
    following = write_cursor(EXECUTIONS, shown[-1].at, shown[-1].id) if more else None
    # Those under a name before the table had it are none of its own.
    earlier = sum(
        written(target=tenure.dataset, at=tenure.since, limit=1).total
        for tenure in tenures
        if tenure.since is not None
    )
    return Page(tuple(shown), sum(page.total for page in pages) - earlier, following)


def _marked(view: ExecutionView, dataset: str, former: Collection[str]) -> ExecutionView:
    if view.target is None or view.target.id == dataset:
        return view
    if view.target.id in former:
        return replace(view, former_name=view.target)
    return replace(view, location=view.target)


_CANDIDATES_SHOWN = 100


@dataclass(frozen=True, slots=True)
class LastWriter:
    """``failed_since``: failed attempts after the write, newest first.

    ``certain``: the execution is known to have written the requested partition. Otherwise
    ``candidates``, newest first, begin with ``execution`` and end with the newest write that is
    certain, or with the oldest one. ``renames``, newest first, lead to the former name under which
    the execution wrote the table.
    """

    execution: ExecutionView | None
    failed_since: tuple[ExecutionView, ...]
    certain: bool = True
    candidates: tuple[ExecutionView, ...] = ()
    partial: Partial | None = None
    renames: tuple[Renaming, ...] = ()


@of_one_state
def last_writer(
    sources: Sources, dataset: str, *, partition: str | None, at: int | None
) -> LastWriter:
    """The newest completed write (that may have touched the partition), and the failures since.

    A write of a location that shares files with the dataset (a folder above it, a file in it) is
    one of the dataset; one to a branch of the table is not a write of the table itself. Renames
    are followed back: the last writer may have written the table under a former name.

    Raises InvalidReference for a partition that is not ``key=value/…`` with keys that the dataset
    is partitioned by.
    """
    sources = open_node(sources, labels.DATASET, dataset)
    dataset_row(sources, dataset)
    part = part_of(_known_partition(sources, dataset, partition)) if partition is not None else None
    written = dataset if part is not None else _last_written(sources, dataset, at)
    writer = _newest_write(sources, written, part, at)
    renames: list[RenameRow] = []
    while len(renames) < RENAMES_FOLLOWED and (row := _rename_behind(sources, writer)):
        earlier = _newest_write(sources, row.former, part, row.at - 1)
        if earlier.execution is None:
            break
        renames.append(row)
        writer = replace(earlier, failed_since=(*writer.failed_since, *earlier.failed_since))
    return replace(writer, renames=tuple(renaming(sources, row) for row in renames))


def _last_written(sources: Sources, dataset: str, at: int | None) -> str:
    """The location with the newest write among the dataset and those that share files with it."""
    locations = History(sources.catalogue).locations
    shared = locations.with_shared((dataset,), at) - (sources.hidden - {dataset})
    if len(shared) == 1:
        return dataset
    times = sources.catalogue.last_writes(shared, at)
    return max(
        times,
        key=lambda location: (times[location], location == dataset, location),
        default=dataset,
    )


def _rename_behind(sources: Sources, writer: LastWriter) -> RenameRow | None:
    """The rename recorded by the last write, where the last write is certain."""
    write = writer.execution
    if write is None or write.target is None or not writer.certain:
        return None
    return rename_of(sources, write.id, write.target.id)


def _newest_write(sources: Sources, dataset: str, part: Part | None, at: int | None) -> LastWriter:
    history = History(sources.catalogue)
    reports = history.writes.reports_of(dataset)
    writers: list[ExecutionRow] = []
    failed: list[ExecutionRow] = []
    certain = part is None
    for row, write in _attempts(sources, history, dataset, reports, at):
        if write.branch != MAIN_BRANCH:
            continue
        if part is not None and not maybe_touched(write, part):
            continue
        if row.state == labels.COMPLETED:
            writers.append(row)
            certain = certain or (part is not None and surely_touched(write, part))
        elif not writers:
            failed.append(row)
        if writers and (certain or len(writers) == _CANDIDATES_SHOWN):
            break
    shown = execution_views(sources, history.writes.completed(writers, reports), at)
    cut = not certain and len(shown) == _CANDIDATES_SHOWN
    alone = not shown or (certain and len(shown) == 1)
    return LastWriter(
        shown[0] if shown else None,
        execution_views(sources, history.writes.completed(failed, reports), at),
        certain=alone,
        candidates=() if alone else shown,
        partial=Partial("candidates", _CANDIDATES_SHOWN) if cut else None,
    )


def _attempts(
    sources: Sources,
    history: History,
    dataset: str,
    reports: Sequence[Reports],
    at: int | None,
) -> Iterator[tuple[ExecutionRow, Write]]:
    """Writes and attempted writes of a dataset, newest first, each with the
    partitions it touched.
    """
    repeated = repeated_executions(reports, at)

    def ask(cursor: str | None) -> Page[ExecutionRow]:
        return sources.catalogue.executions(
            target=dataset, at=at, limit=EXECUTIONS_SHOWN * 5, cursor=cursor
        )

    for page in walk_pages(ask):
        rows = [r for r in page.items if r.kind == labels.WRITE_KIND and r.id not in repeated]
        writes = history.writes.reported(rows, reports)
        yield from ((row, writes[row.id]) for row in rows)


def _known_partition(sources: Sources, dataset: str, partition: str) -> str:
    """``DT=2026-01-01`` in the spelling that ingestion uses."""
    pairs = naming.partition_pairs(partition)
    keys = [naming.fold(key) for key, _ in pairs]
    if len(pairs) != len(partition.split("/")) or len(set(keys)) != len(keys):
        raise InvalidReference(partition, "key=value/key=value, each key once")
    known = _partition_keys(sources, dataset)
    if not set(keys) <= known:
        names = ", ".join(sorted(known)) or "none: it is not known to be partitioned"
        raise InvalidReference(partition, f"partition keys of this dataset ({names})")
    return naming.partition_text(pairs)


def _partition_keys(sources: Sources, dataset: str) -> set[str]:
    """The partition keys of a dataset, from the plans that wrote it under any of its names."""
    called = {dataset}
    for _ in range(RENAMES_FOLLOWED):
        rows = sources.catalogue.renames_of(called, None)
        former = {row.former for row in rows if row.current in called} - sources.hidden
        if former <= called:
            break
        called |= former
    plans = {writer.logical_plan for writer in sources.catalogue.writers(called, None)}
    written = sources.catalogue.logical_plans(plans)
    return {key for row in written for key in json.loads(row.partition_keys)}
