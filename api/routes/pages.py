"""Files for browsers: the page of ``frontend/``, and the OpenAPI page.

Only files on the list below are served: the page itself, style sheets, scripts, pictures and the
sample under their folders, one file of vis-network. Names are matched, then the file must lie
inside its folder, so neither ``..`` nor a symbolic link leads out.

The files of the page under the hash of their contents, so that a browser keeps them for ever.

    index.html:  /js/main.js  =>  /files/3f0c…/js/main.js

The hash covers every file: an upgrade changes the address of all, and no browser runs modules of
two versions. The page names the modules that its view needs first, so that they are fetched
together and not one after the other.

    /?view=job  =>  main.js, views/job.js, shell/picture.js and all that they import
"""

from __future__ import annotations

import hashlib
import posixpath
import re
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from flask import Blueprint, Response, current_app, request, send_file
from werkzeug.exceptions import NotFound

from api.settings import Settings

blueprint = Blueprint("pages", __name__)

_OWN: Final = Path(__file__).resolve().parent.parent / "pages"
LIBRARY: Final = Path("node_modules", "vis-network")
VENDOR: Final = {
    "vis-network.min.js": LIBRARY / "standalone" / "esm" / "vis-network.min.js",
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
_NAME: Final = re.compile(r"(?:[A-Za-z0-9_-]+/)*[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.[a-z0-9]+")
_FOLDERS: Final = ("js", "css", "sample")
_MAIN: Final = "js/main.js"
#: What a view needs besides where it draws a picture.
_PICTURE: Final = "js/shell/picture.js"
_VIEWS: Final = "js/views.js"
_FIRST_VIEW: Final = "home"
#: In the table of views, the line before what is said of one.
_VIEW: Final = re.compile(r"^  (\w+): \{$", re.MULTILINE)
_MODULE: Final = re.compile(r"import\('\./(views/\w+\.js)'\)")
ALL_STYLES: Final = "css/all.css"
_IMPORT: Final = re.compile(r"^import\s[^;']*?from\s'([^']+)';", re.MULTILINE)
_STYLES: Final = re.compile(
    r'(?:^ *<link rel="stylesheet" href="/css/[a-z]+\.css">\n)+', re.MULTILINE
)
_STYLE: Final = re.compile(r'href="/(css/[a-z]+\.css)"')
_OWN_ADDRESS: Final = re.compile(r"""(href|src)="/(js|css|vendor)/""")


@blueprint.route("/")
def page() -> Response:
    """The page; while its parts are not installed, a page with the command to install them."""
    if missing_parts(_frontend()):
        response = _file(_OWN, "setup.html", "text/html")
        response.status_code = 503
        return response
    files = _FOLDER.files(_frontend(), VENDOR)
    view = request.args.get("view", _FIRST_VIEW)
    response = Response(files.index_of(view), mimetype="text/html")
    response.headers["Cache-Control"] = "no-cache"
    response.set_etag(files.hash)
    response.make_conditional(request)
    return response


@blueprint.route("/files/<named>/<path:name>")
def kept_file(named: str, name: str) -> Response:
    """A file of the page under the hash of all of them: it never changes."""
    folder, _, rest = name.partition("/")
    place = VENDOR.get(rest.removeprefix("vis-network/"), Path(name))
    files = _FOLDER.files_of(_frontend(), VENDOR, place)
    if named != files.hash:
        raise NotFound("these files are of another version: load the page again")
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


@dataclass(frozen=True, slots=True)
class PageFiles:
    """``hash`` of all files; ``index`` is the page with their addresses under it, ``links`` the
    names of the modules that each view needs, as its head has them; ``styles`` are its style sheets
    in their order, as one.
    """

    hash: str
    index: str
    links: Mapping[str, str]
    styles: bytes

    def index_of(self, view: str) -> bytes:
        """The page for a view; a name that no view has is the page's to answer."""
        links = self.links.get(view, self.links[_FIRST_VIEW])
        return self.index.replace("  </head>", f"{links}  </head>").encode()


class PageFolder:
    """Reads the folder again when a file of it has changed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: dict[Path, tuple[int, int]] = {}
        self._files: PageFiles | None = None

    def files(self, folder: Path, vendor: Mapping[str, Path]) -> PageFiles:
        seen = {path: _stamp(path) for path in sorted(_paths(folder, vendor))}
        with self._lock:
            if self._files is None or seen != self._seen:
                self._files, self._seen = _read(folder, list(seen)), seen
            return self._files

    def files_of(self, folder: Path, vendor: Mapping[str, Path], place: Path) -> PageFiles:
        """As ``files``, but of the folder one file alone is looked at, where it is as it was read:
        a first view asks for 65, and there are twice as many.
        """
        path = folder / place
        with self._lock:
            known = self._seen.get(path)
            if self._files is not None and known and path.is_file() and _stamp(path) == known:
                return self._files
        return self.files(folder, vendor)


_FOLDER: Final = PageFolder()


def _paths(folder: Path, vendor: Mapping[str, Path]) -> Iterator[Path]:
    yield folder / "index.html"
    yield from (folder / place for place in vendor.values())
    for name in _FOLDERS:
        yield from (path for path in (folder / name).rglob("*") if path.is_file())


def _stamp(path: Path) -> tuple[int, int]:
    stat = path.stat()
    return stat.st_mtime_ns, stat.st_size


def _read(folder: Path, paths: list[Path]) -> PageFiles:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(f"{path.relative_to(folder)}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    named = digest.hexdigest()[:20]
    page = (folder / "index.html").read_text("utf-8")
    styles = b"".join((folder / name).read_bytes() for name in _STYLE.findall(page))
    page = _STYLES.sub(f'    <link rel="stylesheet" href="/{ALL_STYLES}">\n', page)
    page = _OWN_ADDRESS.sub(rf'\1="/files/{named}/\2/', page)
    links = {
        view: "".join(
            f'    <link rel="modulepreload" href="/files/{named}/{name}">\n'
            for name in modules_of(folder, starts)
        )
        for view, starts in _starts(folder).items()
    }
    return PageFiles(named, page, links, styles)


def _starts(folder: Path) -> dict[str, tuple[str, ...]]:
    """The modules that each view begins with, by the page's own table of its views."""
    starts: dict[str, tuple[str, ...]] = {_FIRST_VIEW: (_MAIN,)}
    table = folder / _VIEWS
    _, *parts = _VIEW.split(table.read_text("utf-8") if table.is_file() else "")
    for view, entry in zip(parts[::2], parts[1::2], strict=True):
        own = (f"js/{name}" for name in _MODULE.findall(entry))
        starts[view] = (_MAIN, *own, *([_PICTURE] if "picture: true" in entry else []))
    return starts


def modules_of(folder: Path, starts: tuple[str, ...]) -> list[str]:
    """These modules and all that they import at once, in the order of their imports."""
    names: list[str] = []
    waiting = list(starts)
    while waiting:
        name = waiting.pop(0)
        path = folder / name
        if name in names or not path.is_file():
            continue
        names.append(name)
        for match in _IMPORT.finditer(path.read_text("utf-8")):
            target = match.group(1)
            if target.startswith("."):
                waiting.append(posixpath.normpath(posixpath.join(posixpath.dirname(name), target)))
    return names


def readdress(script: bytes, named: str) -> bytes:
    """A script with the address of the library that npm installed, under the hash."""
    return script.replace(b"'/vendor/", f"'/files/{named}/vendor/".encode())
