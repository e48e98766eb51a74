"""How long documents wait when the service that projects is killed beside another one.

    python -m bench.takeover --times 10

Two services share a PostgreSQL and a Gremlin Server, all on this computer. Runs are posted to one
of them, which is killed (``kill -9``) right after its last answer; measured is the time from then
until the other one has projected all that was acknowledged. The two take turns, and rounds in which
the killed one had left nothing are not counted. Needs the extra ``test``.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import requests

from bench.ingest.service import Service, free_port
from bench.ingest.workload import Workload
from graph_model.stores.gremlin.engine import jars
from graph_model.stores.gremlin.graph import open_graph
from tests.contract.gremlin_server import serving
from tests.contract.postgresql import postgresql

_COMPOSE: Final = Path(__file__).parents[1] / "deploy" / "compose" / "gremlin-server"
_INSIDE: Final = "/opt/gremlin-server/headwater"
_JOBS: Final = 60
_LIMIT_SECONDS: Final = 120.0


@dataclass(frozen=True, slots=True)
class Takeover:
    """Documents that the killed service left, and the seconds that they waited."""

    left: int
    seconds: float


@contextmanager
def gremlin_server(folder: Path) -> Iterator[str]:
    """The address of a Gremlin Server with the files of the compose file."""
    port = free_port()
    shutil.copytree(_COMPOSE, folder)
    settings = folder / "server.yaml"
    text = settings.read_text("utf-8").replace(_INSIDE, str(folder))
    settings.write_text(text.replace("port: 8182", f"port: {port}"), "utf-8")
    url = f"ws://127.0.0.1:{port}/gremlin"
    with serving(settings, jars.fetch(os.environ), open_graph(url), os.environ):
        yield url


def takeovers(times: int, folder: Path) -> Iterator[Takeover]:
    """Kill one of two services after the other."""
    with ExitStack() as stack:
        database = stack.enter_context(postgresql())
        environment = {
            "HEADWATER_DATABASE": f"postgresql://headwater@127.0.0.1:{database.port}/postgres",
            "HEADWATER_GREMLIN_URL": stack.enter_context(gremlin_server(folder / "gremlin")),
        }
        services = [
            stack.enter_context(Service(folder / name / "data", environment)) for name in "ab"
        ]
        for number in range(times):
            victim, heir = services if number % 2 == 0 else services[::-1]
            yield _take_over(victim, heir, number)
            victim.start()


def _take_over(victim: Service, heir: Service, number: int) -> Takeover:
    sent = _post(victim, number)
    os.kill(victim.pid, signal.SIGKILL)
    began = time.perf_counter()
    left = heir.get("/journal?summary=true")["pending"]
    while (summary := heir.get("/journal?summary=true"))["pending"]:
        if time.perf_counter() - began > _LIMIT_SECONDS:
            raise TimeoutError(f"{summary['pending']} documents of {sent} still wait")
        time.sleep(0.005)
    return Takeover(left, time.perf_counter() - began)


def _post(service: Service, number: int) -> int:
    """One run of each of some jobs that no earlier round had; the acknowledged requests."""
    workload, sent = Workload(), 0
    jobs = range(_JOBS * number, _JOBS * (number + 1))
    with requests.Session() as session:
        for job in jobs:
            for path, body in workload.requests(job, 1):
                headers = {"Content-Type": workload.content_type}
                url = f"http://127.0.0.1:{service.port}{path}"
                session.post(url, data=body, headers=headers, timeout=60).raise_for_status()
                sent += 1
    return sent


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.takeover", description=__doc__)
    parser.add_argument("--times", type=int, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in "ab":
            (Path(folder) / name).mkdir()
        measured = list(takeovers(options.times, Path(folder)))
    for entry in measured:
        print(json.dumps({"left": entry.left, "seconds": round(entry.seconds, 3)}))
    seconds = sorted(item.seconds for item in measured if item.left)
    median = statistics.median(seconds)
    print(f"{len(seconds)} of {len(measured)}: median {median:.2f} s, at most {seconds[-1]:.2f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
