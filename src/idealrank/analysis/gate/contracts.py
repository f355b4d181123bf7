"""Contracts of single queries: what a gate demands of them, and what it found."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from idealrank.errors import IncompatibleError, OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.measures.measure import Measure
from idealrank.measures.parse import parse_measure
from idealrank.stats.tolerance import ROUNDING


@dataclass(frozen=True, kw_only=True)
class Contract:
    """Requirement for one query.

    Attributes
    ----------
    query : str
        Query id.
    measure : str or None
        Text of the measure; None for every measure of the gate.
    at_least : float or None
        Worst acceptable value; None for the query's value in each baseline.
    place : str
        Origin of the requirement, such as ``contracts.csv:3``; empty if it came from Python.

    Raises
    ------
    OptionError
        The number is not finite.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["y", "x"]}, "RR")
    >>> ir.gate(one, one, contracts=[Contract(query="q", at_least=1.0)]).reasons
    ('query q: RR 0.5000, demanded 1.0000',)
    """

    query: str
    measure: str | None = None
    at_least: float | None = None
    place: str = ""

    def __post_init__(self) -> None:
        if self.measure is not None:
            # given as a measure or as its text, and kept as text
            object.__setattr__(self, "measure", str(self.measure))
        if self.at_least is not None and not math.isfinite(self.at_least):
            raise OptionError(
                f"contract of query {self.query!r}: at_least={self.at_least!r}: expected a finite "
                "number"
            )


@dataclass(frozen=True, kw_only=True)
class KeptContract:
    """Result of a contract for one measure and, if it has one, one baseline.

    Attributes
    ----------
    contract : Contract
        What was demanded.
    measure : str
        Text of the measure.
    baseline : str or None
        Name of the baseline whose value is the demand; None where the contract has a number.
    demanded, found : float
        The value to reach, and that of the run; NaN where the query has no value.
    passed : bool
        Whether the run reaches it.
    text : str or None
        Text of the query; None without one.
    """

    contract: Contract
    measure: str
    baseline: str | None
    demanded: float
    found: float
    passed: bool
    text: str | None = None


def sentence_of(result: KeptContract) -> str:
    """Describe a broken contract."""
    if math.isnan(result.demanded):
        demand = f"a value, which {result.baseline} lacks too"
    else:
        demand = f"{result.demanded:.4f}"
        if result.baseline:
            demand += f", its value in {result.baseline}"
    value = "has no value" if math.isnan(result.found) else f"{result.found:.4f}"
    return f"query {result.contract.query}: {result.measure} {value}, demanded {demand}"


@dataclass(frozen=True, eq=False)
class _NamedEvaluation:
    """An evaluation under its name in a gate, with the row of each query."""

    name: str
    evaluation: Evaluation
    rows: Mapping[str, int]

    @classmethod
    def of(cls, name: str, evaluation: Evaluation) -> "_NamedEvaluation":
        return cls(name, evaluation, {query: row for row, query in enumerate(evaluation.queries)})

    def value(self, measure: Measure, contract: Contract) -> float:
        """Value of the query of a contract; NaN where it has none."""
        evaluation = self.evaluation
        if measure not in evaluation.measures:
            place = f"{contract.place}: " if contract.place else ""
            have = ", ".join(map(str, evaluation.measures))
            raise IncompatibleError(
                f"{place}contract of query {contract.query!r}: {self.name} was not evaluated "
                f"by {measure}, only {have}"
            )
        row = self.rows.get(contract.query)
        column = evaluation.measures.index(measure)
        if row is None or not evaluation.scored[row, column]:
            return math.nan
        return float(evaluation.values[row, column])


def results_of_contracts(
    contracts: Iterable[Contract],
    evaluations: Sequence[Evaluation],
    names: Sequence[str],
    chosen: Sequence[Measure],
) -> tuple[KeptContract, ...]:
    """Check each contract by its measures, or by the chosen ones; the first evaluation is the
    run's, the others are the baselines'.
    """
    sides = list(map(_NamedEvaluation.of, names, evaluations))
    return tuple(chain.from_iterable(_results(contract, sides, chosen) for contract in contracts))


def _refuse_out_of_range(contract: Contract, measure: Measure) -> None:
    least, greatest = measure.bounds
    if contract.at_least is not None and not least <= contract.at_least <= greatest:
        place = contract.place or f"contract of query {contract.query!r}"
        raise OptionError(
            f"{place}: found at_least {contract.at_least:g}, which {measure} cannot have; expected "
            f"a value from {least:g} to {greatest:g}"
        )


def _results(
    contract: Contract, sides: Sequence[_NamedEvaluation], chosen: Sequence[Measure]
) -> Iterator[KeptContract]:
    """Check one contract by each measure, against its number or else against every baseline."""
    run, *baselines = sides
    for measure in chosen if contract.measure is None else [_of_contract(contract)]:
        value = run.value(measure, contract)
        if contract.at_least is not None:
            _refuse_out_of_range(contract, measure)
            demanded = float(contract.at_least)
            yield _result(contract, measure, baseline=None, demanded=demanded, found=value)
            continue
        for side in baselines:
            demanded = side.value(measure, contract)
            yield _result(contract, measure, baseline=side.name, demanded=demanded, found=value)


def _of_contract(contract: Contract) -> Measure:
    measure = parse_measure(contract.measure or "")
    if not measure.direction:
        raise OptionError(
            f"{contract.place or 'contract'}: {measure}: more of it is neither better nor worse; "
            "expected another measure"
        )
    return measure


def _result(
    contract: Contract, measure: Measure, *, baseline: str | None, demanded: float, found: float
) -> KeptContract:
    rounding = ROUNDING * max(abs(demanded), abs(found)) if math.isfinite(demanded) else 0.0
    # Where the baseline has no value, any value will do: a comparison with NaN is false.
    falls_short = measure.direction * (found - demanded) < -rounding
    return KeptContract(
        contract=contract,
        measure=str(measure),
        baseline=baseline,
        demanded=demanded,
        found=found,
        passed=not math.isnan(found) and not falls_short,
    )
