"""What a URI carries that is no identity: escapes, logins and secrets, partitions and part files.

    s3://key:secret@lake/%7Et?token=x     =>  s3://lake/~t
    t/dt=2024-01-31/part-00000-….parquet  =>  t, dt=2024-01-31
    t/2024/01/31                          =>  t, year=2024/month=01/day=31
    t/dt=*                                =>  t, key dt, no partition named

Segments that name a partition or a part file are removed from the end; the rest is the dataset.
Literals that differ in every run (dates, timestamps, UUIDs) are masked in texts alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

from graph_model.naming.columns import fold
from graph_model.naming.rules import DEFAULT_RULES, Rules
from graph_model.regular_expressions import match_whole
from spark_agent_config.masking.names import (
    LOGIN_PARAMETERS,
    SIGNATURE_PARAMETERS,
    decoded,
    is_secret_parameter,
    squash,
)
from spark_agent_config.masking.urls import user_info_end

_UNPRINTABLE: Final = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_ESCAPE: Final = re.compile(r"%([0-9A-Fa-f]{2})")
_STRAY_PERCENT: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_UNRESERVED: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def percent(match: re.Match[str]) -> str:
    """A replacement for ``re.sub``: the match percent-encoded byte by byte, lone surrogates
    included.
    """
    return "".join(f"%{byte:02X}" for byte in match.group().encode("utf-8", "surrogatepass"))


def printable(text: str) -> str:
    """Control characters and lone surrogates percent-encoded: every store accepts the others."""
    return _UNPRINTABLE.sub(percent, text)


def without_needless(segment: str) -> str:
    """``%7Ea%2f`` => ``~a%2F``; a segment with a stray percent sign is not encoded, and stays."""
    if "%" not in segment or _STRAY_PERCENT.search(segment):
        return segment
    return _ESCAPE.sub(_needed, segment)


def _needed(match: re.Match[str]) -> str:
    character = chr(int(match[1], 16))
    return character if character in _UNRESERVED else match.group().upper()


# --- logins, secrets, signatures ------------------------------------------------------------------


_LONGEST_SCHEME: Final = 64


def without_secrets(uri: str, rules: Rules) -> str:
    """A URI of an unknown kind without user-info, secret and login parameters;
    otherwise unchanged.
    """
    marker = uri.find("://")
    if 0 <= marker <= _LONGEST_SCHEME and uri[:marker].lower() not in rules.container_schemes:
        start = marker + 3
        uri = uri[:start] + uri[user_info_end(uri, start) :]
    return without_secret_parameters(uri)


def without_secret_parameters(uri: str) -> str:
    """``?a=1&token=x`` => ``?a=1``; a signed query is dropped whole, because it identifies nothing.

    A fragment of settings (``#token=x``) is treated like a query; ``/C#/x`` is not one.
    """
    match = _PARAMETERS.search(uri) if "=" in uri else None
    if match is None:
        return uri
    head, tail = uri[: match.start()], uri[match.start() :]
    pieces = _PARAMETER.findall(tail)
    names = [_name(text) for _, text in pieces]
    if any(squash(decoded(name)) in SIGNATURE_PARAMETERS for name in names):
        return head
    kept = [
        mark + text
        for (mark, text), name in zip(pieces, names, strict=True)
        if not name or not (_is_login(name) or is_secret_parameter(name))
    ]
    if len(kept) == len(pieces):
        return uri
    text = "".join(kept)
    if not text or text[0] == "#":
        return head + text
    return head + match.group() + text[1:]


_FRAGMENT: Final = r"#(?=[\w.\-%]{1,256}=)"
_PARAMETERS: Final = re.compile(rf"[?;]|{_FRAGMENT}")
_PARAMETER: Final = re.compile(rf"([?&;]|{_FRAGMENT})([^?&;#]*(?:(?!{_FRAGMENT})#[^?&;#]*)*)")
_NAME: Final = re.compile(r"[\w.\-%]{1,256}")


def _name(text: str) -> str:
    name, separator, _ = text.partition("=")
    return name if separator and _NAME.fullmatch(name) else ""


def _is_login(name: str) -> bool:
    return squash(decoded(name)) in LOGIN_PARAMETERS


# Spark and Hive write this directory for a null value; it is kept as the name of null.
NULL_PARTITION: Final = "__HIVE_DEFAULT_PARTITION__"

Pair = tuple[str, str | None]


@dataclass(frozen=True, slots=True)
class Stripped:
    """A path without its partition. ``pairs`` are (key, value) in path order, None: unknown."""

    segments: tuple[str, ...]
    pairs: tuple[Pair, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(key for key, _ in self.pairs if key)

    @property
    def partition(self) -> str | None:
        """The canonical text; None when nothing was stripped or a glob leaves a value open."""
        known = [(key, value) for key, value in self.pairs if value is not None]
        if not known or len(known) < len(self.pairs):
            return None
        return partition_text(known)


# --- the canonical text --------------------------------------------------------------------------


def partition_text(pairs: Iterable[tuple[str, str | None]]) -> str:
    """``key=value/key=value``: keys folded as columns are, values decoded.

    Slashes, percent and control characters are escaped, so that the text splits unambiguously. A
    None value is the null partition.
    """
    return "/".join(
        f"{_escaped(fold(key), '=')}={NULL_PARTITION if value is None else _escaped(value)}"
        for key, value in pairs
    )


def partition_pairs(text: str) -> tuple[tuple[str, str | None], ...]:
    """The inverse of :func:`partition_text`; a piece without ``=`` is skipped."""
    pairs = (piece.partition("=") for piece in text.split("/"))
    return tuple(
        (unquote(key), None if value == NULL_PARTITION else unquote(value))
        for key, separator, value in pairs
        if separator
    )


def _escaped(text: str, also: str = "") -> str:
    return re.sub(rf"[%/{also}\x00-\x1f\x7f\ud800-\udfff]", percent, text)


# --- globs ---------------------------------------------------------------------------------------


def is_glob(segment: str) -> bool:
    """Whether Hadoop expands it: ``*``, ``?``, ``[…]``, ``{…}``."""
    if "*" in segment or "?" in segment:
        return True
    return _encloses(segment, "[", "]") or _encloses(segment, "{", "}")


def _encloses(segment: str, opening: str, closing: str) -> bool:
    start = segment.find(opening)
    return start >= 0 and segment.find(closing, start) >= 0


# --- stripping segments --------------------------------------------------------------------------


def strip(segments: Iterable[str], rules: Rules = DEFAULT_RULES) -> Stripped:
    """Strip partition segments, part files and metadata from the end of a path."""
    left = _without_metadata(list(segments), rules)
    taken: list[Pair] = []  # last segment first
    folder = ""
    while left:
        if (part := _part_file(left[-1], rules)) is not None:
            folder = part or folder
            left.pop()
        elif (pair := _key_value(left[-1])) is not None:
            taken.append(pair)
            left.pop()
        elif pieces := _pieces(left, rules):
            del left[-pieces:]
        elif dates := _dates(left, rules):
            taken.extend(reversed(dates))
            del left[-len(dates) :]
        elif folder and left[-1] == folder and len(left) > 1:
            folder = ""
            left.pop()
        else:
            break
    return Stripped(tuple(left), tuple(reversed(taken)))


def _without_metadata(segments: list[str], rules: Rules) -> list[str]:
    for index, segment in enumerate(segments):
        if index > 0 and segment.startswith(rules.metadata_folders):
            return segments[:index]
    if len(segments) > 1 and segments[-1].startswith(rules.metadata_files):
        return segments[:-1]
    return segments


def _part_file(segment: str, rules: Rules) -> str | None:
    """None: no part file; otherwise the folder in which its format keeps such files, or ""."""
    parts = rules.part_files
    return next((part.folder for part in parts if match_whole(part.pattern, segment)), None)


_KEY: Final = re.compile(r"[\w%.\- ]{1,128}|\*")


def _key_value(segment: str) -> Pair | None:
    """``dt=2024-01-31`` with its value decoded; a glob value is None, as is a glob key's."""
    if segment.startswith("{") and segment.endswith("}"):
        return _alternatives(segment)
    key, separator, value = segment.partition("=")
    if not separator or not _KEY.fullmatch(key):
        return None
    if key == "*":
        return "", None
    return fold(unquote(key)), None if is_glob(value) else unquote(value)


def _alternatives(segment: str) -> Pair | None:
    """``{dt=1,dt=2}``: one key, several values."""
    keys = {piece.partition("=")[0] for piece in segment[1:-1].split(",") if "=" in piece}
    if len(keys) != 1 or segment.count("=") != segment.count(",") + 1:
        return None
    key = keys.pop()
    return (fold(unquote(key)), None) if _KEY.fullmatch(key) else None


def _pieces(left: list[str], rules: Rules) -> int:
    """The number of last segments that only select files inside the partition before them, or 0.

    Below ``key=value``: globs and data files. Below a date: only globs for any file, because the
    directory of a day often holds files of several datasets.
    """
    count = 0
    while count < len(left) and _chooses_files(left[-1 - count]):
        count += 1
    end = len(left) - count
    before = left[max(0, end - _LONGEST_DATE) : end]
    if count and before and _key_value(before[-1]):
        return count
    if count:
        takes_all = all(_ANY_FILE.fullmatch(segment) for segment in left[end:])
        return count if takes_all and before and _dates(before, rules) else 0
    if len(left) > 1 and left[-1].lower().endswith(rules.data_file_suffixes):
        return 1 if _key_value(left[-2]) else 0
    return 0


_ANY_FILE: Final = re.compile(r"\*{1,2}(?:\.[\w*]{1,32}){0,3}")


def _chooses_files(segment: str) -> bool:
    return is_glob(segment) and _key_value(segment) is None


# --- dates in paths ------------------------------------------------------------------------------

_RANGES: Final = {
    "yyyy": "(?:19|20)[0-9]{2}",
    "MM": "(?:0[1-9]|1[0-2])",
    "dd": "(?:0[1-9]|[12][0-9]|3[01])",
    "HH": "(?:[01][0-9]|2[0-3])",
    "mm": "[0-5][0-9]",
    "ss": "[0-6][0-9]",
}
_LONGEST_DATE: Final = 7  # a date of six directories and a segment below
_NUMBER_OR_GLOB: Final = re.compile(r"[0-9*?\[{]")
_UNIT: Final = re.compile("yyyy|MM|dd|HH|mm|ss")
_JOINTS: Final = {"yyyy": "", "MM": "-", "dd": "-", "HH": "T", "mm": ":", "ss": ":"}
_GLOB_NUMBER: Final = re.compile(r"[0-9*?\[\]{},-]{1,32}")
_GLOB_YEAR: Final = re.compile(r"(?:19|20)[0-9*?\[\]{},-]{1,24}")
_GLOB_DATE: Final = re.compile(r"(?:19|20)[0-9]{2}[-_]?[0-9*?\[\]{},_-]{1,48}")


def _dates(segments: list[str], rules: Rules) -> tuple[Pair, ...] | None:
    """The pairs of the last segments, one each, when they are a date; otherwise None.

    A path that consists of a date keeps it, because otherwise no dataset would be left.
    """
    if not segments or _NUMBER_OR_GLOB.search(segments[-1]) is None:
        return None
    for units, pattern in _date_patterns(rules):
        if len(segments) <= len(units):
            continue
        last = segments[-len(units) :]
        if len(units) > 1 and _is_date_path(last, units):
            keys = dict(rules.date_keys)
            return tuple(
                (keys[unit], None if is_glob(text) else text)
                for unit, text in zip(units, last, strict=True)
            )
        if len(units) == 1 and (match := pattern.fullmatch(last[0])):
            return (_date_leaf(match.groupdict(), rules),)
    if len(segments) > 1 and is_glob(segments[-1]) and _GLOB_DATE.fullmatch(segments[-1]):
        return (("date", None),)
    return None


@lru_cache(maxsize=32)
def _date_patterns(rules: Rules) -> tuple[tuple[tuple[str, ...], re.Pattern[str]], ...]:
    return tuple(
        (
            tuple(text.split("/")),
            re.compile(_UNIT.sub(lambda unit: _named_unit(unit.group()), re.escape(text))),
        )
        for text in rules.date_formats
    )


def _named_unit(unit: str) -> str:
    return f"(?P<{unit}>{_RANGES[unit]})"


def _date_leaf(numbers: dict[str, str], rules: Rules) -> Pair:
    """``20240131`` => ("date", "2024-01-31"): one value for all spellings of a day."""
    units = [unit for unit in _JOINTS if unit in numbers]
    value = "".join(_JOINTS[unit] + numbers[unit] for unit in units)
    return dict(rules.date_leaf_keys).get(units[-1], "date"), value


def _is_date_path(segments: list[str], units: tuple[str, ...]) -> bool:
    """Whether directories are year, month, …; after a literal year globs may stand for numbers."""
    for segment, unit in zip(segments, units, strict=True):
        if re.fullmatch(_RANGES[unit], segment):
            continue
        glob = _GLOB_YEAR if unit == "yyyy" else _GLOB_NUMBER
        if not is_glob(segment) or not glob.fullmatch(segment):
            return False
    return True


# Literals that differ in every run, removed before plans are compared.

_LONGEST_LITERAL = 64  # characters: no date, timestamp or UUID is longer


def stable_text(text: str, rules: Rules = DEFAULT_RULES) -> str:
    """A Spark text without the parts that differ between runs of one logic.

    ``(salary#302L > 5)`` => ``(salary > 5)``; creation times, plan and RDD numbers, object hashes
    and table statistics are removed too. For fingerprints and comparison, never for display of
    data.
    """
    for pattern, replacement, signs in _volatile(rules):
        if any(sign in text for sign in signs):
            text = pattern.sub(replacement, text)
    return text


@lru_cache(maxsize=32)
def _volatile(rules: Rules) -> tuple[tuple[re.Pattern[str], str, tuple[str, ...]], ...]:
    """Patterns, the replacement for a match, and texts of which every match contains one.

    Searching those texts costs a fraction of the pattern.
    """
    patterns = [re.compile(text) for text in rules.volatile_texts]
    return tuple(
        (pattern, r"\g<keep>" if "keep" in pattern.groupindex else "", signs)
        for pattern, signs in zip(patterns, rules.volatile_signs, strict=True)
    )


def mask_literal(
    value: object, data_type: str | None = None, rules: Rules = DEFAULT_RULES
) -> object:
    """A date, timestamp or UUID literal replaced by its kind, so that daily runs share a
    fingerprint.

    A text must match a listed pattern completely. With ``data_type`` (Spark's simpleString) every
    value of a temporal type counts: Spline writes a date as days since 1970. Other values are
    unchanged.
    """
    if value is not None and data_type and (sign := _temporal(rules).get(data_type)):
        return sign
    if isinstance(value, str):
        if len(value) > _LONGEST_LITERAL:
            return value
        return next((sign for pattern, sign in _literals(rules) if pattern.fullmatch(value)), value)
    return value


def _temporal(rules: Rules) -> dict[str, str]:
    return dict(rules.temporal_types)


def _literals(rules: Rules) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern), sign) for pattern, sign in rules.literal_patterns)
