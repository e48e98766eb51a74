"""A key that stands twice in one object: taken on every road, noted where the values differ."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.http.errors import Reason
from api.service.refusals import LOOKED_AT, Refusals
from collectors.kafka import KafkaRecord, read_record
from graph_model.documents.files import Piece, recognise
from graph_model.stores.documents import DocumentState
from graph_model.values import Role
from tests.e2e.openlineage.test_openlineage import BATCH, JSON, LINEAGE, RUN
from tests.e2e.producer_service import SPLINE_1_2, Headwater, a_plan, an_event
from tests.e2e.producer_service import headwater as in_memory
from tests.e2e.small_client import client_of
from tests.projections import SmallHeadwater

NOW = 1_800_000_000_000
RUN_ID = RUN["run"]["runId"]
#: As OpenLineage's client for Spark tells of a job of RDDs.
ENGINE = '{"_producer":"https://x/tree/1.53.0/integration/spark","version":"4.0.0","name":"spark"}'
RDD_EVENT = json.dumps(RUN).replace(
    '"facets": {}}', f'"facets":{{"processing_engine":{ENGINE},"processing_engine":{ENGINE}}}}}', 1
)
SECRET = "hunter2-of-the-first"
DIFFERENT = json.dumps(RUN).replace(
    '"facets": {}}',
    f'"facets":{{"environment":{{"password":"{SECRET}","url":"jdbc:x://u:{SECRET}@h/d"}},'
    '"environment":{"stage":"test"}}}',
    1,
)
NOTED = ["run.facets.environment"]
SAID = f"keys given twice with different values, of which the last counts: {NOTED[0]}"


@pytest.fixture
def server() -> Iterator[Headwater]:
    with in_memory() as made:
        yield made


def as_once(text: str) -> Any:
    return json.loads(text)


@pytest.mark.parametrize("spelling", [RDD_EVENT, RDD_EVENT.replace('": ', '":')])
def test_an_event_with_equal_repeats_is_taken_as_it_was_meant(
    server: Headwater, spelling: str
) -> None:
    assert server.post(LINEAGE, spelling.encode(), JSON).status_code == 201
    batch = f"[{spelling}, {json.dumps(RUN)}]"
    answer = server.post(BATCH, batch.encode(), JSON)
    assert answer.get_json()["summary"]["failed"] == 0
    assert server.bodies() == [as_once(RDD_EVENT), RUN]


def test_of_different_values_the_last_counts_and_the_others_are_gone(server: Headwater) -> None:
    assert server.post(LINEAGE, DIFFERENT.encode(), JSON).status_code == 201
    assert server.bodies() == [{**as_once(DIFFERENT), "_repeatedKeys": NOTED}]
    stored = server.journal.document(1)
    assert stored is not None
    assert SECRET.encode() not in stored.body


@pytest.mark.parametrize("order", [("hidden", "shown"), ("shown", "hidden")])
def test_no_secret_survives_in_any_of_the_repeats(
    server: Headwater, order: tuple[str, str]
) -> None:
    values = {"hidden": f'{{"password": "{SECRET}"}}', "shown": '{"password": ""}'}
    first, last = (values[one] for one in order)
    plan = json.dumps(a_plan())
    text = f'{plan[:-1]}, "extra": {first}, "extra": {last}, "password": "{SECRET}"}}'
    assert server.post_plan(text.encode()).status_code == 201
    twice = f'{plan[:-1]}, "password": "{SECRET}", "password": "{SECRET}"}}'
    assert server.post_plan(twice.encode()).status_code == 201
    assert SECRET not in json.dumps(server.bodies())


def test_spline_documents_and_lists_of_them_are_taken_alike(server: Headwater) -> None:
    plan = json.dumps(a_plan())
    assert server.post_plan(f'{plan[:-1]}, "name": "last"}}'.encode()).status_code == 201
    event = json.dumps(an_event())
    other = json.dumps(an_event(timestamp=1_700_000_009_000))
    text = f'[{event[:-1]}, "more": 1, "more": 2}}, {other}]'
    assert server.post_events(text.encode()).status_code == 201
    noted = [body.get("_repeatedKeys") for body in server.bodies()]
    assert noted == [["name"], ["more"], None]


def test_files_and_queues_are_read_alike(tmp_path: Path) -> None:
    exported = f'{{"kind": "run-event", "apiVersion": "2", "scope": "", "body": {DIFFERENT}}}'
    marked = json.dumps(a_plan())[:-1] + ', "name": "last"}'
    log = f"INFO LoggingLineageDispatcher: ExecutionPlan (apiVersion: 1.2):\n{marked}\n"
    lineage = f'{{"executionPlan": {marked}, "executionEvent": null}}'
    found = [
        one
        for text in (RDD_EVENT, DIFFERENT, exported, log, lineage)
        for one in recognise(
            [text + "\n"] if "\n" not in text else text.splitlines(True), "f", 9**9
        )
    ]
    assert all(isinstance(one, Piece) for one in found)
    noted = [one.document.get("_repeatedKeys") for one in found if isinstance(one, Piece)]
    inside = [[f"body.{NOTED[0]}"], ["name"], ["executionPlan.name"]]
    assert noted == [None, NOTED, *inside]
    header = (("__TypeId__", b"ExecutionPlan_1.2"),)
    record = read_record(KafkaRecord("t", 0, 1, header, marked.encode()))
    assert record.document["_repeatedKeys"] == ["name"]


def test_the_note_is_the_reason_in_the_journal_and_a_gap_of_the_plan(
    headwater: SmallHeadwater,
) -> None:
    client = client_of(headwater, NOW)
    client.post(LINEAGE, data=DIFFERENT, content_type=JSON)
    headwater.project()
    (entry,) = client.get("/journal").get_json()["items"]
    assert (entry["state"], entry["reason"]) == (DocumentState.PROJECTED, SAID)
    (event,) = client.get(f"/graph/runs/{RUN_ID}").get_json()["history"]
    assert event["reason"] == SAID
    gaps = client.get(f"/graph/plans/{RUN_ID}").get_json()["gaps"]
    assert {"code": "repeated-key", "detail": NOTED[0]} in gaps


def test_a_plan_keeps_its_note_when_another_event_comes(headwater: SmallHeadwater) -> None:
    client = client_of(headwater, NOW)
    text = json.dumps(a_plan())[:-1] + ', "name": "last"}'
    client.post("/producer/execution-plans", data=text, content_type=SPLINE_1_2)
    for at in (1_700_000_000_000, 1_700_000_009_000):
        events = json.dumps([an_event(timestamp=at)])
        client.post("/producer/execution-events", data=events, content_type=SPLINE_1_2)
        headwater.project()
    said = [item["reason"] for item in client.get("/journal").get_json()["items"]]
    assert said == [None, None, SAID.replace(NOTED[0], "name")]
    gaps = client.get(f"/graph/plans/{a_plan()['id']}").get_json()["gaps"]
    assert gaps == [{"code": "repeated-key", "detail": "name"}]


def test_an_order_of_a_person_gives_each_key_one_value(server: Headwater) -> None:
    text = b'{"command": "hide", "node": "s3://a", "node": "s3://b", "dryRun": true}'
    answer = server.post("/commands", text, JSON)
    assert answer.status_code == 400
    assert "one value for each key" in answer.get_json()["message"]


# --- refusals ------------------------------------------------------------------------------------


def reasons(server: Headwater) -> set[str]:
    lines = server.client.get("/metrics").text.splitlines()
    return {line for line in lines if line.startswith("headwater_refusals_total{")}


@pytest.mark.parametrize(
    ("path", "body", "kind", "reason", "said"),
    [
        (LINEAGE, b"{", "lineage", "unreadable", "JSON"),
        (LINEAGE, b"\xff", "lineage", "unreadable", "UTF-8"),
        (LINEAGE, b"{}", "lineage", "invalid", "an event with a run"),
        (LINEAGE, b'{"eventTime": 1, "run": {}}', "lineage", "invalid", "eventTime"),
        ("/", b"[" * 100_000, "lineage", "unreadable", "nested"),
        (BATCH, b"{}", "lineage", "invalid", "a list of events"),
        (BATCH, b'[{"eventTime": 1, "run": {}}]', "lineage", "invalid", r"\[0\] eventTime"),
        ("/producer/execution-plans", b'{"id": 1}', "plan", "invalid", "operations"),
        ("/execution-events", b"[{}]", "event", "invalid", "planId"),
        (LINEAGE, b'"' + b"x" * 300_000 + b'"', "lineage", "too-large", "larger than"),
    ],
)  # fmt: skip
def test_a_refusal_is_logged_and_counted_with_its_reason(
    path: str, body: bytes, kind: str, reason: str, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    with in_memory(max_body_bytes=200_000) as server:
        content_type = SPLINE_1_2 if "execution" in path else JSON
        with caplog.at_level(logging.WARNING, "headwater.refusals"):
            server.post(path, body, content_type)
        (line,) = caplog.messages
        assert f"{kind} of anonymous refused, {reason}: " in line
        assert re.search(said, line)
        assert reasons(server) == {
            f'headwater_refusals_total{{kind="{kind}",reason="{reason}"}} 1.0'
        }


def test_refusals_of_keys_are_told_as_well(
    server: Headwater, caplog: pytest.LogCaptureFixture
) -> None:
    reader = server.make_key("reader", Role.READER)
    with caplog.at_level(logging.WARNING, "headwater.refusals"):
        server.post(LINEAGE, RUN, JSON)
        server.post(LINEAGE, RUN, JSON, headers=reader)
        server.post(LINEAGE, RUN, "text/plain", headers=server.make_key("p", Role.PRODUCER))
    assert [one.split(":")[0].rpartition(" ")[2] for one in caplog.messages] == [
        "unauthenticated", "forbidden", "content-type",
    ]  # fmt: skip


def test_refusals_are_counted_by_one_thread_at_a_time() -> None:
    refusals = Refusals()
    alone = []

    class Periods(dict[tuple[str, str], Any]):
        def setdefault(self, key: tuple[str, str], default: Any = None) -> Any:
            alone.append(refusals._lock.locked())
            return super().setdefault(key, default)

    refusals._periods = Periods()
    refusals.log_refusal("plan", Reason("unreadable", "JSON"), "etl")
    assert alone == [True]


def test_a_client_that_repeats_itself_fills_no_log(caplog: pytest.LogCaptureFixture) -> None:
    now = [0.0]
    refusals = Refusals(lambda: now[0])
    with caplog.at_level(logging.WARNING, "headwater.refusals"):
        for _ in range(1_000):
            refusals.log_refusal("plan", Reason("invalid", "id: expected\na UUID"), "etl")
        refusals.log_refusal("plan", Reason("unreadable", "JSON"), "etl")
        now[0] = 61.0
        refusals.log_refusal("plan", Reason("invalid", "x" * 1_000), "etl")
    assert len(caplog.messages) == 7
    assert caplog.messages[0] == "plan of etl refused, invalid: id: expected a UUID"
    assert caplog.messages[-1].endswith("x… (995 more like it since the last line)")
    assert len(caplog.messages[-1]) < 400


def refused(server: Headwater, key: dict[str, str]) -> list[dict[str, Any]]:
    answer = server.client.get("/journal/refused", headers=key)
    assert answer.status_code == 200
    items: list[dict[str, Any]] = answer.get_json()["items"]
    return items


def test_an_admin_sees_what_was_refused_its_reason_and_its_beginning_masked(
    server: Headwater,
) -> None:
    admin = server.make_key("admin", Role.ADMIN)
    etl = server.make_key("etl", Role.PRODUCER)
    text = b'{"eventType": "DONE", "job": {"name": "jdbc:x://u:geheim@h/d?password=geheim"}}'
    for _ in range(3):
        server.post(LINEAGE, text, JSON, headers=etl)
    server.post(LINEAGE, text, JSON)
    unknown, wrong = refused(server, admin)
    assert (unknown["reason"], unknown["beginning"]) == ("unauthenticated", "")
    assert (wrong["principal"], wrong["count"], wrong["reason"]) == ("etl", 3, "invalid")
    assert wrong["beginning"].startswith('{"eventType": "DONE"')
    assert "geheim" not in str(wrong)
    assert server.client.get("/journal/refused", headers=etl).status_code == 403


def test_an_admin_reads_a_document_as_it_is_kept(server: Headwater) -> None:
    admin = server.make_key("admin", Role.ADMIN)
    reader = server.make_key("reader", Role.READER)
    etl = server.make_key("etl", Role.PRODUCER)
    event: dict[str, Any] = {
        "eventType": "COMPLETE",
        "eventTime": "2026-01-05T06:00:00Z",
        "run": {"runId": "0d8a9a5c-0000-4000-8000-000000000001"},
        "job": {"namespace": "bi", "name": "jdbc:x://u:geheim@h/d?password=geheim"},
        "producer": "https://example.com/etl",
    }
    assert server.post(LINEAGE, json.dumps(event).encode(), JSON, headers=etl).status_code < 300
    wide = event | {"run": {"runId": "0d8a9a5c-0000-4000-8000-000000000002"}}
    wide["inputs"] = [
        {"namespace": "s3://lake", "name": f"in/{number}"} for number in range(25_000)
    ]
    assert server.post(LINEAGE, json.dumps(wide).encode(), JSON, headers=etl).status_code < 300
    large, small = server.client.get("/journal", headers=reader).get_json()["items"]

    def answer(position: int, key: dict[str, str]) -> Any:
        return server.client.get(f"/journal/{position}", headers=key)

    shown = answer(small["position"], admin).get_json()
    assert json.loads(shown["text"])["eventType"] == "COMPLETE"
    assert shown["partial"] is None
    assert "geheim" not in shown["text"]
    assert small.items() <= shown.items()
    cut = answer(large["position"], admin).get_json()
    assert (len(cut["text"]), cut["partial"]) == (
        200_000,
        {"reason": "characters", "limit": 200_000},
    )
    assert [answer(small["position"], key).status_code for key in (reader, etl)] == [403, 403]
    assert [answer(position, admin).status_code for position in (0, 1_000, 10**30)] == [404] * 3


def test_the_newest_thousand_refusals_of_a_day_are_kept_in_rows_of_a_minute() -> None:
    refusals = Refusals()
    for caller in range(1_100):
        for at in (0, 59_999):
            refusals.keep("plan", Reason("invalid", "id"), str(caller), lambda: b"x" * 600, at)
    rows = refusals.kept(60_000)
    assert [len(rows), rows[0].principal, rows[-1].principal] == [1_000, "1099", "100"]
    assert (rows[0].at, rows[0].last, rows[0].count) == (0, 59_999, 2)
    assert len(rows[0].beginning) == 512
    assert refusals.kept(2 * 86_400_000) == []


def test_no_part_of_a_secret_is_shown_where_the_looked_at_part_of_a_body_ends() -> None:
    refusals = Refusals()
    login = '"}, "u": "jdbc:postgresql://reader:geheim'
    value = "x" * (LOOKED_AT - len('{"password": "' + login))
    body = ('{"password": "' + value + login + '@h/d"}').encode()
    refusals.keep("plan", Reason("invalid", "id"), "etl", lambda: body[:LOOKED_AT], 0)
    assert "geheim" not in refusals.kept(0)[0].beginning


def test_what_repeats_within_a_minute_is_read_once() -> None:
    refusals = Refusals()
    bodies = iter((b"{}",))
    for at in range(100):
        refusals.keep("plan", Reason("invalid", "id"), "etl", lambda: next(bodies), at)
    (row,) = refusals.kept(99)
    assert (row.beginning, row.count, row.at, row.last) == ("{}", 100, 0, 99)
