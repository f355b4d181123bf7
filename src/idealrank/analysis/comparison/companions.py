"""Measures evaluated beside those compared: they say how far the judgments reach."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from idealrank.errors import IdealrankError
from idealrank.measures.counts import NumRet
from idealrank.measures.judgedness import JudgedShare, Unjudged
from idealrank.measures.measure import Measure
from idealrank.measures.parse import MeasureLike, parse_measures


def judgedness_of(measure: Measure) -> tuple[Measure, ...]:
    """The measures that say how far judgments reach: share judged and number returned at the cutoff, and the measure of judged documents.

    Examples
    --------
    >>> import idealrank as ir
    >>> [str(one) for one in judgedness_of(ir.NDCG(cutoff=10))]
    ['Judged@10', 'NumRet@10', 'nDCG(judged_only=True)@10']
    """
    if isinstance(measure, Unjudged | JudgedShare | NumRet) or measure.judged_only:
        return ()
    judged: tuple[Measure, ...] = ()
    try:
        judged = (replace(measure, judged_only=True),)
    except (TypeError, IdealrankError):  # a measure of somebody's own that is made otherwise
        judged = ()
    return (JudgedShare(cutoff=measure.cutoff), NumRet(cutoff=measure.cutoff), *judged)


def judgedness_among(measures: Sequence[Measure]) -> set[Measure]:
    """Of measures that were evaluated together, those that say how far the judgments of others reach; a count of documents alone is none.

    Examples
    --------
    >>> [str(one) for one in sorted(judgedness_among(with_companions("RR")), key=str)], judgedness_among(parse_measures(["RR", "NumRet"]))
    (['Judged', 'NumRet', 'RR(judged_only=True)'], set())
    """
    found: set[Measure] = set()
    for measure in measures:
        beside = judgedness_of(measure)
        counts, alone = beside[:2], beside[2:]
        found |= {*alone, *(counts if all(one in measures for one in counts) else ())}
        found |= {Unjudged(cutoff=measure.cutoff)} if beside else set()
    return found & set(measures)


def with_companions(measures: "MeasureLike | Iterable[MeasureLike]") -> tuple[Measure, ...]:
    """Add the companion measures from which `compare` tells how far the judgments reach.

    Parameters
    ----------
    measures : measure or iterable of them
        Measures to compare.

    Returns
    -------
    tuple of Measure
        The given measures, then ``Judged`` and ``NumRet`` at each cutoff (for the unjudged share) and each measure with ``judged_only``.

    Examples
    --------
    >>> [str(measure) for measure in with_companions(["nDCG@10", "P@10"])]
    ['nDCG@10', 'P@10', 'Judged@10', 'NumRet@10', 'nDCG(judged_only=True)@10', 'P(judged_only=True)@10']
    """
    asked = parse_measures(measures)
    return tuple(dict.fromkeys((*asked, *(companion for measure in asked for companion in judgedness_of(measure)))))
