"""The reads, writes and columns of one logical plan: the part that others depend on.

One reader for both sides of a comparison: the facts that a captured document translates to, by the
projector's own translator under the rules in force, and the same facts as the graph holds them.
Nothing of a captured document is stored.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from graph_model import identity, labels
from graph_model.errors import InvalidDocument
from graph_model.facts import DatasetRow, Edge, Facts, JobRow, LogicalPlanRow, Vertex, merge
from graph_model.lineage import HUB_LIMIT
from graph_model.naming import Rules
from graph_model.producers.bounds import NO_RECEIPT
from graph_model.producers.registry import PRODUCERS, Producers, Translation
from graph_model.stores.catalogue import Catalogue
from graph_model.stores.documents import DocumentState, StoredDocument, Submission
from graph_model.stores.graph import Direction, GraphReader

ColumnName = tuple[str, str]
"""A column: (dataset id, folded path)."""


@dataclass(frozen=True, slots=True, order=True)
class DerivationSource:
    """A column that a column comes from, and how."""

    dataset: str
    path: str
    kind: str
    how: str


@dataclass(frozen=True, slots=True, order=True)
class RowInfluence:
    """A column that decides over all rows: ``how`` is FILTER, JOIN, GROUP_BY or SORT.

    ``expression`` holds its conditions (``a > 1 | a = b``), "" where the producer reports none.
    """

    dataset: str
    path: str
    how: str
    expression: str


@dataclass(frozen=True, slots=True)
class ColumnOutline:
    """A column of the schema written. ``expressions`` are sorted; empty for a literal."""

    path: str
    name: str
    type: str | None
    sources: frozenset[DerivationSource]
    expressions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlanOutline:
    """The inputs and outputs of a logical plan. ``columns`` None: the plan reports no output
    schema.

    ``inputs`` maps ids of datasets read to URIs. ``joins`` are the types of the joins (INNER,
    LEFTOUTER) in the order of the operations; None: the plan reports no operations.
    """

    logical_plan: str
    fingerprint: str
    job: str
    job_name: tuple[str, str]
    target: str
    target_uri: str
    mode: str
    partition_keys: tuple[str, ...]
    columns: tuple[ColumnOutline, ...] | None
    inputs: Mapping[str, str]
    influences: frozenset[RowInfluence]
    joins: tuple[str, ...] | None


def outlines(facts: Facts) -> tuple[PlanOutline, ...]:
    """The plans among these facts that write something, by target URI."""
    read = _Reading(facts)
    plans = [
        read.outline(row)
        for row in facts.rows
        if isinstance(row, LogicalPlanRow) and row.mode in (labels.OVERWRITE, *labels.KEEPING_MODES)
    ]
    return tuple(sorted(plans, key=lambda plan: (plan.target_uri, plan.logical_plan)))


class _Reading:
    """Facts indexed by their subject."""

    def __init__(self, facts: Facts) -> None:
        self._uris = {row.id: row.uri for row in facts.rows if isinstance(row, DatasetRow)}
        self._jobs = {
            row.id: (row.namespace, row.name) for row in facts.rows if isinstance(row, JobRow)
        }
        self._columns: dict[str, ColumnName] = {}
        self._schemas: dict[str, str] = {}
        self._operations: dict[str, Vertex] = {}
        for vertex in facts.vertices:
            if vertex.label == labels.COLUMN:
                name = str(vertex.value("dataset_id")), str(vertex.value("path"))
                self._columns[vertex.id] = name
            elif vertex.label == labels.SCHEMA:
                self._schemas[vertex.id] = str(vertex.value("columns"))
            elif vertex.label == labels.OPERATION:
                self._operations[vertex.id] = vertex
        self._at: defaultdict[str, list[Edge]] = defaultdict(list)
        for edge in facts.edges:
            self._at[_plan_of(edge)].append(edge)

    def outline(self, row: LogicalPlanRow) -> PlanOutline:
        edges = self._at[row.id]
        sources = [e.out_id for e in edges if e.label == labels.FEEDS and e.in_id == row.id]
        influences = {
            RowInfluence(
                *self._columns[edge.out_id],
                str(edge.value("how")),
                str(edge.value("expression") or ""),
            )
            for edge in edges
            if edge.label == labels.INFLUENCES and edge.out_id in self._columns
        }
        return PlanOutline(
            logical_plan=row.id,
            fingerprint=row.fingerprint,
            job=row.job,
            job_name=self._jobs.get(row.job, ("", "")),
            target=row.target,
            target_uri=self._uris.get(row.target, ""),
            mode=row.mode,
            partition_keys=tuple(json.loads(row.partition_keys)),
            columns=self._written(row, edges),
            inputs={source: self._uris.get(source, "") for source in sorted(sources)},
            influences=frozenset(influences),
            joins=self._joins(edges),
        )

    def _joins(self, edges: Iterable[Edge]) -> tuple[str, ...] | None:
        operations = [
            self._operations[edge.in_id]
            for edge in edges
            if edge.label == labels.HAS and edge.in_id in self._operations
        ]
        if not operations:
            return None
        operations.sort(key=lambda operation: int(str(operation.value("position"))))
        parameters = [json.loads(str(operation.value("parameters"))) for operation in operations]
        return tuple(
            _join_type(rendered["joinType"]) for rendered in parameters if "joinType" in rendered
        )

    def _written(
        self, row: LogicalPlanRow, edges: Iterable[Edge]
    ) -> tuple[ColumnOutline, ...] | None:
        schemas = [e.in_id for e in edges if e.label == labels.WRITES and e.in_id in self._schemas]
        if not schemas:
            return None
        into: defaultdict[ColumnName, list[Edge]] = defaultdict(list)
        for edge in edges:
            if edge.label == labels.DERIVES and edge.in_id in self._columns:
                into[self._columns[edge.in_id]].append(edge)
        return tuple(
            self._column(column, into[row.target, column["path"]])
            for column in json.loads(self._schemas[min(schemas)])
        )

    def _column(self, column: Mapping[str, str | None], into: Iterable[Edge]) -> ColumnOutline:
        known = [edge for edge in into if edge.out_id in self._columns]
        return ColumnOutline(
            path=str(column["path"]),
            name=str(column["name"]),
            type=column.get("type"),
            sources=frozenset(
                DerivationSource(
                    *self._columns[e.out_id], str(e.value("kind")), str(e.value("how"))
                )
                for e in known
            ),
            expressions=tuple(sorted({str(edge.value("expression") or "") for edge in known})),
        )


def _join_type(text: str) -> str:
    """``Left Outer`` => ``LEFTOUTER``: producers spell one type differently."""
    return "".join(text.split()).upper()


def _plan_of(edge: Edge) -> str:
    """The logical plan that an edge belongs to; another id where it belongs to none."""
    if edge.label == labels.DERIVES:
        return str(edge.value("logical_plan"))
    return edge.out_id if edge.label in (labels.WRITES, labels.HAS) else edge.in_id


# --- from the graph ------------------------------------------------------------------------------


def known_outlines(
    plans: Collection[str], graph: GraphReader, catalogue: Catalogue
) -> tuple[PlanOutline, ...]:
    """Logical plans as stored in the graph; unknown ids are left out."""
    return outlines(_known_facts(plans, graph, catalogue)) if plans else ()


def _known_facts(plans: Collection[str], graph: GraphReader, catalogue: Catalogue) -> Facts:
    """The facts of these plans that an outline needs."""
    rows = catalogue.logical_plans(plans)
    above = graph.edges(plans, Direction.UPSTREAM, (labels.FEEDS, labels.INFLUENCES), HUB_LIMIT)
    below = graph.edges(plans, Direction.DOWNSTREAM, (labels.WRITES, labels.HAS), HUB_LIMIT)
    targets = {row.target for row in rows}
    held = graph.edges(targets, Direction.DOWNSTREAM, (labels.HAS,), HUB_LIMIT)
    columns = {edge.in_id for edge in held.edges}
    derived = graph.edges(columns, Direction.UPSTREAM, (labels.DERIVES,), HUB_LIMIT)
    computed = [edge for edge in derived.edges if edge.value("logical_plan") in set(plans)]
    edges = (*above.edges, *below.edges, *computed)
    ends = {end for edge in edges for end in (edge.out_id, edge.in_id)}
    kinds = (labels.COLUMN, labels.SCHEMA, labels.OPERATION)
    datasets = targets | {end for end in ends if identity.kind_of(end) == labels.DATASET}
    return Facts(
        vertices=graph.vertices({end for end in ends if identity.kind_of(end) in kinds}),
        edges=edges,
        rows=(*rows, *catalogue.jobs({row.job for row in rows}), *catalogue.datasets(datasets)),
    )


def captured_outlines(
    submissions: Iterable[Submission], rules: Rules, producers: Producers = PRODUCERS
) -> tuple[PlanOutline, ...]:
    """The plans of these documents that write something; documents that only report a run of a plan
    are skipped.

    Raises InvalidDocument, with the plan's id, for a document that cannot be translated.
    """
    stored: dict[str, list[StoredDocument]] = {}
    for position, submission in enumerate(submissions, 1):
        if submission.kind not in producers.additions:
            stored.setdefault(submission.subject_key, []).append(_stored(submission, position))
    translation = Translation(rules, producers)
    return outlines(merge(_facts(translation, documents) for documents in stored.values()))


def _facts(translation: Translation, documents: list[StoredDocument]) -> Facts:
    projection = translation.project_all(documents)
    for _, state, reason in projection.states:
        if state == DocumentState.FAILED:
            raise InvalidDocument(documents[0].subject_key, f"a plan that can be read: {reason}")
    return projection.facts


def _stored(submission: Submission, position: int) -> StoredDocument:
    return StoredDocument(
        position=position,
        kind=submission.kind,
        api_version=submission.api_version,
        subject_key=submission.subject_key,
        scope=submission.scope,
        subject=submission.subject,
        content_hash=submission.content_hash,
        state=DocumentState.PENDING,
        reason=None,
        received_at=NO_RECEIPT,
        size=len(submission.body),
        body=submission.body,
    )
