"""Tags that people put on datasets and columns.

In reading order:

``tags``     ``/classifications``: the tags in use, and the nodes with one tag
``columns``  ``/classifications/<tag>/columns``: the columns of a class, with its lineage
"""
