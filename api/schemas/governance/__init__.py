"""Bodies and answers for statements of people.

In reading order:

``governance``    bodies, queries and answers of layers, classifications and naming rules
``declarations``  bodies and answers of declared lineage
``quality``       bodies and answers of rules over custom run facets
"""
