"""Compare evaluations: the same queries, one test, one correction, four verdicts."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np

from idealrank.data.types import FloatArray
from idealrank.errors import OptionError
from idealrank.evaluation import Evaluation
from idealrank.measures.measure import Measure
from idealrank.measures.parse import MeasureLike
from idealrank.stats.columns import chosen
from idealrank.stats.comparison import Found, Plan, TestName, compare_columns, needed_by, visible_by
from idealrank.stats.design import Design
from idealrank.stats.flips import MOST_UNITS
from idealrank.stats.intervals import mean_interval
from idealrank.stats.multiple import adjust
from idealrank.stats.randomness import RandomLike, whole_number
from idealrank.verdict.comparison import Comparison, Difference, Method, Pair, Verdict, distinct
from idealrank.verdict.designs import design_by_query, restricted
from idealrank.verdict.groups import RunMean
from idealrank.verdict.many import DRAWS, MANY, together
from idealrank.verdict.mismatch import mismatches
from idealrank.verdict.rankings import Overlapping, Rankings, rankings_by_names
from idealrank.verdict.sliced import FAMILY as SLICES
from idealrank.verdict.slices import Categories, Membership, sliced
from idealrank.verdict.table import Companions, Table, chosen_measures, comparable, queries_of, seed_from
from idealrank.verdict.tested import found_in_both, side_of
from idealrank.version import __version__

# Called with how many pairs are done, and of how many.
Tell = Callable[[int, int], None]

FAMILY = "all queries"
_POWER = 0.8
_DRAWS = 100_000
_IN_ONE_GO = 64  # pairs


def compare(
    evaluation_a: Evaluation,
    evaluation_b: Evaluation,
    *others: Evaluation,
    measures: "MeasureLike | Iterable[MeasureLike] | None" = None,
    baseline: str | None = None,
    test: TestName = "permutation",
    correction: Literal["auto", "holm"] = "auto",
    level: float = 0.95,
    margin: float | None = None,
    weights: Mapping[str, float] | None = None,
    clusters: Mapping[str, object] | None = None,
    slices: "Categories | None" = None,
    n_resamples: int | None = None,
    rng: RandomLike = None,
    threads: int | None = None,
    rankings: "Overlapping | Iterable[Overlapping] | None" = None,
    tell: Tell | None = None,
) -> Comparison:
    """Whether b is better than a, by how much, how surely, and how small a difference these queries could have shown.

    Parameters
    ----------
    evaluation_a, evaluation_b, *others : Evaluation
        Of runs against the same judgments under one convention. Differences are b - a. Of three or more every two are compared.
    measures : measure or iterable of them, optional
        What to compare; default what both evaluations have, without measures of text and companions (see Notes).
    baseline : str, optional
        Name of a run: the others are compared with it, and not with each other.
    test : {"permutation", "t", "wilcoxon", "sign"}
        Sign flips of the mean difference, exact for up to 20 queries that differ; Student's t; Wilcoxon's signed ranks; signs. Interval
        and p value of a row come from the same test.
    correction : {"auto", "holm"}
        Of p values for the number of tests; see Notes. "holm" is Holm's method for any number of runs: it sees more where runs are near
        copies of each other or far apart, and its intervals hold pair by pair, not all at once.
    level : float
        Of the intervals; verdicts are at ``1 - level``.
    margin : float, optional
        A difference that does not matter, in units of the measures: b can then be called equivalent, by two one-sided tests.
    weights : mapping of query to float, optional
        How much each query counts, its traffic for example; for the permutation and t tests.
    clusters : mapping of query to label, optional
        Queries that belong together (user, session, topic); for the same tests.
    slices : mapping of query to str, or to several, optional
        Categories of the queries, as `read_categories` and `traffic_thirds` give them: every difference is then found on each slice, too
        (`Difference.slices`). They are a second family of tests, corrected by Holm's method over slices, pairs and measures.
    n_resamples : int, optional
        Draws of the permutation test; default 100,000, and 10,000 where all pairs are corrected together.
    rng : Generator, seed or None
        Of these. None derives the seed from the values, so that the same input gives the same output.
    threads : int, optional
        None or 0 for one a core; the numbers are the same for any.
    rankings : Overlap or iterable of them, optional
        How alike the runs' rankings are, as `overlap` says it of two runs of these names; evaluations hold no rankings.
    tell : callable, optional
        Called with pairs done and their number, and then with those whose slices are done.

    Returns
    -------
    Comparison

    Raises
    ------
    IncompatibleError
        The evaluations have different conventions, judgments, cuts or measures.
    OptionError
        An option is impossible, or a measure has no better and worse.
    InputError
        No query is scored in both of two runs, no run has a judged document, no judged grade counts, or a query has no weight or cluster.

    Notes
    -----
    Queries are the union under the convention: one that a run does not answer counts as the convention says. One that is left out of a
    measure in either run is left out of both, and counted in `excluded_queries`.

    p values are corrected by Holm's method over all pairs and measures. Under "auto", with the permutation test, no margin, and more
    than ten runs that are all scored on every query, they are those of max-T against a baseline, or of the randomised HSD of all pairs
    (times the number of measures), and the intervals hold for all pairs at once. `unjudged_a` and `unjudged_b` come from the measure
    ``Unjudged`` at the same cutoff, `difference_judged` from the same measure with ``judged_only``, where the evaluations have these
    companions; `with_companions` adds them to a list of measures.

    References
    ----------
    Smucker, Allan and Carterette (2007), A comparison of statistical significance tests for information retrieval evaluation. CIKM.
    Holm (1979), A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6. Schuirmann (1987), A
    comparison of the two one-sided tests procedure. Journal of Pharmacokinetics and Biopharmaceutics 15. Carterette (2012), Multiple
    testing in statistical analysis of systems-based information retrieval experiments. ACM TOIS 30(1), for the randomised HSD.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(8)}
    >>> a, b = (ir.evaluate(qrels, {q: ranking for q in qrels}, ["RR", "AP"]) for ranking in (["y", "x"], ["x", "y"]))
    >>> found = compare(a, b)
    >>> {measure: (row.difference, row.p, row.p_corrected, row.verdict) for measure, row in found.pairs[0].measures.items()}
    {'RR': (0.5, 0.0078125, 0.015625, 'better'), 'AP': (0.5, 0.0078125, 0.015625, 'better')}
    """
    evaluations = comparable([evaluation_a, evaluation_b, *others])
    names = distinct([evaluation.name for evaluation in evaluations])
    asked = chosen_measures(evaluations, measures)
    apart, queries = mismatches(evaluations, names, asked[0]), queries_of(evaluations)
    tables = tuple(Table.of(evaluation, asked, queries) for evaluation in evaluations)
    membership = None if slices is None else _membership(queries, slices, len(names), baseline)
    many = _together(correction, test, margin, tables)
    draws = (DRAWS if many else _DRAWS) if n_resamples is None else whole_number("n_resamples", n_resamples)
    plan = Plan("t" if many else test, level, margin, draws, seed_from(rng, tables), _POWER, threads)
    companions = tuple(Companions.of(evaluation, asked, queries) for evaluation in evaluations)
    case = _Case(names, asked, tables, companions, design_by_query(queries, weights, clusters), plan)
    wanted = _pairs(names, baseline)
    found, corrected, name = case.tested(wanted, tell, many=many)
    alike = rankings_by_names(rankings, [evaluation.name for evaluation in evaluations], queries)
    pairs = tuple(case.pair(a, b, rows, row, alike) for (a, b), rows, row in zip(wanted, found, corrected, strict=True))
    method = case.method(test, name, baseline, len(wanted), many=many)
    comparison = Comparison(names, pairs, method, evaluations[0].convention, case.means(), _missing(names, evaluations), mismatches=apart)
    return case.in_slices(
        comparison, wanted, membership, replace(plan, test=test, n_resamples=_DRAWS if n_resamples is None else draws), tell
    )


def _together(correction: str, test: TestName, margin: float | None, tables: Sequence[Table]) -> bool:
    """Whether all pairs are corrected at once."""
    chosen("correction", correction, ("auto", "holm"))
    fit = correction == "auto" and test == "permutation" and margin is None
    return fit and len(tables) > MANY and all(bool(table.counted.all()) for table in tables)


def _enough_draws(plan: Plan, design: Design, tests: int) -> None:
    """Refuse so many tests that no corrected p value could be small, whatever the values."""
    if plan.test == "permutation" and design.n_units > MOST_UNITS and tests > plan.alpha * (plan.n_resamples + 1):
        raise OptionError(
            f"found {tests:,} tests and {plan.n_resamples:,} draws: after Holm's correction no p could be as small as {plan.alpha:g}; "
            "expected fewer measures or runs, a baseline, test='t', or n_resamples with more draws"
        )


def _missing(names: Sequence[str], evaluations: Sequence[Evaluation]) -> dict[str, int]:
    return {name: evaluation.coverage.missing for name, evaluation in zip(names, evaluations, strict=True)}


def _membership(queries: Sequence[str], categories: Categories, n_runs: int, baseline: str | None) -> Membership:
    """Who is in which slice; refused where there would be too many tests for any to find something."""
    if n_runs > MANY and baseline is None:
        raise OptionError(f"slices: found {n_runs} runs to be compared with each other, expected at most {MANY}, or a baseline")
    return Membership.of(queries, categories)


class Corrected(NamedTuple):
    """p values after the correction: arrays (measures,) of a pair, or numbers of one measure; and how many tests were corrected."""

    p: Any
    equivalence: Any
    tests: int

    @classmethod
    def all_of(cls, found: Sequence[Sequence[Found]], *, with_margin: bool) -> "list[Corrected]":
        """Of every pair, by Holm's method over pairs and measures; equivalence is a family of its own."""
        p = adjust([[one.p for one in rows] for rows in found])
        equivalence = adjust([[one.p_equivalence for one in rows] for rows in found]) if with_margin else [None] * len(p)
        return [cls(row, equal, p.size) for row, equal in zip(p, equivalence, strict=True)]

    def of(self, column: int) -> "Corrected":
        """Of one measure."""
        return Corrected(float(self.p[column]), None if self.equivalence is None else float(self.equivalence[column]), self.tests)


def _pairs(names: Sequence[str], baseline: str | None) -> list[tuple[int, int]]:
    if baseline is None:
        return list(combinations(range(len(names)), 2))
    if baseline not in names:
        raise OptionError(f"baseline {baseline!r}: found no run of that name, expected one of {', '.join(names)}")
    first = names.index(baseline)
    return [(first, other) for other in range(len(names)) if other != first]


@dataclass(frozen=True, eq=False)
class _Case:
    """What is compared, and how."""

    names: tuple[str, ...]
    measures: tuple[Measure, ...]
    tables: tuple[Table, ...]
    companions: tuple[Companions, ...]
    design: Design
    plan: Plan

    def found(self, a: int, b: int) -> list[Found]:
        """Every measure of two runs; measures that count the same queries are tested together, by the same signs."""
        return found_in_both(self.tables[a], self.tables[b], (self.names[a], self.names[b]), self.measures, self.design, self.plan)

    def tested(
        self, wanted: Sequence[tuple[int, int]], tell: Tell | None, *, many: bool
    ) -> "tuple[list[list[Found]], list[Corrected], str]":
        """Every pair wanted, the corrected p values, and the name of the correction."""
        if many:
            values = np.stack([table.values for table in self.tables], axis=1)
            found, p, correction = together(values, self._found_together(values, wanted, tell), wanted, self.design, self.plan)
            return found, [Corrected(row, None, p.size) for row in p], correction
        _enough_draws(self.plan, self.design, len(wanted) * len(self.measures))
        found = []
        for done, (a, b) in enumerate(wanted):
            found.append(self.found(a, b))
            if tell is not None:
                tell(done + 1, len(wanted))
        return found, Corrected.all_of(found, with_margin=self.plan.margin is not None), "holm"

    def _found_together(self, values: FloatArray, wanted: Sequence[tuple[int, int]], tell: Tell | None) -> list[list[Found]]:
        """The same where every run is scored on every query: many pairs in one go, since a call costs more than its numbers."""
        found: list[list[Found]] = []
        n, _, measures = values.shape
        for start in range(0, len(wanted), _IN_ONE_GO):
            sides = zip(*wanted[start : start + _IN_ONE_GO], strict=True)
            first, second = (values[:, list(side)].reshape(n, -1) for side in sides)
            rows = compare_columns(first, second, self.design, self.plan)
            found += [rows[at : at + measures] for at in range(0, len(rows), measures)]
            if tell is not None:
                tell(len(found), len(wanted))
        return found

    def means(self) -> dict[str, dict[str, RunMean]]:
        """Of every run by every measure."""
        return {str(measure): dict(zip(self.names, self._means_by(column), strict=True)) for column, measure in enumerate(self.measures)}

    def _means_by(self, column: int) -> list[RunMean]:
        """Runs that are scored on the same queries have their means taken together."""
        counted = np.stack([table.counted[:, column] for table in self.tables], axis=1)
        values = np.stack([table.values[:, column] for table in self.tables], axis=1)
        patterns, of_run = np.unique(counted, axis=1, return_inverse=True)
        found = [RunMean(math.nan, (math.nan, math.nan), 0)] * len(self.names)
        for number, kept in enumerate(patterns.T):
            runs, n = np.flatnonzero(of_run.reshape(-1) == number), int(kept.sum())
            if n:
                of = mean_interval(values[np.ix_(kept, runs)], level=self.plan.level, design=restricted(self.design, kept))
                for run, mean, low, high in zip(runs.tolist(), of.estimate.tolist(), of.low.tolist(), of.high.tolist(), strict=True):
                    found[run] = RunMean(mean, (low, high), n)
        return found

    def pair(self, a: int, b: int, found: Sequence[Found], corrected: Corrected, alike: Mapping[tuple[str, str], Rankings]) -> Pair:
        """Two runs with all that stands beside each difference."""
        both = self.tables[a].counted & self.tables[b].counted
        same = int((self.tables[a].equal(self.tables[b]) & both).all(axis=1).sum())
        rows = {}
        for column, (measure, one) in enumerate(zip(self.measures, found, strict=True)):
            kept = both[:, column]
            unjudged_a, unjudged_b, judged = self.companions[a].beside(self.companions[b], column, kept, restricted(self.design, kept))
            rows[str(measure)] = replace(
                difference_of(measure, one, corrected.of(column), self.plan),
                excluded_queries=int((~kept).sum()),
                identical_queries=same,
                unjudged_a=unjudged_a,
                unjudged_b=unjudged_b,
                difference_judged=judged,
            )
        names = self.names[a], self.names[b]
        return Pair(*names, rows, alike.get(names))

    def method(self, test: str, correction: str, baseline: str | None, pairs: int, *, many: bool) -> Method:
        """How it was compared."""
        plan, design = self.plan, self.design
        # With fewer units every sign vector is looked at.
        drawn = test == "permutation" and (many or design.n_units > MOST_UNITS)
        return Method(
            test, plan.level, plan.margin, plan.power, plan.n_resamples if drawn else None, plan.seed if drawn else None, correction,
            {FAMILY: pairs * len(self.measures)}, baseline, design.weights is not None, design.clusters is not None, __version__,
        )  # fmt: skip

    def in_slices(
        self, comparison: Comparison, wanted: Sequence[tuple[int, int]], membership: Membership | None, plan: Plan, tell: Tell | None
    ) -> Comparison:
        """The comparison with the slices of every difference, where there are some."""
        if membership is None:
            return comparison
        tables = [(self.tables[a], self.tables[b]) for a, b in wanted]
        found = sliced(tables, [measure.direction for measure in self.measures], membership, self.design, plan, tell)
        pairs = tuple(
            replace(pair, measures={text: replace(row, slices=one) for (text, row), one in zip(pair.measures.items(), rows, strict=True)})
            for pair, rows in zip(comparison.pairs, found, strict=True)
        )
        families = {**comparison.method.families, SLICES: found[0][0].tests}
        return replace(comparison, pairs=pairs, method=replace(comparison.method, families=families, slices=membership.counts()))


def _verdict(one: Found, direction: int, corrected: Corrected, alpha: float) -> Verdict:
    if corrected.equivalence is not None and corrected.equivalence <= alpha:
        return "equivalent"
    return side_of(one, direction, corrected.p, alpha)


def difference_of(measure: Measure, one: Found, corrected: Corrected, plan: Plan) -> Difference:
    """One row of a comparison: what was found, what the correction makes of it, and the verdict.

    Parameters
    ----------
    measure : Measure
        What was compared.
    one : Found
        Its test.
    corrected : Corrected
        The p values that the verdict goes by, and how many tests were corrected together.
    plan : Plan
        Level and margin.

    Examples
    --------
    >>> from idealrank.measures.binary import RR
    >>> from idealrank.stats.comparison import compare_columns
    >>> one = compare_columns(np.zeros((6, 1)), np.ones((6, 1)), Design.of(6), Plan())[0]
    >>> difference_of(RR(), one, Corrected(one.p, None, 1), Plan()).verdict
    'better'
    """
    up = measure.direction > 0
    verdict = _verdict(one, measure.direction, corrected, plan.alpha)
    share = plan.alpha / corrected.tests
    return Difference(
        measure=str(measure),
        direction=measure.direction,
        mean_a=one.mean_a,
        mean_b=one.mean_b,
        difference=one.difference,
        interval=(one.low, one.high),
        about=one.about,
        level=plan.level,
        p=one.p,
        p_corrected=corrected.p,
        p_equivalence=corrected.equivalence,
        verdict=verdict,
        effect=one.effect,
        sd_difference=one.sd,
        wins=one.wins if up else one.losses,
        ties=one.ties,
        losses=one.losses if up else one.wins,
        n=one.n,
        detectable=visible_by(one, plan, share),
        queries_needed=needed_by(one, plan, share) if verdict == "undecided" else None,
        family=FAMILY,
    )
