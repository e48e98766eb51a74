"""Unit tests of graph_model.projection."""
