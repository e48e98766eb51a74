"""The text that a search compares: the name of a row and its whole text, without case."""

from __future__ import annotations

import unicodedata

from graph_model.facts import ColumnRow, DatasetRow, JobRow


def fold(text: str) -> str:
    """Equal for texts that differ only in case or in the Unicode composition of accents.

    ``Straße => strasse``, ``ÉTÉ => été``, as one character or with a combining accent.
    """
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def dataset_text(row: DatasetRow) -> tuple[str, str]:
    return fold(row.name), fold(row.uri)


def job_text(row: JobRow) -> tuple[str, str]:
    return fold(row.name), fold(f"{row.namespace}/{row.name}")


def column_text(row: ColumnRow) -> tuple[str, str]:
    """The name of ``address.street`` is ``street``."""
    path = fold(row.path)
    return path.rpartition(".")[2] or path, path
