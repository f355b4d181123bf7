"""Discounts and cutoffs that distinguish rankers on growing lists: by theorem if there is one, else
by evidence.
"""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from idealrank.data.types import FloatArray
from idealrank.errors import InputError
from idealrank.measures.cutoffs import RelativeCutoff
from idealrank.measures.discounts import Discount, DiscountLike
from idealrank.stats.randomness import whole_number
from idealrank.theory.decay import Decay, Growth, decay_of, growth_of

_NEAR = 0.1  # exponents this near 1 are not told from 1/rank
_STEADY = 0.01  # how far an exponent may move the wrong way over the last decade


class EvidenceRow(NamedTuple):
    """Behaviour of a discount on a list of length n.

    Parameters
    ----------
    n : int
        List length, a power of 10.
    cutoff : int
        Number of ranks within the cutoff.
    exponent : float
        Exponent of the power of the rank by which the weight fell over the last decade, from rank
        n/10 to n; 1 is the limit of convergence. Infinite if the weight is 0.
    total : float
        Sum of the weights within the cutoff; must grow without bound for NDCG to converge.
    effective : float
        (sum of weights)^2 / sum of their squares: the number of equally weighted documents with the
        same noise. Must grow without bound as well.
    top : float
        Share of the weight on the top hundredth of the list; if it tends to 1, only the very top
        counts.

    Examples
    --------
    >>> row = EvidenceRow(n=100, cutoff=10, exponent=1.0, total=2.93, effective=5.54, top=0.34)
    >>> row.exponent
    1.0
    """

    n: int
    cutoff: int
    exponent: float
    total: float
    effective: float
    top: float


def evidence_of(discount: Discount, growth: Growth, largest: int) -> tuple[EvidenceRow, ...]:
    """A row for each power of 10 from 10 to `largest`."""
    sizes = [10**power for power in range(1, math.floor(math.log10(largest) + 1e-9) + 1)]
    return tuple(_row(discount, growth.at(n), n) for n in sizes)


def _row(discount: Discount, cutoff: int, n: int) -> EvidenceRow:
    weights = _weights(discount, n)
    counted = weights[:cutoff]
    total = float(counted.sum())
    squares = float((counted**2).sum())
    if total == 0:
        raise InputError(
            f"discount {discount.text} gives no weight to ranks 1 to {cutoff} of a list of {n}; "
            "expected weights above 0"
        )
    early = float(weights[n // 10 - 1])
    late = float(weights[-1])
    exponent = math.log10(early / late) if early > 0 and late > 0 else math.inf
    top = float(counted[: max(1, n // 100)].sum()) / total
    return EvidenceRow(
        n=n, cutoff=cutoff, exponent=exponent, total=total, effective=total**2 / squares, top=top
    )


def _weights(discount: Discount, n: int) -> FloatArray:
    weights = discount.at(np.arange(1, n + 1), np.full(n, n))
    if (weights < 0).any():
        index = int(np.flatnonzero(weights < 0)[0])
        raise InputError(
            f"discount {discount.text} gave {weights[index]:g} for rank {index + 1}; the theory is "
            "about weights of 0 or more"
        )
    return weights


def resemblance(
    discount: Discount, evidence: tuple[EvidenceRow, ...]
) -> Literal["feasible", "infeasible"] | None:
    """Return the verdict if the discount continues to fall as at the end; None if unclear."""
    before = evidence[-2].exponent
    last = evidence[-1].exponent
    if _depends_on_length(discount, evidence[-1].n):
        return None
    if 0 <= last < 1 - _NEAR and last <= before + _STEADY:
        return "feasible"
    if last > 1 + _NEAR and (math.isinf(last) or last >= before - _STEADY):
        return "infeasible"
    return None


def _depends_on_length(discount: Discount, n: int) -> bool:
    ranks = np.arange(1, 11)
    return not np.array_equal(
        discount.at(ranks, np.full(10, n)), discount.at(ranks, np.full(10, n // 10))
    )


def evidence_text(evidence: tuple[EvidenceRow, ...]) -> list[str]:
    """Lines of a table."""
    head = f"{'n':>10}{'cutoff':>10}{'exponent':>10}{'total':>12}{'effective':>12}{'top':>8}"
    rows = (
        f"{row.n:>10}{row.cutoff:>10}{row.exponent:>10.3f}"
        f"{row.total:>12.4g}{row.effective:>12.4g}{row.top:>8.3f}"
        for row in evidence
    )
    return [head, *rows]


Verdict: TypeAlias = Literal["feasible", "borderline", "infeasible", "undecided"]

_NOISE = (
    "nothing for certain: the probability that it prefers one of two rankers tends to neither 0 "
    "nor 1, however long the list; means over many queries do distinguish rankers"
)
_EXCEPTION = (
    "Needs probabilities of relevance strictly between 0 and 1 near the top: if ybar(1) = 1, NDCG "
    "does converge, to 1."
)
_CONTINUITY = (
    "Theorem 8, condition 1, calls this trivial. Convergence in probability does not suffice; "
    "Hoeffding's inequality and a continuous ybar do."
)
_CONDITION_2 = (
    "Condition 2 of Theorem 8 (rankers with equal limits) does not hold: if limits are equal, the "
    "noise can stay as large as the difference (by simulation and a limit-law argument)."
)
_TOP_SHARE = (
    "Section 3.3 applies the conditions of Theorems 6 and 8 to cutoffs, but they do not hold "
    "there: rankers that differ only below the cutoff are not distinguished."
)


@dataclass(frozen=True, kw_only=True)
class Feasibility:
    """Feasibility of NDCG with a discount and a cutoff for distinguishing rankers, with reasons.

    Feasible: NDCG converges, and the sign of the difference between two rankers becomes constant as
    the list grows, except for exceptional pairs. Borderline: it converges, but to the probability
    of relevance at the very top, and depends on little else. Infeasible: it does not converge, and
    the order stays random. Undecided: no proof is known.

    Parameters
    ----------
    discount, cutoff : str
        Texts of discount and cutoff; the cutoff is ``""`` for whole lists, otherwise such as
        ``"@0.2n"``.
    verdict : str
        ``"feasible"``, ``"borderline"``, ``"infeasible"`` or ``"undecided"``.
    theorem : str
        Theorem behind the verdict; ``""`` if there is none.
    reason : str
        Reason in words.
    distinguishes : str
        Differences between rankers that the measure detects.
    errata : str
        Deviations from the paper's statement; ``""`` if none.
    evidence : tuple of EvidenceRow
        For functions: how the weights fall up to the largest rank examined.
    resembles : str or None
        For functions: the verdict if the weights continued to fall as observed; a guess, not a
        proof.

    Examples
    --------
    >>> geometric = feasibility("geometric(2)")
    >>> geometric.verdict, geometric.theorem
    ('infeasible', 'Theorem 10')
    """

    discount: str
    cutoff: str
    verdict: Verdict
    theorem: str
    reason: str
    distinguishes: str
    errata: str = ""
    evidence: tuple[EvidenceRow, ...] = ()
    resembles: Verdict | None = None

    def __str__(self) -> str:
        """A few lines to read."""
        lines = [
            f"{self.discount}{self.cutoff}: {self.verdict}"
            + (f" ({self.theorem})" if self.theorem else "")
        ]
        lines += [f"Why: {self.reason}", f"Tells apart: {self.distinguishes}"]
        if self.errata:
            lines.append(f"Correction: {self.errata}")
        if self.evidence:
            lines += ["", *evidence_text(self.evidence)]
        return "\n".join(lines)


def feasibility(
    discount: DiscountLike = "log2",
    cutoff: "int | str | RelativeCutoff | None" = None,
    *,
    largest: int = 10**6,
) -> Feasibility:
    """Decide whether NDCG with this discount and cutoff can distinguish rankers as lists grow, in
    the sense of Wang et al. (2013).

    Parameters
    ----------
    discount : str, sequence, callable or Discount, optional
        Discount, as accepted by measures. Named families and tables of weights are decided by
        theorem. For a function, no finite number of values decides whether the sum of its weights
        converges, so the verdict is ``"undecided"``, with evidence (and ``"infeasible"`` at a
        constant cutoff, at which the function does not matter).
    cutoff : int, str or None, optional
        Cutoff, as accepted by measures: ``10``, ``"0.2n"``, ``"sqrt(n)"``; default the whole list.
    largest : int, optional
        Largest rank at which a function is examined, at least 100; rounded down to a power of 10.

    Returns
    -------
    Feasibility

    Raises
    ------
    OptionError
        Discount, cutoff or `largest` is invalid.
    InputError
        A function gives negative weights, or only zeros.

    Notes
    -----
    The statements concern lists that grow for one query. The linear discount and cutoffs n^a beyond
    a = 2/3 are not in the paper: their verdicts follow from the law of large numbers and
    Hoeffding's inequality.

    References
    ----------
    Wang, Wang, Li, He, Chen and Liu (2013), COLT, Theorems 4 to 13 and section 3.3.

    Examples
    --------
    >>> feasibility("log2").verdict, feasibility("zipf(1)").verdict, feasibility("zipf(2)").verdict
    ('feasible', 'borderline', 'infeasible')
    >>> (
    ...     feasibility("log2", "0.2n").verdict,
    ...     feasibility("log2", "sqrt(n)").verdict,
    ...     feasibility("log2", 10).verdict,
    ... )
    ('feasible', 'borderline', 'infeasible')
    >>> feasibility(lambda rank: rank**-0.5).verdict
    'undecided'
    """
    largest = whole_number("largest", largest, 100)
    decay = decay_of(discount)
    growth = growth_of(cutoff)
    if growth.kind == "constant":
        return _constant(decay, growth, largest)
    if decay.kind == "unknown":
        return _unknown(decay, growth, largest)
    if decay.summable:
        return _summable(decay, growth)
    if decay.kind == "zipf" and decay.exponent == 1:
        return _reciprocal(decay, growth)
    if growth.kind == "power":
        return _power(decay, growth)
    if decay.kind == "linear":
        return _linear(decay, growth)
    return _logarithmic(decay, growth) if decay.kind == "logarithmic" else _zipf(decay, growth)


def _constant(decay: Decay, growth: Growth, largest: int) -> Feasibility:
    k = int(growth.size)
    first = "the first document counts" if k == 1 else f"the first {k} documents count"
    reason = (
        f"only {first}, for any length of the list: the value of one query stays a random draw of "
        f"{k}, and more documents do not make it more certain. Average over queries, or let the "
        "cutoff grow with the list."
    )
    evidence: tuple[EvidenceRow, ...] = ()
    if decay.kind == "unknown":
        evidence = evidence_of(decay.discount, growth, largest)
    return Feasibility(
        discount=decay.text,
        cutoff=growth.text,
        verdict="infeasible",
        theorem="Theorem 10",
        reason=reason,
        distinguishes=_NOISE,
        errata=_EXCEPTION,
        evidence=evidence,
    )


def _summable(decay: Decay, growth: Growth) -> Feasibility:
    falls = "ends with its table" if decay.kind == "finite" else "falls faster than 1/rank"
    reason = (
        f"the discount {falls}: the weights of all ranks have a finite sum, so a few documents at "
        "the top decide for any length of the list, and their relevance is random."
    )
    return Feasibility(
        discount=decay.text,
        cutoff=growth.text,
        verdict="infeasible",
        theorem="Theorem 10",
        reason=reason,
        distinguishes=_NOISE,
        errata=_EXCEPTION,
    )


def _reciprocal(decay: Decay, growth: Growth) -> Feasibility:
    theorem = "Theorem 11" if growth.kind == "power" else "Theorem 9"
    errata = ""
    if growth.kind == "share":
        errata = (
            "Not stated in the paper: a cutoff at a share of the list removes a bounded part of a "
            "sum that grows without bound."
        )
    reason = (
        "1/rank is the edge: the weights sum to about log n, so slowly that any share at the top "
        "outweighs the rest, and NDCG tends to the probability of relevance at the very top, at "
        "the rate 1/log n."
    )
    sees = (
        "rankers with different probabilities of relevance at the very top, ybar(1). If these are "
        "equal, the noise stays as large as the difference (by simulation and a limit-law "
        "argument; the paper leaves this open)"
    )
    return Feasibility(
        discount=decay.text,
        cutoff=growth.text,
        verdict="borderline",
        theorem=theorem,
        reason=reason,
        distinguishes=sees,
        errata=errata,
    )


def _power(decay: Decay, growth: Growth) -> Feasibility:
    linear = decay.kind == "linear"
    reason = (
        f"the cutoff {growth.text[1:]} grows without bound, so the noise vanishes, but its share "
        "of the list vanishes, too: NDCG tends to the probability of relevance at the very top."
    )
    # The means differ by (k/n) x the difference in slope; the noise is k^-1/2, or k^-(1-b) where
    # the weights' squares have a finite sum.
    beta = decay.exponent if decay.kind == "zipf" else 0.0
    deep = max(2 / 3, 1 / (2 - beta))
    sees = "rankers with different probabilities of relevance at the very top, ybar(1)"
    if growth.size > deep:
        sees += (
            f"; beyond n^{deep:.3g}, also rankers with equal ybar(1) whose ybar fall from there at "
            "different rates"
        )
    else:
        sees += "; if these are equal, differences further down vanish in the noise"
    theorem = "law of large numbers" if linear else "Theorem 11"
    errata = (
        "The linear discount is not in the paper; over so few ranks, its weights are nearly equal."
        if linear
        else ""
    )
    return Feasibility(
        discount=decay.text,
        cutoff=growth.text,
        verdict="borderline",
        theorem=theorem,
        reason=reason,
        distinguishes=sees,
        errata=errata,
    )


def _linear(decay: Decay, growth: Growth) -> Feasibility:
    reason = (
        "the weight depends only on the share of the list above a document: NDCG is an average "
        "over the list, and its noise vanishes."
    )
    sees = (
        "rankers with different limits, which for binary relevance are rankers with different AUC"
    )
    errata = ""
    if growth.kind == "share":
        sees = f"rankers with different limits, from differences within {_top(growth)}"
        errata = _TOP_SHARE
    return Feasibility(
        discount=decay.text,
        cutoff=growth.text,
        verdict="feasible",
        theorem="law of large numbers",
        reason=reason,
        distinguishes=sees,
        errata=errata,
    )


_SLOW = (
    "the discount falls more slowly than 1/rank: documents of the whole list count, so the noise "
    "vanishes faster than the difference between two rankers."
)


def _logarithmic(decay: Decay, growth: Growth) -> Feasibility:
    if growth.kind == "share":
        return Feasibility(
            discount=decay.text,
            cutoff=growth.text,
            verdict="feasible",
            theorem="Theorem 12",
            reason=_SLOW,
            distinguishes=f"any two rankers whose ybar differ within {_top(growth)}, and no others",
            errata=_TOP_SHARE,
        )
    reason = (
        f"{_SLOW} NDCG of every ranker tends to 1, at the rate 1/log n: on a long list, its value "
        "says little, but differences are informative."
    )
    sees = (
        "any two rankers whose ybar differ on more than single points; it can take astronomically "
        "many documents"
    )
    return Feasibility(
        discount=decay.text,
        cutoff=growth.text,
        verdict="feasible",
        theorem="Theorems 4 and 6",
        reason=reason,
        distinguishes=sees,
    )


def _zipf(decay: Decay, growth: Growth) -> Feasibility:
    """zipf(b) with b < 1."""
    theorem = "Theorem 7"
    sees = "rankers with different limits; rankers with equal limits may not be distinguished"
    errata = f"{_CONTINUITY} {_CONDITION_2}"
    if growth.kind == "share":
        theorem = "Theorem 13"
        sees = f"rankers with different limits, from differences within {_top(growth)}"
        errata = f"{errata} {_TOP_SHARE}"
    return Feasibility(
        discount=decay.text,
        cutoff=growth.text,
        verdict="feasible",
        theorem=f"{theorem} and Theorem 8, condition 1",
        reason=_SLOW,
        distinguishes=sees,
        errata=errata,
    )


def _top(growth: Growth) -> str:
    return f"the top {100 * growth.size:.4g} % of the list"


def _unknown(decay: Decay, growth: Growth, largest: int) -> Feasibility:
    evidence = evidence_of(decay.discount, growth, largest)
    guess: Verdict | None = resemblance(decay.discount, evidence)
    if growth.kind == "power" and guess == "feasible":
        guess = "borderline"
    reason = (
        f"no theorem covers a function that is known only by its values: values up to rank "
        f"{evidence[-1].n:,} do not determine the rest."
    )
    if guess:
        reason += (
            f" There it falls like rank^-{max(evidence[-1].exponent, 0.0):.3g}; if it continues "
            f"like this, it is {guess}."
        )
    else:
        reason += (
            " There is no clear case: it is too near 1/rank, changes its rate, or depends on the "
            "length of the list."
        )
    sees = "unknown; choose log2, log(b), jarvelin(b) or zipf(b) with b < 1 to know"
    if growth.kind == "power":
        sees = "at most rankers with different probabilities of relevance at the very top, ybar(1)"
    return Feasibility(
        discount=decay.text,
        cutoff=growth.text,
        verdict="undecided",
        theorem="",
        reason=reason,
        distinguishes=sees,
        evidence=evidence,
        resembles=guess,
    )
