"""The script on judgments that do not reach: its pools, its gains and rates by hand, its test against the library's, and its rule."""

import importlib
import json
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.stats import binomtest

import idealrank as ir
from idealrank import stats
from tests.conftest import ROOT

MODULES = ("judgment_reach", "judged_pools")


class Scripts(NamedTuple):
    reach: Any
    pools: Any


@pytest.fixture(scope="module")
def scripts() -> Iterator[Scripts]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "experiments")
        yield Scripts(*(importlib.import_module(name) for name in MODULES))
    for name in (*MODULES, "models"):
        sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def drawn(scripts) -> Any:
    return scripts.pools.bank(scripts.pools.WORLDS["some relevant"], 120, np.random.default_rng(1))


@pytest.mark.parametrize("measure", ["nDCG@10", "P@10"])
def test_values_are_those_of_the_library(scripts, drawn, measure: str) -> None:
    """As judged by a pool, the difference of each query is what `evaluate` gives."""
    judged = scripts.pools.judged_by(drawn, scripts.pools.POOLS["A 12, B 4"])
    of = scripts.pools.sample(drawn, judged, measure)
    qrels: dict[str, dict[str, int]] = {}
    runs: list[dict[str, dict[str, float]]] = [{}, {}]
    for query in range(120):
        name = f"q{query:03}"
        qrels[name] = {f"d{at:03}": int(drawn.grades[query, at]) for at in np.flatnonzero(judged[query])}
        for side in (0, 1):
            top = np.flatnonzero(drawn.ranks[query, side] < 10)
            runs[side][name] = {f"d{at:03}": -float(drawn.ranks[query, side, at]) for at in top}
    a, b = (ir.evaluate(qrels, run, [measure]).values[:, 0] for run in runs)
    assert of.difference == pytest.approx(b - a, abs=1e-12)


def test_a_pool_that_saw_all_shows_the_truth_of_precision(scripts, drawn) -> None:
    of = scripts.pools.sample(drawn, scripts.pools.judged_by(drawn, {"A": 10, "B": 10}), "P@10")
    assert of.difference == pytest.approx(of.truth, abs=1e-12)
    assert of.a.judged.all()
    assert of.b.judged.all()


def test_ranks_with_few_documents_join_their_neighbours(scripts) -> None:
    counts = np.array([[30, 10, 12, 25, 5, 0, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0, 0, 0, 0, 0]])
    assert scripts.reach.joined(counts).tolist() == [[0, 1, 1, 2, 2, 2, 2, 2, 2, 2], [0] * 10]


def test_a_rate_is_weighted_by_what_the_unjudged_would_add(scripts) -> None:
    """20 of 40 at rank 1 and 5 of 25 at rank 2, at weights 0.75 and 0.25; worth 1 / (0.75^2 / 40 + 0.25^2 / 25) documents."""
    relevant, judged, weights = (np.zeros((1, 10)) for _ in range(3))
    relevant[0, :2], judged[0, :2], weights[0, :2] = (20, 5), (40, 25), (0.75, 0.25)
    share, n = scripts.reach.rate(relevant, judged, weights)
    assert share == pytest.approx([0.75 * 0.5 + 0.25 * 0.2])
    assert n == pytest.approx([1 / (0.75**2 / 40 + 0.25**2 / 25)])


@pytest.mark.parametrize(("found", "n"), [(0, 7), (3, 40), (40, 40)])
def test_limits_are_wilsons(scripts, found: int, n: int) -> None:
    interval = binomtest(found, n).proportion_ci(0.8, method="wilson")
    for z, limit in ((1.2815515655446004, interval.high), (-1.2815515655446004, interval.low)):
        assert scripts.reach.wilson(np.array([found / n]), np.array([n]), z) == pytest.approx([limit], abs=1e-12)


def test_without_a_judged_document_a_share_may_be_anything(scripts) -> None:
    assert scripts.reach.wilson(np.zeros(1), np.zeros(1), 1.3) == pytest.approx([1], abs=1e-6)
    assert scripts.reach.wilson(np.zeros(1), np.zeros(1), -1.3) == pytest.approx([0], abs=1e-6)


def test_a_verdict_is_that_of_the_paired_t(scripts, drawn) -> None:
    of = scripts.pools.sample(drawn, scripts.pools.judged_by(drawn, {"A": 12, "B": 5}), "nDCG@10")
    picked = np.random.default_rng(2).integers(0, 120, (40, 30))
    found = scripts.reach.Replicates(scripts.reach.Columns(of), picked).verdicts()["as judged"]
    test = stats.paired_t(np.zeros((30, 40)), of.difference[picked].T)
    assert (found == np.where(test.p <= 0.05, np.sign(of.difference[picked].mean(axis=1)), 0)).all()
    assert {0, -1} <= set(found)


def test_what_unjudged_documents_add_is_what_grading_them_adds(scripts, drawn) -> None:
    """With every unjudged document relevant, P@10 moves by the number of those that one run alone returns."""
    of = scripts.pools.sample(drawn, scripts.pools.judged_by(drawn, {"A": 6, "B": 4}), "P@10")
    replicates = scripts.reach.Replicates(scripts.reach.Columns(of), np.arange(120)[None, :])
    for side, adds in zip(of.sides, replicates.adds, strict=True):
        assert adds[0] == pytest.approx((~side.judged & side.alone).sum(axis=1) / 10, abs=1e-6)
    assert replicates.shift == pytest.approx(np.zeros((1, 120)), abs=1e-12)


def test_fully_judged_runs_keep_their_verdicts(scripts, drawn) -> None:
    """No rule takes a verdict away where nothing in the first ten is unjudged."""
    of = scripts.pools.sample(drawn, scripts.pools.judged_by(drawn, {"A": 10, "B": 10}), "nDCG@10")
    picked = np.random.default_rng(3).integers(0, 120, (200, 20))
    found = scripts.reach.Replicates(scripts.reach.Columns(of), picked).verdicts()
    assert (found["as judged"] != 0).any()
    for verdict in found.values():
        assert (verdict == found["as judged"]).all()


def test_points_at_which_a_verdict_stands_are_convex(scripts, drawn) -> None:
    """It stands at both ends, hence between them: what lets the rule look at corners alone."""
    of = scripts.pools.sample(drawn, scripts.pools.judged_by(drawn, {"A": 6, "B": 5}), "nDCG@10")
    replicates = scripts.reach.Replicates(scripts.reach.Columns(of), np.random.default_rng(4).integers(0, 120, (300, 25)))
    verdict = replicates.sign(replicates.difference)
    rates = (replicates.rates(0, 1.0), replicates.rates(1, 1.0))

    def at(loser: float, winner: float) -> Any:
        return replicates.stands(
            verdict, lambda lost, _won: scripts.reach.Point(*(share + 0 * lost.point for share in (loser, winner, 0.0))), rates
        )

    ends = at(0.0, 0.0) & at(0.5, 0.4)
    assert ends.any()
    assert not ends.all()
    for share in (0.25, 0.5, 0.75):
        assert at(0.5 * share, 0.4 * share)[ends].all()


def test_queries_can_be_balanced(scripts, drawn) -> None:
    of = scripts.pools.sample(drawn, scripts.pools.judged_by(drawn, {"A": 10}), "nDCG@10")
    chances = scripts.reach.balanced(of.truth)
    assert chances @ of.truth == pytest.approx(0, abs=1e-12)
    assert chances.sum() == pytest.approx(1)


def test_a_small_run(scripts, capsys, monkeypatch) -> None:
    """One world, judged from A's side: the verdict as judged is wrong, the rule's is not; what is hidden for its grade deceives both."""
    monkeypatch.setattr(scripts.reach, "WORLDS", {"some relevant": scripts.pools.WORLDS["some relevant"]})
    monkeypatch.setattr(
        scripts.reach,
        "POOLS",
        {name: scripts.pools.POOLS[name] for name in ("A 10, B 10", "A 12, B 4", "A 6, B 6", "A 4, B 4", "3 others, 10")},
    )
    monkeypatch.setattr(scripts.reach, "CROSSING", {"some relevant": scripts.reach.CROSSING["some relevant"]})
    scripts.reach.main(["--quick", "--queries", "150", "--format", "json"])
    found = json.loads(capsys.readouterr().out)
    cells = {(cell["kind"], cell["measure"], cell["truth"], cell["pool"]): cell for cell in found["cells"]}
    assert len(cells) == 2 * 5 * 5 + 4 * 2 + 3
    biased = cells["pools", "P@10", "better", "A 12, B 4"]
    assert biased["difference"] > 0.02
    assert biased["wrong"]["as judged"] > 0.5
    assert biased["wrong"][found["chosen"]] == 0
    assert cells["hidden", "nDCG@10", "equal", "50% hidden"]["wrong"][found["chosen"]] > 0.2
    for cell in cells.values():
        for rule, share in cell["wrong"].items():
            assert rule in ("all judged", "as judged") or share <= cell["wrong"]["as judged"]
    assert any(line.startswith("| both, 90 % |") for line in scripts.reach.tables(found))


def test_quick_is_a_look(scripts, capsys, monkeypatch) -> None:
    """It sets the numbers of replicates and of queries to draw from."""
    seen: dict[str, Any] = {}
    monkeypatch.setattr(scripts.reach, "cells", lambda asked: seen.update(vars(asked)) or [])
    scripts.reach.main(["--quick", "--format", "json"])
    assert (seen["runs"], seen["bank"], seen["queries"]) == (40, 500, [50, 250])
    assert json.loads(capsys.readouterr().out)["cells"] == []
