"""Estimated number of labels after which a comparison whose verdict is withheld has a verdict."""

from dataclasses import dataclass, replace

import numpy as np

from idealrank.analysis.comparison.places import ByRank, Places
from idealrank.analysis.comparison.reach import Reach
from idealrank.analysis.comparison.tipping import Question, judgments_reach
from idealrank.data.judged import Hits, Judged
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.stats.design import Design, student_mean

_OF_A, _OF_B, _OF_BOTH = range(3)  # codes of the run that returns a document: a, b, or both
_ENOUGH = 20  # judged documents for a rate of their own
_FEW = 8  # labels, the first number that is tried
_PRECISION = 20  # an estimate need not be closer than a twentieth
_PRIOR = 2.0  # relevant documents that the mean of all queries weighs as much as
_POOLED = 0.8  # share of judged documents of a rank, down to which a run was pooled


def labels_needed(
    reach: Reach,
    differences: FloatArray,
    kept: BoolArray,
    design: Design,
    question: Question,
) -> int | None:
    """Estimate how many labels will decide a result that has too few judgments.

    Documents are labelled by the change of the difference that their label is expected to make, the
    largest first, as `next_labels` chooses them.
    """
    outlook = _Outlook.of(reach, differences, kept, design, question)
    if outlook is None or outlook.decided_after(0):
        return None
    n_documents = outlook.sheet.size
    undecided = 0
    decided = _FEW
    # From few to many: the rule may be undecided again later, and the first verdict ends the work.
    while decided < n_documents and not outlook.decided_after(decided):
        undecided = decided
        decided = 4 * decided
    decided = min(decided, n_documents)
    while decided - undecided > max(1, decided // _PRECISION):
        middle = (undecided + decided) // 2
        if outlook.decided_after(middle):
            decided = middle
        else:
            undecided = middle
    return decided


@dataclass(frozen=True, kw_only=True, eq=False)
class _Sheet:
    """Unjudged documents in the order in which they are labelled."""

    # of_a, of_b: shape (n_documents,): places among the unjudged documents of each run; -1 if the
    # run does not return the document
    of_a: IntArray
    of_b: IntArray
    relevant: BoolArray  # shape (n_documents,): labels that are expected

    @property
    def size(self) -> int:
        return int(self.of_a.size)

    @classmethod
    def of(cls, reach: Reach, differences: FloatArray, kept: BoolArray) -> "_Sheet":
        own_a = np.flatnonzero(reach.own_a)
        own_b = np.flatnonzero(reach.own_b)
        shared_a, shared_b = reach.shared
        absent_a = np.full(own_b.size, -1)
        absent_b = np.full(own_a.size, -1)
        of_a = np.concatenate((own_a, absent_a, shared_a))
        of_b = np.concatenate((absent_b, own_b, shared_b))
        change = _expected_change(reach, differences, kept, of_a, of_b)
        rank = _best_rank(reach, of_a, of_b)
        order = np.lexsort((rank, -change))
        order = order[change[order] > 0]
        of_a = of_a[order]
        of_b = of_b[order]
        return cls(
            of_a=of_a,
            of_b=of_b,
            relevant=_spread_evenly(_chances(reach, of_a, of_b), _kind(of_a, of_b)),
        )

    def judged(self, n: int) -> tuple[IntArray, IntArray]:
        """Return the places of the first n documents in each run."""
        first_a = self.of_a[:n]
        first_b = self.of_b[:n]
        return first_a[first_a >= 0], first_b[first_b >= 0]


def _expected_change(
    reach: Reach, differences: FloatArray, kept: BoolArray, of_a: IntArray, of_b: IntArray
) -> FloatArray:
    """Change of the difference of its query that the label of each document is expected to make, as
    in strategy `change`.
    """
    added_b = _at(_contributions(reach.b, reach.gain), of_b)
    added_a = _at(_contributions(reach.a, reach.gain), of_a)
    added = added_b - added_a
    rank = _best_rank(reach, of_a, of_b)
    row = _rows_of(reach, of_a, of_b)
    as_judged = np.where(kept, differences, 0.0)[row]
    lost = (as_judged + added) * (1 - _factor_of_one(reach)[row])
    return np.asarray(np.abs(added - lost) * _rates_of_both(reach)[rank] * kept[row])


def _chances(reach: Reach, of_a: IntArray, of_b: IntArray) -> FloatArray:
    """Chance of each document to be relevant: by rank, by whether one run alone returns it, and by
    its query.
    """
    kind = _kind(of_a, of_b)
    rank = _best_rank(reach, of_a, of_b)
    share = np.where(kind == _OF_BOTH, _rates_of_both(reach)[rank], _rates_alone(reach)[rank])
    high_a, high_b = (limits.high for limits in reach.limits)
    share = np.minimum(share, np.array([high_a, high_b, max(high_a, high_b)])[kind])
    odds = _odds(share) * _richness(reach)[_rows_of(reach, of_a, of_b)]
    return np.asarray(odds / (1 + odds))


def _kind(of_a: IntArray, of_b: IntArray) -> IntArray:
    """Run that returns each document: a alone, b alone, or both."""
    kind = np.full(of_a.size, _OF_BOTH)
    kind[of_b < 0] = _OF_A
    kind[of_a < 0] = _OF_B
    return kind


def _at(values: FloatArray | IntArray, places: IntArray) -> FloatArray:
    """Values at some places; 0 where the place is -1."""
    return np.append(values, 0)[places].astype(np.float64)


def _best_rank(reach: Reach, of_a: IntArray, of_b: IntArray) -> IntArray:
    """Better rank of each document; a run that does not return it has place -1, the rank after
    all.
    """
    far = np.iinfo(np.int64).max
    rank_a = np.append(reach.a.rank, far)[of_a]
    rank_b = np.append(reach.b.rank, far)[of_b]
    return np.asarray(np.minimum(rank_a, rank_b), np.int64)


def _spread_evenly(rate: FloatArray, kind: IntArray) -> BoolArray:
    """Mark the relevant documents of each kind, so that their number follows the sum of the
    rates.
    """
    relevant = np.zeros(rate.size, np.bool_)
    for code in (_OF_A, _OF_B, _OF_BOTH):
        rows = np.flatnonzero(kind == code)
        so_far = np.floor(np.cumsum(rate[rows]) + 0.5)
        relevant[rows] = np.diff(so_far, prepend=0.0) > 0
    return relevant


def _rates_alone(reach: Reach) -> FloatArray:
    """Share of relevant documents expected at each rank of unjudged documents that one run alone
    returns.
    """
    alone_a, alone_b = reach.judged_alone
    alone = np.concatenate((alone_a, alone_b))
    rank = np.concatenate((reach.a.hit_rank, reach.b.hit_rank))
    relevant = np.concatenate((reach.a.hit_worth, reach.b.hit_worth)) > 0
    if np.count_nonzero(alone) < _ENOUGH:
        return _share_by_rank(reach, rank, relevant)
    rates = _share_by_rank(reach, rank[alone], relevant[alone])
    pooled_a = _is_pooled(reach, reach.a.hit_rank[alone_a], reach.a.rank[reach.own_a])
    pooled_b = _is_pooled(reach, reach.b.hit_rank[alone_b], reach.b.rank[reach.own_b])
    if pooled_a or pooled_b or np.count_nonzero(~alone) < _ENOUGH:
        return rates
    # Systems other than these two also chose what was judged. An unjudged document is returned by
    # one system fewer, which lowers the odds that it is relevant. They fall by as much as between
    # judged documents that both runs return and judged documents that one of them returns.
    odds = _odds(rates)
    odds_of_shared = _odds(_share_by_rank(reach, rank[~alone], relevant[~alone]))
    lower = odds * np.minimum(odds / odds_of_shared, 1.0)
    return lower / (1 + lower)


def _is_pooled(reach: Reach, judged: IntArray, unjudged: IntArray) -> bool:
    """Return whether hardly any document that a run alone returns lacks a judgment at some rank."""
    n_judged = np.bincount(judged, minlength=reach.gain.size)
    n_unjudged = np.bincount(unjudged, minlength=reach.gain.size)
    return bool(((n_judged > 0) & (n_judged >= _POOLED * (n_judged + n_unjudged))).any())


def _odds(share: FloatArray) -> FloatArray:
    inside = np.clip(share, 0.02, 0.98)  # no document is sure to be relevant, or not to be
    return inside / (1 - inside)


def _share_by_rank(reach: Reach, rank: IntArray, relevant: BoolArray) -> FloatArray:
    by_rank = ByRank.of(rank, relevant.astype(np.float64), reach.gain.size - 1)
    return np.nan_to_num(by_rank.mean, nan=0.5)


def _rates_of_both(reach: Reach) -> FloatArray:
    """Share of relevant documents at each rank among all judged documents of both runs."""
    rank = np.concatenate((reach.a.hit_rank, reach.b.hit_rank))
    relevant = np.concatenate((reach.a.hit_worth, reach.b.hit_worth)) > 0
    return _share_by_rank(reach, rank, relevant)


def _richness(reach: Reach) -> FloatArray:
    """Relevant judged documents of each query over the number expected at their ranks, drawn to
    1.
    """
    row = np.concatenate((reach.a.hit_row, reach.b.hit_row))
    rank = np.concatenate((reach.a.hit_rank, reach.b.hit_rank))
    relevant = np.concatenate((reach.a.hit_worth, reach.b.hit_worth)) > 0
    observed, expected = (
        np.bincount(row, weights=column, minlength=reach.n_queries)
        for column in (relevant, _rates_of_both(reach)[rank])
    )
    return np.asarray((observed + _PRIOR) / (expected + _PRIOR))


def _contributions(side: Places, gain: FloatArray) -> FloatArray:
    """Change of the value of its query if one unjudged document were relevant and no other one."""
    return side.weight * gain[side.rank] if side.linear else side.weight


@dataclass(frozen=True, kw_only=True, eq=False)
class _Outlook:
    """A result, and how labels are expected to change it."""

    reach: Reach
    sheet: _Sheet
    differences: FloatArray
    kept: BoolArray
    design: Design
    question: Question
    sign: float  # Of the mean as judged
    critical: float  # The t statistic beyond which the mean is significant

    @classmethod
    def of(
        cls,
        reach: Reach,
        differences: FloatArray,
        kept: BoolArray,
        design: Design,
        question: Question,
    ) -> "_Outlook | None":
        """Return the outlook; None if the result is not significant as judged."""
        mean, error = _moments(differences[kept] - question.null, design)
        sign = float(np.sign(mean))
        critical = question.critical
        if question.margin is None and abs(mean) <= critical * error:
            if question.observed is None or question.observed <= critical or not error:
                return None
            # The test of the comparison is ahead of the t test, and stays so by the same factor.
            critical *= abs(mean) / error / question.observed
        if not np.isfinite(critical * error):
            return None
        reach = _with_codes(reach)
        return cls(
            reach=reach,
            sheet=_Sheet.of(reach, differences, kept),
            differences=differences,
            kept=kept,
            design=design,
            question=question,
            sign=sign,
            critical=critical,
        )

    def decided_after(self, n: int) -> bool:
        """Return whether the first n labels are expected to give a verdict."""
        added, shrunk = self._changes(n)
        differences = (self.differences + added) * shrunk
        mean, error = _moments(differences[self.kept] - self.question.null, self.design)
        if self.question.margin is not None:
            if abs(mean) + self.critical * error >= self.question.margin:
                return True
        elif self.sign * mean <= self.critical * error:
            return True
        question = self.question
        if question.observed is not None and error > 0:
            question = question._replace(
                observed=question.critical * abs(mean) / error / self.critical
            )
        reach = self._reach_after(n, shrunk)
        return judgments_reach(reach, differences, self.kept, self.design, question)

    def _changes(self, n: int) -> tuple[FloatArray, FloatArray]:
        """Change of each query's difference by the relevant ones of the first n, and factor of its
        ideal.
        """
        relevant = np.flatnonzero(self.sheet.relevant[:n])
        of_a = self.sheet.of_a[relevant]
        of_b = self.sheet.of_b[relevant]
        labelled = _part(self.reach, of_a[of_a >= 0], of_b[of_b >= 0])
        return labelled.moved(1.0, 1.0, both=True), _ideal_factor(self.reach, of_a, of_b)

    def _reach_after(self, n: int, shrunk: FloatArray) -> Reach:
        """Reach of the other documents, once the first n are among the judged ones."""
        reach = self.reach
        sheet = self.sheet
        judged_a, judged_b = sheet.judged(n)
        unjudged_a = _others(judged_a, reach.a.rank.size)
        unjudged_b = _others(judged_b, reach.b.rank.size)
        relevant_a = sheet.relevant[:n][sheet.of_a[:n] >= 0]
        relevant_b = sheet.relevant[:n][sheet.of_b[:n] >= 0]
        codes_a = np.where(reach.own_a[judged_a], _OF_A, _OF_BOTH)
        codes_b = np.where(reach.own_b[judged_b], _OF_B, _OF_BOTH)
        a = _with_hits(reach.a, judged_a, relevant_a, codes_a, reach.gain)
        b = _with_hits(reach.b, judged_b, relevant_b, codes_b, reach.gain)
        part = _part(replace(reach, a=a, b=b), unjudged_a, unjudged_b)
        return replace(part, a=_weighed(part.a, shrunk), b=_weighed(part.b, shrunk))


def _moments(differences: FloatArray, design: Design) -> tuple[float, float]:
    """Mean and its standard error."""
    moments = student_mean(differences[:, None], design)
    return float(moments.mean[0]), float(moments.se[0])


def _with_codes(reach: Reach) -> Reach:
    """Both runs with a code for the rows of the judgments: the run that returns a document, or
    both.

    The rule needs the rows only to see which documents both runs return.
    """
    alone_a, alone_b = reach.judged_alone
    codes_a = np.where(alone_a, _OF_A, _OF_BOTH)
    codes_b = np.where(alone_b, _OF_B, _OF_BOTH)
    no_document = np.zeros(0, np.int64)
    a = reach.a._replace(hit_document=codes_a, judged=_judged_with(reach.a, no_document))
    b = reach.b._replace(hit_document=codes_b, judged=_judged_with(reach.b, no_document))
    return replace(reach, a=a, b=b)


def _marked(rows: IntArray, size: int) -> BoolArray:
    """Mark some places."""
    marked = np.zeros(size, np.bool_)
    marked[rows] = True
    return marked


def _others(rows: IntArray, size: int) -> IntArray:
    """Places that are not among some."""
    return np.flatnonzero(~_marked(rows, size))


def _factor_of_one(reach: Reach) -> FloatArray:
    """Ideal of each query as judged over its ideal with one more relevant document of the mean
    gain.
    """
    number = np.ones(reach.n_queries, np.int64)
    return _shrunk(reach, number, np.full(reach.n_queries, float(reach.gain[1:].mean())))


def _ideal_factor(reach: Reach, of_a: IntArray, of_b: IntArray) -> FloatArray:
    """Ideal of each query as judged over its ideal with some documents as relevant ones."""
    row = _rows_of(reach, of_a, of_b)
    gain = reach.gain[_best_rank(reach, of_a, of_b)]
    number = np.bincount(row, minlength=reach.n_queries)
    gains = np.bincount(row, weights=gain, minlength=reach.n_queries) / np.maximum(number, 1)
    return _shrunk(reach, number, gains)


def _shrunk(reach: Reach, number: IntArray, gains: FloatArray) -> FloatArray:
    """Ideal of each query as judged over its ideal with a number of documents more, of one gain."""
    factor = np.ones(reach.n_queries)
    # Runs with the same queries have one ideal, so that one of them is enough.
    sides = [reach.a, reach.b]
    if np.array_equal(reach.a.row, reach.b.row):
        sides = [reach.b]
    for side in sides:
        if not side.linear or not number.any():
            continue
        ideals = side.measure.ideal_with(side.judged, gains[side.row], int(number.max()))
        if ideals is not None:
            before = ideals[:, 0]
            after = ideals[np.arange(side.row.size), number[side.row]]
            factor[side.row] = np.divide(before, after, out=np.ones_like(after), where=after > 0)
    return factor


def _rows_of(reach: Reach, of_a: IntArray, of_b: IntArray) -> IntArray:
    """Row of the query of each document, among the queries compared."""
    rows_a = _at(reach.a.document_rows, of_a)
    rows_b = _at(reach.b.document_rows, of_b)
    return np.where(of_a >= 0, rows_a, rows_b).astype(np.int64)


def _part(reach: Reach, rows_a: IntArray, rows_b: IntArray) -> Reach:
    """Both runs with some of their unjudged documents alone."""
    kept_a = _marked(rows_a, reach.a.rank.size)
    kept_b = _marked(rows_b, reach.b.rank.size)
    rows_a = np.flatnonzero(kept_a)
    rows_b = np.flatnonzero(kept_b)
    shared_a, shared_b = reach.shared
    in_both = kept_a[shared_a] & kept_b[shared_b]
    place_a = np.cumsum(kept_a) - 1
    place_b = np.cumsum(kept_b) - 1
    shared = place_a[shared_a[in_both]], place_b[shared_b[in_both]]
    own_a = np.ones(rows_a.size, np.bool_)
    own_b = np.ones(rows_b.size, np.bool_)
    own_a[shared[0]] = False
    own_b[shared[1]] = False
    return replace(
        reach,
        a=_documents(reach.a, rows_a),
        b=_documents(reach.b, rows_b),
        own_a=own_a,
        own_b=own_b,
        shared=shared,
    )


def _documents(side: Places, rows: IntArray) -> Places:
    return side._replace(
        documents=side.documents.part(rows),
        place=side.place[rows],
        rank=side.rank[rows],
        weight=side.weight[rows],
    )


def _weighed(side: Places, shrunk: FloatArray) -> Places:
    """Unjudged documents with the weights that they have beside the new hits."""
    if side.linear:
        return side._replace(weight=side.weight * shrunk[side.document_rows])
    weight = side.measure.added_alone(side.judged, side.documents)
    return side if weight is None else side._replace(weight=weight)


def _with_hits(
    side: Places, rows: IntArray, relevant: BoolArray, codes: IntArray, gain: FloatArray
) -> Places:
    """Return a run with some of its unjudged documents among the judged ones."""
    hit_row = np.concatenate((side.hit_row, side.document_rows[rows]))
    hit_rank = np.concatenate((side.hit_rank, side.rank[rows]))
    order = np.lexsort((hit_rank, hit_row))
    return side._replace(
        judged=_judged_with(side, rows[relevant]),
        hit_row=hit_row[order],
        hit_rank=hit_rank[order],
        hit_document=np.concatenate((side.hit_document, codes))[order],
        hit_worth=np.concatenate((side.hit_worth, relevant * gain[side.rank[rows]]))[order],
    )


def _judged_with(side: Places, rows: IntArray) -> Judged:
    """The lists with some unjudged documents as relevant hits, and without rows of the
    judgments.
    """
    judged = side.judged
    hits = judged.hits
    if not side.linear:
        new = side.documents.part(rows)
        best = np.full(rows.size, judged.ideal.grade.max(initial=1.0))
        query = np.concatenate((hits.query, new.query))
        rank = np.concatenate((hits.rank, new.rank))
        grade = np.concatenate((hits.grade, best))
        order = np.lexsort((rank, query))
        hits = Hits(query=query[order], rank=rank[order], grade=grade[order])
    return Judged(
        queries=judged.queries,
        ties=judged.ties,
        lengths=judged.lengths,
        returned=judged.returned,
        hits=lambda: hits,
        ideal=lambda: judged.ideal,
        alignments=judged.alignments,
        scope=judged.scope,
        depth=judged.depth,
    )
