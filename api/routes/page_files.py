"""The files of the page under the hash of their contents, so that a browser keeps them for ever.

    index.html:  /js/main.js  =>  /files/3f0c…/js/main.js

The hash covers every file: an upgrade changes the address of all, and no browser runs modules of
two versions. The page names the modules that it needs first, so that they are fetched together and
not one after the other.
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

_FOLDERS: Final = ("js", "css", "sample")
#: The files of every page, and of the first view.
_STARTS: Final = ("js/main.js", "js/views/home.js")
ALL_STYLES: Final = "css/all.css"
_IMPORT: Final = re.compile(r"^import\s[^;']*?from\s'([^']+)';", re.MULTILINE)
_STYLES: Final = re.compile(
    r'(?:^ *<link rel="stylesheet" href="/css/[a-z]+\.css">\n)+', re.MULTILINE
)
_STYLE: Final = re.compile(r'href="/(css/[a-z]+\.css)"')
_OWN: Final = re.compile(r"""(href|src)="/(js|css|vendor)/""")


@dataclass(frozen=True, slots=True)
class PageFiles:
    """``hash`` of all files; ``index`` is the page with their addresses under it; ``styles`` are
    its style sheets in their order, as one.
    """

    hash: str
    index: bytes
    styles: bytes


class PageFolder:
    """Reads the folder again when a file of it has changed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: tuple[tuple[str, int, int], ...] = ()
        self._files: PageFiles | None = None

    def files(self, folder: Path, vendor: Mapping[str, Path]) -> PageFiles:
        paths = sorted(_paths(folder, vendor))
        seen = tuple((str(path), *_stamp(path)) for path in paths)
        with self._lock:
            if self._files is None or seen != self._seen:
                self._files, self._seen = _read(folder, paths), seen
            return self._files


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
    page = _OWN.sub(rf'\1="/files/{named}/\2/', page)
    links = "".join(
        f'    <link rel="modulepreload" href="/files/{named}/{name}">\n'
        for name in modules_of(folder)
    )
    return PageFiles(named, page.replace("  </head>", f"{links}  </head>").encode(), styles)


def modules_of(folder: Path) -> list[str]:
    """The modules that the page needs before its first request, in the order of their imports."""
    found: list[str] = []
    waiting = list(_STARTS)
    while waiting:
        name = waiting.pop(0)
        path = folder / name
        if name in found or not path.is_file():
            continue
        found.append(name)
        for match in _IMPORT.finditer(path.read_text("utf-8")):
            target = match.group(1)
            if target.startswith("."):
                waiting.append(posixpath.normpath(posixpath.join(posixpath.dirname(name), target)))
    return found


def readdress(script: bytes, named: str) -> bytes:
    """A script with the address of the library that npm installed, under the hash."""
    return script.replace(b"'/vendor/", f"'/files/{named}/vendor/".encode())
