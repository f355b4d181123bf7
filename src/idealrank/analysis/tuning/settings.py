"""Settings of discount and cutoff, measured on given runs, and the recommended one."""

import math
from collections.abc import Mapping, Sequence
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
        How often two disjoint random sets of `Choosing.size` queries order two runs in opposite ways; a set in which the two tie makes
        half a swap. In [0, 1]: 0.5 is what two equally good runs have on average.
    swap_error : float
        Its Monte Carlo error: how far other random sets of the same queries would be off. 0 where all were looked at.
    tied : float
        Share of the comparisons that tie in one of the sets.
    pairs, significant : int
        Pairs of runs, and those that differ significantly after correction for the number of pairs.
    uncorrected : int
        Pairs that differ by a t test of each without correction, which is nearer to Sakai's discriminative power.
    queries_needed : int or None
        Queries with which half of the pairs, or more, would be found to differ with a chance of 0.8, if their observed differences are
        the true ones; by a t test of one pair at a time. None where no number would do.
    generalisability : float
        E rho^2: share of the variance between the observed means that is between true means; NaN where nothing varies.
    unjudged : float
        Of the documents returned down to the cutoff the share without a judgment (`Coverage.unjudged_share`), of the run with the
        largest.
    behind, margin : float
        Swap rate less that of the best of the settings considered, which for others can be below 0; and how large that must be to be
        told from 0 by these queries, 1 if no difference is large enough.
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
    queries_needed: int | None
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
        found = asdict(self) | {"share": self.share}
        return {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in found.items()}


@dataclass(frozen=True)
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
    power : float
        Chance behind `queries_needed`.
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
    power: float
    test: str
    seed: int
    version: str


@dataclass(frozen=True)
class Choice:
    """Comparison of discounts and cutoffs on given runs; made by `choose`. It never shows which run is better.

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
        The recommended setting, the setting with the lowest swap rate among those considered, and the one nearest to nDCG@10.
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
        raise KeyError(f"{measure}: not compared, only {', '.join(setting.measure for setting in self.settings)}")

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
            "warnings": [*(f"run {name} {phrase}" for name, phrase in self.mismatches.items()), *self.warnings],
            "settings": [setting.as_dict() for setting in self.settings],
            "method": asdict(self.method),
            "convention": {"name": convention.name, "fingerprint": convention.fingerprint, **convention.switches()},
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
        return frame_of({name: [record[name] for record in records] for name in records[0]}, backend)

    def __str__(self) -> str:
        return self.recommendation


def flat_setting(setting: Setting) -> dict[str, Any]:
    """One setting as a flat record; the cutoff is text, ``all`` for whole lists.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(8)}
    >>> runs = [{query: ranking for query in qrels} for ranking in (["y", "x"], ["x", "y"])]
    >>> flat_setting(ir.choose(qrels, runs, cutoffs=[10]).recommended)["cutoff"]
    '10'
    """
    record = setting.as_dict()
    theory = record.pop("theory") or {"verdict": "", "theorem": ""}
    record["cutoff"] = setting.depth.removeprefix("@")
    return record | {"theory": theory["verdict"], "theorem": theory["theorem"]}
