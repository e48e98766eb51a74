"""Small typed readers of JSON: each raises InvalidDocument with the path of the wrong value.

They serve every protocol; exceptions for one protocol stay with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NoReturn, ParamSpec, TypeVar

from graph_model.errors import MOST_ERRORS, WHOLE_DOCUMENT, InvalidDocument

JsonObject = Mapping[str, Any]
_Value = TypeVar("_Value")
_Arguments = ParamSpec("_Arguments")
_MOST_QUOTED: Final = 100


def join(path: str, key: str) -> str:
    """``outputs[0]`` and ``name`` => ``outputs[0].name``; long keys are cut."""
    key = key[:_MOST_QUOTED]
    return f"{path}.{key}" if path else key


class WrongFields:
    """What is wrong with a document, gathered by a reader that goes on after a wrong value.

    It ends at 50 wrong places: a body may be a list of millions of them.
    """

    def __init__(self) -> None:
        self._expected: dict[str, str] = {}

    def take(
        self,
        default: _Value,
        read: Callable[_Arguments, _Value],
        *arguments: _Arguments.args,
        **options: _Arguments.kwargs,
    ) -> _Value:
        """What ``read`` returns; ``default`` where it raises InvalidDocument, which is noted."""
        try:
            return read(*arguments, **options)
        except InvalidDocument as error:
            if len(self._expected) >= MOST_ERRORS:
                raise  # it is the whole refusal, on its way out
            self.note(error.path, error.expected)
            return default

    def note(self, path: str, expected: str) -> None:
        """Raises InvalidDocument with all that is noted once that is 50 places."""
        self._expected.setdefault(path, expected)
        if len(self._expected) >= MOST_ERRORS:
            self.check()

    def check(self) -> None:
        """Raises InvalidDocument where anything is noted: the first, with all in ``errors``."""
        for path, expected in self._expected.items():
            errors = {at or WHOLE_DOCUMENT: [wanted] for at, wanted in self._expected.items()}
            raise InvalidDocument(path, expected, errors)


def read_object(value: object, path: str) -> JsonObject:
    if not isinstance(value, dict):
        raise InvalidDocument(path, "a JSON object")
    return value


def optional_object(fields: JsonObject, key: str, path: str) -> JsonObject:
    """``{}`` where there is none, or null."""
    value = fields.get(key)
    if isinstance(value, dict):
        return value
    return {} if value is None else read_object(value, join(path, key))


def read_text(fields: JsonObject, key: str, path: str, *, empty: bool = False) -> str:
    """A string; an empty one only where ``empty`` allows it."""
    value = fields.get(key)
    if not isinstance(value, str) or not (empty or value.strip()):
        raise InvalidDocument(join(path, key), "a string" if empty else "a string, not empty")
    return value


def optional_text(fields: JsonObject, key: str, path: str) -> str:
    """``""`` where there is none, or null."""
    value = fields.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InvalidDocument(join(path, key), "a string")
    return value


def optional_flag(fields: JsonObject, key: str, path: str) -> bool:
    value = fields.get(key)
    if value is None:
        return False
    if not isinstance(value, bool):
        raise InvalidDocument(join(path, key), "true or false")
    return value


def optional_list(fields: JsonObject, key: str, path: str) -> list[Any]:
    """``[]`` where there is none, or null."""
    value = fields.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise InvalidDocument(join(path, key), "a list")
    return value


def items(fields: JsonObject, key: str, path: str) -> Iterator[tuple[object, str]]:
    """The items of a list with their paths; nothing for null or none."""
    here = join(path, key)
    for index, item in enumerate(optional_list(fields, key, path)):
        yield item, f"{here}[{index}]"


def read_items(
    fields: JsonObject, key: str, path: str, read: Callable[[JsonObject, str], _Value]
) -> tuple[_Value, ...]:
    """A list of objects, each read by ``read``."""
    return tuple([read(read_object(item, at), at) for item, at in items(fields, key, path)])


def read_members(
    fields: JsonObject, key: str, path: str, read: Callable[[JsonObject, str], _Value]
) -> tuple[tuple[str, _Value], ...]:
    """An object of objects as sorted pairs; nothing for null or none."""
    here = join(path, key)
    members = []
    for name, value in sorted(optional_object(fields, key, path).items()):
        at = join(here, name)
        members.append((name, read(read_object(value, at), at)))
    return tuple(members)


def check_depth(document: object, most: int) -> None:
    """Raises InvalidDocument for more than ``most`` levels of nesting. Iterative."""
    level = [document] if isinstance(document, _NESTED) else []
    for _ in range(most):
        level = [
            item
            for value in level
            for item in (value.values() if isinstance(value, dict) else value)
            if isinstance(item, _NESTED)
        ]
        if not level:
            return
    _name_depth(document, most)


_NESTED: Final = (dict, list)


def _name_depth(document: object, most: int) -> NoReturn:
    """Says below which member of the document it is too deep."""
    level: list[tuple[object, str]] = [(document, "")]
    for _ in range(most):
        below: list[tuple[object, str]] = []
        for value, top in level:
            if isinstance(value, dict):
                below.extend(
                    (item, top or str(key)[:_MOST_QUOTED])
                    for key, item in value.items()
                    if isinstance(item, dict | list)
                )
            elif isinstance(value, list):
                below.extend((item, top) for item in value if isinstance(item, dict | list))
        level = below
    raise InvalidDocument(level[0][1], f"at most {most} levels of nesting")
