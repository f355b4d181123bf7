"""Quantiles of two-sided intervals."""

from scipy.special import ndtri, stdtrit


def z_quantile(confidence: float) -> float:
    """Normal quantile of a two-sided interval.

    Examples
    --------
    >>> round(z_quantile(0.95), 6)
    1.959964
    """
    return float(ndtri((1 + confidence) / 2))


def t_quantile(confidence: float, df: float) -> float:
    """Student's quantile of a two-sided interval; infinite without a degree of freedom.

    Examples
    --------
    >>> round(t_quantile(0.95, 24), 4), t_quantile(0.95, 0)
    (2.0639, inf)
    """
    return float(stdtrit(df, (1 + confidence) / 2)) if df > 0 else float("inf")
