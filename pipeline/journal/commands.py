"""Forget and prune commands, read from the whole journal before the translation."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace

from graph_model import naming
from graph_model.errors import HeadwaterError
from graph_model.naming import Rules
from graph_model.naming.rules_json import read_rules
from graph_model.producers.commands import (
    Command,
    CommandKind,
    Forget,
    Statement,
    collect_effects,
    read_command,
)
from graph_model.producers.producer import CommandEffects


@dataclass(frozen=True, slots=True)
class WorkerCommands:
    """The effects for every subject key; they go to all workers. ``count``: how many there are.

    The service looks forgotten bodies up in its catalogue; here all of them are listed, 64
    characters each, at most 5,000 a command.
    """

    rules: Rules
    effects: CommandEffects
    count: int


def read_commands_in_force(bodies: Iterable[tuple[str, bytes]]) -> WorkerCommands:
    """The effects of all commands, from their content hashes and bodies.

    An unreadable one has no effect, and the translation sets it aside like any other.
    """
    # By time, then hash: of several about one thing at one time every worker takes the same.
    read = ((command, content) for content, body in bodies if (command := _read(body)) is not None)
    commands = [command for command, _ in sorted(read, key=lambda one: (one[0].at, one[1]))]
    forgotten = frozenset(
        content
        for command in commands
        if isinstance(command.instruction, Forget)
        for content in command.instruction.documents
    )
    effects = replace(collect_effects(commands), forgotten=forgotten)
    return WorkerCommands(rules_of(commands), effects, len(commands))


def _read(body: bytes) -> Command | None:
    try:
        return read_command(json.loads(body))
    except (HeadwaterError, ValueError):
        return None


def rules_of(commands: Iterable[Command]) -> Rules:
    """The naming rules of the last command with rules; the defaults without one."""
    found = [rules for command in commands if (rules := _rules(command)) is not None]
    return found[-1] if found else naming.DEFAULT_RULES


def _rules(command: Command) -> Rules | None:
    if command.kind is not CommandKind.RULES or not isinstance(command.instruction, Statement):
        return None
    if command.instruction.value is None:
        return naming.DEFAULT_RULES
    try:
        return read_rules(json.loads(command.instruction.value))
    except (HeadwaterError, ValueError):
        return None
