"""OpenLineage over HTTP: accepted, refused and kept events."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import Any

import pytest

from graph_model.errors import JournalUnavailable
from graph_model.producers.openlineage.events.documents import (
    DATASET_EVENT_KIND,
    JOB_EVENT_KIND,
    RUN_EVENT_KIND,
)
from graph_model.stores.documents import DocumentKind
from graph_model.values import Role
from tests.e2e.producer_service import Headwater, errors_of, headwater

LINEAGE = "/api/v1/lineage"
BATCH = "/api/v1/lineage/batch"
JSON = "application/json"

RUN: dict[str, Any] = {
    "eventType": "COMPLETE",
    "eventTime": "2026-03-01T10:00:00.98Z",
    "producer": "https://example.org/etl",
    "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    "run": {"runId": "0195cf5b-7c01-7e51-a42d-4b0b0b1a1f00", "facets": {}},
    "job": {"namespace": "etl", "name": "curate", "facets": {}},
    "inputs": [{"namespace": "s3://lake", "name": "raw", "facets": {}, "inputFacets": {}}],
    "outputs": [{"namespace": "s3://lake", "name": "curated", "facets": {}}],
}
JOB: dict[str, Any] = {
    "eventTime": "2026-03-01T10:00:00+00:00",
    "job": {"namespace": "etl", "name": "declared"},
    "outputs": [{"namespace": "s3://lake", "name": "curated"}],
}
DATASET: dict[str, Any] = {
    "eventTime": "2026-03-01T20:00:00+10:00",
    "dataset": {"namespace": "s3://lake", "name": "raw"},
}


@pytest.fixture
def server() -> Iterator[Headwater]:
    with headwater(max_body_bytes=100_000, max_compressed_bytes=50_000) as made:
        yield made


def kinds(server: Headwater) -> list[DocumentKind]:
    return [one.kind for one in reversed(server.journal.entries(limit=100).items)]


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        (RUN, RUN_EVENT_KIND),
        (JOB, JOB_EVENT_KIND),
        (DATASET, DATASET_EVENT_KIND),
    ],
)
def test_an_event_is_durable_and_answered_with_an_empty_201(
    server: Headwater, event: dict[str, Any], kind: DocumentKind
) -> None:
    response = server.post(LINEAGE, event, JSON)
    assert (response.status_code, response.data) == (201, b"")
    assert kinds(server) == [kind]
    assert server.bodies() == [event]
    assert server.projector.notified == 1
    assert server.projector.waited == []  # a client calls from the job's own thread


@pytest.mark.parametrize("path", [f"{LINEAGE}/", f"/{LINEAGE}", "/api//v1/lineage//", "/"])
def test_every_spelling_of_the_path_that_a_client_makes_is_taken(
    server: Headwater, path: str
) -> None:
    assert server.post(path, RUN, JSON).status_code == 201


def test_the_page_is_still_at_the_root(server: Headwater) -> None:
    with server.client.get("/") as response:
        assert response.status_code == 200


def test_a_compressed_event_is_taken(server: Headwater) -> None:
    packed = gzip.compress(json.dumps(RUN).encode())
    headers = {"Content-Encoding": "gzip"}
    kind = "application/json; charset=UTF-8"
    assert server.post(LINEAGE, packed, kind, headers=headers).status_code == 201
    assert server.bodies() == [RUN]


def test_an_event_that_comes_again_is_one_document(server: Headwater) -> None:
    for _ in range(3):
        assert server.post(LINEAGE, RUN, JSON).status_code == 201
    assert len(server.bodies()) == 1


def test_events_of_one_run_share_a_key_and_those_of_scopes_do_not_mix(server: Headwater) -> None:
    east = server.make_key("east", Role.PRODUCER, scope="east")
    start = {**RUN, "eventType": "START"}
    assert server.post(LINEAGE, start, JSON, headers=east).status_code == 201
    assert server.post(LINEAGE, RUN, JSON, headers=east).status_code == 201
    documents = server.journal.documents_of(f"run:{RUN['run']['runId']}")
    assert {(one.scope, one.subject_key) for one in documents} == {
        ("east", f"run:{RUN['run']['runId']}")
    }
    assert len({one.subject for one in documents}) == 1


def test_a_reader_may_not_send(server: Headwater) -> None:
    reader = server.make_key("reader", Role.READER)
    for path in (LINEAGE, BATCH, "/"):
        assert server.post(path, RUN, JSON, headers=reader).status_code == 403
        assert server.post(path, RUN, JSON).status_code == 401


def test_secrets_are_masked_before_the_journal(server: Headwater) -> None:
    url = "jdbc:postgresql://db:5432/shop?user=etl&password=hunter2"
    source = {"namespace": "postgres://db:5432", "name": "shop.public.orders",
              "facets": {"dataSource": {"name": "shop", "uri": url}}}  # fmt: skip
    assert server.post(LINEAGE, {**RUN, "inputs": [source]}, JSON).status_code == 201
    assert "hunter2" not in json.dumps(server.bodies())


@pytest.mark.parametrize(
    ("event", "place"),
    [
        ([RUN], "document"),
        ({}, "document"),
        ({**RUN, "eventTime": "yesterday"}, "eventTime"),
        ({**RUN, "run": {}}, "run.runId"),
        ({**RUN, "outputs": [{"namespace": "s3://lake"}]}, "outputs[0].name"),
    ],
)
def test_a_request_that_can_never_work_is_a_400_that_names_the_place(
    server: Headwater, event: Any, place: str
) -> None:
    response = server.post(LINEAGE, event, JSON)
    assert response.status_code == 400
    assert list(errors_of(response)) == [place]
    assert server.bodies() == []


@pytest.mark.parametrize("content_type", [None, "text/plain", "application/json; charset=latin-1"])
def test_another_type_is_a_415(server: Headwater, content_type: str | None) -> None:
    assert server.post(LINEAGE, RUN, content_type).status_code == 415


def test_an_event_beyond_the_limit_is_a_413(server: Headwater) -> None:
    large = {**RUN, "producer": "x" * 100_000}
    assert server.post(LINEAGE, large, JSON).status_code == 413
    bomb = gzip.compress(json.dumps(large).encode())
    headers = {"Content-Encoding": "gzip"}
    assert server.post(LINEAGE, bomb, JSON, headers=headers).status_code == 413


@pytest.mark.parametrize("path", [LINEAGE, BATCH])
def test_come_back_is_a_503(server: Headwater, path: str) -> None:
    server.journal.full = True
    response = server.post(path, RUN if path == LINEAGE else [RUN], JSON)
    assert response.status_code == 503
    assert response.headers["Retry-After"] == "5"
    assert JournalUnavailable.__name__ not in response.get_data(as_text=True)


# --- batches -------------------------------------------------------------------------------------


def test_a_batch_is_taken_as_a_whole(server: Headwater) -> None:
    response = server.post(BATCH, [RUN, JOB, DATASET, RUN], JSON)
    assert response.status_code == 200
    assert response.get_json() == {
        "status": "success",
        "summary": {
            "received": 4, "successful": 4, "failed": 0, "retriable": 0, "non_retriable": 0
        },
        "failed_events": [],
    }  # fmt: skip
    assert server.bodies() == [RUN, JOB, DATASET]


def test_a_bad_event_does_not_spoil_its_batch(server: Headwater) -> None:
    events = [RUN, {**JOB, "eventTime": None}, 7, DATASET]
    for _ in range(2):  # the same bytes again are told the same
        response = server.post(BATCH, events, JSON)
        assert response.status_code == 200
        body = response.get_json()
        assert body["status"] == "partial_success"
        assert body["summary"] == {
            "received": 4, "successful": 2, "failed": 2, "retriable": 0, "non_retriable": 2
        }  # fmt: skip
        assert [(one["index"], one["retriable"]) for one in body["failed_events"]] == [
            (1, False),
            (2, False),
        ]
        assert "eventTime" in body["failed_events"][0]["reason"]
    assert server.bodies() == [RUN, DATASET]


def test_a_batch_that_is_no_list_is_a_400(server: Headwater) -> None:
    assert server.post(BATCH, RUN, JSON).status_code == 400


def test_arrived_documents_are_counted_by_kind(server: Headwater) -> None:
    server.post(BATCH, [RUN, JOB], JSON)
    server.post(LINEAGE, DATASET, JSON)
    server.post(LINEAGE, {}, JSON)
    text = server.client.get("/metrics").get_data(as_text=True)
    for kind in ("run-event", "job-event", "dataset-event"):
        assert f'headwater_documents_received_total{{kind="{kind}"}} 1.0' in text
    assert 'kind="lineage",status="400"' in text
