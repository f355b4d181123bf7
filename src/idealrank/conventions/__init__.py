"""Conventions: every choice that can change a number, named.

`presets` has the class `Convention` and the table of presets; `switches` gathers the row of each
switch from its field, and finds which switches can act on given data.
"""

from idealrank.conventions.presets import PRESETS, SWITCHES, Convention, Proof, array_convention

__all__ = ["PRESETS", "SWITCHES", "Convention", "Proof", "array_convention"]
