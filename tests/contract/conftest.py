"""Fixtures of the contract suites."""

from tests.contract.databases import engine
from tests.contract.stores import docker_url, store

__all__ = ["docker_url", "engine", "store"]
