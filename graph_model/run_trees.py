"""Runs with what started them and what they started, at a time.

``openlineage.trees`` is the pure part; this module asks catalogue and journal, level by level,
within bounds that the answer tells of.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from graph_model import identity, labels
from graph_model.errors import NotFound
from graph_model.facts import RunRow
from graph_model.lineage import Partial
from graph_model.openlineage import RunEvent, accumulate, ancestors, newest, status
from graph_model.openlineage.documents import run_home, run_key
from graph_model.openlineage.inspection import bodies
from graph_model.openlineage.trees import RunNode, build_tree, unknown_node
from graph_model.store import Catalogue, DocumentState, Journal
from graph_model.told_plans import MOST_EVENTS, readable
from graph_model.view import JobReference, iso, job_reference

MOST_RUNS: Final = 500
MOST_LEVELS: Final = 20
#: The state of a run that others name, and that never reported itself.
UNKNOWN: Final = "unknown"
_MOST_ABOVE: Final = 100
_OPEN_LOOKED_AT: Final = 200


@dataclass(frozen=True, slots=True)
class RunBrief:
    """A run in a tree or a list. ``id`` is opaque; ``run`` the id of the graph's run vertex, which
    a Spark application shares with its commands; ``closed`` parent, stale or "" (its own word).
    ``known`` False: others name it, itself it never reported.
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
    """``rolled_up`` is the state with what is below; ``below`` counts that by state."""

    run: RunBrief
    rolled_up: str
    below: Mapping[str, int]
    children: tuple[RunBranch, ...]


@dataclass(frozen=True, slots=True)
class EventView:
    """An event of a run as it came; ``at`` None where it could not be read. ``document`` is its
    position in the journal.
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
    ``history`` its events by time, ``facets`` those of its newest events.
    """

    branch: RunBranch
    parent: RunBrief | None
    root: RunBrief | None
    ancestors: tuple[RunBrief, ...]
    history: tuple[EventView, ...]
    facets: dict[str, Any]
    partial: Partial | None


class RunTrees:
    """Asks one catalogue and one journal."""

    def __init__(self, catalogue: Catalogue, journal: Journal) -> None:
        self._catalogue = catalogue
        self._journal = journal

    def tree(self, run: str, asked: int | None, now: int) -> RunTree:
        """The run with this opaque id, vertex id or client's id, as of ``asked`` (epoch ms).

        None asks for now, and for no earlier time than its newest event: clocks differ. Raises
        NotFound where no event of OpenLineage names it, or it had not started.
        """
        row = self._row(run)
        if row is None:
            return self._unknown(run, now if asked is None else asked)
        if asked is not None and row.started_at > asked:
            raise NotFound("run", run)
        at = max(now, row.last_at) if asked is None else asked
        (above,) = self._above([row])
        below, partial = self._below([row.run_id], row.scope, at)
        node = build_tree(row, below.values(), above, at)
        briefs = _Briefs(self._jobs([row, *above, *below.values()], node))
        listed = tuple(
            briefs.of_row(one, above[place + 1 :], at) for place, one in enumerate(above)
        )
        history, facets = self._history(row)
        return RunTree(
            briefs.branch(node),
            _called(row.parent_run, listed) or briefs.named(row.parent_run, row.parent_job),
            _called(row.root_run, listed)
            or briefs.named(row.root_run, row.root_job)
            or next(reversed(listed), None),
            listed,
            history,
            facets,
            partial or (Partial("events", MOST_EVENTS) if len(history) == MOST_EVENTS else None),
        )

    def states(self, runs: Collection[str], at: int) -> dict[str, RunBrief]:
        """Per run vertex that OpenLineage tells of, what its run is at the time."""
        rows = self._catalogue.runs.first_of_runs(runs)
        return {brief.run: brief for brief in self._briefs(rows, at)}

    def open_runs(self, job: str, at: int) -> tuple[RunBrief, ...]:
        """The runs of a job that have not ended by their own word, newest first.

        Of those that started last: what began long ago and never ended is stale anyway. What runs
        inside an application of the same job is a part of that.
        """
        rows = self._catalogue.runs.of_job(job, at, _OPEN_LOOKED_AT).rows
        going = [
            row
            for row in _newest_of_subjects(rows)
            if (row.ended_at is None or row.ended_at > at) and row.parent_job != row.job
        ]
        going.sort(key=lambda row: (row.started_at, row.id), reverse=True)
        return self._briefs(going, at)

    def _briefs(self, rows: Sequence[RunRow], at: int) -> tuple[RunBrief, ...]:
        briefs = _Briefs(self._jobs(rows, None))
        above = self._above(rows)
        return tuple(briefs.of_row(row, over, at) for row, over in zip(rows, above, strict=True))

    # --- finding

    def _row(self, run: str) -> RunRow | None:
        runs = self._catalogue.runs
        if identity.kind_of(run) == labels.RUN:
            return next(iter(runs.first_of_runs((run,))), None)
        rows = runs.of_subjects((run,)) or runs.called((run,))
        found = _newest_of_subjects(rows)
        return max(found, key=lambda row: (row.last_at, row.id), default=None)

    def _unknown(self, run_id: str, at: int) -> RunTree:
        """A run that others name as theirs."""
        named = self._catalogue.runs.below((run_id,), None, 1).rows
        if not named or named[0].started_at > at:
            raise NotFound("run", run_id)
        below, partial = self._below([run_id], named[0].scope, at)
        children = [
            build_tree(row, below.values(), (), at)
            for row in below.values()
            if row.parent_run == run_id
        ]
        node = unknown_node(run_id, named[0].parent_job, children)
        briefs = _Briefs(self._jobs(list(below.values()), node))
        return RunTree(briefs.branch(node), None, None, (), (), {}, partial)

    def _above(self, rows: Sequence[RunRow]) -> list[tuple[RunRow, ...]]:
        """Of each its ancestors as far as they reported themselves, nearest first.

        One request a level for all of a scope, however many runs there are.
        """
        known: dict[str, dict[str, RunRow]] = {}
        for row in rows:
            known.setdefault(row.scope, {})[row.run_id] = row
        for scope, found in known.items():
            self._add_ancestors(found, scope)
        return [ancestors(row, known[row.scope]) for row in rows]

    def _add_ancestors(self, known: dict[str, RunRow], scope: str) -> None:
        wanted = {key for row in known.values() for key in (row.parent_run, row.root_run)}
        for _ in range(_MOST_ABOVE):
            wanted -= {"", *known}
            if not wanted:
                return
            found = newest(self._catalogue.runs.called(wanted, scope))
            known |= found
            wanted = {row.parent_run for row in found.values()}

    def _below(
        self, run_ids: Sequence[str], scope: str, at: int
    ) -> tuple[dict[str, RunRow], Partial | None]:
        """Level by level what started below by then."""
        found: dict[str, RunRow] = {}
        level = list(run_ids)
        for _ in range(MOST_LEVELS):
            left = MOST_RUNS - len(found)
            page = self._catalogue.runs.below(level, scope, max(left, 1))
            new = {
                key: row
                for key, row in newest(page.rows).items()
                if key not in found and key not in run_ids and row.started_at <= at
            }
            if page.cut or len(new) > left:
                found |= dict(list(new.items())[:left])
                return found, Partial("runs", MOST_RUNS)
            found |= new
            if not new:
                return found, None
            level = sorted(new)
        return found, Partial("levels", MOST_LEVELS)

    def _history(self, row: RunRow) -> tuple[tuple[EventView, ...], dict[str, Any]]:
        documents = self._journal.told(run_key(row.run_id), row.scope, MOST_EVENTS)
        events = [
            (event, one)
            for one in documents
            if isinstance(event := readable(one), RunEvent)
            and run_home(event) in ("", row.namespace)
        ]
        listed = [
            EventView(
                iso(event.at), event.type, event.producer, one.position, one.state.value, one.reason
            )
            for event, one in sorted(events, key=lambda pair: (pair[0].time, pair[1].position))
        ]
        listed += [
            EventView(None, "", "", one.position, one.state.value, one.reason)
            for one in documents
            if one.state == DocumentState.FAILED
        ]
        spoken = [event for event, _ in events]
        return tuple(listed), bodies(accumulate(spoken).statement.run_facets) if spoken else {}

    def _jobs(self, rows: Sequence[RunRow], node: RunNode | None) -> dict[str, JobReference]:
        ids = {key for row in rows for key in (row.job, row.parent_job, row.root_job) if key}
        if node is not None and node.job:
            ids.add(node.job)
        return {row.id: job_reference(row) for row in self._catalogue.jobs(ids)}


def _newest_of_subjects(rows: Sequence[RunRow]) -> Iterable[RunRow]:
    """One row a subject: of other scopes there may be runs of the same id."""
    return newest(rows, key=lambda row: row.subject).values()


def _called(run_id: str, briefs: Sequence[RunBrief]) -> RunBrief | None:
    return next((brief for brief in briefs if brief.run_id == run_id), None)


@dataclass(frozen=True, slots=True)
class _Briefs:
    jobs: Mapping[str, JobReference]

    def branch(self, node: RunNode) -> RunBranch:
        brief = self._brief(node)
        return RunBranch(
            brief, node.rolled_up, node.below, tuple(self.branch(one) for one in node.children)
        )

    def _brief(self, node: RunNode) -> RunBrief:
        if node.row is None:
            return self._named(node.run_id, node.job, node.status.state)
        return self._of(node.row, node.status.state, node.status.closed, node.status.ended_at)

    def of_row(self, row: RunRow, above: Sequence[RunRow], at: int) -> RunBrief:
        found = status(row, above, at)
        return self._of(row, found.state, found.closed, found.ended_at)

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
        """A run that is known by name alone; None for no name."""
        return self._named(run_id, job, UNKNOWN) if run_id else None

    def _named(self, run_id: str, job: str, state: str) -> RunBrief:
        return RunBrief(
            run_id, run_id, "", False, self.jobs.get(job), state, "", False, False,
            None, None, None, "", "", None,
        )  # fmt: skip
