"""JDBC: URLs, and the columns of queries.

In reading order:

``urls``           ``jdbc:<driver>://<hosts>/<database>:<schema>.<table>`` from any driver's URL
``query_columns``  the table columns behind each column of a JDBC query
"""
