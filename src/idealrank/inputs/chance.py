"""Chance level and ceiling of candidates in any form."""

from collections.abc import Iterable
from typing import Any

from idealrank.bounds.random_orders import Chance, chance_of, refuse_not_offered
from idealrank.conventions import Convention
from idealrank.inputs.evaluation import AnyTable, to_qrels
from idealrank.io.document_sets import read_candidates
from idealrank.measures.parse import MeasureLike, default_measures

__all__ = ["chance"]


def chance(
    qrels: AnyTable,
    candidates: Any,
    measures: "MeasureLike | Iterable[MeasureLike] | None" = None,
    convention: "Convention | str" = "standard",
) -> Chance:
    """Compute the expected value of a random order of the candidates, and the best value that any
    order of them has.

    Every order of all candidates of a query is equally likely, and all of them are returned. The
    mean over these orders is in closed form. Each query counts as it does in `evaluate`, and each
    switch of the convention acts as it does there.

    Parameters
    ----------
    qrels : path, mapping, dataframe or Qrels
        Judgments, as for `evaluate`.
    candidates : mapping, path, dataframe, Qrels, Run, iterable or int
        Documents from which each list is ranked: ``{query: [document, ...]}``, a file or a
        dataframe with columns query and document, the documents of judgments or of a run, one list
        of documents that all queries share, or a number of documents for every query that includes
        all judged ones.
    measures : measure or iterable of them, optional
        nDCG, DCG, P, R, F, RelP, Rprec, Success, RR, AP and RBP. Default: as for `evaluate`.
    convention : str or Convention
        A preset, optionally with changed switches.

    Returns
    -------
    Chance
        Per query and as means: the chance level, and the ceiling, which is below 1 where judged
        relevant documents are not candidates.

    Raises
    ------
    InputError
        A judged query has no candidates, or more judged documents than the number of candidates.
    OptionError
        A measure has no chance level: its values are rounded, its ideal depends on the order, or
        the mean over all orders has no known closed form.

    Notes
    -----
    With r relevant among n candidates, the chance level is ``r / n`` for precision at any cutoff,
    ``1 - C(n - r, k) / C(n, k)`` for Success@k, ``r / (n - r + 1) (H(n) - H(r - 1))`` for the
    reciprocal rank, H the harmonic numbers, and ``((r - 1) / (n - 1) (n - H(n)) + H(n)) / n`` for
    average precision.

    References
    ----------
    McSherry and Najork (2008), Computing information retrieval performance measures efficiently in
    the presence of tied scores, ECIR; Bestgen (2015), Exact expected average precision of the
    random baseline for system evaluation, The Prague Bulletin of Mathematical Linguistics 103.

    Examples
    --------
    One relevant document among 100 candidates, as in evaluations with 99 sampled negatives:

    >>> level = chance({"q": {"a": 1}}, 100, ["nDCG@10", "Success@10"])
    >>> {measure: round(value, 4) for measure, value in level.mean().items()}
    {'nDCG@10': 0.0454, 'Success@10': 0.1}

    A first stage that misses a relevant document limits what any order can reach:

    >>> level = chance({"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "y"]}, "R@2")
    >>> level.mean(), level.mean_ceiling()
    ({'R@2': 0.3333333333333333}, {'R@2': 0.5})
    """
    judgments = to_qrels(qrels)
    level = chance_of(
        judgments,
        read_candidates(candidates),
        default_measures() if measures is None else measures,
        Convention.of(convention),
    )
    refuse_not_offered(level)
    return level
