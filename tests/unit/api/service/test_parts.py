"""Whether an answer may lack a part of the graph; what several threads keep together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from api.http.errors import Reason
from api.service.parts import GovernanceCache, KeptGovernance, lacking
from api.service.refusals import Refusals
from graph_model.lineage import Partial
from graph_model.naming import DEFAULT_RULES
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


class Overtaken(GovernanceCache):
    """Another thread, which has read an earlier epoch, keeps its statements right after."""

    def __setattr__(self, name: str, kept: KeptGovernance | None) -> None:
        super().__setattr__(name, kept and replace(kept, epoch="earlier"))


def test_a_request_hides_by_the_statements_that_it_has_read() -> None:
    """Else a dataset that was hidden before the request would be shown to it."""
    with headwater() as server:
        catalogue = server.service.generations.current
        read = Overtaken().read(server.journal, catalogue, DEFAULT_RULES)
        assert read.epoch is None


def test_refusals_that_are_kept_at_one_time_are_both_counted() -> None:
    refusals, reason = Refusals(), Reason("invalid", "run: expected an object")

    def beginning() -> bytes:
        refusals.keep("run", reason, "jobs", lambda: b"{}", 1_000)  # another thread's
        return b"{}"

    refusals.keep("run", reason, "jobs", beginning, 1_000)
    assert [row.count for row in refusals.kept(1_000)] == [2]
