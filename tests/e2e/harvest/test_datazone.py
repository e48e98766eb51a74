"""``headwater harvest datazone`` from a domain that answers as DataZone does, and is throttled."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from botocore.config import Config

from api.command_line import run
from api.serving.storage import DATABASE_FILE
from graph_model.answers.openlineage import reported_event
from graph_model.errors import TooManyRequests
from graph_model.stores.database import open_database
from graph_model.stores.journal import Journal
from tests.e2e.small_client import client_of, serving_client
from tests.projections import lineage_event, small_headwater

DOMAIN = "dzd_a1b2"
EVENTS = 120
"""More than two pages of DataZone."""


def event(number: int) -> dict[str, Any]:
    return {
        "eventType": "COMPLETE",
        "eventTime": f"2026-03-01T{10 + number // 60:02}:{number % 60:02}:00Z",
        "producer": "https://example.org/tool",
        "run": {"runId": f"11111111-2222-7333-8444-{number:012}"},
        "job": {"namespace": "etl", "name": f"sales.{number}" if number % 2 else f"hr.{number}"},
        "inputs": [],
        "outputs": [{"namespace": "s3://lake", "name": f"t{number}"}],
    }


def test_a_domain_is_taken_page_by_page_and_a_throttled_round_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "any")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    once = Config(retries={"total_max_attempts": 1})
    monkeypatch.setattr("collectors.harvesting.amazon._CONFIG", once)
    there = small_headwater()
    there.accept(*(lineage_event(event(number)) for number in range(EVENTS)))
    read: list[int] = []
    most = [30]

    def throttled(sources: Any, position: int) -> Any:
        if len(read) == most[0]:
            raise TooManyRequests("the reader", 30, 1)
        read.append(position)
        return reported_event(sources, position)

    monkeypatch.setattr("api.datazone.routes.reported_event", throttled)

    def harvest(*more: str) -> tuple[int, str]:
        out, err = io.StringIO(), io.StringIO()
        line = ["harvest", "datazone", "--domain", DOMAIN, "--pattern", "sales.*", "--direct"]
        code = run([*line, "--data", str(tmp_path), *more], {}, out, err)
        return code, out.getvalue() + err.getvalue()

    def kept() -> int:
        return Journal(open_database(tmp_path / DATABASE_FILE)).summary().received

    with serving_client(client_of(there, None)) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL_DATAZONE", address)
        code, said = harvest("--yes")
        assert code != 0, said
        assert "Throttling" in said
        assert 0 < kept() <= most[0]
        most[0] = 1_000
        assert harvest("--yes")[0] == 0
        assert kept() == EVENTS // 2
        assert len(read) == len(set(read)) == EVENTS // 2
        code, said = harvest("--yes")
        assert (code, len(read), kept()) == (0, EVENTS // 2, EVENTS // 2)
        other = tmp_path / "other"
        code, said = harvest("--dry-run", "--position", str(other))
        assert (code, kept(), other.exists()) == (0, EVENTS // 2, False), said
    there.close()
