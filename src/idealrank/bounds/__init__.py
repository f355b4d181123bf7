"""Bounds over the grades that unjudged documents could have; uses SciPy."""
