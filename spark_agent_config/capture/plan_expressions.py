"""Expression trees => functions and constants of a Spline document. Pure and iterative.

Names, hints and parameters follow the stock agent, so that one reader understands both: an alias
is a function named after the column, a binary operator carries its ``symbol``, everything else is
generic. Beyond the agent, an expression with a subquery refers to the subquery's output columns.

Spark's type JSON => the type table of a Spline document. Pure.

Types stand in ``extraInfo.dataTypes`` and are referred to by id. Ids are numbered inside a plan,
as the stock agent does it: uuid5 of a fixed namespace and ``"<n>"``, quotes included.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from spark_agent_config.capture.plan_tree import (
    Expression,
    Plan,
    object_name,
    read_expression,
    walk,
)

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


#: ``{"__attrId": "attr-3"}`` or ``{"__exprId": "expr-7"}``.
Reference = dict[str, str]

_SYMBOLS: Final = {
    "Add": "+",
    "Subtract": "-",
    "Multiply": "*",
    "Divide": "/",
    "IntegralDivide": "div",
    "Remainder": "%",
    "EqualTo": "=",
    "EqualNullSafe": "<=>",
    "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
    "LessThan": "<",
    "LessThanOrEqual": "<=",
    "And": "&&",
    "Or": "||",
    "BitwiseAnd": "&",
    "BitwiseOr": "|",
    "BitwiseXor": "^",
}
# Where Spark's name of a function is not its class name in small letters.
_NAMES: Final = {
    "Average": "avg",
    "ConcatWs": "concat_ws",
    "CreateArray": "array",
    "CreateMap": "map",
    "CreateNamedStruct": "struct",
    "CurrentDate": "current_date",
    "CurrentTimestamp": "current_timestamp",
    "DateAdd": "date_add",
    "DateSub": "date_sub",
    "DateFormatClass": "date_format",
    "ArrayTransform": "transform",
    "ArrayAggregate": "aggregate",
    "ArrayFilter": "filter",
    "ArrayExists": "exists",
    "CollectList": "collect_list",
    "CollectSet": "collect_set",
    "CountDistinct": "count_distinct",
    "DenseRank": "dense_rank",
    "MonotonicallyIncreasingID": "monotonically_increasing_id",
    "PercentRank": "percent_rank",
    "RegExpReplace": "regexp_replace",
    "RegExpExtract": "regexp_extract",
    "RowNumber": "row_number",
    "StddevPop": "stddev_pop",
    "StddevSamp": "stddev_samp",
    "StringTrim": "trim",
    "ToUnixTimestamp": "to_unix_timestamp",
    "UnixTimestamp": "unix_timestamp",
    "VariancePop": "var_pop",
    "VarianceSamp": "var_samp",
}
_UNTYPED: Final = frozenset({"WindowSpecDefinition", "SpecifiedWindowFrame"})
_SUBQUERIES: Final = frozenset({"ScalarSubquery", "ListQuery", "Exists", "LateralSubquery"})
# Fields without logic, or with logic that other parts of the document have already.
_HIDDEN_FIELDS: Final = frozenset(
    {
        "class", "num-children", "dataType", "exprId", "resultId", "qualifier", "plan", "value",
        "nonInheritableMetadataKeys", "explicitMetadata", "metadata", "nullable",
        "udfDeterministic", "inputTypes", "udfNullable", "isDeterministic",
    }
)  # fmt: skip
# Whole numbers are indexes of children, but for these.
_NUMBER_FIELDS: Final = frozenset({"evalType", "numCols", "seed"})

_PICKS: Final = frozenset({"GetStructField", "GetArrayStructFields"})

_BOOLEAN: Final = frozenset(
    {
        "EqualTo", "EqualNullSafe", "GreaterThan", "GreaterThanOrEqual", "LessThan",
        "LessThanOrEqual", "And", "Or", "Not", "IsNull", "IsNotNull", "IsNaN", "In", "InSet",
        "InSubquery", "Exists", "Like", "RLike", "Contains", "StartsWith", "EndsWith",
        "ArrayContains", "ArrayExists", "ArrayForAll",
    }
)  # fmt: skip
_STRING: Final = frozenset(
    {
        "Upper", "Lower", "ConcatWs", "Substring", "StringTrim", "StringTrimLeft",
        "StringTrimRight", "RegExpReplace", "RegExpExtract", "DateFormatClass", "InitCap",
        "FormatNumber", "StringLPad", "StringRPad", "StringRepeat", "StringReplace",
    }
)  # fmt: skip
_INTEGER: Final = frozenset(
    {"Rank", "DenseRank", "RowNumber", "NTile", "Length", "Year", "Month", "DayOfMonth", "Size"}
)
# These have the type of their child at that place.
_LIKE_CHILD: Final = {
    "Alias": 0, "AggregateExpression": 0, "WindowExpression": 0, "Max": 0, "Min": 0, "First": 0,
    "Last": 0, "Coalesce": 0, "UnaryMinus": 0, "UnaryPositive": 0, "Abs": 0, "Lag": 0, "Lead": 0,
    "NthValue": 0, "AnyValue": 0, "Mode": 0, "KnownNotNull": 0, "If": 1, "CaseWhen": 1, "Nvl": 0,
    "SortOrder": 0, "Greatest": 0, "Least": 0, "Concat": 0, "NaNvl": 0, "Nvl2": 1, "NullIf": 0,
    "CheckOverflow": 0, "PromotePrecision": 0, "LambdaFunction": 0,
}  # fmt: skip
_ARITHMETIC: Final = frozenset({"Add", "Subtract", "Multiply", "Remainder", "Divide", "Pmod"})
_INTEGRAL: Final = frozenset({"byte", "short", "integer", "long"})


@dataclass(frozen=True, slots=True)
class Converted:
    """An expression in the document: how to refer to it, and its type where it is known.

    ``name`` is set for a column.
    """

    reference: Reference
    data_type: TypeJson | None = None
    nullable: bool = True
    name: str | None = None


#: The column behind an expression id in its place; the name is for dangling ids.
Resolve = Callable[[Expression], Converted]
#: The columns that a subquery puts out.
SubqueryOutput = Callable[[Plan], tuple[Converted, ...]]
#: Types of columns by expression id, where some operator higher up mentions them.
KnownTypes = Mapping[int, tuple[TypeJson, bool]]


class ExpressionTable:
    """The functions and constants of one plan; they share one sequence of ids."""

    def __init__(self, data_types: DataTypes, known_types: KnownTypes) -> None:
        self._data_types = data_types
        self._known_types = known_types
        self._count = 0
        self.functions: list[dict[str, Any]] = []
        self.constants: list[dict[str, Any]] = []

    def convert(
        self, tree: Expression, resolve: Resolve, subquery_output: SubqueryOutput
    ) -> Converted:
        """Write the expression and everything below it into the table."""
        stack: list[Converted] = []
        for node in reversed(list(walk(tree))):
            children = tuple(stack.pop() for _ in node.children)
            stack.append(self._convert_node(node, children, resolve, subquery_output))
        return stack[0]

    def add_union(self, branches: Sequence[Reference]) -> Reference:
        """The synthetic function behind one column of a union."""
        return self._add(
            self.functions,
            {"childRefs": list(branches), "extra": {"synthetic": True}, "name": "union"},
        )

    def _convert_node(
        self,
        node: Expression,
        children: tuple[Converted, ...],
        resolve: Resolve,
        subquery_output: SubqueryOutput,
    ) -> Converted:
        if node.kind == "AttributeReference":
            return resolve(node)
        if node.kind == "OuterReference" and isinstance(node.fields.get("e"), list):
            return resolve(read_expression(node.fields["e"]))
        if node.kind == "Literal":
            return self._add_constant(node)
        if node.subplan is not None:
            children = () if node.kind == "Exists" else subquery_output(node.subplan)
        return self._add_function(node, children)

    def _add_constant(self, node: Expression) -> Converted:
        data_type = node.fields.get("dataType", "void")
        value = literal_value(node.fields.get("value"), data_type)
        item = {
            "dataType": self._data_types.add(data_type, value is None),
            "extra": {"simpleClassName": node.kind, "_typeHint": "expr.Literal"},
            "value": value,
        }
        return Converted(self._add(self.constants, item), data_type, value is None)

    def _add_function(self, node: Expression, children: tuple[Converted, ...]) -> Converted:
        data_type, nullable = self._type_of(node, children)
        item: dict[str, Any] = {"name": _function_name(node), "extra": _extra(node)}
        if data_type is not None and node.kind not in _UNTYPED:
            item["dataType"] = self._data_types.add(data_type, nullable)
        if children:
            item["childRefs"] = [child.reference for child in children]
        if params := _parameters(node):
            item["params"] = params
        return Converted(self._add(self.functions, item), data_type, nullable)

    def _type_of(
        self, node: Expression, children: tuple[Converted, ...]
    ) -> tuple[TypeJson | None, bool]:
        known = self._known_types.get(node.expression_id or -1) if node.kind == "Alias" else None
        if known is not None:
            return known
        nullable = any(child.nullable for child in children) or not children
        return infer_type(node, children), nullable

    def _add(self, items: list[dict[str, Any]], item: dict[str, Any]) -> Reference:
        item_id = f"expr-{self._count}"
        self._count += 1
        items.append({"id": item_id, **item})
        return {"__exprId": item_id}


def infer_type(node: Expression, children: tuple[Converted, ...]) -> TypeJson | None:
    """The type of an expression where it is plain; None is better than a wrong one."""
    kind = node.kind.rpartition(".")[2]
    declared = node.fields.get("dataType")
    if isinstance(declared, str | Mapping):
        return declared
    if kind in _BOOLEAN:
        return "boolean"
    if kind in _STRING:
        return "string"
    if kind in _INTEGER:
        return "integer"
    if kind == "Count":
        return "long"
    types = tuple(child.data_type for child in children)
    if kind in _LIKE_CHILD:
        return types[_LIKE_CHILD[kind]] if len(types) > _LIKE_CHILD[kind] else None
    if kind in _ARITHMETIC:
        same = len(set(map(_key, types))) == 1 and not _key(types[0]).startswith('"decimal')
        return types[0] if same else None
    if kind == "Sum" and types:
        return "long" if types[0] in _INTEGRAL else "double" if types[0] == "double" else None
    if kind == "Average" and types:
        return "double" if types[0] in _INTEGRAL or types[0] == "double" else None
    if kind in {"ScalarSubquery", "ListQuery"} and types:
        return types[0]
    if kind == "GetStructField" and types:
        return _field_type(types[0], node.fields.get("ordinal"))
    return None


def literal_value(text: object, data_type: TypeJson) -> Any:
    """``"1000"`` of type integer => 1000; a value without a number in JSON stays text, and so does
    an array, a map or a struct (``[0.25,0.5]``), whose type is an object.
    """
    if not isinstance(text, str) or not isinstance(data_type, str):
        return text
    if data_type in _INTEGRAL or data_type in {"date", "timestamp"}:
        return int(text) if text.lstrip("-").isdigit() else text
    if data_type in {"double", "float"}:
        try:
            number = float(text)
        except ValueError:
            return text
        return number if abs(number) < float("inf") else text  # neither NaN nor an infinity
    if data_type == "boolean" and text in {"true", "false"}:
        return text == "true"
    return text


def sort_order(tree: Expression, child: Reference) -> dict[str, Any]:
    """``SortOrder`` of an operator's parameters, as the stock agent writes it."""
    direction = object_name(tree.fields.get("direction"))
    nulls = object_name(tree.fields.get("nullOrdering"))
    return {
        "expression": child,
        "direction": "DESC" if direction == "Descending" else "ASC",
        "nullOrdering": "NULLS LAST" if nulls == "NullsLast" else "NULLS FIRST",
    }


def _function_name(node: Expression) -> str:
    if node.kind == "Alias":
        return str(node.fields.get("name"))
    simple = node.kind.rpartition(".")[2]
    return _NAMES.get(simple, simple.lower())


def _extra(node: Expression) -> dict[str, Any]:
    extra: dict[str, Any] = {"simpleClassName": node.kind, "_typeHint": _hint(node)}
    if extra["_typeHint"] == "expr.Binary":
        extra["symbol"] = _SYMBOLS[node.kind]
    return extra


def _hint(node: Expression) -> str:
    if node.kind == "Alias":
        return "expr.Alias"
    if node.kind in _SYMBOLS and len(node.children) == 2:
        return "expr.Binary"
    if node.kind == "ScalaUDF":
        return "expr.UDF"
    if node.kind in _UNTYPED:
        return "expr.UntypedExpression"
    if not node.children and node.kind not in _SUBQUERIES:
        return "expr.GenericLeaf"
    return "expr.Generic"


def _parameters(node: Expression) -> dict[str, Any]:
    numbers = _NUMBER_FIELDS | ({"ordinal"} if node.kind in _PICKS else set())
    shown: dict[str, Any] = {}
    for name, value in node.fields.items():
        if name in _HIDDEN_FIELDS:
            continue
        if isinstance(value, bool | str) or (isinstance(value, int) and name in numbers):
            shown[name] = value
        elif (label := object_name(value)) is not None:
            shown[name] = label
    if node.kind == "GetArrayStructFields" and isinstance(node.fields.get("field"), Mapping):
        shown["name"] = str(node.fields["field"].get("name"))
    return shown


def _field_type(data_type: TypeJson | None, ordinal: object) -> TypeJson | None:
    fields = data_type.get("fields") if isinstance(data_type, Mapping) else None
    if not isinstance(fields, list) or not isinstance(ordinal, int) or ordinal >= len(fields):
        return None
    field_type: TypeJson = fields[ordinal]["type"]
    return field_type


def _key(data_type: TypeJson | None) -> str:
    return json.dumps(data_type, sort_keys=True)
