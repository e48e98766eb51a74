# ruff: noqa: N815 - fields are spelled as on the wire
"""Query strings of the consumer API, with Spline's names and defaults."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final

from flask import Request
from marshmallow import Schema, fields
from webargs.flaskparser import FlaskParser

from api.blueprint import StrictParser
from api.errors import InvalidRequest
from api.schemas.fields import expecting
from api.schemas.query import Choice, Flag, Instant, Query, Text, Whole, Words
from graph_model.consumer.events import SortField, SortOrder

_LONG: Final = 20_000
_REPEATABLE: Final = frozenset({"label"})
_MODES: Final = {"true": True, "false": False, "": None, "null": None}


class RepeatingParser(StrictParser):
    """As everywhere, but a label may come more than once."""

    def load_querystring(self, req: Request, schema: Schema) -> Any:
        for name, values in req.args.lists():
            if len(values) > 1 and name not in _REPEATABLE:
                raise InvalidRequest({name: ["one value, given once"]})
        return FlaskParser.load_querystring(self, req, schema)


class Modes(fields.Field[frozenset[bool | None]]):
    """``true,false,``: append, overwrite, and (nothing behind a comma) never written."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("metadata", {}).update(type="string", example="true,false,")
        expected = "a list of true, false and nothing (never written), comma-separated"
        super().__init__(error_messages=expecting(expected), **options)

    def _deserialize(
        self, value: Any, attr: str | None, data: Any, **_: Any
    ) -> frozenset[bool | None]:
        del attr, data
        words = [word.strip().lower() for word in str(value).split(",")]
        if not set(words) <= _MODES.keys():
            raise self.make_error("invalid")
        return frozenset(_MODES[word] for word in words)


class LabelFilters(fields.Field[tuple[tuple[str, tuple[str, ...]], ...]]):
    """``name:v1,v2``, perhaps several times."""

    is_multiple = True

    def __init__(self, **options: Any) -> None:
        options.setdefault("metadata", {}).update(type="array", items={"type": "string"})
        super().__init__(error_messages=expecting("name:value, or name:value,value"), **options)

    def _deserialize(
        self, value: Any, attr: str | None, data: Any, **_: Any
    ) -> tuple[tuple[str, tuple[str, ...]], ...]:
        del attr, data
        return tuple(self._label(text) for text in value)

    def _label(self, text: str) -> tuple[str, tuple[str, ...]]:
        name, separator, values = text.partition(":")
        if not separator or not name:
            raise self.make_error("invalid")
        return name, tuple(word.strip() for word in values.split(",") if word.strip())


class Order(Choice):
    """``asc`` or ``desc``, in any case."""

    def __init__(self, **options: Any) -> None:
        super().__init__(SortOrder, **options)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **options: Any) -> StrEnum:
        return super()._deserialize(str(value).lower(), attr, data, **options)


class _EventsQuery(Query):
    timestampStart = Instant()
    timestampEnd = Instant()
    asAtTime = Instant()
    facetTimestamp = Flag(data_key="facet.timestamp", load_default=False)
    pageNum = Whole(1, 1_000_000, load_default=1)
    pageSize = Whole(1, 1_000, load_default=10)
    searchTerm = Words(most=_LONG, load_default="")
    label = LabelFilters(load_default=())
    append = Modes(load_default=None)
    applicationId = Words(most=_LONG, load_default="")
    dataSourceUri = Words(most=_LONG, load_default="")


class ExecutionEventsQuery(_EventsQuery):
    sortField = Choice(SortField, load_default=SortField.TIMESTAMP)
    sortOrder = Order(load_default=SortOrder.DESCENDING)


class DataSourcesQuery(_EventsQuery):
    sortField = Choice(SortField, load_default=SortField.DATA_SOURCE_URI)
    sortOrder = Order(load_default=SortOrder.ASCENDING)


class OverviewQuery(Query):
    eventId = Text(most=_LONG, required=True)
    maxDepth = Whole(0, 1_000, load_default=5)


class LineageDetailedQuery(Query):
    execId = Text(most=_LONG, required=True)


class AttributeQuery(Query):
    """``execId`` is sent by the UI; the attribute's id holds it already."""

    attributeId = Text(most=_LONG, required=True)
    execId = Words(most=_LONG, load_default="")


class PlansQuery(Query):
    asAtTime = Instant()
    pageNum = Whole(1, 1_000_000, load_default=1)
    pageSize = Whole(1, 100, load_default=10)


class Access(StrEnum):
    READ = "read"
    WRITE = "write"


class PlanSourcesQuery(Query):
    access = Choice(Access, load_default=None)


class LabelsQuery(Query):
    """``length`` below 1 asks for all."""

    search = Words(load_default="")
    offset = Whole(0, 1_000_000, load_default=0)
    length = Whole(-1, 10_000, load_default=-1)
