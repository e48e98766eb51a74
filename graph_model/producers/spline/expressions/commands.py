"""Delta's MERGE, UPDATE and DELETE: expressions that the agent sends only as text.

    Update [condition: (t.salary > 0), actions: [`id` = id#58, `salary` = (sal2#53 + salary#60)]]
    Insert [actions: [`id` = id#36, `salary` = sal2#53]]

A name in such text is a column of the command's input. When both sides of a MERGE have the
name, the number behind it tells: numbers seen in Insert clauses are the source's, because nothing
else can be inserted; another number of the same name is the target's. An undecided name makes
the assignment incomplete: no source is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from graph_model.producers.spline.documents import ExecutionPlan, Operation, Reference, as_reference

Outputs = Mapping[str, Sequence[str] | None]

_IN_A_NAME: Final = r"[^\s()\[\],'\"=<>+*/%!&|~^`#-]"
# Only tried where a name begins: a search from every letter would take quadratic time.
_NUMBERED: Final = re.compile(rf"(?<!{_IN_A_NAME})({_IN_A_NAME}+)#(\d+)L?")
_NUMBER: Final = re.compile(r"#\d+L?")
_PARENTHESIS: Final = re.compile(r"[()]")
_WORD: Final = re.compile(r"\w+")
_ACTION: Final = re.compile(r"(?:^|, )((?:`[^`]+`\.?)+) = ")


@dataclass(frozen=True, slots=True)
class ColumnAssignment:
    """The value that a command sets a column to.

    ``same`` are columns that flow in unchanged, ``changed`` those that flow in through expressions,
    which ``text`` holds ('' for none); ``conditions`` decide whether; ``complete`` False: a name in
    the text is ambiguous or unknown.
    """

    text: str
    same: tuple[Reference, ...] = ()
    changed: tuple[Reference, ...] = ()
    conditions: tuple[Reference, ...] = ()
    complete: bool = True


def readable(text: str) -> str:
    """``(sal2#53 + salary#60L)`` => ``sal2 + salary``."""
    cleaned = _NUMBER.sub("", text).strip()
    closed_by = _closings(cleaned) if cleaned.startswith("(") else {}
    start, end = 0, len(cleaned)
    while closed_by.get(start) == end - 1:
        start, end = start + 1, end - 1
        while start < end and cleaned[start].isspace():
            start += 1
        while start < end and cleaned[end - 1].isspace():
            end -= 1
    return cleaned[start:end]


def _closings(text: str) -> dict[int, int]:
    """The position at which each parenthesis is closed."""
    opened: list[int] = []
    closed: dict[int, int] = {}
    for match in _PARENTHESIS.finditer(text):
        if match.group() == "(":
            opened.append(match.start())
        elif opened:
            closed[opened.pop()] = match.start()
    return closed


class PlanCommands:
    """The state that the commands of one plan share: names by output, as thousands may have the
    same.
    """

    def __init__(self, plan: ExecutionPlan, outputs: Outputs) -> None:
        self._plan = plan
        self._outputs = outputs
        self._named: dict[int, dict[str, str | None]] = {}  # by the identity of an output

    def of(self, operation: Operation) -> CommandText:
        """The text of a command (a write, or the MERGE below it), with its names resolved."""
        target = self._target_child(operation)
        return CommandText(
            operation.params,
            self._columns([target]),
            self._columns([child for child in operation.children if child != target]),
        )

    def _columns(self, children: Iterable[str]) -> SideColumns:
        named = {id(names): names for names in map(self._names, children)}
        return SideColumns(tuple(named.values()))

    def _names(self, child: str) -> dict[str, str | None]:
        """Lower-case name => the attribute; None for an ambiguous name."""
        output = self._outputs.get(child) or ()
        known = self._named.get(id(output))
        if known is None:
            known = self._named[id(output)] = {}
            for identifier in output:
                attribute = self._plan.attributes.get(identifier)
                name = attribute.name.lower() if attribute is not None else ""
                if known.setdefault(name, identifier) != identifier:
                    known[name] = None
        return known

    def _target_child(self, operation: Operation) -> str:
        """The input that reads the plan's target; otherwise the last one (the agent lists source,
        target).
        """
        reading = (child for child in operation.children if child in self._targets)
        return next(reading, operation.children[-1] if operation.children else "")

    @cached_property
    def _targets(self) -> set[str]:
        """Operations that read the table that the plan writes, perhaps under an alias."""
        operations: set[str] = set()
        for operation in self._plan.operations:
            reads = operation.kind == "read" and self._plan.write.target in operation.sources
            if reads or (len(operation.children) == 1 and operation.children[0] in operations):
                operations.add(operation.id)
        return operations


@dataclass(frozen=True, slots=True)
class SideColumns:
    """The columns of one side of a command: per input its attributes by lower-case name."""

    named: tuple[Mapping[str, str | None], ...]

    def get(self, name: str) -> Reference | None:
        """The only column of that name; None for an ambiguous name."""
        ids = {names[name] for names in self.named if name in names}
        identifier = ids.pop() if len(ids) == 1 else None
        return Reference("attribute", identifier) if identifier is not None else None


class CommandText:
    """Resolves the names in the text of one command: see :class:`PlanCommands`."""

    def __init__(self, params: Mapping[str, Any], target: SideColumns, source: SideColumns) -> None:
        self._params = params
        self._target = target
        self._source = source
        self._settled: dict[tuple[str, str], Reference] = {}
        for clause in self._clauses("notMatchedClauses"):
            for name, number in _NUMBERED.findall(clause.partition("actions: [")[2]):
                if (reference := self._source.get(name.lower())) is not None:
                    self._settled[(name.lower(), number)] = reference
        self._settled_names = {name for name, _ in self._settled}

    def _clauses(self, key: str) -> list[str]:
        listed = self._params.get(key)
        return [c for c in listed if isinstance(c, str)] if isinstance(listed, list) else []

    def _find(self, name: str, number: str) -> Reference | None:
        key = name.lower()
        ours, theirs = self._target.get(key), self._source.get(key)
        if ours is None or theirs is None:
            return ours or theirs
        if (key, number) in self._settled:
            return theirs
        return ours if key in self._settled_names else None

    def references(self, text: str) -> tuple[tuple[Reference, ...], bool]:
        """The columns that a text with numbers names, and whether every name was found."""
        references = [self._find(name, number) for name, number in _NUMBERED.findall(text)]
        known = dict.fromkeys(reference for reference in references if reference is not None)
        return tuple(known), None not in references

    def assignment(self, value: Any, conditions: tuple[Reference, ...] = ()) -> ColumnAssignment:
        """From an expression as text, or as a reference where the producer sends one."""
        if (reference := as_reference(value)) is not None:
            return ColumnAssignment("", same=(reference,), conditions=conditions)
        text = value if isinstance(value, str) else ""
        references, complete = self.references(text)
        if _NUMBERED.fullmatch(text.strip()):
            return ColumnAssignment("", references, (), conditions, complete)
        return ColumnAssignment(readable(text), (), references, conditions, complete)

    def condition(self, text: str) -> tuple[Reference, ...]:
        """Columns in a clause's condition, which is plain SQL: only unambiguous names count."""
        references: list[Reference] = []
        for word in dict.fromkeys(word.lower() for word in _WORD.findall(text)):
            ours, theirs = self._target.get(word), self._source.get(word)
            if (ours is None) != (theirs is None):
                references.extend(
                    reference for reference in (ours, theirs) if reference is not None
                )
        return tuple(references)

    def merged(self) -> dict[str, ColumnAssignment]:
        """Per lower-case target column of a MERGE all values that its clauses may set."""
        assignments: dict[str, list[ColumnAssignment]] = {}
        for clause in (*self._clauses("matchedClauses"), *self._clauses("notMatchedClauses")):
            head, _, actions = clause.partition("actions: [")
            conditions = self.condition(head.partition("condition: ")[2])
            for column, text in _actions(actions):
                assignments.setdefault(column, []).append(self.assignment(text, conditions))
        return {column: _merged(listed) for column, listed in assignments.items()}

    def updated(self) -> list[ColumnAssignment]:
        """Per column of an UPDATE's target, in order, its new value."""
        listed = self._params.get("updateExpressions")
        conditions = self.decides()
        return [
            self.assignment(value, conditions)
            for value in (listed if isinstance(listed, list) else ())
        ]

    def decides(self) -> tuple[Reference, ...]:
        """The columns of the command's own condition."""
        condition = self._params.get("condition")
        if (reference := as_reference(condition)) is not None:
            return (reference,)
        return self.references(condition)[0] if isinstance(condition, str) else ()


def _actions(text: str) -> Iterator[tuple[str, str]]:
    """``[`a` = x#1, `b` = (y#2 + 1)]]`` => (a, x#1), (b, (y#2 + 1))."""
    body = text.rstrip().removesuffix("]").removesuffix("]")
    matches = list(_ACTION.finditer(body))
    for index, match in enumerate(matches):
        end = matches[index + 1].start() if index + 1 < len(matches) else len(body)
        yield match.group(1).split("`.`")[0].strip("`").lower(), body[match.end() : end].strip()


def _merged(listed: Sequence[ColumnAssignment]) -> ColumnAssignment:
    return ColumnAssignment(
        text=", ".join(dict.fromkeys(item.text for item in listed if item.text)),
        same=tuple(dict.fromkeys(r for item in listed for r in item.same)),
        changed=tuple(dict.fromkeys(r for item in listed for r in item.changed)),
        conditions=tuple(dict.fromkeys(r for item in listed for r in item.conditions)),
        complete=all(item.complete for item in listed),
    )
