"""Unit tests of graph_model.producers."""
