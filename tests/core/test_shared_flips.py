"""Shared sign flips: the numbers of plain ones, and each column is summed once."""

import dataclasses
from typing import Any

import numpy as np
import pytest

import idealrank as ir
from idealrank.stats import sign_flips
from idealrank.stats.comparison import Plan, compare_columns
from idealrank.stats.design import Design
from idealrank.stats.multiple_tests import simultaneous
from idealrank.stats.sign_flips import Flips, KeptFlips, SharedFlips

RNG = np.random.default_rng(3)
COLUMNS = RNG.integers(-50, 50, (37, 6)).astype(np.float64)
A = RNG.random((37, 4))
B = A + RNG.normal(0.02, 0.1, A.shape)


def sums(flips: Flips, columns: Any, draws: int) -> list[list[float]]:
    blocks = list(flips.map(columns, draws, np.copy, threads=2))
    parts = list(
        flips.map_parts(
            columns,
            draws,
            lambda parts: np.concatenate([sums for _, sums in parts], axis=1),
            threads=1,
        )
    )
    assert [block.tolist() for block in parts] == [block.tolist() for block in blocks]
    found: list[list[float]] = np.concatenate(blocks).tolist()
    return found


@pytest.mark.parametrize("draws", [1, 2048, 5000])
def test_kept_sums_are_those_of_plain_flips(draws: int, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = KeptFlips(37, 5)
    for columns in (COLUMNS[:, :2], COLUMNS, COLUMNS[:, [4, 1]], np.repeat(COLUMNS, 6, axis=1)):
        assert sums(kept, columns, draws) == sums(Flips(37, 5), columns, draws)
    monkeypatch.setattr(sign_flips, "_MOST_COLUMNS", 3)  # of more, none is kept
    assert sums(KeptFlips(37, 5), COLUMNS, draws) == sums(Flips(37, 5), COLUMNS, draws)


def test_more_draws_than_are_kept_are_made_anew() -> None:
    kept = KeptFlips(37, 5)
    assert sums(kept, COLUMNS, 100) == sums(Flips(37, 5), COLUMNS, 100)
    assert sums(kept, COLUMNS, 3000) == sums(Flips(37, 5), COLUMNS, 3000)


def test_a_column_is_summed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    widths: list[int] = []
    plain = Flips._sums

    def noted(self: Flips, columns: Any, block: int) -> Any:
        widths.append(columns.shape[1])
        return plain(self, columns, block)

    monkeypatch.setattr(Flips, "_sums", noted)
    kept = KeptFlips(37, 5)
    for columns in (COLUMNS[:, :2], COLUMNS, COLUMNS[:, 1:]):
        list(kept.map(columns, 10, np.copy))
    assert widths == [2, 4]


def test_tests_by_shared_flips_are_those_by_their_seed() -> None:
    plan = Plan(n_resamples=5000, seed=7, margin=0.05)
    shared = dataclasses.replace(plan, flips=SharedFlips(7))
    for columns in (slice(1), slice(1, None), slice(None)):
        by_flips, by_seed = (
            [
                row._replace(changes=row.changes.sizes.tolist())
                for row in compare_columns(A[:, columns], B[:, columns], Design.of(37), one)
            ]
            for one in (shared, plan)
        )
        assert by_flips == by_seed
        ours, plain = (
            simultaneous((B - A)[:, columns], rng=rng, n_resamples=5000)
            for rng in (shared.rng, plan.rng)
        )
        assert [ours.p.tolist(), ours.low.tolist(), ours.high.tolist()] == [
            plain.p.tolist(),
            plain.low.tolist(),
            plain.high.tolist(),
        ]


def test_columns_kept_together_are_not_summed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = KeptFlips(37, 5)
    kept.keep(COLUMNS, 3000, threads=2)
    monkeypatch.setattr(Flips, "_sums", None)
    found = [
        np.concatenate(list(kept.map(columns, 3000, np.copy))).tolist()
        for columns in (COLUMNS[:, :2], COLUMNS)
    ]
    monkeypatch.undo()
    assert found == [
        np.concatenate(list(Flips(37, 5).map(columns, 3000, np.copy))).tolist()
        for columns in (COLUMNS[:, :2], COLUMNS)
    ]


def test_the_columns_of_a_comparison_are_summed_together(monkeypatch: pytest.MonkeyPatch) -> None:
    widths: list[int] = []
    plain = Flips._sums

    def noted(self: Flips, columns: Any, block: int) -> Any:
        widths.append(columns.shape[1])
        return plain(self, columns, block)

    monkeypatch.setattr(Flips, "_sums", noted)
    qrels = {f"q{number}": {f"d{place}": 1 for place in range(5)} for number in range(60)}
    runs = (
        {query: [f"d{place}" for place in RNG.permutation(12)] for query in qrels} for _ in range(2)
    )
    ir.compare(qrels, *runs, measures=["nDCG@10", "AP", "P@5"], n_resamples=4000)
    assert widths == [4, 4]  # three measures and the weights, in two blocks of draws
