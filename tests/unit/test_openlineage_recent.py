"""Events that came last are remembered as they were read: the same ones, and a bounded number."""

from __future__ import annotations

import json
from typing import Any

import pytest

from api.openlineage import prepare_event
from graph_model.errors import InvalidDocument
from graph_model.openlineage import RECENT, read_event
from graph_model.openlineage.recent import RecentEvents


def an_event(run: str) -> dict[str, Any]:
    said = {"eventType": "START", "eventTime": "2026-03-01T10:00:00Z", "run": {"runId": run}}
    return {**said, "job": {"namespace": "etl", "name": "load"}}


def body(event: dict[str, Any]) -> bytes:
    return json.dumps(event).encode()


def test_an_event_that_was_kept_is_not_read_again() -> None:
    recent, event = RecentEvents(), read_event(an_event("a"))
    recent.keep("hash", event, 100)
    assert recent.read("hash", b"not even JSON") is event


def test_an_event_that_was_not_kept_is_read() -> None:
    assert RecentEvents().read("hash", body(an_event("a"))) == read_event(an_event("a"))
    with pytest.raises(InvalidDocument):
        RecentEvents().read("hash", b"not even JSON")


def test_the_newest_go_where_there_are_too_many_bytes_that_wait() -> None:
    recent, event = RecentEvents(most_bytes=100), read_event(an_event("a"))
    for number in range(3):
        recent.keep(str(number), event, 40)
    assert recent.read("0", b"") is recent.read("1", b"") is event
    with pytest.raises(InvalidDocument):
        recent.read("2", b"")


def test_one_that_was_read_again_goes_before_those_that_wait() -> None:
    recent, event = RecentEvents(most_bytes=100), read_event(an_event("a"))
    recent.keep("waits", event, 40)
    recent.keep("projected", event, 40)
    assert recent.read("projected", b"") is event
    recent.keep("new", event, 40)
    assert recent.read("waits", b"") is recent.read("new", b"") is event
    with pytest.raises(InvalidDocument):
        recent.read("projected", b"")


def test_an_event_that_is_kept_twice_counts_once() -> None:
    recent, event = RecentEvents(most_bytes=100), read_event(an_event("a"))
    for _ in range(5):
        recent.keep("same", event, 90)
    assert recent.read("same", b"") is event


def test_a_large_event_is_not_kept() -> None:
    recent = RecentEvents(large=10)
    recent.keep("hash", read_event(an_event("a")), 11)
    with pytest.raises(InvalidDocument):
        recent.read("hash", b"")


def test_what_is_remembered_of_a_request_is_what_its_stored_body_says() -> None:
    facets = {"x": {"url": "https://me:secret@host/", "share": 1e16, "text": "\u2028 \u00e9"}}
    run = {"runId": "remembered", "facets": facets}
    taken = prepare_event({**an_event("remembered"), "run": run})
    kept = RECENT.read(taken.content_hash, b"")
    assert kept == read_event(taken.body)
    assert "secret" not in repr(kept)
