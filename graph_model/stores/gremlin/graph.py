"""``protocols.Graph``: reader and writer as one; :func:`open_graph` is the entry."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from graph_model.errors import ConfigurationError
from graph_model.stores.gremlin import traversals
from graph_model.stores.gremlin.connection import Connections, Headers, Limits
from graph_model.stores.gremlin.dialect import DIALECTS, Dialect
from graph_model.stores.gremlin.reader import Reader
from graph_model.stores.gremlin.writer import GremlinWriter

_CHECKPOINT_SECONDS: Final = 900.0


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
    """``protocols.Graph`` on a Gremlin server; safe to use from several threads."""

    def __init__(self, connections: Connections) -> None:
        Reader.__init__(self, connections)
        GremlinWriter.__init__(self, connections)

    def ping(self) -> None:
        self._connections.submit(traversals.ping(), seconds=5.0)

    def close(self) -> None:
        self._connections.close()

    def save(self, path: Path) -> None:
        """Write the whole graph to ``path`` (``.kryo`` or ``.json``), as a file of the server.

        The embedded engine's affair: it writes only inside its own folder (see server.py), and
        the caller keeps writers away meanwhile. Raises GraphRejected where it is not allowed.
        """
        self._require_checkpoints()
        self._connections.submit(traversals.save(str(path)), seconds=_CHECKPOINT_SECONDS)

    def load(self, path: Path) -> None:
        """Add the file of ``save`` to the graph, which should be empty."""
        self._require_checkpoints()
        self._connections.submit(traversals.load(str(path)), seconds=_CHECKPOINT_SECONDS)

    def _require_checkpoints(self) -> None:
        if not self._connections.dialect.checkpoints:
            raise ConfigurationError(
                f"dialect {self._connections.dialect.name!r} keeps no checkpoints"
            )
