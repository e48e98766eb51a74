r"""Whether two locations of files share data: a function of their URIs alone.

A folder holds what lies below it, a pattern what it matches and what lies below that. A pattern is
read as Hadoop reads it, but for a folder that only a part of an alternative with ``/`` names:

    s3://land/in/orders_*.csv    holds s3://land/in/orders_1.csv, lies in s3://land/in
    s3://land/*/x.csv            shares data with the folder s3://land/in
    s3://land/in/*_1.csv         two patterns meet only in a location that both match

``*`` and ``?`` match no ``/``; ``[a-c]``, ``[^a]``, ``{a,b}`` and ``\*`` are as in Hadoop. What
Hadoop refuses matches nothing.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, takewhile
from typing import Any, Final, NamedTuple

from graph_model.errors import InvalidDocument
from graph_model.naming import partitions
from graph_model.naming.rules import DEFAULT_RULES, Rules
from graph_model.naming.uris import normalise
from graph_model.regular_expressions import check_expression, escape_text, expression_test

#: The folders above a location that count, nearest first: a store's own paths are far shorter.
MOST_FOLDERS: Final = 64
_LONGEST_PATTERN: Final = 2_048  # characters: a longer pattern matches nothing
_SPECIAL: Final = re.compile(r"[*?\[{\\]")
_CLASS: Final = re.compile(r"\[([\^!]?)(\]?(?:[^\]\\]|\\.)*)\]", re.DOTALL)
_IN_CLASS: Final = re.compile(r"\\(.)|([^-])", re.DOTALL)

_Test = Callable[[str], bool]


class Location(NamedTuple):
    """A canonical URI of a file, a folder or a pattern."""

    uri: str
    is_pattern: bool


def literal_prefix(pattern: str) -> str:
    """The text that all matches begin with: ``s3://b/in/a*.csv`` => ``s3://b/in/a``."""
    match = _SPECIAL.search(pattern)
    return pattern[: match.start()] if match else pattern


def begins(location: Location) -> str:
    """The text that the URIs of all locations begin with that this one holds, but for its own."""
    if location.is_pattern:
        return literal_prefix(location.uri)
    return location.uri.rstrip("/") + "/"


def folders_above(location: Location) -> tuple[str, ...]:
    """The folders that hold all of a location, nearest first.

    ``s3://b/in/a*.csv`` => ``s3://b/in``, ``s3://b``; ``file:/in`` => ``file:/``
    """
    text = literal_prefix(location.uri) if location.is_pattern else location.uri
    base = _base(text)
    *above, _ = text[len(base) :].split("/")
    if len(text) <= len(base) and not location.is_pattern:
        return ()  # the store itself
    root = base if base.endswith(":/") else base.removesuffix("/")
    below = [base + path for path in accumulate(above, lambda path, name: f"{path}/{name}")]
    return tuple([*reversed(below), root][:MOST_FOLDERS]) if root else tuple(reversed(below))


def holds(outer: Location, inner: Location) -> bool:
    """Whether one location holds all of another one."""
    if outer == inner:
        return True
    if outer.is_pattern:
        return not inner.is_pattern and _tests(outer.uri)[0](inner.uri)
    text = literal_prefix(inner.uri) if inner.is_pattern else inner.uri
    return text.startswith(begins(outer))


def meets(location: Location, other: Location) -> bool:
    """Whether two locations may share a file."""
    if location.is_pattern and other.is_pattern:
        return location == other
    if holds(location, other) or holds(other, location):
        return True
    pattern, place = (location, other) if location.is_pattern else (other, location)
    return pattern.is_pattern and not _is_file(place.uri) and _tests(pattern.uri)[1](place.uri)


def _is_file(uri: str) -> bool:
    """Whether a name is that of a single file rather than of a folder with matches below."""
    return uri.lower().endswith(DEFAULT_RULES.data_file_suffixes)


def _base(text: str) -> str:
    """The text before the first segment of a path: ``s3://b/``, ``file:/``; "" without one."""
    scheme, colon, rest = text.partition(":")
    if not colon or not rest.startswith("/"):
        return ""
    if not rest.startswith("//"):
        return f"{scheme}:/"
    authority = rest[2:].partition("/")[0]
    return f"{scheme}://{authority}/"


# --- what a pattern matches ----------------------------------------------------------------------


@lru_cache(maxsize=1_024)
def _tests(pattern: str) -> tuple[_Test, _Test]:
    """Whether a pattern holds a URI; and whether the URI is a folder that may hold a match of it,
    or one that it holds.
    """
    segments = _segments(pattern) if len(pattern) <= _LONGEST_PATTERN else None
    if segments is None:
        return _never, _never
    whole = "/".join(segments) + "(?:/.*)?"
    partly = ""
    for segment in reversed(segments):
        partly = f"{segment}(?:/{partly})?" if partly else f"{segment}(?:/.*)?"
    return _test(whole), _test(partly)


def _test(expression: str) -> _Test:
    try:
        check_expression(expression, "pattern")
    except InvalidDocument:
        return _never
    return expression_test(expression, whole=True)


def _never(_: str) -> bool:
    return False


def _segments(pattern: str) -> list[str] | None:
    """The regular expression of each segment of a path; None for a pattern that Hadoop refuses."""
    segments: list[list[str]] = [[]]
    place = depth = 0
    while place < len(pattern):
        character, place = pattern[place], place + 1
        if character == "\\":
            if place == len(pattern):
                return None
            segments[-1].append(escape_text(pattern[place]))
            place += 1
        elif character == "[":
            match = _CLASS.match(pattern, place - 1)
            if match is None:
                return None
            segments[-1].append(_class(match))
            place = match.end()
        elif character == "/" and not depth:
            segments.append([])
        else:
            depth += character == "{"
            segments[-1].append(_expression(character, depth))
            depth -= character == "}" and depth > 0
    return None if depth else ["".join(parts) for parts in segments]


def _expression(character: str, depth: int) -> str:
    """``depth``: the alternatives around the character, its own braces among them."""
    if character == "*":
        return "[^/]*"
    if character == "?":
        return "[^/]"
    inside = {"{": "(?:", "}": ")", ",": "|"} if depth else {}
    return inside.get(character) or escape_text(character)


def _class(match: re.Match[str]) -> str:
    """``[!a-c]`` => ``[^/a-c]``: no class matches a ``/``."""
    inner = _IN_CLASS.sub(lambda part: escape_text(part[1] or part[2]), match[2])
    return f"[^/{inner}]" if match[1] else f"[{inner}]"


# Many files that one read lists: one dataset of their folder and pattern.
#
#     ("file:/in/o-1.csv", … 3,000 of them)    =>  file:/in/o-*.csv
#     the same, read as ``/in/o-*``            =>  file:/in/o-*
#     ("file:/in/a.csv", "file:/in/b.csv")     =>  stay two
#     ("file:/a/dt=1", "file:/b/dt=1")         =>  stay two, read as ``/*/dt=1`` or not
#
# The ``path`` or ``paths`` option of a read counts first: it keeps the text that Spark expanded. It
# stands for files. Folders are tables, which others write by their names: they stay. A list without
# such an option folds by folder and suffix, to the text that their names begin with; of such a list
# the names are kept, so that another file of the pattern does not count as read.

_MOST_NAMED: Final = 1_000
#: Of a longer list every file that its pattern matches counts as read.
MOST_LISTED: Final = 1_000
_SEGMENTS_OF_A_PIECE: Final = 8  # part file, date of six directories, table
#: Whether the sources of a read are files or folders, where its producer examined them.
FILES: Final = "files"
FOLDERS: Final = "folders"


def fold_files(
    sources: Sequence[str],
    options: Mapping[str, Any],
    rules: Rules = DEFAULT_RULES,
    roots: Any = None,
) -> tuple[str, ...]:
    """The sources of one read, with files that a pattern selected replaced by the pattern.

    ``roots`` is FILES or FOLDERS where the producer examined the sources; otherwise their names
    distinguish files from folders. Idempotent; linear in the number of sources.
    """
    named = _named_files(sources, options)
    if not named:
        return _folded(sources, rules)
    plain = {uri for uri in named if not partitions.is_glob(uri)}
    listed = set(sources)
    tables = {source for source in listed if source in plain or _is_table(source, roots, rules)}
    if len(_names(tables, rules)) > rules.most_files_of_a_folder:
        return named
    return tuple(sorted(tables if tables == listed else tables.union(named)))


# --- the paths in a read's options ---------------------------------------------------------------


def _named_files(sources: Sequence[str], options: Mapping[str, Any]) -> tuple[str, ...]:
    """The paths in the options, where one is a pattern, in the spelling of the sources."""
    named = {name.lower(): value for name, value in options.items()}
    texts = _texts(named.get("paths")) or _texts([named.get("path")])
    if not sources or not any(partitions.is_glob(text) for text in texts):
        return ()
    relative = [text for text in texts if not text.startswith("/") and not _has_scheme(text)]
    if not relative:
        root = _root(min(sources))
        spelled = {text if _has_scheme(text) else root + text for text in texts}
    elif len(relative) == len(texts) and (folder := _working_folder(sources, texts[0])):
        spelled = {f"{folder}/{text}" for text in texts}
    else:
        return ()
    return tuple(sorted(spelled))


def _texts(value: Any) -> list[str]:
    """``["/a", "/b"]``, as a list or as the JSON that Spark writes; [] for any other value."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return []
    if not isinstance(value, list) or len(value) > _MOST_NAMED:
        return []
    return value if all(isinstance(text, str) and text for text in value) else []


def _working_folder(sources: Sequence[str], text: str) -> str:
    """The base of relative paths, from one of them and a file that it matched; "" if unknown.

    ``in/*.csv`` and ``file:/data/in/a.csv`` => ``file:/data``
    """
    pattern = text.split("/")
    above = (_above(source.split("/"), pattern) for source in sources)
    return min(
        (folder for folder in above if folder), key=lambda folder: (len(folder), folder), default=""
    )


def _above(segments: list[str], pattern: list[str]) -> str:
    """The part before the segments that match the pattern's; "" where they do not match."""
    folder, below = segments[: -len(pattern)], segments[-len(pattern) :]
    pairs = zip(pattern, below, strict=False)
    if not any(folder) or any(a != b for a, b in pairs if not partitions.is_glob(a)):
        return ""
    return "/".join(folder)


def _has_scheme(text: str) -> bool:
    return ":" in text.partition("/")[0]


def _root(uri: str) -> str:
    """``s3://b/in/a.csv`` => ``s3://b``, ``file:/in`` => ``file:``."""
    scheme, colon, rest = uri.partition(":")
    if not colon or "/" in scheme:
        return ""
    return f"{scheme}://{rest[2:].partition('/')[0]}" if rest.startswith("//") else f"{scheme}:"


def _is_table(source: str, roots: Any, rules: Rules) -> bool:
    """Whether a path is a table or a piece of one, and not a single file.

    ``/t/dt=1``, ``/t/part-0.parquet``; ``/t`` where nothing shows that it is a file.
    """
    name = source.rstrip("/").rpartition("/")[2]
    if partitions.is_glob(name):
        return False
    if roots == FOLDERS or _is_piece(source, rules):
        return True
    return roots != FILES and not _suffix(name.lower(), rules)


def _is_piece(source: str, rules: Rules) -> bool:
    """Whether the rules strip the last segment."""
    segments = source.rstrip("/").split("/")[-_SEGMENTS_OF_A_PIECE:]
    return partitions.strip(segments, rules).segments != tuple(segments)


def _names(sources: Iterable[str], rules: Rules) -> set[str]:
    return {name.uri for source in sources for name in normalise(source, "", rules)}


# --- patterns in a list of files -----------------------------------------------------------------


def patterns_of(sources: Iterable[str], rules: Rules) -> dict[str, str]:
    """Source => the pattern of its folder and suffix, for sources with many others of these.

    ``s3://b/in/o-1.csv`` among 30 of them => ``s3://b/in/o-*.csv``.
    """
    listed = dict.fromkeys(sources)
    most = rules.most_files_of_a_folder
    if len(listed) <= most:
        return {}
    alike: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for source in listed:
        if folder_and_suffix := _folder_and_suffix(source, rules):
            alike[folder_and_suffix].append(source)
    patterns: dict[str, str] = {}
    for (folder, suffix), some in alike.items():
        if len(some) > most:
            patterns |= dict.fromkeys(
                some, f"{folder}{_common_prefix(some, folder, suffix)}*{suffix}"
            )
    return patterns


def listed_names(
    reads: Iterable[tuple[Sequence[str], Mapping[str, Any]]], rules: Rules = DEFAULT_RULES
) -> dict[str, frozenset[str]]:
    """Per pattern that stands for lists in these reads (sources, options) what the listed names
    have in the place of its wildcard; nothing of a pattern that a read names, too.

    ``s3://b/in/o-1.csv`` among 30 of them => ``s3://b/in/o-*.csv``: ``1``, …
    """
    varying: defaultdict[str, set[str]] = defaultdict(set)
    named = set[str]()
    for sources, options in reads:
        chosen = _named_files(sources, options)
        patterns = {} if chosen else patterns_of(sources, rules)
        named |= {*chosen, *(source for source in sources if source not in patterns)}
        for source, pattern in patterns.items():
            varying[pattern].add(varying_part(source, pattern))
    return {
        pattern: frozenset(names)
        for pattern, names in varying.items()
        if pattern not in named and len(names) <= MOST_LISTED
    }


def varying_part(file: str, pattern: str) -> str:
    """What the name of a listed file, or of one below it, has in the place of the wildcard."""
    before, _, after = pattern.rpartition("*")
    folder = before.rfind("/") + 1
    name = file[folder:].partition("/")[0]
    return name[len(before) - folder : len(name) - len(after)]


def _folded(sources: Sequence[str], rules: Rules) -> tuple[str, ...]:
    patterns = patterns_of(sources, rules)
    return tuple(dict.fromkeys(patterns.get(source, source) for source in sources))


def _folder_and_suffix(source: str, rules: Rules) -> tuple[str, str] | None:
    """``s3://b/in/a.csv.gz`` => ``s3://b/in/``, ``.csv.gz``; None for a name that is not a data
    file's, and for pieces of a table, which stand for the table.
    """
    if source[:4].lower() in ("jdbc", "http"):
        return None
    folder, slash, name = source.rpartition("/")
    length = len(_suffix(name.lower(), rules))
    if not slash or not length or _is_piece(source, rules):
        return None
    return folder + slash, name[-length:]


def _common_prefix(files: Sequence[str], folder: str, suffix: str) -> str:
    """The text that all names of these files begin with, before a wildcard or the suffix."""
    names = [file[len(folder) : -len(suffix)] for file in files]
    pairs = zip(min(names), max(names), strict=False)
    alike = takewhile(lambda pair: pair[0] == pair[1], pairs)
    return literal_prefix("".join(character for character, _ in alike))


def _suffix(name: str, rules: Rules) -> str:
    """Every ending that a data file has: ``.csv.gz``."""
    suffix = ""
    while ending := next((known for known in rules.data_file_suffixes if name.endswith(known)), ""):
        name, suffix = name.removesuffix(ending), ending + suffix
    return suffix
