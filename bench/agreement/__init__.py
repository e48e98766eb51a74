"""Do two derivations of one query's column lineage agree?

``python -m bench.agreement`` runs the TPC-DS queries, their later edition, Spark's own variants of
them and the TPC-H queries over tables without rows, with the listener on. Per output column it
compares the DIRECT sources that ``graph_model.producers.spline.column_derivation`` finds in the
reported document with those that ``catalyst`` works out, on its own, from Spark's analyzed plan.
With ``--texts`` it compares, with how, what ``graph_model.sql`` finds in the text of the query with
what the reported document has.
"""
