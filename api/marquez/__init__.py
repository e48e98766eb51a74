"""Marquez's API under ``/api/v1``, for its web page and its clients.

Shapes, names and node ids are Marquez's; the answers are Headwater's own. In reading order:

``routes``      the reads and their queries
``changes``     tags and deletes by our commands; what is not served is a 405 with the reason
``runs``        ``answers.openlineage_nodes`` as Marquez spells it: a run with its versions
``entities``    datasets, jobs and their versions
``graphs``      the graphs of tables and of columns; node ids <-> our datasets, columns and jobs
"""
