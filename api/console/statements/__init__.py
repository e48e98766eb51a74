"""Sub-commands that state something.

In reading order:

``governance``  ``headwater classify``, ``layers``, ``rules``, ``hide`` and ``show``
``quality``     ``headwater quality``: rules that read a custom run facet as passed or failed
"""
