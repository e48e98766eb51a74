"""Parts to leave out of a plan above the bounds of ``producers.size_bounds``.

    all of it -> without columns -> without operations -> without its inputs: its write alone

Each step is a gap of the logical plan, and the reason that the journal shows beside the document.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from graph_model.gaps import OPERATIONS_TOO_LARGE, TOO_LARGE
from graph_model.producers.spline.plan_logic import DatasetSchema, Logic, LogicalOperation

#: Gap of a plan that reads more tables than the graph accepts from one document.
DATASETS_TOO_MANY: Final = "datasets-too-many"


def without_columns(logic: Logic, excess: str) -> Logic:
    """Tables, jobs and operations, because half of a column lineage looks complete."""
    reads = {use.dataset_id: DatasetSchema(use.dataset, None) for use in logic.reads}
    fewer = replace(
        logic,
        reads=tuple(reads.values()),
        write=DatasetSchema(logic.write.dataset, None),
        operations=tuple(one._replace(output="[]", schema="") for one in logic.operations),
        flows=(),
        influences=(),
    )
    return _with_gap(fewer, TOO_LARGE, excess)


def without_operations(logic: Logic, excess: str) -> Logic:
    """Tables and jobs."""
    return _with_gap(_write_alone(logic), OPERATIONS_TOO_LARGE, excess)


def without_reads(logic: Logic, excess: str) -> Logic:
    """The job and its output: of half of the tables readers could not tell
    which half is missing.
    """
    return _with_gap(replace(logic, reads=(), names=()), DATASETS_TOO_MANY, excess)


REDUCTIONS: Final[tuple[Callable[[Logic, str], Logic], ...]] = (
    without_columns,
    without_operations,
    without_reads,
)


def _write_alone(logic: Logic) -> Logic:
    write = logic.operations[-1]
    alone: LogicalOperation = write._replace(position=0, inputs=(), datasets=())
    return replace(logic, operations=(alone,))


def _with_gap(logic: Logic, code: str, detail: str) -> Logic:
    return replace(logic, gaps=tuple(sorted({*logic.gaps, (code, detail)})))
