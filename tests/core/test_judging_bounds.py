"""Bounds of values and of differences against every choice of grades, evaluated as if it had been
judged.
"""

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import idealrank as ir
from idealrank.bounds import extremes
from idealrank.bounds.choices import Quotients
from idealrank.bounds.query_bounds import Bounds, DifferenceBounds
from idealrank.bounds.value_bounds import bounds, difference_bounds
from idealrank.conventions import Convention
from idealrank.errors import InputError, OptionError
from idealrank.measures import MEASURES
from idealrank.measures.parse import parse_measure
from tests.golden.harness import quietly
from tests.twins import naive_bounds as naive

NDCGS = (
    "nDCG",
    "nDCG@1",
    "nDCG@2",
    "nDCG@3",
    "nDCG(gain=exp2)",
    "nDCG(gain=exp2)@2",
    "nDCG(discount=[1,1,0.5])@3",
    "nDCG(discount=linear)",
    "nDCG(gain={0:0,1:1,2:1,3:4})@3",
    "nDCG(gain={1:2,2:1,3:3})",
    "nDCG(discount=[0.2,1,0.5])",
    "nDCG@0.5n",
    "DCG@3",
    "DCG(gain=exp2)",
    "DCG(discount=[1,-0.5,0.2])",
)
OTHERS = (
    "AP",
    "AP@2",
    "AP(divisor=reachable)@2",
    "GMAP",
    "RR",
    "RR@2",
    "P@2",
    "R",
    "R@2",
    "F@2",
    "Rprec",
    "Success@2",
    "ERR@3",
    "RBP",
    "RBP(max_rel=3)@3",
    "RBP(max_rel=query)",
    "Q",
    "nERR@2",
    "Bpref",
    "infAP",
    "SetF",
    "INSQ",
    "SDCG@3",
    "AUC",
    "RecallArea",
    "WSS@0.8",
    "RnDCG",
    "IPrec@0.5",
)
CONVENTIONS = (
    "standard",
    "standard",
    "standard",
    "standard,ties=expected",
    "standard,ties=best",
    "standard,ties=worst",
    "standard,no_relevant=one",
    "standard,no_relevant=left-out",
    "standard,ideal=returned",
    "standard,ideal=hits",
    "standard,ideal=uncut",
    "standard,rounding=round-2",
    "standard,duplicates=twice",
    "lightgbm",
    "trec_eval-9",
)


class Case:
    """One random query: judgments, one or two runs, a convention, a scale and a depth."""

    def __init__(self, rng: np.random.Generator, measure: str, pair: bool) -> None:
        self.measure, self.pair = measure, pair
        names = [f"d{place}" for place in range(int(rng.integers(1, 6)))]
        self.convention = Convention.of(str(rng.choice(CONVENTIONS)))
        if measure == "IPrec@0.5" and self.convention.alignment.ties == "expected":
            self.convention = Convention.of("standard")
        pool = [0, 0, 1, 2, 3] if "{" in measure or rng.random() < 0.8 else [0, 0.5, 1, 1.5, 3]
        self.judged = {name: float(rng.choice(pool)) for name in names if rng.random() < 0.4}
        self.judged |= {
            f"o{place}": float(rng.choice(pool)) for place in range(int(rng.integers(0, 3)))
        }
        self.judged = self.judged or {"o": 0.0}
        self.runs = [self._run(rng, names) for _ in range(1 + pair)]
        self.highest = int(rng.integers(1, 4))
        self.depth = None if rng.random() < 0.6 else int(rng.integers(1, 4))
        between = [grade for grade in self.judged.values() if 0 < grade < self.highest]
        self.scale = sorted({*map(float, range(self.highest + 1)), *between})

    @staticmethod
    def _run(rng: np.random.Generator, names: list[str]) -> dict[str, float]:
        picked = rng.permutation(len(names))[: int(rng.integers(1, len(names) + 1))]
        return {
            names[place]: float(rng.integers(0, 4 if rng.random() < 0.7 else 9)) for place in picked
        }

    def expected(self) -> tuple[float, float]:
        """Lowest and highest value of all choices; NaN where none has a value."""
        values = naive.values(
            self.judged, self.runs, self.measure, self.convention, self.scale, self.depth
        )
        column = values[:, 1] - values[:, 0] if self.pair else values[:, 0]
        return (
            (math.nan, math.nan)
            if np.isnan(column).all()
            else (float(np.nanmin(column)), float(np.nanmax(column)))
        )

    def found(self) -> "Bounds | DifferenceBounds":
        """What the library says."""
        runs = [{"q": run} for run in self.runs]
        options: Any = {
            "max_grade": self.highest,
            "depth": self.depth,
            "convention": self.convention,
        }
        if self.pair:
            return difference_bounds({"q": self.judged}, *runs, self.measure, **options)
        return bounds({"q": self.judged}, *runs, self.measure, **options)

    def check(self) -> bool:
        """Compare both, to 12 decimals: sums are added in another order; return whether the bounds
        were exact.
        """
        (low, high), found = self.expected(), self.found()
        said = (
            f"{self.measure} {self.convention} {self.judged} {self.runs} {self.highest} "
            f"{self.depth}"
        )
        if found.exact:
            assert found.low[0] == pytest.approx(low, abs=1e-12, nan_ok=True), said
            assert found.high[0] == pytest.approx(high, abs=1e-12, nan_ok=True), said
        elif not math.isnan(low):
            assert found.low[0] <= low + 1e-12, said
            assert found.high[0] >= high - 1e-12, said
        return found.exact


@pytest.mark.spread(43)
@pytest.mark.parametrize("pair", [False, True], ids=["one", "two"])
@pytest.mark.parametrize("measure", [*NDCGS, *OTHERS])
def test_bounds_are_the_extremes_of_all_grades(measure: str, pair: bool) -> None:
    rng = np.random.default_rng([*measure.encode(), pair])
    for _ in range(3):
        Case(rng, measure, pair).check()


@pytest.mark.spread(20)
@pytest.mark.parametrize("measure", [*NDCGS, *OTHERS])
def test_bounds_hold_where_nothing_is_enumerated(
    measure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        extremes.Problem, "_by_all", lambda problem, trial, left: np.zeros_like(left)
    )
    rng = np.random.default_rng([1, *measure.encode()])
    for number in range(4):
        Case(rng, measure, bool(number % 2)).check()


@pytest.mark.slow
@pytest.mark.parametrize("enumerate_all", [True, False])
@pytest.mark.parametrize("measure", [*NDCGS, *OTHERS])
def test_bounds_are_the_extremes_of_all_grades_in_many_cases(
    measure: str, enumerate_all: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not enumerate_all:
        monkeypatch.setattr(
            extremes.Problem, "_by_all", lambda problem, trial, left: np.zeros_like(left)
        )
    rng = np.random.default_rng([2, enumerate_all, *measure.encode()])
    for number in range(150):
        Case(rng, measure, bool(number % 2)).check()


@pytest.mark.parametrize(
    "measure", ["nDCG@10", "nDCG(gain=exp2)", "DCG", "R@5", "P@10", "RBP", "RR", "Success@3"]
)
def test_of_these_measures_bounds_are_exact_at_any_size(measure: str) -> None:
    rng = np.random.default_rng(5)
    documents = [f"d{place}" for place in range(400)]
    qrels = {"q": {document: int(rng.integers(0, 4)) for document in documents[::9]}}
    a, b = ({"q": [documents[place] for place in rng.permutation(400)]} for _ in range(2))
    assert bounds(qrels, a, measure).exact
    assert difference_bounds(qrels, a, b, measure).exact


class TestQuotients:
    """The program behind nDCG, by itself."""

    @staticmethod
    def value(gains: Any, known: Any, constant: float, weight: Any, ideal_weights: Any) -> float:
        ideal = np.sort(np.concatenate((known, gains)))[::-1][: ideal_weights.size]
        below = float(ideal @ ideal_weights[: ideal.size])
        return float((constant + weight @ gains) / below) if below > 0 else math.nan

    @staticmethod
    def drawn(rng: np.random.Generator, levels: Any) -> "tuple[Any, ...]":
        known = rng.choice(
            np.concatenate((levels, np.round(rng.exponential(1.5, 2), 1))), int(rng.integers(0, 5))
        )
        ideal = 1 / np.log2(np.arange(2, 2 + int(rng.integers(1, 9))))
        if rng.random() < 0.3:  # weights in any order
            ideal = np.concatenate(
                (
                    [rng.random() + 0.1],
                    rng.random(ideal.size - 1) * (rng.random(ideal.size - 1) < 0.7),
                )
            )
        places = np.concatenate((ideal, [0.0, 0.0]))
        weight = rng.choice(places, int(rng.integers(0, 5)))
        weight = weight - rng.choice(places, weight.size) if rng.random() < 0.5 else weight
        constant = float(rng.normal()) if known.any() or levels[0] > 0 else 0.0
        return known, constant, weight, ideal

    @pytest.mark.parametrize("seed", range(12))
    def test_the_levels_found_give_the_extremes_of_all_choices(self, seed: int) -> None:
        """Any weights, also rising and negative ones; known gains between and above the levels;
        several queries at once.
        """
        rng = np.random.default_rng(seed)
        levels = [
            np.arange(4.0),
            np.array([0.0, 1.0, 3.0, 7.0]),
            np.array([0.5, 1.1, 2.0]),
            np.array([0.0, 1.0]),
        ][seed % 4]
        queries = [self.drawn(rng, levels) for _ in range(8)]
        widest = max(ideal.size for *_, ideal in queries)
        sums = np.array(
            [
                np.concatenate(([0.0], np.cumsum(np.pad(ideal, (0, widest - ideal.size)))))
                for *_, ideal in queries
            ]
        )
        codes = [
            np.repeat(np.arange(8), [query[part].size for query in queries]) for part in (2, 0)
        ]
        columns = [np.concatenate([query[part] for query in queries]) for part in (2, 0)]
        program = Quotients(
            np.array([query[1] for query in queries]),
            codes[0],
            columns[0],
            levels,
            codes[1],
            columns[1],
            sums,
        )
        for found, best in ((program.highest(), np.nanmax), (program.lowest(), np.nanmin)):
            for number, query in enumerate(queries):
                options = itertools.product(levels, repeat=query[2].size)
                values = np.array([self.value(np.array(gains), *query) for gains in options])
                if not np.isnan(values).all():
                    chosen = levels[found[codes[0] == number]]
                    assert self.value(chosen, *query) == pytest.approx(
                        float(best(values)), abs=1e-12
                    )

    def test_queries_that_do_not_fit_into_one_table_have_the_same_levels(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        rng = np.random.default_rng(3)
        sums = np.tile(np.concatenate(([0.0], np.cumsum(1 / np.log2(np.arange(2, 12))))), (20, 1))
        known = rng.integers(0, 4, 60).astype(float)
        program = Quotients(
            np.ones(20),
            np.repeat(np.arange(20), 6),
            rng.random(120),
            np.arange(4.0),
            np.repeat(np.arange(20), 3),
            known,
            sums,
        )
        together = program.highest()
        monkeypatch.setattr("idealrank.bounds.choices._CELLS", 1)
        assert np.array_equal(program.highest(), together)


def test_many_queries_in_any_order_have_the_bounds_that_they_have_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tables of a few queries each, as for 50,000 of them: a judged document must be looked up in
    the table of its query.
    """
    rng = np.random.default_rng(11)
    names = [f"q{number}" for number in range(12)]
    a, b = (
        {names[query]: [f"d{one}" for one in rng.permutation(9)] for query in rng.permutation(12)}
        for _ in range(2)
    )
    qrels = {
        names[query]: {f"d{one}": int(rng.integers(1, 4)) for one in range(3)}
        for query in rng.permutation(12)
    }
    together = ir.compare(qrels, a, b, measures="nDCG@5")["nDCG@5"].bounds

    monkeypatch.setattr("idealrank.bounds.choices._CELLS", 40)

    assert ir.compare(qrels, a, b, measures="nDCG@5")["nDCG@5"].bounds == together


def test_a_grade_between_the_ends_can_give_the_highest_ndcg() -> None:
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": ["a", "x"]}
    values = [
        ir.evaluate({"q": {**qrels["q"], "x": grade}}, run, "nDCG").mean()["nDCG"]
        for grade in range(4)
    ]
    assert max(values) == values[1] > values[3] > values[0]
    found = bounds(qrels, run, "nDCG", max_grade=3)
    assert (found.low[0], found.high[0]) == (values[0], values[1])


def test_an_unjudged_document_below_the_cutoff_lowers_ndcg_by_the_ideal() -> None:
    found = bounds({"q": {"a": 1}}, {"q": ["a", "x"]}, "nDCG@1", max_grade=3)
    assert (found.low[0], found.high[0]) == (1 / 3, 1.0)
    assert bounds({"q": {"a": 1}}, {"q": ["a", "x"]}, "nDCG@1", max_grade=3, depth=1).low[0] == 1.0


def test_a_document_that_both_runs_return_has_one_grade() -> None:
    """Both runs show it first, so that it moves both alike; bounds of the runs alone would let it
    differ.
    """
    qrels, a, b = {"q": {"a": 1, "b": 0}}, {"q": ["x", "b", "a"]}, {"q": ["x", "a", "b"]}
    found = difference_bounds(qrels, a, b, "DCG@3")
    assert found.low[0] == found.high[0] == pytest.approx(1 / math.log2(3) - 1 / 2)
    assert (found.unjudged_a[0], found.unjudged_b[0], found.unjudged_both[0]) == (0, 0, 1)
    alone = [bounds(qrels, run, "DCG@3") for run in (a, b)]
    assert alone[1].high[0] - alone[0].low[0] > found.high[0]


def test_a_document_that_one_run_shows_deep_is_open_if_the_other_shows_it_within_the_depth() -> (
    None
):
    qrels = {"q": {"a": 1}}
    found = difference_bounds(qrels, {"q": ["x", "a"]}, {"q": ["a", "y", "x"]}, "DCG", depth=1)
    assert (found.unjudged_a[0], found.unjudged_b[0], found.unjudged_both[0]) == (0, 0, 1)
    assert found.low[0] == pytest.approx(1 - 1 / math.log2(3) + 1 / 2 - 1)


def test_without_unjudged_documents_bounds_are_the_value_to_the_last_bit() -> None:
    rng = np.random.default_rng(0)
    qrels = {f"q{i}": {f"d{j}": int(rng.integers(0, 4)) for j in range(30)} for i in range(40)}
    run = {query: [f"d{j}" for j in rng.permutation(30)[:20]] for query in qrels}
    for measure in ("nDCG@10", "AP", "ERR", "nERR@5"):
        found = bounds(qrels, run, measure)
        assert np.array_equal(found.low, found.value)
        assert np.array_equal(found.high, found.value)
        assert found.exact
        assert (
            found.mean_low
            == found.mean
            == found.mean_high
            == ir.evaluate(qrels, run, measure).mean()[measure]
        )


def test_the_value_as_judged_lies_between_the_bounds() -> None:
    rng = np.random.default_rng(1)
    qrels = {
        f"q{i}": {f"d{j}": int(rng.integers(0, 4)) for j in range(0, 30, 2)} for i in range(60)
    }
    run = {query: [f"d{j}" for j in rng.permutation(30)[:20]] for query in qrels}
    for measure in ("nDCG@10", "nDCG(gain=exp2)", "AP@5", "R@7", "RR", "P@10"):
        found = bounds(qrels, run, measure)
        assert (found.low <= found.value).all(), measure
        assert (found.value <= found.high).all(), measure
        assert np.array_equal(found.residual, found.high - found.value)


def test_means_are_extremes_of_the_mean_also_where_a_query_counts_at_some_grades_alone() -> None:
    qrels = {"p": {"a": 1, "b": 0}, "q": {"c": 0}, "r": {"d": 0}}
    run = {"p": ["b", "a"], "q": ["x", "c"], "r": ["d", "y", "z"]}
    convention = Convention.of("standard,no_relevant=left-out")
    means = []
    for x, y, z in itertools.product((0, 1), repeat=3):
        whole = {"p": qrels["p"], "q": {"c": 0, "x": x}, "r": {"d": 0, "y": y, "z": z}}
        means.append(ir.evaluate(whole, run, "nDCG", convention).mean()["nDCG"])
    found = bounds(qrels, run, "nDCG", convention=convention)
    assert (found.mean_low, found.mean_high) == (
        pytest.approx(min(means)),
        pytest.approx(max(means)),
    )
    assert np.isnan(found.value).tolist() == [False, True, True]


def test_a_geometric_mean_is_bounded_by_geometric_means() -> None:
    qrels, run = {"p": {"a": 1}, "q": {"a": 1}}, {"p": ["a"], "q": ["x", "a"]}
    found = bounds(qrels, run, "GMAP")
    assert (found.mean_low, found.mean_high) == (pytest.approx(math.sqrt(0.5)), pytest.approx(1.0))


def test_a_document_listed_twice_has_one_grade() -> None:
    run = ir.Run.from_columns(["q", "q", "q"], ["x", "a", "x"], np.array([3.0, 2.0, 1.0]))
    found = bounds({"q": {"a": 1}}, run, "DCG", max_grade=2, convention="standard,duplicates=twice")
    assert found.high[0] == pytest.approx(1 / math.log2(3) + 2 * (1 + 1 / 2))
    assert found.unjudged_ranks[0].tolist() == [1, 3]


def test_queries_without_an_answer_keep_their_value() -> None:
    found = bounds({"p": {"a": 1}, "q": {"a": 1}}, {"p": ["x", "a"]}, "P@2")
    assert list(found.query_ids) == ["p", "q"]
    assert (found.low.tolist(), found.high.tolist()) == ([0.5, 0.0], [1.0, 0.0])


def test_the_highest_grade_is_that_of_the_judgments_and_at_least_1() -> None:
    assert bounds({"q": {"a": 3}}, {"q": ["x"]}, "DCG").high[0] == 3.0
    assert bounds({"q": {"a": 0}}, {"q": ["x"]}, "DCG").high[0] == 1.0
    assert bounds({"q": {"a": 3}}, {"q": ["x"]}, "DCG", max_grade=2).high[0] == 2.0


def test_many_different_grades_are_looked_at_query_by_query() -> None:
    """Real numbers as grades: of nDCG no grade between those judged for a query gives more."""
    rng = np.random.default_rng(2)
    qrels = {
        f"q{i}": {f"d{j}": round(float(rng.random() * 3), 6) for j in range(0, 8, 2)}
        for i in range(40)
    }
    run = {query: [f"d{j}" for j in rng.permutation(8)[:5]] for query in qrels}
    found = bounds(qrels, run, "nDCG@3", max_grade=3)
    assert found.exact
    for number, query in enumerate(("q0", "q7")):
        row = list(found.query_ids).index(query)
        grid = sorted({0.0, 3.0, *np.linspace(0, 3, 7 + number).tolist(), *qrels[query].values()})
        values = naive.values(
            qrels[query],
            [dict(zip(run[query], range(5, 0, -1), strict=True))],
            "nDCG@3",
            Convention.of("standard"),
            grid,
            None,
        )
        assert found.low[row] == pytest.approx(float(values.min()), abs=1e-12)
        assert found.high[row] == pytest.approx(float(values.max()), abs=1e-12)


@pytest.mark.parametrize("measure", ["nDCG@3", "nDCG(gain=exp2)@3", "DCG@3", "R@3"])
def test_of_a_quotient_only_grades_judged_for_the_query_lie_between_the_ends(measure: str) -> None:
    rng = np.random.default_rng(11)
    for _ in range(10):
        judged = {f"d{j}": float(rng.integers(0, 31)) for j in range(3)}
        run = dict(zip([f"d{j}" for j in rng.permutation(5)], range(5, 0, -1), strict=True))
        found = bounds({"q": judged}, {"q": run}, measure, max_grade=30)

        values = naive.values(
            judged, [run], measure, Convention.of("standard"), list(map(float, range(31))), None
        )

        assert found.exact
        assert (found.low[0], found.high[0]) == pytest.approx(
            (float(values.min()), float(values.max())), abs=1e-12
        )


def test_a_large_scale_costs_no_more_than_a_small_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Revenue or seconds as grades: one query after the other at every whole grade took minutes, in
    `compare` too.
    """
    sizes = []
    monkeypatch.setattr(
        extremes,
        "Quotients",
        lambda **given: sizes.append(given["levels"].size) or Quotients(**given),
    )
    qrels = {f"q{number}": {"a": 20_000.0, "b": 1.0} for number in range(5)}
    a, b = (
        dict.fromkeys(qrels, ranking) for ranking in (["x", "a", "y", "b"], ["a", "y", "b", "w"])
    )

    found = bounds(qrels, a, "nDCG@3")
    ir.compare(qrels, a, b, measures="nDCG@3")

    assert found.exact
    assert sizes
    assert max(sizes) <= 3
    grid, listed = [0.0, 1.0, 2.0, 1e4, 2e4], dict(zip(a["q0"], range(4, 0, -1), strict=True))
    values = naive.values(qrels["q0"], [listed], "nDCG@3", Convention.of("standard"), grid, None)
    assert (found.low[0], found.high[0]) == pytest.approx(
        (float(values.min()), float(values.max())), abs=1e-12
    )


@pytest.mark.spread(2)
@pytest.mark.parametrize(
    "measure", ["nERR(max_rel=1000)@5", "ERR(max_rel=1000)", "AP", "P@2", "Bpref", "RR", "F@3"]
)
def test_grades_of_a_scale_too_large_to_list_have_outer_bounds_or_exact_ones(measure: str) -> None:
    documents = [f"d{place}" for place in range(1200)]
    for highest in (1000, 1000 if "ERR" in measure else 1e6):
        found = bounds({"q": {"d3": 1.0, "d9": 2.0}}, {"q": documents}, measure, max_grade=highest)

        assert found.low[0] <= found.value[0] <= found.high[0]
        assert found.exact or (found.low[0], found.high[0]) == (0.0, 1.0)


def test_the_record_lists_queries_with_the_ranks_of_their_unjudged_documents() -> None:
    record = bounds({"q": {"a": 1, "b": 0}}, {"q": ["x", "a", "y", "b"]}, "P@3", depth=3).as_dict()
    assert record["queries"]["q"]["unjudged_ranks"] == [1, 3]
    assert record["queries"]["q"]["judged"] == pytest.approx(1 / 3)
    assert (record["low"], record["value"], record["high"]) == pytest.approx((1 / 3, 1 / 3, 1.0))
    pair = difference_bounds({"q": {"a": 1}}, {"q": ["x", "a"]}, {"q": ["a", "y"]}, "RR").as_dict()
    assert pair["queries"]["q"] == {
        "low": 0.0,
        "value": 0.5,
        "high": 0.5,
        "exact": True,
        "unjudged_a": 1,
        "unjudged_b": 1,
        "unjudged_both": 0,
        "flips": False,
    }


class TestRefusals:
    """What has no bounds, and why."""

    @pytest.mark.parametrize(
        ("measure", "options", "words"),
        [
            ("nDCG(judged_only=true)@10", {}, "taken out of the lists"),
            ("nDCG@10", {"convention": "standard,unjudged=skipped"}, "taken out of the lists"),
            ("NumRet", {}, "without grades"),
            ("prefs_simp", {}, "expected preferences"),
            ("nDCG@10", {"depth": 0}, "a rank from 1 on"),
            ("nDCG@10", {"max_grade": -1}, "max_grade=-1"),
            ("nDCG(gain={0:0,1:-1})", {}, "gains below 0"),
            ("nDCG(gain={0:0,2:1})", {"max_grade": 2}, "grade 1"),
        ],
    )
    def test_an_impossible_question_names_what_is_expected(
        self, measure: str, options: dict[str, Any], words: str
    ) -> None:
        with pytest.raises((OptionError, InputError)) as error:
            bounds({"q": {"a": 1}}, {"q": ["x", "a"]}, measure, **options)
        assert words in str(error.value)

    def test_negative_grades_that_are_kept_have_no_bounds_of_a_quotient(self) -> None:
        with pytest.raises(OptionError, match="negative=zero makes them 0"):
            bounds(
                {"q": {"a": -1, "b": 2}},
                {"q": ["x", "a"]},
                "nDCG",
                convention="standard,negative=kept",
            )
        assert bounds({"q": {"a": -1, "b": 2}}, {"q": ["x", "a"]}, "nDCG").exact

    def test_runs_without_a_common_query_cannot_be_compared(self) -> None:
        with pytest.raises(InputError, match="none that counts in both"):
            difference_bounds(
                {"p": {"a": 1}, "q": {"a": 1}},
                {"p": ["a"]},
                {"q": ["a"]},
                "RR",
                convention="standard,missing=left-out",
            )


@pytest.mark.parametrize("measure", ["nDCG@3", "P@5", "RR@2", "AP"])
def test_unjudged_is_one_number_beside_bounds_evaluations_and_comparisons(measure: str) -> None:
    rng = np.random.default_rng(6)
    qrels = {
        f"q{i}": {f"d{j}": int(rng.integers(-1, 3)) for j in range(0, 12, 2)} for i in range(9)
    }
    a, b = (
        {
            query: [f"d{j}" for j in rng.permutation(12)[: int(rng.integers(1, 9))]]
            for query in qrels
        }
        for _ in range(2)
    )

    evaluations = [
        ir.evaluate(qrels, run, ir.with_companions(measure), keep_unjudged=True) for run in (a, b)
    ]
    row = ir.compare(*evaluations, measures=measure)[measure]
    found = [bounds(qrels, run, measure, depth=4) for run in (a, b)]

    assert [one.unjudged_share for one in found] == [
        one.coverage.unjudged_share for one in evaluations
    ]
    assert [one.unjudged_share for one in found] == [
        pytest.approx(row.unjudged_a),
        pytest.approx(row.unjudged_b),
    ]
    judged = evaluations[0].per_query()
    share = f"Judged@{measure.partition('@')[2]}" if "@" in measure else "Judged"
    assert found[0].judged_share.tolist() == [
        pytest.approx(judged[query][share]) for query in found[0].query_ids
    ]


GRADED = [
    name
    for name, cls in MEASURES.items()
    if cls.looks_at_grades and cls.aggregate != "text" and not cls.needs
]


@pytest.mark.parametrize("name", GRADED)
def test_every_measure_of_grades_has_bounds_a_residual_and_a_condensed_list(name: str) -> None:
    text = {"IPrec": "IPrec@0.5"}.get(
        name, f"{name}@2" if MEASURES[name].cuts == "required" else name
    )
    grades, run = {"a": 1.0, "b": 0.0}, {"x": 3.0, "a": 2.0, "b": 1.0}
    at_each = naive.values(grades, [run], text, Convention.of("standard"), [0, 1], None)[:, 0]

    found = bounds({"q": grades}, {"q": run}, text)

    assert (found.low[0], found.high[0]) == pytest.approx(
        (at_each.min(), at_each.max()), nan_ok=True
    )
    # some measures, such as infAP, tell an unjudged document from one of grade 0
    if found.value[0] == at_each[0]:
        assert found.residual[0] >= 0
    made = replace(parse_measure(text), judged_only=True)
    condensed, shorter = (
        quietly(ir.evaluate, {"q": grades}, {"q": of}, one)
        for of, one in ((run, made), (["a", "b"], parse_measure(text)))
    )
    assert condensed.values.tolist() == shorter.values.tolist()
