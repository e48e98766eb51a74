"""Questions about one plan: ``column_steps`` (its column edges), ``pages`` (the fine view)."""
