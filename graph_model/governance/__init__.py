"""Statements of people, which leave the graph as it is: layers, classifications, hidden nodes.

In reading order:

``statements``     the statements in force: a pure function of the set of all statements; storage
                   layers, rules on a dataset's URI; lists and pictures without hidden nodes, with
                   layers and tags such as PII
``quality_rules``  rules that read a custom run facet as a passed or failed check, and the checks
``fields``         what the documents of statements share: a name, a note, the node spoken of
``previews``       the effect of other layers or naming rules, computed and not stored
"""
