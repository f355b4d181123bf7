"""What trackers get, before any of them is asked: names, numbers, tables."""

import io
import json
import math
import re
import sys
from itertools import permutations

import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import idealrank as ir
from idealrank.errors import MissingExtraError, OptionError, install_command
from idealrank.integrations import metric_names
from idealrank.measures import MEASURES
from idealrank.trackers.content import content_of

QRELS = {f"q{i}": {"x": 2, "y": 1} for i in range(6)} | {"z": {"y": 0}}
MEASURES_ASKED = ["nDCG@10", "nDCG(gain=exp2)@10", "P(rel=2)@5", "NumRet"]


def evaluated(name: str, ranking: list[str]) -> ir.Evaluation:
    return ir.evaluate(QRELS, ir.Run(dict.fromkeys(QRELS, ranking), name=name), MEASURES_ASKED)


@pytest.fixture(scope="module")
def runs() -> tuple[ir.Evaluation, ir.Evaluation]:
    return evaluated("old run", ["u", "y", "x"]), evaluated("neu/über", ["x", "y", "u"])


@given(st.lists(st.text(max_size=300), max_size=12))
def test_every_text_has_a_legal_name_of_its_own(texts: list[str]) -> None:
    names = metric_names(texts)

    assert list(names) == list(dict.fromkeys(texts))
    assert len(set(names.values())) == len(names)
    assert all(
        re.fullmatch("[_a-zA-Z][_a-zA-Z0-9]*", name) and len(name) <= 150 for name in names.values()
    )


@pytest.mark.parametrize("order", list(permutations(["a_b", "a_b_c14cddc0", "a/b"])))
def test_a_text_that_is_spelled_as_a_name_with_digits_shares_no_name(order: list[str]) -> None:
    names = metric_names(order)
    assert len(set(names.values())) == 3, names


def test_names_of_all_measures_are_readable_and_their_own() -> None:
    texts = [f"{name}{cutoff}" for name in MEASURES for cutoff in ("", "@10")]
    names = metric_names(texts)
    assert len(set(names.values())) == len(texts)
    # no hash was needed
    assert not [name for name in names.values() if re.search("_[0-9a-f]{8}$", name)]


def test_an_evaluation_gives_means_intervals_and_coverage(
    runs: tuple[ir.Evaluation, ir.Evaluation],
) -> None:
    content = content_of(runs[0])

    mean = runs[0].mean()
    low, high = ir.intervals(runs[0])["nDCG(gain=exp2)@10"].interval
    assert content.metrics["nDCG_at_10"] == mean["nDCG@10"]
    assert content.metrics["NumRet"] == 21
    assert (
        content.metrics["nDCG_gain_exp2_at_10_low"],
        content.metrics["nDCG_gain_exp2_at_10_high"],
    ) == (low, high)
    assert content.metrics["coverage_unjudged_share"] == pytest.approx(8 / 21)
    assert {
        name: str(ir.parse_measure(text))
        for name, text in json.loads(content.words["measures"]).items()
    } == {
        "nDCG_at_10": "nDCG@10",
        "nDCG_gain_exp2_at_10": "nDCG(gain=exp2)@10",
        "P_rel_2_at_5": "P(rel=2)@5",
        "NumRet": "NumRet",
    }
    assert content.settings["convention_fingerprint"] == runs[0].convention.fingerprint
    assert content.settings["convention_gain"] == runs[0].convention.switches()["gain"]


def test_the_table_says_which_queries_do_not_count() -> None:
    evaluation = ir.evaluate(
        QRELS,
        {query: ["x"] for query in QRELS},
        ["RR"],
        ir.Convention.of("standard", no_relevant="left-out"),
    )

    columns = content_of(evaluation).columns

    assert columns["query"][-1] == "z"
    assert columns["RR"] == [1.0] * 6 + [None]


def test_files_read_back_as_the_values(runs: tuple[ir.Evaluation, ir.Evaluation]) -> None:
    content = content_of(ir.compare(*runs), runs)

    table = pyarrow.parquet.read_table(io.BytesIO(content.files["per_query.parquet"])).to_pydict()  # type: ignore[arg-type]
    assert table["run"] == ["old run"] * 7 + ["neu/über"] * 7
    assert table["nDCG@10"] == [*runs[0]["nDCG@10"], *runs[1]["nDCG@10"]]
    assert (
        str(content.files["per_query.csv"]).splitlines()[1]
        == f"old run,q0,nDCG@10,{float(runs[0]['nDCG@10'][0])!r},{runs[0].convention}"
    )
    assert (
        json.loads(content.files["comparison.json"])["pairs"][0]["measures"]["nDCG@10"]["wins"] == 6
    )


def test_a_comparison_gives_its_difference_with_interval_and_p(
    runs: tuple[ir.Evaluation, ir.Evaluation],
) -> None:
    comparison = ir.compare(*runs, measures=["nDCG@10"])
    row = comparison["nDCG@10"]

    content = content_of(comparison)

    found = content.metrics
    assert found["nDCG_at_10_difference"] == row.difference > 0
    assert (found["nDCG_at_10_difference_low"], found["nDCG_at_10_difference_high"]) == row.interval
    assert found["nDCG_at_10_difference_p"] == row.p_corrected
    assert found["neu_ber_nDCG_at_10"] == row.mean_b
    assert json.loads(content.words["runs"])["neu_ber"] == "neu/über"
    assert "is better than old run" in content.words["verdicts"]


def test_of_many_runs_the_pairs_are_told_apart_or_left_to_the_file(
    runs: tuple[ir.Evaluation, ir.Evaluation],
) -> None:
    third = evaluated("third", ["x"])
    few = content_of(ir.compare(*runs, third, measures=["nDCG@10"]))
    many = content_of(
        ir.compare(*(evaluated(f"r{i}", ["x", "y"]) for i in range(8)), measures=["nDCG@10"])
    )

    assert {name for name in few.metrics if name.endswith("_difference")} == {
        "neu_ber_vs_old_run_nDCG_at_10_difference",
        "third_vs_old_run_nDCG_at_10_difference",
        "third_vs_neu_ber_nDCG_at_10_difference",
    }
    assert not [name for name in many.metrics if "difference" in name]
    assert len(str(many.files["comparison.csv"]).splitlines()) == 29


def test_a_gate_gives_whether_it_is_open_and_why(runs: tuple[ir.Evaluation, ir.Evaluation]) -> None:
    old, new = runs
    shut, opened = (
        content_of(ir.gate(*pair, measures=["nDCG@10"])) for pair in ((old, new), (new, old))
    )

    assert (opened.metrics["gate_passed"], opened.words["gate"], opened.words["gate_reasons"]) == (
        1.0,
        "open",
        "none",
    )
    assert (shut.metrics["gate_passed"], shut.words["gate"]) == (0.0, "closed")
    assert "nDCG@10" in shut.words["gate_reasons"]
    assert shut.metrics["nDCG_at_10_difference"] < shut.metrics["nDCG_at_10_difference_bound"] < 0
    assert "gate.txt" in shut.files


def test_what_has_no_finite_value_is_no_number_of_a_tracker() -> None:
    one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")  # of one query the interval is infinite
    assert set(content_of(one).metrics) >= {"RR", "RR_queries"}
    assert "RR_low" not in content_of(one).metrics
    assert all(map(math.isfinite, content_of(one).metrics.values()))


@pytest.mark.parametrize("name", ["mlflow", "wandb"])
def test_without_the_extra_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, runs: tuple[ir.Evaluation, ir.Evaluation], name: str
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match=re.escape(install_command(name))):
        getattr(ir, f"log_to_{name}")(runs[0])


def test_without_pyarrow_the_table_is_csv_alone(
    monkeypatch: pytest.MonkeyPatch, runs: tuple[ir.Evaluation, ir.Evaluation]
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert set(content_of(runs[0], page="").files) == {"evaluation.json", "per_query.csv"}


def test_the_report_goes_along_where_it_can_be_made(
    monkeypatch: pytest.MonkeyPatch, runs: tuple[ir.Evaluation, ir.Evaluation]
) -> None:
    comparison = ir.compare(*runs, measures=["nDCG@10"])

    assert "neu/über is better than old run" in str(
        content_of(comparison, runs).files["report.html"]
    )
    assert "report.html" not in content_of(comparison).files  # nobody said of which evaluations
    assert content_of(comparison, runs, "<p>mine</p>").files["report.html"] == "<p>mine</p>"
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.warns(
        ir.IdealrankWarning,
        match=rf"logged without a report: .* {re.escape(install_command('report'))}",
    ):
        assert "report.html" not in content_of(runs[0]).files


def test_another_result_is_refused() -> None:
    with pytest.raises(
        OptionError,
        match="found a result of type dict, expected an Evaluation, a Comparison or a Gated",
    ):
        content_of({})  # type: ignore[arg-type]
