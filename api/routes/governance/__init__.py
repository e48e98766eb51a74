"""Routes for statements of people.

In reading order:

``governance``    layers and classifications of datasets and columns; rules that read a custom run
                  facet as a passed or failed check; the naming rules: read, preview on history,
                  apply by a rebuild
``declarations``  declared lineage: add, list, retract
"""
