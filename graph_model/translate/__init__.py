"""Documents -> facts. Pure: no I/O, no clock, no environment.

    translate(subject) = translate_plan(plan) + the sum of translate_execution(head, event)

A subject is one plan with its executions, as one capture scope reported it. The steps:

1. name the datasets (naming), the job, the mode and the partitions of the write;
2. derive the columns (columns) and render the operations (expressions), with volatile text and
   date-like literals masked, so that tomorrow's run of the same logic reads the same;
3. gather all of it in one value, :class:`Logic`. Its digest is the fingerprint, so whatever the
   graph says of a logical plan is covered by the plan's id: law 2 of the design holds by
   construction;
4. spell the Logic as vertices, edges and rows.

The fingerprint leaves out what may change while the logic stays: ids, times, the application's
name, labels, the write command's class and path, statistics, session counters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from graph_model import naming
from graph_model.documents import ExecutionEvent
from graph_model.facts import Facts, merge
from graph_model.naming import Rules
from graph_model.translate.executions import day_id, translate_execution
from graph_model.translate.logic import Logic, PlanDocument, read_logic
from graph_model.translate.plans import PlanHead, translate_plan

__all__ = [
    "TRANSLATOR_VERSION",
    "Logic",
    "PlanDocument",
    "PlanHead",
    "Subject",
    "day_id",
    "read_logic",
    "translate",
    "translate_execution",
    "translate_plan",
]

#: Part of the projection epoch: raise it when equal documents must give other facts.
TRANSLATOR_VERSION: Final = 14


@dataclass(frozen=True, slots=True)
class Subject:
    """One plan with its executions."""

    document: PlanDocument
    events: tuple[ExecutionEvent, ...] = ()


def translate(subject: Subject, rules: Rules = naming.DEFAULT_RULES) -> Facts:
    """All facts of a subject: the plan's and those of every execution."""
    facts, head = translate_plan(subject.document, rules)
    return merge([facts, *(translate_execution(head, event, rules) for event in subject.events)])
