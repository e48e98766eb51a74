"""Fields of JSON bodies; every message completes the sentence "<path>: expected …"."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any, Final

from marshmallow import INCLUDE, RAISE, Schema, ValidationError, fields

MOST_CHECKED: Final = 1_000
"""Entries of one list that are checked by marshmallow."""
_MOST_NAME: Final = 100
_CASES = ("required", "null", "invalid", "type", "validator_failed")


def expecting(expected: str) -> dict[str, str | list[Any] | dict[Any, Any]]:
    """The messages of a field: one text, whatever was wrong with the value."""
    return dict.fromkeys(_CASES, expected)


class RequestBody(Schema):
    """A JSON object whose unknown fields are refused."""

    class Meta:
        unknown = RAISE

    error_messages = {"type": "a JSON object", "unknown": "no such field"}  # noqa: RUF012


class Envelope(Schema):
    """A JSON object whose unknown fields are kept."""

    class Meta:
        unknown = INCLUDE

    error_messages = {"type": "a JSON object"}  # noqa: RUF012 - marshmallow's own name


class Uuid(fields.Field[str]):
    """A UUID string."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("metadata", {}).update(type="string", format="uuid")
        super().__init__(error_messages=expecting("a UUID string"), **options)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **_: Any) -> str:
        del attr, data
        try:
            return str(uuid.UUID(value))
        except (ValueError, AttributeError, TypeError):
            raise self.make_error("invalid") from None


class ScalarText(fields.Field[str]):
    """A string; published clients send numbers as ids: 3 => "3"."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("metadata", {}).update(type="string")
        super().__init__(error_messages=expecting("a string"), **options)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **_: Any) -> str:
        del attr, data
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise self.make_error("invalid")
        return str(value)


class Uri(fields.Field[str]):
    """A source or a target: any text that is not blank."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("metadata", {}).update(type="string")
        super().__init__(error_messages=expecting("a URI, not empty"), **options)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **_: Any) -> str:
        del attr, data
        if not isinstance(value, str) or not value.strip():
            raise self.make_error("invalid")
        return value


class Truth(fields.Field[bool]):
    """``true`` or ``false``, no other spelling."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("metadata", {}).update(type="boolean")
        super().__init__(error_messages=expecting("true or false"), **options)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **_: Any) -> bool:
        del attr, data
        if not isinstance(value, bool):
            raise self.make_error("invalid")
        return value


class PlainObject(fields.Field[Mapping[str, Any]]):
    """params and extra: the engine's own fields; null counts as empty."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("metadata", {}).update(type="object", additionalProperties=True)
        super().__init__(allow_none=True, error_messages=expecting("a JSON object"), **options)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **_: Any) -> Mapping[str, Any]:
        del attr, data
        if not isinstance(value, dict):
            raise self.make_error("invalid")
        return value


class LongList(fields.Field[list[Any]]):
    """A list that the typed pass of ``producers.spline.documents`` checks, entry by entry."""

    def __init__(self, item: Mapping[str, Any], **options: Any) -> None:
        options.setdefault("metadata", {}).update(type="array", items=dict(item))
        super().__init__(allow_none=True, error_messages=expecting("a list"), **options)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **_: Any) -> list[Any]:
        del attr, data
        if not isinstance(value, list):
            raise self.make_error("invalid")
        return value


class ShortList(fields.List[Any]):
    """A list that is short in all that agents send: its first entries are checked one by one.

    That names everything wrong there in one reply. The typed pass of
    ``graph_model.producers.spline.documents`` checks all entries; millions of them would take
    hours here, and gigabytes for the messages.
    """

    def _deserialize(self, value: Any, attr: str | None, data: Any, **options: Any) -> list[Any]:
        first = value[:MOST_CHECKED] if isinstance(value, list) else value
        return super()._deserialize(first, attr, data, **options)


def list_of(field: fields.Field[Any], expected: str, **options: Any) -> ShortList:
    """A short list whose entries are checked one by one."""
    return ShortList(field, error_messages=expecting(expected), **options)


def list_of_objects(schema: type[Schema], **options: Any) -> ShortList:
    """A short list of objects; null counts as empty."""
    return list_of(fields.Nested(schema), "a list", allow_none=True, **options)


class Labels(fields.Field[Mapping[str, Any]]):
    """Labels: names to lists of strings; one string counts as a list of one."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("metadata", {}).update(
            type="object",
            additionalProperties={"type": "array", "items": {"type": "string"}},
        )
        super().__init__(allow_none=True, error_messages=expecting("a JSON object"), **options)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **_: Any) -> Mapping[str, Any]:
        del attr, data
        if not isinstance(value, dict):
            raise self.make_error("invalid")
        wrong = {
            name[:_MOST_NAME]: ["a string or a list of strings"]
            for name, listed in value.items()
            if not all(map(_is_label, listed if isinstance(listed, list) else [listed]))
        }
        if wrong:
            raise ValidationError(wrong)
        return value


def _is_label(value: object) -> bool:
    return value is None or (isinstance(value, str | int | float) and not isinstance(value, bool))
