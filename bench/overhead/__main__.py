"""The command: see the package's docstring."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.overhead.measurement import Sample, driver
from bench.overhead.report import as_json, lines, table
from bench.overhead.writes import of_jobs, small
from bench.selection import positive, select
from bench.truth import tpch
from graph_model.errors import ConfigurationError


def main(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """0, or 2 when the queries cannot be had."""
    options = _options(arguments)
    try:
        measured = small() if options.small else of_jobs(tpch.queries(environment))
        writes = select(measured, options.only, lambda write: write.name)
    except ConfigurationError as failure:
        sys.stderr.write(f"the queries: {failure}\n")
        return 2
    samples: list[Sample] = []
    with driver(tpch.tables(), busy=options.busy) as running:
        sys.stderr.write("warming up\n")
        for sample in running.rounds(writes, options.rounds):
            if not samples or (samples[-1].round, samples[-1].mode) != (sample.round, sample.mode):
                sys.stderr.write(f"round {sample.round + 1} of {options.rounds}: {sample.mode}\n")
            samples.append(sample)
    result = lines(samples)
    sys.stdout.write(table(result))
    sys.stdout.write(f"load of the machine, last 1, 5, 15 minutes: {os.getloadavg()}\n")
    if options.json:
        options.json.write_text(json.dumps(as_json(result), indent=2) + "\n", encoding="utf-8")
    return 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.overhead",
        description="Run queries that write with the listener and without it, and compare.",
    )
    parser.add_argument("--rounds", type=positive, default=5, help="how often each is run (5)")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--small", action="store_true", help="60 small writes, not TPC-H")
    parser.add_argument("--busy", action="store_true", help="do not wait between queries")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there, too")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
