"""Whatever takes a text or a list of somebody else's does work in proportion to its size.

One request that does not can hold the interpreter, and with it the service. The functions are
found in the packages, the sizes of a document in the document: whoever adds one adds it here.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

import graph_model
from graph_model.naming import DEFAULT_RULES
from spark_agent_config import masking
from tests.work import grows_too_fast

#: Packages that do I/O, and take no document.
_OTHERS: Final = ("graph_model.stores", "graph_model.projection")
_TIMES: Final = 3.0
"""A linear cost doubles, a quadratic one grows by four."""
_CHARACTERS: Final = 450
_ITEMS: Final = 40
#: Functions that are not linear, and why that is no harm.
_BOUNDED: Final = {
    "graph_model.documents.files.recognise": "names the file in each piece, and the name is text",
    "graph_model.naming.jdbc.query_lineage": "parses up to 20,000 characters",
    "graph_model.naming.jdbc.without_query": "parses up to 20,000 characters",
    "graph_model.sql.parsing.parse": "is given up to 20,000 characters",
    "graph_model.producers.spline.tables.read_query": "parses up to 20,000 characters",
}
_UNITS: Final = (
    "a", " ", "\n", "(", "a.", "a/", "struct<a:", "array<", "/a=1", "{a,b}", "%2D", "`a`.", "a,",
    "'", " Traceback (most recent call last):\n", "Caused by: a\n", "case when a then ",
    "password=a ", "://u:p@", "*/", "((select ", "a=b;", "İ", "-- a\n", "/* ", '"a":[', "\\",
)  # fmt: skip

Build = Callable[[str, int], Any]  # (unit, number of characters) => an argument


def _text(unit: str, size: int) -> str:
    return unit * (size // len(unit))


def _texts(unit: str, size: int) -> list[str]:
    return [f"{unit * 3}{number}" for number in range(size * _ITEMS // _CHARACTERS)]


def _mapping(unit: str, size: int) -> dict[str, str]:
    return {text: text for text in _texts(unit, size)}


def _pairs(unit: str, size: int) -> list[tuple[str, str]]:
    return [(text, unit) for text in _texts(unit, size)]


_GROWING: Final[dict[str, Build]] = {
    "str": _text,
    "str | None": _text,
    "bytes": lambda unit, size: _text(unit, size).encode(),
    "Any": _text,
    "object": _texts,
    **dict.fromkeys(
        ("Sequence[str]", "Iterable[str]", "Collection[str]", "list[str]", "set[str]"), _texts
    ),
    "tuple[str, ...]": lambda unit, size: tuple(_texts(unit, size)),
    **dict.fromkeys(
        ("Mapping[str, Any]", "Mapping[str, str]", "JsonObject", "dict[str, Any]"), _mapping
    ),
    **dict.fromkeys(
        ("Sequence[tuple[str, str]]", "Iterable[tuple[str, str]]", "list[tuple[str, str]]"), _pairs
    ),
}
_FIXED: Final[dict[str, Any]] = {
    "int": 1, "int | None": 1, "float": 1.0, "bool": False, "Rules": DEFAULT_RULES,
}  # fmt: skip


def functions() -> Iterator[tuple[str, Callable[..., object]]]:
    """The public functions, with what each needs known by its annotations."""
    for package in (graph_model, masking):
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not info.name.startswith(_OTHERS):
                module = importlib.import_module(info.name)
                for name, value in vars(module).items():
                    made: Any = inspect.unwrap(value) if callable(value) else None
                    own = inspect.isfunction(made) and made.__module__ == info.name
                    if own and not name.startswith("_") and _is_told(made):
                        yield f"{info.name}.{name}", made


def _required(function: Callable[..., object]) -> list[inspect.Parameter]:
    listed = inspect.signature(function).parameters.values()
    return [
        item for item in listed if item.default is item.empty and item.kind is not item.VAR_KEYWORD
    ]


def _is_told(function: Callable[..., object]) -> bool:
    message = [str(item.annotation) for item in _required(function)]
    return any(item in _GROWING for item in message) and all(
        entry in _GROWING or entry in _FIXED for entry in message
    )


FUNCTIONS: Final = dict(functions())


def _call(function: Callable[..., Any], unit: str, size: int) -> Callable[[], object]:
    given: list[Any] = []
    named: dict[str, Any] = {}
    for item in _required(function):
        kind = str(item.annotation)
        build = _GROWING.get(kind)
        value = _FIXED[kind] if build is None else build(unit, size)
        if item.kind is item.KEYWORD_ONLY:
            named[item.name] = value
        elif item.kind is item.VAR_POSITIONAL:
            given += value if isinstance(value, list) else [value]
        else:
            given.append(value)

    def call() -> None:
        made = function(*given, **named)
        if inspect.isgenerator(made):
            for _ in made:
                pass

    return call


def test_the_functions_are_found() -> None:
    assert len(FUNCTIONS) > 150
    assert {"graph_model.values.shortened", "graph_model.naming.columns.field_changes"} <= set(
        FUNCTIONS
    )
    assert set(FUNCTIONS) > set(_BOUNDED)


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - set(_BOUNDED)))
def test_twice_the_text_is_about_twice_the_work(name: str) -> None:
    function = FUNCTIONS[name]
    for unit in _UNITS:

        def call(size: int, unit: str = unit) -> Callable[[], object]:
            return _call(function, unit, size)

        assert not grows_too_fast(call, _CHARACTERS, _TIMES), unit
