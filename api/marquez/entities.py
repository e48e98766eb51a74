"""Datasets with versions and jobs in Marquez's spelling: absent values are null.

One id for a version everywhere, spelled as the UUID that Marquez's clients parse. A node was
created when a run named it first. ``partial`` of a dataset or a job, ours, says that a list within
it was cut.

    ex_240cfd1ca5b26949a04f0dab9b0133bf  =>  240cfd1c-a5b2-6949-a04f-0dab9b0133bf
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from api.marquez.runs import identified, moment, run_json, version_of, versioned
from graph_model.answers.openlineage_nodes import NamedDataset, NamedField, NamedJob, NamedPlan
from graph_model.picture.json_form import to_json

Json = dict[str, Any]
_DESCRIPTION: Final = ("documentation", "description")
_LABELS: Final = ("jobType", "integration")
_LIFECYCLE: Final = ("lifecycleStateChange", "lifecycleStateChange")
_LOCATION: Final = ("sourceCodeLocation", "url")
_PROCESSING: Final = ("jobType", "processingType")
_TYPES: Final = {"STREAMING": "STREAM", "SERVICE": "SERVICE"}


def text_in(facets: Mapping[str, Any], name: str, key: str) -> str | None:
    """A text of a facet, None where it has another shape."""
    body = facets.get(name)
    text = body.get(key) if isinstance(body, dict) else None
    return text if isinstance(text, str) else None


def dataset_json(dataset: NamedDataset) -> Json:
    state = text_in(dataset.facets, *_LIFECYCLE)
    return {
        **_described(dataset),
        "createdAt": moment(dataset.first),
        "updatedAt": moment(dataset.last),
        "lastModifiedAt": moment(dataset.written),
        "lastLifecycleState": state or "",
        "currentVersion": version_of(dataset.version),
        "columnLineage": None,
        "deleted": state == "DROP",
        "partial": to_json(dataset.cut),
    }


def dataset_version_json(dataset: NamedDataset) -> Json:
    return {
        **_described(dataset),
        "createdAt": moment(dataset.first),
        "version": version_of(dataset.version),
        "lifecycleState": text_in(dataset.facets, *_LIFECYCLE) or "",
        "currentSchemaVersion": version_of(dataset.schema) if dataset.schema else None,
        "createdByRun": run_json(dataset.run) if dataset.run else None,
    }


def _described(dataset: NamedDataset) -> Json:
    """What a dataset has and each version of it."""
    name, fields = dataset.name, [_field_json(field) for field in dataset.fields]
    listed = [
        {key: field[key] for key in ("name", "type", "description") if field[key] is not None}
        for field in fields
    ]
    return {
        "id": identified(name),
        "type": "DB_TABLE",
        "name": name.name,
        "physicalName": name.name,
        "namespace": name.namespace,
        "sourceName": name.namespace,
        "description": text_in(dataset.facets, *_DESCRIPTION),
        "fields": fields,
        "tags": list(dataset.tags),
        "facets": {**({"schema": {"fields": listed}} if listed else {}), **dataset.facets},
    }


def _field_json(field: NamedField) -> Json:
    return {**field._asdict(), "tags": list(field.tags)}


def job_json(job: NamedJob) -> Json:
    name, parent = job.name, job.parent
    runs = [run_json(run) for run in job.runs]
    return {
        "id": identified(name),
        "type": _TYPES.get(text_in(job.facets, *_PROCESSING) or "", "BATCH"),
        "name": name.name,
        "simpleName": name.name.removeprefix(f"{parent.name}.") if parent else name.name,
        "parentJobName": parent.name if parent else None,
        "parentJobUuid": version_of(parent.id) if parent else None,
        "createdAt": moment(job.first),
        "updatedAt": moment(job.last),
        "namespace": name.namespace,
        "inputs": [*map(identified, job.inputs)],
        "outputs": [*map(identified, job.outputs)],
        "location": text_in(job.facets, *_LOCATION),
        "description": text_in(job.facets, *_DESCRIPTION),
        "latestRun": runs[0] if runs else None,
        "latestRuns": runs or None,
        "facets": job.facets,
        "currentVersion": version_of(job.plan) if job.plan is not None else None,
        "labels": [word for key in _LABELS if (word := text_in(job.facets, "jobType", key))],
        "tags": [],
        "partial": to_json(job.cut),
    }


def job_version_json(plan: NamedPlan) -> Json:
    return {
        "id": versioned(plan.job, plan.id),
        "name": plan.job.name,
        "createdAt": moment(plan.first),
        "version": version_of(plan.id),
        "namespace": plan.job.namespace,
        "location": text_in(plan.facets, *_LOCATION),
        "inputs": [*map(identified, plan.inputs)],
        "outputs": [*map(identified, plan.outputs)],
        "latestRun": run_json(plan.run) if plan.run else None,
    }
