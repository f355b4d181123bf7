"""Cost of an evaluation on rented machines, on paper: ``python benchmarks/cluster_costs.py [--cores
N] [--price P] [--gigabits G]``.

Takes the rates that `make bench ARGS="--full --only cluster"` measured on one machine
(benchmarks/results/cluster.json), prints a table and writes it to benchmarks/results/costs.md.
Nothing was measured on rented machines: the assumptions are printed below the table.
"""

import argparse
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parent / "results"
ROWS = (10**9, 10**10, 10**11)


@dataclass(frozen=True)
class Assumptions:
    """Assumptions of the cost model.

    Attributes
    ----------
    cores : int
        Cores of a machine.
    price : float
        US dollars an hour and machine.
    gigabits : float
        Network of a machine, in Gbit/s.
    startup : float
        Seconds until the machines run, which are paid for.
    row_bytes : float
        Bytes that a row takes in the shuffle.
    deadline : float
        Seconds in which the job should end: the number of machines follows from it.
    """

    cores: int = 16
    price: float = 0.80
    gigabits: float = 5.0
    startup: float = 180.0
    row_bytes: float = 40.0
    deadline: float = 1800.0


def seconds_of(rows: float, machines: int, rate: float, given: Assumptions) -> float:
    """Seconds on the clock: start, computing, and the shuffle of rows that change their machine,
    one after the other.

    Examples
    --------
    >>> round(seconds_of(1e9, 1, 1e5, Assumptions()))
    805
    """
    computing = rows / (rate * given.cores * machines)
    moved = rows * given.row_bytes * (1 - 1 / machines) / machines
    return given.startup + computing + moved / (given.gigabits * 1e9 / 8)


def machines_for(rows: float, rate: float, given: Assumptions) -> int:
    """The fewest machines that keep the deadline.

    Examples
    --------
    >>> machines_for(1e11, 1e5, Assumptions())
    43
    """
    machines = max(1, math.floor(rows / (rate * given.cores * given.deadline)))
    while seconds_of(rows, machines, rate, given) > given.deadline:
        machines += 1
    return machines


def measured_rate(report: dict[str, Any]) -> float:
    """Rows a second and core on the clock, which rented machines are paid by: the lowest rate
    measured.
    """
    rates = [
        timings["rows"]["wall"] / timings["ours"]["wall"] / timings["workers"]["wall"]
        for row in report["rows"]
        if (timings := row["timings"]) and "workers" in timings
    ]
    if not rates:
        raise SystemExit(
            f"{RESULTS / 'cluster.json'}: found no rates; run make bench ARGS='--full --only "
            f"cluster'"
        )
    return min(rates)


def table(rate: float, given: Assumptions) -> str:
    """The table, and what it rests on."""
    lines = ["| rows | machines | cores | time | cost |", "|---|---|---|---|---|"]
    for rows in ROWS:
        machines = machines_for(rows, rate, given)
        seconds = seconds_of(rows, machines, rate, given)
        cost = machines * seconds / 3600 * given.price
        exponent = round(math.log10(rows))
        lines.append(
            f"| 10^{exponent} | {machines} | {machines * given.cores:,} | {seconds / 60:.0f} "
            f"min | {cost:,.2f} USD |"
        )
    said = (
        f"Printed by `python benchmarks/cluster_costs.py`, on paper. Assumptions: {rate:,.0f} "
        f"rows a second and core on the clock, the "
        f"lowest rate measured, hold on every core; machines of {given.cores} cores at "
        f"{given.price:.2f} USD an hour, with "
        f"{given.gigabits:g} Gbit/s, paid for the {given.startup:g} s of their start, too; "
        f"{given.row_bytes:g} bytes a row in the shuffle, "
        f"which overlaps with nothing; no lost machine, and input that is read as fast as it "
        f"is computed. As many machines as it takes to "
        f"end in {given.deadline / 60:g} minutes."
    )
    return "\n".join(lines) + f"\n\n{said}\n"


def main() -> None:
    """Print and write the table."""
    parser = argparse.ArgumentParser(
        description="Cost of an evaluation on rented machines, from measured rates."
    )
    for name, value in vars(Assumptions()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    given = Assumptions(**vars(parser.parse_args()))
    text = table(
        measured_rate(json.loads((RESULTS / "cluster.json").read_text(encoding="utf-8"))), given
    )
    print(text)
    (RESULTS / "costs.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
