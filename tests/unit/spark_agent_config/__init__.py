"""Unit tests of spark_agent_config."""
