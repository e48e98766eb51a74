"""A second opinion: what is true at a time, worked out from the rules by brute force."""
