"""The truth at a time, by brute force.

Written from the rules of the design alone (section "What is true at a time", quoted beside the
code that follows it) and from nothing that the service does: no batches, no caches, no levels, no
graph. It lists every chain there is, one by one, and looks at each. That is exponential, and the
reason to ask it: nothing in it can be wrong but the rules.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from tests.oracle.histories import (
    CREATE_AS_SELECT,
    INSERT,
    LIFECYCLE,
    OPENLINEAGE,
    ROW_LEVEL,
    SHARED_JOBS,
    Asked,
    Column,
    Execution,
    History,
    Partition,
    Place,
    Plan,
    Version,
)

END_OF_TIME: Final = 10**15
_CLOSE: Final = 10_000  # milliseconds

Atom = frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Flow:
    """A column that one execution computed from another column, or by looking at it."""

    source: Column
    target: Column
    kind: str
    how: str


@dataclass(frozen=True, slots=True)
class Write:
    """A write of a dataset, merged from one or more executions, which read before they wrote.

    ``target`` "": a run that only reads.
    """

    id: str
    at: int
    job: str
    plans: frozenset[str]
    target: str
    partition: Partition | None
    closes: bool
    reads: tuple[Place, ...]
    flows: tuple[Flow, ...]
    version: Version | None = None
    bound: tuple[tuple[str, Version], ...] = ()
    run: str = ""

    @property
    def order(self) -> tuple[int, str]:
        """Writes are ordered by (time, execution id)."""
        return self.at, self.id

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(place.dataset for place in self.reads))


@dataclass(frozen=True, slots=True)
class Step:
    """One link of a chain: the write, and the dataset (the column) that it read."""

    write: Write
    source: str | None
    flow: Flow | None = None


@dataclass(frozen=True, slots=True)
class Chain:
    """From a dataset visible at the time asked (``root``) up to its sources.

    ``root`` is a dataset, or "" where the chain ends at the job of its first step, which only read.
    """

    root: str
    steps: tuple[Step, ...]


@dataclass
class Truth:
    """The right answer. ``feeds`` are (dataset, plan) and (plan, dataset): the way data flows.

    ``allowed`` are feeds that are true, and that no rule asks for or forbids.
    """

    datasets: set[str] = field(default_factory=set)
    jobs: set[str] = field(default_factory=set)
    via: set[str] = field(default_factory=set)
    feeds: set[tuple[str, str]] = field(default_factory=set)
    allowed: set[tuple[str, str]] = field(default_factory=set)
    columns: set[Column] = field(default_factory=set)
    column_via: set[Column] = field(default_factory=set)
    column_edges: set[Flow] = field(default_factory=set)

    def union(self, other: Truth) -> Truth:
        return Truth(*(getattr(self, n) | getattr(other, n) for n in self.__dataclass_fields__))


class Oracle:
    """Answers questions about one history. ``ids`` are the ids of its executions."""

    def __init__(self, history: History, ids: Sequence[str] | None = None) -> None:
        names = ids or [f"{number:04}" for number in range(len(history.executions))]
        self.history = history
        self._executions = sorted(zip(history.executions, names, strict=True), key=_by_time)
        result = self._successful_writes()
        self.writes = self._merged([item for item in result if item[0].target])
        self.reads = [write for write, _, _ in result if not write.target]

    # --- names -----------------------------------------------------------------------------------

    def location_of(self, dataset: str, at: int) -> str:
        """ "At t a name stands for its last location observed at or before t (else the first)"."""
        seen = [
            (execution.at, location)
            for execution, _ in self._executions
            if not execution.failed
            for location, name in self.history.plans[execution.plan].names
            if name == dataset
        ]
        if not seen:
            return dataset
        before = [location for time, location in seen if time <= at]
        return before[-1] if before else seen[0][1]

    # --- writes ----------------------------------------------------------------------------------

    def _successful_writes(self) -> list[tuple[Write, Plan, Execution]]:
        """ "An insert without reads is a write. DROP, TRUNCATE and CREATE without a query are
        lifecycle facts: never writes, never a cut. A plan without a successful execution ... is
        not in lineage answers".
        """
        return [
            (self._write(execution, identifier), plan, execution)
            for execution, identifier in self._executions
            if not execution.failed
            and (plan := self.history.plans[execution.plan]).command not in LIFECYCLE
        ]

    def _write(self, execution: Execution, identifier: str) -> Write:
        plan = self.history.plans[execution.plan]
        return Write(
            id=identifier,
            at=execution.at,
            job=plan.job,
            plans=frozenset({plan.id}),
            target=self.location_of(plan.target, execution.at),
            partition=plan.writes.partition if plan.writes else None,
            closes=_closes(plan),
            reads=tuple(self._reads(plan, execution.at)),
            flows=tuple(self._flows(plan, execution.at)),
            version=execution.wrote,
            bound=execution.bound,
            run=identifier if plan.by_run else execution.application,
        )

    def _reads(self, plan: Plan, at: int) -> Iterator[Place]:
        """ "UPDATE, DELETE and MERGE (by their commands) are appends that also read their
        target"."""
        read = list(plan.reads)
        if plan.command in ROW_LEVEL and all(p.dataset != plan.target for p in read):
            read.append(Place(plan.target))
        for place in read:
            yield Place(self.location_of(place.dataset, at), place.partition, place.keys)

    def _flows(self, plan: Plan, at: int) -> Iterator[Flow]:
        for name, sources in plan.columns or ():
            target = Column(self.location_of(plan.target, at), name)
            for source in sources:
                how = "IDENTITY" if len(sources) == 1 else "TRANSFORMATION"
                yield Flow(self._column_at(source, at), target, "DIRECT", how)
            for source in plan.filter:
                yield Flow(self._column_at(source, at), target, "INDIRECT", "FILTER")

    def _column_at(self, column: Column, at: int) -> Column:
        """ "every hop, columns included (equal folded path), goes through one function"."""
        return Column(self.location_of(column.dataset, at), column.name)

    def _merged(self, found: list[tuple[Write, Plan, Execution]]) -> list[Write]:
        """ "Successful executions are merged before anything else."

        First the two of one CREATE TABLE AS SELECT, then two producers' reports of one write.
        """
        return [write for write, _, _ in _merge_producers(_merge_create_as_select(found))]

    # --- the writes that a read saw --------------------------------------------------------------

    def visible(self, dataset: str, partition: Partition | None, before: int) -> list[Write]:
        """ "A read r saw a write w of dataset D, partition by partition, when w is the latest
        overwrite of that partition before r's time (strictly), or an append to it between that
        overwrite and r (no lower bound where there is none)."

        A partition is one value for every key that anybody uses, or a value that nobody uses:
        "a read of known partitions sees only writes that may touch them; a whole read sees all".
        """
        earlier = [w for w in self._on_branch(dataset, "") if w.at < before]
        return self._latest(dataset, partition, sorted(earlier, key=lambda write: write.order))

    def last_write(self, dataset: str, at: int) -> int | None:
        """The time of the newest write of the table itself: one of a branch is none of it."""
        written = [write.at for write in self._on_branch(dataset, "") if write.at <= at]
        return max(written, default=None)

    def _latest(
        self, dataset: str, partition: Partition | None, ordered: list[Write]
    ) -> list[Write]:
        """Of these writes, oldest first, those that a read of the partition finds."""
        saw: dict[str, Write] = {}
        for atom in self._atoms(dataset):
            if _touches(partition, atom):
                for write in _of_one_partition([w for w in ordered if _touches(w.partition, atom)]):
                    saw[write.id] = write
        return sorted(saw.values(), key=lambda write: write.order)

    def _on_branch(self, dataset: str, branch: str) -> list[Write]:
        """ "A write on another branch closes nothing on this one". A write of which nobody tells a
        version is one of the main branch.
        """
        own = [write for write in self.writes if write.target == dataset]
        return [w for w in own if (w.version.branch if w.version else "") == branch]

    def visible_version(
        self, dataset: str, partition: Partition | None, version: Version, before: int
    ) -> list[Write]:
        """ "A read that names a version, snapshot, timestamp, tag or branch ... saw the writes
        of that branch up to that version ... Times decide only where versions are unknown."
        """
        version = self._of_its_branch(dataset, version)
        if version.by_id:
            answer = [w for w in self.writes if w.target == dataset and _made(w, version)]
            if not answer:  # nobody told which version that is
                return self.visible(dataset, partition, before)
        known = sorted(
            (w for w in self._on_branch(dataset, version.branch) if w.version), key=_number
        )
        read = [write for write in known if _number(write) <= version.number]
        if version.branch and not read:  # nothing was written to it: it is a name of a main version
            main = Version(version.number, "", version.since)
            return self.visible_version(dataset, partition, main, before)
        if version.branch:
            main_writes = self._on_branch(dataset, "")
            others = [w for w in main_writes if w.at < known[0].at] if version.since is None else []
            ordered = [*sorted(others, key=lambda write: write.order), *read]
        else:
            others = [w for w in self._on_branch(dataset, "") if not w.version]
            others = [w for w in others if _may_be_within(w, version, known, before)]
            ordered = _in_order_of_versions(read, others)
        if version.since is None:
            return self._latest(dataset, partition, ordered)
        atoms = [atom for atom in self._atoms(dataset) if _touches(partition, atom)]
        feed = _from_version(ordered, version.since)
        return [w for w in feed if any(_touches(w.partition, atom) for atom in atoms)]

    def _of_its_branch(self, dataset: str, version: Version) -> Version:
        """An id names one version: one of the branch that it was written to, if it was not to that
        which the read names.
        """
        answer = [w for w in self.writes if w.target == dataset and w.version]
        made = sorted((w for w in answer if _id(w) == version.id), key=lambda write: write.order)
        branches = [w.version.branch for w in made if w.version]
        if not made or version.branch in branches:
            return version
        return replace(version, number=_number(made[0]), branch=branches[0])

    def _atoms(self, dataset: str) -> list[Atom]:
        named = [w.partition for w in self.writes if w.target == dataset]
        ran = (*self.writes, *self.reads)
        named += [r.partition for run in ran for r in run.reads if r.dataset == dataset]
        values: dict[str, set[str]] = {}
        for key, value in itertools.chain.from_iterable(p for p in named if p):
            values.setdefault(key, {"any other value"}).add(value)
        pairs = [[(key, value) for value in sorted(values[key])] for key in sorted(values)]
        return [frozenset(chosen) for chosen in itertools.product(*pairs)]

    def saw(self, reader: Write, dataset: str) -> list[Write]:
        """Every write of the dataset that any of the reader's reads of it saw."""
        seen = {write.id: write for state in self.states(reader, dataset) for write in state}
        return sorted(seen.values(), key=lambda write: write.order)

    def states(self, reader: Write, dataset: str) -> list[list[Write]]:
        """Per version of the dataset that the reader read the writes that it saw, in any part."""
        places = [place for place in reader.reads if place.dataset == dataset]
        read: list[Version | None] = [version for name, version in reader.bound if name == dataset]
        return [
            list({w.id: w for place in places for w in self._found(reader, place, v)}.values())
            for v in read or [None]
        ]

    def _found(self, reader: Write, place: Place, version: Version | None) -> list[Write]:
        if version is None:
            return self.visible(place.dataset, place.partition, reader.at)
        return self.visible_version(place.dataset, place.partition, version, reader.at)

    # --- the expressions that hold ---------------------------------------------------------------

    def explained(self, state: list[Write], column: Column) -> list[Write]:
        """Of the writes that are seen together those whose expression of the column holds: "with
        unknown write mode a plan of a LATER run of the same job and output replaces the older one's
        expression from its time on (shared jobs excepted)". It has to say where its columns come
        from.
        """
        return [write for write in state if not self._is_replaced(write, state, column)]

    def _is_replaced(self, write: Write, state: list[Write], column: Column) -> bool:
        plans = [self.history.plans[plan] for plan in write.plans]
        if write.job in SHARED_JOBS or any(plan.producer != OPENLINEAGE for plan in plans):
            return False
        same = [w for w in state if (w.job, w.target) == (write.job, write.target)]
        newest = max(same, key=lambda one: one.order)
        later = [self.history.plans[p] for w in same if w.run == newest.run for p in w.plans]
        return not any(_same_logic(item, two) for item in plans for two in later) and any(
            name == column.name
            for plan in later
            if any(sources for _, sources in plan.columns or ())
            for name, _ in plan.columns or ()
        )

    # --- chains ----------------------------------------------------------------------------------

    def chains(self, at: int) -> Iterator[Chain]:
        """ "y is upstream of x at t when a write of x visible at t has an ancestor-or-self
        execution, through "saw", that read y."

        Every x, every such write, every ancestor, every read: each way there is one chain. "`at`
        = t means strictly before t + 1 ms". A write without reads ends a chain that reads nothing.
        "A run that only reads ... is a job downstream of what it read": such a run ends chains
        from its time on, for nothing takes its place.
        """
        for root in sorted({write.target for write in self.writes}):
            for write in self.visible(root, None, at + 1):
                for steps in self._up(write):
                    yield Chain(root, steps)
        for read in self.reads:
            if read.at < at + 1 and read.sources:
                for steps in self._up(read):
                    yield Chain("", steps)

    def _up(self, write: Write) -> Iterator[tuple[Step, ...]]:
        if not write.sources:
            yield (Step(write, None),)
        for source in write.sources:
            here = Step(write, source)
            yield (here,)
            for earlier in self.saw(write, source):
                for steps in self._up(earlier):
                    yield (here, *steps)

    def column_chains(self, at: int, indirect: bool) -> Iterator[Chain]:
        """ "Across jobs: joined on (dataset, column) and on the time rule."""
        for root in sorted({write.target for write in self.writes}):
            for steps in self._up_columns(self.visible(root, None, at + 1), indirect):
                yield Chain(root, steps)

    def _up_columns(self, state: list[Write], indirect: bool) -> Iterator[tuple[Step, ...]]:
        columns = {flow.target for write in state for flow in write.flows}
        for column in sorted(columns, key=_text):
            for write in self.explained(state, column):
                yield from self._up_column(write, column, indirect)

    def _up_column(
        self, write: Write, column: Column, indirect: bool
    ) -> Iterator[tuple[Step, ...]]:
        for flow in dict.fromkeys(write.flows):
            if flow.target == column and (indirect or flow.kind == "DIRECT"):
                here = Step(write, flow.source.dataset, flow)
                yield (here,)
                for state in self.states(write, flow.source.dataset):
                    for earlier in self.explained(state, flow.source):
                        for steps in self._up_column(earlier, flow.source, indirect):
                            yield (here, *steps)

    def column_readers(self, at: int, indirect: bool) -> Iterator[tuple[Step, ...]]:
        """A reader without column facts may read every column of the tables that it read: its own
        step, then those up from one of these columns.
        """
        for reader in (*self._writes_without_columns(at), *self.reads):
            for source in reader.sources if reader.at < at + 1 else ():
                here = Step(reader, source)
                yield (here,)
                for state in self.states(reader, source):
                    for steps in self._up_columns(state, indirect):
                        yield (here, *steps)

    def _writes_without_columns(self, at: int) -> Iterator[Write]:
        for root in sorted({write.target for write in self.writes}):
            for write in self.visible(root, None, at + 1):
                plans = [self.history.plans[plan] for plan in write.plans]
                if all(plan.columns is None and plan.reads for plan in plans):  # else it has none
                    yield write

    # --- answers ---------------------------------------------------------------------------------

    def answer(self, asked: Asked) -> Truth:
        """ "Up and down are one function with a direction": both is the union of the two."""
        kind, _, name = asked.node.partition(":")
        at = END_OF_TIME if asked.at is None else asked.at
        ways = ("upstream", "downstream") if asked.direction == "both" else (asked.direction,)
        result = Truth()
        for way in ways:
            if kind == "dataset":
                result = result.union(self._of_dataset(self.location_of(name, at), way, asked, at))
            elif kind == "job":
                result = result.union(self._of_job(name, way, asked, at))
            else:
                dataset, _, path = name.partition("#")
                column = Column(self.location_of(dataset, at), path)
                result = result.union(self._of_column(column, way, asked, at))
        result.datasets.discard("")
        result.via -= result.datasets
        result.datasets |= result.via
        result.allowed = {feed for feed in result.allowed if feed[1] in result.datasets}
        result.column_via -= result.columns
        result.columns |= result.column_via
        return result

    def _of_dataset(self, focus: str, way: str, asked: Asked, at: int) -> Truth:
        result = Truth(datasets={focus})
        for chain in self._short(self.chains(at), asked.depth):
            if way == "upstream" and chain.root == focus:
                _draw(result, chain.steps, asked.indirect)
                result.datasets |= _sources(chain.steps)
            if way == "downstream" and chain.steps[-1].source == focus:
                _draw(result, chain.steps, asked.indirect)
                result.datasets.add(chain.root)
                result.via |= _sources(chain.steps)
        return result

    def _of_job(self, focus: str, way: str, asked: Asked, at: int) -> Truth:
        """ "jobs belong to the chains they stand on": the upstream of a job are the nodes above it
        on the chains of visible datasets, its downstream are the visible nodes below it, each the
        mirror of asking the dataset. "Depth 1 = ... from a job: its datasets".
        """
        result = Truth(jobs={focus})
        for chain in self.chains(at):
            for position, step in enumerate(chain.steps):
                if step.write.job != focus:
                    continue
                above, below = chain.steps[position:], chain.steps[: position + 1]
                if way == "upstream" and len(above) <= asked.depth:
                    _draw(result, above, asked.indirect, targetless=True)
                    result.datasets |= _sources(above)
                    result.allowed |= {(plan, step.write.target) for plan in step.write.plans}
                if way == "downstream" and len(below) <= asked.depth:
                    _draw(result, below, asked.indirect, sourceless=True)
                    result.datasets.add(chain.root)
                    result.via |= _sources(below[:-1])
        return result

    def _of_column(self, focus: Column, way: str, asked: Asked, at: int) -> Truth:
        result = Truth(columns={focus}, datasets={focus.dataset})
        chains = self.column_chains(at, asked.indirect)
        for steps in (chain.steps for chain in self._short(chains, asked.depth)):
            flows = [step.flow for step in steps if step.flow is not None]
            if way == "upstream" and flows[0].target == focus:
                result.columns |= {flow.source for flow in flows}
            elif way == "downstream" and flows[-1].source == focus:
                result.columns.add(flows[0].target)
                result.column_via |= {flow.source for flow in flows}
            else:
                continue
            _draw(result, steps, asked.indirect)
            result.column_edges |= set(flows)
            result.datasets |= {c.dataset for flow in flows for c in (flow.source, flow.target)}
        return result

    def _short(self, chains: Iterable[Chain], depth: int) -> Iterator[Chain]:
        """ "Depth is the least number of steps over chains that are true in time."""
        return (chain for chain in chains if len(chain.steps) <= depth)


# --- the rules in small ---------------------------------------------------------------------------


def _by_time(recorded: tuple[Execution, str]) -> tuple[int, str]:
    return recorded[0].at, recorded[1]


def _text(column: Column) -> str:
    return column.text


def _number(write: Write) -> int:
    assert write.version is not None
    return write.version.number


def _id(write: Write) -> str:
    assert write.version is not None
    return write.version.id


def _made(write: Write, version: Version) -> bool:
    answer = write.version
    return answer is not None and (answer.branch, answer.number) == (version.branch, version.number)


def _may_be_within(write: Write, version: Version, known: list[Write], before: int) -> bool:
    """Whether a write without a version was there by its time: not after the version that was read,
    or where no document names its writer, before the read and not after the next known version.
    """
    own = [item for item in known if _number(item) == version.number]
    if own:
        return write.at <= own[0].at
    later = [item for item in known if _number(item) > version.number]
    return write.at < before and (not later or write.at <= later[0].at)


def _in_order_of_versions(read: list[Write], others: list[Write]) -> list[Write]:
    """Oldest first. A write without a version came before each version that ended no earlier, as
    did all the later ones.
    """
    left = sorted(others, key=lambda write: write.order)
    ordered: list[Write] = []
    for place, version in enumerate(read):
        while left and all(left[0].at <= later.at for later in read[place:]):
            ordered.append(left.pop(0))
        ordered.append(version)
    return ordered + left


def _from_version(ordered: list[Write], since: int) -> list[Write]:
    """A change feed tells of every write from its first version on."""
    former = [place for place, w in enumerate(ordered) if w.version and _number(w) < since]
    return ordered[former[-1] + 1 :] if former else ordered


def _closes(plan: Plan) -> bool:
    """ "An overwrite without partition values or a sign of dynamic mode is full: it closes every
    partition; one of known partitions closes those alone; dynamic with unknown values closes
    nothing"; "any other overwrite that reads its target is an overwrite".
    """
    if plan.writes is None or plan.append or plan.by_run or plan.command in ROW_LEVEL:
        return False
    return plan.writes.partition is not None or not (plan.dynamic or _by_class(plan))


def _by_class(plan: Plan) -> bool:
    return plan.command == "OverwritePartitionsDynamic"


def _same_logic(one: Plan, other: Plan) -> bool:
    return replace(one, id="", reads=()) == replace(other, id="", reads=()) and (
        set(one.reads) == set(other.reads)
    )


def _touches(partition: Partition | None, atom: Atom) -> bool:
    return partition is None or set(partition) <= atom


def _of_one_partition(writes: list[Write]) -> list[Write]:
    """The latest overwrite of one partition and the appends after it; oldest first."""
    closing = [position for position, write in enumerate(writes) if write.closes]
    return writes[closing[-1] :] if closing else writes


Found = tuple[Write, Plan, Execution]


def _merge_create_as_select(found: list[Found]) -> list[Found]:
    """ "CTAS: one InsertInto... and one CreateDataSourceTableAsSelect... execution (the class is
    kept on the row), each used once, same application, output, reads and mode, the insert not
    later than the command and at most 10 s before it, are one write." Of several inserts the
    nearest.
    """
    left = list(found)
    for create in [item for item in found if item[1].command == CREATE_AS_SELECT]:
        fitting = [
            insert
            for insert in left
            if insert[1].command == INSERT
            and len(insert[0].plans) == 1
            and insert[1].producer == create[1].producer
            and insert[1].append == create[1].append
            and _agree(insert, create)
            and 0 <= create[0].at - insert[0].at <= _CLOSE
        ]
        if fitting:
            nearest = max(fitting, key=lambda insert: insert[0].order)
            left[left.index(nearest)] = _joined(nearest, create)
            left.remove(create)
    return sorted(left, key=lambda one: one[0].order)


def _merge_producers(found: list[Found]) -> list[Found]:
    """ "Two producers: the k-th write of an output in an application by one pairs with the k-th by
    the other when reads agree and times differ by at most 10 s". An append is no overwrite.
    """
    counts: dict[tuple[str, str, str], int] = {}
    places: dict[tuple[str, str, int], list[Found]] = {}
    for item in found:
        key = (item[0].run, item[0].target, item[1].producer)
        counts[key] = counts.get(key, 0) + 1
        places.setdefault((key[0], key[1], counts[key]), []).append(item)
    left: list[Found] = []
    for same in places.values():
        together = len(same) == 2 and same[0][1].append == same[1][1].append and _agree(*same)
        if together and abs(same[0][0].at - same[1][0].at) <= _CLOSE:
            left.append(_joined(*same))
        else:
            left.extend(same)
    return left


def _agree(one: Found, other: Found) -> bool:
    """Output and reads as the documents say them: a name may move between the two tellings."""
    return (
        one[2].application == other[2].application
        and one[1].target == other[1].target
        and _read_by(one[1]) == _read_by(other[1])
    )


def _read_by(plan: Plan) -> set[str]:
    own = {plan.target} if plan.command in ROW_LEVEL else set[str]()
    return own | {place.dataset for place in plan.reads}


def _joined(one: Found, other: Found) -> Found:
    """ "A merged write takes the earliest time."""
    first, second = sorted((one, other), key=lambda item: item[0].order)
    plans = first[0].plans | second[0].plans
    write = Write(
        first[0].id, first[0].at, first[0].job, plans, first[0].target, first[0].partition,
        first[0].closes, first[0].reads, first[0].flows,
        first[0].version or second[0].version, first[0].bound + second[0].bound,
    )  # fmt: skip
    return write, first[1], first[2]


def _sources(steps: Sequence[Step]) -> set[str]:
    return {step.source for step in steps if step.source is not None}


def _draw(
    found: Truth,
    steps: Sequence[Step],
    indirect: bool,
    *,
    targetless: bool = False,
    sourceless: bool = False,
) -> None:
    """ "A reply draws whole chains: what lies on one is in it".

    ``targetless``: the first step is the focus, and its output was not asked for;
    ``sourceless``: the same of the last step and its inputs.
    """
    for position, step in enumerate(steps):
        write = step.write
        found.jobs.add(write.job)
        if write.target and (position > 0 or not targetless):
            found.feeds |= {(plan, write.target) for plan in write.plans}
        if step.source is not None and not (sourceless and step is steps[-1]):
            found.feeds |= {(step.source, plan) for plan in write.plans}
