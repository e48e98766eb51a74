"""Many files that one read lists: one dataset of their folder and pattern.

    ("file:/in/a.csv", … 3,000 of them)      =>  file:/in/*.csv
    the same, read as ``/in/2024-*.csv``     =>  file:/in/2024-*.csv
    ("file:/in/a.csv", "file:/in/b.csv")     =>  stay two

What is told wins: the ``path`` or ``paths`` option of a read keeps the text that Spark expanded. A
list without it folds by folder and suffix, which stay what they are when a file is added.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from graph_model.naming import partitions
from graph_model.naming.rules import DEFAULT_RULES, Rules
from graph_model.naming.uris import DatasetName, normalise

_MOST_TOLD: Final = 1_000


def fold_files(
    sources: Sequence[str], options: Mapping[str, Any], rules: Rules = DEFAULT_RULES
) -> tuple[str, ...]:
    """The sources of one read, with a pattern in the place of the files that it stands for.

    Patterns that name partitions leave the list as it is: its paths tell the values. Idempotent;
    linear in the sources.
    """
    told = _told(sources, options)
    if told and all(_is_pattern(uri, rules) for uri in told if partitions.is_glob(uri)):
        return told
    return _folded(sources, rules)


def folder_of(pattern: DatasetName, rules: Rules = DEFAULT_RULES) -> DatasetName | None:
    """The folder above the first segment with a wildcard, where that is the dataset of files.

    ``s3://b/in/*/x-*.json`` => ``s3://b/in``; None for what is no pattern, or a whole store.
    """
    if pattern.kind != "pattern":
        return None
    scheme, colon, path = pattern.uri.partition(":")
    segments = path.split("/")
    globs = [place for place, segment in enumerate(segments) if partitions.is_glob(segment)]
    above = segments[: globs[0]] if globs else []
    if not colon or not any(above):
        return None
    found = normalise(f"{scheme}:{'/'.join(above)}", pattern.scope, rules)
    if len(found) != 1 or found[0].kind != "file":
        return None
    return replace(found[0], partition_keys=(), partition=None)


# --- what a read tells ---------------------------------------------------------------------------


def _told(sources: Sequence[str], options: Mapping[str, Any]) -> tuple[str, ...]:
    """The paths that the options tell, in the file system of the sources; () for relative ones."""
    named = {name.lower(): value for name, value in options.items()}
    texts = _texts(named.get("paths")) or _texts([named.get("path")])
    if not sources or not any(partitions.is_glob(text) for text in texts):
        return ()
    root = _root(sources[0])
    spelled = [text if _has_scheme(text) else root + text for text in texts if _is_absolute(text)]
    return tuple(dict.fromkeys(spelled)) if len(spelled) == len(texts) else ()


def _texts(told: Any) -> list[str]:
    """``["/a", "/b"]``, as a list or as the JSON that Spark writes; [] for all else."""
    if isinstance(told, str):
        try:
            told = json.loads(told)
        except (ValueError, RecursionError):
            return []
    if not isinstance(told, list) or len(told) > _MOST_TOLD:
        return []
    return told if all(isinstance(text, str) and text for text in told) else []


def _is_absolute(text: str) -> bool:
    return text.startswith("/") or _has_scheme(text)


def _has_scheme(text: str) -> bool:
    return ":" in text.partition("/")[0]


def _root(uri: str) -> str:
    """``s3://b/in/a.csv`` => ``s3://b``, ``file:/in`` => ``file:``."""
    scheme, colon, rest = uri.partition(":")
    if not colon or "/" in scheme:
        return ""
    return f"{scheme}://{rest[2:].partition('/')[0]}" if rest.startswith("//") else f"{scheme}:"


def _is_pattern(uri: str, rules: Rules) -> bool:
    """``/in/*/part-*`` is the pattern ``/in/*``; ``/t/part-*`` and ``/t/dt=*`` are the table."""
    return any(name.kind == "pattern" for name in normalise(uri, "", rules))


# --- what a list shows ---------------------------------------------------------------------------


def _folded(sources: Sequence[str], rules: Rules) -> tuple[str, ...]:
    most = rules.most_files_of_a_folder
    if len(sources) <= most:
        return tuple(sources)
    patterns = {source: _pattern(source, rules) for source in sources}
    counts: defaultdict[str, int] = defaultdict(int)
    for pattern in patterns.values():
        counts[pattern] += 1
    return tuple(
        dict.fromkeys(
            pattern if pattern and counts[pattern] > most else source
            for source, pattern in patterns.items()
        )
    )


def _pattern(source: str, rules: Rules) -> str:
    """``s3://b/in/a.csv.gz`` => ``s3://b/in/*.csv.gz``; "" for what is no data file by its name."""
    if source[:4].lower() in ("jdbc", "http"):
        return ""
    folder, slash, name = source.rpartition("/")
    suffix = _suffix(name.lower(), rules)
    return f"{folder}/*{suffix}" if slash and suffix else ""


def _suffix(name: str, rules: Rules) -> str:
    """Every ending that a data file has: ``.csv.gz``."""
    found = ""
    while ending := next((one for one in rules.data_file_suffixes if name.endswith(one)), ""):
        name, found = name.removesuffix(ending), ending + found
    return found
