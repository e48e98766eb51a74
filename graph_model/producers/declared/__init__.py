"""Lineage that a person declares.

In reading order:

``documents``    a declaration: a JobEvent of OpenLineage, with a facet for its author and reason
``rows``         the catalogue row of a declaration: author, reason, nodes under the current rules
``submissions``  declarations -> submissions to the journal
``producer``     the producer of declarations, under the subject key of their job
"""
