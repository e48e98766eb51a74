"""A second opinion: the truth at a time, worked out from the rules by brute force."""
