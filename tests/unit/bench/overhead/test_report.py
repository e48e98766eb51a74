"""The measurement of the listener's cost: its table of samples, and its clocks."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from bench.overhead.measurement import AGAIN, OFF, ON, Clocks, Sample
from bench.overhead.report import TOTAL, as_json, lines, ratio, table
from bench.processes import cpu_of, tree


def samples(query: str, *rounds: tuple[float, float, float]) -> list[Sample]:
    """``rounds`` are the seconds off, on and again; the listener takes 10 ms in each process."""
    return [
        Sample(query, number, mode, Clocks(seconds, 2 * seconds, own, own, 1000 * (mode == ON)))
        for number, taken in enumerate(rounds)
        for mode, seconds in zip((OFF, ON, AGAIN), taken, strict=True)
        for own in (0.51 if mode == ON else 0.5,)
    ]


def test_a_line_has_medians_and_the_ratios_of_each_round() -> None:
    (line,) = lines(samples("q1", (1.0, 1.1, 1.0), (2.0, 2.0, 1.8), (4.0, 4.8, 4.4)))

    assert (line.wall_off, line.wall_on, line.cpu_on) == (2000, 2000, 4000)
    assert str(line.wall_ratio) == "1.100 (1.00-1.20)"
    assert str(line.wall_noise) == "1.000 (0.90-1.10)"
    assert (line.own_python, line.own_jvm) == (pytest.approx(10), pytest.approx(10))
    assert line.sent == 1000


def test_the_last_line_is_the_sum_of_each_round() -> None:
    result = lines([*samples("q1", (1.0, 1.5, 1.0)), *samples("q2", (3.0, 3.5, 3.0))])

    assert [line.query for line in result] == ["q1", "q2", TOTAL]
    assert (result[-1].wall_off, result[-1].wall_on, result[-1].sent) == (4000, 5000, 2000)
    assert "the listener's own CPU: 20 ms a query, sent: 1,000 bytes a query" in table(result)
    assert as_json(result)[2]["wall_ratio"] == [1.25, 1.25, 1.25]


def test_the_median_of_the_queries_is_told_in_milliseconds_and_percent() -> None:
    quick = samples("q1", (0.100, 0.102, 0.101))
    slow = samples("q2", (1.0, 1.04, 1.0)) + samples("q3", (10.0, 12.0, 10.0))
    said = table(lines([*quick, *slow]))
    assert "median of 3 queries: wall +40.0 ms, +4.0 % (without the listener twice: +0.0 %)" in said


def test_a_clock_that_is_too_coarse_says_nothing() -> None:
    assert ratio([0.0, 0.01], [0.0, 0.01]).median == 1.0


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="no /proc on this machine")
def test_the_cpu_time_of_a_process_is_found_with_that_of_its_children() -> None:
    started = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()'])"
    command = [sys.executable, "-c", f"print('up', flush=True); {started}"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as process:  # type: ignore[call-overload]
        process.stdout.readline()
        while len(result := tree(process.pid)) < 2:
            assert process.poll() is None
        assert result[0] == process.pid
        assert result[1] in tree(os.getpid())
        assert process.pid not in tree(os.getpid(), without=[process.pid])
        assert cpu_of(*result) >= 0
        process.communicate(b"\n")
    assert cpu_of(process.pid) == 0
