"""The lists of Spline's consumer API: executions, data sources, plans, labels."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from graph_model import naming
from graph_model.answers.consumer.plan_documents import reported_plan
from graph_model.answers.consumer.plans import PlanInfo, plan_info
from graph_model.answers.sources import Sources
from graph_model.errors import NotFound
from graph_model.lineage.history.history import History
from graph_model.lineage.history.merging import Reports, lacks_expressions
from graph_model.producers.spline.documents import ExecutionPlan
from graph_model.stores.catalogue_values import EventFilter, EventRecord, ListPage
from graph_model.texts import plain

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
    """Data sources, each with its last write; a hidden job is not named."""
    events, asked = sources.catalogue.events, _filter(sources, question)
    return EventPage(
        tuple(_without_job(sources, one) for one in events.data_sources(asked, question.page)),
        events.count_data_sources(asked),
        events.data_source_times(asked) if question.facet else None,
    )


def plans(
    sources: Sources, at: int | None, offset: int, limit: int
) -> tuple[tuple[PlanInfo, ...], int]:
    """Plans that had run by ``at``, ordered by their last run, newest first; and their number."""
    ids, total = sources.catalogue.events.plan_ids(at, offset, limit, sources.hidden)
    return tuple(plan_info(plan) for plan in _listed(sources, ids)), total


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
    write = record.write
    if write is None or write.execution.job not in sources.hidden:
        return record
    return replace(record, write=replace(write, application=""))


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
    found = [text for text in texts if needle in plain(text)]
    return tuple(found[offset:] if length is None else found[offset : offset + length])
