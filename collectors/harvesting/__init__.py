"""Harvesters: lineage that nothing reports, fetched from where SQL and schemas are kept.

    source -> findings since the position -> events of OpenLineage, with the SQL -> an intake

A source is one module. What it fetches is journalled as it was fetched, so a rebuild asks no
source. In reading order:

``rounds``   a round of any source: findings -> documents -> an intake; the stored position
``queries``  a query of a history, or a view -> events, with its text and the schemas that it needs
``amazon``   clients of AWS, and Glue's tables
``athena``   the history of Amazon Athena
``redshift`` the history of Amazon Redshift, by sessions and transactions
``dbt``      dbt's artefacts: models, seeds, snapshots, sources, exposures, tests
``fusion``   what dbt 2 writes beside them: its information schema and telemetry
``postgresql``  the catalogue of a PostgreSQL database: tables, views, procedures
``datazone`` the lineage events of an Amazon DataZone domain
"""
