"""What decides about a whole output: the statements that a plan's operations make about rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from graph_model import labels
from graph_model.documents import ExecutionPlan, Operation, Reference, as_reference, references_in
from graph_model.expressions.commands import readable
from graph_model.expressions.definitions import Definitions, operation_word
from graph_model.expressions.properties import value_text
from graph_model.expressions.roles import canonical
from graph_model.expressions.text import Renderer, shortened


@dataclass(frozen=True, slots=True)
class Statement:
    """A condition, a grouping or an order: what it looks at and how it reads."""

    how: str
    references: tuple[Reference, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Said:
    """What the operations before have said: conditions, and outputs as a whole."""

    conjuncts: set[tuple[str, Reference]] = field(default_factory=set)
    columns: dict[tuple[object, ...], Statement] = field(default_factory=dict)


#: Parameters that group rows, whatever the operation that has them.
_GROUPINGS: Final = ("groupingExpressions", "groupingAttributes", "keys")
_CONDITIONS: Final = ("condition", "asOfCondition")


def statements(
    plan: ExecutionPlan, definitions: Definitions, renderer: Renderer
) -> Iterator[Statement]:
    """In topological order, of the operations whose rows can reach the write; each once.

    Many operations may say the same, of the same wide output or the same long condition: what has
    been said is remembered, so that the cost is that of the document and not of its repetitions.
    """
    reached = _reached(plan, definitions)
    said = Said()
    for operation in plan.operations:
        if operation.id in reached:
            yield from _Reader(plan, definitions, renderer, operation, said).statements()


def _reached(plan: ExecutionPlan, definitions: Definitions) -> set[str]:
    """From the write through inputs; a CTE counts where it is referred to, not where defined."""
    seen: set[str] = set()
    stack = [plan.write.id]
    while stack:
        identifier = stack.pop()
        if identifier in seen:
            continue
        seen.add(identifier)
        operation = definitions.operations[identifier]
        if (defined := definitions.cte.get(identifier)) is not None:
            stack.append(defined.id)
        stack.extend(
            child for child in operation.children if not _defines(definitions, operation, child)
        )
    return seen


def _defines(definitions: Definitions, operation: Operation, child: str) -> bool:
    below = definitions.operations[child]
    return operation_word(operation) == "WithCTE" and operation_word(below) == "CTERelationDef"


@dataclass(frozen=True, slots=True)
class _Reader:
    plan: ExecutionPlan
    definitions: Definitions
    renderer: Renderer
    operation: Operation
    said: Said

    def statements(self) -> Iterator[Statement]:
        params = self.operation.params
        word = operation_word(self.operation)
        for key in _CONDITIONS:
            if params.get(key) is not None:
                yield from self._condition(params[key], self._condition_kind(word))
        for key in _GROUPINGS:
            if params.get(key):
                yield from self._listed(params[key], labels.GROUP_BY)
        if word == "Distinct":
            yield from self._columns(self.operation.children, labels.GROUP_BY, "DISTINCT ")
        if word == "Sort" and params.get("order"):
            yield from self._listed(params["order"], labels.SORT)
        if word in {"Except", "Intersect"}:
            yield from self._columns(self.operation.children, labels.FILTER, f"{word.upper()} ")

    def _condition_kind(self, word: str) -> str:
        joins = "Join" in word or word.startswith("MergeInto")
        return labels.JOIN if joins else labels.FILTER

    def _condition(self, value: Any, how: str) -> Iterator[Statement]:
        if isinstance(value, str):
            yield from self._text_condition(value, how)
        elif (reference := as_reference(value)) is not None:
            for conjunct in self._conjuncts(reference, how):
                text = self.renderer.text(conjunct, inline=True)
                yield Statement(how, (conjunct,), text)

    def _text_condition(self, text: str, how: str) -> Iterator[Statement]:
        """Delta's commands. An UPDATE's condition chooses values, not rows: see its columns."""
        if "updateExpressions" in self.operation.params:
            return
        command = self.definitions.commands.of(self.operation)
        shown = shortened(readable(text), self.renderer.limit)
        yield Statement(how, command.references(text)[0], shown)

    def _conjuncts(self, condition: Reference, how: str) -> Iterator[Reference]:
        """``a AND (b AND c)`` => a, b, c, but for those that were said before."""
        stack = [condition]
        while stack:
            reference = stack.pop()
            if (how, reference) in self.said.conjuncts:
                continue
            self.said.conjuncts.add((how, reference))
            function = self.plan.functions.get(reference.id)
            if function is not None and canonical(function) == "and":
                stack.extend(reversed(function.children))
            else:
                yield reference

    def _listed(self, value: Any, how: str) -> Iterator[Statement]:
        references = tuple(references_in(value))
        texts = [self._item(item) for item in (value if isinstance(value, list) else [value])]
        yield Statement(how, references, shortened(", ".join(texts), self.renderer.limit))

    def _item(self, item: Any) -> str:
        """A grouping expression, or an item of an order, in terms of read columns."""
        if (reference := as_reference(item)) is not None:
            return self.renderer.text(reference, inline=True)
        expression = as_reference(item.get("expression")) if isinstance(item, dict) else None
        if expression is None:
            return value_text(item, self.renderer)
        words = (item.get("direction"), item.get("nullOrdering"))
        text = self.renderer.text(expression, inline=True)
        return " ".join((text, *(word for word in words if isinstance(word, str))))

    def _columns(self, children: Sequence[str], how: str, prefix: str) -> Iterator[Statement]:
        """All columns of the inputs. Operations without an output of their own share one."""
        outputs = [self.definitions.outputs[child] or () for child in children]
        distinct = {id(output): output for output in outputs}
        key = (prefix, *map(id, outputs[:1]), frozenset(distinct))
        if key in self.said.columns:
            return
        references = tuple(
            Reference("attribute", identifier)
            for output in distinct.values()
            for identifier in output
        )
        first = outputs[0] if outputs else ()
        names = [self.renderer.text(Reference("attribute", i), inline=False) for i in first]
        text = shortened(prefix + ", ".join(names), self.renderer.limit)
        self.said.columns[key] = Statement(how, references, text)
        yield self.said.columns[key]
