"""``headwater serve`` on a disk that is really small: full, pruned, at work again; no restart."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import urllib.error
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from tests.conftest import needs_java
from tests.e2e.service import RunningHeadwater
from tests.waiting import eventually

pytestmark = pytest.mark.engine

DISK_MB = 60
RESERVED_MB = 20
JOBS = 5
_PRODUCER = "https://example.org/tool"
_SCHEMA = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
_IN_NAMESPACE = ("unshare", "--user", "--map-root-user", "--mount")
_MOUNT = f'mount -t tmpfs -o size={DISK_MB}m tmpfs "$0" && exec "$@"'


def on_small_disk(folder: Path) -> tuple[str | Path, ...]:
    """The program before another one that sees a disk of its own there; skips where the system
    lets no user mount one.
    """
    program = (*_IN_NAMESPACE, "sh", "-c", _MOUNT, folder)
    try:
        mounted = subprocess.run([*program, "true"], check=False, capture_output=True, timeout=60)
    except FileNotFoundError:
        pytest.skip("needs the program unshare of util-linux")
    if mounted.returncode:
        pytest.skip(f"no disk can be mounted here: {mounted.stderr.decode().strip()}")
    return program


def run_id(number: int) -> str:
    return str(UUID(int=number + 1))


def run(number: int) -> dict[str, Any]:
    """A run of one of five jobs, each of which overwrites its table, with words that no compression
    makes smaller.
    """
    facet = {"_producer": _PRODUCER, "_schemaURL": _PRODUCER}
    noise = random.Random(number).randbytes(20_000).hex()
    overwrite = {"lifecycleStateChange": {**facet, "lifecycleStateChange": "OVERWRITE"}}
    table = f"table{number % JOBS}"
    return {
        "eventType": "COMPLETE",
        "eventTime": f"2026-01-{1 + number // 1440:02}T{number // 60 % 24:02}:{number % 60:02}:00Z",
        "producer": _PRODUCER,
        "schemaURL": _SCHEMA,
        "run": {"runId": run_id(number), "facets": {"note": {**facet, "text": noise}}},
        "job": {"namespace": "ns", "name": f"load{number % JOBS}"},
        "inputs": [{"namespace": "s3://landing", "name": table}],
        "outputs": [{"namespace": "s3://lake", "name": table, "facets": overwrite}],
    }


class Client:
    """Posts to a server; remembers what was acknowledged."""

    def __init__(self, server: RunningHeadwater) -> None:
        self.server = server
        self.acknowledged: list[int] = []

    def send(self, number: int) -> urllib.error.HTTPError | None:
        """The refusal; None when the run was taken."""
        body = json.dumps(run(number)).encode()
        try:
            self.server.post("/api/v1/lineage", body, {"Content-Type": "application/json"})
        except urllib.error.HTTPError as refusal:
            return refusal
        self.acknowledged.append(number)
        return None

    def send_until_refused(self) -> urllib.error.HTTPError:
        """The refusal of the run after those that were acknowledged."""
        return next(filter(None, map(self.send, range(len(self.acknowledged), 5_000))))

    def command(self, path: str, **body: Any) -> Any:
        json_type = {"Content-Type": "application/json"}
        return json.loads(self.server.post(path, json.dumps(body).encode(), json_type)[1])


def storage_warning(server: RunningHeadwater) -> str:
    ready = server.get("/health/ready")  # a 503 raises
    assert ready["status"] == "ready"
    return str(ready["checks"].get("storage", ""))


def refused_as_documented(refusal: urllib.error.HTTPError) -> None:
    assert (refusal.code, refusal.headers["Retry-After"]) == (503, "30")
    body = json.load(refusal)
    assert body["code"] == 503
    assert "reserved for removals (HEADWATER_DISK_RESERVE)" in body["message"]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningHeadwater]:
    needs_java()
    (tmp_path / "data").mkdir()
    made = RunningHeadwater(tmp_path / "data")
    try:
        yield made
    finally:
        if made.process is not None and made.process.poll() is None:
            made.kill()


def start(server: RunningHeadwater, reserved_mb: int, before: Sequence[str | Path] = ()) -> None:
    program = (*before, sys.executable, "-m", "api.command_line")
    server.start(program, {**os.environ, "HEADWATER_DISK_RESERVE": str(reserved_mb)})


@pytest.mark.part("recovery")
def test_a_full_disk_is_pruned_and_takes_documents_again(server: RunningHeadwater) -> None:
    start(server, RESERVED_MB, on_small_disk(server.data))
    client = Client(server)

    def is_refused_with_nothing_pending() -> bool:
        """Pending documents count in a refusal; once they are projected, the reserve may be free
        again.
        """
        refused_as_documented(client.send_until_refused())
        assert server.await_projected()["received"] == len(client.acknowledged)
        return "new documents are refused" in storage_warning(server)

    eventually(is_refused_with_nothing_pending)
    number = len(client.acknowledged)
    assert number > 100
    assert server.get("/graph/overview")["totals"]["jobs"] == JOBS

    pruned = client.command("/commands", command="prune", keep=3, dropBodies=True)
    assert pruned["executions"] > number / 2
    eventually(lambda: client.send(number) is None)  # by itself, in some seconds
    assert server.await_projected()["received"] < number / 2

    more = next(at for at in range(number + 1, 5_000) if client.send(at) is not None)
    assert more > number + 20, "the room that was made is used"
    assert client.acknowledged == list(range(more))
    summary = server.await_projected()
    assert summary["failed"] == summary["waiting"] == 0
    states = {at: server.get(f"/graph/runs/{run_id(at)}")["state"] for at in range(number, more)}
    assert set(states.values()) == {"completed"}, "all that was acknowledged after it is there"
    assert server.stop() == 0


def test_a_reserve_above_the_free_space_refuses_until_it_is_lowered(
    server: RunningHeadwater,
) -> None:
    """On any disk, also where none can be mounted."""
    free_mb = shutil.disk_usage(server.data).free >> 20
    start(server, free_mb + 10_000)
    client = Client(server)
    refusal = client.send(0)
    assert refusal is not None
    refused_as_documented(refusal)
    assert "new documents are refused" in storage_warning(server)
    assert server.get("/journal", summary="true")["received"] == 0
    assert "Headwater takes no document, at " in server.log
    assert "HEADWATER_DISK_RESERVE" in server.log
    assert server.stop() == 0
    start(server, 0)
    assert client.send(0) is None
    assert server.await_projected()["projected"] == 1
    assert server.stop() == 0
