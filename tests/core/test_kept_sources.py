"""Evaluations that keep their judgments and runs stand for them in `robust`, `why` and `explain`;
other evaluations are refused.
"""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

import idealrank as ir
from idealrank.errors import IncompatibleError, InputError, OptionError
from tests.conftest import PYDOCS

QRELS, *RUNS = [str(PYDOCS / name) for name in ("qrels.txt", "bm25.run", "minilm.run")]


def kept(convention: str = "standard", measures: Any = ("nDCG@5", "AP")) -> list[ir.Evaluation]:
    return [ir.evaluate(QRELS, run, measures, convention, keep_unjudged=True) for run in RUNS]


def test_why_of_evaluations_is_that_of_their_files() -> None:
    found = ir.why(*kept("lightgbm"))

    assert found.as_dict() == ir.why(QRELS, *RUNS, "nDCG@5", "lightgbm").as_dict()
    assert (
        ir.why(*kept(), "AP").as_dict()
        == ir.why(*kept(), measure="AP").as_dict()
        == ir.why(QRELS, *RUNS, "AP").as_dict()
    )


def test_robust_of_evaluations_is_that_of_their_files() -> None:
    options = {"variants": ["cutoff", "gain=exp2"], "rng": 7}

    assert (
        ir.robust(*kept(), **options).as_dict()
        == ir.robust(QRELS, *RUNS, "nDCG@5", **options).as_dict()
    )
    assert (
        ir.robust(*kept("gdeval"), "AP", **options).as_dict()
        == ir.robust(QRELS, *RUNS, "AP", convention="gdeval", **options).as_dict()
    )


def test_explain_of_an_evaluation_is_that_of_its_files() -> None:
    evaluation = kept("lightgbm")[0]
    query = evaluation.queries[3]

    assert (
        ir.explain(evaluation, query).as_dict()
        == ir.explain(QRELS, RUNS[0], query, "nDCG@5", "lightgbm").as_dict()
    )
    assert (
        ir.explain(evaluation, query, "P@3").as_dict()
        == ir.explain(QRELS, RUNS[0], query, "P@3", "lightgbm").as_dict()
    )
    assert ir.explain(evaluation, query, name="mine").run == "mine"


def test_parts_of_an_evaluation_keep_what_still_belongs_to_it() -> None:
    evaluation = kept()[0]

    assert evaluation.sources is not None
    assert evaluation.select("AP").sources == evaluation.sources
    assert evaluation.on(["q1"]).sources is None
    assert pickle.loads(pickle.dumps(evaluation)).sources is None
    assert ir.evaluate(QRELS, RUNS[0], "AP").sources is None


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda a, b, _: ir.why(a, b.on(["q1"])),
            r"evaluation 'minilm': found no judgments and run in it, expected evaluate\(",
        ),
        (
            lambda a, _b, _: ir.robust(ir.evaluate(QRELS, RUNS[0], "AP"), a),
            r"which keeps them, or robust\(qrels, run_a, run_b\)",
        ),
        (
            lambda _a, _b, _: ir.explain(ir.evaluate(QRELS, RUNS[0], "AP"), "q1"),
            r"or explain\(qrels, run, query_id\)",
        ),
        (
            lambda a, _b, _: ir.why(a, RUNS[0]),
            r"^why: found Evaluation, str; expected why\(qrels, run_a, run_b\) or why\(evaluation",
        ),
        (
            lambda a, _b, _: ir.robust(QRELS, a),
            r"^robust: found str, Evaluation; expected robust\(qrels, run_a, run_b\), "
            r"robust\(labels, scores_a, scores_b, group=...\) or robust\(evaluation_a, ",
        ),
        (
            lambda _a, _b, _: ir.why(QRELS, RUNS[0]),
            r"why: found no run_b, expected why\(qrels, run_a, run_b\)",
        ),
        (
            lambda _a, _b, _: ir.robust(QRELS, RUNS[0]),
            r"robust: found no run_b, expected robust\(qrels, run_a, run_b\)",
        ),
        (
            lambda _a, _b, _: ir.explain(QRELS, RUNS[0]),
            r"explain: found no query_id, expected explain\(qrels, run, query_id\) or explain",
        ),
    ],
)
def test_what_does_not_hold_its_data_is_refused_with_the_call_to_write(
    call: Any, said: str
) -> None:
    with pytest.raises((InputError, OptionError), match=said):
        call(*kept(), None)


def test_another_convention_needs_another_evaluation() -> None:
    a, b = kept()
    for call in (
        lambda: ir.why(a, b, convention="gdeval"),
        lambda: ir.robust(a, b, convention="gdeval"),
    ):
        with pytest.raises(
            OptionError, match="convention=gdeval: found evaluations, which have theirs, standard"
        ):
            call()
    with pytest.raises(IncompatibleError, match="found conventions"):
        ir.why(a, kept("gdeval")[1])


# --- names ----------------------------------------------------------------------------------------

JUDGED = {f"q{number}": {"x": 1, "y": 0} for number in range(8)}
LOW, HIGH = {query: ["y", "z", "x"] for query in JUDGED}, {query: ["x", "y"] for query in JUDGED}
FRAMES = [
    pd.DataFrame(
        [
            {"qid": query, "docno": document, "score": -rank}
            for query in run
            for rank, document in enumerate(run[query])
        ]
    )
    for run in (LOW, HIGH)
]
ARRAYS = [np.array([[1, 0]] * 8), np.array([[0.1, 0.2]] * 8), np.array([[0.2, 0.1]] * 8)]


def test_runs_of_any_shape_take_names() -> None:
    names = ["old", "new"]
    for given in (
        (JUDGED, LOW, HIGH),
        (JUDGED, *FRAMES),
        ARRAYS,
        [ir.evaluate(JUDGED, run, "RR", keep_unjudged=True) for run in (LOW, HIGH)],
    ):
        assert ir.compare(*given, measures="RR", names=names).names == ("old", "new")
        gated = ir.gate(*given, measures="RR", names=["new", "old"])
        assert (gated.run, gated.baselines) == ("new", ("old",))
    for given in ((JUDGED, LOW, HIGH), (JUDGED, *FRAMES)):
        why, robust = (
            ir.why(*given, "RR", names=names),
            ir.robust(*given, "RR", names=names, variants=["cutoff"]),
        )
        assert ((why.run_a, why.run_b), (robust.run_a, robust.run_b)) == (
            ("old", "new"),
            ("old", "new"),
        )
        assert ir.overlap(*given[1:], names=names).names == ("old", "new")
    assert ir.explain(JUDGED, FRAMES[0], "q1", name="old").run == "old"


def test_runs_of_files_have_the_names_of_their_files() -> None:
    why = ir.why(QRELS, *RUNS)

    assert (why.run_a, why.run_b) == ("bm25", "minilm")
    assert ir.overlap(*RUNS).names == ir.compare(QRELS, *RUNS).names == ("bm25", "minilm")


@pytest.mark.parametrize("names", [["a"], ["a", "a"], "ab", ["a", "b", "c"]])
def test_names_are_one_for_each_run(names: Any) -> None:
    for call in (ir.compare, ir.gate, ir.why, ir.robust):
        with pytest.raises(
            InputError, match=r"names: found .*, expected a different name for each of 2 runs"
        ):
            call(JUDGED, LOW, HIGH, names=names)


# --- readers --------------------------------------------------------------------------------------


def test_readers_take_dataframes_with_columns_of_any_name() -> None:
    stars = pd.DataFrame({"who": [1, 1], "film": ["alien", "brazil"], "stars": [5, 3]})
    places = pd.DataFrame({"who": [1, 1], "film": ["brazil", "alien"], "place": [1, 2]})

    qrels = ir.read_qrels(stars, columns={"user": "who", "item": "film", "rating": "stars"})
    run = ir.read_run(
        places, columns={"user": "who", "item": "film", "rank": "place"}, name="shown"
    )

    assert (qrels["1"], run.name, run.ranking("1").documents) == (
        {"alien": 5.0, "brazil": 3.0},
        "shown",
        ["brazil", "alien"],
    )
    said: list[str] = []
    ir.read_run(pd.DataFrame({"qid": ["q"], "docno": ["d"], "sim": [1.0]}), tell=said.append)
    assert said == ["run: columns guessed: query=qid, document=docno, score=sim"]
