"""The peers of the default installation, run live: random lists with ties, long lists, and the
demo's two real rankers.
"""

import pytest

import idealrank as ir
from tests.conftest import PYDOCS
from tests.golden.harness import Fixture, Row
from tests.parity.agreement import disagreements, long_fixture, none_taken, random_fixture
from tests.parity.calls import DEFAULT_CALLS, Call, arrays, judged, pytrec_eval_measure, returned

SLOW = {"lightgbm"}  # a booster a query costs 40 ms
TREC_MEASURES = (
    "ndcg",
    "ndcg_cut.10",
    "map",
    "map_cut.10",
    "recip_rank",
    "P.5",
    "P.10",
    "recall.10",
    "recall.100",
    "set_recall",
    "num_q",
    "num_ret",
    "num_rel",
    "num_rel_ret",
)


def pydocs(run: str, n_queries: int | None = None) -> Fixture:
    """A ranker's run over Python's documentation with its judgments."""
    fields = [
        line.split() for line in (PYDOCS / "qrels.txt").read_text(encoding="utf-8").splitlines()
    ]
    grades = {(query, document): float(grade) for query, _, document, grade in fields}
    queries: dict[str, list[Row]] = {}
    for line in (PYDOCS / run).read_text(encoding="utf-8").splitlines():
        query, _, document, _, score, _ = line.split()
        queries.setdefault(query, []).append(
            (document, float(score), grades.get((query, document)))
        )
    seen = {(query, row[0]) for query, rows in queries.items() for row in rows}
    for (query, document), grade in grades.items():
        if (query, document) not in seen:
            queries.setdefault(query, []).append((document, None, grade))
    return Fixture(dict(list(queries.items())[:n_queries]))


def by_name(call: Call) -> str:
    """The call, as the test's name."""
    return f"{call.peer}: {call.call}"


@pytest.mark.spread(4)
@pytest.mark.parametrize("call", DEFAULT_CALLS, ids=by_name)
def test_random_lists_with_ties(call: Call) -> None:
    """Equal per query at every cutoff."""
    fixtures = [random_fixture(seed) for seed in range(1 if call.peer in SLOW else 12)]
    if none_taken(call, fixtures):
        pytest.skip(f"{call.peer} {call.call} can take nothing here; gdeval is a Perl program")
    for fixture in fixtures:
        assert disagreements(call, fixture) == []


@pytest.mark.parametrize("call", DEFAULT_CALLS, ids=by_name)
def test_long_lists(call: Call) -> None:
    """Two hundred documents: XGBoost's bare ``ndcg`` is ``ndcg@32`` there."""
    assert disagreements(call, long_fixture(3), (None, 10, 100)) == []


@pytest.mark.parametrize("call", DEFAULT_CALLS, ids=by_name)
def test_real_rankers(call: Call) -> None:
    """BM25 over the demo's collection, with its own ties."""
    assert disagreements(call, pydocs("bm25.run", 10 if call.peer in SLOW else None), (10,)) == []


@pytest.mark.spread(10)
@pytest.mark.parametrize("run", ["bm25.run", "minilm.run"])
@pytest.mark.parametrize("measure", TREC_MEASURES)
def test_pytrec_eval_on_real_rankers(run: str, measure: str) -> None:
    """Every measure that both have, per query, files against dicts."""
    expected = pytrec_eval_measure(pydocs(run), measure)
    found = ir.evaluate(PYDOCS / "qrels.txt", PYDOCS / run, [measure], "trec_eval-9")
    values = found.per_query()
    assert set(values) == set(expected)
    for query, value in expected.items():
        assert values[query][str(ir.parse_measure(measure))] == pytest.approx(value, abs=1e-12)


@pytest.mark.spread(5)
@pytest.mark.parametrize("measure", TREC_MEASURES)
def test_pytrec_eval_on_random_lists(measure: str) -> None:
    """Binary measures and counts with ties, unjudged documents and missing ones."""
    for seed in range(12):
        fixture = random_fixture(seed)
        expected = pytrec_eval_measure(fixture, measure)
        values = ir.evaluate(
            judged(fixture), returned(fixture), [measure], "trec_eval-9"
        ).per_query()
        for query, value in expected.items():
            assert values[query][str(ir.parse_measure(measure))] == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(
    "measure",
    [
        "AP",
        "AP@3",
        "AP(rel=2)",
        "RR",
        "P@5",
        "P(rel=3)@5",
        "R@3",
        "R(rel=2)@10",
        "nDCG@5",
        "NumRet",
        "NumRelRet",
    ],
)
def test_ir_measures_spells_and_computes_the_same(measure: str) -> None:
    """The same text gives the same number in both, per query; a missing query counts 0."""
    import ir_measures

    fixture = random_fixture(5)
    fixture = Fixture({**fixture.queries, "900": [("d1", None, 1.0)]})
    grades = {
        query: {d: int(grade) for d, grade in documents.items()}
        for query, documents in judged(fixture).items()
    }
    values = ir.evaluate(grades, returned(fixture), [measure], "ir_measures").per_query()
    for metric in ir_measures.iter_calc(
        [ir_measures.parse_measure(measure)], grades, returned(fixture)
    ):
        assert values[metric.query_id][measure] == pytest.approx(metric.value, abs=1e-12)


def test_the_mean_of_lightgbm_over_many_lists() -> None:
    """One data set of forty lists, some without a relevant item: the printed mean is ours."""
    import lightgbm
    import numpy as np

    fixture = random_fixture(11, n_queries=40)
    labels, scores, sizes = [], [], []
    for _, one, two in arrays(fixture):
        labels += one
        scores += two
        sizes.append(len(one))
    params = {
        "objective": "lambdarank",
        "metric": "ndcg",
        "eval_at": [1, 3, 10],
        "verbosity": -1,
        "num_threads": 1,
    }
    items = lightgbm.Dataset(
        np.arange(len(labels), dtype=float).reshape(-1, 1),
        labels,
        group=sizes,
        init_score=np.array(scores),
        params=params,
    )
    for _, name, value, _ in lightgbm.Booster(params, items).eval_train():
        cutoff = int(name.rpartition("@")[2])
        assert ir.ndcg(
            labels, scores, cutoff, sizes, convention="lightgbm"
        ).mean() == pytest.approx(value, abs=1e-12)
