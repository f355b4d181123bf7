"""How the weights of a discount fall, as far as one looks: what can be said of a function that is known by its values alone."""

import math
from typing import Literal, NamedTuple

import numpy as np

from idealrank.data.types import FloatArray
from idealrank.errors import InputError
from idealrank.measures.discounts import Discount
from idealrank.theory.decay import Growth

_NEAR = 0.1  # exponents this near 1 are not told from 1/rank
_STEADY = 0.01  # how far an exponent may move the wrong way over the last decade


class EvidenceRow(NamedTuple):
    """What a discount does to a list of n.

    Parameters
    ----------
    n : int
        List length, a power of 10.
    cutoff : int
        Ranks that count in it.
    exponent : float
        By which power of the rank the weight fell over the last decade, from rank n/10 to n; 1 is the edge of what converges. Infinite
        where the weight is 0.
    total : float
        Sum of the weights that count: must grow without end for NDCG to converge.
    effective : float
        (sum of weights)^2 / sum of their squares: how many documents of equal weight would be as noisy. Must grow without end, too.
    top : float
        Share of the weight on the top hundredth of the list; where it tends to 1, only the very top is seen.

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
    """A row for each power of 10 from 10 to `largest`.

    Raises
    ------
    InputError
        A weight is negative, or no rank has a weight.

    Examples
    --------
    >>> from idealrank.measures.discounts import make_discount
    >>> from idealrank.theory.decay import growth_of
    >>> rows = evidence_of(make_discount(lambda rank: 1 / rank), growth_of(None), 100)
    >>> [(row.n, row.exponent) for row in rows]
    [(10, 1.0), (100, 1.0)]
    """
    sizes = [10**power for power in range(1, math.floor(math.log10(largest) + 1e-9) + 1)]
    return tuple(_row(discount, growth.at(n), n) for n in sizes)


def _row(discount: Discount, cutoff: int, n: int) -> EvidenceRow:
    weights = _weights(discount, n)
    counted = weights[:cutoff]
    total, squares = float(counted.sum()), float((counted**2).sum())
    if total == 0:
        raise InputError(f"discount {discount.text} gives no weight to ranks 1 to {cutoff} of a list of {n}; expected weights above 0")
    early, late = float(weights[n // 10 - 1]), float(weights[-1])
    exponent = math.log10(early / late) if early > 0 and late > 0 else math.inf
    top = float(counted[: max(1, n // 100)].sum()) / total
    return EvidenceRow(n, cutoff, exponent, total, total**2 / squares, top)


def _weights(discount: Discount, n: int) -> FloatArray:
    weights = discount.at(np.arange(1, n + 1), np.full(n, n))
    if (weights < 0).any():
        rank = int(np.flatnonzero(weights < 0)[0])
        raise InputError(f"discount {discount.text} gave {weights[rank]:g} for rank {rank + 1}; the theory is about weights of 0 or more")
    return weights


def resemblance(discount: Discount, evidence: tuple[EvidenceRow, ...]) -> Literal["feasible", "infeasible"] | None:
    """What the discount would be if it went on falling as it does at the end; None where that is unclear.

    Parameters
    ----------
    discount : Discount
        The discount.
    evidence : tuple of EvidenceRow
        Two rows or more.

    Examples
    --------
    >>> from idealrank.measures.discounts import make_discount
    >>> from idealrank.theory.decay import growth_of
    >>> half = make_discount(lambda rank: rank**-0.5)
    >>> resemblance(half, evidence_of(half, growth_of(None), 1000))
    'feasible'
    """
    before, last = evidence[-2].exponent, evidence[-1].exponent
    if _depends_on_length(discount, evidence[-1].n):
        return None
    if 0 <= last < 1 - _NEAR and last <= before + _STEADY:
        return "feasible"
    if last > 1 + _NEAR and (math.isinf(last) or last >= before - _STEADY):
        return "infeasible"
    return None


def _depends_on_length(discount: Discount, n: int) -> bool:
    ranks = np.arange(1, 11)
    return not np.array_equal(discount.at(ranks, np.full(10, n)), discount.at(ranks, np.full(10, n // 10)))


def evidence_text(evidence: tuple[EvidenceRow, ...]) -> list[str]:
    """Lines of a table.

    Examples
    --------
    >>> for line in evidence_text((EvidenceRow(100, 10, 1.0, 2.93, 5.54, 0.34),)):
    ...     print(line)
             n    cutoff  exponent       total   effective     top
           100        10     1.000        2.93        5.54   0.340
    """
    head = f"{'n':>10}{'cutoff':>10}{'exponent':>10}{'total':>12}{'effective':>12}{'top':>8}"
    rows = (f"{row.n:>10}{row.cutoff:>10}{row.exponent:>10.3f}{row.total:>12.4g}{row.effective:>12.4g}{row.top:>8.3f}" for row in evidence)
    return [head, *rows]
