"""Comparison of two runs over partitions: each sums the differences of its own whole queries, and
the sums are added.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from importlib import import_module
from typing import Any

from idealrank.analysis.comparison.partition_sums import ComparisonSums
from idealrank.conventions import Convention
from idealrank.engines.partitions import (
    BASELINE,
    KINDS,
    PartitionPlan,
    evaluate_rows,
    judged_tables,
    whole_queries,
)
from idealrank.errors import IdealrankError, InputError
from idealrank.measures.parse import MeasureLike


@dataclass(frozen=True, kw_only=True)
class ComparisonPlan:
    """Plan of a comparison in parts, as it is sent to workers."""

    plan: PartitionPlan  # Measures and convention; its name is that of run b
    name_a: str  # Name of run a
    # n_draws, seed: As for `ComparisonSums.of`
    n_draws: int
    seed: int

    @classmethod
    def of(
        cls,
        measures: "MeasureLike | Iterable[MeasureLike] | None",
        convention: "Convention | str" = "standard",
        names: tuple[str, str] = ("a", "b"),
        max_documents: int | None = None,
        n_draws: int = 10_000,
        seed: int = 0,
    ) -> "ComparisonPlan":
        """Plan a comparison."""
        name_a, name_b = names
        return cls(
            plan=PartitionPlan.of(measures, convention, name_b, max_documents),
            name_a=name_a,
            n_draws=n_draws,
            seed=seed,
        )

    @property
    def names(self) -> tuple[str, str]:
        """Names of both runs."""
        return self.name_a, self.plan.name


def compare_rows(table: Any, plan: ComparisonPlan) -> ComparisonSums:
    """Sum the differences of the queries of an Arrow table, which has every row of each query."""
    b = evaluate_rows(table, plan.plan, kind=KINDS["run"])
    a = evaluate_rows(table, replace(plan.plan, name=plan.name_a), kind=BASELINE)
    return ComparisonSums.of(a, b, plan.plan.measures, n_draws=plan.n_draws, seed=plan.seed)


def compared_batches(
    batches: Iterable[Any], plan: ComparisonPlan, judgments: Any = None
) -> Iterator[Any]:
    """Sum the differences of record batches that are sorted by query: one row for all of them, or
    none without rows.

    Columns: numbers (JSON), draws (bytes). An error of the input is a row, too.
    """
    sums: ComparisonSums | None = None
    try:
        for table in judged_tables(whole_queries(batches), judgments):
            of_table = compare_rows(table, plan)
            sums = of_table if sums is None else sums.merge(of_table)
    except IdealrankError as error:
        yield _batch(json.dumps({"error": str(error)}), b"")
        return
    if sums is not None:
        yield packed_sums(sums)


def packed_sums(sums: ComparisonSums) -> Any:
    """Return sums as a record batch of one row."""
    numbers, draws = sums.packed()
    return _batch(json.dumps(numbers), draws)


def _batch(numbers: str, draws: bytes) -> Any:
    pyarrow = import_module("pyarrow")
    columns = [pyarrow.array([numbers], pyarrow.string()), pyarrow.array([draws], pyarrow.binary())]
    return pyarrow.RecordBatch.from_arrays(columns, names=["numbers", "draws"])


def added_batches(batches: Iterable[Any], plan: ComparisonPlan) -> Iterator[Any]:
    """Add the sums of some partitions on a worker, so that few come back to the driver; one row, or
    none.
    """
    pyarrow = import_module("pyarrow")
    sums: ComparisonSums | None = None
    for batch in batches:
        for row_number in range(batch.num_rows):
            row = pyarrow.Table.from_batches([batch.slice(row_number, 1)])
            try:
                of_partition = comparison_of(row, plan)
            except IdealrankError as error:
                yield _batch(json.dumps({"error": str(error)}), b"")
                return
            sums = of_partition if sums is None else sums.merge(of_partition)
    if sums is not None:
        yield packed_sums(sums)


def comparison_of(table: Any, plan: ComparisonPlan) -> ComparisonSums:
    """Return the comparison of all partitions, from rows of `compared_batches` in any order."""
    records = [json.loads(text) for text in table.column("numbers").to_pylist()]
    if errors := sorted(numbers["error"] for numbers in records if "error" in numbers):
        raise InputError(errors[0])
    if not records:
        raise InputError("found no rows, expected judgments and results")
    sums = (
        ComparisonSums.unpacked(
            numbers,
            draws,
            names=plan.names,
            measures=plan.plan.measures,
            convention=plan.plan.convention,
            max_documents=plan.plan.max_documents,
        )
        for numbers, draws in zip(records, table.column("draws").to_pylist(), strict=True)
    )
    return reduce(ComparisonSums.merge, sums)
