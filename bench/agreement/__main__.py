"""The command: see the package's docstring."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.agreement import tpcds
from bench.agreement.catalyst import direct_sources
from bench.agreement.comparison import Compared, compare, compare_text
from bench.selection import select
from bench.truth import tpch
from bench.truth.jobs import Job
from bench.truth.lake import Lake, lake
from graph_model.errors import ConfigurationError
from graph_model.stores.gremlin.engine.jars import fetch


def main(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """0 when the share of equal columns reaches the floor, else 1; 2 for an unknown query."""
    options = _options(arguments)
    try:
        (archive,) = fetch(environment, jars=[tpch.ARCHIVE])
        chosen = queries(archive, options.folders, options.only)
    except ConfigurationError as failure:
        sys.stderr.write(f"{failure}\n")
        return 2
    started = time.monotonic()
    equal = columns = 0
    with lake(()) as runner:
        for folder in options.folders:
            tables = tables_of(archive, folder)
            _create(runner.spark, runner.root, folder, tables)
            result = [
                _measure(runner, f"{folder}-{name}", text, tables, options.texts)
                for place, name, text in chosen
                if place == folder
            ]
            columns += sum(each.columns for each in result)
            equal += sum(each.columns - len(each.differences) for each in result)
            sys.stdout.write(_line(folder, result))
    sys.stdout.write(f"{equal} of {columns} columns equal, {time.monotonic() - started:.0f} s\n")
    return 0 if columns and equal / columns >= options.floor else 1


def queries(
    archive: Path, folders: Sequence[str], only: Sequence[str]
) -> list[tuple[str, str, str]]:
    """Folder, name and text of each query asked for; ConfigurationError for an unknown name."""
    result = [
        (folder, *query) for folder in folders for query in tpcds.read_queries(archive, folder)
    ]
    return select(result, only, lambda query: query[1])


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.agreement",
        description="Compare the column lineage of TPC-DS queries with a second derivation.",
    )
    parser.add_argument("--floor", type=float, default=0.98, help="share of equal columns")
    parser.add_argument("--folders", nargs="+", default=tpcds.FOLDERS, choices=tpcds.FOLDERS)
    parser.add_argument(
        "--texts", action="store_true", help="compare with what graph_model.sql finds in the text"
    )
    parser.add_argument("--only", nargs="+", default=(), metavar="NAME", help="these queries alone")
    return parser.parse_args(arguments)


def tables_of(archive: Path, folder: str) -> Mapping[str, str]:
    """Per table of a folder's queries its columns as SQL, in back quotes."""
    if folder != tpcds.TPCH:
        return tpcds.read_tables(archive)
    return {
        table.name: ", ".join(f"`{name}` {kind}" for name, kind in table.columns.items())
        for table in tpch.tables()
    }


def _create(spark: Any, root: Path, folder: str, tables: Mapping[str, str]) -> None:
    """In a database of their own: TPC-DS and TPC-H have tables of one name."""
    database = re.sub(r"\W", "_", folder)
    spark.sql(f"CREATE DATABASE {database} LOCATION '{root / database}'")
    spark.sql(f"USE {database}")
    for name, columns in tables.items():
        place = root / database / name
        place.mkdir(parents=True)
        spark.sql(f"CREATE TABLE {name} ({columns}) USING parquet LOCATION '{place}'")


def _measure(
    runner: Lake, name: str, text: str, tables: Mapping[str, str], texts: bool
) -> Compared:
    sys.stderr.write(f"{name}\n")
    frame = runner.spark.sql(text)
    frame = frame.toDF(*unique(frame.columns))
    if texts:
        plan = runner.plan_of(Job(name, (), lambda _: frame))
        return compare_text(name, text, plan, tables)
    analyzed = json.loads(frame._jdf.queryExecution().analyzed().toJSON())
    plan = runner.plan_of(Job(name, (), lambda _: frame))
    return compare(name, plan, direct_sources(analyzed), tpcds.columns_of(tables))


def unique(names: Sequence[str]) -> list[str]:
    """Files have one column of a name: ``["sales", "Sales"]`` => ``["sales", "Sales_2"]``."""
    counted: dict[str, int] = {}
    result = []
    for name in names:
        number = counted[name.lower()] = counted.get(name.lower(), 0) + 1
        result.append(name if number == 1 else f"{name}_{number}")
    return result


def _line(folder: str, found: Iterable[Compared]) -> str:
    compared = list(found)
    columns = sum(each.columns for each in compared)
    differences = [each for item in compared for each in item.differences]
    silent = sum(1 for each in differences if not each.gaps)
    lines = [
        f"{folder}: {len(compared)} queries, {columns} columns, "
        f"{columns - len(differences)} equal, {silent} differ without a gap"
    ]
    return "".join(f"{line}\n" for line in [*lines, *map(str, differences)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
