"""What a measure does not offer, so that properties ask only for what there is."""

from idealrank.conventions import Convention
from idealrank.measures.measure import Measure


def offers_expected(measure: Measure, convention: Convention) -> bool:
    """True if there is an expected value over tie orders: the class says it, and floored terms have
    none.
    """
    return (
        measure.ties != "not offered"
        and getattr(measure.under(convention), "rounding", "none") != "floor-2"
    )


def within_offer(measure: Measure, convention: Convention, instead: str = "input") -> Convention:
    """The convention, with other ties where it asks for an expected value that the measure does not
    offer.
    """
    if convention.alignment.ties == "expected" and not offers_expected(measure, convention):
        return Convention.of(convention, ties=instead)
    return convention
