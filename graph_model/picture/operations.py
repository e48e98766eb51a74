"""The operations of one plan as its page draws them: pure values, ready to become JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Generic, TypeVar

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


# The fine view of a plan without the steps that only give a name: aliases, views and common table
# expressions are folded into the step whose rows they pass on, which then carries the names.
#
# Pure. A reference to a common table expression stands in a plan as a leaf; here it leads to the
# definition, so that the plan hangs together.


class StepRole(StrEnum):
    """``NAMING`` passes rows on under a name, ``DEFINING`` is a common table expression,
    ``REFERRING`` reads one, ``GATHERING`` holds the definitions and their user, which stands
    behind them or, in some plans, before.
    """

    WORKING = "working"
    NAMING = "naming"
    DEFINING = "defining"
    REFERRING = "referring"
    GATHERING = "gathering"


@dataclass(frozen=True, slots=True)
class ChainStep:
    """``name`` is the alias of a naming step; ``definition`` the key by which a defining step is
    known and a referring step refers to it.
    """

    id: str
    children: tuple[str, ...]
    role: StepRole = StepRole.WORKING
    name: str = ""
    definition: str = ""


@dataclass(frozen=True, slots=True)
class FoldedStep:
    """A step that is kept. ``aliases``: the names under which its rows are used, in the order of
    the plan; ``folded``: ids of the steps inside it.
    """

    id: str
    children: tuple[str, ...]
    aliases: tuple[str, ...]
    folded: tuple[str, ...]


_PASSING: Final = frozenset({StepRole.NAMING, StepRole.DEFINING})


def fold_chains(steps: Sequence[ChainStep]) -> tuple[FoldedStep, ...]:
    """The steps that do work, in the given order, with the others folded into them."""
    known = {step.id: step for step in steps}
    definitions = {
        s.definition: s.id for s in steps if s.role == StepRole.DEFINING and s.definition
    }
    targets = {step.id: _target(step, known, definitions) for step in steps}
    homes = _homes(targets)
    inside: dict[str, list[ChainStep]] = {}
    for step in steps:
        if homes[step.id] != step.id:
            inside.setdefault(homes[step.id], []).append(step)
    kept = (
        FoldedStep(
            step.id,
            tuple(dict.fromkeys(homes.get(child, child) for child in step.children)),
            tuple(dict.fromkeys(folded.name for folded in inside.get(step.id, ()) if folded.name)),
            tuple(folded.id for folded in inside.get(step.id, ())),
        )
        for step in steps
        if homes[step.id] == step.id
    )
    return tuple(_inputs_first(list(kept)))


def _inputs_first(steps: Sequence[FoldedStep]) -> list[FoldedStep]:
    """In the given order, except that a definition comes before its references."""
    known = {step.id: step for step in steps}
    placed: dict[str, FoldedStep] = {}
    opened: set[str] = set()
    for step in steps:
        waiting = [step]
        while waiting:
            at = waiting[-1]
            opened.add(at.id)
            before = next((c for c in at.children if c in known and c not in opened), None)
            if before is not None:
                waiting.append(known[before])
            else:
                placed.setdefault(at.id, waiting.pop())
    return list(placed.values())


def _target(
    step: ChainStep, known: dict[str, ChainStep], definitions: dict[str, str]
) -> str | None:
    """The step into which this one is folded; None: it stays."""
    if step.role in _PASSING and len(step.children) == 1 and step.children[0] in known:
        return step.children[0]
    if step.role == StepRole.REFERRING:
        return definitions.get(step.definition)
    if step.role == StepRole.GATHERING:
        return _user_of(step, known)
    return None


def _user_of(step: ChainStep, known: Mapping[str, ChainStep]) -> str | None:
    """The last child that is no definition; of definitions alone the last."""
    children = [child for child in step.children if child in known]
    users = [child for child in children if known[child].role != StepRole.DEFINING]
    return next(reversed(users or children), None)


def _homes(targets: Mapping[str, str | None]) -> dict[str, str]:
    """Per step the end of its chain; a step whose chain is a circle, in a damaged plan, stays."""
    homes: dict[str, str] = {}
    for start in targets:
        at: str | None = start
        end, passed = start, dict[str, None]()
        while at is not None and at not in homes and at not in passed:
            passed[at] = None
            end, at = at, targets[at]
        if at is not None:
            end = homes.get(at, at)
        is_end = targets[end] is None
        homes |= {step: end if is_end else step for step in passed}
    return homes
