"""Similarity of every two of several runs: equal to the plain twin, query by query, in every form
that shows it.
"""

import math
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import idealrank as ir
from idealrank.measures.pairs import PairMeasure
from idealrank.measures.parse import parse_pair_measure
from idealrank.testing import Scores, runs
from tests.twins import naive_pairs

MEASURES = ("RBO(p=0.9)", "overlap@2", "tau", "tauAP", "RBO(estimate=min)")
NAMES = ["a", "b", "c", "d"]
# random lists often have none
pytestmark = pytest.mark.filterwarnings("ignore:.*no document in common")


def twin(measure: str, a: Scores, b: Scores, ties: str = "shared") -> tuple[float, int]:
    """Mean over the queries that both answer and for which the measure is defined, and their
    number.
    """
    asked = parse_pair_measure(measure)
    values = [
        naive_pairs.value(asked, a[query], b[query], ties)
        for query in a
        if a[query] and b.get(query)
    ]
    defined = [value for value in values if not math.isnan(value)]
    return (fmean(defined) if defined else math.nan), len(defined)


def runs_with_q1() -> st.SearchStrategy[Scores]:
    """Runs that have a query in common."""
    return runs(queries=["q1", "q2", "q3"], max_size=4).map(
        lambda scores: {**scores, "q1": scores.get("q1") or {"d1": 1.0}}
    )


@pytest.mark.slow
@given(st.lists(runs_with_q1(), min_size=2, max_size=4), st.sampled_from(MEASURES))
def test_every_cell_is_the_mean_of_the_twin(scores: list[Scores], measure: str) -> None:
    found = ir.overlap_matrix(scores, measure, names=NAMES[: len(scores)])

    for row, a in enumerate(scores):
        for column, b in enumerate(scores):
            value, n = twin(measure, a, b)
            assert found[measure][row, column] == pytest.approx(value, abs=1e-12, nan_ok=True)
            assert found.values_with(measure)[row, column] == n
            assert found.common()[row, column] == sum(
                bool(a[query] and b.get(query)) for query in a
            )


def test_a_measure_that_is_not_symmetric_takes_the_run_of_the_row_first() -> None:
    a, b = {"q": {"x": 3.0, "y": 2.0, "z": 1.0}}, {"q": {"y": 3.0, "z": 2.0, "x": 1.0}}
    assert not getattr(parse_pair_measure("tauAP"), "symmetric", True)

    found = ir.overlap_matrix([a, b], "tauAP", names=["a", "b"])["tauAP"]

    assert found[0, 1] == pytest.approx(twin("tauAP", a, b)[0], abs=1e-12)
    assert found[1, 0] == pytest.approx(twin("tauAP", b, a)[0], abs=1e-12)
    assert found[0, 1] != found[1, 0]


def test_pairs_are_those_of_overlap() -> None:
    paths = [f"tests/cli/data/{name}.run" for name in ("bm25", "neural", "new-seed1")]
    found = ir.overlap_matrix(paths, ["RBO(p=0.9)", "overlap@3"], ties="docid")

    pair, alone = (
        found.pair("neural", "bm25"),
        ir.overlap(*paths[:2], ["RBO(p=0.9)", "overlap@3"], ties="docid"),
    )
    assert found.names == ("bm25", "neural", "new-seed1")
    assert (pair.names, pair.paths, pair.per_query()) == (
        alone.names,
        alone.paths,
        alone.per_query(),
    )
    assert found["overlap@3"][1, 0] == alone.mean()["overlap@3"]


def test_names_come_from_the_call_from_runs_and_from_files() -> None:
    def names(*given: object, **options: object) -> tuple[str, ...]:
        return ir.overlap_matrix(given, "overlap@2", **options).names  # type: ignore[arg-type]

    mapping, run = {"q1": ["d1"]}, ir.Run({"q1": ["d1"]}, name="mine")
    assert names(mapping, run, "tests/cli/data/bm25.run", mapping) == (
        "run 1",
        "mine",
        "bm25",
        "run 4",
    )
    assert names(run, run) == ("mine", "mine (2)")
    assert names(mapping, run, names=["left", "right"]) == ("left", "right")


@pytest.mark.parametrize(
    ("given_runs", "options", "said"),
    [
        ([{"q": ["d"]}], {}, "runs: found 1, expected two or more"),
        ("bm25.run", {}, "found one str, expected several runs"),
        (
            [{"q": ["d"]}] * 2,
            {"names": ["a"]},
            "names: found 'a', expected a different name for each of 2 runs",
        ),
        (
            [{"q": ["d"]}] * 2,
            {"names": ["a", "a"]},
            "names: found 'a', 'a', expected a different name",
        ),
        ([{"q": ["d"]}] * 2, {"names": "ab"}, "names: found 'ab', expected a different name"),
        ([{"q": ["d"]}, {"p": ["d"]}], {"names": ["a", "b"]}, "run 'a' answers 1 query"),
        ([{"q": ["d"]}] * 2, {"measures": "nDCG@10"}, "nDCG@10"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    given_runs: object, options: dict[str, object], said: str
) -> None:
    with pytest.raises(ir.IdealrankError, match=said):
        ir.overlap_matrix(given_runs, **options)  # type: ignore[arg-type]


def test_a_frame_has_a_row_for_each_measure_and_ordered_pair() -> None:
    found = ir.overlap_matrix([{"q": ["x", "y"]}, {"q": ["y", "z"]}], names=["a", "b"])
    frame = found.to_frame("polars")

    assert frame.columns == ["run_a", "run_b", "measure", "value", "queries"]
    assert frame.height == 2 * 2 * 2
    values = {
        (row["run_a"], row["run_b"], row["measure"]): row["value"] for row in frame.to_dicts()
    }
    assert [values["a", "b", text] for text in ("RBO(p=0.9)", "overlap@10")] == [
        found["RBO(p=0.9)"][0, 1],
        found["overlap@10"][0, 1],
    ]


def test_measures_without_a_value_are_nan_and_unknown_ones_an_error() -> None:
    found = ir.overlap_matrix([{"q": ["x"]}, {"q": ["x", "y"]}], "tau")

    assert np.isnan(found["tau"][0, 1])
    assert found["tau"][1, 1] == 1
    with pytest.raises(KeyError, match="not computed"):
        found["overlap@10"]
    with pytest.raises(KeyError, match="expected two of 'A', 'B'"):
        found.pair("A", "neural")
    assert isinstance(found.measures[0], PairMeasure)
