"""The SQL form of each function, given the texts of its children.

    function_text(plan, add, [Text("a"), Text("b")]) => a + b

Operators get the fewest parentheses that precedence needs; a function without a form of its own is
written ``name(child, …)``.

Constants as SQL text.

The agent sends Spark's internal values: a date as days since 1970, a timestamp as microseconds, an
interval as months or microseconds, a decimal as a string. Other producers, and our own masks, send
text; text is quoted as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final, NamedTuple

from graph_model.producers.spline.documents import ExecutionPlan, Function, Reference, type_text
from graph_model.producers.spline.expressions.functions import (
    CASTS,
    RANKING,
    REPLACED,
    ChildRole,
    canonical,
    is_subquery,
    is_transparent,
    is_union,
    roles,
    struct_field,
    subplan_text,
)

_EPOCH_DAY: Final = date(1970, 1, 1).toordinal()
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NUMERIC: Final = ("decimal", "tinyint", "smallint", "int", "bigint", "float", "double")


def is_numeric(data_type: str | None) -> bool:
    """True for the simpleString of a type of numbers: ``decimal(5,2)``."""
    return data_type is not None and data_type.startswith(_NUMERIC)


def quoted(text: str) -> str:
    """``it's`` => ``'it''s'``."""
    return "'" + text.replace("'", "''") + "'"


def literal_text(value: Any, data_type: str | None) -> str:
    """SQL for a constant; ``data_type`` is its simpleString where known."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    kind = data_type or ""
    if kind.startswith("interval"):
        return f"INTERVAL {_interval(value, kind)}"
    if kind == "date":
        return f"DATE {quoted(_date(value))}"
    if kind.startswith("timestamp"):
        return f"TIMESTAMP {quoted(_timestamp(value))}"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, str):
        return value if is_numeric(kind) and _is_number_text(value) else quoted(value)
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _is_number_text(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _date(value: Any) -> str:
    """8582 => 1993-07-01; a number outside the years 1 to 9999 is unchanged."""
    if isinstance(value, int):
        try:
            return date.fromordinal(value + _EPOCH_DAY).isoformat()
        except (ValueError, OverflowError):
            pass
    return str(value)


def _timestamp(value: Any) -> str:
    if isinstance(value, int):
        try:
            moment = _EPOCH + timedelta(microseconds=value)
        except OverflowError:
            return str(value)
        return moment.replace(tzinfo=None).isoformat(" ")
    return str(value)


def _interval(value: Any, kind: str) -> str:
    """3 of ``interval month`` => ``'3' MONTH``; 86400000000 of ``interval day`` => ``'1' DAY``."""
    units = kind.removeprefix("interval").strip().upper()
    if isinstance(value, str) and value.lstrip("-").isdigit():
        value = int(value)
    if not isinstance(value, int) or not units:
        return quoted(str(value))
    if "YEAR" in units or "MONTH" in units:
        return _year_month(value, units)
    return _day_time(value, units)


def _year_month(months: int, units: str) -> str:
    sign, months = ("-" if months < 0 else ""), abs(months)
    if units == "YEAR":
        return f"'{sign}{months // 12}' YEAR"
    if units == "MONTH":
        return f"'{sign}{months}' MONTH"
    return f"'{sign}{months // 12}-{months % 12}' YEAR TO MONTH"


def _day_time(microseconds: int, units: str) -> str:
    sizes = {"DAY": 86_400_000_000, "HOUR": 3_600_000_000, "MINUTE": 60_000_000}
    size = sizes.get(units)
    if size is not None and microseconds % size == 0:
        return f"'{microseconds // size}' {units}"
    seconds = f"{microseconds / 1_000_000:f}".rstrip("0").rstrip(".")
    return f"'{seconds}' SECOND"


# Precedence, weakest first.
LOOSE: Final = 0  # a lambda, an alias
_OR, _AND, _NOT, _COMPARE, _BIT_OR, _BIT_XOR, _BIT_AND, _SUM, _PRODUCT, SIGN, PICK, ATOM = range(
    1, 13
)

_PLAIN_NAME: Final = re.compile(r"[^\W\d]\w*")
_EXPRESSION_ID: Final = re.compile(r"#\d+L?\b")
FRAME: Final = "\x1f"  # between a window's specification and its frame, until the two meet
_MAX_SUBPLAN: Final = 200

_OPERATORS: Final[Mapping[str, tuple[str, int]]] = {
    "or": ("OR", _OR), "and": ("AND", _AND), "equalto": ("=", _COMPARE),
    "equalnullsafe": ("<=>", _COMPARE), "lessthan": ("<", _COMPARE),
    "lessthanorequal": ("<=", _COMPARE), "greaterthan": (">", _COMPARE),
    "greaterthanorequal": (">=", _COMPARE), "bitwiseor": ("|", _BIT_OR),
    "bitwisexor": ("^", _BIT_XOR), "bitwiseand": ("&", _BIT_AND), "add": ("+", _SUM),
    "subtract": ("-", _SUM), "multiply": ("*", _PRODUCT), "divide": ("/", _PRODUCT),
    "integraldivide": ("DIV", _PRODUCT), "remainder": ("%", _PRODUCT),
    "dateaddyminterval": ("+", _SUM), "dateaddinterval": ("+", _SUM), "timeadd": ("+", _SUM),
    "timestampaddyminterval": ("+", _SUM), "timestampaddinterval": ("+", _SUM),
    "subtractdates": ("-", _SUM), "subtracttimestamps": ("-", _SUM), "like": ("LIKE", _COMPARE),
    "ilike": ("ILIKE", _COMPARE), "rlike": ("RLIKE", _COMPARE),
}  # fmt: skip
#: For operators with only a symbol: API 1, other producers.
_SYMBOLS: Final[Mapping[str, tuple[str, int]]] = {
    "&&": ("AND", _AND), "||": ("OR", _OR), "==": ("=", _COMPARE), "!=": ("<>", _COMPARE),
    **{symbol: (symbol, _COMPARE) for symbol in ("=", "<>", "<", "<=", ">", ">=", "<=>")},
    "|": ("|", _BIT_OR), "^": ("^", _BIT_XOR), "&": ("&", _BIT_AND), "+": ("+", _SUM),
    "-": ("-", _SUM), "*": ("*", _PRODUCT), "/": ("/", _PRODUCT), "%": ("%", _PRODUCT),
}  # fmt: skip
_NEGATED: Final = {
    "=": "<>", "<": ">=", "<=": ">", ">": "<=", ">=": "<", "<>": "=", "LIKE": "NOT LIKE",
    "ILIKE": "NOT ILIKE", "RLIKE": "NOT RLIKE",
}  # fmt: skip
_SEEDED: Final = frozenset({"rand", "randn", "randstr", "shuffle", "uuid"})
#: Functions that a producer may call by their class: ``elementat``.
_SQL_NAMES: Final = {
    "addmonths": "add_months", "anyvalue": "any_value",
    "approximatepercentile": "percentile_approx", "arraycontains": "array_contains",
    "arraydistinct": "array_distinct", "arrayjoin": "array_join", "arraymax": "array_max",
    "arraymin": "array_min", "arrayposition": "array_position", "arrayrepeat": "array_repeat",
    "arraysort": "array_sort", "arrayunion": "array_union", "collectlist": "collect_list",
    "collectset": "collect_set", "countif": "count_if", "cumedist": "cume_dist",
    "elementat": "element_at", "fromunixtime": "from_unixtime", "getjsonobject": "get_json_object",
    "hyperloglogplusplus": "approx_count_distinct", "jsontostructs": "from_json",
    "jsontuple": "json_tuple", "lastday": "last_day", "mapconcat": "map_concat",
    "mapentries": "map_entries", "mapkeys": "map_keys", "mapvalues": "map_values",
    "maxby": "max_by", "minby": "min_by", "monthsbetween": "months_between",
    "nextday": "next_day", "nthvalue": "nth_value", "parsetodate": "to_date",
    "parsetotimestamp": "to_timestamp", "sortarray": "sort_array", "stringlpad": "lpad",
    "stringrepeat": "repeat", "stringreplace": "replace", "stringrpad": "rpad",
    "stringsplit": "split", "stringtrimleft": "ltrim", "stringtrimright": "rtrim",
    "structstojson": "to_json", "truncdate": "trunc", "trunctimestamp": "date_trunc",
    "tryadd": "try_add", "trydivide": "try_divide", "trymultiply": "try_multiply",
    "trysubtract": "try_subtract",
}  # fmt: skip
_SUBQUERY_NAMES: Final = {
    "scalarsubquery": "scalar_subquery", "listquery": "subquery", "exists": "exists",
    "lateralsubquery": "lateral_subquery",
}  # fmt: skip
_DIRECTIONS: Final = {"descending": " DESC", "desc": " DESC"}
_OWN_FRAME: Final = RANKING | {"lag", "lead"}


class SqlText(NamedTuple):
    """A piece of SQL and how tightly it binds.

    ``negated`` is its opposite, where SQL has one; ``members`` the texts of a struct's members, so
    that a field of ``struct(region, amount)`` reads ``region``.
    """

    text: str
    binding: int = ATOM
    negated: str | None = None
    members: tuple[tuple[str, SqlText], ...] = ()

    def within(self, least: int) -> str:
        """In parentheses unless it binds at least this tightly."""
        return self.text if self.binding >= least else f"({self.text})"


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A function of a plan with the texts of its children."""

    plan: ExecutionPlan
    function: Function
    arguments: Sequence[SqlText]


Form = Callable[[FunctionCall], SqlText | None]  # None: write it as any other function


def name_text(name: str) -> str:
    """A column's name; ``sum(x)`` is not plain and gets back quotes."""
    return name if _PLAIN_NAME.fullmatch(name) else "`" + name.replace("`", "``") + "`"


def stable(text: str) -> str:
    """Spark's own text without its expression ids: ``salary#302L`` => ``salary``."""
    return _EXPRESSION_ID.sub("", text)


def union_text(pieces: Sequence[SqlText]) -> SqlText:
    """Alternatives for one column: each once, NULL only where it is the only one."""
    distinct = list({piece.text: piece for piece in pieces}.values())
    telling = [piece for piece in distinct if piece.text != "NULL"] or distinct
    if len(telling) == 1:
        return telling[0]
    return call_text("union", telling)


def call_text(name: str, arguments: Sequence[SqlText]) -> SqlText:
    return SqlText(f"{name}({', '.join(argument.text for argument in arguments)})")


def function_text(plan: ExecutionPlan, function: Function, arguments: Sequence[SqlText]) -> SqlText:
    """The function applied to its arguments."""
    word = canonical(function)
    if is_transparent(plan, function, word) or (len(arguments) == 1 and word in REPLACED):
        return arguments[0]
    if is_union(function):
        return union_text(arguments)
    if is_subquery(word):
        return _subquery(function, arguments)
    form = _FORMS.get(word)
    if form is not None and (text := form(FunctionCall(plan, function, arguments))) is not None:
        return text
    operator = _OPERATORS.get(word) or _symbol(function)
    if operator is not None and len(arguments) == 2:
        return _binary(*operator, *arguments)
    return call_text(_display_name(function), arguments)


def _symbol(function: Function) -> tuple[str, int] | None:
    if function.hint != "expr.Binary":
        return None
    return _SYMBOLS.get(function.symbol or function.name)


def _display_name(function: Function) -> str:
    """The name people know; a Scala lambda has none: ``…$$Lambda$3021/0x00…`` => ``udf``."""
    name = function.name.rstrip("$")
    if canonical(function) == "scalaudf":
        given = function.params.get("udfName")
        name = given if isinstance(given, str) else name
        return "udf" if "$" in name or "/0x" in name else name
    return _SQL_NAMES.get(name, name) or "?"


def _binary(symbol: str, binding: int, left: SqlText, right: SqlText) -> SqlText:
    """``(a + b) * c``; AND and OR chain freely, other operators to the left, comparisons never."""
    chained = symbol in {"AND", "OR"}
    ours = left.within(binding + 1 if binding == _COMPARE else binding)
    theirs = right.within(binding if chained else binding + 1)
    opposite = _NEGATED.get(symbol)
    negated = f"{ours} {opposite} {theirs}" if opposite else None
    return SqlText(f"{ours} {symbol} {theirs}", binding, negated)


def _subquery(function: Function, arguments: Sequence[SqlText]) -> SqlText:
    """For a plan that is only text its first line; otherwise the subplan's output."""
    word = canonical(function)
    name = _SUBQUERY_NAMES[word]
    if (plan_text := subplan_text(function)) is not None:
        line = stable(plan_text.split("\n", 1)[0])
        shown = line if len(line) <= _MAX_SUBPLAN else line[: _MAX_SUBPLAN - 1] + "…"
        return SqlText(f"{name}({shown})")
    if word == "exists":
        return call_text(name, arguments)
    given = roles(function, word)
    values = [text for text, role in zip(arguments, given, strict=True) if role is ChildRole.VALUE]
    return call_text(name, values)


# --- forms ---------------------------------------------------------------------------------------


def _case(call: FunctionCall) -> SqlText | None:
    if len(call.arguments) < 2:
        return None
    parts = ["CASE"]
    for index in range(0, len(call.arguments) - 1, 2):
        parts.append(f"WHEN {call.arguments[index].text} THEN {call.arguments[index + 1].text}")
    if len(call.arguments) % 2:
        parts.append(f"ELSE {call.arguments[-1].text}")
    return SqlText(" ".join((*parts, "END")))


def _cast(call: FunctionCall) -> SqlText | None:
    to = type_text(call.plan.data_types, call.function.data_type)
    if len(call.arguments) != 1 or not to:
        return None
    if call.arguments[0].text == "NULL" or _is_number(call.plan, call.function.children[0], to):
        return call.arguments[0]
    verb = "TRY_CAST" if canonical(call.function) == "trycast" else "CAST"
    return SqlText(f"{verb}({call.arguments[0].text} AS {to})")


def _is_number(plan: ExecutionPlan, child: Reference, to: str) -> bool:
    """A number that becomes another kind of number reads the same: ``CAST(1 AS bigint)`` => 1."""
    constant = plan.constants.get(child.id) if child.kind == "expression" else None
    kind = type_text(plan.data_types, constant.data_type) if constant is not None else None
    return is_numeric(kind) and is_numeric(to)


def _not(call: FunctionCall) -> SqlText | None:
    if len(call.arguments) != 1:
        return None
    if call.arguments[0].negated is not None:
        return SqlText(call.arguments[0].negated, _COMPARE, call.arguments[0].text)
    return SqlText(f"NOT {call.arguments[0].within(_NOT)}", _NOT)


def _is_null(call: FunctionCall) -> SqlText | None:
    if len(call.arguments) != 1:
        return None
    left = call.arguments[0].within(_COMPARE + 1)
    null, not_null = f"{left} IS NULL", f"{left} IS NOT NULL"
    if canonical(call.function) == "isnull":
        return SqlText(null, _COMPARE, not_null)
    return SqlText(not_null, _COMPARE, null)


def _in(call: FunctionCall) -> SqlText | None:
    if len(call.arguments) < 2:
        return None
    listed = ", ".join(argument.text for argument in call.arguments[1:])
    left = call.arguments[0].within(_COMPARE + 1)
    return SqlText(f"{left} IN ({listed})", _COMPARE, f"{left} NOT IN ({listed})")


def _in_subquery(call: FunctionCall) -> SqlText | None:
    if len(call.arguments) < 2:
        return None
    *values, query = call.arguments
    left = (
        values[0].within(_COMPARE + 1)
        if len(values) == 1
        else f"({', '.join(value.text for value in values)})"
    )
    return SqlText(f"{left} IN ({query.text})", _COMPARE, f"{left} NOT IN ({query.text})")


def _null(call: FunctionCall) -> SqlText | None:
    """Spark's typed NULL: the argument gives only the type."""
    return SqlText("NULL") if call.arguments else None


def _minus(call: FunctionCall) -> SqlText | None:
    return SqlText(f"-{call.arguments[0].within(PICK)}", SIGN) if len(call.arguments) == 1 else None


def _field(call: FunctionCall) -> SqlText | None:
    name, place = struct_field(call.plan, call.function)
    if name is None or len(call.arguments) != 1:
        return None
    members = call.arguments[0].members
    if place is not None and place < len(members) and members[place][0] == name:
        return members[place][1]
    return SqlText(f"{call.arguments[0].within(PICK)}.{name_text(name)}", PICK)


def _item(call: FunctionCall) -> SqlText | None:
    if len(call.arguments) != 2:
        return None
    return SqlText(f"{call.arguments[0].within(PICK)}[{call.arguments[1].text}]", PICK)


def _struct(call: FunctionCall) -> SqlText | None:
    """``struct('region', region, 'am', amount)`` => ``struct(region, amount AS am)``."""
    constants = [call.plan.constants.get(child.id) for child in call.function.children[::2]]
    names = [str(constant.value) for constant in constants if constant is not None]
    if len(call.arguments) % 2 or len(names) < len(constants):
        return None
    members = tuple(zip(names, call.arguments[1::2], strict=True))
    shown = (
        value.text if value.text == name_text(name) else f"{value.text} AS {name_text(name)}"
        for name, value in members
    )
    return SqlText(f"struct({', '.join(shown)})", members=members)


def _aggregate(call: FunctionCall) -> SqlText | None:
    if not call.arguments:
        return None
    text = call.arguments[0].text
    if call.function.params.get("isDistinct") is True:
        text = text.replace("(", "(DISTINCT ", 1)
    for condition in call.arguments[1:]:
        text += f" FILTER (WHERE {condition.text})"
    return SqlText(text)


def _count(call: FunctionCall) -> SqlText | None:
    children = call.function.children
    constant = call.plan.constants.get(children[0].id) if len(children) == 1 else None
    return SqlText("count(*)") if constant is not None and constant.value is not None else None


def _over(call: FunctionCall) -> SqlText | None:
    if len(call.arguments) != 2:
        return None
    specification, _, frame = call.arguments[1].text.partition(FRAME)
    calculated = call.arguments[0].text
    function = call.plan.functions.get(call.function.children[0].id)
    word = canonical(function) if function is not None else ""
    if function is not None and word in RANKING:
        calculated = f"{_display_name(function)}({_buckets(call.plan, function)})"
    shown = () if word in _OWN_FRAME else (frame,)
    inside = " ".join(part for part in (specification, *shown) if part)
    return SqlText(f"{calculated} OVER ({inside})")


def _buckets(plan: ExecutionPlan, function: Function) -> str:
    """``ntile(4)`` has an argument of its own; the arguments of rank are the
    columns of ORDER BY.
    """
    constant = plan.constants.get(function.children[0].id) if function.children else None
    return str(constant.value) if constant is not None else ""


def _specification(call: FunctionCall) -> SqlText | None:
    partition: list[str] = []
    order: list[str] = []
    frame = ""
    for child, text in zip(call.function.children, call.arguments, strict=True):
        word = _word_of(call.plan, child)
        if word == "sortorder":
            order.append(text.text)
        elif word == "specifiedwindowframe":
            frame = "" if _is_default_frame(text.text, bool(order)) else text.text
        elif word != "unspecifiedframe":
            partition.append(text.text)
    parts = [f"PARTITION BY {', '.join(partition)}"] if partition else []
    parts += [f"ORDER BY {', '.join(order)}"] if order else []
    return SqlText(" ".join(parts) + (FRAME + frame if frame else ""), LOOSE)


def _word_of(plan: ExecutionPlan, reference: Reference) -> str:
    function = plan.functions.get(reference.id) if reference.kind == "expression" else None
    return canonical(function) if function is not None else ""


def _is_default_frame(text: str, ordered: bool) -> bool:
    """SQL's default: up to the current row's peers with an order, otherwise the whole partition."""
    if ordered:
        return text == "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
    return text.endswith("BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING")


def _frame(call: FunctionCall) -> SqlText | None:
    if len(call.arguments) != 2:
        return None
    kind = str(call.function.params.get("frameType", "")).lower()
    unit = "RANGE" if "range" in kind else "ROWS"
    lower, upper = (_boundary(text.text) for text in call.arguments)
    return SqlText(f"{unit} BETWEEN {lower} AND {upper}", LOOSE)


def _boundary(text: str) -> str:
    """``-1`` => ``1 PRECEDING``, ``2`` => ``2 FOLLOWING``, ``0`` => ``CURRENT ROW``."""
    if text in _BOUNDARIES.values():
        return text
    if text == "0":
        return "CURRENT ROW"
    return f"{text[1:]} PRECEDING" if text.startswith("-") else f"{text} FOLLOWING"


_BOUNDARIES: Final = {
    "currentrow": "CURRENT ROW",
    "unboundedpreceding": "UNBOUNDED PRECEDING",
    "unboundedfollowing": "UNBOUNDED FOLLOWING",
}


def _bound(call: FunctionCall) -> SqlText | None:
    return SqlText(_BOUNDARIES[canonical(call.function)], LOOSE)


def _order(call: FunctionCall) -> SqlText | None:
    """NULLS FIRST is the default of ASC and NULLS LAST of DESC; a default is not written."""
    if not call.arguments:
        return None
    direction = _DIRECTIONS.get(str(call.function.params.get("direction", "")).lower(), "")
    nulls = str(call.function.params.get("nullOrdering", "")).lower().replace(" ", "")
    ends = {("", "nullslast"): " NULLS LAST", (" DESC", "nullsfirst"): " NULLS FIRST"}
    return SqlText(f"{call.arguments[0].text}{direction}{ends.get((direction, nulls), '')}", LOOSE)


def _lambda(call: FunctionCall) -> SqlText | None:
    if not call.arguments:
        return None
    body, *names = (argument.text for argument in call.arguments)
    left = names[0] if len(names) == 1 else f"({', '.join(names)})"
    return SqlText(f"{left} -> {body}" if names else body, LOOSE)


def _variable(call: FunctionCall) -> SqlText | None:
    name = call.function.params.get("name")
    return SqlText(name_text(name)) if isinstance(name, str) else None


def _python(call: FunctionCall) -> SqlText | None:
    name = call.function.params.get("name")
    return call_text(name, call.arguments) if isinstance(name, str) and name else None


def _invoke(call: FunctionCall) -> SqlText | None:
    name = call.function.params.get("functionName")
    return call_text(name, call.arguments) if isinstance(name, str) and name else None


def _seeded(call: FunctionCall) -> SqlText | None:
    """Without the seed: Spark draws it anew for every run and sends it like any literal."""
    kept = call.arguments[:-1] if canonical(call.function) in {"shuffle", "randstr"} else ()
    return call_text(_display_name(call.function), kept)


_FORMS: Final[Mapping[str, Form]] = {
    "casewhen": _case,
    **dict.fromkeys(CASTS, _cast),
    "not": _not,
    "isnull": _is_null,
    "isnotnull": _is_null,
    "in": _in,
    "insubquery": _in_subquery,
    "unaryminus": _minus,
    "getstructfield": _field,
    "getarraystructfields": _field,
    "getarrayitem": _item,
    "getmapvalue": _item,
    "namedstruct": _struct,
    "aggregateexpression": _aggregate,
    "count": _count,
    "windowexpression": _over,
    "windowspecdefinition": _specification,
    "specifiedwindowframe": _frame,
    **dict.fromkeys(_BOUNDARIES, _bound),
    "sortorder": _order,
    "lambdafunction": _lambda,
    "namedlambdavariable": _variable,
    "typednullliteral": _null,
    "pythonudf": _python,
    "pythonudaf": _python,
    "pythonudtf": _python,
    "staticinvoke": _invoke,
    "invoke": _invoke,
    **dict.fromkeys(_SEEDED, _seeded),
}
