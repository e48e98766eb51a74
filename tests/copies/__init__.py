"""A toy format, registered by tests alone: ``x copies a to b, column by column``.

{"copy": "nightly", "run": "r1", "at": "2026-03-01T10:00:00Z",
 "from": "s3://lake/a", "to": "s3://lake/b", "columns": ["id", "name"]}
"""
