"""A JVM that is a few Python objects: a finished query as py4j shows it, with a fuse in it.

    node = Node(fuse, nodeName="Filter", children=sequence(fuse))
    node.nodeName()  # "Filter"; raises once the fuse has counted to its number

Every call goes through the fuse, so a test can make the first, second, … last of them fail.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


class JvmError(Exception):
    """The error of a failed call, like py4j's own: with a stack trace in its text."""


class Fuse:
    """Counts calls and fails the one with the given number (from 1); None: never."""

    def __init__(self, at: int | None = None) -> None:
        self.at = at
        self.calls = 0

    def burn(self, call: str) -> None:
        self.calls += 1
        if self.calls == self.at:
            raise JvmError(f"An error occurred while calling {call}.\n\tat java.lang.Thread")


class Node:
    """An object of the JVM. An answer is a value, or a function of the call's arguments."""

    def __init__(self, fuse: Fuse, **answers: Any) -> None:
        self._fuse = fuse
        self._answers = answers

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            self._fuse.burn(name)
            if name not in self._answers:
                raise JvmError(f"Method {name} does not exist\n\tat py4j.Gateway")
            answer = self._answers[name]
            return answer(*arguments) if callable(answer) else answer

        return call


def sequence(fuse: Fuse, *items: Any) -> Node:
    return Node(
        fuse,
        size=len(items),
        apply=lambda index: items[index],
        head=lambda: items[0],
        mkString=lambda separator: separator.join(str(item) for item in items),
    )


def mapping(fuse: Fuse, values: Mapping[str, object]) -> Node:
    return Node(
        fuse, mkString=lambda mark: mark.join(f"{name} -> {v}" for name, v in values.items())
    )


def text(fuse: Fuse, value: str) -> Node:
    return Node(fuse, toString=value)


def option(fuse: Fuse, value: Any = None) -> Node:
    return Node(fuse, isDefined=value is not None, get=lambda: value)


def instance(fuse: Fuse, kind: str, **answers: Any) -> Node:
    """An object of a class: ``getClass().getSimpleName()`` is ``kind``."""
    return Node(fuse, getClass=Node(fuse, getSimpleName=kind, getName=f"org.{kind}"), **answers)


def identifier(fuse: Fuse, table: str, database: str | None = None) -> Node:
    return Node(fuse, table=table, database=option(fuse, database))


def metrics(fuse: Fuse, **counts: int) -> Node:
    shown = {n: f"SQLMetric(id: 1, name: Some({n}), value: {c})" for n, c in counts.items()}
    return mapping(fuse, shown)
