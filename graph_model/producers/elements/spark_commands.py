"""Spark's commands, by the names that every format reports."""

from __future__ import annotations

from typing import Final

LIFECYCLE_COMMANDS: Final = frozenset(
    {
        "CreateDataSourceTableCommand",
        "CreateTable",
        "CreateTableCommand",
        "CreateTableLikeCommand",
        "CreateV2Table",
        "CreateDeltaTableCommand",
        "CreateHoodieTableCommand",
        "CreateViewCommand",
        "DropTable",
        "DropTableCommand",
        "ReplaceTable",
        "TruncateTable",
        "TruncateTableCommand",
        "TruncatePartitionCommand",
        "AlterTableAddPartitionCommand",
        "AlterTableDropPartitionCommand",
        "RepairTableCommand",
        # They rewrite or remove files, and no rows.
        "OptimizeTableCommand",
        "VacuumTableCommand",
        "rewrite_data_files",
        "rewrite_manifests",
        "rewrite_position_delete_files",
        "expire_snapshots",
        "remove_orphan_files",
    }
)
"""Commands that change a table without writing data."""
ROW_LEVEL_COMMANDS: Final = frozenset(
    {
        "DeleteCommand",
        "DeleteCommandEdge",
        "DeleteFromTable",
        "MergeIntoCommand",
        "MergeIntoCommandEdge",
        "MergeIntoTable",
        "UpdateCommand",
        "UpdateCommandEdge",
        "UpdateTable",
    }
)
"""Commands that change some rows of their target: appends that also read it."""
