"""Two systems of which several trained copies were compared: one measure, and all of it."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from idealrank._lazy import repr_html
from idealrank.analysis.comparison.differences import COMPANIONS, PRIMARY
from idealrank.analysis.comparison.significance import Side
from idealrank.conventions import Convention
from idealrank.measures.parse import MeasureLike, parse_measure
from idealrank.stats.replicates import ReplicatedDifference


@dataclass(frozen=True, kw_only=True)
class SystemDifference:
    """One measure of two systems on the same queries, training and queries both counted; every difference is b - a.

    Attributes
    ----------
    measure : str
        Text of the measure.
    direction : int
        1 where higher values are better, -1 where lower ones are.
    copies_a, copies_b : tuple of float
        The mean of each copy over the queries.
    mean_a, mean_b : float
        Of these.
    found : ReplicatedDifference
        Difference, interval, p, degrees of freedom and the variances of queries and of training.
    p_corrected : float
        The first measure's is its own; of the others after Bonferroni's correction over them, as their intervals are.
    verdict : {"better", "worse", "undecided"}
        About b, by the corrected p value.
    n, excluded_queries : int
        Queries compared; those left out since they are not scored in every copy.
    detectable : float
        The smallest true difference that so many queries and copies find with a chance of 0.8.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1, "y": 2} for i in range(8)}
    >>> runs = [{q: ["x", "y"][:: 1 if i < k else -1] for i, q in enumerate(qrels)} for k in (5, 6, 1, 2)]
    >>> row = ir.compare_systems(*([ir.evaluate(qrels, run, "nDCG") for run in some] for some in (runs[:2], runs[2:])))["nDCG"]
    >>> round(row.found.difference, 3), row.verdict, row.queries_worth_one_copy() is not None
    (0.07, 'better', True)
    """

    measure: str
    direction: int
    copies_a: tuple[float, ...]
    copies_b: tuple[float, ...]
    mean_a: float
    mean_b: float
    found: ReplicatedDifference
    p_corrected: float
    verdict: Side
    n: int
    excluded_queries: int
    detectable: float

    @property
    def trained(self) -> tuple[str, ...]:
        """Owner of each entry of ``found.training``: a, b, or the difference, if copies are paired one by one."""
        several = tuple(side for side, copies in (("a", self.copies_a), ("b", self.copies_b)) if len(copies) > 1)
        if len(self.found.training) == 2:
            return several if len(several) == 2 else (*several, *({"a", "b"} - set(several)))
        return several if len(several) == 1 else ("difference",)

    @property
    def training_share(self) -> float:
        """Share of the variance of the difference that training makes up, in [0, 1]."""
        total = self.found.standard_error**2
        return min(sum(part.error(self.n) for part in self.found.training) / total, 1.0) if total else 0.0

    def standard_error(self, n_queries: int, seeds: "Callable[[int], int]") -> float:
        """The standard error to expect from so many queries, and from other numbers of copies.

        Parameters
        ----------
        n_queries : int
            Number of queries.
        seeds : callable
            Number of copies today -> number of copies then, for every system that is trained.
        """
        found = self.found
        return math.sqrt(found.queries / n_queries + sum(part.error(n_queries, seeds(part.n_seeds)) for part in found.training))

    def queries_worth_one_copy(self) -> "int | None":
        """Number of further queries that lower the standard error as much as one more copy of every trained system; None if impossible."""
        training = self.found.training
        wanted = self.standard_error(self.n, lambda seeds: seeds + 1) ** 2 - sum(part.seeds / part.n_seeds for part in training)
        falling = self.found.queries + sum(part.residual / part.n_seeds for part in training)
        return math.ceil(falling / wanted - 1e-9) - self.n if wanted > 0 else None

    def as_dict(self) -> dict[str, Any]:
        """Everything but the measure by name; None for what is not finite."""
        found = self.found
        return {
            "direction": self.direction,
            "mean_a": self.mean_a,
            "mean_b": self.mean_b,
            "difference": found.difference,
            "interval": [found.low, found.high],
            "level": found.level,
            "p": found.p,
            "p_corrected": self.p_corrected,
            "verdict": self.verdict,
            "standard_error": found.standard_error,
            "df": found.df,
            "query_error": found.query_error,
            "training_share": self.training_share,
            "variance": {
                "queries": found.queries,
                "training": {
                    of: {"copies": part.n_seeds, "seeds": part.seeds, "residual": part.residual}
                    for of, part in zip(self.trained, found.training, strict=True)
                },
            },
            "copies_a": list(self.copies_a),
            "copies_b": list(self.copies_b),
            "n": self.n,
            "excluded_queries": self.excluded_queries,
            "detectable": self.detectable if math.isfinite(self.detectable) else None,
            "queries_worth_one_copy": self.queries_worth_one_copy(),
        }


@dataclass(frozen=True, kw_only=True)
class SystemComparison:
    """Two systems compared over models and queries; made by `compare_systems`.

    Attributes
    ----------
    a, b : str
        Names of the systems.
    runs_a, runs_b : tuple of str
        Names of their models' runs.
    measures : mapping of str to SystemDifference
        Results in the order requested.
    pairing : {"nested", "crossed"}
        Whether models of a and b are paired one by one ("crossed") or not ("nested").
    single : {"fixed", "alike"} or None
        Meaning of a single model on one side.
    level : float
        Confidence level of the intervals.
    convention : Convention
        Convention of every value.
    version : str
        Version of idealrank.
    judgments : {"same", "different", "unknown"}
        Whether all models have the same judgments; "different" if that was allowed, "unknown" if some are not known.

    Examples
    --------
    >>> import idealrank as ir
    >>> copies = [ir.evaluate({"p": {"x": 1}, "q": {"x": 1}}, {"q": ["x"]}, "RR")] * 2
    >>> found = ir.compare_systems(copies, copies, names=("old", "new"))
    >>> found.b, found["RR"].found.difference, found["RR"].verdict
    ('new', 0.0, 'undecided')
    """

    a: str
    b: str
    runs_a: tuple[str, ...]
    runs_b: tuple[str, ...]
    measures: Mapping[str, SystemDifference]
    pairing: str
    single: str | None
    level: float
    convention: Convention
    version: str
    judgments: str = "same"

    _repr_html_ = repr_html  # for notebooks

    def __getitem__(self, measure: MeasureLike) -> SystemDifference:
        """The difference by one measure."""
        text = str(measure)
        text = text if text in self.measures else str(parse_measure(measure))
        if text not in self.measures:
            raise KeyError(f"{text}: not compared, only {', '.join(self.measures)}")
        return self.measures[text]

    def __iter__(self) -> Iterator[SystemDifference]:
        return iter(self.measures.values())

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record: systems with their runs, measures, method, convention."""
        convention = self.convention
        return {
            "a": {"name": self.a, "runs": list(self.runs_a)},
            "b": {"name": self.b, "runs": list(self.runs_b)},
            "measures": {text: row.as_dict() for text, row in self.measures.items()},
            "method": {
                "pairing": self.pairing,
                "single": self.single,
                "level": self.level,
                "correction": "bonferroni" if len(self.measures) > 2 else "none",
                "families": {PRIMARY: 1} | ({COMPANIONS: len(self.measures) - 1} if len(self.measures) > 1 else {}),
                "version": self.version,
                "judgments": self.judgments,
            },
            "convention": {"name": convention.name, "fingerprint": convention.fingerprint, **convention.switches()},
        }
