"""Settings of agents and clients that report here, as text to paste.

In reading order:

``properties``   the stock Spline agent, for each way of running Spark. Pure: text in, text out
``openlineage``  OpenLineage's clients. Pure: text in, text out
"""
