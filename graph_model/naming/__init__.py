"""One name for each dataset, column and job, however a client spells it.

Pure functions of a text, the capture scope and the rules; total, idempotent and linear. In reading
order:

``rules``        the naming rules as frozen values, with their defaults; names of jobs
``partitions``   what is no identity: logins, secrets, segments of partitions, literals of dates
``containment``  which locations a folder or a pattern holds; many files in one read -> a pattern
``columns``      column identity: case folding, nested paths, equal names; fields of structs; the
                 spelling of a schema's columns and types
``catalogs``     catalog names: ``<authority>/<database>.<table>`` for the spellings of all engines
``jdbc``         JDBC URLs, and the columns of queries
``uris``         dataset identity: one canonical URI for all spellings of one dataset, of a table
                 about a table (Iceberg's ``t.snapshots``) too; OpenLineage's pairs
                 (namespace, name) and back
``rules_json``   the rules as JSON, for a platform team to read, change, preview and apply

Secrets are masked by ``spark_agent_config.masking``, the listener's own masker.
"""

from __future__ import annotations

from graph_model.naming.catalogs import catalog_table, quoted_parts, unquoted_column
from graph_model.naming.columns import (
    WHOLE,
    FieldSources,
    SchemaColumn,
    column_path,
    fold,
    schema_columns,
    spell_fields,
    split_path,
)
from graph_model.naming.containment import (
    MOST_LISTED,
    fold_files,
    listed_names,
    patterns_of,
    varying_part,
)
from graph_model.naming.jdbc import query_lineage, without_query
from graph_model.naming.partitions import mask_literal, partition_pairs, partition_text, stable_text
from graph_model.naming.rules import DEFAULT_RULES, JobName, Rules, job_name, rules_digest
from graph_model.naming.uris import (
    PROGRAM_MEMORY,
    DatasetName,
    asset_pair,
    metadata_table,
    normalise,
    openlineage_pair,
    openlineage_symlink,
    openlineage_uri,
    tables_of,
    without_hosts,
)

__all__ = [
    "DEFAULT_RULES",
    "MOST_LISTED",
    "PROGRAM_MEMORY",
    "WHOLE",
    "DatasetName",
    "FieldSources",
    "JobName",
    "Rules",
    "SchemaColumn",
    "asset_pair",
    "catalog_table",
    "column_path",
    "fold",
    "fold_files",
    "job_name",
    "listed_names",
    "mask_literal",
    "metadata_table",
    "normalise",
    "openlineage_pair",
    "openlineage_symlink",
    "openlineage_uri",
    "partition_pairs",
    "partition_text",
    "patterns_of",
    "query_lineage",
    "quoted_parts",
    "rules_digest",
    "schema_columns",
    "spell_fields",
    "split_path",
    "stable_text",
    "tables_of",
    "unquoted_column",
    "varying_part",
    "without_hosts",
    "without_query",
]
