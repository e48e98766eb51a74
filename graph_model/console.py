"""Shared by the console programs: one call, its exit code, its errors in one line, its counts.

Exit codes: 0 success, 1 failure, 2 a wrong call or setting.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TextIO, TypeVar

from graph_model.errors import ConfigurationError, HeadwaterError


@dataclass(frozen=True, slots=True)
class ProgramCall:
    """One call of a program: its arguments, and the world around it."""

    options: argparse.Namespace
    environment: Mapping[str, str]
    out: TextIO

    def say(self, line: str) -> None:
        """One line, at once: the output may be a pipe."""
        self.out.write(f"{line}\n")
        self.out.flush()


def count_of(number: int, noun: str) -> str:
    """``1, "table" => 1 table``; ``1200, "table" => 1,200 tables``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


_Call = TypeVar("_Call", bound=ProgramCall)


def run_command(program: str, command: Callable[[_Call], int], call: _Call, errors: TextIO) -> int:
    """Run one command; its exit code. ``call.options.debug`` shows where an error came from."""
    try:
        return command(call)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return _closed_pipe()
    except (HeadwaterError, OSError) as error:
        if call.options.debug:
            raise
        errors.write(f"{program}: {_message(error)}\n")
        return 2 if isinstance(error, ConfigurationError) else 1


def _message(error: HeadwaterError | OSError) -> str:
    """``[Errno 2] No such file or directory: '/x'`` => ``/x: No such file or directory``."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _closed_pipe() -> int:
    """``headwater … | head`` closed the pipe: end without a word, also at the last flush."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1
