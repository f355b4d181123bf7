"""Runs left out of the pool, against a slow computation from the definition, and the verdict in
words.
"""

import numpy as np
import pytest
from scipy.stats import kendalltau

import idealrank as ir
from idealrank.conventions import Convention
from idealrank.errors import InputError
from idealrank.judging import Reusability, RunLeftOut, reusability
from tests.conftest import shared_file


def _case(seed: int) -> "tuple[dict[str, dict[str, int]], dict[str, dict[str, list[str]]]]":
    rng = np.random.default_rng(seed)
    names = [f"d{place}" for place in range(15)]
    runs = {
        f"r{place}": {query: rng.permutation(names)[:6].tolist() for query in ("p", "q", "s")}
        for place in range(5)
    }
    qrels = {
        query: {
            document: int(rng.integers(0, 3))
            for run in runs.values()
            for document in run[query][:4]
        }
        for query in ("p", "q", "s")
    }
    return qrels, runs


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("grouped", [False, True])
def test_a_run_left_out_has_the_values_of_its_definition(seed: int, grouped: bool) -> None:
    qrels, runs = _case(seed)
    groups = {"r0": "team", "r1": "team"} if grouped else {}
    found = {
        one.run: one for one in reusability(qrels, runs, "nDCG@4", depth=4, groups=groups).runs
    }
    values, without = [], []
    for name, run in runs.items():
        team = {other for other in runs if groups.get(other, other) == groups.get(name, name)}
        reduced = {
            query: {
                document: grade
                for document, grade in graded.items()
                if any(
                    document in other[query][:4]
                    for label, other in runs.items()
                    if label not in team
                )
            }
            for query, graded in qrels.items()
        }
        unique = sum(
            document not in reduced[query] for query in qrels for document in run[query][:4]
        )
        values.append(ir.evaluate(qrels, run, ["nDCG@4"]).mean()["nDCG@4"])
        without.append(ir.evaluate(ir.Qrels(reduced), run, ["nDCG@4"]).mean()["nDCG@4"])
        assert (found[name].value, found[name].value_without) == pytest.approx(
            (values[-1], without[-1]), abs=1e-12
        )
        assert found[name].unique == unique
        others = [
            ir.evaluate(ir.Qrels(reduced), other, ["nDCG@4"]).mean()["nDCG@4"]
            for other in runs.values()
        ]
        assert found[name].rank_without == 1 + sum(other > without[-1] + 1e-12 for other in others)
    assert reusability(qrels, runs, "nDCG@4", depth=4, groups=groups).tau == pytest.approx(
        kendalltau(values, without).statistic
    )


def _made(tau: float, changes: list[int]) -> Reusability:
    rows = tuple(
        RunLeftOut(
            run=f"r{place}",
            group=f"r{place}",
            unique=1,
            unique_relevant=1,
            value=0.5,
            value_without=0.4,
            rank=1,
            rank_without=1 + change,
        )
        for place, change in enumerate(changes)
    )
    return Reusability(
        measure="AP", depth=10, runs=rows, tau=tau, convention=Convention.of("standard")
    )


@pytest.mark.parametrize(
    ("tau", "changes", "verdict"),
    [
        (0.95, [0, 1, 0], "reusable"),
        (0.95, [0, 2, 0], "reusable with care"),
        (0.95, [0, 2] * 10, "reusable"),
        (0.85, [0, 0, 0], "reusable with care"),
        (0.7, [0, 0, 0], "not reusable"),
        (float("nan"), [0, 0, 0], "not reusable"),
        (1.0, [0, 0], "too few runs"),
    ],
)
def test_the_verdict_follows_its_limits(tau: float, changes: list[int], verdict: str) -> None:
    assert _made(tau, changes).verdict == verdict


def test_runs_that_return_the_same_documents_are_reusable() -> None:
    runs = {
        name: {"q": listed}
        for name, listed in (
            ("a", ["x", "y"]),
            ("b", ["y", "x"]),
            ("c", ["z", "x"]),
            ("d", ["z", "y"]),
        )
    }
    found = reusability({"q": {"x": 2, "y": 1, "z": 0}}, runs, "nDCG@2", depth=2)
    assert found.verdict == "reusable"
    assert all(one.unique == 0 and one.rank_change == 0 for one in found.runs)


def test_the_runs_of_the_llm_judges_fall_when_they_are_left_out() -> None:
    runs = {
        f"s{place:02}": ir.read_run(shared_file("data", "llm-judges", "runs", f"s{place:02}.run"))
        for place in (1, 4, 9, 12)
    }
    found = reusability(ir.read_qrels(shared_file("data", "llm-judges", "human.qrels")), runs)
    assert all(one.value_without < one.value for one in found.runs)
    assert found.largest_fall > 0.05


def test_no_run_is_refused() -> None:
    with pytest.raises(InputError, match="found none"):
        reusability({"q": {"x": 1}}, {})
