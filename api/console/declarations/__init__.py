"""``headwater declare`` and the files that it reads.

In reading order:

``commands``  ``headwater declare``: lineage that no run reports, one at a time or from a file
``files``     JSON, YAML or CSV -> the bodies of POST /declarations
"""
