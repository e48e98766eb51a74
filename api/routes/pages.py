"""Files for browsers: the page of ``frontend/``, and the OpenAPI page.

Only files on the list below are served: the page itself, style sheets, scripts, pictures and the
sample under their folders, two files of vis-network. Names are matched, then the file must lie
inside its folder, so neither ``..`` nor a symbolic link leads out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from flask import Blueprint, Response, current_app, request, send_file
from werkzeug.exceptions import NotFound

from api.routes.page_files import ALL_STYLES, PageFolder, readdress
from api.settings import Settings

blueprint = Blueprint("pages", __name__)

_OWN: Final = Path(__file__).resolve().parent.parent / "pages"
LIBRARY: Final = Path("node_modules", "vis-network")
VENDOR: Final = {
    "vis-network.min.js": LIBRARY / "standalone" / "esm" / "vis-network.min.js",
    "vis-network.min.css": LIBRARY / "styles" / "vis-network.min.css",
}
TYPES: Final = {
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".css": "text/css",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
}
_FOLDER: Final = PageFolder()
_NAME: Final = re.compile(r"(?:[A-Za-z0-9_-]+/)*[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.[a-z0-9]+")


@blueprint.route("/")
def page() -> Response:
    """The page; while its parts are not installed, a page with the command to install them."""
    if missing_parts(_frontend()):
        response = _file(_OWN, "setup.html", "text/html")
        response.status_code = 503
        return response
    files = _FOLDER.files(_frontend(), VENDOR)
    response = Response(files.index, mimetype="text/html")
    response.headers["Cache-Control"] = "no-cache"
    response.set_etag(files.hash)
    response.make_conditional(request)
    return response


@blueprint.route("/files/<named>/<path:name>")
def kept_file(named: str, name: str) -> Response:
    """A file of the page under the hash of all of them: it never changes."""
    files = _FOLDER.files(_frontend(), VENDOR)
    if named != files.hash:
        raise NotFound("these files are of another version: load the page again")
    folder, _, rest = name.partition("/")
    if name == ALL_STYLES:
        response = Response(files.styles, mimetype=TYPES[".css"])
    elif folder == "vendor":
        response = vendor(rest.removeprefix("vis-network/"))
    elif folder in ("js", "css", "sample"):
        response = asset(folder, rest)
    else:
        raise NotFound(f"no file {name[:80]!r} is served")
    if folder == "js":
        response.direct_passthrough = False
        response.set_data(readdress(response.get_data(), named))
    response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
    return response


@blueprint.route("/<any(js, css, images, sample):folder>/<path:name>")
def asset(folder: str, name: str) -> Response:
    """A script, style sheet or picture of the page, or its sample of lineage."""
    return _asset(_frontend() / folder, name)


@blueprint.route("/<any('favicon.svg', 'favicon.ico'):name>")
def icon(name: str) -> Response:
    """The page's icon."""
    return _asset(_frontend(), name)


@blueprint.route("/vendor/vis-network/<name>")
def vendor(name: str) -> Response:
    """vis-network, as npm or ``serving.page`` installed it."""
    if name not in VENDOR:
        raise NotFound(f"no file {name[:80]!r} of vis-network is served")
    return _file(_frontend(), str(VENDOR[name]), TYPES[Path(name).suffix])


@blueprint.route("/docs")
def docs() -> Response:
    """The page over /openapi.json."""
    return _file(_OWN, "docs.html", "text/html")


@blueprint.route("/docs/<any('docs.mjs', 'docs.css'):name>")
def docs_asset(name: str) -> Response:
    """Script and style sheet of the page over /openapi.json."""
    return _asset(_OWN, name)


def missing_parts(frontend: Path) -> tuple[str, ...]:
    """The missing parts of the page: its own file, or its library."""
    wanted: Mapping[str, Path] = {"index.html": Path("index.html"), **VENDOR}
    return tuple(name for name, place in wanted.items() if not (frontend / place).is_file())


def _frontend() -> Path:
    settings: Settings = current_app.config["HEADWATER"]
    return settings.frontend.resolve()


def _asset(folder: Path, name: str) -> Response:
    media_type = TYPES.get(Path(name).suffix)
    if media_type is None or not _NAME.fullmatch(name):
        raise NotFound(f"no file {name[:80]!r} is served")
    return _file(folder, name, media_type)


def _file(folder: Path, name: str, media_type: str) -> Response:
    """A file with its ETag; a browser revalidates it each time and gets a 304."""
    place = (folder / name).resolve()
    if not place.is_relative_to(folder.resolve()) or not place.is_file():
        raise NotFound(f"no file {name[:80]!r} is served")
    return send_file(place, mimetype=media_type, conditional=True, etag=True, max_age=None)
