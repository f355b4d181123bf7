"""What users do that nobody meant: odd arguments, functions of one name, grades below the
threshold, values sent to another process.
"""

import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest

import idealrank as ir

QRELS = {"q1": {"a": 1, "b": 2}, "q2": {"ü": 1}}
RUN = {"q1": {"b": 0.5, "a": 0.5}, "q2": {"x": 2.0, "ü": 1.0}}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: ir.evaluate(QRELS, RUN, threads=-1),
            "threads=-1: expected a whole number, 0 for all cores",
        ),
        (lambda: ir.evaluate(QRELS, RUN, threads="a"), "threads='a': expected a whole number"),  # type: ignore[arg-type]
        (lambda: ir.ndcg([1, 0], [1, 2], threads=1.5), "threads=1.5: expected a whole number"),  # type: ignore[arg-type]
        (
            lambda: ir.evaluate(QRELS, RUN, ["AP"], None),
            "convention: found NoneType, expected a name",
        ),  # type: ignore[arg-type]
        (lambda: ir.ndcg([1], [1], ties=[]), r"ties=\[\]: expected one of docid"),  # type: ignore[arg-type]
        (lambda: ir.read_qrels("a\0b"), "found a NUL byte in a path"),
        (
            lambda: ir.ndcg([1, 2], [1, 2], gain=lambda grade: 1 if grade > 0 else 0),
            "expected a vectorised function",
        ),
    ],
)
def test_an_odd_argument_is_named(call: Callable[[], Any], message: str) -> None:
    """In our words, not those of a library below."""
    with pytest.raises(ir.IdealrankError, match=message):
        call()


def test_means_are_found_by_any_spelling() -> None:
    """By `in` and `get` as by brackets."""
    means = ir.evaluate(QRELS, RUN, ["nDCG@10", "AP"]).mean()
    assert "ndcg_cut_10" in means
    assert "map" in means
    assert ir.AP() in means
    assert "RR" not in means
    assert "no such measure" not in means
    assert means.get("MAP") == means["AP"]
    assert means.get("RR", 7.0) == 7.0


def test_functions_of_one_name_have_fingerprints_of_their_own() -> None:
    """And the same function, written twice, has one."""
    halves, thirds, again = (
        ir.Convention.of("standard", gain=gain)
        for gain in (lambda g: g / 2, lambda g: g / 3, lambda g: g / 2)
    )
    assert halves.fingerprint != thirds.fingerprint
    assert halves.fingerprint == again.fingerprint
    scale = {
        factor: ir.Convention.of("standard", gain=lambda g, by=factor: g * by).fingerprint
        for factor in (2, 3)
    }
    assert scale[2] != scale[3]


def test_grades_below_the_threshold_are_pointed_out() -> None:
    """A probability as grade is relevant to nobody who asks for 1."""
    with pytest.warns(
        ir.IdealrankWarning,
        match=r"the best grade of qrels is 0.9, below the threshold rel=1 .* AP\(rel=0.9\)",
    ):
        ir.evaluate({"q": {"a": 0.9, "b": 0.1}}, {"q": ["a", "b"]}, ["AP", "nDCG"])
    with pytest.warns(ir.IdealrankWarning, match="the best grade of the labels is 0.5"):
        ir.evaluate([0.5, 0.25], [1, 2], ["RR"])
    ir.evaluate({"q": {"a": 0.9, "b": 0.1}}, {"q": ["a", "b"]}, ["AP(rel=0.5)", "nDCG"])
    ir.evaluate({"q": {"a": 0}}, {"q": ["a"]}, ["AP"])


def test_tables_travel_to_another_process(tmp_path: Path) -> None:
    """Judgments and runs, in memory or in a file: the same numbers there."""
    path = tmp_path / "a.run"
    path.write_text(
        "".join(f"{q} Q0 {d} 1 {s} t\n" for q, scores in RUN.items() for d, s in scores.items()),
        encoding="utf-8",
    )
    here = ir.evaluate(QRELS, RUN)
    qrels = pickle.loads(pickle.dumps(ir.Qrels(QRELS)))
    assert dict(qrels["q2"]) == {"ü": 1.0}
    for run in (ir.Run(RUN), ir.read_run(path)):
        there = ir.evaluate(qrels, pickle.loads(pickle.dumps(run)))
        np.testing.assert_array_equal(there.values, here.values)
    assert pickle.loads(pickle.dumps(ir.read_run(path))).name == "a"


def test_values_cannot_be_changed_by_accident() -> None:
    """An evaluation is what was computed."""
    evaluation = ir.evaluate(QRELS, RUN)
    with pytest.raises(ValueError, match="read-only"):
        evaluation.values[0, 0] = 1.0
    assert (
        evaluation.merge(ir.evaluate({"q3": {"a": 1}}, ir.Run({"q3": ["a"]}, name="late"))).name
        == "run+late"
    )


def test_pooled_documents_go_with_judged_only() -> None:
    """A grade below 0 says pooled but not judged; `judged_only` takes it out, for measures of one's
    own too.
    """
    tables = ir.evaluate(
        {"q": {"a": 1, "b": -1, "c": 0}},
        {"q": {"a": 1.0, "b": 3.0, "c": 2.0}},
        ["RR(judged_only=True)"],
    )
    assert tables.values.tolist() == [[0.5]]

    @ir.measure(bounds=(0, 100))
    def seen(grades):  # type: ignore[no-untyped-def]
        return float(len(grades))

    only = replace(seen, judged_only=True)
    assert ir.evaluate(
        {"q": {"a": 1, "b": -1, "c": 0}}, {"q": ["b", "x", "a", "c"]}, [only]
    ).values.tolist() == [[2.0]]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("ndcg_at_10", "nDCG@10"),
        ("nDCG @ 10", "nDCG@10"),
        ("R-Prec", "Rprec"),
        ("r-precision", "Rprec"),
        ("top_k_accuracy@1", "Success@1"),
        ("hit@10", "Success@10"),
        ("HitRate@10", "Success@10"),
        ("HitRatio@10", "Success@10"),
    ],
)
def test_spellings_that_differ_in_signs(typed: str, expected: str) -> None:
    """As MTEB, BEIR and ranx write them."""
    assert str(ir.parse_measure(typed)) == expected


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (
            "RR@10(rel=2)",
            r"found options after the cutoff, expected them before it, as in RR\(rel=2\)@10",
        ),
        ("rbp.95", r"expected it as an option: RBP\(p=0.95\)"),
        ("nDCG(gain=linear,gain=exp2)", "measure option gain: found it twice"),
        ("alpha_nDCG@10", "is not computed here"),
        (
            "hits@10",
            "expected HR@10, the share of queries with a hit, or NumRelRet@10, the number of hits$",
        ),
        (
            "Hits_5",
            "expected HR@5, the share of queries with a hit, or NumRelRet@5, the number of hits$",
        ),
        ("hits", "expected HR, the share of queries with a hit, or NumRelRet, the number of hits$"),
    ],
)
def test_texts_that_are_refused_say_what_was_meant(typed: str, message: str) -> None:
    """Rather than computing something else."""
    with pytest.raises(ir.OptionError, match=message):
        ir.parse_measure(typed)


def test_measures_of_ir_measures_and_cutoffs_by_an_operator() -> None:
    """Their objects are read by their text; `@` gives a cutoff in Python too."""
    assert str(ir.parse_measure(ir_measures.nDCG @ 10)) == "nDCG@10"
    assert str(ir.ERR() @ 10) == "ERR@10"
    assert str(ir.P(cutoff=5) @ 20) == "P@20"


@pytest.mark.parametrize("number", [0, 2.5, "3", 2**70, True])
def test_lists_are_cut_at_a_whole_number(number: object) -> None:
    """Anything else is refused in our words."""
    with pytest.raises(ir.OptionError, match=r"max_documents=.*expected a whole number"):
        ir.evaluate(QRELS, RUN, ["AP"], max_documents=number)  # type: ignore[arg-type]


LONG = "x" * 5000
TABLE = ",".join(f"{grade}:{grade}" for grade in range(3, 3000))


@pytest.mark.parametrize(
    "given",
    [
        LONG,
        f"nDCG(gain={LONG})",
        f"nDCG(discount={LONG})",
        f"AP({LONG}=3)",
        f"AP(rel={LONG})",
        f"AP({LONG})",
        f"P@{LONG}",
        f"nDCG(no_relevant={LONG})",
        f"AP@10(rel={LONG})",
        f"nDCG(gain={{{TABLE},3:4}})",
        f"nDCG(gain={{{TABLE},4000:a}})",
        f"nDCG(discount=[{TABLE.replace(':', ',')},a])",
        f"nDCG@{'9' * 5000}",
        f"IPrec@{LONG}",
        f"utility_{'1' * 500}",
        f"RBO(p={LONG})",
    ],
)
def test_a_long_measure_is_shown_in_part(given: str) -> None:
    """Of each text at most 80 characters, twice where the option has an error of its own."""
    with pytest.raises(ir.OptionError) as raised:
        ir.parse_measure(given)
    assert len(str(raised.value)) < 350
    assert " ..." in str(raised.value)


@pytest.mark.parametrize(
    "given",
    [
        LONG,
        f"standard,{LONG}",
        f"standard,gain={LONG}",
        f"standard,ties={LONG}",
        f"standard,{LONG}=3",
    ],
)
def test_a_long_convention_is_shown_in_part(given: str) -> None:
    with pytest.raises(ir.OptionError) as raised:
        ir.Convention.of(given)
    assert str(raised.value).count("x") < 90


def test_a_table_of_many_grades_is_shown_in_part() -> None:
    qrels, run = {"q": {"a": 2}}, {"q": ["a"]}
    with pytest.raises(
        ir.InputError,
        match=r"gain=\{3:3,4:4,.* \.\.\.: found grade 2, expected one of 0, 3, 4, .* \.\.\.; ",
    ) as raised:
        ir.evaluate(qrels, run, f"nDCG(gain={{{TABLE}}})")
    assert len(str(raised.value)) < 350


@pytest.mark.parametrize(
    "given",
    ["AP\n\x1b[31m", "nDCG(gain=\n\x07)", "AP(rel=\x00)", "nDCG(no_relevant=a\nb)", "P@1\n0\r"],
)
def test_what_is_shown_can_be_printed_on_one_line(given: str) -> None:
    with pytest.raises(ir.OptionError) as raised:
        ir.parse_measure(given)
    assert str(raised.value).isprintable()


OF_SUMS = [
    "Q",
    "O",
    "P+",
    "NCU",
    "NCU(stop=graded-uniform)",
    "NCU(stop=rank-biased)",
    "ARP",
    "PWA",
    "G",
    "RnDCG",
    "nDCG_rel",
    "nDCG",
]


@pytest.mark.parametrize("text", OF_SUMS)
@pytest.mark.parametrize("ties", ["docid", "expected"])
def test_sums_of_grades_beyond_float64_are_named(text: str, ties: str) -> None:
    """Also where only the ideal's sum is none, which would leave a value of 0; from tables and from
    arrays.
    """
    documents = dict.fromkeys("abcd", 1.7e308)
    runs = [["x", "a", "b", "c"], *([["x", "a"]] if text not in ("ARP", "PWA") else [])]
    for run in runs:
        with pytest.raises(ir.InputError, match="a sum of gains is larger than a number can be"):
            ir.evaluate({"q": documents}, {"q": run}, text, f"standard,ties={ties}")
    with pytest.raises(ir.InputError, match="a sum of gains is larger than a number can be"):
        ir.evaluate([[1.7e308] * 4], [[4.0, 3.0, 2.0, 1.0]], text)


@pytest.mark.parametrize("text", OF_SUMS)
def test_grades_whose_sums_are_numbers_have_the_values_of_small_ones(text: str) -> None:
    """Of measures that do not mind the unit of the grades, in the limit where gains outweigh
    counts.
    """
    large, larger = ({"q": {"a": grade, "b": 2 * grade, "c": grade}} for grade in (1e100, 1e102))
    found = [
        ir.evaluate(qrels, {"q": ["a", "x", "b"]}, [text]).values[0, 0] for qrels in (large, larger)
    ]
    assert np.isfinite(found).all()
    # one has the unit of the grades, the other takes logarithms of gains
    if text not in ("PWA", "G"):
        assert found[0] == pytest.approx(found[1], rel=1e-12)
