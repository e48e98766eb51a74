"""What does a repeated run cost where there are many jobs, against few?

    python -m bench.repeats --jobs 1000 20000

Requests go through the application into SQLite files, the graph stays in memory: CPU of one process
a run (a plan and its event; a START and a COMPLETE of OpenLineage), when every job has run before.
"""

from __future__ import annotations

import argparse
import time

from bench.disk import Small, sqlite_file
from bench.ingest.clients import Workload
from bench.ingest.workload import Workload as Pairs
from bench.openlineage.workload import Workload as Events


def measure(workload: Workload, jobs: int, runs: int) -> list[float]:
    """CPU milliseconds a run: the first, then each repetition."""
    with sqlite_file() as file:
        small = Small(file)
        result = []
        for run in range(runs + 1):
            began = time.process_time()
            small.run(workload, jobs, run)
            result.append(1000 * (time.process_time() - began) / jobs)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.repeats", description=__doc__)
    parser.add_argument("--jobs", type=int, nargs="+", default=[1_000, 20_000])
    parser.add_argument("--runs", type=int, default=2, help="repeated runs of every job")
    options = parser.parse_args()
    print(f"{'CPU ms a run':<16}{'jobs':>8}{'first':>8}  repeated")
    for name in ("pairs", "events"):
        for jobs in options.jobs:
            workload: Workload = Pairs() if name == "pairs" else Events(jobs)
            first, *repeated = measure(workload, jobs, options.runs)
            listed = " ".join(f"{item:.2f}" for item in repeated)
            print(f"{name:<16}{jobs:>8,}{first:>8.2f}  {listed}", flush=True)


if __name__ == "__main__":
    main()
