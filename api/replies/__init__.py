"""Frozen values of the answers -> JSON.

In reading order:

``graph``            answers of the graph's routes, in the spelling that docs/http.md promises
``differences``      differences: graphs with a change on every element, plans, causes
``classifications``  tags, and the columns of a class
"""
