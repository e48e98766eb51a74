"""Events of OpenLineage that a client sends of one run of a job, built from names."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

PATH: Final = "/api/v1/lineage"
CONTENT_TYPE: Final = "application/json"
COLUMNS: Final[Mapping[str, str]] = {
    "id": "bigint", "customer_id": "bigint", "ordered_at": "timestamp", "status": "varchar",
    "amount": "decimal(18,2)", "currency": "varchar", "country_code": "char(2)",
    "is_active": "boolean", "updated_at": "timestamp", "batch_date": "date",
}  # fmt: skip
_PRODUCER: Final = "https://example.org/load/1.0"
_SPECIFICATION: Final = "https://openlineage.io/spec"
_EVENT: Final = f"{_SPECIFICATION}/2-0-2/OpenLineage.json#/$defs/RunEvent"

Json = dict[str, Any]
Table = tuple[str, str]
"""OpenLineage's namespace and name of a dataset."""


def common(run: str, run_facets: Json, job: tuple[str, str], job_facets: Json) -> Json:
    """The fields that all events of a run have; ``job`` is its namespace and name."""
    return {
        "producer": _PRODUCER,
        "schemaURL": _EVENT,
        "run": {"runId": run, "facets": run_facets},
        "job": {"namespace": job[0], "name": job[1], "facets": job_facets},
    }


def facet(name: str, /, **content: object) -> Json:
    url = f"{_SPECIFICATION}/facets/1-0-1/{name}.json#/$defs/{name}"
    return {"_producer": _PRODUCER, "_schemaURL": url, **content}


def dataset(table: Table, columns: Mapping[str, str] = COLUMNS) -> Json:
    """A dataset with its schema: name and type of each column."""
    namespace, name = table
    fields = [{"name": column, "type": kind} for column, kind in columns.items()]
    facets = {
        "schema": facet("SchemaDatasetFacet", fields=fields),
        "dataSource": facet("DatasourceDatasetFacet", name=namespace, uri=namespace),
    }
    return {"namespace": namespace, "name": name, "facets": facets}


def written(
    output: Table, inputs: Sequence[Table], rows: int, columns: Mapping[str, str] = COLUMNS
) -> Json:
    """An output whose columns each come from both inputs: one copied, one transformed."""
    named = tuple(COLUMNS)
    lineage = {
        column: {
            "inputFields": [
                _field(inputs[0], named[place % len(named)], "IDENTITY"),
                _field(inputs[1], named[(place + 1) % len(named)], "TRANSFORMATION"),
            ]
        }
        for place, column in enumerate(columns)
    }
    described = dataset(output, columns)
    described["facets"]["columnLineage"] = facet("ColumnLineageDatasetFacet", fields=lineage)
    statistics = facet("OutputStatisticsOutputDatasetFacet", rowCount=rows, size=113 * rows)
    return {**described, "outputFacets": {"outputStatistics": statistics}}


def _field(table: Table, column: str, subtype: str) -> Json:
    how = [{"type": "DIRECT", "subtype": subtype}]
    return {"namespace": table[0], "name": table[1], "field": column, "transformations": how}


def spell_time(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def encode(event: Json) -> bytes:
    return json.dumps(event, separators=(",", ":")).encode()
