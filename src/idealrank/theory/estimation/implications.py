"""What an estimated ybar implies for NDCG, with an interval from samples drawn again."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from idealrank.data.types import FloatArray
from idealrank.theory.relevance import RelevanceModel


@dataclass(frozen=True)
class Implied:
    """What NDCG would be, as far as the data tell.

    Parameters
    ----------
    value : float
        NDCG that the estimate implies.
    low, high : float
        Interval by the percentiles of samples drawn again.
    level : float
        How often such intervals hold the true value, if the estimate is without bias.
    n : int or None
        Length of the list; None for the limit.
    discount, cutoff : str
        Texts of both.
    drawn : str
        ``"documents"`` or ``"queries"``: what was drawn again.
    resamples : int
        How many samples were drawn.
    theorem : str
        Of a limit, what states it.

    Examples
    --------
    >>> print(Implied(0.97, 0.96, 0.98, 0.95, 10**6, "log2", "", "documents", 500))
    nDCG(discount=log2) of a list of 1,000,000: 0.9700 [0.9600, 0.9800] (95 %, 500 samples of documents)
    """

    value: float
    low: float
    high: float
    level: float
    n: int | None
    discount: str
    cutoff: str
    drawn: str
    resamples: int
    theorem: str = ""

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        where = f"in the limit ({self.theorem})" if self.n is None else f"of a list of {self.n:,}"
        interval = f"{self.value:.4f} [{self.low:.4f}, {self.high:.4f}]"
        samples = f"({100 * self.level:g} %, {self.resamples} samples of {self.drawn})"
        return f"nDCG(discount={self.discount}){self.cutoff} {where}: {interval} {samples}"


def interval_of(
    compute: Callable[[RelevanceModel], FloatArray], models: Iterable[RelevanceModel], level: float
) -> tuple[FloatArray, FloatArray]:
    """Ends between which the middle `level` of the values of these models lie.

    Examples
    --------
    >>> models = [RelevanceModel.of(lambda s, p=p: p + 0 * s) for p in (0.1, 0.2, 0.3)]
    >>> low, high = interval_of(lambda model: np.array([model.at_top]), models, 0.5)
    >>> low.round(6), high.round(6)
    (array([0.15]), array([0.25]))
    """
    values = np.stack([compute(model) for model in models])
    tail = (1 - level) / 2
    return np.quantile(values, tail, axis=0), np.quantile(values, 1 - tail, axis=0)
