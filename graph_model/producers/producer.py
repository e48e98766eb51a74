"""The seam of a format: the protocols that it implements, the values that it takes and gives."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from graph_model import labels, naming
from graph_model.facts import ExecutionRow
from graph_model.json_fields import JsonObject
from graph_model.naming import Rules
from graph_model.producers.projections import Projection
from graph_model.stores.documents import DocumentKind, StoredDocument, Submission


@dataclass(frozen=True, slots=True)
class SpelledRead:
    """The sources of one read; ``options`` and ``roots`` tell the files that a pattern selected
    (``naming.fold_files``).
    """

    sources: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    roots: Any = None

    def folded(self, rules: Rules) -> tuple[str, ...]:
        """The sources, many files replaced by their pattern."""
        return naming.fold_files(self.sources, self.options, rules, self.roots)


@dataclass(frozen=True, slots=True)
class Spellings:
    """The labels and the name of a job (``naming.job_name``), the URI of its target, its reads."""

    labels: Mapping[str, tuple[str, ...]]
    job: str | None
    target: str
    reads: tuple[SpelledRead, ...]


@dataclass(frozen=True, slots=True)
class CommandEffects:
    """The effect on documents of the commands in force.

    ``pruned`` and ``dropped`` hold, per (job id, dataset id), the time before which executions are
    not projected, and before which the journal also deletes their documents. ``forgotten`` are the
    content hashes, among those requested, that a forget command names; ``retracted`` all those that
    a retract command names.
    """

    pruned: Mapping[tuple[str, str], int] = field(default_factory=dict)
    dropped: Mapping[tuple[str, str], int] = field(default_factory=dict)
    forgotten: frozenset[str] = frozenset()
    retracted: frozenset[str] = frozenset()

    def prunes(self, row: ExecutionRow) -> bool:
        """Whether a prune command excludes this execution from the projection."""
        return _covers(self.pruned, row)

    def drops(self, row: ExecutionRow) -> bool:
        """Whether the journal is to delete the document of this execution."""
        return _covers(self.dropped, row)


NO_EFFECTS: Final = CommandEffects()


def _covers(times: Mapping[tuple[str, str], int], row: ExecutionRow) -> bool:
    """Never a declaration: it holds until its author retracts it."""
    if row.plan_id.startswith(labels.DECLARATION_SUBJECT):
        return False
    before = times.get((row.job, row.target)) if times else None
    return before is not None and row.at < before


ProjectAll = Callable[[Sequence[StoredDocument]], Projection]
"""``Translation.project_all`` under the commands in force."""


@dataclass(frozen=True, slots=True)
class Reported:
    """A document as a client wrote it: its kind, the version of its format, its JSON.

    ``where`` is its place inside the value that contains it, "" for the whole value.
    """

    kind: DocumentKind
    api_version: str
    document: Any
    where: str = ""


class Additions(Protocol):
    """Translates documents that only add facts to those of their subject key.

    A new one costs only itself, and a key may have more of them than memory holds.
    """

    def knows(self, document: StoredDocument) -> bool:
        """Whether an addition to this document can be translated without reading it again."""

    def unlearn(self, document: StoredDocument) -> None:
        """The facts of this document were translated and are not written."""

    def suffices(self, document: StoredDocument) -> bool:
        """Whether this addition (with its body) can be translated once the others are known."""

    def project_pieces(
        self,
        others: Sequence[StoredDocument],
        additions: Iterator[StoredDocument],
        project: ProjectAll,
        forgotten: Collection[str],
        batch_size: int,
    ) -> Iterator[Projection]:
        """The facts of the documents of a key, ``batch_size`` additions at a time; their union is
        the whole.

        ``forgotten``: content hashes that a forget command names.
        """


class Translator(Protocol):
    """Translates the documents of one format under one set of rules. No I/O, clock or environment:
    the time of a document's receipt is a value of the document.

    Its caches save time and change no result.
    """

    @property
    def additions(self) -> Additions | None:
        """None where all documents of a key are translated together."""

    def project(
        self, documents: Sequence[StoredDocument], new: Collection[int], effects: CommandEffects
    ) -> Projection:
        """The facts of the documents of one subject key; none of their bodies is damaged.

        ``new`` are the positions of those to translate. A document that cannot be translated is
        reported as failed with its reason; an exception fails all new documents. Documents that
        ``effects`` cover give no facts, and those to delete from the journal are named.
        """

    def forget(self) -> None:
        """Drop the cached values that a command may have changed."""


class Producer(Protocol):
    """One format in which lineage is reported.

    ``kinds`` are its kinds of documents, by the names in lists and in the journal; ``additions``
    are the kinds whose documents only add facts to their subject's, while the others of a subject
    key are translated together. ``from_clients`` is False where people make the documents, over
    HTTP alone: no queue may bring them. ``api_versions`` are the versions that it accepts.
    ``versions`` change when equal documents give other facts.

    ``announced`` are the names under which dispatchers announce its documents, in logs and in the
    headers of messages (``ExecutionPlan``). ``openings`` are the beginnings of documents that a log
    holds without such a name (``{"eventTime"``). ``spelled`` are the kinds with names that the
    preview of naming rules shows.
    """

    @property
    def kinds(self) -> tuple[DocumentKind, ...]: ...

    @property
    def additions(self) -> frozenset[DocumentKind]: ...

    @property
    def from_clients(self) -> bool: ...

    @property
    def api_versions(self) -> tuple[str, ...]: ...

    @property
    def versions(self) -> tuple[object, ...]: ...

    @property
    def announced(self) -> Mapping[str, DocumentKind]: ...

    @property
    def openings(self) -> tuple[str, ...]: ...

    @property
    def spelled(self) -> frozenset[DocumentKind]: ...

    def recognise(self, document: Mapping[str, Any]) -> Sequence[Reported]:
        """The documents that a JSON object in a file or a message is or contains, by its fields; ()
        for none.
        """

    def submission(self, reported: Reported) -> Submission:
        """A validated and masked document, with its subject key and the scope that it names.

        Raises InvalidInput naming the invalid field.
        """

    def event(self, document: StoredDocument, rules: Rules) -> JsonObject | None:
        """The document as the JSON of an event in OpenLineage's words, which pages show for plans
        and runs without a plan document; None where it has none. Raises InvalidDocument.
        """

    def spellings(self, document: StoredDocument) -> Spellings | None:
        """The names in a document of a ``spelled`` kind; None for any other. Raises
        InvalidDocument.
        """

    def translator(self, rules: Rules, clock_tolerance: int) -> Translator:
        """A translator of these documents; several may be in use at once. ``clock_tolerance``: that
        of ``bounds``, in milliseconds.
        """


class PeoplesProducer:
    """What the producers of documents that people make have in common: they come from people or
    from an export of a journal, and no client announces, opens or sends them.
    """

    additions: frozenset[DocumentKind] = frozenset()
    from_clients = False
    versions: tuple[object, ...] = ()
    announced: Mapping[str, DocumentKind] = {}
    openings: tuple[str, ...] = ()
    spelled: frozenset[DocumentKind] = frozenset()

    def recognise(self, document: Mapping[str, Any]) -> Sequence[Reported]:  # noqa: ARG002
        return ()

    def spellings(self, document: StoredDocument) -> None:
        """None: the preview of naming rules shows the names of plans."""
