"""Forget, prune, retract and statements about the graph, as documents.

A command enters the journal like any other document, with its author and its time, and graph and
catalogue follow from it as they follow from plans and events: dropping them and projecting
everything again gives the same. Three commands change the facts of documents:

- **forget** names bodies by their content hash. A named event is never projected again; a named
  plan counts only for events that are not named, so later runs of a forgotten job are new.
- **prune** names a time for each (job, dataset written): executions before it are not projected,
  nor plans whose executions are all before it.
- **retract** names declarations by their content hash. They are never projected again, and stay
  in the journal: the former declaration, and the author of its retraction, can be read there.

All are facts about sets of documents, so their order does not matter: no command restores the
removals of another. The projector drops bodies from the journal once nothing shows them.

Every other kind is a **statement**: of all statements of a kind about one key the newest is in
force, by its own time and then its id, and one without a value retracts. Layers, classifications,
blocks, hidden nodes, rules of quality (``governance``) and the naming rules
(``projection.projector.rules``) are such.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from graph_model import identity
from graph_model.errors import HeadwaterError, InvalidDocument
from graph_model.facts import CommandRow, Facts, ForgottenRow, merge
from graph_model.json_fields import join
from graph_model.naming import Rules
from graph_model.producers.producer import NO_EFFECTS, CommandEffects, PeoplesProducer, Reported
from graph_model.producers.projections import PROJECTED, Outcome, Projection, projection_of
from graph_model.stores.documents import (
    DocumentKind,
    StoredDocument,
    Submission,
    compact_json,
    content_hash,
    make_submission,
)
from spark_agent_config.masking import mask_text

if TYPE_CHECKING:
    from graph_model.stores.catalogue import Catalogue


COMMAND_KIND: Final = DocumentKind("command")
#: The prefix of a command's subject sorts before all others, so that a rebuild reads first which
#: documents it must leave out.
KEY_PREFIX: Final = "#command/"
RULES_PREFIX: Final = f"{KEY_PREFIX}rules/"
"""Naming rules are found by their subject keys: they must be known before anything is projected."""
VERSION: Final = "1"
MOST_DOCUMENTS: Final = 5_000
"""Bodies that one forget command names; more are split over several commands."""
MOST_CUTOFFS: Final = 5_000
"""Cut-offs of one prune command; more are split likewise."""
MOST_VALUE: Final = 500_000
"""Characters of the value of one statement."""
_MOST_KEY: Final = 50_000  # a column has a URI and a path; an edge two of them
_MOST_TEXT: Final = 2_100  # a name of up to 2,000 characters and its type


class CommandKind(StrEnum):
    FORGET = "forget"
    PRUNE = "prune"
    RETRACT = "retract"
    LAYER = "layer"
    CLASSIFY = "classify"
    BLOCK = "block"
    HIDE = "hide"
    RULES = "rules"
    QUALITY = "quality"


@dataclass(frozen=True, slots=True)
class Forget:
    """``documents`` are content hashes; ``subject_keys`` those whose documents are among them."""

    subject_keys: tuple[str, ...]
    documents: tuple[str, ...]


@dataclass(frozen=True, slots=True, order=True)
class Cutoff:
    """A cutoff: executions of this job that wrote this dataset before ``before`` (epoch ms) are
    pruned.
    """

    namespace: str
    name: str
    scope: str
    uri: str
    before: int

    @property
    def key(self) -> tuple[str, str]:
        """The ids of the job and of the dataset."""
        return (
            identity.job_id(self.namespace, self.name),
            identity.dataset_id(self.scope, self.uri),
        )


@dataclass(frozen=True, slots=True)
class Prune:
    """``drop_bodies``: the journal also deletes the documents of pruned executions."""

    cutoffs: tuple[Cutoff, ...]
    drop_bodies: bool


@dataclass(frozen=True, slots=True)
class Statement:
    """The value of ``key`` from this command's time on: ``value``, the JSON text of an object, or
    None, which withdraws the earlier value.
    """

    kind: CommandKind
    key: str
    value: str | None


@dataclass(frozen=True, slots=True)
class Retract:
    """``documents`` are content hashes of declarations; ``subject_keys`` are the subjects of the
    documents.
    """

    subject_keys: tuple[str, ...]
    documents: tuple[str, ...]


Instruction = Forget | Prune | Retract | Statement


@dataclass(frozen=True, slots=True)
class Command:
    """``at`` is the command's own time (epoch ms); ``target`` is the reference that its author
    wrote.
    """

    author: str
    at: int
    note: str
    target: str
    instruction: Instruction

    @property
    def kind(self) -> CommandKind:
        match self.instruction:
            case Forget():
                return CommandKind.FORGET
            case Prune():
                return CommandKind.PRUNE
            case Retract():
                return CommandKind.RETRACT
            case Statement(kind):
                return kind

    @property
    def key_prefix(self) -> str:
        """The part of the document's subject key before the content hash."""
        return RULES_PREFIX if self.kind is CommandKind.RULES else KEY_PREFIX


def collect_effects(
    commands: Iterable[Command], before: CommandEffects = NO_EFFECTS
) -> CommandEffects:
    """The combined effect of prune and retract commands, in any order, and of those ``before``."""
    pruned, dropped = dict(before.pruned), dict(before.dropped)
    retracted = set(before.retracted)
    # Retention moves the same cut-offs for years, and a key costs two digests.
    keys: dict[tuple[str, ...], tuple[str, str]] = {}
    for command in commands:
        if isinstance(command.instruction, Retract):
            retracted.update(command.instruction.documents)
        if isinstance(command.instruction, Prune):
            moved = (pruned, dropped) if command.instruction.drop_bodies else (pruned,)
            for cutoff in command.instruction.cutoffs:
                named = (cutoff.namespace, cutoff.name, cutoff.scope, cutoff.uri)
                key = keys.get(named) or keys.setdefault(named, cutoff.key)
                for kept in moved:
                    kept[key] = max(cutoff.before, kept.get(key, cutoff.before))
    return replace(before, pruned=pruned, dropped=dropped, retracted=frozenset(retracted))


# --- documents -----------------------------------------------------------------------------------


def write_command(command: Command) -> dict[str, Any]:
    """The document of a command, JSON-able; ``read_command`` reads it back."""
    return {
        "command": command.kind.value,
        "author": command.author,
        "time": command.at,
        "note": command.note,
        "target": command.target,
        **_write_instruction(command.instruction),
    }


def _write_instruction(instruction: Instruction) -> dict[str, Any]:
    if isinstance(instruction, Statement):
        return {
            "key": instruction.key,
            "value": None if instruction.value is None else json.loads(instruction.value),
        }
    if isinstance(instruction, Forget | Retract):
        return {"planIds": list(instruction.subject_keys), "documents": list(instruction.documents)}
    return {
        "dropBodies": instruction.drop_bodies,
        "cutoffs": [
            {"namespace": c.namespace, "name": c.name, "scope": c.scope, "uri": c.uri,
             "before": c.before}
            for c in instruction.cutoffs
        ],
    }  # fmt: skip


def read_command(document: Any) -> Command:
    """A command from its document; raises InvalidDocument naming the invalid field."""
    if not isinstance(document, Mapping):
        raise InvalidDocument("", "a JSON object")
    reader = _READERS.get(str(document.get("command")))
    if reader is None:
        raise InvalidDocument("command", " or ".join(_READERS))
    return Command(
        author=_text(document, "author"),
        at=_whole(document, "time"),
        note=_text(document, "note"),
        target=_text(document, "target"),
        instruction=reader(document),
    )


def _read_forget(document: Mapping[str, Any]) -> Forget:
    return Forget(_texts(document, "planIds"), _read_hashes(document))


def _read_retract(document: Mapping[str, Any]) -> Retract:
    return Retract(_texts(document, "planIds"), _read_hashes(document))


def _read_hashes(document: Mapping[str, Any]) -> tuple[str, ...]:
    hashes = _texts(document, "documents")
    if len(hashes) > MOST_DOCUMENTS:
        raise InvalidDocument("documents", f"at most {MOST_DOCUMENTS:,} content hashes")
    return hashes


def _read_prune(document: Mapping[str, Any]) -> Prune:
    given = document.get("cutoffs")
    if not isinstance(given, list):
        raise InvalidDocument("cutoffs", "a list")
    if len(given) > MOST_CUTOFFS:
        raise InvalidDocument("cutoffs", f"at most {MOST_CUTOFFS:,} of them")
    drop = document.get("dropBodies")
    if not isinstance(drop, bool):
        raise InvalidDocument("dropBodies", "true or false")
    return Prune(
        tuple(_read_cutoff(cutoff, f"cutoffs[{i}]") for i, cutoff in enumerate(given)), drop
    )


def _read_cutoff(value: Any, path: str) -> Cutoff:
    if not isinstance(value, Mapping):
        raise InvalidDocument(path, "a JSON object")
    return Cutoff(
        namespace=_text(value, "namespace", path),
        name=_text(value, "name", path),
        scope=_text(value, "scope", path),
        uri=_text(value, "uri", path),
        before=_whole(value, "before", path),
    )


def write_value(value: Any) -> str:
    """The canonical text of a JSON value."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def _read_statement(document: Mapping[str, Any]) -> Statement:
    key, value = document.get("key"), document.get("value")
    if not isinstance(key, str) or len(key) > _MOST_KEY:
        raise InvalidDocument("key", f"a text of up to {_MOST_KEY:,} characters")
    if value is None:
        return Statement(CommandKind(document["command"]), key, None)
    if not isinstance(value, Mapping):
        raise InvalidDocument("value", "a JSON object or null")
    text = write_value(value)
    if len(text) > MOST_VALUE:
        raise InvalidDocument("value", f"JSON of up to {MOST_VALUE:,} characters")
    return Statement(CommandKind(document["command"]), key, text)


_READERS: Final[dict[str, Callable[[Mapping[str, Any]], Instruction]]] = {
    **dict.fromkeys((kind.value for kind in CommandKind), _read_statement),
    CommandKind.FORGET.value: _read_forget,
    CommandKind.PRUNE.value: _read_prune,
    CommandKind.RETRACT.value: _read_retract,
}


def _text(document: Mapping[str, Any], name: str, path: str = "") -> str:
    value = document.get(name)
    if not isinstance(value, str) or len(value) > _MOST_TEXT:
        raise InvalidDocument(join(path, name), f"a text of up to {_MOST_TEXT:,} characters")
    return value


def _texts(document: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = document.get(name)
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise InvalidDocument(name, "a list of texts")
    return tuple(value)


def _whole(document: Mapping[str, Any], name: str, path: str = "") -> int:
    value = document.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidDocument(join(path, name), "epoch milliseconds")
    return value


# --- facts ---------------------------------------------------------------------------------------


def translate_command(command: Command, content_hash: str) -> Facts:
    """The rows of a command: itself, and for forget one for each body that it names."""
    document = write_command(command)
    if isinstance(command.instruction, Forget):
        document.pop("documents")  # each has a row of its own
    body = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    row = CommandRow(
        content_hash, command.kind.value, command.at, command.author, command.target, body
    )
    named = command.instruction.documents if isinstance(command.instruction, Forget) else ()
    return merge([Facts(rows=(row, *(ForgottenRow(content, content_hash) for content in named)))])


# --- in the catalogue -----------------------------------------------------------------------------


_AT_ONCE: Final = 20  # of up to 5,000 cut-offs each


def recorded_commands(catalogue: Catalogue, kind: CommandKind) -> Iterator[Command]:
    """Some at a time: retention gives one for each thousand runs that go, and they stay."""
    last: CommandRow | None = None
    while rows := catalogue.commands_after(kind.value, last, _AT_ONCE):
        for row in rows:
            yield read_command(json.loads(row.body))
        last = rows[-1]


def recorded_cutoffs(catalogue: Catalogue) -> Mapping[tuple[str, str], int]:
    """Per (job id, dataset id) the latest time (epoch ms) of the prune commands in force."""
    return collect_effects(recorded_commands(catalogue, CommandKind.PRUNE)).pruned


# --- the producer ---------------------------------------------------------------------------------


def submit(command: Command) -> Submission:
    """The journal submission of a command, with secrets in its free texts masked."""
    masked = replace(
        command,
        note=mask_text(command.note),
        target=mask_text(command.target),
    )
    body = compact_json(write_command(masked))
    key = command.key_prefix + content_hash(COMMAND_KIND, VERSION, body)[:32]
    return make_submission(COMMAND_KIND, VERSION, key, "", body)


class Commands(PeoplesProducer):
    """A producer, see ``producer.Producer``."""

    kinds = (COMMAND_KIND,)
    api_versions = (VERSION,)

    def submission(self, reported: Reported) -> Submission:
        return submit(read_command(reported.document))

    def event(self, document: StoredDocument, rules: Rules) -> None:
        """None: a command reports no lineage."""

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
