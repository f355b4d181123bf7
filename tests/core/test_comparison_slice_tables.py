"""Slices of a comparison: those of `ir.slices`, SciPy's p values, one family over slices and pairs,
weights and clusters.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import idealrank as ir
from idealrank.errors import InputError, OptionError
from idealrank.reports.table.forms import Table
from idealrank.reports.views.comparison.comparison import comparison_parts
from idealrank.stats import simultaneous
from idealrank.stats.design import Design

CLOSE = 1e-12
MEASURES = ["RR", "P@3"]
QUERIES = [f"q{place}" for place in range(24)]
CATEGORIES = {
    query: ["short"] * (place % 2 == 0) + ["news"] * (place < 10)
    for place, query in enumerate(QUERIES)
}


def evaluations(n_runs=3, *, measures=MEASURES, convention="standard", without=()):
    """Runs that put one of two relevant documents at random ranks, the later runs higher."""
    generator = np.random.default_rng(1)
    qrels = {query: {"rel": 1, "also": 1} for query in QUERIES}
    found = []
    for number in range(n_runs):
        run = {}
        for query in QUERIES:
            ranking = [f"d{place}" for place in range(8)]
            ranking.insert(int(generator.integers(0, 8 - 3 * min(number, 2))), "rel")
            ranking.insert(int(generator.integers(4, 8)), "also")
            run[query] = ranking
        run = {
            query: ranking for query, ranking in run.items() if not (number and query in without)
        }
        found.append(ir.evaluate(qrels, ir.Run(run, name=f"run{number}"), measures, convention))
    return found


def values(evaluation, measure):
    return dict(zip(evaluation.queries, evaluation[measure].tolist(), strict=True))


def differences(a, b, measure, name):
    first, second = values(a, measure), values(b, measure)
    return np.array(
        [second[query] - first[query] for query in QUERIES if name in CATEGORIES[query]]
    )


def test_they_are_those_of_slices_alone_and_are_corrected_over_all_pairs():
    runs = evaluations()

    found = ir.compare(*runs, slices=CATEGORIES, rng=3, labels_are="complete")

    # random signs go to queries in the order of their ids
    names, ordered = ["short", "news"], sorted(QUERIES)
    within = np.array([[name in CATEGORIES[query] for name in names] for query in ordered])
    for measures in (MEASURES[:1], MEASURES[1:]):
        pairs = [
            tuple(runs[found.names.index(name)] for name in (pair.a, pair.b))
            for pair in found.pairs
        ]
        columns = [
            [values(b, measure)[query] - values(a, measure)[query] for query in ordered]
            for a, b in pairs
            for measure in measures
            for _ in names
        ]
        family = simultaneous(
            np.array(columns).T, counted=np.tile(within, len(columns) // 2), rng=3
        )
        rows = [
            pair[measure].slices[name]
            for pair in found.pairs
            for measure in measures
            for name in names
        ]
        assert [row.p_corrected for row in rows] == family.p.tolist()
        assert [row.interval for row in rows] == list(
            zip(family.low.tolist(), family.high.tolist(), strict=True)
        )
        assert [row.verdict != "undecided" for row in rows] == (family.p <= 0.05).tolist()
        assert {row.verdict for row in rows} == {"better", "undecided"}
    for pair, (first, second) in zip(found.pairs, pairs, strict=True):
        for measure, whole in pair.measures.items():
            alone = ir.slices(values(first, measure), values(second, measure), CATEGORIES, rng=3)
            assert (
                whole.slices.difference
                == alone.difference
                == pytest.approx(whole.difference, abs=CLOSE)
            )
            for row in whole.slices:
                assert (row.p, row.n, row.wins) == (
                    alone[row.name].p,
                    alone[row.name].n,
                    alone[row.name].wins,
                )
    assert found.method.families == {
        "primary measure": 3,
        "companions": 3,
        "slices": 6,
        "slices of companions": 6,
    }


def test_p_values_are_scipys():
    a, _, b = evaluations()

    found = ir.compare(a, b, slices=CATEGORIES)

    for measure in MEASURES:
        for row in found[measure].slices:
            own = differences(a, b, measure, row.name)
            expected = stats.permutation_test(
                (own,), np.mean, permutation_type="samples", n_resamples=np.inf
            )
            assert row.p == pytest.approx(expected.pvalue, abs=CLOSE)
            assert row.difference == pytest.approx(own.mean(), abs=CLOSE)
    by_t = ir.compare(a, b, slices=CATEGORIES, test="t")["RR"].slices["short"]
    expected = stats.ttest_rel(differences(a, b, "RR", "short"), np.zeros(12))
    assert by_t.p == pytest.approx(expected.pvalue, rel=1e-10)
    # Bonferroni's, of two slices
    assert by_t.interval == pytest.approx(tuple(expected.confidence_interval(0.975)), rel=1e-10)
    assert by_t.p_corrected == pytest.approx(2 * expected.pvalue, rel=1e-10)


def test_weights_and_clusters_count_in_every_slice():
    a, _, b = evaluations()
    weights = {query: 1.0 + place % 5 for place, query in enumerate(QUERIES)}
    clusters = {query: place // 3 for place, query in enumerate(QUERIES)}

    found = ir.compare(a, b, slices=CATEGORIES, weights=weights, clusters=clusters)

    whole = found["RR"]
    for row in whole.slices:
        own = [query for query in QUERIES if row.name in CATEGORIES[query]]
        by_hand = np.array([weights[query] for query in own])
        assert row.mean_a == pytest.approx(
            np.average([values(a, "RR")[query] for query in own], weights=by_hand), abs=CLOSE
        )
        totals = np.zeros(8)
        np.add.at(
            totals, [clusters[query] for query in own], by_hand * differences(a, b, "RR", row.name)
        )
        expected = stats.permutation_test(
            (totals[totals != 0],), np.sum, permutation_type="samples", n_resamples=np.inf
        )
        assert row.p == pytest.approx(expected.pvalue, abs=CLOSE)
        assert row.part == pytest.approx(
            by_hand.sum() / sum(weights.values()) * row.difference, abs=CLOSE
        )
    alone = ir.slices(
        values(a, "RR"), values(b, "RR"), CATEGORIES, weights=weights, clusters=clusters
    )
    assert [(row.name, row.p, row.interval) for row in alone] == [
        (row.name, row.p, row.interval) for row in whole.slices
    ]
    design = Design.of(24, weights=list(weights.values()))
    assert whole.slices.difference == pytest.approx(design.mean(b["RR"] - a["RR"]), abs=CLOSE)


def test_slices_that_part_the_queries_have_parts_that_sum_to_the_weighted_difference():
    a, b = evaluations(2)
    weights = {query: 1.0 + place for place, query in enumerate(QUERIES)}

    found = ir.compare(
        a, b, slices={query: str(place % 3) for place, query in enumerate(QUERIES)}, weights=weights
    )

    for row in found.pairs[0].measures.values():
        assert math.fsum(one.part for one in row.slices) == pytest.approx(row.difference, abs=CLOSE)
        assert [one.difference for one in row.slices] == sorted(
            one.difference for one in row.slices
        )


def test_where_less_is_better_the_rise_is_the_loss():
    a, b = evaluations(2, measures=["ARP"])
    (measure,) = a.measures

    row = ir.compare(a, b, slices=dict.fromkeys(QUERIES, "all"))[measure].slices["all"]

    rises = sum(values(b, measure)[query] > values(a, measure)[query] for query in QUERIES)
    assert measure.direction == -1
    assert row.losses == rises


def test_a_measure_has_the_slices_in_which_its_queries_count():
    runs = evaluations(
        2,
        convention="standard,missing=left-out",
        without=[query for query in QUERIES if "news" in CATEGORIES[query]],
    )

    found = ir.compare(*runs, slices=CATEGORIES)

    assert [row.name for row in found["RR"].slices] == ["short"]
    assert found.method.families == {
        "primary measure": 1,
        "companions": 1,
        "slices": 1,
        "slices of companions": 1,
    }
    assert (found["RR"].slices.n, len(found["RR"].slices.uncategorised)) == (14, 7)
    assert found.method.slices == {"in_none": 7, "in_several": 5, "unknown": 0}


def test_few_queries_say_what_they_cannot_show():
    a, b = evaluations(2)

    found = ir.compare(a, b, measures="RR", slices={"q0": "few", "q1": "few", "q2": "few"})[
        "RR"
    ].slices["few"]

    assert found.detectable == math.inf
    assert found.as_dict()["detectable"] is None
    assert found.interval == (-math.inf, math.inf)


def test_records_and_frames_have_a_column_for_the_slice():
    a, b = evaluations(2)

    plain, found = ir.compare(a, b, rng=1), ir.compare(a, b, rng=1, slices=CATEGORIES)

    frame = found.to_frame("polars")
    assert frame.columns == [
        *plain.to_frame("polars").columns[:3],
        "slice",
        *plain.to_frame("polars").columns[3:],
        "part",
    ]
    assert frame["slice"].to_list()[0] is None
    assert sorted(frame["slice"].to_list()[1:3]) == ["news", "short"]
    assert set(frame["family"].to_list()) == {
        "primary measure",
        "companions",
        "slices",
        "slices of companions",
    }
    record = found.as_dict()["pairs"][0]["measures"]["RR"]
    assert {name: value for name, value in record.items() if name != "slices"} == plain.as_dict()[
        "pairs"
    ][0]["measures"]["RR"]
    assert record["slices"]["news"]["p"] == found["RR"].slices["news"].p
    assert "slices" not in plain.as_dict()["method"]


def test_what_cannot_be_answered_is_refused():
    with pytest.raises(
        InputError,
        match="found categories of 'z', expected some of the 24 evaluated queries, as 'q0'",
    ):
        ir.compare(*evaluations(2), slices={"z": "news"})
    runs = evaluations(11, measures=["RR"])
    with pytest.raises(
        OptionError,
        match="slices: found 11 runs to be compared with each other, expected at most 10, or a "
        "baseline",
    ):
        ir.compare(*runs, slices=CATEGORIES)
    found = ir.compare(*runs, slices=CATEGORIES, baseline="run0", n_resamples=500)
    assert (found.method.correction, found.method.families) == (
        "max-T",
        {"primary measure": 10, "slices": 20},
    )
    assert found.pairs[0]["RR"].slices.test == "permutation"


@pytest.mark.parametrize(
    ("n_old", "share", "whole"), [(75, 0.2, "better"), (40, 0.3, "too few judgments")]
)
def test_a_slice_stands_as_far_as_its_own_judgments_carry_it(n_old, share, whole):
    """Of old queries everything is judged, of new ones the documents of the first run alone."""
    generator = np.random.default_rng(5)
    qrels, runs = {}, ({}, {})
    for place in range(n_old + 25 + (n_old < 75) * 15):
        query = f"q{place}"
        for name, run, relevant in zip("ab", runs, (share, 0.45), strict=True):
            run[query] = [f"{name}{rank}" for rank in range(10)]
            if place < n_old or name == "a":
                qrels.setdefault(query, {}).update(
                    {document: int(generator.random() < relevant) for document in run[query]}
                )
    kinds = {query: "old" if int(query[1:]) < n_old else "new" for query in qrels}
    a, b = (ir.evaluate(qrels, ir.Run(run), ["nDCG@10", "AP"], keep_unjudged=True) for run in runs)

    found, turned = ir.compare(a, b, slices=kinds, rng=1), ir.compare(b, a, slices=kinds, rng=1)

    for measure in ("nDCG@10", "AP"):
        assert found[measure].slices["new"].difference < -0.2
        assert {row.name: row.verdict for row in found[measure].slices} == {
            "old": "better",
            "new": "too few judgments",
        }
        assert {row.name: row.verdict for row in turned[measure].slices} == {
            "old": "worse",
            "new": "too few judgments",
        }
    assert found["nDCG@10"].verdict == whole


def test_a_slice_that_the_judgments_do_not_carry_is_not_marked_as_decided():
    found = ir.compare(*evaluations(2), slices=CATEGORIES, rng=3)
    (pair,) = found.pairs
    companion = pair["P@3"]

    def marks(verdict):
        rows = tuple(replace(row, verdict=verdict) for row in companion.slices)
        changed = replace(companion, slices=replace(companion.slices, rows=rows))
        shown = replace(found, pairs=(replace(pair, measures={**pair.measures, "P@3": changed}),))
        *_, table = (part for part in comparison_parts(shown) if isinstance(part, Table))
        assert table.columns[1].title == "P@3"
        return {row[1].mark for row in table.rows}

    assert [
        marks(verdict) for verdict in ("better", "worse", "undecided", "too few judgments")
    ] == [{"*"}, {"*"}, {""}, {"?"}]
