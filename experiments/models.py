"""The models of relevance that the experiments speak of, by name, and what every script does alike.

ybar(s) is the chance that a document is relevant whose canonical score is s, 1 at the top of the
list; u = 1 - s is the depth.
"""

import argparse
import math
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from idealrank.theory import Distinguishability, RelevanceModel, distinguish_many


class Model(NamedTuple):
    """A name, ybar as a formula and as a function, and where it has kinks."""

    name: str
    formula: str
    ybar: Any
    points: tuple[float, ...] = ()

    def made(self) -> RelevanceModel:
        """For `idealrank.theory`."""
        return RelevanceModel.of(self.ybar, points=self.points)


def wave(s: Any, period: float) -> Any:
    """One period of a sine from s = 0 on, then 0: its mean is 0, so the share of relevant documents
    stays.
    """
    return 0.1 * np.where(s < period, np.sin(2 * np.pi * np.minimum(s, period) / period), 0.0)


MODELS = {
    model.name: model
    for model in (
        Model("LIN", "0.1 + 0.8 s", lambda s: 0.1 + 0.8 * s),
        Model("LIN2", "0.2 + 0.6 s", lambda s: 0.2 + 0.6 * s),
        Model("POW", "s^2", lambda s: s**2),
        Model("LOGI", "1/(1 + exp(5 - 8 s))", lambda s: 1 / (1 + np.exp(5 - 8 * s))),
        Model("RAND", "0.5", lambda s: 0.5 + 0.0 * s),
        Model("ANTI", "0.9 - 0.8 s", lambda s: 0.9 - 0.8 * s),
        Model("COI0", "0.7 - 1.6 u + 1.5 u^2", lambda s: 0.7 - 1.6 * (1 - s) + 1.5 * (1 - s) ** 2),
        Model("COI1", "0.6 - 0.4 u", lambda s: 0.6 - 0.4 * (1 - s)),
        Model("K2A", "0.7 - 1.6 u + 1.8 u^2", lambda s: 0.7 - 1.6 * (1 - s) + 1.8 * (1 - s) ** 2),
        Model("K2B", "0.5", lambda s: 0.5 + 0.0 * s),
        Model("TOP1", "0.1 + 0.8 s + 0.1 sin(2 pi s)", lambda s: 0.1 + 0.8 * s + wave(s, 1.0)),
        Model(
            "LOW1",
            "0.1 + 0.8 s + 0.1 sin(2 pi s/0.8) below s = 0.8",
            lambda s: 0.1 + 0.8 * s + wave(s, 0.8),
            (0.8,),
        ),
        Model(
            "G0",
            "0.35 + 0.05 (1 - 24 u + 33 u^2)",
            lambda s: 0.35 + 0.05 * (1 - 24 * (1 - s) + 33 * (1 - s) ** 2),
        ),
        Model("G1", "0.35", lambda s: 0.35 + 0.0 * s),
    )
}

# Two rankers of the same documents, and what is special about them.
PAIRS = {
    "A": ("LIN", "RAND", "far apart everywhere"),
    "B": ("LIN", "LIN2", "apart everywhere"),
    "C": ("COI0", "COI1", "equal limits for the discount r^-1/2"),
    "D": ("K2A", "K2B", "K = 2 in Lemma 22"),
    "E": ("LIN", "TOP1", "equal at the very top"),
    "F": ("LIN", "LOW1", "equal in the top 20 %"),
    "G": ("G0", "G1", "equal limits for the discount r^-0.8, ybar(1) 0.05 apart"),
}

# Grades 1 and 2: P(Y = 1 | s) and P(Y = 2 | s).
GRADED: Mapping[float, Any] = {1.0: lambda s: 0.2 + 0.2 * s, 2.0: lambda s: 0.05 + 0.35 * s**2}


def pair(name: str) -> tuple[Model, Model]:
    """Both models of a pair."""
    first, second, _ = PAIRS[name]
    return MODELS[first], MODELS[second]


def options(document: str, *, runs: int, seed: int, largest: int) -> argparse.ArgumentParser:
    """A parser with what every script takes; the script's own text is its help."""
    parser = argparse.ArgumentParser(
        description=document, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--runs",
        type=at_least_1,
        default=runs,
        help=f"random lists for each number (default {runs})",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=seed,
        help=f"the same seed, the same numbers, on any number of threads (default {seed})",
    )
    parser.add_argument(
        "--largest",
        type=at_least_1,
        default=largest,
        help=f"documents of the longest list (default {largest:,})",
    )
    parser.add_argument("--threads", type=int, default=0, help="0 uses all cores (default)")
    return parser


def at_least_1(text: str) -> int:
    """A whole number from 1 on; 1e5 is one."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not (number >= 1 and math.isfinite(number) and number == int(number)):
        raise argparse.ArgumentTypeError(f"found {text}, expected a whole number from 1 on")
    return int(number)


def decades(largest: int, first: int = 1000) -> list[int]:
    """1,000, 10,000, ... up to the largest, which is the last."""
    sizes = [first * 10**k for k in range(20) if first * 10**k < largest]
    return [*sizes, largest]


def steps(largest: int, first: int = 100, a_decade: int = 16) -> list[int]:
    """Lengths at which a sign is looked at: rising by the same factor, with all powers of ten among
    them.
    """
    count = int(np.ceil(a_decade * np.log10(largest / first))) if largest > first else 0
    sizes = {round(first * 10 ** (k / a_decade)) for k in range(count)}
    return sorted(size for size in sizes | {largest} if size <= largest)


def signs(
    name: str,
    measures: Mapping[str, tuple[Any, Any]],
    arguments: argparse.Namespace,
    sizes: list[int] | None = None,
) -> dict[str, Distinguishability]:
    """The first ranker of a pair against the second under each discount and cutoff, on the same
    lists.
    """
    first, second = (model.made() for model in pair(name))
    tables = distinguish_many(
        first,
        second,
        measures.values(),
        sizes=sizes or steps(arguments.largest),
        runs=arguments.runs,
        rng=[arguments.seed, ord(name)],
        threads=arguments.threads,
        progress=progress_line(f"pair {name}"),
    )
    return dict(zip(measures, tables, strict=True))


def sign_rows(tables: Mapping[str, Distinguishability], largest: int) -> list[str]:
    """How often the first ranker is ahead at each power of ten, and how often the sign stays from
    there on.
    """
    rows = [f"  {'discount':12} {'n':>9}  {'first ranker ahead':>22}  sign stays up to {largest:,}"]
    for label, table in tables.items():
        for size in decades(largest):
            at = table.sizes.tolist().index(size)
            ahead, constant, (low, high) = (
                table.share("a_better")[at],
                table.share("constant")[at],
                table.interval("a_better")[at],
            )
            stays = (
                f"{constant:.3f}" + (" (one decade at most)" if table.last_decade[at] else "")
                if size < largest
                else "-"
            )
            rows.append(f"  {label:12} {size:9,}  {ahead:.3f} [{low:.3f}, {high:.3f}]  {stays}")
    return rows


def progress_line(label: str) -> Callable[[int, int], None] | None:
    """Counts samples on standard error, if somebody looks at it."""
    if not sys.stderr.isatty():
        return None

    def show(done: int, samples: int) -> None:
        end = "\r\033[K" if done == samples else ""
        print(f"\r{label}: {done:,} of {samples:,}{end}", end="", file=sys.stderr, flush=True)

    return show
