"""The promises of a journal, by its users: intake, projector, answers, operators."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Protocol

from graph_model.stores.protocols.documents import (
    Body,
    DocumentKind,
    DocumentState,
    Receipt,
    StoredDocument,
    Submission,
)
from graph_model.stores.protocols.pages import Page

NEW_KEY: Final = "journal_new"
"""A journal's own setting: "true" from when its tables are made until a projector has found nothing
beside it that was made from another journal."""
NO_SETTINGS: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class JournalSummary:
    """Counts of distinct documents: ``received`` is the sum of the others."""

    received: int
    waiting: int
    pending: int
    projected: int
    failed: int


@dataclass(frozen=True, slots=True)
class Backlog:
    """The pending documents: how many, and when the one with the lowest position first came (epoch
    ms; None without any).
    """

    documents: int
    oldest_at: int | None


@dataclass(frozen=True, slots=True)
class JournalStatistics:
    """For operators; ``database_bytes``: of the whole database."""

    documents: dict[tuple[DocumentKind, DocumentState], int]
    backlog: Backlog
    database_bytes: int


@dataclass(frozen=True, slots=True)
class JournalSize:
    """``stored_bytes`` on disk; ``oldest`` and ``newest`` receipt of a document, epoch ms."""

    stored_bytes: int
    oldest: int | None
    newest: int | None


@dataclass(frozen=True, slots=True)
class DocumentsSize:
    """Of some documents together: how many, and the bytes of their bodies."""

    documents: int
    bytes: int


class JournalIntake(Protocol):
    """Takes documents, and makes them durable before a client is answered."""

    def accept(
        self,
        submissions: Sequence[Submission],
        receipt: Receipt,
        *,
        remember: bool = True,
        makes_room: bool = False,
    ) -> tuple[int, ...]:
        """Make documents durable (fsync) in one transaction. Returns their positions, in order.

        With ``remember`` the bytes are recognised by ``recall`` when they come again.

        A document is its (content hash, scope): a repeat adds a receipt, stores no body again and
        keeps its state. A new plan or event starts as PENDING (the projector decides on WAITING).

        Raises DiskNearlyFull while the disk has only its reserve left. Documents with
        ``makes_room`` remove others: they are taken also then.
        """

    def ensure_taking(self) -> None:
        """Raise JournalUnavailable while documents are refused: the last one was, or an attempt
        with the same writes. At most one attempt a second while they succeed. The reserve of a disk
        does not count: it is a refusal by choice, which ends by itself. Raises also once damage of
        the stored data was met, by any reader or writer: it stays until a backup is restored.
        """

    def hold(self, reason: str | None) -> None:
        """Refuse every document of this process with JournalUnavailable; None: no longer."""

    def recall(self, raw_hash: str, scope: str) -> tuple[StoredDocument, ...]:
        """The documents of these very bytes, if they came before (without bodies), or ()."""

    def acknowledge(self, raw_hash: str, scope: str, receipt: Receipt) -> bool:
        """Add receipts for bytes that ``recall`` knows; False when it does not know them. Raises
        DiskNearlyFull as ``accept`` does.
        """

    def forget_bytes(self, mark: str, most: int) -> int:
        """Forget up to ``most`` hashes of bytes that do not begin with the mark: those of processes
        that have ended. How many were found; documents and receipts stay.
        """


class JournalDocuments(Protocol):
    """Documents by subject key and by position; see ``Journal`` for damaged ones."""

    def documents_of(self, subject_key: str) -> tuple[StoredDocument, ...]:
        """The documents of a subject key, of every scope, by position, with bodies."""

    def documents_by_key(
        self, subject_keys: Collection[str]
    ) -> dict[str, tuple[StoredDocument, ...]]:
        """``documents_of`` for each of these subject keys that has documents, all in one go."""

    def newest_documents(
        self, subject_key: str, scope: str, limit: int
    ) -> tuple[StoredDocument, ...]:
        """The newest documents of a subject key in one scope, by position, with bodies."""

    def settled_positions(
        self,
        subject_key: str,
        kinds: Collection[DocumentKind],
        hashes: Collection[str] | None = None,
    ) -> tuple[int, ...]:
        """The positions of all documents of a subject key that have one of these kinds and are not
        PENDING, in order.

        With ``hashes`` only documents with one of these contents.
        """

    def positions_to(
        self, subject_key: str, kinds: Collection[DocumentKind], last: int
    ) -> tuple[int, ...]:
        """The positions of all documents of a subject key that have one of these kinds, in order,
        without fresh ones beyond ``last``.
        """

    def sizes(
        self, subject_keys: Collection[str], kinds: Collection[DocumentKind] | None = None
    ) -> dict[str, DocumentsSize]:
        """The size of all documents of each of these subject keys, or only of documents of these
        kinds. No body is read; a subject key without documents is left out.
        """

    def documents(self, positions: Collection[int]) -> tuple[StoredDocument, ...]:
        """The documents known among these, by position, with bodies."""

    def content_hashes(self, subject_key: str) -> tuple[str, ...]:
        """The content hashes of all documents of a subject key, by position; several scopes may
        share one.
        """

    def outline(
        self,
        subject_keys: Collection[str],
        kinds: Collection[DocumentKind],
        most: int | None = None,
    ) -> dict[str, tuple[StoredDocument, ...]]:
        """Per subject key its documents of these kinds and its PENDING ones, by position, without
        bodies. PENDING documents of other kinds are at most ``most`` for all subject keys together;
        the database chooses which.

        Two requests, whatever the number of subject keys; an unknown one is left out.
        """

    def bodies(self, positions: Collection[int]) -> dict[int, Body]:
        """The bodies of these documents."""

    def document(self, position: int) -> StoredDocument | None:
        """The document at this position. Raises DamagedDocument."""

    def document_of(self, subject_key: str, content_hash: str) -> StoredDocument | None:
        """The document with this subject key and content; of several scopes the first received.

        Raises DamagedDocument.
        """


class JournalSubjects(Protocol):
    """Subject keys and subjects, for the projection."""

    def pending(self, limit: int, first: DocumentKind) -> tuple[str, ...]:
        """Subject keys that have a PENDING document: first those with one of the kind ``first``,
        then the others, each the oldest first.
        """

    def subject_keys(self, after: str, limit: int) -> tuple[str, ...]:
        """All subject keys, in order, from the first one behind ``after`` ("": from the start)."""

    def subject_keys_of(self, subjects: Collection[str]) -> frozenset[str]:
        """The subject keys of these subjects' documents."""

    def count_subject_keys(self) -> int: ...


class ProjectionLease(Protocol):
    """The right of one process to go on projecting, or rebuilding, from round to round. For one
    thread.

    A projector's memory of the graph is valid until another one has written. The lease
    protects nothing: each writer also holds ``JournalStates.projecting``.
    """

    @property
    def is_shared(self) -> bool:
        """Whether another process may ask for it."""

    def take(self) -> bool:
        """Take the lease, or keep it. False while another process has it. A process that dies gives
        it up. Raises JournalUnavailable.
        """

    def give_up(self) -> None:
        """Give up the lease, so that another process may take it."""


class JournalStates(Protocol):
    """The states of documents, and the positions that the projector has come to."""

    def settle(
        self, positions: Collection[int], state: DocumentState, reason: str | None = None
    ) -> None:
        """Set the state of documents."""

    def reopen(
        self,
        *,
        states: Collection[DocumentState],
        subject: str | None = None,
        first: int = 1,
    ) -> int:
        """Set documents in these states back to PENDING (replay, rebuild). Returns how many.

        With ``first`` only documents at this position or after it. Documents that were PROJECTED
        get the reason REOPENED, because their facts may still exist.
        """

    def first_unprojected(self, besides: DocumentKind | None = None) -> int:
        """The position before which nothing is PENDING: that of the oldest such document, else
        the one that the next new document may get. Documents of the kind ``besides`` do not count.
        """

    def newest(self) -> int:
        """The position of the newest document; 0 before the first."""

    def conclude(
        self,
        settlements: Collection[tuple[Collection[int], DocumentState, str | None]],
        dropped: Collection[int] = (),
        settings: Mapping[str, str] = NO_SETTINGS,
    ) -> None:
        """Set the states of documents; remove the dropped ones for good, with their receipts and
        with bodies that no other document has; set ``settings`` as ``set_meta`` does. All of it is
        one transaction; without any change there is none.
        """

    def states(self, positions: Collection[int]) -> dict[int, DocumentState]: ...

    def projecting(self) -> AbstractContextManager[None]:
        """Held during a projection: one projector at a time, in all processes.

        Otherwise one projector could withdraw a fact that another is about to support. Blocks for a
        bounded time while another holds it (ProjectedElsewhere); a process that dies releases it.
        """

    def lease(self) -> ProjectionLease:
        """A lease that is not taken yet."""

    def rebuild_lease(self) -> ProjectionLease:
        """The same for the one process that rebuilds: no other one projects meanwhile."""


class JournalSettings(Protocol):
    """Small durable settings: epochs, the last round."""

    def get_every_meta(self) -> Mapping[str, str]:
        """All settings that ``set_meta`` keeps, at one moment."""

    def get_meta(self, key: str) -> str | None:
        """A small durable setting (projection epoch, graph epoch)."""

    def set_meta(self, key: str, value: str) -> None: ...

    def replace_meta(self, key: str, former: str | None, value: str) -> bool:
        """``set_meta`` where the value is still ``former`` (None: there is none); whether it was:
        of several processes that have read one value, one replaces it.
        """


class JournalContents(Protocol):
    """Lists and counts for operators."""

    def entries(
        self,
        *,
        state: DocumentState | None = None,
        kind: DocumentKind | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[StoredDocument]:
        """Newest first, without bodies."""

    def summary(self) -> JournalSummary: ...

    def backlog(self) -> Backlog:
        """Its cost grows with the pending documents alone: cheap enough for a probe."""

    def size(self) -> JournalSize:
        """A few seeks, whatever the size: cheap enough for every scrape of the metrics."""

    def statistics(self) -> JournalStatistics: ...


class Journal(
    JournalIntake,
    JournalDocuments,
    JournalSubjects,
    JournalStates,
    JournalSettings,
    JournalContents,
    Protocol,
):
    """The documents as they came. Every method is safe from several threads; raises
    JournalUnavailable.

    ``id`` is given to a journal when it is made, and distinguishes it from every other one.

    Every body is compared with its content hash when it is read. A method that reads several
    documents returns a damaged one with its ``damage`` and without its body; one that reads a
    single document raises DamagedDocument.
    """

    @property
    def id(self) -> str: ...

    def close(self) -> None: ...
