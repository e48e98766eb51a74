"""The operations of one plan as its page draws them: pure values, ready to become JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from graph_model.picture.layout import Point

Named = TypeVar("Named")


@dataclass(frozen=True, slots=True)
class OutputColumn:
    """An output column of an operation; ``expression`` None: it passes through unchanged."""

    name: str
    type: str | None
    attribute: str
    expression: str | None


@dataclass(frozen=True, slots=True)
class Property:
    """``measured``: in the run that is shown, so it says nothing of the plan."""

    name: str
    text: str
    measured: bool = False


@dataclass(frozen=True, slots=True)
class OperationView(Generic[Named]):
    """``inputs`` and ``outputs`` are ids of operations; ``schema`` None: not reported. Of a folded
    plan: ``aliases`` under which the plan uses the operation, and the names of the ``folded``.
    """

    id: str
    kind: str
    name: str
    label: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    schema: tuple[OutputColumn, ...] | None
    properties: tuple[Property, ...]
    datasets: tuple[Named, ...]
    point: Point | None
    width: float
    height: float
    aliases: tuple[str, ...] = ()
    folded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanInspection(Generic[Named]):
    """Operations, inputs first; ``edges`` follow the data.

    ``cut``: only the first 2,000 operations, or 20,000 columns of them, counted backwards from the
    write, are included.
    """

    operations: tuple[OperationView[Named], ...]
    edges: tuple[tuple[str, str], ...]
    cut: bool
