"""Many comparisons at once, missing queries, looking twice, and how many draws: part of
`which_test`.
"""

import argparse
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from models import progress_line
from scipy.special import bdtr
from sign_flips import holm, random_signs, tails
from simulated_changes import KINDS, Changes, behind, value_of

from idealrank.data.types import BoolArray, FloatArray
from idealrank.stats import adjust, paired_t, queries_needed, randomised_hsd, welch_t

ALPHA = 0.05
RUNS, MEASURES, MANY = 10, 3, 20
# of two trainings 80 % of the queries differ, with a correlation of 0.95
TOUCHED, KEPT = 0.55, 0.95**0.5
FAMILY_DRAWS = 5999
PAIRS_DRAWS = 7999
HSD_DRAWS = 999
LOST, COPIES_LOST = {50: 0.06, 200: 0.03}, 0.02
MISSING = 0.1
LOOKS, STEP = 10, 50
TRIES = (1, 2, 5, 10, 20)
Rows: TypeAlias = list[tuple[Any, ...]]
# Section, head, rows, note.
Made: TypeAlias = tuple[str, tuple[str, ...], Rows, str]


def trained(common: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Values of one training of a model, from what lies behind those of all its trainings."""
    own = KEPT * common + np.sqrt(1 - KEPT**2) * behind(common.shape, rng)  # type: ignore[arg-type]
    return value_of(np.where(rng.random((*common.shape[:2], 1)) < TOUCHED, own, common))


def runs_of(
    queries: int, sets: int, runs: int, rng: np.random.Generator, measures: int = MEASURES
) -> tuple[FloatArray, FloatArray]:
    """A baseline (queries, sets, measures) and runs (queries, sets, runs, measures): trainings of
    one model, all equally good.
    """
    common = behind((queries, sets, measures), rng)
    return trained(common, rng), np.stack([trained(common, rng) for _ in range(runs)], axis=2)


def copies_of(
    queries: int, sets: int, runs: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """A baseline, and near copies of one other training: each has a tenth of its queries from a
    training of its own.
    """
    common = behind((queries, sets, MEASURES), rng)
    baseline, first = trained(common, rng), trained(common, rng)
    copies = [
        np.where(rng.random((queries, sets, 1)) < 0.1, trained(common, rng), first)
        for _ in range(runs)
    ]
    return baseline, np.stack(copies, axis=2)


def families_table(asked: argparse.Namespace) -> Made:
    """Ten runs by three measures: trainings, none or half of them truly worse, and near copies,
    none or all truly worse.
    """
    rows: Rows = []
    cases = [
        (runs_of, f"{worse} of {RUNS} worse", worse, queries, lost)
        for worse in (0, RUNS // 2)
        for queries, lost in LOST.items()
    ]
    cases += [
        (copies_of, f"near copies, {worse} of {RUNS} worse", worse, 200, COPIES_LOST)
        for worse in (0, RUNS)
    ]
    for make, truth, worse, queries, lost in cases:
        found: dict[str, list[tuple[float, ...]]] = {}
        show = progress_line(f"families: {truth}, {queries} queries") or (lambda _done, _all: None)
        for first in range(0, asked.many, 20):
            rng = np.random.default_rng((asked.seed, worse, queries, first))
            baseline, runs = make(queries, min(20, asked.many - first), RUNS, rng)
            runs[:, :, :worse] -= lost
            for way, rejected in _corrected(runs - baseline[:, :, None], rng).items():
                found.setdefault(way, []).extend(_counted(rejected, worse))
            show(min(first + 20, asked.many), asked.many)
        for way, each in found.items():
            any_false, share_false, power = np.mean(each, axis=0).tolist()
            false = (any_false, share_false) if worse < RUNS else ("-", "-")
            rows.append((truth, way, queries, *false, power if worse else "-"))
    head = (
        "truth",
        "correction",
        "queries",
        "any false alarm",
        "false among alarms",
        "true ones found",
    )
    drops = f"true drops of {LOST[50]:g} and {LOST[200]:g}, of copies {COPIES_LOST:g}"
    return "families", head, rows, f"{asked.many:,} sets of {RUNS * MEASURES} tests; {drops}."


def _corrected(differences: FloatArray, rng: np.random.Generator) -> dict[str, BoolArray]:
    """Which tests are significant, shape (sets, runs, measures), by differences (queries, sets,
    runs, measures).
    """
    queries, sets = differences.shape[:2]
    columns = differences.reshape(queries, -1)
    flipped = np.abs(random_signs(FAMILY_DRAWS, queries, rng) @ columns)
    seen, slack = np.abs(columns.sum(axis=0)), 1e-12 * np.abs(columns).sum(axis=0)
    p = ((flipped >= seen - slack).sum(axis=0) + 1) / (FAMILY_DRAWS + 1)
    root = np.sqrt((columns**2).sum(axis=0))
    root[root == 0] = np.inf
    largest = (flipped / root).reshape(FAMILY_DRAWS, sets, -1).max(axis=2)
    reached = (largest[:, :, None] >= ((seen - slack) / root).reshape(1, sets, -1)).sum(axis=0)
    families = p.reshape(sets, -1)
    found = {
        "none": families <= ALPHA,
        "Holm": holm(families) <= ALPHA,
        "Benjamini-Hochberg": np.array([adjust(one, "bh") <= ALPHA for one in families]),
        "max-T": (reached + 1) / (FAMILY_DRAWS + 1) <= ALPHA,
    }
    return {way: rejected.reshape(sets, *differences.shape[2:]) for way, rejected in found.items()}


def _counted(rejected: BoolArray, worse: int) -> Iterator[tuple[float, float, float]]:
    """Of each set: any false alarm, share of false ones among the alarms, share of the true ones
    found.
    """
    for one in rejected:
        false, true = int(one[worse:].sum()), int(one[:worse].sum())
        yield float(false > 0), false / max(false + true, 1), true / max(one[:worse].size, 1)


def pairs_table(asked: argparse.Namespace) -> Made:
    """All 190 pairs of twenty runs."""
    rows: Rows = []
    upper = np.triu_indices(MANY, 1)
    cases = {
        "all alike": _alike,
        "10 of 20 worse by 0.03": _two_groups,
        "10 systems, each with a slightly worse copy": _copies,
    }
    for case, make in cases.items():
        found: dict[str, list[tuple[float, float]]] = {}
        show = progress_line(f"pairs: {case}") or (lambda _done, _all: None)
        for number in range(asked.many // 2):
            rng = np.random.default_rng((asked.seed, 17, list(cases).index(case), number))
            values, truth = make(rng)
            true = truth[upper[0]] != truth[upper[1]]
            if case.startswith("10 systems"):
                # what may be said of others is not looked at
                true = (upper[0] % 2 == 0) & (upper[1] == upper[0] + 1)
            for way, rejected in _paired(values, upper, rng).items():
                wrong = rejected[truth[upper[0]] == truth[upper[1]]].any()
                found.setdefault(way, []).append(
                    (float(wrong), float(rejected[true].mean()) if true.any() else 0.0)
                )
            show(number + 1, asked.many // 2)
        for way, each in found.items():
            any_false, power = np.mean(each, axis=0).tolist()
            rows.append((case, way, any_false, power if case != "all alike" else "-"))
    note = (
        f"{asked.many // 2:,} sets of {MANY} runs on 100 queries. Of copies, the share is that of "
        f"the ten pairs of a system and its copy."
    )
    return "pairs", ("truth", "way", "any false alarm", "true pairs found"), rows, note


def _alike(rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    _, runs = runs_of(100, 1, MANY, rng, 1)
    return runs[:, 0, :, 0], np.zeros(MANY)


def _two_groups(rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    values, truth = _alike(rng)
    truth = np.where(np.arange(MANY) < MANY // 2, 0.0, -0.03)
    return values + truth, truth


def _copies(rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Ten different systems of equal quality; the copy of each loses a little on a tenth of the
    queries.
    """
    common = behind((100, MANY // 2, 1), rng)
    systems = value_of(0.7 * behind((100, 1, 1), rng) + np.sqrt(1 - 0.49) * common)[..., 0]
    copies = systems - np.where(
        rng.random(systems.shape) < 0.1, rng.uniform(0.05, 0.25, systems.shape), 0.0
    )
    return np.stack([systems, copies], axis=2).reshape(100, MANY), np.tile([0.0, -0.015], MANY // 2)


def _paired(
    values: FloatArray, upper: tuple[Any, ...], rng: np.random.Generator
) -> dict[str, BoolArray]:
    differences = values[:, upper[0]] - values[:, upper[1]]
    p = tails(differences, rng, draws=PAIRS_DRAWS).both[0]
    hsd = randomised_hsd(values, n_resamples=HSD_DRAWS, rng=rng, threads=1)
    return {"none": p <= ALPHA, "Holm": holm(p) <= ALPHA, "randomised HSD": hsd.p[upper] <= ALPHA}


def missing_table(asked: argparse.Namespace) -> Made:
    """A run that is as good as the other, but returns nothing for some queries."""
    rows: Rows = []
    cases = {"a tenth lost at random": 0.0, "silent where it would fail anyway": 1.0}
    for case, choosy in cases.items():
        for queries in (50, 200, 1000):
            rng = np.random.default_rng((asked.seed, 23, queries, int(choosy)))
            base = Changes(KINDS["re-training"], queries, asked.runs, rng, 1).base
            a, b = base.before[..., 0], base.after[..., 0]
            silent = (
                rng.random(b.shape) < MISSING
                if not choosy
                else (b == 0) & (rng.random(b.shape) < 0.4)
            )
            for way, (difference, better, worse) in _ways(a, b, silent).items():
                rows.append((case, queries, way, difference, better, worse))
    head = (
        "queries without results",
        "queries",
        "way",
        "mean difference",
        "called better",
        "called worse",
    )
    note = (
        f"{asked.runs:,} sets. Of a run that would fail anyway nothing is lost: the true "
        f"difference is 0."
    )
    return "missing", head, rows, note


def _ways(a: FloatArray, b: FloatArray, silent: BoolArray) -> dict[str, tuple[float, float, float]]:
    """Mean difference, share called better, and worse, at two-sided 0.05, by Student's and Welch's
    t, which take sets of all sizes.
    """
    union = paired_t(a, np.where(silent, 0.0, b))
    found = {"union, missing is 0": (union.difference, union.p)}
    own, shared = [], []
    for column in range(a.shape[1]):
        kept = ~silent[:, column]
        one = welch_t(a[:, column], b[kept, column])
        two = paired_t(a[kept, column], b[kept, column])
        own.append((one.difference, one.p))
        shared.append((two.difference, two.p))
    found["each run its own"] = tuple(np.array(own).T)
    found["intersection"] = tuple(np.array(shared).T)
    return {
        way: (
            float(np.mean(d)),
            float(np.mean((p <= ALPHA) & (d > 0))),
            float(np.mean((p <= ALPHA) & (d < 0))),
        )
        for way, (d, p) in found.items()
    }


def looks_table(asked: argparse.Namespace) -> Made:
    """Habits that make a difference of nothing."""
    rows: Rows = []
    looked, sided, tried = [], [], []
    for first in range(0, asked.runs, 250):
        rng = np.random.default_rng((asked.seed, 29, first))
        sets = min(250, asked.runs - first)
        differences = Changes(KINDS["re-training"], LOOKS * STEP, sets, rng, 1).base.differences[
            ..., 0
        ]
        looked.append(
            np.array(
                [
                    tails(differences[: STEP * (look + 1)], rng, draws=1999).both[0]
                    for look in range(LOOKS)
                ]
            )
        )
        found = tails(differences[:200], rng)
        sided.append(np.minimum(found.less, found.greater)[0])
        baseline, runs = runs_of(200, sets, max(TRIES), rng, 1)
        each = (runs - baseline[:, :, None])[..., 0].reshape(200, -1)
        p = tails(each, rng, draws=1999).both[0]
        tried.append(np.where(each.mean(axis=0) > 0, p, 1.0).reshape(sets, -1))
    p_looks = np.concatenate(looked, axis=1)
    rows += [
        (
            f"test after every {STEP} queries, {look} in all",
            float((p_looks[:look] <= ALPHA).any(axis=0).mean()),
        )
        for look in (1, 2, 5, LOOKS)
    ]
    rows.append(
        (
            "choose the side after the fact, then test one-sided",
            float((np.concatenate(sided) <= ALPHA).mean()),
        )
    )
    p_tries = np.concatenate(tried)
    rows += [
        (f"report the best of {tries} trainings as better", _any(p_tries[:, :tries]))
        for tries in TRIES
    ]
    rows += [
        (f"the best of {tries}, by Holm's method", _any(holm(p_tries[:, :tries])))
        for tries in TRIES[-2:]
    ]
    return (
        "looks",
        ("habit", "called different"),
        rows,
        f"{asked.runs:,} sets without any difference; the last on 200 queries.",
    )


def _any(p: FloatArray) -> float:
    """Share of the rows with a significant result."""
    return float((p <= ALPHA).any(axis=1).mean())


def draws_table(asked: argparse.Namespace) -> Made:
    """How often two seeds decide differently."""
    rng = np.random.default_rng((asked.seed, 31))
    p = []
    for errors in (0.0, 2.0):
        changes = Changes(KINDS["re-training"], 200, asked.runs // 2, rng, 1)
        drop = errors * float(changes.base.differences.std()) / 200**0.5
        counted = tails(changes.dropped(drop).differences[..., 0], rng, draws=9999).both[0]
        # p itself lies between two of its estimates
        p.append(counted - 2 * rng.random(counted.shape) / 10_000)
    rows: Rows = []
    for draws in (1000, 10_000, 100_000):
        significant = [
            bdtr(np.floor(ALPHA * (draws + 1)) - 1, draws, np.clip(part, 0, 1)) for part in p
        ]
        other = [float((2 * share * (1 - share)).mean()) for share in significant]
        rows.append(
            (draws, *other, f"{(ALPHA * (1 - ALPHA) / draws) ** 0.5:.5f}", f"{1 / (draws + 1):.6f}")
        )
    head = (
        "draws",
        "other decision, no difference",
        "other decision, two standard errors",
        "error of p at 0.05",
        "smallest p",
    )
    return "draws", head, rows, "Exact binomial chances over simulated p values."


def level_table(_asked: argparse.Namespace) -> Made:
    """Queries for a difference of 0.02 at a standard deviation of 0.14 a query."""
    rows: Rows = [
        (f"{1 - alpha:g}", f"{power:g}", queries_needed(0.02, 0.14, alpha=alpha, power=power))
        for alpha in (0.1, 0.05, 0.01)
        for power in (0.5, 0.8, 0.9)
    ]
    return (
        "level",
        ("level", "power", "queries needed"),
        rows,
        "For a difference of 0.02 with a standard deviation of 0.14 a query.",
    )
