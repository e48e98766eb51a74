"""The definitions of a plan's attributes and expressions, and their text.

Knows plans in normal form (``documents``) and nothing else: no I/O, no clock, no graph. In
reading order:

``definitions``  the definition of each attribute, where ``childRefs`` lack it as well, and in the
                 text of Delta's MERGE, UPDATE and DELETE
``functions``    the role of each argument: its value flows, or it only decides; lambdas: the value
                 behind each variable
``forms``        the SQL form of constants, and of each function with the texts of its children
``text``         :class:`Renderer`: SQL-like text of any reference, and of an operation's parameters
"""
