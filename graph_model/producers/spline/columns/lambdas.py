"""Lambdas of higher-order functions: the value behind each variable.

    transform(items, x -> x.qty * rate)      x is an element of items
    aggregate(items, 0, (acc, x) -> …, f)    acc is 0, or the former result of the merge

An expression inside a lambda has a value for each :class:`Frame` that it stands in, so it is a
place of its own there: :class:`FramedExpression`. Producers tell variables apart in two ways: the
Spline agent has one expression for a variable wherever it stands, the listener names it, and the
innermost lambda that has the name is meant. A function that is not known here, or whose lambda does
not fit it, is not bound: it is valued like any function, from the whole of its arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from graph_model.producers.spline.documents import ExecutionPlan, Function, Reference
from graph_model.producers.spline.expressions.definitions import Node
from graph_model.producers.spline.expressions.roles import canonical

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
