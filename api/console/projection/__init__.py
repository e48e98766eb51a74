"""``headwater replay`` and ``rebuild``.

In reading order:

``commands``  the sub-commands
``rebuilds``  starts a rebuild in a running server and reports its progress
"""
