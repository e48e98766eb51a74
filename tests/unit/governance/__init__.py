"""Unit tests of graph_model.governance."""
