"""Recall of an index: the numbers of an obvious oracle, and losses that `compare` has too."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import idealrank as ir
from idealrank.errors import InputError, OptionError
from idealrank.reports.views.recall import recall_json, recall_rows
from tests.conftest import examples

Run = dict[str, dict[str, float]]

QUERIES, DOCUMENTS = ["p", "q", "r"], list("abcdefgh")
RUNS = st.dictionaries(
    st.sampled_from(QUERIES),
    st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(0, 4).map(float), min_size=1),
    min_size=1,
)


def naive_recall(exact: dict[str, float], approximate: dict[str, float], cutoff: int) -> float:
    """Documents of both whose score is not below that of rank k."""
    wanted = min(cutoff, len(exact))

    def inside(run: dict[str, float]) -> set[str]:
        return {
            one
            for one, score in run.items()
            if sum(other > score for other in run.values()) < cutoff
        }

    return min(wanted, len(inside(exact) & inside(approximate))) / wanted


@settings(max_examples=examples(80))
@given(exact=RUNS, approximate=RUNS, cutoff=st.integers(1, 9))
def test_recall_is_that_of_the_oracle(exact: Run, approximate: Run, cutoff: int) -> None:
    if not set(exact) & set(approximate):
        with pytest.raises(InputError, match="no query in common"):
            ir.index_recall(exact, approximate, cutoff)
        return
    found = ir.index_recall(exact, approximate, [cutoff, 3])
    values = dict(zip(found.queries, found.values[:, found.cutoffs.index(cutoff)], strict=True))
    assert values == {
        query: naive_recall(scores, approximate[query], cutoff) if query in approximate else 0.0
        for query, scores in exact.items()
    }
    assert set(found.unanswered) == set(exact) - set(approximate)
    assert set(found.only_approximate) == set(approximate) - set(exact)


def test_a_run_has_full_recall_of_itself_in_any_order_of_ties() -> None:
    run = {f"q{query}": {f"d{place}": 1.0 for place in range(20)} for query in range(5)}
    shuffled = {query: dict(reversed(scores.items())) for query, scores in run.items()}
    found = ir.index_recall(run, shuffled, [1, 7, 20, 100])
    assert (found.values == 1).all()
    assert found.worst(10) == []


@pytest.fixture
def runs() -> tuple[Run, Run, Run]:
    draw = np.random.default_rng(3)
    exact, approximate, qrels = {}, {}, {}
    for number in range(60):
        scores = {f"d{place}": float(score) for place, score in enumerate(draw.normal(size=30))}
        exact[f"q{number}"] = scores
        approximate[f"q{number}"] = {
            one: score for one, score in scores.items() if draw.random() < 0.9
        }
        qrels[f"q{number}"] = {one: int(draw.integers(0, 3)) for one in list(scores)[:15]}
    return exact, approximate, qrels


def test_means_intervals_and_tails_are_those_of_scipy_and_numpy(runs: tuple[Run, Run, Run]) -> None:
    found = ir.index_recall(runs[0], runs[1], [5, 10], level=0.9)
    for cutoff, values in zip((5, 10), found.values.T, strict=True):
        one = found.summary(cutoff)
        low, high = stats.t.interval(0.9, len(values) - 1, values.mean(), stats.sem(values))
        assert (one.interval.estimate, one.interval.low, one.interval.high) == pytest.approx(
            (values.mean(), low, high)
        )
        assert one.percentile_5 == sorted(values)[2], (
            "the third of 60 is the smallest value that 5 % do not exceed"
        )
        assert one.n_complete == (values == 1).sum()
        exact = stats.binomtest(one.n_complete, len(values)).proportion_ci(0.9, method="exact")
        assert one.complete_interval == pytest.approx((exact.low, exact.high))


def test_losses_are_the_differences_of_compare(runs: tuple[Run, Run, Run]) -> None:
    exact, approximate, qrels = runs
    found = ir.index_recall(exact, approximate, 10, qrels=qrels, measures=["nDCG@10", "AP"])
    for text, loss in found.losses.items():
        per_query = [ir.evaluate(qrels, run, text).per_query() for run in (exact, approximate)]
        differences = np.array(
            [per_query[0][query][text] - per_query[1][query][text] for query in found.queries]
        )  # type: ignore[operator]
        assert found.lost_per_query()[text] == pytest.approx(differences)
        low, high = stats.t.interval(
            0.95, len(differences) - 1, differences.mean(), stats.sem(differences)
        )
        assert (loss.estimate, loss.low, loss.high) == pytest.approx(
            (differences.mean(), low, high)
        )
    worst = found.worst(5)
    lost = [one.lost["nDCG@10"] for one in worst]
    assert lost == sorted(found.lost_per_query()["nDCG@10"], reverse=True)[:5]
    top = sorted(exact[worst[0].query], key=lambda one: -exact[worst[0].query][one])[:10]
    kept = sorted(approximate[worst[0].query], key=lambda one: -approximate[worst[0].query][one])[
        :10
    ]
    assert worst[0].missed == tuple(one for one in top if one not in kept)


def test_a_measure_of_which_less_is_better_loses_by_a_greater_value() -> None:
    found = ir.index_recall(
        {"q": ["a", "b"]}, {"q": ["b", "a"]}, 2, qrels={"q": {"a": 1}}, measures="ARP"
    )
    assert found.losses["ARP"].estimate == 1


def test_every_form_has_every_query(runs: tuple[Run, Run, Run]) -> None:
    exact, approximate, qrels = runs
    del approximate["q7"]
    found = ir.index_recall(exact, {**approximate, "other": {"a": 1.0}}, [1, 10], qrels=qrels)
    report = json.loads(recall_json(found, worst=3))
    assert report["recall"]["10"]["mean"] == pytest.approx(found.values[:, 1].mean())
    assert (report["unanswered"], report["only_approximate"], report["queries"]) == (
        ["q7"],
        ["other"],
        60,
    )
    assert report["per_query"]["q7"]["recall"] == {"1": 0.0, "10": 0.0}
    assert report["worst"][0]["query"] == found.worst(1)[0].query
    rows = list(recall_rows(found))
    assert rows[0] == ["query", "recall@1", "recall@10", "lost nDCG@10"]
    assert len(rows) == 61


@pytest.mark.parametrize("cutoffs", [[], [0], [True], ["10"], [2.5]])
def test_cutoffs_are_whole_numbers(cutoffs: list[object]) -> None:
    with pytest.raises(OptionError, match="expected whole numbers of 1 or more"):
        ir.index_recall({"q": ["a"]}, {"q": ["a"]}, cutoffs)  # type: ignore[arg-type]


def test_a_cutoff_that_is_no_int_is_named() -> None:
    with pytest.raises(OptionError, match=r"cutoffs: found \[2.5\], expected whole numbers"):
        ir.index_recall({"q": ["a", "b"]}, {"q": ["b", "c"]}, 2.5)  # type: ignore[arg-type]
