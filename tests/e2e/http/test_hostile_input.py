"""Short requests that would cost hours, gigabytes or all connections: bounded, and answered."""

from __future__ import annotations

import gzip
import json
import threading
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

import graph_model.documents.json_texts
from api.http.bodies import UnpackingMemory
from graph_model.documents.json_texts import gunzip, inflated, memory_for, parse_json
from graph_model.errors import InvalidFields
from graph_model.producers.openlineage.producer import event_submission
from tests.e2e.producer_service import (
    PLAN_ID,
    SPLINE_1,
    SPLINE_1_2,
    Headwater,
    a_plan,
    an_event,
    errors_of,
    headwater,
)
from tests.waiting import eventually

GZIP = {"Content-Encoding": "gzip"}
EMPTY_MEMBER = gzip.compress(b"", mtime=0)
MEBIBYTE = 1024 * 1024


@pytest.fixture
def server() -> Iterator[Headwater]:
    with headwater() as made:
        yield made


# --- bytes ---------------------------------------------------------------------------------------


def test_two_hundred_thousand_empty_gzip_members_are_read_once() -> None:
    """The rest of the stream was copied at each member: this took minutes."""
    assert gunzip(EMPTY_MEMBER * 200_000, 1) == b""


def test_gzip_members_that_together_exceed_the_limit_are_a_413(server: Headwater) -> None:
    member = gzip.compress(b" " * MEBIBYTE)
    response = server.post_plan(member * 65, headers=GZIP)
    assert response.status_code == 413
    errors_of(response)


def test_a_gzip_in_a_gzip_is_unpacked_once_and_is_no_json(server: Headwater) -> None:
    inner = gzip.compress(json.dumps(a_plan()).encode())
    response = server.post_plan(gzip.compress(inner), headers=GZIP)
    assert response.status_code == 400
    assert list(errors_of(response)) == ["document"]


@pytest.mark.parametrize("cut", [0, 1, 20])
def test_members_are_whole_or_refused_wherever_they_meet(cut: int) -> None:
    text = json.dumps(a_plan(name="x" * 200_000)).encode()
    packed = b"".join(gzip.compress(text[at : at + 50_000]) for at in range(0, len(text), 50_000))
    if cut:
        with pytest.raises(InvalidFields, match="a whole gzip stream"):
            gunzip(packed[:-cut], len(text))
    else:
        assert gunzip(packed, len(text)) == text


class Counted:
    """Counts how often values of a text were compared or spelled."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.looked_at = 0
        self._same = graph_model.documents.json_texts._say_the_same
        monkeypatch.setattr("graph_model.documents.json_texts._say_the_same", self._compare)

    def _compare(self, one: object, other: object) -> bool:
        self.looked_at += 1
        return self._same(one, other)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text",
    [
        "{" + ",".join(['"a":{"b":[1]}'] * 100_000) + "}",
        "{" + ",".join(f'"{number % 50_000}":{number}' for number in range(100_000)) + "}",
        "{" + ",".join(f'"{number}":1' for number in range(100_000)) + ',"99999":2}',
        "[" + ",".join(['{"a":1,"a":2}'] * 50_000) + "]",
    ],
)
def test_each_of_many_repeated_keys_is_compared_once(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """Each key was counted among all others, which takes minutes for so many."""
    counted = Counted(monkeypatch)
    assert parse_json(text.encode())
    assert counted.looked_at <= 100_001


def test_a_document_of_too_many_values_is_refused_before_it_is_parsed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("graph_model.documents.json_texts.MOST_VALUES", 1_000)
    monkeypatch.setattr(
        "graph_model.documents.json_texts._load", lambda _text: pytest.fail("parsed")
    )
    for dense in (b"[" + b"{}," * 1_000 + b"1]", b'["' + b'","' * 1_001 + b'"]'):
        with pytest.raises(InvalidFields, match="at most 1,000 values"):
            parse_json(dense)


@pytest.mark.parametrize(
    "text", ["," * 5_000, '[{"' * 5_000, "\\" * 5_000 + ",", '",' * 5_000, 'é"\\,' * 5_000]
)
def test_commas_in_strings_are_no_values(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("graph_model.documents.json_texts.MOST_VALUES", 1_000)
    document = {"a": text, "b": [text, 1], text: None}
    assert parse_json(json.dumps(document).encode()) == document


def test_large_documents_are_unpacked_one_after_the_other_and_small_ones_at_once() -> None:
    room, entered = UnpackingMemory(30 * MEBIBYTE), threading.Event()

    def enter() -> None:
        with room.hold(20 * MEBIBYTE):
            entered.set()

    waiting = threading.Thread(target=enter)
    with room.hold(20 * MEBIBYTE):
        waiting.start()
        with room.hold(16 * MEBIBYTE):
            assert not entered.is_set()
    waiting.join(60)
    assert entered.is_set()


def test_a_document_larger_than_the_room_enters_alone_and_leaves_it_after_an_error() -> None:
    room = UnpackingMemory(MEBIBYTE)
    with pytest.raises(InvalidFields), room.hold(50 * MEBIBYTE):
        raise InvalidFields({"document": ["something else"]})
    with room.hold(50 * MEBIBYTE):
        pass


def test_a_short_gzip_of_many_objects_waits_before_it_is_inflated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Twelve of 7.6 kB grew the service by 1.7 GB: a text of 8 MB was counted as 8 MB, and only
    once it was there.
    """
    text = b"[" + b"{}," * 1_000_000 + b"{}]"
    raw = gzip.compress(text)
    room, entered = UnpackingMemory(256 * MEBIBYTE), threading.Event()
    inflations: list[int] = []

    def inflating(packed: bytes, limit: int) -> Iterator[bytes]:
        inflations.append(len(packed))
        return inflated(packed, limit)

    def enter() -> None:
        with room.unpacked(raw, packed=True, limit=len(text)) as body:
            assert body == text
            entered.set()

    monkeypatch.setattr("api.http.bodies.inflated", inflating)
    waiting = threading.Thread(target=enter)
    with room.hold(100 * MEBIBYTE):
        waiting.start()
        eventually(lambda: len(inflations) == 1)  # to be measured
        assert not entered.is_set()
    waiting.join(60)
    assert entered.is_set()
    assert len(inflations) == 2


def test_a_stream_is_inflated_in_pieces_whatever_its_ratio() -> None:
    text = b" " * (5 * MEBIBYTE)
    pieces = list(inflated(gzip.compress(text) * 2, 2 * len(text)))
    assert max(map(len, pieces)) == MEBIBYTE
    assert b"".join(pieces) == text * 2


@pytest.mark.parametrize(
    "value", ["{}", "[]", '{"a": 1}', "1.5", "1000", '"%d"', "[[[]]]", '{"%d": %d}', '"%1000d"']
)
def test_a_document_takes_no_more_memory_than_is_held_for_it(value: str) -> None:
    numbered = (value.replace("%d", str(n)).replace("%1000d", "x" * 1_000) for n in range(3_000))
    event = {
        "eventType": "COMPLETE",
        "eventTime": "2026-01-01T00:00:00Z",
        "producer": "https://example.org",
        "run": {"runId": "1", "facets": {"many": {"values": [json.loads(v) for v in numbered]}}},
        "job": {"namespace": "a", "name": "b"},
    }
    body = json.dumps(event, separators=(",", ":")).encode()
    event_submission(json.loads(body), "")  # what is made once stays
    tracemalloc.start()
    event_submission(parse_json(body), "")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most <= memory_for(body)


# --- documents -----------------------------------------------------------------------------------


def with_operations(**operations: Any) -> dict[str, Any]:
    plan = a_plan()
    plan["operations"] |= operations
    return plan


@pytest.mark.parametrize("place", ["reads", "other"])
def test_a_list_of_nothing_but_mistakes_names_the_first_ones(server: Headwater, place: str) -> None:
    """Each of millions of entries got messages of its own: minutes and gigabytes."""
    response = server.post_plan(with_operations(**{place: [{}] * 100_000}))
    assert response.status_code == 400
    errors = errors_of(response)
    assert 0 < len(errors) <= 50
    assert f"operations.{place}[0].id" in errors


@pytest.mark.parametrize("place", ["reads", "other"])
def test_a_mistake_after_a_thousand_right_entries_is_named(server: Headwater, place: str) -> None:
    good = {"name": "x", "inputSources": []}
    listed: list[Any] = [{"id": f"x{number}", **good} for number in range(1_000)]
    plan = with_operations(**{place: [*listed, {"id": "last", **good, "params": []}]})
    plan["operations"]["write"]["childIds"] = []
    response = server.post_plan(plan)
    assert errors_of(response) == {f"operations.{place}[1000].params": ["a JSON object"]}


def written_from(child: str) -> dict[str, Any]:
    return {**a_plan()["operations"]["write"], "childIds": [child]}


LONG = "x" * MEBIBYTE


@pytest.mark.parametrize(
    "operations",
    [
        {"write": written_from(LONG)},
        {"other": [{"id": LONG}, {"id": LONG}]},
        {"write": written_from(LONG), "other": [{"id": LONG, "childIds": [LONG]}]},
    ],
    ids=["unknown child", "id twice", "own child"],
)
def test_a_refusal_does_not_send_back_megabytes(
    server: Headwater, operations: dict[str, Any]
) -> None:
    response = server.post_plan(with_operations(**operations))
    assert response.status_code == 400
    assert len(response.data) < 1_000


def test_a_long_name_of_a_label_is_cut_in_the_refusal(server: Headwater) -> None:
    response = server.post_plan(a_plan(labels={"l" * MEBIBYTE: [{}]}))
    assert response.status_code == 400
    assert len(response.data) < 1_000


def test_a_union_of_one_input_ten_thousand_times_is_refused(server: Headwater) -> None:
    """Version 1 leaves the branches of a union to us: columns times inputs, 40 kB said 10^8."""
    columns = [f"o{number}" for number in range(1_000)]
    plan = {
        "id": PLAN_ID,
        "operations": {
            "write": {"id": 0, "outputSource": "file:/o", "append": False, "childIds": [2]},
            "reads": [{"id": 1, "inputSources": ["file:/i"], "schema": ["a"] * 1_000}],
            "other": [
                {"id": 2, "childIds": [1] * 10_000, "schema": columns, "extra": {"name": "Union"}}
            ],
        },
        "systemInfo": {"name": "spark", "version": "2.4.8"},
        "extraInfo": {"attributes": [{"id": name, "name": name} for name in columns]},
    }
    response = server.post_plan(plan, SPLINE_1)
    assert response.status_code == 400
    assert errors_of(response) == {"operations": ["unions of at most 1,000,000 columns"]}


def test_one_plan_id_with_two_bodies_is_two_documents_and_both_are_taken(
    server: Headwater,
) -> None:
    answers = [server.post_plan(a_plan(name=name)) for name in ("one", "two")]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert [body["name"] for body in server.bodies()] == ["one", "two"]


@pytest.mark.parametrize(
    "content_type",
    [
        'application/vnd.absa.spline.producer.v1.2+json; charset="UTF-8"',
        "APPLICATION/VND.ABSA.SPLINE.PRODUCER.V1.2+JSON",
        "application/vnd.absa.spline.producer.v1.2+json ;  charset = utf-8",
        'application/vnd.absa.spline.producer.v1.2+json; profile="a;b"; charset=utf8',
        f"{SPLINE_1_2};",
    ],
)
def test_a_content_type_may_be_spelled_oddly(server: Headwater, content_type: str) -> None:
    assert server.post_plan(a_plan(), content_type).status_code == 201
    assert server.post_events([an_event()], content_type).status_code == 201
    assert {item.api_version for item in server.journal.entries().items} == {"1.2"}
