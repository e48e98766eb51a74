"""The refusals of Amazon Neptune, as a checker of requests: there is no emulator to ask.

Every request that goes out through the Neptune dialect, in any test, passes through
:func:`objections` (see conftest.py). The list of steps is closed on purpose: whoever writes a new
traversal looks up whether Neptune runs it natively, and adds it here. Sources: the user guide's
pages on Gremlin standards compliance, supported steps, and efficient upserts with mergeV/mergeE.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from gremlin_python.process.traversal import (
    Binding,
    Bytecode,
    Cardinality,
    Column,
    Direction,
    Merge,
    T,
)
from gremlin_python.statics import long

from graph_model.stores.gremlin.dialect import Dialect

STEPS: Final = frozenset(
    (
        "V",
        "E",
        "mergeV",
        "mergeE",
        "option",
        "id",
        "drop",
        "limit",
        "count",
        "local",
        "union",
        "outE",
        "inE",
        "outV",
        "where",
        "hasLabel",
        "inV",
        "project",
        "by",
        "valueMap",
        "select",
        "inject",
    )
)
MOST_STEPS: Final = 1_500
MOST_IDS: Final = 500
LONGEST_TEXT: Final = 55 << 20
_VALUES: Final = (str, bool, long, float)
_ENUMS: Final = (T, Merge, Column, Direction)


class RefusedByNeptune(AssertionError):
    """A request that Neptune would refuse, or serve badly; says why."""


def check(request: Bytecode, size: int, dialect: Dialect) -> None:
    """Raise RefusedByNeptune with every objection to a request of ``size`` bytes."""
    if result := list(objections(request, size, dialect)):
        raise RefusedByNeptune("; ".join(result) + f"\n{shape(request)}")


def objections(request: Bytecode, size: int, dialect: Dialect) -> Iterator[str]:
    """Why Neptune would refuse this request; nothing for one that it takes."""
    for name, *arguments in request.source_instructions:
        yield f"source step {name}{tuple(arguments)}: our requests have none"
    steps = list(walk(request))
    if len(steps) > MOST_STEPS:
        yield f"{len(steps)} steps, over {MOST_STEPS}"
    for step in steps:
        yield from _step(step)
    names = [step[0] for step in request.step_instructions]
    merges = [name for name in names if name in ("mergeV", "mergeE")]
    if merges:
        yield from _chain(request.step_instructions, size, dialect)
    elif names and names[0] in ("V", "E"):
        yield from _from_the_start(request.step_instructions, dialect)
    elif names != ["inject"]:
        yield f"begins with {names[:1]}"
    if names and names[-1] in ("none", "discard", "iterate"):
        yield f"ends in {names[-1]}(), which 3.7 and 3.8 spell differently"


def walk(request: Bytecode) -> Iterator[list[Any]]:
    """Every step of a traversal and of those inside it."""
    for step in request.step_instructions:
        yield step
        for argument in _flat(step[1:]):
            if isinstance(argument, Bytecode):
                yield from walk(argument)


def _flat(values: Sequence[Any]) -> Iterator[Any]:
    for value in values:
        yield value
        if isinstance(value, dict):
            yield from _flat([*value.keys(), *value.values()])


# --- one step ------------------------------------------------------------------------------------


def _step(step: list[Any]) -> Iterator[str]:
    name, *arguments = step
    if name not in STEPS:
        yield f"step {name}() is not among those known to be native"
    for argument in arguments:
        if isinstance(argument, dict) and name not in ("mergeV", "mergeE", "option"):
            yield f"{name}(): a map as an argument"
        elif isinstance(argument, dict):
            continue  # _chain looks inside
        else:
            yield from (f"{name}(): {why}" for why in _argument(argument))


def _argument(value: Any) -> Iterator[str]:
    if isinstance(value, Bytecode):
        if value.source_instructions:
            yield f"an argument with a source of its own: {value.source_instructions}"
    elif isinstance(value, Binding):
        yield "a binding: Neptune has none"
    elif callable(value):
        yield "a lambda"
    elif not isinstance(value, (*_VALUES, *_ENUMS, int)):
        yield f"a {type(value).__name__}: {value!r:.80}"
    else:
        yield from _scalar(value)


def _scalar(value: Any) -> Iterator[str]:
    if isinstance(value, str) and "\0" in value:
        yield f"a null character: {value!r:.80}"
    if isinstance(value, str) and len(value.encode()) > LONGEST_TEXT:
        yield "a text of more than 55 MB"


# --- writing -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Upsert:
    kind: str
    search: Any
    created: Any

    @property
    def id(self) -> Any:
        return self.search.get(T.id_) if isinstance(self.search, dict) else None

    @property
    def records(self) -> int:
        return len([key for key in self.created if not isinstance(key, Direction)])

    @property
    def order(self) -> tuple[str, str]:
        return str(self.created.get(Direction.OUT, "")), str(self.id)


def _chain(every: list[list[Any]], size: int, dialect: Dialect) -> Iterator[str]:
    steps: list[list[Any]] = []
    for step in every:
        if step[:2] != ["option", Merge.on_match] or steps[-1][0] != "option":
            steps.append(step)  # an on_match without its on_create is refused below
        elif len(step) != 3 or not isinstance(step[2], dict) or steps[-2][0] != "mergeV":
            yield "an on_match that is no literal map behind mergeV and its on_create"
        else:
            for key, value in step[2].items():
                yield from _property("mergeV", key, value)
    if len(steps) % 2 == 0 or steps[-1] != ["id"]:
        yield "a chain of merges is merge, option, merge, option, … and ends in id()"
        return
    upserts: list[_Upsert] = []
    for merge, option in zip(steps[:-1:2], steps[1:-1:2], strict=True):
        if merge[0] not in ("mergeV", "mergeE") or len(merge) != 2 or option[0] != "option":
            yield f"not a merge with its option: {merge[0]}, {option[0]}"
            return
        if option[1] is not Merge.on_create or len(option) != 3 or not isinstance(option[2], dict):
            yield f"an option other than on_create with a literal map: {option[1:2]}"
            return
        upserts.append(_Upsert(merge[0], merge[1], option[2]))
    if len({upsert.kind for upsert in upserts}) > 1:
        yield "vertices and edges in one chain"
    for upsert in upserts:
        yield from _upsert(upsert)
    yield from _bounds(upserts, size, dialect)


def _upsert(upsert: _Upsert) -> Iterator[str]:
    if not isinstance(upsert.search, dict) or list(upsert.search) != [T.id_]:
        yield f"{upsert.kind}: the search is not by T.id alone"
        return
    if not isinstance(upsert.id, str) or not upsert.id:
        yield f"{upsert.kind}: an id that is no text: {upsert.id!r}"
    label = upsert.created.get(T.label)
    if not isinstance(label, str) or "::" in label:
        yield f"{upsert.kind}: label {label!r}"
    if T.id_ in upsert.created:
        yield f"{upsert.kind}: the id stands in on_create too"
    for key, value in upsert.created.items():
        if key is T.label:
            continue
        if isinstance(key, Direction):
            if upsert.kind == "mergeV" or not isinstance(value, str):
                yield f"{upsert.kind}: {key} is {value!r}"
        else:
            yield from _property(upsert.kind, key, value)
    if upsert.kind == "mergeE" and not {Direction.OUT, Direction.IN} <= set(upsert.created):
        yield "mergeE: an edge without both ends"


def _property(kind: str, key: Any, value: Any) -> Iterator[str]:
    if not isinstance(key, str) or not key:
        yield f"{kind}: property key {key!r}"
    if kind == "mergeE":
        if isinstance(value, Bytecode):
            yield f"mergeE: {key} with a cardinality; edges know none"
            return
        plain = value
    else:
        said = value.source_instructions if isinstance(value, Bytecode) else []
        single = len(said) == 1 and said[0][:2] == ["CardinalityValueTraversal", Cardinality.single]
        if not single:
            yield f"mergeV: {key} does not say that it is single; the default is a set"
            return
        plain = said[0][2]
    if type(plain) not in (str, bool, long, float):
        yield f"{kind}: {key} is a {type(plain).__name__}"
    yield from (f"{kind}: {key}: {why}" for why in _scalar(plain))


def _bounds(upserts: list[_Upsert], size: int, dialect: Dialect) -> Iterator[str]:
    if any(item.order >= other.order for item, other in pairwise(upserts)):
        yield "ids are not in order, each once: writers may wait for each other in a circle"
    if len(upserts) == 1:
        return
    if len(upserts) > min(100, dialect.batch_elements):
        yield f"{len(upserts)} elements in one request"
    if (records := sum(upsert.records for upsert in upserts)) > 200:
        yield f"{records} records in one request, over 200"
    if size > 2 * dialect.batch_bytes:
        yield f"{size:,} bytes in one request"


# --- reading and removing ------------------------------------------------------------------------


def _from_the_start(steps: list[list[Any]], dialect: Dialect) -> Iterator[str]:
    (start, *ids), *rest = steps
    names = [step[0] for step in rest]
    if ids:
        yield from _ids(start, ids, names, dialect)
    elif "drop" in names:
        limits = [step[1] for step in rest if step[0] == "limit"]
        if names != ["limit", "drop"] or limits[0] > dialect.clear_elements:
            yield f"{start}() without ids and drop(), not bounded: {names}, {limits}"
    if "drop" in names and names[-1] != "drop":
        yield "drop() in the middle"


def _ids(start: str, ids: list[Any], names: list[str], dialect: Dialect) -> Iterator[str]:
    if not all(isinstance(each, str) and each for each in ids):
        yield f"{start}() with an id that is no text"
    elif "drop" in names and any(item >= other for item, other in pairwise(ids)):
        yield f"{start}() drops ids out of order, or twice"
    elif len(set(ids)) < len(ids):
        yield f"{start}() with an id twice"
    most = dialect.remove_elements if "drop" in names else MOST_IDS
    if len(ids) > most:
        yield f"{start}() with {len(ids)} ids, over {most}"


# --- as text -------------------------------------------------------------------------------------


def shape(request: Bytecode) -> str:
    """A request as readable lines, the same for equal bytes, for the golden files."""
    lines = [f"{name}({_spell(arguments)})" for name, *arguments in request.source_instructions]
    lines += [f".{name}({_spell(arguments)})" for name, *arguments in request.step_instructions]
    return "\n".join(lines) + "\n"


def _spell(arguments: Sequence[Any]) -> str:
    return ", ".join(map(_word, arguments))


def _word(value: Any) -> str:
    if isinstance(value, Bytecode):
        parts = [*value.source_instructions, *value.step_instructions]
        return "__" + "".join(f".{name}({_spell(rest)})" for name, *rest in parts)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_word(k)}: {_word(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (*_ENUMS, Cardinality)):
        return str(value)
    return f"{value!r}L" if type(value) is long else repr(value)
