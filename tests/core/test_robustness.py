"""`robust`: every variant against a comparison made by hand, and cases where one switch turns the
verdict by construction.
"""

import json
import math
from functools import cache
from typing import Any

import numpy as np
import pytest

import idealrank as ir
from idealrank.analysis.robustness import Variant
from idealrank.analysis.robustness.variants import CHANGED
from idealrank.errors import InputError, OptionError
from tests.conftest import PYDOCS

QRELS, RUN_A, RUN_B = (str(PYDOCS / name) for name in ("qrels.txt", "bm25.run", "minilm.run"))
# Of one query: what is judged, and what both runs return. Eight such queries give an exact p of
# 2/2^8.
QUERIES = [f"q{i}" for i in range(8)]


@cache
def pydocs(measure: str = "nDCG@10") -> Any:
    return ir.robust(QRELS, RUN_A, RUN_B, measure)


def everywhere(one: Any) -> dict[str, Any]:
    return dict.fromkeys(QUERIES, one)


def by_change(found: Any) -> dict[str, Variant]:
    return {one.change: one for one in (*found.variants, *found.pairs)}


def turned_by_switches(found: Any) -> list[str]:
    return [one.change for one in found.turning if one.group in CHANGED]


# The measure and the convention that somebody would type to make the variant by hand.
BY_HAND = {
    "gain=exp2": ("nDCG(gain=exp2)@10", "standard"),
    "gain=binary": ("nDCG(gain=binary)@10", "standard"),
    "discount=zipf(1)": ("nDCG(discount=zipf(1))@10", "standard"),
    "discount=linear": ("nDCG(discount=linear)@10", "standard"),
    "cutoff=3": ("nDCG@3", "standard"),
    "cutoff=none": ("nDCG", "standard"),
    "ideal=returned": ("nDCG@10", "standard,ideal=returned"),
    "rounding=floor-2": ("nDCG@10", "standard,rounding=floor-2"),
    "ties=expected": ("nDCG@10", "standard,ties=expected"),
    "ties=worst": ("nDCG@10", "standard,ties=worst"),
    "no_relevant=left-out": ("nDCG@10", "standard,no_relevant=left-out"),
    "AP": ("AP", "standard"),
    "lightgbm": ("nDCG@10", "lightgbm"),
    "sklearn": ("nDCG@10", "sklearn"),
    "trec_eval-9": ("nDCG@10", "trec_eval-9"),
    "rankkit": ("nDCG@10", "rankkit"),
    "ideal=returned,no_relevant=one": ("nDCG@10", "standard,ideal=returned,no_relevant=one"),
}


@pytest.mark.spread(5)
@pytest.mark.parametrize("change", BY_HAND)
def test_a_variant_is_the_comparison_that_one_would_make_by_hand(change: str) -> None:
    measure, convention = BY_HAND[change]
    found = pydocs()
    a, b = (ir.evaluate(QRELS, run, measure, convention) for run in (RUN_A, RUN_B))

    row = by_change(found)[change].row
    by_hand = ir.compare(a, b, rng=found.method.seed)[measure]

    assert row is not None
    assert (row.mean_a, row.mean_b) == pytest.approx(
        (a.mean()[measure], b.mean()[measure]), rel=1e-12
    )
    assert (row.difference, *row.interval) == pytest.approx(
        (by_hand.difference, *by_hand.interval), rel=1e-9
    )
    assert (row.p, row.verdict, row.n, row.excluded_queries) == (
        by_hand.p,
        by_hand.verdict,
        by_hand.n,
        by_hand.excluded_queries,
    )
    assert (row.wins, row.ties, row.losses, row.p_corrected) == (
        by_hand.wins,
        by_hand.ties,
        by_hand.losses,
        by_hand.p,
    )


@pytest.mark.parametrize(
    ("measure", "groups"),
    [
        pytest.param("nDCG@10", CHANGED, marks=pytest.mark.slow),
        ("nDCG@10", ("measure", "preset")),
        ("AP", ("rel", "unjudged")),
    ],
)
def test_every_variant_can_be_made_again_from_its_texts(
    measure: str, groups: tuple[str, ...]
) -> None:
    variants = [
        one for one in pydocs(measure).variants if one.group in groups and one.row is not None
    ]

    assert len({one.group for one in variants}) > 1
    for one in variants:
        assert one.row is not None
        means = [
            ir.evaluate(QRELS, run, one.measure, one.convention.name).mean()[one.measure]
            for run in (RUN_A, RUN_B)
        ]
        assert (one.row.mean_a, one.row.mean_b) == pytest.approx(means, rel=1e-12), one.change


def test_the_comparison_asked_for_is_what_compare_says() -> None:
    a, b = (ir.evaluate(QRELS, run, "nDCG@10") for run in (RUN_A, RUN_B))

    row, by_hand = pydocs().asked, ir.compare(a, b)["nDCG@10"]

    assert (row.p, row.verdict) == (by_hand.p, by_hand.verdict)
    assert (row.difference, *row.interval) == pytest.approx(
        (by_hand.difference, *by_hand.interval), rel=1e-12
    )


def test_a_tie_rule_alone_turns_a_verdict() -> None:
    """Run a gives both documents one score: by falling id the relevant x comes second, RR 1/2; by
    rising id first, RR 1.
    """
    found = ir.robust(
        everywhere({"x": 1, "y": 0}), everywhere({"x": 1.0, "y": 1.0}), everywhere(["x", "y"]), "RR"
    )

    variants = by_change(found)
    assert (found.asked.difference, found.asked.verdict, found.asked.p) == (0.5, "better", 2 / 2**8)
    assert turned_by_switches(found) == ["ties=docid-ascending"]
    assert [
        variants[f"ties={rule}"].row.difference
        for rule in ("docid-ascending", "best", "expected", "worst")
    ] == [0.0, 0.0, 0.25, 0.5]  # type: ignore[union-attr]
    assert variants["ties=best"].same_as == "ties=docid-ascending"
    assert variants["ties=worst"].status == "no effect"


def test_a_gain_alone_turns_a_verdict() -> None:
    """With w(r) = 1/log2(r + 1), b - a is 1 - w(2) + w(3) > 0 for grades, and 2 - 4 w(2) + w(3) < 0
    for 2^grade - 1.
    """
    judged = {"a1": 1, "a3": 3, "b2": 2, "c2": 2, "b1": 1}
    found = ir.robust(everywhere(judged), everywhere(["a1", "a3"]), everywhere(["b2", "c2", "b1"]))

    def ndcg(gains: list[float], ideal: list[float]) -> float:
        first, second = (
            sum(gain / math.log2(place + 2) for place, gain in enumerate(row))
            for row in (gains, ideal)
        )
        return first / second

    linear = ndcg([2, 2, 1], [3, 2, 2, 1, 1]) - ndcg([1, 3], [3, 2, 2, 1, 1])
    exponential = ndcg([3, 3, 1], [7, 3, 3, 1, 1]) - ndcg([1, 7], [7, 3, 3, 1, 1])
    (turning,) = (one for one in found.turning if one.group in CHANGED)
    assert linear > 0 > exponential
    assert turning.change == "gain=exp2"
    assert turning.row is not None
    assert (found.asked.difference, turning.row.difference) == pytest.approx(
        (linear, exponential), abs=1e-12
    )
    assert (
        found.asked.verdict,
        turning.row.verdict,
        turning.sign_turns,
        turning.verdict_turns,
    ) == ("better", "worse", True, True)


def test_a_cutoff_alone_turns_a_verdict() -> None:
    """Run a has one relevant document on top and five from rank 8 on, run b all six of them from
    rank 2 on.
    """
    good, bad = [f"x{i}" for i in range(6)], [f"n{i}" for i in range(6)]
    judged = dict.fromkeys(good, 1) | dict.fromkeys(bad, 0)
    found = ir.robust(
        everywhere(judged),
        everywhere([good[0], *bad, *good[1:]]),
        everywhere([bad[0], *good, *bad[1:]]),
    )

    assert turned_by_switches(found) == ["cutoff=1"]
    row = by_change(found)["cutoff=1"].row
    assert row is not None
    assert (found.asked.verdict, row.verdict, row.mean_a, row.mean_b) == (
        "better",
        "worse",
        1.0,
        0.0,
    )


def test_two_switches_turn_what_none_turns_alone() -> None:
    found = pydocs()

    assert not turned_by_switches(found)
    assert [pair.change for pair in found.pairs] == ["ideal=returned,no_relevant=one"]
    assert {"lightgbm", "catboost"} <= {one.change for one in found.turning}
    assert "Two changes together do: ideal=returned,no_relevant=one." in str(found)


def test_changes_conventions_and_measures_may_be_named() -> None:
    wanted = [
        "cutoff=0.2n",
        "gain=exp2,cutoff=5",
        "lightgbm,ties=expected",
        "RBP(p=0.8)",
        "cutoff=none",
        "ndcg_cut_20",
    ]
    found = ir.robust(QRELS, RUN_A, RUN_B, variants=wanted, pairs=0)

    assert [(one.group, one.change) for one in found.variants] == [
        ("cutoff", "cutoff=0.2n"),
        ("gain + cutoff", "gain=exp2,cutoff=5"),
        ("preset", "lightgbm,ties=expected"),
        ("measure", "RBP(p=0.8)"),
        ("cutoff", "cutoff=none"),
        ("measure", "nDCG@20"),
    ]
    assert found.variants[1].row is not None
    assert (
        found.variants[1].row.mean_a
        == ir.evaluate(QRELS, RUN_A, "nDCG(gain=exp2)@5").mean()["nDCG(gain=exp2)@5"]
    )
    assert (found.pairs, found.pairs_tried, found.lacking) == ((), 0, {})


def test_identical_runs_differ_in_no_variant() -> None:
    found = ir.robust(QRELS, RUN_A, RUN_A, variants=["ties", "cutoff=5", "lightgbm"])

    assert found.leader is None
    assert all(
        one.row is None
        or (one.row.difference, one.row.p, one.row.verdict) == (0.0, 1.0, "undecided")
        for one in found.variants
    )
    assert not found.turning
    assert not found.pairs_tried


def test_tie_rules_have_no_effect_where_nothing_is_tied() -> None:
    found = ir.robust(
        everywhere({"x": 1, "y": 2}),
        everywhere(["x", "y"]),
        everywhere(["y", "x"]),
        variants=["ties", "score", "cutoff=1"],
    )

    statuses = {one.change: one.status for one in found.variants}
    assert statuses.pop("cutoff=1") == "changes the numbers"
    assert set(statuses.values()) == {"no effect"}
    assert len(found.changing) == 1


def test_every_variant_has_one_status_and_only_changes_count() -> None:
    found = pydocs()

    counts = [
        found.count(status) for status in ("changes the numbers", "no effect", "repeats", "refused")
    ]
    assert sum(counts) == len(found.variants)
    assert len(found.changing) == counts[0]
    assert found.leads == sum(
        one.row.difference > 0 for one in found.changing if one.row is not None
    )
    assert found.significant == sum(
        one.row.verdict == "better" for one in found.changing if one.row is not None
    )
    asked = (found.asked.mean_a, found.asked.mean_b)
    for one in (one for one in found.variants if one.status == "no effect"):
        assert one.row is not None
        assert (one.row.mean_a, one.row.mean_b) == pytest.approx(asked, rel=1e-12)


def test_what_cannot_apply_is_refused_with_the_reason() -> None:
    qrels, both = {**everywhere({"x": 1}), "bad": {"x": -1}}, {**everywhere(["x"]), "bad": ["x"]}
    found = by_change(
        ir.robust(
            qrels,
            both,
            both,
            variants=["sklearn", "no_relevant=nan", "recall_points=truncated", "cutoff=1"],
        )
    )

    assert {change: one.status for change, one in found.items()} == {
        "sklearn": "refused",
        "no_relevant=nan": "refused",
        "recall_points=truncated": "refused",
        "cutoff=1": "no effect",
    }
    assert "negative" in found["sklearn"].reason
    assert "no value" in found["no_relevant=nan"].reason
    assert found["recall_points=truncated"].reason == "nDCG has no option recall_points"
    assert "gain" in pydocs("AP").lacking


def test_thresholds_of_binary_measures_are_the_grades_of_the_judgments() -> None:
    assert [one.change for one in pydocs("AP").groups()["rel"]] == ["rel=2", "rel=3"]


def test_arrays_have_no_missing_queries_and_no_document_ids() -> None:
    labels, scores = np.array([[1, 0, 2]] * 8), np.array([[3, 2, 1.0]] * 8)
    found = ir.robust(labels, scores, -scores, "nDCG@2")

    variants = by_change(found)
    assert {"missing", "duplicates"} <= set(found.lacking)
    assert not {"missing=left-out", "ties=docid-ascending"} & set(variants)
    lightgbm = variants["lightgbm"].row
    assert lightgbm is not None
    assert lightgbm.mean_a == pytest.approx(
        ir.evaluate(labels, scores, "nDCG@2", "lightgbm").mean()["nDCG@2"], rel=1e-12
    )


def test_weights_and_margin_hold_in_every_variant() -> None:
    weights = {query: float(place + 1) for place, query in enumerate(ir.read_qrels(QRELS).queries)}
    found = ir.robust(
        QRELS, RUN_A, RUN_B, variants=["ties=worst", "AP"], weights=weights, margin=0.5, test="t"
    )

    for one in found.variants:
        a, b = (ir.evaluate(QRELS, run, one.measure, one.convention) for run in (RUN_A, RUN_B))
        by_hand = (
            ir.compare(a, b, weights=weights, margin=0.5, test="t").pairs[0].measures[one.measure]
        )
        assert one.row is not None
        assert (one.row.difference, one.row.p, one.row.p_equivalence) == pytest.approx(
            (by_hand.difference, by_hand.p, by_hand.p_equivalence)
        )
        assert one.row.verdict == by_hand.verdict == "equivalent"


def test_judgments_of_a_document_listed_twice_are_read_under_each_policy(tmp_path: Any) -> None:
    path = tmp_path / "qrels.txt"
    path.write_text(
        "".join(f"{query} 0 x 1\n{query} 0 y 1\n{query} 0 x 3\n" for query in QUERIES),
        encoding="utf-8",
    )
    runs = everywhere(["x", "y"]), everywhere(["y", "x"])
    found = by_change(
        ir.robust(
            path, *runs, "DCG", convention="standard,duplicates=first", variants=["duplicates"]
        )
    )

    assert found["duplicates=last"].row is not None
    assert found["duplicates=last"].row.mean_a == pytest.approx(3 + 1 / math.log2(3))
    assert found["duplicates=best"].row is not None
    assert found["duplicates=twice"].status == "refused"


def test_the_record_is_json_and_the_frame_has_a_row_for_each() -> None:
    found = pydocs()
    record = json.loads(json.dumps(found.as_dict(), allow_nan=False))

    assert record["summary"]["changing"] == len(found.changing)
    assert len(record["variants"]) == len(found.variants)
    assert record["method"]["correction"] == "none"
    assert found.to_frame("polars").height == 1 + len(found.variants) + len(found.pairs)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"variants": ["tiez=worst"]}, OptionError, "expected a group"),
        ({"variants": ["ties=never"]}, OptionError, "expected one of docid"),
        ({"measure": "NumRet"}, OptionError, "neither better nor worse"),
        ({"convention": "nothing"}, OptionError, "unknown convention"),
        ({"weights": {"q0": 1.0}}, InputError, "weights"),
        ({"group": [1]}, InputError, "arrays"),
    ],
)
def test_impossible_questions_are_refused(
    options: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        ir.robust(everywhere({"x": 1}), everywhere(["x"]), everywhere(["x"]), **options)


def test_progress_counts_to_its_end_and_threads_change_nothing() -> None:
    told: list[tuple[int, int]] = []
    one = ir.robust(
        QRELS,
        RUN_A,
        RUN_B,
        variants=["ties"],
        threads=1,
        pairs=0,
        progress=lambda done, total: told.append((done, total)),
    )
    two = ir.robust(QRELS, RUN_A, RUN_B, variants=["ties"], threads=2, pairs=0)

    assert told[-1][0] == told[-1][1] == len(told)
    assert one.as_dict() == two.as_dict()


@pytest.mark.slow
def test_the_other_order_of_the_runs_says_the_opposite() -> None:
    wanted = ["gain", "cutoff", "ties", "rel=2", "lightgbm"]
    one, other = (
        ir.robust(QRELS, RUN_A, RUN_B, variants=wanted),
        ir.robust(QRELS, RUN_B, RUN_A, variants=wanted),
    )

    said = {"better": "worse", "worse": "better", "undecided": "undecided"}
    assert (one.leader, one.leads, one.significant, len(one.pairs)) == (
        other.leader,
        other.leads,
        other.significant,
        len(other.pairs),
    )
    for mine, theirs in zip(one.variants, other.variants, strict=True):
        assert (mine.status, mine.sign_turns, mine.verdict_turns) == (
            theirs.status,
            theirs.sign_turns,
            theirs.verdict_turns,
        )
        if mine.row is not None and theirs.row is not None:
            assert mine.row.difference == pytest.approx(-theirs.row.difference, abs=1e-12)
            assert (mine.row.p, mine.row.verdict) == (theirs.row.p, said[theirs.row.verdict])


def test_lower_is_better_where_the_measure_says_so() -> None:
    found = ir.robust(
        everywhere({"x": 1, "y": 0}),
        everywhere(["y", "x"]),
        everywhere(["x", "y"]),
        "RankingLoss",
        variants=["P@1"],
    )

    assert (found.asked.direction, found.asked.difference, found.asked.verdict, found.leader) == (
        -1,
        -1.0,
        "better",
        "B",
    )
    assert found.leads == 1


def test_a_query_that_only_a_variant_counts_needs_a_weight() -> None:
    qrels, weights = everywhere({"x": 1, "y": 0}), dict.fromkeys(QUERIES, 1.0)
    runs = {**everywhere(["y", "x"]), "extra": ["x"]}, {**everywhere(["x"]), "extra": ["x"]}

    (with_weights,) = ir.robust(
        qrels, *runs, "P@1", weights=weights, variants=["without_judgments"]
    ).variants
    (without,) = ir.robust(qrels, *runs, "P@1", variants=["without_judgments"]).variants

    assert with_weights.status == "refused"
    assert "found no value for query 'extra'" in with_weights.reason
    assert without.row is not None
    assert without.row.n == len(QUERIES) + 1


def test_judgments_of_other_kinds_and_measures_of_ones_own_are_varied_too() -> None:
    by_assessor = everywhere({"ann": {"x": 1, "y": 0}})

    @ir.measure
    def first_grade(grades: Any) -> float:
        return float(sum(grades[:1]))

    preferences = ir.robust(
        ir.PreferenceQrels(by_assessor),
        everywhere(["y", "x"]),
        everywhere(["x", "y"]),
        "prefs_simp",
    )
    own = ir.robust(
        everywhere({"x": 1, "y": 0}), everywhere(["y", "x"]), everywhere(["x", "y"]), first_grade
    )

    assert (preferences.asked.verdict, own.asked.verdict) == ("better", "better")
    assert {"prefs_pair", "prefs_avgjg"} == {one.change for one in preferences.groups()["measure"]}
    assert "gain" in own.lacking


def test_what_evaluate_warns_of_is_said_once() -> None:
    with pytest.warns(ir.IdealrankWarning) as told:
        ir.robust(
            everywhere({"x": 0.5}),
            everywhere(["y", "x"]),
            everywhere(["x"]),
            "RR",
            variants=["rel"],
        )

    assert len(told) == 2  # of each run
    with pytest.raises(InputError, match="negative=zero counts them"):
        ir.robust(everywhere({"x": -1}), everywhere(["x"]), everywhere(["x"]), convention="sklearn")


def test_where_neither_leads_it_is_said_who_does_in_which_variants() -> None:
    qrels = {f"q{i}": {"x": 1} for i in range(6)}
    a, b = (dict.fromkeys(qrels, ranking) for ranking in (["y", "x"], ["x", "y"]))

    said = str(ir.robust(qrels, a, b, "P@2", variants=["cutoff=1", "RR"]))

    assert (
        said
        == "B and A have the same P@2; of 2 variants that change the numbers, B leads in 2 and A "
        "in 0."
    )


def test_runs_without_a_common_query_are_refused_with_the_hint_of_compare() -> None:
    """The comparison asked for is refused as `compare` refuses it; a variant under which they share
    none says so.
    """
    qrels = {"q1": {"x": 1}, "q2": {"x": 1}}
    one, other = {"q1": ["x"]}, {"q2": ["x"]}
    with pytest.raises(
        InputError,
        match=r"no query is scored in both .*; leave the measure out, or use a convention",
    ) as refused:
        ir.robust(qrels, one, other, "RR", convention="standard,missing=left-out")
    assert refused.value.switch == "missing=zero"
    refusals = [
        one.reason
        for one in ir.robust(qrels, one, other, "RR").variants
        if one.change == "missing=left-out"
    ]
    assert refusals == ["RR: no query is scored in both A and B"]


def test_two_queries_are_compared_without_a_warning_of_numpy() -> None:
    qrels = {"u1": ["a", "b"], "u2": {"c"}}
    run_a, run_b = {"u1": ["a", "x"], "u2": ["c"]}, {"u1": ["x", "a"], "u2": ["y", "c"]}

    found = ir.robust(qrels, run_a, run_b)  # warnings are errors here

    assert found.count("refused") == 0
