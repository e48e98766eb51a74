"""``/graph/jobs/<id>/runs``: the runs of a job, and one run with its executions;
``/graph/runs/<id>``: one run by any of its ids, with its parents and children at a time.

The tree of runs (a DAG's run, its tasks, the Spark applications under them) is read from catalogue
and journal, level by level, within bounds; an answer reports a bound that it met. Nothing of it is
stored: at another time the tree is another. A run that others name as their parent, and that never
reported itself, is in the tree as an unknown one.

A run may have no end of its own. The rules for that are pure: rows in, a state out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, Final, Literal

from graph_model import identity, labels
from graph_model.answers.facets import cut_bodies
from graph_model.answers.nodes import (
    ExecutionView,
    execution_views,
    is_after,
    job_references,
    job_row,
    open_node,
    open_plan,
)
from graph_model.answers.openlineage_reports import MOST_EVENTS, bodies, shown_event
from graph_model.answers.sources import Sources, of_one_state
from graph_model.errors import NotFound
from graph_model.facts import RunRow
from graph_model.lineage import Partial
from graph_model.lineage.history.history import History
from graph_model.lineage.history.rules import Reports
from graph_model.picture.json_form import page_reply, to_json
from graph_model.picture.view import JobReference
from graph_model.producers.openlineage.events.accumulate import accumulate, separate_runs
from graph_model.producers.openlineage.events.documents import RunEvent, run_key
from graph_model.producers.openlineage.events.facets import spelled_run_id
from graph_model.stores.catalogue_values import RunSummary
from graph_model.stores.documents import DocumentState, StoredDocument
from graph_model.stores.pages import Page
from graph_model.values import iso

_RECENT: Final = 1_000


@dataclass(frozen=True, slots=True)
class RunView:
    id: str
    application_id: str
    started_at: str | None  # None: not reported
    ended_at: str
    state: str
    executions: int
    error: str | None
    items: tuple[ExecutionView, ...] | None = None
    partial: Partial | None = None


@dataclass(frozen=True, slots=True)
class RunPage:
    """Runs that ended. ``reported``: details from OpenLineage, by the run's id; ``open_runs``: the
    runs that have not ended, on the first page only.
    """

    page: Page[RunView]
    reported: Mapping[str, RunBrief]
    open_runs: tuple[RunBrief, ...]


@of_one_state
def runs(
    sources: Sources, job: str, *, limit: int, cursor: str | None, at: int | None, now: int
) -> RunPage:
    """The runs of a job (an id), newest first; ``now`` is epoch ms."""
    sources = open_node(sources, labels.JOB, job)
    job_row(sources, job)
    page = sources.catalogue.list_runs(job, at=at, limit=limit, cursor=cursor)
    written = sources.catalogue.written_by(job, [run.run for run in page.items])
    reports = History(sources.catalogue).writes.reports(written)
    views = (_run_view(run, _count_again(reports, job, run, at)) for run in page.items)
    trees = RunTrees(sources)
    time = now if at is None else at
    return RunPage(
        Page(tuple(views), page.total, page.next),
        trees.states([run.run for run in page.items], time),
        () if cursor else trees.open_runs(job, time),
    )


@of_one_state
def run(sources: Sources, job: str, run: str) -> RunView:
    """One run with its executions, newest first; at most the newest 1,000.

    A write that several agents report is listed once.
    """
    sources = open_node(sources, labels.JOB, job)
    job_row(sources, job)
    summaries = sources.catalogue.list_runs(job, run=run, limit=1).items
    if not summaries:
        raise NotFound("run", run)
    page = sources.catalogue.executions(job=job, run=run, limit=_RECENT)
    cut = Partial("executions", _RECENT) if page.next is not None else None
    history = History(sources.catalogue)
    reports = history.writes.reports({(row.target, row.application_id) for row in page.items})
    again = _again(reports, {row.id for row in page.items})
    rows = history.writes.completed((row for row in page.items if row.id not in again), reports)
    view = _run_view(summaries[0], _count_again(reports, job, summaries[0], None))
    shown = [row for row in rows if row.target not in sources.hidden]
    return replace(view, items=execution_views(sources, shown), partial=cut)


def _again(reports: Iterable[Reports], shown: Collection[str]) -> frozenset[str]:
    """Ids of the listed executions that repeat the report of an earlier one listed."""
    listed = ([row.id for row in group if row.id in shown] for group in reports)
    return frozenset(key for ids in listed for key in ids[1:])


def _count_again(reports: Iterable[Reports], job: str, run: RunSummary, at: int | None) -> int:
    """The number of executions of a run that repeat the report of another one in it."""
    if not run.application_id:
        return 0
    own = {
        row.id
        for group in reports
        for row in group
        if (row.job, row.application_id) == (job, run.application_id) and not is_after(row.at, at)
    }
    return len(_again(reports, own))


def _run_view(run: RunSummary, again: int) -> RunView:
    return RunView(
        id=run.run,
        application_id=run.application_id,
        started_at=iso(run.started_at),
        ended_at=iso(run.ended_at),
        state=run.state,
        executions=run.executions - again,
        error=run.error,
    )


@dataclass(frozen=True, slots=True)
class OpenLineageRun:
    """An OpenLineage run; ``ended`` None: it has no execution yet."""

    tree: RunTree
    ended: RunView | None


@dataclass(frozen=True, slots=True)
class ReportedRun:
    """A run of Spline's agents, without parents or events of its own."""

    ended: RunView
    job: JobReference | None
    producer: str


def one_run(
    sources: Sources, run_id: str, *, at: int | None, now: int
) -> OpenLineageRun | ReportedRun:
    """By its opaque id, the id of its vertex or the client's id; ``now`` is epoch ms.

    Raises NotFound, also for a run of a hidden job unless ``sources`` opens hidden nodes.
    """
    try:
        tree = RunTrees(sources).tree(spelled_run_id(run_id), at, now)
    except NotFound:
        return _reported(sources, run_id)
    job = tree.branch.run.job
    return OpenLineageRun(
        tree, None if job is None else _ended(sources, job.id, tree.branch.run.run)
    )


def _ended(sources: Sources, job: str, vertex: str) -> RunView | None:
    try:
        return run(sources, job, vertex)
    except NotFound:
        return None


def _reported(sources: Sources, run_id: str) -> ReportedRun:
    rows = sources.catalogue.executions(run=run_id, limit=1).items
    if identity.kind_of(run_id) != labels.RUN or not rows:
        raise NotFound("run", run_id)
    opened = open_plan(sources, {rows[0].job}, run_id, "run")
    job = job_references(opened, {rows[0].job}).get(rows[0].job)
    return ReportedRun(run(sources, rows[0].job, run_id), job, rows[0].producer)


MOST_RUNS: Final = 500
MOST_LEVELS: Final = 20
#: The state of a run that other runs reference and that never sent an event.
UNKNOWN: Final = "unknown"
_MOST_ABOVE: Final = 100
_OPEN_LOOKED_AT: Final = 200


@dataclass(frozen=True, slots=True)
class RunBrief:
    """A run in a tree or a list. ``id`` is opaque; ``run`` the id of the graph's run vertex, which
    a Spark application shares with its commands; ``closed`` is the reason why the run counts as
    ended: parent, stale, or "" (its own event). ``known`` False: other runs reference it, and it
    never sent an event.
    """

    id: str
    run_id: str
    run: str
    known: bool
    job: JobReference | None
    state: str
    closed: str
    folded: bool
    endless: bool
    started_at: str | None
    ended_at: str | None
    last_event_at: str | None
    producer: str
    application_id: str
    error: str | None


@dataclass(frozen=True, slots=True)
class RunBranch:
    """``rolled_up`` is the state including the runs below; ``below`` counts those by state."""

    run: RunBrief
    rolled_up: str
    below: Mapping[str, int]
    children: tuple[RunBranch, ...]


@dataclass(frozen=True, slots=True)
class EventView:
    """An event of a run as the client sent it; ``at`` None where its time could not be read.
    ``document`` is its position in the journal.
    """

    at: str | None
    type: str
    producer: str
    document: int
    state: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class RunTree:
    """One run: ``ancestors`` nearest first, ``root`` the last of them or the one it names,
    ``history`` its events by time, ``facets`` those of its newest events:
    None in place of the ``cut`` ones, which are too long for a page.
    """

    branch: RunBranch
    parent: RunBrief | None
    root: RunBrief | None
    ancestors: tuple[RunBrief, ...]
    history: tuple[EventView, ...]
    facets: dict[str, Any]
    cut: tuple[str, ...]
    partial: Partial | None


class RunTrees:
    """Reads one catalogue and one journal; runs of hidden jobs are left out below a run."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._catalogue = sources.catalogue
        self._journal = sources.journal

    def tree(self, run: str, asked: int | None, now: int) -> RunTree:
        """The run with this opaque id, vertex id or client's id, as of ``asked`` (epoch ms).

        None means now, but no earlier than the run's newest event, because clocks differ. Raises
        NotFound where no OpenLineage event names the run, or it had not started.
        """
        row = self._row(run)
        if row is not None:
            self._sources = open_plan(self._sources, {row.job}, run, "run")
        if row is None:
            return self._unknown(run, now if asked is None else asked)
        if row.part and row.parent_run and identity.kind_of(run) == labels.RUN:
            part, row = row, self._whole_of(row)
            if row is None:  # its own events never came
                return self._unknown(part.parent_run, now if asked is None else asked, part)
        if asked is not None and row.started_at > asked:
            raise NotFound("run", run)
        at = max(now, row.last_at) if asked is None else asked
        (above,) = self._above([row])
        below, partial = self._visible_below([row.run_id], row.scope, at)
        heard = self._heard([row, *above, *below.values()], at)
        node = build_tree(row, below.values(), above, at, heard)
        briefs = self._known([row, *above, *below.values()], node)
        listed = tuple(
            briefs.of_row(row, above[place + 1 :], at, heard) for place, row in enumerate(above)
        )
        history, run_facets = self._history(row)
        facets, cut = cut_bodies(run_facets)
        return RunTree(
            briefs.branch(node),
            _called(row.parent_run, listed) or briefs.named(row.parent_run, row.parent_job),
            _called(row.root_run, listed)
            or briefs.named(row.root_run, row.root_job)
            or next(reversed(listed), None),
            listed,
            history,
            facets,
            cut,
            partial or (Partial("events", MOST_EVENTS) if len(history) == MOST_EVENTS else None),
        )

    def states(self, runs: Collection[str], at: int) -> dict[str, RunBrief]:
        """Per run vertex the state of its run at the time, where OpenLineage's events tell it."""
        rows = [row for row in self._catalogue.runs.first_of_runs(runs) if not row.part]
        return {brief.run: brief for brief in self._briefs(rows, at)}

    def open_runs(self, job: str, at: int) -> tuple[RunBrief, ...]:
        """The runs of a job without an end event, newest first.

        Only those that started last are examined: a run that began long ago and never ended is
        stale. A part counts as one of its run.
        """
        rows = self._catalogue.runs.of_job(job, at, _OPEN_LOOKED_AT).rows
        open_rows = [
            row
            for row in _newest_of_subjects(rows)
            if (row.ended_at is None or row.ended_at > at) and not row.part
        ]
        open_rows.sort(key=lambda row: (row.started_at, row.id), reverse=True)
        return self._briefs(open_rows, at)

    def _briefs(self, rows: Sequence[RunRow], at: int) -> tuple[RunBrief, ...]:
        briefs = self._known(rows, None)
        above, heard = self._above(rows), self._heard(rows, at)
        return tuple(
            briefs.of_row(row, over, at, heard) for row, over in zip(rows, above, strict=True)
        )

    def _heard(self, rows: Iterable[RunRow], at: int) -> Heard:
        """When the runs among these that are silent were last heard: through the runs below them,
        be they of hidden jobs, and an application through the executions of its commands as well,
        which Spline's agent may have reported.
        """
        silent = [row for row in rows if status(row, (), at).closed]
        heard = self._catalogue.runs.heard_below(silent)
        vertices = {row.run: (row.run_id, row.scope) for row in silent if not row.part}
        for run, last in self._catalogue.last_of_runs(vertices, at).items():
            heard[vertices[run]] = max(last.at, heard.get(vertices[run], 0))
        return heard

    # --- finding runs

    def _row(self, run: str) -> RunRow | None:
        runs = self._catalogue.runs
        if identity.kind_of(run) == labels.RUN:
            return next(iter(runs.first_of_runs((run,))), None)
        rows = runs.of_subjects((run,)) or runs.called((run,))
        latest = _newest_of_subjects(rows)
        return max(latest, key=lambda row: (row.last_at, row.id), default=None)

    def _whole_of(self, part: RunRow) -> RunRow | None:
        """The run that a part names as its parent, if it is under the same vertex: other runs may
        have its id, and a part may name the vertex itself.
        """
        parents = self._catalogue.runs.called((part.parent_run,), part.scope)
        return newest(row for row in parents if row.run == part.run).get(part.parent_run)

    def _unknown(self, run_id: str, at: int, part: RunRow | None = None) -> RunTree:
        """A run that other runs name as their parent; with ``part`` that one of the parts under
        its vertex.
        """
        named = part or next(iter(self._catalogue.runs.below((run_id,), None, 1).rows), None)
        if named is None or named.started_at > at:
            raise NotFound("run", run_id)
        self._sources = open_plan(self._sources, {named.parent_job}, run_id, "run")
        below, partial = self._visible_below([run_id], named.scope, at)
        heard = self._heard(below.values(), at)
        children = [
            build_tree(row, below.values(), (), at, heard)
            for row in below.values()
            if row.parent_run == run_id and _is_below(row, part)
        ]
        node = unknown_node(run_id, named.parent_job, children)
        briefs = self._known(list(below.values()), node)
        return RunTree(briefs.branch(node), None, None, (), (), {}, (), partial)

    def _above(self, rows: Sequence[RunRow]) -> list[tuple[RunRow, ...]]:
        """For each row the ancestors that sent events, nearest first.

        One request a level for all rows of a scope, for any number of runs.
        """
        known: dict[str, dict[str, RunRow]] = {}
        for row in rows:
            known.setdefault(row.scope, {})[row.run_id] = row
        for scope, by_id in known.items():
            self._add_ancestors(by_id, scope)
        return [ancestors(row, known[row.scope]) for row in rows]

    def _add_ancestors(self, known: dict[str, RunRow], scope: str) -> None:
        wanted = {key for row in known.values() for key in (row.parent_run, row.root_run)}
        for _ in range(_MOST_ABOVE):
            wanted -= {"", *known}
            if not wanted:
                return
            parents = newest(self._catalogue.runs.called(wanted, scope))
            known |= parents
            wanted = {row.parent_run for row in parents.values()}

    def _visible_below(
        self, run_ids: Sequence[str], scope: str, at: int
    ) -> tuple[dict[str, RunRow], Partial | None]:
        """As ``_below``, without runs of hidden jobs: a tree has neither these nor the runs below
        them, in its states and counts as well.
        """
        below, partial = self._below(run_ids, scope, at)
        hidden = self._sources.hidden
        return {key: row for key, row in below.items() if row.job not in hidden}, partial

    def _below(
        self, run_ids: Sequence[str], scope: str, at: int
    ) -> tuple[dict[str, RunRow], Partial | None]:
        """The runs below that had started by then, level by level."""
        below: dict[str, RunRow] = {}
        level = list(run_ids)
        for _ in range(MOST_LEVELS):
            left = MOST_RUNS - len(below)
            page = self._catalogue.runs.below(level, scope, max(left, 1))
            new = {
                key: row
                for key, row in newest(page.rows).items()
                if key not in below and key not in run_ids and row.started_at <= at
            }
            if page.cut or len(new) > left:
                below |= dict(list(new.items())[:left])
                return below, Partial("runs", MOST_RUNS)
            below |= new
            if not new:
                return below, None
            level = sorted(new)
        return below, Partial("levels", MOST_LEVELS)

    def _history(self, row: RunRow) -> tuple[tuple[EventView, ...], dict[str, Any]]:
        documents = self._journal.newest_documents(run_key(row.run_id), row.scope, MOST_EVENTS)
        event_of, rules = self._sources.producers.event, self._sources.rules
        reported = [
            (event, document)
            for document in documents
            if isinstance(event := shown_event(document, rules, event_of), RunEvent)
        ]
        events = _of_run(row, reported)
        listed = [
            EventView(
                iso(event.at),
                event.type,
                event.producer,
                document.position,
                document.state.value,
                document.reason,
            )
            for event, document in sorted(events, key=lambda pair: (pair[0].time, pair[1].position))
        ]
        listed += [
            EventView(None, "", "", document.position, document.state.value, document.reason)
            for document in documents
            if document.state == DocumentState.FAILED
        ]
        spoken = [event for event, _ in events]
        return tuple(listed), bodies(accumulate(spoken).statement.run_facets) if spoken else {}

    def _known(self, rows: Sequence[RunRow], node: RunNode | None) -> _Briefs:
        ids = {key for row in rows for key in (row.job, row.parent_job, row.root_job) if key}
        if node is not None and node.job:
            ids.add(node.job)
        return _Briefs(job_references(self._sources, ids))


def _of_run(
    row: RunRow, reported: Sequence[tuple[RunEvent, StoredDocument]]
) -> Sequence[tuple[RunEvent, StoredDocument]]:
    """The events of the run among those that have its id."""
    named = (row.namespace, row.name)
    return next(
        (
            run.members
            for run in separate_runs(reported, itemgetter(0))
            if max(event.at for event, _ in run.members) == row.last_at
            and any((event.job.namespace, event.job.name) == named for event, _ in run.members)
        ),
        (),
    )


def _newest_of_subjects(rows: Sequence[RunRow]) -> Iterable[RunRow]:
    """One row for each subject: other scopes may have runs with the same id."""
    return newest(rows, key=lambda row: row.subject).values()


def _is_below(row: RunRow, part: RunRow | None) -> bool:
    """Whether a run with the same parent as a part is not a part of another run of that id."""
    return part is None or not row.part or row.run == part.run


def _called(run_id: str, briefs: Sequence[RunBrief]) -> RunBrief | None:
    return next((brief for brief in briefs if brief.run_id == run_id), None)


@dataclass(frozen=True, slots=True)
class _Briefs:
    jobs: Mapping[str, JobReference]

    def branch(self, node: RunNode) -> RunBranch:
        children = tuple(self.branch(child) for child in node.children)
        return RunBranch(self._brief(node), node.rolled_up, node.below, children)

    def _brief(self, node: RunNode) -> RunBrief:
        if node.row is None:
            brief = self._named(node.run_id, node.job, node.status.state)
            parts = (child.row.run for child in node.children if child.row and child.row.part)
            return replace(brief, run=next(parts, ""))
        return self._of(node.row, node.status.state, node.status.closed, node.status.ended_at)

    def of_row(self, row: RunRow, above: Sequence[RunRow], at: int, heard: Heard) -> RunBrief:
        run_status = status(row, above, at, heard.get((row.run_id, row.scope), 0))
        return self._of(row, run_status.state, run_status.closed, run_status.ended_at)

    def _of(self, row: RunRow, state: str, closed: str, ended_at: int | None) -> RunBrief:
        return RunBrief(
            row.subject,
            row.run_id,
            row.run,
            True,
            self.jobs.get(row.job),
            state,
            closed,
            row.folded,
            row.endless,
            iso(row.started_at) if row.start_told else None,
            iso(ended_at),
            iso(row.last_at),
            row.producer,
            row.application_id,
            row.error,
        )

    def named(self, run_id: str, job: str) -> RunBrief | None:
        """A run of which only the name is known; None for no name."""
        return self._named(run_id, job, UNKNOWN) if run_id else None

    def _named(self, run_id: str, job: str, state: str) -> RunBrief:
        return RunBrief(
            run_id, run_id, "", False, self.jobs.get(job), state, "", False, False,
            None, None, None, "", "", None,
        )  # fmt: skip


#: Worst first: the state of a run without events of its own, from the runs below it.
_WORST: Final = (labels.FAILED, labels.RUNNING, labels.ABORTED, labels.COMPLETED)


@dataclass(frozen=True, slots=True)
class RunNode:
    """``row`` None: other runs name it, and it never sent an event. ``rolled_up`` is its state
    including the runs below; ``below`` counts these by state, helpers of Spark left out.
    """

    run_id: str
    job: str
    row: RunRow | None
    status: RunStatus
    rolled_up: str
    below: Mapping[str, int]
    children: tuple[RunNode, ...]


Heard = Mapping[tuple[str, str], int]
"""Per (run id, scope) of a run without a word of its own when others were last heard for it."""


def build_tree(
    row: RunRow, rows: Iterable[RunRow], above: Sequence[RunRow], at: int, heard: Heard
) -> RunNode:
    """The tree below ``row`` at ``at``, of ``rows`` that had started by then.

    ``above`` are its ancestors, nearest first.
    """
    beside: dict[str, list[RunRow]] = {}
    for other in rows:
        if other.started_at <= at and other.run_id != row.run_id:
            beside.setdefault(other.parent_run, []).append(other)
    return _node(row, beside, tuple(above), at, heard, frozenset({row.run_id}))


def _node(
    row: RunRow,
    beside: Mapping[str, Sequence[RunRow]],
    above: tuple[RunRow, ...],
    at: int,
    heard: Heard,
    seen: frozenset[str],
) -> RunNode:
    """``seen`` are the runs on the path to this one: a cycle of parents ends there."""
    children = tuple(
        _node(child, beside, (row, *above), at, heard, seen | {child.run_id})
        for child in beside.get(row.run_id, ())
        if child.run_id not in seen
    )
    own = status(row, above, at, heard.get((row.run_id, row.scope), 0))
    return RunNode(
        row.run_id, row.job, row, own, _rolled_up(own, children), _below(children), children
    )


def unknown_node(run_id: str, job: str, children: Sequence[RunNode]) -> RunNode:
    """A run that only its children name: its state follows from theirs."""
    states = {child.rolled_up for child in children}
    worst = next((state for state in _WORST if state in states), labels.RUNNING)
    own = RunStatus(worst, None, "")
    return RunNode(run_id, job, None, own, worst, _below(children), tuple(children))


def _rolled_up(own: RunStatus, children: Sequence[RunNode]) -> str:
    """A run that has ended has its own state: a failed task may have been retried.

    A run in progress, or one that was closed, has failed if a part of it has failed.
    """
    ended = own.ended_at is not None and not own.closed
    if not ended and any(child.rolled_up == labels.FAILED for child in children):
        return labels.FAILED
    return own.state


def _below(children: Sequence[RunNode]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for child in children:
        if child.row is None or not child.row.folded:
            counts[child.status.state] += 1
        counts.update(child.below)
    return dict(sorted(counts.items()))


# --- the state of a run at a time -----------------------------------------------------------------


Closure = Literal["", "parent", "stale"]


@dataclass(frozen=True, slots=True)
class RunStatus:
    """``state`` of a run at a time. ``closed``: "parent" when a run above it has ended and the run
    itself has not, "stale" when it sent no event for too long, "" when its own events give the
    state.

    ``ended_at`` is that of the run above, or the time of the last event of a stale run.
    """

    state: str
    ended_at: int | None
    closed: Closure


def newest(
    rows: Iterable[RunRow], key: Callable[[RunRow], str] = lambda row: row.run_id
) -> dict[str, RunRow]:
    """One row for each key (the run id), in the order of the keys: while a run is projected anew it
    may have two rows.
    """
    by_key: dict[str, RunRow] = {}
    for row in rows:
        known = by_key.get(key(row))
        if known is None or _newness(row) > _newness(known):
            by_key[key(row)] = row
    return by_key


def _newness(row: RunRow) -> tuple[bool, int, str]:
    return row.ended_at is not None, row.last_at, row.id


def ancestors(row: RunRow, rows: Mapping[str, RunRow]) -> tuple[RunRow, ...]:
    """The runs above one, nearest first, as far as known; a cycle ends the list."""
    known: dict[str, RunRow] = {}
    above = row.parent_run
    most = labels.MOST_RUNS_ABOVE
    while above and above != row.run_id and above not in known and len(known) < most:
        parent = rows.get(above)
        if parent is None:
            break
        known[above] = parent
        above = parent.parent_run
    if row.root_run and row.root_run != row.run_id and (root := rows.get(row.root_run)):
        known.setdefault(root.run_id, root)
    return tuple(known.values())


def status(
    row: RunRow,
    above: Iterable[RunRow],
    at: int,
    heard: int = 0,
    stale_after: int = labels.STALE_AFTER_MS,
) -> RunStatus:
    """The status of a run at ``at`` (epoch ms), given its ancestors, nearest first, and when it was
    last ``heard`` through a run below it.

    A run without an end event is closed by the nearest run above it that has ended: a helper of
    Spark with that run's state, because it is part of it, any other as aborted. So is a stream or
    a service, but silence does not make it stale (unless it reports short windows).
    """
    if row.ended_at is not None and row.ended_at <= at:
        return RunStatus(row.state, row.ended_at, "")
    for parent in above:
        if parent.ended_at is not None and parent.ended_at <= at:
            state = parent.state if row.folded and not row.endless else labels.ABORTED
            return RunStatus(state, max(parent.ended_at, row.started_at), "parent")
    last = max(row.last_at, heard)
    if not row.endless and last + stale_after < at:
        return RunStatus(labels.ABORTED, last, "stale")
    return RunStatus(labels.RUNNING, None, "")


# --- as JSON --------------------------------------------------------------------------------------


def runs_reply(listed: RunPage) -> dict[str, Any]:
    """Runs as their list shows them, without their executions.

    A failed query often lacks its START, and so its duration; that of its application is a START
    of the run as well.
    """
    reply = page_reply(listed.page)
    for item in reply["items"]:
        del item["items"], item["partial"]
        reported = listed.reported.get(item["id"])
        item["told"] = to_json(reported)
        if item["startedAt"] is None and reported is not None:
            item["startedAt"] = to_json(reported.started_at)
        if reported is not None and reported.state != labels.COMPLETED:
            item["state"] = reported.state
    return {**reply, "open": to_json(listed.open_runs)}


def one_run_reply(shown: OpenLineageRun | ReportedRun) -> dict[str, Any]:
    """A run with its tree and its executions."""
    if isinstance(shown, ReportedRun):
        return _reported_reply(shown)
    ended = {"items": [], "partial": None} if shown.ended is None else to_json(shown.ended)
    return _tree_reply(shown.tree, ended)


def _reported_reply(reported: ReportedRun) -> dict[str, Any]:
    """A run that has neither parents nor events of its own, in the words of one that has."""
    whole: dict[str, Any] = to_json(reported.ended)
    state = {"state": whole["state"], "closed": "", "rolledUp": whole["state"], "below": {}}
    return {
        **whole, **state, "runId": None, "run": whole["id"], "known": True, "folded": False,
        "endless": False, "job": to_json(reported.job), "producer": reported.producer,
        "lastEventAt": whole["endedAt"], "children": [], "parent": None, "root": None,
        "ancestors": [], "history": [], "facets": {}, "cut": [],
    }  # fmt: skip


def _tree_reply(tree: RunTree, listed: Mapping[str, Any]) -> dict[str, Any]:
    """``listed``: the executions of the run's vertex, and whether all are."""
    return {
        **branch_reply(tree.branch),
        "parent": to_json(tree.parent),
        "root": to_json(tree.root),
        "ancestors": to_json(tree.ancestors),
        "history": to_json(tree.history),
        "facets": tree.facets,
        "cut": list(tree.cut),
        "items": listed["items"],
        "partial": to_json(tree.partial) or listed["partial"],
    }


def branch_reply(branch: RunBranch) -> dict[str, Any]:
    """A run with those below it."""
    return {
        **to_json(branch.run),
        "rolledUp": branch.rolled_up,
        "below": dict(branch.below),
        "children": [branch_reply(child) for child in branch.children],
    }
