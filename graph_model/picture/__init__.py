"""The picture of an answer: nodes and edges for a viewer, and their positions.

In reading order:

``view``        nodes and edges of a picture, in lanes of storage layers where asked: pure values
``json_form``   these and other frozen values of answers as JSON
``filtering``   the part of an answer that a filter selects, with its neighbours, drawn or not
``layout``      layered layout in the direction of flow, and the sizes of boxes: pure, deterministic
``ranks``       the ranks of a layout, broken to a breadth where asked, and the order in them
``operations``  the operations of one plan as its page draws them, without steps that only rename
"""
