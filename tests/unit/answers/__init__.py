"""Unit tests of graph_model.answers."""
