"""Bpref as trec_eval adds it up, to the last bit; the value of this library counts in whole numbers first and can differ in that bit."""

import numpy as np

from idealrank.data.judged import Judged
from idealrank.measures.bpref import Bpref
from idealrank.measures.measure import PerQuery
from idealrank.measures.states import n_nonrelevant, nonrelevant_hits


class RunningBpref(Bpref):
    """Bpref as a running sum from the top: each relevant document adds 1 - min(n, R) / min(N, R), and the sum is divided by R.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {"q": {"a": 1, "b": 0, "c": 1, "d": 0}}
    >>> ir.evaluate(qrels, {"q": ["a", "b", "x", "c"]}, [RunningBpref()]).values
    array([[0.75]])
    """

    def compute(self, judged: Judged) -> PerQuery:
        """The running sum of every query; ties are in the order of document ids, so no order is left open."""
        total = judged.relevant(self.threshold).total
        cap = np.minimum(n_nonrelevant(judged, self.threshold), total)
        hits, other = judged.hits, nonrelevant_hits(judged, self.threshold)
        relevant = hits.grade >= self.threshold
        counted = np.cumsum(other)
        starts = np.searchsorted(hits.query, hits.query)
        above = (counted - counted[starts] + other[starts])[relevant]
        query = hits.query[relevant]
        terms = 1.0 - np.minimum(above, cap[query]) / np.maximum(cap[query], 1)
        sums = np.bincount(query, weights=terms, minlength=judged.n_queries)  # one after the other, as they come
        return self.filled(sums / np.maximum(total, 1), total)
