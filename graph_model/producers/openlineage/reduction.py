"""Parts to leave out of a statement above the bounds of ``producers.size_bounds``.

    all of it -> without columns -> without facets that name -> without datasets: the job alone

Tables and jobs stay as long as they can. A statement that lists more columns than a graph takes
goes without them before anything is made of it. Each step is a gap of every plan of the statement,
and the reason that the journal shows beside its documents.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from graph_model.labels import TOO_LARGE
from graph_model.producers.openlineage.events.accumulate import JobStatement
from graph_model.producers.openlineage.events.documents import Dataset
from graph_model.producers.openlineage.events.facets import ColumnLineage, SchemaField, value_of
from graph_model.producers.size_bounds import Weight

#: Gaps in addition to ``column-lineage-too-large``: symlinks, subsets and dataset facets are left
#: out; no dataset is in the graph at all.
FACETS_TOO_LARGE: Final = "facets-too-large"
DATASETS_TOO_MANY: Final = "datasets-too-many"
#: The facets that table lineage needs.
_COARSE_FACETS: Final = ("columnLineage", "lifecycleStateChange")
_COARSE_USAGE: Final = ("inputStatistics", "outputStatistics")


def without_columns(statement: JobStatement, excess: str) -> JobStatement:
    """The statement's tables and jobs; ``read_logics`` then reads no schema and no column edge."""
    return _left_out(statement, TOO_LARGE, excess)


def without_facets(statement: JobStatement, excess: str) -> JobStatement:
    """Without symlinks, partitions and other facets of datasets."""
    inputs, outputs = (
        tuple(map(_coarse, listed)) for listed in (statement.inputs, statement.outputs)
    )
    fewer = replace(statement, inputs=inputs, outputs=outputs)
    return _left_out(fewer, FACETS_TOO_LARGE, excess)


def without_datasets(statement: JobStatement, excess: str) -> JobStatement:
    """The job alone: readers could not tell which half of the tables is missing."""
    alone = replace(
        statement,
        job_facets={},
        run_facets={},
        inputs=(),
        outputs=(),
        entries=(),
        explicit=False,
    )
    return _left_out(alone, DATASETS_TOO_MANY, excess)


def first_excess(statement: JobStatement) -> str:
    """The bound that the columns alone exceed, as they are listed; "" where they do not."""
    datasets = (*statement.inputs, *statement.outputs)
    listed = sum(map(_columns, datasets))
    listed += sum(len(sources) for entry in statement.entries for _, sources in entry.fields)
    return Weight(elements=listed).excess


def is_smaller(reduced: JobStatement, statement: JobStatement) -> bool:
    """Whether a reduction left anything out: a list of 100,000 tables has no columns to lose."""
    if reduced.without_columns and not statement.without_columns:
        datasets = (*statement.inputs, *statement.outputs)
        return any(map(_columns, datasets)) or any(entry.fields for entry in statement.entries)
    before, after = (
        (one.inputs, one.outputs, one.entries, one.job_facets) for one in (statement, reduced)
    )
    return before != after


def _columns(dataset: Dataset) -> int:
    schema = value_of(dataset.facets, "schema", tuple) or ()
    lineage = value_of(dataset.facets, "columnLineage", ColumnLineage)
    fields = lineage.fields if lineage else ()
    decide = len(lineage.dataset) if lineage else 0
    return _fields(schema) + sum(len(sources) for _, sources in fields) + decide


def _fields(listed: Sequence[SchemaField]) -> int:
    return len(listed) + sum(_fields(one.fields) for one in listed if one.fields)


REDUCTIONS: Final[tuple[Callable[[JobStatement, str], JobStatement], ...]] = (
    without_columns,
    without_facets,
    without_datasets,
)


def _left_out(statement: JobStatement, code: str, excess: str) -> JobStatement:
    return replace(statement, left_out=(*statement.left_out, (code, excess)))


def _coarse(dataset: Dataset) -> Dataset:
    facets = {name: dataset.facets[name] for name in _COARSE_FACETS if name in dataset.facets}
    usage = {name: dataset.usage[name] for name in _COARSE_USAGE if name in dataset.usage}
    return replace(dataset, facets=facets, usage=usage)
