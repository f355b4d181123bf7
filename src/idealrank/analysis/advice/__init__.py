"""Advice: what judgments and a run look like, and which measures and cutoffs fit them."""

from idealrank.analysis.advice.fits import Advice, Fit, Surface, advise, advise_lists
from idealrank.analysis.advice.observations import Observed, Spread

__all__ = ["Advice", "Fit", "Observed", "Spread", "Surface", "advise", "advise_lists"]
