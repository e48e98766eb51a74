"""The producer of commands (classify, hide, forget, prune, state naming rules).

It translates a command to its rows alone; the projector carries out the removals.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from graph_model.errors import HeadwaterError
from graph_model.naming import Rules
from graph_model.producers.command_effects import CommandEffects
from graph_model.producers.commands.documents import (
    COMMAND_KIND,
    VERSION,
    read_command,
    translate_command,
)
from graph_model.producers.commands.submissions import submit
from graph_model.producers.producer import Reported
from graph_model.producers.projections import Projection, projection_of
from graph_model.producers.translation_result import PROJECTED, Outcome
from graph_model.stores.protocols import DocumentKind, StoredDocument, Submission


class Commands:
    """A producer, see ``producer.Producer``."""

    kinds = (COMMAND_KIND,)
    additions: frozenset[DocumentKind] = frozenset()
    from_clients = False
    api_versions = (VERSION,)
    versions: tuple[object, ...] = ()
    announced: Mapping[str, DocumentKind] = {}
    openings: tuple[str, ...] = ()
    spelled: frozenset[DocumentKind] = frozenset()

    def recognise(self, document: Mapping[str, Any]) -> Sequence[Reported]:  # noqa: ARG002
        """None: commands come from people or from an export of a journal, never from a producer."""
        return ()

    def submission(self, reported: Reported) -> Submission:
        return submit(read_command(reported.document))

    def event(self, document: StoredDocument, rules: Rules) -> None:
        """None: a command reports no lineage."""

    def spellings(self, document: StoredDocument) -> None:
        """None: a command names ids."""

    def translator(self, rules: Rules, clock_tolerance: int) -> CommandTranslator:  # noqa: ARG002
        """Commands name ids, and the service that writes them gives them their time."""
        return CommandTranslator()


class CommandTranslator:
    """Translates commands, each alone."""

    additions = None

    def forget(self) -> None:
        """A command translator keeps nothing."""

    def project(
        self,
        documents: Sequence[StoredDocument],
        new: Collection[int],  # noqa: ARG002 - a command is one document
        effects: CommandEffects,  # noqa: ARG002 - no command covers another one
    ) -> Projection:
        outcome = Outcome()
        for document in documents:
            try:
                command = read_command(json.loads(document.body))
                facts = translate_command(command, document.content_hash)
            except (HeadwaterError, ValueError) as error:
                outcome.set_aside([document], error)
                continue
            outcome.parts.append(facts)
            outcome.states[document.position] = PROJECTED
        return projection_of(outcome, None, documents)
