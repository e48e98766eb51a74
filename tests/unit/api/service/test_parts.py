"""Whether an answer may lack a part of the graph."""

from __future__ import annotations

import pytest

from api.service.parts import lacking
from graph_model.lineage import Partial
from tests.e2e.producer_service import headwater


@pytest.mark.parametrize(
    ("state", "forgets", "lack"),
    [
        ("ready", True, None),
        ("rebuilding", False, Partial("rebuilding", 0)),
        ("unavailable", False, None),
        ("unavailable", True, Partial("rebuilding", 0)),
    ],
)
def test_an_answer_is_partial_while_the_graph_may_lack_what_the_catalogue_has(
    *, state: str, forgets: bool, lack: Partial | None
) -> None:
    with headwater() as server, server.app.test_request_context():
        server.projector.state = state
        server.graph.forgets = forgets
        assert lacking() == lack
