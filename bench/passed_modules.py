"""Which modules of the product does a request pass?

    python -m bench.passed_modules

Traced by Python's profiler in one process: a plan from its POST to the journal, and a question
about all columns of a table, five steps upstream. A module counts where one of its functions is
called; to load it does not count. The journal and the catalogue are SQLite in memory, and the graph
is that of the tests: a real one adds modules of ``stores.gremlin`` to the question.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, Final

from flask.testing import FlaskClient

from tests import captures
from tests.e2e.small_client import client_of
from tests.projections import small_headwater

_ROOT: Final = Path(__file__).parents[1]
_PRODUCT: Final = frozenset({
    "api", "aws", "collectors", "graph_model", "pipeline", "spark_agent_config",
})  # fmt: skip
_NOW: Final = 1_900_000_000_000
_FORMER, _TRACED = "a1_curate", "a3_agg"


class _Profiler:
    """Notes the modules, in the order of their first calls, of all threads begun after it."""

    def __init__(self) -> None:
        self._modules: dict[str, None] = {}
        self._begun = False
        threading.setprofile(self._note)

    def passed_by(self, work: Callable[[], object]) -> list[str]:
        """The paths of the modules that ``work`` passes."""
        self._modules.clear()
        self._begun = True
        sys.setprofile(self._note)
        try:
            work()
        finally:
            sys.setprofile(None)
            self._begun = False
        return list(self._modules)

    def _note(self, frame: FrameType, event: str, _argument: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if not self._begun or event != "call" or not path.is_relative_to(_ROOT):
            return
        inside = path.relative_to(_ROOT)
        if inside.parts[0] in _PRODUCT and frame.f_code.co_name != "<module>":
            self._modules[str(inside)] = None


def _post(client: FlaskClient, exchange: captures.Exchange) -> None:
    headers = [
        (name, value)
        for name, value in exchange.headers
        if name not in ("Content-Length", "Connection")
    ]
    path = f"/producer/{exchange.path.rpartition('/')[2]}"
    reply = client.post(path, data=exchange.wire_body, headers=headers)
    assert reply.status_code < 300, reply.text


def _show(title: str, modules: list[str]) -> None:
    print(f"{title}: {len(modules)} modules", *modules, sep="\n  ")


def main() -> None:
    profiler = _Profiler()
    headwater = small_headwater()
    client = client_of(headwater, _NOW)
    for name in (_FORMER, _TRACED):
        for exchange in captures.load(name):
            if exchange.kind == "status":
                continue
            passed = profiler.passed_by(partial(_post, client, exchange))
            if exchange.kind == "plan" and name == _TRACED:
                _show("a plan to the journal", passed)
    headwater.project()
    tables = [item["id"] for item in client.get("/graph/datasets").get_json()["items"]]
    replies: dict[str, int] = {}

    def ask(table: str) -> None:
        query = {"dataset": table, "direction": "upstream", "depth": "5"}
        reply = client.get("/graph/column-lineage", query_string=query)
        replies[table] = len(reply.get_json()["edges"])

    asked = {table: profiler.passed_by(partial(ask, table)) for table in tables}
    table = max(tables, key=replies.__getitem__)
    _show(f"columns of a table, {replies[table]} edges", asked[table])


if __name__ == "__main__":
    main()
