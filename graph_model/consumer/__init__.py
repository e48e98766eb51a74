"""Spline's consumer API over the same answers: what its UI asks, as values.

``events`` says what lists need of the catalogue, ``plans`` and ``attributes`` read one plan's
document in memory, ``overview`` puts answers of ``lineage`` together, ``consumer`` is the door.
"""
