"""Unit tests of graph_model.lineage."""
