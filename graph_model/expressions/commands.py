"""Delta's MERGE, UPDATE and DELETE: what the agent sends of them as text.

    Update [condition: (t.salary > 0), actions: [`id` = id#58, `salary` = (sal2#53 + salary#60)]]
    Insert [actions: [`id` = id#36, `salary` = sal2#53]]

A name in such text is a column of what goes into the command. When both sides of a MERGE have the
name, the number behind it tells: numbers seen in Insert clauses are the source's, because nothing
else can be inserted; another number of the same name is the target's. What stays undecided makes
the assignment incomplete: no source is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from graph_model.documents import ExecutionPlan, Operation, Reference, as_reference

Outputs = Mapping[str, Sequence[str] | None]

_NUMBERED: Final = re.compile(r"([^\s()\[\],'\"=<>+*/%!&|~^`#-]+)#(\d+)L?")
_NUMBER: Final = re.compile(r"#\d+L?")
_WORD: Final = re.compile(r"\w+")
_ACTION: Final = re.compile(r"(?:^|, )((?:`[^`]+`\.?)+) = ")


@dataclass(frozen=True, slots=True)
class Assignment:
    """What a command sets a column to.

    ``same`` flow in as they are, ``changed`` through expressions, which ``text`` holds ('' where
    there are none); ``conditions`` decide whether; ``complete`` False: some name in the text could
    not be told apart.
    """

    text: str
    same: tuple[Reference, ...] = ()
    changed: tuple[Reference, ...] = ()
    conditions: tuple[Reference, ...] = ()
    complete: bool = True


def readable(text: str) -> str:
    """``(sal2#53 + salary#60L)`` => ``sal2 + salary``."""
    cleaned = _NUMBER.sub("", text).strip()
    while cleaned.startswith("(") and _closed_by_last(cleaned):
        cleaned = cleaned[1:-1].strip()
    return cleaned


def _closed_by_last(text: str) -> bool:
    """True where the parenthesis at the start is closed by the last character."""
    depth = 0
    for index, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return index == len(text) - 1
    return False


class CommandText:
    """Resolves the names in the text of one command (a write, or the MERGE below it)."""

    def __init__(self, plan: ExecutionPlan, operation: Operation, outputs: Outputs) -> None:
        self._plan = plan
        self._params = operation.params
        target = _target_child(plan, operation)
        self._target = self._columns(outputs, [target])
        self._source = self._columns(outputs, [c for c in operation.children if c != target])
        self._settled: dict[tuple[str, str], Reference] = {}
        for clause in self._clauses("notMatchedClauses"):
            for name, number in _NUMBERED.findall(clause.partition("actions: [")[2]):
                if (found := self._source.get(name.lower())) is not None:
                    self._settled[(name.lower(), number)] = found

    def _columns(self, outputs: Outputs, children: Iterable[str]) -> dict[str, Reference]:
        """Lower-case name => the column; a name that stands twice is left out."""
        found: dict[str, Reference] = {}
        twice: set[str] = set()
        for child in children:
            for identifier in outputs.get(child) or ():
                attribute = self._plan.attributes.get(identifier)
                name = attribute.name.lower() if attribute is not None else ""
                if found.setdefault(name, Reference("attribute", identifier)).id != identifier:
                    twice.add(name)
        return {name: reference for name, reference in found.items() if name not in twice}

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
        return ours if any(settled == key for settled, _ in self._settled) else None

    def references(self, text: str) -> tuple[tuple[Reference, ...], bool]:
        """The columns that a text with numbers names, and whether every name was found."""
        found = [self._find(name, number) for name, number in _NUMBERED.findall(text)]
        known = dict.fromkeys(reference for reference in found if reference is not None)
        return tuple(known), None not in found

    def assignment(self, value: Any, conditions: tuple[Reference, ...] = ()) -> Assignment:
        """From an expression as text, or as a reference where the producer sends one."""
        if (reference := as_reference(value)) is not None:
            return Assignment("", same=(reference,), conditions=conditions)
        text = value if isinstance(value, str) else ""
        found, complete = self.references(text)
        if _NUMBERED.fullmatch(text.strip()):
            return Assignment("", found, (), conditions, complete)
        return Assignment(readable(text), (), found, conditions, complete)

    def condition(self, text: str) -> tuple[Reference, ...]:
        """Columns in a clause's condition, which is plain SQL: only names of one column count."""
        both = {**self._source, **self._target}
        shared = self._source.keys() & self._target.keys()
        words = dict.fromkeys(word.lower() for word in _WORD.findall(text))
        return tuple(both[word] for word in words if word in both and word not in shared)

    def merged(self) -> dict[str, Assignment]:
        """Per lower-case target column of a MERGE all that its clauses may set it to."""
        found: dict[str, list[Assignment]] = {}
        for clause in (*self._clauses("matchedClauses"), *self._clauses("notMatchedClauses")):
            head, _, actions = clause.partition("actions: [")
            conditions = self.condition(head.partition("condition: ")[2])
            for column, text in _actions(actions):
                found.setdefault(column, []).append(self.assignment(text, conditions))
        return {column: _together(listed) for column, listed in found.items()}

    def updated(self) -> list[Assignment]:
        """Per column of an UPDATE's target, in order, what it is set to."""
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
    found = list(_ACTION.finditer(body))
    for index, match in enumerate(found):
        end = found[index + 1].start() if index + 1 < len(found) else len(body)
        yield match.group(1).split("`.`")[0].strip("`").lower(), body[match.end() : end].strip()


def _together(listed: Sequence[Assignment]) -> Assignment:
    return Assignment(
        text=", ".join(dict.fromkeys(item.text for item in listed if item.text)),
        same=tuple(dict.fromkeys(r for item in listed for r in item.same)),
        changed=tuple(dict.fromkeys(r for item in listed for r in item.changed)),
        conditions=tuple(dict.fromkeys(r for item in listed for r in item.conditions)),
        complete=all(item.complete for item in listed),
    )


def _target_child(plan: ExecutionPlan, operation: Operation) -> str:
    """The input that reads what the plan writes; else the last (the agent: source, target)."""
    operations = {item.id: item for item in plan.operations}
    for child in operation.children:
        stack = [child]
        while stack:
            item = operations[stack.pop()]
            if plan.write.target in item.sources and item.kind == "read":
                return child
            if len(item.children) == 1:  # the target is a table, perhaps under an alias
                stack.extend(item.children)
    return operation.children[-1] if operation.children else ""
