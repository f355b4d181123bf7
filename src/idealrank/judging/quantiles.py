"""Quantiles of two-sided intervals."""

from scipy.special import ndtri, stdtrit


def z_quantile(confidence: float) -> float:
    """Normal quantile of a two-sided interval."""
    return float(ndtri((1 + confidence) / 2))


def t_quantile(confidence: float, df: float) -> float:
    """Student's quantile of a two-sided interval; infinite without a degree of freedom."""
    return float(stdtrit(df, (1 + confidence) / 2)) if df > 0 else float("inf")
