"""The naming rules as data: frozen values with their defaults.

A :class:`Rules` value is immutable, hashable and has a digest; the digest is part of the
projection epoch, so changing a rule means rebuilding the projections, never editing them.
``version`` counts changes of the code that reads the tables, the tables speak for themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Final

from graph_model import identity
from graph_model.regular_expressions import LONGEST_MATCHED, expand_groups, match_whole
from spark_agent_config.masking import names, urls


@dataclass(frozen=True, slots=True)
class JdbcDriver:
    """The way in which one JDBC sub-protocol names a database.

    ``levels`` is the number of parts of a fully qualified table when its first part is the database
    (``db.schema.table`` 3, ``db.table`` 2; 0: the first part never is). ``database`` and ``schema``
    are parameters, in lower case, for the names that the path lacks. ``host_suffix`` is removed
    from hosts (an account name identifies the host). An ``embedded`` driver opens a local file
    unless the URL has ``//``. ``dialect`` is sqlglot's name.
    """

    name: str
    port: str = ""
    dialect: str = ""
    levels: int = 3
    database: tuple[str, ...] = ()
    schema: tuple[str, ...] = ()
    port_parameter: str = ""
    host_suffix: str = ""
    embedded: bool = False


@dataclass(frozen=True, slots=True)
class PartFile:
    """A file that is one piece of a directory: ``pattern`` matches its whole name.

    ``folder`` is the folder in which the table format keeps such files (Iceberg's ``data``), which
    is stripped too.
    """

    pattern: str
    folder: str = ""


@dataclass(frozen=True, slots=True)
class JobPattern:
    r"""An application name that ``pattern`` matches whole becomes ``name`` (``\g<job>`` style)."""

    pattern: str
    name: str
    shared: bool = False


_YEAR, _MONTH, _DAY = "(?:19|20)[0-9]{2}", "(?:0[1-9]|1[0-2])", "(?:0[1-9]|[12][0-9]|3[01])"
_TIME = "[0-2][0-9]:[0-5][0-9](?::[0-6][0-9](?:[.,][0-9]{1,9})?)?"
_ZONE = "(?: ?(?:Z|UTC|[+-][0-2][0-9]:?[0-5][0-9]))?"
_UUID = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_DATE_SUFFIX = f"{_YEAR}(?:-{_MONTH}-{_DAY}|_{_MONTH}_{_DAY}|{_MONTH}{_DAY})"
_TIME_SUFFIX = "(?:[-_.T ]?[0-2][0-9][-_:]?[0-5][0-9](?:[-_:]?[0-6][0-9])?(?:[.][0-9]+)?)?"


@dataclass(frozen=True, slots=True)
class Rules:
    """All tables of the naming rules. Tuples are ordered: the first match wins."""

    version: int = 4

    # --- schemes ---------------------------------------------------------------------------------
    # s3a and s3n are clients of one store; so are wasb and abfss of one Azure account, whose
    # blob and dfs end points show the same containers.
    scheme_aliases: tuple[tuple[str, str], ...] = (
        ("s3a", "s3"),
        ("s3n", "s3"),
        ("gcs", "gs"),
        ("wasb", "abfss"),
        ("wasbs", "abfss"),
        ("abfs", "abfss"),
        ("jdbc-secretsmanager", "jdbc"),
    )
    host_suffix_aliases: tuple[tuple[str, str, str], ...] = (
        ("abfss", ".blob.core.windows.net", ".dfs.core.windows.net"),
    )
    file_schemes: tuple[str, ...] = (
        "file", "s3", "gs", "hdfs", "abfss", "adl", "dbfs", "viewfs", "webhdfs", "swebhdfs",
        "maprfs", "oss", "cosn", "obs", "tos", "ofs", "o3fs", "alluxio", "ftp", "sftp",
        "http", "https", "box", "filenet", "mssharepoint",
    )  # fmt: skip
    # container@account: the text before the @ is part of the name, not user-info.
    container_schemes: tuple[str, ...] = names.CONTAINER_SCHEMES
    default_ports: tuple[tuple[str, str], ...] = (
        ("hdfs", "8020"),
        ("mongodb", "27017"),
        ("elasticsearch", "9200"),
        ("hive", "9083"),
        ("kafka", "9092"),
        ("http", "80"),
        ("https", "443"),
        ("ftp", "21"),
        ("sftp", "22"),
        ("abfss", "443"),
        ("awsathena", "443"),
        ("azurecosmos", "443"),
        ("azurekusto", "443"),
        ("box", "443"),
        ("cassandra", "9042"),
        ("fabric-warehouse", "1433"),
        ("milvus", "19530"),
        ("mssharepoint", "443"),
        ("unitycatalog", "443"),
    )
    # The local machine has a different identity for every client, so it is no authority.
    loopback_hosts: tuple[str, ...] = ("localhost", "127.0.0.1", "[::1]", "0.0.0.0")  # noqa: S104
    # (scheme, first directory, scheme of the mount there): file:/dbfs/x is dbfs:/x.
    mounts: tuple[tuple[str, str, str], ...] = (("file", "dbfs", "dbfs"),)
    topic_schemes: tuple[str, ...] = ("kafka", "pulsar", "kinesis", "pubsub")
    memory_schemes: tuple[str, ...] = ("memory", "inmemory")
    # Stores whose last path part is a table, a collection or an index: hosts, then its name.
    table_schemes: tuple[str, ...] = (
        "mongodb", "mongodb+srv", "elasticsearch", "awsathena", "snowflake", "redshift", "spanner",
        "azurecosmos", "azurekusto", "milvus", "synapse", "fabric-warehouse",
    )  # fmt: skip
    # Stores that some clients name without their servers: kafka:t is t of the only cluster that has
    # one, as far as documents say.
    hosts_left_out: tuple[str, ...] = ("kafka", "cassandra")
    # (pattern that a server of such a store matches completely, host:port in lower case without the
    # default port; name of its cluster): clients list some of its servers, each others.
    cluster_patterns: tuple[tuple[str, str], ...] = (
        # Amazon MSK: b-2.orders.a1b2c3.c4.kafka.eu-west-1.amazonaws.com, a port for each protocol
        (
            r"b-[0-9]{1,3}(?:-public)?\.(?P<cluster>[a-z0-9-]{1,64}\.[a-z0-9]{1,16}\.c[0-9]{1,3})"
            r"\.kafka\.(?P<region>[a-z0-9-]{1,40}\.amazonaws\.com(?:\.cn)?)(?::[0-9]{1,5})?",
            r"\g<cluster>.kafka.\g<region>",
        ),
        # Strimzi: orders-kafka-bootstrap.ns.svc and orders-kafka-0.orders-kafka-brokers.ns.svc
        (
            r"(?:[a-z0-9-]{1,64}\.)?(?P<cluster>[a-z0-9-]{1,63}-kafka)-(?:bootstrap|brokers)"
            r"\.(?P<place>[a-z0-9-]{1,63}\.svc)(?:\.cluster\.local)?(?::[0-9]{1,5})?",
            r"\g<cluster>.\g<place>",
        ),
    )
    # scheme:name without any host.
    opaque_table_schemes: tuple[str, ...] = ("cassandra", "odpstable", "bigquery")
    # project:dataset.table, topic:project:id: a project is unique in the world.
    global_opaque_schemes: tuple[str, ...] = ("bigquery", "pubsub")

    # (JDBC driver or scheme, "lower" or "upper"): engines to which Orders and ORDERS are one table
    # unless somebody quoted them. All spellings, quoted ones too, meet in the engine's own case.
    identifier_cases: tuple[tuple[str, str], ...] = (
        ("awsathena", "lower"), ("databricks", "lower"), ("db2", "upper"), ("hive2", "lower"),
        ("impala", "lower"), ("mariadb", "lower"), ("mysql", "lower"), ("oracle", "upper"),
        ("presto", "lower"), ("redshift", "lower"), ("sap", "upper"), ("snowflake", "upper"),
        ("trino", "lower"),
    )  # fmt: skip

    # --- catalog names ---------------------------------------------------------------------------
    catalog_schemes: tuple[str, ...] = ("hive", "unitycatalog")
    catalog_authorities: tuple[str, ...] = ("spark_catalog",)
    default_database: str = "default"
    # delta.`/path` names a path, not a table.
    path_table_formats: tuple[str, ...] = (
        "delta", "parquet", "orc", "avro", "csv", "json", "text", "iceberg", "binaryfile",
    )  # fmt: skip

    # Iceberg's tables about a table: db.t.snapshots. (db.t.changes has the rows of db.t.)
    metadata_tables: tuple[str, ...] = (
        "all_data_files", "all_delete_files", "all_entries", "all_files", "all_manifests",
        "data_files", "delete_files", "entries", "files", "history", "manifests",
        "metadata_log_entries", "partitions", "position_deletes", "refs", "snapshots",
    )  # fmt: skip
    # More of them behind a dollar: db.t$properties of Trino, db.t$schemas of Paimon. (t$audit_log,
    # t$binlog and t$ro of Paimon have the rows of t.)
    dollar_tables: tuple[str, ...] = (
        "aggregation_fields", "branches", "buckets", "consumers", "file_key_ranges", "options",
        "properties", "schemas", "statistics", "table_indexes", "tags", "timeline", "transactions",
    )  # fmt: skip
    # Databases whose names in dollars are such; those of others (Oracle's T$HISTORY) are tables.
    dollar_databases: tuple[str, ...] = (
        "jdbc:trino:", "jdbc:presto:", "jdbc:awsathena:", "awsathena:",
    )  # fmt: skip
    # Beginnings of catalog names that have three parts: main.hr.files is a table there.
    catalogs_of_three_levels: tuple[str, ...] = ("unitycatalog:",)
    # https://catalog.example/api/db.t is a table of a REST catalog, …/index.html a file.
    web_file_suffixes: tuple[str, ...] = (
        ".htm", ".html", ".php", ".asp", ".aspx", ".jsp", ".pdf", ".zip", ".tar", ".tgz", ".7z",
        ".xls", ".ods", ".yaml", ".yml", ".md", ".log", ".dat", ".data", ".bin", ".ics", ".rss",
        ".geojson", ".kml", ".shp", ".db", ".sql", ".py", ".jar", ".png", ".jpg", ".svg",
    )  # fmt: skip

    # --- partitions ------------------------------------------------------------------------------
    # yyyy MM dd HH mm ss; with a slash: that many directories. The first that fits is taken off.
    date_formats: tuple[str, ...] = (
        "yyyy/MM/dd/HH",
        "yyyy/MM/dd",
        "yyyy/MM",
        "yyyy-MM-dd",
        "yyyyMMdd",
        "yyyy_MM_dd",
        "yyyy-MM-dd-HH",
        "yyyy-MM-ddTHH",
        "yyyy-MM-ddTHH:mm:ss",
        "yyyy-MM-ddTHH-mm-ss",
        "yyyyMMddHH",
        "yyyyMMddTHHmmss",
        "yyyy-MM",
        "yyyyMM",
    )
    # One leaf: the key by its finest unit. Directories: a key each.
    date_keys: tuple[tuple[str, str], ...] = (
        ("yyyy", "year"),
        ("MM", "month"),
        ("dd", "day"),
        ("HH", "hour"),
        ("mm", "minute"),
        ("ss", "second"),
    )
    date_leaf_keys: tuple[tuple[str, str], ...] = (
        ("MM", "month"),
        ("dd", "date"),
        ("HH", "hour"),
        ("ss", "time"),
    )
    part_files: tuple[PartFile, ...] = (
        # Spark, MapReduce, Glue (run-<ms>-part-r-00000), Delta, Databricks.
        PartFile(
            r"(?:run-[0-9]+-)?part-(?:[a-z]-|block-[0-9]+-)?[0-9*?\[\]{},-]{1,64}(?:[-._].*)?"
        ),
        # Hive: 000000_0, 000001_0_copy_2.gz
        PartFile(r"[0-9]{6}_[0-9]{1,6}(?:_copy_[0-9]+)?(?:\..*)?"),
        # Iceberg: data/00000-0-<uuid>-00001.parquet
        PartFile(rf"[0-9]{{5}}-[0-9]+-{_UUID}(?:-[0-9]+)?(?:-deletes)?\.[a-z]+", "data"),
        PartFile(r"(?:v[0-9]+|[0-9]{5}-.{1,64})(?:\.gz)?\.metadata\.json", "metadata"),
        # Hudi: <file id>-0_1-2-3_20240131120000000.parquet
        PartFile(rf"{_UUID}-[0-9]+_[0-9]+-[0-9]+-[0-9]+_[0-9]{{14,17}}\.[a-z]+"),
    )
    # After such a directory, a path describes a table's internals (beginnings of names) …
    metadata_folders: tuple[str, ...] = (
        "_delta_log", "_temporary", "_spark_metadata", ".hoodie", ".spark-staging", ".hive-staging",
    )  # fmt: skip
    # … as do these files at its end.
    metadata_files: tuple[str, ...] = (
        "_SUCCESS", "_committed_", "_started_", "_metadata", "_common_metadata",
    )  # fmt: skip
    # A file straight below key=value belongs to the partitioned table.
    data_file_suffixes: tuple[str, ...] = (
        ".parquet", ".orc", ".avro", ".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".txt", ".xml",
        ".gz", ".bz2", ".zst", ".snappy", ".lz4", ".xlsx",
    )  # fmt: skip

    # Of more data files of one folder with one suffix a read makes one dataset: in/*.csv.
    most_files_of_a_folder: int = 20

    # --- JDBC ------------------------------------------------------------------------------------
    # Wrappers around another driver: jdbc:aws-wrapper:postgresql://…
    jdbc_wrappers: tuple[str, ...] = urls.WRAPPERS
    jdbc_aliases: tuple[tuple[str, str], ...] = (
        ("postgres", "postgresql"),
        ("pgsql", "postgresql"),
        ("jtds:sqlserver", "sqlserver"),
        ("microsoft:sqlserver", "sqlserver"),
        ("ch", "clickhouse"),
    )
    jdbc_drivers: tuple[JdbcDriver, ...] = (
        JdbcDriver("postgresql", "5432", "postgres", schema=("currentschema",)),
        JdbcDriver("redshift", "5439", "redshift", schema=("currentschema",)),
        JdbcDriver("mysql", "3306", "mysql", 2),
        JdbcDriver("mariadb", "3306", "mysql", 2),
        JdbcDriver("singlestore", "3306", "mysql", 2),
        JdbcDriver("oceanbase", "2881", "mysql", 2),
        JdbcDriver("sqlserver", "1433", "tsql", database=("databasename", "database")),
        JdbcDriver("oracle", "1521", "oracle", 0),
        JdbcDriver(
            "snowflake", "443", "snowflake", database=("db", "database"), schema=("schema",),
            host_suffix=".snowflakecomputing.com",
        ),
        JdbcDriver(
            "databricks", "443", "databricks", database=("conncatalog",), schema=("connschema",)
        ),
        JdbcDriver("trino", "8080", "trino"),
        JdbcDriver("presto", "8080", "presto"),
        JdbcDriver("hive2", "10000", "hive", 2),
        JdbcDriver("impala", "21050", "hive", 2),
        JdbcDriver("db2", "50000", "", schema=("currentschema",)),
        JdbcDriver("teradata", "1025", "teradata", 2, ("database",), port_parameter="dbs_port"),
        JdbcDriver("clickhouse", "8123", "clickhouse", 2, ("database",)),
        JdbcDriver("vertica", "5433", "postgres", schema=("searchpath",)),
        JdbcDriver("crate", "5432", "postgres"),
        JdbcDriver("sap", "30015", "", database=("databasename",), schema=("currentschema",)),
        JdbcDriver("sqlite", "", "sqlite", 0, embedded=True),
        JdbcDriver("duckdb", "", "duckdb", 0, embedded=True),
        JdbcDriver("h2", "9092", "", 0, embedded=True),
        JdbcDriver("derby", "1527", "", 0, embedded=True),
        JdbcDriver("hsqldb", "9001", "", 0, embedded=True),
    )  # fmt: skip
    # (driver, schema of a table without one, where it is the same for every session): t and
    # public.t are one. In Oracle, Db2 and SAP the default is the user's own schema, which a URL may
    # lack; Snowflake's depends on the user, too. MySQL's databases have no schemas.
    jdbc_default_schemas: tuple[tuple[str, str], ...] = (
        ("postgresql", "public"),
        ("redshift", "public"),
        ("sqlserver", "dbo"),
        ("vertica", "public"),
        ("crate", "doc"),
    )
    # (driver, pattern that a host without its port matches completely, replacement): one server has
    # the long name of its cloud and a short one, which OpenLineage's naming page requires.
    jdbc_host_patterns: tuple[tuple[str, str, str], ...] = (
        # cluster.c9akciq32.eu-west-1.redshift.amazonaws.com, and of a serverless workgroup
        # wg.123456789012.eu-west-1.redshift-serverless.amazonaws.com
        (
            "redshift",
            r"(?P<name>[a-z0-9-]{1,63})\.[a-z0-9]{1,40}\.(?P<region>[a-z0-9-]{1,40})"
            r"\.redshift(?:-serverless)?\.amazonaws\.com(?:\.cn)?",
            r"\g<name>.\g<region>",
        ),
        # jdbc:redshift:iam://cluster:eu-west-1/dev
        (
            "redshift",
            r"(?P<name>[a-z0-9-]{1,63}):(?P<region>[a-z]{2,3}-[a-z0-9-]{1,40})",
            r"\g<name>.\g<region>",
        ),
        # A private link leads to the same account, as does an optional cloud …
        ("snowflake", r"(?P<account>[a-z0-9_.-]{1,200})\.privatelink", r"\g<account>"),
        ("snowflake", r"(?P<account>[a-z0-9_-]{1,63}\.[a-z0-9-]{1,40})\.aws", r"\g<account>"),
        # … or a region: us-west-2 has none in its URL, and OpenLineage's clients write us-west-1.
        ("snowflake", r"(?P<account>[a-z0-9_-]{1,63})\.us-west-[12]", r"\g<account>"),
        # Names of hosts have no underscore: organisation-my_account.
        (
            "snowflake",
            r"(?P<organisation>[a-z0-9]{1,63}-[a-z0-9-]{0,200})_(?P<rest>[a-z0-9_-]{0,200})",
            r"\g<organisation>-\g<rest>",
        ),
    )
    # jdbc:h2:mem:test: the word between two colons is no database.
    jdbc_storage_words: tuple[str, ...] = urls.STORAGE_WORDS
    # Rows without a table (select 1 from dual), and a database's system tables. `schema.*` is all
    # of a schema; PostgreSQL's catalogs are found without one, too.
    sourceless_tables: tuple[str, ...] = (
        "dual", "sysdummy1", "sysibm.*", "syscat.*", "sys.*", "information_schema.*",
        "pg_catalog.*", "pg_temp.*", "pg_toast.*", "pg_internal.*",
        "pg_am", "pg_attrdef", "pg_attribute", "pg_class", "pg_collation", "pg_constraint",
        "pg_database", "pg_depend", "pg_description", "pg_enum", "pg_extension", "pg_index",
        "pg_indexes", "pg_inherits", "pg_locks", "pg_matviews", "pg_namespace", "pg_opclass",
        "pg_operator", "pg_partitioned_table", "pg_proc", "pg_roles", "pg_sequence",
        "pg_sequences", "pg_settings", "pg_stat_activity", "pg_stat_all_tables",
        "pg_stat_user_tables", "pg_stats", "pg_table_def", "pg_tables", "pg_tablespace",
        "pg_trigger", "pg_type", "pg_user", "pg_views", "svv_columns", "svv_table_info",
        "svv_tables",
    )  # fmt: skip

    # --- OpenLineage namespaces that Spline spells as JDBC URLs ----------------------------------
    openlineage_jdbc: tuple[tuple[str, str], ...] = (
        ("postgres", "postgresql"), ("postgresql", "postgresql"), ("mysql", "mysql"),
        ("mariadb", "mariadb"), ("mssql", "sqlserver"), ("sqlserver", "sqlserver"),
        ("oracle", "oracle"), ("db2", "db2"), ("redshift", "redshift"), ("snowflake", "snowflake"),
        ("trino", "trino"), ("presto", "presto"), ("teradata", "teradata"), ("crate", "crate"),
        ("oceanbase", "oceanbase"), ("clickhouse", "clickhouse"), ("vertica", "vertica"),
        ("sqlite", "sqlite"), ("duckdb", "duckdb"), ("h2", "h2"), ("derby", "derby"),
        ("databricks", "databricks"), ("hive2", "hive2"), ("impala", "impala"), ("sap", "sap"),
        ("singlestore", "singlestore"), ("ch", "clickhouse"),
    )  # fmt: skip

    # --- jobs ------------------------------------------------------------------------------------
    namespace_label: str = "namespace"
    job_label: str = "job"
    default_namespace: str = "default"
    unnamed_job: str = "unnamed"
    job_patterns: tuple[JobPattern, ...] = (
        # AWS Glue: nativespark-<job>-<run>, the run being jr_<hex>; with _ from OpenLineage.
        JobPattern(r"nativespark-(?P<job>.+?)-jr_[0-9A-Za-z_]+", r"\g<job>"),
        JobPattern(
            r"nativespark_(?P<job>.+)_jr_[0-9a-f]{8,64}(?:_attempt_[0-9]{1,4})?", r"\g<job>"
        ),
        JobPattern(rf"nativespark-(?P<job>.+)-(?:{_UUID}|[0-9a-f]{{16,64}})", r"\g<job>"),
        JobPattern(rf"GlueReplApp(?:-{_UUID})?", "GlueReplApp", shared=True),
        # Shells and servers that many people share.
        JobPattern(
            r"(?P<job>pyspark-shell|spark-shell|Spark shell|PySparkShell|SparkR|sparklyr"
            r"|Databricks Shell|Zeppelin|Apache Toree|Jupyter|spark-connect"
            r"|Spark Connect server|Thrift JDBC/ODBC Server)",
            r"\g<job>",
            shared=True,
        ),
        JobPattern(r"SparkSQL::.*", "SparkSQL", shared=True),
        JobPattern(r"livy-session-[0-9]+(?:-.*)?", "livy-session", shared=True),
        # A date or run that a scheduler writes into the name makes no new job.
        JobPattern(
            rf"(?P<job>.*[^-_. :@])[-_. :@]{{1,4}}(?:{_UUID}|{_DATE_SUFFIX}{_TIME_SUFFIX}"
            rf"|{_YEAR}-{_MONTH}-{_DAY}[T ]{_TIME}{_ZONE})",
            r"\g<job>",
        ),
    )

    # --- OpenLineage -----------------------------------------------------------------------------
    # Signs of Spark's agent: jobType.integration, otherwise one of these run facets.
    spark_integrations: tuple[str, ...] = ("SPARK",)
    spark_facets: tuple[str, ...] = (
        "spark_properties", "spark_applicationDetails", "spark_jobDetails", "spark_version",
        "spark_unknown", "spark.logicalPlan", "spark.exception",
    )  # fmt: skip
    # Namespaces of Spark's OpenLineage agent that its jobs keep. In any other one a job is named
    # as Spline's agent names it (label, capture scope, "default"), so that both mean one job.
    spark_own_namespaces: tuple[str, ...] = ()
    # jobType.jobType of the application itself, and of the jobs inside it.
    spark_application_types: tuple[str, ...] = ("APPLICATION",)
    spark_command_types: tuple[str, ...] = ("SQL_JOB", "RDD_JOB")
    # The part of a job's name that names the physical plan, where it is not the command's class:
    # execute_insert_into_hive_table => InsertIntoHiveTable needs no entry.
    spark_commands: tuple[tuple[str, str], ...] = (
        ("adaptive_spark_plan", "InsertIntoHadoopFsRelationCommand"),
    )
    # How the physical plan of a Spark command begins that reads for the sake of another one: a
    # few rows to infer a schema (or to show them), the footers of files.
    spark_inner_reads: tuple[str, ...] = (
        "collect_limit", "map_partitions_parallel_collection", "map_partitions_sql_execution",
    )  # fmt: skip
    # (integration, type) of jobs that are a step of their parent's and nothing of their own.
    helper_job_types: tuple[tuple[str, str], ...] = (("DBT", "SQL"),)
    # jobType.jobType of the queries of a job, whose names begin with its name and a dot: what they
    # read and write is the job's (Airflow, and its operators for warehouses).
    query_job_types: tuple[str, ...] = ("QUERY",)
    # (integration, type) of jobs that test data: their output is a table for failures, which dbt
    # writes only when configured.
    test_job_types: tuple[tuple[str, str], ...] = (("DBT", "TEST"),)
    # Facets of a failure: where one came with FAIL, a later COMPLETE of the run only says that
    # Spark is done with the query.
    spark_error_facets: tuple[str, ...] = ("spark.exception",)
    # lifecycleStateChange: those that end data, and those that may (CREATE TABLE AS SELECT writes).
    lifecycle_ends: tuple[str, ...] = ("DROP", "TRUNCATE")
    lifecycle_changes: tuple[str, ...] = ("CREATE", "ALTER")
    # jobType.processingType of jobs that need not end.
    endless_processing: tuple[str, ...] = ("STREAMING", "SERVICE")
    # Facets that the graph or other rows already hold, or that repeat an application's settings
    # with every query: they stay in the journal's document and make no facet rows.
    facets_without_rows: tuple[str, ...] = (
        "columnLineage", "lineage", "symlinks", "schema", "parent", "parentRun",
        "spark_properties", "spark_applicationDetails", "spark_jobDetails", "spark.logicalPlan",
        "spark_unknown", "environment-properties", "debug",
    )  # fmt: skip
    # (OpenLineage's statistic, Spline's metric of a read, of a write)
    openlineage_statistics: tuple[tuple[str, str, str], ...] = (
        ("rowCount", "numOutputRows", "numOutputRows"),
        ("size", "filesSize", "numOutputBytes"),
        ("fileCount", "numFiles", "numFiles"),
    )
    # Where dataset-to-dataset lineage without a job is kept: a job per dataset in this namespace.
    declared_namespace: str = "(declared)"

    # --- literals and texts ----------------------------------------------------------------------
    # (pattern that the whole text matches, replacement)
    literal_patterns: tuple[tuple[str, str], ...] = (
        (f"{_YEAR}-{_MONTH}-{_DAY}", "<date>"),
        (f"{_YEAR}/{_MONTH}/{_DAY}", "<date>"),
        (f"{_YEAR}{_MONTH}{_DAY}", "<date>"),
        (f"{_YEAR}-{_MONTH}-{_DAY}[T ]{_TIME}{_ZONE}", "<timestamp>"),
        (_UUID, "<uuid>"),
    )
    # Types whose numbers are points in time: Spline writes a date literal as days since 1970.
    temporal_types: tuple[tuple[str, str], ...] = (
        ("date", "<date>"),
        ("timestamp", "<timestamp>"),
        ("timestamp_ntz", "<timestamp>"),
    )
    # The parts of Spark's texts that differ in every run. Replaced by group "keep" or nothing.
    volatile_texts: tuple[str, ...] = (
        r"(?m)^(?:Created Time|Last Access|Statistics|Partition Statistics): [^\n]*\n?",
        r", ?transient_lastDdlTime=[0-9]+|transient_lastDdlTime=[0-9]+(?:, )?",
        r"#[0-9]+L?\b",
        r"\b(?P<keep>CTERelation(?:Def|Ref)) [0-9]+\b",
        r"\b(?P<keep>plan_id|cteId)=[0-9]+\b",
        r"\b(?P<keep>[A-Za-z]{0,64}RDD)\[[0-9]+\]",
        r"(?P<keep>\$\$Lambda)(?:\$[0-9]+)?/0x[0-9a-f]+(?:@[0-9a-f]{1,8}\b)?",
        r"(?P<keep>[\w$;\]])@[0-9a-f]{1,8}(?!\w|[.@-]\w)",
        r"(?P<keep>SPARK_GEN_SUBQ_)[0-9]+\b",
    )
    # For each of these patterns: texts of which every match contains one. They follow from it.
    volatile_signs: tuple[tuple[str, ...], ...] = field(
        compare=False,
        default=(
            ("Created Time", "Last Access", "Statistics"),
            ("transient_lastDdlTime=",),
            ("#",),
            ("CTERelation",),
            ("plan_id", "cteId"),
            ("RDD",),
            ("$$Lambda",),
            ("@",),
            ("SPARK_GEN_SUBQ_",),
        ),
    )

    _digest: str = field(init=False, repr=False, compare=False, default="")

    def __post_init__(self) -> None:
        tables = [[f.name, repr(getattr(self, f.name))] for f in fields(self) if f.compare]
        tables.append(["secrets", repr(names.TABLES)])  # identity leaves out masked parts
        object.__setattr__(self, "_digest", identity.digest(tables))

    def __hash__(self) -> int:
        # The tables are long: hashing them on every cached look-up would cost more than it saves.
        return hash(self._digest)


def rules_digest(rules: Rules) -> str:
    """32 hex digits: equal rules, equal digest, on every machine."""
    return rules._digest


WEB_SCHEMES: Final = ("http", "https")

DEFAULT_RULES: Final = Rules()


# Job names: from labels, else from the application name by the platform's rules.


@dataclass(frozen=True, slots=True)
class JobName:
    """``shared``: the name of a generic shell, which runs unrelated programs of many users.

    It follows from ``name`` alone: namespace and name identify the job, and two documents must not
    disagree about one job, whatever gave them its name.
    """

    namespace: str
    name: str
    shared: bool


def job_name(
    labels: Mapping[str, Sequence[str]],
    app_name: str | None,
    scope: str,
    rules: Rules = DEFAULT_RULES,
) -> JobName:
    """Namespace: from its label, otherwise the capture scope, otherwise ``default``. Name: from its
    label, otherwise the application name by the rules, otherwise ``unnamed``.
    """
    namespace = _label(labels, rules.namespace_label) or scope or rules.default_namespace
    name = _label(labels, rules.job_label) or _by_pattern((app_name or "").strip(), rules)
    name = name or rules.unnamed_job
    return JobName(namespace, name, len(name) <= LONGEST_MATCHED and _is_shared(name, rules))


def _label(labels: Mapping[str, Sequence[str]], key: str) -> str:
    """The first value that is not blank."""
    return next((text for value in labels.get(key, ()) if (text := value.strip())), "")


def _by_pattern(name: str, rules: Rules) -> str:
    return name if len(name) > LONGEST_MATCHED else _expanded(name, rules)


def _expanded(name: str, rules: Rules) -> str:
    for rule in rules.job_patterns:
        if groups := match_whole(rule.pattern, name):
            return expand_groups(rule.name, groups)
    return name


def _is_shared(name: str, rules: Rules) -> bool:
    """Whether a rule for shared names produces this name, or leaves it unchanged."""
    for rule in rules.job_patterns:
        if rule.shared and name == rule.name:
            return True
        groups = match_whole(rule.pattern, name) if rule.shared else None
        if groups and expand_groups(rule.name, groups) == name:
            return True
    return False
