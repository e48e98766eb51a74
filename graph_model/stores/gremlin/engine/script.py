"""The engine's script as classes, compiled once for all starts.

Groovy compiles a script at every start, which takes more than half of the CPU of a start (5.8 s;
with classes 2 s). So the classes are kept beside the archives, under a checksum of the script and
of ``jars.lock``. The cache must belong to the engine's user: its owner is not checked. Where the
cache has no classes and cannot be written, the engine's own folder keeps them.

    ~/.cache/headwater/engine/3f2a…/engine.class, UpsertRow.class, …
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from graph_model.errors import EngineError
from graph_model.stores.durability import make_durable
from graph_model.stores.gremlin.engine import jars

SCRIPT: Final = Path(__file__).with_name("engine.groovy")
"""Its main class has the name of the file."""
SOURCES: Final = (SCRIPT, SCRIPT.with_name("graph.groovy"))

_COMPILER: Final = "org.codehaus.groovy.tools.FileSystemCompiler"
_COMPILE_SECONDS: Final = 120.0


def cache_folder(environment: Mapping[str, str]) -> Path:
    """The folder of the classes, for all engines of a user."""
    return jars.cache_folder(environment) / "engine"


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
    digest = hashlib.sha256(jars.LOCK.read_bytes())
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
