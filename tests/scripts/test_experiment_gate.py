"""The script on gates: its truths, its p values against the library's, its rule against a gate, and
the page.
"""

import importlib
import json
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.special import betainc

import idealrank as ir
from idealrank import stats
from tests.conftest import ROOT

MODULES = ("gate_simulation", "gate_erosion", "simulated_changes", "sign_flips")


SEEN = {"data": "x", "queries": 50, "promised": 0.1, "alike": 0.8, "caught": 0.7, "actual": 0.1}


class Scripts(NamedTuple):
    gate: Any
    erosion: Any
    changes: Any
    flips: Any


@pytest.fixture(scope="module")
def scripts() -> Iterator[Scripts]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "experiments")
        yield Scripts(*(importlib.import_module(name) for name in MODULES))
    for name in (*MODULES, "interval_coverage", "models"):
        sys.modules.pop(name, None)


def test_values_have_their_law(scripts) -> None:
    """A quarter 0, a tenth 1, and the distribution function of Beta(1.2, 1.8) between."""
    values = scripts.changes.value_of(np.random.default_rng(1).standard_normal(200_000))
    assert (values == 0).mean() == pytest.approx(0.25, abs=0.004)
    assert (values == 1).mean() == pytest.approx(0.1, abs=0.004)
    assert values.mean() == pytest.approx(0.36, abs=0.003)
    for at in (0.1, 0.5, 0.9):
        assert (values <= at).mean() == pytest.approx(
            0.25 + 0.65 * betainc(1.2, 1.8, at), abs=0.004
        )


def test_lopsided_changes_are_harmless_and_lopsided(scripts) -> None:
    """Mean 0 within four standard errors; 15 % of what differs are gains, and large."""
    for touched in (0.2, 1.0):
        found = scripts.changes.lopsided((400, 500), np.random.default_rng(15), touched)
        assert abs(found.mean()) < 4 * found.std() / 200_000**0.5
        assert (found != 0).mean() == pytest.approx(touched, abs=0.005)
        assert (found > 0).sum() / (found != 0).sum() == pytest.approx(0.15, abs=0.01)
        assert found[found > 0].min() > 0.3
        assert found.min() > -0.23


@pytest.mark.parametrize("name", ["small change", "re-training", "real rankings"])
def test_changes_drop_by_what_they_say(scripts, name: str) -> None:
    """Means within four standard errors; untouched queries keep their values; only some of the
    measures lose if so asked.
    """
    kind = scripts.changes.KINDS[name]
    changes = scripts.changes.Changes(kind, 100, 400, np.random.default_rng(2))
    for drop in (0.0, 0.02, 0.05):
        differences = changes.dropped(drop).differences
        means = differences.mean(axis=(0, 1))
        error = differences.std(axis=(0, 1)) / 200
        assert abs(means[0] + drop) < 4 * error[0]
        assert (np.isfinite(changes.order) | (differences == 0).all(axis=2)).all()
    one = changes.dropped(0.05, slice(0, 1)).differences.mean(axis=(0, 1))
    assert one[0] < -0.04
    assert abs(one[1:]).max() < 0.005
    assert (differences == 0).all(axis=2).mean() > 0.95 * (1 - kind.touched)
    with pytest.raises(ValueError, match="at most"):
        changes.dropped(0.5)


@pytest.mark.slow
def test_p_values_are_those_of_the_library(scripts) -> None:
    """Exact ones to the last digits; drawn ones within four standard errors of 2,999 draws; for
    every null and side.
    """
    differences = scripts.changes.Changes(
        scripts.changes.KINDS["small change"], 60, 12, np.random.default_rng(3)
    ).dropped(0.02)
    columns = differences.differences.reshape(60, -1)
    nulls = (0.0, -0.01)
    found = scripts.flips.tails(columns, np.random.default_rng(4), nulls)
    for at, null in enumerate(nulls):
        for side in ("less", "greater"):
            ours = getattr(found, side)[at]
            test = stats.permutation_test(
                np.zeros_like(columns),
                columns,
                alternative=side,
                null=null,
                n_resamples=20_000,
                rng=5,
            )
            error = np.sqrt(test.p * (1 - test.p) * (1 / 2999 + 1 / 20_000))
            assert (np.abs(ours - test.p) < 4 * error + 1e-3).all()
            listed = test.n_nonzero <= 12
            assert listed.sum() == (0 if null else (np.count_nonzero(columns, axis=0) <= 12).sum())
            assert ours[listed] == pytest.approx(test.p[listed], abs=1e-12)
    two_sided = stats.permutation_test(np.zeros_like(columns), columns, n_resamples=20_000, rng=5).p
    assert found.both[0] == pytest.approx(two_sided, abs=0.04)


def test_p_values_corrected_together_are_those_of_the_library(scripts) -> None:
    """Exact ones to the last digits; drawn ones within four standard errors of the draws."""
    changes = (
        scripts.changes.Changes(
            scripts.changes.KINDS["small change"], 60, 12, np.random.default_rng(3)
        )
        .dropped(0.02)
        .differences
    )
    found = scripts.flips.together(changes, np.random.default_rng(4))
    listed = 0
    for family, ours in enumerate(found):
        differences = changes[:, family]
        test = stats.simultaneous(differences, alternative="less", n_resamples=20_000, rng=5)
        error = np.sqrt(test.p * (1 - test.p) * (1 / 2999 + 1 / 20_000))
        assert (np.abs(ours - test.p) < 4 * error + 1e-3).all()
        if (differences != 0).any(axis=1).sum() <= 12:
            listed += 1
            assert ours == pytest.approx(test.p, abs=1e-12)
    assert 0 < listed < len(found)


def test_holm_is_that_of_the_library(scripts) -> None:
    p = np.random.default_rng(6).random((50, 7)) ** 3
    assert scripts.flips.holm(p) == pytest.approx(
        np.array([stats.adjust(row) for row in p]), abs=1e-15
    )


def test_identical_runs_raise_no_alarm(scripts) -> None:
    """Nothing differs: no rule blocks, the strict ones pass, whatever the number of queries."""
    nothing = np.zeros((50, 4, 3))
    found = scripts.gate.tested(nothing, np.random.default_rng(7), scripts.gate.NULLS)
    assert not any(rule(nothing, found).any() for rule in scripts.gate.RULES.values())


@pytest.mark.slow
def test_a_small_run(scripts, capsys, monkeypatch) -> None:
    monkeypatch.setattr(scripts.erosion, "CHANGES", 12)
    scripts.gate.main(["--runs", "60", "--chains", "4", "--queries", "50", "--format", "json"])
    found = json.loads(capsys.readouterr().out)
    rows = {(row["data"], row["rule"]): row["share"] for row in found["rules"]}
    assert len(rows) == 27
    for name in scripts.changes.KINDS:
        assert rows[name, "mean drops at all"][0] > 0.3
        assert rows[name, "gate, 1 measure"][0] < 0.25
        assert rows[name, "gate, 1 measure"][-1] > 0.25
        assert (
            rows[name, "gate, 1 measure"][0]
            <= rows[name, "gate, --also 2 more"][0]
            <= rows[name, "gate, 3, uncorrected"][0]
        )
        assert rows[name, "strict, margin 0.01"][0] >= rows[name, "strict, margin 0.02"][0]
    assert {row["baselines"] for row in found["erosion"]} == set(scripts.erosion.BASELINES)
    assert all(
        row["passes"]["Holm"] <= row["passes"]["every p <= alpha"] for row in found["strict"]
    )
    lines = scripts.gate.tables(found)
    assert sum(line.startswith("| ") for line in lines) == 3 * 10 + 5 + 4 + 4 + 9
    assert "60 changes a row" in lines[-1]
    assert [row["touched"] for row in found["lopsided"]] == [0.2, 1.0, 0.2, 1.0]
    assert found["lopsided"][0]["gate"] > found["lopsided"][2]["gate"]


def test_quick_is_a_look(scripts, capsys, monkeypatch) -> None:
    """It sets the numbers of changes, and the tables come out."""
    seen = {}
    monkeypatch.setattr(
        scripts.gate,
        "rows_of",
        lambda _name, _queries, asked: seen.update(vars(asked)) or ([], scripts.gate.Seen(**SEEN)),
    )
    monkeypatch.setattr(scripts.gate, "strict_rows", lambda _asked: [])
    monkeypatch.setattr(scripts.gate, "erosion", lambda *_: [])
    scripts.gate.main(["--quick"])
    assert (seen["runs"], seen["chains"], seen["queries"]) == (100, 20, [50, 200, 1000])
    assert "**erosion**" in capsys.readouterr().out


def test_best_so_far_is_the_highest_of_what_was_merged(scripts) -> None:
    chains = scripts.erosion.Chains(30, 5, np.random.default_rng(8))
    pinned, highest = chains.pinned.copy(), chains.merged.mean(axis=0)
    for step in range(6):
        candidate, passes = chains.candidate(0.002), np.arange(5) != step
        before = chains.merged.copy()
        chains.merge(candidate, 0.002, passes)
        assert (chains.merged[:, ~passes] == before[:, ~passes]).all()
        highest = np.maximum(highest, chains.merged.mean(axis=0))
    assert chains.best.mean(axis=0) == pytest.approx(highest, abs=1e-15)
    assert (chains.pinned == pinned).all()
    assert chains.truth == pytest.approx(0.36 - 0.002 * np.array([5, 5, 5, 5, 5]), abs=1e-12)


def test_the_page_has_the_rows_that_a_run_prints(scripts) -> None:
    """Shares of the page against 300 changes, within four standard errors of both."""
    page = (ROOT / "docs" / "concepts" / "gate-simulation.md").read_text(encoding="utf-8")
    lines = page.split("\n**re-training**\n")[1].splitlines()[3:30]
    table = {
        tuple(cells[:2]): cells[2:]
        for cells in ([cell.strip() for cell in line.split("|")[1:-1]] for line in lines)
    }
    changes = scripts.changes.Changes(
        scripts.changes.KINDS["re-training"], 200, 300, np.random.default_rng(9)
    )
    for at, drop in enumerate(scripts.gate.DROPS[:3]):
        differences = changes.dropped(drop).differences
        found = scripts.gate.tested(differences, np.random.default_rng(10), scripts.gate.NULLS)
        for rule, decide in scripts.gate.RULES.items():
            cell = table["200", rule][at]
            share = float(cell.rstrip("%")) / 100 if at else float(cell) / scripts.gate.A_YEAR
            assert decide(differences, found).mean() == pytest.approx(
                share, abs=4 * (share * (1 - share) / 260) ** 0.5 + 0.01
            )


@pytest.mark.slow
def test_the_rules_decide_as_a_gate_does(scripts) -> None:
    """The demo's lists, reordered a little and thoroughly, before `idealrank.gate` and before the
    rules of the script.
    """
    qrels, ranked = scripts.changes.demo()
    rng = np.random.default_rng(11)
    versions = {
        query: scripts.changes.reordered(ranking, 0.5, rng, 4) for query, ranking in ranked.items()
    }
    none = {
        query: scripts.changes.reordered(ranking, None, rng, 1)[0]
        for query, ranking in ranked.items()
    }
    asked = {
        "gate, 1 measure": (1, {}),
        "gate, --also 2 more": (3, {}),
        "gate, tolerance 0.01": (1, {"tolerance": 0.01}),
        "strict, margin 0.02": (1, {"strict": True, "margin": 0.02}),
        "strict 0.02, 3 measures": (3, {"strict": True, "margin": 0.02}),
    }
    decided = []
    for number, worse in ((1, 0.0), (2, 0.1), (3, 0.3)):
        touched, lost = rng.random(60) < 0.6, rng.random(60) < worse
        lists = {
            q: none[q] if lost[at] else versions[q][number if touched[at] else 0]
            for at, q in enumerate(ranked)
        }
        before, after = (
            ir.evaluate(qrels, run, scripts.changes.REAL_MEASURES)
            for run in ({q: v[0] for q, v in versions.items()}, lists)
        )
        differences = (after.values - before.values)[:, None, :]
        found = scripts.gate.tested(differences, np.random.default_rng(12), scripts.gate.NULLS)
        for rule, (measures, options) in asked.items():
            asked_for = scripts.changes.REAL_MEASURES[:measures]
            verdict = ir.gate(
                after, before, measures=asked_for, also=asked_for[1:], rng=13, **options
            )
            assert verdict.passed == (not scripts.gate.RULES[rule](differences, found)[0]), (
                rule,
                worse,
            )
            decided.append(verdict.passed)
    assert {True, False} == set(decided)


def test_a_strict_gate_by_t_would_pass_as_many(scripts) -> None:
    """Drops of just the margin by lost queries, 50 of them: both pass more than 5 %, and hardly
    differ.
    """
    changes = scripts.changes.Changes(
        scripts.changes.KINDS["real rankings"], 50, 1000, np.random.default_rng(16), 1
    )
    differences = changes.dropped(0.02).differences[..., 0]
    flips = scripts.flips.tails(differences, np.random.default_rng(17), (-0.02,)).greater[0]
    t = stats.non_inferiority(np.zeros_like(differences), differences, margin=0.02).p
    assert ((flips <= 0.05) != (t <= 0.05)).mean() < 0.02
    assert min((flips <= 0.05).mean(), (t <= 0.05).mean()) > 0.09


def test_what_a_gate_could_have_seen_is_detectable(scripts) -> None:
    qrels, ranked = scripts.changes.demo()
    rng = np.random.default_rng(14)
    runs = [
        {
            query: scripts.changes.reordered(ranking, 0.5, rng, 1)[0]
            for query, ranking in ranked.items()
        }
        for _ in range(2)
    ]
    before, after = (ir.evaluate(qrels, run, "nDCG@10") for run in runs)
    assert ir.gate(after, before).checks[0].detectable == pytest.approx(
        scripts.gate.stated(after.values - before.values), rel=1e-9
    )
