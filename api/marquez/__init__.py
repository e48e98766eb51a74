"""Marquez's API under ``/api/v1``, for its web page and its clients.

Shapes, names and node ids are Marquez's; the answers are Headwater's own. In reading order:

``routes``      the reads and their queries
``changes``     tags and deletes by our commands; what is not served is a 405 with the reason
``runs``        runs with their facets, and the versions that they read and wrote
``entities``    datasets with versions and jobs in Marquez's spelling
``graphs``      the graphs of tables and of columns; node ids <-> our datasets, columns and jobs
"""
