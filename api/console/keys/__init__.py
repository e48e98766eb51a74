"""``headwater keys``: API keys.

In reading order:

``commands``  the sub-commands: make, list and revoke
``table``     the keys in the database of a Headwater
"""
