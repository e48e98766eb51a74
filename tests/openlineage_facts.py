"""All facts of OpenLineage's events in one value, as tests compare them."""

from __future__ import annotations

from collections.abc import Iterable

from graph_model.facts import Facts, merge
from graph_model.naming import DEFAULT_RULES, Rules
from graph_model.producers.openlineage.events.documents import Declaration, RunEvent
from graph_model.producers.openlineage.translate import read_declaration, read_run


def facts_of_run(
    events: Iterable[RunEvent], rules: Rules = DEFAULT_RULES, scope: str = ""
) -> Facts:
    """All facts of one run, those of its plans included."""
    return merge(read_run(events, rules, scope).parts)


def facts_of_declaration(
    event: Declaration, rules: Rules = DEFAULT_RULES, scope: str = ""
) -> Facts:
    """All facts of one declaration of a job or a dataset."""
    return merge(read_declaration(event, rules, scope).parts)
