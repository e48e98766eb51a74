"""SQL-like text of the expressions of one plan.

    Renderer(plan).text(reference, inline=True)
        => CASE WHEN dept = 'HR' THEN salary + bonus ELSE 0 END

``inline`` replaces the name of a computed column by what it is computed from, down to the columns
that the plan reads, wherever the result stays within ``limit`` characters; without it a column is
its name. The text holds names only, no ids: equal logic has equal text. A text over the limit is
cut and ends in a digest of the whole, so that two long conditions that differ at their ends still
differ.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Final

from graph_model.documents import ExecutionPlan, Function, Reference, type_text
from graph_model.expressions.definitions import Definition, Definitions, Inputs, Node
from graph_model.expressions.forms import (
    ATOM,
    FRAME,
    LOOSE,
    PICK,
    SIGN,
    Text,
    function_text,
    name_text,
    union_text,
)
from graph_model.expressions.literals import literal_text
from graph_model.expressions.roles import canonical, fields_of
from graph_model.expressions.walk import evaluate

LIMIT: Final = 2_000
_UNKNOWN: Final = Text("?")


def shortened(text: str, limit: int) -> str:
    """At most ``limit`` characters; what is cut off is told apart by a digest."""
    if len(text) <= limit:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{text[: limit - 14]}... [{digest}]"


class Renderer:
    """Text of one plan's expressions; remembers what it has said. ``limit`` is in characters."""

    def __init__(
        self, plan: ExecutionPlan, definitions: Definitions | None = None, limit: int = LIMIT
    ) -> None:
        self.plan = plan
        self.definitions = definitions if definitions is not None else Definitions(plan)
        self.limit = limit
        self._named: dict[Node, Text] = {}
        self._inlined: dict[Node, Text | None] = {}  # None: over the limit

    def text(self, reference: Reference, *, inline: bool) -> str:
        """The reference as SQL, at most ``limit`` characters; an alias is its expression."""
        return self._said(reference, inline).replace(FRAME, " ").strip()

    def _said(self, reference: Reference, inline: bool) -> str:
        if not inline:
            return self._by_name(reference).text
        found = evaluate(reference, self._inline_inputs, self._inline, self._inlined)
        if found is not None:
            return found.text
        if reference.kind == "attribute":
            return self._defined_by_names(reference.id)
        return self._by_name(reference).text

    def projection(self, reference: Reference) -> str:
        """An item of a projection by names: ``a + b AS c``, ``a``."""
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

    def _by_name(self, node: Node) -> Text:
        return evaluate(node, self._name_inputs, self._name, self._named)

    def _name_inputs(self, node: Node) -> Sequence[Node]:
        if isinstance(node, Inputs) or node.kind == "attribute":
            return ()
        return self._children(node)

    def _name(self, node: Node) -> Text:
        if isinstance(node, Inputs):
            return Text("*")
        if node.kind == "attribute":
            return Text(name_text(self.definitions.name_of(node.id)))
        piece = self._expression(node, lambda child: self._named.get(child, _UNKNOWN))
        if len(piece.text) <= self.limit:
            return piece
        return Text(shortened(piece.text, self.limit), piece.binding)

    # --- inlined ---------------------------------------------------------------------------------

    def _inline_inputs(self, node: Node) -> Sequence[Node]:
        if isinstance(node, Inputs):
            return tuple(self.definitions.inputs_of(node.operation))
        if node.kind == "attribute":
            return self.definitions.of(node.id).inputs
        return self._children(node)

    def _inline(self, node: Node) -> Text | None:
        piece = self._inline_piece(node)
        return piece if piece is not None and len(piece.text) <= self.limit else None

    def _inline_piece(self, node: Node) -> Text | None:
        if isinstance(node, Inputs):
            return Text(", ".join(self._stand_in(n).text for n in self._inline_inputs(node)), LOOSE)
        if node.kind == "expression":
            return self._expression(node, self._stand_in)
        definition = self.definitions.of(node.id)
        name = name_text(self.definitions.name_of(node.id))
        if name == "spark_grouping_id":
            return Text("grouping_id()")
        if definition.kind in {"leaf", "nothing", "unknown"}:
            return Text(name)
        if definition.text:
            kept = [self._stand_in(item) for item in definition.nodes]
            return union_text([*kept, Text(definition.text, LOOSE)])
        pieces = [self._inlined.get(item) for item in definition.nodes]
        found = [piece for piece in pieces if piece is not None]
        if len(found) < len(pieces):
            return None
        return self._put_together(definition, name, found)

    def _put_together(self, definition: Definition, name: str, found: Sequence[Text]) -> Text:
        first = definition.nodes[0] if definition.nodes else None
        if isinstance(first, Inputs):  # mapinpandas(emp_id, salary).z
            operation = self.definitions.operations[first.operation]
            return Text(f"{operation.name.lower()}({found[0].text}).{name}", PICK)
        if definition.kind == "generated" and definition.siblings > 1:
            return Text(f"{found[0].within(PICK)}.{self._generated_name(definition, name)}", PICK)
        return union_text(found) if found else Text(name)

    def _generated_name(self, definition: Definition, name: str) -> str:
        """``inline(items).price``: the field, whatever the column is called."""
        function = self.plan.functions.get(getattr(definition.nodes[0], "id", ""))
        if function is None or not canonical(function).startswith("inline"):
            return name
        fields = fields_of(self.plan, function.children[0]) if function.children else ()
        return name_text(fields[definition.position]) if definition.position < len(fields) else name

    def _stand_in(self, node: Node) -> Text:
        """What stands for a child: its inlined text, or its name where that is too long."""
        found = self._inlined.get(node)
        return found if found is not None else self._by_name(node)

    # --- expressions -----------------------------------------------------------------------------

    def _children(self, reference: Reference) -> Sequence[Reference]:
        function = self.plan.functions.get(reference.id)
        return function.children if function is not None else ()

    def _expression(self, reference: Reference, piece_of: Callable[[Node], Text]) -> Text:
        constant = self.plan.constants.get(reference.id)
        if constant is not None:
            text = literal_text(constant.value, type_text(self.plan.data_types, constant.data_type))
            return Text(text, SIGN if text.startswith("-") else ATOM)
        function = self.plan.functions.get(reference.id)
        if function is None:
            return _UNKNOWN
        return function_text(self.plan, function, [piece_of(c) for c in function.children])


def alias_name(function: Function) -> str:
    """The agent names the function by the alias; API 1 calls it ``alias`` with a parameter."""
    name = function.params.get("name")
    return name if function.name == "alias" and isinstance(name, str) else function.name
