"""Hold a run against its baselines: a gate closes where a drop is shown, and says how small a drop it could have seen."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from idealrank.errors import IncompatibleError, InputError, OptionError
from idealrank.evaluation import Evaluation
from idealrank.measures.measure import Measure
from idealrank.measures.parse import MeasureLike, parse_measure
from idealrank.stats.comparison import Found, Plan, smallest_visible, visible_by
from idealrank.stats.design import Design
from idealrank.stats.flips import MOST_UNITS
from idealrank.stats.multiple import adjust
from idealrank.stats.randomness import RandomLike, whole_number
from idealrank.verdict.comparison import distinct
from idealrank.verdict.designs import design_by_query, restricted
from idealrank.verdict.gated import Check, Contract, Gated, Kept, Policy, QueryDrop
from idealrank.verdict.judgments import JudgmentsOption, judged_by
from idealrank.verdict.table import Companions, Table, chosen_measures, comparable, queries_of, seed_from
from idealrank.verdict.tested import found_in_both

SAME = "the same value on every query"
_POWER = 0.8
_DRAWS = 100_000
_WORST = 10  # queries shown of each check
_TINY = 1e-4  # p values below are said as a bound
_ROUNDING = 1e-12  # of the larger value: a contract is not broken by rounding


def gate(
    evaluation: Evaluation,
    baseline: Evaluation,
    *more_baselines: Evaluation,
    measures: "MeasureLike | Iterable[MeasureLike] | None" = None,
    policy: Policy | None = None,
    tolerance: float | None = None,
    strict: bool | None = None,
    margin: float | None = None,
    alpha: float | None = None,
    contracts: Iterable[Contract] = (),
    weights: Mapping[str, float] | None = None,
    clusters: Mapping[str, object] | None = None,
    n_resamples: int | None = None,
    rng: RandomLike = None,
    threads: int | None = None,
    judgments: JudgmentsOption = "same",
) -> Gated:
    """Whether a run may take the place of its baselines: not where it is shown to be worse, and not where a contract is broken.

    Parameters
    ----------
    evaluation, baseline, *more_baselines : Evaluation
        Of the run and of what it is held against, by the same judgments under one convention.
    measures : measure or iterable of them, optional
        What to hold; default what all evaluations have, without measures of text and companions. Fewer see smaller drops.
    policy : Policy, optional
        What is asked; or its parts as `tolerance`, `strict`, `margin` and `alpha`.
    contracts : iterable of Contract, optional
        What single queries must reach, whatever the means say.
    weights : mapping of query to float, optional
        How much each query counts, its traffic for example.
    clusters : mapping of query to label, optional
        Queries that belong together (user, session, topic).
    n_resamples : int, optional
        Draws of the permutation test; default 100,000.
    rng : Generator, seed or None
        Of these. None derives the seed from the values: the same input opens or closes the gate every time.
    threads : int, optional
        None or 0 for one a core; the answer is the same for any.
    judgments : {"same", "different"}
        "different" says that the evaluations are meant to have different judgments, which are refused otherwise.

    Returns
    -------
    Gated

    Raises
    ------
    IncompatibleError
        The evaluations have different conventions, judgments, cuts or measures, or one lacks the measure of a contract.
    OptionError
        An option is impossible, or a measure has no better and worse.
    InputError
        No query is scored in both of two runs, a baseline answers no judged query, or a query has no weight or cluster.

    Notes
    -----
    For each measure and baseline a one-sided sign-flip test, exact for up to 20 queries, asks whether the run's true mean is worse by
    more than the tolerance. p values are corrected by Holm's method over measures and baselines, so that a run as good as its baselines
    is stopped with a chance of at most `alpha`; a check fails where the corrected p is at most `alpha`.

    A strict gate turns the burden round: a check passes only where the test rejects a drop of the margin or more. Every check has to,
    so no correction is needed: a run that is worse by the margin in any of them passes with a chance of at most `alpha`.

    The test is exact where a harmless change helps a query as often as it harms it, by as much. With few queries, changes of mean 0
    that gain much on few of them and lose a little on many are stopped more often than `alpha` says. No other test of the same queries
    repairs that; more queries do.

    A run with the same value as the baseline on every query passes either way. Queries are the union under the convention, ordered by
    id: the answer does not depend on the order of any file. Where the evaluations have them, the shares of unjudged documents and the
    difference on judged ones stand beside each check, as in `compare`.

    References
    ----------
    Holm (1979), A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6. Berger (1982),
    Multiparameter hypothesis testing and acceptance sampling. Technometrics 24(4), for the intersection of strict checks. Wellek
    (2010), Testing Statistical Hypotheses of Equivalence and Noninferiority, chapter 2.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(8)}
    >>> good, bad = (ir.evaluate(qrels, {q: ranking for q in qrels}, "RR") for ranking in (["x", "y"], ["y", "x"]))
    >>> ir.gate(good, bad).passed, ir.gate(bad, good).passed, ir.gate(bad, good).reasons
    (True, False, ('RR against run (2): a drop of 0.5000 is shown, p 0.0039',))
    """
    asked = _policy(policy, tolerance=tolerance, strict=strict, margin=margin, alpha=alpha)
    evaluations = comparable([evaluation, baseline, *more_baselines], judgments)
    names, chosen = distinct([one.name for one in evaluations]), chosen_measures(evaluations, measures)
    _refuse_beyond_range(asked, chosen)
    _refuse_empty(evaluations[1:])
    queries = queries_of(evaluations)
    tables = [_upwards(Table.of(one, chosen, queries), chosen) for one in evaluations]
    seed = seed_from(rng, tables)
    draws = _DRAWS if n_resamples is None else whole_number("n_resamples", n_resamples)
    companions = [Companions.of(one, chosen, queries) for one in evaluations]
    design = design_by_query(queries, weights, clusters)
    case = _Case(names, chosen, queries, tables, companions, design, _plan(asked, draws, seed, threads), asked)
    checks = case.checks()
    looked = _looked_at(contracts, evaluations, names, chosen)
    passed = all(check.passed for check in checks) and all(kept.passed for kept in looked)
    drawn = case.design.n_units > MOST_UNITS
    return Gated(
        run=names[0], baselines=names[1:], passed=passed, checks=checks, contracts=looked, policy=asked, seed=seed if drawn else None,
        correction="none" if asked.strict else "holm", n_resamples=draws if drawn else None, convention=evaluations[0].convention,
        weighted=weights is not None, clustered=clusters is not None, judgments=judged_by(evaluations, judgments),
        missing={name: one.coverage.missing for name, one in zip(names, evaluations, strict=True)},
    )  # fmt: skip


def first_run(evaluation: Evaluation, measures: Sequence[Measure], policy: Policy, contracts: Iterable[Contract] = ()) -> Gated:
    """What a gate says of a run that there is no baseline for yet: contracts with a number of their own are all that can stop it.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> first_run(one, one.measures, Policy()).passed
    True
    """
    looked = _looked_at(contracts, [evaluation], [evaluation.name], measures)
    return Gated(
        run=evaluation.name, baselines=(), passed=all(kept.passed for kept in looked), checks=(), contracts=looked, policy=policy,
        correction="none" if policy.strict else "holm", n_resamples=None, seed=None, convention=evaluation.convention,
        missing={evaluation.name: evaluation.coverage.missing},
    )  # fmt: skip


def _refuse_beyond_range(policy: Policy, measures: Sequence[Measure]) -> None:
    """A drop as large as the whole range of a measure is a slip, such as percent for shares: nothing could ever exceed it."""
    name, drop = ("margin", policy.margin or 0.0) if policy.strict else ("tolerance", policy.tolerance)
    for measure in measures:
        least, greatest = measure.bounds
        if drop >= greatest - least:
            raise OptionError(
                f"{name}={drop:g}: found the whole range of {measure}, {least:g} to {greatest:g}, or more; "
                "expected a small part of it, as 0.01"
            )


def _refuse_empty(baselines: Sequence[Evaluation]) -> None:
    """Nothing could be worse than a baseline without answers: the gate would always be open."""
    for one in baselines:
        if one.coverage.missing and one.coverage.missing == one.coverage.queries_in_qrels:
            raise InputError(
                f"baseline {one.name}: found an answer to none of the {one.coverage.missing:,} judged queries, expected a run that nothing "
                "worse may replace; do the query ids match those of the judgments?"
            )


def _policy(policy: Policy | None, **parts: Any) -> Policy:
    given = {name: value for name, value in parts.items() if value is not None}
    if policy is not None and given:
        raise OptionError(f"found a policy and {', '.join(given)}; expected one of them: Policy(...) has these as its parts")
    return Policy(**given) if policy is None else policy


def _plan(policy: Policy, draws: int, seed: int, threads: int | None) -> Plan:
    """The test of differences whose sign is turned so that a drop is below 0."""
    level = 1 - policy.alpha
    common = {"level": level, "n_resamples": draws, "seed": seed, "power": _POWER, "threads": threads}
    if policy.strict:
        return Plan(**common, alternative="greater", null=-(policy.margin or 0.0))  # type: ignore[arg-type]
    return Plan(**common, alternative="less", null=-policy.tolerance)  # type: ignore[arg-type]


def _upwards(table: Table, measures: Sequence[Measure]) -> Table:
    """Values turned so that more is better: to negate a number loses no bit."""
    return replace(table, values=table.values * np.array([float(measure.direction) for measure in measures]))


class _Place(NamedTuple):
    """Which baseline, and which measure."""

    baseline: int
    column: int


@dataclass(frozen=True, eq=False)
class _Case:
    """What is held against what; the run stands first."""

    names: tuple[str, ...]
    measures: tuple[Measure, ...]
    queries: Sequence[str]
    tables: Sequence[Table]
    companions: Sequence[Companions]
    design: Design
    plan: Plan
    policy: Policy

    def checks(self) -> tuple[Check, ...]:
        """Baseline by baseline, measure by measure."""
        found = [self._against(number) for number in range(1, len(self.tables))]
        p = np.array([[self._p(one) for one in rows] for rows in found])
        corrected = p if self.policy.strict else adjust(p)
        return tuple(
            self._check(_Place(number, column), one, float(corrected[number - 1, column]), p.size)
            for number, rows in enumerate(found, 1)
            for column, one in enumerate(rows)
        )

    def _against(self, number: int) -> list[Found]:
        names = (self.names[number], self.names[0])
        return found_in_both(self.tables[number], self.tables[0], names, self.measures, self.design, self.plan)

    def _p(self, one: Found) -> float:
        return 1.0 if _is_same(one) and not self.policy.strict else one.p

    def _check(self, place: _Place, one: Found, corrected: float, tests: int) -> Check:
        """One check, with signs turned back to those of the measure."""
        measure, sign = self.measures[place.column], float(self.measures[place.column].direction)
        low_enough = corrected <= self.policy.alpha
        both = self.tables[0].counted[:, place.column] & self.tables[place.baseline].counted[:, place.column]
        beside = self.companions[place.baseline].beside(self.companions[0], place.column, both, restricted(self.design, both))
        bound = one.low if self.policy.strict else 0.0 if _is_same(one) else one.high
        return Check(
            baseline=self.names[place.baseline],
            measure=str(measure),
            direction=measure.direction,
            mean_baseline=one.mean_a * sign + 0.0,
            mean_run=one.mean_b * sign + 0.0,
            difference=one.difference * sign + 0.0,
            bound=bound * sign + 0.0,
            p=self._p(one),
            p_corrected=corrected,
            passed=_is_same(one) or low_enough == self.policy.strict,
            reason=_reason(one, corrected, self.policy, measure.direction),
            n=one.n,
            excluded_queries=int((~both).sum()),
            identical_queries=one.ties,
            wins=one.wins,
            ties=one.ties,
            losses=one.losses,
            detectable=_detectable(one, self.plan, self.policy, tests),
            worst=self._worst(place, sign),
            unjudged_baseline=beside[0],
            unjudged_run=beside[1],
            difference_judged=beside[2],
        )

    def _worst(self, place: _Place, sign: float) -> tuple[QueryDrop, ...]:
        run, baseline = self.tables[0], self.tables[place.baseline]
        equal = run.equal(baseline)[:, place.column]
        ours, theirs = run.values[:, place.column], baseline.values[:, place.column]
        with np.errstate(invalid="ignore"):
            fallen = np.flatnonzero((ours < theirs) & ~equal)
        order: list[int] = fallen[np.argsort((ours - theirs)[fallen], kind="stable")][:_WORST].tolist()
        return tuple(_drop(self.queries[row], float(theirs[row]) * sign + 0.0, float(ours[row]) * sign + 0.0) for row in order)


def _drop(query: str, baseline: float, run: float) -> QueryDrop:
    return QueryDrop(query=query, baseline=baseline, run=run, difference=run - baseline)


def _is_same(one: Found) -> bool:
    return not one.wins and not one.losses


def _reason(one: Found, corrected: float, policy: Policy, direction: int) -> str:
    """Why a check passes or fails, in a phrase."""
    if _is_same(one):
        return SAME
    rejected, drop = corrected <= policy.alpha, "drop" if direction > 0 else "rise"
    p = f"p {corrected:.2g}" if corrected >= _TINY else f"p < {_TINY:f}".rstrip("0")
    if policy.strict:
        return f"a {drop} of {policy.margin:g} or more {'is ruled out' if rejected else 'may hide'}, {p}"
    beyond = f" beyond {policy.tolerance:g}" if policy.tolerance else ""
    if rejected:
        return f"a {drop} of {-one.difference:.4f}{beyond and f',{beyond},'} is shown, {p}"
    return f"no {drop}{beyond} is shown, {p}"


def _detectable(one: Found, plan: Plan, policy: Policy, tests: int) -> float:
    """The smallest true drop that closes the gate by this check four times in five."""
    if not policy.strict:
        return policy.tolerance + visible_by(one, plan, policy.alpha / tests)
    if math.isinf(visible_by(one, plan, policy.alpha)):  # no run but the same one can pass
        return -math.inf
    # A drop closes the gate so often where it passes one time in five.
    return (policy.margin or 0.0) - smallest_visible(one.spread, one.n, one.df, policy.alpha, 1 - plan.power, plan.sides)


@dataclass(frozen=True, eq=False)
class _Values:
    """An evaluation, and where each of its queries stands."""

    name: str
    evaluation: Evaluation
    rows: Mapping[str, int]

    @classmethod
    def of(cls, name: str, evaluation: Evaluation) -> "_Values":
        return cls(name, evaluation, {query: row for row, query in enumerate(evaluation.queries)})

    def of_query(self, measure: Measure, contract: Contract) -> float:
        """NaN where the query has no value."""
        found = self.evaluation
        if measure not in found.measures:
            place = f"{contract.place}: " if contract.place else ""
            have = ", ".join(map(str, found.measures))
            raise IncompatibleError(f"{place}contract of query {contract.query!r}: {self.name} was not evaluated by {measure}, only {have}")
        row, column = self.rows.get(contract.query), found.measures.index(measure)
        return math.nan if row is None or not found.scored[row, column] else float(found.values[row, column])


def _looked_at(
    contracts: Iterable[Contract], evaluations: Sequence[Evaluation], names: Sequence[str], chosen: Sequence[Measure]
) -> tuple[Kept, ...]:
    sides = [_Values.of(name, one) for name, one in zip(names, evaluations, strict=True)]
    return tuple(kept for contract in contracts for kept in _kept(contract, sides, chosen))


def _kept(contract: Contract, sides: Sequence[_Values], chosen: Sequence[Measure]) -> Iterator[Kept]:
    """A contract, looked at for its measures and, without a number of its own, for every baseline."""
    run, *baselines = sides
    for measure in chosen if contract.measure is None else [_of_contract(contract)]:
        found = run.of_query(measure, contract)
        if contract.at_least is not None:
            yield _held(contract, measure, None, float(contract.at_least), found)
            continue
        for side in baselines:
            yield _held(contract, measure, side.name, side.of_query(measure, contract), found)


def _of_contract(contract: Contract) -> Measure:
    measure = parse_measure(contract.measure or "")
    if not measure.direction:
        raise OptionError(f"{contract.place or 'contract'}: {measure}: more of it is neither better nor worse; expected another measure")
    return measure


def _held(contract: Contract, measure: Measure, baseline: str | None, demanded: float, found: float) -> Kept:
    rounding = _ROUNDING * max(abs(demanded), abs(found)) if math.isfinite(demanded) else 0.0
    # Where the baseline has no value, any value will do.
    reached = not math.isnan(found) and not measure.direction * (found - demanded) < -rounding
    return Kept(contract=contract, measure=str(measure), baseline=baseline, demanded=demanded, found=found, passed=reached)
