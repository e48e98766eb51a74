"""Files for browsers: what is served, and that nothing else is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.routes.pages import VENDOR
from tests.e2e.producer_service import Headwater, headwater


@pytest.fixture
def frontend(tmp_path: Path) -> Path:
    """A page with its parts, and things beside it that nobody may have."""
    folder = tmp_path / "frontend"
    files = {
        "index.html": "<!doctype html><title>page</title>",
        "favicon.svg": "<svg/>",
        "js/main.js": "export {};",
        "js/views/list.js": "export {};",
        "js/main.test.js.map": "{}",
        "js/.hidden.js": "no",
        "css/app.css": "body {}",
        "package.json": "{}",
        **{str(place): "/* vis */" for place in VENDOR.values()},
        "node_modules/vis-network/package.json": "{}",
    }
    for name, text in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    (tmp_path / "secret.js").write_text("hidden words", encoding="utf-8")
    (folder / "js" / "link.js").symlink_to(tmp_path / "secret.js")
    return folder


@pytest.fixture
def server(frontend: Path) -> Iterator[Headwater]:
    with headwater(frontend=frontend) as made:
        yield made


@pytest.mark.parametrize(
    ("path", "media_type"),
    [
        ("/", "text/html; charset=utf-8"),
        ("/js/main.js", "text/javascript; charset=utf-8"),
        ("/js/views/list.js", "text/javascript; charset=utf-8"),
        ("/css/app.css", "text/css; charset=utf-8"),
        ("/favicon.svg", "image/svg+xml; charset=utf-8"),
        ("/vendor/vis-network/vis-network.min.js", "text/javascript; charset=utf-8"),
        ("/vendor/vis-network/vis-network.min.css", "text/css; charset=utf-8"),
        ("/docs", "text/html; charset=utf-8"),
        ("/docs/docs.mjs", "text/javascript; charset=utf-8"),
        ("/docs/docs.css", "text/css; charset=utf-8"),
    ],
)
def test_what_is_on_the_list_is_served_and_revalidated(
    server: Headwater, path: str, media_type: str
) -> None:
    with server.client.get(path) as response:
        assert response.status_code == 200
        assert response.content_type == media_type
        assert response.headers["Cache-Control"] == "no-cache"
        etag = response.headers["ETag"]
    with server.client.get(path, headers={"If-None-Match": etag}) as again:
        assert again.status_code == 304
        assert again.data == b""


@pytest.mark.parametrize(
    "path",
    [
        "/package.json",
        "/node_modules/vis-network/package.json",
        "/js/main.test.js.map",
        "/js/.hidden.js",
        "/js/link.js",
        "/js/../package.json",
        "/js/../../secret.js",
        "/js/%2e%2e/%2e%2e/secret.js",
        "/js/..%2f..%2fsecret.js",
        "/js//etc/passwd.js",
        "/js/main.js/",
        "/js/main.js%00.css",
        "/js/\\..\\secret.js",
        "/css/",
        "/js",
        "/vendor/vis-network/package.json",
        "/vendor/vis-network/../../../package.json",
        "/vendor/other/vis-network.min.js",
        "/docs/setup.html",
        "/docs/../application.py",
        "/docs/docs.html",
    ],
)
def test_nothing_else_is(server: Headwater, path: str) -> None:
    with server.ask("GET", path) as raw, server.client.get(path) as decoded:
        assert (raw.status_code, decoded.status_code) == (404, 404)
        assert b"hidden words" not in raw.data + decoded.data


def test_without_what_npm_installs_the_page_says_which_command_to_run(
    server: Headwater, frontend: Path
) -> None:
    (frontend / VENDOR["vis-network.min.js"]).unlink()
    with server.client.get("/") as response:
        assert response.status_code == 503
        assert b"make run" in response.data
        assert b"python -m api.serving.page" in response.data


def test_the_page_over_the_description_loads_nothing_from_elsewhere(server: Headwater) -> None:
    for path in ("/docs", "/docs/docs.mjs", "/docs/docs.css"):
        with server.client.get(path) as response:
            assert not re.search(rb"https?:|[\"'(=]//", response.data)


def test_the_description_names_every_route(server: Headwater) -> None:
    paths = server.client.get("/openapi.json").get_json()["paths"]
    assert {
        "/status",
        "/producer/execution-plans",
        "/execution-events",
        "/graph/lineage",
        "/journal",
        "/health/ready",
    } <= set(paths)
    kinds = paths["/execution-plans"]["post"]["requestBody"]["content"]
    assert "application/vnd.absa.spline.producer.v1.2+json" in kinds
