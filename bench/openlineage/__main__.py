"""See the package."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from bench.ingest.__main__ import describe, head, measure
from bench.ingest.service import Service
from bench.openlineage.workload import Workload

_LOGS = "*.db-wal"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.openlineage", description=__doc__)
    parser.add_argument("--jobs", type=int, default=500)
    parser.add_argument("--runs", type=int, default=2, help="repeated runs of every job")
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--rate", type=float, default=150.0, help="events a second at the end")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        with Service(data, {"HEADWATER_GREMLIN_HEAP": "1024"}) as service:
            print(head("event"))
            _measure(service, data, options)
            own, engine = service.resident_megabytes()
            print(f"resident memory: service {own:.0f} MB, engine {engine:.0f} MB")


def _measure(service: Service, data: Path, options: argparse.Namespace) -> None:
    workload, jobs = Workload(options.jobs), range(options.jobs)
    before, logged, events = _disk(data, "*.db"), _disk(data, _LOGS), 0
    for run in range(options.runs + 1):
        load = measure(service, jobs, run, options.concurrency, workload=workload)
        events += load.documents
        print(describe(f"repeated run {run}" if run else "first load", load, 1), flush=True)
    stored, logs = _disk(data, "*.db") - before, _disk(data, _LOGS) - logged
    each, beside = (f"{size / events / 1000:.1f} kB" for size in (stored, logs))
    print(f"disk: {each} an event, and {beside} of logs, which do not grow on", flush=True)
    last, kept = options.runs + 1, {"workload": workload, "rate": options.rate}
    load = measure(service, jobs, last, options.concurrency, **kept)
    print(describe(f"at {options.rate:.0f} a second", load, 1), flush=True)


def _disk(data: Path, files: str) -> int:
    """Bytes of these files in the data folder."""
    return sum(file.stat().st_size for file in data.glob(files))


if __name__ == "__main__":
    main()
