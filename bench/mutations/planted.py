"""Stands in a tree with planted faults as the module ``planted_faults``, also as pytest's plugin.

``active(7)`` is true where the file ``planted_faults.on`` beside this one says 7, also in a process
that a test gives an environment of its own. Where PLANTED_FAULT_NOTES names a folder, it notes
there which test reached which fault, also from processes that inherit it, and what each test cost.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

_ON = Path(__file__).with_suffix(".on")
_CHOSEN = _ON.read_text("utf-8").strip() if _ON.exists() else ""
# No HEADWATER_…: a service refuses a setting that it does not know.
_NOTES = os.environ.get("PLANTED_FAULT_NOTES", "")
_noted: set[tuple[int, str]] = set()


def active(number: int) -> bool:
    """Whether the fault of this number is on in this process."""
    if _NOTES:
        _note(number, os.environ.get("PYTEST_CURRENT_TEST", ""))
    return str(number) == _CHOSEN


def _note(number: int, test: str) -> None:
    if test and (number, test) not in _noted:
        _noted.add((number, test))
        _append(f"reached-{os.getpid()}", f"{number}\t{test}")


def _append(name: str, line: str) -> None:
    with (Path(_NOTES) / name).open("a", encoding="utf-8") as notes:
        notes.write(line + "\n")


def _cpu() -> float:
    spent = os.times()
    return time.process_time() + spent.children_user + spent.children_system


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    before = _cpu()
    try:
        return (yield)
    finally:
        if _NOTES:
            _append(f"cost-{os.getpid()}", f"{_cpu() - before:.3f}\t{item.nodeid}")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if _NOTES and report.failed:
        _append(f"failed-{os.getpid()}", report.nodeid)
