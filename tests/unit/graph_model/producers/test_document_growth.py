"""Work grows with a document in every dimension that a document has.

The dimensions are found in the documents of the fixtures, by walking them: each list, and each
object, is made longer. A new facet in a fixture is a new dimension.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest

from graph_model.errors import InvalidDocument
from graph_model.facts import merge
from graph_model.producers.openlineage.events.documents import RunEvent, read_event
from graph_model.producers.openlineage.translate import read_declaration, read_run
from graph_model.producers.spline.documents import read_plan
from graph_model.producers.spline.plan_logic import PlanDocument
from graph_model.producers.spline.plans import translate_plan
from tests import captures
from tests.work import count_calls

_FIXTURES: Final = Path(__file__).parents[3] / "fixtures"
_SIZES: Final = (8, 16, 32)
_MOST: Final = 3.0
"""The further work of 16 more items by that of 8 more: 2 of a line, 4 of a square."""
_WORDS: Final = frozenset({
    "type", "subtype", "transformationType", "eventType", "eventTime", "lifecycleStateChange",
    "runId", "childIds", "__attrId", "__exprId", "dataType", "_typeHint",
})  # fmt: skip
"""The keys of texts that are references, times or words of a list: copies keep them."""

_NUMBERS: Final = count(100_000)

Dimension = tuple[str | int, ...]


def dimensions(value: Any, path: Dimension = ()) -> Iterator[Dimension]:
    """The lists and objects inside a document that are not empty."""
    if value and path and isinstance(value, dict | list):
        yield path
    if isinstance(value, dict):
        for key, first in value.items():
            yield from dimensions(first, (*path, key))
    elif isinstance(value, list) and value:
        yield from dimensions(value[0], (*path, 0))


def by_dimension(documents: list[tuple[str, Any]]) -> dict[str, tuple[Any, Dimension]]:
    """Each dimension once, with a document that has it."""
    result: dict[str, tuple[Any, Dimension]] = {}
    for kind, document in documents:
        for path in dimensions(document):
            result.setdefault(f"{kind} {'.'.join(map(str, path))}", (document, path))
    return result


def copied(value: Any, mark: str, key: str = "") -> Any:
    """A copy with names of its own."""
    if isinstance(value, dict):
        return {name: copied(item, mark, name) for name, item in value.items()}
    if isinstance(value, list):
        return [copied(item, mark, key) for item in value]
    return f"{value}{mark}" if isinstance(value, str) and key not in _WORDS else value


def grown(document: Any, path: Dimension, size: int) -> Any:
    """The document with ``size`` more items there, like the first one but for names that nothing
    has cached.
    """
    marks = [f"x{next(_NUMBERS)}x" for _ in range(size)]
    larger = copy.deepcopy(document)
    place = larger
    for key in path:
        place = place[key]
    if isinstance(place, list):
        place += [copied(place[0], mark) for mark in marks]
    else:
        name, item = next(iter(place.items()))
        place |= {f"{name}{mark}": copied(item, mark) for mark in marks}
    return larger


def translate_event(document: Any) -> None:
    event = read_event(document)
    read = read_run([event]) if isinstance(event, RunEvent) else read_declaration(event)
    merge(read.parts)


def translate_document(document: Any) -> None:
    translate_plan(PlanDocument(read_plan(document), "", "hash", "1.2"))


def calls(translate: Callable[[Any], None], document: Any) -> int:
    """How many functions a translation calls; a refusal has its cost as well."""

    def translated() -> None:
        with suppress(InvalidDocument):
            translate(document)

    return count_calls(translated)


def events() -> list[tuple[str, Any]]:
    files = sorted((_FIXTURES / "openlineage" / "scenarios").glob("*.json"))
    return [("event", event) for file in files for event in json.loads(file.read_text())["events"]]


def plans() -> list[tuple[str, Any]]:
    """Captured plans of the newest wire version."""
    result = [plan for name in captures.names() for plan in captures.plans(name)]
    return [
        ("plan", item) for item in result if "reads" in item["operations"] and "attributes" in item
    ]


DIMENSIONS: Final = by_dimension([*events(), *plans()])


def test_the_dimensions_are_found() -> None:
    assert {
        "event outputs.0.facets.columnLineage.fields", "event run.facets",
        "event job.facets.lineage.entries", "event outputs.0.facets.symlinks.identifiers",
        "plan attributes", "plan operations.reads.0.inputSources", "plan expressions.functions",
    } <= DIMENSIONS.keys()  # fmt: skip


def growth(translate: Callable[[Any], None], document: Any, path: Dimension) -> float:
    calls(translate, grown(document, path, 1))  # what is made once
    first, second, third = (calls(translate, grown(document, path, n)) for n in _SIZES)
    return (third - second) / max(second - first, first // 10)


def test_a_square_is_found() -> None:
    def square(document: Any) -> None:
        for one in document["items"]:
            for other in document["items"]:
                max(one, other)

    assert growth(square, {"items": ["a"]}, ("items",)) > _MOST


@pytest.mark.parametrize("kind", ["event", "plan"])
def test_twice_the_items_of_a_dimension_are_about_twice_the_work(kind: str) -> None:
    translate = translate_event if kind == "event" else translate_document
    result = {
        name: growth(translate, document, path)
        for name, (document, path) in DIMENSIONS.items()
        if name.startswith(f"{kind} ")
    }
    assert {name: times for name, times in result.items() if times > _MOST} == {}
