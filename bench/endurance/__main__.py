"""The command: see the package's docstring."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bench.endurance import __doc__ as description
from bench.endurance.curves import panels
from bench.endurance.lost import find_lost
from bench.endurance.measurement import Course, Endurance
from bench.endurance.picture import draw
from bench.endurance.report import table
from bench.endurance.rhythms import DEFAULT, EXPECTED, read_rhythms
from bench.endurance.samples import State, read_state, write_state
from bench.endurance.year import Year
from bench.ingest.service import Service
from bench.selection import positive

_STATE: Final = "endurance.json"
_PICTURE: Final = "endurance.svg"
_SHOWN: Final = 5
_FULL: Final = (5_000, 1_000_000, 50_000)
_SHORT: Final = (500, 50_000, 10_000)


def main(arguments: Sequence[str]) -> int:
    """0; 1 when something is lost, 2 when it cannot begin."""
    options = _options(arguments)
    try:
        year = Year(options.seed, options.jobs, read_rhythms(options.rhythms))
        state = _begin(options)
    except ValueError as error:
        sys.stderr.write(f"endurance: expected {error}\n")
        return 2
    service = Service(options.folder / "data", {"HEADWATER_GREMLIN_HEAP": str(options.heap)})
    course = Course(options.runs, options.every, options.rounds, options.kill, options.seed)
    file = options.folder / _STATE
    state = Endurance(year, course, service, state, file, _say).run()
    _report(state, options.folder)
    return _look_for_lost(year, state, service) if options.kill else 0


def _begin(options: argparse.Namespace) -> State:
    """Where an earlier call stopped, or a new state. ValueError where that had other arguments."""
    if options.again:
        shutil.rmtree(options.folder, ignore_errors=True)
    options.folder.mkdir(parents=True, exist_ok=True)
    asked = {"seed": options.seed, "jobs": options.jobs, "rhythms": options.rhythms}
    asked |= {"every": options.every, "heap": options.heap}
    file = options.folder / _STATE
    result = read_state(file)
    if result is None:
        write_state(State(asked), file)
        return State(asked)
    if result.asked != asked:
        raise ValueError(f"{result.asked}, with which {options.folder} was begun, or --again")
    if result.sent:
        _say(f"going on after {result.sent:,} runs; --again begins anew")
    return result


def _report(state: State, folder: Path) -> None:
    drawn = panels(state.samples)
    (folder / _PICTURE).write_text(draw(drawn), encoding="utf-8")
    sys.stdout.write(table(drawn))
    _say(f"the samples: {folder / _STATE}, the curves: {folder / _PICTURE}")


def _look_for_lost(year: Year, state: State, service: Service) -> int:
    lost = list(find_lost(year, state.sent, service.export()))
    for key in lost[:_SHOWN]:
        sys.stdout.write(f"LOST: {' '.join(key)}\n")
    sys.stdout.write(f"{state.sent:,} runs acknowledged, {len(lost):,} documents lost\n")
    return 1 if lost else 0


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.endurance",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--short", action="store_true", help="500 jobs, 50,000 runs, a sample each 10,000")
    add("--jobs", type=positive, help="5,000; of the arguments below each wins over --short")
    add("--runs", type=positive, help="1,000,000; a later call with more goes on")
    add("--every", type=positive, help="runs between two samples (50,000)")
    add("--seed", type=int, default=1, help="another estate (1)")
    add("--rhythms", default=DEFAULT, help=f"shares of the jobs ({DEFAULT}): {EXPECTED}")
    add("--rounds", type=positive, default=20, help="how often each question is asked (20)")
    add(
        "--heap",
        type=positive,
        default=2048,
        help="of the engine, MB (default 2048; a service takes 1024)",
    )
    add("--kill", action="store_true", help="kill -9 the service, its engine or both each 15 to 60"
        " seconds, and look in the end for acknowledged documents that are lost")  # fmt: skip
    add("--folder", type=Path, default=Path("build/endurance"), help="the state (build/endurance)")
    add("--again", action="store_true", help="remove the folder and begin anew")
    options = parser.parse_args(arguments)
    defaults = _SHORT if options.short else _FULL
    for name, value in zip(("jobs", "runs", "every"), defaults, strict=True):
        if getattr(options, name) is None:
            setattr(options, name, value)
    return options


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
