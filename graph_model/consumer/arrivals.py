"""What was received after a moment: a list that is frozen there leaves it out.

The catalogue holds nothing of arrival (it is a function of the documents alone), so the journal is
asked, newest first. That costs what has arrived since, which is little while somebody turns pages;
a moment too long ago is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from graph_model import identity, labels
from graph_model.consumer.events import Events, Newcomers
from graph_model.errors import InvalidInput
from graph_model.facts import ExecutionRow
from graph_model.projection.plans import read_event_document
from graph_model.store import DocumentKind, DocumentState, Journal, StoredDocument, walk_pages
from graph_model.translate.executions import normal_event

MOST_NEWCOMERS: Final = 5_000
_PAGE: Final = 200


def newcomers(journal: Journal, events: Events, moment: int) -> Newcomers:
    """Executions and datasets of documents that were received after ``moment`` (epoch ms).

    Raises InvalidInput where that is more than MOST_NEWCOMERS documents.
    """
    late = tuple(islice(_received_after(journal, moment), MOST_NEWCOMERS + 1))
    if len(late) > MOST_NEWCOMERS:
        raise InvalidInput(
            f"asAtTime: expected a time since which at most {MOST_NEWCOMERS:,} documents "
            "were received"
        )
    plans = {(one.plan_id, one.content_hash) for one in late if one.kind == DocumentKind.PLAN}
    told = [one.position for one in late if _tells_execution(one)]
    executions: set[str] = set()
    for start in range(0, len(told), _PAGE):
        executions.update(_executions_of(journal, events, told[start : start + _PAGE]))
    return Newcomers(frozenset(executions), events.datasets_only_of(plans))


def _received_after(journal: Journal, moment: int) -> Iterator[StoredDocument]:
    """Clocks may step back a little: a whole page of older ones is the end."""
    for page in walk_pages(lambda cursor: journal.entries(limit=_PAGE, cursor=cursor)):
        later = [document for document in page.items if document.received_at > moment]
        yield from later
        if not later:
            return


def _tells_execution(document: StoredDocument) -> bool:
    return document.kind == DocumentKind.EVENT and document.state != DocumentState.FAILED


def _executions_of(journal: Journal, events: Events, positions: Sequence[int]) -> Iterator[str]:
    """The executions that events stand for: none while one waits."""
    told = [read_event_document(stored) for stored in journal.documents(positions)]
    at: dict[tuple[str, int], list[ExecutionRow]] = {}
    for row in events.executions_at({(event.plan_id, event.timestamp) for event in told}):
        at.setdefault((row.plan_id, row.at), []).append(row)
    for event in told:
        said = normal_event(event)
        for row in at.get((event.plan_id, event.timestamp), ()):
            own = identity.vertex_id(labels.EXECUTION, row.execution_plan, row.logical_plan, said)
            if own == row.id:
                yield row.id
