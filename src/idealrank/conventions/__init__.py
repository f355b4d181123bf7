"""Conventions: every choice that can change a number, named.

`presets` has the class `Convention` and the table of presets; `switches` has one row for each switch, and `Occurrences`, which say which
switches can act on given data.
"""

from idealrank.conventions.presets import PRESETS, SWITCHES, Convention, Proof, array_convention

__all__ = ["PRESETS", "SWITCHES", "Convention", "Proof", "array_convention"]
