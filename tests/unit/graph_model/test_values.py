"""Plain values: times on the wire; the line of a failure's text that names its cause."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_model.values import LATEST, cause_line, iso, parse_instant, shortened
from tests.captures import load

SPARK = "org.apache.spark.SparkException: Job aborted: Task 0 (TID 1)\n\tat o.S.x"
WORKER = """Caused by: o.a.s.PythonException: Traceback (most recent call last):
  File "mail.py", line 7, in address
    raise ValueError(f"no mail address for {name}")
    ^^^^^
ValueError: no mail address for ann

\tat org.apache.spark.api.python.BasePythonRunner.read(PythonRunner.scala:572)
\t... 17 more"""
DRIVER = """Traceback (most recent call last):
  File "job.py", line 2, in <module>
    frame.write.parquet(out)
py4j.protocol.Py4JJavaError: An error occurred while calling o44.parquet.
: org.apache.spark.SparkException: Job aborted.
\tat org.apache.spark.x"""
MISSING = "Caused by: java.io.FileNotFoundException: /lake/in\n\tat java.io.y"
CHAINED = """Traceback (most recent call last):
  File "a.py", line 1, in <module>
KeyError: 'ann'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "a.py", line 3, in <module>
LookupError: nobody is called ann
and this is the rest of the message"""
SUPPRESSED = "a.B: first\n\tSuppressed: c.D: closing\n\tCaused by: e.F: inner\nCaused by: g.H: real"


@pytest.mark.parametrize(
    ("error", "line"),
    [
        pytest.param("boom", "boom", id="one line"),
        pytest.param("\n\n  boom  \n at x", "boom", id="the first line with a text"),
        pytest.param("boom\r\nat x", "boom", id="lines of Windows"),
        pytest.param("x" * 400, "x" * 300, id="a long line"),
        pytest.param("", None, id="empty"),
        pytest.param(" \n ", None, id="blank"),
        pytest.param(None, None, id="none"),
        pytest.param(f"{SPARK}\n{WORKER}", "ValueError: no mail address for ann", id="a worker's"),
        pytest.param(
            f"{SPARK}\n{WORKER}\nCaused by: java.io.EOFException\n\tat x",
            "ValueError: no mail address for ann",
            id="a worker's, then Java's",
        ),
        pytest.param(CHAINED, "LookupError: nobody is called ann", id="the last of a chain"),
        pytest.param(f"{SPARK}\n{MISSING}", "java.io.FileNotFoundException: /lake/in", id="Java's"),
        pytest.param(DRIVER, "org.apache.spark.SparkException: Job aborted.", id="py4j's"),
        pytest.param(
            f"{DRIVER}\n{MISSING}", "java.io.FileNotFoundException: /lake/in", id="below py4j's"
        ),
        pytest.param(SUPPRESSED, "g.H: real", id="no cause of a suppressed exception"),
        pytest.param(
            f"{SPARK}\n{MISSING}\n{WORKER[:120]}",
            "java.io.FileNotFoundException: /lake/in",
            id="a traceback that was cut before its exception",
        ),
        pytest.param("Errors: 3\nsee the log", "Errors: 3", id="no trace at all"),
    ],
)
def test_the_line_that_names_the_cause(error: str | None, line: str | None) -> None:
    assert cause_line(error) == line


def test_blank_and_indented_lines_without_end_take_no_second_look() -> None:
    error = "Traceback (most recent call last):\n" * 200 + "  \n \n\n" * 20_000
    assert cause_line(error) == "Traceback (most recent call last):"


def test_the_cause_of_a_failed_function_of_python_as_spark_reports_it() -> None:
    (event,) = next(item for item in load("c_fail_udf") if item.kind == "event").document
    stored = shortened(event["error"])
    assert cause_line(stored) == "ZeroDivisionError: integer division or modulo by zero"


FRAMES = "".join(f"\n\tat org.apache.spark.sql.Plan{number}.execute" for number in range(200))
PYTHON_FRAMES = "".join(f"\n  File 'step.py', line {number}, in step" for number in range(200))


@pytest.mark.parametrize(
    ("error", "line"),
    [
        pytest.param(
            f"{SPARK}{FRAMES}\n{MISSING}", "java.io.FileNotFoundException: /lake/in", id="end"
        ),
        pytest.param(
            f"{SPARK}{FRAMES}\n{MISSING}{FRAMES}\nsee the log",
            "java.io.FileNotFoundException: /lake/in",
            id="a cause far above the end",
        ),
        pytest.param(
            f"{SPARK}{FRAMES}\n{WORKER}{FRAMES}",
            "ValueError: no mail address for ann",
            id="a worker's",
        ),
        pytest.param(
            f"{SPARK}\n{MISSING}{FRAMES}", "java.io.FileNotFoundException: /lake/in", id="beginning"
        ),
        pytest.param(
            f"Traceback (most recent call last):{PYTHON_FRAMES}\nKeyError: 'ann'",
            "KeyError: 'ann'",
            id="below a long traceback",
        ),
        pytest.param("x" * 9_000, "x" * 300, id="one line"),
    ],
)
def test_a_long_error_is_stored_with_the_line_that_names_its_cause(error: str, line: str) -> None:
    stored = shortened(error)
    assert len(stored) <= 4_000
    assert stored.startswith(error[:1_500])
    assert cause_line(stored) == cause_line(error) == line


def test_an_error_that_fits_is_stored_as_it_is() -> None:
    assert shortened("x" * 4_000) == "x" * 4_000


TRACEBACK = "o.a.s.PythonException: Traceback (most recent call last):"
RAISED = "ValueError: amount is negative: -3"


@pytest.mark.parametrize("frames", [1, 10, 25, 50])
@pytest.mark.parametrize("end", ["", "\nDriver stacktrace:", f"\nCaused by: {TRACEBACK}"])
def test_the_exception_below_a_traceback_of_any_length_is_stored(frames: int, end: str) -> None:
    worker = "".join(f'\n  File "worker.py", line {n}, in process' for n in range(frames))
    raised = f"{worker}\n{RAISED}\n{FRAMES}"
    error = f"Job aborted: {TRACEBACK}{raised}{end}{raised if TRACEBACK in end else FRAMES}"
    assert cause_line(shortened(error)) == RAISED


@pytest.mark.parametrize("before", range(1_850, 2_010, 7))
def test_a_cause_near_the_cut_is_stored_whole(before: int) -> None:
    error = f"{'x' * before}\nCaused by: java.io.IOException: {'no space ' * 10}end{FRAMES}"
    assert cause_line(shortened(error)) == f"java.io.IOException: {'no space ' * 10}end"


PIECES = (
    "org.apache.spark.SparkException: Job aborted\n", "\tat o.a.s.X.run(X.scala:7)\n" * 30,
    f"Caused by: {TRACEBACK}\n", "Traceback (most recent call last):\n", f"{RAISED}\n",
    '  File "worker.py", line 5, in process\n' * 20, "Driver stacktrace:\n", "\n", "\r\n",
    "Caused by: java.io.IOException: no space\n", ": org.x.Y: wrapped\n", "x" * 700, "Caused by:  ",
)  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), min_size=5, max_size=40).map("".join))
def test_a_shortened_text_is_bounded_and_has_the_same_cause(error: str) -> None:
    stored = shortened(error)
    assert len(stored) <= 4_000
    if not (cause_line(error) or "").startswith((" ", ": ")):  # no text begins with such a cause
        assert cause_line(stored) == cause_line(error)


def test_a_traceback_among_the_frames_of_another_begins_anew() -> None:
    """Each was read to the end of all of them: 40,000 took a minute."""
    chained = f"Job aborted\n {TRACEBACK}\n  File 1\n {TRACEBACK}\n  File 2\n\n{RAISED}{FRAMES}"
    assert cause_line(chained) == RAISED


MARCH_FIRST = 1_772_352_900_000


@pytest.mark.parametrize(
    "text",
    [
        "1772352900000",
        "2026-03-01T08:15:00.000Z",
        "2026-03-01T08:15:00Z",
        "2026-03-01T08:15Z",
        "2026-03-01T08:15:00",
        "2026-03-01T09:15:00+01:00",
        "2026-03-01T09:15:00 01:00",
        "2026-03-01 08:15:00",
        "2026-03-01T08:15:00.000999Z",
    ],
)
def test_every_spelling_of_a_time_is_the_same_time(text: str) -> None:
    assert parse_instant(text) == MARCH_FIRST


def test_a_date_is_its_midnight_in_utc() -> None:
    assert iso(parse_instant("2026-03-01")) == "2026-03-01T00:00:00.000Z"


@pytest.mark.parametrize(
    "text",
    ["", " ", "now", "-1", "1.5", "1e3", "1969-12-31", "253402300800000", "9" * 400, "2026-13-01"],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        parse_instant(text)


@given(st.integers(min_value=0, max_value=LATEST))
def test_a_written_time_is_read_back(milliseconds: int) -> None:
    assert parse_instant(iso(milliseconds)) == milliseconds
    assert parse_instant(str(milliseconds)) == milliseconds
