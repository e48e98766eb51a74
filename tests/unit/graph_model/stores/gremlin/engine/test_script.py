"""The engine's script is compiled once, into the first folder that can be written."""

from __future__ import annotations

import stat
import threading
from pathlib import Path

import pytest

from graph_model.errors import EngineError
from graph_model.stores.gremlin.engine import jars

#: A compiler that notes that it ran, and makes one class.
COMPILES = 'echo "$@" >> {told}; sleep 0.2; echo compiled > "$5/engine.class"'
ARCHIVES = (Path("/jars/groovy.jar"), Path("/jars/server.jar"))


class Compiler:
    """A java of our own, and the cache that it fills."""

    def __init__(self, folder: Path, does: str = COMPILES) -> None:
        self.cache = folder / "cache"
        self.own = folder / "own"
        self._told = folder / "told"
        self._java = folder / "java"
        self._java.write_text("#!/bin/sh\n" + does.format(told=self._told) + "\n", "utf-8")
        self._java.chmod(self._java.stat().st_mode | stat.S_IXUSR)

    def classes(self) -> Path:
        cache = jars.classes_folder({jars.CACHE_SETTING: str(self.cache)})
        return jars.find_classes(str(self._java), ARCHIVES, (cache, self.own))

    def runs(self) -> list[str]:
        return self._told.read_text("utf-8").splitlines() if self._told.exists() else []

    def left(self) -> list[str]:
        """The entries of both folders."""
        folders = [folder for folder in (self.cache / "engine", self.own) if folder.exists()]
        return sorted(each.name for folder in folders for each in folder.iterdir())


def test_a_script_is_compiled_once_for_all_starts(tmp_path: Path) -> None:
    compiler = Compiler(tmp_path)
    place = compiler.classes()
    assert (place / "engine.class").read_text("utf-8") == "compiled\n"
    assert compiler.classes() == place
    (run,) = compiler.runs()
    assert run.startswith("-cp /jars/groovy.jar:/jars/server.jar ")
    assert run.endswith(" ".join(map(str, jars.SOURCES)))
    assert compiler.left() == [place.name]


@pytest.mark.parametrize("changed", ["script", "archives"])
def test_another_script_and_other_archives_have_classes_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    compiler = Compiler(tmp_path)
    before = compiler.classes()
    other = tmp_path / "engine.groovy"
    other.write_text("another", "utf-8")
    if changed == "script":
        monkeypatch.setattr(jars, "SOURCES", (jars.SCRIPT, other))
    else:
        monkeypatch.setattr(jars, "LOCK", other)
    assert compiler.classes() != before
    assert len(compiler.runs()) == 2


@pytest.mark.parametrize("does", ["exit 1", "kill -9 $$", "rmdir $5", "exit 0"])
def test_a_script_that_cannot_be_compiled_leaves_nothing_and_the_error_names_both_folders(
    tmp_path: Path, does: str
) -> None:
    compiler = Compiler(tmp_path, does)
    with pytest.raises(EngineError, match="cannot be compiled into") as error:
        compiler.classes()
    assert str(compiler.cache / "engine") in str(error.value)
    assert str(compiler.own) in str(error.value)
    assert compiler.left() == []


def test_where_the_cache_cannot_be_written_the_classes_are_in_the_folder_of_the_engine(
    tmp_path: Path,
) -> None:
    compiler = Compiler(tmp_path)
    compiler.cache.write_text("a file, not a folder", "utf-8")
    place = compiler.classes()
    assert place.parent == compiler.own
    assert compiler.classes() == place
    assert len(compiler.runs()) == 1


def test_two_that_compile_at_once_have_the_same_classes(tmp_path: Path) -> None:
    compiler = Compiler(tmp_path)
    result: list[Path] = []
    both = [threading.Thread(target=lambda: result.append(compiler.classes())) for _ in range(2)]
    for item in both:
        item.start()
    for item in both:
        item.join()
    assert result[0] == result[1]
    assert compiler.left() == [result[0].name]
