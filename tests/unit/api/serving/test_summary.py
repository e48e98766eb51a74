"""The line that sums up arrived documents, and which requests have a line of their own."""

from __future__ import annotations

import logging

import pytest

from api.http.exchange import Exchange, log_exchange
from api.http.metrics import Arrivals, Metrics
from api.logs import set_up_logging, tells_every_request
from api.serving.upkeep import Summary, summarise


@pytest.mark.parametrize(
    ("before", "now", "line"),
    [
        (Arrivals({}, 0), Arrivals({}, 0), ""),
        (Arrivals({"plan": 2}, 0), Arrivals({"plan": 2}, 0), ""),
        (
            Arrivals({"plan": 1}, 0),
            Arrivals({"plan": 8, "event": 8}, 0),
            "15 documents arrived (8 event, 7 plan)",
        ),
        (
            Arrivals({}, 1),
            Arrivals({"run-event": 1}, 2),
            "1 document arrived (1 run-event), 1 request with documents refused",
        ),
        (Arrivals({}, 0), Arrivals({}, 1_200), "1,200 requests with documents refused"),
    ],
)
def test_a_line_tells_new_documents_alone(before: Arrivals, now: Arrivals, line: str) -> None:
    assert summarise(before, now) == line


def test_the_metrics_count_arriving_documents() -> None:
    metrics = Metrics()
    metrics.received("plan", 2)
    metrics.received("event", 1)
    metrics.refused("plan", 400)
    assert metrics.arrivals() == Arrivals({"plan": 2, "event": 1}, 1)


def test_a_summary_is_told_once_and_the_rest_at_the_end(
    caplog: pytest.LogCaptureFixture,
) -> None:
    metrics = Metrics()
    summary = Summary(metrics.arrivals, period=3_600)
    summary.start()
    with caplog.at_level(logging.INFO, "headwater.summary"):
        metrics.received("plan", 1)
        summary.tell()
        summary.tell()
        metrics.received("plan", 1)
        summary.stop()
    assert [record.getMessage() for record in caplog.records] == ["1 document arrived (1 plan)"] * 2


@pytest.mark.parametrize(
    ("access", "form", "every"),
    [
        ("auto", "text", False), ("auto", "json", True),
        ("all", "text", True), ("errors", "json", False),
    ],
)  # fmt: skip
def test_people_are_told_of_trouble_and_machines_of_every_request(
    access: str, form: str, every: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tells_every_request(access, form) is every
    root = logging.getLogger()
    kept = (root.level, root.handlers[:], logging.getLogger("headwater.access").level)
    try:
        set_up_logging("info", form, access)
        log_exchange(Exchange("GET", "/fine", "/fine", 200, 0.1, 1, 0, "me"))
        log_exchange(Exchange("GET", "/refused", "/refused", 404, 0.1, 1, 0, "me"))
        log_exchange(Exchange("GET", "/broken", "/broken", 503, 0.1, 1, 0, "me"))
        log_exchange(Exchange("GET", "/health/ready", "/health/ready", 503, 0.1, 1, 0, "me"))
        for handler in root.handlers:
            handler.flush()
    finally:
        root.setLevel(kept[0])
        root.handlers[:] = kept[1]
        logging.getLogger("headwater.access").setLevel(kept[2])
    told = capsys.readouterr().err
    assert ("/fine" in told, "/refused" in told) == (every, every)
    assert "/broken" in told
    assert ("/health/ready" in told) == every
