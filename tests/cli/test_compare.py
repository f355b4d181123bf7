"""`idealrank compare`: what it prints, that its formats agree with the library, and that its errors
teach.
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
from idealrank.analysis.comparison import Comparison
from tests.cli.terminal import Said, check_snapshot

Say = Callable[..., Said]

COMMANDS = {
    "table": "compare qrels.txt bm25.run neural.run",
    "more": "compare qrels.txt bm25.run neural.run --more",
    "one-measure": "compare qrels.txt bm25.run neural.run -m nDCG@10 --test t",
    "same": "compare qrels.txt bm25.run bm25.run.gz -m nDCG@10,AP",
    "left-out": "compare qrels.txt bm25.run neural.run -m AP --convention "
    "standard,missing=left-out",
    "sign": "compare qrels.txt bm25.run neural.run -m AP --test sign",
    "wilcoxon": "compare qrels.txt bm25.run neural.run -m AP --test wilcoxon",
    "json": "compare qrels.txt bm25.run neural.run --format json -m nDCG@10",
    "csv": "compare qrels.txt bm25.run neural.run --format csv -m nDCG@10,P@2",
    "markdown": "compare qrels.txt bm25.run neural.run --format markdown -m nDCG@10,P@2",
    "latex": "compare qrels.txt bm25.run neural.run --format latex -m nDCG@10,P@2",
    "error-one-run": "compare qrels.txt bm25.run",
    "error-baseline": "compare qrels.txt bm25.run neural.run --baseline bm26",
    "error-measure": "compare qrels.txt bm25.run neural.run -m NumRet",
    "error-margin": "compare qrels.txt bm25.run neural.run --margin 0",
    "error-sign-margin": "compare qrels.txt bm25.run neural.run --margin 0.1 --test sign",
    "error-test": "compare qrels.txt bm25.run neural.run --test z",
    "error-same-run": "compare qrels.txt bm25.run bm25.run",
    "error-weights": "compare qrels.txt bm25.run neural.run --weights qrels.txt",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_what_compare_says(name: str, say: Say) -> None:
    command = f"idealrank {COMMANDS[name]}"

    said = say(*shlex.split(command)[1:])

    check_snapshot(f"compare-{name}", said.text(command))
    assert said.code == (2 if name.startswith("error") else 0)


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """Judgments of 60 queries, and three runs that put the relevant document at random ranks, the
    second one higher.
    """
    generator = np.random.default_rng(1)
    queries = [f"q{i}" for i in range(60)]
    (tmp_path / "qrels.txt").write_text(
        "".join(f"{query} 0 rel 1\n" for query in queries), encoding="utf-8"
    )
    for name, deepest in (("base", 9), ("good", 3), ("likewise", 9)):
        lines = []
        for query in queries:
            documents = [f"d{i}" for i in range(10)]
            documents.insert(int(generator.integers(0, deepest)), "rel")
            lines += [
                f"{query} Q0 {document} {rank} {99 - rank} t\n"
                for rank, document in enumerate(documents)
            ]
        (tmp_path / f"{name}.run").write_text("".join(lines), encoding="utf-8")
    return tmp_path


def compared(folder: Path, **options: object) -> Comparison:
    measures = ir.with_companions(["RR", "P@3"])
    runs = [
        ir.evaluate(folder / "qrels.txt", folder / f"{name}.run", measures, keep_unjudged=True)
        for name in ("base", "good", "likewise")
    ]
    return ir.compare(*runs, measures=["RR", "P@3"], **options)  # type: ignore[arg-type]


def test_every_format_has_the_numbers_of_the_library(say: Say, many: Path) -> None:
    expected = compared(many)
    options = (
        "compare",
        "qrels.txt",
        "base.run",
        "good.run",
        "likewise.run",
        "-m",
        "RR,P@3",
        "--no-rankings",
    )

    record = json.loads(say(*options, "--format", "json", cwd=many).out)
    rows = list(csv.DictReader(io.StringIO(say(*options, "--format", "csv", cwd=many).out)))
    texts = {
        layout: say(*options, "--digits", "4", *more, "--format", layout, cwd=many).out
        for layout, more in (("table", ["--explain-method"]), ("markdown", []), ("latex", []))
    }

    assert record["pairs"] == expected.as_dict()["pairs"]
    assert record["convention"] == expected.as_dict()["convention"]
    assert {
        name: record["method"][name] for name in ("test", "seed", "n_resamples", "correction")
    } == {
        "test": "permutation",
        "seed": expected.method.seed,
        "n_resamples": 100_000,
        "correction": "max-T",
    }
    assert [float(row["p"]) for row in rows] == [row.p for _, row in expected.rows()]
    assert [(row["a"], row["b"], row["measure"]) for row in rows] == [
        (pair.a, pair.b, row.measure) for pair, row in expected.rows()
    ]
    for text in texts.values():
        assert all(
            f"{row.difference:+.4f}" in text and row.verdict in text for _, row in expected.rows()
        )
        assert str(expected.method.seed) in text


def test_the_json_has_the_fields_that_programs_rely_on(say: Say, many: Path) -> None:
    record = json.loads(
        say("compare", "qrels.txt", "base.run", "good.run", "--format", "json", cwd=many).out
    )

    assert list(record) == [
        "pairs",
        "means",
        "groups",
        "missing",
        "warnings",
        "method",
        "labels",
        "convention",
    ]
    assert set(record["pairs"][0]) == {"a", "b", "measures", "rankings"}
    for row in record["pairs"][0]["measures"].values():
        assert {
            "mean_a",
            "mean_b",
            "difference",
            "interval",
            "p",
            "p_corrected",
            "effect",
            "wins",
            "ties",
            "losses",
            "n",
            "verdict",
            "level",
            "family",
            "sd_difference",
            "detectable",
            "unjudged_a",
            "unjudged_b",
            "excluded_queries",
            "identical_queries",
        } <= set(row)
        low, high = row["interval"]
        assert low <= row["difference"] <= high
        assert row["wins"] + row["ties"] + row["losses"] == row["n"] == 60
        assert row["mean_b"] - row["mean_a"] == pytest.approx(row["difference"])


def test_the_t_test_is_scipys(say: Say, many: Path) -> None:
    options = (
        "compare",
        "qrels.txt",
        "base.run",
        "good.run",
        "-m",
        "RR",
        "--test",
        "t",
        "--format",
        "json",
    )
    a, b = (
        ir.evaluate(many / "qrels.txt", many / f"{name}.run", "RR")["RR"]
        for name in ("base", "good")
    )

    row = json.loads(say(*options, cwd=many).out)["pairs"][0]["measures"]["RR"]

    expected = stats.ttest_rel(b, a)
    assert row["p"] == pytest.approx(expected.pvalue, rel=1e-12)
    assert row["interval"] == pytest.approx(list(expected.confidence_interval()), rel=1e-12)


def test_words_for_people(say: Say, many: Path) -> None:
    better = " ".join(
        say(
            "compare", "qrels.txt", "base.run", "good.run", "-m", "RR", "--more", cwd=many
        ).out.split()
    )
    worse = say("compare", "qrels.txt", "good.run", "base.run", "-m", "RR", cwd=many).out
    undecided = " ".join(
        say(
            "compare", "qrels.txt", "base.run", "likewise.run", "-m", "RR,P@3", "--more", cwd=many
        ).out.split()
    )
    equivalent = say(
        "compare", "qrels.txt", "base.run", "likewise.run", "-m", "RR", "--margin", "0.4", cwd=many
    ).out

    assert better.startswith("Too few judgments to say whether good is better than base: RR ")
    assert "With these 60 queries, a true difference of 0." in better
    assert worse.startswith("Too few judgments to say whether base is better than good: RR ")
    assert undecided.startswith(
        "These queries do not show whether likewise is better than base: RR "
    )
    assert (
        "in changes like these would be found 80% of the time; smaller ones may be missed. "
        "State the" in undecided
    )
    assert (
        "smallest difference worth finding (--effect, or effect= in Python) to learn how many "
        "queries find it." in undecided
    )
    assert "Verdicts by other measures: undecided (P@3)." in undecided
    assert equivalent.startswith("likewise and base are equivalent, within 0.4 of each other: RR ")
    assert " of a difference of the margin or more)" in " ".join(equivalent.split())


def test_a_seed_weights_and_clusters(say: Say, many: Path) -> None:
    (many / "traffic.csv").write_text(
        "query,visits\n" + "".join(f"q{i},{i + 1}\n" for i in range(60)), encoding="utf-8"
    )
    (many / "users.txt").write_text(
        "# who asked\n" + "".join(f"q{i} user{i // 2}\n" for i in range(60)), encoding="utf-8"
    )
    options = shlex.split(
        "--seed 5 --weights traffic.csv --cluster users.txt --baseline base --format json -m "
        "RR,P@3 --no-rankings"
    )

    record = json.loads(
        say("compare", "qrels.txt", "base.run", "good.run", "likewise.run", *options, cwd=many).out
    )

    weights, clusters = {f"q{i}": i + 1.0 for i in range(60)}, {f"q{i}": i // 2 for i in range(60)}
    assert (
        record["pairs"]
        == compared(many, rng=5, weights=weights, clusters=clusters, baseline="base").as_dict()[
            "pairs"
        ]
    )
    assert record["method"]["seed"] == 5
    refused = say(
        "compare", "qrels.txt", "base.run", "good.run", "--weights", "users.txt", cwd=many
    )
    assert refused.code == 2
    assert "users.txt:2: found 'user0', expected a finite weight above 0" in refused.err
    (many / "short.txt").write_text("q1 2\n", encoding="utf-8")
    short = say("compare", "qrels.txt", "base.run", "good.run", "--weights", "short.txt", cwd=many)
    assert (
        short.code,
        "short.txt: found no line for query 'q0' (59 of 60 queries)" in short.err,
    ) == (2, True)
    twice = say("compare", "qrels.txt", "base.run", "good.run", "--cluster", "qrels.txt", cwd=many)
    assert "qrels.txt:1: found 4 fields, expected 2: QUERY CLUSTER" in twice.err


def test_an_output_file_and_a_name_that_latex_would_trip_over(say: Say, many: Path) -> None:
    (many / "base.run").rename(many / "50%_a&b.run")

    said = say(
        "compare",
        "qrels.txt",
        "50%_a&b.run",
        "good.run",
        "-m",
        "RR",
        "--format",
        "latex",
        "-o",
        "table.tex",
        cwd=many,
    )

    assert (said.code, said.out) == (0, "")
    assert r"measure & 50\%\_a\&b & good & " in (many / "table.tex").read_text(encoding="utf-8")
    assert (
        say("compare", "qrels.txt", "good.run", "likewise.run", "-o", "good.run", cwd=many).code
        == 2
    )


def test_rankings_are_those_of_overlap(say: Say, many: Path) -> None:
    (many / "tied.run").write_text(
        "".join(f"q{i} Q0 d{d} 1 {d // 3} t\n" for i in range(50) for d in range(9)),
        encoding="utf-8",
    )
    command = ("compare", "qrels.txt", "base.run", "good.run", "tied.run", "-m", "RR@3,AP")

    record = json.loads(say(*command, "--format", "json", cwd=many).out)
    text = " ".join(
        say(
            "compare", "qrels.txt", "base.run", "good.run", "-m", "RR@3", "--more", cwd=many
        ).out.split()
    )
    shared = json.loads(
        say(*command, "--format", "json", "--convention", "standard,ties=expected", cwd=many).out
    )

    texts = [f"{name}@{k}" for k in (3, 10) for name in ("Same", "Same(order=any)", "overlap")] + [
        "RBO(p=0.9)@100"
    ]
    for pair, ties, one in [
        *((pair, "docid", one) for one in (record,) for pair in (0, 1, 2)),
        (1, "shared", shared),
    ]:
        a, b = (one["pairs"][pair][side] for side in "ab")
        expected = ir.overlap(many / f"{a}.run", many / f"{b}.run", texts, ties=ties)
        assert one["pairs"][pair]["rankings"] == {
            "queries": len(expected.queries),
            **expected.mean(),
        }
    both = record["pairs"][0]["rankings"]
    same = round(60 * both["Same@3"])
    assert f"The first 3 results are the same on {same} of the 60 queries that both answer" in text
    assert (
        f"on average, {3 * both['overlap@3']:.1f} of 3 are shared (RBO "
        f"{both['RBO(p=0.9)@100']:.2f})." in text
    )


def test_runs_without_a_common_query_have_no_rankings_in_common(say: Say, many: Path) -> None:
    lines = (many / "good.run").read_text(encoding="utf-8").splitlines(keepends=True)
    (many / "first.run").write_text("".join(lines[:330]), encoding="utf-8")
    (many / "last.run").write_text("".join(lines[330:]), encoding="utf-8")

    said = say(
        "compare", "qrels.txt", "first.run", "last.run", "-m", "RR", "--format", "json", cwd=many
    )

    assert said.code == 0
    assert "rankings" not in json.loads(said.out)["pairs"][0]


def test_no_table_is_wider_than_a_page(say: Say, many: Path) -> None:
    """Long names: rows as columns, in as many blocks as it takes, each with its head."""
    for name in ("base", "good"):
        (many / f"a-rather-long-name-of-{name}.run").write_bytes(
            (many / f"{name}.run").read_bytes()
        )

    lines = say(
        "compare",
        "qrels.txt",
        *(f"a-rather-long-name-of-{name}.run" for name in ("base", "good")),
        cwd=many,
    ).out.splitlines()

    # on one line each, to be copied
    commands = [line for line in lines if line.startswith("  idealrank ")]
    assert max(len(line) for line in lines if line not in commands) <= 100
    heads = [line.split()[1:] for line in lines if line.startswith("measure ")]
    assert [measure for head in heads for measure in head] == [
        "nDCG@10",
        "nDCG",
        "AP",
        "RR",
        "P@10",
        "R@100",
    ]
    assert len(heads) == 2
