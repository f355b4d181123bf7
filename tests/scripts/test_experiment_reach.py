"""The script on too few judgments: its pools, its gains and rates by hand, its test against the
library's, and its rule.
"""

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
from idealrank.analysis.comparison.places import Places, matches, unjudged_keys
from idealrank.analysis.comparison.query_table import queries_of, rows_in
from idealrank.analysis.comparison.reach import Reach
from idealrank.analysis.comparison.tipping import Question, Tipping, critical_t, tipping_point
from idealrank.stats.design import Design
from tests.conftest import ROOT

MODULES = ("judgment_reach", "judged_pools", "judged_rates", "judgment_tables")


class Scripts(NamedTuple):
    reach: Any
    pools: Any
    rates: Any
    tables: Any


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


@pytest.mark.parametrize("measure", ["nDCG@10", "P@10", "RR@10"])
def test_values_are_those_of_the_library(scripts, drawn, measure: str) -> None:
    """As judged by a pool, the difference of each query is what `evaluate` gives."""
    judged = scripts.pools.judged_by(drawn, scripts.pools.POOLS["A 12, B 4"])
    of = scripts.pools.sample(drawn, judged, measure)
    qrels: dict[str, dict[str, int]] = {}
    runs: list[dict[str, dict[str, float]]] = [{}, {}]
    for query in range(120):
        name = f"q{query:03}"
        qrels[name] = {
            f"d{at:03}": int(drawn.grades[query, at]) for at in np.flatnonzero(judged[query])
        }
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
    assert scripts.rates.joined(counts).tolist() == [[0, 1, 1, 2, 2, 2, 2, 2, 2, 2], [0] * 10]


def test_a_rate_is_weighted_by_what_the_unjudged_would_add(scripts) -> None:
    """20 of 40 at rank 1 and 5 of 25 at rank 2, at weights 0.75 and 0.25; worth 1 / (0.75^2 / 40 +
    0.25^2 / 25) documents.
    """
    relevant, judged, weights = (np.zeros((1, 10)) for _ in range(3))
    relevant[0, :2], judged[0, :2], weights[0, :2] = (20, 5), (40, 25), (0.75, 0.25)
    share, n = scripts.rates.rate(relevant, judged, weights)
    assert share == pytest.approx([0.75 * 0.5 + 0.25 * 0.2])
    assert n == pytest.approx([1 / (0.75**2 / 40 + 0.25**2 / 25)])


@pytest.mark.parametrize(("found", "n"), [(0, 7), (3, 40), (40, 40)])
def test_limits_are_wilsons(scripts, found: int, n: int) -> None:
    interval = binomtest(found, n).proportion_ci(0.8, method="wilson")
    for z, limit in ((1.2815515655446004, interval.high), (-1.2815515655446004, interval.low)):
        assert scripts.rates.wilson(np.array([found / n]), np.array([n]), z) == pytest.approx(
            [limit], abs=1e-12
        )


def test_without_a_judged_document_a_share_may_be_anything(scripts) -> None:
    assert scripts.rates.wilson(np.zeros(1), np.zeros(1), 1.3) == pytest.approx([1], abs=1e-6)
    assert scripts.rates.wilson(np.zeros(1), np.zeros(1), -1.3) == pytest.approx([0], abs=1e-6)


def test_a_verdict_is_that_of_the_paired_t(scripts, drawn) -> None:
    of = scripts.pools.sample(drawn, scripts.pools.judged_by(drawn, {"A": 12, "B": 5}), "nDCG@10")
    picked = np.random.default_rng(2).integers(0, 120, (40, 30))
    found = scripts.reach.Replicates(scripts.reach.Columns(of), picked).verdicts()["as judged"]
    test = stats.paired_t(np.zeros((30, 40)), of.difference[picked].T)
    assert (found == np.where(test.p <= 0.05, np.sign(of.difference[picked].mean(axis=1)), 0)).all()
    assert {0, -1} <= set(found)


def test_what_unjudged_documents_add_is_what_grading_them_adds(scripts, drawn) -> None:
    """With every unjudged document relevant, P@10 moves by the number of those that one run alone
    returns.
    """
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
    replicates = scripts.reach.Replicates(
        scripts.reach.Columns(of), np.random.default_rng(4).integers(0, 120, (300, 25))
    )
    verdict = scripts.reach.significant(replicates.difference)
    rates = (replicates.rates(0), replicates.rates(1))

    def at(loser: float, winner: float) -> Any:
        return replicates.stands(
            verdict,
            lambda lost, _won: scripts.reach.Point(
                *(share + 0 * lost.upper for share in (loser, winner, 0.0))
            ),
            rates,
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


class Seen(NamedTuple):
    """A cell as files have it: judgments and both lists of each query."""

    qrels: list[dict[str, int]]
    runs: tuple[list[list[str]], list[list[str]]]


def seen(drawn: Any, judged: Any) -> Seen:
    """Judgments and lists of ten with document ids, query by query."""
    qrels = [
        {f"d{at}": int(drawn.grades[query, at]) for at in np.flatnonzero(known)}
        for query, known in enumerate(judged)
    ]
    order = np.argsort(drawn.ranks[:, :2], axis=2, kind="stable")[:, :, :10]
    return Seen(
        qrels, tuple([[f"d{at}" for at in top] for top in order[:, side]] for side in (0, 1))
    )  # type: ignore[arg-type]


def evaluated(of: Seen, picked: Any, measure: str) -> list[Any]:
    """Both runs on queries drawn with replacement, each draw a query of its own."""
    names = [f"q{place:03}" for place in range(len(picked))]
    qrels = ir.Qrels({name: of.qrels[query] for name, query in zip(names, picked, strict=True)})
    lists = (
        {name: run[query] for name, query in zip(names, picked, strict=True)} for run in of.runs
    )
    return [ir.evaluate(qrels, one, measure, keep_unjudged=True) for one in lists]


def reach_of(evaluations: list[Any], declared: float | None = None) -> Reach:
    queries = queries_of(evaluations)
    rows = [rows_in(one, queries) for one in evaluations]
    places = [
        Places.of(one, one.measures[0], at) for one, at in zip(evaluations, rows, strict=True)
    ]
    assert all(isinstance(one, Places) for one in places), places
    matched = matches(*(unjudged_keys(one, at) for one, at in zip(evaluations, rows, strict=True)))
    return Reach.of(*places, len(queries), matched, sampled_negatives=declared)  # type: ignore[arg-type]


def thinned(scripts: Scripts, drawn: Any, pool: str) -> tuple[Any, Any]:
    """Documents that a pool judges, or both first tens; with new documents, the bank has them,
    too.
    """
    if pool in scripts.pools.POOLS:
        return drawn, scripts.pools.judged_by(drawn, scripts.pools.POOLS[pool])
    (found,) = (
        (of, judged) for name, of, judged in scripts.reach._thinned(drawn, (7,)) if name == pool
    )
    return found


# Among them one where the common share decides, one where the limits of each run do, and one with
# documents taken as new.
CELLS = (
    ("some relevant", "A 12, B 6", "nDCG@10", 0.1),
    ("many relevant", "A 6, B 6", "P@10", 0.2),
    ("few relevant", "A 4, B 4", "nDCG@10", 0.2),
    ("few relevant", "1 other, 10", "nDCG@10", 0.2),
    ("few relevant", "relative of A, 20", "nDCG@10", 0.0),
    ("many relevant", "A 10, B 10", "nDCG@10", 0.2),
    ("some relevant", "A 6, B 6", "RR@10", 0.2),
    ("some relevant", "2 others, 20", "RR@10", 0.3),
    ("some relevant", "15% of B's new", "P@10", -0.1),
    ("some relevant", "15% of B's new", "RR@10", -0.2),
    ("some relevant", "40% of B's new", "nDCG@10", -0.1),
    ("some relevant", "10% at random", "RR@10", 0.2),
    ("some relevant", "30% of negatives", "P@10", 0.2),
    ("some relevant", "30% of negatives, declared", "P@10", 0.2),
    ("some relevant", "30% of negatives, declared", "RR@10", 0.2),
)


@pytest.mark.slow
def test_the_library_decides_as_the_script(scripts) -> None:
    """Verdicts, rates, documents behind them, limits, and what unjudged documents would add, of the
    same queries.
    """
    verdicts_seen, new = set(), 0
    for world, pool, measure, better in CELLS:
        kind = scripts.pools.WORLDS[world]
        drawn = scripts.pools.bank(
            kind,
            50,
            np.random.default_rng(5),
            seen_b=tuple(value * (1 + better) for value in kind.seen),
        )
        drawn, judged = thinned(scripts, drawn, pool)
        declared = scripts.reach.KEPT_NEGATIVES if pool == scripts.reach.DECLARED else None
        given = seen(drawn, judged)
        # Where nothing relevant is judged, the script lets unjudged documents add nothing; the
        # library lets them create an ideal.
        rated = np.flatnonzero([max(grades.values(), default=0) > 0 for grades in given.qrels])
        picked = rated[np.random.default_rng(6).integers(0, rated.size, (3, 50))]
        columns = scripts.reach.Columns(scripts.pools.sample(drawn, judged, measure), declared)
        replicates = scripts.reach.Replicates(columns, picked)
        verdicts = replicates.verdicts()
        for at, queries in enumerate(picked):
            pair = evaluated(given, queries, measure)
            row = ir.compare(*pair, test="t")[measure]
            tipping, reach = tipping_of(pair, row, declared), reach_of(pair)
            verdict = row.verdict if declared is None else plain(verdicts["as judged"][at], tipping)
            assert {"better": 1, "worse": -1}.get(verdict, 0) == verdicts[scripts.tables.CHOSEN][at]
            assert (verdict == WITHHELD) == (
                verdicts["as judged"][at] != verdicts[scripts.tables.CHOSEN][at]
            )
            held_alike(replicates, at, tipping, 0 if row.difference > 0 else 1)
            moved_alike(replicates, at, reach)
            verdicts_seen.add((verdict, declared))
            new += (
                replicates.rates(1, "by gaps").upper[at]
                > replicates.rates(1, "smaller").upper[at] + 1e-9
            )
    assert {
        ("better", None),
        ("undecided", None),
        (WITHHELD, None),
        ("better", 0.3),
    } <= verdicts_seen
    assert new >= 6


WITHHELD = "too few judgments"


def tipping_of(pair: list[Any], row: Any, declared: float | None) -> Tipping:
    """That of the comparison, or under a declared sampling of documents that are not relevant."""
    if declared is None:
        return row.tipping
    differences = pair[1].values[:, 0] - pair[0].values[:, 0]
    n = differences.size
    question = Question(critical_t(0.05, n - 1, 2))
    return tipping_point(
        reach_of(pair, declared), differences, np.ones(n, bool), Design.of(n), question
    )


def plain(sign: int, tipping: Tipping) -> str:
    """Verdict of a sign as judged, given whether the judgments carry it."""
    return {0: "undecided"}.get(
        sign, WITHHELD if not tipping.reaches else {1: "better", -1: "worse"}.get(sign, "")
    )


def moved_alike(replicates: Any, at: int, reach: Reach) -> None:
    """Contributions of unjudged documents in one replicate: all of either run's own, and half of
    all.
    """
    n = len(replicates.difference)
    for share_a, share_b, both in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.5, 0.5, 0.5)):
        moved = replicates.moved(*(np.full(n, share) for share in (share_a, share_b, both)))[at]
        assert reach.moved(share_a, share_b, both=both > 0) == pytest.approx(moved, abs=1e-6)


def held_alike(replicates: Any, at: int, found: Tipping, behind: int) -> None:
    """Rates and limits of one replicate; those of a run without unjudged documents are None here
    and 0 there.
    """
    rates = [replicates.rates(run) for run in (behind, 1 - behind)]
    theirs, ahead = (type(one)(*(column[at] for column in one)) for one in rates)
    assert found.likely == pytest.approx(theirs.upper, abs=1e-6)
    assert found.likely_ahead == pytest.approx(ahead.lower, abs=1e-6)
    assert found.likely_both == pytest.approx(max(theirs.upper, ahead.upper), abs=1e-6)
    if (found.unjudged_a, found.unjudged_b)[behind] + found.unjudged_both:
        assert found.rate_judged == pytest.approx(theirs.among_judged, abs=1e-6)
        assert found.rate_exclusive == pytest.approx(theirs.among_alone, abs=1e-6)
        assert found.n_exclusive == round(theirs.n_alone)
    else:
        assert (found.rate_judged, found.rate_exclusive, found.n_exclusive) == (None, None, 0)


@pytest.mark.slow
def test_a_small_run(scripts, capsys, monkeypatch) -> None:
    """One world, judged from A's side: the verdict as judged is wrong, the rule's is not; what is
    hidden for its grade deceives both.
    """
    monkeypatch.setattr(
        scripts.reach, "WORLDS", {"some relevant": scripts.pools.WORLDS["some relevant"]}
    )
    monkeypatch.setattr(
        scripts.reach,
        "POOLS",
        {name: scripts.pools.POOLS[name] for name in SMALL},
    )
    monkeypatch.setattr(
        scripts.reach, "CROSSING", {"some relevant": scripts.reach.CROSSING["some relevant"]}
    )
    scripts.reach.main(["--quick", "--queries", "150", "--format", "json"])
    found = json.loads(capsys.readouterr().out)
    cells = {
        (cell["kind"], cell["measure"], cell["truth"], cell["pool"]): cell
        for cell in found["cells"]
    }
    pools, missing, crossing, hidden, positive = (
        7 * 2 * 4 + 4 * 3,
        7 * 3 * 3,
        6 * 2,
        3 * 3,
        6 * 3 * 3,
    )
    assert len(cells) == pools + missing + crossing + hidden + positive
    new = cells["missing", "P@10", "equal", "40% of B's new"]["wrong"]
    assert new[found["before"]] > 0.4
    assert new[found["chosen"]] < 0.2
    declared = cells["missing", "nDCG@10", "better", "30% of negatives, declared"]["right"]
    assert declared[found["chosen"]] > declared[found["before"]] + 0.1
    for source in ("A", "clicks on A"):
        labels = cells["positive labels", "RR@10", "better", source]["wrong"]
        assert labels["as judged"] > 0.5
        assert labels[found["chosen"]] == 0
    biased = cells["pools", "P@10", "better", "A 12, B 4"]
    assert biased["difference"] > 0.02
    assert biased["wrong"]["as judged"] > 0.5
    assert biased["wrong"][found["chosen"]] == 0
    assert cells["hidden", "P@10", "equal", "50% hidden"]["wrong"][found["chosen"]] > 0.2
    for cell in cells.values():
        for rule, share in cell["wrong"].items():
            assert rule in ("all judged", "as judged") or share <= cell["wrong"]["as judged"]
    assert any(line.startswith("| old rule |") for line in scripts.tables.tables(found))


SMALL = (
    "A 10, B 10",
    "A 12, B 4",
    "A 6, B 6",
    "A 4, B 4",
    "1 other, 10",
    "2 others, 20",
    "3 others, 10",
)


def rows_of(text: str) -> list[list[str]]:
    return [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in text.split("\n\n")[1].splitlines()[2:]
    ]


def page(name: str) -> str:
    return (ROOT / "docs" / "concepts" / name).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def printed(scripts) -> list[dict[str, Any]]:
    """The cells of the page of cells."""
    found = []
    for part in page("too-few-judgments-cells.md").split("\n**")[1:]:
        title = part.partition("**")[0]
        kind, _, rest = title.partition(": ")
        if kind not in scripts.tables.KINDS:
            continue
        world = rest.removesuffix(", binary").rpartition(", ")[0]
        for row in rows_of(part):
            half = (len(row) - 7) // 2
            rules = (
                scripts.tables.SHOWN
                if half == 4
                else ("all judged", "as judged", scripts.tables.CHOSEN)
            )
            wrong, right = (
                [float(cell) if cell else None for cell in cells]
                for cells in (row[7 : 7 + half], row[7 + half :])
            )
            found.append(
                {
                    "kind": kind,
                    "world": world,
                    "measure": rest[len(world) + 2 :],
                    "truth": row[0],
                    "pool": row[1],
                    "queries": int(row[2]),
                    "wrong": dict(zip(rules, wrong, strict=True)),
                    "right": dict(zip(rules, right, strict=True)),
                }
            )
    return found


def table_after(title: str) -> list[list[str]]:
    text = page("too-few-judgments.md")
    return rows_of("\n\n" + text[text.index(title) :].partition("\n\n")[0])


def test_the_tables_of_the_page_are_those_of_its_cells(scripts, printed) -> None:
    """Largest shares exactly, means of shares to the digits of the cells."""
    assert len(printed) == 852
    groups, tables = len(scripts.tables.GROUPS), scripts.tables
    for title, key, lines, exact in (
        ("| rule |", 1, tables.rivals(printed), 1 + groups),
        ("| pool | queries |", 2, tables.pool_lines(printed), 6),
        ("| pool | measure |", 2, tables.measure_lines(printed, 250), 14),
        ("| labels | measure |", 2, tables.positive_lines(printed, 250), 8),
    ):
        on_page = {tuple(row[:key]): row for row in table_after(title)}
        rows = rows_of("\n\n" + "\n".join(lines))
        assert len(rows) > 3
        for row in rows:
            found = on_page[tuple(row[:key])]
            assert found[:exact] == row[:exact]
            assert [float(cell) for cell in found[exact:]] == pytest.approx(
                [float(cell) for cell in row[exact:]], abs=0.011
            )


LIMIT = 0.05 + 3 * (0.05 * 0.95 / 2000) ** 0.5


def test_wrong_signs_are_at_most_alpha_where_the_page_says_so(scripts, printed) -> None:
    """Within three standard errors of 0.05, which the test with every document judged exceeds in
    some of these cells.
    """
    kept = (
        "one side",
        "both sides",
        "neither",
        "a relative of A",
        "new documents",
        "at random",
        "negatives",
    )
    for group in (*kept, "crossing, own pools", "crossing, others' pools"):
        cells = [cell for cell in printed if scripts.tables.GROUPS[group](cell)]
        assert len(cells) > 20
        assert max(cell["wrong"][scripts.tables.CHOSEN] for cell in cells) < LIMIT
    for group in ("one side", "new documents", "crossing, own pools", "crossing, others' pools"):
        cells = [cell for cell in printed if scripts.tables.GROUPS[group](cell)]
        assert max(cell["wrong"]["as judged"] for cell in cells) > 0.7
    positive = [
        cell
        for cell in printed
        if cell["kind"] == "positive labels" and cell["pool"] != "relative of A"
    ]
    assert max(cell["wrong"][scripts.tables.CHOSEN] for cell in positive) < LIMIT


def test_power_is_kept_where_judgments_are_missing_by_depth_or_by_chance(printed) -> None:
    cells = [
        cell
        for cell in printed
        if cell["pool"] in ("A 6, B 6", "A 4, B 4", "10% at random")
        and cell["right"]["rule"] is not None
    ]
    assert len(cells) > 40
    for cell in cells:
        assert cell["right"]["rule"] >= cell["right"]["old rule"] - 0.015


def test_the_page_has_the_shares_that_a_run_prints(scripts, printed) -> None:
    """Runs that are equal, 300 replicates from 1,000 queries: within four standard errors and what
    another bank moves.
    """
    of = scripts.pools.bank(
        scripts.pools.WORLDS["some relevant"], 500, np.random.default_rng(12)
    ).mirrored()
    for pool, measure in (
        ("A 12, B 6", "nDCG@10"),
        ("A 6, B 6", "P@10"),
        ("3 others, 20", "P@10"),
        ("relative of A, 20", "nDCG@10"),
    ):
        names = scripts.reach.Names("pools", "some relevant", measure, "equal", pool)
        judged = scripts.pools.judged_by(of, scripts.pools.POOLS[pool])
        found = scripts.reach.run_cell(
            scripts.pools.sample(of, judged, measure), 50, 300, 13, names
        )
        asked = (*names, 50)
        (cell,) = (
            one
            for one in printed
            if (*(one[name] for name in names._fields), one["queries"]) == asked
        )
        for rule, share in cell["wrong"].items():
            assert found.wrong[rule] == pytest.approx(
                share, abs=4 * (share * (1 - share) / 300) ** 0.5 + 0.05
            ), (pool, rule)


def test_quick_is_a_look(scripts, capsys, monkeypatch) -> None:
    """It sets the numbers of replicates and of queries to draw from."""
    seen: dict[str, Any] = {}
    monkeypatch.setattr(scripts.reach, "cells", lambda asked: seen.update(vars(asked)) or [])
    scripts.reach.main(["--quick", "--format", "json"])
    assert (seen["runs"], seen["bank"], seen["queries"]) == (40, 500, [50, 250])
    assert json.loads(capsys.readouterr().out)["cells"] == []
