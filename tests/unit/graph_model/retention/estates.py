"""Estates whose runs write several tables: with Spline, and with OpenLineage."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from graph_model.stores.documents import Submission
from tests.projections import lineage_event
from tests.unit.graph_model.producers.test_commands import DAY, START, daily
from tests.unit.graph_model.projection.projector.test_projector import event


def tables(count: int) -> list[str]:
    return [f"file:/table/{number}" for number in range(count)]


def of_application(run: Submission, name: str) -> Submission:
    """The same event, of an application of this name."""
    body = json.loads(run.body)
    return event(body | {"extra": body["extra"] | {"appId": name}})


def in_one_application(targets: Sequence[str], days: Iterable[int]) -> list[Submission]:
    """Each day an application of one job overwrites these tables, one after the other."""
    numbers = list(days)
    result: list[Submission] = []
    for place, target in enumerate(targets):
        plan, *runs = daily("many", 10 + place, "file:/raw", target, numbers)
        named = zip(runs, numbers, strict=True)
        result += [plan, *(of_application(run, f"nightly-{day}") for run, day in named)]
    return result


def in_one_run(
    overwritten: Sequence[str], days: Iterable[int], others: Sequence[str] = ()
) -> list[Submission]:
    """Each day a run of OpenLineage overwrites these tables, and writes others in an unknown mode,
    whose writes therefore stay.
    """
    overwrite = {"lifecycleStateChange": {"lifecycleStateChange": "OVERWRITE"}}
    outputs = [
        *(_output(name, overwrite) for name in overwritten),
        *(_output(name, {}) for name in others),
    ]
    return [lineage_event(_complete(day, outputs)) for day in days]


def _complete(day: int, outputs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    at = datetime.fromtimestamp((START + day * DAY) / 1000, UTC)
    return {
        "eventType": "COMPLETE",
        "eventTime": at.isoformat(),
        "run": {"runId": f"run-{day}"},
        "job": {"namespace": "etl", "name": "nightly"},
        "inputs": [{"namespace": "file", "name": "/raw"}],
        "outputs": list(outputs),
        "producer": "https://example.com/agent",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    }


def _output(uri: str, facets: dict[str, Any]) -> dict[str, Any]:
    return {"namespace": "file", "name": uri.removeprefix("file:"), "facets": facets}
