"""Commands as the rows of a catalogue hold them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from graph_model.facts import CommandRow
from graph_model.producers.commands.documents import (
    Command,
    CommandKind,
    collect_effects,
    read_command,
)
from graph_model.stores.protocols.statements import StatementLookup

_AT_ONCE: Final = 20  # of up to 5,000 cut-offs each


def recorded_commands(catalogue: StatementLookup, kind: CommandKind) -> Iterator[Command]:
    """Some at a time: retention gives one for each thousand runs that go, and they stay."""
    last: CommandRow | None = None
    while rows := catalogue.commands_after(kind.value, last, _AT_ONCE):
        for row in rows:
            yield read_command(json.loads(row.body))
        last = rows[-1]


def recorded_cutoffs(catalogue: StatementLookup) -> Mapping[tuple[str, str], int]:
    """Per (job id, dataset id) the latest time (epoch ms) of the prune commands in force."""
    return collect_effects(recorded_commands(catalogue, CommandKind.PRUNE)).pruned
