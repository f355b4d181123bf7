"""How alike two rankings are, beside their difference: against sets and lists of plain Python, and
whole runs against cut ones.
"""

import numpy as np
import pytest

import idealrank as ir
from idealrank.data.run import Run
from idealrank.data.run_pairs import PairRules
from idealrank.errors import OptionError
from idealrank.evaluation.overlap import measures_beside, overlap_of, overlap_of_top
from idealrank.inputs.evaluation import evaluate_read
from idealrank.inputs.run_rankings import overlap_ranks, overlaps
from idealrank.measures.parse import parse_measures, parse_pair_measures
from idealrank.reports.views.comparison.phrases import unchanged

QRELS = {f"q{i}": {"d0": 1, "d1": 2} for i in range(30)}


def ranking(generator: np.random.Generator, n: int = 12) -> list[str]:
    """Documents with few exchanges of neighbours, so that some tops stay as they are."""
    documents = [f"d{i}" for i in range(n)]
    for place in np.flatnonzero(generator.random(n - 1) < 0.12):
        documents[place], documents[place + 1] = documents[place + 1], documents[place]
    return documents


def two_runs(seed: int = 1) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    generator = np.random.default_rng(seed)
    queries = [*QRELS, "unjudged"]
    a, b = ({query: ranking(generator) for query in queries} for _ in range(2))
    del b["q7"]
    return a, b


def test_shares_are_those_of_sets_and_lists() -> None:
    a, b = two_runs()
    first, second = ir.Run(a, name="a"), ir.Run(b, name="b")
    evaluations = [ir.evaluate(QRELS, run, ["nDCG@5", "AP"]) for run in (first, second)]

    found = (
        ir.compare(
            *evaluations,
            rankings=ir.overlap(first, second, measures_beside(evaluations[0].measures)),
        )
        .pairs[0]
        .rankings
    )

    common = [query for query in QRELS if query in b]
    assert found is not None
    assert found.queries == len(common) == 29
    for k in (5, 10):
        tops = [(a[query][:k], b[query][:k]) for query in common]
        same = np.mean([one == other for one, other in tops])
        assert 0 < same < 1
        assert found.mean[f"Same@{k}"] == pytest.approx(same, abs=1e-15)
        assert found.mean[f"Same(order=any)@{k}"] == pytest.approx(
            np.mean([set(one) == set(other) for one, other in tops]), abs=1e-15
        )
        assert found.mean[f"overlap@{k}"] == pytest.approx(
            np.mean([len(set(one) & set(other)) / k for one, other in tops]), abs=1e-15
        )


@pytest.mark.parametrize("ties", ["docid", "docid-ascending", "input"])
def test_looking_no_deeper_than_the_measures_changes_no_value(ties: str) -> None:
    generator = np.random.default_rng(3)
    a, b = (
        {f"q{i}": {f"d{d}": float(generator.integers(4)) for d in range(9)} for i in range(40)}
        for _ in range(2)
    )
    measures = ["Same@3", "Same(order=any)@3", "overlap@3", "RBO(p=0.9)@5", "Jaccard@2"]

    whole = ir.overlap(Run(a), Run(b), measures, ties=ties)
    cut = overlap_of((Run(a), Run(b)), measures, PairRules(ties=ties, depth=5))

    assert np.array_equal(whole.values, cut.values)
    assert cut.common.sum() < whole.common.sum()


def test_common_documents_are_counted_down_to_the_depth_of_both_lists() -> None:
    # The tie group of "with ties" begins above the depth and ends below it.
    runs = {
        "ranked": Run({"q": list("wyxz")}),
        "with ties": Run({"q": {"w": 2, "x": 1, "y": 1, "v": 1}}),
    }
    measures, convention = (
        parse_pair_measures(["overlap@2"]),
        ir.Convention.of("standard,ties=input"),
    )
    qrels = ir.Qrels({"q": {"w": 1}})
    tops = {
        name: evaluate_read(qrels, run, parse_measures("AP"), convention, keep_top=4).judged.top
        for name, run in runs.items()
    }
    common, rules = {}, PairRules(ties="input", depth=2)
    for first, second in [("ranked", "with ties"), ("with ties", "ranked")]:
        pair = runs[first], runs[second]
        by_run = overlap_of(pair, measures, rules)
        by_top = overlap_of_top(pair, (tops[first], tops[second]), measures, rules)
        common[first] = by_run.common.tolist() + by_top.common.tolist()

    assert common == {"ranked": [1, 1], "with ties": [1, 1]}


def test_lists_are_not_cut_through_shared_ranks() -> None:
    with pytest.raises(
        OptionError, match="depth=5 with ties=shared: only lists with ordered ties can be cut"
    ):
        PairRules(depth=5)


def test_the_names_must_be_those_of_the_runs() -> None:
    a, b = two_runs()
    evaluations = [
        ir.evaluate(QRELS, ir.Run(run, name=name), parse_measures("AP"))
        for name, run in (("a", a), ("b", b))
    ]

    with pytest.raises(
        OptionError,
        match="rankings: found the run 'A', expected those compared: a, b; give runs their names",
    ):
        ir.compare(*evaluations, rankings=ir.overlap(a, b, "overlap@3"))


def test_each_pair_has_its_own_in_either_order() -> None:
    a, b = two_runs()
    runs = [ir.Run(run, name=name) for name, run in (("a", a), ("b", b), ("c", a))]
    evaluations = [ir.evaluate(QRELS, run, "AP") for run in runs]

    found = ir.compare(
        *evaluations,
        rankings=[ir.overlap(runs[2], runs[0], "Same@12"), ir.overlap(runs[0], runs[1], "Same@12")],
    )

    assert found.pair("a", "c").as_dict()["rankings"] == {"queries": 30, "Same@12": 1.0}
    assert found.pair("a", "b").as_dict()["rankings"]["Same@12"] < 1
    assert "rankings" not in found.pair("b", "c").as_dict()


def test_a_measure_that_is_not_symmetric_is_shown_in_its_own_order_alone() -> None:
    runs = [ir.Run(run, name=name) for name, run in zip("ab", two_runs(), strict=True)]
    evaluations = [ir.evaluate(QRELS, run, "AP") for run in runs]
    there, back = (ir.overlap(*pair, ["tauAP", "overlap@12"]) for pair in (runs, runs[::-1]))

    of_one, of_both = (
        ir.compare(*evaluations, rankings=given).pairs[0].as_dict()["rankings"]
        for given in (back, [there, back])
    )

    assert there.mean()["tauAP"] != back.mean()["tauAP"]
    assert list(of_one) == ["queries", "overlap@12"]
    assert of_both["tauAP"] == pytest.approx(
        np.nanmean(there["tauAP"][[query in QRELS for query in there.queries]]), abs=1e-12
    )


def test_names_that_several_runs_have_are_refused() -> None:
    a, b = two_runs()
    runs = [ir.Run(run, name=name) for name, run in (("same", a), ("same", b), ("c", a))]

    with pytest.raises(
        OptionError,
        match="rankings: found 2 runs of the name 'same', expected those compared: same, same, c",
    ):
        ir.compare(
            *(ir.evaluate(QRELS, run, "AP") for run in runs),
            rankings=ir.overlap(runs[1], runs[2], "overlap@3"),
        )


def said_of(a: dict[str, list[str]], b: dict[str, list[str]], measures: list[str]) -> list[str]:
    """The sentences on two runs compared by these measures."""
    qrels = {query: {"d0": 1} for query in a}
    runs = [ir.Run(run, name=name) for name, run in (("a", a), ("b", b))]
    evaluations = [ir.evaluate(qrels, run, measures) for run in runs]
    alike = ir.overlap(runs[0], runs[1], measures_beside(evaluations[0].measures))
    return unchanged(ir.compare(*evaluations, rankings=alike).pairs[0].rankings)


def test_a_sentence_names_the_depth_of_lists_shorter_than_the_cutoff() -> None:
    a = {f"q{i}": [f"d{d}" for d in range(10)] for i in range(8)}
    b = {query: [*documents[:4], *(f"x{d}" for d in range(6))] for query, documents in a.items()}

    deep, both = said_of(a, b, ["R@100"]), said_of(a, b, ["nDCG@10", "R@100"])

    assert deep[0].startswith(
        "The first 10 results differ on all 8 queries that both answer; on average, 4.0 of 10 "
        "are shared"
    )
    assert both == deep


def test_lists_of_several_lengths_have_no_one_depth_in_a_sentence() -> None:
    a = {"p": ["d0", "d1"], "q": ["d0", "d1", "d2", "d3"]}
    b = {"p": ["d0", "x1"], "q": ["d0", "x1", "x2", "x3"]}

    # One document on p and one on q.
    assert said_of(a, b, ["R@100"])[0].startswith(
        "The first 100 results, or all of shorter lists, differ on all 2 queries that both "
        "answer; on average, 1.0 are shared"
    )
    assert "on average, 1.0 of 2 are shared" in said_of(a, b, ["R@2"])[0]


def test_depths_are_of_the_queries_compared() -> None:
    a, b = (
        {"p": ["d0"], "q": ["d0", "d1"], "unjudged": list("abcdefgh")},
        {"p": ["d0", "x1"], "q": ["d0"], "unjudged": list("hg")},
    )
    runs = [ir.Run(run, name=name) for name, run in (("a", a), ("b", b))]
    evaluations = [ir.evaluate({"p": {"d0": 1}, "q": {"d0": 1}}, run, "AP") for run in runs]

    found = (
        ir.compare(
            *evaluations,
            rankings=ir.overlap(runs[0], runs[1], ["overlap@5", "overlap@1", "overlap"]),
        )
        .pairs[0]
        .rankings
    )

    assert found is not None
    assert found.depths == {"overlap@5": (2, 2), "overlap@1": (1, 1), "overlap": (2, 2)}


def drawn_run(rng: np.random.Generator, name: str, queries: range, *, repeated: bool) -> ir.Run:
    """Lists with many ties, longer than the ranks that are kept, with documents that come twice
    where asked.
    """
    rows = []
    for query in queries:
        documents = rng.choice(160, rng.integers(1, 150), replace=False).tolist()
        documents += documents[:5] if repeated else []
        rows += [
            (f"q{query}", f"d{document}", float(rng.integers(0, 40))) for document in documents
        ]
    ids, names, scores = zip(*rows, strict=True)
    return ir.Run.from_columns(list(ids), list(names), np.array(scores), name=name)


@pytest.mark.spread(16)
@pytest.mark.parametrize(
    "switches",
    [
        "standard",
        "standard,ties=input",
        "standard,ties=docid-ascending",
        "standard,missing=left-out",
    ],
)
@pytest.mark.parametrize("duplicates", ["error", "first", "last", "best"])
@pytest.mark.parametrize("measures", ["nDCG@10", "AP", ["P@3", "R@100"]])
def test_rankings_are_compared_by_kept_documents_as_by_the_runs(
    switches: str, duplicates: str, measures: str | list[str]
) -> None:
    rng = np.random.default_rng(5)
    repeated = duplicates != "error"
    runs = [
        drawn_run(rng, "a", range(12), repeated=repeated),
        drawn_run(rng, "b", range(4, 15), repeated=repeated),
    ]
    qrels = ir.Qrels(
        {f"q{query}": {f"d{number}": 1 for number in range(6)} for query in range(2, 17)}
    )
    convention, asked = ir.Convention.of(switches, duplicates=duplicates), parse_measures(measures)
    kept = [
        evaluate_read(qrels, run, asked, convention, keep_top=overlap_ranks(asked, convention))
        for run in runs
    ]
    unread = [ir.Run({"q": ["x"]}, name=run.name) for run in runs]
    (by_top,), (by_run,) = (
        overlaps(unread, asked, convention, evaluations=kept),
        overlaps(runs, asked, convention),
    )
    place = {query: row for row, query in enumerate(by_top.queries)}
    rows = [place[query] for query in by_run.queries]
    assert len(rows) == len(by_top.queries) == 8
    np.testing.assert_array_equal(by_top.values[rows], by_run.values)
    np.testing.assert_array_equal(by_top.scored[rows], by_run.scored)
    np.testing.assert_array_equal(by_top.lengths[rows], by_run.lengths)
    np.testing.assert_array_equal(by_top.tied[rows], by_run.tied)
    np.testing.assert_array_equal(by_top.common[rows], by_run.common)
    assert set(by_top.only_a) == set(by_run.only_a)
    assert set(by_top.only_b) == set(by_run.only_b)


@pytest.mark.parametrize(
    "switches",
    ["ties=expected", "ties=best", "duplicates=twice", "unjudged=skipped", "score=float32"],
)
def test_where_kept_documents_do_not_tell_none_are_kept(switches: str) -> None:
    assert overlap_ranks(parse_measures("nDCG@10"), ir.Convention.of(f"standard,{switches}")) == 0
