"""The page's library, fetched by the integrity hash of ``frontend/package-lock.json``.

So the page needs no npm. The files come to lie where npm would put them
(``frontend/node_modules/vis-network``), and only those that the page or its licence needs.

    python -m api.serving.page      fetch missing files

Proxies come from the usual variables, a mirror from npm's own ``NPM_CONFIG_REGISTRY``.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import sys
import tarfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, TextIO
from urllib.parse import urlsplit

from api.routes.pages import LIBRARY, VENDOR
from api.settings import PAGE
from graph_model.errors import ConfigurationError

LOCK: Final = "package-lock.json"
MIRROR: Final = ("npm_config_registry", "NPM_CONFIG_REGISTRY")
_LICENCES: Final = ("LICENSE-APACHE-2.0", "LICENSE-MIT")
_ALGORITHM: Final = "sha512"
_CHUNK: Final = 1 << 20
_MOST_CHUNKS: Final = 64
_MOST_FILE: Final = 16 * 1024 * 1024
_REQUEST_SECONDS: Final = 30

Download = Callable[[str], bytes]


@dataclass(frozen=True, slots=True)
class Package:
    """One package of the lock; ``digest`` is the SHA-512 of its archive."""

    name: str
    version: str
    digest: bytes


def locked(frontend: Path) -> Package:
    """The page's library as the lock names it."""
    packages = json.loads((frontend / LOCK).read_text("utf-8"))["packages"]
    entry = packages[LIBRARY.as_posix()]
    algorithm, _, encoded = entry["integrity"].partition("-")
    if algorithm != _ALGORITHM:
        raise ConfigurationError(f"{LOCK}: {LIBRARY.name} has no {_ALGORITHM} integrity hash")
    return Package(LIBRARY.name, entry["version"], base64.b64decode(encoded, validate=True))


def address(package: Package, environment: Mapping[str, str]) -> str:
    """Where the archive is: the public address that package URLs lead to, or a mirror's."""
    from packageurl.contrib.purl2url import get_download_url  # only needed to download

    public = str(get_download_url(f"pkg:npm/{package.name}@{package.version}"))
    mirror = next((url for name in MIRROR if (url := environment.get(name))), None)
    return public if mirror is None else mirror.rstrip("/") + urlsplit(public).path


def fetch(
    frontend: Path, environment: Mapping[str, str], download: Download | None = None
) -> tuple[Path, ...]:
    """Fetch, check and unpack the library: its files, all or nothing of each.

    Raises ConfigurationError when it cannot be had, or is not the one that the lock names.
    """
    package = locked(frontend)
    archive = (download or _download)(address(package, environment))
    digest = hashlib.new(_ALGORITHM, archive).digest()
    if digest != package.digest:
        raise ConfigurationError(
            f"{package.name} {package.version} is not the archive that {LOCK} names: its "
            f"{_ALGORITHM} is {base64.b64encode(digest).decode()}"
        )
    wanted = [place.relative_to(LIBRARY) for place in VENDOR.values()]
    contents = _read(archive, [*wanted, *map(Path, _LICENCES)])
    return tuple(_write(frontend / LIBRARY / name, text) for name, text in contents.items())


def _read(archive: bytes, names: list[Path]) -> dict[Path, bytes]:
    """The files of these names; npm's archives have all below one folder ``package``."""
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as files:
        return {name: _member(files, f"package/{name.as_posix()}") for name in names}


def _member(files: tarfile.TarFile, name: str) -> bytes:
    file = files.extractfile(name)
    if file is None:
        raise ConfigurationError(f"{name} in the archive of {LIBRARY.name} is no file")
    return file.read(_MOST_FILE)


def _write(place: Path, content: bytes) -> Path:
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        draft = place.with_name(f".{place.name}.draft")
        draft.write_bytes(content)
        draft.replace(place)
    except OSError as failure:
        raise ConfigurationError(f"cannot write {place}: {failure.strerror}") from failure
    return place


def _download(url: str) -> bytes:
    import requests

    try:
        with requests.get(url, stream=True, timeout=_REQUEST_SECONDS) as reply:
            reply.raise_for_status()
            return b"".join(islice(reply.iter_content(_CHUNK), _MOST_CHUNKS))
    except requests.RequestException as failure:
        response = failure.response
        kind = f"HTTP {response.status_code}" if response is not None else type(failure).__name__
        raise ConfigurationError(
            f"cannot download {LIBRARY.name}: {kind}; behind a proxy set HTTPS_PROXY, or name a "
            f"mirror with {MIRROR[1]}"
        ) from None  # its text may hold the credentials of a mirror


def main(environment: Mapping[str, str], errors: TextIO) -> int:
    try:
        files = fetch(PAGE, environment)
    except ConfigurationError as failure:
        errors.write(f"headwater: {failure}\n")
        return 1
    errors.write(f"{len(files)} files in {PAGE / LIBRARY}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(os.environ, sys.stderr))
