"""The destination of the documents that a command reads: the journal, or a running server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from api.console.call import Call
from api.http.times import now


@contextmanager
def destination_of_documents(
    call: Call, *, direct: bool, route: str, principal: str
) -> Iterator[Any]:
    """The data folder's journal, held, or the running server."""
    from collectors.destinations import ServerDestination, claimed_journal

    if not direct:
        yield ServerDestination(call.url(), call.api_key())
        return
    settings = call.settings()
    with claimed_journal(settings, settings.address, now, route, principal) as journal:
        yield journal
