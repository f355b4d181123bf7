"""`idealrank evaluate --weights` and `--cluster`: means and intervals of queries that do not count
alike, and what is refused.
"""

import csv
import io
import json
import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import idealrank as ir
from tests.cli.terminal import DATA, Said, check_snapshot

Say = Callable[..., Said]

RECORD = json.loads(
    (Path(__file__).parents[1] / "parity" / "statsmodels_recorded.json").read_text("utf-8")
)
COMMANDS = {
    "table-weights": "evaluate qrels.txt bm25.run neural.run --weights {weights} --intervals -m "
    "nDCG@10,RR",
    "error-weights-sums": "evaluate qrels.txt bm25.run --weights {weights} -m nDCG@10,NumRet",
    "error-weights-geometric": "evaluate qrels.txt bm25.run --weights {weights} -m GMAP",
    "error-weights-trec": "evaluate qrels.txt bm25.run --weights {weights} --format trec",
    "error-weights-per-query": "evaluate qrels.txt bm25.run --weights {weights} --per-query "
    "--format csv",
    "error-cluster-alone": "evaluate qrels.txt bm25.run --cluster {weights}",
    "error-weights-missing": "evaluate qrels.txt bm25.run --weights {few}",
}


def queries_of(path: Path) -> list[str]:
    return list(ir.read_qrels(path).queries)


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    """Each query of the example files with a weight of its own."""
    path = tmp_path / "weights.csv"
    path.write_text(
        "query,weight\n"
        + "".join(
            f"{query},{1 + 3 * at}\n" for at, query in enumerate(queries_of(DATA / "qrels.txt"))
        ),
        "utf-8",
    )
    return path


@pytest.mark.parametrize("name", COMMANDS)
def test_what_evaluate_says_of_weights(name: str, say: Say, weights: Path, tmp_path: Path) -> None:
    few = tmp_path / "few.csv"
    few.write_text("query,weight\nnone,2\n", "utf-8")
    said = say(*shlex.split(COMMANDS[name].format(weights=weights, few=few)))
    text = (
        said.text(f"idealrank {COMMANDS[name]}")
        .replace(str(weights), "{weights}")
        .replace(str(few), "{few}")
    )
    check_snapshot(f"evaluate-{name}", text)
    assert said.code == (2 if name.startswith("error") else 0)


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """Judgments and a run with the values that statsmodels was given, raised by 1: the grade of the
    only document returned is DCG@1.
    """
    data = RECORD["data"]
    values = 1 + np.array(data["b"]) - np.array(data["a"])
    (tmp_path / "qrels.txt").write_text(
        "".join(f"q{n} 0 d {float(value)!r}\n" for n, value in enumerate(values)), "utf-8"
    )
    (tmp_path / "one.run").write_text(
        "".join(f"q{n} Q0 d 1 1 one\n" for n in range(values.size)), "utf-8"
    )
    for name in ("weights", "clusters"):
        (tmp_path / f"{name}.txt").write_text(
            "".join(f"q{n} {word}\n" for n, word in enumerate(data[name])), "utf-8"
        )
    return tmp_path


@pytest.mark.parametrize("named", ["weights", "clusters", "weights and clusters"])
def test_means_and_intervals_are_those_of_statsmodels_but_for_the_factor_and_degrees_of_freedom_of_weights(  # noqa: E501
    named: str, say: Say, recorded: Path
) -> None:
    files = {"weights": ["--weights", "weights.txt"], "clusters": ["--cluster", "clusters.txt"]}
    typed = [word for part in named.split(" and ") for word in files[part]]
    said = say(
        "evaluate",
        "qrels.txt",
        "one.run",
        "-m",
        "DCG@1",
        "--intervals",
        "--format",
        "json",
        *typed,
        cwd=recorded,
    )
    record = json.loads(said.out)
    mean, error = RECORD["errors"][named]
    data = RECORD["data"]
    units = (
        np.unique(data["clusters"], return_inverse=True)[1]
        if "clusters" in named
        else np.arange(len(data["a"]))
    )
    n_units, df, scale = units.max() + 1, units.max(), 1.0
    if "weights" in named:  # statsmodels multiplies the sum of squares by n/(n - 1)
        shares = np.bincount(units, data["weights"]) / sum(data["weights"])
        kish = (shares**2).sum()
        df, scale = (
            1 / kish - 1,
            kish / (shares**2 * (1 - 2 * shares + kish)).sum() * (n_units - 1) / n_units,
        )
    half = stats.t.ppf(0.975, df) * error * np.sqrt(scale)
    assert record["runs"][0]["mean"]["DCG@1"] == pytest.approx(1 + mean, abs=1e-14)
    assert record["runs"][0]["intervals"]["DCG@1"] == pytest.approx(
        [1 + mean - half, 1 + mean + half], rel=1e-12
    )
    assert (record["weighted"], record["clustered"]) == ("weights" in named, "clusters" in named)


def test_every_format_has_the_weighted_mean(say: Say, weights: Path) -> None:
    by_query = ir.read_traffic(weights)
    evaluation = ir.evaluate(DATA / "qrels.txt", DATA / "neural.run", "nDCG@10")
    expected = float(
        np.average(evaluation["nDCG@10"], weights=[by_query[query] for query in evaluation.queries])
    )
    assert abs(expected - evaluation.mean()["nDCG@10"]) > 1e-3
    command = (
        "evaluate",
        "qrels.txt",
        "neural.run",
        "-m",
        "nDCG@10",
        "--weights",
        str(weights),
        "--format",
    )
    texts = {
        layout: say(*command, layout).out
        for layout in ("table", "markdown", "latex", "csv", "json")
    }
    assert float(next(csv.DictReader(io.StringIO(texts["csv"])))["value"]) == pytest.approx(
        expected
    )
    assert json.loads(texts["json"])["runs"][0]["mean"]["nDCG@10"] == pytest.approx(expected)
    for layout in ("table", "markdown", "latex"):
        assert f"{expected:.4f}" in texts[layout]
        assert "ueries weighted" in texts[layout]


def test_compare_and_evaluate_have_one_weighted_mean(say: Say, weights: Path) -> None:
    options = (
        "qrels.txt",
        "bm25.run",
        "neural.run",
        "-m",
        "nDCG@10",
        "--weights",
        str(weights),
        "--format",
        "json",
    )
    compared, evaluated = (
        json.loads(say(command, *options).out) for command in ("compare", "evaluate")
    )
    assert {run["name"]: run["mean"]["nDCG@10"] for run in evaluated["runs"]} == {
        run: one["mean"] for run, one in compared["means"]["nDCG@10"].items()
    }


def test_slices_have_weights(say: Say, weights: Path, tmp_path: Path) -> None:
    by_query, queries = ir.read_traffic(weights), queries_of(DATA / "qrels.txt")
    (tmp_path / "slices.csv").write_text(
        "query,category\n" + "".join(f"{query},all\n" for query in queries), "utf-8"
    )
    command = (
        "evaluate",
        "qrels.txt",
        "neural.run",
        "-m",
        "RR",
        "--weights",
        str(weights),
        "--format",
        "json",
    )
    record = json.loads(say(*command, "--intervals", "--slices", str(tmp_path / "slices.csv")).out)[
        "runs"
    ][0]
    found = record["slices"]["all"]["means"]["RR"]
    assert [found["mean"], found["low"], found["high"]] == [
        record["mean"]["RR"],
        *record["intervals"]["RR"],
    ]
    evaluation = ir.evaluate(DATA / "qrels.txt", DATA / "neural.run", "RR")
    python = evaluation.by(dict.fromkeys(queries, "all"), weights=by_query)["all"]["RR"]
    assert python == evaluation.by(dict.fromkeys(queries, "all"), weights=str(weights))["all"]["RR"]
    assert python.mean == found["mean"]


def test_a_sample_of_queries_estimates_the_mean_over_the_traffic(say: Say, tmp_path: Path) -> None:
    """Over many samples, the weighted mean is that over all requests; the plain mean of the same
    samples is not.
    """
    rng = np.random.default_rng(3)
    traffic = {f"q{n:02}": float(round(400 / (n + 1))) for n in range(40)}
    # rare queries are harder
    ranks = {query: int(rng.integers(1, 3)) + 2 * (traffic[query] < 30) for query in traffic}
    truth = sum(traffic[query] / ranks[query] for query in traffic) / sum(traffic.values())
    (tmp_path / "traffic.csv").write_text(
        "query,traffic\n" + "".join(f"{query},{n:g}\n" for query, n in traffic.items()), "utf-8"
    )
    (tmp_path / "one.run").write_text(
        "".join(
            f"{query} Q0 {'d' if at == ranks[query] else f'x{at}'} {at} {9 - at} one\n"
            for query in traffic
            for at in (1, 2, 3, 4)
        ),
        "utf-8",
    )
    means = []
    for seed in range(12):
        say(
            "judge",
            "draw",
            "traffic.csv",
            "-n",
            "12",
            "--tail",
            "0.75",
            "--seed",
            str(seed),
            "--format",
            "csv",
            "-o",
            "w.csv",
            cwd=tmp_path,
        )
        drawn = [
            row["query"]
            for row in csv.DictReader(io.StringIO((tmp_path / "w.csv").read_text("utf-8")))
        ]
        (tmp_path / "qrels.txt").write_text("".join(f"{query} 0 d 1\n" for query in drawn), "utf-8")
        command = ("evaluate", "qrels.txt", "one.run", "-m", "RR", "--format", "json")
        weighted, plain = (
            json.loads(say(*command, *more, cwd=tmp_path).out)
            for more in (["--weights", "w.csv"], [])
        )
        means.append([one["runs"][0]["mean"]["RR"] for one in (weighted, plain)])
    (found, biased), error = (
        np.mean(means, axis=0),
        np.std(means, axis=0, ddof=1)[0] / np.sqrt(len(means)),
    )
    assert abs(found - truth) < 4 * error
    assert abs(biased - truth) > 8 * error
    assert error < 0.03


def test_a_page_has_the_weighted_mean(say: Say, weights: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    command = (
        "evaluate",
        "qrels.txt",
        "neural.run",
        "-m",
        "nDCG@10",
        "--weights",
        str(weights),
        "--format",
        "json",
        "--report",
        str(page),
    )
    mean = json.loads(say(*command).out)["runs"][0]["mean"]["nDCG@10"]
    assert f"neural reaches nDCG@10 {mean:.4f}" in page.read_text("utf-8")
    assert "queries weighted" in page.read_text("utf-8")


def test_the_store_says_that_it_keeps_no_weights(say: Say, weights: Path, tmp_path: Path) -> None:
    said = say(
        "evaluate",
        "qrels.txt",
        "neural.run",
        "--weights",
        str(weights),
        "--store",
        str(tmp_path / "store"),
    )
    assert said.code == 0
    assert "the store keeps values of queries without their weights" in " ".join(said.err.split())


def test_standard_input_is_read_once(say: Say) -> None:
    said = say("evaluate", "qrels.txt", "-", "--weights", "-")
    assert said.code == 2
    assert "standard input" in said.err
