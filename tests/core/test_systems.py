"""Systems of several copies: numbers of `replicated_difference`, families by Bonferroni, the power
behind what is visible, folds.
"""

import json

import numpy as np
import pytest

import idealrank as ir
from idealrank.analysis.systems import detectable_between, relation_of
from idealrank.errors import InputError, OptionError
from idealrank.stats import replicated_difference
from idealrank.stats.comparison import smallest_visible

QUERIES = [f"q{place:02}" for place in range(40)]
QRELS = {query: {"rel": 2, "also": 0} for query in QUERIES}
MEASURES = ["nDCG@5", "RR", "P@3"]


def copy(rng, deepest, *, name="run", queries=QUERIES):
    """A run that puts the relevant document at one of the first ranks, by chance."""
    run = {}
    for query in queries:
        ranking = ["also", *(f"d{place}" for place in range(8))]
        ranking.insert(int(rng.integers(0, deepest)), "rel")
        run[query] = ranking
    return ir.Run(run, name=name)


def evaluated(deepest, n, seed, convention="standard", measures=MEASURES):
    rng = np.random.default_rng(seed)
    return [
        ir.evaluate(QRELS, copy(rng, deepest, name=f"s{number}"), measures, convention)
        for number in range(n)
    ]


def test_every_number_is_that_of_replicated_difference_on_the_values():
    a, b = evaluated(8, 3, 1), evaluated(6, 4, 2)

    found = ir.compare_systems(a, b, names=("old", "new"), level=0.9)

    for place, measure in enumerate(MEASURES):
        tables = [np.stack([one[measure] for one in side], axis=1) for side in (a, b)]
        tests = 2 if place else 1
        expected = replicated_difference(*tables, level=1 - 0.1 / tests)
        row = found[measure]
        assert (row.found.difference, row.found.p) == (expected.difference, expected.p)
        assert (row.found.low, row.found.high) == pytest.approx(
            (expected.low, expected.high), rel=1e-9
        )
        assert row.copies_a == pytest.approx([one.mean()[measure] for one in a], abs=1e-15)
        assert row.mean_b - row.mean_a == pytest.approx(expected.difference, abs=1e-12)
        assert row.standard_error(40, lambda seeds: seeds) == pytest.approx(
            expected.standard_error_with(), rel=1e-12
        )
        assert row.standard_error(80, lambda seeds: 5) == pytest.approx(
            expected.standard_error_with(n_queries=80, n_seeds=5), rel=1e-12
        )
        assert row.p_corrected == pytest.approx(min(1.0, tests * expected.p), rel=1e-12)
        assert row.verdict == ("better" if row.p_corrected <= 0.1 else "undecided")
        assert (row.found.low > 0 or row.found.high < 0) == (row.p_corrected <= 0.1)
    assert (found.a, found.b, found.runs_a, found.runs_b[-1]) == (
        "old",
        "new",
        ("s0", "s1", "s2"),
        "s3",
    )


def normal_systems(
    queries: int, share: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Values of five copies of two systems, which differ on some of the queries."""
    own = rng.normal(0, 0.1, (queries, 1))
    copies = rng.normal(0, 0.02, (2, 1, 5)) + rng.normal(0, 0.05, (2, queries, 5))
    changes = rng.random((queries, 1)) < share
    return np.where(changes, copies[0], 0.0), np.where(changes, own + copies[1], 0.0)


def test_a_shift_of_all_queries_is_found_by_t_with_an_allowance_for_few_copies():
    values = normal_systems(400, 1.0, np.random.default_rng(1))
    found = replicated_difference(*values)

    by_t = smallest_visible(found.standard_error * 20, 400, found.df, 0.05, 0.8)
    few = (found.df / (found.df - 1.5)) ** 0.5

    assert detectable_between(found, values, 0.05).size == pytest.approx(by_t * few, rel=0.02)


def test_changes_of_a_fifth_of_the_queries_need_more_than_a_shift_of_all():
    values = normal_systems(80, 0.2, np.random.default_rng(3))
    found = replicated_difference(*values)

    by_t = smallest_visible(found.standard_error * 80**0.5, 80, found.df, 0.05, 0.8)
    few = (found.df / (found.df - 1.5)) ** 0.5

    assert detectable_between(found, values, 0.05).size > 1.08 * by_t * few


def test_no_power_is_stated_where_few_queries_differ():
    same = evaluated(6, 5, 2)
    values = np.zeros((40, 5)), np.zeros((40, 5))
    values[1][:11] = np.random.default_rng(1).normal(0, 0.1, (11, 5))
    assert (
        detectable_between(replicated_difference(*values), values, 0.05).reason
        == "11 queries differ, fewer than 12"
    )
    constant = values[0], values[0] + 0.25
    assert (
        detectable_between(replicated_difference(*constant), constant, 0.05).reason
        == "the differences do not vary"
    )
    row = ir.compare_systems(same, same)["RR"]
    assert (row.as_dict()["detectable"], row.detectable_reason) == (
        None,
        "0 queries differ, fewer than 15",
    )


def test_fewer_than_five_copies_of_a_trained_system_have_no_detectable_difference():
    five, four, one = evaluated(6, 5, 2), evaluated(8, 4, 1), evaluated(8, 1, 3)
    assert ir.compare_systems(four, five)["RR"].detectable == np.inf
    assert ir.compare_systems(four, five)["RR"].as_dict()["detectable"] is None
    assert 0 < ir.compare_systems(one, five, single="fixed")["RR"].detectable < 1
    assert 0 < ir.compare_systems(one, five, single="alike")["RR"].detectable < 1
    text = str(ir.compare_systems(four, five, measures="RR"))
    assert (
        "No power is stated, since 4 copies of a trained system, fewer than 5, hardly show "
        "how much training varies." in " ".join(text.split())
    )


def test_one_more_copy_is_worth_the_fewest_queries_that_do_as_much():
    row = ir.compare_systems(evaluated(8, 4, 3), evaluated(6, 4, 2))["nDCG@5"]

    wanted = row.standard_error(row.n, lambda seeds: seeds + 1)
    by_hand = next(
        more
        for more in range(10_000)
        if row.standard_error(row.n + more, lambda seeds: seeds) <= wanted * (1 + 1e-12)
    )

    assert row.queries_worth_one_copy() == by_hand > 0


def test_crossed_copies_and_single_ones_are_what_they_are_said_to_be():
    a, b = evaluated(8, 3, 1), evaluated(6, 3, 2)
    values = [np.stack([one["RR"] for one in side], axis=1) for side in (a, b)]

    crossed = ir.compare_systems(a, b, measures="RR", seeds="crossed")["RR"]
    fixed = ir.compare_systems(a[:1], b, measures="RR", single="fixed")["RR"]
    alike = ir.compare_systems(a, b[:1], measures="RR", single="alike")["RR"]

    assert crossed.found == replicated_difference(*values, seeds="crossed")
    assert fixed.found == replicated_difference(values[0][:, :1], values[1], single="fixed")
    assert alike.found == replicated_difference(values[0], values[1][:, :1], single="alike")
    assert (crossed.trained, fixed.trained, alike.trained) == (("difference",), ("b",), ("a", "b"))
    with pytest.raises(
        OptionError,
        match=r'a has one copy, expected several.*; set single="fixed" if it is not trained',
    ):
        ir.compare_systems(a[:1], b)


def test_less_is_better_turns_the_verdict():
    a, b = evaluated(2, 3, 1, measures=["ARP"]), evaluated(9, 3, 2, measures=["ARP"])

    (row,) = ir.compare_systems(a, b)

    assert row.found.difference > 0
    assert row.verdict == "worse"


def test_folds_are_told_from_copies_and_read_as_one_run(tmp_path):
    rng = np.random.default_rng(4)
    whole = copy(rng, 6)
    paths = []
    for fold in range(4):
        path = tmp_path / f"fold{fold}.run"
        queries = QUERIES[fold::4]
        rankings = {query: whole.ranking(query).documents for query in queries}
        path.write_text(
            "".join(
                f"{query} Q0 {doc} {at} {99 - at} t\n"
                for query, ranking in rankings.items()
                for at, doc in enumerate(ranking)
            )
        )
        paths.append(path)
    folds = [ir.evaluate(QRELS, path, MEASURES) for path in paths]

    assert relation_of(folds) == "folds"
    joined = ir.evaluate(QRELS, ir.read_run(paths, name="joined"), MEASURES)
    assert joined.mean() == ir.evaluate(QRELS, whole, MEASURES).mean()
    with pytest.raises(
        InputError,
        match=r"A: found 4 runs without common queries, which are folds of one copy, .* "
        r"read_run\(\[fold1, fold2\]\)",
    ):
        ir.compare_systems(folds, evaluated(6, 3, 2))


def test_runs_that_share_some_queries_are_neither_and_a_few_unanswered_ones_do_not_matter():
    rng = np.random.default_rng(5)
    some = [
        ir.evaluate(QRELS, copy(rng, 6, name=name, queries=part), "RR")
        for name, part in (("x", QUERIES[:25]), ("y", QUERIES[15:]))
    ]
    with pytest.raises(
        InputError,
        match="x and y share 10 queries, and x answers 25 of the 40 that the runs of its system "
        "answer",
    ):
        relation_of(some)

    nearly = [
        ir.evaluate(QRELS, copy(rng, 6, queries=QUERIES[place:]), "RR", "standard,missing=left-out")
        for place in (0, 3)
    ]
    assert relation_of(nearly) == "copies"
    row = ir.compare_systems(nearly, evaluated(6, 2, 2, "standard,missing=left-out", ["RR"]))["RR"]
    assert (row.n, row.excluded_queries) == (37, 3)


def test_judgments_and_runs_give_the_result_of_their_evaluations() -> None:
    qrels = {f"q{number}": {"x": 1, "y": 2} for number in range(6)}
    runs = [dict.fromkeys(qrels, order) for order in (["x", "y"], ["y", "x"], ["z", "x"], ["y"])]
    evaluations = [ir.evaluate(qrels, run, ["nDCG@10", "AP"]) for run in runs]
    expected = ir.compare_systems(evaluations[:2], evaluations[2:], names=("old", "new"))
    found = ir.seeds(qrels, runs[:2], runs[2:], measures=["nDCG@10", "AP"], names=("old", "new"))
    assert json.dumps(found.as_dict()["measures"]) == json.dumps(expected.as_dict()["measures"])
    with pytest.raises(
        ir.InputError,
        match=r"seeds: A: found one dict, expected a list with one for each trained copy, as in "
        r"seeds\(qrels, \[run, ...\], \[run, ...\]\) or seeds\(\[evaluation",
    ):
        ir.seeds(qrels, runs[0], runs[2:])
    with pytest.raises(ir.InputError, match="A: found one dict"):
        ir.seeds(runs[0], runs[1:])
