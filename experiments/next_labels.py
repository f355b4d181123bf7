"""Labels that each strategy of `idealrank judge next` needs to settle a comparison, and errors of
its sequential test.

Judgments are hidden and revealed in the order of each strategy: on pydocs, and on all pairs of the
runs of a folder with ``human.qrels`` and ``runs/``. Run it as ``python experiments/next_labels.py
--pairs FOLDER``. ``--figures DIR`` also writes the curves, and ``--first N`` takes the first N
pairs only. ``--results FILE`` keeps the result of each pair, and goes on after the last one that it
has.
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from idealrank.errors import InputError
from idealrank.inputs.evaluation import to_qrels, to_run
from idealrank.judging import LabelReplay, replay_labels
from idealrank.judging.views.figures import replay_spec, settled_spec
from idealrank.pages.figures import drawings
from idealrank.stats import sequential_sign

PYDOCS = Path(__file__).parent.parent / "examples" / "pydocs"
ALPHAS = (0.05, 0.2)
DIFFERENCES = (0.0, 0.1, 0.2, 0.3, 0.4, 1.0)


def pydocs(orders: int) -> LabelReplay:
    """Replay bm25 against minilm."""
    return replay_labels(
        to_qrels(PYDOCS / "qrels.txt"),
        *(to_run(PYDOCS / f"{name}.run", name=name) for name in ("bm25", "minilm")),
        orders=orders,
    )


def pairs(
    folder: Path, orders: int, first: int | None, results: Path | None
) -> list[dict[str, Any]]:
    """Return the records of the replays of all pairs of runs with different means; each is written
    to a file as soon as it is known.
    """
    qrels = to_qrels(folder / "human.qrels")
    runs = [to_run(path, name=path.stem) for path in sorted((folder / "runs").glob("*.run"))]
    wanted = list(combinations(runs, 2))[:first]
    found = (
        []
        if results is None or not results.exists()
        else [json.loads(line) for line in results.read_text("utf-8").splitlines()]
    )
    known = {(one["a"], one["b"]) for one in found}
    for done, (a, b) in enumerate(wanted, 1):
        if (a.name, b.name) not in known:
            try:
                found.append(replay_labels(qrels, a, b, orders=orders, test_orders=50).as_dict())
            except InputError:  # the same mean
                continue
            if results is not None:
                with results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(found[-1]) + "\n")
        print(
            f"\r{done} of {len(wanted)} pairs",
            end="" if done < len(wanted) else "\n",
            file=sys.stderr,
            flush=True,
        )
    return found


def one_table(found: LabelReplay) -> Iterator[str]:
    """Make the lines of the table of one comparison."""
    yield "| strategy | stop | labels | of all | ratio to depth | ratio to random |"
    yield "|---|---|---|---|---|---|"
    for one in found.curves:
        shares = (
            f"{one.median / found.n_pooled:.1%} | {found.ratio(one, 'depth'):.2f} | "
            f"{found.ratio(one, 'random'):.2f}"
        )
        yield f"| {one.strategy} | {one.stop} | {one.median:,.0f} | {shares} |"


def all_table(found: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Make the lines of the table of many comparisons: medians over them."""
    yield (
        "| strategy | stop | of all | ratio to depth | ratio to random | more than depth | wrong "
        "sign |"
    )
    yield "|---|---|---|---|---|---|---|"
    rows: dict[tuple[str, str], list[tuple[float, float, float, float]]] = defaultdict(list)
    for curve in (curve for replay in found for curve in replay["curves"]):
        row = (
            curve["share_of_pool"],
            curve["ratio_to_depth"],
            curve["ratio_to_random"],
            1 - curve["right"],
        )
        rows[curve["strategy"], curve["stop"]].append(row)
    for (strategy, stop), values in rows.items():
        of_all, depth, random, wrong = np.array(values).T
        medians = f"{np.median(of_all):.1%} | {np.median(depth):.2f} | {np.median(random):.2f}"
        yield (
            f"| {strategy} | {stop} | {medians} | {int((depth > 1).sum())} of {depth.size} | "
            f"{wrong.mean():.1%} |"
        )


def more_than_depth(found: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Make the lines of the table of pairs by the size of their difference: labels that `bounds`
    needs per label of depth order.
    """
    yield "| difference of means | pairs | bounds, ratio to depth | largest | more than depth |"
    yield "|---|---|---|---|---|"
    rows = [
        (
            abs(one["difference"]),
            next(c["ratio_to_depth"] for c in one["curves"] if c["strategy"] == "bounds"),
        )
        for one in found
    ]
    for low, high in pairwise(DIFFERENCES):
        ratios = np.array([ratio for difference, ratio in rows if low <= difference < high])
        if ratios.size:
            name = f"{low:g} to {high:g}" if high < 1 else f"{low:g} or more"
            yield (
                f"| {name} | {ratios.size} | {np.median(ratios):.2f} | {ratios.max():.2f} | "
                f"{int((ratios > 1).sum())} |"
            )


def populations(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Make differences of queries whose mean is just not above 0: the hardest case for a test of
    the sign.
    """
    values = {
        "half 1, half -1": np.repeat([1.0, -1.0], 30),
        "one in ten at 0.9, others at -0.1": np.repeat([0.9, -0.1], [6, 54]),
        "nine in ten at 0.1, others at -0.9": np.repeat([0.1, -0.9], [54, 6]),
        "nearly all 0": np.concatenate((np.zeros(56), [0.5, -0.5, 0.25, -0.25])),
        "uniform": np.linspace(-1, 1, 60),
        "25 queries, normal": rng.normal(0, 0.3, 25).clip(-1, 1),
    }
    return {name: one - max(one.mean(), 0.0) - 1e-9 for name, one in values.items()}


def error_table(orders: int, seed: int = 1) -> Iterator[str]:
    """Make the lines of the table of errors: shares of random orders in which the test finds a mean
    above 0.
    """
    rng = np.random.default_rng(seed)
    yield "| differences of queries | " + " | ".join(f"alpha {alpha:g}" for alpha in ALPHAS) + " |"
    yield "|---|" + "---|" * len(ALPHAS)
    for name, values in populations(rng).items():
        wrong = np.zeros(len(ALPHAS))
        low, high = np.full(values.size, -1.0 - 1e-6), np.full(values.size, 1.0)
        for _ in range(orders):
            drawn = rng.permutation(values)
            wrong += [sequential_sign(drawn, low, high, alpha).sign == 1 for alpha in ALPHAS]
        yield f"| {name} | " + " | ".join(f"{share:.1%}" for share in wrong / orders) + " |"


def write_figures(folder: Path, one: LabelReplay, many: Sequence[dict[str, Any]]) -> None:
    """Write the curves as SVG files."""
    folder.mkdir(parents=True, exist_ok=True)
    drawings.write_file(folder / "next-labels.svg", drawings.drawn(replay_spec(one), "svg"))
    if not many:
        return
    shares: dict[str, list[float]] = defaultdict(list)
    for curve in (curve for replay in many for curve in replay["curves"]):
        name = curve["strategy"] if curve["stop"] == "bounds" else f"{curve['strategy']}, by test"
        if name != "queries":
            shares[name].append(curve["share_of_pool"])
    spec = settled_spec(
        shares,
        f"Labels until {len(many)} comparisons are settled",
        "12 synthetic runs over TREC's judgments of 25 queries; nDCG@10.",
    )
    drawings.write_file(folder / "next-labels-pairs.svg", drawings.drawn(spec, "svg"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=Path)
    parser.add_argument("--first", type=int)
    parser.add_argument("--results", type=Path)
    parser.add_argument("--orders", type=int, default=20)
    parser.add_argument("--tests", type=int, default=10_000)
    parser.add_argument("--figures", type=Path)
    asked = parser.parse_args()
    single = pydocs(asked.orders)
    print(*one_table(single), "", *error_table(asked.tests), sep="\n", flush=True)
    several = (
        []
        if asked.pairs is None
        else pairs(asked.pairs, min(asked.orders, 5), asked.first, asked.results)
    )
    if several:
        print("", *all_table(several), "", *more_than_depth(several), sep="\n")
    if asked.figures is not None:
        write_figures(asked.figures, single, several)
