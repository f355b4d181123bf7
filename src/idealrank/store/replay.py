"""Verdicts made again from what a store keeps: the same evaluations, options and seed give the same
numbers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Literal, TypeVar

from idealrank.analysis.comparison import Comparison, Difference, Pair
from idealrank.analysis.comparison.grade_bounds import GradeBounds
from idealrank.analysis.comparison.query_table import judgedness_among
from idealrank.analysis.comparison.tipping import Tipping
from idealrank.analysis.gate import Check, Contract, Gated, Policy
from idealrank.analysis.gate.checks import first_run
from idealrank.analysis.gate.outcome import QueryDrop, outcome_of
from idealrank.analysis.gate.series import Acceptance, Series
from idealrank.errors import InputError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.inputs.comparison import compare
from idealrank.inputs.gate import gate
from idealrank.measures.measure import Measure
from idealrank.measures.parse import parse_measures
from idealrank.stats.applied_margins import AppliedMargin
from idealrank.store.results import StoredVerdict

Row = TypeVar("Row", Check, Difference)


def comparison_again(
    kept: StoredVerdict, evaluations: Sequence[Evaluation], own: Sequence[Measure] = ()
) -> Comparison:
    """A comparison made again. How alike rankings are is not in it: that needs the runs."""
    method = kept.result["method"]
    by_query = _by_query(
        kept,
        weights=method["weighted"],
        clusters=method["clustered"],
        slices=method.get("slices") is not None,
    )
    # Until there were families, Holm's method over all tests was the default; such verdicts follow
    # the rule of today.
    is_holm = method["correction"] == "holm" and "all queries" not in method["families"]
    made = compare(
        evaluations[0],
        evaluations[1],
        *evaluations[2:],
        measures=_measures(list(kept.result["pairs"][0]["measures"]), own),
        baseline=method["baseline"],
        test=method["test"],
        correction="holm" if is_holm else "auto",
        level=method["level"],
        margin=method["margin"],
        largest_loss=method.get("largest_loss"),
        effect=method.get("effect"),
        n_resamples=method["n_resamples"],
        rng=method["seed"],
        judgments=_judgments_option(method),
        **by_query,
    )
    return replace(made, pairs=tuple(map(_pair_as_kept, made.pairs, kept.result["pairs"])))


def _pair_as_kept(pair: Pair, kept: Mapping[str, Any]) -> Pair:
    rows = {}
    for text, row in pair.measures.items():
        stored_row = kept["measures"].get(text, {})
        # Values without unjudged documents need the rankings, so they come from the record.
        judged: dict[str, Any] = {}
        if "judged_reason" in stored_row:
            judged = {name: stored_row[name] for name in ("difference_judged", "judged_reason")}
        bounds = GradeBounds(**stored_row["bounds"]) if stored_row.get("bounds") else row.bounds
        rows[text] = replace(_reached(row, stored_row, ("verdict",)), bounds=bounds, **judged)
    return replace(pair, measures=rows)


def gate_again(
    kept: StoredVerdict, evaluations: Sequence[Evaluation], own: Sequence[Measure] = ()
) -> Gated:
    """A gate asked again."""
    result = kept.result
    policy = Policy(**result["policy"])
    # Rows of several measures may have one contract.
    by_text = {str(row["contract"]): row["contract"] for row in result["contracts"]}
    contracts = [Contract(**contract) for contract in by_text.values()]
    if not result["baselines"]:
        every = evaluations[0].measures
        beside = judgedness_among(every)
        texts = [row["measure"] for row in result["contracts"]]
        if not texts:
            texts = [str(measure) for measure in every if measure not in beside]
        series = Series.of(result["series"]) if result.get("series") else None
        return first_run(
            evaluations[0],
            _measures(list(dict.fromkeys(texts)), own),
            policy,
            contracts,
            series=series,
        )

    by_query = _by_query(kept, weights=result["weighted"], clusters=result["clustered"])
    measures = _measures(list(dict.fromkeys(check["measure"] for check in result["checks"])), own)
    deciding = {check["measure"] for check in result["checks"] if _decides(check)}
    made = gate(
        evaluations[0],
        evaluations[1],
        *evaluations[2:],
        measures=measures,
        also=[measure for measure in measures if str(measure) in deciding],
        policy=policy,
        contracts=contracts,
        n_resamples=result["n_resamples"],
        rng=result["seed"],
        judgments=_judgments_option(result),
        **by_query,
    )

    if result.get("series"):
        return _of_series(made, result)
    parts = ("carried", "outcome", "passed", "reason", "difference_judged")
    checks = tuple(
        _reached(check, was, parts)
        for check, was in zip(made.checks, result["checks"], strict=True)
    )
    outcome = outcome_of(checks, made.contracts)
    return replace(made, checks=checks, outcome=outcome, passed=outcome == "passed")


def _of_series(made: Gated, result: Mapping[str, Any]) -> Gated:
    """A gate of a series as it was. Its values are means of runs that a store does not keep, so
    they cannot be computed again.
    """
    acceptance = result.get("acceptance")
    checks = [
        _as_kept(check, was) for check, was in zip(made.checks, result["checks"], strict=True)
    ]
    return replace(
        made,
        run=result["run"],
        baselines=tuple(result["baselines"]),
        missing=result["missing"],
        checks=tuple(checks),
        outcome=result["outcome"],
        passed=result["passed"],
        series=Series.of(result["series"]),
        acceptance=None if acceptance is None else Acceptance(**acceptance),
        holdout=result.get("holdout", 0.0),
        held_out=result.get("held_out", 0),
        n_queries=result.get("n_queries", 0),
    )


def _as_kept(check: Check, was: Mapping[str, Any]) -> Check:
    """A check with the numbers and words of its record; what JSON has no value for stays as
    computed.
    """
    names = {field.name for field in fields(Check)}
    known: dict[str, Any] = {
        name: value
        for name, value in was.items()
        if name in names and isinstance(value, str | int | float | bool)
    }
    tipping = was.get("tipping")
    margin = was.get("margin")
    return replace(
        check,
        **known,
        worst=tuple(QueryDrop(**drop) for drop in was["worst"]),
        tipping=Tipping(**tipping) if tipping else None,
        tipping_reason=was["tipping_reason"],
        margin=AppliedMargin(**margin) if margin else None,
    )


def _decides(check: Mapping[str, Any]) -> bool:
    """Return whether a check can close a gate; before there were companions, every check could."""
    return bool(check.get("decides", True))


def _reached(made: Row, kept: Mapping[str, Any], parts: Sequence[str]) -> Row:
    """A row with the tipping point that was found, and what followed from it: a store keeps no
    rankings to find it again.
    """
    if (
        made.tipping is not None
        or not kept.get("tipping")
        or made.p_corrected != kept["p_corrected"]
    ):
        return made
    kept_parts = {name: kept[name] for name in parts}
    return replace(
        made,
        tipping=Tipping(**kept["tipping"]),
        tipping_reason=kept["tipping_reason"],
        **kept_parts,
    )


def _judgments_option(result: Mapping[str, Any]) -> Literal["same", "different"]:
    """Return the judgments policy of a result; results of earlier versions lack it."""
    return "different" if result.get("judgments") == "different" else "same"


def _measures(texts: Sequence[str], own: Sequence[Measure]) -> tuple[Measure, ...]:
    by_text = {str(measure): measure for measure in own}
    return parse_measures([by_text.get(text, text) for text in texts])


def _by_query(kept: StoredVerdict, **needed: bool) -> dict[str, Any]:
    """Return the values by query from the options."""
    for name, was_given in needed.items():
        if was_given and not isinstance(kept.options.get(name), dict):
            raise InputError(
                f"{kept.entry.kind} {kept.id}: its queries had {name}, which were not kept, "
                f"expected them among the options: store.add_{kept.entry.kind}(..., "
                f"options={{{name!r}: ...}})"
            )
    return {name: kept.options[name] for name, was_given in needed.items() if was_given}
