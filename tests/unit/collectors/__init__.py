"""Unit tests of collectors."""
