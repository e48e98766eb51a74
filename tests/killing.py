"""Processes that are killed at a line of their program, without any clean-up."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, Final

_KILLED: Final = 77

Line = tuple[str, int]
"""A file and a line in it."""


def in_another_process(work: Callable[[], None], at: Line | None) -> bool:
    """Do the work in a fork, which is killed at this line; whether it was."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            sys.settrace(_killer(at) if at else None)
            work()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in {0, _KILLED}, code
    return code == _KILLED


def _killer(at: Line) -> Callable[..., Any]:
    def trace(frame: FrameType, event: str, _argument: object) -> Any:
        if frame.f_code.co_filename != at[0]:
            return None
        if event == "line" and frame.f_lineno == at[1]:
            os._exit(_KILLED)
        return trace

    return trace


def lines_of(work: Callable[[], None], watched: tuple[str, ...]) -> list[Line]:
    """Every line of these files and folders that the work comes to, in that order."""
    result: dict[Line, None] = {}

    def trace(frame: FrameType, event: str, _argument: object) -> Any:
        if not frame.f_code.co_filename.startswith(watched):
            return None
        if event == "line":
            result.setdefault((frame.f_code.co_filename, frame.f_lineno))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return list(result)


def make_visible(queue: str) -> None:
    """Let the visibility timeout pass for messages that a killed process had received (moto)."""
    from moto.sqs.models import sqs_backends

    name = queue.rpartition("/")[2]
    for backends in sqs_backends.values():
        for backend in backends.values():
            if (result := backend.queues.get(name)) is not None:
                for message in result._messages:
                    message.change_visibility(0)
                result.pending_messages.clear()
                result.pending_message_groups.clear()
