"""The page's library: fetched without npm, and only the archive that the lock names."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import tarfile
from pathlib import Path

import pytest

from api.routes.pages import VENDOR, missing_parts
from api.serving import page
from api.settings import PAGE
from graph_model.errors import ConfigurationError

FILES = {
    "package/standalone/esm/vis-network.min.js": b"export {};",
    "package/styles/vis-network.min.css": b"not needed: nothing that it styles is drawn",
    "package/LICENSE-MIT": b"MIT",
    "package/LICENSE-APACHE-2.0": b"Apache",
    "package/declarations/index.d.ts": b"not needed to serve",
    "package/../../outside.js": b"never written",
}


def archive_of(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def frontend_with(folder: Path, archive: bytes, algorithm: str = "sha512") -> Path:
    integrity = f"{algorithm}-{base64.b64encode(hashlib.new('sha512', archive).digest()).decode()}"
    entry = {"version": "10.1.5", "integrity": integrity}
    lock = {"packages": {"node_modules/vis-network": entry}}
    folder.mkdir()
    (folder / "package-lock.json").write_text(json.dumps(lock), "utf-8")
    (folder / "index.html").write_text("page", "utf-8")
    return folder


def test_the_files_that_are_served_come_from_the_archive_with_their_licences(
    tmp_path: Path,
) -> None:
    archive = archive_of(FILES)
    frontend = frontend_with(tmp_path / "frontend", archive)
    asked: list[str] = []

    def download(url: str) -> bytes:
        asked.append(url)
        return archive

    page.fetch(frontend, {}, download)
    assert asked == [page.address(page.locked(frontend), {})]
    assert missing_parts(frontend) == ()
    found = {
        path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()
    }
    library = "frontend/node_modules/vis-network"
    assert found == {
        "frontend/index.html",
        "frontend/package-lock.json",
        f"{library}/LICENSE-MIT",
        f"{library}/LICENSE-APACHE-2.0",
        *(f"frontend/{place}" for place in VENDOR.values()),
    }


def test_another_archive_than_the_locked_one_is_refused_and_nothing_written(
    tmp_path: Path,
) -> None:
    frontend = frontend_with(tmp_path / "frontend", archive_of(FILES))
    other = archive_of({**FILES, "package/standalone/esm/vis-network.min.js": b"changed"})
    with pytest.raises(ConfigurationError, match="not the archive that package-lock"):
        page.fetch(frontend, {}, lambda _url: other)
    assert not (frontend / "node_modules").exists()


def test_a_lock_with_a_weaker_hash_is_refused(tmp_path: Path) -> None:
    frontend = frontend_with(tmp_path / "frontend", archive_of(FILES), algorithm="sha1")
    with pytest.raises(ConfigurationError, match="no sha512"):
        page.locked(frontend)


@pytest.mark.parametrize("name", page.MIRROR)
def test_a_mirror_is_named_as_npm_names_it(name: str) -> None:
    package = page.locked(PAGE)
    public = page.address(package, {})
    path = f"/vis-network/-/vis-network-{package.version}.tgz"
    assert public.startswith("https://")
    assert public.endswith(path)
    mirror = {name: "https://mirror.example.org/npm/"}
    assert page.address(package, mirror) == f"https://mirror.example.org/npm{path}"


def test_the_lock_of_this_page_has_the_hash_that_is_checked() -> None:
    assert len(page.locked(PAGE).digest) == 64
