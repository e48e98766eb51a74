"""Questions about one plan, read in Spline's form from its document or from OpenLineage's events.

Events have no operations: in their place are the read datasets, the job, and the written dataset,
with the derivations of the columnLineage facet. Facets may hold anything: all but column lineage is
left out.

The nodes of a column's origins are the attributes that an operation emits. Its sources are found
through any number of expressions, and through attributes that no operation emits;
``expressions.Definitions`` adds those that ``childRefs`` miss.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from graph_model import identity, labels, naming
from graph_model.answers.openlineage_reports import (
    READ_ROLE,
    EventDataset,
    EventPlan,
    without_facets,
)
from graph_model.answers.plans import open_document, open_events
from graph_model.answers.sources import Sources
from graph_model.errors import InvalidDocument, NotFound
from graph_model.producers.spline.documents import (
    Attribute,
    ExecutionPlan,
    Operation,
    Reference,
    read_product,
    read_uuid,
)
from graph_model.producers.spline.expressions.definitions import Definitions, Inputs, Node

RUN: Final = "run:"
"""How the key of an OpenLineage run begins."""


def own_plan_id(text: str) -> str | None:
    """A plan's id as it is known: a UUID in lower case, or that of a plan without a document; None
    for another text.
    """
    if _is_event_plan(text):
        return text
    try:
        return read_uuid(text, "")
    except InvalidDocument:
        return None


def _is_event_plan(text: str) -> bool:
    """Whether this is a logical plan's id or an OpenLineage run's key, so that
    no document has it.
    """
    return text.startswith(RUN) or identity.kind_of(text) == labels.LOGICAL_PLAN


def plan_sources(sources: Sources, plan_id: str, *, read: bool, write: bool) -> tuple[str, ...]:
    """The URIs of the data sources that a plan reads, writes, or both."""
    own, scope = _scoped_plan(sources, plan_id)
    uris = [own.write.target] if write else []
    uris += [source for read_step in own.reads for source in read_step.sources] if read else []
    names = (name for uri in uris for name in naming.normalise(uri, scope, sources.rules))
    return tuple(dict.fromkeys(name.uri for name in names))


def find_plan(sources: Sources, plan_id: str) -> ExecutionPlan:
    """The plan with this id. Raises NotFound."""
    return _scoped_plan(sources, plan_id)[0]


def _scoped_plan(sources: Sources, text: str) -> tuple[ExecutionPlan, str]:
    """The plan with this id, and the scope of its URIs. Raises NotFound."""
    plan_id = own_plan_id(text)
    if plan_id is None:
        raise NotFound("plan", text)
    if _is_event_plan(plan_id):
        return _event_plan(sources, plan_id), ""
    return reported_plan(sources, plan_id)


def reported_plan(sources: Sources, plan_id: str) -> tuple[ExecutionPlan, str]:
    """The plan of a Spline document, and its scope."""
    rows = sources.catalogue.execution_plans(plan_id=plan_id, limit=1)
    if not rows:
        raise NotFound("plan", plan_id)
    opened = open_document(sources, rows[0], plan_id)
    document = opened.document
    return _without_hidden(opened.sources, document.plan, document.scope), document.scope


def _event_plan(sources: Sources, plan_id: str) -> ExecutionPlan:
    """A plan made from OpenLineage events; NotFound for one that writes nothing."""
    opened = open_events(sources, plan_id, None)
    content = without_facets(opened.content) if opened.unseen else opened.content
    append = opened.execution.mode in labels.KEEPING_MODES
    shown = event_execution_plan(opened.logical.id, content, append=append)
    if shown is None:
        raise NotFound("plan", plan_id)
    return shown


def _without_hidden(sources: Sources, plan: ExecutionPlan, scope: str) -> ExecutionPlan:
    """An operation that reads something hidden loses its sources and parameters."""
    if not sources.hidden:
        return plan
    operations = tuple(
        replace(step, sources=(), params={}, extra={})
        if _reads_hidden(sources, step.sources, scope)
        else step
        for step in plan.operations
    )
    return replace(plan, operations=operations)


def _reads_hidden(sources: Sources, uris: Iterable[str], scope: str) -> bool:
    names = (name for uri in uris for name in naming.normalise(uri, scope, sources.rules))
    return any(identity.dataset_id(name.scope, name.uri) in sources.hidden for name in names)


_JOB: Final = "job"
_WRITE: Final = "write"


def event_execution_plan(
    plan_id: str, event_plan: EventPlan, *, append: bool
) -> ExecutionPlan | None:
    """Reads -> job -> write under the logical plan's id; None for a plan that only reads."""
    reads = [
        event_dataset for event_dataset in event_plan.datasets if event_dataset.role == READ_ROLE
    ]
    written = next(
        (event_dataset for event_dataset in event_plan.datasets if event_dataset.role != READ_ROLE),
        None,
    )
    if written is None:
        return None
    attributes = {
        key: attribute
        for place, read in enumerate(reads)
        for key, attribute in _read_attributes(f"read-{place}", read, written)
    }
    operations = [_read(place, read, attributes) for place, read in enumerate(reads)]
    children = tuple(operation.id for operation in operations)
    output = dict(_written_attributes(written, reads))
    attributes |= output
    job = Operation(
        _JOB, "transform", event_plan.name, children, tuple(output), {}, event_plan.job_facets
    )
    write = Operation(
        _WRITE, "write", "Write", (_JOB,), tuple(output), {}, _extra(written, "destinationType"),
        target=written.dataset.uri, append=append,
    )  # fmt: skip
    return ExecutionPlan(
        id=plan_id,
        name=event_plan.name,
        discriminator=None,
        labels={},
        operations=(*operations, job, write),
        attributes=attributes,
        functions={},
        constants={},
        data_types={},
        system=read_product(event_plan.system or event_plan.producer),
        agent=read_product(event_plan.producer),
        extra={"appName": event_plan.name},
    )


def _read(
    place: int, event_dataset: EventDataset, attributes: Mapping[str, Attribute]
) -> Operation:
    key = f"read-{place}"
    own = tuple(name for name in attributes if name.startswith(f"{key}."))
    uri = event_dataset.dataset.uri
    extra = _extra(event_dataset, "sourceType")
    return Operation(key, "read", "Input", (), own, {}, extra, sources=(uri,))


def _extra(event_dataset: EventDataset, name: str) -> dict[str, Any]:
    storage = event_dataset.facets.get("storage")
    kind = storage.get("fileFormat") if isinstance(storage, dict) else None
    return {name: kind} if isinstance(kind, str) else {}


def _read_attributes(
    key: str, event_dataset: EventDataset, written: EventDataset
) -> Iterator[tuple[str, Attribute]]:
    """The dataset's columns, and those that occur only in the output's column lineage."""
    types = {column.name: column.type for column in event_dataset.columns or ()}
    named = {
        str(source["field"])
        for _, sources in _lineage(written)
        for source in sources
        if _is_of(source, event_dataset)
    }
    for name in dict.fromkeys((*types, *sorted(named))):
        yield f"{key}.{name}", Attribute(f"{key}.{name}", name, types.get(name), (), {})


def _written_attributes(
    written: EventDataset, reads: list[EventDataset]
) -> Iterator[tuple[str, Attribute]]:
    lineage = dict(_lineage(written))
    types = {column.name: column.type for column in written.columns or ()}
    for name in dict.fromkeys((*types, *lineage)):
        sources = tuple(
            Reference("attribute", f"read-{place}.{source['field']}")
            for source in lineage.get(name, ())
            for place, read in enumerate(reads)
            if _is_of(source, read)
        )
        key = f"{_WRITE}.{name}"
        yield key, Attribute(key, name, types.get(name), tuple(dict.fromkeys(sources)), {})


def _lineage(written: EventDataset) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    """(output column, its input fields) of the column lineage facet."""
    facet = written.facets.get("columnLineage")
    fields = facet.get("fields") if isinstance(facet, dict) else None
    for name, field in fields.items() if isinstance(fields, dict) else ():
        listed = field.get("inputFields") if isinstance(field, dict) else None
        sources = listed if isinstance(listed, list) else []
        yield name, [source for source in sources if isinstance(source, dict) and "field" in source]


def _is_of(source: Mapping[str, Any], event_dataset: EventDataset) -> bool:
    return (source.get("namespace"), source.get("name")) == (
        event_dataset.namespace,
        event_dataset.name,
    )


# --- one column within its plan ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AttributeNode:
    """``origin`` is the operation that introduces the attribute, ``passed``
    those that pass it on.
    """

    attribute: str
    name: str
    origin: str
    passed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AttributeGraph:
    """``edges`` are (derived attribute, its source): against the flow of data."""

    nodes: tuple[AttributeNode, ...]
    edges: tuple[tuple[str, str], ...]


class PlanAttributes:
    """The attributes of one plan."""

    def __init__(self, plan: ExecutionPlan) -> None:
        self._plan = plan
        self._definitions = Definitions(plan)
        self._origins: dict[str, str] = {}
        self._emitters: dict[str, list[str]] = {}
        for operation in plan.operations:
            self._register(operation.id, operation.children)
        self._takers: dict[Node, list[Node]] | None = None

    def _register(self, operation: str, children: Sequence[str]) -> None:
        outputs = self._definitions.outputs
        emitted = outputs[operation] or ()
        received = {item for child in children for item in outputs[child] or ()}
        for attribute in dict.fromkeys(emitted):
            self._emitters.setdefault(attribute, []).append(operation)
            if attribute not in received:
                self._origins.setdefault(attribute, operation)

    @property
    def emitted(self) -> Collection[str]:
        """The ids of all attributes that an operation emits."""
        return self._emitters.keys()

    def lineage(self, attribute: str) -> AttributeGraph:
        """The attributes behind this one, which is the last node."""
        attributes: dict[str, None] = {attribute: None}
        edges: dict[tuple[str, str], None] = {}
        waiting = [attribute]
        while waiting:
            current = waiting.pop()
            for source in self._sources(current):
                edges[(current, source)] = None
                if source not in attributes:
                    attributes[source] = None
                    waiting.append(source)
        before = self._before(self._origins[attribute])
        others = [self._node(key, before) for key in attributes if key != attribute]
        return AttributeGraph((*others, self._node(attribute, ())), tuple(edges))

    def impact(self, attribute: str) -> AttributeGraph:
        """The attributes derived from this one, which is the first node."""
        reached = self._reached(attribute)
        nodes = [attribute, *(key for key in reached if key != attribute)]
        known = set(nodes)
        edges = {
            (derived, source): None
            for derived in nodes
            if derived != attribute
            for source in self._sources(derived)
            if source in known
        }
        every = {operation.id for operation in self._plan.operations}
        return AttributeGraph(tuple(self._node(key, every) for key in nodes), tuple(edges))

    def _node(self, attribute: str, among: Collection[str]) -> AttributeNode:
        origin = self._origins[attribute]
        passed = (key for key in self._emitters[attribute] if key != origin and key in among)
        name = self._definitions.name_of(attribute)
        return AttributeNode(attribute, name, origin, tuple(passed))

    def _before(self, operation: str) -> set[str]:
        """The operations whose output this one reads."""
        operations: set[str] = set()
        waiting = [operation]
        while waiting:
            for child in self._definitions.operations[waiting.pop()].children:
                if child not in operations:
                    operations.add(child)
                    waiting.append(child)
        return operations

    # --- one step --------------------------------------------------------------------------------

    def _inputs(self, node: Node) -> Iterator[Node]:
        """The attributes and expressions referenced in a definition or an expression."""
        if isinstance(node, Inputs):
            yield from self._definitions.inputs_of(node.operation)
        elif node.kind == "attribute":
            yield from self._definitions.of(node.id).inputs
        elif (function := self._plan.functions.get(node.id)) is not None:
            yield from function.children

    def _is_shown(self, node: Node) -> bool:
        return isinstance(node, Reference) and node.kind == "attribute" and node.id in self._origins

    def _sources(self, attribute: str) -> list[str]:
        """The nearest attributes that an operation emits, each once, in the document's order."""
        start = Reference("attribute", attribute)
        attributes: dict[str, None] = {}
        seen: set[Node] = {start}
        waiting = list(self._inputs(start))[::-1]
        while waiting:
            node = waiting.pop()
            if node in seen:
                continue
            seen.add(node)
            if self._is_shown(node):
                attributes[node.id] = None  # type: ignore[union-attr]
            else:
                waiting.extend(list(self._inputs(node))[::-1])
        return list(attributes)

    def _reached(self, attribute: str) -> list[str]:
        """Every emitted attribute that derives from this one, nearest first."""
        takers = self._all_takers()
        start: Node = Reference("attribute", attribute)
        seen: dict[Node, None] = {start: None}
        frontier = [start]
        while frontier:
            following = [taker for node in frontier for taker in takers.get(node, ())]
            frontier = [node for node in dict.fromkeys(following) if node not in seen]
            seen.update(dict.fromkeys(frontier))
        return [node.id for node in seen if self._is_shown(node)]  # type: ignore[union-attr]

    def _all_takers(self) -> dict[Node, list[Node]]:
        """The derivations of the plan, reversed; computed once."""
        if self._takers is None:
            takers: dict[Node, list[Node]] = {}
            seen: set[Node] = {Reference("attribute", key) for key in self._origins}
            waiting = list(seen)
            while waiting:
                node = waiting.pop()
                for item in self._inputs(node):
                    takers.setdefault(item, []).append(node)
                    if item not in seen:
                        seen.add(item)
                        waiting.append(item)
            self._takers = takers
        return self._takers
