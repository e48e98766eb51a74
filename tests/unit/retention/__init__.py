"""Unit tests of graph_model.retention.coverage."""
