"""One difference as the cells of a table, the same in every format."""

import math

import numpy as np

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


def p_text(p: float) -> str:
    """A p value with three digits and no exponent; tiny ones as a bound.

    Examples
    --------
    >>> p_text(0.0499), p_text(1.0), p_text(3e-5), p_text(2e-9)
    ('0.0499', '1', '0.00003', '<0.000001')
    """
    return "<0.000001" if p < 1e-6 else np.format_float_positional(p, precision=3, fractional=False, trim="-")
