"""The documents that a forget or prune command names, computed when it is given.

The command's document names them explicitly (content hashes, times), so that a later rebuild, also
elsewhere, has the same result without computing them again.

They are computed from the catalogue's rows and not from the graph, which may be down: a graph that
has outgrown its memory needs these commands most, because they make it smaller.

A prune goes in steps of a bounded number of executions, so that documents are projected in between:

    5,000 executions before March of one job -> 1,000 before 3 January, 1,000 before 9 January, …

A step is computed after the one before it was carried out, and begins where that one ended. An
execution that is still there, though it lies before a cut-off in force, stays: its run also wrote
something that stays, and no later command about the same table removes it. All tables of a job are
cut at one time, since a run goes only when all its writes are covered.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, takewhile
from sys import intern
from typing import Final, NamedTuple

from cachetools import LRUCache

from graph_model import identity, labels
from graph_model.errors import Rebuilding
from graph_model.facts import ExecutionRow, JobRow, LogicalPlanRow, ReadVersionRow
from graph_model.lineage.history import MERGE_WINDOW_MS, Moment
from graph_model.lineage.history.history import History, moment_of
from graph_model.lineage.history.writes import DatasetNames
from graph_model.naming import Rules
from graph_model.producers.commands import (
    COMMAND_KIND,
    MOST_CUTOFFS,
    MOST_DOCUMENTS,
    Command,
    Cutoff,
    Forget,
    Prune,
    Retract,
    Statement,
)
from graph_model.producers.registry import PRODUCERS, Producers, Translation
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.catalogue.rows import is_catalogue_whole
from graph_model.stores.documents import DocumentState
from graph_model.stores.journal import Journal
from graph_model.stores.pages import Page, walk_pages, walk_rows
from graph_model.values import batched

# The time since which the writes of each dataset are needed: a kept execution read them, or a write
# that is needed itself.
#
#     a person asks that runs since 15 January stay
#     fine reads staged on 20 January; its last overwrite was on 10 January => it stays since then
#     … and so do the inputs of that write of 10 January, as they were then
#
# ``lineage.history`` decides which writes a read saw, as in answers: by a version that it names, of
# every name of a table, without writes to other branches.
#
# A table that each run makes from its own former state is followed back a run at a time, so a step
# looks only at the plans that write a dataset whose time has moved.

_BEGINNING: Final = 0
_AT_ONCE: Final = 500
_PAGE: Final = 1_000
_MOST_MOMENTS: Final = 10_000
"""The reader of histories remembers each moment; after so many, another one begins."""
_MOST_READS: Final = 50_000
"""The plans whose reads are remembered."""
_READ: Final = "read"


class _Plan(NamedTuple):
    """A logical plan with the times (epoch ms) of its first and last completed execution; a
    declared one has executions until it is replaced.
    """

    job: str
    target: str
    first: int
    last: int


class _Reads(NamedTuple):
    """The datasets that a plan reads, and whether an execution of it named a version of one."""

    sources: Collection[str]
    names_versions: bool


class NeededWrites:
    """``times``: per dataset the time (epoch ms) since which its writes are needed; it only moves
    back. ``written``: the (job, dataset) of all plans.

    ``kept_since`` is per job the time since which its executions stay.
    """

    def __init__(
        self, plans: Iterable[LogicalPlanRow], kept_since: Mapping[str, int], catalogue: Catalogue
    ) -> None:
        self._times_kept = kept_since
        self._catalogue = catalogue
        self._history = History(catalogue)
        self._moments = 0  # that the history remembers
        written = {row.id: (intern(row.job), intern(row.target)) for row in plans}
        self.written: Final = frozenset(written.values())
        self.times: dict[str, int] = {}
        self._moved: set[str] = set()
        for job, target in self.written:
            self._need(target, kept_since[job] + 1)
        self._plans = _completed_plans(written, catalogue)
        self._writers: defaultdict[str, list[str]] = defaultdict(list)
        for key, plan in self._plans.items():
            self._writers[plan.target].append(key)
        self._followed: dict[str, int] = {}
        self._reads: LRUCache[str, _Reads] = LRUCache(_MOST_READS)

    def follow(self) -> None:
        """Follow the writes visible at the times ``kept_since`` upstream, until no time moves."""
        self._lower({moment_of(to, self._times_kept[job]) for job, to in self.written if to})
        due: Collection[str] = self._plans.keys()
        while due:
            self._moved.clear()
            for some in batched(self._kept_plans(due), _AT_ONCE):
                self._follow(dict(some))
            due = {plan for target in self._moved for plan in self._writers.get(target, ())}

    def _kept_plans(self, plans: Collection[str]) -> Iterator[tuple[str, int]]:
        """Each of these plans with the time of its first execution that may stay, where that is
        before the time from which it was followed last.
        """
        for key in sorted(plans):
            since = self._kept_since(self._plans[key])
            if since is not None and since < self._followed.get(key, since + 1):
                yield key, since

    def _follow(self, kept: Mapping[str, int]) -> None:
        """The writes that these plans' executions since the given times read are needed: those that
        are visible to the first of these executions, and all later ones.
        """
        reads = self._reads_of(kept)
        self._lower(
            {moment for key, at in kept.items() for moment in self._read(key, at, reads[key])}
        )
        for key, at in kept.items():
            self._need_each(reads[key].sources, at)
        self._followed |= kept

    def _kept_since(self, plan: _Plan) -> int | None:
        """The time of the plan's first execution that may stay; None where none does. All
        executions of a plan that only reads do.
        """
        if not plan.target:
            return plan.first
        stays = min(self._times_kept[plan.job], self.times[plan.target])
        # the two writes of a CREATE TABLE AS SELECT are one: both stay
        return max(plan.first, stays) if stays <= plan.last + MERGE_WINDOW_MS else None

    def _reads_of(self, plans: Collection[str]) -> dict[str, _Reads]:
        unknown = [key for key in plans if key not in self._reads]
        reads = {}
        if unknown:
            sources = sources_of(unknown, self._catalogue, self._history.names)
            bound = {key for key, _ in self._history.reads.bound(unknown)}
            reads = {key: _Reads(sources.get(key, ()), key in bound) for key in unknown}
        reads |= {key: self._reads[key] for key in plans if key not in reads}
        self._reads.update(reads)
        return reads

    def _read(self, plan: str, since: int, reads: _Reads) -> Iterator[Moment]:
        """The oldest states of its sources that the plan's executions since this time read."""
        for source in reads.sources:
            yield moment_of(source, since - 1)
        if reads.names_versions:
            yield from self._history.reads.bound_moments(self._oldest_bound(plan, since))

    def _oldest_bound(self, plan: str, since: int) -> Collection[tuple[ReadVersionRow, int]]:
        """The oldest version of each branch that the plan's executions since this time read, of
        those that are not followed yet.
        """
        oldest: dict[object, tuple[ReadVersionRow, int]] = {}
        for rows in batched(self._executions(plan, since), _AT_ONCE):
            at = {row.id: row.at for row in rows}
            for read in self._catalogue.read_versions(at):
                key, dated = _branch(read), (read, at[read.execution])
                oldest[key] = min(dated, oldest.get(key, dated), key=_age)
        return oldest.values()

    def _executions(self, plan: str, since: int) -> Iterator[ExecutionRow]:
        followed = self._followed.get(plan)
        last = None if followed is None else followed - 1

        def ask(cursor: str | None) -> Page[ExecutionRow]:
            return self._catalogue.executions(
                logical_plan=plan, state=labels.COMPLETED, at=last, limit=_PAGE, cursor=cursor
            )

        newest_first = (row for page in walk_pages(ask) for row in page.items)
        return takewhile(lambda row: row.at >= since, newest_first)

    def _lower(self, moments: Collection[Moment]) -> None:
        """The writes that are visible in these moments are needed."""
        for some in batched(sorted(moments), _AT_ONCE):
            self._moments += len(some)
            if self._moments > _MOST_MOMENTS:
                self._history, self._moments = History(self._catalogue), len(some)
            for moment, visible in self._history.visible_writes.of(some).items():
                if moment.bound and not (visible.writes or visible.older):
                    # nobody has reported that version: a later one may be read, too
                    self._need_each((moment.dataset,), _BEGINNING)
                for write in visible.writes:
                    self._need(write.target, write.at)
                for older in visible.older:
                    if older.logical_plan in self._plans:
                        self._need(self._plans[older.logical_plan].target, older.first)

    def _need_each(self, datasets: Collection[str], at: int) -> None:
        """The writes of these datasets, and of locations that share files with them, are needed
        since this time, under all their names.
        """
        shared = self._history.locations.with_shared(datasets, None)
        for targets in self._history.names.targets_of(shared).values():
            for target, _ in targets:
                self._need(target, at)

    def _need(self, target: str, at: int) -> None:
        if at < self.times.get(target, at + 1):
            self.times[target] = at
            self._moved.add(target)


def sources_of(
    plans: Collection[str], catalogue: Catalogue, names: DatasetNames
) -> dict[str, set[str]]:
    """Per plan the datasets it reads, a catalog name together with its locations."""
    reads = [use for use in catalogue.uses(logical_plans=plans) if use.role == _READ]
    places = names.locations_of({use.dataset for use in reads})
    sources: dict[str, set[str]] = {}
    for use in reads:
        sources.setdefault(use.logical_plan, set()).update((use.dataset,), places[use.dataset])
    return sources


def _completed_plans(
    written: Mapping[str, tuple[str, str]], catalogue: Catalogue
) -> dict[str, _Plan]:
    """The plans with a completed execution, by id."""
    ends = _ends_of_declarations({target for _, target in written.values() if target}, catalogue)
    plans = {}
    for some in batched(sorted(written), _AT_ONCE):
        for span in catalogue.plan_spans(some, None):
            if span.state == labels.COMPLETED:
                key = span.logical_plan
                plans[key] = _Plan(
                    *written[key], span.first, max(span.last, ends.get(key, span.last))
                )
    return plans


def _ends_of_declarations(targets: Collection[str], catalogue: Catalogue) -> dict[str, int]:
    """Per declared plan the time until which it is in force."""
    ends: dict[str, int] = {}
    for some in batched(sorted(targets), _AT_ONCE):
        for flow in catalogue.declared_flows(some):
            ends[flow.logical_plan] = max(flow.ends, ends.get(flow.logical_plan, flow.ends))
    return ends


def _branch(read: ReadVersionRow) -> object:
    """Versions without a number have no order: each counts."""
    return (read.dataset, read.branch, read.version if read.number < 0 else None)


def _age(dated: tuple[ReadVersionRow, int]) -> tuple[int, int]:
    read, at = dated
    return (read.number if read.since < 0 else min(read.number, read.since)), at


# --------------------------------------------------------------------------------------------------

MOST_LOOKED_AT: Final = 1_000
"""Plans and runs that are translated to see whether a forget command covers them."""
_ALL_SUBJECTS: Final = 1_000_000
"""No cut: a forget command must find every report of the thing that it forgets."""
_ALWAYS: Final = -(1 << 62)
EXECUTIONS_A_RUN: Final = 1_000
"""The newest N runs of a job keep at most 1,000 N executions, the newest: a stream is one run for
months, and so is the application of a cluster that is never stopped."""


def affected_subject_keys(command: Command, catalogue: Catalogue) -> set[str]:
    """The subject keys whose facts change under this command."""
    if isinstance(command.instruction, Forget | Retract):
        return set(command.instruction.subject_keys)
    if isinstance(command.instruction, Statement):
        return set()  # statements of people change no facts
    subject_keys: set[str] = set()
    for cutoff in command.instruction.cutoffs:
        job, target = cutoff.key
        subject_keys |= {
            row.plan_id for row in list_executions(catalogue, job, target, before=cutoff.before)
        }
    return subject_keys


def list_executions(
    catalogue: Catalogue, job: str, target: str, *, before: int
) -> Iterator[ExecutionRow]:
    """All executions of a job that wrote a dataset before a time (epoch ms), newest first."""

    def ask(cursor: str | None) -> Page[ExecutionRow]:
        return catalogue.executions(
            job=job, target=target, at=before - 1, limit=1000, cursor=cursor
        )

    return (row for page in walk_pages(ask) for row in page.items)


# --- forget --------------------------------------------------------------------------------------


def subject_keys_of_job(job: str, catalogue: Catalogue) -> frozenset[str]:
    """The subject keys of every logical plan of a job."""
    return catalogue.plan_ids({row.id for row in catalogue.logical_plans_of([job])})


def subject_keys_of_dataset(dataset: str, catalogue: Catalogue) -> frozenset[str]:
    """The subject keys of every plan that reads, writes or names a dataset."""
    names = DatasetNames(catalogue)
    same = {dataset, *names.names_of([dataset])[dataset], *names.locations_of([dataset])[dataset]}
    uses = catalogue.uses(datasets=same)
    return catalogue.plan_ids({use.logical_plan for use in uses})


def subjects_without_plan(node: str, catalogue: Catalogue) -> frozenset[str]:
    """Subjects of OpenLineage that report a job or a dataset without a plan: unfinished runs,
    helpers of Spark, a dataset's declarations.
    """
    if identity.kind_of(node) == labels.JOB:
        return catalogue.run_subjects(node)
    return frozenset(catalogue.supporters(node, _ALL_SUBJECTS))


def waiting_subject_keys(
    nodes: Collection[str], journal: Journal, rules: Rules, producers: Producers = PRODUCERS
) -> frozenset[str]:
    """The subject keys of documents that report one of these nodes and that no catalogue knows yet,
    because they were never projected (or are to fill an empty one).

    Raises Rebuilding if there are more than the search covers.
    """
    translation = Translation(rules, producers)
    return frozenset(
        key
        for key in _unknown_subject_keys(journal)
        if any(
            v.id in nodes for v in translation.project_all(journal.documents_of(key)).facts.vertices
        )
    )


def _unknown_subject_keys(journal: Journal) -> frozenset[str]:
    is_whole = is_catalogue_whole(journal)
    subject_keys: set[str] = set()
    for page in walk_pages(
        lambda cursor: journal.entries(state=DocumentState.PENDING, limit=1000, cursor=cursor)
    ):
        subject_keys |= {
            entry.subject_key
            for entry in page.items
            if entry.kind != COMMAND_KIND and (entry.is_fresh or not is_whole)
        }
        if len(subject_keys) > MOST_LOOKED_AT:
            raise Rebuilding(
                f"more than {MOST_LOOKED_AT:,} plans and runs wait for projection, so the "
                "command's effect is unknown. One document can be forgotten by its position"
            )
    return frozenset(subject_keys)


def ensure_known(journal: Journal) -> None:
    """Raises Rebuilding while an emptied catalogue is filled: missing executions may depend on
    present ones.
    """
    if not is_catalogue_whole(journal):
        raise Rebuilding("the catalogue is being rebuilt: the command's effect is not known yet")


def resolve_forget(subject_keys: Collection[str], journal: Journal) -> tuple[Forget, ...]:
    """Commands that name every document of these subject keys, a bounded number each."""
    forgets: list[Forget] = []
    named: dict[str, list[str]] = {}
    count = 0
    for subject_key in sorted(subject_keys):
        hashes = dict.fromkeys(journal.content_hashes(subject_key))
        for piece in batched(hashes, MOST_DOCUMENTS):
            if count + len(piece) > MOST_DOCUMENTS:
                forgets.append(_forget(named))
                named, count = {}, 0
            named.setdefault(subject_key, []).extend(piece)
            count += len(piece)
    return (*forgets, _forget(named)) if named else tuple(forgets)


def _forget(named: Mapping[str, list[str]]) -> Forget:
    hashes = sorted({content_hash for piece in named.values() for content_hash in piece})
    return Forget(tuple(sorted(named)), tuple(hashes))


# --- prune ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Retention:
    """The retention that a person asks for: executions since ``before`` (epoch ms) stay, or the
    newest ``keep`` runs of each job; with both, the union. At least one is given.
    """

    before: int | None = None
    keep: int | None = None


def resolve_prune(retention: Retention, catalogue: Catalogue, *, drop_bodies: bool) -> Prune:
    """The cut-offs for this retention that leave today's lineage untouched.

    More executions stay than it asks for: the writes of every dataset that are visible at its time,
    the writes that a kept execution read, and so on upstream (``needed``).
    """
    kept_since = _times_of(retention, catalogue)
    times = {job: before for job, (_, before) in kept_since.items()}
    needed = NeededWrites(catalogue.logical_plans_of(kept_since), times, catalogue)
    needed.follow()
    cutoffs = {
        # the two writes of a CREATE TABLE AS SELECT are one: both stay
        (job, target): min(times[job], needed.times[target] - MERGE_WINDOW_MS)
        for job, target in needed.written
    }
    names = {row.id: row for row in catalogue.datasets({target for _, target in cutoffs})}
    listed = [
        Cutoff(
            kept_since[job][0].namespace, kept_since[job][0].name,
            names[target].scope, names[target].uri, before,
        )
        for (job, target), before in cutoffs.items()
        if target in names and count_covered(catalogue, job, target, before)
    ]  # fmt: skip
    return Prune(tuple(sorted(listed)), drop_bodies)


def count_covered(catalogue: Catalogue, job: str, target: str, before: int) -> int:
    """How many executions of a job wrote a dataset before this time."""
    if before <= 0:
        return 0
    return catalogue.executions(job=job, target=target, at=before - 1, limit=1).total


def _times_of(retention: Retention, catalogue: Catalogue) -> dict[str, tuple[JobRow, int]]:
    """Per job id the job and the time before which its executions may go."""
    times: dict[str, tuple[JobRow, int]] = {}
    for job in walk_rows(lambda after: catalogue.walk_jobs(after=after)):
        kept = [] if retention.before is None else [retention.before]
        if retention.keep is not None:
            most = retention.keep * EXECUTIONS_A_RUN
            since = catalogue.newest_runs_since(job.id, retention.keep, most)
            kept.append(_ALWAYS if since is None else since)
        times[job.id] = job, min(kept)
    return times


# --- a prune in steps -----------------------------------------------------------------------------

MOST_EXECUTIONS: Final = 1_000
"""Executions that one step covers; executions of one job in one millisecond go together."""
LEAST_SHARE: Final = 10
"""A cut-off is moved once it covers another tenth part of its job's executions on that dataset:
every move is a command that is kept for ever."""


@dataclass(frozen=True, slots=True)
class Move:
    """A cut-off that moves on from ``since``, the time of the one in force (epoch ms, 0: none)."""

    cutoff: Cutoff
    since: int = 0

    @property
    def job(self) -> tuple[str, str]:
        return self.cutoff.namespace, self.cutoff.name

    def count(self, catalogue: Catalogue) -> int:
        """How many executions it covers beyond the cut-off in force."""
        if self.since >= self.cutoff.before:
            return 0
        before, since = (
            count_covered(catalogue, *self.cutoff.key, time)
            for time in (self.cutoff.before, self.since)
        )
        return before - since

    def until(self, time: int) -> Move:
        """The part of this move before a time."""
        return replace(self, cutoff=replace(self.cutoff, before=min(time, self.cutoff.before)))

    def after(self, time: int) -> Move:
        """The rest of this move from a time on."""
        return replace(self, since=max(time, self.since))


@dataclass(frozen=True, slots=True)
class RetentionStep:
    """``cutoffs`` cover ``executions`` more; ``rest`` is the remaining work."""

    cutoffs: tuple[Cutoff, ...]
    executions: int
    rest: tuple[Move, ...]


def worth_moving(
    cutoffs: Sequence[Cutoff], in_force: Mapping[tuple[str, str], int], catalogue: Catalogue
) -> tuple[Move, ...]:
    """The cut-offs, by job, that cover enough more executions than those ``in_force`` (per job id
    and dataset id); see ``LEAST_SHARE``.
    """
    moves = (Move(cutoff, in_force.get(cutoff.key, 0)) for cutoff in sorted(cutoffs))
    return tuple(move for move in moves if _takes_a_share(move, catalogue))


def _takes_a_share(move: Move, catalogue: Catalogue) -> bool:
    covered = move.count(catalogue)
    job, target = move.cutoff.key
    total = catalogue.executions(job=job, target=target, limit=1).total
    return covered > 0 and covered * LEAST_SHARE >= total


def next_step(moves: Sequence[Move], catalogue: Catalogue, most: int) -> RetentionStep:
    """The first jobs whose executions together are at most ``most``; a part of the first job where
    it alone has more.
    """
    taken: list[Move] = []
    executions = passed = 0
    for job in _by_job(moves):
        covered = _covering(job, catalogue)
        count = sum(covered.values())
        if executions + count > most or len(taken) + len(covered) > MOST_CUTOFFS:
            if not taken:
                return _first_part(job, moves[passed + len(job) :], catalogue, most)
            break
        taken += covered
        executions += count
        passed += len(job)
    cutoffs = tuple(move.cutoff for move in taken)
    return RetentionStep(cutoffs, executions, tuple(moves[passed:]))


def _by_job(moves: Sequence[Move]) -> Iterator[tuple[Move, ...]]:
    """The moves of each job, at most as many together as a command may name."""
    for _, of_job in groupby(moves, key=lambda move: move.job):
        yield from map(tuple, batched(of_job, MOST_CUTOFFS))


def _first_part(
    job: Sequence[Move], others: Sequence[Move], catalogue: Catalogue, most: int
) -> RetentionStep:
    """The oldest executions of a job that has more than ``most``."""
    time = split_time(job, catalogue, most)
    parts = _covering((move.until(time) for move in job), catalogue)
    rest = [move.after(time) for move in job if move.cutoff.before > time]
    cutoffs = tuple(part.cutoff for part in parts)
    return RetentionStep(cutoffs, sum(parts.values()), (*rest, *others))


def _covering(moves: Iterable[Move], catalogue: Catalogue) -> dict[Move, int]:
    """Each move that covers anything, with the number of its executions."""
    return {move: count for move in moves if (count := move.count(catalogue))}


def split_time(job: Sequence[Move], catalogue: Catalogue, most: int) -> int:
    """The latest time before which these moves of one job cover at most ``most`` executions (but at
    least one millisecond's); the end of the moves where they cover no more than that.

    Reads the job's executions from the oldest on, until the time is found.
    """
    first, end = None, max(move.cutoff.before for move in job)
    for place, at in enumerate(_times(job, catalogue)):
        first = at if first is None else first
        if place >= most and at > first:
            return at
    return end


def _times(job: Sequence[Move], catalogue: Catalogue) -> Iterator[int]:
    """The times of the executions that these moves cover, the oldest first."""
    by_target = {move.cutoff.key: move for move in job}
    ((job_id, _), *_) = by_target
    since, before = min(move.since for move in job), max(move.cutoff.before for move in job)
    for row in _rows(catalogue, job_id, since, before):
        move = by_target.get((row.job, row.target))
        if move is not None and move.since <= row.at < move.cutoff.before:
            yield row.at


def _rows(catalogue: Catalogue, job: str, since: int, before: int) -> Iterator[ExecutionRow]:
    after = ""
    while page := catalogue.executions_since(since, _PAGE, before=before, after=after, job=job):
        yield from page
        since, after = page[-1].at, page[-1].id
