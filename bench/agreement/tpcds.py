"""The TPC-DS queries and tables, and the TPC-H queries, as Spark tests itself with them, read at
run time from its own archive of tests: none is kept here.
"""

from __future__ import annotations

import re
import struct
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

TPCH: Final = "tpch"
FOLDERS: Final = ("tpcds", "tpcds-v2.7.0", "tpcds-modifiedQueries", TPCH)
_ENTRY: Final = re.compile(r"(tpc(?:ds|h)[^/]*)/(\w+)\.sql")
_SCHEMA: Final = "org/apache/spark/sql/TPCDSSchema.class"

# Sizes of the entries of a class file's constant pool, by tag (JVM specification, 4.4).
_SIZES: Final = {3: 5, 4: 5, 5: 9, 6: 9, 7: 3, 8: 3, 9: 5, 10: 5, 11: 5, 12: 5, 15: 4, 16: 3,
                 17: 5, 18: 5, 19: 3, 20: 3}  # fmt: skip
_TEXT: Final = 1
_LONG_OR_DOUBLE: Final = {5, 6}


def read_queries(archive: Path, folder: str = "tpcds") -> list[tuple[str, str]]:
    """The name and the text of each query in one of FOLDERS, in the order of their numbers."""
    with zipfile.ZipFile(archive) as opened:
        result = [
            (match[2], opened.read(name).decode("utf-8"))
            for name in opened.namelist()
            if (match := _ENTRY.fullmatch(name)) and match[1] == folder
        ]
    return sorted(result, key=lambda query: (int(re.sub(r"\D", "", query[0]) or 0), query[0]))


def read_tables(archive: Path) -> dict[str, str]:
    """Per table its columns as SQL: ``store`` => ``"`s_store_sk` INT, `s_store_id` CHAR(16), …"``.

    A schema follows its table's name in the constants of the class that holds them.
    """
    with zipfile.ZipFile(archive) as opened:
        compiled = opened.read(_SCHEMA)
    tables: dict[str, str] = {}
    name = ""
    for text in _texts(compiled):
        if re.fullmatch(r"[a-z_]+", text):
            name = text
        elif re.match(r"\s*\|`", text):
            tables[name] = " ".join(re.sub(r"(?m)^\s*\|", "", text).split())
    return tables


def columns_of(tables: Mapping[str, str]) -> dict[str, str]:
    """Per column its table: names are unique in TPC-DS."""
    return {
        column: table for table, text in tables.items() for column in re.findall(r"`(\w+)`", text)
    }


def _texts(compiled: bytes) -> Iterator[str]:
    """The text constants of a class file, in order."""
    (count,) = struct.unpack_from(">H", compiled, 8)
    offset, number = 10, 1
    while number < count:
        tag = compiled[offset]
        if tag == _TEXT:
            (length,) = struct.unpack_from(">H", compiled, offset + 1)
            yield compiled[offset + 3 : offset + 3 + length].decode("utf-8", "replace")
            offset += 3 + length
        else:
            offset += _SIZES[tag]
        number += 2 if tag in _LONG_OR_DOUBLE else 1
