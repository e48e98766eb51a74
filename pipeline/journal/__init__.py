"""A journal as Spark reads it: lines, documents, subjects.

In reading order:

``sources``    a journal as a Spark data frame of ``documents.Line``
``documents``  lines of a backup or an export -> documents: pure, a line at a time, in any order
``commands``   forget and prune commands, read from the whole journal before the translation
"""
