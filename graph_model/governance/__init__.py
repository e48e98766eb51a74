"""Statements of people, which leave the graph as it is: layers, classifications, hidden nodes.

In reading order:

``statements``       the statements in force: a pure function of the set of all statements
``nodes``            the node of a statement by scope, URI and path: ids change with naming rules
``classifications``  tags such as PII on datasets and columns, each with a responsible person
``layers``           storage layers: rules on a dataset's URI, of which the first match counts
``graph_view``       an answer with its layers and tags, and without its hidden nodes
``propagation``      the way of classified data along DIRECT column lineage
``quality_rules``    rules that read a custom run facet as a passed or failed check
``rule_checks``      the checks that these rules give, beside the standard ones
``fields``           fields that the documents of layers and of quality rules share
``previews``         the effect of other layers or naming rules, computed and not stored
"""
