"""The events: jobs in layers, by number, and their runs, by number; always the same bytes."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from bench.openlineage.events import (
    CONTENT_TYPE,
    PATH,
    Json,
    Table,
    common,
    dataset,
    encode,
    facet,
    spell_time,
    written,
)

_RUNS: Final = uuid.UUID("4f1d4c1e-2b0a-5c57-9d55-0c4a1c9e7b11")
_BEGIN: Final = datetime(2026, 1, 1, tzinfo=UTC)
_LAYERS: Final = 10


@dataclass(frozen=True, slots=True)
class Workload:
    """Of this many jobs."""

    jobs: int
    content_type: str = CONTENT_TYPE

    def requests(self, job: int, run: int) -> tuple[tuple[str, bytes], ...]:
        """Path and body of the START and of the COMPLETE of one run of a job."""
        began = _BEGIN + timedelta(hours=run, milliseconds=997 * job % 3_000_000)
        ended = began + timedelta(seconds=30 + job % 200)
        inputs, output = self._inputs(job), self._output(job)
        shared = self._common(job, run, inputs, output)
        start = {"eventType": "START", "eventTime": spell_time(began), **shared}
        complete = {"eventType": "COMPLETE", "eventTime": spell_time(ended), **shared}
        complete["inputs"] = [dataset(item) for item in inputs]
        complete["outputs"] = [written(output, inputs, 1_000 + job)]
        return (PATH, encode({**start, "inputs": [], "outputs": []})), (PATH, encode(complete))

    def _common(self, job: int, run: int, inputs: list[Table], output: Table) -> Json:
        query = f"INSERT INTO {output[1]} SELECT a.*, b.status FROM {inputs[0][1]} a JOIN "
        query += f"{inputs[1][1]} b ON a.id = b.customer_id"
        engine = facet("ProcessingEngineRunFacet", version="3.5.1", name="spark")
        kind = facet("JobTypeJobFacet", processingType="BATCH", integration="SPARK", jobType="JOB")
        return common(
            str(uuid.uuid5(_RUNS, f"{job} {run}")),
            {"processing_engine": engine},
            (("airflow", "spark", "dbt")[job % 3], f"load_{job:05d}"),
            {"jobType": kind, "sql": facet("SQLJobFacet", query=query)},
        )

    def _inputs(self, job: int) -> list[Table]:
        """Two outputs of the layer before; raw tables below the first."""
        return [
            self._output(source)
            if source >= 0
            else ("postgres://raw.example.org:5432", f"shop.t{~source:05d}")
            for source in sources(job, self.jobs)
        ]

    def _output(self, job: int) -> Table:
        return "s3://lake", f"out/{job:06d}"


def sources(job: int, jobs: int) -> tuple[int, int]:
    """The jobs whose outputs this one of so many reads: two of the layer before. Below the first
    layer ``~n`` stands for the raw table ``n``.
    """
    width = max(2, -(-jobs // _LAYERS))
    layer, place = divmod(job, width)
    other = (7 * place + 3) % width
    other = other if other != place else (place + 1) % width
    if layer == 0:
        return ~place, ~other
    below = (layer - 1) * width
    return below + place, below + other
