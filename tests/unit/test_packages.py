"""The house: packages that a reader can take in, described where a reader looks first."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOPS = ("api", "aws", "collectors", "graph_model", "pipeline", "spark_agent_config")
PACKAGES = sorted(
    path.parent.relative_to(ROOT) for top in TOPS for path in (ROOT / top).rglob("__init__.py")
)
UNIT_TESTS = ROOT / "tests" / "unit"
WITHOUT_PACKAGE = {Path(), Path("terraform")}  # the repository as a whole; files of Terraform


def read(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


parsed = cache(read)


def is_package(folder: Path) -> bool:
    return (folder / "__init__.py").is_file()


def modules_in(package: Path) -> list[str]:
    return [path.stem for path in (ROOT / package).glob("*.py") if not path.stem.startswith("__")]


def packages_in(package: Path) -> list[str]:
    return [path.parent.name for path in (ROOT / package).glob("*/__init__.py")]


def test_a_package_names_all_that_is_in_it() -> None:
    unnamed = dict[str, set[str]]()
    for package in PACKAGES:
        tree = parsed(ROOT / package / "__init__.py")
        named = set(re.findall(r"``(\w+)``", ast.get_docstring(tree) or ""))
        unnamed[str(package)] = {*modules_in(package), *packages_in(package)} - named
    assert {package: names for package, names in unnamed.items() if names} == {}


def test_unit_tests_stand_where_their_package_stands() -> None:
    """Each folder is a package itself: two test modules may share a name."""
    folders = {path.parent.relative_to(UNIT_TESTS) for path in UNIT_TESTS.rglob("*.py")}
    assert [folder for folder in folders if not is_package(UNIT_TESTS / folder)] == []
    assert [folder for folder in folders - WITHOUT_PACKAGE if not is_package(ROOT / folder)] == []


def test_no_module_imports_itself_by_way_of_others() -> None:
    modules = modules_of_all()
    check_no_circle(
        {name: set(imports_of(path, modules)) - {name} for name, path in modules.items()}
    )


def test_what_stands_side_by_side_imports_in_one_direction() -> None:
    """Packages and modules of one package, and the packages at the top."""
    modules = modules_of_all()
    graph: defaultdict[str, set[str]] = defaultdict(set)
    for name, path in modules.items():
        for imported in imports_of(path, modules):
            result = side_by_side(name, imported)
            if result:
                graph[result[0]].add(result[1])
    check_no_circle(graph)


def modules_of_all() -> dict[str, Path]:
    return {name_of(path): path for top in TOPS for path in (ROOT / top).rglob("*.py")}


def side_by_side(importer: str, imported: str) -> tuple[str, str] | None:
    """``a.b.c.d`` and ``a.e`` => (``a.b``, ``a.e``); None where one contains the other."""
    places = importer.split("."), imported.split(".")
    for depth, (first, other) in enumerate(zip(*places, strict=False), start=1):
        if first != other:
            return ".".join(places[0][:depth]), ".".join(places[1][:depth])
    return None


def check_no_circle(graph: Mapping[str, set[str]]) -> None:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imports_of(path: Path, modules: dict[str, Path]) -> Iterator[str]:
    """The modules that this one imports: when it is loaded, in a function, or for types alone."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.ImportFrom) and node.module:
            inside = [f"{node.module}.{alias.name}" for alias in node.names]
            result = [name for name in inside if name in modules]
            yield from result
            if len(result) < len(inside) and node.module in modules:
                yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)


def test_a_public_class_name_serves_once() -> None:
    """``Meta`` is marshmallow's."""
    places: defaultdict[str, list[str]] = defaultdict(list)
    for top in TOPS:
        for path in (ROOT / top).rglob("*.py"):
            for name in classes_of(path):
                places[name].append(name_of(path))
    assert {name: item for name, item in places.items() if len(item) > 1} == {}


def classes_of(path: Path) -> Iterator[str]:
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and node.name != "Meta":
            yield node.name


# --- what tests take from the packages ------------------------------------------------------------


def test_names_that_tests_and_benches_import_or_replace_are_where_they_say() -> None:
    """A module that moves fails here in seconds, not in the middle of a long run."""
    paths = [path for top in ("tests", "bench") for path in (ROOT / top).rglob("*.py")]
    asked = {(name, path.relative_to(ROOT)) for path in paths for name in names_taken(path)}
    assert sorted({(name, str(path)) for name, path in asked if not is_there(name)}) == []


def names_taken(path: Path) -> Iterator[str]:
    """``from a.b import c`` => ``a.b.c``; ``monkeypatch.setattr("a.b.c", 1)`` as well."""
    for node in ast.walk(read(path)):
        match node:
            case ast.ImportFrom(module=str(module), names=names) if is_ours(module):
                yield from (f"{module}.{alias.name}" for alias in names)
            case ast.Call(func=ast.Attribute(attr="setattr"), args=[ast.Constant(str(name)), _]):
                if is_ours(name):
                    yield name


def is_ours(name: str) -> bool:
    return name.partition(".")[0] in (*TOPS, "tests", "bench")


@cache
def is_there(name: str) -> bool:
    """Whether the longest module that begins the name binds the next part of it."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        place = ROOT.joinpath(*parts[:length])
        if place.with_suffix(".py").is_file() or is_package(place):
            file = place / "__init__.py" if is_package(place) else place.with_suffix(".py")
            return length == len(parts) or parts[length] in names_bound(file)
    return False


@cache
def names_bound(path: Path) -> frozenset[str]:
    """At the top of a module, also under a condition."""
    bound = {"__doc__", "__name__", "__file__"}
    for node in ast.walk(ast.Module([_without_inside(item) for item in read(path).body], [])):
        match node:
            case ast.ClassDef(name=name) | ast.Name(id=name, ctx=ast.Store()):
                bound.add(name)
            case ast.alias(name=name, asname=other):
                bound.add(other or name.partition(".")[0])
    return frozenset(bound)


def _without_inside(node: ast.stmt) -> ast.stmt:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return ast.ClassDef(node.name, [], [], [], [])
    return node
