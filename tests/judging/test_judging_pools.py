"""Pools, samples, and estimates from them: against programs typed anew after NIST's sources, and
over every possible sample.
"""

import json
import math
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

import idealrank as ir
from idealrank.errors import FileFormatError, InputError, OptionError
from idealrank.judging import SampledJudgments, Strata, pool, sampled_estimate
from idealrank.judging.files.pool_files import read_pool_rows
from tests.conftest import ROOT

GOLDEN = json.loads((ROOT / "tests" / "golden" / "sampled.json").read_text(encoding="utf-8"))
RUNS = {"a": {"q": ["x", "y", "z"], "p": ["u", "v"]}, "b": {"q": ["y", "w", "x"], "p": ["v", "t"]}}


def _golden_run() -> dict[str, dict[str, float]]:
    run: dict[str, dict[str, float]] = {}
    for line in GOLDEN["run"]:
        query, _, document, _, score, _ = line.split()
        run.setdefault(query, {})[document] = float(score)
    return run


@pytest.mark.parametrize("measure", ["xinfAP", "infNDCG", "statAP"])
def test_estimates_are_those_of_the_programs_of_trec(measure: str, tmp_path: Any) -> None:
    path = tmp_path / "sampled.txt"
    path.write_text("\n".join(GOLDEN["pool"]) + "\n", encoding="utf-8")
    rows = read_pool_rows(str(path))
    sample = SampledJudgments.of_rows(
        [(row.query, row.document, row.stratum, row.grade) for row in rows]
    )
    found = sampled_estimate(sample, _golden_run(), measure)  # type: ignore[arg-type]
    values = dict(zip(found.query_ids, found.values.tolist(), strict=True))
    expected = GOLDEN["expected"][measure]
    assert len(expected) >= 4
    assert {query: values[query] for query in expected} == pytest.approx(expected, abs=1e-9)


def test_a_pool_is_the_union_of_the_first_ranks() -> None:
    found = pool(RUNS, depth=2)
    union = {
        (query, document)
        for run in RUNS.values()
        for query, listed in run.items()
        for document in listed[:2]
    }
    assert {(row["query"], row["document"]) for row in found.rows()} == union
    assert found.probability.tolist() == [1.0] * len(union)
    assert found.n_sampled == len(union)


def test_a_budget_takes_the_first_of_each_query_before_the_second_of_any() -> None:
    found = pool(RUNS, depth=3, budget=3)
    assert [(row["query"], row["document"]) for row in found.rows()] == [
        ("q", "x"),
        ("q", "y"),
        ("p", "u"),
    ]


@pytest.mark.parametrize(
    ("order", "scores"),
    [
        ("rrf", {"x": 1 / 61 + 1 / 63, "y": 1 / 62 + 1 / 61, "z": 1 / 63, "w": 1 / 62}),
        ("borda", {"x": 3 + 1, "y": 2 + 3, "z": 1, "w": 2}),
        ("depth", {"x": -1, "y": -1, "z": -3, "w": -2}),
    ],
)
def test_orders_are_those_of_their_papers(order: str, scores: dict[str, float]) -> None:
    rows = [row for row in pool(RUNS, depth=3, order=order).rows() if row["query"] == "q"]  # type: ignore[arg-type]
    assert {row["document"]: row["score"] for row in rows} == pytest.approx(scores)
    assert [row["score"] for row in rows] == sorted(scores.values(), reverse=True)


def test_combmnz_multiplies_sums_of_scores_between_0_and_1_by_the_number_of_runs() -> None:
    rows = pool(
        [{"q": {"x": 4.0, "y": 3.0, "z": 0.0}}, {"q": {"y": 9.0, "w": 5.0}}],
        depth=3,
        order="combmnz",
    ).rows()
    assert {row["document"]: row["score"] for row in rows} == pytest.approx(
        {"y": 2 * (0.75 + 1), "x": 1.0, "z": 0.0, "w": 0.0}
    )


def test_a_sample_has_its_probabilities_and_is_the_same_for_a_seed() -> None:
    run = {f"q{place}": [f"d{rank}" for rank in range(40)] for place in range(5)}
    found = pool([run], strata="5:1,40:0.2")
    assert (found.probability[found.best_rank <= 5] == 1).all()
    assert found.probability[found.best_rank > 5] == pytest.approx(7 / 35)
    assert found.n_sampled == 5 * (5 + 7)
    assert (pool([run], strata="5:1,40:0.2").sampled == found.sampled).all()
    assert not (pool([run], strata="5:1,40:0.2", seed=1).sampled == found.sampled).all()


def test_each_document_of_a_stratum_is_drawn_as_often_as_its_probability_says() -> None:
    counts = sum(
        pool([{"q": list("abcdefgh")}], strata="2:1,8:0.5", seed=seed).sampled.astype(int)
        for seed in range(600)
    )
    assert (counts[:2] == 600).all()
    assert np.abs(counts[2:] - 300).max() < 5 * math.sqrt(600 / 4)


def _samples(
    grades: list[float], strata: list[int], drawn: dict[int, int]
) -> "list[SampledJudgments]":
    """Every sample with so many documents of each stratum; all are equally likely."""
    names = [f"d{place}" for place in range(len(grades))]
    chosen = [
        combinations([place for place, stratum in enumerate(strata) if stratum == which], number)
        for which, number in sorted(drawn.items())
    ]
    found = []
    for parts in product(*chosen):
        kept = {place for part in parts for place in part}
        rows = [
            ("q", names[place], strata[place], grades[place] if place in kept else None)
            for place in range(len(grades))
        ]
        found.append(SampledJudgments.of_rows(rows))
    return found


GRADES, STRATA, DRAWN = (
    [2.0, 0.0, 1.0, 0.0, 3.0, 0.0, 1.0, 0.0],
    [1, 1, 2, 2, 2, 3, 3, 3],
    {1: 2, 2: 2, 3: 2},
)
RANKED = {"q": ["d3", "d0", "x", "d6", "d4", "d1"]}
OTHER = {"q": ["d2", "d7", "d0", "d5"]}


def test_dcg_is_unbiased_over_every_sample_and_so_is_its_variance() -> None:
    qrels = {"q": {f"d{place}": grade for place, grade in enumerate(GRADES)}}
    for against in (None, OTHER):
        found = [
            sampled_estimate(sample, RANKED, "DCG", against=against)
            for sample in _samples(GRADES, STRATA, DRAWN)
        ]
        values = np.array([one.mean for one in found])
        true = ir.evaluate(qrels, RANKED, ["DCG"]).mean()["DCG"] - (
            0 if against is None else ir.evaluate(qrels, against, ["DCG"]).mean()["DCG"]
        )
        assert values.mean() == pytest.approx(true, abs=1e-12)
        assert np.mean([(one.sampling_se or 0.0) ** 2 for one in found]) == pytest.approx(
            values.var(), abs=1e-12
        )


def test_the_number_of_relevant_documents_and_the_dcg_of_the_paper_are_unbiased() -> None:
    """With one stratum that is returned in full, infNDCG's DCG is the Horvitz-Thompson sum."""
    ranked = {"q": [f"d{place}" for place in range(8)]}
    for sample in _samples(GRADES, [1] * 8, {1: 4}):
        one = sample.queries["q"]
        ideal = sum(
            gain / math.log2(rank + 1)
            for rank, gain in enumerate(
                [
                    grade
                    for grade in (3.0, 2.0, 1.0)
                    for _ in range(int(float((1 / one.rate)[one.gain == grade].sum()) + 0.5))
                ],
                1,
            )
        )
        value = sampled_estimate(sample, ranked, "infNDCG").mean
        dcg = sampled_estimate(sample, ranked, "DCG").mean
        assert value == pytest.approx(dcg / ideal if ideal else 0.0)


@pytest.mark.parametrize("measure", ["infAP", "xinfAP", "statAP", "infNDCG"])
def test_a_full_sample_has_the_value_of_the_measure(measure: str) -> None:
    rng = np.random.default_rng(5)
    qrels = {
        f"q{place}": {f"d{rank}": float(rng.integers(0, 3)) for rank in range(12)}
        for place in range(6)
    }
    run = {query: rng.permutation([f"d{rank}" for rank in range(12)]).tolist() for query in qrels}
    sample = SampledJudgments.of(pool([run], 12), qrels)
    peer = {"infNDCG": "nDCG"}.get(measure, "AP")
    found = sampled_estimate(sample, run, measure)  # type: ignore[arg-type]
    # sample_eval.pl adds 1e-5 to counts
    assert found.mean == pytest.approx(ir.evaluate(qrels, run, [peer]).mean()[peer], abs=2e-5)


def test_inf_ap_is_that_of_trec_eval() -> None:
    """trec_eval reads grade -1 as pooled and not judged."""
    rng = np.random.default_rng(7)
    grades = {f"d{place}": float(rng.choice([-1, 0, 1])) for place in range(30)}
    run = {"q": rng.permutation(list(grades)).tolist()}
    rows = [("q", document, 1, None if grade < 0 else grade) for document, grade in grades.items()]
    found = sampled_estimate(SampledJudgments.of_rows(rows), run, "infAP").mean
    assert found == pytest.approx(
        ir.evaluate({"q": grades}, run, ["infAP"]).mean()["infAP"], abs=1e-12
    )


@pytest.mark.slow
def test_intervals_cover_the_value_of_full_judgments_as_often_as_they_say() -> None:
    """Queries drawn from one distribution, half of the documents below rank 3 sampled; the mean
    over all queries is known.
    """
    rng = np.random.default_rng(11)
    covered, discounts = 0, 1 / np.log2(np.arange(2, 12))
    chances = np.linspace(0.6, 0.1, 10)
    true, n_trials = float((chances * discounts).sum()), 300
    names = [f"d{place}" for place in range(10)]
    for _ in range(n_trials):
        rows = []
        for query in range(25):
            grades = (rng.random(10) < chances).astype(float)
            drawn = {0, 1, *(2 + rng.permutation(8)[:4]).tolist()}
            rows += [
                (
                    f"q{query}",
                    names[place],
                    1 if place < 2 else 2,
                    float(grades[place]) if place in drawn else None,
                )
                for place in range(10)
            ]
        interval = sampled_estimate(
            SampledJudgments.of_rows(rows), {f"q{query}": names for query in range(25)}, "DCG"
        ).interval
        assert interval is not None
        covered += interval.low <= true <= interval.high
    assert covered / n_trials == pytest.approx(0.95, abs=4 * math.sqrt(0.05 * 0.95 / n_trials))


def test_an_unjudged_document_of_the_sample_is_named() -> None:
    with pytest.raises(InputError, match="query 'q', document 'y': found no judgment"):
        SampledJudgments.of(pool(RUNS, 1), {"q": {"x": 1}, "p": {"u": 1, "v": 0}})


def test_a_stratum_without_a_sampled_document_is_refused() -> None:
    with pytest.raises(InputError, match="found inclusion probability 0"):
        SampledJudgments.of_rows([("q", "a", 1, 1.0), ("q", "b", 2, None)])
    with pytest.raises(InputError, match="document 'a': found it twice"):
        SampledJudgments.of_rows([("q", "a", 1, 1.0), ("q", "a", 1, 1.0)])


@pytest.mark.parametrize("text", ["10", "10:2", "10:0", "5:1,5:1", "9:1,3:1", "x:1", "0:1", ""])
def test_impossible_strata_are_refused(text: str) -> None:
    with pytest.raises(OptionError, match="strata"):
        Strata.of(text)


def test_impossible_pools_are_refused() -> None:
    with pytest.raises(OptionError, match="expected one of them"):
        pool(RUNS, strata="2:1", budget=3)
    with pytest.raises(OptionError, match="order='best'"):
        pool(RUNS, order="best")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="found none"):
        pool([])
    for queries, said in (
        ([], "`queries` is empty"),
        (["z"], "the runs do not answer the query"),
        (["y", "z"], "answer none of the 2 queries"),
    ):
        with pytest.raises(InputError, match=f"no query to pool: .*{said}"):
            pool(RUNS, queries=queries)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("query,document\nq,a\n", "a column 'stratum'"),
        (
            "query,document,stratum,probability,sampled\nq,a,1,1.5,true\n",
            r":2: found '1\.5', expected an inclusion probability",
        ),
        ("query,document,stratum,probability,sampled\nq,a,1,1,yes\n", "true or false"),
        ("query,document,stratum,probability,sampled\nq,a,1,1\n", "4 cells"),
        ("q 0 a 1\n", ":1: found 4 fields, expected 5"),
        ("q 0 a 1 x\n", "a finite grade"),
        ("\n", "a pool of documents"),
    ],
)
def test_wrong_pool_files_are_named_with_their_line(text: str, said: str, tmp_path: Any) -> None:
    path = tmp_path / "pool.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileFormatError, match=said):
        read_pool_rows(str(path))


def test_wrong_estimates_are_refused() -> None:
    sample = SampledJudgments.of_rows([("q", "a", 1, 1.0)])
    with pytest.raises(OptionError, match="expected one of infAP"):
        sampled_estimate(sample, {"q": ["a"]}, "AP")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="expected it with DCG alone"):
        sampled_estimate(sample, {"q": ["a"]}, "statAP", cutoff=10)
    with pytest.raises(InputError, match="does not answer the sampled query"):
        sampled_estimate(sample, {"p": ["a"]}, "statAP")


def test_few_sampled_relevant_documents_leave_no_interval_but_that_of_dcg() -> None:
    """Ten of 60 documents of a query are relevant, and 9 are sampled: queries without a relevant
    one count 0.
    """
    rng = np.random.default_rng(6)
    rows: list[Any] = []
    for query in range(200):
        picked = rng.choice(60, 9, replace=False)
        rows += [
            (f"q{query}", f"d{place}", 1, float(place % 6 == 0) if place in picked else None)
            for place in range(60)
        ]
    sample = SampledJudgments.of_rows(rows)
    run = {f"q{query}": [f"d{place}" for place in range(60)] for query in range(200)}
    found, dcg = (sampled_estimate(sample, run, measure) for measure in ("xinfAP", "DCG"))  # type: ignore[arg-type]
    complete = SampledJudgments.of_rows(
        [(*row[:3], float(int(row[1][1:]) % 6 == 0)) for row in rows]
    )
    true = sampled_estimate(complete, run, "xinfAP")

    assert 1 < sample.relevant_per_query < 2
    assert sample.n_without_relevant > 20
    assert (found.is_biased, found.interval) == (True, None)
    # about: the simulation shows how nearly
    assert 1 - found.mean / true.mean == pytest.approx(found.shortfall, abs=0.15)
    assert (dcg.is_biased, dcg.shortfall) == (False, 0)
    assert dcg.interval is not None
    assert (complete.shortfall, true.is_biased) == (0, False)
    assert true.interval is not None


def test_a_sample_without_a_relevant_document_says_nothing() -> None:
    nothing = SampledJudgments.of_rows(
        [("q", "a", 1, 0.0), ("q", "b", 1, None), ("r", "a", 1, 0.0)]
    )

    assert (nothing.shortfall, nothing.relevant_per_query, nothing.n_without_relevant) == (1, 0, 2)
    assert SampledJudgments.of_rows([("q", "a", 1, 0.0)]).shortfall == 0


def test_runs_that_name_queries_without_documents_are_refused() -> None:
    with pytest.raises(InputError, match="no query to pool: the runs do not answer the query"):
        pool([{"q1": {}}])


def test_queries_asked_for_are_in_the_pool_answered_or_not() -> None:
    pooled = pool([{"q": ["a"], "r": ["b"]}], 3, queries=["q", "unanswered"])
    assert (list(pooled.query_ids), list(pooled.documents)) == (["q", "unanswered"], ["a"])
