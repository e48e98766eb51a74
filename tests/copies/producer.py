"""The producer of the toy format: the facts of a copy, made of ``producers.elements`` alone."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal, NamedTuple

from graph_model import identity, labels, naming
from graph_model.errors import InvalidDocument
from graph_model.facts import (
    EventRow,
    ExecutionRow,
    FactCollector,
    Facts,
    LogicalPlanRow,
    Part,
    SchemaRow,
    SupportRow,
    edge,
    merge,
    whole,
)
from graph_model.json_fields import JsonObject, read_object, read_text
from graph_model.naming import DatasetName, JobName, Rules, SchemaColumn
from graph_model.producers.elements import (
    Column,
    add_column_edges,
    add_execution,
    add_logical_plan,
    add_schema,
    add_use,
    labels_text,
)
from graph_model.producers.producer import (
    NO_EFFECTS,
    CommandEffects,
    Reported,
    SpelledRead,
    Spellings,
)
from graph_model.producers.projections import (
    PROJECTED,
    Outcome,
    Projection,
    earlier_sets,
    projection_of,
)
from graph_model.producers.registry import PRODUCERS, Producers
from graph_model.stores.documents import (
    DocumentKind,
    StoredDocument,
    Submission,
    compact_json,
    make_submission,
)
from graph_model.values import plain
from spark_agent_config.masking import mask_secrets

COPY_KIND: Final = DocumentKind("copy")
VERSION: Final = "1"


class Copies:
    """See ``producer.Producer``."""

    kinds = (COPY_KIND,)
    additions: frozenset[DocumentKind] = frozenset()
    from_clients = True
    api_versions = (VERSION,)
    versions = ("copies 1",)
    announced: Mapping[str, DocumentKind] = {"Copy": COPY_KIND}
    openings = ('{"copy"',)
    spelled = frozenset({COPY_KIND})

    def recognise(self, document: Mapping[str, Any]) -> Sequence[Reported]:
        is_copy = {"copy", "from", "to"} <= document.keys()
        return (Reported(COPY_KIND, VERSION, document),) if is_copy else ()

    def submission(self, reported: Reported) -> Submission:
        masked = read_object(mask_secrets(reported.document), "")
        key = f"run:{read_copy(masked).run}"
        return make_submission(COPY_KIND, VERSION, key, "", compact_json(masked))

    def event(self, document: StoredDocument, rules: Rules) -> JsonObject:
        return event_of(read_copy(json.loads(document.body)))

    def spellings(self, document: StoredDocument) -> Spellings:
        copy = json.loads(document.body)
        return Spellings({}, copy["copy"], copy["to"], (SpelledRead((copy["from"],)),))

    def translator(self, rules: Rules, clock_tolerance: int) -> CopyTranslator:
        return CopyTranslator(rules)


class CopyTranslator:
    """Translates copies, each alone."""

    additions = None

    def __init__(self, rules: Rules) -> None:
        self._rules = rules

    def forget(self) -> None:
        """Nothing is remembered."""

    def project(
        self, documents: Sequence[StoredDocument], new: Collection[int], orders: CommandEffects
    ) -> Projection:
        outcome = self._translated(documents, orders)
        earlier = earlier_sets(documents, covered=outcome.covered)
        former = [part for some in earlier for part in self._translated(some, NO_EFFECTS).parts]
        return projection_of(outcome, merge(former) if former else None, documents)

    def _translated(self, documents: Sequence[StoredDocument], orders: CommandEffects) -> Outcome:
        outcome = Outcome()
        for document in documents:
            if document.content_hash in orders.forgotten:
                outcome.drop([document])
                continue
            try:
                parts = self._parts(document)
            except (InvalidDocument, ValueError) as error:
                outcome.set_aside([document], error)
                continue
            rows = [row for part in parts for row in whole(part).rows]
            runs = [row for row in rows if isinstance(row, ExecutionRow)]
            if all(map(orders.prunes, runs)):
                outcome.hide([document], dropped=all(map(orders.drops, runs)))
                continue
            outcome.parts += parts
            outcome.states[document.position] = PROJECTED
        return outcome

    def _parts(self, document: StoredDocument) -> tuple[Part, ...]:
        return (facts_of(read_copy(json.loads(document.body)), document, self._rules),)


# --- documents -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Copy:
    """``at``: epoch ms; ``source`` and ``target``: URIs as the client writes them."""

    run: str
    at: int
    job: JobName
    source: str
    target: str
    columns: tuple[str, ...]


def read_copy(document: Mapping[str, Any]) -> Copy:
    """Raises InvalidDocument naming the invalid field."""
    columns = document.get("columns")
    if not isinstance(columns, list) or not all(isinstance(column, str) for column in columns):
        raise InvalidDocument("columns", "a list of names")
    run, at, name, source, target = (
        read_text(document, field, "") for field in ("run", "at", "copy", "from", "to")
    )
    try:
        time = datetime.fromisoformat(at)
    except ValueError as error:
        raise InvalidDocument("at", "a time in ISO 8601") from error
    job = JobName("default", name, shared=False)
    return Copy(run, round(time.timestamp() * 1000), job, source, target, tuple(columns))


# --- facts ---------------------------------------------------------------------------------------


class Copied(NamedTuple):
    """A column that a column was copied from."""

    source: Column
    target: Column
    kind: str = labels.DIRECT
    how: str = labels.IDENTITY
    expression: str = ""
    fields: str = naming.WHOLE


@dataclass(frozen=True, slots=True)
class End:
    """A dataset with the columns that the copy has there."""

    dataset: DatasetName
    columns: tuple[SchemaColumn, ...]

    @property
    def id(self) -> str:
        return identity.dataset_id(self.dataset.scope, self.dataset.uri)

    @property
    def schema(self) -> SchemaRow:
        content = identity.spelled(
            [{"name": c.name, "type": c.type, "path": c.path} for c in self.columns]
        )
        return SchemaRow(identity.vertex_id(labels.SCHEMA, self.id, content), self.id, content)


def facts_of(copy: Copy, document: StoredDocument, rules: Rules) -> Facts:
    columns, _ = naming.schema_columns([(name, None) for name in copy.columns])
    source, target = (
        End(naming.normalise(uri, document.scope, rules)[0], columns)
        for uri in (copy.source, copy.target)
    )
    flows = [Copied((source.id, column.path), (target.id, column.path)) for column in columns]
    collector = FactCollector()
    fingerprint = identity.digest("copy", source.schema.id, target.schema.id, flows)
    plan = add_logical_plan(
        collector, copy.job, fingerprint, target=target.id, mode=labels.OVERWRITE
    )
    collector.add(edge(labels.FEEDS, source.id, plan.id))
    ids: dict[Column, str] = {}
    ids.update(_add_end(collector, plan.id, source, "read"))
    ids.update(_add_end(collector, plan.id, target, "write"))
    uris = {end.id: end.dataset.uri for end in (source, target)}
    add_column_edges(collector, plan.id, [(flow, None, False) for flow in flows], (), uris, ids)
    _add_run(collector, copy, document, plan, source)
    return collector.facts()


def _add_end(
    collector: FactCollector, plan: str, end: End, role: Literal["read", "write"]
) -> Mapping[Column, str]:
    add_use(collector, plan, end.dataset, end.schema.id, role)
    return add_schema(
        collector, end.schema, end.dataset.uri, [column.path for column in end.columns]
    )


def _add_run(
    collector: FactCollector, copy: Copy, document: StoredDocument, plan: LogicalPlanRow, read: End
) -> None:
    """The execution of a copy, and the columns that lists show of it."""
    subject = identity.subject_id(document.scope, document.subject_key)
    row = ExecutionRow(
        id=identity.vertex_id(labels.EXECUTION, subject, plan.id, copy.at),
        subject=subject,
        plan_id=document.subject_key,
        execution_plan="",
        logical_plan=plan.id,
        job=plan.job,
        run=identity.vertex_id(labels.RUN, document.scope, copy.run),
        target=plan.target,
        at=copy.at,
        state=labels.COMPLETED,
        duration_ns=None,
        error=None,
        metrics=identity.spelled({"read": {}, "write": {}}),
        mode=plan.mode,
        dynamic=False,
        kind=labels.WRITE_KIND,
        command="",
        producer="copies",
        application_id="",
        scope=document.scope,
        reads=identity.set_text([read.id]),
    )
    add_execution(collector, row)
    words = plain("\n".join((copy.job.name, "copies", copy.target)))
    no_labels = labels_text({})
    listed = EventRow(row.id, "", False, words, no_labels, "{}", "copies", copy.job.name)
    collector.add(listed, SupportRow(subject, plan.id))


# --- what pages show -----------------------------------------------------------------------------


def event_of(copy: Copy) -> JsonObject:
    """A copy in OpenLineage's words, which pages of plans and runs show."""
    source, target = ({"namespace": "", "name": uri} for uri in (copy.source, copy.target))
    schema = {"fields": [{"name": name} for name in copy.columns]}
    return {
        "eventType": "COMPLETE",
        "eventTime": datetime.fromtimestamp(copy.at / 1000, UTC).isoformat(),
        "producer": "copies",
        "run": {"runId": copy.run},
        "job": {"namespace": copy.job.namespace, "name": copy.job.name},
        "inputs": [{**source, "facets": {"schema": schema}}],
        "outputs": [{**target, "facets": {"schema": schema}}],
    }


FORMATS: Final = Producers((*PRODUCERS, Copies()))
