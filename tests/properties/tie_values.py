"""Where the expected value over the orders of ties is to be had, from the facts of a measure's class."""

from hypothesis import strategies as st

from idealrank.conventions import Convention
from idealrank.measures.measure import Measure


def offered(measure: Measure, convention: Convention) -> bool:
    """Whether the mean over ties is to be had: the class says so, and of floored terms the library does."""
    unknown = measure.ties == "not offered" or getattr(measure.under(convention), "rounding", "none") == "floor-2"
    return not (convention.alignment.ties == "expected" and unknown)


def tie_rules(measure: Measure, *rules: str) -> st.SearchStrategy[str]:
    """Some of these rules for ties; not the expected value where the class says that it has none."""
    without = measure.ties == "not offered" or getattr(measure, "rounding", None) == "floor-2"
    return st.sampled_from([rule for rule in rules if rule != "expected" or not without])
