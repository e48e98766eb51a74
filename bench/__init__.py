"""Measurements that are run by hand: what they print stands in docs/benchmarks.md."""
