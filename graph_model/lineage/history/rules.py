"""Executions -> the writes that they report -> the writes that a read saw: pure, on rows that a
catalogue selected.

For a CREATE TABLE AS SELECT Spark reports an insert and then the command that ran it. Two agents in
one application (the stock agent and the listener) report every write twice, and so does the stock
agent where its OpenLineage dispatcher reports beside its plans. Executions whose modes
or reads differ are two writes, unless the mode of one is unknown, or its reads are marked as
incomplete. The rule takes all completed writes of one output by one application, so that every
page, window and time gives the same result.

By time, partition by partition, a read saw the latest overwrite strictly before the read, and the
appends since then. Partition values are unbounded, so a part of a table is gone only when one later
overwrite covers all of it. By version, where the read was bound to one:

    version 1 (overwrite), 2 (append), 3 (overwrite); a read bound to 2  =>  1 and 2

Writes without a version are placed by time. Those up to the version read count; where no report
names the write of that version, those before the next known version and before the read. A branch
begins with the content of the main branch before its own first version.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, takewhile
from operator import itemgetter
from typing import Final, NamedTuple

from graph_model import labels, naming
from graph_model.facts import EVERY_BRANCH, MAIN_BRANCH, NO_NUMBER, ExecutionRow
from graph_model.stores.catalogue_values import (
    DeclaredFlow,
    NumberedTime,
    OlderWrites,
    SuccessfulWrite,
    VersionWrites,
)

#: Two reports of one write are at most this far apart (milliseconds).
MERGE_WINDOW_MS: Final = 10_000
#: A merged write may be this much earlier than one of its executions: CTAS, then two producers.
REACH_MS: Final = 2 * MERGE_WINDOW_MS
#: The commands that create the table that they fill: it holds nothing else.
_TABLE_MAKERS: Final = labels.CTAS_COMMANDS[:2]
_INSERT: Final = "InsertInto"
#: The insert that Spark runs with ``overwrite = false`` in a CREATE TABLE AS SELECT of any mode.
_HIVE_INSERT: Final = "InsertIntoHiveTable"
#: The names of OpenLineage's agents begin so; they send no expressions.
_OPENLINEAGE: Final = "openlineage-"
_AGENT: Final = f"{labels.AGENT} "
_DISPATCHER: Final = f"{labels.DISPATCHER} "

#: The part of a table with these partition values; the empty one is the whole table.
Part = frozenset[tuple[str, str | None]]
WHOLE: Final[Part] = frozenset()
_EVERYWHERE: Final = (WHOLE,)

Reports = tuple[SuccessfulWrite, ...]
"""The executions that report one write, by (at, id)."""


class Write(NamedTuple):
    """One write of a dataset, reported by one execution or by several.

    ``id`` and ``at`` are those of the earliest execution by (at, id). ``logical_plan`` and ``job``
    come from the best report: one that names every input, then with fewest gaps, then with
    expressions. ``parts`` are the partitions that the write may have touched, ``closes`` those that
    it replaced. ``number`` and ``branch`` name the version that it made, None where not reported.
    ``running``: its run had not ended, and went on reading.
    """

    id: str
    at: int
    target: str
    logical_plan: str
    job: str
    parts: tuple[Part, ...]
    closes: tuple[Part, ...]
    executions: tuple[str, ...]
    number: int | None = None
    branch: str = MAIN_BRANCH
    running: bool = False

    @property
    def order(self) -> tuple[int, str]:
        """Writes are ordered by time, then by id."""
        return self.at, self.id


@dataclass(frozen=True, slots=True)
class Details:
    """Details that the rows do not hold: per execution the partitions written, as texts; per
    logical plan the number of gaps in its column lineage and the names of its partition keys.
    ``incomplete`` are the plans whose reported inputs are known to be incomplete.
    """

    partitions: Mapping[str, Collection[str]]
    gaps: Mapping[str, int]
    keys: Mapping[str, frozenset[str]]
    incomplete: frozenset[str] = frozenset()


NO_DETAILS: Final = Details({}, {}, {})


def merge_writes(rows: Iterable[SuccessfulWrite], details: Details = NO_DETAILS) -> list[Write]:
    """The writes that these completed executions report, by (at, id).

    ``rows`` must hold every execution of an application and output that may be reported twice.
    """
    groups = group_executions(rows, details.incomplete)
    writes = [write_of(group, details) for group in groups]
    return sorted(writes, key=lambda write: write.order)


def group_executions(
    rows: Iterable[SuccessfulWrite], incomplete: frozenset[str] = frozenset()
) -> list[Reports]:
    """The executions of each write; ``incomplete``: see ``Details``."""
    applications: defaultdict[tuple[str, str], list[SuccessfulWrite]] = defaultdict(list)
    groups: list[Reports] = []
    for row in sorted(set(rows), key=_order):
        if row.application_id:
            applications[row.target, row.application_id].append(row)
        else:
            groups.append((row,))
    for writes in applications.values():
        if len(writes) == 1:  # true for nearly every application: nothing to pair
            groups.append((writes[0],))
            continue
        dispatched = [row for row in writes if row.producer.startswith(_DISPATCHER)]
        own = [row for row in writes if not row.producer.startswith(_DISPATCHER)]
        paired = _pair_producers(_pair_double_writes(own))
        paired = _pair_incomplete(paired, incomplete) if incomplete else paired
        groups += _with_dispatched(paired, dispatched) if dispatched else paired
    return groups


def _order(row: SuccessfulWrite) -> tuple[int, str]:
    return row.at, row.id


def _with_dispatched(groups: Sequence[Reports], rows: Sequence[SuccessfulWrite]) -> list[Reports]:
    """Each report of the dispatcher of Spline's agent with that of the agent's own plan, which has
    the same time to the millisecond; whatever they read, because it leaves out topics.
    """
    own = {row.at: group for group in groups for row in group if row.producer.startswith(_AGENT)}
    joined: defaultdict[Reports, list[SuccessfulWrite]] = defaultdict(list)
    for row in rows:
        joined[own.get(row.at, (row,))].append(row)
    alone = [group for group in groups if group not in joined]
    return [*alone, *(tuple(sorted({*group, *more}, key=_order)) for group, more in joined.items())]


def _pair_double_writes(rows: Sequence[SuccessfulWrite]) -> list[Reports]:
    """Each CREATE TABLE AS SELECT with the nearest earlier insert that fits, each used once.

    insert :00.391, create :00.616, insert :00.774  =>  (insert, create), (insert)
    """
    inner: dict[str, SuccessfulWrite] = {}
    inserts: list[SuccessfulWrite] = []  # not yet paired with a command
    for row in sorted(rows, key=lambda row: (row.at, _runs_an_insert(row), row.id)):
        if not _runs_an_insert(row):
            inserts.append(row)
        elif (place := _place_of_insert(row, inserts)) is not None:
            inner[row.id] = inserts.pop(place)
    used = {row.id for row in inner.values()}
    groups = []
    for row in rows:
        if row.id not in used:
            pair = (row, inner[row.id]) if row.id in inner else (row,)
            groups.append(tuple(sorted(pair, key=_order)))
    return sorted(groups, key=lambda group: _order(group[0]))


def _runs_an_insert(row: SuccessfulWrite) -> bool:
    return row.command in labels.CTAS_COMMANDS


def _place_of_insert(command: SuccessfulWrite, inserts: Sequence[SuccessfulWrite]) -> int | None:
    """The index of the insert that the command ran: Spark ends it just before the command."""
    for place in reversed(range(len(inserts))):
        if command.at - inserts[place].at > MERGE_WINDOW_MS:
            break
        if _is_inner(inserts[place], command):
            return place
    return None


def _is_inner(insert: SuccessfulWrite, command: SuccessfulWrite) -> bool:
    return (
        insert.command.startswith(_INSERT)
        and insert.producer == command.producer
        and (insert.reads == command.reads or _names_nothing(command))
        and (_is_hive_pair(insert, command) or _have_one_mode((insert,), (command,)))
    )


def _names_nothing(command: SuccessfulWrite) -> bool:
    """Whether a command's report names neither inputs nor mode (OpenLineage): both are those of the
    insert that it ran.
    """
    return not command.reads and command.mode == labels.UNKNOWN_MODE


def _is_hive_pair(insert: SuccessfulWrite, command: SuccessfulWrite) -> bool:
    return insert.command == _HIVE_INSERT and command.command == labels.HIVE_CTAS


def _is_hive_append(insert: SuccessfulWrite, command: SuccessfulWrite) -> bool:
    """Whether the insert appends only because Hive's always does in such a command."""
    return _is_hive_pair(insert, command) and insert.mode not in labels.OVERWRITES


def _have_one_mode(rows: Iterable[SuccessfulWrite], other: Iterable[SuccessfulWrite]) -> bool:
    """Whether the two sets of reported modes have one in common: append, or an overwrite of any
    part. An unknown mode matches any.
    """
    modes, others = {_appends(row) for row in rows}, {_appends(row) for row in other}
    return None in modes | others or not modes.isdisjoint(others)


def _appends(row: SuccessfulWrite) -> bool | None:
    return None if row.mode == labels.UNKNOWN_MODE else row.mode not in labels.OVERWRITES


def _agree(write: SuccessfulWrite, other: SuccessfulWrite) -> bool:
    return write.reads == other.reads and abs(write.at - other.at) <= MERGE_WINDOW_MS


def _pair_producers(
    groups: Sequence[Reports],
) -> list[Reports]:
    """Pair the k-th write that one producer reports with the k-th of another, where they agree."""
    taken: defaultdict[str, int] = defaultdict(int)
    places: defaultdict[int, list[list[SuccessfulWrite]]] = defaultdict(list)
    for group in groups:
        producer = group[0].producer
        candidates = places[taken[producer]]
        taken[producer] += 1
        same = next((other for other in candidates if _may_join(other, group)), None)
        if same is None:
            candidates.append(list(group))
        else:
            same += group
    return [tuple(sorted(group, key=_order)) for place in places.values() for group in place]


def _may_join(group: Sequence[SuccessfulWrite], other: Sequence[SuccessfulWrite]) -> bool:
    return (
        other[0].producer not in {row.producer for row in group}
        and _agree(group[0], other[0])
        and _have_one_mode(group, other)
    )


def _pair_incomplete(groups: Sequence[Reports], incomplete: frozenset[str]) -> list[Reports]:
    """Pair a write whose report states that its inputs are incomplete with the nearest write of
    another producer that has the same inputs and more.

    Without that statement different inputs mean two writes: one may be the write that the other
    agent missed.
    """
    left = sorted(groups, key=lambda group: _order(group[0]))
    for group in [group for group in left if any(row.logical_plan in incomplete for row in group)]:
        candidates = [other for other in left if _reads_more(other, group)]
        if candidates:
            fuller = min(
                candidates,
                key=lambda candidate: (abs(candidate[0].at - group[0].at), *_order(candidate[0])),
            )
            left.remove(group)
            left[left.index(fuller)] = tuple(sorted((*group, *fuller), key=_order))
    return left


def _reads_more(fuller: Sequence[SuccessfulWrite], group: Sequence[SuccessfulWrite]) -> bool:
    return (
        {row.producer for row in fuller}.isdisjoint(row.producer for row in group)
        and _have_one_mode(fuller, group)
        and abs(fuller[0].at - group[0].at) <= MERGE_WINDOW_MS
        and _read_by(fuller) > _read_by(group)
    )


def _read_by(group: Sequence[SuccessfulWrite]) -> frozenset[str]:
    return frozenset(dataset for row in group for dataset in row.reads.split())


def as_report(row: ExecutionRow) -> SuccessfulWrite:
    """The execution as a report of a write; whether it names partitions or versions is unknown."""
    fields = (name for name in SuccessfulWrite._fields if name not in ("partitioned", "bound"))
    return SuccessfulWrite(**{name: getattr(row, name) for name in fields})


def as_one(reports: Sequence[ExecutionRow]) -> ExecutionRow:
    """The first of several reports of one write, completed from the others: mode, duration, counts,
    version.
    """
    first = reports[0]
    modes = [row.mode for row in reports if row.mode != labels.UNKNOWN_MODE]
    wrote_parts = labels.OVERWRITE_PARTITIONS in modes and modes[0] == labels.OVERWRITE
    durations = [row.duration_ns for row in reports if row.duration_ns is not None]
    counts: dict[str, dict[str, float]] = {}
    for row in reversed(reports):
        for group, values in json.loads(row.metrics or "{}").items():
            counts.setdefault(group, {}).update(values)
    versions = [row for row in reports if row.version]
    numbered = next((row for row in versions if row.version_number is not None), None)
    chosen = numbered or next(iter(versions), first)
    return first._replace(
        version=chosen.version,
        version_number=chosen.version_number,
        branch=chosen.branch,
        mode=labels.OVERWRITE_PARTITIONS if wrote_parts else next(iter(modes), first.mode),
        dynamic=any(row.dynamic for row in reports),
        duration_ns=next(iter(durations), None),
        metrics=json.dumps(counts),
    )


# --- the partitions of a write ------------------------------------------------------------------


def write_of(group: Sequence[SuccessfulWrite], details: Details) -> Write:
    """The write that these executions, by (at, id), report."""
    first = group[0]
    best = first if len(group) == 1 else min(group, key=lambda row: _preference(row, details))
    texts = {text for row in group for text in details.partitions.get(row.id, ())}
    parts = tuple(sorted(map(part_of, texts), key=_part_order)) if texts else _EVERYWHERE
    numbered = next((row for row in group if row.version_number is not None), first)
    return Write(
        id=first.id,
        at=first.at,
        target=first.target,
        logical_plan=best.logical_plan,
        job=best.job,
        parts=parts,
        closes=_closes(group, parts, details),
        executions=tuple(row.id for row in group),
        number=numbered.version_number,
        branch=numbered.branch,
        running=any(row.running for row in group),
    )


def _preference(row: SuccessfulWrite, details: Details) -> tuple[int, int, bool, int, str]:
    """The sort key of a report; the least is preferred. A report with complete inputs comes first,
    because no input may be hidden.
    """
    gaps = details.gaps.get(row.logical_plan, 0)
    return (
        -len(row.reads.split()),
        gaps,
        lacks_expressions(row),
        *_order(row),
    )


def lacks_expressions(row: SuccessfulWrite) -> bool:
    """Whether the report has no expressions."""
    return row.producer.startswith(_OPENLINEAGE)


def _closes(
    group: Sequence[SuccessfulWrite], parts: tuple[Part, ...], details: Details
) -> tuple[Part, ...]:
    """The parts that a write replaced: none where every report leaves its mode open. A sign of
    dynamic mode in one report counts for all, except for a table just created.
    """
    makers = [row for row in group if row.command in _TABLE_MAKERS]
    own = [row for row in group if not any(_is_hive_append(row, maker) for maker in makers)]
    modes = {row.mode for row in own} - {labels.UNKNOWN_MODE}
    if not modes or not modes.issubset(labels.OVERWRITES):
        return ()
    if any(row.mode == labels.OVERWRITE and not row.dynamic for row in makers):
        return _EVERYWHERE
    if not any(row.dynamic for row in own):
        return parts
    keys = frozenset[str]().union(*(details.keys.get(row.logical_plan, ()) for row in group))
    known = WHOLE not in parts and all(keys <= {key for key, _ in part} for part in parts)
    return parts if known else ()


def part_of(text: str) -> Part:
    """``dt=2026-01-01/h=3`` as pairs."""
    return frozenset(naming.partition_pairs(text))


def _part_order(part: Part) -> list[tuple[str, str]]:
    return sorted((key, value or "") for key, value in part)


class Bound(NamedTuple):
    """The version that a read was bound to: its branch, up to ``number``.

    A read of a change feed sees every write from ``since`` on, overwritten or not.
    """

    branch: str
    number: int
    since: int = NO_NUMBER


ANY_VERSION: Final = Bound(EVERY_BRANCH, NO_NUMBER)
"""The bound of executions that share an interval of time, where some of them were bound."""


class Moment(NamedTuple):
    """The state of a dataset at a time, or at every time from ``since`` to ``until``.

    Times are epoch ms; writes strictly before ``until`` count. ``partitions`` are the canonical
    texts of the partitions read, () for the whole. ``dataset`` may be a logical plan that writes
    nothing: a chain ends in its reads as other chains end in a dataset. ``bound`` has at most one
    element. With it, the version decides which writes count, and the time decides only for writes
    without a version; without it, branches do not count. A named tuple, because walks look up
    moments more often than anything else.
    """

    dataset: str
    since: int
    until: int
    partitions: tuple[str, ...] = ()
    bound: tuple[Bound, ...] = ()

    @property
    def branch(self) -> str:
        """The branch of the table that is read."""
        return self.bound[0].branch if self.bound else MAIN_BRANCH


def visible_writes(
    writes: Iterable[Write], since: int, until: int, parts: tuple[Part, ...] = (WHOLE,)
) -> list[Write]:
    """The writes that a read of these parts sees at some time from ``since`` to ``until``, newest
    first.

    ``since == until`` is one read. ``writes`` are those of one dataset, each once.
    """
    listed = sorted(writes, key=lambda write: write.order, reverse=True)
    if len(listed) == 1 and listed[0].parts == parts == (WHOLE,):  # nothing replaces it
        return [write for write in listed if write.at < until]
    closed: set[Part] = set()
    seen = []
    for write in listed:
        if write.at >= until:
            continue
        if any(not _is_closed(part, closed) for part in _common(write.parts, parts)):
            seen.append(write)
        if write.at < since:
            closed.update(write.closes)
    return seen


def visible_versions(
    versions: Iterable[Write],
    others: Iterable[Write],
    since: int,
    parts: tuple[Part, ...],
) -> list[Write]:
    """The writes that a read of these parts, bound to the newest of ``versions``, sees.

    ``versions`` are those of one branch, by number; ``others`` have no version, or precede the
    branch. Newest first.
    """
    listed = _in_order_of_versions(versions, others)
    if since != NO_NUMBER:  # a change feed reports every write
        feed = takewhile(lambda write: write.number is None or write.number >= since, listed)
        return [write for write in feed if any(True for _ in _common(write.parts, parts))]
    closed: set[Part] = set()
    seen = []
    for write in listed:
        if any(not _is_closed(part, closed) for part in _common(write.parts, parts)):
            seen.append(write)
        closed.update(write.closes)
    return seen


def _in_order_of_versions(versions: Iterable[Write], others: Iterable[Write]) -> list[Write]:
    """All these writes, newest first. A write without a version comes before a version that ended
    at its time or later, if all later versions did too: clocks differ, numbers do not.

        version 1 at 10:05, version 2 at 10:03, another at 10:04  =>  1, 2, the other
    """
    numbered = [(write.number or 0, write.order, write) for write in versions]
    placed = [((write.at, 0, 0, write.order), write) for write in others]
    latest: int | None = None
    for number, order, write in sorted(numbered, key=itemgetter(0, 1), reverse=True):
        latest = write.at if latest is None else min(latest, write.at)
        placed.append(((latest, 1, number, order), write))
    return [write for _, write in sorted(placed, key=itemgetter(0), reverse=True)]


def surely_touched(write: Write, part: Part) -> bool:
    """Whether the write replaced all of this part, or certainly wrote into it."""
    inside = any(part <= written for written in write.parts if written != WHOLE)
    return inside or any(closed <= part for closed in write.closes)


def maybe_touched(write: Write, part: Part) -> bool:
    """Whether the write touched a partition of this part."""
    return any(True for _ in _common(write.parts, (part,)))


def _common(written: Iterable[Part], read: Iterable[Part]) -> Iterator[Part]:
    """The intersections of written and read parts that exist: no key with two values."""
    for part in written:
        for other in read:
            both = part | other
            if len({key for key, _ in both}) == len(both):
                yield both


def _is_closed(part: Part, closed: set[Part]) -> bool:
    """Whether a closed part covers this one: some of its pairs, and no other."""
    if WHOLE in closed or part in closed:
        return True
    if not closed:
        return False
    return any(
        frozenset(some) in closed
        for size in range(1, len(part))
        for some in combinations(part, size)
    )


BEGINNING: Final = -(2**62)
END: Final = 2**62


class VisibleWrites(NamedTuple):
    """The visible writes of a moment, newest first.

    ``older``: for each logical plan with too many writes, the period of the writes that were not
    read. ``rough``: one of those may have replaced some of these. ``declared``: the declared flows
    into the moment, which no write replaces.
    """

    writes: tuple[Write, ...] = ()
    older: tuple[OlderWrites, ...] = ()
    rough: bool = False
    declared: tuple[DeclaredFlow, ...] = ()


@dataclass(frozen=True, slots=True)
class BranchVersions:
    """The versions of a branch up to the one read; the other fields are of ``VersionWrites``."""

    writes: tuple[Write, ...]
    cut: bool
    floor: bool
    first: NumberedTime | None
    following: NumberedTime | None

    @property
    def is_closed(self) -> bool:
        """Whether a full overwrite is among the versions."""
        return any(WHOLE in write.closes for write in self.writes)

    def fork(self, moment: Moment) -> Moment | None:
        """The main branch's version when this branch began; None where that does not matter."""
        (bound,) = moment.bound
        if bound.branch == MAIN_BRANCH or self.cut:
            return None
        if self.first is None or not self.writes:
            return moment._replace(bound=(bound._replace(branch=MAIN_BRANCH),))
        if self.is_closed or bound.since != NO_NUMBER:
            return None
        return Moment(moment.dataset, self.first.at, self.first.at, moment.partitions)

    def times(self, moment: Moment) -> tuple[int, int]:
        """The period in which writes without a version may belong among these versions."""
        since = min((write.at for write in self.writes), default=BEGINNING)
        before = self._before(moment)
        if self.cut:
            return BEGINNING, max(before, *(write.at + 1 for write in self.writes))
        return since if self.floor else BEGINNING, before

    def _before(self, moment: Moment) -> int:
        own = [write.at for write in self.writes if write.number == moment.bound[0].number]
        if own:
            return max(own) + 1
        return moment.until if self.following is None else min(moment.until, self.following.at + 1)

    def takes(self, moment: Moment, write: Write) -> bool:
        """Whether a write found in that period counts in addition to the versions."""
        return (
            moment.bound[0].branch == write.branch == MAIN_BRANCH
            and write.number is None
            and write.at < self._before(moment)
        )

    def visible_writes(self, moment: Moment, base: VisibleWrites) -> VisibleWrites:
        """The visible writes; ``base`` are the writes without a version of this branch.

        A branch without a version of its own equals the main branch at the version read; the writes
        keep the order of that branch, even where their times contradict it.
        """
        if not self.writes and moment.bound[0].branch != MAIN_BRANCH and not self.cut:
            return base
        parts = tuple(map(part_of, moment.partitions)) or (WHOLE,)
        seen = visible_versions(self.writes, base.writes, moment.bound[0].since, parts)
        return VisibleWrites(tuple(seen), base.older, base.rough or self.cut or bool(base.older))


def branch_versions(
    bound: Bound, writes: Iterable[Write], versions: Collection[VersionWrites]
) -> BranchVersions:
    """The versions up to the one that a moment is bound to. ``versions`` are the rows of a table
    under each of its names, ``writes`` all writes that they report.
    """
    firsts = [row.first for row in versions if row.first is not None]
    following = [row.following for row in versions if row.following is not None]
    return BranchVersions(
        tuple(w for w in writes if w.branch == bound.branch and _is_within(w.number, bound)),
        cut=any(row.cut for row in versions),
        floor=any(row.floor for row in versions),
        first=min(firsts, default=None),
        following=min(following, default=None),
    )


def _is_within(number: int | None, bound: Bound) -> bool:
    return number is not None and number <= bound.number
