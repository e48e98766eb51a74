"""The same documents, the same changes: a real service with its engine beside a small Headwater."""

from __future__ import annotations

import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.e2e.answers.test_difference import (
    CLEAN,
    HOUR,
    RAW,
    REPORT,
    START,
    asked,
    clean_plan,
    id_of,
    plan_id,
    report_plan,
)
from tests.e2e.service import RunningHeadwater
from tests.e2e.small_client import client_of
from tests.projections import small_headwater
from tests.unit.graph_model.projection.projector.test_projector import an_event, event, plan

pytestmark = [pytest.mark.engine, pytest.mark.timeout(400)]


def documents() -> list[tuple[Any, dict[str, Any]]]:
    """Each run as its plan and its event."""
    runs: list[tuple[Any, int, dict[str, Any]]] = [
        (clean_plan(1), START, {}),
        (report_plan(3, CLEAN), START + 1, {}),
        (clean_plan(2, limit=20, more=True), START + HOUR, {}),
        (report_plan(4, CLEAN, RAW), START + 2 * HOUR, {"error": "boom"}),
    ]
    return [
        (body, an_event(at, planId=body["id"], extra={"appId": f"app-{at}"}, **changes))
        for body, at, changes in runs
    ]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHeadwater]:
    folder: Path = tmp_path_factory.mktemp("difference")
    headwater = RunningHeadwater(folder / "data")
    headwater.start()
    for body, told in documents():
        headwater.post_plan(body)
        headwater.post_events([told])
    headwater.await_projected()
    yield headwater
    assert headwater.stop() == 0


@pytest.fixture(scope="module")
def client() -> Iterator[FlaskClient]:
    small = small_headwater()
    for body, told in documents():
        small.accept(plan(body), event(told))
    small.project()
    yield client_of(small, START)
    small.close()


def test_every_question_is_answered_alike_on_the_embedded_engine(
    service: RunningHeadwater, client: FlaskClient
) -> None:
    table, job = id_of(client, "datasets", REPORT), id_of(client, "jobs", "report")
    clean = id_of(client, "jobs", "clean")
    then = {"from": START + 1, "depth": 5, "columns": "true", "unchanged": "true", "layout": "true"}
    older, newer = (
        asked(client, f"/graph/plans/{plan_id(number)}")["executions"][0]["id"] for number in (1, 2)
    )
    questions: list[tuple[str, dict[str, Any]]] = [
        ("/graph/diff", {"node": f"dataset:{REPORT}", **then}),
        ("/graph/diff", {"node": "job:default/clean", **then}),
        ("/graph/diff", {"node": f"column:{CLEAN}#total", "from": START - 1, "indirect": "true"}),
        ("/graph/diff", {"fromPlan": plan_id(1), "toPlan": plan_id(2), "unchanged": "true"}),
        ("/graph/diff", {"fromExecution": older, "toExecution": newer}),
        (f"/graph/datasets/{id_of(client, 'datasets', CLEAN)}/versions", {}),
        (f"/graph/jobs/{clean}/versions", {"at": START + HOUR}),
        (f"/graph/jobs/{job}/changes", {}),
        (f"/graph/datasets/{table}/changes", {"since": START}),
    ]
    for path, query in questions:
        tail = f"?{urllib.parse.urlencode(query)}" if query else ""
        assert service.get(f"{path}{tail}") == asked(client, path, **query), path + tail
    causes = service.get(f"/graph/jobs/{job}/changes")["items"]
    assert causes[0]["kind"] == "plan"
    assert len(causes) > 3
