"""Journal documents -> what the stores must hold: the pure half of the projector."""
