"""How long a new container takes: a new Python process, imports, parts, the first answer."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.aws import Aws

_EVENTS = {
    "accept": "http_api_1(Request('HEAD', '/producer/status'))",
    "enqueue": ('http_api_2(Request(\'POST\', \'/\', b\'{"run": {"runId": "x"}, "job": {}}\'))'),
    "take": "{'Records': []}",
    "project": None,
}
_PROGRAM = """
import time
began = time.perf_counter()
from aws.{name} import handler
imported = time.perf_counter()
from tests.lambda_runtime import Request, TimeLeft, http_api_1, http_api_2
event = {event}
before = time.perf_counter()
handler(event, TimeLeft())
cold = time.perf_counter()
cpu = time.process_time()
handler(event, TimeLeft())
warm = time.perf_counter()
print(imported - began, cold - before, warm - cold, cpu)
"""
_IMPORT_ONLY = """
import time
began = time.perf_counter()
from aws.{name} import handler
print(time.perf_counter() - began, 0, 0, time.process_time())
"""
_NOTHING = "import time; print(0, 0, 0, time.process_time())"


@dataclass(frozen=True, slots=True)
class Cold:
    """Seconds of imports, of the first event (parts made), of the second one; and the CPU of the
    process, its interpreter included, until the first event is answered.
    """

    imports: float
    first: float
    second: float
    cpu: float


def cold_starts(aws: Aws, times: int) -> Iterator[tuple[str, list[Cold]]]:
    """Per function; the first is a Python that does nothing."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            **aws.environment,
            "HEADWATER_DATA": str(Path(folder) / "data"),
            "HEADWATER_GREMLIN_URL": "ws://127.0.0.1:1/gremlin",
            "HEADWATER_INSECURE": "true",
            "HEADWATER_PROJECTION_QUEUE": aws.queue(),
            "HEADWATER_EVENT_QUEUE": aws.queue(fifo=True),
            "HEADWATER_DEAD_LETTER_QUEUE": aws.queue(fifo=True),
            "HEADWATER_LOG_LEVEL": "error",
        }
        yield "nothing", [_run(_NOTHING, environment) for _ in range(times)]
        for name, event in _EVENTS.items():
            program = (_PROGRAM if event else _IMPORT_ONLY).format(name=name, event=event)
            yield name, [_run(program, environment) for _ in range(times)]


def _run(program: str, environment: dict[str, str]) -> Cold:
    answer = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    return Cold(*map(float, answer.stdout.split()))
