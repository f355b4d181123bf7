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
    kept: StoredVerdict, evaluations: Sequence[Evaluation], passed: Sequence[Measure] = ()
) -> Comparison:
    """A comparison made again, without the overlap of the rankings, which needs the runs."""
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
    comparison = compare(
        evaluations[0],
        evaluations[1],
        *evaluations[2:],
        measures=_measures(list(kept.result["pairs"][0]["measures"]), passed),
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
    pairs = map(_pair_as_kept, comparison.pairs, kept.result["pairs"])
    return replace(comparison, pairs=tuple(pairs))


def _pair_as_kept(pair: Pair, kept: Mapping[str, Any]) -> Pair:
    rows = {}
    for text, row in pair.measures.items():
        stored_row = kept["measures"].get(text, {})
        # Values without unjudged documents need the rankings, so they come from the record.
        judged: dict[str, Any] = {}
        if "judged_reason" in stored_row:
            judged = {name: stored_row[name] for name in ("difference_judged", "judged_reason")}
        bounds = GradeBounds(**stored_row["bounds"]) if stored_row.get("bounds") else row.bounds
        row_as_kept = _with_tipping(row, stored_row, ("verdict",))
        rows[text] = replace(row_as_kept, bounds=bounds, **judged)
    return replace(pair, measures=rows)


def gate_again(
    kept: StoredVerdict, evaluations: Sequence[Evaluation], passed: Sequence[Measure] = ()
) -> Gated:
    """A gate decided again."""
    result = kept.result
    policy = Policy(**result["policy"])
    # Rows of several measures may have one contract.
    by_text = {str(row["contract"]): row["contract"] for row in result["contracts"]}
    contracts = [Contract(**contract) for contract in by_text.values()]
    if not result["baselines"]:
        texts = [row["measure"] for row in result["contracts"]]
        if not texts:
            evaluated = evaluations[0].measures
            companions = judgedness_among(evaluated)
            texts = [str(measure) for measure in evaluated if measure not in companions]
        series = Series.of(result["series"]) if result.get("series") else None
        return first_run(
            evaluations[0],
            _measures(list(dict.fromkeys(texts)), passed),
            policy,
            contracts,
            series=series,
        )

    by_query = _by_query(kept, weights=result["weighted"], clusters=result["clustered"])
    measures = _measures(
        list(dict.fromkeys(check["measure"] for check in result["checks"])), passed
    )
    deciding = {check["measure"] for check in result["checks"] if _decides(check)}
    gated = gate(
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
        return _of_series(gated, result)
    names = ("carried", "outcome", "passed", "reason", "difference_judged")
    checks = tuple(
        _with_tipping(check, stored_check, names)
        for check, stored_check in zip(gated.checks, result["checks"], strict=True)
    )
    outcome = outcome_of(checks, gated.contracts)
    return replace(gated, checks=checks, outcome=outcome, passed=outcome == "passed")


def _of_series(gated: Gated, result: Mapping[str, Any]) -> Gated:
    """A gate of a series as it was. Its values are means of runs that a store does not keep, so
    they cannot be computed again.
    """
    acceptance = result.get("acceptance")
    checks = [
        _as_kept(check, stored_check)
        for check, stored_check in zip(gated.checks, result["checks"], strict=True)
    ]
    return replace(
        gated,
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


def _as_kept(check: Check, stored_check: Mapping[str, Any]) -> Check:
    """A check with the numbers and words of its record; a value that JSON lacks stays as
    computed.
    """
    names = {field.name for field in fields(Check)}
    stored_values: dict[str, Any] = {
        name: value
        for name, value in stored_check.items()
        if name in names and isinstance(value, str | int | float | bool)
    }
    tipping = stored_check.get("tipping")
    margin = stored_check.get("margin")
    return replace(
        check,
        **stored_values,
        worst=tuple(QueryDrop(**drop) for drop in stored_check["worst"]),
        tipping=Tipping(**tipping) if tipping else None,
        tipping_reason=stored_check["tipping_reason"],
        margin=AppliedMargin(**margin) if margin else None,
    )


def _decides(check: Mapping[str, Any]) -> bool:
    """Return whether a check can close a gate; before there were companions, every check could."""
    return bool(check.get("decides", True))


def _with_tipping(row: Row, stored_row: Mapping[str, Any], names: Sequence[str]) -> Row:
    """A row with its stored tipping point, and the fields of these names, which follow from it: a
    store keeps no rankings to find it again.
    """
    if (
        row.tipping is not None
        or not stored_row.get("tipping")
        or row.p_corrected != stored_row["p_corrected"]
    ):
        return row
    stored_values = {name: stored_row[name] for name in names}
    return replace(
        row,
        tipping=Tipping(**stored_row["tipping"]),
        tipping_reason=stored_row["tipping_reason"],
        **stored_values,
    )


def _judgments_option(result: Mapping[str, Any]) -> Literal["same", "different"]:
    """Return the judgments policy of a result; results of earlier versions lack it."""
    return "different" if result.get("judgments") == "different" else "same"


def _measures(texts: Sequence[str], passed: Sequence[Measure]) -> tuple[Measure, ...]:
    by_text = {str(measure): measure for measure in passed}
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
