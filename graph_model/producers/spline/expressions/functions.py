"""Functions: the role of each argument, and the value behind each variable of a lambda.

The roles follow how Spark's analyser builds its expressions and how OpenLineage splits direct
from indirect dependencies: a value flows (VALUE), it only decides which value flows (CONDITION),
or it orders or frames a window (WINDOW).

    transform(items, x -> x.qty * rate)      x is an element of items
    aggregate(items, 0, (acc, x) -> …, f)    acc is 0, or the former result of the merge

An expression inside a lambda has a value for each :class:`Frame` that it stands in, so it is a
place of its own there: :class:`FramedExpression`. Producers tell variables apart in two ways: the
Spline agent has one expression for a variable wherever it stands, the listener names it, and the
innermost lambda that has the name is meant. A function that is not known here, or whose lambda does
not fit it, is not bound: it is valued like any function, from the whole of its arguments.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from graph_model.producers.spline.documents import (
    ExecutionPlan,
    Function,
    Reference,
    as_reference,
    type_text,
)
from graph_model.producers.spline.expressions.definitions import Node


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
    return tuple(name for name, _ in plan.fields(identifier))


# --- lambdas of higher-order functions -----------------------------------------------------------

MOST_NESTED: Final = 16
"""The depth of nested lambdas; deeper ones are not bound. It bounds the search for a variable."""
MERGES: Final = 3
"""The number of merges of an accumulator: after them nearly all have every source."""
#: Expressions in frames that one plan may have in addition to those that its size allows; only
#: documents that pass one lambda to very many functions reach this bound.
_MOST_BOUND: Final = 5_000
_MOST_PER_FUNCTION: Final = 8


class TooManyBound(Exception):
    """Stops a valuation that would bind too many expressions."""


@dataclass(frozen=True, slots=True)
class FramedExpression:
    """An expression inside a lambda; ``frame`` is the number of the lambda's frame."""

    reference: Reference
    frame: int


Place = Node | FramedExpression


class LambdaResult(Enum):
    """How a function uses the result of its lambda."""

    MADE = "the elements are the lambda's results"
    KEPT = "elements of the first argument; the lambda decides which, or their order"
    DECIDED = "the lambda's decision alone"
    KEYS = "the keys are the lambda's results, the values those of the first argument"
    VALUES = "the values are the lambda's results, the keys those of the arguments"
    FOLDED = "the last lambda's result for the accumulator"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A variable's meaning: an element (or key) of these arguments; () for an index."""

    arguments: tuple[int, ...]
    is_key: bool = False


@dataclass(frozen=True, slots=True)
class Signature:
    parameters: tuple[Parameter, ...]
    result: LambdaResult

    @property
    def arguments(self) -> int:
        """The number of arguments before the lambda."""
        return 1 + max(max(item.arguments, default=0) for item in self.parameters)

    @property
    def least(self) -> int:
        """The least number of variables of the lambda; it may leave out an index."""
        return sum(bool(item.arguments) for item in self.parameters)


_FIRST: Final = Parameter((0,))
_SECOND: Final = Parameter((1,))
_INDEX: Final = Parameter(())
_KEY: Final = Parameter((0,), is_key=True)
_COMMON_KEY: Final = Parameter((0, 1), is_key=True)
_FILTER: Final = Signature((_FIRST, _INDEX), LambdaResult.KEPT)
_TEST: Final = Signature((_FIRST,), LambdaResult.DECIDED)
_SIGNATURES: Final = {
    "transform": Signature((_FIRST, _INDEX), LambdaResult.MADE),
    "arrayfilter": _FILTER,
    "filter": _FILTER,
    "arrayexists": _TEST,
    "exists": _TEST,
    "arrayforall": _TEST,
    "forall": _TEST,
    "zipwith": Signature((_FIRST, _SECOND), LambdaResult.MADE),
    "mapfilter": Signature((_KEY, _FIRST), LambdaResult.KEPT),
    "transformkeys": Signature((_KEY, _FIRST), LambdaResult.KEYS),
    "transformvalues": Signature((_KEY, _FIRST), LambdaResult.VALUES),
    "mapzipwith": Signature((_COMMON_KEY, _FIRST, _SECOND), LambdaResult.VALUES),
    "arraysort": Signature((_FIRST, _FIRST), LambdaResult.KEPT),
}
_LAMBDA: Final = "lambdafunction"
_VARIABLE: Final = "namedlambdavariable"
_FOLDS: Final = frozenset({"aggregate", "reduce"})


@dataclass(frozen=True, slots=True)
class Variable:
    """The possible sources of a variable's value; none for an index.

    ``arguments`` are those of the call whose elements the variable takes.
    """

    places: tuple[Place, ...]
    arguments: tuple[int, ...]
    is_key: bool = False


@dataclass(frozen=True, slots=True)
class Frame:
    """The variables of one lambda in one call; ``used`` are the call's arguments used so far."""

    parent: int
    depth: int
    variables: tuple[Variable, ...]
    by_id: Mapping[str, int]
    by_name: Mapping[str, int]
    used: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class BoundFunction:
    """A function with its lambdas bound. The bodies of a FOLDED are its MERGES, and the finish."""

    result: LambdaResult
    arguments: tuple[Place, ...]
    bodies: tuple[Place, ...]
    frames: tuple[Frame, ...]

    @property
    def places(self) -> tuple[Place, ...]:
        return (*self.arguments, *self.bodies)

    def unused(self) -> list[Place]:
        """Arguments without an element used in the bodies; valid once the
        bodies have their values.
        """
        unused: dict[int, None] = {}
        for frame in self.frames:
            for variable in frame.variables:
                unused.update(dict.fromkeys(variable.arguments))
        for frame in self.frames:
            for number in frame.used:
                unused.pop(number, None)
        return [self.arguments[number] for number in unused]


@dataclass(frozen=True, slots=True)
class _Lambda:
    body: Reference
    ids: Mapping[str, int]
    names: Mapping[str, int]


class Lambdas:
    """The calls and frames of one plan; frame 0 is outside of all lambdas."""

    def __init__(self, plan: ExecutionPlan) -> None:
        self._plan = plan
        self._frames: list[Frame] = []
        self._calls: dict[tuple[str, int], BoundFunction | None] = {}
        self._variables: dict[tuple[str, int], tuple[Frame, Variable] | None] = {}
        self._left = _MOST_BOUND + _MOST_PER_FUNCTION * len(plan.functions)
        self._callers = {
            function.id
            for function in plan.functions.values()
            if function.children and self._lambda(function.children[-1]) is not None
        }

    def let_go(self) -> None:
        """Stop binding lambdas from here on."""
        self._callers.clear()

    def spend(self) -> None:
        """Counts one bound expression. Raises TooManyBound when there are too many."""
        self._left -= 1
        if self._left < 0:
            raise TooManyBound

    def inside(self, references: Sequence[Reference], frame: int) -> Sequence[Place]:
        """These expressions in a frame; a column has the same value in all frames."""
        return [self._inside(reference, frame) for reference in references]

    def call(self, function: Function, frame: int) -> BoundFunction | None:
        """The function with its lambdas bound; None for a function without lambdas, or with
        malformed ones.
        """
        if function.id not in self._callers:
            return None
        key = (function.id, frame)
        if key not in self._calls:
            self._calls[key] = self._bind(function, frame)
        return self._calls[key]

    def variable(self, function: Function, frame: int) -> tuple[Frame, Variable] | None:
        """The meaning of a variable in a frame, and the frame of its lambda."""
        if canonical(function) != _VARIABLE:
            return None
        key = (function.id, frame)
        if key not in self._variables:
            self._variables[key] = self._find(function, frame)
        return self._variables[key]

    def _find(self, function: Function, frame: int) -> tuple[Frame, Variable] | None:
        """The lambda with this very variable node, otherwise the innermost one with its name."""
        name = str(function.params.get("name"))
        named: tuple[Frame, Variable] | None = None
        while frame:
            current = self._frames[frame - 1]
            if function.id in current.by_id:
                return current, current.variables[current.by_id[function.id]]
            if named is None and name in current.by_name:
                named = current, current.variables[current.by_name[name]]
            frame = current.parent
        return named

    # --- binding ---------------------------------------------------------------------------------

    def _inside(self, reference: Reference, frame: int) -> Place:
        alike = frame == 0 or reference.kind == "attribute" or reference.id in self._plan.constants
        return reference if alike else FramedExpression(reference, frame)

    def _bind(self, function: Function, frame: int) -> BoundFunction | None:
        if frame and self._frames[frame - 1].depth >= MOST_NESTED:
            return None
        word = canonical(function)
        if word in _FOLDS:
            return self._fold(function, frame)
        signature = _SIGNATURES.get(word)
        if signature is None or len(function.children) != signature.arguments + 1:
            return None
        bound = self._lambda(function.children[-1])
        if bound is None or not signature.least <= len(bound.ids) <= len(signature.parameters):
            return None
        arguments = tuple(self.inside(function.children[:-1], frame))
        variables = tuple(
            Variable(tuple(arguments[n] for n in item.arguments), item.arguments, item.is_key)
            for item in signature.parameters[: len(bound.ids)]
        )
        body, inner = self._enter(bound, variables, frame)
        return BoundFunction(signature.result, arguments, (body,), (inner,))

    def _fold(self, function: Function, frame: int) -> BoundFunction | None:
        """The merge once a round, each with the result of the round before; then the finish."""
        if len(function.children) not in (3, 4):
            return None
        merge = self._lambda(function.children[2])
        finish = self._lambda(function.children[3]) if len(function.children) == 4 else None
        if merge is None or len(merge.ids) != 2:
            return None
        if len(function.children) == 4 and (finish is None or len(finish.ids) != 1):
            return None
        array, zero = arguments = tuple(self.inside(function.children[:2], frame))
        element = Variable((array,), (0,))
        accumulator = Variable((zero,), ())
        bodies: list[Place] = []
        frames: list[Frame] = []
        for _ in range(MERGES):
            body, inner = self._enter(merge, (accumulator, element), frame)
            accumulator = Variable((zero, body), ())
            bodies.append(body)
            frames.append(inner)
        if finish is not None:
            bodies.append(self._enter(finish, (accumulator,), frame)[0])
        return BoundFunction(LambdaResult.FOLDED, arguments, tuple(bodies), tuple(frames))

    def _lambda(self, reference: Reference) -> _Lambda | None:
        """A lambda whose variables have distinct names."""
        function = self._plan.functions.get(reference.id)
        if function is None or reference.kind != "expression" or len(function.children) < 2:
            return None
        if canonical(function) != _LAMBDA:
            return None
        body, *listed = function.children
        variables = [self._plan.functions.get(item.id) for item in listed]
        known = [v for v in variables if v is not None and canonical(v) == _VARIABLE]
        ids = {variable.id: place for place, variable in enumerate(known)}
        names = {str(variable.params.get("name")): place for place, variable in enumerate(known)}
        if not len(listed) == len(known) == len(ids) == len(names):
            return None
        return _Lambda(body, ids, names)

    def _enter(
        self, entered: _Lambda, variables: tuple[Variable, ...], frame: int
    ) -> tuple[Place, Frame]:
        """The body of a lambda in a frame of its own."""
        inner = Frame(
            parent=frame,
            depth=1 + (self._frames[frame - 1].depth if frame else 0),
            variables=variables,
            by_id=entered.ids,
            by_name=entered.names,
        )
        self._frames.append(inner)
        return self._inside(entered.body, len(self._frames)), inner
