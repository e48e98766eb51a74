"""SQL-like text of the expressions of one plan.

    Renderer(plan).text(reference, inline=True)
        => CASE WHEN dept = 'HR' THEN salary + bonus ELSE 0 END

``inline`` replaces the name of a computed column by its expression, down to the columns
that the plan reads, wherever the result stays within ``limit`` characters; without it a column is
its name. The text holds names only, no ids: equal logic has equal text. A text over the limit is
cut and ends in a digest of the whole, so that two long conditions that differ at their ends still
differ.

One iterative post-order walk serves graphs of any depth: plans are too deep to recurse.

The parameters of an operation are readable (name, text) pairs, for the operation view:

    condition    a > 10
    projectList  a, b, a + b AS c
    order        salary DESC NULLS LAST
    joinType     LEFT OUTER

By names, never inlined: an operation is read beside its neighbours. A value that each run changes
without changing the logic (expression ids, numbers of RDDs, times of creation) is left out.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

from graph_model.producers.spline.documents import (
    ExecutionPlan,
    Function,
    Operation,
    Reference,
    as_reference,
    references_in,
    type_text,
)
from graph_model.producers.spline.expressions.definitions import (
    AttributeDefinition,
    Definitions,
    Inputs,
    Node,
)
from graph_model.producers.spline.expressions.forms import (
    ATOM,
    FRAME,
    LOOSE,
    PICK,
    SIGN,
    SqlText,
    function_text,
    literal_text,
    name_text,
    stable,
    union_text,
)
from graph_model.producers.spline.expressions.functions import canonical, fields_of, subplan_text

_Node = TypeVar("_Node", bound=Hashable)
_Result = TypeVar("_Result")


def evaluate(
    root: _Node,
    inputs: Callable[[_Node], Iterable[_Node]],
    combine: Callable[[_Node], _Result],
    known: dict[_Node, _Result],
) -> _Result:
    """The result of ``root``; ``combine`` runs once per node, when its inputs are in ``known``.

    ``known`` is the memory between calls, so that evaluating every node of a graph costs its
    nodes and edges once. On a cycle (a broken document) the edge that closes it is left out:
    ``combine`` then finds that input missing in ``known``.
    """
    if root in known:
        return known[root]
    stack = [root]
    entered: set[_Node] = set()  # the path from the root to here
    while stack:
        node = stack[-1]
        if node in known:
            stack.pop()
            continue
        if node not in entered and (missing := [i for i in inputs(node) if i not in known]):
            entered.add(node)
            if pending := [item for item in missing if item not in entered]:
                stack.extend(reversed(pending))
                continue
        stack.pop()
        entered.discard(node)
        known[node] = combine(node)
    return known[root]


LIMIT: Final = 2_000
#: Characters that one renderer makes, and that one expression takes; beyond them "..." replaces the
#: rest. Only documents that repeat long expressions many times reach these bounds.
MOST_CHARACTERS: Final = 100_000_000
_MOST_ARGUMENTS: Final = 200_000
#: How Spark names the variables of lambdas that are functions of Python or Scala: by a number that
#: counts on for as long as the JVM lives.
_NUMBERED: Final = re.compile(r"([xyz])_(\d{1,18})")
_UNKNOWN: Final = SqlText("?")
_OMITTED: Final = SqlText("...")


def shortened(text: str, limit: int) -> str:
    """At most ``limit`` characters; a digest replaces the rest, so that different texts stay
    different.
    """
    if len(text) <= limit:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{text[: limit - 14]}... [{digest}]"


def numbered_variables(plan: ExecutionPlan) -> dict[str, str]:
    """Names of lambda variables that are the same in every run: ``x_17``, ``y_18`` => x_0, y_1."""
    names: dict[tuple[int, str], str] = {}
    for function in plan.functions.values():
        if canonical(function) == "namedlambdavariable":
            name = str(function.params.get("name"))
            if (match := _NUMBERED.fullmatch(name)) is not None:
                names[int(match[2]), name] = match[1]
    return {key[1]: f"{names[key]}_{place}" for place, key in enumerate(sorted(names))}


class Renderer:
    """Text of one plan's expressions, cached. ``limit`` is in characters.

    ``leaves`` are texts of read columns that are computed where they are read (a JDBC query's).
    """

    def __init__(
        self,
        plan: ExecutionPlan,
        definitions: Definitions | None = None,
        limit: int = LIMIT,
        *,
        leaves: Mapping[str, str] | None = None,
    ) -> None:
        self._leaves = leaves if leaves is not None else {}
        self.plan = plan
        self.definitions = definitions if definitions is not None else Definitions(plan)
        self.limit = limit
        self._variables = numbered_variables(plan)
        self._named: dict[Node, SqlText] = {}
        self._inlined: dict[Node, SqlText | None] = {}  # None: over the limit
        self._whole: dict[tuple[int, ...], SqlText] = {}
        self._projected: dict[Reference, str] = {}  # operations pass on earlier columns
        self._left = MOST_CHARACTERS
        #: Whether some subquery's plan is only text, worth looking for.
        self.has_subplans = any(subplan_text(f) is not None for f in plan.functions.values())

    def text(self, reference: Reference, *, inline: bool) -> str:
        """The reference as SQL, at most ``limit`` characters; an alias is its expression."""
        return self._sql(reference, inline).replace(FRAME, " ").strip()

    def _sql(self, reference: Reference, inline: bool) -> str:
        if not inline:
            return self._by_name(reference).text
        inlined = evaluate(reference, self._inline_inputs, self._inline, self._inlined)
        if inlined is not None:
            return inlined.text
        if reference.kind == "attribute":
            return self._defined_by_names(reference.id)
        return self._by_name(reference).text

    def projection(self, reference: Reference) -> str:
        """An item of a projection by names: ``a + b AS c``, ``a``."""
        known = self._projected.get(reference)
        if known is None:
            known = self._projected[reference] = self._project(reference)
        return known

    def _project(self, reference: Reference) -> str:
        text = self.text(reference, inline=False)
        function = self.plan.functions.get(reference.id)
        if reference.kind == "attribute" or function is None or canonical(function) != "alias":
            return text
        name = name_text(alias_name(function))
        return text if text == name else f"{text} AS {name}"

    def _defined_by_names(self, identifier: str) -> str:
        """A column whose inlined text is too long: its own expression in terms of names."""
        definition = self.definitions.of(identifier)
        expressions = [n for n in definition.nodes if isinstance(n, Reference)]
        if definition.kind == "same" and len(expressions) == 1:
            return self._by_name(expressions[0]).text
        return name_text(self.definitions.name_of(identifier))

    # --- by names --------------------------------------------------------------------------------

    def _by_name(self, node: Node) -> SqlText:
        return evaluate(node, self._name_inputs, self._name, self._named)

    def _name_inputs(self, node: Node) -> Sequence[Node]:
        if isinstance(node, Inputs) or node.kind == "attribute":
            return ()
        return self._children(node)

    def _name(self, node: Node) -> SqlText:
        if isinstance(node, Inputs):
            return SqlText("*")
        if node.kind == "attribute":
            return SqlText(name_text(self.definitions.name_of(node.id)))
        piece = self._expression(node, lambda child: self._named.get(child, _UNKNOWN))
        if len(piece.text) <= self.limit:
            return piece
        return SqlText(shortened(piece.text, self.limit), piece.binding)

    # --- inlined ---------------------------------------------------------------------------------

    def _inline_inputs(self, node: Node) -> Sequence[Node]:
        if isinstance(node, Inputs):
            if self._whole_key(node) in self._whole:
                return ()
            return tuple(self.definitions.inputs_of(node.operation))
        if node.kind == "attribute":
            return self.definitions.of(node.id).inputs
        return self._children(node)

    def _inline(self, node: Node) -> SqlText | None:
        piece = self._inline_piece(node)
        return piece if piece is not None and len(piece.text) <= self.limit else None

    def _inline_piece(self, node: Node) -> SqlText | None:
        if isinstance(node, Inputs):
            return self._all_inputs(node)
        if node.kind == "expression":
            return self._expression(node, self._stand_in)
        definition = self.definitions.of(node.id)
        name = self.definitions.name_of(node.id)
        if name == "spark_grouping_id":
            return SqlText("grouping_id()")
        if definition.is_copy and not isinstance(definition.nodes[0], Inputs):
            return self._inlined.get(definition.nodes[0])
        name = name_text(name)
        if definition.kind == "leaf" and (computed := self._leaves.get(node.id)) is not None:
            return SqlText(computed, ATOM if name_text(computed) == computed else LOOSE)
        if definition.kind in {"leaf", "nothing", "unknown"}:
            return SqlText(name)
        if definition.text:
            kept = [self._stand_in(item) for item in definition.nodes]
            return union_text([*kept, SqlText(definition.text, LOOSE)])
        pieces = [self._inlined.get(item) for item in definition.nodes]
        known = [piece for piece in pieces if piece is not None]
        if len(known) < len(pieces):
            return None
        return self._put_together(definition, name, known)

    def _all_inputs(self, node: Inputs) -> SqlText:
        """Computed once for all operations over the same wide inputs."""
        key = self._whole_key(node)
        known = self._whole.get(key)
        if known is None:
            inputs = self.definitions.inputs_of(node.operation)
            listed = truncate([self._stand_in(item) for item in inputs])
            known = SqlText(", ".join(piece.text for piece in listed), LOOSE)
            self._whole[key] = known
        return known

    def _whole_key(self, node: Inputs) -> tuple[int, ...]:
        operation = self.definitions.operations[node.operation]
        return tuple(id(self.definitions.outputs[child]) for child in operation.children)

    def _put_together(
        self, definition: AttributeDefinition, name: str, pieces: Sequence[SqlText]
    ) -> SqlText:
        first = definition.nodes[0] if definition.nodes else None
        if isinstance(first, Inputs):  # mapinpandas(emp_id, salary).z
            operation = self.definitions.operations[first.operation]
            return SqlText(f"{operation.name.lower()}({pieces[0].text}).{name}", PICK)
        if definition.kind == "generated" and definition.siblings > 1:
            return SqlText(
                f"{pieces[0].within(PICK)}.{self._generated_name(definition, name)}", PICK
            )
        return union_text(pieces) if pieces else SqlText(name)

    def _generated_name(self, definition: AttributeDefinition, name: str) -> str:
        """``inline(items).price``: the field, under any column name."""
        function = self.plan.functions.get(getattr(definition.nodes[0], "id", ""))
        if function is None or not canonical(function).startswith("inline"):
            return name
        fields = fields_of(self.plan, function.children[0]) if function.children else ()
        return name_text(fields[definition.position]) if definition.position < len(fields) else name

    def _stand_in(self, node: Node) -> SqlText:
        """The text of a child: its inlined text, or its name where that is too long."""
        inlined = self._inlined.get(node)
        return inlined if inlined is not None else self._by_name(node)

    # --- expressions -----------------------------------------------------------------------------

    def _children(self, reference: Reference) -> Sequence[Reference]:
        function = self.plan.functions.get(reference.id)
        return function.children if function is not None else ()

    def _expression(self, reference: Reference, piece_of: Callable[[Node], SqlText]) -> SqlText:
        constant = self.plan.constants.get(reference.id)
        if constant is not None:
            text = literal_text(constant.value, type_text(self.plan.data_types, constant.data_type))
            return SqlText(text, SIGN if text.startswith("-") else ATOM)
        function = self.plan.functions.get(reference.id)
        if function is None:
            return _UNKNOWN
        if self._left < 0:
            return _OMITTED
        if self._variables and canonical(function) == "namedlambdavariable":
            name = str(function.params.get("name"))
            if name in self._variables:
                return SqlText(self._variables[name])
        pieces = [piece_of(child) for child in function.children]
        piece = function_text(self.plan, function, truncate(pieces))
        self._left -= min(len(piece.text), self.limit)
        return piece


def truncate(pieces: Sequence[SqlText]) -> list[SqlText]:
    """The pieces; from where they exceed the bound of characters in total, each as ``...``."""
    kept: list[SqlText] = []
    left = _MOST_ARGUMENTS
    for piece in pieces:
        left -= len(piece.text)
        kept.append(piece if left >= 0 else _OMITTED)
    return kept


def alias_name(function: Function) -> str:
    """The agent names the function by the alias; API 1 calls it ``alias`` with a parameter."""
    name = function.params.get("name")
    return name if function.name == "alias" and isinstance(name, str) else function.name


# --- the parameters of an operation ---------------------------------------------------------------


MAX_PROPERTY: Final = 100_000
_MAX_DEPTH: Final = 64  # of lists and objects in each other
_RDD_NUMBER: Final = re.compile(r"(?<=RDD)\[\d+\]")
_SESSION_LINES: Final = re.compile(r"^(?:Created Time|Last Access|Created By):.*\n?", re.MULTILINE)


def operation_properties(
    plan: ExecutionPlan, operation: Operation, renderer: Renderer
) -> tuple[tuple[str, str], ...]:
    """Readable parameters in alphabetical order; a parameter without a value is left out.

    ``subqueries`` is added where the operation holds subqueries whose plans are only text.
    """
    shown = {name: value_text(value, renderer) for name, value in operation.params.items()}
    if subplans := _subplans(plan, operation, renderer):
        shown["subqueries"] = shortened("\n".join(subplans), MAX_PROPERTY)
    return tuple(sorted((name, text) for name, text in shown.items() if text))


def value_text(value: Any, renderer: Renderer) -> str:
    """A parameter's JSON value as text; '' for an empty value."""
    return shortened(_text(value, renderer), MAX_PROPERTY)


def _text(value: Any, renderer: Renderer, depth: int = 0) -> str:
    if depth > _MAX_DEPTH:
        return "..."
    top = depth == 0
    if isinstance(value, str):
        return _stable(value)
    if (reference := as_reference(value)) is not None:
        return renderer.projection(reference)
    if value is None:
        return "" if top else "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        inside = ", ".join(_listed(value, renderer, depth + 1))
        return inside if top else f"({inside})"
    if isinstance(value, dict):
        return _order(value, renderer) or _pairs(value, renderer, depth + 1)
    return str(value)


def _stable(text: str) -> str:
    """Nearly no text has a volatile part; the quick test costs less than the search."""
    if "#" in text:
        text = stable(text)
    if "RDD[" in text:
        text = _RDD_NUMBER.sub("", text)
    return _SESSION_LINES.sub("", text) if ":" in text else text


def _listed(value: list[Any], renderer: Renderer, depth: int) -> Iterator[str]:
    """Items as text, until they are far more than is ever shown."""
    left = 10 * MAX_PROPERTY
    for item in value:
        reference = as_reference(item)
        if reference is not None:
            text = renderer.projection(reference)
        else:
            text = _text(item, renderer, depth)
        left -= len(text)
        yield text if left >= 0 else "..."
        if left < 0:
            return


def _order(value: Mapping[str, Any], renderer: Renderer) -> str | None:
    """An item of a Sort: ``{expression, direction, nullOrdering}``."""
    expression = as_reference(value.get("expression"))
    if expression is None:
        return None
    words = (value.get("direction"), value.get("nullOrdering"))
    text = renderer.text(expression, inline=False)
    return " ".join((text, *(word for word in words if isinstance(word, str))))


def _pairs(value: Mapping[str, Any], renderer: Renderer, depth: int) -> str:
    return ", ".join(
        f"{key}: {_text(item, renderer, depth)}" for key, item in sorted(value.items())
    )


def _subplans(plan: ExecutionPlan, operation: Operation, renderer: Renderer) -> list[str]:
    """Plans of the subqueries in an operation's expressions, as text without expression ids."""
    if not renderer.has_subplans:
        return []
    texts: list[str] = []
    seen: set[Reference] = set()
    stack = list(references_in(operation.params))[::-1]
    while stack:
        reference = stack.pop()
        function = plan.functions.get(reference.id) if reference.kind == "expression" else None
        if function is None or reference in seen:
            continue
        seen.add(reference)
        if (text := subplan_text(function)) is not None:
            texts.append(stable(text).rstrip())
        stack.extend(reversed(function.children))
    return texts
