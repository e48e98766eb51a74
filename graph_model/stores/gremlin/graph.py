"""``stores.graph.Graph``: reader and writer as one; :func:`open_graph` is the entry."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from graph_model.errors import ConfigurationError
from graph_model.stores.gremlin import traversals
from graph_model.stores.gremlin.connection import Connections, Headers, Limits
from graph_model.stores.gremlin.dialect import DIALECTS, Dialect
from graph_model.stores.gremlin.reader import Reader
from graph_model.stores.gremlin.writer import GremlinWriter


def open_graph(
    url: str,
    *,
    dialect: str | Dialect = "embedded",
    limits: Limits | None = None,
    headers: Headers = dict,
    explain: Callable[[], str | None] = lambda: None,
) -> GremlinGraph:
    """A graph at ``ws://host:port/gremlin`` (or ``wss://``). Connects at the first question.

    ``dialect`` is ``embedded`` or ``neptune``; ``headers`` is called at every handshake (signing);
    ``explain`` returns why a server may be down (``Supervisor.failure``). Raises ConfigurationError
    for an invalid address or dialect.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("ws", "wss") or not parts.hostname:
        raise ConfigurationError(f"{url!r} is no address of a Gremlin server (ws:// or wss://)")
    if isinstance(dialect, str):
        if dialect not in DIALECTS:
            raise ConfigurationError(f"{dialect!r} is no dialect: {', '.join(sorted(DIALECTS))}")
        dialect = DIALECTS[dialect]
    return GremlinGraph(Connections(url, dialect, limits=limits, headers=headers, explain=explain))


class GremlinGraph(Reader, GremlinWriter):
    """``stores.graph.Graph`` on a Gremlin server; safe to use from several threads."""

    forgets = False

    def __init__(self, connections: Connections) -> None:
        Reader.__init__(self, connections)
        GremlinWriter.__init__(self, connections)

    def ping(self) -> None:
        self._connections.submit(traversals.ping(), seconds=5.0)

    def close(self) -> None:
        self._connections.close()

    def catch_up(self) -> None:
        """Nothing: what was not taken is not committed, and written again."""

    def is_whole(self) -> bool:
        return True

    def doubt(self) -> None:
        """Nothing: every process asks the same server."""

    def restore(self, stopping: Callable[[], bool] = lambda: False) -> None:
        """Nothing: the server keeps its elements itself."""
