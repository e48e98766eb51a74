"""The fastest tests again and again, on a machine whose cores are busy, in random order of files.

    python -m tests.busy [--rounds 10] [--seed 1] [ARGUMENT OF PYTEST…]      (make test-busy)

A test that fails here and not alone depends on the load, on the order, or on chance. Every round
prints a line, and the order of a round is that of its seed. Exits with 1 if any test failed.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

_ROOT: Final = Path(__file__).parents[1]
#: Some ten minutes for two workers beside two busy cores.
FASTEST: Final = ("unit", "contract", "e2e/answers", "e2e/governance", "e2e/http")
_WITHOUT: Final = "not spark and not engine and not browser"
_SPIN: Final = "while True: pass"


@dataclass(frozen=True)
class Round:
    """The seed of the order and the counts of a round; without tests pytest itself broke off."""

    seed: int
    tests: int
    failures: int

    @property
    def failed(self) -> bool:
        return self.failures > 0 or self.tests == 0

    def __str__(self) -> str:
        return f"seed {self.seed}: {self.failures} failures of {self.tests} tests"


def shuffled(files: Sequence[str], seed: int) -> list[str]:
    """The files in the order of a seed, whatever order they come in."""
    order = sorted(files)
    random.Random(seed).shuffle(order)
    return order


def counted(report: Path, seed: int) -> Round:
    """The counts of a report in JUnit's form; errors around a test are failures."""
    if not report.exists():
        return Round(seed, 0, 0)
    suites = list(ElementTree.parse(report).getroot().iter("testsuite"))  # our own file
    counts = [
        {name: int(value) for name, value in suite.items() if value.isdigit()} for suite in suites
    ]
    return Round(
        seed,
        sum(count["tests"] for count in counts),
        sum(count["failures"] + count["errors"] for count in counts),
    )


@contextmanager
def busy_cores(count: int) -> Iterator[None]:
    """A program on each core that does nothing, until the end of the block."""
    with ExitStack() as running:
        for _ in range(count):
            program = running.enter_context(subprocess.Popen([sys.executable, "-c", _SPIN]))
            running.callback(program.kill)
        yield


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.busy", description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    asked, others = parser.parse_known_args(arguments)
    folders = [_ROOT / "tests" / folder for folder in FASTEST]
    files = [str(path.relative_to(_ROOT)) for at in folders for path in at.rglob("test_*.py")]
    rounds: list[Round] = []
    with busy_cores(os.cpu_count() or 1), tempfile.TemporaryDirectory() as folder:
        for seed in range(asked.seed, asked.seed + asked.rounds):
            report = Path(folder) / f"{seed}.xml"
            command = [sys.executable, "-m", "pytest", "-q", "-m", _WITHOUT, f"--junitxml={report}"]
            subprocess.run([*command, *others, *shuffled(files, seed)], cwd=_ROOT, check=False)
            rounds.append(counted(report, seed))
            print(rounds[-1], flush=True)
    print(f"{len(rounds)} rounds on busy cores:", *rounds, sep="\n  ")
    return int(any(each.failed for each in rounds))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
