"""The questions to the journal, a class for each of its protocols, beside their SQL.

In reading order:

``connection``  the transactions of a journal, which the answers to all questions share
``rows``        rows of the journal -> documents
``settings``    the values that a journal keeps by their keys
``intake``      documents into the journal, durable on return
``documents``   documents by their subject keys and positions, with their bodies or without
``subjects``    the subject keys of documents
``states``      the states of documents, and the one projector
``contents``    lists, counts and samples of the whole journal
"""
