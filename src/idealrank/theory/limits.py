"""What NDCG comes to as the list of one query grows: Theorems 4, 7, 9 and 11 to 17 of Wang et al. (2013), and the linear discount."""

from collections.abc import Iterable
from dataclasses import dataclass

from idealrank.errors import OptionError
from idealrank.measures.cutoffs import RelativeCutoff
from idealrank.measures.discounts import DiscountLike
from idealrank.measures.gains import GainLike
from idealrank.theory.decay import decay_of, growth_of
from idealrank.theory.rates import rate_of
from idealrank.theory.relevance import ModelLike, RelevanceModel
from idealrank.theory.statements import statement_of
from idealrank.theory.values import value_of


@dataclass(frozen=True)
class Limit:
    """The number that NDCG converges to in probability as the list grows, and why.

    Parameters
    ----------
    value : float
        From 0 to 1.
    theorem : str
        ``"Theorem 7"`` and the like, of Wang et al. (2013); ``"Linear discount"`` where the paper has none.
    conditions : tuple of str
        What the statement needs, each with what was checked and what is assumed.
    rate : str
        How fast, in words.
    rate_constant : float or None
        C where the mean of NDCG is value - C/ln n or value - C n^-(1-b) to the first order: `rate` says which. It is the first term of
        N* (see `pseudo_expectation`) and supposes that ybar is Hoelder continuous at s = 1. None where no such constant is known.
    discount, cutoff : str
        Texts of both; the cutoff as after the @, or ``""``.
    stated : bool
        Whether the paper states this case; else the conditions say how it follows.

    Examples
    --------
    >>> found = limit(lambda s: 0.1 + 0.8 * s, discount="zipf(0.5)", cutoff="0.2n")
    >>> round(found.value, 12), found.theorem
    (0.846666666667, 'Theorem 13')
    >>> print(limit(lambda s: 0.1 + 0.8 * s))
    NDCG -> 1 (Theorem 4), discount log2, whole list
      rate: its mean is 1 - C/ln n + O(1/ln^2 n) with C = 0.293147; one list varies about it by order n^-1/2 / ln n
      condition: p = P(Y = 1) = 0.5 is above 0 (checked)
      condition: nothing else is needed of the ranker: the worst order, all relevant documents last, comes to 1 as well
    """

    value: float
    theorem: str
    conditions: tuple[str, ...]
    rate: str
    rate_constant: float | None
    discount: str
    cutoff: str = ""
    stated: bool = True

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        where = f"cutoff {self.cutoff.removeprefix('@')}" if self.cutoff else "whole list"
        lines = [f"NDCG -> {self.value:.12g} ({self.theorem}), discount {self.discount}, {where}", f"  rate: {self.rate}"]
        return "\n".join([*lines, *(f"  condition: {condition}" for condition in self.conditions)])


def limit(
    ybar: ModelLike,
    discount: DiscountLike = "log2",
    cutoff: "int | str | RelativeCutoff | None" = None,
    *,
    points: Iterable[float] = (),
    gain: GainLike = "linear",
) -> Limit:
    """What NDCG of one query converges to as its list grows.

    With u = 1 - s, the share of the list from the top, ybar(s) the chance of relevance at canonical score s and p its mean::

        log2, log(b), jarvelin(b)      whole list   1                                                        Theorem 4
                                       k = c n      int_0^c ybar(1-u) du / min(c, p)                         Theorem 12
        zipf(b), b < 1                 whole list   (1-b) int_0^1 ybar(1-u) u^-b du / p^(1-b)                Theorem 7
                                       k = c n      (1-b) int_0^c ybar(1-u) u^-b du / min(c, p)^(1-b)        Theorem 13
        1/r                            whole list   ybar(1)                                                  Theorem 9
        all of these, and linear       k = n^a      ybar(1)                                                  Theorem 11
        linear                         k = c n      int_0^c ybar(1-u) (1-u) du / G(min(c, p)), G(p) = p - p^2/2

    For grades with gains y_1 > ... > y_q and R_j = P(Y >= y_j) the expected gain takes the place of ybar, and differences
    y_j (G(R_j) - G(R_(j-1))) that of G(p): Theorems 14 to 17.

    Parameters
    ----------
    ybar : callable, mapping or RelevanceModel
        The chance of relevance at each canonical score, or one for each grade; see `RelevanceModel.of`.
    discount : str or other, optional
        log2, log(b), jarvelin(b), zipf(b) with b <= 1, or linear.
    cutoff : str or None, optional
        ``"0.2n"``, ``"sqrt(n)"``, ``"n^0.3"``, or the whole list.
    points : iterable of float, optional
        Canonical scores at which ybar has kinks or jumps.
    gain : str, mapping or callable, optional
        What a grade is worth.

    Returns
    -------
    Limit
        The value is good to 1e-12 for a ybar that is smooth but for `points`, and Lipschitz at s = 1. Float64 has no scores between
        1 - 1e-16 and 1: where ybar falls like (1 - s)^a there, the error is about 1e-16^(a + 1 - b).

    Raises
    ------
    OptionError
        A condition fails: the weights up to the cutoff have a finite sum (constant cutoffs, zipf(b) with b > 1, geometric, tables;
        Theorem 10), or nobody can know whether they have (functions). Or p = 0: nothing is relevant.
    InputError
        A chance is none, see `RelevanceModel.of`; or ybar has kinks in too many places that `points` does not name.

    References
    ----------
    Wang, Wang, Li, He, Chen and Liu (2013), A theoretical analysis of NDCG type ranking measures. COLT.

    Examples
    --------
    >>> limit(lambda s: s**2, discount="zipf(0.5)").value
    0.92376043070...
    >>> grades = {2: lambda s: 0.05 + 0.35 * s**2, 1: lambda s: 0.2 + 0.2 * s}
    >>> found = limit(grades, discount="zipf(0.5)", cutoff="0.3n", gain="exp2")
    >>> round(found.value, 9), found.theorem
    (0.557631717, 'Theorem 17')
    """
    model, decay, growth = RelevanceModel.of(ybar, points=points, gain=gain), decay_of(discount), growth_of(cutoff)
    statement = statement_of(decay, growth, graded=len(model.gains) > 1)
    if not model.steps:
        raise OptionError(f"{statement.theorem} needs p > 0: ybar is 0 everywhere, and without relevant documents NDCG is 0/0")
    value = value_of(model, decay, growth)
    rate = rate_of(model, decay, growth, value)
    return Limit(
        value, statement.theorem, statement.sentences(model), rate.sentence, rate.constant, decay.text, growth.text, statement.stated
    )
