"""A plan from OpenLineage's events, in the form of a Spline plan.

Events have no operations: in their place are the read datasets, the job, and the written dataset,
with the derivations of the columnLineage facet. Facets may hold anything: all but column lineage is
left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from graph_model.answers.openlineage.reported_plans import READ_ROLE, EventDataset, EventPlan
from graph_model.producers.spline.documents import (
    Attribute,
    ExecutionPlan,
    Operation,
    Product,
    Reference,
)

_JOB: Final = "job"
_WRITE: Final = "write"


def event_execution_plan(
    plan_id: str, event_plan: EventPlan, *, append: bool
) -> ExecutionPlan | None:
    """Reads -> job -> write under the logical plan's id; None for a plan that only reads."""
    reads = [one for one in event_plan.datasets if one.role == READ_ROLE]
    written = next((one for one in event_plan.datasets if one.role != READ_ROLE), None)
    if written is None:
        return None
    attributes = {
        key: attribute
        for place, one in enumerate(reads)
        for key, attribute in _read_attributes(f"read-{place}", one, written)
    }
    operations = [_read(place, one, attributes) for place, one in enumerate(reads)]
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
        system=_product(event_plan.system or event_plan.producer),
        agent=_product(event_plan.producer),
        extra={"appName": event_plan.name},
    )


def _product(text: str) -> Product:
    """``spark 3.5.1`` => name and version."""
    name, _, version = text.rpartition(" ")
    return Product(name, version) if name else Product(version, "")


def _read(place: int, one: EventDataset, attributes: Mapping[str, Attribute]) -> Operation:
    key = f"read-{place}"
    own = tuple(name for name in attributes if name.startswith(f"{key}."))
    uri = one.dataset.uri
    extra = _extra(one, "sourceType")
    return Operation(key, "read", "Input", (), own, {}, extra, sources=(uri,))


def _extra(one: EventDataset, name: str) -> dict[str, Any]:
    storage = one.facets.get("storage")
    kind = storage.get("fileFormat") if isinstance(storage, dict) else None
    return {name: kind} if isinstance(kind, str) else {}


def _read_attributes(
    key: str, one: EventDataset, written: EventDataset
) -> Iterator[tuple[str, Attribute]]:
    """The dataset's columns, and those that occur only in the output's column lineage."""
    types = {column.name: column.type for column in one.columns or ()}
    named = {
        str(source["field"])
        for _, sources in _lineage(written)
        for source in sources
        if _is_of(source, one)
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
            for place, one in enumerate(reads)
            if _is_of(source, one)
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
        yield name, [one for one in sources if isinstance(one, dict) and "field" in one]


def _is_of(source: Mapping[str, Any], one: EventDataset) -> bool:
    return (source.get("namespace"), source.get("name")) == (one.namespace, one.name)
