"""The lineage and the impact of one execution's output.

Nodes are data sources and plans; a plan represents all its runs in an answer. Depth counts plans
along a chain: the execution's own is 1, and 0 is its output alone.

Upstream ``graph_model.lineage`` answers for the datasets of a time. Downstream an execution's
output is followed even if all of it has been overwritten since, level by level: a state is a
dataset with the interval in which the data was there, from a write to the first full overwrite
after it. The runs of one plan in one interval are one node.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from graph_model import labels, naming
from graph_model.answers.consumer.plan_documents import reported_plan
from graph_model.answers.jobs import sources_of_plans
from graph_model.answers.nodes import open_plan
from graph_model.answers.sources import Sources
from graph_model.errors import NotFound
from graph_model.facts import ExecutionPlanRow, ExecutionRow, LogicalPlanRow
from graph_model.lineage import Answer, Partial, PlanUse, Question, WalkEvidence, readers_of
from graph_model.lineage.history.history import History
from graph_model.lineage.history.rules import Reports, lacks_expressions
from graph_model.producers.spline.documents import ExecutionPlan, Product, read_product
from graph_model.stores.catalogue_values import EventFilter, EventRecord, ListPage
from graph_model.stores.graph import Direction
from graph_model.values import plain

NODE_LIMIT: Final = 2_000


@dataclass(frozen=True, slots=True)
class EventId:
    """An execution by its plan and time; ``execution`` is its own id, None where these are enough.
    ``text`` is the whole id as the client wrote it.
    """

    text: str
    plan_id: str
    at: int
    execution: str | None


@dataclass(frozen=True, slots=True)
class _Walk:
    """The uses that a walk from an execution found, its levels, and the bound that cut it."""

    uses: Sequence[PlanUse]
    levels: int
    partial: Partial | None


def lineage_overview(sources: Sources, event: EventId, depth: int) -> Overview:
    """The sources of an execution's output: the content of each source just before it."""
    sources, execution = _find_execution(sources, event)
    start = _start(sources, execution)
    lineage = sources.lineage
    answers: list[Answer] = []
    for source in start.sources if depth > 1 and execution.at > 0 else ():
        question = Question(
            source, Direction.UPSTREAM, depth - 1, execution.at - 1, limit=NODE_LIMIT
        )
        answers.append(lineage.ask(question))
    uses = together(use for answer in answers for use in answer.plans)
    levels = 1 + upstream_levels(start.sources, uses, sources.hidden)
    cut = next((answer.partial for answer in answers if answer.partial is not None), None)
    return _overview(sources, execution, start, _Walk(uses, levels, cut), depth)


def impact_overview(sources: Sources, event: EventId, depth: int) -> Overview:
    """The uses of an execution's output, until the next overwrite replaced it.

    A failed run wrote nothing that others read, and a failed overwrite replaced nothing.
    """
    sources, execution = _find_execution(sources, event)
    start = _start(sources, execution)
    (target,) = start.targets
    uses: tuple[PlanUse, ...] = ()
    forward = Forward(sources.lineage.evidence(), NODE_LIMIT)
    has_written = execution.state == labels.COMPLETED and execution.kind == labels.WRITE_KIND
    if depth > 1 and has_written:
        uses = forward.uses(execution, target, depth - 1)
    levels = 1 + downstream_levels(target, uses, sources.hidden)
    walk = _Walk(together(uses), levels, forward.partial)
    return _overview(sources, execution, start, walk, depth)


def _find_execution(sources: Sources, event: EventId) -> tuple[Sources, ExecutionRow]:
    """The sources for a question about this execution, and its row. Raises NotFound."""
    rows = sources.catalogue.events.executions_at({(event.plan_id, event.at)})
    chosen = [row for row in rows if event.execution in (None, row.id)]
    if not chosen:
        raise NotFound("event", event.text)
    ends = {chosen[0].job, chosen[0].target}
    return open_plan(sources, ends, event.text, "event"), chosen[0]


def _start(sources: Sources, execution: ExecutionRow) -> PlanUse:
    """The execution's own plan, with catalog names replaced by the locations they stood for."""
    plan = execution.logical_plan
    read = set(sources_of_plans(sources, (plan,)).get(plan, ()))
    moments = [(dataset, execution.at) for dataset in (*read, execution.target)]
    places = sources.catalogue.locations_of(moments)
    origins = {places.get((dataset, execution.at), dataset) for dataset in read}
    target = places.get((execution.target, execution.at), execution.target)
    return PlanUse(plan, execution.job, execution.mode, tuple(sorted(origins)), (target,))


def _overview(
    sources: Sources,
    execution: ExecutionRow,
    start: PlanUse,
    walk: _Walk,
    depth: int,
) -> Overview:
    (target,) = start.targets
    shown = (start, *(use for use in walk.uses if use.logical_plan != start.logical_plan))
    again = [use for use in walk.uses if use.logical_plan == start.logical_plan]
    shown = (_together_with(start, again), *shown[1:]) if depth > 0 else ()
    shown = tuple(_visible_uses(sources, shown))
    plans = _plan_nodes(sources, execution, {use.logical_plan for use in shown})
    edges = plan_edges(shown, {key: node.id for key, node in plans.items()})
    datasets = {target} | {d for use in shown for d in (*use.sources, *use.targets)}
    rows = sources.catalogue.datasets(datasets - sources.hidden)
    return Overview(
        timestamp=execution.at,
        application_id=execution.application_id,
        target=target,
        sources=tuple(
            SourceNode(row.id, row.uri)
            for row in sorted(rows, key=lambda row: (row.id != target, row.uri, row.id))
        ),
        plans=tuple({node.id: node for node in plans.values()}.values()),
        edges=tuple(edges),
        depth_requested=depth,
        depth_computed=walk.levels if depth > 0 else -1,
        partial=walk.partial,
    )


def _visible_uses(sources: Sources, uses: Iterable[PlanUse]) -> Iterator[PlanUse]:
    """Without hidden jobs, and without the hidden datasets of other jobs."""
    hidden = sources.hidden
    for use in uses:
        if use.job not in hidden:
            yield use._replace(
                sources=tuple(dataset for dataset in use.sources if dataset not in hidden),
                targets=tuple(dataset for dataset in use.targets if dataset not in hidden),
            )


def _plan_nodes(
    sources: Sources, execution: ExecutionRow, plans: Collection[str]
) -> dict[str, PlanNode]:
    """Per logical plan the producer's plan that ran last; for the execution's own plan, its own."""
    newest = sources.catalogue.events.newest_of_plans(plans, None)
    if execution.logical_plan in plans:
        newest[execution.logical_plan] = execution
    rows = sources.catalogue.events.plans({row.execution_plan for row in newest.values()})
    documents = {row.id: row for row in rows}
    nodes = {
        plan: plan_node(documents[row.execution_plan])
        for plan, row in sorted(newest.items())
        if row.execution_plan in documents
    }
    return nodes | _unreported(sources, set(plans) - nodes.keys())


def _unreported(sources: Sources, plans: Collection[str]) -> dict[str, PlanNode]:
    """Plans without a Spline document: by their own ids, with the names of their jobs."""
    rows = sources.catalogue.logical_plans(plans)
    names = {row.id: row.name for row in sources.catalogue.jobs({row.job for row in rows})}
    unknown = Product("", "")
    return {row.id: PlanNode(row.id, names.get(row.job, ""), unknown, None) for row in rows}


def _together_with(start: PlanUse, again: Sequence[PlanUse]) -> PlanUse:
    """The execution's plan, with its uses further along a chain added."""
    sources = {*start.sources, *(source for use in again for source in use.sources)}
    targets = {*start.targets, *(target for use in again for target in use.targets)}
    return start._replace(sources=tuple(sorted(sources)), targets=tuple(sorted(targets)))


@dataclass(frozen=True, slots=True)
class SourceNode:
    id: str
    uri: str


@dataclass(frozen=True, slots=True)
class PlanNode:
    """``agent`` None where it is not known."""

    id: str
    name: str
    system: Product
    agent: Product | None


@dataclass(frozen=True, slots=True)
class Overview:
    """``depth_computed`` is -1 where no plan is shown."""

    timestamp: int
    application_id: str
    target: str
    sources: tuple[SourceNode, ...]
    plans: tuple[PlanNode, ...]
    edges: tuple[tuple[str, str], ...]
    depth_requested: int
    depth_computed: int
    partial: Partial | None


def together(uses: Iterable[PlanUse]) -> tuple[PlanUse, ...]:
    """Each plan once, with the datasets of all its uses."""
    by_plan: dict[str, tuple[PlanUse, set[str], set[str]]] = {}
    for use in uses:
        _, sources, targets = by_plan.setdefault(use.logical_plan, (use, set(), set()))
        sources.update(use.sources)
        targets.update(use.targets)
    return tuple(
        PlanUse(use.logical_plan, use.job, use.mode, tuple(sorted(sources)), tuple(sorted(targets)))
        for use, sources, targets in (by_plan[key] for key in sorted(by_plan))
    )


def upstream_levels(
    sources: Iterable[str], uses: Collection[PlanUse], hidden: Collection[str]
) -> int:
    """The number of levels of plans before these sources, up to the last plan of a job that is not
    ``hidden`` (ids); a plan counts at its shortest distance.
    """
    steps = [(use.logical_plan, use.targets, use.sources) for use in uses]
    return _levels(sources, steps, {use.logical_plan for use in uses if use.job in hidden})


def downstream_levels(target: str, uses: Collection[PlanUse], hidden: Collection[str]) -> int:
    """As ``upstream_levels``, of the plans after this dataset."""
    steps = [(use.logical_plan, use.sources, use.targets) for use in uses]
    return _levels((target,), steps, {use.logical_plan for use in uses if use.job in hidden})


def _levels(
    start: Iterable[str],
    steps: Iterable[tuple[str, tuple[str, ...], tuple[str, ...]]],
    unseen: Collection[str],
) -> int:
    """Steps are (plan, datasets on the near side, datasets on the far side)."""
    beside: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for plan, near, far in steps:
        for dataset in near:
            beside.setdefault(dataset, []).append((plan, far))
    kept: set[str] = set()
    reached = set(start)
    frontier = set(reached)
    levels = shown = 0
    while frontier:
        taken = [step for dataset in frontier for step in beside.get(dataset, ())]
        new = {plan for plan, _ in taken} - kept
        levels += bool(new)
        shown = levels if new.difference(unseen) else shown
        kept |= new
        frontier = {dataset for _, far in taken for dataset in far} - reached
        reached |= frontier
    return shown


def plan_edges(uses: Iterable[PlanUse], plan_ids: Mapping[str, str]) -> dict[tuple[str, str], None]:
    """Source -> plan -> target; ``plan_ids`` are the producers' ids of logical plans."""
    edges: dict[tuple[str, str], None] = {}
    for use in uses:
        if use.logical_plan in plan_ids:
            plan = plan_ids[use.logical_plan]
            edges |= dict.fromkeys((source, plan) for source in use.sources)
            edges |= dict.fromkeys((plan, target) for target in use.targets)
    return edges


def plan_node(row: ExecutionPlanRow) -> PlanNode:
    """The node of a plan whose document is known."""
    agent = None if row.agent == "unknown" else read_product(row.agent)
    return PlanNode(row.plan_id, row.name, read_product(row.system), agent)


@dataclass(frozen=True, slots=True, order=True)
class Stretch:
    """Reads after ``since`` and up to ``until`` (None: the end of time) saw the data."""

    dataset: str
    since: int
    until: int | None

    def covers(self, other: Stretch) -> bool:
        """Whether every read in the other stretch is in this one too."""
        later = self.until is None or (other.until is not None and other.until <= self.until)
        return self.dataset == other.dataset and self.since <= other.since and later


class Forward:
    """Follows the data that executions wrote. Raises GraphUnavailable."""

    def __init__(self, evidence: WalkEvidence, limit: int) -> None:
        self._evidence = evidence
        self._catalogue = evidence.catalogue
        self._events = evidence.catalogue.events
        self._limit = limit
        self._uses: dict[tuple[str, str], PlanUse] = {}

    @property
    def partial(self) -> Partial | None:
        """The bound that left something out."""
        return self._evidence.bounds.partial

    def uses(self, execution: ExecutionRow, target: str, depth: int) -> tuple[PlanUse, ...]:
        """The plans within this many levels, one use for every dataset that a plan read."""
        start = Stretch(target, execution.at, self._end_of(execution))
        frontier, seen = [start], [start]
        for _ in range(depth):
            following: list[Stretch] = []
            readers = self._readers({stretch.dataset for stretch in frontier})
            for stretch in frontier:
                if not self._is_full():
                    following += self._step(stretch, readers.get(stretch.dataset, set()))
            frontier = []
            for stretch in following:
                if not any(known.covers(stretch) for known in seen):
                    seen.append(stretch)
                    frontier.append(stretch)
            if not frontier or self._is_full():
                break
        return tuple(self._uses.values())

    def _is_full(self) -> bool:
        if len(self._uses) >= self._limit:
            self._evidence.bounds.cut("nodes", self._limit)
        return self._evidence.bounds.over()

    def _readers(self, datasets: Collection[str]) -> dict[str, set[str]]:
        """Per dataset the plans that ever read it, under any of its names."""
        called: dict[str, set[str]] = {}
        for dataset, names in self._evidence.history.names.names_of(datasets).items():
            for name in (dataset, *names):
                called.setdefault(name, set()).add(dataset)
        readers: dict[str, set[str]] = {}
        for plan, read in readers_of(self._evidence, datasets).items():
            for dataset in (place for name in read for place in called[name]):
                readers.setdefault(dataset, set()).add(plan)
        return readers

    def _step(self, stretch: Stretch, plans: Collection[str]) -> list[Stretch]:
        """The writes of the plans that read within a stretch, and how long each was visible."""
        self._note_reading_plans(stretch, plans)
        last = self._events.newest_of_plans(plans, stretch.until)
        last = {plan: row for plan, row in last.items() if row.at > stretch.since}
        first = self._events.first_of_plans(last, stretch.since)
        rows = {row.id: row for row in self._catalogue.logical_plans(last)}
        return [
            self._wrote(stretch, rows[plan], first[plan], row)
            for plan, row in sorted(last.items())
            if plan in rows and plan in first and len(self._uses) < self._limit
        ]

    def _note_reading_plans(self, stretch: Stretch, plans: Collection[str]) -> None:
        """Note the plans that read in a stretch and write nothing: chains end there."""
        rows = {row.id: row for row in self._catalogue.logical_plans(plans) if not row.target}
        last = self._catalogue.last_of_plans(rows, stretch.until)
        for plan, row in sorted(last.items()):
            if row.kind == labels.READ_KIND and row.at > stretch.since and not self._is_full():
                use = PlanUse(plan, row.job, rows[plan].mode, (stretch.dataset,), ())
                self._uses[plan, stretch.dataset] = use

    def _wrote(
        self, stretch: Stretch, plan: LogicalPlanRow, first: int, last: ExecutionRow
    ) -> Stretch:
        moment = (plan.target, last.at)
        target = self._catalogue.locations_of((moment,)).get(moment, plan.target)
        use = PlanUse(plan.id, plan.job, plan.mode, (stretch.dataset,), (target,))
        self._uses[plan.id, stretch.dataset] = use
        return Stretch(target, first, self._end_of(last))

    def _end_of(self, execution: ExecutionRow) -> int | None:
        """The time at which the next full overwrite replaced the execution's output."""
        pair = (execution.target, execution.application_id)
        same = {
            row.id
            for reports in self._evidence.history.writes.reports({pair})
            if any(row.id == execution.id for row in reports)
            for row in reports
        }
        return self._events.next_overwrite(execution, same)


# The lists of Spline's consumer API: executions, data sources, plans, labels.

#: Bounds for recognising that several reports describe one write: the newest executions of a list
#: that are compared, and the reports left out of it. Beyond them every report is listed.
_MOST_COMPARED: Final = 10_000
_MOST_LEFT_OUT: Final = 10_000


@dataclass(frozen=True, slots=True)
class EventPage:
    """``times`` are the first and last of all events listed; None when not requested or when there
    are no events.
    """

    items: tuple[EventRecord, ...]
    total: int
    times: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class ListQuestion:
    """``frozen_at``: leave out documents received later (epoch ms; None: none).

    ``uri`` is a data source in any spelling that ingestion accepts. ``facet``: return the times.
    """

    filter: EventFilter
    page: ListPage
    uri: str | None = None
    frozen_at: int | None = None
    facet: bool = False


def execution_events(sources: Sources, question: ListQuestion) -> EventPage:
    """Writes and attempted writes, each once even if several agents report it."""
    events, asked = sources.catalogue.events, _once(sources, _filter(sources, question))
    return EventPage(
        events.executions(asked, question.page),
        events.count_executions(asked),
        events.execution_times(asked) if question.facet else None,
    )


def data_sources(sources: Sources, question: ListQuestion) -> EventPage:
    """Data sources, each with its last write; that of a hidden job tells nothing of the job."""
    events, asked = sources.catalogue.events, _filter(sources, question)
    return EventPage(
        tuple(
            _without_job(sources, record) for record in events.data_sources(asked, question.page)
        ),
        events.count_data_sources(asked),
        events.data_source_times(asked) if question.facet else None,
    )


def plans(
    sources: Sources, at: int | None, offset: int, limit: int
) -> tuple[tuple[ExecutionPlan, ...], int]:
    """Plans that had run by ``at``, ordered by their last run, newest first; and their number."""
    ids, total = sources.catalogue.events.plan_ids(at, offset, limit, sources.hidden)
    return tuple(_listed(sources, ids)), total


def label_names(sources: Sources, search: str, offset: int, length: int | None) -> tuple[str, ...]:
    """Label names of executions and of the plans that ran; ``length`` None: all."""
    return _searched(sources.catalogue.events.label_names(sources.hidden), search, offset, length)


def label_values(
    sources: Sources, name: str, search: str, offset: int, length: int | None
) -> tuple[str, ...]:
    """The values of one label; empty for an unknown label."""
    return _searched(
        sources.catalogue.events.label_values(name, sources.hidden), search, offset, length
    )


def _without_job(sources: Sources, record: EventRecord) -> EventRecord:
    """Without what a hidden job says of itself: its name, labels, application and error."""
    write = record.write
    if write is None or write.execution.job not in sources.hidden:
        return record
    row = write.execution._replace(application_id="", error=None)
    write = replace(write, execution=row, application="", labels="{}", extra="{}")
    return replace(record, write=write)


def _filter(sources: Sources, question: ListQuestion) -> EventFilter:
    return replace(
        question.filter,
        targets=None if question.uri is None else _datasets_called(sources, question.uri),
        received_by=question.frozen_at,
        hidden=sources.hidden,
    )


def _once(sources: Sources, event_filter: EventFilter) -> EventFilter:
    """The filter without executions that repeat the report of another one listed."""
    events = sources.catalogue.events
    reports = History(sources.catalogue).writes.reports(
        events.repeated_writes(event_filter, _MOST_COMPARED)
    )
    listed = events.listed(event_filter, {row.id for group in reports for row in group})
    again = [key for group in reports for key in _again(group, listed)]
    return replace(event_filter, without=frozenset(again[:_MOST_LEFT_OUT]))


def _datasets_called(sources: Sources, uri: str) -> frozenset[str]:
    """The datasets with this URI in every scope, and the locations of the catalog names."""
    spellings = {uri, *(name.uri for name in naming.normalise(uri, "", sources.rules))}
    rows = [row for text in spellings for row in sources.catalogue.datasets_by_uri(text)]
    places = (sources.catalogue.location_of(row.id, None) for row in rows if row.kind == "name")
    return frozenset({row.id for row in rows} | {place for place in places if place})


def _listed(sources: Sources, plan_ids: Iterable[str]) -> Iterator[ExecutionPlan]:
    """The plans listed that have not been forgotten since."""
    for plan_id in plan_ids:
        with suppress(NotFound):
            yield reported_plan(sources, plan_id)[0]


def _again(reports: Reports, listed: Collection[str]) -> list[str]:
    """The ids of all listed reports of a write but one: a report whose plan Spline can open if
    there is one, else the first.
    """
    shown = sorted((row for row in reports if row.id in listed), key=lacks_expressions)
    return [row.id for row in shown[1:]]


def _searched(
    texts: Sequence[str], search: str, offset: int, length: int | None
) -> tuple[str, ...]:
    needle = plain(search)
    matching = [text for text in texts if needle in plain(text)]
    return tuple(matching[offset:] if length is None else matching[offset : offset + length])
