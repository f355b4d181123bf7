"""Measures of several assessors: what each judgment group would see, averaged over the groups of a
query.

Every group measures the same ranking with its own judgments; options belong to the averaged
measure.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from idealrank.data.assessors import ByAssessor
from idealrank.data.judged import Judged
from idealrank.errors import OptionError
from idealrank.measures.binary import AP, P
from idealrank.measures.measure import Measure, PerQuery
from idealrank.measures.precision import Rprec
from idealrank.measures.threshold import BinaryMeasure, NeedsRelevant

_PRINTED = (
    "trec_eval 10.0: every query and the means of its output out.test.qrels_jg, at all printed "
    "digits; the definition, group by group and over all orders of ties, to 12 decimals"
)


def averaged(measure: Measure, judged: Judged) -> PerQuery:
    """Compute a measure of one group's judgments, averaged over the groups of each query."""
    by_assessor = judged.beside.get("assessors")
    if not isinstance(by_assessor, ByAssessor):
        raise OptionError(
            f"{measure}: found no judgments of several assessors, expected AssessorQrels"
        )
    lists = (
        by_assessor.judged.condensed(pooled=False) if measure.judged_only else by_assessor.judged
    )
    result = measure.compute(lists)
    scored = np.ones(result.values.size, bool) if result.scored is None else result.scored
    values, counts = by_assessor.mean_by_query(result.values, scored)
    return PerQuery(values) if counts.all() else PerQuery(np.where(counts, values, np.nan), counts)


class APAvgJG(NeedsRelevant):
    """Average precision of one ranking for each judgment group, averaged over the groups.

    ``mean over groups g of AP with the judgments of g``, in [0, 1].

    Parameters
    ----------
    cutoff, rel, no_relevant
        As for `AP`; `no_relevant` is also the value of a group without relevant documents.

    References
    ----------
    trec_eval, measure ``map_avgjg``.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = ir.AssessorQrels({"q": {"ann": {"a": 1, "b": 0}, "ben": {"b": 1}}})
    >>> ir.evaluate(qrels, {"q": ["a", "b"]}, [ir.APAvgJG()]).mean()["AP_avgjg"]
    0.75
    """

    name: ClassVar[str] = "AP_avgjg"
    needs: ClassVar[tuple[str, ...]] = ("assessors",)
    summary: ClassVar[str] = "AP, averaged over judgment groups"
    use: ClassVar[str] = (
        "When several people judged a topic and disagree, and each opinion is to count. Not to "
        "hide poor agreement: look at that first."
    )
    proof: ClassVar[str] = _PRINTED

    def compute(self, judged: Judged) -> PerQuery:
        """Mean of the groups' average precision for every query."""
        group_measure = AP(
            cutoff=self.cutoff,
            rel=self.rel,
            no_relevant=self.no_relevant,
            judged_only=self.judged_only,
        )
        return averaged(group_measure, judged)

    @property
    def trec_name(self) -> str:
        """``map_avgjg``; trec_eval has no cutoff for it."""
        return str(self) if self.cutoff is not None else self.trec_binary("map_avgjg", "map_avgjg")


class PAvgJG(BinaryMeasure):
    """Precision of the first k ranks for each judgment group, averaged over the groups.

    ``mean over groups g of |relevant to g in the top k| / k``, in [0, 1].

    Parameters
    ----------
    cutoff, rel
        As for `P`.

    References
    ----------
    trec_eval, measure ``P_avgjg``.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = ir.AssessorQrels({"q": {"ann": {"a": 1, "b": 0}, "ben": {"a": 1, "b": 1}}})
    >>> ir.evaluate(qrels, {"q": ["a", "b"]}, [ir.PAvgJG(cutoff=2)]).mean()["P_avgjg@2"]
    0.75
    """

    name: ClassVar[str] = "P_avgjg"
    needs: ClassVar[tuple[str, ...]] = ("assessors",)
    cuts: ClassVar = "required"
    summary: ClassVar[str] = "precision at k, averaged over judgment groups"
    use: ClassVar[str] = (
        "When several people judged a topic, and what matters is the share of the first k ranks "
        "that each of them likes."
    )
    proof: ClassVar[str] = _PRINTED

    def compute(self, judged: Judged) -> PerQuery:
        """Mean of the groups' precision for every query."""
        return averaged(P(cutoff=self.cutoff, rel=self.rel, judged_only=self.judged_only), judged)

    @property
    def trec_name(self) -> str:
        """``P_avgjg_10``."""
        return self.trec_binary("P_avgjg", "P_avgjg")


@dataclass(frozen=True, kw_only=True)
class RprecAvgJG(NeedsRelevant):
    """R-precision of one ranking for each judgment group, averaged over the groups; R is the
    group's own number of relevant documents.

    ``mean over groups g of |relevant to g in the top k| / k`` at ``k = floor(m R_g + 0.9)``, in [0,
    1].

    Parameters
    ----------
    mult, rel, no_relevant
        As for `Rprec`; `no_relevant` is also the value of a group without relevant documents.

    References
    ----------
    trec_eval, measure ``Rprec_mult_avgjg``.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = ir.AssessorQrels({"q": {"ann": {"a": 1, "b": 0}, "ben": {"a": 1, "c": 1}}})
    >>> ir.evaluate(qrels, {"q": ["a", "b"]}, ["Rprec_mult_avgjg_1.00"]).mean()[
    ...     "Rprec_avgjg(mult=1)"
    ... ]
    0.75
    """

    mult: float | None = None

    name: ClassVar[str] = "Rprec_avgjg"
    needs: ClassVar[tuple[str, ...]] = ("assessors",)
    cuts: ClassVar = "none"
    samples: ClassVar[Mapping[str, tuple[Any, ...]]] = Rprec.samples
    summary: ClassVar[str] = "R-precision, averaged over judgment groups"
    use: ClassVar[str] = (
        "When several people judged a topic, and some found many more documents relevant than "
        "others did."
    )
    proof: ClassVar[str] = _PRINTED

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "mult", self._group_measure.mult)

    @property
    def _group_measure(self) -> Rprec:
        return Rprec(
            mult=self.mult, rel=self.rel, no_relevant=self.no_relevant, judged_only=self.judged_only
        )

    def compute(self, judged: Judged) -> PerQuery:
        """Mean of the groups' R-precision for every query."""
        return averaged(self._group_measure, judged)

    @property
    def trec_name(self) -> str:
        """``Rprec_mult_avgjg_0.20``."""
        plain = str(self) if self.mult is None else f"Rprec_mult_avgjg_{self.mult:.2f}"
        return self.trec_binary(plain, "Rprec")
