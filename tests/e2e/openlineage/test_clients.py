"""OpenLineage's Python client against a real server process, and requests of its Java client."""

from __future__ import annotations

import gzip
import http.client
import json
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.transport.http import HttpCompression, HttpConfig, HttpTransport

from tests.e2e.producer_process import producer_port


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with producer_port() as port:
        yield port


def received(port: int) -> int:
    url = f"http://127.0.0.1:{port}/journal?summary=true"
    with urllib.request.urlopen(url, timeout=60) as reply:
        return int(json.load(reply)["received"])


@pytest.mark.parametrize("compression", [None, HttpCompression.GZIP])
@pytest.mark.parametrize("base", ["", "/"])
def test_the_python_client_reports_a_run(
    port: int, compression: HttpCompression | None, base: str
) -> None:
    before = received(port)
    config = HttpConfig(url=f"http://127.0.0.1:{port}{base}", compression=compression)
    transport = HttpTransport(config)
    client = OpenLineageClient(transport=transport)
    number = before % 10
    run = Run(runId=f"0195cf5b-7c01-7e51-a42d-4b0b0b1a1f0{number}")
    for minute, state in enumerate((RunState.START, RunState.COMPLETE)):
        client.emit(
            RunEvent(
                eventType=state,
                eventTime=f"2026-03-01T10:0{minute}:00.123456Z",
                run=run,
                job=Job(namespace="etl", name="curate"),
                inputs=[InputDataset(namespace="s3://lake", name="raw")],
                outputs=[OutputDataset(namespace="s3://lake", name="curated")],
            )
        )
    client.close()
    assert received(port) == before + 2


def test_a_compressed_event_in_chunks_is_taken_as_the_java_client_sends_it(port: int) -> None:
    before = received(port)
    event: dict[str, Any] = {
        "eventTime": "2026-03-01T10:00:00.123456789Z",
        "producer": "https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/spark",
        "eventType": "START",
        "run": {"runId": "0195cf5b-7c01-7e51-a42d-4b0b0b1a1fff"},
        "job": {"namespace": "etl", "name": "curate"},
    }
    packed = gzip.compress(json.dumps(event).encode())
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    kind = "application/json; charset=UTF-8"
    connection.request(
        "POST",
        "/api/v1/lineage",
        iter([packed[:40], packed[40:]]),
        {
            "Accept": kind,
            "Content-Type": kind,
            "Content-Encoding": "gzip",
            "Transfer-Encoding": "chunked",
        },
        encode_chunked=True,
    )
    reply = connection.getresponse()
    assert (reply.status, reply.read()) == (201, b"")
    connection.close()
    assert received(port) == before + 1
