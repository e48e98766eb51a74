"""Calls into the JVM: any may fail, and a failure is only a missing answer.

A call costs some tenths of a millisecond through py4j, so maps and sequences are fetched as
one string: ``mkString`` gives ``a -> 1␁b -> 2``, joined by a control character.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, Final, TypeVar

Answer = TypeVar("Answer")
_LOG: Final = logging.getLogger(__name__)
_SEPARATOR: Final = "\x01"
_METRIC: Final = re.compile(r"^(?P<name>\w+) -> SQLMetric\(.*value: (?P<value>-?\d+)\)$", re.DOTALL)

#: More leaves, partitions or statements than this are not looked at.
MOST: Final = 200
NO_OPTIONS: Final[Mapping[str, str]] = {}


class Questions:
    """Calls into the JVM; remembers the failed kinds, each logged once, at debug level."""

    def __init__(self) -> None:
        self._unanswered: set[str] = set()

    def ask(self, subject: str, question: Callable[[], Answer], otherwise: Answer) -> Answer:
        """The answer, or ``otherwise`` where the JVM has none."""
        try:
            return question()
        except Exception as error:  # whatever a JVM may raise: the job must not notice
            if subject not in self._unanswered:
                self._unanswered.add(subject)
                _LOG.debug("Spark did not say %s: %s", subject, first_line(error))
            return otherwise

    def ask_quietly(self, question: Callable[[], Answer]) -> Answer | None:
        """The answer to a question that often has none: not worth a line in the log."""
        try:
            return question()
        except Exception:
            return None


def planned_at(execution: Any) -> int:
    """When Spark began to plan a query, epoch ms: its files are newer. Raises py4j's exceptions."""
    return int(execution.tracker().phases().apply("planning").startTimeMs())


def first_line(error: object) -> str:
    """Errors of the JVM carry their stack trace in their text."""
    return str(error).split("\n", 1)[0]


def read_map(scala_map: Any) -> dict[str, str]:
    """A Scala map of strings, in one call."""
    text = str(scala_map.mkString(_SEPARATOR))
    pairs = (item.partition(" -> ") for item in text.split(_SEPARATOR) if item)
    return {name: value for name, arrow, value in pairs if arrow}


def read_list(scala_sequence: Any) -> tuple[str, ...]:
    """A Scala sequence, each item by its ``toString``, in one call."""
    text = str(scala_sequence.mkString(_SEPARATOR))
    return tuple(item for item in text.split(_SEPARATOR) if item)


def read_metrics(scala_map: Any) -> dict[str, int]:
    """``numOutputRows -> SQLMetric(id: 12, name: …, value: 3)`` => ``{"numOutputRows": 3}``."""
    matches = (_METRIC.match(item) for item in read_list(scala_map))
    return {match["name"]: int(match["value"]) for match in matches if match}


def items(scala_sequence: Any) -> Iterator[Any]:
    """The items of a Scala sequence, at most ``MOST`` of them."""
    for index in range(min(int(scala_sequence.size()), MOST)):
        yield scala_sequence.apply(index)


def members(java_collection: Any) -> Iterator[Any]:
    """The items of a Java collection, as many as it has.

    py4j finds the end of an iterator by an exception of the JVM, and PySpark asks the JVM some
    forty times what each exception is: 60 ms, on the path of the job.
    """
    return islice(java_collection, len(java_collection))


def entries(java_map: Any) -> Iterator[tuple[Any, Any]]:
    """Names and values of a Java map, as many as it has; see :func:`members`."""
    return islice(java_map.items(), len(java_map))


def read_java_map(java_map: Any) -> dict[str, str]:
    return {str(name): str(value) for name, value in entries(java_map)}


def class_name(node: Any) -> str:
    return str(node.getClass().getSimpleName())
