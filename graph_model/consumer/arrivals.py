"""What was received after a moment: a list that is frozen there leaves it out.

The catalogue holds nothing of arrival (it is a function of the documents alone), so the journal is
asked, newest first. That costs what has arrived since, which is little while somebody turns pages;
a moment too long ago is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from graph_model import identity, labels
from graph_model.consumer.events import Events, Newcomers
from graph_model.errors import InvalidInput
from graph_model.projection.plans import read_event_document
from graph_model.store import DocumentKind, DocumentState, Journal, StoredDocument, walk_pages
from graph_model.translate.executions import normal_event

MOST_NEWCOMERS: Final = 5_000
_PAGE: Final = 200


def newcomers(journal: Journal, events: Events, moment: int) -> Newcomers:
    """Executions and datasets of documents that were received after ``moment`` (epoch ms).

    Raises InvalidInput where that is more than MOST_NEWCOMERS documents.
    """
    plans: set[tuple[str, str]] = set()
    executions: set[str] = set()
    for number, document in enumerate(_received_after(journal, moment)):
        if number == MOST_NEWCOMERS:
            raise InvalidInput(
                f"asAtTime: expected a time since which at most {MOST_NEWCOMERS:,} documents "
                "were received"
            )
        if document.kind == DocumentKind.PLAN:
            plans.add((document.plan_id, document.content_hash))
        elif document.kind == DocumentKind.EVENT:
            executions.update(_executions_of(journal, events, document.position))
    return Newcomers(frozenset(executions), events.datasets_only_of(plans))


def _received_after(journal: Journal, moment: int) -> Iterator[StoredDocument]:
    """Clocks may step back a little: a whole page of older ones is the end."""
    for page in walk_pages(lambda cursor: journal.entries(limit=_PAGE, cursor=cursor)):
        later = [document for document in page.items if document.received_at > moment]
        yield from later
        if not later:
            return


def _executions_of(journal: Journal, events: Events, position: int) -> Iterator[str]:
    """The executions that an event stands for: none while it waits, or breaks the protocol."""
    stored = journal.document(position)
    if stored is None or stored.state == DocumentState.FAILED:
        return
    event = read_event_document(stored)
    said = normal_event(event)
    for row in events.executions_at(event.plan_id, event.timestamp):
        own = identity.vertex_id(labels.EXECUTION, row.execution_plan, row.logical_plan, said)
        if own == row.id:
            yield row.id
