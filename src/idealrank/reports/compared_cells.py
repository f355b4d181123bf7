"""One difference as the cells of a table, the same in every format."""

import math

from idealrank.reports.digits import p_text
from idealrank.verdict import Difference, Slice


def cells(row: Difference) -> list[str]:
    """The cells of one measure, as a table shows them.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> cells(ir.compare(one, one)["RR"])
    ['RR', '1.0000', '1.0000', '+0.0000', '[+0.0000, +0.0000]', '1', '0/1/0', '-', '-', 'undecided']
    """
    return [row.measure, *number_cells(row)]


def number_cells(row: Difference | Slice) -> list[str]:
    """The same without the measure.

    Examples
    --------
    >>> from idealrank.verdict import slices
    >>> number_cells(slices({"q": 0.5}, {"q": 0.75}, {"q": "news"})["news"])
    ['0.5000', '0.7500', '+0.2500', '-', '1', '1/0/0', '-', '-', 'undecided']
    """
    low, high = row.interval
    signs = "+.4f" if row.about == "mean difference" else ".4f"
    interval = "-" if not (math.isfinite(low) and math.isfinite(high)) else f"[{low:{signs}}, {high:{signs}}]"
    return [
        f"{row.mean_a:.4f}",
        f"{row.mean_b:.4f}",
        f"{row.difference:+.4f}",
        interval,
        p_text(row.p_corrected),
        f"{row.wins}/{row.ties}/{row.losses}",
        f"{row.effect:+.2f}" if math.isfinite(row.effect) else "-",
        f"{row.detectable:.4f}" if math.isfinite(row.detectable) else "-",
        row.verdict,
    ]
