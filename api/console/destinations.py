"""Where a command puts the documents that it takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from api.console.call import Call, now


@contextmanager
def destination_of_documents(
    call: Call, *, direct: bool, route: str, principal: str
) -> Iterator[Any]:
    """The data folder's journal, held, or the running server."""
    from api.destinations import ServerDestination, claimed_journal

    if not direct:
        yield ServerDestination(call.url(), call.api_key())
        return
    with claimed_journal(call.settings(), call.url(), now, route, principal) as journal:
        yield journal
