"""What every question to the graph needs: sources, a deadline, honesty while it is behind."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from api.principals import current_principal
from api.service import current_service
from graph_model import identity
from graph_model.answers.sources import Sources
from graph_model.errors import NotFound, Rebuilding
from graph_model.keys import Role

#: How long a walk may take before it answers with what it has.
TIME_LIMIT_MS: Final = 20_000


def current_sources() -> Sources:
    """The stores and rules of the app that answers the current request."""
    service = current_service()
    catalogue = service.catalogue
    kept = service.kept(catalogue)
    return Sources(
        graph=service.graph,
        catalogue=catalogue,
        journal=service.journal,
        rules=service.projector.rules,
        quality_rules=kept.governance.quality_rules,
        structure=kept.structure,
        hidden=kept.governance.hidden,
        opens_hidden=current_principal().may({Role.ADMIN}),
    )


def typed(kind: str, identifier: str) -> str:
    """An id in a path must be of the right kind; anything else is unknown."""
    if identity.kind_of(identifier) != kind:
        raise NotFound(kind, identifier)
    return identifier


def deadline() -> Callable[[], bool]:
    """Tells whether the time for an answer that begins now is over."""
    end = time.monotonic() + TIME_LIMIT_MS / 1000
    return lambda: time.monotonic() > end


def is_rebuilding() -> bool:
    """Whether the graph is behind the journal."""
    return current_service().projector.state == "rebuilding"


@contextmanager
def whole_or_later() -> Iterator[None]:
    """While the graph is behind, what is not found may only not be there yet: 503, not 404."""
    rebuilding = is_rebuilding()
    try:
        yield
    except NotFound as error:
        if rebuilding or is_rebuilding():
            raise Rebuilding(f"{error} yet: the graph is being rebuilt") from error
        raise
