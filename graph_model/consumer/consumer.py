"""The door of the package: what Spline's viewers ask, from graph, catalogue and journal."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from graph_model import identity, labels, naming
from graph_model.consumer.attributes import AttributeGraph, PlanAttributes
from graph_model.consumer.events import (
    EventFilter,
    EventRecord,
    ListPage,
)
from graph_model.consumer.forward import Forward
from graph_model.consumer.identifiers import (
    is_told,
    known_id,
    read_event_id,
    read_plan_id,
    split_local_id,
)
from graph_model.consumer.overview import (
    Overview,
    PlanNode,
    SourceNode,
    downstream_levels,
    plan_edges,
    plan_node,
    together,
    upstream_levels,
)
from graph_model.consumer.plans import (
    DetailedOperation,
    DetailedPlan,
    PlanInfo,
    detailed_operation,
    detailed_plan,
    plan_info,
    write_operation_id,
)
from graph_model.consumer.told import told_execution_plan
from graph_model.documents import ExecutionPlan
from graph_model.errors import NotFound
from graph_model.facts import ExecutionRow
from graph_model.history.merging import lacks_expressions
from graph_model.history.past import Past, Reports
from graph_model.lineage import HUB_LIMIT, Answer, Lineage, Partial, PlanUse, Question, Structure
from graph_model.naming import Rules
from graph_model.openlineage.inspection import Use
from graph_model.projection.plans import read_plan_document
from graph_model.store import Catalogue, Direction, Graph, Journal
from graph_model.told_plans import ToldPlans
from graph_model.translate import PlanDocument
from graph_model.view import DatasetReference
from graph_model.words import plain

NODE_LIMIT: Final = 2_000
#: Applications' writes of a table that are looked through for reports of one write, newest first,
#: and reports that are left out of a list. What is beyond is listed as it was reported.
_MOST_TOLD_TWICE: Final = 2_000
_MOST_LEFT_OUT: Final = 10_000


@dataclass(frozen=True, slots=True)
class EventPage:
    """``times`` are the first and last of all that is listed, None when they were not asked for
    or there is none.
    """

    items: tuple[EventRecord, ...]
    total: int
    times: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class ListQuestion:
    """``frozen_at``: leave out what was received later (epoch ms; None: nothing).

    ``uri`` is a data source in any spelling that ingestion accepts. ``facet``: tell the times.
    """

    filter: EventFilter
    page: ListPage
    uri: str | None = None
    frozen_at: int | None = None
    facet: bool = False


class Consumer:
    """Everything that the consumer API asks. Raises NotFound, InvalidInput, Unavailable."""

    def __init__(
        self,
        graph: Graph,
        catalogue: Catalogue,
        journal: Journal,
        *,
        rules: Rules = naming.DEFAULT_RULES,
        expired: Callable[[], bool] = lambda: False,
        time_limit_ms: int = 0,
        structure: Structure | None = None,
    ) -> None:
        self._graph = graph
        self._catalogue = catalogue
        self._journal = journal
        self._rules = rules
        self._expired = expired
        self._lineage = Lineage(
            graph, catalogue, expired=expired, time_limit_ms=time_limit_ms, structure=structure
        )

    # --- lists

    def execution_events(self, question: ListQuestion) -> EventPage:
        """Writes and attempts at one, each once, whoever reports it."""
        events, asked = self._catalogue.events, self._once(self._filter(question))
        return EventPage(
            events.executions(asked, question.page),
            events.count_executions(asked),
            events.execution_times(asked) if question.facet else None,
        )

    def data_sources(self, question: ListQuestion) -> EventPage:
        """Data sources, each with its last write."""
        events, asked = self._catalogue.events, self._filter(question)
        return EventPage(
            events.data_sources(asked, question.page),
            events.count_data_sources(asked),
            events.data_source_times(asked) if question.facet else None,
        )

    def _filter(self, question: ListQuestion) -> EventFilter:
        targets = None if question.uri is None else self._sources_called(question.uri)
        return replace(question.filter, targets=targets, received_by=question.frozen_at)

    def _once(self, asked: EventFilter) -> EventFilter:
        """Without executions that report what another of those listed reports."""
        events = self._catalogue.events
        reports = Past(self._catalogue).reports(events.told_twice(asked, _MOST_TOLD_TWICE))
        listed = events.listed(asked, {row.id for group in reports for row in group})
        again = [key for group in reports for key in _again(group, listed)]
        return replace(asked, without=frozenset(again[:_MOST_LEFT_OUT]))

    def _sources_called(self, uri: str) -> frozenset[str]:
        """The datasets of every scope that a URI stands for."""
        spellings = {uri, *(name.uri for name in naming.normalise(uri, "", self._rules))}
        rows = [row for text in spellings for row in self._catalogue.datasets_by_uri(text)]
        places = (self._catalogue.location_of(row.id, None) for row in rows if row.kind == "name")
        return frozenset({row.id for row in rows} | {place for place in places if place})

    def plans(self, at: int | None, offset: int, limit: int) -> tuple[tuple[PlanInfo, ...], int]:
        """Plans that had run by ``at``, the last that ran first; and how many there are."""
        ids, total = self._catalogue.events.plan_ids(at, offset, limit)
        return tuple(plan_info(document.plan) for document in self._documents(ids)), total

    def _documents(self, plan_ids: Iterable[str]) -> Iterator[PlanDocument]:
        """Those that were not forgotten since they were listed."""
        for plan_id in plan_ids:
            with suppress(NotFound):
                yield self._document(plan_id)

    def label_names(self, search: str, offset: int, length: int | None) -> tuple[str, ...]:
        """Of executions and of the plans that ran; ``length`` None: all."""
        return _searched(self._catalogue.events.label_names(), search, offset, length)

    def label_values(
        self, name: str, search: str, offset: int, length: int | None
    ) -> tuple[str, ...]:
        """The values of one label; none for a label that nothing carries."""
        return _searched(self._catalogue.events.label_values(name), search, offset, length)

    # --- one plan

    def plan(self, plan_id: str) -> DetailedPlan:
        """A plan's operations."""
        return detailed_plan(self._plan(plan_id))

    def write_operation(self, plan_id: str) -> str:
        """The id of the operation that writes."""
        return write_operation_id(self._plan(plan_id))

    def operation(self, operation_id: str) -> DetailedOperation:
        """One operation with its schemas and expressions."""
        plan_id, local = split_local_id(operation_id, "operation")
        return detailed_operation(self._plan(plan_id), local)

    def attribute(self, attribute_id: str) -> tuple[str, AttributeGraph, AttributeGraph]:
        """The plan's id, what a column comes from, and what comes from it."""
        plan_id, sent = split_local_id(attribute_id, "attribute")
        attributes = PlanAttributes(self._plan(plan_id))
        key = known_id(sent, attributes.emitted)
        if key is None:
            raise NotFound("attribute", attribute_id)
        return plan_id, attributes.lineage(key), attributes.impact(key)

    def plan_sources(self, plan_id: str, *, read: bool, write: bool) -> tuple[str, ...]:
        """The URIs of the data sources that a plan reads, writes, or both."""
        document = None if is_told(plan_id) else self._document(read_plan_id(plan_id))
        plan = self._told(plan_id) if document is None else document.plan
        scope = "" if document is None else document.scope
        uris = [plan.write.target] if write else []
        uris += [source for operation in plan.reads for source in operation.sources] if read else []
        found: dict[str, None] = {}
        for uri in uris:
            for name in naming.normalise(uri, scope, self._rules):
                found[name.uri] = None
        return tuple(found)

    def _plan(self, plan_id: str) -> ExecutionPlan:
        if is_told(plan_id):
            return self._told(plan_id)
        return self._document(read_plan_id(plan_id)).plan

    def _told(self, plan_id: str) -> ExecutionPlan:
        """A plan that OpenLineage's events tell; NotFound for one that writes nothing."""
        told = ToldPlans(self._catalogue, self._journal, self._rules)
        found = told.find(plan_id, None)
        plan, execution = found.logical_plan, found.execution
        page = self._graph.edges((plan,), Direction.UPSTREAM, (labels.FEEDS,), HUB_LIMIT)
        rows = self._catalogue.datasets({execution.target, *(edge.out_id for edge in page.edges)})
        uses = [Use(row.id, DatasetReference(row.id, row.uri, row.name), "") for row in rows]
        written = next((use for use in uses if use.id == execution.target), None)
        read = {edge.out_id for edge in page.edges}
        said = told.read(
            execution, told.events(execution), [use for use in uses if use.id in read], written
        )
        shown = told_execution_plan(plan, said, append=execution.mode in labels.KEEPING_MODES)
        if shown is None:
            raise NotFound("execution plan", plan_id)
        return shown

    def _document(self, plan_id: str) -> PlanDocument:
        rows = self._catalogue.execution_plans(plan_id=plan_id, limit=1)
        stored = self._journal.plan_document(plan_id, rows[0].content_hash) if rows else None
        if stored is None:
            raise NotFound("execution plan", plan_id)
        return read_plan_document(stored)

    # --- overviews

    def lineage_overview(self, event_id: str, depth: int) -> Overview:
        """Where what an execution wrote comes from: what each source held just before it."""
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
        """Where what an execution wrote went to, until the next overwrite took its place.

        A failed run gave nothing to anybody, and a failed overwrite replaced nothing.
        """
        execution = self._execution(event_id)
        start = self._start(execution)
        (target,) = start.targets
        uses: tuple[PlanUse, ...] = ()
        forward = Forward(self._graph, self._catalogue, self._expired, NODE_LIMIT)
        if depth > 1 and execution.state == labels.COMPLETED and execution.kind == "write":
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
        return chosen[0]

    def _start(self, execution: ExecutionRow) -> PlanUse:
        """The execution's own plan, names replaced by what they stood for."""
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
        plans = self._plan_nodes(execution, {use.logical_plan for use in shown})
        edges = plan_edges(shown, {key: node.id for key, node in plans.items()})
        datasets = {target} | {d for use in shown for d in (*use.sources, *use.targets)}
        rows = self._catalogue.datasets(datasets)
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

    def _plan_nodes(self, execution: ExecutionRow, plans: Collection[str]) -> dict[str, PlanNode]:
        """Per logical plan the producer's plan that ran last; of the execution's its own."""
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
        """Plans that no Spline document stands behind: by their own ids and their jobs' names."""
        rows = self._catalogue.logical_plans(plans)
        names = {row.id: row.name for row in self._catalogue.jobs({row.job for row in rows})}
        return {row.id: PlanNode(row.id, names.get(row.job, ""), "", None) for row in rows}


def _again(reports: Reports, listed: Collection[str]) -> list[str]:
    """Ids of those listed but one: that of an agent whose plan Spline can open, else the first."""
    shown = sorted((row for row in reports if row.id in listed), key=lacks_expressions)
    return [row.id for row in shown[1:]]


def together_with(start: PlanUse, again: Sequence[PlanUse]) -> PlanUse:
    """The execution's plan where it stands further along a chain as well."""
    sources = {*start.sources, *(source for use in again for source in use.sources)}
    targets = {*start.targets, *(target for use in again for target in use.targets)}
    return start._replace(sources=tuple(sorted(sources)), targets=tuple(sorted(targets)))


def _searched(
    texts: Sequence[str], search: str, offset: int, length: int | None
) -> tuple[str, ...]:
    needle = plain(search)
    found = [text for text in texts if needle in plain(text)]
    return tuple(found[offset:] if length is None else found[offset : offset + length])
