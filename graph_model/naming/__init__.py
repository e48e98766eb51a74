"""Names: what a dataset, a column and a job are called, whoever writes it however.

Pure functions of a text, the capture scope and the rules; total, idempotent and linear. Reading
order: ``rules`` (every table), ``uris`` (dataset identity; it divides the work among
``partitions``, ``jdbc`` and ``catalogs``), ``file_lists``, ``columns``, ``jobs``,
``openlineage``, ``literals`` and ``masking``.
"""

from __future__ import annotations

from graph_model.naming.catalogs import catalog_table
from graph_model.naming.columns import (
    SchemaColumn,
    column_path,
    fold,
    schema_columns,
    split_path,
)
from graph_model.naming.file_lists import fold_files, folder_of
from graph_model.naming.jdbc import query_lineage, without_query
from graph_model.naming.jdbc_columns import QueryLineage
from graph_model.naming.jobs import JobName, job_name
from graph_model.naming.literals import mask_literal, stable_text
from graph_model.naming.masking import JsonValue, are_harmless, mask_secrets, mask_text
from graph_model.naming.openlineage import openlineage_symlink, openlineage_uri
from graph_model.naming.partitions import may_overlap, partition_pairs, partition_text
from graph_model.naming.rules import DEFAULT_RULES, Rules, rules_digest
from graph_model.naming.uris import DatasetName, Kind, normalise, shares_no_authority

__all__ = [
    "DEFAULT_RULES",
    "DatasetName",
    "JobName",
    "JsonValue",
    "Kind",
    "QueryLineage",
    "Rules",
    "SchemaColumn",
    "are_harmless",
    "catalog_table",
    "column_path",
    "fold",
    "fold_files",
    "folder_of",
    "job_name",
    "mask_literal",
    "mask_secrets",
    "mask_text",
    "may_overlap",
    "normalise",
    "openlineage_symlink",
    "openlineage_uri",
    "partition_pairs",
    "partition_text",
    "query_lineage",
    "rules_digest",
    "schema_columns",
    "shares_no_authority",
    "split_path",
    "stable_text",
    "without_query",
]
