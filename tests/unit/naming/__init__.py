"""Unit tests of graph_model.naming."""
