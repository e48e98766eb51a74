"""Tables about a table: ``db.t.snapshots`` of Iceberg holds facts about ``db.t``, not its rows.

    s3://wh/db/t, read under the name db.t.snapshots  =>  s3://wh/db/t.snapshots
    s3://wh/db/t.snapshots                            =>  is about s3://wh/db/t
    spark_catalog/db.t.snapshots                      =>  is about spark_catalog/db.t

Engines give such a table the place of its table, so that ``SELECT operation FROM db.t.snapshots``
would read a column of the data. It is a dataset of its own. Which table it is about follows from
its URI alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from graph_model.naming.columns import fold
from graph_model.naming.rules import DEFAULT_RULES, Rules
from graph_model.naming.uris import DatasetName, normalise

_PARTS: Final = 3
"""Of the name of such a table at least: a database, its table, the word."""


def metadata_table(
    place: DatasetName, name: DatasetName, rules: Rules = DEFAULT_RULES
) -> DatasetName:
    """The dataset that is read at a place under a catalog name: the place, or the table about it.

    A table that is called ``files`` itself lies in a place of that name.
    """
    word = _word(name, rules)
    if not word or place.kind != "file" or fold(place.name) == word or _is_about(place, rules):
        return place
    return normalise(f"{place.uri}.{word}", place.scope, rules)[0]


def table_of(dataset: DatasetName, rules: Rules = DEFAULT_RULES) -> DatasetName | None:
    """The table that a metadata table is about; None for any other dataset."""
    if dataset.kind == "file":
        above = dataset.uri.rpartition(".")[0] if _is_about(dataset, rules) else ""
    elif _word(dataset, rules):
        catalog = dataset.uri.rpartition("/")[0]
        above = f"{catalog}/{dataset.name.rpartition('.')[0]}"
    else:
        return None
    found = normalise(above, dataset.scope, rules) if above else ()
    return replace(found[0], partition_keys=(), partition=None) if len(found) == 1 else None


def tables_of(
    datasets: Iterable[DatasetName], rules: Rules = DEFAULT_RULES
) -> tuple[DatasetName, ...]:
    """The tables that the metadata tables among the datasets are about, each once."""
    found = (table_of(dataset, rules) for dataset in datasets)
    return tuple({(one.scope, one.uri): one for one in found if one is not None}.values())


def _is_about(place: DatasetName, rules: Rules) -> bool:
    """``t.snapshots``: the last segment of a path ends with the word, after a dot."""
    table, dot, word = place.name.rpartition(".")
    return bool(table and dot) and fold(word) in rules.metadata_tables


def _word(name: DatasetName, rules: Rules) -> str:
    """``snapshots`` of ``db.t.snapshots``; "" for a name that is no metadata table's.

    In a catalog of three levels ``main.hr.files`` is a table: there a fourth part is needed.
    """
    if name.kind != "name":
        return ""
    parts = name.name.split(".")
    least = _PARTS + name.uri.startswith(rules.catalogs_of_three_levels)
    word = fold(parts[-1])
    return word if len(parts) >= least and word in rules.metadata_tables else ""
