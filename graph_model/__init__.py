"""The model of lineage: documents, facts, graph, catalogue, journal, answers.

Knows lineage and how to keep it; never Flask, never HTTP. In reading order:

``labels``               the vocabulary of the graph
``facts``                the result of a translation: vertices, edges and catalogue rows, as values
``identity``             natural key -> the id of a vertex or an edge
``naming``               one name for each dataset, column and job, however a client spells it
``sql``                  SQL text -> what each statement reads, writes and computes; below naming
``producers``            the formats in which clients report lineage: documents -> facts
``documents``            documents on their way into the journal: bytes -> JSON -> submissions
``stores``               graph, catalogue and journal, and the protocol of a graph
``projection``           journal -> graph and catalogue: the only writer of both
``lineage``              upstream and downstream at a time; ``lineage.history``: which writes count
``answers``              one module for each question: stores in, frozen values out
``picture``              the nodes and edges that a viewer draws, and their places
``governance``           statements of people: layers, classifications, hidden nodes
``retention``            the documents that a forget or prune command covers
``errors``               every exception raised on purpose; how a console program ends with one
``json_fields``          small typed readers of JSON
``values``               text as stores hold it, a failure's cause; times; batches; roles of keys
``regular_expressions``  users' regular expressions, run by RE2
"""
