"""The sub-commands of ``headwater``, a family a module: what they do, and how --help teaches it.

``call`` is what they share. Imports that take long stay inside the functions that need them:
``headwater --help`` answers at once.
"""
