"""Results of a comparison: pairs of runs, the method, and the whole."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, cast

import numpy as np

from idealrank._lazy import computed, repr_html
from idealrank.analysis.comparison.difference_rows import JudgeDifference
from idealrank.analysis.comparison.differences import Difference, about_equivalence, by_measure
from idealrank.analysis.comparison.label_basis import labels_record
from idealrank.analysis.comparison.margin_guard import skew_cautions
from idealrank.analysis.comparison.places import NO_RANKINGS
from idealrank.analysis.comparison.rankings import Rankings
from idealrank.analysis.comparison.requirements import WithWarnings
from idealrank.analysis.comparison.standings import Groups, RunMean, groups_of
from idealrank.conventions import Convention
from idealrank.data.interchange import finite, frame_of
from idealrank.data.label_kinds import Labels, found_kind
from idealrank.errors import IncompatibleError, OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.measures.parse import MeasureLike

_MOST_NAMED = 6  # runs whose unjudged share one sentence has


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two runs compared.

    Attributes
    ----------
    a, b : str
        Names of the runs; b is judged against a.
    measures : mapping of str to Difference
        Results in the order requested.
    rankings : Rankings or None
        How alike the two rankings are; None where that was not asked.
    mismatch : str
        Names a run whose values mean nothing, and why; empty if both mean something. With it the
        verdict is "too few judgments".

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.compare(*[ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")] * 2).pairs[0].measures[
    ...     "RR"
    ... ].interval
    (0.0, 0.0)
    """

    a: str
    b: str
    measures: Mapping[str, Difference]
    rankings: Rankings | None = None
    mismatch: str = ""

    def __getitem__(self, measure: MeasureLike) -> Difference:
        return by_measure(self.measures, measure)

    def reversed(self) -> "Pair":
        """Return the pair in the other order."""
        return replace(
            self,
            a=self.b,
            b=self.a,
            measures={text: row.reversed() for text, row in self.measures.items()},
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record: names, measures, and rankings if compared."""
        record = {
            "a": self.a,
            "b": self.b,
            "measures": {text: row.as_dict() for text, row in self.measures.items()},
        }
        return record if self.rankings is None else record | {"rankings": self.rankings.as_dict()}


@dataclass(frozen=True, kw_only=True)
class Method:
    """Method of a comparison, complete enough to repeat it.

    Attributes
    ----------
    test, level, margin, largest_loss, power
        As asked; the test is permutation, t, wilcoxon or sign.
    n_resamples, seed : int or None
        Of the permutation test; None where every sign vector was looked at, with up to 20 queries
        or clusters.
    correction : str
        Of p values in a family of several tests: "max-T" for sign flips, "bonferroni" for other
        tests, "holm" where asked for; "none" where every family has one test.
    families : mapping of str to int
        Tests in each family: the primary measure, its companions, and slices of either.
    baseline : str or None
        The run that all others were compared with.
    weighted, clustered : bool
        Whether queries had weights or clusters.
    version : str
        Version of idealrank.
    slices : mapping of str to int, or None
        How many queries are in none (`in_none`) and in several (`in_several`), and categories of
        queries not compared (`unknown`).
    effect : float or None
        True difference worth finding, as asked, for `queries_needed`.
    judgments : {"same", "different", "unknown"}
        Of the runs: different where that was asked for, unknown where some are not known.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> ir.compare(one, one, test="t").method.families
    {'primary measure': 1}
    """

    test: str
    level: float
    margin: float | None
    power: float
    n_resamples: int | None
    seed: int | None
    correction: str
    families: Mapping[str, int]
    baseline: str | None
    weighted: bool
    clustered: bool
    version: str
    slices: Mapping[str, int] | None = None
    judgments: str = "same"
    largest_loss: float | None = None
    effect: float | None = None

    @property
    def tests(self) -> int:
        """Tests of the primary measure, which were corrected together."""
        return next(iter(self.families.values()))

    def as_dict(self) -> dict[str, Any]:
        """Everything by name; `slices` and `largest_loss` where they were given."""
        optional = ("slices", "largest_loss")
        return {
            name: value
            for name, value in asdict(self).items()
            if value is not None or name not in optional
        }


@dataclass(frozen=True, kw_only=True, repr=False)
class Comparison(WithWarnings):
    """Runs compared on the same queries, by pair and by measure; made by `compare`.

    Attributes
    ----------
    names : tuple of str
        Names of the runs.
    pairs : tuple of Pair
        All pairs of runs, or each run paired with the baseline.
    method : Method
        Test, correction and random seed.
    convention : Convention
        Convention of every value.
    means : mapping of str to mapping of str to RunMean
        Means with confidence intervals, by measure and run.
    missing : mapping of str to int
        Number of judged queries without an answer, by run; the convention decides how they count.
    unjudged : mapping of str to float
        Share of documents without a judgment down to `unjudged_cutoff` (0: all), by run, from the
        coverage of its evaluation.
    unjudged_cutoff : int
        See `unjudged`.
    labels : Labels or None
        Kind of the labels, declared or found; None if it is not known.
    labels_from : str or None
        Run whose results were labelled, if declared.
    queries : collection of str
        Ids of the queries; empty if they are not known.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1, "y": 0} for i in range(6)}
    >>> a, b = (
    ...     ir.evaluate(qrels, {query: ranking for query in qrels}, "RR")
    ...     for ranking in (["y", "x"], ["x", "y"])
    ... )
    >>> print(ir.compare(a, b))
    RR: run (2) is better than run: 1.0000 against 0.5000, +0.5000 [+0.5000, +0.5000], p 0.0312
    The error rate of the verdict on run (2) against run by RR is not known, for 6 queries may lack rare large differences; use 200 or more.
    """  # noqa: E501

    names: tuple[str, ...]
    pairs: tuple[Pair, ...]
    method: Method
    convention: Convention
    means: Mapping[str, Mapping[str, RunMean]] = field(default_factory=dict)
    missing: Mapping[str, int] = field(default_factory=dict)
    unjudged: Mapping[str, float] = field(default_factory=dict)
    unjudged_cutoff: int = 0
    labels: Labels | None = None
    labels_from: str | None = None
    queries: Collection[str] = field(default=(), repr=False, compare=False)

    _repr_html_ = repr_html  # for notebooks

    @property
    def reach_unknown(self) -> str:
        """A caution if evaluations did not keep their unjudged documents, so that there may be too
        few judgments; else empty.

        Examples
        --------
        >>> import idealrank as ir
        >>> qrels = ir.Qrels({"q": {"x": 1}}, labels_are="pooled")
        >>> a, b = (
        ...     ir.evaluate(qrels, {"q": ranking}, "RR@2") for ranking in (["y", "x"], ["x", "y"])
        ... )
        >>> ir.compare(a, b).reach_unknown.partition("; ")[0]
        'Unjudged within rank 2: 50.0% of run, 50.0% of run (2)'
        """
        lacks_rankings = any(
            row.tipping_reason == NO_RANKINGS and (row.wins or row.losses) for _, row in self.rows()
        )
        shares = [f"{100 * share:.1f}% of {name}" for name, share in self.unjudged.items() if share]
        if not lacks_rankings or not shares:
            return ""
        where = f" within rank {self.unjudged_cutoff}" if self.unjudged_cutoff else ""
        n_more = len(shares) - _MOST_NAMED
        more = f" and some of {n_more:,} more runs" if n_more > 0 else ""
        return (
            f"Unjudged{where}: {', '.join(shares[:_MOST_NAMED])}{more}; evaluate with "
            "keep_unjudged=True to see whether there are too few judgments, or give the files to "
            "`idealrank compare`."
        )

    def pair(self, a: str, b: str) -> Pair:
        """Return the comparison of b with a.

        Raises
        ------
        KeyError
            This pair was not compared in this order.
        """
        for pair in self.pairs:
            if (pair.a, pair.b) == (a, b):
                return pair
        compared = ", ".join(f"{pair.b} against {pair.a}" for pair in self.pairs)
        raise KeyError(f"{b} against {a}: not compared, only {compared}")

    def __getitem__(self, measure: MeasureLike) -> Difference:
        """The difference by one measure, where there is one pair of runs."""
        if len(self.pairs) != 1:
            raise KeyError(
                f"{measure}: found {len(self.pairs)} pairs of runs; name one, as in "
                f".pair({self.names[0]!r}, {self.names[1]!r})"
            )
        return self.pairs[0][measure]

    def renamed(self, names: Sequence[str]) -> "Comparison":
        """Return the comparison with new names for the runs, in the same order.

        Examples
        --------
        >>> import idealrank as ir
        >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
        >>> ir.compare(one, one).renamed(["old", "new"]).pairs[0].b
        'new'
        """
        new_name = dict(zip(self.names, names, strict=True))
        means = {}
        for text, runs in self.means.items():
            means[text] = {new_name[run]: mean for run, mean in runs.items()}
        return replace(
            self,
            names=tuple(names),
            pairs=tuple(
                replace(pair, a=new_name[pair.a], b=new_name[pair.b]) for pair in self.pairs
            ),
            means=means,
            labels_from=None if self.labels_from is None else new_name[self.labels_from],
            missing={new_name[run]: count for run, count in self.missing.items()},
            unjudged={new_name[run]: share for run, share in self.unjudged.items()},
        )

    def paper_table(
        self,
        form: Literal["latex", "markdown", "table"] = "latex",
        *,
        order: "MeasureLike | None" = None,
        labels: Mapping[str, str] | None = None,
        digits: int | None = None,
        letters: Literal["better", "groups"] | None = None,
    ) -> str:
        """Return the table for a paper: a row a run, a column a measure, the best in bold.

        ▲ or ▼ marks a run that is better or worse than the baseline, and ? one with too few
        judgments. A comparison of all pairs takes its first run as the baseline, with p values that
        are corrected for all pairs; or it marks runs with letters.

        Parameters
        ----------
        form : {"latex", "markdown", "table"}
            Format: LaTeX with booktabs, Markdown or plain text.
        order : measure, optional
            Measure that orders the rows, the best first. Default: the order of the runs.
        labels : mapping of str to str, optional
            Names in the table, by run or by measure in any spelling.
        digits : int, optional
            Decimals. Default: as many as the intervals allow.
        letters : {"better", "groups"}, optional
            Letters of all pairs in place of marks against a baseline: the runs that a run is better
            than, or groups of runs that do not differ significantly.

        Raises
        ------
        OptionError
            A name or the format is unknown, or letters meet a comparison with a baseline.

        Examples
        --------
        >>> import idealrank as ir
        >>> qrels = {f"q{i}": {"x": 1, "y": 0} for i in range(9)}
        >>> bad, good = ({q: ranking for q in qrels} for ranking in (["y", "x"], ["x", "y"]))
        >>> found = ir.compare(
        ...     qrels, bad, good, measures="HR@1", names=["BM25", "ours"], baseline="BM25"
        ... )
        >>> print(found.paper_table("table", labels={"HR@1": "HR@1"}).splitlines()[2])
        ours  1.0000*▲
        """
        return cast(
            str,
            computed(
                "Comparison.paper_table",
                self,
                form,
                order=order,
                labels=labels,
                digits=digits,
                letters=letters,
            ),
        )

    def beside(self, judged: "Sequence[Evaluation]") -> "Comparison":
        """Return the comparison with a second opinion: the same runs, evaluated with the grades of
        a judge.

        Parameters
        ----------
        judged : sequence of Evaluation
            One for each run, in the order of `names`.

        Raises
        ------
        OptionError
            It is no sequence of evaluations.
        IncompatibleError
            Their number or convention differs, a measure is missing, or the judge judged no query
            of the comparison that counts for two runs.

        Examples
        --------
        >>> import idealrank as ir
        >>> a, b = {f"q{i}": ["x", "y"] for i in range(9)}, {f"q{i}": ["y", "x"] for i in range(9)}
        >>> people, judge = (
        ...     [ir.evaluate({query: {good: 1} for query in a}, run, "RR") for run in (a, b)]
        ...     for good in "xy"
        ... )
        >>> found = ir.compare(*people).beside(judge)
        >>> found["RR"].difference, found["RR"].judge.difference, found["RR"].verdict
        (-0.5, 0.5, 'undecided')
        """
        _refuse_others(judged, len(self.names))
        if len(judged) != len(self.names):
            raise IncompatibleError(
                f"judge: found evaluations of {len(judged)} runs, expected one for each of "
                f"{len(self.names)}"
            )
        for evaluation in judged:
            if evaluation.convention != self.convention:
                raise IncompatibleError(
                    f"judge: found convention {evaluation.convention.name}, expected "
                    f"{self.convention.name}, as for people"
                )
        judged_of = dict(zip(self.names, judged, strict=True))
        queries = frozenset(self.queries) or None

        def with_judge(pair: Pair) -> Pair:
            a = judged_of[pair.a]
            b = judged_of[pair.b]
            rows = {}
            for text, row in pair.measures.items():
                rows[text] = row.beside(JudgeDifference.of(a, b, text, row.difference, queries))
            return replace(pair, measures=rows)

        # A judge can withhold verdicts, so that the cautions about their error rates change.
        compared = replace(self, pairs=tuple(map(with_judge, self.pairs)))
        former = self.rate_cautions
        others = [caution for caution in self.cautions if caution not in former]
        return replace(compared, cautions=(*others, *compared.rate_cautions))

    @property
    def rate_cautions(self) -> list[str]:
        """Cautions on verdicts whose error rate is not known; part of `cautions`."""
        return rate_cautions(self.pairs, clustered=self.method.clustered)

    def rows(self) -> Iterator[tuple[Pair, Difference]]:
        """Return every difference with its pair."""
        return rows_of(self.pairs)

    def records(self) -> Iterator[dict[str, Any]]:
        """Return every difference as a flat record, followed by its slices; None for values that
        are not finite or not measured.
        """
        for pair, row in self.rows():
            record = flat_record(pair, row)
            yield from [record] if row.slices is None else row.slices.records(record)

    def groups(self, measure: "MeasureLike | None" = None) -> Groups:
        """Group runs that are not significantly different: letters, the top group, and which run is
        significantly better than which.

        Parameters
        ----------
        measure : measure, optional
            Default: the primary measure.

        Raises
        ------
        KeyError
            The measure was not compared.
        OptionError
            The runs were compared with a baseline only.

        References
        ----------
        Piepho (2004), An algorithm for a letter-based representation of all-pairwise comparisons.
        Journal of Computational and Graphical Statistics 13, 456-466.

        Examples
        --------
        >>> import idealrank as ir
        >>> qrels = {f"q{i}": {"x": 1} for i in range(9)}
        >>> bad, good = (
        ...     ir.evaluate(qrels, dict.fromkeys(qrels, ranking), "RR")
        ...     for ranking in (["y", "x"], ["x", "y"])
        ... )
        >>> ir.compare(bad, good).groups().letters
        {'run (2)': 'a', 'run': 'b'}
        """
        if self.method.baseline is not None:
            raise OptionError(
                f"groups: found comparisons with the baseline {self.method.baseline!r} only, "
                f"expected all pairs; compare without a baseline"
            )
        text = next(iter(self.means)) if measure is None else self.pairs[0][measure].measure
        rows = [(pair, pair.measures[text]) for pair in self.pairs]
        means = {run: run_mean.mean for run, run_mean in self.means[text].items()}
        alpha = round(1 - self.method.level, 12)
        differing = ((pair.a, pair.b) for pair, row in rows if row.p_corrected <= alpha)
        verdicts = ((pair.a, pair.b, row.verdict) for pair, row in rows)
        direction = self.pairs[0].measures[text].direction
        return groups_of(text, means, differing, direction, verdicts)

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record: pairs, means, groups (if all pairs were compared), missing,
        warnings, method, convention.
        """
        convention = self.convention
        means = {}
        for text, runs in self.means.items():
            means[text] = {run: _mean_record(run_mean) for run, run_mean in runs.items()}
        groups = {}
        if self.method.baseline is None:
            groups["groups"] = {text: self.groups(text).as_dict() for text in self.means}
        return {
            "pairs": [pair.as_dict() for pair in self.pairs],
            "means": means,
            **groups,
            "missing": dict(self.missing),
            "warnings": list(self.warnings),
            "method": self.method.as_dict(),
            "labels": labels_record(self.labels, self.labels_from),
            "convention": {
                "name": convention.name,
                "fingerprint": convention.fingerprint,
                **convention.switches(),
            },
        }

    def to_frame(self, backend: Any = "pandas") -> Any:
        """Return a dataframe with a row for each pair and measure, and for each slice.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow", ...}
            Any eager dataframe library that narwhals supports and that is installed.

        Examples
        --------
        >>> import idealrank as ir
        >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
        >>> ir.compare(one, one).to_frame("polars").columns[:7]
        ['a', 'b', 'measure', 'direction', 'mean_a', 'mean_b', 'difference']
        """
        records = list(self.records())
        return frame_of(
            {name: [record[name] for record in records] for name in records[0]}, backend
        )

    def _brief(self) -> str:
        baseline = self.method.baseline
        runs = f"{len(self.names):,} runs"
        if len(self.pairs) == 1:
            runs = f"{self.pairs[0].b!r} against {self.pairs[0].a!r}"
        elif baseline is not None:
            runs = f"{len(self.names) - 1:,} runs against {baseline!r}"
        counts = Counter(f"{row.measure} {row.verdict}" for _, row in self.rows())
        verdicts = (f"{text} ({n:,} pairs)" if n > 1 else text for text, n in counts.items())
        return f"{runs}: {', '.join(verdicts)}; convention {self.convention}"

    def __str__(self) -> str:
        without_verdict = [
            f"No verdict on {pair.b} against {pair.a}: run {pair.mismatch}"
            for pair in self.pairs
            if pair.mismatch
        ]
        verdicts = [_line(pair, row) for pair, row in self.rows() if not pair.mismatch]
        labels_matter = any(row.basis is not None for _, row in self.rows())
        kind = found_kind(self.labels) if labels_matter and not self.mismatches else ""
        scales = dict.fromkeys(row.margin_scale for _, row in self.rows())
        notes = filter(None, [self.reach_unknown, *scales, kind])
        return "\n".join([*without_verdict, *verdicts, *self.cautions, *notes])


def rows_of(pairs: Iterable[Pair]) -> Iterator[tuple[Pair, Difference]]:
    """Return every difference with its pair."""
    for pair in pairs:
        for row in pair.measures.values():
            yield pair, row


def rate_cautions(pairs: Iterable[Pair], *, clustered: bool) -> list[str]:
    """Return cautions on verdicts whose error rate is not known."""
    unknown = {
        f"{pair.b} against {pair.a} by {row.measure}": (row.skewness, row.n)
        for pair, row in rows_of(pairs)
        if not row.error_rate_known
    }
    return skew_cautions(unknown, clustered=clustered)


def _refuse_others(judged: Any, n_runs: int) -> None:
    """Refuse anything but a sequence of evaluations."""
    listed = isinstance(judged, Sequence) and not isinstance(judged, str)
    wrong = [entry for entry in judged if not isinstance(entry, Evaluation)] if listed else [judged]
    if wrong:
        raise OptionError(
            f"judge: found {type(wrong[0]).__name__}{' in the sequence' if listed else ''}, "
            f"expected a sequence of Evaluation, one for each of {n_runs} runs",
            hint="compare(..., judge_qrels=) takes the grades themselves",
            command_hint="--judge-qrels takes the grades themselves",
        )


# Parts of a nested record that a flat one has.
_FLAT_PARTS = {
    "tipping": ("significance", "sign", "likely", "reaches"),
    "bounds": ("low", "high"),
}


def flat_record(pair: Pair, row: Difference) -> dict[str, Any]:
    """One difference with its pair and measure as a flat record; None for what is not finite."""
    record: dict[str, Any] = {"a": pair.a, "b": pair.b, "measure": row.measure}
    for name, value in replace(row, slices=None).as_dict().items():
        if name == "interval":
            record["interval_low"], record["interval_high"] = value
        elif name in _FLAT_PARTS:
            for part in _FLAT_PARTS[name]:
                record[f"{name}_{part}"] = None if value is None else value[part]
        elif name == "basis":
            record["labels"] = None if value is None else value["kind"]
        elif name == "margin":
            record |= {
                f"margin_{part}": part_value
                for part, part_value in value.items()
                if part != "margin"
            }
        elif name == "judge":
            record |= {f"judge_{part}": part_value for part, part_value in value.items()}
        else:
            record[name] = value
    return record


def _line(pair: Pair, row: Difference) -> str:
    undecided = f"{pair.b} and {pair.a} are identical"
    if row.wins or row.losses:
        undecided = f"whether {pair.b} or {pair.a} is better is undecided"
    answer = {
        "better": f"{pair.b} is better than {pair.a}",
        "worse": f"{pair.b} is worse than {pair.a}",
        "equivalent": f"{pair.b} and {pair.a} are equivalent",
        "undecided": undecided,
        "too few judgments": f"too few judgments to say whether {_doubted(pair, row)}",
    }[row.verdict]
    signs = "+.4f" if row.about == "mean difference" else ".4f"
    ends = ", ".join(f"{end:{signs}}" for end in row.interval)
    # Too few queries for an interval: infinite ends say nothing.
    interval = "" if all(map(math.isinf, row.interval)) else f" [{ends}]"
    means = f"{row.mean_b:.4f} against {row.mean_a:.4f}"
    positional = np.format_float_positional(
        row.p_corrected, precision=3, fractional=False, trim="-"
    )
    return f"{row.measure}: {answer}: {means}, {row.difference:+.4f}{interval}, p {positional}"


def _doubted(pair: Pair, row: Difference) -> str:
    if about_equivalence(row):
        return f"{pair.b} and {pair.a} are equivalent"
    return f"{pair.b} or {pair.a} is better"


def _mean_record(run_mean: RunMean) -> dict[str, Any]:
    return {
        "mean": finite(run_mean.mean),
        "interval": [finite(end) for end in run_mean.interval],
        "n": run_mean.n,
    }


def distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Names told apart: a second ``run`` becomes ``run (2)``."""
    taken: list[str] = []
    for name in names:
        distinct_name = name
        number = 1
        while distinct_name in taken:
            number += 1
            distinct_name = f"{name} ({number})"
        taken.append(distinct_name)
    return tuple(taken)
