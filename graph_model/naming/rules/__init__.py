"""The naming rules as data and as JSON.

In reading order:

``rules``      the rules as frozen values, with their defaults
``documents``  the rules as JSON, for a platform team to read, change, preview and apply
"""
