"""The entry of the package: one method for each route of Spline's consumer API."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from graph_model import identity, labels, naming
from graph_model.answers.consumer.attributes import AttributeGraph, PlanAttributes
from graph_model.answers.consumer.event_plans import event_execution_plan
from graph_model.answers.consumer.forward import Forward
from graph_model.answers.consumer.identifiers import (
    is_event_plan,
    known_id,
    read_event_id,
    read_plan_id,
    split_local_id,
)
from graph_model.answers.consumer.overview import (
    Overview,
    PlanNode,
    SourceNode,
    downstream_levels,
    plan_edges,
    plan_node,
    together,
    upstream_levels,
)
from graph_model.answers.consumer.plans import (
    DetailedOperation,
    DetailedPlan,
    PlanInfo,
    detailed_operation,
    detailed_plan,
    plan_info,
    write_operation_id,
)
from graph_model.answers.nodes import dataset_references
from graph_model.answers.sources import Sources
from graph_model.answers.visibility import open_plan
from graph_model.errors import NotFound
from graph_model.facts import ExecutionRow
from graph_model.folded_text import plain
from graph_model.lineage import HUB_LIMIT, Answer, Partial, PlanUse, Question
from graph_model.lineage.history.merging import lacks_expressions
from graph_model.lineage.history.past import Past
from graph_model.lineage.history.writes import Reports
from graph_model.producers.openlineage.pages.inspection import Use
from graph_model.producers.openlineage.pages.plans import EventPlans, without_facets
from graph_model.producers.spline.documents import ExecutionPlan
from graph_model.producers.spline.gathering import read_plan_document
from graph_model.producers.spline.logic import with_patterns
from graph_model.stores.protocols import Direction
from graph_model.stores.protocols.events import (
    EventFilter,
    EventRecord,
    ListPage,
)

NODE_LIMIT: Final = 2_000
#: Bounds for recognising that several reports describe one write: the writes of a table by its
#: applications that are compared, newest first, and the reports left out of a list. Beyond them
#: every report is listed.
_MOST_REPEATED: Final = 2_000
_MOST_LEFT_OUT: Final = 10_000
_PLAN: Final = "execution plan"


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


class Consumer:
    """Answers every question of the consumer API. Raises NotFound, InvalidInput, Unavailable."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._graph = sources.graph
        self._catalogue = sources.catalogue
        self._journal = sources.journal
        self._rules = sources.rules
        self._lineage = sources.lineage

    # --- lists

    def execution_events(self, question: ListQuestion) -> EventPage:
        """Writes and attempted writes, each once even if several agents report it."""
        events, asked = self._catalogue.events, self._once(self._filter(question))
        return EventPage(
            events.executions(asked, question.page),
            events.count_executions(asked),
            events.execution_times(asked) if question.facet else None,
        )

    def data_sources(self, question: ListQuestion) -> EventPage:
        """Data sources, each with its last write; a hidden job is not named."""
        events, asked = self._catalogue.events, self._filter(question)
        return EventPage(
            tuple(map(self._without_job, events.data_sources(asked, question.page))),
            events.count_data_sources(asked),
            events.data_source_times(asked) if question.facet else None,
        )

    def _without_job(self, record: EventRecord) -> EventRecord:
        write = record.write
        if write is None or write.execution.job not in self._sources.hidden:
            return record
        return replace(record, write=replace(write, application=""))

    def _filter(self, question: ListQuestion) -> EventFilter:
        return replace(
            question.filter,
            targets=None if question.uri is None else self._sources_called(question.uri),
            received_by=question.frozen_at,
            hidden=self._sources.hidden,
        )

    def _once(self, asked: EventFilter) -> EventFilter:
        """The filter without executions that repeat the report of another one listed."""
        events = self._catalogue.events
        reports = Past(self._catalogue).writes.reports(
            events.repeated_writes(asked, _MOST_REPEATED)
        )
        listed = events.listed(asked, {row.id for group in reports for row in group})
        again = [key for group in reports for key in _again(group, listed)]
        return replace(asked, without=frozenset(again[:_MOST_LEFT_OUT]))

    def _sources_called(self, uri: str) -> frozenset[str]:
        """The datasets with this URI in every scope, and the locations of the catalog names."""
        spellings = {uri, *(name.uri for name in naming.normalise(uri, "", self._rules))}
        rows = [row for text in spellings for row in self._catalogue.datasets_by_uri(text)]
        places = (self._catalogue.location_of(row.id, None) for row in rows if row.kind == "name")
        return frozenset({row.id for row in rows} | {place for place in places if place})

    def plans(self, at: int | None, offset: int, limit: int) -> tuple[tuple[PlanInfo, ...], int]:
        """Plans that had run by ``at``, ordered by their last run, newest
        first; and their number.
        """
        ids, total = self._catalogue.events.plan_ids(at, offset, limit, self._sources.hidden)
        return tuple(plan_info(plan) for plan in self._listed(ids)), total

    def _listed(self, plan_ids: Iterable[str]) -> Iterator[ExecutionPlan]:
        """The plans listed that have not been forgotten since."""
        for plan_id in plan_ids:
            with suppress(NotFound):
                yield self._reported(plan_id)[0]

    def label_names(self, search: str, offset: int, length: int | None) -> tuple[str, ...]:
        """Label names of executions and of the plans that ran; ``length`` None: all."""
        return _searched(self._catalogue.events.label_names(), search, offset, length)

    def label_values(
        self, name: str, search: str, offset: int, length: int | None
    ) -> tuple[str, ...]:
        """The values of one label; empty for an unknown label."""
        return _searched(self._catalogue.events.label_values(name), search, offset, length)

    # --- one plan

    def plan(self, plan_id: str) -> DetailedPlan:
        """A plan's operations."""
        return detailed_plan(self._plan(plan_id))

    def write_operation(self, plan_id: str) -> str:
        """The id of the plan's write operation."""
        return write_operation_id(self._plan(plan_id))

    def operation(self, operation_id: str) -> DetailedOperation:
        """One operation with its schemas and expressions."""
        plan_id, local = split_local_id(operation_id, "operation")
        return detailed_operation(self._plan(plan_id), local)

    def attribute(self, attribute_id: str) -> tuple[str, AttributeGraph, AttributeGraph]:
        """The plan's id, the lineage of a column, and its impact."""
        plan_id, sent = split_local_id(attribute_id, "attribute")
        attributes = PlanAttributes(self._plan(plan_id))
        key = known_id(sent, attributes.emitted)
        if key is None:
            raise NotFound("attribute", attribute_id)
        return plan_id, attributes.lineage(key), attributes.impact(key)

    def plan_sources(self, plan_id: str, *, read: bool, write: bool) -> tuple[str, ...]:
        """The URIs of the data sources that a plan reads, writes, or both."""
        if is_event_plan(plan_id):
            plan, scope = self._event_plan(plan_id), ""
        else:
            plan, scope = self._reported(read_plan_id(plan_id))
        uris = [plan.write.target] if write else []
        uris += [source for operation in plan.reads for source in operation.sources] if read else []
        found: dict[str, None] = {}
        for uri in uris:
            for name in naming.normalise(uri, scope, self._rules):
                found[name.uri] = None
        return tuple(found)

    def _plan(self, plan_id: str) -> ExecutionPlan:
        if is_event_plan(plan_id):
            return self._event_plan(plan_id)
        return self._reported(read_plan_id(plan_id))[0]

    def _event_plan(self, plan_id: str) -> ExecutionPlan:
        """A plan made from OpenLineage events; NotFound for one that writes nothing."""
        event_plans = EventPlans(
            self._catalogue, self._journal, self._rules, self._sources.producers.event
        )
        found = event_plans.find(plan_id, None)
        plan, execution = found.logical_plan, found.execution
        sources = open_plan(self._sources, {execution.job, execution.target}, plan_id, _PLAN)
        page = self._graph.edges((plan,), Direction.UPSTREAM, (labels.FEEDS,), HUB_LIMIT)
        read = {edge.out_id for edge in page.edges}
        named = dataset_references(sources, {execution.target, *read})
        uses = [Use(key, named[key], "") for key in sorted(named)]
        written = next((use for use in uses if use.id == execution.target), None)
        events = event_plans.events(execution)
        reads = [use for use in uses if use.id in read]
        event_plan = event_plans.read(execution, events, reads, written)
        if not sources.hidden.isdisjoint(read):
            event_plan = without_facets(event_plan)
        shown = event_execution_plan(
            plan, event_plan, append=execution.mode in labels.KEEPING_MODES
        )
        if shown is None:
            raise NotFound(_PLAN, plan_id)
        return shown

    def _reported(self, plan_id: str) -> tuple[ExecutionPlan, str]:
        """The plan of a Spline document, and its scope."""
        rows = self._catalogue.execution_plans(plan_id=plan_id, limit=1)
        stored = self._journal.document_of(plan_id, rows[0].content_hash) if rows else None
        if stored is None:
            raise NotFound(_PLAN, plan_id)
        logical = self._catalogue.logical_plans((rows[0].logical_plan,))
        ends = {rows[0].job, *(row.target for row in logical)}
        sources = open_plan(self._sources, ends, plan_id, _PLAN)
        document = read_plan_document(stored)
        plan = with_patterns(document.plan, self._rules)
        return self._without_hidden(sources, plan, document.scope), document.scope

    def _without_hidden(self, sources: Sources, plan: ExecutionPlan, scope: str) -> ExecutionPlan:
        """An operation that reads something hidden loses its sources and parameters."""
        if not sources.hidden:
            return plan
        operations = tuple(
            replace(one, sources=(), params={}, extra={})
            if self._reads_hidden(sources, one.sources, scope)
            else one
            for one in plan.operations
        )
        return replace(plan, operations=operations)

    def _reads_hidden(self, sources: Sources, uris: Iterable[str], scope: str) -> bool:
        names = (name for uri in uris for name in naming.normalise(uri, scope, self._rules))
        return any(identity.dataset_id(one.scope, one.uri) in sources.hidden for one in names)

    # --- overviews

    def lineage_overview(self, event_id: str, depth: int) -> Overview:
        """The sources of an execution's output: the content of each source just before it."""
        execution = self._execution(event_id)
        start = self._start(execution)
        answers: list[Answer] = []
        for source in start.sources if depth > 1 and execution.at > 0 else ():
            question = Question(
                source, Direction.UPSTREAM, depth - 1, execution.at - 1, limit=NODE_LIMIT
            )
            answers.append(self._lineage.ask(question))
        uses = together(use for answer in answers for use in answer.plans)
        levels = 1 + upstream_levels(start.sources, uses)
        cut = next((answer.partial for answer in answers if answer.partial is not None), None)
        return self._overview(execution, start, uses, depth, levels, cut)

    def impact_overview(self, event_id: str, depth: int) -> Overview:
        """The uses of an execution's output, until the next overwrite replaced it.

        A failed run wrote nothing that others read, and a failed overwrite replaced nothing.
        """
        execution = self._execution(event_id)
        start = self._start(execution)
        (target,) = start.targets
        uses: tuple[PlanUse, ...] = ()
        forward = Forward(self._graph, self._catalogue, self._sources.expired, NODE_LIMIT)
        has_written = execution.state == labels.COMPLETED and execution.kind == labels.WRITE_KIND
        if depth > 1 and has_written:
            uses = forward.uses(execution, target, depth - 1)
        levels = 1 + downstream_levels(target, uses)
        cut = Partial(forward.cut, NODE_LIMIT) if forward.cut else None
        return self._overview(execution, start, together(uses), depth, levels, cut)

    def _execution(self, event_id: str) -> ExecutionRow:
        asked = read_event_id(event_id)
        rows = self._catalogue.events.executions_at({(asked.plan_id, asked.at)})
        chosen = [row for row in rows if asked.execution in (None, row.id)]
        if not chosen:
            raise NotFound("event", event_id)
        ends = {chosen[0].job, chosen[0].target}
        self._sources = open_plan(self._sources, ends, event_id, "event")
        return chosen[0]

    def _start(self, execution: ExecutionRow) -> PlanUse:
        """The execution's own plan, with catalog names replaced by the locations they stood for."""
        plan = execution.logical_plan
        page = self._graph.edges((plan,), Direction.UPSTREAM, (labels.FEEDS,), HUB_LIMIT)
        read = {e.out_id for e in page.edges if identity.kind_of(e.out_id) == labels.DATASET}
        moments = [(dataset, execution.at) for dataset in (*read, execution.target)]
        places = self._catalogue.locations_of(moments)
        sources = {places.get((dataset, execution.at), dataset) for dataset in read}
        target = places.get((execution.target, execution.at), execution.target)
        return PlanUse(plan, execution.job, execution.mode, tuple(sorted(sources)), (target,))

    def _overview(
        self,
        execution: ExecutionRow,
        start: PlanUse,
        uses: Sequence[PlanUse],
        depth: int,
        levels: int,
        partial: Partial | None,
    ) -> Overview:
        (target,) = start.targets
        shown = (start, *(use for use in uses if use.logical_plan != start.logical_plan))
        again = [use for use in uses if use.logical_plan == start.logical_plan]
        shown = (together_with(start, again), *shown[1:]) if depth > 0 else ()
        shown = tuple(self._visible_uses(shown))
        plans = self._plan_nodes(execution, {use.logical_plan for use in shown})
        edges = plan_edges(shown, {key: node.id for key, node in plans.items()})
        datasets = {target} | {d for use in shown for d in (*use.sources, *use.targets)}
        rows = self._catalogue.datasets(datasets - self._sources.hidden)
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
            depth_computed=levels if depth > 0 else -1,
            partial=partial,
        )

    def _visible_uses(self, uses: Iterable[PlanUse]) -> Iterator[PlanUse]:
        """Without hidden jobs, and without the hidden datasets of other jobs."""
        hidden = self._sources.hidden
        for use in uses:
            if use.job not in hidden:
                yield use._replace(
                    sources=tuple(one for one in use.sources if one not in hidden),
                    targets=tuple(one for one in use.targets if one not in hidden),
                )

    def _plan_nodes(self, execution: ExecutionRow, plans: Collection[str]) -> dict[str, PlanNode]:
        """Per logical plan the producer's plan that ran last; for the execution's own plan, its
        own.
        """
        newest = self._catalogue.events.newest_of_plans(plans, None)
        if execution.logical_plan in plans:
            newest[execution.logical_plan] = execution
        rows = self._catalogue.events.plans({row.execution_plan for row in newest.values()})
        documents = {row.id: row for row in rows}
        found = {
            plan: plan_node(documents[row.execution_plan])
            for plan, row in sorted(newest.items())
            if row.execution_plan in documents
        }
        return found | self._unreported(set(plans) - found.keys())

    def _unreported(self, plans: Collection[str]) -> dict[str, PlanNode]:
        """Plans without a Spline document: by their own ids, with the names of their jobs."""
        rows = self._catalogue.logical_plans(plans)
        names = {row.id: row.name for row in self._catalogue.jobs({row.job for row in rows})}
        return {row.id: PlanNode(row.id, names.get(row.job, ""), "", None) for row in rows}


def _again(reports: Reports, listed: Collection[str]) -> list[str]:
    """The ids of all listed reports of a write but one: a report whose plan Spline can open if
    there is one, else the first.
    """
    shown = sorted((row for row in reports if row.id in listed), key=lacks_expressions)
    return [row.id for row in shown[1:]]


def together_with(start: PlanUse, again: Sequence[PlanUse]) -> PlanUse:
    """The execution's plan, with its uses further along a chain added."""
    sources = {*start.sources, *(source for use in again for source in use.sources)}
    targets = {*start.targets, *(target for use in again for target in use.targets)}
    return start._replace(sources=tuple(sorted(sources)), targets=tuple(sorted(targets)))


def _searched(
    texts: Sequence[str], search: str, offset: int, length: int | None
) -> tuple[str, ...]:
    needle = plain(search)
    found = [text for text in texts if needle in plain(text)]
    return tuple(found[offset:] if length is None else found[offset : offset + length])
