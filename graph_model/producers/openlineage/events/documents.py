"""OpenLineage's events in one normal form: RunEvent, JobEvent and DatasetEvent.

Distinguished by their shape (has ``run``; has ``dataset``; has ``job``), for older clients send no
``schemaURL``. Structure is checked, formats are not: a run id need not be a UUID, a producer not
a URI, ``producer``, ``eventType``, ``inputs`` and ``outputs`` may be missing, and event types that
the specification does not know count as OTHER. Every facet is kept (see ``facets``); a damaged one
is set aside alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from graph_model import identity, labels
from graph_model.errors import InvalidDocument
from graph_model.json_fields import (
    JsonObject,
    check_depth,
    optional_text,
    read_items,
    read_object,
    read_text,
)
from graph_model.producers.openlineage.events.facets import (
    DECLARATION_FACET,
    DeclarationFacet,
    Facets,
    is_uuid,
    read_facets,
    read_nanoseconds,
    read_run_id,
    value_of,
)
from graph_model.stores.documents import DocumentKind

RUN_EVENT_KIND: Final = DocumentKind("run-event")
JOB_EVENT_KIND: Final = DocumentKind("job-event")
DATASET_EVENT_KIND: Final = DocumentKind("dataset-event")
EVENT_KINDS: Final = (RUN_EVENT_KIND, JOB_EVENT_KIND, DATASET_EVENT_KIND)
START: Final = "START"
RUNNING: Final = "RUNNING"
COMPLETE: Final = "COMPLETE"
FAIL: Final = "FAIL"
ABORT: Final = "ABORT"
TERMINAL: Final = (COMPLETE, FAIL, ABORT)
_MOST_LEVELS: Final = 200
_LONGEST_KEY: Final = 200
_MILLISECOND: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset in an event: (namespace, name) is its key, never a joined string.

    ``usage`` are the inputFacets or outputFacets.
    """

    namespace: str
    name: str
    facets: Facets
    usage: Facets

    @property
    def key(self) -> tuple[str, str]:
        return self.namespace, self.name


@dataclass(frozen=True, slots=True)
class Job:
    namespace: str
    name: str
    facets: Facets


@dataclass(frozen=True, slots=True)
class _Event:
    """``time`` in nanoseconds since 1970; ``digest`` covers the whole content of the event but the
    damaged facets, which ``set_aside`` names with the reason.
    """

    time: int
    producer: str
    digest: str
    set_aside: tuple[str, ...] = field(kw_only=True, default=())

    @property
    def at(self) -> int:
        """Epoch milliseconds."""
        return self.time // _MILLISECOND


@dataclass(frozen=True, slots=True)
class RunEvent(_Event):
    """``type`` in upper case, "" where the client gives none."""

    type: str
    run_id: str
    run_facets: Facets
    job: Job
    inputs: tuple[Dataset, ...]
    outputs: tuple[Dataset, ...]


@dataclass(frozen=True, slots=True)
class JobEvent(_Event):
    """The lineage of a job, declared without a run."""

    job: Job
    inputs: tuple[Dataset, ...]
    outputs: tuple[Dataset, ...]


@dataclass(frozen=True, slots=True)
class DatasetEvent(_Event):
    """The facets of a dataset, declared without a run."""

    dataset: Dataset


Event = RunEvent | JobEvent | DatasetEvent
Declaration = JobEvent | DatasetEvent


def read_event(body: bytes | str | Mapping[str, Any]) -> Event:
    """The normal form of one event. Raises InvalidDocument, which names the field."""
    document = read_json(body)
    check_depth(document, _MOST_LEVELS)
    if document.get("run") is not None:
        return _read_run_event(document)
    if document.get("dataset") is not None and not _is_job_event(document):
        return _read_dataset_event(document)
    if document.get("job") is not None:
        return _read_job_event(document)
    raise InvalidDocument("", "an event with a run, a job or a dataset")


def read_json(body: bytes | str | Mapping[str, Any]) -> JsonObject:
    """The JSON object of one event. Raises InvalidDocument for any other text."""
    return read_object(_parsed(body), "")


def _parsed(body: bytes | str | Mapping[str, Any]) -> object:
    if not isinstance(body, bytes | str):
        return body
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise InvalidDocument("", "JSON") from error


def _is_job_event(document: JsonObject) -> bool:
    """For an event with both a job and a dataset, which the specification does not define: the
    schema's name decides.
    """
    name = document.get("schemaURL")
    return document.get("job") is not None and not (
        isinstance(name, str) and name.endswith("DatasetEvent")
    )


def subject_key(event: Event) -> str:
    """The key of the events projected together: of a run, or the declarations of one job or
    dataset.

    ``run:<run id>``, ``job:<digest>``, ``dataset:<digest>`` or, for a person's declaration,
    ``declaration:<digest>``; at most 200 characters, without the capture scope.
    """
    match event:
        case RunEvent():
            return run_key(event.run_id)
        case JobEvent():
            declared = value_of(event.job.facets, DECLARATION_FACET, DeclarationFacet)
            if declared is not None:
                return f"{labels.DECLARATION_SUBJECT}{identity.digest(declared.id)}"
            return f"job:{identity.digest(event.job.namespace, event.job.name)}"
        case DatasetEvent():
            return f"dataset:{identity.digest(*event.dataset.key)}"


def run_key(run_id: str) -> str:
    """The subject key of a run."""
    key = f"run:{run_id}"
    return key if len(key) <= _LONGEST_KEY else f"run:{identity.digest(run_id)}"


def run_home(event: RunEvent) -> str:
    """The namespace in which the run id is unique: a UUID everywhere (""), any other in its job's.

    The specification requires UUIDs. Runs of two clients that both count from 1 must stay two runs.
    """
    return "" if is_uuid(event.run_id) else event.job.namespace


# --- the three kinds -----------------------------------------------------------------------------


def _read_run_event(document: JsonObject) -> RunEvent:
    run = read_object(document["run"], "run")
    time, producer = _read_time(document), optional_text(document, "producer", "")
    kind = optional_text(document, "eventType", "").strip().upper()
    run_id = read_run_id(run, "run")
    set_aside: list[str] = []
    run_facets = read_facets("run", run, "facets", "run", set_aside)
    job = _read_job(document, set_aside)
    inputs, outputs = _read_datasets(document, set_aside)
    digest = identity.digest(
        "run", time, producer, kind, run_id, _facet_digests(run_facets),
        _job_digest(job), _dataset_digests(inputs), _dataset_digests(outputs),
    )  # fmt: skip
    return RunEvent(
        time, producer, digest, kind, run_id, run_facets, job, inputs, outputs,
        set_aside=tuple(set_aside),
    )  # fmt: skip


def _read_job_event(document: JsonObject) -> JobEvent:
    time, producer = _read_time(document), optional_text(document, "producer", "")
    set_aside: list[str] = []
    job = _read_job(document, set_aside)
    inputs, outputs = _read_datasets(document, set_aside)
    digest = identity.digest(
        "job", time, producer, _job_digest(job), _dataset_digests(inputs), _dataset_digests(outputs)
    )
    return JobEvent(time, producer, digest, job, inputs, outputs, set_aside=tuple(set_aside))


def _read_dataset_event(document: JsonObject) -> DatasetEvent:
    time, producer = _read_time(document), optional_text(document, "producer", "")
    set_aside: list[str] = []
    fields = read_object(document["dataset"], "dataset")
    dataset = _read_dataset(fields, "dataset", "", set_aside)
    digest = identity.digest("dataset", time, producer, _dataset_digests((dataset,)))
    return DatasetEvent(time, producer, digest, dataset, set_aside=tuple(set_aside))


def _read_time(document: JsonObject) -> int:
    time = read_nanoseconds(read_text(document, "eventTime", ""))
    if time is None:
        raise InvalidDocument("eventTime", "an ISO 8601 time from 1970 to 9999")
    return time


def _read_job(document: JsonObject, set_aside: list[str]) -> Job:
    job = read_object(document.get("job"), "job")
    return Job(
        read_text(job, "namespace", "job", empty=True),
        read_text(job, "name", "job"),
        read_facets("job", job, "facets", "job", set_aside),
    )


def _read_datasets(
    document: JsonObject, set_aside: list[str]
) -> tuple[tuple[Dataset, ...], tuple[Dataset, ...]]:
    def of(role: str) -> tuple[Dataset, ...]:
        return read_items(
            document,
            f"{role}s",
            "",
            lambda item, path: _read_dataset(item, path, role, set_aside),
        )

    return of("input"), of("output")


def _read_dataset(fields: JsonObject, path: str, role: str, set_aside: list[str]) -> Dataset:
    """The root of a bucket has no name: clients send "" for it."""
    namespace = read_text(fields, "namespace", path, empty=True)
    return Dataset(
        namespace,
        read_text(fields, "name", path, empty=bool(namespace)),
        read_facets("dataset", fields, "facets", path, set_aside),
        read_facets(role, fields, f"{role}Facets", path, set_aside) if role else {},
    )


# --- digests -------------------------------------------------------------------------------------


def _facet_digests(facets: Facets) -> list[tuple[str, str]]:
    return sorted((name, facet.digest) for name, facet in facets.items())


def _job_digest(job: Job) -> list[Any]:
    return [job.namespace, job.name, _facet_digests(job.facets)]


def _dataset_digests(datasets: tuple[Dataset, ...]) -> list[Any]:
    return [
        [d.namespace, d.name, _facet_digests(d.facets), _facet_digests(d.usage)] for d in datasets
    ]
