"""The destination of the documents that a command reads: the journal, or a running server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from api.console.call import Call
from api.http.times import now
from api.settings import Settings
from graph_model.errors import ConfigurationError

if TYPE_CHECKING:
    from collectors.destinations import Destination, JournalDestination


@contextmanager
def destination_of_documents(
    call: Call, *, direct: bool, route: str, principal: str
) -> Iterator[Destination]:
    """The data folder's journal, held, or the running server."""
    from api.console.journal.posting import ServerDestination

    if not direct:
        yield ServerDestination(call.url(), call.api_key())
        return
    settings = call.settings()
    with _claimed_journal(settings, settings.address, now, route, principal) as journal:
        yield journal


@contextmanager
def _claimed_journal(
    settings: Settings,
    url: str,
    clock: Callable[[], int],
    route: str,
    principal: str,
) -> Iterator[JournalDestination]:
    """The journal of the settings, created if missing. The data folder stays locked meanwhile.

    Raises ConfigurationError, naming the server's address, when a server has locked the folder.
    PostgreSQL lets both write, and a running server projects the new documents.
    """
    from api.serving.storage import claim, opened_storage
    from collectors.destinations import JournalDestination
    from graph_model.stores.opening import open_journal

    with ExitStack() as stack:
        try:
            if not settings.database:
                stack.enter_context(claim(settings.data))
        except ConfigurationError as error:
            raise ConfigurationError(
                f"{error}; a running Headwater takes it: --url {url}"
            ) from error
        database = stack.enter_context(opened_storage(settings, make=True))
        yield JournalDestination(open_journal(database), clock, route, principal)
