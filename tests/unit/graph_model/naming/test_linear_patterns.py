"""Every pattern, and everything that reads a text of somebody else's, is linear in the text.

A pattern that is not can freeze the service by one small request: it holds the interpreter's lock.
The patterns are found in the source: whoever adds one adds it to this test.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

from api import logs
from graph_model import naming
from graph_model.documents.files import markers_of
from graph_model.naming import DEFAULT_RULES, uris
from graph_model.producers.registry import PRODUCERS
from spark_agent_config import masking
from tests.adversaries import UNITS, freezes, texts_against

PACKAGES: Final = ("api", "collectors", "graph_model", "spark_agent_config", "pipeline")
METHODS: Final = ("search", "match", "fullmatch", "finditer", "findall", "split", "sub", "subn")
USES: Final[dict[str, Callable[[Any, Any], object]]] = {
    "search": lambda pattern, text: pattern.search(text),
    "match": lambda pattern, text: pattern.match(text),
    "fullmatch": lambda pattern, text: pattern.fullmatch(text),
    "finditer": lambda pattern, text: sum(1 for _ in pattern.finditer(text)),
}
BY_METHOD: Final = {"findall": "finditer", "split": "finditer", "sub": "finditer"}

Found = tuple[str, Any, frozenset[str]]  # where, the pattern, how it is used


def modules() -> Iterator[ModuleType]:
    for package in PACKAGES:
        root = importlib.import_module(package)
        for info in pkgutil.walk_packages(root.__path__, f"{package}."):
            if not info.name.endswith("__main__"):
                yield importlib.import_module(info.name)


@lru_cache(maxsize=1)
def patterns() -> list[Found]:
    """Patterns of modules, of tables and those written where they are used."""
    result: list[Found] = []
    result.append(
        ("the markers of log files", markers_of(PRODUCERS).pattern, frozenset(METHODS[:2]))
    )
    for module in modules():
        tree = ast.parse(Path(str(module.__file__)).read_text("utf-8"))
        uses = uses_by_name(tree)
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern):
                result.append((f"{module.__name__}.{name}", value, frozenset(uses[name])))
        result += written_where_used(tree, module)
    return [*result, *of_rules()]


def of_rules() -> Iterator[Found]:
    for number, text in enumerate(DEFAULT_RULES.volatile_texts):
        yield f"volatile_texts[{number}]", re.compile(text), frozenset({"sub"})


def uses_by_name(tree: ast.AST) -> dict[str, set[str]]:
    """``_NAME.search(…)`` => {"_NAME": {"search"}}."""
    uses: dict[str, set[str]] = defaultdict(set)
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=method) if method in METHODS:
                uses[name].add(method)
    return uses


def written_where_used(tree: ast.AST, module: ModuleType) -> Iterator[Found]:
    """``re.search(r"…", text)``; one that cannot be told is noted, so that none is missed."""
    named = [value for value in vars(module).values() if isinstance(value, re.Pattern)]
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="re"), attr=method), args=[said, *_]
            ):
                if method in (*METHODS, "compile") and not is_built(said, module):
                    pattern = valued(node if method == "compile" else said, module)
                    if pattern not in named:
                        uses = frozenset({method} - {"compile"})
                        yield f"{module.__name__}:{node.lineno}", re.compile(pattern), uses


def is_built(said: ast.expr, module: ModuleType) -> bool:
    """Whether a pattern is put together from a function's arguments."""
    names = {node.id for node in ast.walk(said) if isinstance(node, ast.Name)}
    return bool({(module.__name__, name) for name in names} & BUILT)


def valued(said: ast.expr, module: ModuleType) -> Any:
    try:
        return eval(compile(ast.Expression(said), module.__name__, "eval"), vars(module))
    except NameError as unknown:
        UNTOLD.add((module.__name__, str(unknown.name)))
        return ""


UNTOLD: Final[set[tuple[str, str]]] = set()


# The parts of patterns that are put together from arguments.
BUILT: Final = {
    # names and beginnings that producers state, without a repeat
    ("graph_model.documents.files", "pattern"),
    # words of a prefix of up to 500 characters, possessive
    ("graph_model.documents.files", "parts"),
    ("graph_model.documents.files", "space"),
    ("graph_model.naming.partitions", "text"),  # of_rules; a date format, without a repeat
    ("graph_model.naming.partitions", "pattern"),  # on up to 64 characters
    ("graph_model.naming.partitions", "unit"),
    ("graph_model.naming.partitions", "also"),  # one character
    ("graph_model.naming.jdbc", "marks"),  # one character
    ("graph_model.naming.jdbc", "divides"),
    ("graph_model.naming.jdbc", "name"),
    # rows of the tables: a literal beginning, then one repeat, or bounded ones
    ("spark_agent_config.masking.tokens", "form"),
    ("spark_agent_config.masking.statements", "pattern"),
}


def test_patterns_that_are_built_are_known_to_be_linear() -> None:
    """Else: add it to BUILT, and why it is linear."""
    assert patterns()
    assert set() == UNTOLD


def test_patterns_are_found_in_every_package() -> None:
    names = {name.partition(".")[0] for name, _, _ in patterns()}
    assert {"api", "graph_model", "spark_agent_config", "pipeline"} <= names
    assert len(patterns()) > 120


@pytest.mark.parametrize("place", range(0, 400, 8))
def test_every_pattern_is_linear_in_its_text(place: int) -> None:
    for name, pattern, methods in patterns()[place : place + 8]:
        answer = {BY_METHOD.get(method, method) for method in methods} & USES.keys()
        for method in answer or {"search", "match", "fullmatch"}:
            for unit in {*texts_against(spelled(pattern)), " ", "a", "a=", "\n"}:
                for tail in ("!", ""):
                    work = use_of(pattern, method)
                    assert not freezes(work, "", unit, tail), (name, method, unit)


def test_there_are_no_more_patterns_than_are_looked_at() -> None:
    assert len(patterns()) <= 400


def spelled(pattern: Any) -> str:
    text = pattern.pattern
    return text.decode("latin-1") if isinstance(text, bytes) else text


def use_of(pattern: Any, method: str) -> Callable[[str], object]:
    use = USES[method]
    if isinstance(pattern.pattern, bytes):
        return lambda text: use(pattern, text.encode("utf-8", "replace"))
    return lambda text: use(pattern, text)


def _mask_values(text: str) -> object:
    document: Any = {"password": text, "inputSources": [text], "x": {"value": text}}
    return masking.mask_secrets(document)


READERS: Final[dict[str, Callable[[str], object]]] = {
    "mask_text": masking.mask_text,
    "mask_uri": masking.mask_uri,
    "mask_secrets": _mask_values,
    "is_secret_key": lambda text: masking.is_secret_key(text[:300]),
    "logs": logs.masked,
    "normalise": lambda text: uris._normalise(text, "", DEFAULT_RULES),
    "stable_text": naming.stable_text,
    "mask_literal": naming.mask_literal,
    "job_name": lambda text: naming.job_name({}, text, ""),
    "column_path": lambda text: naming.split_path(text),
    "partition": lambda text: naming.partition_pairs(text),
}
HEADS: Final = ("", "password=", "mongodb://h/?password=")
KEYED: Final = (
    "password=", "password='", 'password = "', "password ", "?token=a ", "&token=a b", ";pwd={",
    "(", "(password=", ",password = a", "password -> ", '"password":"', "password: a", "-p a ",
    "<password>", "kafka:", ":thin:a/", ':thin:a/"', "://u:p", "://u:p/", "//a:", "eyJa.", "eyJ",
    "identified by '", "eyJ-", "AKIA", "ghp_", "xoxb-", "SG.a", "-----BEGIN PRIVATE KEY-----",
    "Bearer a", "Basic ", "x-api-key: ", "authorization: basic ", "cookie: a=", "mysql ", "https://",
    "curl -u a:", "sqlplus a/", 'token\\"', '\\"token\\":\\"', "password=a,", "(((password=",
    "password for a", "[password=", "select password", "set password", "dt=1/", "{a,b}", "(select ",
    "a.b.", "`a`.", "jdbc:", "'password' ",
)  # fmt: skip


@pytest.mark.parametrize("reader", READERS)
def test_whatever_reads_a_text_is_linear_in_it(reader: str) -> None:
    work = READERS[reader]
    for unit in (*UNITS, *KEYED):
        for head in HEADS if unit in KEYED[:12] or len(unit) == 1 else ("",):
            for tail in ("@", "") if unit in KEYED else ("@",):
                assert not freezes(work, head, unit, tail), (reader, head, unit, tail)


# Of one reader: what texts begin with, and what is repeated behind it.
BEHIND: Final[tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]] = (
    ("mask_secrets", ("", "jdbc:x://h?", "mongodb://h/?a=b"), (
        "--password ", "kafka:", ":thin:a/", "(password=", "=(", "?token=a ", "&token=a b", "#a",
        "#", "password={}}", "{}}", "Bearer ", "authorization: basic ", "x-key", ", 'password' ",
        "(spark.", "jdbc:x?password=a b", "\npassword=", "[password=a,", "mongodb://a?b=c/",
        "?token=a &b=",
    )),
    ("normalise", (
        "", "s3://b/", "jdbc:postgresql://h/d:", "jdbc:oracle:thin:@", "spark_catalog/",
    ), (
        "/..", "/dt=1/*", "/2024/01", "/{a", "[", "%", ":", "@", "a://", "?a=b", '"."', "`", " ",
        "\ud800", "😀", "(select ",
    )),
    ("stable_text", ("",), (
        "#1", "@1f", "RDD[", "\nCreated Time: ", "CTERelationDef ", "A", "$$Lambda", ", ",
    )),
)  # fmt: skip


@pytest.mark.parametrize(
    ("reader", "head", "units"),
    [(reader, head, units) for reader, heads, units in BEHIND for head in heads],
)
def test_a_reader_is_linear_in_what_stands_behind_a_beginning(
    reader: str, head: str, units: tuple[str, ...]
) -> None:
    for unit in units:
        assert not freezes(READERS[reader], head, unit, "@"), (reader, head, unit)


@pytest.mark.parametrize(
    ("pattern", "method", "unit"),
    [
        (r"\s*(?:\*{3,})?\s*", "fullmatch", " "),
        (r"([^\s#]+)#(\d+)", "finditer", "a"),
        (r"\s*\n+\s*", "finditer", " "),
        (r'"(?:[^"\\]|\\.)*"', "finditer", '"a\\'),
    ],
)
def test_a_pattern_that_is_not_linear_is_told(pattern: str, method: str, unit: str) -> None:
    """A third of a second stands for the minute here: many minutes would go by."""
    compiled = re.compile(pattern)
    assert freezes(lambda text: USES[method](compiled, text), "", unit, hang=0.3)


def _count_each(text: str) -> object:
    return sum(text.count(character) for character in text)


def _keep_first_of_each(text: str) -> object:
    kept: list[str] = []
    for word in re.finditer(r".", text):
        if word not in kept:
            kept += [word]
    return kept


@pytest.mark.parametrize("reader", [_count_each, _keep_first_of_each])
def test_a_reader_that_is_not_linear_is_told(reader: Callable[[str], object]) -> None:
    """One that searches at the machine's speed, and one that compares object with object."""
    assert freezes(reader, "", "a", hang=0.3)
