"""`idealrank theory feasible`: which discounts and cutoffs can tell rankers apart."""

from types import ModuleType

from idealrank.cli import headings
from idealrank.cli import options as shared
from idealrank.cli.output import Formats
from idealrank.theory import feasibility
from idealrank.theory.commands import model_options

_DEFAULT = (("log2", "zipf(0.5)", "zipf(1)", "geometric(2)"), ("all", "0.2n", "sqrt(n)", "10"))
_EPILOG = """\
Examples:

\b
  idealrank theory feasible
  idealrank theory feasible --discount log2 --cutoff 10
  idealrank theory feasible --discount 'zipf(0.3),linear' --cutoff all,n^0.7 --format csv
"""


def _views() -> ModuleType:
    from idealrank.theory.views import tables  # noqa: PLC0415  (NumPy; not for the help)

    return tables


_FORMATS = Formats(
    "A table to read;",
    views=_views,
    table="feasibility_table",
    json="feasibility_json",
    rows="feasibility_rows",
)


@headings.command(
    epilog=_EPILOG,
    short_help="List the discounts and cutoffs that can distinguish rankers, with reasons.",
)
@model_options.discounts(_DEFAULT[0])
@model_options.cutoffs(_DEFAULT[1])
@_FORMATS.option
@shared.output
def feasible(
    *,
    discount_texts: tuple[str, ...],
    cutoff_texts: tuple[str, ...],
    layout: str,
    output_path: str | None,
) -> None:
    """Decide whether NDCG with a discount and a cutoff can distinguish rankers on one query as its
    list grows.

    \b
    feasible    NDCG converges, and so does the order of two rankers
    borderline  NDCG converges, but depends on the probability of relevance at the very top
    infeasible  NDCG does not converge: chance decides, however long the list

    More queries help even if more documents do not: nDCG@10 is infeasible here, and sound as a mean
    over many queries.
    """  # noqa: D301  (click's mark is the backspace itself)
    pairs = model_options.pairs(discount_texts, cutoff_texts, _DEFAULT)
    verdicts = [feasibility(discount, cutoff) for discount, cutoff in pairs]
    _FORMATS.write(
        layout, output_path, [model_options.measure_text(pair) for pair in pairs], verdicts
    )
