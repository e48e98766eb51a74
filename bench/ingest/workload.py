"""The documents: plans of a warehouse job, distinct by number, and the events of their runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from bench.translation import warehouse

_SIZE: Final = 8
_START: Final = 1_700_000_000_000
_HOUR: Final = 3_600_000
PLANS: Final = "/producer/execution-plans"
EVENTS: Final = "/producer/execution-events"


@dataclass(frozen=True, slots=True)
class Pair:
    """The bodies of one run: its plan and its event."""

    plan: bytes
    event: bytes


class Workload:
    """Jobs in layers: job ``n`` reads tables that others wrote and writes one of its own."""

    content_type: Final = "application/vnd.absa.spline.producer.v1.2+json"

    def __init__(self, size: int = _SIZE) -> None:
        self._text = json.dumps(warehouse(size))

    def plan(self, job: int) -> bytes:
        """The plan of a job: always the same bytes."""
        body: dict[str, Any] = json.loads(
            self._text.replace("s3://lake/", f"s3://lake/{job % 97}/")
        )
        body["id"] = plan_id(job)
        body["name"] = f"load {job}"
        body["operations"]["write"]["outputSource"] = f"s3://lake/out/{job:06d}"
        return json.dumps(body).encode()

    def requests(self, job: int, run: int) -> tuple[tuple[str, bytes], ...]:
        """The plan of a job, then the event of one run of it."""
        return (PLANS, self.plan(job)), (EVENTS, event(job, run))

    def pairs(self, jobs: range, run: int) -> Iterator[Pair]:
        """One run of each job."""
        for job in jobs:
            yield Pair(self.plan(job), event(job, run))


def plan_id(job: int) -> str:
    """A UUID of this job's plan."""
    return f"00000000-0000-5000-8000-{job:012d}"


def event(job: int, run: int) -> bytes:
    """The event of one run of a job."""
    extra = {"appId": f"application_{run}_{job}", "readMetrics": {}, "writeMetrics": {}}
    body = {"planId": plan_id(job), "timestamp": _START + run * _HOUR + job, "durationNs": 1}
    return json.dumps([body | {"extra": extra}]).encode()
