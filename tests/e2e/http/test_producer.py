"""The producer API over the Flask client: accepted, refused and kept documents."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import Any

import pytest

from graph_model.stores.documents import DocumentState
from tests import captures
from tests.e2e.producer_service import (
    NOW,
    OTHER_PLAN_ID,
    PLAN_ID,
    SPLINE_1,
    SPLINE_1_1,
    SPLINE_1_2,
    Headwater,
    a_plan,
    an_event,
    errors_of,
    headwater,
)

VERSION_HEADER = "ABSA-Spline-API-Version"
PREFIXES = ("", "/producer")


@pytest.fixture
def server() -> Iterator[Headwater]:
    with headwater(max_body_bytes=100_000, max_compressed_bytes=50_000) as made:
        yield made


# --- the handshake -------------------------------------------------------------------------------


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("path", ["/status", "//status", "/status/", "//status//", "///status"])
@pytest.mark.parametrize("method", ["HEAD", "GET"])
def test_every_spelling_of_the_handshake_is_answered_without_a_redirect(
    server: Headwater, prefix: str, path: str, method: str
) -> None:
    response = server.ask(method, prefix + path)
    assert response.status_code == 200
    assert response.headers.getlist(VERSION_HEADER) == ["1.2", "1.1", "1"]
    assert response.headers.getlist("ABSA-Spline-API-LTS-Version") == ["1.2", "1.1"]
    assert response.headers.getlist("ABSA-Spline-Accept-Request-Encoding") == ["gzip"]
    assert response.data == b""
    assert "Content-Encoding" not in response.headers


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("path", ["//execution-plans", "/execution-plans/", "//execution-plans//"])
def test_every_spelling_of_a_post_is_taken_without_a_redirect(
    server: Headwater, prefix: str, path: str
) -> None:
    assert server.post(prefix + path, a_plan(), SPLINE_1_2).status_code == 201


def test_the_handshake_is_503_when_documents_cannot_be_taken(server: Headwater) -> None:
    server.journal.full = True
    response = server.client.head("/producer/status")
    assert response.status_code == 503
    assert response.headers["Retry-After"] == "5"


def test_other_paths_are_not_normalised_and_not_redirected(server: Headwater) -> None:
    assert server.ask("GET", "/health//live").status_code == 404


# --- plans ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("content_type", [SPLINE_1_1, SPLINE_1_2, f"{SPLINE_1_2}; charset=UTF-8"])
def test_a_plan_is_answered_with_exactly_its_quoted_id(
    server: Headwater, content_type: str
) -> None:
    response = server.post_plan(a_plan(), content_type)
    assert response.status_code == 201
    assert response.data == f'"{PLAN_ID}"'.encode()
    assert response.content_type == "application/json"


@pytest.mark.parametrize("name", captures.names())
def test_documents_of_real_agents_are_taken(name: str) -> None:
    with headwater() as server:
        for exchange in captures.load(name):
            sent = server.client.open(
                exchange.path,
                method=exchange.method,
                headers=list(exchange.headers),
                data=exchange.wire_body,
            )
            assert sent.status_code in {200, 201}, sent.data
            if exchange.kind == "plan":
                assert json.loads(sent.data) == exchange.document["id"]


def test_the_document_is_kept_as_it_was_sent_with_unknown_fields(server: Headwater) -> None:
    plan = a_plan(unheardOf={"x": [1, 2.5, None, "ü", "\u0000"]}, labels={"a": ["b"]})
    server.post_plan(plan)
    assert server.bodies() == [plan]


def test_it_is_kept_in_one_compact_spelling(server: Headwater) -> None:
    plan = a_plan(name="Zürich")
    server.post_plan(json.dumps(plan, indent=4).encode())
    document = server.journal.document(1)
    assert document is not None
    assert document.body == json.dumps(plan, ensure_ascii=False, separators=(",", ":")).encode()


def test_secrets_never_reach_the_journal(server: Headwater) -> None:
    plan = a_plan()
    plan["operations"]["write"]["params"] = {"password": "hunter2", "url": "jdbc:x://u:pw@h/db"}
    assert server.post_plan(plan).status_code == 201
    document = server.journal.document(1)
    assert document is not None
    assert b"hunter2" not in document.body
    assert b":pw@" not in document.body


def test_the_same_bytes_again_are_one_document_and_another_receipt(server: Headwater) -> None:
    first, second = server.post_plan(a_plan()), server.post_plan(a_plan())
    assert (first.status_code, first.data) == (second.status_code, second.data)
    assert len(server.bodies()) == 1
    assert len(server.journal.receipts(1)) == 2


def test_a_repeat_is_recognised_before_it_is_parsed(
    server: Headwater, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.post_plan(a_plan())
    monkeypatch.setattr(
        "api.intake.documents.parse_json", lambda _body: pytest.fail("parsed again")
    )
    assert server.post_plan(a_plan()).data == f'"{PLAN_ID}"'.encode()


def test_the_same_plan_in_other_bytes_is_one_document(server: Headwater) -> None:
    server.post_plan(json.dumps(a_plan(), indent=1).encode())
    server.post_plan(json.dumps(a_plan()).encode())
    server.post_plan(
        gzip.compress(json.dumps(a_plan()).encode()), headers={"Content-Encoding": "gzip"}
    )
    assert len(server.bodies()) == 1


def test_the_same_bytes_as_another_version_are_another_document(server: Headwater) -> None:
    server.post_plan(a_plan(), SPLINE_1_1)
    server.post_plan(a_plan(), SPLINE_1_2)
    assert [item.api_version for item in server.journal.entries().items] == ["1.2", "1.1"]


def test_a_plan_without_an_id_gets_one_from_its_content(server: Headwater) -> None:
    first = server.post_plan(a_plan(id=...))
    again = server.post_plan(json.dumps(a_plan(id=...), indent=2).encode())
    other = server.post_plan(a_plan(id=..., name="other"))
    assert first.data == again.data != other.data


def test_numbers_as_ids_are_taken_from_published_scripts(server: Headwater) -> None:
    plan = a_plan()
    plan["operations"]["write"] |= {"id": 0, "childIds": [1]}
    plan["operations"]["reads"][0]["id"] = 1
    assert server.post_plan(plan, SPLINE_1_1).status_code == 201


def test_a_plan_of_version_1_is_kept_as_such(server: Headwater) -> None:
    (plan,) = captures.plans("f_api1")
    assert server.post_plan(plan, SPLINE_1).status_code == 201
    assert server.bodies() == [plan]
    assert server.journal.entries().items[0].api_version == "1"


def test_a_newer_plan_under_the_plain_content_type_is_read_by_its_own_version(
    server: Headwater,
) -> None:
    server.post_plan(a_plan(), SPLINE_1)
    server.post_events([an_event()], SPLINE_1)
    assert {item.api_version for item in server.journal.entries().items} == {"1.2"}


def test_dangling_references_and_missing_parts_are_no_reason_to_refuse(
    server: Headwater,
) -> None:
    plan = a_plan(agentInfo=..., attributes=None, expressions=None, extraInfo=None)
    plan["operations"]["reads"][0] |= {"output": ["attr-9"], "params": None, "inputSources": []}
    assert server.post_plan(plan).status_code == 201


def test_the_scope_of_a_plan_is_its_label(server: Headwater) -> None:
    server.post_plan(a_plan(labels={"captureScope": ["team-a", "x"]}))
    server.post_plan(a_plan())
    scopes = {item.subject: item.scope for item in server.journal.entries().items}
    assert sorted(scopes.values()) == ["", "team-a"]


# --- events --------------------------------------------------------------------------------------


def test_events_are_answered_with_nothing(server: Headwater) -> None:
    response = server.post_events([an_event()])
    assert (response.status_code, response.data) == (201, b"")


def test_an_event_may_come_before_its_plan(server: Headwater) -> None:
    assert server.post_events([an_event(planId=OTHER_PLAN_ID)]).status_code == 201
    assert server.journal.entries().items[0].subject_key == OTHER_PLAN_ID


def test_each_event_of_a_list_is_a_document_and_a_repeat_is_not(server: Headwater) -> None:
    events = [an_event(timestamp=NOW + number) for number in (0, 1, 1)]
    assert server.post_events(events).status_code == 201
    assert server.post_events(events[:1]).status_code == 201
    assert server.bodies() == events[:2]


def test_a_failed_run_brings_its_error_as_text_or_anything(server: Headwater) -> None:
    events = [an_event(error="java.lang.Boom"), an_event(error={"code": 1}, durationNs=...)]
    assert server.post_events(events).status_code == 201


def test_an_empty_list_is_taken_and_keeps_nothing(server: Headwater) -> None:
    assert server.post_events([]).status_code == 201
    assert server.bodies() == []


def test_events_are_taken_all_or_none(server: Headwater) -> None:
    events = [an_event(timestamp=NOW + index) for index in range(3)]
    events.append(an_event(timestamp="soon"))
    response = server.post_events(events)
    assert response.status_code == 400
    assert errors_of(response) == {
        "[3].timestamp": ["milliseconds since 1970 as an integer, up to the year 9999"]
    }
    assert server.bodies() == []


def test_more_events_than_one_request_may_bring_are_refused(
    server: Headwater, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.intake.documents.MOST_EVENTS", 2)
    assert server.post_events([an_event()] * 2).status_code == 201
    assert errors_of(server.post_events([an_event()] * 3)) == {
        "document": ["at most 2 events in one request"]
    }


# --- durable, then the graph ---------------------------------------------------------------------


def test_nothing_is_answered_before_it_is_durable(server: Headwater) -> None:
    server.journal.full = True
    for response in (server.post_plan(a_plan()), server.post_events([an_event()])):
        assert response.status_code == 503
        assert response.headers["Retry-After"] == "5"
        assert errors_of(response) == {}
    server.journal.full = False
    assert server.bodies() == []
    assert server.projector.notified == 0


def test_a_repeat_is_not_answered_before_its_receipt_is_durable(server: Headwater) -> None:
    server.post_plan(a_plan())
    server.journal.full = True
    assert server.post_plan(a_plan()).status_code == 503


def test_the_projector_is_told_and_given_a_moment(server: Headwater) -> None:
    server.post_plan(a_plan())
    assert server.projector.notified == 1
    assert server.projector.waited == [((1,), 2.0)]


def test_a_repeat_of_a_document_that_the_graph_shows_already_does_not_wait(
    server: Headwater,
) -> None:
    server.post_plan(a_plan())
    server.journal.settle([1], DocumentState.PROJECTED)
    server.projector.waited.clear()
    server.post_plan(a_plan())
    assert server.projector.waited == []


@pytest.mark.parametrize("state", ["rebuilding", "unavailable"])
def test_nobody_waits_for_a_graph_that_is_behind_or_away(server: Headwater, state: str) -> None:
    server.projector.state = state
    assert server.post_plan(a_plan()).status_code == 201
    assert server.projector.notified
    assert server.projector.waited == []


def test_nobody_waits_for_the_graph_while_others_are_projected(server: Headwater) -> None:
    server.projector.idle = False
    assert server.post_plan(a_plan()).status_code == 201
    assert server.projector.notified
    assert server.projector.waited == []


def test_without_a_waiting_time_the_answer_does_not_wait() -> None:
    with headwater(projection_wait_ms=0) as server:
        server.post_plan(a_plan())
        assert server.projector.notified
        assert server.projector.waited == []


# --- hostile and broken input --------------------------------------------------------------------


def _changed(path: str, value: Any) -> dict[str, Any]:
    """``a_plan()`` with one place changed: ``operations.write.append``."""
    plan = a_plan()
    place: Any = plan
    *parents, last = path.split(".")
    for key in parents:
        place = place[int(key) if key.isdigit() else key]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return plan


URI = "a URI, not empty"
OBJECT = "a JSON object"
BROKEN_PLANS: list[tuple[Any, dict[str, list[str]]]] = [
    ([], {"document": [OBJECT]}),
    (None, {"document": [OBJECT]}),
    ("text", {"document": [OBJECT]}),
    (_changed("id", 5), {"id": ["a UUID string"]}),
    (_changed("id", "op-0"), {"id": ["a UUID string"]}),
    (_changed("name", {"a": 1}), {"name": ["a string"]}),
    (_changed("labels", ["a"]), {"labels": [OBJECT]}),
    (_changed("labels", {"a": [{}]}), {"labels.a": ["a string or a list of strings"]}),
    (_changed("operations", ...), {"operations": [OBJECT]}),
    (_changed("operations", []), {"operations": [OBJECT]}),
    (_changed("operations.write", ...), {"operations.write": [OBJECT]}),
    (_changed("operations.write", None), {"operations.write": [OBJECT]}),
    (_changed("operations.write.id", ...), {"operations.write.id": ["a string"]}),
    (_changed("operations.write.id", True), {"operations.write.id": ["a string"]}),
    (_changed("operations.write.append", ...), {"operations.write.append": ["true or false"]}),
    (_changed("operations.write.append", "no"), {"operations.write.append": ["true or false"]}),
    (_changed("operations.write.outputSource", " "), {"operations.write.outputSource": [URI]}),
    (
        _changed("operations.write.childIds", ["op-7"]),
        {"operations.write.childIds[0]": ["an operation's id, not 'op-7'"]},
    ),
    (_changed("operations.write.params", []), {"operations.write.params": [OBJECT]}),
    (_changed("operations.reads", {}), {"operations.reads": ["a list"]}),
    (_changed("operations.reads", [1]), {"operations.reads[0]": [OBJECT]}),
    (
        _changed("operations.reads.0.inputSources", "file:/x"),
        {"operations.reads[0].inputSources": ["a list of URIs"]},
    ),
    (
        _changed("operations.reads.0.inputSources", ["file:/x", 3]),
        {"operations.reads[0].inputSources[1]": [URI]},
    ),
    (
        _changed("operations.reads.0.id", "op-0"),
        {"operations.reads[0].id": ["operation ids used once, not 'op-0' twice"]},
    ),
    (
        _changed("operations.reads.0.childIds", ["op-0"]),
        {"operations": ["no cycle of childIds, as through 'op-0'"]},
    ),
    (_changed("attributes", {}), {"attributes": ["a list"]}),
    (_changed("attributes", [{"id": "a"}]), {"attributes[0].name": ["a string"]}),
    (
        _changed(
            "attributes", [{"id": "a", "name": "x", "childRefs": [{"__attrId": "b", "x": 1}]}]
        ),
        {"attributes[0].childRefs[0]": ['exactly one of {"__attrId"} or {"__exprId"}']},
    ),
    (
        _changed("attributes", [{"id": "a", "name": "x"}, {"id": "a", "name": "y"}]),
        {"attributes[1].id": ["attribute ids used once, not 'a' twice"]},
    ),
    (_changed("expressions", []), {"expressions": [OBJECT]}),
    (
        _changed("expressions", {"constants": [{"id": "e"}]}),
        {"expressions.constants[0].value": ["a value (null is one)"]},
    ),
    (_changed("systemInfo", ...), {"systemInfo": [OBJECT]}),
    (_changed("systemInfo", {"name": "spark"}), {"systemInfo.version": ["a string"]}),
    (_changed("agentInfo", {"name": "x"}), {"agentInfo.version": ["a string"]}),
    (_changed("extraInfo", []), {"extraInfo": [OBJECT]}),
    (
        _changed("labels", {"captureScope": ["a\nb"]}),
        {"labels.captureScope": ["a name of up to 200 printable characters"]},
    ),
]


@pytest.mark.parametrize(
    ("plan", "expected"), BROKEN_PLANS, ids=[str(number) for number in range(len(BROKEN_PLANS))]
)
def test_a_broken_plan_is_refused_by_the_name_of_the_place(
    server: Headwater, plan: Any, expected: dict[str, list[str]]
) -> None:
    response = server.post_plan(plan)
    assert response.status_code == 400
    assert errors_of(response) == expected
    assert server.bodies() == []


def test_everything_wrong_with_the_envelope_is_named_at_once(server: Headwater) -> None:
    plan = a_plan(id="x", systemInfo=...)
    plan["operations"]["write"]["append"] = 0
    assert set(errors_of(server.post_plan(plan))) == {
        "id",
        "systemInfo",
        "operations.write.append",
    }


BROKEN_EVENTS: list[tuple[Any, dict[str, list[str]]]] = [
    ({}, {"document": ["a list of events"]}),
    ("x", {"document": ["a list of events"]}),
    ([1], {"[0]": [OBJECT]}),
    ([an_event(planId=...)], {"[0].planId": ["a UUID string"]}),
    ([an_event(planId="op-0")], {"[0].planId": ["a UUID string"]}),
    ([an_event(), an_event(extra=[])], {"[1].extra": [OBJECT]}),
    (
        [an_event(durationNs=-1)],
        {"[0].durationNs": ["nanoseconds as a non-negative 64-bit integer"]},
    ),
    (
        [an_event(timestamp=...)],
        {"[0].timestamp": ["milliseconds since 1970 as an integer, up to the year 9999"]},
    ),
    (
        [an_event(timestamp=10**15)],
        {"[0].timestamp": ["milliseconds since 1970 as an integer, up to the year 9999"]},
    ),
]


@pytest.mark.parametrize("content_type", [SPLINE_1, SPLINE_1_2])
@pytest.mark.parametrize(
    ("events", "expected"), BROKEN_EVENTS, ids=[str(number) for number in range(len(BROKEN_EVENTS))]
)
def test_broken_events_are_refused_by_the_name_of_the_place(
    server: Headwater, events: Any, expected: dict[str, list[str]], content_type: str
) -> None:
    response = server.post_events(events, content_type)
    assert response.status_code == 400
    assert errors_of(response) == expected


HOSTILE_BODIES: dict[str, tuple[bytes, dict[str, str], int]] = {
    "nothing": (b"", {}, 400),
    "no JSON": (b"hello", {}, 400),
    "cut short": (json.dumps(a_plan()).encode()[:-3], {}, 400),
    "two documents": (b"{}{}", {}, 400),
    "NaN": (b'{"a": NaN}', {}, 400),
    "a number beyond a double": (b'{"a": 1e999}', {}, 400),
    "an integer of 5,000 digits": (b'{"a": ' + b"9" * 5000 + b"}", {}, 400),
    "a key twice": (b'{"a": 1, "a": 2}', {}, 400),
    "a deep nest of lists": (b"[" * 40_000, {}, 400),
    "a deep nest of objects": (b'{"a":' * 15_000, {}, 400),
    "no UTF-8": (b'{"a": "\xff"}', {}, 400),
    "UTF-16": ('{"a": 1}'.encode("utf-16"), {}, 400),
    "too large": (b" " * 100_001, {}, 413),
    "too large when packed": (b"x" * 50_001, {"Content-Encoding": "gzip"}, 413),
    "a gzip bomb": (gzip.compress(b" " * 10_000_000), {"Content-Encoding": "gzip"}, 413),
    "half a gzip": (gzip.compress(b"{}")[:-4], {"Content-Encoding": "gzip"}, 400),
    "a gzip with a wrong sum": (
        gzip.compress(b"{}")[:-8] + b"\0" * 8,
        {"Content-Encoding": "gzip"},
        400,
    ),
    "a gzip and something": (gzip.compress(b"{}") + b"x", {"Content-Encoding": "gzip"}, 400),
    "no gzip": (b"{}", {"Content-Encoding": "gzip"}, 400),
    "an empty gzip": (b"", {"Content-Encoding": "gzip"}, 400),
    "another encoding": (b"{}", {"Content-Encoding": "br"}, 415),
}


@pytest.mark.parametrize("name", HOSTILE_BODIES)
@pytest.mark.parametrize("path", ["/execution-plans", "/producer/execution-events"])
def test_a_hostile_body_is_refused_and_leaves_nothing(
    server: Headwater, name: str, path: str
) -> None:
    body, headers, status = HOSTILE_BODIES[name]
    response = server.post(path, body, SPLINE_1_2, headers=headers)
    assert response.status_code == status
    errors_of(response)
    assert server.bodies() == []


@pytest.mark.parametrize(
    "content_type",
    [None, "text/plain", "application/xml", f"{SPLINE_1_2}; charset=latin-1", "application/jsonx"],
)
def test_a_content_type_that_tells_no_version_is_a_415_that_lists_those_that_do(
    server: Headwater, content_type: str | None
) -> None:
    response = server.post("/execution-plans", a_plan(), content_type)
    assert response.status_code == 415
    errors_of(response)
    assert SPLINE_1_2 in response.get_json()["message"]


@pytest.mark.parametrize("encoding", ["gzip", "GZIP", "x-gzip"])
def test_gzip_is_taken_in_one_or_more_members(server: Headwater, encoding: str) -> None:
    text = json.dumps(a_plan()).encode()
    packed = gzip.compress(text[:50]) + gzip.compress(text[50:])
    response = server.post_plan(packed, headers={"Content-Encoding": encoding})
    assert response.status_code == 201
    assert server.bodies() == [a_plan()]


def test_a_byte_order_mark_and_half_a_character_are_forgiven(server: Headwater) -> None:
    plan = json.dumps(a_plan(name="cut \ud83d")).encode()
    assert server.post_plan(b"\xef\xbb\xbf" + plan).status_code == 201
    assert server.bodies() == [a_plan(name="cut \ufffd")]


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_another_method_is_a_405_that_lists_those_allowed(server: Headwater, method: str) -> None:
    response = server.client.open("/producer/execution-plans", method=method)
    assert response.status_code == 405
    assert "POST" in response.headers["Allow"]
    errors_of(response)
