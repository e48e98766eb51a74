"""A whole Headwater behind the test client: real journal, memory graph, catalogue, projector.

Every request is projected before the next one, on the test's own thread, so that an error
is raised in front of the test.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import cache
from typing import Any, Final

from flask import Flask
from flask.testing import FlaskClient

from api.application import create_app
from api.service import Service, attach
from api.settings import read_settings
from graph_model.facts import Edge, Row, Vertex, row_key
from graph_model.stores.documents import DocumentState, StoredDocument
from tests.e2e.producer_service import SPLINE_1_2, a_plan, an_event
from tests.projections import SmallHeadwater, small_headwater

NOW: Final = 1_700_000_000_000
PLANS: Final = "/producer/execution-plans"
EVENTS: Final = "/producer/execution-events"
LIMIT: Final = 64 * 1024 * 1024
_GOOD_PLAN: Final = "5a1de5a1-0000-4000-8000-00000000900d"


class FuzzedHeadwater:
    """``post`` checks the rules for every request, whatever it brought."""

    def __init__(self, app: Flask, small: SmallHeadwater) -> None:
        self.small = small
        self.client: FlaskClient = app.test_client()
        self._good = 0

    def post(self, path: str, body: Any, content_type: str = SPLINE_1_2, **options: Any) -> Any:
        """The reply: 201 and projected, or the one error body and nothing changed."""
        before = self._received()
        raw = body if isinstance(body, bytes) else wire(body)
        response = self.client.post(path, data=raw, content_type=content_type, **options)
        if response.status_code == 201:
            self.small.project()
            self._check_settled()
        else:
            check_refusal(response)
            assert self._received() == before, "a refused request left something behind"
        return response

    def get(self, path: str, **query: Any) -> Any:
        """The parsed reply of a read that must work."""
        response = self.client.get(path, query_string=query)
        assert response.status_code == 200, (path, query, response.get_json())
        return response.get_json()

    def check_next_request(self) -> None:
        """After whatever came before, a good plan and its event are taken and seen."""
        self._good += 1
        target = f"file:/good/{self._good}"
        plan = a_plan(id=_GOOD_PLAN, name=f"good {self._good}")
        plan["operations"]["write"]["outputSource"] = target
        assert self.post(PLANS, plan).status_code == 201
        event = an_event(planId=_GOOD_PLAN, timestamp=NOW + self._good)
        assert self.post(EVENTS, [event]).status_code == 201
        graph = self.get("/graph/lineage", node=f"dataset:{target}")
        assert {node["kind"] for node in graph["nodes"]} == {"dataset", "job"}

    def documents(self) -> tuple[StoredDocument, ...]:
        return tuple(self.small.journal.entries(limit=1000).items)

    def elements(self) -> Iterator[Vertex | Edge]:
        return self.small.graph.scan()

    def rows(self) -> Iterator[Row]:
        return iter(self.small.elements()[1])

    def vertices(self, label: str) -> list[Vertex]:
        result = (
            item for item in self.elements() if isinstance(item, Vertex) and item.label == label
        )
        return sorted(result, key=lambda vertex: vertex.id)

    def _received(self) -> int:
        return self.small.journal.summary().received

    def _check_settled(self) -> None:
        for document in self.documents():
            assert document.state != DocumentState.PENDING
            if document.state == DocumentState.FAILED:
                raise AssertionError(f"taken, but not translated: {document.reason}")


def wire(document: Any) -> bytes:
    """As a client writes it: lone surrogates are escaped, everything else is UTF-8."""
    try:
        return json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(document).encode()


def check_refusal(response: Any) -> None:
    """A 4xx with the one error body; a 400 names at least one place."""
    assert 400 <= response.status_code < 500, (response.status_code, response.get_data()[:500])
    body = response.get_json()
    assert set(body) == {"code", "status", "message", "errors"}
    assert body["code"] == response.status_code
    assert body["message"]
    if response.status_code == 400:
        assert body["errors"], body
        for place, said in body["errors"].items():
            assert place
            assert all(said)


@cache
def _application() -> Flask:
    """Built once: most of its cost is the description of its routes, not its parts."""
    settings = replace(read_settings({}), max_body_bytes=LIMIT, projection_wait_ms=0)
    with closing(small_headwater()) as small:
        return create_app(settings, _service(small))


def _service(small: SmallHeadwater) -> Service:
    return Service(small.journal, small.projector, small.graph, small.generations, lambda: NOW)


@contextmanager
def fuzzed_headwater() -> Iterator[FuzzedHeadwater]:
    """An empty one, closed at the end. One at a time: they share an application."""
    app = _application()
    with closing(small_headwater()) as small:
        attach(app, _service(small))
        yield FuzzedHeadwater(app, small)


class Ledger:
    """Everything that any document ever stood for: two facts of one id must be equal."""

    def __init__(self) -> None:
        self._known: dict[object, object] = {}

    def check(self, headwater: FuzzedHeadwater) -> None:
        for element in headwater.elements():
            self._check(element.id, element)
        for row in headwater.rows():
            self._check(row_key(row), row)

    def _check(self, key: object, value: object) -> None:
        known = self._known.setdefault(key, value)
        assert known == value, f"{known!r} and {value!r} share an id"
