"""Access over HTTP: keys, roles, scopes, rates, and their traces in the journal."""

from __future__ import annotations

import io
import logging
import re
import threading
from collections.abc import Iterator, Mapping
from email.message import Message
from typing import Any
from urllib.response import addinfourl
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest

from api.console.intake import ServerIntake
from api.http.access import API_KEY_HEADER as READ_HERE
from api.http.access import FILES, needed_role
from collectors.intake import DirectIntake
from graph_model.documents.files import Piece, prepare
from graph_model.errors import HeadwaterError
from graph_model.producers.spline.documents import PLAN_KIND
from graph_model.values import Role
from spark_agent_config.configuration import API_KEY_HEADER, spline_properties
from spark_agent_config.delivery.post import HttpSender, Post
from tests.e2e.producer_service import SPLINE_1_2, Headwater, a_plan, an_event, errors_of, headwater

READER, PRODUCER, ADMIN = Role.READER, Role.PRODUCER, Role.ADMIN
LINEAGE = "/graph/overview"


@pytest.fixture
def server() -> Iterator[Headwater]:
    with headwater() as made:
        yield made


def bearer(key: dict[str, str]) -> dict[str, str]:
    return {"Authorization": f"Bearer {key['X-API-Key']}"}


def statuses(server: Headwater, headers: dict[str, str] | None = None) -> dict[str, int]:
    """The answer of each kind of route to these headers."""
    client = server.client
    return {
        "report": server.post_plan(a_plan(), headers=headers).status_code,
        "handshake": client.head("/producer/status", headers=headers).status_code,
        "read": client.get(LINEAGE, headers=headers).status_code,
        "journal": client.get("/journal", headers=headers).status_code,
        "metrics": client.get("/metrics", headers=headers).status_code,
        "change": client.post(
            "/journal/replay", json={"state": "failed"}, headers=headers
        ).status_code,
    }


OPENED = {
    "report": 201, "handshake": 200, "read": 200, "journal": 200, "metrics": 200, "change": 202
}  # fmt: skip
REPORTING = {"report", "handshake"}
READING = {"read", "journal", "metrics"}


def allowed(kinds: set[str], refused: int) -> dict[str, int]:
    return {kind: OPENED[kind] if kind in kinds else refused for kind in OPENED}


# --- roles ---------------------------------------------------------------------------------------


def test_without_any_key_everything_is_open(server: Headwater) -> None:
    assert statuses(server) == OPENED
    assert statuses(server, {"X-API-Key": "a key of another server"}) == OPENED


def test_the_first_key_closes_the_door_to_callers_without_one(server: Headwater) -> None:
    server.make_key("me", ADMIN)
    assert statuses(server) == allowed(set(), 401)
    assert statuses(server, {"X-API-Key": "hw_wrong"}) == allowed(set(), 401)


@pytest.mark.parametrize(
    ("roles", "kinds"),
    [
        ({PRODUCER}, REPORTING),
        ({READER}, READING),
        ({READER, PRODUCER}, READING | REPORTING),
        ({ADMIN}, set(OPENED)),
    ],
)
def test_a_key_may_use_the_routes_of_its_roles_in_either_header(
    server: Headwater, roles: set[Role], kinds: set[str]
) -> None:
    key = server.make_key("key", *roles)
    assert statuses(server, key) == allowed(kinds, 403)
    assert statuses(server, bearer(key)) == allowed(kinds, 403)


@pytest.mark.parametrize(
    ("roles", "kinds"),
    [
        ({"reader"}, READING),
        ({"producer"}, REPORTING),
        ({"reader", "producer"}, READING | REPORTING),
    ],
)
def test_a_setting_leaves_roles_to_callers_without_a_key(roles: set[str], kinds: set[str]) -> None:
    with headwater(anonymous=frozenset(roles)) as server:
        server.make_key("me", ADMIN)
        assert statuses(server) == allowed(kinds, 401)
        assert server.client.get("/graph/overview", headers={"X-API-Key": "x"}).status_code == 401


def test_a_revoked_key_is_refused_with_the_next_request(server: Headwater) -> None:
    key = server.make_key("jobs", PRODUCER)
    assert server.post_plan(a_plan(), headers=key).status_code == 201
    server.keys.revoke("jobs", 1)
    assert server.post_plan(a_plan(), headers=key).status_code == 401


def test_health_and_the_page_are_open_always(server: Headwater) -> None:
    server.make_key("me", ADMIN)
    wrong = {"X-API-Key": "hw_wrong"}
    for path in ("/health/live", "/health/ready", "/docs", "/openapi.json"):
        for headers in ({}, wrong):
            with server.client.get(path, headers=headers) as response:
                assert response.status_code == 200


def test_every_route_is_open_by_intention_or_needs_a_role(server: Headwater) -> None:
    free = {
        rule.endpoint
        for rule in server.app.url_map.iter_rules()
        for method in rule.methods or ()
        if method != "OPTIONS" and needed_role(server.app, rule.endpoint, method) is None
    }
    blueprints = {endpoint.rpartition(".")[0] for endpoint in free}
    assert blueprints == {*FILES, "health", "about"}
    assert {name for name in free if name.rpartition(".")[0] not in FILES} == {
        "health.live", "health.ready", "about.liveness", "about.readiness",
    }  # fmt: skip


def test_a_producer_reaches_the_routes_that_take_documents_and_declares(server: Headwater) -> None:
    changed = {
        rule.endpoint.rpartition(".")[0]
        for rule in server.app.url_map.iter_rules()
        if needed_role(server.app, rule.endpoint, "POST") == PRODUCER
    }
    taking = {"producer", "producer_at_root", "openlineage", "datazone", "uploads"}
    assert changed == {*taking, "declarations"}
    assert needed_role(server.app, "impact.plan", "POST") == READER


# --- refusals ------------------------------------------------------------------------------------


def test_no_key_is_a_401_that_says_how_to_send_one(server: Headwater) -> None:
    server.make_key("me", ADMIN)
    response = server.client.get(LINEAGE)
    assert response.headers["WWW-Authenticate"] == 'Bearer realm="headwater"'
    assert errors_of(response) == {}
    assert "X-API-Key" in response.get_json()["message"]


def test_a_missing_role_is_a_403_that_names_it(server: Headwater) -> None:
    response = server.client.get(LINEAGE, headers=server.make_key("jobs", PRODUCER))
    assert response.status_code == 403
    assert errors_of(response) == {"role": ["reader", "admin"]}
    assert "jobs" in response.get_json()["message"]


def test_a_rate_is_a_429_that_says_when_to_come_back(server: Headwater) -> None:
    slow, quick = server.make_key("slow", READER, rate=2), server.make_key("quick", READER)
    answers = [server.client.get(LINEAGE, headers=slow) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert 1 <= int(answers[2].headers["Retry-After"]) <= 30
    assert errors_of(answers[2]) == {}
    assert server.client.get(LINEAGE, headers=quick).status_code == 200


def test_a_refused_document_is_not_read_and_not_kept(server: Headwater) -> None:
    reader = server.make_key("analyst", READER)
    response = server.post("/execution-plans", b"not even JSON", SPLINE_1_2, headers=reader)
    assert response.status_code == 403
    assert server.bodies() == []


def test_a_preflight_is_answered_without_a_key() -> None:
    origin = "https://notebook.example.org"
    with headwater(cors_origins=(origin,)) as server:
        server.make_key("me", ADMIN)
        asked = {"Origin": origin, "Access-Control-Request-Method": "GET"}
        response = server.client.options(LINEAGE, headers=asked)
        assert response.status_code == 200
        assert "X-API-Key" in response.headers["Access-Control-Allow-Headers"]
        refused = server.client.get(LINEAGE, headers={"Origin": origin})
        assert refused.headers["Access-Control-Allow-Origin"] == origin


def test_no_answer_and_no_log_line_repeats_a_key(
    server: Headwater, caplog: pytest.LogCaptureFixture
) -> None:
    key = server.make_key("jobs", PRODUCER)
    wrong = key["X-API-Key"][:-4] + "abcd"
    with caplog.at_level(logging.DEBUG):
        for headers in (key, bearer(key), {"X-API-Key": wrong}, bearer({"X-API-Key": wrong})):
            response = server.client.get(LINEAGE, headers=headers)
            assert wrong[20:] not in response.text + str(response.headers)
            assert key["X-API-Key"][20:] not in response.text + str(response.headers)
    assert key["X-API-Key"][20:] not in caplog.text
    assert wrong[20:] not in caplog.text


# --- the journal ---------------------------------------------------------------------------------


def test_a_receipt_names_the_principal(server: Headwater) -> None:
    server.post_plan(a_plan())
    server.post_plan(a_plan(), headers=server.make_key("nightly", PRODUCER))
    server.post_plan(a_plan(), headers=server.make_key("weekly", PRODUCER))
    principals = [receipt.principal for receipt in server.journal.receipts(1)]
    assert principals == ["anonymous", "nightly", "weekly"]


def scopes(server: Headwater) -> list[tuple[str, str]]:
    items = server.journal.entries().items
    return sorted((item.kind, item.scope) for item in items)


def test_the_scope_of_a_key_is_that_of_documents_that_name_none(server: Headwater) -> None:
    key = server.make_key("emr", PRODUCER, scope="emr-prod")
    server.post_plan(a_plan(), headers=key)
    server.post_events([an_event()], headers=key)
    assert scopes(server) == [("event", "emr-prod"), ("plan", "emr-prod")]


OF_TEAM_A: Mapping[str, Any] = {"labels": {"captureScope": ["team-a"]}}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/producer/execution-plans", a_plan(**OF_TEAM_A)),
        ("/producer/execution-events", [an_event(), an_event(**OF_TEAM_A)]),
    ],
)
def test_a_key_with_a_scope_reports_for_no_other_one(
    server: Headwater, path: str, body: Any
) -> None:
    emr = server.make_key("emr", PRODUCER, scope="emr-prod")
    refused = server.post(path, body, "application/json", headers=emr)
    assert refused.status_code == 403
    assert errors_of(refused) == {"captureScope": ["emr-prod"]}
    assert scopes(server) == []


def test_bytes_that_are_known_under_a_foreign_scope_are_refused_as_well(server: Headwater) -> None:
    some = server.make_key("some", PRODUCER, scope="emr-prod", any_scope=True)
    assert server.post_plan(a_plan(**OF_TEAM_A), headers=some).status_code == 201
    emr = server.make_key("emr", PRODUCER, scope="emr-prod")
    assert server.post_plan(a_plan(**OF_TEAM_A), headers=emr).status_code == 403


def test_an_event_is_no_run_of_a_plan_that_only_another_scope_has(server: Headwater) -> None:
    """It counted as one: whoever knew the id of a plan moved the last write of its table."""
    emr, glue = (server.make_key(name, PRODUCER, scope=name) for name in ("emr", "glue"))
    assert server.post_plan(a_plan(), headers=glue).status_code == 201
    refused = server.post_events([an_event()], headers=emr)
    assert (refused.status_code, errors_of(refused)) == (403, {"captureScope": ["emr"]})
    assert scopes(server) == [("plan", "glue")]
    server.post_plan(a_plan(), headers=emr)
    assert server.post_events([an_event()], headers=emr).status_code == 201
    any_scope = server.make_key("any", PRODUCER, scope="x", any_scope=True)
    assert server.post_events([an_event(timestamp=1)], headers=any_scope).status_code == 201


def test_a_key_with_a_scope_changes_nothing_that_holds_in_every_scope(server: Headwater) -> None:
    bounded = server.make_key("emr", ADMIN, scope="emr-prod")
    free = server.make_key("any", ADMIN, scope="emr-prod", any_scope=True)
    app = server.client.application
    changed = set[str]()
    for rule in app.url_map.iter_rules():
        path = re.sub(r"<any\((\w+)[^>]*>", r"\1", rule.rule.replace("<int:position>", "7"))
        path = re.sub(r"<[^>]*>", "a", path)
        for method in sorted((rule.methods or set()) & {"POST", "PUT", "PATCH", "DELETE"}):
            if needed_role(app, rule.endpoint, method) is Role.ADMIN:
                changed.add(path)
                refused = server.client.open(path, method=method, headers=bounded)
                assert refused.status_code == 403, (method, path)
                assert "--any-scope" in refused.text
                taken = server.client.open(path, method=method, headers=free)
                assert taken.status_code != 403, (method, path)
    assert {"/commands", "/classifications/a", "/layers/a", "/rules"} <= changed


@pytest.mark.parametrize("options", [{"scope": "emr-prod", "any_scope": True}, {}])
def test_a_key_without_a_boundary_reports_for_the_scope_that_a_document_names(
    server: Headwater, options: Mapping[str, Any]
) -> None:
    key = server.make_key("emr", PRODUCER, **options)
    assert server.post_plan(a_plan(**OF_TEAM_A), headers=key).status_code == 201
    assert scopes(server) == [("plan", "team-a")]


def test_the_same_bytes_from_two_scopes_are_two_documents_and_a_repeat_is_none(
    server: Headwater,
) -> None:
    keys = [server.make_key(name, PRODUCER, scope=name) for name in ("one", "two")]
    for key in (*keys, *keys):
        assert server.post_plan(a_plan(), headers=key).status_code == 201
    assert scopes(server) == [("plan", "one"), ("plan", "two")]
    assert [len(server.journal.receipts(position)) for position in (1, 2)] == [2, 2]


# --- the agents ----------------------------------------------------------------------------------


def test_the_listener_and_the_agent_send_the_header_that_is_read_here() -> None:
    name = f"spark.spline.lineageDispatcher.http.header.{API_KEY_HEADER}"
    assert spline_properties("http://h/producer", api_key="k")[name] == "k"
    assert API_KEY_HEADER == READ_HERE


class ThroughFlask:
    """An opener for HttpSender that asks the app in place of a socket."""

    def __init__(self, server: Headwater) -> None:
        self.server = server

    def open(self, request: Any, timeout: float) -> addinfourl:
        assert timeout > 0
        answer = self.server.client.post(
            request.selector, data=request.data, headers=dict(request.header_items())
        )
        assert answer.status_code == 201, answer.text
        headers = Message()
        for name, value in answer.headers.items():
            headers[name] = value
        return addinfourl(io.BytesIO(answer.data), headers, request.full_url, answer.status_code)


def test_documents_that_the_listener_sends_with_its_key_are_taken_and_bear_its_name(
    server: Headwater, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = server.make_key("listener-jobs", PRODUCER, scope="laptop")
    sender = HttpSender("http://headwater.example.org/producer", dict(key))
    monkeypatch.setattr(sender, "_opener", ThroughFlask(server))
    sender(Post("execution-plans", a_plan()))
    sender(Post("execution-events", [an_event()]))
    assert scopes(server) == [("event", "laptop"), ("plan", "laptop")]
    assert server.journal.receipts(2)[0].principal == "listener-jobs"


# --- the description -----------------------------------------------------------------------------


def test_the_openapi_document_knows_both_headers_and_the_open_routes(server: Headwater) -> None:
    document = server.client.get("/openapi.json").get_json()
    schemes = document["components"]["securitySchemes"]
    assert schemes["apiKey"]["name"] == "X-API-Key"
    assert schemes["bearer"]["scheme"] == "bearer"
    assert {"apiKey": []} in document["security"]
    assert document["paths"]["/health/live"]["get"]["security"] == []
    assert "security" not in document["paths"]["/metrics"]["get"]


# --- documents that do not come as requests ------------------------------------------------------


@pytest.mark.parametrize("principal", ["console", "kafka:headwater"])
def test_documents_taken_straight_into_the_journal_have_a_principal_too(
    server: Headwater, principal: str
) -> None:
    taking = DirectIntake(server.journal, lambda: 1, "import", principal)
    taking.take([prepare(Piece(PLAN_KIND, "1.2", a_plan(), "file:1"))])
    assert [receipt.principal for receipt in server.journal.receipts(1)] == [principal]


class Quiet(WSGIRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


def test_a_command_sends_its_key_to_the_server_and_nowhere_else() -> None:
    keys: list[tuple[str, str | None]] = []

    def answer(environment: Any, start: Any) -> list[bytes]:
        port, path = environment["SERVER_PORT"], environment["PATH_INFO"]
        keys.append((path, environment.get("HTTP_X_API_KEY")))
        if path == "/moved/journal":
            start("302 Found", [("Location", f"http://localhost:{port}/journal")])
        else:
            start("200 OK", [("Content-Type", "application/json")])
        return [b'{"received": 3}']

    with make_server("127.0.0.1", 0, answer, handler_class=Quiet) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{web.server_port}"
        assert ServerIntake(url, "hw_1").received() == 3
        assert ServerIntake(url).received() == 3
        with pytest.raises(HeadwaterError, match="answers 302"):
            ServerIntake(f"{url}/moved", "hw_1").received()
        web.shutdown()
    assert keys == [("/journal", "hw_1"), ("/journal", None), ("/moved/journal", "hw_1")]
