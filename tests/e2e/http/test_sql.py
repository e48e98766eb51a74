"""``POST /sql``: text in, lineage out, nothing stored."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from graph_model.sql import MOST_CHARACTERS
from graph_model.values import Role
from tests.e2e.producer_service import Headwater, headwater

TEXT = {"sql": "INSERT INTO t SELECT * FROM s WHERE k = 'hunter2'", "dialect": "postgres"}
SCHEMAS = {"p.s": ["a"], "p.t": ["b"]}


@pytest.fixture
def server() -> Iterator[Headwater]:
    with headwater() as made:
        yield made


def test_a_text_is_translated_and_nothing_is_stored(server: Headwater) -> None:
    body = TEXT | {"schemas": SCHEMAS, "schema": "p", "database": "d"}
    answer = server.client.post("/sql", json=body)
    (statement,) = answer.get_json()["statements"]
    assert answer.status_code == 200
    assert set(statement) == {"reads", "writes", "columns", "gaps"}
    assert statement["columns"][0] == {
        "to": "d.p.t#b",
        "from": ["d.p.s#a"],
        "kind": "DIRECT",
        "how": "IDENTITY",
        "expression": "a",
    }
    assert b"hunter2" not in answer.data
    assert server.journal.summary().received == 0


def test_unreadable_text_is_a_200_with_a_gap(server: Headwater) -> None:
    answer = server.client.post("/sql", json={"sql": "SELECT SELECT", "dialect": "spark"})
    assert answer.status_code == 200
    assert answer.get_json()["statements"][0]["gaps"][0]["code"] == "unreadable"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"dialect": "klingon"}, "dialect"),
        ({"dialect": None}, "dialect"),
        ({"sql": 1}, "sql"),
        ({"schemas": {"t": "a"}}, "schemas"),
        ({"schemas": []}, "schemas"),
        ({"other": 1}, "other"),
    ],
)
def test_a_wrong_field_is_a_400_that_names_it(
    server: Headwater, change: dict[str, object], field: str
) -> None:
    answer = server.client.post("/sql", json=TEXT | change)
    assert answer.status_code == 400
    assert set(answer.get_json()["errors"]) == {field}


def test_what_is_no_json_is_a_400_and_a_large_text_a_413(server: Headwater) -> None:
    broken = server.client.post("/sql", data=b"{", content_type="application/json")
    assert broken.status_code == 400
    large = TEXT | {"sql": "x" * (MOST_CHARACTERS + 1)}
    assert server.client.post("/sql", json=large).status_code == 413
    assert server.client.post("/sql", json=TEXT | {"sql": "é" * 600_000}).status_code == 413


def test_a_reader_may_ask_and_a_producer_may_not(server: Headwater) -> None:
    server.make_key("admin", Role.ADMIN)
    reader, producer = server.make_key("r", Role.READER), server.make_key("p", Role.PRODUCER)
    assert server.client.post("/sql", json=TEXT, headers=reader).status_code == 200
    assert server.client.post("/sql", json=TEXT, headers=producer).status_code == 403
    assert server.client.post("/sql", json=TEXT).status_code == 401
