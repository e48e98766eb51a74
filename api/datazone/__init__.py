"""DataZone's lineage API under ``/v2/domains/{domain}``, as SDKs of AWS call it.

Shapes and errors are the service's; the answers are Headwater's own. In reading order:

``routes``  the seven operations of lineage, their parameters and the service's exceptions
``nodes``   datasets, jobs and runs as lineage nodes: identifiers, forms, neighbours, versions;
            QueryGraph: the nodes on one side of a node, filtered
"""
