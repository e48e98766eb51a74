"""The questions of the read road: stores in, frozen values out; a module a question.

Routes and notebooks' helpers go through here, so an answer is the same wherever it is asked. A
question takes ``Sources``, built once a request, and what the client wrote. Read in this order:

1. ``sources``: the stores and rules of one request; ``nodes``, ``executions``: names and values
   that several answers show; ``drawing``: what ``lineage`` found, as a picture;
2. ``overview``, ``lineage``, ``column_lineage``: pictures; ``search``;
3. ``jobs``, ``runs``, ``datasets``, ``plans``: lists and pages.
"""
