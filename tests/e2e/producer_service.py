"""A Headwater without a graph for tests of the HTTP side: a real journal, a fake projector."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from flask import Flask
from flask.testing import FlaskClient

from api.application import create_app
from api.service import Service
from api.settings import Settings, read_settings
from graph_model.errors import JournalUnavailable
from graph_model.naming import DEFAULT_RULES
from graph_model.projection.rebuilding import Phase, Progress
from graph_model.stores.catalogue import Generations
from graph_model.stores.database import open_database
from graph_model.stores.documents import DocumentState, Receipt, Submission
from graph_model.stores.journal import Journal
from graph_model.stores.keys import ID_BYTES, SECRET_BYTES, KeyRequest, SqlKeys, make_key
from graph_model.values import Role
from tests.memory_graph import MemoryGraph

NOW = 1_700_000_000_000
PLAN_ID = "9b1c1f0e-6f0a-5d6e-8a44-0f7f4f1d2c10"
OTHER_PLAN_ID = "11111111-2222-5333-8444-555555555555"
SPLINE_1 = "application/json"
SPLINE_1_1 = "application/vnd.absa.spline.producer.v1.1+json"
SPLINE_1_2 = "application/vnd.absa.spline.producer.v1.2+json"

_PLAN: dict[str, Any] = {
    "id": PLAN_ID,
    "name": "demo-app",
    "operations": {
        "write": {
            "id": "op-0",
            "name": "InsertIntoHadoopFsRelationCommand",
            "outputSource": "file:/data/out",
            "append": False,
            "childIds": ["op-1"],
        },
        "reads": [
            {
                "id": "op-1",
                "name": "LogicalRelation",
                "inputSources": ["file:/data/in.csv"],
                "output": ["attr-0"],
            }
        ],
    },
    "attributes": [{"id": "attr-0", "name": "a"}],
    "expressions": {},
    "systemInfo": {"name": "spark", "version": "3.5.1"},
    "agentInfo": {"name": "spline", "version": "2.2.0"},
}
LINEAGE_EVENT = {
    "eventType": "COMPLETE",
    "eventTime": "2026-03-01T08:15:00.000Z",
    "producer": "https://example.org/tool",
    "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    "run": {"runId": "11111111-2222-7333-8444-555555555555"},
    "job": {"namespace": "tool", "name": "job"},
}


def a_plan(**changes: Any) -> dict[str, Any]:
    """A small plan (API 1.2); ``changes`` replace top-level fields, ``...`` removes one."""
    plan = {**copy.deepcopy(_PLAN), **changes}
    return {name: value for name, value in plan.items() if value is not ...}


def an_event(**changes: Any) -> dict[str, Any]:
    """An event of that plan."""
    event = {"planId": PLAN_ID, "timestamp": NOW, "durationNs": 5, "extra": {"appId": "local-1"}}
    return {name: value for name, value in {**event, **changes}.items() if value is not ...}


class RecordingProjector:
    """Projects nothing; remembers its calls."""

    def __init__(self) -> None:
        self.notified = 0
        self.waited: list[tuple[tuple[int, ...], float]] = []
        self.replayed: list[tuple[DocumentState, ...]] = []
        self.state = "ready"
        self.idle = True
        self.rebuilt: Progress | None = None
        self.rules = DEFAULT_RULES
        self.failure: str | None = None
        self.rebuild_reason: str | None = None
        self.full: str | None = None

    def notify(self) -> None:
        self.notified += 1

    def wait(self, positions: Collection[int], timeout: float) -> bool:
        self.waited.append((tuple(positions), timeout))
        return True

    def replay(self, states: Collection[DocumentState]) -> int:
        self.replayed.append(tuple(states))
        return 3

    @property
    def rebuild_waits(self) -> bool:
        return self.rebuilt is not None

    @property
    def progress(self) -> Progress | None:
        return self.rebuilt

    def request_rebuild(self) -> Progress:
        self.rebuilt = Progress(Phase.WANTED, 0, 7, 0, None, None)
        return self.rebuilt


class FullDisk(Journal):
    """A journal that can be read and not written, once ``full`` is set."""

    full = False

    def accept(
        self,
        submissions: Sequence[Submission],
        receipt: Receipt,
        *,
        remember: bool = True,
        makes_room: bool = False,
    ) -> tuple[int, ...]:
        self._refuse()
        return super().accept(submissions, receipt, remember=remember, makes_room=makes_room)

    def acknowledge(self, raw_hash: str, scope: str, receipt: Receipt) -> bool:
        self._refuse()
        return super().acknowledge(raw_hash, scope, receipt)

    def set_meta(self, key: str, value: str) -> None:
        self._refuse()
        super().set_meta(key, value)

    def _refuse(self) -> None:
        if self.full:
            raise JournalUnavailable("no space left for the database")


class Headwater:
    """The app with everything behind it, in memory."""

    def __init__(self, **settings: Any) -> None:
        self.database = open_database("sqlite://")
        self.journal = FullDisk(self.database)
        self.projector = RecordingProjector()
        self.graph = MemoryGraph()
        self.now = NOW
        self.keys = SqlKeys(self.database)
        self.service = Service(
            self.journal,
            self.projector,
            self.graph,
            Generations(self.database, self.journal),
            lambda: self.now,
            self.keys,
        )
        self.settings: Settings = replace(read_settings({}), **settings)
        self.app: Flask = create_app(self.settings, self.service)
        self.client: FlaskClient = self.app.test_client()

    def make_key(
        self, name: str, *roles: Role, scope: str = "", rate: int = 0, any_scope: bool = False
    ) -> dict[str, str]:
        """A new key, as the header that carries it."""
        random = hashlib.sha512(name.encode()).digest()[: ID_BYTES + SECRET_BYTES]
        made = make_key(KeyRequest(name, frozenset(roles), scope, rate, any_scope), random, NOW)
        self.keys.add(made.key)
        return {"X-API-Key": made.text}

    def post_plan(self, plan: Any, content_type: str = SPLINE_1_2, **options: Any) -> Any:
        return self.post("/producer/execution-plans", plan, content_type, **options)

    def post_events(self, events: Any, content_type: str = SPLINE_1_2, **options: Any) -> Any:
        return self.post("/producer/execution-events", events, content_type, **options)

    def post(self, path: str, body: Any, content_type: str | None, **options: Any) -> Any:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.ask("POST", path, data=data, content_type=content_type, **options)

    def ask(self, method: str, path: str, **options: Any) -> Any:
        """A request to exactly this path: the client would take ``//status`` for a host."""
        return self.client.open(
            "/", method=method, environ_overrides={"PATH_INFO": path}, **options
        )

    def bodies(self) -> list[Any]:
        """The documents of the journal as they are kept, oldest first."""
        kept = self.journal.entries(limit=1000).items
        found = [self.journal.document(item.position) for item in reversed(kept)]
        return [json.loads(document.body) for document in found if document is not None]

    def close(self) -> None:
        self.database.dispose()


@contextmanager
def headwater(**settings: Any) -> Iterator[Headwater]:
    """A Headwater that is closed at the end."""
    made = Headwater(**settings)
    try:
        yield made
    finally:
        made.close()


def errors_of(response: Any) -> Mapping[str, list[str]]:
    """The ``errors`` of a reply, once its body has been found to be the one error body."""
    body = response.get_json()
    assert set(body) == {"code", "status", "message", "errors"}
    assert body["code"] == response.status_code
    errors: Mapping[str, list[str]] = body["errors"]
    return errors
