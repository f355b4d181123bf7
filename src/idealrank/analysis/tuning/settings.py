"""Settings of discount and cutoff, measured on given runs, and the rule by which one is
recommended, with the words for it.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from idealrank.conventions import Convention
from idealrank.data.interchange import frame_of


@dataclass(frozen=True)
class Theory:
    """Theory of a discount with a cutoff on growing lists; see `theory.feasibility`.

    Attributes
    ----------
    verdict : str
        feasible, borderline, infeasible or undecided.
    theorem : str
        What says so; empty where nothing does.

    Examples
    --------
    >>> Theory("infeasible", "Theorem 10").verdict
    'infeasible'
    """

    verdict: str
    theorem: str


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Discount with a cutoff, and its power to distinguish the runs.

    Attributes
    ----------
    measure : str
        Text of the measure.
    discount : str
        Text of the discount.
    cutoff : int, str or None
        ``10``, ``"0.2n"``, or None for the whole list.
    swap_rate : float
        How often two disjoint random sets of `Choosing.size` queries order two runs in opposite
        ways; a set in which the two tie makes half a swap. In [0, 1]: 0.5 is what two equally good
        runs have on average.
    swap_error : float
        Its Monte Carlo error: how far other random sets of the same queries would be off. 0 where
        all were looked at.
    tied : float
        Share of the comparisons that tie in one of the sets.
    pairs, significant : int
        Pairs of runs, and those that differ significantly after correction for the number of pairs.
    uncorrected : int
        Pairs that differ by a t test of each without correction, which is nearer to Sakai's
        discriminative power.
    generalisability : float
        E rho^2: share of the variance between the observed means that is between true means; NaN
        where nothing varies.
    unjudged : float
        Of the documents returned down to the cutoff the share without a judgment
        (`Coverage.unjudged_share`), of the run with the largest.
    behind, margin : float
        Swap rate less that of the best of the settings considered, which for others can be below 0;
        and how large that must be to be told from 0 by these queries, 1 if no difference is large
        enough.
    considered : bool
        Whether it could be recommended: nearly all documents shown are judged.
    as_good : bool
        Whether it is considered, and not told apart from the best.
    theory : Theory or None
        What is known of it as lists grow; None if the theory was not consulted.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(8)}
    >>> runs = [{query: ranking for query in qrels} for ranking in (["y", "x"], ["x", "y"])]
    >>> found = ir.choose(qrels, runs, discounts=["log2"], cutoffs=[10]).recommended
    >>> found.swap_rate, found.share
    (0.0, 1.0)
    """

    measure: str
    discount: str
    cutoff: "int | str | None"
    swap_rate: float
    swap_error: float
    tied: float
    pairs: int
    significant: int
    uncorrected: int
    generalisability: float
    unjudged: float
    behind: float
    margin: float
    considered: bool
    as_good: bool
    theory: Theory | None = None

    @property
    def share(self) -> float:
        """Share of the pairs that differ significantly."""
        return self.significant / self.pairs

    @property
    def depth(self) -> str:
        """``@10``, ``@0.2n`` or ``all``."""
        return "all" if self.cutoff is None else f"@{self.cutoff}"

    def as_dict(self) -> dict[str, Any]:
        """Everything by name; None for what is not finite."""
        record = asdict(self) | {"share": self.share}
        return {
            name: None if isinstance(value, float) and math.isnan(value) else value
            for name, value in record.items()
        }


@dataclass(frozen=True, kw_only=True)
class Choosing:
    """Method of the choice, complete enough to repeat it.

    Attributes
    ----------
    size : int
        Queries of each of the two sets that may disagree.
    trials : int
        Pairs of such sets; all there are, where `exact`.
    exact : bool
        Whether they are all.
    resamples : int
        Bootstrap samples of the queries, for margins.
    level : float
        Of the margins, all at once; significance is at ``1 - level``.
    test : str
        Of the pairs, with its correction.
    seed : int
        Of all that is random.
    version : str
        Version of idealrank.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(8)}
    >>> runs = [{query: ranking for query in qrels} for ranking in (["y", "x"], ["x", "y"])]
    >>> ir.choose(qrels, runs, cutoffs=[10]).method.exact
    True
    """

    size: int
    trials: int
    exact: bool
    resamples: int
    level: float
    test: str
    seed: int
    version: str


@dataclass(frozen=True, kw_only=True)
class Choice:
    """Comparison of discounts and cutoffs on given runs; made by `choose`. It never shows which run
    is better.

    Attributes
    ----------
    names : tuple of str
        Names of the runs, as given.
    n : int
        Number of queries.
    left_out : int
        Queries left out because a run or a setting leaves them undefined.
    settings : tuple of Setting
        Every discount with every cutoff, in the order requested.
    recommended, best, usual : Setting
        The recommended setting, the setting with the lowest swap rate among those considered, and
        the one nearest to nDCG@10.
    warnings : tuple of str
        Problems found in the data, one sentence each.
    recommendation : str
        Recommendation and reasons as sentences.
    method : Choosing
        Settings of the experiment.
    convention : Convention
        Convention of every value.
    mismatches : mapping of str to str
        Reason why a run's values are meaningless, by run; empty if every run has a judged document.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(8)}
    >>> runs = [{query: ranking for query in qrels} for ranking in (["y", "x"], ["x", "y"])]
    >>> print(ir.choose(qrels, runs, cutoffs=[1, 10]).recommended.measure)
    nDCG@10
    """

    names: tuple[str, ...]
    n: int
    left_out: int
    settings: tuple[Setting, ...]
    recommended: Setting
    best: Setting
    usual: Setting
    warnings: tuple[str, ...]
    recommendation: str
    method: Choosing
    convention: Convention
    mismatches: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, measure: str) -> Setting:
        """The setting of a measure, by its text."""
        for setting in self.settings:
            if setting.measure == measure:
                return setting
        raise KeyError(
            f"{measure}: not compared, only "
            f"{', '.join(setting.measure for setting in self.settings)}"
        )

    @property
    def discounts(self) -> tuple[str, ...]:
        """Texts of the discounts, in the order requested."""
        return tuple(dict.fromkeys(setting.discount for setting in self.settings))

    @property
    def depths(self) -> tuple[str, ...]:
        """Texts of the cutoffs, in the order requested: ``@10``, ``all``."""
        return tuple(dict.fromkeys(setting.depth for setting in self.settings))

    def row(self, discount: str) -> Sequence[Setting]:
        """Return the settings of one discount, in the order of `depths`."""
        return [setting for setting in self.settings if setting.discount == discount]

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record."""
        convention = self.convention
        return {
            "runs": list(self.names),
            "queries": self.n,
            "left_out": self.left_out,
            "recommended": self.recommended.measure,
            "best": self.best.measure,
            "usual": self.usual.measure,
            "recommendation": self.recommendation,
            "warnings": [
                *(f"run {name} {phrase}" for name, phrase in self.mismatches.items()),
                *self.warnings,
            ],
            "settings": [setting.as_dict() for setting in self.settings],
            "method": asdict(self.method),
            "convention": {
                "name": convention.name,
                "fingerprint": convention.fingerprint,
                **convention.switches(),
            },
        }

    def to_frame(self, backend: Any = "pandas") -> Any:
        """Return a dataframe with a row for each setting.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow", ...}
            Any eager dataframe library that narwhals supports and that is installed.

        Examples
        --------
        >>> import idealrank as ir
        >>> qrels = {f"q{i}": {"x": 1} for i in range(8)}
        >>> runs = [{query: ranking for query in qrels} for ranking in (["y", "x"], ["x", "y"])]
        >>> ir.choose(qrels, runs, cutoffs=[1, 10]).to_frame("polars").columns[:4]
        ['measure', 'discount', 'cutoff', 'swap_rate']
        """
        records = [flat_setting(setting) for setting in self.settings]
        return frame_of(
            {name: [record[name] for record in records] for name in records[0]}, backend
        )

    def __str__(self) -> str:
        return self.recommendation


def flat_setting(setting: Setting) -> dict[str, Any]:
    """One setting as a flat record; the cutoff is text, ``all`` for whole lists."""
    record = setting.as_dict()
    theory = record.pop("theory") or {"verdict": "", "theorem": ""}
    record["cutoff"] = setting.depth.removeprefix("@")
    return record | {"theory": theory["verdict"], "theorem": theory["theorem"]}


# Share of the documents shown: beyond, a cutoff says as much about the judgments as about the runs.
UNJUDGED = 0.1
_USUAL_DISCOUNT, _USUAL_CUTOFF = "log2", 10  # of nDCG@10
_FEW_QUERIES, _FEW_RUNS = 30, 3  # fewer are warned of
_NEVER = 0.005  # swap rate below which no setting can be told from another
_CHAPTER = "docs/theory/what-ndcg-can-tell.md"
_PAPER = "Wang et al. 2013"


def most_unjudged(shares: Sequence[float]) -> float:
    """The largest unjudged share with which a setting is considered: a tenth, or where no setting
    has so few, a tenth above the fewest.
    """
    return UNJUDGED if min(shares) <= UNJUDGED else min(shares) + UNJUDGED


def nearest_to_usual(settings: Sequence[Setting]) -> Setting:
    """The setting nearest to nDCG@10 with the logarithmic discount: first by the discount, then by
    the ratio of the cutoffs.
    """
    return min(settings, key=distance_to_usual)


def distance_to_usual(setting: Setting) -> tuple[bool, float]:
    """Return the distance from nDCG@10; relative and missing cutoffs are farthest."""
    log_ratio = math.inf
    if isinstance(setting.cutoff, int):
        log_ratio = abs(math.log(setting.cutoff / _USUAL_CUTOFF))
    return setting.discount != _USUAL_DISCOUNT, log_ratio


def recommended_of(settings: Sequence[Setting], usual: Setting) -> Setting:
    """Choose among the settings that are not told apart from the best: the usual one, or else the
    nearest to it.
    """

    def order(setting: Setting) -> tuple[bool, bool, float, float]:
        is_other = setting.measure != usual.measure
        return is_other, *distance_to_usual(setting), setting.swap_rate

    return min((setting for setting in settings if setting.as_good), key=order)


def warnings_of(
    settings: Sequence[Setting], recommended: Setting, n_runs: int, n_queries: int, left_out: int
) -> tuple[str, ...]:
    """List the obstacles, one sentence each."""
    return tuple(_warnings(settings, recommended, n_runs, n_queries, left_out))


def _warnings(
    settings: Sequence[Setting], recommended: Setting, n_runs: int, n_queries: int, left_out: int
) -> Iterator[str]:
    if n_runs < _FEW_RUNS:
        yield (
            "2 runs make one pair: every share of significant pairs is 0 or 1, and each rate is "
            "the rate of this pair; use more runs"
        )
    margins = [setting.margin for setting in settings if setting.behind]
    if margins and min(margins) >= 1:
        yield (
            f"{n_queries} queries cannot distinguish any setting from the best, however much "
            f"their rates differ"
        )
    elif n_queries < _FEW_QUERIES:
        yield f"{n_queries} queries are few: other queries would give other rates"
    if left_out:
        yield f"queries left out, since a run or a setting has no value for them: {left_out:,}"
    if recommended.unjudged > UNJUDGED:
        yield (
            f"of the documents shown by {recommended.measure} {recommended.unjudged:.0%} were "
            "never judged in some run, and no setting has much fewer; judge more documents before "
            "you trust any of them"
        )
    if max(setting.swap_rate for setting in settings) < _NEVER and len(settings) > 1:
        yield (
            "no setting swaps: these runs differ too much to distinguish settings; use smaller "
            "sets of queries (size=3, --size 3), or more similar runs"
        )


def in_words(
    settings: Sequence[Setting], recommended: Setting, best: Setting, usual: Setting, size: int
) -> str:
    """The recommendation: what to take, what it is compared with, what was left out, what it takes,
    and what the theory says.
    """
    sentences = [_decision(recommended, best, usual, size), _alike(settings, best)]
    sentences += [_left_out(settings), _strength(recommended), _of_theory(recommended)]
    sentences.append(
        "A measure that distinguishes runs well does not necessarily reflect what users want; "
        "decide that first (idealrank measures advise)."
    )
    return " ".join(sentence for sentence in sentences if sentence)


def _decision(recommended: Setting, best: Setting, usual: Setting, size: int) -> str:
    rate = (
        f"two random sets of {size:,} queries order two runs in opposite ways "
        f"{_times(best.swap_rate)}"
    )
    if recommended.measure == best.measure == usual.measure:
        return f"Keep {usual.measure}: no other setting has a lower swap rate ({rate})."
    if recommended.measure == usual.measure:
        return (
            f"Keep {usual.measure}: the lowest swap rate is that of {best.measure} ({rate}; by "
            f"{usual.measure} {_times(usual.swap_rate)}), but the difference of {usual.behind:.3f} "
            f"could come from the choice of these queries{_needed(usual)}."
        )
    if not usual.considered:
        why = (
            f"{usual.measure} is not considered, since {usual.unjudged:.0%} of its documents are "
            f"unjudged in some run"
        )
    else:
        why = (
            f"{usual.measure} swaps more often ({_times(usual.swap_rate)}), by {usual.behind:.3f}, "
            f"which is more than the choice of these queries explains ({usual.margin:.3f})"
        )
    near = ""
    if recommended.measure != best.measure:
        near = f", and {recommended.measure} is the nearest to it that is as good as the best"
    return (
        f"Take {recommended.measure}: the lowest swap rate is that of {best.measure} ({rate}). "
        f"{why}{near}."
    )


def _needed(setting: Setting) -> str:
    return f" (it would have to exceed {setting.margin:.3f})" if setting.margin < 1 else ""


def _times(rate: float) -> str:
    if 0 < rate < 0.0005:
        return "less than once in 1,000 times"
    return f"{100 * rate:.1f} times in 100" if rate else "never"


def _alike(settings: Sequence[Setting], best: Setting) -> str:
    others = sum(setting.considered for setting in settings) - 1
    alike = sum(setting.as_good for setting in settings) - 1
    if others < 1:
        return ""
    if alike == others:
        return (
            f"These queries cannot distinguish any of the {others:,} other considered settings "
            f"from {best.measure}."
        )
    if not alike:
        return (
            f"These queries distinguish all of the {others:,} other considered settings from "
            f"{best.measure}."
        )
    return (
        f"These queries cannot distinguish {alike:,} of the {others:,} other considered settings "
        f"from {best.measure}; do not choose among them by their rates."
    )


def _left_out(settings: Sequence[Setting]) -> str:
    unjudged_by_depth = {
        setting.depth: setting.unjudged for setting in settings if not setting.considered
    }
    if not unjudged_by_depth:
        return ""
    depths = ", ".join("whole lists" if depth == "all" else depth for depth in unjudged_by_depth)
    low = min(unjudged_by_depth.values())
    high = max(unjudged_by_depth.values())
    shares = f"{low:.0%}" if f"{low:.0%}" == f"{high:.0%}" else f"{low:.0%} to {high:.0%}"
    return (
        f"Not considered: {depths}, where {shares} of the returned documents are unjudged and "
        f"count as not relevant."
    )


def _strength(setting: Setting) -> str:
    if setting.pairs == 1:
        verb = "differ" if setting.significant else "do not differ"
        return f"By {setting.measure} the two runs {verb} significantly."
    return (
        f"By {setting.measure} {setting.significant:,} of {setting.pairs:,} pairs of runs differ "
        f"significantly."
    )


def _of_theory(setting: Setting) -> str:
    theory = setting.theory
    if theory is None:
        return ""
    says = {
        "infeasible": "never converges for one query, however many documents it has; its mean "
        "over queries, which matters here, does",
        "borderline": "converges for one query as documents are added, but depends on the very "
        "top alone",
        "feasible": "converges for one query as documents are added, and so does the order of two "
        "rankers",
    }.get(theory.verdict, "is undecided: no theorem covers it")
    source = theory.theorem or _PAPER
    if theory.theorem.startswith("Theorem"):
        source = f"{_PAPER}, section 3, {theory.theorem}"
    return (
        f"In theory ({source}) {setting.measure} {says}: {_CHAPTER}, 'Which discounts and cutoffs "
        f"are safe'."
    )
