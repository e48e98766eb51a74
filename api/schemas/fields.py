"""Fields of JSON bodies and of query strings: strict, each with its own message.

    class LineageQuery(Query):
        node = TextField(required=True)
        direction = Choice(Direction, load_default=Direction.BOTH)
        depth = IntegerField(0, 50, load_default=1)
        at = Instant()
        layout = Flag(load_default=False)

A parameter that the client left out and that has no ``load_default`` is absent from the result.
Every message completes the sentence "<path or parameter>: expected …".
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from marshmallow import RAISE, Schema, fields

from graph_model.values import EXPECTED, parse_instant

_CASES = ("required", "null", "invalid", "type", "validator_failed")


def expecting(expected: str) -> dict[str, str | list[Any] | dict[Any, Any]]:
    """The messages of a field: one text for every kind of fault."""
    return dict.fromkeys(_CASES, expected)


class RequestBody(Schema):
    """A JSON object whose unknown fields are refused."""

    class Meta:
        unknown = RAISE

    error_messages = {"type": "a JSON object", "unknown": "no such field"}  # noqa: RUF012


class Checked(fields.Field[Any]):
    """A field whose values ``read`` checks: a ValueError there is the field's one message.

    ``expected`` completes the sentence "<path>: expected …", ``kinds`` are the types of its values,
    ``shape`` describes it in the OpenAPI document; with ``nullable`` null is taken, too.
    """

    expected: str
    kinds: tuple[type, ...] = (str,)
    shape: Mapping[str, Any] = {"type": "string"}
    nullable = False

    def __init__(self, **options: Any) -> None:
        options.setdefault("metadata", {}).update(self.shape)
        options.setdefault("allow_none", self.nullable or None)
        super().__init__(error_messages=expecting(self.expected), **options)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **_: Any) -> Any:
        del attr, data
        try:
            return self.read(value)
        except ValueError:
            raise self.make_error("invalid") from None

    def read(self, value: Any) -> Any:
        """The value that is loaded. Raises ValueError for one that is not as expected."""
        if not isinstance(value, self.kinds):
            raise ValueError(value)
        return value


class Truth(Checked):
    """``true`` or ``false``, no other spelling."""

    expected = "true or false"
    kinds = (bool,)
    shape: Mapping[str, Any] = {"type": "boolean"}


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


class IntegerField(Checked):
    """An integer within bounds, digits only: ``5``, not ``5.0``, ``1e1`` or `` 5``."""

    def __init__(self, least: int, most: int, **options: Any) -> None:
        self.least, self.most = least, most
        self.expected = f"an integer from {least} to {most}"
        self.shape = {"type": "integer", "minimum": least, "maximum": most}
        super().__init__(**options)

    def read(self, value: Any) -> int:
        if not _WHOLE.fullmatch(super().read(value)) or not self.least <= int(value) <= self.most:
            raise ValueError(value)
        return int(value)


class Flag(Checked):
    """``true``, ``false``, ``1`` or ``0``."""

    expected = "true, false, 1 or 0"
    shape: Mapping[str, Any] = {"type": "boolean"}

    def read(self, value: Any) -> bool:
        if super().read(value) not in _FLAGS:
            raise ValueError(value)
        return _FLAGS[value]


SWITCHES: Final = {
    "true": True, "on": True, "yes": True, "1": True,
    "false": False, "off": False, "no": False, "0": False,
}  # fmt: skip


class Switch(Flag):
    """``true``, ``on``, ``yes``, ``1`` and their opposites, in any case: for clients of others."""

    def read(self, value: Any) -> bool:
        if (word := str(value).lower()) in SWITCHES:
            return SWITCHES[word]
        raise ValueError(value)


class Instant(Checked):
    """A time, as epoch milliseconds; None (the end of time) when it is not given."""

    expected = EXPECTED
    shape: Mapping[str, Any] = {
        "type": "string",
        "description": f"{EXPECTED[0].upper()}{EXPECTED[1:]}.",
    }

    def __init__(self, **options: Any) -> None:
        options.setdefault("load_default", None)
        super().__init__(**options)

    def read(self, value: Any) -> int:
        return parse_instant(str(value))


class TextField(Checked):
    """A text of 1 to ``most`` characters that is not blank."""

    def __init__(self, most: int = 2_000, **options: Any) -> None:
        self.most = most
        self.expected = f"a text of 1 to {most:,} characters"
        self.shape = {"type": "string", "minLength": 1, "maxLength": most}
        super().__init__(**options)

    def read(self, value: Any) -> str:
        text: str = super().read(value)
        if not text.strip() or len(text) > self.most:
            raise ValueError(value)
        return text


class OptionalTextField(TextField):
    """As :class:`TextField`, but may be empty, as an empty search field sends it."""

    def read(self, value: Any) -> str:
        return "" if isinstance(value, str) and not value.strip() else super().read(value)


class Choice(Checked):
    """One of some texts; where they are a StrEnum, its member."""

    def __init__(self, texts: Iterable[str], **options: Any) -> None:
        self.members = {str(text): text for text in texts}
        self.expected = _one_of([*self.members])
        self.shape = {"type": "string", "enum": [*self.members]}
        super().__init__(**options)

    def read(self, value: Any) -> str | None:
        if super().read(value) not in self.members:
            raise ValueError(value)
        return self.members[value]


class CaselessChoice(Choice):
    """One of some texts, in any case: for clients of others."""

    def read(self, value: Any) -> str | None:
        text = str(value).casefold()
        return super().read(next((known for known in self.members if known.casefold() == text), ""))


class Choices(Checked):
    """One or more of some words, comma-separated: ``dataset,job``. Order and repeats vanish."""

    def __init__(self, allowed: Collection[str], **options: Any) -> None:
        self.allowed = tuple(allowed)
        self.expected = f"one or more of {', '.join(self.allowed)}"
        self.shape = {"type": "string", "example": ",".join(self.allowed)}
        super().__init__(**options)

    def read(self, value: Any) -> tuple[str, ...]:
        asked = set(super().read(value).split(","))
        if not asked <= set(self.allowed):
            raise ValueError(value)
        return tuple(word for word in self.allowed if word in asked)


def _one_of(values: list[str]) -> str:
    return f"{', '.join(values[:-1])} or {values[-1]}" if len(values) > 1 else values[0]


class Count(Checked):
    """A JSON integer of 1 or more."""

    kinds = (int,)
    shape: Mapping[str, Any] = {"type": "integer"}

    def __init__(self, most: int, **options: Any) -> None:
        self.most = most
        self.expected = f"an integer from 1 to {most}"
        super().__init__(**options)

    def read(self, value: Any) -> int:
        if isinstance(value, bool) or not 1 <= super().read(value) <= self.most:
            raise ValueError(value)
        return int(value)
