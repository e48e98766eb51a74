"""Spline's consumer API, as its UI calls it: routes, what they take, how answers are spelled."""
