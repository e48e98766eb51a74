"""JSON bodies of the routes that take statements of people: read as strictly as a document."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.e2e.small_client import client_of, running
from tests.projections import small_headwater

LAYER = b'{"match": "prefix", "pattern": "s3://", "order": 1, "colour": "#0b6a84"}'
DEEP = 100_000


@pytest.fixture
def client() -> Iterator[FlaskClient]:
    with running(small_headwater()) as made:
        yield client_of(made, 1_700_000_000_000)


def put(client: FlaskClient, body: bytes, **options: Any) -> Any:
    options.setdefault("content_type", "application/json")
    return client.put("/layers/lake", data=body, **options)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"match": ' * DEEP + b"1" + b"}" * DEEP, "JSON that is nested less deeply"),
        (b"[" * DEEP + b"]" * DEEP, "JSON that is nested less deeply"),
        (
            LAYER.replace(b'"order": 1', b'"order": ' + b"9" * 5_000),
            "JSON (an integer is too long)",
        ),
        (LAYER.replace(b'"order": 1', b'"order": NaN'), "JSON (NaN is no number)"),
        (
            LAYER.replace(b'"order"', b'"match"'),
            "one value for each key, not two for 'match'",
        ),
        (b'{"match": "\xff"}', "UTF-8 (byte 11 is not)"),
        (b"[]", "a JSON object"),
        (b"{", "JSON ("),
    ],
)
def test_a_body_that_is_no_plain_json_object_is_a_400_that_says_so(
    client: FlaskClient, body: bytes, expected: str
) -> None:
    answer = put(client, body)
    assert answer.status_code == 400
    assert answer.get_json()["errors"]["document"][0].startswith(expected)


def test_half_a_character_becomes_a_replacement(client: FlaskClient) -> None:
    answer = put(client, LAYER.replace(b"s3://", b"s3://\\ud800"))
    assert (answer.status_code, answer.get_json()["pattern"]) == (
        200,
        "s3://\N{REPLACEMENT CHARACTER}",
    )


def test_a_field_that_nobody_knows_is_named(client: FlaskClient) -> None:
    answer = put(client, LAYER.replace(b'{"match"', b'{"zone": 1, "match"'))
    assert (answer.status_code, answer.get_json()["errors"]) == (400, {"zone": ["no such field"]})


@pytest.mark.parametrize("content_type", ["application/x-www-form-urlencoded", "text/plain", ""])
def test_a_body_of_another_type_is_a_415_that_names_the_right_one(
    client: FlaskClient, content_type: str
) -> None:
    answer = put(client, LAYER, content_type=content_type)
    assert answer.status_code == 415
    assert "application/json" in answer.get_json()["message"]


def test_a_body_may_be_compressed_within_bounds(client: FlaskClient) -> None:
    packed = {"headers": {"Content-Encoding": "gzip"}}
    assert put(client, gzip.compress(LAYER), **packed).status_code == 200
    assert put(client, gzip.compress(b" " * (17 << 20)), **packed).status_code == 413
    assert put(client, b" " * (17 << 20)).status_code == 413


def test_a_reference_in_a_body_that_cannot_be_read_is_named_by_its_field(
    client: FlaskClient,
) -> None:
    answer = client.post("/commands", json={"command": "hide", "node": "nowhere"})
    assert answer.status_code == 400
    assert set(answer.get_json()["errors"]) == {"node"}
    assert answer.get_json()["message"].startswith("node: 'nowhere': expected")


def test_the_body_of_a_question_is_not_looked_at(client: FlaskClient) -> None:
    deep = b"[" * DEEP + b"]" * DEEP
    answer = client.get("/graph/lineage?node=nowhere", data=deep, content_type="application/json")
    assert set(json.loads(answer.data)["errors"]) == {"node"}


def test_a_captured_plan_that_is_none_is_refused_in_one_plain_sentence(client: FlaskClient) -> None:
    answer = client.post("/graph/impact/plan", json={})
    assert answer.status_code == 400
    said = "body:1: expected a plan or an event, not an empty object"
    assert answer.get_json()["message"] == said


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/journal/rebuild"), ("DELETE", "/rules"), ("DELETE", "/layers/lake")],
)
def test_a_route_without_a_body_takes_an_empty_one_alone(
    client: FlaskClient, method: str, path: str
) -> None:
    def ask(body: bytes) -> Any:
        return client.open(path, method=method, data=body, content_type="application/json")

    put(client, LAYER)
    for broken in (b"{", b"[]", b'{"preview": true}'):
        answer = ask(broken)
        assert answer.status_code == 400, (broken, answer.text)
    assert ask(b"{}").status_code < 300
