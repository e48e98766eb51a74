# ruff: noqa: N815 - fields are spelled as on the wire
"""Query strings of the consumer API, with Spline's names and defaults, read as Spring reads them.

An empty value counts as none, unknown names are ignored, the first of a repeated number or switch
counts, and repeated texts are one list. A value of another type is a 400 that names its parameter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from marshmallow import fields

from api.http.blueprint import TolerantParser
from api.schemas.fields import (
    SWITCHES,
    Checked,
    Choice,
    Instant,
    IntegerField,
    OptionalTextField,
    Query,
    Switch,
    TextField,
)
from graph_model.stores.catalogue_values import SortField, SortOrder

_LONG: Final = 20_000
_INT: Final = 2**31 - 1
_LONG_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,18}")
_NEVER_WRITTEN: Final = frozenset({"", "null"})
# Looked for where a name begins: a search from each of its letters would cost their square.
_LABEL: Final = re.compile(r"(?<![^:])([^:]+):(.*)", re.DOTALL)


class SpringParser(TolerantParser):
    """Reads query strings as Spring does; see the module."""

    def value_of(self, field: fields.Field[Any], values: list[str]) -> Any:
        if isinstance(field, LabelFilters):
            return values
        listed = isinstance(field, TextField | Modes)
        return ",".join(values) if listed else super().value_of(field, values)


class EpochOrInstant(Instant):
    """Epoch milliseconds of either sign, as Spring's Long; or a time as in every other query."""

    def read(self, value: Any) -> int:
        return int(value) if _LONG_INTEGER.fullmatch(str(value)) else super().read(value)


class Modes(Checked):
    """``true,false,``: append, overwrite, and (nothing behind a comma) never written.

    Released servers read one switch here.
    """

    expected = "a list of true, false and nothing (never written), comma-separated"
    shape: Mapping[str, Any] = {"type": "string", "example": "true,false,"}

    def read(self, value: Any) -> frozenset[bool | None]:
        words = [word.strip().lower() for word in str(value).split(",")]
        if not set(words) <= SWITCHES.keys() | _NEVER_WRITTEN:
            raise ValueError(value)
        return frozenset(SWITCHES.get(word) for word in words)


class LabelFilters(Checked):
    """``name:v1,v2``, perhaps several times. A text without a colon behind a name is no filter."""

    is_multiple = True
    expected = "name:value, or name:value,value"
    shape: Mapping[str, Any] = {"type": "array", "items": {"type": "string"}}

    def read(self, value: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
        return tuple(_label(match) for text in value if (match := _LABEL.search(text)))


def _label(match: re.Match[str]) -> tuple[str, tuple[str, ...]]:
    words = (word.strip() for word in match[2].split(","))
    return match[1], tuple(word for word in words if word)


class Order(Choice):
    """``asc`` or ``desc``, in any case."""

    def __init__(self, **options: Any) -> None:
        super().__init__(SortOrder, **options)

    def read(self, value: Any) -> str | None:
        return super().read(str(value).lower())


class SortedBy(Choice):
    """A field of an item; by one that lists cannot be sorted by, they have their usual order."""

    def __init__(self, usual: SortField) -> None:
        self.usual = usual
        super().__init__(SortField, load_default=usual)

    def read(self, value: Any) -> str:
        return SortField(value) if value in set(SortField) else self.usual


class Accessed(Choice):
    """``read`` or ``write``, in any case; any other word is none."""

    def read(self, value: Any) -> str | None:
        return next((access for access in Access if access.value == str(value).lower()), None)


class _EventsQuery(Query):
    timestampStart = EpochOrInstant()
    timestampEnd = EpochOrInstant()
    asAtTime = EpochOrInstant()
    facetTimestamp = Switch(data_key="facet.timestamp", load_default=False)
    pageNum = IntegerField(1, _INT, load_default=1)
    pageSize = IntegerField(0, 1_000, load_default=10)
    searchTerm = OptionalTextField(most=_LONG, load_default="")
    label = LabelFilters(load_default=())
    append = Modes(load_default=None)
    applicationId = OptionalTextField(most=_LONG, load_default="")
    dataSourceUri = OptionalTextField(most=_LONG, load_default="")


class ExecutionEventsQuery(_EventsQuery):
    sortField = SortedBy(SortField.TIMESTAMP)
    sortOrder = Order(load_default=SortOrder.DESCENDING)


class DataSourcesQuery(_EventsQuery):
    sortField = SortedBy(SortField.DATA_SOURCE_URI)
    sortOrder = Order(load_default=SortOrder.ASCENDING)


class LineageOverviewQuery(Query):
    eventId = TextField(most=_LONG, required=True)
    maxDepth = IntegerField(0, _INT, load_default=5)


class LineageDetailedQuery(Query):
    execId = TextField(most=_LONG, required=True)


class AttributeQuery(Query):
    """``execId`` is sent by the UI; the attribute's id holds it already."""

    attributeId = TextField(most=_LONG, required=True)
    execId = OptionalTextField(most=_LONG, load_default="")


class PlansQuery(Query):
    asAtTime = EpochOrInstant()
    pageNum = IntegerField(1, _INT, load_default=1)
    pageSize = IntegerField(0, 100, load_default=10)


class Access(StrEnum):
    READ = "read"
    WRITE = "write"


class PlanSourcesQuery(Query):
    access = Accessed(Access, load_default=None)


class LabelsQuery(Query):
    """``length`` below 1 asks for all."""

    search = OptionalTextField(load_default="")
    offset = IntegerField(0, _INT, load_default=0)
    length = IntegerField(-_INT - 1, _INT, load_default=-1)
