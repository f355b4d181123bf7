"""Every measure written slowly, from its definition: plain Python, one query at a time, ties by
trying every order.

Nothing here is shared with the library but the text of a measure and the words of the switches.
Each family has its module `naive_*`, named as in `measures`, with tables of its own, which are
collected here.
"""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from importlib import import_module
from pathlib import Path

from tests.twins.naive_dcg import ideal_dcg
from tests.twins.naive_query import (
    Asked,
    Entry,
    Gain,
    NaiveError,
    Query,
    Row,
    Value,
    prepare,
    without_duplicates,
)


def value(text: str, query: Query, ties: str) -> float | None:
    """A measure of one query; None where it does not count. The mean, best or worst over the orders
    of ties.
    """
    asked = Asked.read(text)
    ties = asked.options.get("ties", ties)
    by_gain = asked.name in _BY_GAIN or asked.options.get("of", "EU") != "EU"
    if ties in ("best", "worst") and by_gain:
        return _VALUES[asked.name](asked, _by_gain(asked, query, ties), query)
    values = [_VALUES[asked.name](asked, order, query) for order in query.orders]
    if values[0] is None:
        return None
    numbers = [number for number in values if number is not None]
    mean = math.fsum(numbers) / len(numbers)
    # The best order has the highest DCG, also where the ideal by which it is divided is negative.
    upside_down = asked.name in _LESS_IS_BETTER or (
        asked.name == "nDCG" and ideal_dcg(asked, query.orders[0], query) < 0
    )
    best, worst = (min(numbers), max(numbers)) if upside_down else (max(numbers), min(numbers))
    result = {"best": best, "worst": worst}.get(ties, mean)
    return _rounded(result, asked.options.get("rounding", "none"))


def _by_gain(asked: Asked, query: Query, ties: str) -> list[Entry]:
    """The order of the highest (or lowest) gains, as they come; where nothing is gained, an
    unjudged document is the lower.
    """
    gain = _GAINS[asked.name]
    return (max if ties == "best" else min)(
        query.orders, key=lambda order: [(gain(asked, e, query), e is not None) for e in order]
    )


def _rounded(number: float, rounding: str) -> float:
    """Two decimals with halves up, as Java's Math.round; five as C's printf."""
    if rounding == "round-2" and math.isfinite(number):
        return math.floor(Fraction(number * 100) + Fraction(1, 2)) / 100
    return float(f"{number:.5f}") if rounding == "round-5" else number


# Every family states its own in the same way: its values; what places gain, where ties need it; the
# measures whose best and worst orders are those of the gains, not of the values; the measures whose
# best value is the lowest.
FAMILIES = {
    path.stem.removeprefix("naive_"): vars(import_module(f"tests.twins.{path.stem}"))
    for path in sorted(Path(__file__).parent.glob("naive_*.py"))
    if path.stem != "naive_measures"
}

_VALUES: dict[str, Value] = {
    name: value for family in FAMILIES.values() for name, value in family.get("VALUES", {}).items()
}
_GAINS: dict[str, Gain] = {
    name: gain for family in FAMILIES.values() for name, gain in family.get("GAINS", {}).items()
}
_BY_GAIN = {name for family in FAMILIES.values() for name in family.get("BY_GAIN", ())}
_LESS_IS_BETTER = {
    name for family in FAMILIES.values() for name in family.get("LESS_IS_BETTER", ())
}


def switches_for(text: str, switches: Mapping[str, str]) -> Mapping[str, str]:
    """The switches of a convention, as the options of a measure change them."""
    options = Asked.read(text).options
    if "judged_only" in options:
        unjudged = switches["unjudged"] if switches["unjudged"] == "error" else "skipped"
        switches = {**switches, "unjudged": unjudged, "pooled": "skipped"}
    return {**switches, "ties": options.get("ties", switches["ties"])}


def evaluate(
    qrels: Mapping[str, Mapping[str, float]],
    run: Mapping[str, Sequence[Row]],
    text: str,
    switches: Mapping[str, str],
) -> dict[str, float | None]:
    """A resolved measure for every query that counts."""
    switches = switches_for(text, switches)
    for grades in qrels.values():
        prepare(grades, (), switches)  # a refused grade or document is refused wherever it stands
    for rows in run.values():
        without_duplicates(rows, switches["duplicates"])
    values: dict[str, float | None] = {}
    for query_id in [*qrels, *(query for query in run if query not in qrels)]:
        in_qrels, in_run = query_id in qrels, query_id in run
        if not in_run and switches["missing"] == "error":
            raise NaiveError("missing")
        if (not in_run and switches["missing"] == "left-out") or (
            not in_qrels and switches["without_judgments"] == "left-out"
        ):
            continue
        query = prepare(qrels.get(query_id, {}), run.get(query_id, ()), switches)
        values[query_id] = value(text, query, switches["ties"])
    return values
