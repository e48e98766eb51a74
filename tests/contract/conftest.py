"""Fixtures of the contract suites."""

from tests.contract.databases import catalogue, engine
from tests.contract.stores import docker_url, janusgraph_url, store

__all__ = ["catalogue", "docker_url", "engine", "janusgraph_url", "store"]
