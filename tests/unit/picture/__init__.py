"""Unit tests of graph_model.picture."""
