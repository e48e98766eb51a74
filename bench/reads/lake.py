"""A layered lake as the events of OpenLineage, and as facts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, Final

from graph_model import identity, naming
from graph_model.facts import ExecutionRow, Facts
from graph_model.producers.openlineage.events.documents import RunEvent, read_event
from tests.openlineage_facts import facts_of_run

START: Final = datetime(2026, 3, 1, tzinfo=UTC)
COLUMNS: Final = (
    ("id", "bigint"), ("customer_id", "bigint"), ("ordered_at", "timestamp"),
    ("status", "varchar"), ("amount", "decimal(18,2)"), ("currency", "varchar"),
    ("country", "char(2)"), ("active", "boolean"), ("updated_at", "timestamp"), ("day", "date"),
)  # fmt: skip
_TOPICS: Final = ("orders", "customers", "payments", "shipments", "stock", "clicks", "refunds")
_PRODUCER: Final = "https://example.org/bench"
_SCHEMA: Final = "https://openlineage.io/spec/facets"


@dataclass(frozen=True, slots=True)
class Lake:
    """``jobs`` jobs in ``layers`` layers of equal width."""

    jobs: int
    layers: int

    @property
    def width(self) -> int:
        return -(-self.jobs // self.layers)

    def layer(self, job: int) -> int:
        return job // self.width

    def job_name(self, job: int) -> tuple[str, str]:
        """Namespace and name."""
        place = f"{_TOPICS[job % 7]}_{job:05d}"
        return f"team-{job % 3}", f"layer_{self.layer(job):02d}.load_{place}"

    def output(self, job: int) -> tuple[str, str]:
        """OpenLineage's namespace and name of the table that a job writes."""
        topic = _TOPICS[job % 7]
        layer = self.layer(job)
        return f"s3://lake-{min(layer, 4)}", f"{topic}/l{layer:02d}/{topic}_{job:05d}"

    def inputs(self, job: int) -> tuple[tuple[str, str], tuple[str, str]]:
        """Two datasets of the layer before: the one below, and one by chance."""
        layer, place = self.layer(job), job % self.width
        seed = hashlib.sha256(f"{layer} {place}".encode()).digest()
        other = int.from_bytes(seed[:4], "big") % self.width
        if other == place:
            other = (place + 1) % self.width
        if layer == 0:
            return self._raw(place), self._raw(other)
        below = (layer - 1) * self.width
        return self.output(below + place), self.output(below + other)

    def _raw(self, number: int) -> tuple[str, str]:
        host = f"postgres://shop{number % 4:02d}.example.org:5432"
        return host, f"shop.public.{_TOPICS[number % 7]}_{number:05d}"

    def ended(self, job: int) -> datetime:
        """A layer runs in the hour after the one before it."""
        return START + timedelta(hours=self.layer(job), milliseconds=997 * job % 3_000_000)

    def event(self, job: int) -> dict[str, Any]:
        """The COMPLETE event of a job's run."""
        inputs = self.inputs(job)
        run = hashlib.sha256(f"run {job}".encode()).hexdigest()
        output = _dataset(*self.output(job), sources=inputs)
        return _complete(self.ended(job), run, self.job_name(job), inputs, output)

    def facts(self) -> Iterator[Facts]:
        """Those of every job's run, one after the other."""
        for job in range(self.jobs):
            yield _facts_of(self.event(job))

    def dataset_id(self, job: int) -> str:
        """The id of the dataset that a job writes."""
        return dataset_id(self.output(job))


@dataclass(frozen=True, slots=True)
class Hub:
    """A table that ``readers`` jobs join to a table of their own."""

    readers: int

    table: ClassVar[tuple[str, str]] = ("s3://hub", "dimension/calendar")

    def facts(self) -> Iterator[Facts]:
        for reader in range(self.readers):
            yield _facts_of(self._event(reader))

    def _event(self, reader: int) -> dict[str, Any]:
        sources = (self.table, ("s3://hub", f"facts/{reader:05d}"))
        run = hashlib.sha256(f"hub {reader}".encode()).hexdigest()
        output = _dataset("s3://hub", f"joined/{reader:05d}", sources=sources)
        return _complete(
            START + timedelta(seconds=reader), run, ("hub", f"join_{reader:05d}"), sources, output
        )


def _facts_of(document: dict[str, Any]) -> Facts:
    event = read_event(document)
    assert isinstance(event, RunEvent)
    return facts_of_run((event,))


def rerun(row: ExecutionRow, number: int) -> ExecutionRow:
    """The row of a later execution of the same logical plan, ``number`` minutes after it."""
    digest = hashlib.sha256(f"{row.id} {number}".encode()).hexdigest()[:32]
    return row._replace(
        id=f"ex_{digest}",
        subject=f"su_{digest}",
        run=f"run_{digest}",
        at=row.at + number * 60_000,
        application_id=f"application_{digest[:12]}",
    )


def dataset_id(named: tuple[str, str]) -> str:
    """The id of a table in object storage by OpenLineage's namespace and name."""
    (result,) = naming.normalise("/".join(named), "")
    return identity.dataset_id(result.scope, result.uri)


def _complete(
    at: datetime,
    run: str,
    job: tuple[str, str],
    inputs: tuple[tuple[str, str], ...],
    output: dict[str, Any],
) -> dict[str, Any]:
    """A COMPLETE event; ``run`` is a digest in hex."""
    return {
        "eventType": "COMPLETE",
        "eventTime": at.isoformat(),
        "producer": _PRODUCER,
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json",
        "run": {"runId": f"{run[:8]}-{run[8:12]}-4{run[13:16]}-8{run[17:20]}-{run[20:32]}"},
        "job": dict(zip(("namespace", "name"), job, strict=True)),
        "inputs": [_dataset(*item) for item in inputs],
        "outputs": [output],
    }


def _dataset(
    namespace: str, name: str, sources: tuple[tuple[str, str], ...] = ()
) -> dict[str, Any]:
    fields = [{"name": column, "type": kind} for column, kind in COLUMNS]
    facets = {"schema": _facet("SchemaDatasetFacet", fields=fields)}
    if sources:
        facets["columnLineage"] = _facet("ColumnLineageDatasetFacet", fields=_lineage(sources))
    return {"namespace": namespace, "name": name, "facets": facets}


def _lineage(sources: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    (first, second), count = sources, len(COLUMNS)
    return {
        column: {
            "inputFields": [
                _field(first, column, "IDENTITY"),
                _field(second, COLUMNS[(place + 1) % count][0], "TRANSFORMATION"),
            ]
        }
        for place, (column, _) in enumerate(COLUMNS)
    }


def _field(dataset: tuple[str, str], column: str, how: str) -> dict[str, Any]:
    namespace, name = dataset
    step = {"type": "DIRECT", "subtype": how}
    return {"namespace": namespace, "name": name, "field": column, "transformations": [step]}


def _facet(name: str, **content: Any) -> dict[str, Any]:
    return {"_producer": _PRODUCER, "_schemaURL": f"{_SCHEMA}/1-0-0/{name}.json", **content}
