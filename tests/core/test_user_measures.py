"""Measures of users: functions of one query's grades and classes over Judged, in every output, with
facts that are held to.
"""

import io
import json
import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import idealrank as ir
from idealrank.measures.facts import facts_of
from idealrank.measures.user import FunctionMeasure
from idealrank.reports.table.records import delimited, evaluation_rows, json_report, trec_report
from idealrank.reports.views.evaluation import table_report
from tests.conftest import PYDOCS

QRELS = {"q1": {"a": 3, "b": 1, "c": 0}, "q2": {"d": 2}}
RUN = {"q1": ["x", "a", "c", "b"], "q2": ["d", "y"]}


# The definitions as a newcomer writes them, with nothing of the library in them.


@ir.measure(bounds=(0, 1))
def own_precision(grades, cutoff):
    """Share of the first k that are relevant."""
    return (grades >= 1).sum() / cutoff


@ir.measure(bounds=(0, 1))
def own_rr(grades):
    """One over the rank of the first relevant document."""
    found = np.flatnonzero(grades >= 1)
    return 1 / (found[0] + 1) if found.size else 0


@ir.measure(bounds=(0, 1))
def own_ap(grades, ideal):
    """Mean precision."""
    found = np.flatnonzero(grades >= 1) + 1
    return sum((place + 1) / rank for place, rank in enumerate(found)) / max((ideal >= 1).sum(), 1)


@ir.measure(bounds=(0, 1))
def own_ndcg(grades, ideal, cutoff):
    """DCG by hand."""
    best = ideal if cutoff is None else ideal[:cutoff]
    grades = np.nan_to_num(grades)
    total = sum(grade / math.log2(rank + 1) for rank, grade in enumerate(best, 1))
    return (
        sum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, 1)) / total
        if total
        else 0
    )


@pytest.mark.parametrize("ties", ["docid", "docid-ascending", "input", "best", "worst"])
@pytest.mark.parametrize(
    ("own", "listed"),
    [
        (own_precision @ 5, "P@5"),
        (own_rr, "RR"),
        (own_rr @ 3, "RR@3"),
        (own_ap, "AP"),
        (own_ap @ 10, "AP@10"),
        (own_ndcg, "nDCG"),
        (own_ndcg @ 10, "nDCG@10"),
        (own_ndcg @ "0.2n", "nDCG@0.2n"),
    ],
)
def test_functions_by_definition_agree_with_the_listed_measures(
    own: FunctionMeasure, listed: str, ties: str
) -> None:
    """Two implementations that share nothing but the ranking, on real rankers with ties."""
    found = ir.evaluate(
        PYDOCS / "qrels.txt", PYDOCS / "bm25.run", [listed, own], f"standard,ties={ties}"
    )
    np.testing.assert_allclose(found[own], found[listed], rtol=0, atol=1e-12)


def test_the_function_sees_grades_by_rank_with_nan_where_nobody_judged() -> None:
    seen: dict[int, Any] = {}

    @ir.measure
    def look(grades, ideal):
        seen[len(seen)] = (grades.tolist(), ideal.tolist())
        grades[:] = 0  # an array of its own: nothing else changes
        ideal[:] = 0
        return 0

    evaluation = ir.evaluate(QRELS, RUN, [look @ 3, "nDCG", look])

    assert repr(seen) == repr(
        {
            0: ([math.nan, 3.0, 0.0], [3.0, 1.0, 0.0]),
            1: ([2.0, math.nan], [2.0]),
            2: ([math.nan, 3.0, 0.0, 1.0], [3.0, 1.0, 0.0]),
            3: ([2.0, math.nan], [2.0]),
        }
    )
    assert evaluation["nDCG"].tolist() == ir.evaluate(QRELS, RUN, "nDCG")["nDCG"].tolist()


def test_judged_only_closes_the_ranks_up() -> None:
    @ir.measure
    def length(grades):
        return grades.size

    assert ir.evaluate(QRELS, RUN, [type(length)(judged_only=True), length]).values.tolist() == [
        [3, 4],
        [1, 2],
    ]
    assert str(type(length)(judged_only=True) @ 2) == "length(judged_only=True)@2"


def test_it_appears_in_every_output() -> None:
    evaluation = ir.evaluate(QRELS, RUN, ["AP", own_rr, own_rr @ 1])

    assert evaluation.mean() == {"AP": pytest.approx(0.75), "own_rr": 0.75, "own_rr@1": 0.5}
    assert evaluation["own_rr@1"].tolist() == evaluation[own_rr @ 1].tolist() == [0.0, 1.0]
    assert evaluation.per_query()["q1"]["own_rr"] == 0.5
    assert (
        json.loads("".join(json_report([evaluation], per_query=True)))["runs"][0]["queries"]["q2"][
            "own_rr@1"
        ]
        == 1.0
    )
    assert "own_rr@1,0.5," in "".join(delimited(evaluation_rows([evaluation])))
    assert "own_rr                \tall\t0.7500\n" in list(trec_report([evaluation]))
    assert "own_rr@1" in table_report([evaluation], per_query=True)
    assert evaluation.to_frame("polars").columns == ["query", "AP", "own_rr", "own_rr@1"]
    assert evaluation.provenance.measures[1:] == ("own_rr", "own_rr@1")


def test_parts_of_the_same_function_merge_and_parts_of_two_functions_do_not() -> None:
    def made(value: float) -> FunctionMeasure:
        @ir.measure
        def reward(grades):
            return value

        return reward

    one, other = made(1.0), made(2.0)
    parts = [ir.evaluate({q: QRELS[q]}, RUN, [one]) for q in QRELS]

    assert parts[0].merge(parts[1]).mean() == {"reward": 1.0}
    assert (one == other, str(one) == str(other), hash(one) == hash(other)) == (False, True, False)
    with pytest.raises(ir.IncompatibleError, match="two different functions"):
        parts[0].merge(ir.evaluate({"q2": QRELS["q2"]}, RUN, [other]))
    with pytest.raises(ir.OptionError, match="2 measures are written reward"):
        ir.evaluate(QRELS, RUN, [one, other])


def test_one_function_is_one_measure_however_often_it_is_decorated() -> None:
    def reward(grades):
        return 1

    assert ir.measure(reward) == ir.measure(reward)
    assert ir.measure(reward) != ir.measure(bounds=(0, 1))(reward)
    assert ir.measure(reward) @ 3 != ir.measure(reward)
    assert ir.measure(reward)(np.zeros(1)) == 1


def test_an_evaluation_travels_to_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_measures.py").write_text(
        "import idealrank as ir\n@ir.measure\ndef reward(grades):\n    return len(grades)\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    from own_measures import reward  # type: ignore[import-not-found]

    evaluation = ir.evaluate(QRELS, RUN, [reward @ 3])
    assert pickle.loads(pickle.dumps(evaluation)).measures == (reward @ 3,)
    with pytest.raises(ir.OptionError, match="at the top of a module"):
        pickle.dumps(ir.measure(name="here")(lambda grades: 0))


def test_none_leaves_a_query_out() -> None:
    @ir.measure
    def depth(grades):
        found = np.flatnonzero(grades > 0)
        return None if not found.size else found[0] + 1

    evaluation = ir.evaluate({**QRELS, "q3": {"z": 1}}, RUN, depth)
    assert evaluation.mean() == {"depth": 1.5}
    assert evaluation.per_query()["q3"] == {"depth": None}


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda grades: math.nan, r"query 'q1' \(4 documents\): ValueError: gave NaN"),
        (lambda grades: grades, "TypeError: gave ndarray, expected a number"),
        (lambda grades: "0.5", "gave str, expected a number"),
        (lambda grades: 1 / 0, "ZeroDivisionError: division by zero"),
        (lambda grades: grades[grades.size - 4] * 0 + 1, "ValueError: gave NaN"),
    ],
)
def test_what_is_no_number_is_refused_with_the_query(
    function: Callable[..., Any], words: str
) -> None:
    with pytest.raises(ir.InputError, match=words):
        ir.evaluate(QRELS, RUN, ir.measure(name="odd")(function))


def test_an_unanswered_query_is_an_empty_list() -> None:
    @ir.measure
    def first(grades):
        return grades[0] > 0

    with pytest.raises(
        ir.InputError,
        match=r"query 'q2' \(0 documents\): IndexError: .*; the list is empty: return a number for "
        r"it",
    ):
        ir.evaluate({"q1": {"a": 1}, "q2": {"d": 2}}, {"q1": ["a"]}, first)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"name": "nDCG"}, "listed measure nDCG"),
        ({"name": "ndcg_cut_10"}, "listed measure nDCG"),
        ({"name": "recip_rank"}, "listed measure RR"),
        ({"name": "no blanks"}, "letters, digits and _"),
        ({}, "letters, digits and _"),  # a lambda
        ({"name": "x", "bounds": (1, 0)}, "least and the greatest"),
        ({"name": "x", "bounds": 1}, "least and the greatest"),
        ({"name": "x", "direction": 2}, r"1 \| -1 \| 0"),
        ({"name": "x", "ties": "closed form"}, "needs a class"),
        ({"name": "x", "aggregate": "median"}, "mean | sum"),
    ],
)
def test_facts_that_cannot_be_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ir.OptionError, match=words):
        ir.measure(**options)(lambda grades: 0)


def test_functions_of_other_parameters_are_refused() -> None:
    for function in (lambda: 0, lambda grades, weights: 0):
        with pytest.raises(ir.OptionError, match="expected the grades first"):
            ir.measure(name="x")(function)
    assert ir.evaluate(
        QRELS, RUN, ir.measure(name="x")(lambda grades, weight=2: weight)
    ).mean() == {"x": 2.0}
    with pytest.raises(ir.OptionError, match=r"extends idealrank\.Measure"):
        ir.measure(dict)
    with pytest.raises(ir.OptionError, match=r"put @idealrank\.measure above plain"):
        ir.evaluate(QRELS, RUN, [_plain()])


def _plain() -> Any:
    def plain(grades):
        return 0

    return plain


def test_ties_are_refused_only_where_their_order_matters() -> None:
    @ir.measure
    def first(grades):
        return np.nansum(grades[:1])

    @ir.measure(ties="not affected")
    def total(grades):
        return np.nansum(grades)

    tied = {"q": {"a": 1.0, "b": 1.0, "c": 0.5, "d": 0.5}}
    same, mixed = {"q": {"a": 1, "b": 1, "c": 2, "d": 0}}, {"q": {"a": 1, "b": 0, "c": 0, "d": 0}}
    expected = "standard,ties=expected"
    assert ir.evaluate(same, tied, [first @ 2, total], expected).values.tolist() == [[1.0, 4.0]]
    assert ir.evaluate(mixed, tied, [total, total @ 2], expected).values.tolist() == [[1.0, 1.0]]
    for measure, qrels in (
        (first, mixed),
        (first, same),
        (total @ 1, mixed),
        (total @ 1, {"q": {"a": 1}}),
    ):
        with pytest.raises(ir.OptionError, match="choose ties=docid, input, best or worst"):
            ir.evaluate(qrels, tied, measure, expected)
    assert ir.evaluate([[1, 0]], [[0.5, 0.5]], first, "standard,ties=best").values.tolist() == [
        [1.0]
    ]


def test_what_lies_outside_the_bounds_is_counted_and_warned_of() -> None:
    @ir.measure(bounds=(0, 1))
    def big(grades):
        return 2

    with pytest.warns(ir.IdealrankWarning, match="outside the bounds"):
        assert ir.evaluate(QRELS, RUN, big).coverage.out_of_range == 2


def test_its_facts_come_from_the_decorator_and_the_docstring() -> None:
    facts = facts_of(type(own_ndcg))
    assert (facts.summary, facts.bounds, facts.direction, facts.ties, facts.text) == (
        "DCG by hand.",
        (0, 1),
        1,
        "not offered",
        "own_ndcg[@k]",
    )


def test_less_is_better_is_marked_so_in_the_table() -> None:
    @ir.measure(direction=-1)
    def first_rank(grades):
        return np.argmax([*(grades > 0), True]) + 1

    runs = [
        ir.evaluate(QRELS, ir.Run(run, name=name), [first_rank])
        for name, run in (("early", {"q1": ["a"], "q2": ["d"]}), ("late", RUN))
    ]
    assert "1.0000*" in next(
        line for line in table_report(runs).splitlines() if line.startswith("early")
    )
    assert io.StringIO(table_report(runs)).readline().split() == ["run", "first_rank"]
