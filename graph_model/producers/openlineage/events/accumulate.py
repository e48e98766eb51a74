"""All events of a run id -> its runs, and all of one run -> one state. Any order, any repetition.

The specification wants a new UUID for each run. Some clients count from 1, give two jobs one id, or
send the id of yesterday's run again:

    load START, copy START, load COMPLETE, copy COMPLETE      two runs
    load START, load COMPLETE, load START, load COMPLETE      two runs
    load COMPLETE, a day later load COMPLETE of its tables    two runs
    app.insert START, app.insert.table COMPLETE               one run, whose job was renamed

Events are put in order by (event time, digest) and each distinct one counts once. Then

- inputs and outputs of any event belong to the run; a facet replaces the earlier one of its name
  whole, ``_deleted`` takes it away; the entries of the ``lineage`` facet are joined;
- a client that says COMPLETE_SNAPSHOT (jobType.emissionPattern) repeats everything each time:
  of its datasets and entries the newest event that names any has them all. Where it says PERIODIC
  as well, an event speaks of its own window of time, and the former ones stay true of theirs;
- a terminal state wins over any other, the latest terminal event over the earlier ones. After a
  FAIL with ``spark.exception`` a COMPLETE only says that Spark is done with the query: the run
  has failed (rules.spark_error_facets);
- a task of Airflow of which no event names a dataset has its inlets as inputs and its outlets as
  outputs: Airflow names the assets alone whose schemes its other providers know.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Generic, TypeVar

from graph_model import identity, labels
from graph_model.naming import DEFAULT_RULES, Rules, asset_pair
from graph_model.producers.openlineage.events.documents import (
    ABORT,
    COMPLETE,
    FAIL,
    RUNNING,
    START,
    TERMINAL,
    Dataset,
    JobEvent,
    RunEvent,
    run_home,
    subject_key,
)
from graph_model.producers.openlineage.events.facets import (
    Facet,
    Facets,
    JobType,
    LineageEntry,
    is_silent,
    read_nanoseconds,
    value_of,
)

_Member = TypeVar("_Member")
_EventOf = Callable[[_Member], RunEvent]


@dataclass(frozen=True, slots=True)
class Occurrence(Generic[_Member]):
    """The members of one run, by event time. ``mark`` tells it from the other runs of its id: ""
    for a run that has the id alone, or had it first.
    """

    members: tuple[_Member, ...]
    mark: str = ""


def separate_runs(
    members: Iterable[_Member], event_of: _EventOf[_Member]
) -> list[Occurrence[_Member]]:
    """The runs under one run id; ``event_of`` gives the event of a member."""
    homes: dict[str, list[_Member]] = {}
    for member in members:
        homes.setdefault(run_home(event_of(member)), []).append(member)
    return [
        occurrence
        for _, at_home in sorted(homes.items())
        for mark, job in _jobs(at_home, event_of)
        for occurrence in _occurrences(job, event_of, mark)
    ]


def _jobs(
    members: Sequence[_Member], event_of: _EventOf[_Member]
) -> Iterator[tuple[str, Sequence[_Member]]]:
    """The members of each job with its mark. Jobs that have one start and one end between them are
    one job that was renamed while it ran.
    """
    jobs: dict[tuple[str, str], list[_Member]] = {}
    starts, ends = set(), set()
    for member in members:
        event = event_of(member)
        job = (event.job.namespace, event.job.name)
        jobs.setdefault(job, []).append(member)
        if event.type == START:
            starts.add(job)
        elif event.type in TERMINAL:
            ends.add(job)
    if len(starts) <= 1 and len(ends) <= 1:
        yield "", members
        return
    for job in sorted(jobs):
        yield identity.digest(*job), jobs[job]


def _occurrences(
    members: Sequence[_Member], event_of: _EventOf[_Member], mark: str
) -> Iterator[Occurrence[_Member]]:
    """The runs of one job under one id, by time."""
    run: list[_Member] = []
    so_far = _SoFar()
    for member in sorted(members, key=lambda each: _by_time(event_of(each))):
        event = event_of(member)
        if so_far.is_over(event):
            yield Occurrence(tuple(run), mark)
            run, so_far = [], _SoFar()
            mark = identity.digest(mark, event.time)
        run.append(member)
        so_far.add(event)
    yield Occurrence(tuple(run), mark)


@dataclass(slots=True)
class _SoFar:
    """What the events of one run say until a time."""

    started: bool = False
    ended: int | None = None  # the newest end, in nanoseconds
    nominal: int | None = None  # nanoseconds

    def add(self, event: RunEvent) -> None:
        self.started |= event.type == START
        if event.type in TERMINAL:
            self.ended = event.time
        nominal = _nominal_start(event)
        self.nominal = self.nominal if nominal is None else nominal

    def is_over(self, event: RunEvent) -> bool:
        """Whether a later event is that of another run.

        This one has ended, and the event
        - is a START, where this run had one, or
        - has another nominal time: a run has one, or
        - says an hour or more after the end that the job starts, or runs or ends with tables.

        The specification has OTHER for what is added after the end, and Spark's two ends of one
        query are seconds apart.
        """
        if self.ended is None or event.type not in _OF_A_CYCLE:
            return False
        if event.type == START and self.started:
            return True
        nominal = _nominal_start(event)
        if None not in (nominal, self.nominal) and nominal != self.nominal:
            return True
        tells = event.type == START or bool(_tables_of(event))
        return tells and event.time - self.ended >= _LATER


_OF_A_CYCLE: Final = (START, RUNNING, *TERMINAL)
_LATER: Final = 3_600_000_000_000  # nanoseconds


def _nominal_start(event: RunEvent) -> int | None:
    """In nanoseconds, however it is spelled; None where the event has none that can be read."""
    facet = event.run_facets.get("nominalTime")
    spelled = facet.body.get("nominalStartTime") if facet else None
    return read_nanoseconds(spelled) if isinstance(spelled, str) else None


def _by_time(event: RunEvent) -> tuple[int, bool, str]:
    """Of one time, an end comes last."""
    return event.time, event.type in TERMINAL, event.digest


_STATES: Final = {COMPLETE: labels.COMPLETED, FAIL: labels.FAILED, ABORT: labels.ABORTED}
_HOUR: Final = 3_600_000  # milliseconds
_MOST_CHANGES: Final = 50
_SEVERITY: Final = {COMPLETE: 0, ABORT: 1, FAIL: 2}


@dataclass(frozen=True, slots=True)
class JobStatement:
    """The content of one or several events about a job, the same for runs and declarations.

    Datasets are sorted by key and named once. ``entries`` are those of the lineage facet, by
    target; ``explicit``: the events had such a facet. ``left_out`` are gaps (code, detail) for the
    content that is not projected (``reduction``).
    """

    namespace: str
    name: str
    job_facets: Facets
    run_facets: Facets
    inputs: tuple[Dataset, ...]
    outputs: tuple[Dataset, ...]
    entries: tuple[LineageEntry, ...]
    explicit: bool
    left_out: tuple[tuple[str, str], ...] = ()

    @property
    def without_columns(self) -> bool:
        return any(code == labels.TOO_LARGE for code, _ in self.left_out)


@dataclass(frozen=True, slots=True)
class RunState:
    """A run as its events report it. Times are epoch milliseconds.

    ``state`` is running, completed, failed or aborted; ``ended_at`` is None while it is running;
    ``started_at`` is the time of START (``start_told``), otherwise of the earliest event.
    """

    key: str
    run_id: str
    statement: JobStatement
    state: str
    started_at: int
    ended_at: int | None
    last_at: int
    duration_ns: int | None
    producer: str
    start_told: bool


def accumulate(events: Iterable[RunEvent], rules: Rules = DEFAULT_RULES) -> RunState:
    """The state of one run. Raises ValueError without an event, or for events of several runs."""
    distinct = {event.digest: event for event in events}
    ordered = sorted(distinct.values(), key=_order)
    if not ordered or any(event.run_id != ordered[0].run_id for event in ordered):
        raise ValueError("the events of one run")
    start = next((event for event in ordered if event.type == START), None)
    end = _terminal(ordered, rules)
    return RunState(
        key=subject_key(ordered[0]),
        run_id=ordered[0].run_id,
        statement=_statement(ordered, rules),
        state=_STATES[end.type] if end else labels.RUNNING,
        started_at=(start or ordered[0]).at,
        ended_at=end.at if end else None,
        last_at=ordered[-1].at,
        duration_ns=_duration(start, end) if start and end else None,
        producer=next((e.producer for e in reversed(ordered) if e.producer), ""),
        start_told=start is not None,
    )


def _duration(start: RunEvent, end: RunEvent) -> int | None:
    """Nanoseconds; None where the end is before the start, or three centuries after it, which is
    more than a store's number holds: one of their clocks is wrong.
    """
    duration = end.time - start.time
    return duration if 0 <= duration < 2**63 else None


def seen_running(events: Iterable[RunEvent], rules: Rules) -> tuple[RunState, ...]:
    """The states of a run before its end, by time: one where its tables change, else one an hour.

    Each holds what the events until then say, so that a later event changes no answer about an
    earlier time; only a complete snapshot with other tables, of no window of its own, replaces the
    former ones. Past a bound of changes the tables stay.
    """
    reported: list[RunEvent] = []
    states: list[RunState] = []
    tables: object = None
    changes = 0
    for event in sorted({event.digest: event for event in events}.values(), key=_order):
        if event.type in TERMINAL:
            continue
        reported.append(event)
        named = _tables_of(event)
        if named and named != tables and changes < _MOST_CHANGES:
            tables, changes = named, changes + 1
            state = accumulate(reported, rules)
            kind = value_of(state.statement.job_facets, "jobType", JobType)
            if kind is not None and kind.is_snapshot and not kind.has_windows:
                states.clear()
            states.append(state)
        elif states and event.at // _HOUR > states[-1].last_at // _HOUR:
            states.append(replace(states[-1], last_at=event.at))
    return tuple(states)


def _tables_of(event: RunEvent) -> list[object]:
    """What an event says of its job's tables; empty for none. Statistics change with each event."""
    listed = [("input", dataset) for dataset in event.inputs] + [
        ("output", dataset) for dataset in event.outputs
    ]
    tables: list[object] = [
        (role, dataset.key, sorted((name, facet.digest) for name, facet in dataset.facets.items()))
        for role, dataset in listed
    ]
    lineage = event.job.facets.get("lineage")
    return tables if lineage is None else [*tables, lineage.digest]


def declared(event: JobEvent) -> JobStatement:
    """The content of a job's declaration."""
    lineage = event.job.facets.get("lineage")
    return JobStatement(
        event.job.namespace,
        event.job.name,
        event.job.facets,
        {},
        _merged_datasets(event.inputs),
        _merged_datasets(event.outputs),
        _joined([lineage] if lineage else []),
        lineage is not None and not lineage.deleted,
    )


def _order(event: RunEvent) -> tuple[int, str]:
    return event.time, event.digest


def _terminal(ordered: Sequence[RunEvent], rules: Rules) -> RunEvent | None:
    ended = [event for event in ordered if event.type in TERMINAL]
    broken = [
        e for e in ended if e.type == FAIL and e.run_facets.keys() & {*rules.spark_error_facets}
    ]
    return max(broken or ended, key=_finality, default=None)


def _finality(event: RunEvent) -> tuple[int, int, str]:
    return event.time, _SEVERITY[event.type], event.digest


def _statement(ordered: Sequence[RunEvent], rules: Rules) -> JobStatement:
    job_facets = _latest(event.job.facets for event in ordered)
    speaking = ordered
    kind = value_of(job_facets, "jobType", JobType)
    if kind is not None and kind.is_snapshot:
        speaking = _snapshot(ordered)
    lineages = [event.job.facets["lineage"] for event in speaking if "lineage" in event.job.facets]
    run_facets = _latest(event.run_facets for event in ordered)
    inputs = _merged_datasets(_stored((d for event in speaking for d in event.inputs), rules))
    outputs = _merged_datasets(_stored((d for event in speaking for d in event.outputs), rules))
    if not (inputs or outputs or lineages) and _is_airflows_task(kind):
        inputs = _merged_datasets(_assets(run_facets, "inlets", rules))
        outputs = _merged_datasets(_assets(run_facets, "outlets", rules))
    return JobStatement(
        ordered[-1].job.namespace,
        ordered[-1].job.name,
        job_facets,
        run_facets,
        inputs,
        () if _is_test(kind, rules) else outputs,
        _joined(lineages),
        any(not lineage.deleted for lineage in lineages),
    )


def _is_airflows_task(kind: JobType | None) -> bool:
    """Queries of a task carry the facet of their task, too."""
    return kind is not None and (kind.integration, kind.type) == ("AIRFLOW", "TASK")


#: Up to provider 2.20 the lists are Python's text of them: ``[{'uri': 's3://lake/in', …}]``.
_URI_IN_TEXT: Final = re.compile(r"'uri': '([^']+)'")


def _assets(run_facets: Facets, side: str, rules: Rules) -> Iterator[Dataset]:
    """The inlets or outlets that are locations; an asset may be a mere name, and anything else
    that a client puts there says nothing.
    """
    facet = run_facets.get("airflow")
    task = facet.body.get("task") if facet else None
    listed = task.get(side) if isinstance(task, dict) else None
    if isinstance(listed, str):
        uris: list[object] = list(_URI_IN_TEXT.findall(listed))
    else:
        items = listed if isinstance(listed, list) else []
        uris = [item.get("uri") for item in items if isinstance(item, dict)]
    for uri in uris:
        pair = asset_pair(uri, rules) if isinstance(uri, str) else None
        if pair:
            yield Dataset(*pair, {}, {})


def _is_test(kind: JobType | None, rules: Rules) -> bool:
    """Whether the job's outputs are no tables: dbt names one for each test without creating it."""
    return kind is not None and (kind.integration, kind.type) in rules.test_job_types


def _stored(datasets: Iterable[Dataset], rules: Rules) -> Iterator[Dataset]:
    """Without the memory of a program (``memory://host/jvm_1f6e``), which ends with it: no run
    finds there what another one has put. Nor without a name: Spline's agent calls any topic
    (``kafka``, "").
    """
    for dataset in datasets:
        if not dataset.name and ":" not in dataset.namespace:
            continue
        scheme, _, place = f"{dataset.namespace}/{dataset.name}".partition(":")
        if not (scheme.lower() in rules.memory_schemes and "/jvm_" in place):
            yield dataset


def _snapshot(ordered: Sequence[RunEvent]) -> Sequence[RunEvent]:
    full = [e for e in ordered if e.inputs or e.outputs or "lineage" in e.job.facets]
    return full[-1:]


def _latest(listed: Iterable[Facets]) -> dict[str, Facet]:
    latest: dict[str, Facet] = {}
    for facets in listed:
        latest.update((name, facet) for name, facet in facets.items() if not is_silent(facet))
    return latest


def _merged_datasets(datasets: Iterable[Dataset]) -> tuple[Dataset, ...]:
    """Each dataset once, by key, with the latest of its facets."""
    by_key: dict[tuple[str, str], list[Dataset]] = {}
    for dataset in datasets:
        by_key.setdefault(dataset.key, []).append(dataset)
    return tuple(
        same[0]
        if len(same) == 1
        else Dataset(*key, _latest(d.facets for d in same), _latest(d.usage for d in same))
        for key, same in sorted(by_key.items())
    )


def _joined(lineages: Sequence[Facet]) -> tuple[LineageEntry, ...]:
    """The merged entries of several lineage facets, by target: sources add up; a deletion removes
    the earlier ones.
    """
    entries: dict[tuple[str, str, str], LineageEntry] = {}
    for lineage in lineages:
        if lineage.deleted:
            entries.clear()
        for entry in lineage.value or ():
            key = (entry.type, entry.namespace, entry.name)
            entries[key] = _merged(entries[key], entry) if key in entries else entry
    return tuple(entries[key] for key in sorted(entries))


def _merged(entry: LineageEntry, other: LineageEntry) -> LineageEntry:
    inputs = None
    if entry.inputs is not None or other.inputs is not None:
        inputs = tuple(dict.fromkeys((*(entry.inputs or ()), *(other.inputs or ()))))
    fields = dict(entry.fields)
    for column, sources in other.fields:
        fields[column] = tuple(dict.fromkeys((*fields.get(column, ()), *sources)))
    return LineageEntry(
        entry.type, entry.namespace, entry.name, inputs, tuple(sorted(fields.items()))
    )
