"""Precision elsewhere and set measures: trec_eval's printed digits (10.0 and 9.0.4),
pytrec_eval-terrier (9.0.8) and ir_measures live.
"""

import math
import re
from dataclasses import replace

import ir_measures
import pytest
import pytrec_eval

import idealrank as ir
from idealrank.measures.measure import Measure
from tests.golden.harness import Fixture
from tests.parity.agreement import long_fixture, random_fixture
from tests.parity.calls import judged, returned, whole
from tests.parity.trec_folder import (
    DL19_QRELS,
    DL19_RUN,
    OUTPUTS,
    Printed,
    differences,
    dl19_file,
    dl19_output,
    first_documents,
    folder_file,
    folder_output,
)

TENTHS = [f"iprec_at_recall_{tenth / 10:.2f}" for tenth in range(11)]
MULTIPLES = [f"Rprec_mult_{fifth / 5:.2f}" for fifth in range(1, 11)]
RELATIVE = [f"relative_P_{rank}" for rank in (5, 10, 15, 20, 30, 100, 200, 500, 1000)]
SETS = ["set_P", "set_relative_P", "set_recall", "set_map", "set_F"]
SUCCESS = ["success_1", "success_5", "success_10"]
OFFICIAL = ["gm_map", "Rprec", *TENTHS]
ALL_TREC = [*OFFICIAL, *MULTIPLES, "11pt_avg", *RELATIVE, *SUCCESS, *SETS]
OWN = [
    "iprec_at_recall_0.25",
    "iprec_at_recall_0.75",
    "Rprec_mult_0.35",
    "Rprec_mult_5.00",
    "11pt_avg_.25,.5,.75",
    "success_2",
    "success_20",
]


def named(names: list[str], rel: float | None = None) -> dict[str, Measure]:
    """Measures by trec_eval's names."""
    return {name: replace(ir.parse_measure(name), rel=rel) for name in names}  # type: ignore[call-arg]


def differing(
    printed: Printed,
    names: list[str],
    qrels: object,
    run: object,
    convention: str,
    rel: float | None = None,
) -> list[str]:
    """What we would print otherwise; every name must have been printed."""
    assert set(names) <= {name for name, _ in printed}
    measures = named(names, rel)
    return differences(printed, measures, ir.evaluate(qrels, run, measures.values(), convention))


@pytest.mark.parametrize("output", OUTPUTS)
def test_the_test_folder_of_trec_eval_10(output: str) -> None:
    made = OUTPUTS[output]
    names = OFFICIAL if output in ("out.test", "out.comment.test") else ALL_TREC

    assert (
        differing(
            folder_output(output),
            names,
            folder_file(made.qrels),
            folder_file(made.run),
            "trec_eval-10",
            made.rel,
        )
        == []
    )


def test_lists_cut_at_100() -> None:
    run = first_documents("results.trunc", 100)

    assert (
        differing(
            folder_output("out.test.aqcM"), ALL_TREC, folder_file("qrels.test"), run, "trec_eval-10"
        )
        == []
    )


def test_parameters_of_ones_own() -> None:
    printed, names = folder_output("out.test.meas_params"), [*OWN, "success_5", *TENTHS[1:3]]

    assert (
        differing(
            printed, names, folder_file("qrels.test"), folder_file("results.test"), "trec_eval-10"
        )
        == []
    )


@pytest.mark.parametrize(
    ("version", "convention"), [("9.0.4", "trec_eval-9"), ("10", "trec_eval-10")]
)
@pytest.mark.parametrize("level", [1, 2])
def test_dl19_by_both_versions(version: str, convention: str, level: int) -> None:
    rel = None if level == 1 else 2.0
    printed = dl19_output(version, level)

    found = differing(
        printed,
        ALL_TREC,
        dl19_file(DL19_QRELS),
        dl19_file(DL19_RUN),
        f"{convention},missing=zero",
        rel,
    )

    assert found == []


def test_the_versions_differ_in_recall_points_alone() -> None:
    """Otherwise the switch would not be proven by the outputs."""
    nine, ten = dl19_output("9.0.4", 1), dl19_output("10", 1)
    changed = {
        name
        for (name, query), text in nine.items()
        if ten[name, query] != text and name in ALL_TREC
    }

    # Half of a whole number, and all of it, are rounded alike by both.
    assert changed == {*TENTHS[1:5], *TENTHS[6:10], "11pt_avg"}
    measures = named(ALL_TREC)
    evaluation = ir.evaluate(
        dl19_file(DL19_QRELS),
        dl19_file(DL19_RUN),
        measures.values(),
        "trec_eval-10,recall_points=truncated",
    )
    assert differences(nine, measures, evaluation) == []


@pytest.mark.parametrize("name", ALL_TREC)
def test_the_names_are_trec_evals(name: str) -> None:
    assert ir.parse_measure(name).trec_name == name


# --- live -----------------------------------------------------------------------------------------

# Asked with their parameters, and the key under which the answer comes.
ASKED = {
    **{name: name for name in ("Rprec", "11pt_avg", *SETS)},
    **{
        f"iprec_at_recall.{level}": f"iprec_at_recall_{level:.2f}"
        for level in (0.0, 0.1, 0.15, 0.25, 0.3, 0.5, 0.7, 0.95, 1.0)
    },
    **{
        f"Rprec_mult.{mult}": f"Rprec_mult_{mult:.2f}"
        for mult in (0.04, 0.2, 0.35, 0.6, 1.0, 1.4, 3.0)
    },
    **{f"success.{rank}": f"success_{rank}" for rank in (1, 2, 5)},
    **{f"relative_P.{rank}": f"relative_P_{rank}" for rank in (1, 3, 10, 50)},
}


def by_pytrec_eval(fixture: Fixture, asked: set[str], level: int) -> dict[str, dict[str, float]]:
    """Values by query and name; all parameters of a measure go in one word."""
    words: dict[str, list[str]] = {}
    for text in asked:
        name, _, parameter = text.partition(".")
        words.setdefault(name, []).extend([parameter] if parameter else [])
    joined = {
        name + ("." + ",".join(parameters) if parameters else "")
        for name, parameters in words.items()
    }
    found: dict[str, dict[str, float]] = pytrec_eval.RelevanceEvaluator(
        whole(judged(fixture)), joined, relevance_level=level
    ).evaluate(returned(fixture))
    return found


@pytest.mark.parametrize("level", [1, 2])
def test_pytrec_eval_on_random_lists_with_ties(level: int) -> None:
    measures = named(list(ASKED.values()), float(level))
    for fixture in (*map(random_fixture, range(20)), long_fixture(3)):
        expected = by_pytrec_eval(fixture, set(ASKED), level)

        values = ir.evaluate(
            judged(fixture), returned(fixture), measures.values(), "trec_eval-9"
        ).per_query()

        for query, by_name in expected.items():
            for name, measure in measures.items():
                assert values[query][str(measure)] == pytest.approx(by_name[name], abs=1e-12), (
                    query,
                    name,
                )


@pytest.mark.parametrize("beta", ["0.5", "2", "3"])
def test_pytrec_eval_weighs_recall_as_we_do(beta: str) -> None:
    for fixture in map(random_fixture, range(6)):
        values = ir.evaluate(
            judged(fixture), returned(fixture), [f"set_F_{beta}"], "trec_eval-9"
        ).per_query()
        for query, by_name in by_pytrec_eval(fixture, {f"set_F.{beta}"}, 1).items():
            assert values[query][f"SetF(beta={beta})"] == pytest.approx(by_name["set_F"], abs=1e-12)


def test_pytrec_eval_gives_the_logarithm_that_gm_map_averages() -> None:
    """pytrec_eval answers per query with log(max(AP, 0.00001)), the term of the geometric mean."""
    for fixture in map(random_fixture, range(12)):
        logs = [values["gm_map"] for values in by_pytrec_eval(fixture, {"gm_map"}, 1).values()]

        mean = ir.evaluate(judged(fixture), returned(fixture), "gm_map", "trec_eval-9").mean()[
            "GMAP"
        ]

        assert mean == pytest.approx(math.exp(math.fsum(logs) / len(logs)), rel=1e-12)


IR_MEASURES = [
    "Rprec",
    "RPrec",
    "Rprec(rel=2)",
    "Rprec(judged_only=True)",
    "Success@1",
    "Success@5",
    "Success(rel=2)@3",
    "Success(judged_only=True)@2",
    "IPrec@0.1",
    "IPrec@0.5",
    "IPrec(judged_only=True)@0.3",
    "SetP",
    "SetP(rel=2)",
    "SetP(judged_only=True)",
    "SetRelP",
    "SetP(relative=True)",
    "SetP(rel=2,relative=True)",
    "SetR",
    "SetR(rel=2)",
    "SetF",
    "SetF(beta=2.5)",
    "SetF(beta=0.5,rel=2)",
    "SetF(judged_only=True)",
    "SetAP",
    "SetAP(rel=2)",
    "SetAP(judged_only=True)",
]


@pytest.mark.parametrize("text", IR_MEASURES)
def test_ir_measures_spells_and_computes_the_same(text: str) -> None:
    """The same text in both; a missing query counts 0."""
    for seed in range(4):
        fixture = random_fixture(seed)
        fixture = Fixture({**fixture.queries, "900": [("d1", None, 1.0)]})
        grades = whole(judged(fixture))

        found = ir.evaluate(grades, returned(fixture), text, "ir_measures")

        metrics = ir_measures.iter_calc(
            [ir_measures.parse_measure(text)], grades, returned(fixture)
        )
        expected = {metric.query_id: metric.value for metric in metrics}
        assert dict(zip(found.queries, found[text], strict=True)) == pytest.approx(
            expected, abs=1e-12
        )


def test_every_name_of_ir_measures_for_these_families_is_read() -> None:
    """From its own registry, so that none is forgotten."""
    names = [
        name
        for name in ir_measures.measures.registry
        if re.match(r"Set|Rprec|RPrec|Success|IPrec", name)
    ]

    assert len(names) == 9
    for name in names:
        after = {"Success": "@5", "IPrec": "@0.1"}.get(name, "")
        assert ir.parse_measure(name + after) == ir.parse_measure(
            str(ir_measures.parse_measure(name + after))
        )


@pytest.mark.parametrize("b", [0.5, 1.0, 2.0])
def test_scikit_learn_has_the_square_of_the_weight(b: float) -> None:
    """fbeta_score over the documents as items, returned or not: the F of van Rijsbergen with his
    beta.
    """
    from sklearn.metrics import fbeta_score

    for fixture in map(random_fixture, range(6)):
        values = ir.evaluate(judged(fixture), returned(fixture), ir.SetF(beta=b**2), "trec_eval-9")
        for query, value in zip(values.queries, values.values[:, 0], strict=True):
            rows = fixture.queries[query]
            labels, answers = (
                [(grade or 0) >= 1 for *_, grade in rows],
                [score is not None for _, score, _ in rows],
            )
            assert value == pytest.approx(
                fbeta_score(labels, answers, beta=b, zero_division=0.0), abs=1e-12
            )
