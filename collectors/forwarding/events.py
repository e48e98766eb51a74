"""The events of OpenLineage that a journalled document is or stands for.

    an event of OpenLineage                    =>  itself
    an execution event of Spline and its plan  =>  START and COMPLETE (or FAIL) with column lineage
    a plan, a command, a statement by people   =>  nothing

A plan and its executions are documents of their own, in any order: what both together mean is sent
with the later one.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, Final

from graph_model import identity, labels, naming
from graph_model.naming import Rules
from graph_model.producers.openlineage.events.documents import EVENT_KINDS
from graph_model.producers.spline.documents import (
    EVENT_KIND,
    PLAN_KIND,
    ExecutionEvent,
    ExecutionPlan,
)
from graph_model.producers.spline.gathering import gather, read_event_document, read_plan_document
from graph_model.producers.spline.plan_logic import DatasetSchema, Logic, PlanDocument, read_logic
from graph_model.stores.documents import DocumentKind, StoredDocument
from graph_model.stores.journal import Journal
from graph_model.values import iso, shortened

PRODUCER: Final = "urn:headwater:forward"
_SPECIFICATION: Final = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
_FACETS: Final = "https://openlineage.io/spec/facets"
_RUNS: Final = uuid.UUID("5f3c0b8e-6a0e-4c5c-9a55-0c7d6a2f4b11")
_PLANS_KEPT: Final = 64
"""A stream has one plan and an event for each of its batches."""
_OF_STREAMS: Final = "WriteToMicroBatchDataSource"
_STATISTICS: Final = (
    ("rowCount", "numOutputRows"),
    ("size", "numOutputBytes"),
    ("fileCount", "numFiles"),
)

Event = Mapping[str, Any]


class OpenLineageEvents:
    """Makes events of the documents of one journal, by its naming rules. For several threads."""

    def __init__(self, journal: Journal, rules: Rules) -> None:
        self._journal = journal
        self._rules = rules
        self._read_plan = lru_cache(maxsize=_PLANS_KEPT)(self._read_plan_at)

    def of(self, document: StoredDocument, forgotten: Collection[str] = ()) -> Sequence[Event]:
        """The events to send at the position of a document, made without documents of the contents
        ``forgotten``. Raises InvalidDocument.
        """
        if document.kind in EVENT_KINDS:
            return (json.loads(document.body),)
        if document.kind == EVENT_KIND:
            return self._of_execution(document, forgotten)
        return self._of_plan(document, forgotten) if document.kind == PLAN_KIND else ()

    def _of_execution(self, event: StoredDocument, forgotten: Collection[str]) -> Sequence[Event]:
        """Nothing where its plan comes later: it is sent with the plan."""
        plans = self._earlier(event, PLAN_KIND, forgotten)
        return tuple(chain.from_iterable(self._executions([*plans, event], {event.position})))

    def _of_plan(self, plan: StoredDocument, forgotten: Collection[str]) -> Sequence[Event]:
        """The executions that waited for this plan."""
        plans = self._earlier(plan, PLAN_KIND, forgotten)
        events = self._earlier(plan, EVENT_KIND, forgotten)
        waited = {event.position for event in gather([*plans, *events]).waiting}
        return tuple(chain.from_iterable(self._executions([*plans, plan, *events], waited)))

    def _earlier(
        self, document: StoredDocument, kind: DocumentKind, forgotten: Collection[str]
    ) -> Sequence[StoredDocument]:
        key, before = document.subject_key, document.position - 1
        positions = self._journal.positions_to(key, [kind], before)
        earlier = self._journal.documents([place for place in positions if place <= before])
        return [
            former
            for former in earlier
            if not former.damage and former.content_hash not in forgotten
        ]

    def _executions(
        self, documents: Sequence[StoredDocument], wanted: set[int]
    ) -> Iterator[Sequence[Event]]:
        for plan, events in gather(documents).chosen.values():
            for event in events:
                if event.position in wanted:
                    document, logic = self._read_plan(plan.position)
                    yield events_of_execution(
                        document, logic, read_event_document(event), self._rules
                    )

    def _read_plan_at(self, position: int) -> tuple[PlanDocument, Logic]:
        (stored,) = self._journal.documents([position])
        plan = read_plan_document(stored)
        return plan, read_logic(plan, self._rules)


# --- a plan and an execution of it -> events (pure) ----------------------------------------------


def events_of_execution(
    document: PlanDocument, logic: Logic, event: ExecutionEvent, rules: Rules
) -> Sequence[Event]:
    """The start, where the event tells its duration, and the end of an execution."""
    plan = document.plan
    job = naming.job_name(plan.labels, plan.name, document.scope, rules)
    run_id = str(uuid.uuid5(_RUNS, identity.spelled([plan.id, document.scope, event.timestamp])))
    common = {
        "producer": PRODUCER,
        "schemaURL": _SPECIFICATION,
        "job": {
            "namespace": job.namespace,
            "name": job.name,
            "facets": {"jobType": _job_type(plan)},
        },
    }
    engine = _facet(
        "1-1-1/ProcessingEngineRunFacet", name=plan.system.name, version=plan.system.version
    )
    facets = {"processing_engine": engine}
    data = {"inputs": _inputs(logic, rules), "outputs": _outputs(logic, event, rules)}
    start = {"eventType": "START", "run": {"runId": run_id, "facets": facets}, **common}
    end = {"eventType": "COMPLETE", "run": {"runId": run_id, "facets": facets}, **common, **data}
    if event.error is not None:
        failed = _facet(
            "1-0-0/ErrorMessageRunFacet", message=_error_text(event.error),
            programmingLanguage="JVM",
        )  # fmt: skip
        end["eventType"] = "FAIL"
        end["run"] = {"runId": run_id, "facets": {**facets, "errorMessage": failed}}
    ended = {**end, "eventTime": iso(event.timestamp)}
    if event.duration_ns is None:
        return (ended,)
    begun = max(event.timestamp - event.duration_ns // 1_000_000, 0)
    return ({**start, "eventTime": iso(begun)}, ended)


def _facet(kind: str, **fields: Any) -> dict[str, Any]:
    return {"_producer": PRODUCER, "_schemaURL": f"{_FACETS}/{kind}.json", **fields}


def _job_type(plan: ExecutionPlan) -> dict[str, Any]:
    streams = plan.operations[-1].name.startswith(_OF_STREAMS)  # the write is last
    return _facet(
        "2-0-3/JobTypeJobFacet", processingType="STREAMING" if streams else "BATCH",
        integration="SPARK", jobType="JOB",
    )  # fmt: skip


def _error_text(error: Any) -> str:
    return shortened(error if isinstance(error, str) else json.dumps(error, ensure_ascii=False))


def _inputs(logic: Logic, rules: Rules) -> list[dict[str, Any]]:
    return [_dataset(use, logic, rules) for use in logic.reads]


def _outputs(logic: Logic, event: ExecutionEvent, rules: Rules) -> list[dict[str, Any]]:
    if logic.written is None:
        return []
    written = _dataset(logic.written, logic, rules)
    if logic.flows or logic.influences:
        written["facets"]["columnLineage"] = _column_lineage(logic, logic.written, rules)
    if logic.mode == labels.OVERWRITE:
        written["facets"]["lifecycleStateChange"] = _facet(
            "1-0-1/LifecycleStateChangeDatasetFacet", lifecycleStateChange="OVERWRITE"
        )
    if statistics := _statistics(event):
        written["outputFacets"] = {
            "outputStatistics": _facet("1-0-2/OutputStatisticsOutputDatasetFacet", **statistics)
        }
    return [written]


def _dataset(use: DatasetSchema, logic: Logic, rules: Rules) -> dict[str, Any]:
    namespace, name = naming.openlineage_pair(use.dataset.uri, rules)
    facets: dict[str, Any] = {}
    own = (use.dataset.scope, use.dataset.uri)
    tables = [
        naming.openlineage_pair(table.uri, rules)
        for table, place in logic.names
        if (place.scope, place.uri) == own
    ]
    if tables:
        identifiers = [
            {"namespace": catalog, "name": table, "type": "TABLE"} for catalog, table in tables
        ]
        facets["symlinks"] = _facet("1-0-1/SymlinksDatasetFacet", identifiers=identifiers)
    if use.columns:
        fields = [
            {"name": column.name, **({"type": column.type} if column.type else {})}
            for column in use.columns
        ]
        facets["schema"] = _facet("1-1-1/SchemaDatasetFacet", fields=fields)
    return {"namespace": namespace, "name": name, "facets": facets}


def _statistics(event: ExecutionEvent) -> dict[str, int]:
    metrics = event.extra.get("writeMetrics")
    numbers = metrics if isinstance(metrics, Mapping) else {}
    counts = {name: numbers.get(metric) for name, metric in _STATISTICS}
    return {name: count for name, count in counts.items() if type(count) is int and count >= 0}


def _column_lineage(logic: Logic, written: DatasetSchema, rules: Rules) -> dict[str, Any]:
    """Each written column with its sources; what decides about whole rows stands in ``dataset``."""
    sources = _Columns(logic, rules)
    fields: dict[str, dict[tuple[str, str], dict[str, Any]]] = {}
    for flow in logic.flows:
        column = sources.name((written.dataset_id, flow.target[1]))
        inputs = fields.setdefault(column, {})
        _add(inputs, sources, flow.source, _transformation(flow.kind, flow.how, flow.expression))
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for influence in logic.influences:
        how = _transformation(labels.INDIRECT, influence.how, influence.expression)
        _add(rows, sources, influence.source, how)
    listed = {name: {"inputFields": list(inputs.values())} for name, inputs in fields.items()}
    whole = {"dataset": list(rows.values())} if rows else {}
    return _facet("1-2-0/ColumnLineageDatasetFacet", fields=listed, **whole)


def _add(
    inputs: dict[tuple[str, str], dict[str, Any]],
    columns: _Columns,
    source: tuple[str, str],
    transformation: Mapping[str, Any],
) -> None:
    known = inputs.setdefault(source, {**columns.place(source), "transformations": []})
    if transformation not in known["transformations"]:
        known["transformations"].append(transformation)


def _transformation(kind: str, how: str, expression: str) -> dict[str, Any]:
    return {"type": kind, "subtype": how, "description": expression, "masking": False}


class _Columns:
    """Columns of a plan, each (dataset id, path), as OpenLineage names them."""

    def __init__(self, logic: Logic, rules: Rules) -> None:
        uses = (*logic.reads, *((logic.written,) if logic.written else ()))
        self._datasets = {
            use.dataset_id: naming.openlineage_pair(use.dataset.uri, rules) for use in uses
        }
        self._names: dict[tuple[str, str], str] = {
            (use.dataset_id, column.path): column.name
            for use in uses
            for column in use.columns or ()
        }

    def name(self, column: tuple[str, str]) -> str:
        """The spelling of the schema; of a field inside a column its path."""
        return self._names.get(column, column[1])

    def place(self, column: tuple[str, str]) -> dict[str, str]:
        namespace, name = self._datasets[column[0]]
        return {"namespace": namespace, "name": name, "field": self.name(column)}
