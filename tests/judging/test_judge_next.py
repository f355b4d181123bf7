"""`idealrank judge next`: what it prints, that its formats agree, and that its errors teach."""

import csv
import io
import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from idealrank.judging.files.judgment_pairs import read_pairs
from tests import pools
from tests.cli.terminal import Said, check_snapshot

Say = Callable[..., Said]

NEXT = {
    "table": "judge next qrels.txt bm25.run neural.run --budget 4 --depth 5",
    "queries": "judge next qrels.txt bm25.run neural.run --budget 4 --depth 5 --strategy queries",
    "depth": "judge next qrels.txt bm25.run neural.run -m P@2 --budget 4 --strategy depth --format "
    "markdown",
    "csv": "judge next qrels.txt bm25.run neural.run --budget 4 --depth 5 --format csv",
    "json": "judge next qrels.txt bm25.run neural.run --budget 2 --depth 5 --strategy change "
    "--format "
    "json",
    "replay": "judge next qrels.txt bm25.run neural.run --replay --orders 2 -m P@2",
    "error-measure": "judge next qrels.txt bm25.run neural.run -m NumRet",
    "error-figure": "judge next qrels.txt bm25.run neural.run --figure curve.svg",
    "error-queries": "judge next qrels.txt bm25.run neural.run --replay --query-ids all.txt",
    "error-skipped": "judge next qrels.txt bm25.run neural.run --convention "
    "standard,unjudged=skipped",
}


@pytest.mark.parametrize("name", NEXT)
def test_what_next_says(name: str, say: Say) -> None:
    command = f"idealrank {NEXT[name]}"

    said = say(*shlex.split(command)[1:])

    check_snapshot(f"judge-next-{name}", said.text(command))
    assert said.code == (2 if name.startswith("error") else 0)


def test_csv_and_json_name_the_same_documents(say: Say) -> None:
    command = [
        "judge",
        "next",
        "qrels.txt",
        "bm25.run",
        "neural.run",
        "--budget",
        "6",
        "--depth",
        "5",
    ]
    rows = list(csv.DictReader(io.StringIO(say(*command, "--format", "csv").out)))
    record = json.loads(say(*command, "--format", "json").out)
    assert [(row["query"], row["document"], row["reason"]) for row in rows] == [
        (one["query"], one["document"], one["reason"]) for one in record["labels"]
    ]
    assert [row["rank_a"] for row in rows] == [
        "" if one["rank_a"] is None else str(one["rank_a"]) for one in record["labels"]
    ]


def test_labelling_what_is_asked_settles_the_comparison(say: Say, tmp_path: Path) -> None:
    """The command and a labeller who gives every document grade 0, until the command says that it
    is settled.
    """
    labels = {("q1", "nothing"): 0}
    qrels, queries = tmp_path / "labels.txt", tmp_path / "queries.txt"
    queries.write_text("q1\nq2\n", encoding="utf-8")
    for _ in range(20):
        qrels.write_text(
            "".join(
                f"{query} 0 {document} {grade}\n" for (query, document), grade in labels.items()
            ),
            encoding="utf-8",
        )
        said = say(
            "judge",
            "next",
            str(qrels),
            "bm25.run",
            "neural.run",
            "-m",
            "P@2",
            "--budget",
            "2",
            "--format",
            "json",
            "--query-ids",
            str(queries),
        )
        record = json.loads(said.out)
        if record["settled"]:
            break
        labels |= {(one["query"], one["document"]): 0 for one in record["labels"]}
    assert record["settled"]
    assert record["n_open"] == 0


def test_a_figure_of_the_replay_is_vega_lite(say: Say, tmp_path: Path) -> None:
    path = tmp_path / "curve.json"
    said = say(
        "judge",
        "next",
        "qrels.txt",
        "bm25.run",
        "neural.run",
        "-m",
        "P@2",
        "--replay",
        "--orders",
        "1",
        "--figure",
        str(path),
    )
    assert said.code == 0
    spec = json.loads(path.read_text(encoding="utf-8"))
    assert {row["strategy"] for row in spec["data"]["values"]} >= {
        "bounds",
        "depth",
        "random",
        "oracle",
    }


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A collection whose judgments come from one run alone; see `tests.pools`."""
    pools.written(tmp_path)
    return tmp_path


def _labelled(sheet: Path, full: Path, labels: Path) -> None:
    """Write the labels of a sheet, with the true grades."""
    grades = {
        tuple(line.split()[::2]): line
        for line in full.read_text(encoding="utf-8").splitlines(keepends=True)
    }
    true = {
        (query, document): line
        for line in grades.values()
        for query, _, document, _ in [line.split()]
    }
    with sheet.open(encoding="utf-8") as file:
        labels.write_text(
            "".join(true[row["query"], row["document"]] for row in csv.DictReader(file)),
            encoding="utf-8",
        )


@pytest.mark.parametrize(
    ("until", "verdict"),
    [
        (["--until", "compare"], ["compare", "pooled.qrels", "main.run", "new.run"]),
        (
            ["--until", "gate", "--tolerance", "0.01"],
            ["gate", "pooled.qrels", "new.run", "--baseline", "main.run", "--tolerance", "0.01"],
        ),
    ],
)
def test_the_loop_of_sheets_and_labels_ends_with_the_verdict(
    until: list[str], verdict: list[str], shop: Path, say: Say
) -> None:
    command = ["judge", "next", "pooled.qrels", "main.run", "new.run", *until]
    sheet, given, more = "sheet.csv", 0, list[str]()
    for number in range(2, 12):
        said = say(*command, *more, "-o", sheet, cwd=shop)
        assert said.code == 0, said.err
        before = say(*verdict, *more, "--format", "json", cwd=shop)
        if "Decided:" in said.out:
            break
        assert "too few judgments" in before.out
        following = f"sheet-{number}.csv"
        labels = sheet.replace(".csv", ".qrels")
        assert f"judge ui {sheet} -o {labels}" in said.out
        assert f"--qrels {labels} -o {following}" in said.out
        _labelled(shop / sheet, shop / "full.qrels", shop / labels)
        given += len((shop / labels).read_text(encoding="utf-8").splitlines())
        more, sheet = [*more, "--qrels", labels], following
    assert "Decided:" in said.out
    assert "too few judgments" not in before.out
    assert 0 < given <= 99
    assert not (shop / sheet).exists()
    assert f"idealrank {verdict[0]} " in said.out


def test_the_budget_is_the_estimate_of_compare(shop: Path, say: Say) -> None:
    compared = say(
        "compare",
        "pooled.qrels",
        "main.run",
        "new.run",
        "-m",
        "nDCG@10",
        "--format",
        "json",
        cwd=shop,
    )
    needed = json.loads(compared.out)["pairs"][0]["measures"]["nDCG@10"]["tipping"]["labels_needed"]
    said = say(
        "judge",
        "next",
        "pooled.qrels",
        "main.run",
        "new.run",
        "--until",
        "compare",
        "--format",
        "json",
        cwd=shop,
    )
    record = json.loads(said.out)
    assert record["stop"] == {
        "by": "compare",
        "measure": "nDCG@10",
        "verdict": "too few judgments",
        "decided": False,
        "labels_needed": needed,
        "labels_from": None,
    }
    assert len(record["labels"]) == needed
    assert record["strategy"] == "change"
    assert "Too few judgments for compare" in said.err


def test_a_sheet_that_was_filled_in_is_read_as_judgments(shop: Path, say: Say) -> None:
    say(
        "judge",
        "next",
        "pooled.qrels",
        "main.run",
        "new.run",
        "--until",
        "compare",
        "--budget",
        "2",
        "-o",
        "sheet.csv",
        cwd=shop,
    )
    lines = (shop / "sheet.csv").read_text(encoding="utf-8").splitlines()
    (shop / "sheet.csv").write_text(
        "\n".join([lines[0], lines[1] + "1", lines[2] + "0"]) + "\n", encoding="utf-8"
    )

    said = say("evaluate", "sheet.csv", "new.run", "-m", "P@10", "--format", "csv", cwd=shop)

    assert said.code == 0, said.err
    # one of ten documents, of one of two queries
    assert said.out.splitlines()[1].startswith("new,P@10,0.05,")


def test_judgments_in_a_table_take_the_sheet_itself_as_labels(shop: Path, say: Say) -> None:
    rows = [
        line.split() for line in (shop / "pooled.qrels").read_text(encoding="utf-8").splitlines()
    ]
    table = "".join(f"{query},{document},{grade}\n" for query, _, document, grade in rows)
    (shop / "labels.csv").write_text("query,document,grade\n" + table, encoding="utf-8")

    said = say(
        "judge",
        "next",
        "labels.csv",
        "main.run",
        "new.run",
        "--until",
        "compare",
        "-o",
        "sheet.csv",
        cwd=shop,
    )

    assert said.code == 0, said.err
    assert "fill in the column grade of sheet.csv" in said.out
    assert (
        "idealrank judge next labels.csv main.run new.run --until compare --qrels sheet.csv "
        "-o sheet-2.csv" in said.out
    )


def test_the_label_page_takes_a_sheet(shop: Path, say: Say) -> None:
    say(
        "judge",
        "next",
        "pooled.qrels",
        "main.run",
        "new.run",
        "--until",
        "compare",
        "-o",
        "sheet.csv",
        cwd=shop,
    )
    with (shop / "sheet.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))

    pairs = read_pairs(str(shop / "sheet.csv"))

    assert [(pair.query, pair.document) for pair in pairs] == [
        (row["query"], row["document"]) for row in rows
    ]


@pytest.mark.parametrize(
    ("typed", "said_of"),
    [
        (["--tolerance", "0.1"], "--tolerance: found it without --until"),
        (["--largest-loss", "0.4"], "--largest-loss: found it without --until"),
        (["--until", "compare", "--tolerance", "0.1"], "expected --until gate"),
        (["--until", "compare", "--replay"], "found it with --replay"),
        (["--until", "gate", "--query-ids", "queries.txt"], "compares the queries in QRELS"),
    ],
)
def test_options_that_the_stop_has_no_place_for_are_refused(
    typed: list[str], said_of: str, shop: Path, say: Say
) -> None:
    (shop / "queries.txt").write_text("q00\n", encoding="utf-8")
    said = say("judge", "next", "pooled.qrels", "main.run", "new.run", *typed, cwd=shop)
    assert said.code == 2
    assert said_of in said.err


@pytest.mark.parametrize("limit", [[], ["--largest-loss", "0.4"]])
def test_the_largest_loss_of_a_query_stops_as_in_compare_and_gate(
    limit: list[str], shop: Path, say: Say
) -> None:
    """60 queries show a difference below 0.2 only if none of them can lose more than 0.4."""
    runs = ["full.qrels", "main.run", "new.run"]
    margin = ["--margin", "0.2", *limit]
    expected = json.loads(say("compare", *runs, *margin, "--format", "json", cwd=shop).out)[
        "pairs"
    ][0]["measures"]["nDCG@10"]
    said = say("judge", "next", *runs, "--until", "compare", *margin, "--format", "json", cwd=shop)
    assert (
        json.loads(said.out)["stop"]["verdict"]
        == expected["verdict"]
        == ("equivalent" if limit else "better")
    )
    # The worse run is held to the better one, so that the test of the margin matters.
    strict = ["--strict", "--margin", "0.05", *(["--largest-loss", "0.1"] if limit else [])]
    gated = say(
        "gate",
        "full.qrels",
        "new.run",
        "--baseline",
        "main.run",
        *strict,
        "--format",
        "json",
        cwd=shop,
    )
    said = say("judge", "next", *runs, "--until", "gate", *strict, "--format", "json", cwd=shop)
    assert json.loads(said.out)["stop"]["verdict"] == json.loads(gated.out)["outcome"]


def test_the_command_of_compare_for_the_labels_keeps_margin_and_largest_loss(
    shop: Path, say: Say
) -> None:
    rule = ["--margin", "0.2", "--largest-loss", "0.4", "--level", "0.9"]
    said = say("compare", "pooled.qrels", "main.run", "new.run", *rule, cwd=shop)
    assert "too few judgments" in said.out
    assert "--alpha 0.1 --margin 0.2 --largest-loss 0.4" in " ".join(said.out.split())


def test_positive_only_labels_need_labels_of_what_is_not_relevant(shop: Path, say: Say) -> None:
    positive = [
        line
        for line in (shop / "pooled.qrels").read_text(encoding="utf-8").splitlines(keepends=True)
        if not line.endswith(" 0\n")
    ]
    (shop / "positive.qrels").write_text("".join(positive), encoding="utf-8")
    said = say(
        "judge",
        "next",
        "positive.qrels",
        "main.run",
        "new.run",
        "--until",
        "compare",
        "--labels-from",
        "main",
        cwd=shop,
    )
    assert said.code == 0, said.err
    assert "How many labels will decide cannot be estimated" in " ".join(said.out.split())
    assert "Label documents that are not relevant, too, with grade 0" in " ".join(said.out.split())


def test_the_convention_of_a_gate_is_also_that_of_the_order(say: Say, shop: Path) -> None:
    (shop / "pyproject.toml").write_text('[tool.idealrank.gate]\nconvention = "sklearn"\n', "utf-8")
    command = ["judge", "next", "pooled.qrels", "main.run", "new.run", "--until", "gate"]

    by_policy = say(*command, "--format", "json", cwd=shop)
    typed = say(*command, "--convention", "standard", "--format", "json", cwd=shop)

    assert json.loads(by_policy.out)["convention"]["name"] == "sklearn"
    assert json.loads(typed.out)["convention"]["name"] == "standard"
