"""Lineage that a person declares: OpenLineage's JobEvents that only the service writes.

``openlineage`` translates them; this package writes them and journals them.

In reading order:

``documents``    a declaration: a JobEvent of OpenLineage, with a facet for its author and reason
``submissions``  declarations -> submissions to the journal
``producer``     the producer of declarations, under the subject key of their job
"""
