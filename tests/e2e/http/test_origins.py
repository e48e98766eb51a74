"""No page of another origin changes anything, on any route; whoever is no browser is served."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from flask import Flask

from graph_model.values import Role
from tests.e2e.producer_service import SPLINE_1_2, Headwater, a_plan, errors_of, headwater

SAFE = {"GET", "HEAD", "OPTIONS"}
ELSEWHERE = "https://elsewhere.example.org"
OWN = "http://localhost:8080"
OF_OTHERS = (
    {"Origin": ELSEWHERE},
    {"Origin": "null"},
    {"Origin": ""},
    {"Origin": "http://localhost:9090"},
    {"Origin": "http://localhost.example.org:8080"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site", "Origin": ELSEWHERE},
)
OURS: tuple[dict[str, str], ...] = (
    {},
    {"Origin": OWN},
    {"Origin": OWN, "Sec-Fetch-Site": "same-origin"},
    {"Sec-Fetch-Site": "none"},
)


@pytest.fixture
def server() -> Iterator[Headwater]:
    with headwater() as made:
        yield made


def unsafe_routes(app: Flask) -> list[tuple[str, str]]:
    """(method, path) of everything in the URL map that may change something."""
    return sorted(
        (method, re.sub(r"<[^>]*>", "1", rule.rule))
        for rule in app.url_map.iter_rules()
        for method in (rule.methods or set()) - SAFE
    )


def status(server: Headwater, method: str, path: str, headers: dict[str, str]) -> int:
    host = {"Host": "localhost:8080"} | headers
    return int(server.client.open(path, method=method, headers=host).status_code)


@pytest.mark.parametrize("headers", OF_OTHERS, ids=str)
def test_no_route_lets_a_page_of_another_origin_change_anything(
    server: Headwater, headers: dict[str, str]
) -> None:
    routes = unsafe_routes(server.app)
    assert ("POST", "/journal/rebuild") in routes
    assert len(routes) > 15
    assert {(*route, status(server, *route, headers)) for route in routes} == {
        (*route, 403) for route in routes
    }
    assert server.projector.rebuilt is None
    assert server.journal.summary().received == 0


@pytest.mark.parametrize("headers", OURS, ids=str)
def test_every_route_serves_our_own_page_and_whoever_is_no_browser(
    server: Headwater, headers: dict[str, str]
) -> None:
    for route in unsafe_routes(server.app):
        assert status(server, *route, headers) != 403, route
    assert server.projector.rebuilt is not None


@pytest.mark.parametrize("headers", OF_OTHERS, ids=str)
def test_reading_asks_for_no_origin(server: Headwater, headers: dict[str, str]) -> None:
    """The browser itself keeps the answer from such a page."""
    assert status(server, "GET", "/graph/overview", headers) == 200
    assert status(server, "HEAD", "/producer/status", headers) == 200


def test_the_refusal_names_the_header_and_the_setting(server: Headwater) -> None:
    answer = server.client.post("/journal/rebuild", headers={"Origin": ELSEWHERE})
    assert answer.status_code == 403
    assert errors_of(answer) == {}
    for word in ("Origin", ELSEWHERE, "HEADWATER_CORS_ORIGINS"):
        assert word in answer.get_json()["message"]


@pytest.mark.parametrize("headers", OF_OTHERS, ids=str)
@pytest.mark.parametrize("path", ["/producer/execution-plans", "/execution-plans"])
def test_no_page_of_another_origin_may_post_documents(
    server: Headwater, path: str, headers: dict[str, str]
) -> None:
    answer = server.client.post(path, data=b"{}", content_type=SPLINE_1_2, headers=headers)
    assert answer.status_code == 403


@pytest.mark.parametrize("origins", [(ELSEWHERE,), ("*",)])
def test_an_origin_of_the_setting_may(origins: tuple[str, ...]) -> None:
    with headwater(cors_origins=origins) as server:
        asked = {"Origin": ELSEWHERE, "Sec-Fetch-Site": "cross-site"}
        assert server.client.post("/journal/rebuild", headers=asked).status_code == 202
        assert server.post_plan(a_plan(), headers={"Origin": ELSEWHERE}).status_code == 201


def test_a_key_does_not_make_up_for_the_origin(server: Headwater) -> None:
    key = server.make_key("me", Role.ADMIN)
    asked = {**key, "Origin": ELSEWHERE}
    assert server.client.post("/journal/rebuild", headers=asked).status_code == 403
    assert server.client.post("/journal/rebuild", headers=key).status_code == 202


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://127.0.0.1:8080", "127.0.0.1:8080"),
        ("http://[::1]:8080", "[::1]:8080"),
        ("http://10.0.0.7", "10.0.0.7"),
        ("http://10.0.0.7", "10.0.0.7:80"),
        ("http://LOCALHOST:8080", "localhost:8080"),
    ],
)
def test_an_address_is_nobody_elses_name(server: Headwater, origin: str, host: str) -> None:
    asked = {"Origin": origin, "Host": host}
    assert status(server, "POST", "/journal/rebuild", asked) == 202


REBOUND = {"Origin": "http://rebound.example.org:8080", "Host": "rebound.example.org:8080"}


def test_a_name_that_is_pointed_here_is_not_our_own_while_everything_is_open(
    server: Headwater,
) -> None:
    assert status(server, "POST", "/journal/rebuild", REBOUND) == 403


@pytest.mark.parametrize("insecure", [True, False])
def test_under_a_name_the_page_works_behind_keys_tls_or_where_openness_is_meant(
    insecure: bool,
) -> None:
    """Browsers send Sec-Fetch-Site to https, and to names of this computer alone."""
    with headwater(insecure=insecure) as server:
        behind_tls = {"Origin": "https://lineage.example.org", "Sec-Fetch-Site": "same-origin"}
        assert status(server, "POST", "/journal/rebuild", behind_tls) == 202
        assert (status(server, "POST", "/journal/rebuild", REBOUND) == 202) is insecure
        key = server.make_key("me", Role.ADMIN)
        assert status(server, "POST", "/journal/rebuild", {**REBOUND, **key}) == 202
