"""Unit tests of graph_model.stores."""
