"""Routes for statements of people.

In reading order:

``governance``    layers and classifications of datasets and columns
``declarations``  declared lineage: add, list, retract
``quality``       rules that read a custom run facet as a passed or failed check
``rules``         the naming rules: read, preview on history, apply by a rebuild
"""
