"""Measures of preferences between documents: how many of them a ranking fulfils, and shares of
that.

A preference is fulfilled when the preferred document is returned and the other stands below it or
is not returned. The option `among` says which preferences count: all; ``retrieved``: both documents
are returned; ``implied``: at least one is. Definitions are from trec_eval's help texts (``trec_eval
-h -m all_prefs``), which print the variants as names of their own, ``prefs_simp_ret`` and
``prefs_simp_imp``.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from idealrank.data.alignment import check_choice
from idealrank.data.judged import Judged
from idealrank.data.ranked_preferences import Among, Counts, Preferred
from idealrank.data.segments import sizes_of
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import OptionError
from idealrank.measures.measure import Measure, OftenUndefined, PerQuery, fill_undefined

Surplus: TypeAlias = Literal["printed", "cut"]


def with_as_many_nonrelevant(preferred: Preferred, among: Among, surplus: Surplus) -> Counts:
    """Fulfilled and possible preferences of each group with R documents of level 0, R being its
    number of relevant documents (the quota).
    """
    groups = preferred.groups
    counts = preferred.counts(among)
    relevant = groups.level > 0
    returned = preferred.returned[groups.row]

    def count(mask: BoolArray) -> FloatArray:
        return np.bincount(groups.group[mask], minlength=preferred.n_groups).astype(np.float64)

    n_relevant = count(relevant)
    n_returned = count(relevant & returned)
    quota = n_relevant if among == "all" else n_returned
    n_nonrelevant = count(~relevant) if among == "all" else count(~relevant & returned)
    lacking = np.maximum(quota - n_nonrelevant, 0.0)
    fulfilled = counts.fulfilled + n_returned * lacking
    possible = counts.possible + n_relevant * lacking
    has_surplus = (n_nonrelevant > quota) & preferred.complete
    if has_surplus.any():
        # Both leave out what documents of level 0 beyond the quota lose. As printed, the pairs in
        # order among the first R of level 0 then count as fulfilled, and R² more as possible; the
        # cut removes the pairs of relevant documents with those beyond the quota.
        counted = _first_nonrelevant(preferred, quota, has_surplus, among)
        if surplus == "printed":
            more_fulfilled = counted.in_order
            more_possible = quota**2
        else:
            more_fulfilled = np.zeros(quota.size)
            more_possible = -(quota * (n_nonrelevant - quota))
        without_surplus = counts.fulfilled - counted.against_surplus + more_fulfilled
        fulfilled = np.where(has_surplus, without_surplus, fulfilled)
        possible = np.where(has_surplus, counts.possible + more_possible, possible)
    return Counts(fulfilled, possible)


class _NonrelevantPairs(NamedTuple):
    """Pairs with documents of level 0 in ranking order, of each group, shape (n_groups,)."""

    against_surplus: FloatArray  # preferences fulfilled against the documents beyond the quota
    in_order: FloatArray  # pairs among the documents within the quota, the first of them returned


def _first_nonrelevant(
    preferred: Preferred, quota: FloatArray, has_surplus: BoolArray, among: Among
) -> _NonrelevantPairs:
    """Count the pairs of documents of level 0 within the quota and beyond it."""
    groups, heads = preferred.groups, preferred.tie_heads
    returned = preferred.returned[groups.row]
    chosen = np.flatnonzero(has_surplus[groups.group] & (returned | (among == "all")))
    head = heads[groups.row[chosen]]
    order = chosen[np.lexsort((head, groups.group[chosen]))]
    group = groups.group[order]
    relevant = groups.level[order] > 0
    is_returned = returned[order]
    changes = (np.diff(group) != 0) | (np.diff(heads[groups.row[order]]) != 0)
    tie = np.cumsum(np.append(True, changes))
    group_start = np.searchsorted(group, group)
    tie_start = np.searchsorted(tie, tie)

    def above(mask: BoolArray, start: IntArray) -> FloatArray:
        """Number of marked documents between a start and each document."""
        total = np.cumsum(mask, dtype=np.float64) - mask
        number: FloatArray = total - total[start]
        return number

    def tied(mask: BoolArray) -> FloatArray:
        """Number of marked documents in the tie of each document."""
        number: FloatArray = np.bincount(tie, weights=mask)[tie].astype(np.float64)
        return number

    within_quota = ~relevant & (above(~relevant, group_start) < quota[group])
    relevant_returned = relevant & is_returned
    # A relevant document of the tie is above the i-th of its m documents of level 0 with chance
    # i / (m + 1).
    number = above(~relevant, tie_start) + 1
    above_in_tie = tied(relevant_returned) * number / (tied(~relevant) + 1)
    expected = above(relevant_returned, group_start)[tie_start] + above_in_tie
    against_surplus = np.where(~relevant & ~within_quota, expected, 0.0)
    in_order = np.where(within_quota, above(within_quota & is_returned, group_start), 0.0)
    n = preferred.n_groups
    return _NonrelevantPairs(
        np.bincount(group, weights=against_surplus, minlength=n).astype(np.float64),
        np.bincount(group, weights=in_order, minlength=n).astype(np.float64),
    )


_ENDINGS = {"all": "", "retrieved": "_ret", "implied": "_imp"}
_PRINTED = (
    "trec_eval 10.0: every query and the means of its outputs out.test.prefs and "
    "out.test.qrels_prefs, at all printed digits; the definition, pair by pair and over all orders "
    "of ties, to 12 decimals"
)


@dataclass(frozen=True, kw_only=True)
class PreferenceMeasure(Measure):
    """A measure of preferences.

    Parameters
    ----------
    among : {"all", "retrieved", "implied"}, optional
        Which preferences count, default all.
    """

    among: Among | None = None

    needs: ClassVar[tuple[str, ...]] = ("preferences",)
    cuts: ClassVar = "none"
    proof: ClassVar[str] = _PRINTED
    samples: ClassVar[dict[str, tuple[Any, ...]]] = {"among": (None, *get_args(Among))}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.among is not None:
            check_choice("among", self.among, self.samples["among"][1:])

    @property
    def which(self) -> Among:
        """The preferences that count."""
        return self.among or "all"

    def preferred(self, judged: Judged) -> Preferred:
        """The preferences, held against the ranking."""
        preferences = judged.beside.get("preferences")
        if not isinstance(preferences, Preferred):
            raise OptionError(f"{self}: found no preferences, expected PreferenceQrels")
        return preferences

    @property
    def trec_name(self) -> str:
        """``prefs_simp``, ``prefs_simp_ret``, ``prefs_simp_imp``."""
        return str(self) if self.judged_only else self.name + _ENDINGS[self.which]


class NumPrefsPoss(PreferenceMeasure):
    """Number of preferences that could be fulfilled: all preferences of the judgment groups,
    including those implied by transitivity.

    ``|{(group, A > B)}|``, 0 or more; summed over queries.

    Parameters
    ----------
    among : {"all", "retrieved", "implied"}, optional
        Which preferences count, default all.

    References
    ----------
    trec_eval, measure ``prefs_num_prefs_poss``.

    Examples
    --------
    >>> import idealrank as ir
    >>> preferences = ir.PreferenceQrels({"q": {"ann": {"a": 2, "b": 1, "c": 0}}})
    >>> ir.evaluate(preferences, {"q": ["b", "a"]}, [ir.NumPrefsPoss()]).mean()[
    ...     "prefs_num_prefs_poss"
    ... ]
    3.0
    """

    name: ClassVar[str] = "prefs_num_prefs_poss"
    aggregate: ClassVar = "sum"
    direction: ClassVar[int] = 0
    bounds: ClassVar[tuple[float, float]] = (0.0, np.inf)
    ties: ClassVar = "not affected"
    summary: ClassVar[str] = "number of preferences"
    use: ClassVar[str] = (
        "To see how much the preference measures rest on. It says nothing about a ranking."
    )

    def compute(self, judged: Judged) -> PerQuery:
        """Preferences of every query."""
        preferred = self.preferred(judged)
        return PerQuery(preferred.by_query(preferred.counts(self.which).possible))

    @property
    def trec_name(self) -> str:
        """``prefs_num_prefs_poss``; trec_eval has no restricted variants."""
        return self.name if self.which == "all" and not self.judged_only else str(self)


class NumPrefsFul(PreferenceMeasure):
    """Number of preferences that the ranking fulfils.

    ``|{(group, A > B): A returned, B below A or not returned}|``, 0 or more; summed over queries.

    Parameters
    ----------
    among : {"all", "retrieved", "implied"}, optional
        Which preferences count, default all.

    References
    ----------
    trec_eval, measures ``prefs_num_prefs_ful`` and ``prefs_num_prefs_ful_ret``.

    Examples
    --------
    >>> import idealrank as ir
    >>> preferences = ir.PreferenceQrels({"q": {"ann": {"a": 2, "b": 1, "c": 0}}})
    >>> ir.evaluate(preferences, {"q": ["b", "a"]}, [ir.NumPrefsFul()]).mean()[
    ...     "prefs_num_prefs_ful"
    ... ]
    2.0
    """

    name: ClassVar[str] = "prefs_num_prefs_ful"
    aggregate: ClassVar = "sum"
    bounds: ClassVar[tuple[float, float]] = (0.0, np.inf)
    summary: ClassVar[str] = "number of preferences fulfilled"
    use: ClassVar[str] = (
        "To see the counts behind prefs_simp. Queries with many preferences rule the sum, so "
        "compare systems by shares."
    )

    def compute(self, judged: Judged) -> PerQuery:
        """Fulfilled preferences of every query."""
        preferred = self.preferred(judged)
        return PerQuery(preferred.by_query(preferred.counts(self.which).fulfilled))

    @property
    def trec_name(self) -> str:
        """``prefs_num_prefs_ful``, ``prefs_num_prefs_ful_ret``."""
        if self.which == "implied" or self.judged_only:
            return str(self)
        return self.name + _ENDINGS[self.which]


@dataclass(frozen=True, kw_only=True)
class PreferenceShare(OftenUndefined, PreferenceMeasure):
    """A share of preferences, undefined for a query that has none.

    Parameters
    ----------
    among : {"all", "retrieved", "implied"}, optional
        Which preferences count, default all. A query of which none counts has value 0.
    no_relevant : str, optional
        Value of a query without any preference; default the convention's.
    """

    def compute(self, judged: Judged) -> PerQuery:
        """Share of fulfilled preferences of every query."""
        preferred = self.preferred(judged)
        defined = preferred.by_query(preferred.counts("all").possible) > 0
        return fill_undefined(self.shares(preferred), defined, self.no_relevant or "zero")

    def shares(self, preferred: Preferred) -> FloatArray:
        """Shares of every query, 0 if no preference counts."""
        raise OptionError(
            f"{type(self).__name__} gives no values by itself; choose a measure from "
            f"idealrank.MEASURES"
        )


class PrefsSimp(PreferenceShare):
    """Share of the preferences that the ranking fulfils, with equal weight for all preferences of
    all groups.

    ``fulfilled / possible``, in [0, 1]; below 1 for every ranking if groups contradict each other.

    Parameters
    ----------
    among : {"all", "retrieved", "implied"}, optional
        Which preferences count, default all.
    no_relevant : str, optional
        Value of a query without any preference; default the convention's.

    References
    ----------
    trec_eval, measures ``prefs_simp``, ``prefs_simp_ret``, ``prefs_simp_imp``; Carterette, Bennett,
    Chickering and Dumais (2008), Here or there: preference judgments for relevance, ECIR, whose
    wpref and ppref share the idea.

    Examples
    --------
    >>> import idealrank as ir
    >>> preferences = ir.PreferenceQrels({"q": {"ann": {"a": 2, "b": 1, "c": 0}}})
    >>> ir.evaluate(preferences, {"q": ["b", "a"]}, ["prefs_simp", "prefs_simp_ret"]).mean()
    {'prefs_simp': 0.6666666666666666, 'prefs_simp(among=retrieved)': 0.0}
    """

    name: ClassVar[str] = "prefs_simp"
    summary: ClassVar[str] = "share of the preferences fulfilled"
    use: ClassVar[str] = (
        "When judges compared pairs of documents, and every comparison counts the same. Not when "
        "one judge made most of them: then prefs_avgjg."
    )

    def shares(self, preferred: Preferred) -> FloatArray:
        """Number of fulfilled over number of possible preferences."""
        counts = preferred.counts(self.which)
        return quotient(preferred.by_query(counts.fulfilled), preferred.by_query(counts.possible))


class PrefsPair(PreferenceShare):
    """Share of the preferences fulfilled, averaged over pairs of documents: the preferences of all
    groups on one pair count once.

    ``mean over pairs {A, B} of fulfilled(A, B) / possible(A, B)``, in [0, 1]; a pair with five
    preferences, three of them fulfilled, has 3/5.

    Parameters
    ----------
    among : {"all", "retrieved", "implied"}, optional
        Which preferences count, default all.
    no_relevant : str, optional
        Value of a query without any preference; default the convention's.

    References
    ----------
    trec_eval, measures ``prefs_pair``, ``prefs_pair_ret``, ``prefs_pair_imp``.

    Examples
    --------
    >>> import idealrank as ir
    >>> preferences = ir.PreferenceQrels(
    ...     {"q": {"ann": {"a": 2, "b": 1}, "ben": {"a": 1, "b": 0}, "eve": {"b": 1, "c": 0}}}
    ... )
    >>> ir.evaluate(preferences, {"q": ["b", "a"]}, "prefs_pair").mean()["prefs_pair"]
    0.5
    """

    name: ClassVar[str] = "prefs_pair"
    summary: ClassVar[str] = "share of the preferences fulfilled, averaged over pairs of documents"
    use: ClassVar[str] = (
        "When some pairs were shown to many judges and others to few. Needs memory for every "
        "preference of queries with several groups."
    )

    def shares(self, preferred: Preferred) -> FloatArray:
        """Mean over pairs; with one group only, every pair has one preference."""
        counts = preferred.counts(self.which)
        simple = quotient(preferred.by_query(counts.fulfilled), preferred.by_query(counts.possible))
        pairs = preferred.chosen(preferred.contested, self.which)
        if not pairs.group.size:
            return simple
        low = np.minimum(pairs.better, pairs.worse)
        high = np.maximum(pairs.better, pairs.worse)
        order = np.lexsort((high, low))
        changes = (np.diff(low[order]) != 0) | (np.diff(high[order]) != 0)
        starts = np.flatnonzero(np.append(True, changes))
        orders = [
            (rank[pairs.better] < rank[pairs.worse]).astype(np.float64) for rank in preferred.ranks
        ]
        mean = sum(orders[1:], orders[0]) / len(orders)
        fulfilled = np.add.reduceat(mean[order], starts)
        query = preferred.query[pairs.group[order[starts]]]
        scores = fulfilled / sizes_of(starts, order.size)
        sums = np.bincount(query, scores, simple.size).astype(np.float64)
        numbers = np.bincount(query, minlength=simple.size).astype(np.float64)
        return np.where(preferred.groups_by_query > 1, quotient(sums, numbers), simple)


class PrefsAvgJG(PreferenceShare):
    """Share of the preferences fulfilled in each judgment group, averaged over the groups, all with
    equal weight.

    ``mean over groups of fulfilled(group) / possible(group)``, in [0, 1]; a group without counted
    preferences has 0.

    Parameters
    ----------
    among : {"all", "retrieved", "implied"}, optional
        Which preferences count, default all.
    no_relevant : str, optional
        Value of a query without any preference; default the convention's.

    References
    ----------
    trec_eval, measures ``prefs_avgjg``, ``prefs_avgjg_ret``, ``prefs_avgjg_imp``.

    Examples
    --------
    >>> import idealrank as ir
    >>> preferences = ir.PreferenceQrels(
    ...     {"q": {"ann": {"a": 2, "b": 1, "c": 0}, "ben": {"b": 1, "a": 0}}}
    ... )
    >>> ir.evaluate(preferences, {"q": ["a", "b"]}, "prefs_avgjg").mean()["prefs_avgjg"]
    0.5
    """

    name: ClassVar[str] = "prefs_avgjg"
    summary: ClassVar[str] = "share of the preferences fulfilled, averaged over judgment groups"
    use: ClassVar[str] = (
        "When each judgment group is a user, and a user with many preferences must not outvote one "
        "with few. Not with groups of a preference or two, whose shares are 0 or 1."
    )

    def shares(self, preferred: Preferred) -> FloatArray:
        """Mean of the groups' shares."""
        counts = preferred.counts(self.which)
        shares = quotient(counts.fulfilled, counts.possible)
        return quotient(preferred.by_query(shares), preferred.groups_by_query)


@dataclass(frozen=True, kw_only=True)
class PrefsAvgJGRnonrel(PreferenceShare):
    """`PrefsAvgJG` with as many nonrelevant as relevant documents, so that the number of
    nonrelevant documents does not decide.

    ``mean over groups of (fulfilled + r L) / (possible + R L)``, in [0, 1], with R documents of
    level above 0, r of them returned, N documents of level 0, and ``L = max(R - N, 0)`` imagined
    nonrelevant documents that are not returned. For ``among=retrieved``, ``L = max(r - n, 0)``,
    where n documents of level 0 are returned. If ``N > R`` (``n > r``) and the group orders all its
    documents, only the first R (r) documents of level 0 in the ranking are used.

    In that last case trec_eval does not print such a share: the number of possible preferences
    stays unchanged and grows by R², and preferences among the R documents of level 0 in ranking
    order count as fulfilled. ``surplus=printed``, the default, reproduces that number;
    ``surplus=cut`` follows trec_eval's documentation. No recorded output has a group with several
    levels above 0 in that case; preferences among relevant documents are then kept.

    Parameters
    ----------
    among : {"all", "retrieved"}, optional
        Which preferences count, default all.
    no_relevant : str, optional
        Value of a query without a relevant document in any group; default the convention's.
    surplus : {"printed", "cut"}, optional
        Treatment of documents of level 0 beyond R, default ``printed``.

    References
    ----------
    trec_eval, measures ``prefs_avgjg_Rnonrel``, ``prefs_avgjg_Rnonrel_ret``.

    Examples
    --------
    >>> import idealrank as ir
    >>> preferences = ir.PreferenceQrels({"q": {"ann": {"a": 1, "b": 0, "c": 0}}})
    >>> measures = ["prefs_avgjg_Rnonrel", "prefs_avgjg_Rnonrel(surplus=cut)"]
    >>> list(ir.evaluate(preferences, {"q": ["b", "a", "c"]}, measures).mean().values())
    [0.0, 0.0]
    """

    surplus: Surplus | None = None

    name: ClassVar[str] = "prefs_avgjg_Rnonrel"
    samples: ClassVar[dict[str, tuple[Any, ...]]] = {
        "among": (None, "all", "retrieved"),
        "surplus": (None, *get_args(Surplus)),
    }
    summary: ClassVar[str] = "prefs_avgjg with as many documents of level 0 as above 0"
    use: ClassVar[str] = (
        "When a few hundred documents that are not relevant were judged for some topics and few "
        "for others. Where they outnumber the relevant ones, trec_eval's number is no share of "
        "preferences; surplus=cut is."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.surplus is not None:
            check_choice("surplus", self.surplus, get_args(Surplus))

    def compute(self, judged: Judged) -> PerQuery:
        """Share of every query; undefined without relevant documents."""
        preferred = self.preferred(judged)
        groups = preferred.groups
        relevant = np.bincount(groups.group[groups.level > 0], minlength=preferred.n_groups)
        defined = preferred.by_query(relevant.astype(np.float64)) > 0
        return fill_undefined(self.shares(preferred), defined, self.no_relevant or "zero")

    def shares(self, preferred: Preferred) -> FloatArray:
        """Mean of the groups' shares."""
        counts = with_as_many_nonrelevant(preferred, self.which, self.surplus or "printed")
        shares = quotient(counts.fulfilled, counts.possible)
        return quotient(preferred.by_query(shares), preferred.groups_by_query)

    @property
    def trec_name(self) -> str:
        """``prefs_avgjg_Rnonrel``, ``prefs_avgjg_Rnonrel_ret``."""
        return str(self) if self.surplus == "cut" else super().trec_name


def quotient(part: FloatArray, whole: FloatArray) -> FloatArray:
    """``part / whole``, 0 where there is nothing."""
    return np.divide(part, whole, out=np.zeros(whole.size), where=whole > 0)
