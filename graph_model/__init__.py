"""The model of lineage: documents, facts, graph, catalogue, journal, answers.

Knows lineage and how to keep it; never Flask, never HTTP. Pure modules first. Read in this order:

1. ``errors``, ``labels``, ``identity``: the words, and how a thing gets its id;
2. ``facts``: vertices, edges and rows as values; ``store``: what a graph, a catalogue and a
   journal must do;
3. ``documents`` (what a producer told us), ``lifting`` (older wire versions), ``naming`` (what
   datasets, columns and jobs are called);
4. ``expressions``, ``columns``: text and lineage inside one plan; ``translate``: documents to
   facts;
5. ``projector``, ``withdrawal``: from the journal to graph and catalogue;
6. ``history``, ``lineage``: which writes count, and walking; ``view``, ``layout``, ``inspection``:
   what is drawn; ``references``, ``answers``: the questions;
7. ``memory``, ``gremlin``: two graphs; ``database``, ``journal``, ``catalogue``: the two that live
   in a relational database.
"""
