"""`idealrank theory limits`: what NDCG tends to, and what it is on the way."""

from collections.abc import Sequence

import click

from idealrank.app import options as shared
from idealrank.app import output
from idealrank.app.progress import Watch
from idealrank.app.theory import options
from idealrank.errors import OptionError
from idealrank.measures.cutoffs import cutoff_text
from idealrank.reports import theory
from idealrank.reports.theory import Ended, LimitRow
from idealrank.theory.feasible import feasibility
from idealrank.theory.limits import Limit, limit
from idealrank.theory.pseudo import pseudo_expectation
from idealrank.theory.relevance import RelevanceModel

_DEFAULT = (("log2", "zipf(0.5)", "geometric(2)"), ("all", "0.2n", "10"))
_SIZES = ("100", "10_000", "1e6")
_EPILOG = """\
Examples:

\b
  idealrank theory limits --ybar 0.1+0.8s
  idealrank theory limits --ybar 'logistic(8,-5)' --discount 'zipf(0.5)' --cutoff 0.2n --n 1e3,1e12
  idealrank theory limits --ybar 0:0.1,0.8:0.1,0.8:0.9,1:0.9 --format json
  idealrank theory limits --ybar 2:0.05+0.35s^2 --ybar 1:0.2+0.2s --gain exp2

s is the share of the documents that the ranker puts below: 0 at the bottom of the list, 1 at the top. --ybar says how likely a
document there is relevant:

\b
  0.1+0.8s                     a polynomial in s, with + - * ^ and brackets
  logistic(8,-5)               1 / (1 + exp(-(8s - 5)))
  0:0.1,0.5:0.3,0.5:0.9,1:0.9  points s:chance joined by straight lines, with a jump at 0.5
  curve.csv                    such points from a file, s,chance a line
  2:0.1s --ybar 1:0.3          one chance for each grade
"""


@click.command(epilog=_EPILOG, short_help="Compute what NDCG tends to as lists grow, and its mean at any length.")
@click.option("--ybar", "texts", metavar="MODEL", multiple=True, required=True, help="How likely documents are relevant; see below.")
@options.discounts(_DEFAULT[0])
@options.cutoffs(_DEFAULT[1])
@click.option(
    "--n", "size_texts", metavar="N", multiple=True,
    help=f"List lengths, as in 1000,1e6; repeat it, or put commas between.  [default: {','.join(_SIZES)}]",
)  # fmt: skip
@options.gain
@options.layout
@shared.output
def limits(
    *,
    texts: tuple[str, ...],
    discount_texts: tuple[str, ...],
    cutoff_texts: tuple[str, ...],
    size_texts: tuple[str, ...],
    gain: str,
    layout: str,
    output_path: str | None,
) -> None:
    """Compute what NDCG of one query tends to as its list grows, by theorem, and its mean at some list lengths.

    A limit is of little use without the lengths: under the logarithmic discount all rankers tend to 1, and most are far from it on
    any list there is. With one discount and one cutoff, the conditions of the theorem and the rate are told as well.
    """
    pairs = options.pairs(discount_texts, cutoff_texts, _DEFAULT)
    sizes = options.list_sizes(size_texts or _SIZES, "--n")
    model = options.model_of(texts, "--ybar", gain)
    rows = Watch().run("limits", lambda _: [_row(model, pair, sizes) for pair in pairs])
    output.write(theory.limits_report(rows, sizes, model, ", ".join(texts), layout), output_path)


def _row(model: RelevanceModel, pair: options.Pair, sizes: Sequence[int]) -> LimitRow:
    discount, cutoff = pair
    told, theorem, why_not = _limit(model, pair)
    value = None if told is None else Ended(told.value)
    means = tuple(_mean(model, size, pair) for size in sizes)
    return LimitRow(options.measure_text(pair), discount, cutoff_text(cutoff).removeprefix("@"), value, theorem, told, why_not, means)


def _limit(model: RelevanceModel, pair: options.Pair) -> tuple[Limit | None, str, str]:
    """The limit, what states it, and why there is none."""
    discount, cutoff = pair
    try:
        told = limit(model, discount=discount, cutoff=cutoff)
    except OptionError:
        verdict = feasibility(discount, cutoff)
        if verdict.verdict != "infeasible":
            raise
        return None, verdict.theorem, verdict.reason
    return told, told.theorem, ""


def _mean(model: RelevanceModel, size: int, pair: options.Pair) -> Ended | None:
    """N*; there is none of discounts whose integral is not known, such as a table of weights, nor of a single document."""
    try:
        return Ended(pseudo_expectation(model, size, *pair))
    except OptionError:
        return None
