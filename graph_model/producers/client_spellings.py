"""The names of a document as its client spelled them, before any naming rule applies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from graph_model import naming
from graph_model.naming import Rules


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
