"""A thousand secrets in every place of documents: none is kept, shown, logged or backed up."""

from __future__ import annotations

import gzip
import http.client
import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import pytest

from tests.e2e.producer_service import a_plan, an_event
from tests.e2e.service import RunningHeadwater
from tests.secret_corpus import Planted, planted_secrets

NOW: Final = 1_772_400_000_000  # 2026-03-01T21:20:00Z
JSON: Final = {"Content-Type": "application/json"}
SCHEMA: Final = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"


def shares(planted: Sequence[Planted], places: int) -> Iterator[Sequence[Planted]]:
    size = -(-len(planted) // places)
    yield from (planted[start : start + size] for start in range(0, len(planted), size))


def fields(planted: Sequence[Planted]) -> dict[str, str]:
    """A JSON object of texts; a secret named by its key under its own name."""
    return {one.key or f"text {place}": one.text for place, one in enumerate(planted)}


def spline_documents(planted: Sequence[Planted], number: int) -> tuple[Any, Any]:
    """A plan and its event with these texts in every place that takes one."""
    plan_id = str(uuid.uuid5(uuid.NAMESPACE_URL, f"plan {number}"))
    one, *rest = planted
    plan = a_plan(id=plan_id, name=one.text if not one.key else "app", extraInfo=fields(planted))
    plan["labels"] = {"note": [p.text for p in rest[:5] if not p.key]}
    plan["operations"]["write"]["params"] = fields(rest)
    plan["operations"]["write"]["outputSource"] = f"file:/data/out-{number}"
    plan["operations"]["reads"][0]["extra"] = {
        "options": fields(rest),
        "query": "" if one.key else one.text,
    }
    plan["expressions"] = {
        "constants": [
            {"id": f"expr-{place}", "value": p.text, "extra": {"simpleClassName": "Literal"}}
            for place, p in enumerate(rest)
            if not p.key
        ]
    }
    told = " ".join(p.text for p in rest[:3] if not p.key)
    event = an_event(planId=plan_id, timestamp=NOW + number, durationNs=..., error=told)
    event["extra"] |= fields(planted)
    return plan, event


def lineage_event(planted: Sequence[Planted], number: int) -> Any:
    """A run with these texts in its facets, its names and its datasets."""
    texts = [one.text for one in planted if not one.key] or ["none"]
    first, last = texts[0], texts[-1]
    error = {"message": last, "programmingLanguage": "SQL", "stackTrace": first}
    return {
        "eventType": "FAIL", "eventTime": "2026-03-01T08:15:00.000Z", "producer": "https://x/y",
        "schemaURL": SCHEMA,
        "run": {
            "runId": str(uuid.uuid5(uuid.NAMESPACE_URL, f"run {number}")),
            "facets": {
                "errorMessage": facet(**error),
                "environment-properties": facet(**{"environment-properties": fields(planted)}),
                "custom": facet(rows=texts),
            },
        },
        "job": {
            "namespace": "n", "name": f"job {number} {first}"[:500],
            "facets": {
                "sql": facet(query="; ".join(texts)), "documentation": facet(description=first),
            },
        },
        "inputs": [{"namespace": "file", "name": f"/in/{number}/{first}"[:1_000]}],
        "outputs": [
            {
                "namespace": first[:500], "name": f"out {number}",
                "facets": {"documentation": facet(description=last)},
            }
        ],
    }  # fmt: skip


def facet(**values: Any) -> dict[str, Any]:
    return {"_producer": "https://x/y", "_schemaURL": "https://x/y.json", **values}


def declaration(one: Planted, number: int) -> Any:
    ends = {"target": f"s3://sheets/{number}", "sources": [f"s3://lake/{number}"]}
    return {**ends, "note": one.text[:200]}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHeadwater]:
    made = RunningHeadwater(tmp_path_factory.mktemp("secrets") / "data")
    os.environ["HEADWATER_ACCESS_LOG"] = "all"
    try:
        made.start()
        fill(made)
        yield made
    finally:
        del os.environ["HEADWATER_ACCESS_LOG"]
        made.stop()


def fill(service: RunningHeadwater) -> None:
    planted = planted_secrets()
    for number, share in enumerate(shares(planted, 40)):
        plan, event = spline_documents(share, number)
        assert service.post_plan(plan)[0] == 201
        assert service.post_events([event])[0] == 201
        body = json.dumps(lineage_event(share, number)).encode()
        assert service.post("/api/v1/lineage", body, JSON)[0] in (200, 201)
        asked(service, share[0])
    texts = [
        one for one in planted if not one.key and "\n" not in one.text and "\0" not in one.text
    ]
    declared = {"declarations": [declaration(p, n) for n, p in enumerate(texts[:50])]}
    assert service.post("/declarations", json.dumps(declared).encode(), JSON)[0] in (200, 201)
    service.await_projected()


def asked(service: RunningHeadwater, one: Planted) -> None:
    """A request with the secret in its headers and its address."""
    connection = http.client.HTTPConnection("127.0.0.1", service.port)
    headers = {"Authorization": f"Bearer {one.secret}", "X-Api-Key": one.secret.strip()}
    headers["User-Agent"] = quote(one.text)
    connection.request("GET", f"/graph/search?q=x&token={quote(one.secret)}", headers=headers)
    connection.getresponse().read()
    connection.close()


def test_no_secret_is_shown(service: RunningHeadwater) -> None:
    shown = [json.dumps(page) for page in pages(service)]
    assert len(shown) > 100
    none_of(planted_secrets(), "\n".join(shown))


def pages(service: RunningHeadwater) -> Iterator[Any]:
    yield service.get("/graph/overview", limit=1000)
    for listed in ("jobs", "datasets"):
        for item in service.get(f"/graph/{listed}", limit=200)["items"]:
            yield service.get(f"/graph/{listed}/{item['id']}")
            yield service.get("/graph/lineage", node=item["id"], columns="true", indirect="true")
        yield service.get(f"/graph/{listed}", limit=200)
    for number in range(40):
        yield service.get(f"/graph/plans/{uuid.uuid5(uuid.NAMESPACE_URL, f'plan {number}')}")
    yield service.get("/journal", limit=100)
    yield service.get("/declarations")
    yield service.get("/commands")


def test_no_secret_is_in_the_log(service: RunningHeadwater) -> None:
    assert service.log
    none_of(planted_secrets(), service.log)


def test_no_secret_is_in_the_backup(service: RunningHeadwater, tmp_path: Path) -> None:
    """The backup is all that the journal holds."""
    file = tmp_path / "backup.gz"
    environment = os.environ | {"HEADWATER_DATA": str(service.data)}
    command = [sys.executable, "-m", "api.command_line", "backup", str(file)]
    subprocess.run(command, env=environment, check=True, capture_output=True)
    lines = gzip.decompress(file.read_bytes()).decode()
    assert lines.count("\n") > 100
    none_of(planted_secrets(), lines)


def test_no_secret_is_in_the_files(service: RunningHeadwater) -> None:
    """Catalogue and every other plain text there."""
    held = [path.read_bytes() for path in service.data.rglob("*") if path.is_file()]
    joined = b"\n".join(held).decode("utf-8", "replace")
    none_of(planted_secrets(), joined)


def none_of(planted: Sequence[Planted], text: str) -> None:
    found = [one.form for one in planted if one.secret in text]
    assert found == []
