"""The line of a failure's text that names its cause.

    org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 3.0 …
        at org.apache.spark.scheduler.DAGScheduler.failJobAndIndependentStages(…)
    Caused by: org.apache.spark.api.python.PythonException: Traceback (most recent call last):
      File "mail.py", line 7, in address
    ValueError: no mail address for ann           <- this one

Spark wraps the exception of a task in several of its own, and the wrappers come first.
"""

from __future__ import annotations

import re
from typing import Final

_LONGEST: Final = 300
_TRACEBACK: Final = "Traceback (most recent call last):"
#: The exception stands below the frames, which are indented.
_RAISED: Final = re.compile(rf"{re.escape(_TRACEBACK)}\n(?:[ \t].*\n|\n)*+(\S.*)")
#: Java's causes; those of a suppressed exception are indented. py4j writes the first without words.
_CAUSE: Final = re.compile(r"^(?:Caused by)?: (.+)", re.MULTILINE)
#: The Python exceptions for an exception of the JVM.
_WRAPPER: Final = "py4j.protocol.Py4JJavaError"


def cause_line(error: str | None) -> str | None:
    """Python's last exception, else Java's last cause, else the first line; None without text.

    At most 300 characters.
    """
    lines = (error or "").strip().splitlines()
    text = "\n".join(lines)
    raised = [line for line in _RAISED.findall(text) if not line.startswith(_WRAPPER)]
    causes = [line for line in _CAUSE.findall(text) if _TRACEBACK not in line]
    last = [*lines[:1], *causes[-1:], *raised[-1:]][-1:]
    return last[0].rstrip()[:_LONGEST] if last else None
