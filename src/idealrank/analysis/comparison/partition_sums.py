"""Comparison of two runs whose values stand in many partitions: sums by partition merge into the
comparison of the whole.

The set-up of a comparison, its tables and families are shared with `procedure.compare`. Its tests
are not: sums have drawn sign flips with a seed by query id and a Poisson bootstrap, and no exact
test, t test, slices or tipping points.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from idealrank.analysis.comparison.families import Hypothesis
from idealrank.analysis.comparison.query_table import QueryTable
from idealrank.analysis.comparison.requirements import JudgmentsOption
from idealrank.analysis.comparison.study import Study, StudyOptions
from idealrank.conventions import Convention
from idealrank.data.interchange import finite
from idealrank.data.qrels import added
from idealrank.data.types import BoolArray
from idealrank.errors import IncompatibleError, InputError, OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.measures.measure import Measure
from idealrank.measures.parse import MeasureLike, parse_measure
from idealrank.stats.design import Design
from idealrank.stats.difference_sums import DifferenceSums, max_t, sums_of_columns
from idealrank.stats.values import open_share

_WORST = 10  # queries kept of each measure, as a gate shows them


class Fall(NamedTuple):
    """A query on which b is worse than a."""

    query: str
    a: float  # Value of run a
    b: float  # Value of run b
    turned: float  # The difference b - a, turned so that better is above 0


@dataclass(frozen=True, kw_only=True)
class MeasureDifference:
    """Difference of two runs by one measure, from sums; see `ComparisonSums.differences`.

    Attributes
    ----------
    measure : str
        Text of the measure.
    n, excluded : int
        Queries compared, and left out since they do not count in both runs.
    mean_a, mean_b, difference : float
        Means, and b - a.
    low, high : float
        Percentile interval of the Poisson bootstrap.
    p, p_corrected : float
        Two-sided p value of the sign-flip test, and corrected as `compare` corrects: the first
        measure is alone, the others are a family, by single-step max-T.
    sd : float
        Standard deviation of the differences.
    wins, ties, losses : int
        Queries with a higher, an equal and a lower value of b.

    Examples
    --------
    >>> import idealrank as ir
    >>> a, b = (
    ...     ir.evaluate({"q": {"x": 1}}, {"q": ranking}, "RR") for ranking in (["y", "x"], ["x"])
    ... )
    >>> found = ir.ComparisonSums.of(a, b, n_draws=10).differences()[0]
    >>> found.measure, found.wins, found.difference
    ('RR', 1, 0.5)
    """

    measure: str
    n: int
    excluded: int
    mean_a: float
    mean_b: float
    difference: float
    low: float
    high: float
    p: float
    p_corrected: float
    sd: float
    wins: int
    ties: int
    losses: int

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record; None for values that are not finite."""
        return {name: finite(value) for name, value in vars(self).items()}


@dataclass(frozen=True, kw_only=True, eq=False)
class ComparisonSums:
    """Sums of a paired comparison over some queries, measure by measure.

    Each partition sums the differences of its own queries, with the sign flips and the Poisson
    weights of each query drawn from its id. The sums of a partition take about 320 KB a measure
    with 10,000 draws, whatever its number of queries, and merge in any order: values by query never
    come together. `gate_sums` decides from them, and `idealrank.engines.spark.compare_spark`
    computes them on a cluster.

    Attributes
    ----------
    a, b : str
        Names of the runs; differences are b - a.
    measures : tuple of Measure
        Measures compared; all that have a direction by default.
    sums : tuple of DifferenceSums
        One a measure.
    excluded : tuple of int
        Queries left out of each measure, since they do not count in both runs.
    worst : tuple of tuples
        By measure, the ten queries on which b is worst beside a: id, value of a, value of b,
        difference turned so that better is above 0.
    missing : tuple of int
        Judged queries that a, and that b, does not answer.
    convention : Convention
        Convention of every value.
    max_documents : int or None
        As for `evaluate`.
    judgments : str or None
        Fingerprint of the judgments of all queries.
    answerable : tuple of (int or None)
        Queries compared by each measure that have a relevant document; None if it is not known.
        Margins refer to their mean.

    Examples
    --------
    >>> import idealrank as ir
    >>> parts = []
    >>> for names in (["q1", "q2", "q3"], ["q4", "q5", "q6"]):
    ...     qrels = {query: {"x": 1} for query in names}
    ...     a, b = ({query: ranking for query in names} for ranking in (["y", "x"], ["x", "y"]))
    ...     parts.append(
    ...         ir.ComparisonSums.of(ir.evaluate(qrels, a, "RR"), ir.evaluate(qrels, b, "RR"))
    ...     )
    >>> found = parts[0].merge(parts[1]).differences()[0]
    >>> found.n, found.difference, found.low, found.p < 0.05
    (6, 0.5, 0.5, True)
    """

    a: str
    b: str
    measures: tuple[Measure, ...]
    sums: tuple[DifferenceSums, ...]
    excluded: tuple[int, ...]
    worst: tuple[tuple[Fall, ...], ...]
    missing: tuple[int, int]
    convention: Convention
    max_documents: int | None = None
    judgments: str | None = None
    answerable: tuple[int | None, ...] = ()

    @classmethod
    def of(
        cls,
        a: Evaluation,
        b: Evaluation,
        measures: "MeasureLike | Iterable[MeasureLike] | None" = None,
        *,
        n_draws: int = 10_000,
        seed: int = 0,
        judgments: JudgmentsOption = "same",
    ) -> "ComparisonSums":
        """Sum the differences of two evaluations of the same partition.

        Parameters
        ----------
        a, b : Evaluation
            Both runs on the queries of the partition.
        measures : measure or iterable of them, optional
            Measures to compare; default: all with a direction.
        n_draws, seed
            As for `stats.DifferenceSums.of`; the same for every partition.
        judgments
            As for `compare`.

        Raises
        ------
        IncompatibleError
            Conventions, measures or judgments differ.
        OptionError
            A measure cannot be compared by differences of means.
        """
        study = Study.of([a, b], measures, StudyOptions(judgments=judgments))
        queries = study.queries
        table_a, table_b = study.tables
        sums = sums_of_columns(queries, table_a.values, table_b.values, n_draws=n_draws, seed=seed)
        both = table_a.counted & table_b.counted
        worst = []
        different = ~table_a.equal(table_b) & both
        for column, measure in enumerate(study.measures):
            rows = []
            for place in np.flatnonzero(different[:, column]).tolist():
                value_a = float(table_a.values[place, column])
                value_b = float(table_b.values[place, column])
                turned = (value_b - value_a) * measure.direction
                rows.append(Fall(query=queries[place], a=value_a, b=value_b, turned=turned))
            worst.append(_falls(rows))
        return cls(
            a=study.names[0],
            b=study.names[1],
            measures=study.measures,
            sums=tuple(sums),
            excluded=tuple((~both).sum(axis=0).tolist()),
            worst=tuple(worst),
            missing=(a.coverage.missing, b.coverage.missing),
            convention=a.convention,
            max_documents=a.provenance.max_documents,
            judgments=a.provenance.judgments,
            answerable=_answerable(study.tables, both),
        )

    def merge(self, other: "ComparisonSums") -> "ComparisonSums":
        """Add the sums of other queries.

        Raises
        ------
        IncompatibleError
            Conventions, measures, cuts, seeds or numbers of draws differ.
        """
        # Conventions are compared by their switches: two names may mean the same computation.
        same_alignment = self.convention.alignment == other.convention.alignment
        if not same_alignment or self.convention.rules != other.convention.rules:
            raise IncompatibleError(
                f"found conventions {self.convention} and {other.convention}; expected one for all "
                "parts"
            )
        if self.measures != other.measures:
            texts, others = (", ".join(map(str, part.measures)) for part in (self, other))
            raise IncompatibleError(
                f"found measures {texts} and {others}; expected the same for all parts"
            )
        if self.max_documents != other.max_documents:
            cuts = f"{self.max_documents} and {other.max_documents}"
            raise IncompatibleError(
                f"found lists cut at {cuts} documents; expected one cut for all parts"
            )
        sums = zip(self.sums, other.sums, strict=True)
        excluded = zip(self.excluded, other.excluded, strict=True)
        worst = zip(self.worst, other.worst, strict=True)
        answerable = zip(self.answerable, other.answerable, strict=True)
        return replace(
            self,
            sums=tuple(first.merge(second) for first, second in sums),
            excluded=tuple(first + second for first, second in excluded),
            worst=tuple(_falls((*first, *second)) for first, second in worst),
            missing=(self.missing[0] + other.missing[0], self.missing[1] + other.missing[1]),
            judgments=added(self.judgments, other.judgments),
            answerable=tuple(_total(first, second) for first, second in answerable),
        )

    def __getitem__(self, measure: MeasureLike) -> DifferenceSums:
        """Sums of one measure."""
        requested = parse_measure(measure)
        if requested not in self.measures:
            raise KeyError(f"{requested}: not compared, only {', '.join(map(str, self.measures))}")
        return self.sums[self.measures.index(requested)]

    def differences(self, level: float = 0.95) -> tuple[MeasureDifference, ...]:
        """Differences by measure, with intervals and tests.

        Parameters
        ----------
        level : float
            Confidence level of the intervals, between 0 and 1.

        Raises
        ------
        InputError
            No query counts in both runs.
        """
        open_share("level", level)
        self.require_queries()
        differences = []
        p_corrected = two_sided_p(self.sums)
        for column, measure in enumerate(self.measures):
            sums = self.sums[column]
            low, high = sums.interval(level)
            differences.append(
                MeasureDifference(
                    measure=str(measure),
                    n=sums.n,
                    excluded=self.excluded[column],
                    mean_a=sums.mean_a,
                    mean_b=sums.mean_b,
                    difference=sums.difference,
                    low=low,
                    high=high,
                    p=sums.p,
                    p_corrected=p_corrected[column],
                    sd=sums.sd,
                    wins=sums.wins,
                    ties=sums.ties,
                    losses=sums.losses,
                )
            )
        return tuple(differences)

    def require_queries(self) -> None:
        """Refuse a measure without a query that counts in both runs.

        Raises
        ------
        InputError
            There is one.
        """
        for measure, sums in zip(self.measures, self.sums, strict=True):
            if not sums.n:
                raise InputError(
                    f"{measure}: no query counts in both {self.a!r} and {self.b!r}; do the "
                    f"query ids match?"
                )

    def packed(self) -> tuple[dict[str, Any], bytes]:
        """Numbers for JSON, and draws as bytes, for `unpacked` in another process; measures and
        convention stay out.
        """
        packed = [sums.packed() for sums in self.sums]
        numbers = {
            "sums": [numbers for numbers, _ in packed],
            "excluded": self.excluded,
            "worst": self.worst,
            "missing": self.missing,
            "judgments": self.judgments,
            "answerable": self.answerable,
        }
        return numbers, b"".join(draws for _, draws in packed)

    @classmethod
    def unpacked(
        cls,
        numbers: dict[str, Any],
        draws: bytes,
        *,
        names: tuple[str, str],
        measures: Sequence[Measure],
        convention: Convention,
        max_documents: int | None = None,
    ) -> "ComparisonSums":
        """Sums that another process packed."""
        if len(numbers["sums"]) != len(measures):
            raise OptionError(
                f"found sums of {len(numbers['sums'])} measures, expected {len(measures)}"
            )
        size = len(draws) // len(measures)
        sums = [
            DifferenceSums.unpacked(record, draws[size * column : size * (column + 1)])
            for column, record in enumerate(numbers["sums"])
        ]
        worst = tuple(tuple(map(_unpacked_fall, falls)) for falls in numbers["worst"])
        missing_a, missing_b = map(int, numbers["missing"])
        return cls(
            a=names[0],
            b=names[1],
            measures=tuple(measures),
            sums=tuple(sums),
            excluded=tuple(numbers["excluded"]),
            worst=worst,
            missing=(missing_a, missing_b),
            convention=convention,
            max_documents=max_documents,
            judgments=numbers["judgments"],
            answerable=tuple(numbers["answerable"]),
        )


def two_sided_p(sums: Sequence[DifferenceSums]) -> list[float]:
    """Corrected two-sided p values by measure: the first measure is a family of its own."""
    families = filter(None, (sums[:1], sums[1:]))
    return list(chain.from_iterable(map(max_t, families)))


def _answerable(tables: Sequence[QueryTable], counted: BoolArray) -> tuple[int | None, ...]:
    """Number of queries of each measure with a relevant document, for either run."""
    columns = range(counted.shape[1])
    everywhere = np.ones(len(counted), np.bool_)
    tests = [
        Hypothesis(first=tables[0], second=tables[1], column=column, within=everywhere)
        for column in columns
    ]
    return tuple(
        test.scale(kept, Design.of(int(kept.sum()))).answerable if kept.any() else 0
        for test, kept in zip(tests, counted.T, strict=True)
    )


def _total(first: int | None, second: int | None) -> int | None:
    """Sum of two counts; None if either is unknown."""
    return None if first is None or second is None else first + second


def _unpacked_fall(numbers: Sequence[Any]) -> Fall:
    query, value_a, value_b, turned = numbers
    return Fall(query=str(query), a=float(value_a), b=float(value_b), turned=float(turned))


def _falls(rows: Iterable[Fall]) -> tuple[Fall, ...]:
    """The worst of them, in an order that does not depend on theirs."""
    fallen = (row for row in rows if row.turned < 0)
    return tuple(nsmallest(_WORST, fallen, key=lambda row: (row.turned, row.query)))
