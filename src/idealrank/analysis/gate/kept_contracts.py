"""Contracts of a gate for single queries, and the outcome of its checks and contracts together."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from idealrank.analysis.gate.outcome import TOO_FEW, Check, Contract, KeptContract, Outcome
from idealrank.errors import IncompatibleError, OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.measures.measure import Measure
from idealrank.measures.parse import parse_measure
from idealrank.stats.tolerance import ROUNDING


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
        """Value of the query of a contract; NaN where it has none."""
        evaluation = self.evaluation
        if measure not in evaluation.measures:
            place = f"{contract.place}: " if contract.place else ""
            have = ", ".join(map(str, evaluation.measures))
            raise IncompatibleError(
                f"{place}contract of query {contract.query!r}: {self.name} was not evaluated "
                f"by {measure}, only {have}"
            )
        row, column = self.rows.get(contract.query), evaluation.measures.index(measure)
        if row is None or not evaluation.scored[row, column]:
            return math.nan
        return float(evaluation.values[row, column])


def contracts_kept(
    contracts: Iterable[Contract],
    evaluations: Sequence[Evaluation],
    names: Sequence[str],
    chosen: Sequence[Measure],
) -> tuple[KeptContract, ...]:
    """Each contract, looked at for its measures, and for every baseline where it has no number of
    its own; the run stands first.
    """
    sides = [
        _Values.of(name, evaluation) for name, evaluation in zip(names, evaluations, strict=True)
    ]
    return tuple(kept for contract in contracts for kept in _kept(contract, sides, chosen))


def _refuse_out_of_range(contract: Contract, measure: Measure) -> None:
    least, greatest = measure.bounds
    if contract.at_least is not None and not least <= contract.at_least <= greatest:
        place = contract.place or f"contract of query {contract.query!r}"
        raise OptionError(
            f"{place}: found at_least {contract.at_least:g}, which {measure} cannot have; expected "
            f"a value from {least:g} to {greatest:g}"
        )


def _kept(
    contract: Contract, sides: Sequence[_Values], chosen: Sequence[Measure]
) -> Iterator[KeptContract]:
    """A contract, looked at for its measures and, without a number of its own, for every
    baseline.
    """
    run, *baselines = sides
    for measure in chosen if contract.measure is None else [_of_contract(contract)]:
        value = run.of_query(measure, contract)
        if contract.at_least is not None:
            _refuse_out_of_range(contract, measure)
            yield _held(contract, measure, None, float(contract.at_least), value)
            continue
        for side in baselines:
            yield _held(contract, measure, side.name, side.of_query(measure, contract), value)


def _of_contract(contract: Contract) -> Measure:
    measure = parse_measure(contract.measure or "")
    if not measure.direction:
        raise OptionError(
            f"{contract.place or 'contract'}: {measure}: more of it is neither better nor worse; "
            "expected another measure"
        )
    return measure


def _held(
    contract: Contract, measure: Measure, baseline: str | None, demanded: float, value: float
) -> KeptContract:
    rounding = ROUNDING * max(abs(demanded), abs(value)) if math.isfinite(demanded) else 0.0
    # Where the baseline has no value, any value will do.
    reached = not math.isnan(value) and not measure.direction * (value - demanded) < -rounding
    return KeptContract(
        contract=contract,
        measure=str(measure),
        baseline=baseline,
        demanded=demanded,
        found=value,
        passed=reached,
    )


def outcome_of(checks: Iterable[Check], contracts: Iterable[KeptContract]) -> Outcome:
    """Combine checks and contracts into the outcome."""
    outcomes = {check.outcome for check in checks if check.decides}
    if "failed" in outcomes or not all(kept.passed for kept in contracts):
        return "failed"
    return TOO_FEW if TOO_FEW in outcomes else "passed"
