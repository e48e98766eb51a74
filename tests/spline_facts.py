"""All facts of a plan of Spline with its executions in one value, as tests compare them."""

from __future__ import annotations

from collections.abc import Iterable

from graph_model.facts import Facts, merge
from graph_model.producers.spline.documents import ExecutionEvent
from graph_model.producers.spline.executions import translate_execution
from graph_model.producers.spline.plan_logic import PlanDocument
from graph_model.producers.spline.plans import translate_plan


def facts_of_plan(document: PlanDocument, events: Iterable[ExecutionEvent] = ()) -> Facts:
    """All facts of a plan and of its executions."""
    facts, head = translate_plan(document)
    return merge([facts, *(translate_execution(head, event) for event in events)])
