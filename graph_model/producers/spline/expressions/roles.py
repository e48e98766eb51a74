"""The role of each argument of a function.

The rules follow how Spark's analyser builds its expressions and how OpenLineage splits direct
from indirect dependencies: a value flows (VALUE), it only decides which value flows (CONDITION),
or it orders or frames a window (WINDOW).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from functools import lru_cache
from typing import Any, Final

from graph_model.producers.spline.documents import (
    ExecutionPlan,
    Function,
    Reference,
    as_reference,
    type_text,
)

_MAX_NESTED_ARRAYS: Final = 8


class ChildRole(Enum):
    """The contribution of one child of a function."""

    VALUE = "value"
    CONDITION = "condition"
    WINDOW = "window"


#: Wrappers that hand their only child on unchanged: they neither transform nor show.
TRANSPARENT: Final = frozenset(
    {
        "alias", "assertnotnull", "checkoverflow", "knownfloatingpointnormalized", "knownnotnull",
        "knownnullable", "normalizenanandzero", "outer", "outerreference", "promoteprecision",
        "tempresolvedcolumn",
    }
)  # fmt: skip
_PADDING: Final = frozenset(
    {"charTypeWriteSideCheck", "readSidePadding", "varcharTypeWriteSideCheck"}
)
#: Spark shows these to the optimiser as their replacement, the only child.
REPLACED: Final = frozenset(
    {
        "between", "datepart", "datetimesub", "decode", "equalnull", "extract", "ifnull", "left",
        "nullif", "nullifzero", "nvl", "nvl2", "right", "zeroifnull",
    }
)  # fmt: skip
RANKING: Final = frozenset({"rank", "denserank", "percentrank", "rownumber", "ntile", "cumedist"})
CASTS: Final = frozenset({"cast", "ansicast", "trycast", "upcast"})
#: Aggregate functions, for documents that do not wrap them in ``aggregateexpression``.
AGGREGATES: Final = frozenset(
    {
        "sum", "count", "avg", "average", "mean", "min", "max", "first", "last", "collectlist",
        "collectset", "countdistinct", "approxcountdistinct", "stddev", "stddevsamp", "stddevpop",
        "variance", "varsamp", "varpop", "corr", "covarpop", "covarsamp", "percentile", "median",
        "maxby", "minby", "anyvalue", "boolor", "booland", "every", "some", "skewness", "kurtosis",
    }
)  # fmt: skip
SUBQUERIES: Final = frozenset({"scalarsubquery", "listquery", "exists", "lateralsubquery"})

_FIRST_DECIDES: Final = frozenset({"if", "pivotfirst"})
_SECOND_DECIDES: Final = frozenset({"maxby", "minby", "arrayfilter", "mapfilter"})
_OTHER_NAMES: Final = {
    "createnamedstruct": "namedstruct", "struct": "namedstruct", "createstruct": "namedstruct",
    "createarray": "array", "createmap": "map", "average": "avg", "arraytransform": "transform",
    "arrayaggregate": "aggregate", "arrayagg": "collectlist", "currentrow$": "currentrow",
}  # fmt: skip


def canonical(function: Function) -> str:
    """One lower-case word for a function of any producer: by its class, otherwise by its name.

    ``aggregate.Average`` and ``avg`` => ``avg``; ``DenseRank`` and ``dense_rank`` => ``denserank``.
    A user-defined function is never mistaken for a built-in one of its name.
    """
    return _canonical(function.hint, function.class_name, function.name)


@lru_cache(maxsize=4_096)  # a plan has few functions, each in many places
def _canonical(hint: str, class_name: str, name: str) -> str:
    if hint == "expr.Alias":
        return "alias"
    if hint == "expr.UDF" or class_name == "ScalaUDF":
        return "scalaudf"
    word = class_name.rsplit(".", 1)[-1] or name
    word = word.lower().replace("_", "").rstrip("$")
    return _OTHER_NAMES.get(word, word)


def is_aggregate(function: Function, word: str) -> bool:
    """True where crossing the function makes one value of many rows."""
    if word == "aggregateexpression" or function.class_name.startswith("aggregate."):
        return True
    return not function.class_name and function.hint != "expr.UDF" and word in AGGREGATES


def is_union(function: Function) -> bool:
    """The synthetic function between a union's column and its branches."""
    return function.name == "union" and not function.class_name


def is_clause(function: Function, word: str) -> bool:
    """The CASE that restricts a clause of MERGE or UPDATE to some rows."""
    return word == "casewhen" and function.params.get("clause") is True


def is_subquery(word: str) -> bool:
    return word in SUBQUERIES


def subplan_text(function: Function) -> str | None:
    """The plan of a subquery where it is only text, as the Spline agent sends it."""
    plan = function.params.get("plan")
    return plan if isinstance(plan, str) else None


def is_transparent(plan: ExecutionPlan, function: Function, word: str) -> bool:
    """True where the result is the first child itself.

    So it is for wrappers, for a cast to the type that the child has, and for the padding and
    length checks that Spark puts around CHAR and VARCHAR columns.
    """
    if word == "staticinvoke":
        return bool(function.children) and function.params.get("functionName") in _PADDING
    if len(function.children) != 1:
        return False
    if word in TRANSPARENT:
        return True
    if word not in CASTS:
        return False
    to = type_text(plan.data_types, function.data_type)
    return bool(to) and to == reference_type(plan, function.children[0])


def reference_type(plan: ExecutionPlan, reference: Reference) -> str | None:
    """The simpleString of a reference's type; None when the document does not declare it."""
    if reference.kind == "attribute":
        attribute = plan.attributes.get(reference.id)
        return type_text(plan.data_types, attribute.data_type) if attribute else None
    function = plan.functions.get(reference.id) or plan.constants.get(reference.id)
    return type_text(plan.data_types, function.data_type) if function else None


def roles(function: Function, word: str) -> tuple[ChildRole, ...]:
    """A role per child, in the order of ``function.children``."""
    count = len(function.children)
    if word == "casewhen":  # condition, value, condition, value, …, else
        return tuple(
            ChildRole.CONDITION if index % 2 == 0 and index + 1 < count else ChildRole.VALUE
            for index in range(count)
        )
    if word in RANKING or word == "windowspecdefinition":
        return (ChildRole.WINDOW,) * count
    if word == "windowexpression":
        return (ChildRole.VALUE,) + (ChildRole.WINDOW,) * (count - 1)
    if word == "aggregateexpression":  # the function, then FILTER (WHERE …)
        return (ChildRole.VALUE,) + (ChildRole.CONDITION,) * (count - 1)
    if word in _FIRST_DECIDES or (word == "nvl2" and count == 3):
        return (ChildRole.CONDITION,) + (ChildRole.VALUE,) * (count - 1)
    if word in _SECOND_DECIDES or _is_lambda_filter(function, word):
        return (ChildRole.VALUE,) + (ChildRole.CONDITION,) * (count - 1)
    if word == "nullif" and count == 2:
        return (ChildRole.VALUE, ChildRole.CONDITION)
    if is_subquery(word):
        return _subquery_roles(function, word)
    return (ChildRole.VALUE,) * count


def _is_lambda_filter(function: Function, word: str) -> bool:
    return word == "filter" and not function.class_name


def _subquery_roles(function: Function, word: str) -> tuple[ChildRole, ...]:
    """Columns of the outer query decide; the subplan's output is the value.

    The Spline agent lists the outer columns alone and keeps the plan as text. A document whose
    subplans are operations lists the subplan's output, and the outer columns in ``outerAttrs``.
    EXISTS has no value: every column that it reads decides.
    """
    if word == "exists" or subplan_text(function) is not None:
        return (ChildRole.CONDITION,) * len(function.children)
    outer = _outer_references(function.params)
    return tuple(
        ChildRole.CONDITION if child in outer else ChildRole.VALUE for child in function.children
    )


def _outer_references(params: Mapping[str, Any]) -> set[Reference]:
    listed = params.get("outerAttrs")
    references = (as_reference(item) for item in listed if item) if isinstance(listed, list) else ()
    return {reference for reference in references if reference is not None}


_FIELD: Final = re.compile(r"StructField\((.+?),")


def struct_field(plan: ExecutionPlan, function: Function) -> tuple[str | None, int | None]:
    """Name and ordinal of the field that ``getstructfield`` or ``getarraystructfields`` picks."""
    ordinal = function.params.get("ordinal")
    place = ordinal if isinstance(ordinal, int) and not isinstance(ordinal, bool) else None
    name = function.params.get("name")
    if isinstance(name, str):
        return name, place
    field = function.params.get("field")
    if isinstance(field, str) and (match := _FIELD.match(field)) is not None:
        return match.group(1), place
    fields = fields_of(plan, function.children[0]) if len(function.children) == 1 else ()
    return (fields[place] if place is not None and place < len(fields) else None), place


def fields_of(plan: ExecutionPlan, reference: Reference) -> tuple[str, ...]:
    """Names of the fields of a struct, or of the structs in an array; () where unknown."""
    if reference.kind == "attribute":
        attribute = plan.attributes.get(reference.id)
        identifier = attribute.data_type if attribute is not None else None
    else:
        part = plan.functions.get(reference.id) or plan.constants.get(reference.id)
        identifier = part.data_type if part is not None else None
    for _ in range(_MAX_NESTED_ARRAYS):
        known = plan.data_types.get(identifier) if identifier is not None else None
        if known is None:
            return ()
        if known.element is None:
            return tuple(name for name, _ in known.fields)
        identifier = known.element
    return ()
