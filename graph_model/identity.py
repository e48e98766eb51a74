"""Natural key -> vertex or edge id. Re-delivery is harmless because of this file.

An id is a kind prefix and 128 bits of SHA-256 over the parts of the natural key, written as
``[a-z]+_[0-9a-f]{32}``: ASCII, no ``-`` and no ``::``, so that every engine takes it (Neptune
reserves ``::``, JanusGraph ``-``). The parts are joined unambiguously (JSON array), so that
("a", "bc") and ("ab", "c") differ.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import sha256
from typing import Final

from graph_model import labels

EDGE: Final = "edge"
"""The kind of every edge, whatever its label."""
PREFIXES: Final[dict[str, str]] = {
    labels.DATASET: "ds",
    labels.COLUMN: "col",
    labels.SCHEMA: "sch",
    labels.JOB: "job",
    labels.LOGICAL_PLAN: "lp",
    labels.OPERATION: "op",
    labels.EXECUTION_PLAN: "xp",
    labels.DAY: "day",
    labels.RUN: "run",
    labels.EXECUTION: "ex",
    EDGE: "e",
}
_EDGE_PREFIX: Final = PREFIXES[EDGE]
_KINDS: Final = {prefix: kind for kind, prefix in PREFIXES.items()}
_HEX_LENGTH: Final = 32
_HEX_DIGITS: Final = "0123456789abcdef"
_MOST_TOLD_APART: Final = 64
_DIGITS_TOLD_APART: Final = 12
# Digested values were parsed from JSON or made of values, and hold no circle.
_ENCODER: Final = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, separators=(",", ":"), sort_keys=True
)


def digest(*parts: object) -> str:
    """32 hex digits over JSON-able parts; equal parts, equal digest, on every machine."""
    return _hashed(spelled(parts))


def digest_of_spelled(text: str) -> str:
    """The digest of the one part that is spelled so: ``digest(part)`` of ``spelled(part)``."""
    return _hashed(f"[{text}]")


def spelled(part: object) -> str:
    """One part as JSON."""
    return _ENCODER.encode(part)


def _hashed(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_HEX_LENGTH]


def vertex_id(kind: str, *key: object) -> str:
    """The id of the vertex of this label with this natural key."""
    return f"{PREFIXES[kind]}_{digest(kind, *key)}"


def plan_name(job_name: str, fingerprint: str) -> str:
    """A logical plan's name for people: ``daily`` and ``3f2a9c1b…`` => ``daily 3f2a9c1b``."""
    return f"{job_name} {fingerprint[:8]}"


def logical_plan_id(job_id: str, job_name: str, fingerprint: str) -> str:
    """The id of a logical plan. Its name is hashed, too, although job and fingerprint give it: a
    graph that an older translator wrote has the vertex without a name.
    """
    return vertex_id(labels.LOGICAL_PLAN, job_id, fingerprint, plan_name(job_name, fingerprint))


def edge_id(label: str, out_id: str, in_id: str, *discriminator: object) -> str:
    """The id of the edge ``out_id -label-> in_id``; the discriminator tells parallel ones apart."""
    return f"{_EDGE_PREFIX}_{digest(label, out_id, in_id, *discriminator)}"


def kind_of(identifier: str) -> str | None:
    """The vertex label (or ``edge``) that an id belongs to; None for any other text."""
    prefix, separator, tail = identifier.rpartition("_")
    if not separator or len(tail) != _HEX_LENGTH or tail.strip(_HEX_DIGITS):
        return None
    return _KINDS.get(prefix)


def dataset_id(scope: str, uri: str) -> str:
    """``scope`` is the capture scope for a URI without an authority of its own, else empty."""
    return vertex_id(labels.DATASET, scope, uri)


def column_id(dataset: str, folded_path: str) -> str:
    """``dataset`` is the dataset's id; the path is case-folded already (see naming.fold)."""
    return vertex_id(labels.COLUMN, dataset, folded_path)


def job_id(namespace: str, name: str) -> str:
    return vertex_id(labels.JOB, namespace, name)


def set_text(ids: Iterable[str]) -> str:
    """A set of ids as one short text, 12 hex digits of each: equal sets, equal texts.

    Of two texts one can tell whether one set holds the other; of more than 64 ids only whether
    the sets are equal.
    """
    listed = sorted(set(ids))
    if len(listed) > _MOST_TOLD_APART:
        return digest(*listed)
    return " ".join(key.rpartition("_")[2][:_DIGITS_TOLD_APART] for key in listed)


def subject_id(scope: str, subject_key: str) -> str:
    """A subject: one plan or run with all its executions, as one capture scope reported it."""
    return "sub_" + digest("subject", scope, subject_key)
