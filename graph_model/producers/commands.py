"""Commands: what people do (classify, hide, forget, prune, state naming rules).

Of a command the rows alone: what it takes away, the projector carries out.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

from graph_model.commands import Orders, read_command, translate_command
from graph_model.errors import HeadwaterError
from graph_model.naming import Rules
from graph_model.projection.outcome import PROJECTED, Outcome
from graph_model.projection.projections import Projection, projection_of
from graph_model.store import DocumentKind, StoredDocument


class Commands:
    """A producer, see ``producer.Producer``."""

    kinds = frozenset({DocumentKind.COMMAND})
    additions: frozenset[DocumentKind] = frozenset()
    versions: tuple[object, ...] = ()

    def translator(self, rules: Rules) -> CommandTranslator:  # noqa: ARG002 - commands name ids
        """See ``producer.Producer``."""
        return CommandTranslator()


class CommandTranslator:
    """Translates commands, each alone."""

    def forget(self) -> None:
        """Nothing is remembered."""

    def knows(self, document: StoredDocument) -> bool:  # noqa: ARG002 - the protocol's
        """Never: the body of each command is read."""
        return False

    def project(
        self,
        documents: Sequence[StoredDocument],
        new: Collection[int],  # noqa: ARG002 - a command is one document
        orders: Orders,  # noqa: ARG002 - no command covers another one
    ) -> Projection:
        """See ``producer.Translator``."""
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
