"""The events: jobs in layers, by number, and their runs, by number; always the same bytes."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

PATH: Final = "/api/v1/lineage"
_PRODUCER: Final = "https://example.org/load/1.0"
_SPECIFICATION: Final = "https://openlineage.io/spec"
_EVENT: Final = f"{_SPECIFICATION}/2-0-2/OpenLineage.json#/$defs/RunEvent"
_RUNS: Final = uuid.UUID("4f1d4c1e-2b0a-5c57-9d55-0c4a1c9e7b11")
_BEGIN: Final = datetime(2026, 1, 1, tzinfo=UTC)
_LAYERS: Final = 10
_TYPES: Final = {
    "id": "bigint", "customer_id": "bigint", "ordered_at": "timestamp", "status": "varchar",
    "amount": "decimal(18,2)", "currency": "varchar", "country_code": "char(2)",
    "is_active": "boolean", "updated_at": "timestamp", "batch_date": "date",
}  # fmt: skip
_COLUMNS: Final = tuple(_TYPES)

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Workload:
    """Of this many jobs."""

    jobs: int
    content_type: str = "application/json"

    def requests(self, job: int, run: int) -> tuple[tuple[str, bytes], ...]:
        """Path and body of the START and of the COMPLETE of one run of a job."""
        began = _BEGIN + timedelta(hours=run, milliseconds=997 * job % 3_000_000)
        ended = began + timedelta(seconds=30 + job % 200)
        inputs, output = self._inputs(job), self._output(job)
        common = self._common(job, run, inputs, output)
        start = {"eventType": "START", "eventTime": _time(began), **common}
        complete = {"eventType": "COMPLETE", "eventTime": _time(ended), **common}
        complete["inputs"] = [_dataset(*one) for one in inputs]
        complete["outputs"] = [_written(output, inputs, 1_000 + job)]
        return (PATH, _body({**start, "inputs": [], "outputs": []})), (PATH, _body(complete))

    def _common(
        self, job: int, run: int, inputs: list[tuple[str, str]], output: tuple[str, str]
    ) -> Json:
        query = f"INSERT INTO {output[1]} SELECT a.*, b.status FROM {inputs[0][1]} a JOIN "
        query += f"{inputs[1][1]} b ON a.id = b.customer_id"
        engine = _facet("ProcessingEngineRunFacet", version="3.5.1", name="spark")
        kind = _facet("JobTypeJobFacet", processingType="BATCH", integration="SPARK", jobType="JOB")
        return {
            "producer": _PRODUCER,
            "schemaURL": _EVENT,
            "run": {
                "runId": str(uuid.uuid5(_RUNS, f"{job} {run}")),
                "facets": {"processing_engine": engine},
            },
            "job": {
                "namespace": ("airflow", "spark", "dbt")[job % 3],
                "name": f"load_{job:05d}",
                "facets": {"jobType": kind, "sql": _facet("SQLJobFacet", query=query)},
            },
        }

    def _inputs(self, job: int) -> list[tuple[str, str]]:
        """Two outputs of the layer before; raw tables below the first."""
        width = max(2, -(-self.jobs // _LAYERS))
        layer, place = divmod(job, width)
        sources = (place, (7 * place + 3) % width)
        sources = sources if sources[0] != sources[1] else (place, (place + 1) % width)
        if layer == 0:
            return [("postgres://raw.example.org:5432", f"shop.t{one:05d}") for one in sources]
        return [self._output((layer - 1) * width + one) for one in sources]

    def _output(self, job: int) -> tuple[str, str]:
        return "s3://lake", f"out/{job:06d}"


def _facet(facet: str, /, **content: object) -> Json:
    url = f"{_SPECIFICATION}/facets/1-0-1/{facet}.json#/$defs/{facet}"
    return {"_producer": _PRODUCER, "_schemaURL": url, **content}


def _dataset(namespace: str, name: str) -> Json:
    fields = [{"name": column, "type": kind} for column, kind in _TYPES.items()]
    facets = {
        "schema": _facet("SchemaDatasetFacet", fields=fields),
        "dataSource": _facet("DatasourceDatasetFacet", name=namespace, uri=namespace),
    }
    return {"namespace": namespace, "name": name, "facets": facets}


def _written(output: tuple[str, str], inputs: list[tuple[str, str]], rows: int) -> Json:
    dataset = _dataset(*output)
    lineage = {
        column: {
            "inputFields": [
                _field(inputs[0], column, "IDENTITY"),
                _field(inputs[1], _COLUMNS[(place + 1) % len(_COLUMNS)], "TRANSFORMATION"),
            ]
        }
        for place, column in enumerate(_COLUMNS)
    }
    dataset["facets"]["columnLineage"] = _facet("ColumnLineageDatasetFacet", fields=lineage)
    statistics = _facet("OutputStatisticsOutputDatasetFacet", rowCount=rows, size=113 * rows)
    return {**dataset, "outputFacets": {"outputStatistics": statistics}}


def _field(dataset: tuple[str, str], column: str, subtype: str) -> Json:
    how = [{"type": "DIRECT", "subtype": subtype}]
    return {
        "namespace": dataset[0], "name": dataset[1], "field": column, "transformations": how,
    }  # fmt: skip


def _time(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _body(event: Json) -> bytes:
    return json.dumps(event, separators=(",", ":")).encode()
