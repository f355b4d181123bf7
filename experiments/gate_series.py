"""Fifty commits in a row against a baseline file: how often harmless series are closed, and what
drops sum up to.

Engines    `noise`: a run moves 20 % of the queries by normal noise of standard deviation 0.15, anew
in each run, whatever
           the engine, as an approximate index or a language model does. `steps`: each commit moves
           20 % of the queries for good, and two runs of one commit are equal.
Commits    Harmless ones, whose true drop is 0, or drops of 0.002 each. What the gate closes is not
merged. Baselines  `previous`: the last accepted run, an ordinary run, each commit at alpha 0.05.
`pinned`: a baseline file that is
           never updated. `updated`: one that is updated after each pass, as `idealrank gate
           --update-baseline` does. Files spend alpha 0.05 over 50 commits.
Tests      The sign flips of the gate, one-sided, max-T over the checks of a commit.
"""

import argparse
import itertools
from dataclasses import dataclass

import numpy as np
from models import at_least_1, progress_line

from idealrank.analysis.comparison.families import Hypothesis, corrected
from idealrank.analysis.comparison.query_table import QueryTable
from idealrank.analysis.gate.series import WINDOW, Series
from idealrank.data.types import FloatArray
from idealrank.stats.comparison import Plan
from idealrank.stats.design import Design

COMMITS, ALPHA = 50, 0.05
LATE = 10  # commits at the end of a series
TOUCHED, SPREAD = 0.2, 0.15
DROPS = (0.0, 0.002)
ENGINES = ("noise", "steps")
BASELINES = ("previous", "pinned", "updated")
DRAWS = 4_999


@dataclass(frozen=True, kw_only=True)
class Row:
    """Result of many series under one kind of baseline.

    Attributes
    ----------
    closed : float
        Share of the series in which any commit was closed.
    closings, late : float
        Commits closed in a series, and among its last ten.
    lost : float
        True drop of all that was merged.
    raised : float
        Mean of the queries' own values over the true mean, in the end: what choosing by these
        queries adds.
    """

    engine: str
    baseline: str
    queries: int
    drop: float
    closed: float
    closings: float
    late: float
    lost: float
    raised: float


class Engine:
    """A system whose commits are drawn one after the other.

    Its runs are true values by query, less the drops, and the noise of a run.
    """

    def __init__(self, kind: str, queries: int, rng: np.random.Generator) -> None:
        self.kind, self.rng = kind, rng
        self.values = np.zeros(queries)
        self.lost = 0.0

    def commit(self, drop: float) -> tuple[FloatArray, FloatArray]:
        """Return the values of the next commit, and a run of it."""
        values = self.values - drop
        if self.kind == "steps":
            values = values + self._moved()
            return values, values
        return values, values + self._moved()

    def merge(self, values: FloatArray, drop: float) -> None:
        self.values, self.lost = values, self.lost + drop

    def _moved(self) -> FloatArray:
        size = self.values.size
        return np.where(self.rng.random(size) < TOUCHED, self.rng.normal(0.0, SPREAD, size), 0.0)


def closes(pairs: list[tuple[FloatArray, FloatArray]], level: float, seed: int) -> bool:
    """Return whether a gate with one check a pair of runs before and now is closed at this
    level.
    """
    everywhere = np.ones(pairs[0][0].size, np.bool_)
    tests = [Hypothesis(_table(before), _table(now), 0, everywhere) for before, now in pairs]
    plan = Plan(level=1 - level, alternative="less", n_resamples=DRAWS, seed=seed, threads=1)
    return any(test.p <= level for test in corrected(tests, Design.of(everywhere.size), plan))


def _table(values: FloatArray) -> QueryTable:
    return QueryTable(values[:, None], np.ones((values.size, 1), np.bool_))


def series_of(engine: Engine, baseline: str, drop: float) -> list[bool]:
    """Gate one commit after the other; return which were closed."""
    anchor = engine.commit(0.0)[1]
    last, accepted = anchor, list[FloatArray]()
    state = Series(alpha=ALPHA, horizon=COMMITS)
    closed = []
    for number in range(COMMITS):
        values, run = engine.commit(drop)
        pairs = [(last, run)]
        if baseline == "updated" and accepted:
            pairs.append((anchor, np.mean([run, *accepted], axis=0)))
        level = ALPHA if baseline == "previous" else state.level
        closed.append(closes(pairs, level, number))
        state = state.after_look()
        if closed[-1]:
            continue
        engine.merge(values, drop)
        if baseline != "pinned":
            last = run
            accepted = [run, *accepted][: WINDOW - 1]
    return closed


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Series of one row: an engine, its queries, the true drop of each commit, and the kind of
    baseline.
    """

    engine: str
    queries: int
    drop: float
    baseline: str

    def engine_of(self, chain: int, seed: int) -> Engine:
        """Return the engine of one series; every baseline sees the same ones."""
        rng = np.random.default_rng(
            (seed, self.queries, chain, int(self.drop > 0), self.engine == "steps")
        )
        return Engine(self.engine, self.queries, rng)


def settings(asked: argparse.Namespace) -> list[Setting]:
    """List what is asked for, in the order of the table."""
    every = itertools.product(asked.engines, asked.queries, asked.drops, asked.baselines)
    return [
        Setting(engine=engine, queries=queries, drop=drop, baseline=baseline)
        for engine, queries, drop, baseline in every
    ]


def row_of(setting: Setting, chains: int, seed: int) -> Row:
    """Draw so many series, and summarise them."""
    show = progress_line(
        f"{setting.engine}, {setting.queries} queries, {setting.drop:g}, {setting.baseline}"
    )
    closed_commits: list[list[bool]] = []
    engines: list[Engine] = []
    for chain in range(chains):
        engine = setting.engine_of(chain, seed)
        closed_commits.append(series_of(engine, setting.baseline, setting.drop))
        engines.append(engine)
        if show is not None:
            show(chain + 1, chains)
    closed = np.array(closed_commits)
    return Row(
        engine=setting.engine,
        baseline=setting.baseline,
        queries=setting.queries,
        drop=setting.drop,
        closed=float(closed.any(axis=1).mean()),
        closings=float(closed.sum(axis=1).mean()),
        late=float(closed[:, -LATE:].sum(axis=1).mean()),
        lost=float(np.mean([engine.lost for engine in engines])),
        raised=float(np.mean([engine.values.mean() + engine.lost for engine in engines])),
    )


def table(rows: list[Row]) -> str:
    """Return the rows as Markdown."""
    lines = [
        "| engine | queries | true drop | baseline | any commit closed | closed of 50 | of "
        "the last 10 | lost | own mean raised |",
        "|---|---:|---:|---|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {row.engine} | {row.queries:,} | {row.drop:g} | {row.baseline} | {row.closed:.3f} "
        f"| {row.closings:.1f} | {row.late:.1f} "
        f"| {row.lost:.3f} | {row.raised:+.3f} |"
        for row in rows
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--queries", type=at_least_1, nargs="+", default=[50, 200, 1000])
    parser.add_argument("--engines", choices=ENGINES, nargs="+", default=ENGINES)
    parser.add_argument("--drops", type=float, nargs="+", default=DROPS)
    parser.add_argument("--baselines", choices=BASELINES, nargs="+", default=BASELINES)
    parser.add_argument("--chains", type=at_least_1, default=100, help="series a row")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    rows = [row_of(setting, asked.chains, asked.seed) for setting in settings(asked)]
    print(f"{asked.chains} series of {COMMITS} commits a row, seed {asked.seed}\n")
    print(table(rows))


if __name__ == "__main__":
    main()
