"""The parts of which the statements of all questions are made.

In reading order:

``reader``        the transaction of a question: its own, or that of a snapshot
``value_tables``  many values or rows of a question as a table inside its statement
``conditions``    conditions on executions, and pairs found by seeks
``sort_orders``   the order of a list, and where its next page begins
``applications``  the Spark application of a row whose event does not name it
"""
