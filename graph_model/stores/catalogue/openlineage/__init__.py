"""Rows that only OpenLineage's events make: runs and facets.

In reading order:

``records``       runs and facets: see ``graph_model.stores.protocols.records``
``run_facets``    the facets of the runs that wrote datasets last
"""
