"""What people ordered, read from all commands of a journal before anything is translated."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace

from graph_model import naming
from graph_model.commands import (
    Command,
    CommandKind,
    Forget,
    Orders,
    Statement,
    collect_orders,
    read_command,
)
from graph_model.errors import HeadwaterError
from graph_model.naming import Rules
from graph_model.naming.rule_documents import read_rules


@dataclass(frozen=True, slots=True)
class Standing:
    """What holds for every plan id; goes to all workers. ``commands``: how many there are.

    The service asks its catalogue which bodies are forgotten; here all of them are named, 64
    characters each, at most 5,000 a command.
    """

    rules: Rules
    orders: Orders
    commands: int


def read_standing(bodies: Iterable[tuple[str, bytes]]) -> Standing:
    """What all commands say together, from their content hashes and bodies.

    One that cannot be read says nothing, and is set aside by the translation like any other.
    """
    # By time, then hash: of several that speak of one thing at one time everybody takes the same.
    read = ((said, content) for content, body in bodies if (said := _read(body)) is not None)
    commands = [said for said, _ in sorted(read, key=lambda one: (one[0].at, one[1]))]
    forgotten = frozenset(
        content
        for command in commands
        if isinstance(command.order, Forget)
        for content in command.order.documents
    )
    orders = replace(collect_orders(commands), forgotten=forgotten)
    return Standing(rules_of(commands), orders, len(commands))


def _read(body: bytes) -> Command | None:
    try:
        return read_command(json.loads(body))
    except (HeadwaterError, ValueError):
        return None


def rules_of(commands: Iterable[Command]) -> Rules:
    """The naming rules of the last command that says some; the defaults without one."""
    said = [rules for command in commands if (rules := _rules(command)) is not None]
    return said[-1] if said else naming.DEFAULT_RULES


def _rules(command: Command) -> Rules | None:
    if command.kind is not CommandKind.RULES or not isinstance(command.order, Statement):
        return None
    if command.order.value is None:
        return naming.DEFAULT_RULES
    try:
        return read_rules(json.loads(command.order.value))
    except (HeadwaterError, ValueError):
        return None
