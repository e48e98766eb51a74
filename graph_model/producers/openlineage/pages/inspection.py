"""The fine view of a plan from OpenLineage's events: its datasets, schemas, facets, code.

Events have no operations; in their place are the read datasets, the job between, and the written
dataset, so that such a plan is drawn as any other. Facets are shown as they came.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from graph_model import labels
from graph_model.picture.layout import Box, Point, lay_out
from graph_model.picture.operations import (
    BOX_HEIGHT,
    OperationView,
    OutputColumn,
    PlanInspection,
    Property,
    box_width,
)
from graph_model.picture.view import DatasetReference
from graph_model.producers.openlineage.datasets import DatasetNamer, type_text
from graph_model.producers.openlineage.events.accumulate import JobStatement
from graph_model.producers.openlineage.events.documents import Dataset
from graph_model.producers.openlineage.events.facets import Facets

MOST_DATASETS: Final = 500
MOST_COLUMNS: Final = 20_000
READ_ROLE: Final = "input"
WRITE_ROLE: Final = "output"
_JOB: Final = "job"


@dataclass(frozen=True, slots=True)
class EventColumn:
    name: str
    type: str | None
    description: str


@dataclass(frozen=True, slots=True)
class EventDataset:
    """A dataset of a plan. ``namespace`` and ``name`` are the client's, "" for a dataset that only
    column lineage names; ``columns`` None: no schema reported. ``usage`` are the inputFacets or
    outputFacets; ``cut`` names the facets of both without a body, as ``EventPlan`` does.
    """

    role: str
    dataset: DatasetReference
    namespace: str
    name: str
    origin: str
    columns: tuple[EventColumn, ...] | None
    facets: Mapping[str, Any]
    usage: Mapping[str, Any]
    cut: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Use:
    """A dataset that a plan reads or writes, and the origin of the edge."""

    id: str
    dataset: DatasetReference
    origin: str


def event_datasets(
    statement: JobStatement, names: DatasetNamer, reads: Sequence[Use], write: Use | None
) -> tuple[EventDataset, ...]:
    """The plan's datasets with the statement's details of each: first those read, then those
    written.
    """
    inputs, outputs = _by_id(statement.inputs, names), _by_id(statement.outputs, names)
    found = [_event_dataset(READ_ROLE, use, inputs.get(use.id)) for use in reads]
    if write is not None:
        found.append(_event_dataset(WRITE_ROLE, write, outputs.get(write.id)))
    return tuple(found)


def _by_id(datasets: Iterable[Dataset], names: DatasetNamer) -> dict[str, Dataset]:
    """The first of several partitions of one dataset."""
    found: dict[str, Dataset] = {}
    for dataset in datasets:
        for use in names.uses(*dataset.key):
            found.setdefault(use.id, dataset)
    return found


def _event_dataset(role: str, use: Use, dataset: Dataset | None) -> EventDataset:
    if dataset is None:
        return EventDataset(role, use.dataset, "", "", use.origin, None, {}, {})
    return EventDataset(
        role,
        use.dataset,
        dataset.namespace,
        dataset.name,
        use.origin,
        _columns(dataset),
        bodies(dataset.facets),
        bodies(dataset.usage),
    )


def _columns(dataset: Dataset) -> tuple[EventColumn, ...] | None:
    facet = dataset.facets.get("schema")
    if facet is None or facet.deleted:
        return None
    listed = facet.value[:MOST_COLUMNS]
    return tuple(EventColumn(one.name, type_text(one), one.description) for one in listed)


def bodies(facets: Facets) -> dict[str, Any]:
    """Facets by name as the client wrote them; deleted ones are left out."""
    return {name: facet.body for name, facet in sorted(facets.items()) if not facet.deleted}


# --- drawn as operations -------------------------------------------------------------------------


def draw_datasets(
    datasets: Sequence[EventDataset],
    job: str,
    expressions: Mapping[str, str],
    *,
    layout: bool,
) -> PlanInspection[DatasetReference]:
    """Reads -> job -> write; of more than 500 datasets only the last. ``expressions``: those of the
    written columns, by name.
    """
    shown = datasets[-MOST_DATASETS:]
    keys = [f"dataset-{place}" for place in range(len(shown))]
    pairs = list(zip(keys, shown, strict=True))
    reads = tuple(key for key, one in pairs if one.role == READ_ROLE)
    writes = tuple(key for key, one in pairs if one.role != READ_ROLE)
    edges = (*((key, _JOB) for key in reads), *((_JOB, key) for key in writes))
    names = {key: one.dataset.label for key, one in pairs} | {_JOB: job}
    points = _places(names, edges) if layout else {}
    operations = [_operation(key, one, expressions, points.get(key)) for key, one in pairs]
    between: OperationView[DatasetReference] = OperationView(
        _JOB, labels.TRANSFORM, "Job", job, reads, writes, None, (), (), points.get(_JOB),
        box_width(job), BOX_HEIGHT,
    )  # fmt: skip
    operations.insert(len(reads), between)
    return PlanInspection(tuple(operations), edges, len(shown) < len(datasets))


def _operation(
    key: str,
    one: EventDataset,
    expressions: Mapping[str, str],
    point: Point | None,
) -> OperationView[DatasetReference]:
    read = one.role == READ_ROLE
    label = one.dataset.label
    return OperationView(
        id=key,
        kind=labels.READ if read else labels.WRITE,
        name="Input" if read else "Output",
        label=label,
        inputs=() if read else (_JOB,),
        outputs=(_JOB,) if read else (),
        schema=None if one.columns is None else _schema(one.columns, {} if read else expressions),
        properties=_properties(one),
        datasets=(one.dataset,),
        point=point,
        width=box_width(label),
        height=BOX_HEIGHT,
    )


def _schema(
    columns: Iterable[EventColumn], expressions: Mapping[str, str]
) -> tuple[OutputColumn, ...]:
    return tuple(
        OutputColumn(one.name, one.type, one.name, expressions.get(one.name)) for one in columns
    )


def _properties(one: EventDataset) -> tuple[Property, ...]:
    named = [("namespace", one.namespace), ("name", one.name), ("origin", one.origin)]
    measured = [
        Property(key, str(value), measured=True)
        for name in ("inputStatistics", "outputStatistics")
        for key, value in sorted(one.usage.get(name, {}).items())
    ]
    return (*(Property(name, text) for name, text in named if text), *measured)


def _places(names: Mapping[str, str], edges: Sequence[tuple[str, str]]) -> dict[str, Point]:
    boxes = [Box(key, box_width(label), BOX_HEIGHT, label) for key, label in names.items()]
    return lay_out(boxes, edges)
