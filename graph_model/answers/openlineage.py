"""OpenLineage's own words: its (namespace, name) pairs <-> our datasets and jobs, and its events as
they were received.

A dataset of a capture scope has it before its namespace: ``team@file``. Events come in the order of
receipt, without those that name a hidden dataset or job: not even an admin sees these in a list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from graph_model import identity, labels, naming
from graph_model.answers import nodes
from graph_model.answers.openlineage_reports import shown_event
from graph_model.answers.sources import BoundedRows, Sources
from graph_model.errors import DamagedDocument, NotFound
from graph_model.facts import DatasetRow
from graph_model.governance.statements import walk_datasets
from graph_model.lineage import Partial
from graph_model.naming import Rules
from graph_model.producers.openlineage.events.documents import EVENT_KINDS, RUN_EVENT_KIND, Event
from graph_model.producers.openlineage.events.facets import read_nanoseconds
from graph_model.stores.documents import DocumentKind, DocumentState, StoredDocument
from graph_model.stores.pages import walk_rows

Json = dict[str, Any]


class Name(NamedTuple):
    namespace: str
    name: str

    def node(self, kind: str) -> str:
        return f"{kind}:{self.namespace}:{self.name}"


def name_of(uri: str, scope: str, rules: Rules) -> Name:
    """The pair of a dataset."""
    namespace, name = naming.openlineage_pair(uri, rules)
    return Name(f"{scope}@{namespace}" if scope else namespace, name)


def names_of(sources: Sources, datasets: Collection[str]) -> dict[str, Name]:
    """The pairs of datasets by id; of an unknown one none."""
    rows = sources.catalogue.datasets(datasets)
    return {row.id: name_of(row.uri, row.scope, sources.rules) for row in rows}


def find_dataset(sources: Sources, name: Name) -> tuple[Sources, str]:
    """The sources for a question about a dataset, and its id. Raises NotFound."""
    scope, marked, bare = name.namespace.partition("@")
    uri = naming.openlineage_uri(name.namespace, name.name, sources.rules)
    try:
        return nodes.find_dataset(sources, uri)
    except NotFound:
        if not marked or not bare:
            raise NotFound("dataset", name.name) from None
    uri = naming.openlineage_uri(bare, name.name, sources.rules)
    return nodes.find_dataset(sources, f"{quote(scope, safe='')}@{uri}")


def find_job(sources: Sources, name: Name) -> tuple[Sources, str]:
    """As ``find_dataset`` for a job."""
    namespace, own = (quote(part, safe="") for part in name)
    return nodes.find_node(sources, f"{labels.JOB}:{namespace}/{own}")


_MOST_PLACES: Final = 100
"""Places where a text may be split; one with more is the name of nothing."""


def splits(text: str, sign: str) -> Iterator[Name]:
    """What may be meant by a namespace and a name that a sign joins, which both may hold as well:
    ``a/b/c`` => (a/b, c), (a, b/c).
    """
    place = text.rfind(sign) if text.count(sign) <= _MOST_PLACES else 0
    while place > 0:
        if place + 1 < len(text):
            yield Name(text[:place], text[place + 1 :])
        place = text.rfind(sign, 0, place)


# --- names that are known -------------------------------------------------------------------------


def namespaces_known(sources: Sources) -> tuple[set[str], Partial | None]:
    """The namespaces of all jobs and datasets."""
    rows = walk_rows(lambda after: sources.catalogue.walk_jobs(after=after))
    jobs = BoundedRows(sources, (row.namespace for row in rows if row.id not in sources.hidden))
    datasets = named_datasets(sources)
    names = {*jobs, *(name.namespace for _, name in datasets)}
    return names, jobs.partial or datasets.partial


def named_datasets(sources: Sources, query: str = "") -> BoundedRows[tuple[DatasetRow, Name]]:
    """The datasets whose URI holds the query, with their names."""
    rows = walk_datasets(sources.catalogue, query, hidden=sources.hidden)
    return BoundedRows(sources, ((row, name_of(row.uri, row.scope, sources.rules)) for row in rows))


def datasets_of(sources: Sources, namespace: str) -> tuple[list[DatasetRow], Partial | None]:
    """Those of a namespace, by name. Its last part before a port stands in each of their URIs as it
    is, so that the bound counts few others: postgres://db.example.org:5432 => db.example.org.
    """
    namespace = _place(sources, namespace)
    walk = named_datasets(sources, re.split(r"[^\w.-]", _without_port(namespace))[-1])
    named = [(name, row.id, row) for row, name in walk if name.namespace == namespace]
    return [row for _, _, row in sorted(named)], walk.partial


def _without_port(namespace: str) -> str:
    place, _, port = namespace.rpartition(":")
    return place if port.isdigit() else namespace


def _place(sources: Sources, namespace: str) -> str:
    """The namespace of datasets that this is a spelling of: s3a://lake => s3://lake."""
    scheme, marked, _ = namespace.partition("://")
    if not marked or "@" in scheme:
        return namespace
    uri = naming.openlineage_uri(namespace, "a.b.c", sources.rules)
    places = naming.normalise(uri, "", sources.rules)
    return (
        naming.openlineage_pair(places[0].uri, sources.rules)[0] if len(places) == 1 else namespace
    )


# --- events --------------------------------------------------------------------------------------


MOST_READ: Final = 5_000
"""Events that are read for an answer."""
_AT_ONCE: Final = 200


@dataclass(frozen=True, slots=True)
class ReportedEvent:
    """A document and its content; ``event`` None where the document cannot be read as one."""

    document: StoredDocument
    event: Event | None


def reported_event(sources: Sources, position: int) -> ReportedEvent:
    """The event at a position of the journal. Raises NotFound and DamagedDocument."""
    for document in sources.journal.documents((position,)):
        if document.damage:
            raise DamagedDocument(position, document.damage)
        for shown in _shown(sources, (document,)):
            if shown.kind in EVENT_KINDS:
                return _reported(sources, shown)
    raise NotFound("event", str(position))


def walk_events(
    sources: Sources,
    behind: int | None,
    *,
    falling: bool,
    states: Collection[DocumentState] | None = None,
) -> Iterator[tuple[int, ReportedEvent | None]]:
    """At most MOST_READ events behind a position, newest first if ``falling``; for one that is not
    shown None, so that the caller can go on behind it.
    """
    documents = _walk(sources, EVENT_KINDS, behind, falling=falling, states=states)
    for position, document in islice(documents, MOST_READ):
        yield position, document and _reported(sources, document)


def _walk(
    sources: Sources,
    kinds: Collection[DocumentKind],
    behind: int | None,
    *,
    falling: bool,
    states: Collection[DocumentState] | None = None,
) -> Iterator[tuple[int, StoredDocument | None]]:
    """All documents of these kinds behind a position; for one that is not shown None."""
    while True:
        documents = sources.journal.in_order(
            kinds, behind, _AT_ONCE, falling=falling, states=states
        )
        shown = {document.position: document for document in _shown(sources, documents)}
        for document in documents:
            yield document.position, shown.get(document.position)
        if len(documents) < _AT_ONCE:
            return
        behind = documents[-1].position


@dataclass(frozen=True, slots=True)
class EventWindow:
    """``after <= t < before`` (epoch ms; None: no bound), of the jobs of a namespace or of all."""

    after: int | None
    before: int | None
    namespace: str | None

    def holds(self, at: int, namespace: str) -> bool:
        """``at`` in nanoseconds."""
        return (
            self.namespace in (None, namespace)
            and (self.after is None or at >= self.after * _MILLISECOND)
            and (self.before is None or at < self.before * _MILLISECOND)
        )


_MILLISECOND: Final = 1_000_000
EVENTS_BEHIND: Final = 500
"""Events that are read behind a page, in the order of receipt, to put them in that of time."""


def events_by_time(
    sources: Sources, window: EventWindow, wanted: int, *, falling: bool
) -> tuple[list[Json], Partial | None]:
    """Events of runs by their time, of those received last (else first): until ``wanted`` and
    EVENTS_BEHIND more are found, at most MOST_READ.
    """
    events: list[tuple[int, int, Json]] = []
    partial = None
    documents = _walk(sources, (RUN_EVENT_KIND,), None, falling=falling)
    for read, (position, document) in enumerate(documents):
        if len(events) >= wanted + EVENTS_BEHIND or read >= MOST_READ:
            partial = Partial("events", read)
            break
        event = document and sources.producers.event(document, sources.rules)
        at = read_nanoseconds(str(event.get("eventTime"))) if event else None
        if event and at is not None and window.holds(at, event["job"]["namespace"]):
            events.append((at, position, dict(event)))
    events.sort(key=lambda place: place[:2], reverse=falling)
    return [event for _, _, event in events], partial


# --- facets as they were sent ---------------------------------------------------------------------

MOST_EVENTS_OF_A_RUN: Final = 20
"""Its newest events, whose facets are read."""
READ, WRITTEN = "inputFacets", "outputFacets"


@dataclass(frozen=True, slots=True)
class SentFacets:
    """Facets by name, with ``_producer`` and ``_schemaURL``, of all events of a subject: the newest
    of each name. ``datasets`` by id; ``usage`` by READ or WRITTEN and the dataset's id.
    """

    run: Json = field(default_factory=dict)
    job: Json = field(default_factory=dict)
    datasets: dict[str, Json] = field(default_factory=dict)
    usage: dict[tuple[str, str], Json] = field(default_factory=dict)


def sent_facets(sources: Sources, subjects: Collection[str]) -> dict[str, SentFacets]:
    """Per subject (of ``RunRow``, ``ExecutionRow`` or ``FacetRow``) what its events say, read from
    the journal, once for an answer; without events that name something hidden.
    """
    wanted, known = set(subjects), sources.sent.setdefault(_never_shown(sources), {})
    if new := wanted - known.keys():
        known |= dict.fromkeys(new) | _read_facets(sources, new)
    return {subject: sent for subject in wanted if (sent := known[subject]) is not None}


def _read_facets(sources: Sources, subjects: Collection[str]) -> dict[str, SentFacets]:
    documents = sources.journal.newest_of_subjects(subjects, EVENT_KINDS, MOST_EVENTS_OF_A_RUN)
    sent: dict[str, SentFacets] = {}
    read = [
        (read_nanoseconds(str(event.get("eventTime"))) or 0, document.position, document, event)
        for document in _shown(sources, documents)
        if (event := sources.producers.event(document, sources.rules)) is not None
    ]
    for _, _, document, event in sorted(read, key=lambda place: place[:2]):
        facets = sent.setdefault(document.subject, SentFacets())
        _merge(facets.run, _object(event, "run").get("facets"))
        _merge(facets.job, _object(event, "job").get("facets"))
        for side, usage in (("inputs", READ), ("outputs", WRITTEN), ("dataset", "")):
            listed = event.get(side)
            objects = listed if isinstance(listed, list) else [listed]
            for dataset in (each for each in objects if isinstance(each, dict)):
                for key in _ids(sources, document.scope, dataset):
                    _merge(facets.datasets.setdefault(key, {}), dataset.get("facets"))
                    _merge(facets.usage.setdefault((usage, key), {}), dataset.get(usage))
    return sent


def _merge(known: Json, facets: Any) -> None:
    for name, facet in facets.items() if isinstance(facets, dict) else ():
        known.pop(name, None)
        if isinstance(facet, dict) and not facet.get("_deleted"):
            known[name] = facet


def _object(event: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = event.get(name)
    return value if isinstance(value, dict) else {}


def _ids(sources: Sources, scope: str, dataset: Mapping[str, Any]) -> Iterator[str]:
    """The datasets that an object of an event names, by its namespace and name."""
    namespace, name = dataset.get("namespace"), dataset.get("name")
    if isinstance(namespace, str) and isinstance(name, str):
        uri = naming.openlineage_uri(namespace, name, sources.rules)
        for place in naming.normalise(uri, scope, sources.rules):
            yield identity.dataset_id(place.scope, place.uri)


# --- what is shown --------------------------------------------------------------------------------


def _reported(sources: Sources, document: StoredDocument) -> ReportedEvent:
    return ReportedEvent(document, shown_event(document, sources.rules, sources.producers.event))


def _shown(sources: Sources, documents: Iterable[StoredDocument]) -> Iterator[StoredDocument]:
    kept = [document for document in documents if not document.damage]
    hidden = _never_shown(sources)
    jobs: dict[str, str] = {}
    if hidden and kept:
        rows = sources.catalogue.runs.of_subjects({document.subject for document in kept})
        jobs = {row.subject: row.job for row in rows}
    for document in kept:
        named = hidden and (
            jobs.get(document.subject) in hidden or _names(sources, document, hidden)
        )
        if not named:
            yield document


def _never_shown(sources: Sources) -> frozenset[str]:
    """What is hidden from this question, and from everybody: an admin opens no event."""
    return sources.hidden | sources.governance.hidden


def _names(sources: Sources, document: StoredDocument, hidden: Collection[str]) -> bool:
    """Whether an object of the document has the namespace and name of a hidden node: an input, an
    output, the source of a column, a parent, a symlink.
    """
    for namespace, name in _pairs(json.loads(document.body)):
        uri = naming.openlineage_uri(namespace, name, sources.rules)
        ids = {identity.job_id(namespace, name)} | {
            identity.dataset_id(dataset_name.scope, dataset_name.uri)
            for dataset_name in naming.normalise(uri, document.scope, sources.rules)
        }
        if not ids.isdisjoint(hidden):
            return True
    return False


def _pairs(value: Any) -> Iterator[tuple[str, str]]:
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, dict):
            namespace, name = current.get("namespace"), current.get("name")
            if isinstance(namespace, str) and isinstance(name, str):
                yield namespace, name
            waiting += current.values()
        elif isinstance(current, list):
            waiting += current
