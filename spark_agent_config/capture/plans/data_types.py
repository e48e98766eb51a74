"""Spark's type JSON => the type table of a Spline document. Pure.

Types stand in ``extraInfo.dataTypes`` and are referred to by id. Ids are numbered inside a plan,
as the stock agent does it: uuid5 of a fixed namespace and ``"<n>"``, quotes included.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Final

_NAMESPACE: Final = uuid.UUID("1ec15c9d-73c0-42e5-872f-65d3feb849c4")
_SHORT_NAMES: Final = {
    "integer": "int",
    "long": "bigint",
    "short": "smallint",
    "byte": "tinyint",
    "null": "void",
    "calendarinterval": "interval",
}

_EMPTY_STRUCT: Final = {"type": "struct", "fields": ()}

#: A type as Spark's JSON has it: ``"integer"``, or an object for arrays, maps and structs; a
#: struct without fields is an empty list there, since Spark takes it for a sequence.
TypeJson = str | Mapping[str, Any] | Sequence[Any]


class DataTypes:
    """The types of one plan, each written down once; nullability is part of a type's identity."""

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}
        self._items: list[dict[str, Any]] = []

    def add(self, data_type: TypeJson, nullable: bool) -> str:
        """The id of the type; its element and field types are added with it."""
        data_type = _EMPTY_STRUCT if data_type == [] else data_type
        key = json.dumps([data_type, nullable], sort_keys=True)
        if key not in self._ids:
            item = self._describe(data_type, nullable)
            name = f'"{len(self._items)}"'
            self._ids[key] = str(uuid.uuid5(_NAMESPACE, name))
            self._items.append({"id": self._ids[key], **item})
        return self._ids[key]

    def as_list(self) -> list[dict[str, Any]]:
        return list(self._items)

    def _describe(self, data_type: TypeJson, nullable: bool) -> dict[str, Any]:
        if isinstance(data_type, Mapping) and data_type.get("type") == "array":
            element = self.add(data_type["elementType"], bool(data_type.get("containsNull", True)))
            return {"_typeHint": "dt.Array", "elementDataTypeId": element, "nullable": nullable}
        if isinstance(data_type, Mapping) and data_type.get("type") == "struct":
            fields = [
                {"name": field["name"], "dataTypeId": self.add(field["type"], field["nullable"])}
                for field in data_type.get("fields", ())
            ]
            return {"_typeHint": "dt.Struct", "fields": fields, "nullable": nullable}
        return {"_typeHint": "dt.Simple", "name": simple_name(data_type), "nullable": nullable}


def simple_name(data_type: TypeJson) -> str:
    """Spark's simpleString: ``long`` => ``bigint``, a map => ``map<string,int>``."""
    if isinstance(data_type, str):
        return _SHORT_NAMES.get(data_type, data_type)
    if not isinstance(data_type, Mapping):
        return "unknown" if data_type else "struct<>"
    kind = data_type.get("type")
    if kind == "map":
        key, value = simple_name(data_type["keyType"]), simple_name(data_type["valueType"])
        return f"map<{key},{value}>"
    if kind == "array":
        return f"array<{simple_name(data_type['elementType'])}>"
    if kind == "struct":
        fields = (f"{f['name']}:{simple_name(f['type'])}" for f in data_type.get("fields", ()))
        return f"struct<{','.join(fields)}>"
    if kind == "udt":
        return str(data_type.get("pyClass") or data_type.get("class") or "udt")
    return str(kind)
