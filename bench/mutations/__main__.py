"""Draw faults, note which tests reach them, turn each on, compare two commits."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from bench.mutations import planted
from bench.mutations.faults import SWITCH, Fault, draw, faults_of, plant, present_of

DRAWN: Final = Path(__file__).with_name("drawn.json")
NOTES: Final = "fault-notes"
_RESULT: Final = "faults.json"
_HANG_SECONDS: Final = 300


def main() -> int:
    arguments = _parser().parse_args()
    result: int = arguments.run(arguments)
    return result


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.mutations", description=__doc__)
    commands = parser.add_subparsers(required=True)
    new = commands.add_parser("draw", help="draw faults of this tree anew into drawn.json")
    new.add_argument("--seed", type=int, default=33)
    new.add_argument("--count", type=int, default=60)
    new.add_argument("--mend", action="store_true", help="only in place of those that have gone")
    new.set_defaults(run=draw_anew)
    for name, run, text in (
        (
            "record",
            record,
            "plant the faults in a throwaway checkout and note which tests reach them",
        ),
        ("run", run_each, "turn each fault on and run the tests that reach it, the cheapest first"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("checkout", type=Path, help="a checkout with its .venv; it is changed")
        command.add_argument("arguments", nargs="*", help="for pytest, after --")
        command.add_argument(
            "--seconds", type=float, default=60, help="of processor time for each fault"
        )
        command.add_argument("--only", type=int, nargs="*", help="numbers of faults")
        command.add_argument(
            "--tests", nargs="*", default=[], help="to run where none is noted to reach a fault"
        )
        command.set_defaults(run=run)
    two = commands.add_parser("compare", help="two results of run side by side")
    two.add_argument("before", type=Path)
    two.add_argument("after", type=Path)
    two.set_defaults(run=compare)
    return parser


def draw_anew(arguments: argparse.Namespace) -> int:
    root = Path(__file__).parents[2]
    kept = present_of(root, read_drawn()) if arguments.mend else {}
    new = iter(
        draw(faults_of(root), arguments.seed, arguments.count, tuple(kept.values()))[len(kept) :]
    )
    faults = [kept[number] if number in kept else next(new) for number in range(arguments.count)]
    drawn = {"seed": arguments.seed, "faults": [asdict(fault) for fault in faults]}
    DRAWN.write_text(json.dumps(drawn, indent=1) + "\n", "utf-8")
    print(f"{len(faults) - len(kept)} faults drawn with seed {arguments.seed}: {DRAWN.name}")
    return 0


def read_drawn() -> dict[int, Fault]:
    """Number => fault, as drawn.json has them."""
    listed = json.loads(DRAWN.read_text("utf-8"))["faults"]
    return {number: Fault(**fault) for number, fault in enumerate(listed)}


def record(arguments: argparse.Namespace) -> int:
    """Plant and run the suite once with no fault on; the checkout's own failures are noted too."""
    checkout: Path = arguments.checkout.resolve()
    _check_place(checkout)
    missing = plant(checkout, read_drawn())
    print(f"planted in {checkout}; places that have gone: {missing or 'none'}")
    text = Path(planted.__file__).read_text("utf-8")
    for folder in _folders(checkout):
        (folder / f"{SWITCH}.py").write_text(text, "utf-8")
    (checkout / NOTES).mkdir(exist_ok=True)
    (checkout / NOTES / "missing").write_text(json.dumps(missing), "utf-8")
    chosen = {"PLANTED_FAULT_NOTES": str(checkout / NOTES)}
    return _pytest(checkout, chosen, ["-p", SWITCH, *arguments.arguments]).returncode


def _check_place(checkout: Path) -> None:
    """Raises SystemExit where the environment, or the product that it imports, is another's: a
    copied .venv still has the former place in its scripts and its ``__editable__`` files.
    """
    asked = "import api, sys; print(sys.prefix, api.__path__[0])"
    python = checkout / ".venv" / "bin" / "python"
    said = subprocess.check_output([python, "-c", asked], cwd="/", text=True)
    if said.split() != [str(checkout / ".venv"), str(checkout / "api")]:
        raise SystemExit(f"{python} is of another checkout: {said.strip()}")


def _folders(checkout: Path) -> tuple[Path, ...]:
    """Where the switch stands: whatever a process has on its path, it finds one."""
    return checkout, *checkout.glob(".venv/lib/*/site-packages")


def run_each(arguments: argparse.Namespace) -> int:
    """Each fault alone; adds to faults.json in the checkout's notes, so it can be broken off.
    Called again, it goes on with those that are not caught yet, with more ``--seconds`` perhaps.
    """
    checkout: Path = arguments.checkout.resolve()
    notes = checkout / NOTES
    missing = set(json.loads((notes / "missing").read_text("utf-8")))
    reached, costs = read_reached(notes), _costs(notes)
    place = notes / _RESULT
    results: dict[str, Any] = json.loads(place.read_text("utf-8")) if place.exists() else {}
    for number, fault in read_drawn().items():
        wanted = arguments.only is None or number in arguments.only
        if number in missing or not wanted or results.get(str(number), {}).get("caught"):
            continue
        tests, left_out = _affordable(reached.get(number, []), costs, arguments.seconds)
        tests = tests or arguments.tests
        results[str(number)] = {**_caught(checkout, number, tests, arguments.arguments),
                                "tests": len(tests), "leftOut": left_out}  # fmt: skip
        place.write_text(json.dumps(results, indent=1) + "\n", "utf-8")
        print(f"{number:3} {fault.path} {fault.function}: {results[str(number)]}", flush=True)
    return 0


def read_reached(notes: Path) -> dict[int, list[str]]:
    """Number => tests that reach it. What a fixture reaches, every test of its file may show."""
    failed = {line for path in notes.glob("failed-*") for line in path.read_text().splitlines()}
    by_file: dict[str, list[str]] = defaultdict(list)
    for test in _costs(notes):
        by_file[test.split("::")[0]].append(test)
    reached: dict[int, dict[str, None]] = defaultdict(dict)
    for path in notes.glob("reached-*"):
        for line in path.read_text("utf-8").splitlines():
            number, _, answer = line.partition("\t")
            test, _, phase = answer.rpartition(" (")
            tests = by_file[test.split("::")[0]] if phase == "setup)" else [test]
            reached[int(number)] |= dict.fromkeys(tests)
    return {number: [test for test in tests if test not in failed]
            for number, tests in reached.items()}  # fmt: skip


def _costs(notes: Path) -> dict[str, float]:
    """Test => its seconds of processor time, which do not depend on what else the machine does."""
    lines = [line for path in notes.glob("cost-*") for line in path.read_text().splitlines()]
    return {test: float(seconds) for seconds, test in (line.split("\t", 1) for line in lines)}


def _affordable(
    tests: Sequence[str], costs: Mapping[str, float], seconds: float
) -> tuple[list[str], int]:
    chosen, spent = [], 0.0
    for test in sorted(tests, key=lambda test: costs.get(test, 0.0)):
        spent += costs.get(test, 0.0)
        if spent > seconds:
            break
        chosen.append(test)
    return chosen, len(tests) - len(chosen)


def _caught(
    checkout: Path, number: int, tests: Sequence[str], arguments: Sequence[str]
) -> dict[str, Any]:
    if not tests:
        return {"caught": False, "by": None}
    listed = checkout / NOTES / "tests"
    listed.write_text("\n".join(tests) + "\n", "utf-8")
    options = ["-x", "-q", "-p", "no:cacheprovider", "--timeout=120", f"@{listed}", *arguments]
    switches = [folder / f"{SWITCH}.on" for folder in _folders(checkout)]
    for switch in switches:
        switch.write_text(str(number), "utf-8")
    try:
        done = _pytest(checkout, {}, options, seconds=_HANG_SECONDS)
    except subprocess.TimeoutExpired:
        return {"caught": True, "by": "a hang"}
    finally:
        for switch in switches:
            switch.unlink()
    said = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    # 1 is a failed test, 2 one that cannot be imported; other codes say that none was run, 4 also
    # where a module that cannot be imported leaves the tests that were named without a place.
    caught = done.returncode in (1, 2) or any(line.startswith("ERROR tests/") for line in said)
    return {"caught": caught, "by": said[0][:200] if said else None}


def _pytest(
    checkout: Path, chosen: Mapping[str, str], options: Sequence[str], seconds: float | None = None
) -> subprocess.CompletedProcess[str]:
    python = checkout / ".venv" / "bin" / "python"
    environment = {**os.environ, **chosen, "PYSPARK_PYTHON": str(python)}
    captured = subprocess.PIPE if seconds else None
    return subprocess.run(
        [python, "-m", "pytest", *options],
        cwd=checkout, env=environment, stdout=captured, text=True, check=False, timeout=seconds,
    )  # fmt: skip


def compare(arguments: argparse.Namespace) -> int:
    before, after = (
        json.loads(path.read_text("utf-8")) for path in (arguments.before, arguments.after)
    )
    for number, fault in read_drawn().items():
        verdicts = [_verdict(results.get(str(number))) for results in (before, after)]
        print(
            f"{number:3} {verdicts[0]:8} {verdicts[1]:8} {fault.kind}: {fault.path} {fault.before}"
        )
    for name, results in (("before", before), ("after", after)):
        print(
            f"{name}: {sum(each['caught'] for each in results.values())} caught of {len(results)}"
        )
    lost = [n for n, each in before.items() if each["caught"] and not after.get(n, each)["caught"]]
    print(f"caught before and not after: {', '.join(lost) or 'none'}")
    return bool(lost)


def _verdict(result: Mapping[str, Any] | None) -> str:
    return "gone" if result is None else "caught" if result["caught"] else "missed"


if __name__ == "__main__":
    sys.exit(main())
