"""Policy of a gate, and its result: checks, the outcome and its reasons."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import chain, zip_longest
from typing import Any, Literal, TypeAlias, get_args

from idealrank._keys import choice, flag, number, whole
from idealrank._lazy import repr_html
from idealrank.analysis.comparison.difference_rows import JudgeDifference
from idealrank.analysis.comparison.differences import NOT_LOOKED
from idealrank.analysis.comparison.families import PRIMARY
from idealrank.analysis.comparison.label_basis import LabelBasis, labels_record
from idealrank.analysis.comparison.margin_guard import margin_cautions, scale_note
from idealrank.analysis.comparison.requirements import WithWarnings
from idealrank.analysis.comparison.tipping import Tipping
from idealrank.analysis.gate.contracts import KeptContract, sentence_of
from idealrank.analysis.gate.series import ANCHOR, HORIZON, Acceptance, Series, refuse_horizon
from idealrank.conventions import Convention
from idealrank.data.interchange import finite
from idealrank.data.label_kinds import Labels, found_kind
from idealrank.errors import OptionError
from idealrank.stats.applied_margins import AppliedMargin

WhenUnjudged: TypeAlias = Literal["fail", "neutral", "pass"]
Outcome: TypeAlias = Literal["passed", "failed", "too few judgments"]

TOO_FEW: Outcome = "too few judgments"
NOT_CARRIED = ", but there are too few judgments"  # in a reason; what comes after it explains
_LEAST_ALPHA = 1e-9  # tests take alpha from 1 - level, rounded to 12 decimals


@dataclass(frozen=True, kw_only=True)
class Policy:
    """Rule by which a gate decides.

    Parameters
    ----------
    tolerance : float
        Accepted drop, at least 0, in units of the measure: the gate closes only if a larger drop is
        shown. A strict gate uses its margin instead.
    strict : bool
        Open only if the drop is shown to be below the margin.
    margin : float or None
        For a strict gate: the smallest drop that is not accepted, above 0.
    largest_loss : float or None
        For a strict gate: greatest loss that one query can have, above the margin; None for the
        range of each measure. It takes about ``3 largest_loss / margin`` queries to rule out that
        rare queries lose so much.
    alpha : float
        Significance level. A gate that is not strict closes by chance with at most this
        probability, by the primary measure over all baselines together, and once more by the other
        measures that can close it. A strict gate passes a drop of the margin with at most this
        probability.
    horizon : int
        Commits over which a gate against a baseline file spends `alpha`; see `Series`. 1 gives each
        look the whole of it. Without a baseline file, and for a strict gate, alpha is that of one
        decision.
    when_unjudged : {"fail", "neutral", "pass"}
        Treatment of a check whose answer the judgments do not support: a drop that unjudged
        documents could explain or, under `strict`, a pass that they could. ``fail``, the default,
        closes the gate, because such a drop is not shown to be harmless. ``neutral`` neither opens
        nor closes it: its outcome is ``too few judgments``. ``pass`` opens it.

    Raises
    ------
    OptionError
        A number is out of range, a strict gate has no margin or has a tolerance, or a gate that is
        not strict has a margin.

    Examples
    --------
    >>> Policy(strict=True, margin=0.02).asked
    'a drop of 0.02 or more is ruled out (one-sided, alpha 0.05)'
    >>> Policy().asked
    'no drop is significant (one-sided, alpha 0.05)'
    """

    tolerance: float = number("Accepted drop, in units of the measures.", 0.0)
    strict: bool = flag("Pass only if a drop of the margin is ruled out.")
    margin: float | None = number("Smallest unacceptable drop of a strict gate.")
    alpha: float = number("Significance level.", 0.05)
    when_unjudged: WhenUnjudged = choice(
        get_args(WhenUnjudged), "Outcome if there are too few judgments."
    )
    horizon: int = whole("Commits over which a series spends alpha.", HORIZON)
    largest_loss: float | None = number("Largest loss that one query can have, if strict.")

    def __post_init__(self) -> None:
        for name in ("tolerance", "margin", "alpha"):
            value = getattr(self, name)
            may_lack = name == "margin" and value is None
            if not isinstance(value, (int, float)) and not may_lack:
                raise OptionError(f"{name}={value!r}: expected a number")
        refuse_horizon(self.horizon)
        if self.when_unjudged not in get_args(WhenUnjudged):
            raise OptionError(
                f"when_unjudged={self.when_unjudged!r}: expected one of "
                f"{', '.join(get_args(WhenUnjudged))}"
            )
        if not 0 <= self.tolerance < math.inf:
            raise OptionError(
                f"tolerance={self.tolerance!r}: expected a drop from 0 on, in units of the measures"
            )
        if not _LEAST_ALPHA <= self.alpha < 0.5:
            raise OptionError(
                f"alpha={self.alpha!r}: expected a probability from {_LEAST_ALPHA:g} to below "
                f"0.5, such as 0.05"
            )
        if self.strict and self.margin is None:
            raise OptionError(
                "strict: found no margin, expected the smallest unacceptable drop, in units of the "
                "measures"
            )
        if self.strict and self.tolerance:
            raise OptionError(
                f"tolerance={self.tolerance!r}: found a tolerance for a strict gate; expected "
                f"only a margin"
            )
        if self.margin is not None and not self.strict:
            raise OptionError(
                f"margin={self.margin!r}: found a gate that is not strict; expected strict, "
                f"too, or a tolerance instead"
            )
        if self.margin is not None and not 0 < self.margin < math.inf:
            raise OptionError(
                f"margin={self.margin!r}: expected a drop above 0, in units of the measures"
            )
        _check_largest_loss(self.largest_loss, self.margin)

    @property
    def unsupported(self) -> "Outcome":
        """Outcome of a check whose answer the judgments do not support."""
        outcomes: dict[str, Outcome] = {"neutral": TOO_FEW, "fail": "failed", "pass": "passed"}
        return outcomes[self.when_unjudged]

    @property
    def asked(self) -> str:
        """Policy as a sentence."""
        level = f"(one-sided, alpha {self.alpha:g})"
        if self.strict:
            return f"a drop of {self.margin:g} or more is ruled out {level}"
        if self.tolerance:
            return f"no drop beyond {self.tolerance:g} is significant {level}"
        return f"no drop is significant {level}"


def _check_largest_loss(largest_loss: Any, margin: float | None) -> None:
    if largest_loss is None:
        return
    if margin is None:
        raise OptionError(
            f"largest_loss={largest_loss!r}: found a gate that is not strict; expected strict, "
            "too, and a margin"
        )
    if not isinstance(largest_loss, (int, float)) or not margin < largest_loss < math.inf:
        raise OptionError(
            f"largest_loss={largest_loss!r}: expected the greatest loss that one query can have, a "
            f"number above the margin, {margin:g}"
        )


@dataclass(frozen=True, kw_only=True)
class QueryDrop:
    """A query on which the run is worse than the baseline.

    Attributes
    ----------
    query : str
        Query id.
    baseline, run, difference : float
        Values of the measure, and run - baseline.
    text : str or None
        Text of the query; None if it is not known.

    Examples
    --------
    >>> QueryDrop(query="q7", baseline=0.8, run=0.5, difference=-0.3).query
    'q7'
    """

    query: str
    baseline: float
    run: float
    difference: float
    text: str | None = None


@dataclass(frozen=True, kw_only=True)
class Check:
    """One measure of the run against one baseline.

    Attributes
    ----------
    baseline, measure : str
        Name of the baseline, text of the measure.
    direction : int
        1 where higher values are better, -1 where lower ones are.
    mean_baseline, mean_run, difference : float
        Means over the `n` queries; run - baseline.
    bound : float
        The one-sided confidence bound of the difference that decides; the bounds of a family hold
        together. A gate looks at the end nearer to better: a drop beyond the tolerance is shown
        where even that is beyond. A strict one looks at the end nearer to worse. Infinite where
        there are too few queries for one; 0 where the run has the same value on every query and the
        gate is not strict.
    p, p_corrected : float
        Of the one-sided test behind the bound, and after correction for its family of checks. The
        gate decides by the second.
    p_two_sided : float
        Of no difference, two-sided, after correction for its family: the p value of `compare` for
        the same question.
    decides : bool
        Whether this check can close the gate: checks of the primary measure and of the measures in
        `also` can.
    family : str
        Checks that were corrected together: ``primary measure`` or ``companions``.
    outcome : {"passed", "failed", "too few judgments"}
        What follows; the last where the answer of the test is not carried by the judgments and the
        policy is neutral about that.
    passed : bool
        Whether the outcome is ``passed``.
    carried : bool
        Whether the judgments carry the answer of the test, whatever the policy makes of it. False
        where a drop is shown, or under `strict` ruled out, that as many unjudged documents as is
        likely, being relevant, would undo.
    reason : str
        Why, in a phrase.
    n, excluded_queries, identical_queries : int
        Queries compared, left out since they are not scored in both, and with the same value in
        both.
    wins, ties, losses : int
        Queries on which the run is better, equal, worse.
    detectable : float
        The smallest true drop that closes the gate by this check with 80 % power, whatever the
        other checks say; smaller ones pass more often. The drop is made of changes like those seen:
        as many queries change, by as much; see `SeenChanges`. Infinite where the test finds no such
        drop so often, NaN where fewer independent units differ than `fewest_changed` asks for. Of a
        strict gate it is below the margin; where it is negative, even a run that is better by so
        much would be stopped with a chance of 0.8, and where it is minus infinity, every run but
        the same one.
    detectable_reason : str or None
        Why `detectable` is not finite.
    worst : tuple of QueryDrop
        The queries that fell most, worst first.
    unjudged_baseline, unjudged_run : float or None
        Of the documents returned down to the measure's cutoff, all queries compared together, the
        share without a judgment, as `Coverage.unjudged_share`; None where it was not measured.
    difference_judged : float or None
        The difference where documents without a judgment are taken out of both; None where it was
        not measured.
    tipping : Tipping or None
        Share of unjudged documents that would have to be relevant for the answer of the test to go,
        a the baseline and b the run; None where it is not known.
    tipping_reason : str or None
        Reason why it is unknown.
    basis : LabelBasis or None
        What the answer takes documents without a label to be, a the baseline and b the run; None if
        neither returns one.
    judge : JudgeDifference or None
        The difference under the grades of a judge, run - baseline; None where none was given.
    margin : AppliedMargin or None
        Margin or tolerance as applied: over how many answerable queries, and of a strict gate with
        which largest loss; None without one.
    skewness : float
        Of the differences run - baseline, turned so that better is above 0.
    error_rate_known : bool
        False if a significant drop fails the check, and these queries may lack rare large gains
        that would undo it; see `Difference.error_rate_known`. True for a withheld verdict, whatever
        the policy makes of it.
    """

    baseline: str
    measure: str
    direction: int
    mean_baseline: float
    mean_run: float
    difference: float
    bound: float
    p: float
    p_corrected: float
    passed: bool
    reason: str
    n: int
    excluded_queries: int
    identical_queries: int
    wins: int
    ties: int
    losses: int
    detectable: float
    worst: tuple[QueryDrop, ...]
    unjudged_baseline: float | None = None
    unjudged_run: float | None = None
    difference_judged: float | None = None
    p_two_sided: float = math.nan
    decides: bool = True
    family: str = PRIMARY
    tipping: Tipping | None = None
    outcome: Outcome = "passed"
    tipping_reason: str | None = NOT_LOOKED
    carried: bool = True
    basis: LabelBasis | None = None
    judge: JudgeDifference | None = None
    detectable_reason: str | None = None
    margin: AppliedMargin | None = None
    skewness: float = 0.0
    error_rate_known: bool = True

    def subject(self, run: str) -> str:
        """Name what is tested: the run, or against an anchor its mean with the last accepted
        runs.
        """
        if self.baseline.endswith(ANCHOR):
            return f"the mean of {run} and the last accepted runs"
        return run

    def margin_cautions(self, policy: "Policy") -> list[str]:
        """Return what a reader must know of the margin of a strict gate."""
        if self.margin is None or not policy.strict:
            return []
        return margin_cautions(
            self.margin,
            self.n,
            largest_loss=policy.largest_loss,
            is_within=self.p_corrected <= policy.alpha,
            refuted="the gate cannot pass",
        )

    def margin_scale(self, policy: "Policy") -> str:
        """Return a sentence on the queries that the margin or tolerance refers to; empty if to all
        that are compared.
        """
        if self.margin is None:
            return ""
        return scale_note(self.margin, self.n, "margin" if policy.strict else "tolerance")

    def is_contradicted(self, alpha: float) -> bool:
        """Return whether a judge finds the other sign, and either difference is significant at this
        level.
        """
        if self.judge is None or not self.judge.contradicts:
            return False
        return self.p_two_sided <= alpha or self.judge.p <= alpha

    def beside(self, judge: JudgeDifference, policy: "Policy") -> "Check":
        """Return the check beside the difference of a judge.

        Where the judge contradicts the sign, and either difference is significant at the policy's
        level, the check decides nothing: what follows is that of a check that the judgments do not
        carry. A sign that neither side shows contradicts nothing.
        """
        check = replace(self, judge=judge)
        if not check.is_contradicted(policy.alpha):
            return check
        outcome = policy.unsupported
        reason = (
            f"{self.reason}, but undecided: people find {self.difference:+.4f} and the judge "
            f"{judge.difference:+.4f} on {judge.n:,} queries, which disagree on the sign"
        )
        return replace(
            check,
            outcome=outcome,
            passed=outcome == "passed",
            reason=reason,
            error_rate_known=True,
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class Gated(WithWarnings):
    """Result of a gate; made by `gate`.

    Attributes
    ----------
    run : str
        Name of the run.
    baselines : tuple of str
        Names of the baselines.
    passed : bool
        True if every deciding check and every contract passes, and the run has a judged document
        (see `warnings`).
    outcome : {"passed", "failed", "too few judgments"}
        ``failed`` if a contract is broken, a deciding check fails, or the run has no judged
        document; otherwise ``too few judgments`` if the judgments do not support the answer of a
        deciding check.
    checks : tuple of Check
        Checks, by baseline and then by measure.
    contracts : tuple of KeptContract
        Results of the contracts, in their order.
    policy : Policy
        The policy applied.
    correction : str
        Correction of p values in a family of several checks: "max-T"; "none" if no family has
        several, and for a strict gate, which requires every check.
    n_resamples, seed : int or None
        Settings of the permutation test; None if every sign vector was enumerated.
    convention : Convention
        Convention of every value.
    weighted, clustered : bool
        Whether queries had weights or clusters.
    missing : mapping of str to int
        Number of judged queries without an answer, by name of the run or baseline; the convention
        decides how they count.
    judgments : {"same", "different", "unknown"}
        Whether run and baselines have the same judgments; "different" if that was allowed,
        "unknown" if a run's are not known.
    labels : Labels or None
        Kind of the labels, declared or found; None if it is not known.
    labels_from : str or None
        Run whose results were labelled, if declared.
    series : Series or None
        Series of a gate against a baseline file, before this look; the alpha of `policy` is then
        the level of this look.
    acceptance : Acceptance or None
        Acceptance of a closed gate by name.
    holdout : float
        Share of the queries that was to be held out; such queries decide nothing.
    held_out, n_queries : int
        Held-out queries, and all judged queries; 0 without a share.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> ir.gate(one, one).checks[0].reason
    'the same value on every query'
    """

    run: str
    baselines: tuple[str, ...]
    passed: bool
    checks: tuple[Check, ...]
    contracts: tuple[KeptContract, ...]
    policy: Policy
    correction: str
    n_resamples: int | None
    seed: int | None
    convention: Convention
    weighted: bool = False
    clustered: bool = False
    missing: Mapping[str, int] = field(default_factory=dict)
    judgments: str = "same"
    outcome: Outcome = "passed"
    labels: Labels | None = None
    labels_from: str | None = None
    series: Series | None = None
    acceptance: Acceptance | None = None
    holdout: float = 0.0
    held_out: int = 0
    n_queries: int = 0

    _repr_html_ = repr_html  # for notebooks

    @property
    def deciding(self) -> tuple[Check, ...]:
        """Checks that can close the gate."""
        return tuple(check for check in self.checks if check.decides)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Reasons for a closed gate, one phrase each: a run without a judged document, checks that
        did not pass, broken contracts.
        """
        checks = [
            f"{check.measure} against {check.baseline}: {check.reason}"
            for check in self.deciding
            if not check.passed
        ]
        broken = [sentence_of(result) for result in self.contracts if not result.passed]
        return (*self.unjoined, *checks, *broken)

    @property
    def margin_scales(self) -> tuple[str, ...]:
        """Sentences on the queries that the margin or tolerance refers to, if not to all; each
        once.
        """
        sentences = [check.margin_scale(self.policy) for check in self.deciding]
        return tuple(dict.fromkeys(filter(None, sentences)))

    @property
    def closing_queries(self) -> tuple[str, ...]:
        """Queries behind a closed gate: first of broken contracts, then with the largest loss in
        each failed check.

        Examples
        --------
        >>> import idealrank as ir
        >>> qrels = {f"q{i}": {"x": 1} for i in range(8)}
        >>> good, bad = (
        ...     ir.evaluate(qrels, {q: ranking for q in qrels}, "RR")
        ...     for ranking in (["x"], ["y", "x"])
        ... )
        >>> ir.gate(bad, good).closing_queries[:2], ir.gate(good, bad).closing_queries
        (('q0', 'q1'), ())
        """
        broken = (result.contract.query for result in self.contracts if not result.passed)
        failed = [check.worst for check in self.deciding if not check.passed]
        # The worst query of every check, then the second worst of those that have two, and so on.
        drops = filter(None, chain.from_iterable(zip_longest(*failed)))
        return tuple(dict.fromkeys([*broken, *(drop.query for drop in drops)]))

    def with_texts(self, texts: Mapping[str, str]) -> "Gated":
        """Return the result with the texts of the queries that fell most or have a contract, so
        that every report shows them.

        Parameters
        ----------
        texts : mapping of str to str
            Texts by query id; a query without a text keeps its id alone.

        Examples
        --------
        >>> import idealrank as ir
        >>> qrels = {f"q{i}": {"x": 1} for i in range(8)}
        >>> good, bad = (
        ...     ir.evaluate(qrels, {q: ranking for q in qrels}, "RR")
        ...     for ranking in (["x"], ["y", "x"])
        ... )
        >>> ir.gate(bad, good).with_texts({"q0": "sort a list"}).checks[0].worst[0].text
        'sort a list'
        """
        checks = []
        for check in self.checks:
            worst = tuple(replace(drop, text=texts.get(drop.query)) for drop in check.worst)
            checks.append(replace(check, worst=worst))
        contracts = (replace(kept, text=texts.get(kept.contract.query)) for kept in self.contracts)
        return replace(self, checks=tuple(checks), contracts=tuple(contracts))

    def _brief(self) -> str:
        baselines = ", ".join(map(repr, self.baselines))
        checks = len(self.checks)
        return (
            f"{self.run!r} against {baselines}: {self.outcome}; {checks:,} "
            f"{'check' if checks == 1 else 'checks'}, convention {self.convention}"
        )

    def __str__(self) -> str:
        state = {
            "passed": "is open",
            "failed": "is closed",
            TOO_FEW: "has too few judgments to open or close",
        }[self.outcome]
        checks = [
            f"{check.measure}: {self.run} against {check.baseline}, {check.mean_run:.4f} against "
            f"{check.mean_baseline:.4f}: {check.reason}"
            for check in self.deciding
        ]
        broken = [sentence_of(result) for result in self.contracts if not result.passed]
        labels_matter = any(check.basis is not None for check in self.checks)
        note = found_kind(self.labels) if labels_matter and not self.mismatches else ""
        accepted = [self.acceptance.headline] if self.acceptance is not None else []
        lines = [
            *accepted,
            f"The gate {state}.",
            *self.warnings,
            *checks,
            *broken,
            *self.margin_scales,
        ]
        return "\n".join([*lines, note] if note else lines)

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record; None for values that are not finite. `p` and `p_corrected` of a
        check are one-sided, see `p_sides`.
        """
        convention = self.convention
        left_out = ["convention", "mismatches", "cautions", "labels_from"]
        left_out += [] if self.holdout else ["holdout", "held_out", "n_queries"]
        record = {name: value for name, value in asdict(self).items() if name not in left_out}
        for name in ("series", "acceptance"):
            if record[name] is None:
                del record[name]
        record["checks"] = [_check_record(check) for check in record["checks"]]
        record["contracts"] = [_without_none(kept, "text") for kept in record["contracts"]]
        record["labels"] = labels_record(self.labels, self.labels_from)
        record["warnings"] = list(self.warnings)
        record["reasons"] = list(self.reasons)
        record["convention"] = {
            "name": convention.name,
            "fingerprint": convention.fingerprint,
            **convention.switches(),
        }
        # An acceptance comes first, as in every other form: it explains a failed gate that stopped
        # nothing.
        ordered = sorted(record, key=lambda name: name != "acceptance")
        return {name: finite(record[name]) for name in ordered}


def _check_record(check: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON record of a check, without a judge, a margin or texts of queries that it
    lacks.
    """
    worst = [_without_none(drop, "text") for drop in check["worst"]]
    return _without_none(check, "judge", "margin") | {"worst": worst, "p_sides": 1}


def _without_none(record: dict[str, Any], *optional: str) -> dict[str, Any]:
    """A record without optional values that are None."""
    return {
        name: value for name, value in record.items() if name not in optional or value is not None
    }


def outcome_of(checks: Iterable[Check], contracts: Iterable[KeptContract]) -> Outcome:
    """Combine checks and contracts into the outcome."""
    outcomes = {check.outcome for check in checks if check.decides}
    if "failed" in outcomes or not all(contract.passed for contract in contracts):
        return "failed"
    return TOO_FEW if TOO_FEW in outcomes else "passed"
