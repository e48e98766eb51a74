"""Spark's commands, by the names that every format reports, and what each does to its target.

OpenLineage's agent names a job after its command: ``execute_insert_into_hive_table`` is
``InsertIntoHiveTable``, ``overwrite_partitions_dynamic`` is ``OverwritePartitionsDynamic``.
"""

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
        "TruncatePartition",
        # They change what is known of a table: columns, properties, statistics, partitions.
        "AddColumns",
        "AddPartitions",
        "AlterColumn",
        "AlterColumns",
        "AlterDatabasePropertiesCommand",
        "AlterNamespaceSetProperties",
        "AlterTable",
        "AlterTableAddColumnsCommand",
        "AlterTableChangeColumnCommand",
        "AlterTableRecoverPartitionsCommand",
        "AlterTableRenamePartitionCommand",
        "AlterTableSerDePropertiesCommand",
        "AlterTableSetLocationCommand",
        "AlterTableSetPropertiesCommand",
        "AlterTableUnsetPropertiesCommand",
        "AlterViewAsCommand",
        "AnalyzeColumn",
        "AnalyzeColumnCommand",
        "AnalyzePartitionCommand",
        "AnalyzeTable",
        "AnalyzeTableCommand",
        "AnalyzeTables",
        "AnalyzeTablesCommand",
        "AtomicReplaceTable",
        "CacheTable",
        "CommentOnTable",
        "DropColumns",
        "DropPartition",
        "DropPartitions",
        "MsckRepairTable",
        "RecoverPartitions",
        "RefreshFunctionCommand",
        "RefreshTable",
        "RefreshTableCommand",
        "RenameColumn",
        "RenamePartitions",
        "RepairTable",
        "ReplaceColumns",
        "SetTableLocation",
        "SetTableProperties",
        "SetTableSerDeProperties",
        "UncacheTable",
        "UnsetTableProperties",
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
ROW_LEVEL_WRITES: Final = frozenset(
    {
        "DeleteFromIcebergTable",
        "MergeIntoIcebergTable",
        "MergeRows",
        "ReplaceData",
        "ReplaceIcebergData",
        "UpdateIcebergTable",
        "WriteDelta",
        "WriteIcebergDelta",
    }
)
"""How a table of Spark's second interface carries out a command of rows."""
APPENDING_COMMANDS: Final = frozenset(
    {"AppendData", "AppendDataExecV1", "CopyIntoCommand", "CopyIntoCommandEdge"}
)
FILLING_COMMANDS: Final = frozenset(
    {
        "AtomicCreateTableAsSelect",
        "AtomicReplaceTableAsSelect",
        "CreateDataSourceTableAsSelectCommand",
        "CreateHiveTableAsSelectCommand",
        "CreateTableAsSelect",
        "OptimizedCreateHiveTableAsSelectCommand",
        "ReplaceTableAsSelect",
    }
)
"""Commands that make a table of a query, ``saveAsTable`` among them. Many run an insert of their
own, which Spark reports as well."""
DYNAMIC_COMMANDS: Final = frozenset(
    {"OverwritePartitionsDynamic", "OverwritePartitionsDynamicExecV1"}
)
"""Commands that replace the partitions that they have rows for."""
INSERTING_COMMANDS: Final = frozenset(
    {
        "InsertIntoDataSourceCommand",
        "InsertIntoDataSourceDirCommand",
        "InsertIntoDir",
        "InsertIntoHadoopFsRelationCommand",
        "InsertIntoHiveDirCommand",
        "InsertIntoHiveTable",
        "InsertIntoHoodieTableCommand",
        "LoadDataCommand",
        "OverwriteByExpression",
        "OverwriteByExpressionExecV1",
        "SaveAsV1TableCommand",
        "SaveIntoDataSourceCommand",
        "WriteFiles",
        "WriteToDataSourceV2",
        "WriteToMicroBatchDataSourceV1",
    }
)
"""Commands that write as their mode says: append to the target, or overwrite it."""
