"""Conventions: every choice that can change a number, named.

`presets` has what a convention is and the table of presets, `switches` one row for each switch, and `occurrences` says which switches can
act on given data.
"""

from idealrank.conventions.presets import PRESETS, SWITCHES, Convention, Proof, array_convention

__all__ = ["PRESETS", "SWITCHES", "Convention", "Proof", "array_convention"]
