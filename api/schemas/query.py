"""Fields of query strings: strict, each with its own message.

    class LineageQuery(Query):
        node = Text(required=True)
        direction = Choice(Direction, load_default=Direction.BOTH)
        depth = Whole(0, 50, load_default=1)
        at = Instant()
        layout = Flag(load_default=False)

A parameter that the client left out and that has no ``load_default`` is absent from the result.
Every message completes the sentence "<parameter>: expected …".
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any, Final

from marshmallow import RAISE, Schema, fields

from api.http import times
from api.schemas.fields import expecting

_FLAGS: Final = {"true": True, "1": True, "false": False, "0": False}
_WHOLE: Final = re.compile(r"-?[0-9]{1,18}")


class Query(Schema):
    """A query string: an undeclared parameter is refused, with the list of declared ones."""

    class Meta:
        unknown = RAISE

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        names = ", ".join(sorted(f.data_key or name for name, f in self.load_fields.items()))
        self.error_messages["unknown"] = f"one of the parameters {names}"


class NoQuery(Query):
    """No parameter is taken."""


class Whole(fields.Integer):
    """An integer within bounds, digits only: ``5``, not ``5.0``, ``1e1`` or `` 5``."""

    def __init__(self, least: int, most: int, **options: Any) -> None:
        self.least, self.most = least, most
        expected = f"an integer from {least} to {most}"
        options.setdefault("metadata", {}).update(minimum=least, maximum=most)
        super().__init__(error_messages=expecting(expected), **options)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **_: Any) -> int:
        del attr, data
        if isinstance(value, str) and _WHOLE.fullmatch(value):
            number = int(value)
            if self.least <= number <= self.most:
                return number
        raise self.make_error("invalid")


class Flag(fields.Boolean):
    """``true``, ``false``, ``1`` or ``0``."""

    def __init__(self, **options: Any) -> None:
        super().__init__(error_messages=expecting("true, false, 1 or 0"), **options)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **_: Any) -> bool:
        del attr, data
        if isinstance(value, str) and value in _FLAGS:
            return _FLAGS[value]
        raise self.make_error("invalid")


class Instant(fields.Field[int]):
    """A time, as epoch milliseconds; None (the end of time) when it is not given."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("load_default", None)
        options.setdefault("metadata", {}).update(
            type="string", description=f"{times.EXPECTED[0].upper()}{times.EXPECTED[1:]}."
        )
        super().__init__(error_messages=expecting(times.EXPECTED), **options)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **_: Any) -> int:
        del attr, data
        try:
            return times.parse_instant(str(value))
        except ValueError:
            raise self.make_error("invalid") from None


class Text(fields.String):
    """A text of 1 to ``most`` characters that is not blank."""

    def __init__(self, most: int = 2_000, **options: Any) -> None:
        self.most = most
        options.setdefault("metadata", {}).update(minLength=1, maxLength=most)
        super().__init__(error_messages=expecting(f"a text of 1 to {most:,} characters"), **options)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **_: Any) -> str:
        del attr, data
        if not isinstance(value, str) or not value.strip() or len(value) > self.most:
            raise self.make_error("invalid")
        return value


class OptionalText(Text):
    """As :class:`Text`, but may be empty, as an empty search field sends it."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **options: Any) -> str:
        if isinstance(value, str) and not value.strip():
            return ""
        return super()._deserialize(value, attr, data, **options)


class Choice(fields.Field[Any]):
    """One of some texts; where they are a StrEnum, its member."""

    def __init__(self, texts: Iterable[str], **options: Any) -> None:
        self.members = {str(text): text for text in texts}
        values = list(self.members)
        options.setdefault("metadata", {}).update(type="string", enum=values)
        super().__init__(error_messages=expecting(_one_of(values)), **options)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **_: Any) -> str:
        del attr, data
        if not isinstance(value, str) or value not in self.members:
            raise self.make_error("invalid")
        return self.members[value]


class Choices(fields.Field[tuple[str, ...]]):
    """One or more of some words, comma-separated: ``dataset,job``. Order and repeats vanish."""

    def __init__(self, allowed: Collection[str], **options: Any) -> None:
        self.allowed = tuple(allowed)
        options.setdefault("metadata", {}).update(type="string", example=",".join(self.allowed))
        super().__init__(
            error_messages=expecting(f"one or more of {', '.join(self.allowed)}"), **options
        )

    def _deserialize(self, value: Any, attr: str | None, data: Any, **_: Any) -> tuple[str, ...]:
        del attr, data
        asked = set(value.split(",")) if isinstance(value, str) else set()
        if not asked or not asked <= set(self.allowed):
            raise self.make_error("invalid")
        return tuple(word for word in self.allowed if word in asked)


def _one_of(values: list[str]) -> str:
    return f"{', '.join(values[:-1])} or {values[-1]}" if len(values) > 1 else values[0]


__all__ = [
    "Choice",
    "Choices",
    "Flag",
    "Instant",
    "NoQuery",
    "OptionalText",
    "Query",
    "Text",
    "Whole",
]
