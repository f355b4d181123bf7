"""Limits of NDCG as the list of one query grows: Theorems 4, 7, 9 and 11 to 17 of Wang et al.
(2013), and the linear discount.

The rate is the first term of the mean's distance from the limit, by expanding N*. Let A be the
integral of E[Y | 1 - u] times the weights to first order, B the same of the ideal list, and L = A/B
the limit. The weights to second order add A' to A and B' to B: the constant is (L B' - A') / B.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from idealrank.data.types import FloatArray
from idealrank.errors import OptionError
from idealrank.measures.cutoffs import RelativeCutoff
from idealrank.measures.discounts import DiscountLike
from idealrank.measures.gains import GainLike
from idealrank.theory.decay import Decay, Growth, decay_of, growth_of
from idealrank.theory.discount_sums import DEEPEST, linear_gathered, linear_ideal
from idealrank.theory.quadrature import integrate
from idealrank.theory.relevance import ModelLike, RelevanceModel, over_steps

_SAME = (
    "a factor cancels, and weights whose ratio to 1/log(1 + r) tends to 1 and whose sum diverges "
    "have the same limit"
)

_LISTED = 4  # kinks and jumps that are named one by one
_WHATEVER = (
    "nothing else is required of the ranker: even the worst order, with all relevant documents "
    "last, tends to 1"
)


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A theorem, and what it needs beyond p > 0."""

    theorem: str
    # where the expected gain needs to be
    continuous: Literal["everywhere", "top", "nowhere"] = "everywhere"
    notes: tuple[str, ...] = ()
    stated: bool = True

    def sentences(self, model: RelevanceModel) -> tuple[str, ...]:
        """Everything that was checked or assumed, in words."""
        graded = len(model.gains) > 1
        sentences = [
            f"{'P(Y > 0)' if graded else 'p = P(Y = 1)'} = {model.share:.6g} is above 0 (checked)"
        ]
        if graded:
            gain, share = model.steps[0]
            sentences.append(
                f"the best grade that occurs gains {gain:g}, in a share R_1 = {share:.6g} (checked)"
            )
        if self.continuous != "nowhere":
            sentences.append(
                f"{'E[Y | s]' if graded else 'ybar'} is continuous {self._where(model)}"
            )
            sentences.append(
                "scores have no ties, so that canonical scores are uniform (assumed; Lemma 3)"
            )
        return (*sentences, *self.notes)

    def _where(self, model: RelevanceModel) -> str:
        if self.continuous == "top":
            return "at s = 1 (assumed)"
        if not model.points:
            return "on [0, 1] (assumed)"
        listed = ", ".join(f"{point:g}" for point in model.points)
        points = f"s = {listed}"
        if len(model.points) > _LISTED:
            points = f"the {len(model.points)} points given"
        return f"on [0, 1] but at {points} (assumed; single places have no share of the list)"


def statement_of(decay: Decay, growth: Growth, *, graded: bool) -> Statement:
    """The theorem for a discount and a cutoff."""
    _check_sum(decay, growth)
    notes: tuple[str, ...] = ()
    if decay.kind == "logarithmic" and decay.text != "log2":
        notes = (f"discount {decay.text} falls under the logarithm's theorem: {_SAME}",)
    if growth.kind == "power":
        return _power_statement(decay, growth, notes, graded=graded)
    if decay.kind == "linear":
        proof = (
            "DCG/n^2 is a mean of bounded terms with weights 1 - r/n, so a law of large numbers "
            "gives it, for grades as well"
        )
        return Statement(
            theorem="Linear discount", notes=(f"not in Wang et al.: {proof}",), stated=False
        )
    if decay.kind == "zipf" and decay.exponent == 1:
        return _reciprocal_statement(growth, graded=graded)
    if decay.kind == "logarithmic":
        if growth.kind == "share":
            return Statement(theorem="Theorem 16" if graded else "Theorem 12", notes=notes)
        notes = (*notes, _WHATEVER)
        if graded:
            notes += ("for grades: Theorem 14's expression at b = 0, where both sides are E[Y]",)
        return Statement(theorem="Theorem 4", continuous="nowhere", notes=notes)
    numbers = {("whole", False): 7, ("whole", True): 14, ("share", False): 13, ("share", True): 17}
    return Statement(theorem=f"Theorem {numbers[growth.kind, graded]}")


def _power_statement(
    decay: Decay, growth: Growth, notes: tuple[str, ...], *, graded: bool
) -> Statement:
    depth_note = (
        f"k = {growth.text.removeprefix('@')} grows without bound and is o(n), and so does the "
        "sum of D up to k (checked by family)"
    )
    if decay.kind == "linear":
        notes += (
            "weights n - r depend on n, beyond the theorem; up to k = o(n) they are n (1 + o(1)), "
            "and cancel",
        )
    return Statement(
        theorem="Theorem 15" if graded else "Theorem 11",
        continuous="top",
        notes=(depth_note, *notes),
        stated=decay.kind != "linear",
    )


def _reciprocal_statement(growth: Growth, *, graded: bool) -> Statement:
    notes = []
    if graded:
        notes.append(
            "not stated in the paper for grades: E[Y | 1]/y_1, since ranks up to n R_1 hold all "
            "but O(1) of ln n; simulation agrees"
        )
    if growth.kind == "share":
        notes.append(
            "not stated in the paper for k = c n: up to k = n / ln n Theorem 11 holds, and the "
            "ranks beyond add at most ln ln n + O(1) of ln n"
        )
    return Statement(theorem="Theorem 9", continuous="top", notes=tuple(notes), stated=not notes)


def _check_sum(decay: Decay, growth: Growth) -> None:
    """The sum of D up to the cutoff must diverge."""
    no_limit = (
        "NDCG then depends on a few documents at the top and stays random, unless ybar(1) is 0 or 1"
    )
    if growth.kind == "constant":
        raise OptionError(
            f"cutoff {growth.text.removeprefix('@')} has no limit: Theorems 11 and 12 need a "
            f"cutoff that grows with n. {no_limit} (as in Theorem 10); take 0.2n, sqrt(n) or "
            "n^0.3, or average over queries"
        )
    if decay.summable:
        raise OptionError(
            f"discount={decay.text} has no limit: the weights of all ranks have a finite sum "
            f"(Theorem 10; Theorems 7 and 11 need it to diverge). {no_limit}; take log2, zipf(b) "
            "with b <= 1, or linear"
        )
    if decay.summable is None:
        raise OptionError(
            f"discount={decay.text}: Theorems 4 to 17 need to know whether the sum of its weights "
            "diverges and how, and no number of values of a function can tell; expected log2, "
            "log(b), jarvelin(b), zipf(b) or linear"
        )


_DEPTHS = (0.5, 2.0, 8.0)  # where panels start to be halved: what is integrated falls like exp(-z)


def value_of(model: RelevanceModel, decay: Decay, growth: Growth) -> float:
    """The limit, for a discount and a cutoff that have one."""
    if growth.kind == "power" or (decay.kind == "zipf" and decay.exponent == 1):
        highest_gain, _ = model.steps[0]
        return model.at_top / highest_gain
    if decay.kind == "linear":
        return linear_gathered(model, growth.size) / linear_ideal(model, growth.size)
    if decay.kind == "logarithmic" and growth.kind == "whole":
        return 1.0
    power = 1 - decay.exponent if decay.kind == "zipf" else 1.0
    ideal = over_steps(model, lambda share: min(share, growth.size) ** power)
    return power_gathered(model, power, growth.size) / ideal


def power_gathered(model: RelevanceModel, power: float, share: float) -> float:
    """The integral power * int_0^share E[Y | 1 - u] u^(power - 1) du for 0 < power <= 1.

    By the depth z = -ln u the singularity at the top is exp(-power z), smooth for any power. The
    value at the top is integrated in closed form; the difference from it dies away.
    """
    beyond = beyond_top(model, lambda depth: np.exp(-power * depth), share)
    return float(model.at_top * share**power) + power * beyond


def beyond_top(
    model: RelevanceModel, weight: Callable[[FloatArray], FloatArray], share: float
) -> float:
    """int_0^share (E[Y | 1 - u] - E[Y | 1]) w(z) du/u with z = -ln u."""
    top = model.at_top

    def beyond(depth: FloatArray) -> FloatArray:
        return (model.expected_from_top(np.exp(-depth)) - top) * weight(depth)

    points = (*_DEPTHS, *(-math.log(share_above) for share_above in model.depths))
    return integrate(beyond, -math.log(share), DEEPEST, points=points)


_ROUNDING = 1e-12  # below it, a constant is left over from terms that cancel


@dataclass(frozen=True)
class Rate:
    """A sentence, and the constant C in it where there is one."""

    sentence: str
    constant: float | None = None


def rate_of(model: RelevanceModel, decay: Decay, growth: Growth, value: float) -> Rate:
    """The rate for a discount and a cutoff that have the limit `value`."""
    if growth.kind == "power":
        return _power_rate(decay, growth)
    if decay.kind == "linear":
        return Rate(
            "the mean of DCG over the mean of its ideal differs by O(1/n) (not at all on the whole "
            "list); one list varies by order n^-1/2"
        )
    if decay.kind == "logarithmic":
        return _of_logarithm(model, growth.size, value)
    if decay.exponent == 1:
        return _reciprocal_rate(model, growth.size, value)
    return _of_zipf(model, decay, growth.size, value)


def _settled(constant: float) -> float:
    """The constant, 0 where only rounding is left of it."""
    return 0.0 if abs(constant) < _ROUNDING else constant


def _of_logarithm(model: RelevanceModel, share: float, value: float) -> Rate:
    """F(x n) = x n / ln n (1 + (1 - ln x) / ln n + ...) and 1 / ln(u n) = (1 - ln u / ln n + ...) /
    ln n.

    For the whole list of binary relevance C = 1 - ln p + (1/p) int ybar(1 - u) ln u du.
    """
    top = model.at_top * share * (math.log(share) - 1)
    list_term = top + beyond_top(model, lambda depth: -depth * np.exp(-depth), share)
    ideal_term = over_steps(model, lambda x: min(x, share) * (1 - math.log(min(x, share))))
    ideal = over_steps(model, lambda x: min(x, share))
    constant = _settled((list_term + value * ideal_term) / ideal)
    # On the whole list what varies in DCG varies in its ideal, too, but for 1 / ln n of it.
    noise = "n^-1/2 / ln n" if share == 1 else "n^-1/2"
    return Rate(
        f"its mean is {value:.6g} - C/ln n + O(1/ln^2 n) with C = {constant:.6g}; one list varies "
        f"about it by order {noise}",
        constant,
    )


def _of_zipf(model: RelevanceModel, decay: Decay, share: float, value: float) -> Rate:
    """Both sides have zeta(b) times their value at the top beyond n^(1-b) times an integral."""
    beta = decay.exponent
    power = 1 - beta
    zeta = decay.kappa - 1 / power
    ideal = over_steps(model, lambda x: min(x, share) ** power) / power
    highest_gain, _ = model.steps[0]
    constant = _settled(zeta * (value * highest_gain - model.at_top) / ideal)
    noise = f"n^-{power:.6g}"
    if beta < 0.5:
        noise = "n^-1/2"
    elif beta == 0.5:
        noise = "(ln n / n)^1/2"
    return Rate(
        f"its mean is {value:.6g} - C n^-{power:.6g} + ... with C = {constant:.6g}; one list "
        f"varies about it by order {noise}",
        constant,
    )


def _reciprocal_rate(model: RelevanceModel, share: float, value: float) -> Rate:
    """Add the integral of (ybar(1 - u) - ybar(1)) du/u to ybar(1) ln n."""
    list_term = beyond_top(model, np.ones_like, share) + model.at_top * math.log(share)
    ideal_term = over_steps(model, lambda x: math.log(min(x, share)))
    highest_gain, _ = model.steps[0]
    constant = _settled((value * ideal_term - list_term) / highest_gain)
    return Rate(
        f"its mean is {value:.6g} - C/ln n + O(1/ln^2 n) with C = {constant:.6g}; one list varies "
        "about it by order 1/ln n, too",
        constant,
    )


def _power_rate(decay: Decay, growth: Growth) -> Rate:
    size = growth.size
    if decay.kind == "zipf" and decay.exponent == 1:
        noise = "1/ln n"
    elif decay.kind == "zipf" and decay.exponent == 0.5:
        noise = f"(ln n)^1/2 n^-{size / 2:.6g}"
    else:
        power = min(0.5, 1 - decay.exponent) if decay.kind == "zipf" else 0.5
        noise = f"n^-{size * power:.6g}"
    return Rate(
        f"its mean differs by what ybar changes within the top k = n^{size:g} documents, of order "
        f"n^-{1 - size:.6g} where ybar has a slope at 1; one list varies about it by order {noise}"
    )


@dataclass(frozen=True, kw_only=True)
class Limit:
    """Limit in probability of NDCG as the list grows, with its theorem.

    Parameters
    ----------
    value : float
        From 0 to 1.
    theorem : str
        Theorem of Wang et al. (2013), such as ``"Theorem 7"``; ``"Linear discount"`` if the paper
        has none.
    conditions : tuple of str
        Conditions of the statement, with what was checked and what is assumed.
    rate : str
        Rate of convergence, in words.
    rate_constant : float or None
        C if the mean of NDCG is value - C/ln n or value - C n^-(1-b) to first order: `rate` says
        which. It is the first term of N* (see `pseudo_expectation`) and assumes that ybar is
        Hoelder continuous at s = 1. None if no such constant is known.
    discount, cutoff : str
        Texts of discount and cutoff; the cutoff as after the @, or ``""``.
    stated : bool
        Whether the paper states this case; otherwise the conditions say how it follows.

    Examples
    --------
    >>> found = limit(lambda s: 0.1 + 0.8 * s, discount="zipf(0.5)", cutoff="0.2n")
    >>> round(found.value, 12), found.theorem
    (0.846666666667, 'Theorem 13')
    >>> print(limit(lambda s: 0.1 + 0.8 * s))
    NDCG -> 1 (Theorem 4), discount log2, whole list
      rate: its mean is 1 - C/ln n + O(1/ln^2 n) with C = 0.293147; one list varies about it by order n^-1/2 / ln n
      condition: p = P(Y = 1) = 0.5 is above 0 (checked)
      condition: nothing else is required of the ranker: even the worst order, with all relevant documents last, tends to 1
    """  # noqa: E501

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
        lines = [
            f"NDCG -> {self.value:.12g} ({self.theorem}), discount {self.discount}, {where}",
            f"  rate: {self.rate}",
        ]
        return "\n".join([*lines, *(f"  condition: {condition}" for condition in self.conditions)])


def limit(
    ybar: ModelLike,
    discount: DiscountLike = "log2",
    cutoff: "int | str | RelativeCutoff | None" = None,
    *,
    points: Iterable[float] = (),
    gain: GainLike = "linear",
) -> Limit:
    """Compute the limit of one query's NDCG as its list grows.

    Let u = 1 - s be the share of the list from the top, ybar(s) the probability of relevance at
    canonical score s, and p its mean::

        log2, log(b), jarvelin(b)      whole list   1                                                        Theorem 4
                                       k = c n      int_0^c ybar(1-u) du / min(c, p)                         Theorem 12
        zipf(b), b < 1                 whole list   (1-b) int_0^1 ybar(1-u) u^-b du / p^(1-b)                Theorem 7
                                       k = c n      (1-b) int_0^c ybar(1-u) u^-b du / min(c, p)^(1-b)        Theorem 13
        1/r                            whole list   ybar(1)                                                  Theorem 9
        all of these, and linear       k = n^a      ybar(1)                                                  Theorem 11
        linear                         k = c n      int_0^c ybar(1-u) (1-u) du / G(min(c, p)), G(p) = p - p^2/2

    For grades with gains y_1 > ... > y_q and R_j = P(Y >= y_j), the expected gain replaces ybar,
    and differences y_j (G(R_j) - G(R_(j-1))) replace G(p): Theorems 14 to 17.

    Parameters
    ----------
    ybar : callable, mapping or RelevanceModel
        Probability of relevance at each canonical score, or one function for each grade; see
        `RelevanceModel.of`.
    discount : str or other, optional
        log2, log(b), jarvelin(b), zipf(b) with b <= 1, or linear.
    cutoff : str or None, optional
        ``"0.2n"``, ``"sqrt(n)"``, ``"n^0.3"``, or the whole list.
    points : iterable of float, optional
        Canonical scores at which ybar has kinks or jumps.
    gain : str, mapping or callable, optional
        Gain of each grade.

    Returns
    -------
    Limit
        The value is accurate to 1e-12 for a ybar that is smooth except at `points`, and Lipschitz
        at s = 1. Float64 has no scores between 1 - 1e-16 and 1: if ybar behaves like (1 - s)^a
        there, the error is about 1e-16^(a + 1 - b).

    Raises
    ------
    OptionError
        A condition fails: the weights up to the cutoff have a finite sum (constant cutoffs, zipf(b)
        with b > 1, geometric, tables; Theorem 10), or this is unknown (functions). Or p = 0:
        nothing is relevant.
    InputError
        A value is not a probability, see `RelevanceModel.of`; or ybar has kinks in too many places
        that `points` does not name.

    References
    ----------
    Wang, Wang, Li, He, Chen and Liu (2013), A theoretical analysis of NDCG type ranking measures.
    COLT.

    Examples
    --------
    >>> limit(lambda s: s**2, discount="zipf(0.5)").value
    0.92376043070...
    >>> grades = {2: lambda s: 0.05 + 0.35 * s**2, 1: lambda s: 0.2 + 0.2 * s}
    >>> found = limit(grades, discount="zipf(0.5)", cutoff="0.3n", gain="exp2")
    >>> round(found.value, 9), found.theorem
    (0.557631717, 'Theorem 17')
    """  # noqa: E501
    model = RelevanceModel.of(ybar, points=points, gain=gain)
    decay = decay_of(discount)
    growth = growth_of(cutoff)
    statement = statement_of(decay, growth, graded=len(model.gains) > 1)
    if not model.steps:
        raise OptionError(
            f"{statement.theorem} needs p > 0: ybar is 0 everywhere, and without relevant "
            f"documents NDCG is 0/0"
        )
    value = value_of(model, decay, growth)
    rate = rate_of(model, decay, growth, value)
    return Limit(
        value=value,
        theorem=statement.theorem,
        conditions=statement.sentences(model),
        rate=rate.sentence,
        rate_constant=rate.constant,
        discount=decay.text,
        cutoff=growth.text,
        stated=statement.stated,
    )
