"""Every parameter is honoured or refused: an unknown one, on every route of the app."""

from __future__ import annotations

import re
from typing import Final

import pytest
from flask import Flask
from flask.testing import FlaskClient

from api.settings import read_settings
from tests.e2e.small_client import client_of
from tests.projections import SmallHeadwater

#: Blueprints and endpoints whose callers may have to send a query (docs/http.md).
IGNORING: Final = frozenset(
    {
        "about", "consumer", "unity", "marquez", "marquez_search", "datazone", "pages",
        "producer_at_root", "producer", "openlineage",
        "health.live", "health.ready", "api-docs.openapi_json",
    }
)  # fmt: skip


@pytest.fixture
def client(headwater: SmallHeadwater) -> FlaskClient:
    return client_of(headwater, now=None)


def strict_routes(app: Flask) -> list[tuple[str, str]]:
    """Method and path of each route that takes no unknown parameter."""
    return [
        (method, re.sub("<[^>]*>", "a", re.sub("<int:[^>]*>", "1", rule.rule)))
        for rule in app.url_map.iter_rules()
        if not {rule.endpoint, rule.endpoint.partition(".")[0]} & IGNORING
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})
    ]


def test_an_unknown_parameter_is_refused_by_its_name(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = read_settings({"HEADWATER_UPLOADS": "s3://b/p"})
    monkeypatch.setitem(client.application.config, "HEADWATER", settings)
    asked = strict_routes(client.application)
    assert ("GET", "/storage") in asked
    for method, path in asked:
        answer = client.open(path, method=method, query_string={"unheard": "1"})
        assert answer.status_code == 400, (method, path)
        assert "unheard" in answer.get_json()["errors"], (method, path)


@pytest.mark.parametrize(
    "path",
    ["/health/live", "/health/ready", "/status", "/about/liveness", "/about/readiness", "/docs"],
)
def test_a_probe_or_a_page_may_carry_a_query(client: FlaskClient, path: str) -> None:
    with client.get(path, query_string={"unheard": "1"}) as answer:
        assert answer.status_code == 200


def test_a_route_without_parameters_says_so(client: FlaskClient) -> None:
    answer = client.get("/graph/home", query_string={"x": "1"}).get_json()
    assert answer["message"] == "x: expected no parameter"


def test_a_flow_that_cannot_be_is_refused_in_one_sentence(client: FlaskClient) -> None:
    answer = client.get("/graph/overview", query_string={"flow": "down"}).get_json()
    assert answer["message"].startswith("flow: expected right, or layout=true")


@pytest.mark.parametrize("path", ["/graph/overview", "/graph/datasets"])
def test_a_layer_that_nobody_declared_is_unknown(
    headwater: SmallHeadwater, client: FlaskClient, path: str
) -> None:
    answer = client.get(path, query_string={"layer": "nope"})
    assert (answer.status_code, answer.get_json()["message"]) == (404, "no layer 'nope' is known")
    layer = {"match": "prefix", "pattern": "s3://", "order": 1, "colour": "#0b6a84"}
    assert client.put("/layers/nope", json=layer).status_code == 200
    headwater.project()
    assert client.get(path, query_string={"layer": "nope"}).status_code == 200


@pytest.mark.parametrize("colour", ["colour", "#12345", "", 7, None])
def test_a_colour_is_refused_with_the_way_to_write_it(client: FlaskClient, colour: object) -> None:
    layer = {"match": "prefix", "pattern": "s3://", "order": 1, "colour": colour}
    answer = client.put("/layers/raw", json=layer)
    assert answer.status_code == 400
    assert answer.get_json()["message"] == "colour: expected #rrggbb, such as #0b6a84"


def test_a_column_of_an_unknown_table_names_the_table(client: FlaskClient) -> None:
    answer = client.get("/graph/lineage", query_string={"node": "column:s3://lake/orders#amount"})
    assert answer.get_json()["message"] == "no dataset 'dataset:s3://lake/orders' is known"


def test_without_a_place_for_uploads_no_body_is_looked_at(client: FlaskClient) -> None:
    answer = client.post("/uploads", json={"kind": "plan"})
    assert answer.status_code == 404
    assert answer.get_json()["message"] == (
        "no place for uploads is known: HEADWATER_UPLOADS is not set here"
    )


def test_without_a_rebuild_none_is_reported(client: FlaskClient) -> None:
    answer = client.get("/journal/rebuild")
    assert answer.status_code == 404
    assert answer.get_json()["message"] == (
        "no rebuild is known: none was started since this process began"
    )
