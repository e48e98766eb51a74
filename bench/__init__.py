"""Measurements that are run by hand: docs/benchmarks.md has their results."""
