"""A service's night of retention in a process of its own, which a test kills.

    python -m tests.e2e.retention.retention_process <folder> <now, epoch ms>

Prints a line after each step.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from api.service import Service
from api.serving.upkeep import Upkeep
from graph_model.projection.projector import Projector
from graph_model.retention.policy import RetentionPolicy
from graph_model.stores.catalogue import Generations
from graph_model.stores.database import open_database
from graph_model.stores.journal import Journal
from tests.e2e.small_client import running
from tests.memory_graph import MemoryGraph
from tests.projections import SmallHeadwater

KEEP: Final = RetentionPolicy(runs=5)
STEP: Final = 5
_PAUSE_SECONDS: Final = 0.05


@contextmanager
def headwater_in(folder: Path) -> Iterator[SmallHeadwater]:
    """Journal and catalogue in files, the graph in memory: it is filled at the start."""
    journal = Journal(open_database(folder / "headwater.db"))
    generations = Generations(open_database(folder / "headwater.db"), journal)
    graph = MemoryGraph()
    with running(
        SmallHeadwater(journal, graph, generations, Projector(journal, graph, generations))
    ) as made:
        yield made


def nightly(headwater: SmallHeadwater, now: int) -> Upkeep:
    """The upkeep of a service whose clock stands at this time."""
    small = headwater
    service = Service(small.journal, small.projector, small.graph, small.generations, lambda: now)
    return Upkeep(service, KEEP, most=STEP, sleep=_pause)


def _pause(_: float) -> bool:
    print("step", flush=True)
    time.sleep(_PAUSE_SECONDS)
    return True


if __name__ == "__main__":
    with headwater_in(Path(sys.argv[1])) as started:
        nightly(started, int(sys.argv[2])).look()
