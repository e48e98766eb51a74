"""Files for browsers: the served ones, and that no others are."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from api.http import blueprint
from api.http.blueprint import DescribedApi
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
        ("/docs", "text/html; charset=utf-8"),
        ("/docs/docs.mjs", "text/javascript; charset=utf-8"),
        ("/docs/docs.css", "text/css; charset=utf-8"),
    ],
)
def test_a_listed_file_is_served_and_revalidated(
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
        "/vendor/vis-network/vis-network.min.css",
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


def got(server: Headwater, path: str, encoding: str = "identity") -> Any:
    with server.client.get(path, headers={"Accept-Encoding": encoding}) as response:
        response.get_data()
        return response


def test_the_page_names_its_files_by_their_hash_and_a_browser_keeps_them(
    server: Headwater, frontend: Path
) -> None:
    head = '<head><script type="module" src="/js/main.js"></script>\n  </head>'
    (frontend / "index.html").write_text(head, encoding="utf-8")
    (frontend / "js/main.js").write_text("import { a } from './views/list.js';\n", encoding="utf-8")
    page = got(server, "/").get_data(as_text=True)
    [address] = re.findall(r'src="(/files/[0-9a-f]{20}/js/main\.js)"', page)
    assert f'<link rel="modulepreload" href="{address.replace("main", "views/list")}">' in page
    kept = got(server, address)
    assert kept.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    (frontend / "js/main.js").write_text("export {};\n", encoding="utf-8")
    other = address.replace("main", "views/list")
    assert got(server, other).status_code == 200  # as it was when the page was read
    assert got(server, address).status_code == 404
    assert got(server, other).status_code == 404
    assert address not in got(server, "/").get_data(as_text=True)


def test_the_page_names_the_modules_of_its_view_alone(server: Headwater, frontend: Path) -> None:
    table = "".join(
        f"  {view}: {{\n    {more}module: () => import('./views/{view}.js').then(of),\n  }},\n"
        for view, more in (("home", ""), ("job", "picture: true,\n    "))
    )
    texts = {"views.js": table, "shell/picture.js": "import { a } from './stage.js';\n"}
    texts |= dict.fromkeys(("views/home.js", "views/job.js", "shell/stage.js"), "export {};\n")
    for name, text in texts.items():
        (frontend / "js" / name).parent.mkdir(exist_ok=True)
        (frontend / "js" / name).write_text(text, encoding="utf-8")
    (frontend / "index.html").write_text("<head>\n  </head>", encoding="utf-8")
    named = r'"modulepreload" href="/files/[0-9a-f]{20}/js/([a-z/]+)\.js"'

    def modules(address: str) -> list[str]:
        return re.findall(named, got(server, address).get_data(as_text=True))

    assert modules("/") == modules("/?view=home") == modules("/?view=of_no_page")
    assert modules("/") == ["main", "views/home"]
    assert modules("/?view=job&at=1") == ["main", "views/job", "shell/picture", "shell/stage"]


def test_nothing_else_is_served_under_a_hash_either(server: Headwater, frontend: Path) -> None:
    link = '    <link rel="stylesheet" href="/css/app.css">\n'
    (frontend / "index.html").write_text(link, encoding="utf-8")
    [folder] = re.findall(r"/files/[0-9a-f]+/", got(server, "/").get_data(as_text=True))
    assert got(server, folder + "css/all.css").data == b"body {}"
    for name in ("package.json", "js/link.js", "js/../package.json", "vendor/vis-network/x.js"):
        assert got(server, folder + name).status_code == 404


def test_answers_are_compressed_for_clients_that_accept_it(
    server: Headwater, frontend: Path
) -> None:
    (frontend / "js/main.js").write_text("// words words words\n" * 200, encoding="utf-8")
    taken = got(server, "/js/main.js", encoding="gzip")
    assert taken.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(taken.data) == (frontend / "js/main.js").read_bytes()
    assert "Accept-Encoding" in taken.headers["Vary"]
    plain = got(server, "/js/main.js", encoding="identity")
    assert "Content-Encoding" not in plain.headers
    assert len(taken.data) < len(plain.data) / 5


def test_without_the_packages_of_npm_the_page_names_the_command_to_run(
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


def test_the_description_is_made_once_and_not_before_somebody_asks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[Flask] = []

    class Counted(DescribedApi):
        def init_app(self, app: Flask, **options: Any) -> None:
            made.append(app)
            super().init_app(app, **options)

    monkeypatch.setattr(blueprint, "DescribedApi", Counted)
    with headwater() as server:
        assert not made
        texts = {server.client.get("/openapi.json").text for _ in range(2)}
        assert (len(made), len(texts)) == (1, 1)


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
