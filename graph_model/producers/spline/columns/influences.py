"""Conditions, joins and groups that decide about the rows of a whole output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from graph_model import labels
from graph_model.producers.spline.documents import (
    ExecutionPlan,
    Operation,
    Reference,
    as_reference,
    references_in,
)
from graph_model.producers.spline.expressions.commands import readable
from graph_model.producers.spline.expressions.definitions import Definitions, operation_word
from graph_model.producers.spline.expressions.properties import value_text
from graph_model.producers.spline.expressions.roles import canonical
from graph_model.producers.spline.expressions.text import Renderer, shortened


@dataclass(frozen=True, slots=True)
class RowCondition:
    """A condition, a grouping or an order, with its columns and its text."""

    how: str
    references: tuple[Reference, ...]
    text: str


@dataclass(frozen=True, slots=True)
class PriorInfluences:
    """The conditions of earlier operations, and the outputs that decided as a whole."""

    conjuncts: set[tuple[str, Reference]] = field(default_factory=set)
    columns: dict[tuple[object, ...], RowCondition] = field(default_factory=dict)


#: Parameters that group rows, in any operation.
_GROUPINGS: Final = ("groupingExpressions", "groupingAttributes", "keys")
_CONDITIONS: Final = ("condition", "asOfCondition")
#: The listener's list of the conditions under which a MERGE deletes rows.
_DELETIONS: Final = "deletions"


def statements(
    plan: ExecutionPlan, definitions: Definitions, renderer: Renderer
) -> Iterator[RowCondition]:
    """In topological order, of the operations whose rows can reach the write; each once.

    Many operations may repeat one condition or one wide output. Repetitions are recognised, so that
    the cost depends on the size of the document alone.
    """
    reached = _reached(plan, definitions)
    prior = PriorInfluences()
    for operation in plan.operations:
        if operation.id in reached:
            yield from _Reader(plan, definitions, renderer, operation, prior).statements()


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _reached(plan: ExecutionPlan, definitions: Definitions) -> set[str]:
    """From the write through inputs; a CTE counts where it is referenced, not
    where it is defined.
    """
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
    prior: PriorInfluences

    def statements(self) -> Iterator[RowCondition]:
        params = self.operation.params
        word = operation_word(self.operation)
        for key in _CONDITIONS:
            if params.get(key) is not None:
                yield from self._condition(params[key], self._condition_kind(word))
        for condition in _as_list(params.get(_DELETIONS)):
            yield from self._condition(condition, labels.FILTER)
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

    def _condition(self, value: Any, how: str) -> Iterator[RowCondition]:
        if isinstance(value, str):
            yield from self._text_condition(value, how)
        elif (reference := as_reference(value)) is not None:
            for conjunct in self._conjuncts(reference, how):
                text = self.renderer.text(conjunct, inline=True)
                yield RowCondition(how, (conjunct,), text)

    def _text_condition(self, text: str, how: str) -> Iterator[RowCondition]:
        """Delta's commands. An UPDATE's condition chooses values, not rows: see its columns."""
        if "updateExpressions" in self.operation.params:
            return
        command = self.definitions.commands.of(self.operation)
        shown = shortened(readable(text), self.renderer.limit)
        yield RowCondition(how, command.references(text)[0], shown)

    def _conjuncts(self, condition: Reference, how: str) -> Iterator[Reference]:
        """``a AND (b AND c)`` => a, b, c, without conjuncts that an earlier operation had."""
        stack = [condition]
        while stack:
            reference = stack.pop()
            if (how, reference) in self.prior.conjuncts:
                continue
            self.prior.conjuncts.add((how, reference))
            function = self.plan.functions.get(reference.id)
            if function is not None and canonical(function) == "and":
                stack.extend(reversed(function.children))
            else:
                yield reference

    def _listed(self, value: Any, how: str) -> Iterator[RowCondition]:
        references = tuple(references_in(value))
        texts = [self._item(item) for item in (value if isinstance(value, list) else [value])]
        yield RowCondition(how, references, shortened(", ".join(texts), self.renderer.limit))

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

    def _columns(self, children: Sequence[str], how: str, prefix: str) -> Iterator[RowCondition]:
        """All columns of the inputs. Operations without an output of their own share one result."""
        outputs = [self.definitions.outputs[child] or () for child in children]
        distinct = {id(output): output for output in outputs}
        key = (prefix, *map(id, outputs[:1]), frozenset(distinct))
        if key in self.prior.columns:
            return
        references = tuple(
            Reference("attribute", identifier)
            for output in distinct.values()
            for identifier in output
        )
        first = outputs[0] if outputs else ()
        names = [self.renderer.text(Reference("attribute", i), inline=False) for i in first]
        text = shortened(prefix + ", ".join(names), self.renderer.limit)
        self.prior.columns[key] = RowCondition(how, references, text)
        yield self.prior.columns[key]
