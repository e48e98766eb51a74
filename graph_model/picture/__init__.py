"""The picture of an answer: nodes and edges for a viewer, and their positions.

In reading order:

``view``                nodes and edges of a picture: pure values, ready to become JSON; a picture
                        in lanes, one for each storage layer, top to bottom: deterministic
``json_form``           these and other frozen values of answers as JSON
``filtering``           the part of an answer that a filter selects, with its neighbours; neighbours
                        that are not drawn, and the attempts of failed runs
``layout``              layered layout in the direction of flow: pure and deterministic; how large a
                        box is drawn for its name
``operations``          the operations of one plan as its page draws them; a plan without the steps
                        that only give a name
"""
