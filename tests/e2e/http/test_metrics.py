"""The metrics for Prometheus, and the id and the access line of each request."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from api.logs import FIELDS, current_request_id
from graph_model.errors import JournalUnavailable
from graph_model.retention.forecast import Forecast, Growth, Measure
from graph_model.stores.documents import DocumentState
from graph_model.stores.forwarding import ForwardState
from graph_model.values import Role
from tests.e2e.producer_service import (
    OTHER_PLAN_ID,
    SPLINE_1_2,
    Headwater,
    a_plan,
    an_event,
    headwater,
)


@pytest.fixture
def server() -> Iterator[Headwater]:
    with headwater() as made:
        yield made


def scrape(server: Headwater) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    response = server.client.get("/metrics")
    assert response.status_code == 200
    assert response.content_type.startswith("text/plain; version=")
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(response.text)
        for sample in family.samples
    }


def value(server: Headwater, name: str, **labels: str) -> float | None:
    return scrape(server).get((name, tuple(sorted(labels.items()))))


# --- metrics -------------------------------------------------------------------------------------


def test_documents_are_counted_by_kind_repeats_included(server: Headwater) -> None:
    server.post_plan(a_plan())
    server.post_plan(a_plan())
    server.post_events([an_event(), an_event(planId=OTHER_PLAN_ID)])
    assert value(server, "headwater_documents_received_total", kind="plan") == 2
    assert value(server, "headwater_documents_received_total", kind="event") == 2


def test_refused_requests_are_counted_by_kind_and_status(server: Headwater) -> None:
    server.post_plan({"id": 1})
    server.post("/execution-events", b"{", SPLINE_1_2)
    server.make_key("me", Role.ADMIN)
    server.post_plan(a_plan())
    server.keys.revoke("me", 1)
    key = server.make_key("scraper", Role.READER)
    text = server.client.get("/metrics", headers=key).text
    assert 'headwater_requests_refused_total{kind="plan",status="400"} 1.0' in text
    assert 'headwater_requests_refused_total{kind="plan",status="401"} 1.0' in text
    assert 'headwater_requests_refused_total{kind="event",status="400"} 1.0' in text


def test_the_journal_is_counted_by_kind_and_state(server: Headwater) -> None:
    server.post_plan(a_plan())
    server.post_events([an_event(), an_event(planId=OTHER_PLAN_ID)])
    server.journal.settle([1], DocumentState.PROJECTED)
    server.journal.settle([2], DocumentState.FAILED, "why")
    server.now += 4_000
    name = "headwater_journal_documents"
    assert value(server, name, kind="plan", state="projected") == 1
    assert value(server, name, kind="event", state="failed") == 1
    assert value(server, name, kind="event", state="pending") == 1
    assert value(server, "headwater_projection_lag_documents") == 1
    assert value(server, "headwater_projection_lag_seconds") == 4
    assert (value(server, "headwater_database_bytes") or 0) > 10_000


def test_nothing_pending_is_no_lag(server: Headwater) -> None:
    assert value(server, "headwater_projection_lag_documents") == 0
    assert value(server, "headwater_projection_lag_seconds") == 0


def test_a_journal_that_is_away_does_not_take_the_metrics_with_it(
    server: Headwater, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: Any) -> Any:
        raise JournalUnavailable("no disk")

    assert value(server, "headwater_journal_up") == 1
    monkeypatch.setattr("graph_model.stores.journal.journal.read_statistics", away)
    assert value(server, "headwater_journal_up") == 0
    assert value(server, "headwater_projection_state", state="ready") == 1


def test_requests_are_measured_by_template_and_status_never_by_name(server: Headwater) -> None:
    server.client.get("/graph/jobs/job_0123")
    server.client.get("/graph/jobs/job_4567")
    server.client.get("/no/such/place")
    name = "headwater_request_duration_seconds_count"
    template = "/graph/jobs/<job_id>"
    assert value(server, name, method="GET", route=template, status="404") == 2
    assert value(server, name, method="GET", route="unmatched", status="404") == 1
    metrics = server.client.get("/metrics").text
    assert "job_0123" not in metrics
    assert "/no/such" not in metrics


def test_a_made_up_method_is_no_label_of_its_own(server: Headwater) -> None:
    server.ask("BREW", "/journal")
    assert "BREW" not in server.client.get("/metrics").text


def test_the_state_and_the_build_are_told(server: Headwater) -> None:
    server.projector.state = "rebuilding"
    name = "headwater_projection_state"
    assert value(server, name, state="rebuilding") == 1
    assert value(server, name, state="ready") == 0
    assert "headwater_build_info{" in server.client.get("/metrics").text


def test_two_applications_count_apart(server: Headwater) -> None:
    server.post_plan(a_plan())
    with headwater() as other:
        assert value(other, "headwater_documents_received_total", kind="plan") is None


def test_rounds_of_the_projector_are_measured(server: Headwater) -> None:
    server.service.metrics.projected(3, 0.2)
    assert value(server, "headwater_projection_duration_seconds_count") == 1
    assert value(server, "headwater_projection_plans_total") == 3


def test_the_documentation_lists_every_metric_and_no_other(server: Headwater) -> None:
    text = (Path(__file__).resolve().parents[3] / "docs" / "http.md").read_text(encoding="utf-8")
    server.post_plan(a_plan())
    server.post_plan({})
    everything = Forecast(Measure(0, 1, 2, 3, 4), Growth(5.0, 6.0, 7.0), 8, 9, 0, False, 10)
    server.service.metrics.watch_storage(lambda: everything)
    forwarded = ForwardState("there", "{}", 1, frozenset(), 2, False, "", None, 3)
    server.service.metrics.watch_forwarding(lambda: [forwarded], lambda: 4)
    told = {
        name for name, _ in scrape(server) if not name.endswith(("_bucket", "_sum", "_created"))
    }
    told = {name.removesuffix("_count") for name in told}
    assert told == set(re.findall(r"`(headwater_[a-z_]+)`", text))


# --- request ids and the access line -------------------------------------------------------------


def test_every_answer_has_a_request_id(server: Headwater) -> None:
    ids = {
        server.client.get(path).headers["X-Request-Id"]
        for path in ("/journal", "/health/live", "/nothing", "/graph/lineage", "/status")
    }
    assert len(ids) == 5


def test_a_request_id_is_taken_over_when_it_is_well_formed(server: Headwater) -> None:
    given = server.client.get("/journal", headers={"X-Request-Id": "job-17:step.2"})
    assert given.headers["X-Request-Id"] == "job-17:step.2"
    other = server.client.get("/journal", headers={"X-Request-Id": "a b"})
    assert other.headers["X-Request-Id"] != "a b"


def test_the_id_ends_with_its_request(server: Headwater) -> None:
    server.client.get("/journal", headers={"X-Request-Id": "job-17"})
    assert current_request_id.get() == ""


class Keeping(logging.Handler):
    """Remembers each record with the request it was logged in."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[tuple[str, logging.LogRecord]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append((current_request_id.get(), record))


@pytest.fixture
def access() -> Iterator[Keeping]:
    log, handler = logging.getLogger("headwater.access"), Keeping()
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    yield handler
    log.removeHandler(handler)
    log.setLevel(level)


def test_a_request_is_one_line_with_principal_route_and_duration(
    server: Headwater, access: Keeping
) -> None:
    key = server.make_key("analyst", Role.READER)
    response = server.client.get(
        "/graph/search?q=secret-project", headers={**key, "X-Request-Id": "r-1"}
    )
    ((request_id, record),) = access.lines
    fields = getattr(record, FIELDS)
    assert request_id == "r-1"
    assert (fields["method"], fields["path"], fields["status"]) == ("GET", "/graph/search", 200)
    assert fields["principal"] == "analyst"
    assert fields["bytes"] == len(response.data)
    assert fields["durationMs"] >= 0
    assert "secret-project" not in record.getMessage() + str(fields)
    assert "analyst" in record.getMessage()


def test_a_refused_request_has_its_line_too(server: Headwater, access: Keeping) -> None:
    server.make_key("me", Role.ADMIN)
    server.client.get("/journal")
    server.client.get("/no\nsuch")
    statuses = [getattr(record, FIELDS)["status"] for _, record in access.lines]
    assert statuses == [401, 404]
    assert all("\n" not in record.getMessage() for _, record in access.lines)


def test_a_bug_is_logged_under_the_id_that_the_caller_gave(
    server: Headwater, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(type(server.journal), "summary", broken)
    with caplog.at_level(logging.ERROR):
        response = server.client.get("/journal?summary=true", headers={"X-Request-Id": "r-9"})
    assert response.status_code == 500
    assert response.headers["X-Request-Id"] == "r-9"
    assert "request r-9" in response.get_json()["message"]
    assert "request r-9" in caplog.text
