"""Hold a run against its baselines, and single queries against contracts: a gate fails on a
significant drop that the judgments carry.
"""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, compress, product, starmap
from typing import Any, NamedTuple

import numpy as np

from idealrank.analysis.comparison.comparisons import distinct
from idealrank.analysis.comparison.difference_rows import JudgeDifference
from idealrank.analysis.comparison.families import (
    COMPANIONS,
    PRIMARY,
    Corrected,
    Hypothesis,
    corrected,
)
from idealrank.analysis.comparison.label_basis import LabelRules, Result, Support
from idealrank.analysis.comparison.margin_guard import skew_cautions
from idealrank.analysis.comparison.query_table import (
    QueryTable,
    judgedness_of,
    queries_of,
    seed_from,
)
from idealrank.analysis.comparison.requirements import (
    judged_by,
    mismatches,
    refuse_baselines,
    refuse_unscored,
)
from idealrank.analysis.comparison.study import PLAIN, Study, StudyOptions
from idealrank.analysis.comparison.tipping import Question
from idealrank.analysis.gate.contracts import Contract, results_of_contracts
from idealrank.analysis.gate.outcome import (
    NOT_CARRIED,
    Check,
    Gated,
    Outcome,
    Policy,
    QueryDrop,
    outcome_of,
)
from idealrank.analysis.gate.series import Series
from idealrank.data.types import BoolArray
from idealrank.errors import IncompatibleError, OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.measures.measure import Measure
from idealrank.measures.parse import MeasureLike, parse_measure, parse_measures
from idealrank.stats.comparison import POWER, Detectable, MeasureTest, Plan, visible_by
from idealrank.stats.sign_flips import MOST_UNITS
from idealrank.stats.unseen_losses import error_rate_known


@dataclass(frozen=True, kw_only=True)
class Opposed:
    """Two sides of a gate: runs now and before, the values of each side averaged by query."""

    # now, before: repeats of a run, or several accepted commits; the documents of a side are those
    # of its first evaluation
    now: tuple[Evaluation, ...]
    before: tuple[Evaluation, ...]
    name: str  # Name of the side before


def evaluations_of(listed: Sequence[Evaluation], sides: Iterable[Opposed]) -> list[Evaluation]:
    """List the run and its baselines, then the other evaluations of the sides, each once."""
    # By identity: two evaluations of equal values are two runs.
    ids_of_listed = set(map(id, listed))
    further: dict[int, Evaluation] = {}
    for side in sides:
        for evaluation in (*side.now, *side.before):
            if id(evaluation) not in ids_of_listed:
                further[id(evaluation)] = evaluation
    return [*listed, *further.values()]


def names_of_every(evaluations: Sequence[Evaluation], sides: Sequence[Opposed]) -> tuple[str, ...]:
    """Name each evaluation: the first one of a side before has the name of the side."""
    of_sides = {id(side.before[0]): side.name for side in reversed(sides)}
    return distinct([of_sides.get(id(evaluation), evaluation.name) for evaluation in evaluations])


def missing_of(
    evaluation: Evaluation, sides: Sequence[Opposed], names: Sequence[str]
) -> dict[str, int]:
    """Judged queries without an answer, by name of the run and of each side before."""
    evaluations = (evaluation, *(side.before[0] for side in sides))
    return {
        name: first_of_side.coverage.missing
        for name, first_of_side in zip(names, evaluations, strict=True)
    }


class Opponents(NamedTuple):
    """Tables of the two sides of a check, and the evaluations that stand for them."""

    name: str
    before: QueryTable
    now: QueryTable
    places: tuple[int, int]  # of the first evaluation before and now


def opponents_of(
    sides: Sequence[Opposed],
    names: Sequence[str],
    evaluations: Sequence[Evaluation],
    tables: Sequence[QueryTable],
) -> tuple[Opponents, ...]:
    """Average both sides of each check; each evaluation has a table, and each side a name."""
    place_of = {id(evaluation): place for place, evaluation in enumerate(evaluations)}
    opponents = []
    for side, name in zip(sides, names, strict=True):
        before = [place_of[id(evaluation)] for evaluation in side.before]
        now = [place_of[id(evaluation)] for evaluation in side.now]
        opponents.append(
            Opponents(
                name=name,
                before=mean_table([tables[place] for place in before]),
                now=mean_table([tables[place] for place in now]),
                places=(before[0], now[0]),
            )
        )
    return tuple(opponents)


def mean_table(tables: Sequence[QueryTable]) -> QueryTable:
    """Mean by query; a query counts where it counts in every run."""
    if len(tables) == 1:
        return tables[0]
    counted = np.logical_and.reduce([table.counted for table in tables])
    total = tables[0].values.copy()
    for table in tables[1:]:
        total += table.values
    return tables[0]._replace(
        values=np.where(counted, total / len(tables), np.nan), counted=counted
    )


SAME = "the same value on every query"
_WORST = 10  # queries shown of each check


@dataclass(frozen=True, kw_only=True)
class GateCase:
    """A run and its baselines, with the measures and contracts that it is held to."""

    runs: Sequence[Evaluation]  # The run, then its baselines
    measures: "MeasureLike | Iterable[MeasureLike] | None" = None
    also: "MeasureLike | Iterable[MeasureLike]" = ()  # Companions that can close the gate
    contracts: Iterable[Contract] = ()
    sides: Sequence[Opposed] = ()  # Checked instead of the run and each baseline
    series: Series | None = None
    held_out: Collection[str] = ()  # Queries that decide nothing


def decided(case: GateCase, policy: Policy, options: StudyOptions = PLAIN) -> Gated:
    """Decide whether a run may replace its baselines; `idealrank.gate` documents the parts."""
    policy = _of_look(policy, case.series)
    evaluation, *baselines = case.runs
    sides = case.sides or [
        Opposed(now=(evaluation,), before=(other,), name=other.name) for other in baselines
    ]
    evaluations = evaluations_of(case.runs, sides)
    also = _parsed(case.also)
    study = Study.of(
        evaluations,
        case.measures,
        options,
        names=names_of_every(evaluations, sides),
        also=also,
    )
    names = distinct([evaluation.name, *(side.name for side in sides)])
    deciding = _deciding(study.measures, also)
    refuse_beyond_range(policy, study.measures)
    unjoined = study.mismatches  # looked up before baselines: it refuses runs that all fail to join
    refuse_baselines(evaluations[1:])

    seed = seed_from(options.rng, study.tables)
    draws = options.draws()
    cautions = study.cautions
    tables = [_upwards(table, study.measures) for table in study.tables]
    rules = study.label_rules()
    grid = _Checks(
        run=names[0],
        study=study,
        opponents=opponents_of(sides, names[1:], evaluations, tables),
        deciding=deciding,
        within=np.array([query not in case.held_out for query in study.queries], np.bool_),
        plan=plan_of(policy, draws, seed, options.threads),
        policy=policy,
        rules=rules,
    )
    checks, exact = grid.checks()
    held_to = list(compress(study.measures, deciding))
    first_of_sides = [evaluation, *(side.before[0] for side in sides)]
    contracts = results_of_contracts(case.contracts, first_of_sides, names, held_to)
    drawn = study.design.n_units > MOST_UNITS or not exact
    outcome = outcome_of(checks, contracts)
    clustered = options.clusters is not None
    return Gated(
        run=names[0],
        baselines=names[1:],
        passed=outcome == "passed",
        outcome=outcome,
        checks=checks,
        contracts=contracts,
        policy=policy,
        correction=correction_of(policy, len(sides), len(study.measures)),
        n_resamples=draws if drawn else None,
        seed=seed if drawn else None,
        convention=evaluations[0].convention,
        weighted=options.weights is not None,
        clustered=clustered,
        missing=missing_of(evaluation, sides, names),
        mismatches=unjoined,
        judgments=judged_by(evaluations, options.judgments),
        labels=rules.labels,
        labels_from=options.declared.labels_from,
        series=case.series,
        cautions=with_level_cautions(cautions, checks, policy, names[0], clustered=clustered),
    )


def _parsed(also: "MeasureLike | Iterable[MeasureLike]") -> tuple[Measure, ...]:
    listed = also if isinstance(also, str | Measure) or not isinstance(also, Iterable) else [*also]
    return parse_measures(listed) if listed else ()


def _deciding(measures: Sequence[Measure], also: Sequence[Measure]) -> tuple[bool, ...]:
    """Mark the measures that can close a gate."""
    return tuple(not place or measure in also for place, measure in enumerate(measures))


def _of_look(policy: Policy, series: Series | None) -> Policy:
    """The policy with the level of a look; a strict gate spends nothing of a series."""
    return policy if series is None or policy.strict else replace(policy, alpha=series.level)


def with_level_cautions(
    cautions: Iterable[str],
    checks: Iterable[Check],
    policy: Policy,
    run: str,
    *,
    clustered: bool = False,
) -> tuple[str, ...]:
    """Add what must be known of answers whose error rate is not known, or that these queries could
    not give.
    """
    deciding = [check for check in checks if check.decides]
    of_margins = [caution for check in deciding for caution in check.margin_cautions(policy)]
    unknown = {}
    for check in deciding:
        if not check.error_rate_known:
            verdict = f"{check.subject(run)} against {check.baseline} by {check.measure}"
            unknown[verdict] = check.skewness, check.n
    of_skew = skew_cautions(unknown, clustered=clustered)
    return tuple(dict.fromkeys([*cautions, *of_margins, *of_skew]))


def correction_of(policy: Policy, baselines: int, measures: int) -> str:
    """Return the correction of the one-sided p values: the primary measure is a family over the
    baselines, its companions are another one.
    """
    largest = max(baselines, baselines * (measures - 1))
    return "none" if policy.strict or largest == 1 else "max-T"


def measures_of_gate(
    gated: Sequence[Measure], contracts: Iterable[Contract]
) -> tuple[Measure, ...]:
    """List the measures to evaluate for a gate: its measures, the measures of contracts, and the
    count of unjudged documents.
    """
    of_contracts = (parse_measure(contract.measure) for contract in contracts if contract.measure)
    companions = chain.from_iterable(map(judgedness_of, gated))
    counts = (measure for measure in companions if not measure.judged_only)
    return tuple(dict.fromkeys((*gated, *of_contracts, *counts)))


def gate_beside(gated: Gated, judged: Sequence[Evaluation], people: Sequence[Evaluation]) -> Gated:
    """Hold the checks of a gate beside a judge."""
    if gated.mismatches:
        return gated
    if len(judged) != len(people):
        raise IncompatibleError(
            f"judge: found evaluations of {len(judged)} runs, expected one for each of "
            f"{len(people)}"
        )
    run, *baselines = judged
    before_of = dict(zip(gated.baselines, baselines, strict=True))
    queries = frozenset(queries_of(people))

    def held_beside(check: Check) -> Check:
        before = before_of[check.baseline]
        by_judge = JudgeDifference.of(before, run, check.measure, check.difference, queries)
        return check.beside(by_judge, gated.policy)

    checks = tuple(map(held_beside, gated.checks))
    outcome = outcome_of(checks, gated.contracts)
    # The checks have changed: the cautions about the former ones make room for new ones.
    with_cautions = partial(
        with_level_cautions, policy=gated.policy, run=gated.run, clustered=gated.clustered
    )
    former = with_cautions((), gated.checks)
    others = [caution for caution in gated.cautions if caution not in former]
    cautions = with_cautions(others, checks)
    return replace(
        gated, checks=checks, outcome=outcome, passed=outcome == "passed", cautions=cautions
    )


def first_run(
    evaluation: Evaluation,
    measures: Sequence[Measure],
    policy: Policy,
    contracts: Iterable[Contract] = (),
    also: "MeasureLike | Iterable[MeasureLike]" = (),
    series: Series | None = None,
) -> Gated:
    """Evaluate a run without a baseline: only contracts with a number of their own can fail it.

    With a `series`, which the run begins, the policy has the level of its first look, as for
    `gate`.
    """
    mismatches([evaluation], [evaluation.name], parse_measures(measures)[0])
    companions = _parsed(also)
    study = Study.of([evaluation], measures, also=companions)
    held_to = list(compress(study.measures, _deciding(study.measures, companions)))
    results = results_of_contracts(contracts, [evaluation], [evaluation.name], held_to)
    outcome = outcome_of((), results)
    return Gated(
        run=evaluation.name,
        baselines=(),
        passed=outcome == "passed",
        outcome=outcome,
        checks=(),
        contracts=results,
        policy=_of_look(policy, series),
        series=series,
        correction="none",
        n_resamples=None,
        seed=None,
        convention=evaluation.convention,
        missing={evaluation.name: evaluation.coverage.missing},
    )


def refuse_beyond_range(policy: Policy, measures: Sequence[Measure]) -> None:
    """Refuse a drop as large as the whole range of a measure: a slip, such as percent for shares,
    which nothing could ever exceed.
    """
    name = "margin" if policy.strict else "tolerance"
    drop = (policy.margin or 0.0) if policy.strict else policy.tolerance
    for measure in measures:
        least, greatest = measure.bounds
        if policy.largest_loss is not None and policy.largest_loss > greatest - least:
            loss = f"largest_loss={policy.largest_loss:g}"
            raise OptionError(
                f"{loss}: found more than the range of {measure}, {least:g} to {greatest:g}; "
                f"expected at most {greatest - least:g}"
            )
        if drop >= greatest - least:
            raise OptionError(
                f"{name}={drop:g}: found the full range of {measure}, {least:g} to {greatest:g}, "
                "or more; expected a small part of the range, such as 0.01"
            )


def contracts_of(contracts: Any) -> tuple[Contract, ...]:
    """Return contracts, as a gate is given them."""
    listed = tuple(contracts) if isinstance(contracts, Iterable) else (contracts,)
    for contract in listed:
        if not isinstance(contract, Contract):
            raise OptionError(
                f"gate: contracts: found {type(contract).__name__}, expected Contract values"
            )
    return listed


def policy_of(policy: Policy | None, **fields: Any) -> Policy:
    """The policy that was given, or else one made from the fields that are not None."""
    if not isinstance(policy, Policy | None):
        raise OptionError(
            f"policy: found {type(policy).__name__}, expected a Policy, as in "
            "Policy(tolerance=0.01)"
        )
    chosen_fields = {name: value for name, value in fields.items() if value is not None}
    if policy is not None and chosen_fields:
        names = ", ".join(chosen_fields)
        raise OptionError(
            f"found a policy and {names}; expected only one of them: these are fields of "
            "Policy(...)"
        )
    return Policy(**chosen_fields) if policy is None else policy


def plan_of(policy: Policy, draws: int, seed: int, threads: int | None) -> Plan:
    """The test of differences whose sign is turned so that a drop is below 0."""
    level = 1 - policy.alpha
    common = {
        "level": level,
        "n_resamples": draws,
        "seed": seed,
        "power": POWER,
        "threads": threads,
    }
    if policy.strict:
        return Plan(
            **common,  # type: ignore[arg-type]
            alternative="greater",
            null=-(policy.margin or 0.0),
            largest_loss=policy.largest_loss,
        )
    return Plan(**common, alternative="less", null=-policy.tolerance)  # type: ignore[arg-type]


def _upwards(table: QueryTable, measures: Sequence[Measure]) -> QueryTable:
    """Values turned so that more is better; negating a number is exact."""
    return table._replace(
        values=table.values * np.array([float(measure.direction) for measure in measures])
    )


class _Place(NamedTuple):
    """Baseline and measure of one check."""

    baseline: int
    column: int


@dataclass(frozen=True, kw_only=True, eq=False)
class _Checks:
    """Sides of a gate, and the rule."""

    run: str
    study: Study
    opponents: tuple[Opponents, ...]
    deciding: tuple[bool, ...]
    within: BoolArray
    plan: Plan
    policy: Policy
    rules: LabelRules

    def checks(self) -> tuple[tuple[Check, ...], bool]:
        """Baseline by baseline, measure by measure; and whether every sign vector was looked at."""
        grid = product(range(len(self.opponents)), range(len(self.study.measures)))
        places = list(starmap(_Place, grid))
        one_sided = self._by_place(places, self.plan)
        two_sided = self._by_place(places, replace(self.plan, alternative="two-sided", null=0.0))
        tests = [*one_sided.values(), *two_sided.values()]
        checks = tuple(self._check(place, one_sided[place], two_sided[place].p) for place in places)
        return checks, all(test.found.exact for test in tests)

    def _by_place(self, places: Sequence[_Place], plan: Plan) -> dict[_Place, Corrected]:
        """The primary measure against every baseline is one family, its companions another; strict
        checks need no correction.
        """
        tests_by_place: dict[_Place, Corrected] = {}
        for family in (
            [place for place in places if not place.column],
            [place for place in places if place.column],
        ):
            tests = []
            for place in family:
                side = self.opponents[place.baseline]
                measure = self.study.measures[place.column]
                test = Hypothesis(
                    first=side.before, second=side.now, column=place.column, within=self.within
                )
                refuse_unscored(measure, (side.name, self.run), test.counted)
                tests.append(test)
            # Each deciding test of a strict gate is a family of its own.
            each_alone = self.policy.strict and plan is self.plan
            groups = [[test] for test in tests] if each_alone else [tests]
            results = chain.from_iterable(
                corrected(group, self.study.design, plan) for group in groups
            )
            tests_by_place |= dict(zip(family, results, strict=True))
        return tests_by_place

    def _check(self, place: _Place, corrected_test: Corrected, two_sided_p: float) -> Check:
        """One check, with the measure's own signs; `corrected_test` is the one that decides."""
        measure = self.study.measures[place.column]
        test = corrected_test.found
        decides = self.deciding[place.column]
        answer = answer_of(test, corrected_test.p, self.policy)
        side = self.opponents[place.baseline]
        question = Question(
            corrected_test.critical, _null_of(test, self.plan), observed=corrected_test.observed
        )
        result = Result.of(side.places, corrected_test, self.study.design, question)
        before, now = (self.study.judgedness[run] for run in side.places)
        unjudged_before, unjudged_now, difference_judged = before.beside(
            now, place.column, result.kept, result.design
        )

        nothing_shown = not answer.rejected
        support = self._support(
            result,
            all_labelled=(unjudged_before, unjudged_now) == (0.0, 0.0),
            count_labels=decides and not nothing_shown,
        )
        carried = nothing_shown or support.stands
        outcome = answer.outcome if carried else self.policy.unsupported
        if decides and self.study.mismatches:
            # Values of a run that does not join mean nothing, so that no test of them passes.
            outcome = "failed"
        drop = detectable_drop(test, self.plan, self.policy, corrected_test.alpha)
        reason = reason_of(test, answer.p_corrected, two_sided_p, self.policy, measure.direction)
        if not carried:
            reason += f"{NOT_CARRIED}: unjudged documents may explain it"
        without_verdict = nothing_shown or not carried
        return Check(
            **fields_of_test(measure, test, answer, drop),
            baseline=side.name,
            p_two_sided=two_sided_p,
            decides=decides,
            family=COMPANIONS if place.column else PRIMARY,
            passed=outcome == "passed",
            outcome=outcome,
            carried=carried,
            reason=reason,
            excluded_queries=corrected_test.hypothesis.excluded,
            worst=self._worst(place, float(measure.direction)),
            unjudged_baseline=unjudged_before,
            unjudged_run=unjudged_now,
            difference_judged=difference_judged,
            tipping=support.tipping,
            tipping_reason=support.reason,
            basis=support.basis,
            error_rate_known=without_verdict or self._rate_known(result, corrected_test.alpha),
        )

    def _rate_known(self, result: Result, alpha: float) -> bool:
        """Return whether rare large gains that these queries lack cannot undo a significant
        drop.
        """
        if self.policy.strict:  # its test reckons with rare losses
            return True
        null = result.question.null
        least, greatest = self.study.measures[result.column].bounds
        falls = null - result.differences[result.kept]
        return error_rate_known(falls, greatest - least - null, alpha, design=result.design)

    def _support(self, result: Result, **labelled: bool) -> Support:
        """Return what supports the answer of the test; values are turned, so that more is
        better.
        """
        measure = self.study.measures[result.column]
        if self.rules.rests_on_rates and measure.direction < 0:
            reason = f"{measure.name} falls as documents become relevant"
            return Support(tipping=None, reason=reason, basis=None, stands=True)
        return self.rules.support(result, **labelled)

    def _worst(self, place: _Place, sign: float) -> tuple[QueryDrop, ...]:
        """The queries that fell most, with the measure's own signs."""
        side = self.opponents[place.baseline]
        equal = side.now.equal(side.before)[:, place.column]
        now = side.now.values[:, place.column]
        before = side.before.values[:, place.column]
        with np.errstate(invalid="ignore"):
            fallen = np.flatnonzero((now < before) & ~equal & self.within)
        largest_first = fallen[np.argsort((now - before)[fallen], kind="stable")]
        drops = []
        for row in largest_first[:_WORST].tolist():
            baseline = float(before[row]) * sign + 0.0  # + 0.0 makes -0.0 a plain 0
            run = float(now[row]) * sign + 0.0
            drops.append(
                QueryDrop(
                    query=self.study.queries[row],
                    baseline=baseline,
                    run=run,
                    difference=run - baseline,
                )
            )
        return tuple(drops)


def _null_of(test: MeasureTest, plan: Plan) -> float:
    """The difference tested, in the mean over all queries compared."""
    return plan.null if test.margin is None else plan.null * test.margin.share


class CheckAnswer(NamedTuple):
    """Numbers that decide a check: p values, and the bound of the drop."""

    p_corrected: float
    p: float  # Without the correction
    bound: float
    rejected: bool  # Whether a drop is significant, or under `strict` ruled out
    outcome: Outcome  # Unless the judgments do not carry the answer


def answer_of(test: MeasureTest, p_corrected: float, policy: Policy) -> CheckAnswer:
    """Decide a check by its test; a run with the same values everywhere shows no drop."""
    if _is_same(test) and not policy.strict:
        return CheckAnswer(p_corrected=1.0, p=1.0, bound=0.0, rejected=False, outcome="passed")
    rejected = p_corrected <= policy.alpha
    return CheckAnswer(
        p_corrected=p_corrected,
        p=test.p,
        bound=test.low if policy.strict else test.high,
        rejected=rejected,
        outcome="passed" if rejected == policy.strict else "failed",
    )


def fields_of_test(
    measure: Measure, test: MeasureTest, answer: CheckAnswer, drop: Detectable
) -> dict[str, Any]:
    """Fields of a check that its test settles, with the measure's own signs."""
    sign = float(measure.direction)  # times 0 it may give -0.0, which + 0.0 makes a plain 0
    return {
        "measure": str(measure),
        "direction": measure.direction,
        "mean_baseline": test.mean_a * sign + 0.0,
        "mean_run": test.mean_b * sign + 0.0,
        "difference": test.difference * sign + 0.0,
        "bound": answer.bound * sign + 0.0,
        "p": answer.p,
        "p_corrected": answer.p_corrected,
        "n": test.n,
        "identical_queries": test.ties,
        "wins": test.wins,
        "ties": test.ties,
        "losses": test.losses,
        "detectable": drop.size,
        "detectable_reason": drop.reason,
        "margin": test.margin,
        "skewness": test.skewness,
    }


def _is_same(test: MeasureTest) -> bool:
    return not test.wins and not test.losses


def reason_of(test: MeasureTest, p: float, two_sided: float, policy: Policy, direction: int) -> str:
    """Why a check passes or fails, in a phrase."""
    if _is_same(test) and (not policy.strict or p <= policy.alpha):
        return SAME
    rejected = p <= policy.alpha
    drop = "drop" if direction > 0 else "rise"
    of_none = " of no difference" if policy.strict or policy.tolerance else ""
    p_values = f"(one-sided p {_p_text(p)}, two-sided p{of_none} {_p_text(two_sided)})"
    if policy.strict:
        answer = "is ruled out" if rejected else "may hide"
        return f"a {drop} of {policy.margin:g} or more {answer} {p_values}"
    beyond = f" beyond {policy.tolerance:g}" if policy.tolerance else ""
    if rejected:
        size = f"{-test.difference:.4f}" + (f",{beyond}," if beyond else "")
        return f"a {drop} of {size} is significant {p_values}"
    return f"no {drop}{beyond} is significant {p_values}"


def _p_text(p: float) -> str:
    if p >= 1e-6:
        return np.format_float_positional(p, precision=2, fractional=False, trim="-")
    return "< 0.000001"


def detectable_drop(test: MeasureTest, plan: Plan, policy: Policy, alpha: float) -> Detectable:
    """The smallest true drop that closes the gate by this check with a chance of 0.8."""
    if not policy.strict:
        visible = visible_by(test, plan, alpha)
        tolerance = policy.tolerance if test.margin is None else test.margin.applied
        return visible._replace(size=tolerance + visible.size)
    margin = policy.margin or 0.0
    if test.margin is not None:
        if (test.margin.queries_needed or 0) > test.n:
            return Detectable(-math.inf, "too few queries to rule out rare losses")
        # The query that the test adds, with the largest loss, moves the mean by so much.
        excess = max(0.0, (test.margin.largest_loss or 0.0) - test.margin.applied)
        margin = test.margin.applied - excess / test.n
    # A drop closes the gate with a chance of 0.8 where it passes with one of 0.2.
    passing = visible_by(test, plan, policy.alpha, 1 - plan.power)
    return passing._replace(size=margin - passing.size)
