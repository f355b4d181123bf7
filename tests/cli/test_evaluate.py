"""`idealrank evaluate`: what it prints, writes and refuses, against files and against other
programs.
"""

import csv
import io
import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import idealrank as ir
from idealrank.cli import options
from idealrank.cli.commands.evaluate import evaluate
from tests.cli.terminal import DATA, Said, check_snapshot, idealrank
from tests.conftest import shared_file

Say = Callable[..., Said]

COMMANDS = {
    "table": "evaluate qrels.txt bm25.run neural.run",
    "markdown": "evaluate qrels.txt bm25.run neural.run -m nDCG@10,AP,NumRel --format markdown "
    "--intervals",
    "latex": "evaluate qrels.txt bm25.run neural.run -m nDCG@10,AP,NumRel --format latex --digits "
    "3",
    "table-one-run": "evaluate qrels.txt neural.run -m nDCG@10,AP",
    "table-per-query": "evaluate qrels.txt bm25.run neural.run --per-query -m RR,nDCG@3,NumRet",
    "table-left-out": "evaluate qrels.txt bm25.run --per-query --convention "
    "trec_eval-9,no_relevant=left-out -m "
    "RR,P@2",
    "table-many-measures": "evaluate qrels.txt bm25.run neural.run -m P@1,P@2,P@3,P@4 -m "
    "nDCG(discount=reciprocal,gain=exp2)@10,nDCG@0.5n",
    "table-changed-convention": "evaluate qrels.txt neural.run -m nDCG --convention "
    "lightgbm,ties=expected",
    "json": "evaluate qrels.txt bm25.run neural.run --format json -m nDCG@10,AP",
    "json-per-query": "evaluate qrels.txt bm25.run --format json --per-query -m nDCG@10,AP "
    "--convention "
    "rankkit,no_relevant=nan",
    "csv": "evaluate qrels.txt bm25.run neural.run --format csv -m nDCG@10,AP --convention "
    "lightgbm,ties=expected",
    "csv-per-query": "evaluate qrels.txt bm25.run --format csv --per-query -m nDCG@10 "
    "--convention rankkit",
    "trec": "evaluate qrels.txt bm25.run neural.run --format trec -m "
    "NumQ,NumRet,AP,nDCG@10,RR,P@10,recall_100",
    "trec-per-query": "evaluate qrels.txt bm25.run --format trec --per-query -m NumQ,NumRet,AP",
    "compressed": "evaluate qrels.txt bm25.run.gz -m nDCG@10 --format csv",
    "csv-input": "evaluate judgments.csv bm25.run -m nDCG@10 --format csv",
    "csv-input-columns": "evaluate judgments.csv bm25.run -m nDCG@10 --format csv --columns "
    "query=topic,document=docno,grade=label",
    "letor-input": "evaluate labels.letor scores.txt -m nDCG,RR --format csv --convention sklearn",
    "two-qrels": "evaluate qrels.txt bm25.run --qrels more.qrels -m NumRel --format csv",
    "preferences": "evaluate --judgments prefs preferences.txt bm25.run neural.run",
    "qrels-as-preferences": "evaluate --judgments qrels_prefs qrels.txt bm25.run --format trec -m "
    "prefs_simp,prefs_simp_ret",
    "assessors": "evaluate --judgments qrels_jg assessors.qrels bm25.run --per-query --format csv",
    "error-judgments": "evaluate --judgments prefs qrels.txt bm25.run",
    "error-judgments-measure": "evaluate --judgments qrels_jg assessors.qrels bm25.run -m AP",
    "warning": "evaluate fractions.qrels bm25.run neural.run --convention trec_eval-10 -m nDCG "
    "--format "
    "csv",
    "error-no-file": "evaluate qrels.txt bm26.run",
    "error-fields": "evaluate broken.qrels bm25.run",
    "error-nan": "evaluate qrels.txt nan.run",
    "error-duplicate": "evaluate qrels.txt twice.run --convention sklearn,duplicates=error",
    "error-negative": "evaluate negative.qrels bm25.run --convention lightgbm",
    "error-missing": "evaluate qrels.txt bm25.run --convention ranx",
    "error-swapped": "evaluate bm25.run qrels.txt",
    "error-measure": "evaluate qrels.txt bm25.run -m nDGC@10",
    "error-measure-option": "evaluate qrels.txt bm25.run -m nDCG(gian=exp2)",
    "error-convention": "evaluate qrels.txt bm25.run --convention lightgmb",
    "error-switch": "evaluate qrels.txt bm25.run --convention standard,tie=best",
    "error-switch-value": "evaluate qrels.txt bm25.run --convention standard,ties=bets",
    "error-same-run": "evaluate qrels.txt bm25.run bm25.run",
    "error-stdin-twice": "evaluate - -",
    "error-output": "evaluate qrels.txt bm25.run -o no/such/folder.csv",
    "error-columns": "evaluate judgments.csv bm25.run --columns topic",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_what_evaluate_says(name: str, say: Say) -> None:
    command = f"idealrank {COMMANDS[name]}"

    said = say(*shlex.split(command)[1:])

    check_snapshot(f"evaluate-{name}", said.text(command))
    assert said.code == (2 if name.startswith("error") else 0)
    assert (said.out == "") == name.startswith("error")
    assert max(map(len, said.out.splitlines()), default=0) <= 100 or "table" not in name


def test_the_default_measures_are_those_of_python() -> None:
    assert (
        tuple(map(str, ir.evaluate({"q": {"a": 1}}, {"q": ["a"]}).measures))
        == options.DEFAULT_MEASURES
    )
    assert ",".join(options.DEFAULT_MEASURES) in next(
        option.help for option in evaluate.params if option.name == "measure_texts"
    )


# --- JSON and CSV for other programs --------------------------------------------------------------


def python_evaluation(measures: list[str], convention: str, run: str = "bm25.run") -> ir.Evaluation:
    return ir.evaluate(str(DATA / "qrels.txt"), str(DATA / run), measures, convention)


def test_json_has_the_keys_and_types_that_other_programs_rely_on(say: Say) -> None:
    record = json.loads(
        say(
            "evaluate", "qrels.txt", "bm25.run", "neural.run", "--format", "json", "--per-query"
        ).out
    )

    assert list(record) == ["version", "schema", "convention", "runs"]
    assert (record["version"], record["schema"]) == (ir.__version__, 1)
    assert list(record["convention"])[:2] == ["name", "fingerprint"]
    assert {
        key: value
        for key, value in record["convention"].items()
        if key not in ("name", "fingerprint")
    } == ir.Convention.of().switches()
    assert [list(run) for run in record["runs"]] == [
        ["name", "path", "mean", "queries", "coverage", "labels", "judgments"]
    ] * 2
    assert [(run["name"], run["path"]) for run in record["runs"]] == [
        ("bm25", "bm25.run"),
        ("neural", "neural.run"),
    ]
    for run in record["runs"]:
        assert list(run["mean"]) == list(options.DEFAULT_MEASURES)
        assert list(run["queries"]) == ["q1", "q2", "q3", "q4"]
        assert set(run["coverage"]) >= {
            "queries_in_qrels",
            "queries_in_run",
            "missing",
            "without_judgments",
            "scored",
            "no_relevant",
            "unjudged_share",
            "tied_queries",
            "tied_documents",
            "duplicates",
            "truncated_grades",
            "out_of_range",
        }


def test_json_without_per_query_has_no_queries(say: Say) -> None:
    (run,) = json.loads(say("evaluate", "qrels.txt", "bm25.run", "--format", "json").out)["runs"]

    assert "queries" not in run


def test_json_numbers_read_back_as_the_same_float64(say: Say) -> None:
    expected = python_evaluation(["nDCG@10", "AP"], "standard")

    (run,) = json.loads(
        say(
            "evaluate",
            "qrels.txt",
            "bm25.run",
            "-m",
            "nDCG@10,AP",
            "--format",
            "json",
            "--per-query",
        ).out
    )["runs"]

    assert run["mean"] == dict(expected.mean())
    assert run["queries"] == expected.per_query()
    assert run["coverage"] == expected.coverage.as_dict()


@pytest.mark.parametrize("policy", ["nan", "left-out"])
def test_what_has_no_number_is_null_in_json_and_empty_in_csv(policy: str, say: Say) -> None:
    command = (
        "evaluate",
        "qrels.txt",
        "neural.run",
        "-m",
        "AP",
        "--convention",
        f"standard,no_relevant={policy}",
        "--per-query",
        "--format",
    )

    (run,) = json.loads(say(*command, "json").out)["runs"]
    rows = list(csv.DictReader(io.StringIO(say(*command, "csv").out)))

    assert run["queries"]["q3"]["AP"] is None
    assert (run["mean"]["AP"] is None) == (policy == "nan")
    assert [row["value"] for row in rows if row["query"] == "q3"] == [""]


def test_csv_reads_back_as_the_same_values(say: Say) -> None:
    expected = python_evaluation(["nDCG@10", "AP"], "lightgbm,ties=expected")

    command = (
        "evaluate",
        "qrels.txt",
        "bm25.run",
        "-m",
        "nDCG@10,AP",
        "--convention",
        "lightgbm,ties=expected",
        "--per-query",
    )

    rows = list(csv.DictReader(io.StringIO(say(*command, "--format", "csv").out)))

    assert list(rows[0]) == ["run", "query", "measure", "value", "convention"]
    assert {(row["query"], row["measure"]): float(row["value"]) for row in rows} == {
        (query, measure): value
        for query, values in expected.per_query().items()
        for measure, value in values.items()
    }
    assert {row["convention"] for row in rows} == {str(expected.convention)}


def test_ids_of_any_kind_survive_csv_and_json(tmp_path: Path, say: Say) -> None:
    odd = ["über,alles", 'say"what', "日本", "=1+1"]
    (tmp_path / "qrels.txt").write_text(
        "".join(f"{query} 0 d1 1\n" for query in odd), encoding="utf-8"
    )
    (tmp_path / "my,run.run").write_text(
        "".join(f"{query} Q0 d1 1 1 t\n" for query in odd), encoding="utf-8"
    )

    rows = list(
        csv.DictReader(
            io.StringIO(
                say(
                    "evaluate",
                    "qrels.txt",
                    "my,run.run",
                    "--per-query",
                    "-m",
                    "AP",
                    "--format",
                    "csv",
                    cwd=tmp_path,
                ).out
            )
        )
    )
    record = json.loads(
        say(
            "evaluate",
            "qrels.txt",
            "my,run.run",
            "--per-query",
            "-m",
            "AP",
            "--format",
            "json",
            cwd=tmp_path,
        ).out
    )

    # as OWASP advises
    assert [row["query"] for row in rows] == [
        f"'{query}" if query.startswith("=") else query for query in odd
    ]
    assert {row["run"] for row in rows} == {"my,run"}
    assert list(record["runs"][0]["queries"]) == odd


def test_bytes_that_are_not_utf8_come_out_as_they_came_in(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_bytes(b"q\xff1 0 d1 1\n")
    (tmp_path / "a.run").write_bytes(b"q\xff1 Q0 d1 1 1 t\n")
    command = ("evaluate", "qrels.txt", "a.run", "--per-query", "-m", "AP")

    idealrank(*command, "--format", "trec", "-o", "values.txt", cwd=tmp_path)
    record = json.loads(idealrank(*command, "--format", "json", cwd=tmp_path).out)

    assert (
        (tmp_path / "values.txt")
        .read_bytes()
        .startswith(b"map                   \tq\xff1\t1.0000\n")
    )
    assert list(record["runs"][0]["queries"]) == ["q\udcff1"]


# --- trec_eval's layout ---------------------------------------------------------------------------

TREC_MEASURES = (
    "NumQ,NumRet,NumRel,NumRelRet,AP,RR,nDCG,AP@10,nDCG@5,nDCG@100,P@5,P@10,P@100,R@5,R@100,R@1000"
)


@pytest.mark.parametrize(
    ("run", "output"), [("results.test", "out.test.aq"), ("results.trunc", "out.test.aqc")]
)
def test_the_trec_layout_is_trec_evals_own_output_to_the_letter(run: str, output: str) -> None:
    # Made by `trec_eval -q -m all_trec` and, where queries are missing, `trec_eval -q -c -m
    # all_trec`.
    expected = set(
        shared_file("data", "trec_eval", output).read_text(encoding="utf-8").splitlines()
    )
    folder = shared_file("data", "trec_eval", "qrels.test").parent

    said = idealrank(
        "evaluate",
        "qrels.test",
        run,
        "--format",
        "trec",
        "--per-query",
        "-m",
        TREC_MEASURES,
        "--convention",
        "trec_eval-10",
        cwd=folder,
    )

    lines = [line for line in said.out.splitlines() if not line.startswith("runid")]
    # 16 measures: NumQ once, the others for three queries and all of them.
    assert len(lines) == 1 + 15 * 4
    assert [line for line in lines if line not in expected] == []
    # the file's stem; trec_eval prints the tag of its lines
    assert said.out.count("runid                 \tall\tresults\n") == 1


def test_the_trec_layout_gives_the_values_of_pytrec_eval(say: Say) -> None:
    pytrec_eval = pytest.importorskip(
        "pytrec_eval", reason="pytrec-eval-terrier is in the test group"
    )
    qrels = {
        query: {d: int(g) for d, g in ir.read_qrels(str(DATA / "qrels.txt"))[query].items()}
        for query in ("q1", "q2", "q3", "q4")
    }
    run: dict[str, dict[str, float]] = {}
    for line in (DATA / "bm25.run").read_text(encoding="utf-8").splitlines():
        query, _, document, _, score, _ = line.split()
        run.setdefault(query, {})[document] = float(score)
    expected = pytrec_eval.RelevanceEvaluator(
        qrels, {"map", "ndcg", "ndcg_cut", "recip_rank", "P", "recall"}
    ).evaluate(run)

    command = (
        "evaluate",
        "qrels.txt",
        "bm25.run",
        "-m",
        "AP,nDCG,nDCG@10,RR,P@5,R@5",
        "--convention",
        "trec_eval-9",
    )

    said = say(*command, "--format", "trec", "--per-query")

    values = [line.split("\t") for line in said.out.splitlines() if "\tall\t" not in line]
    assert len(values) == 6 * 3
    assert all(value == f"{expected[query][name.strip()]:6.4f}" for name, query, value in values)


# --- files ----------------------------------------------------------------------------------------


def test_the_output_file_holds_what_would_have_been_printed(tmp_path: Path, say: Say) -> None:
    printed = say("evaluate", "qrels.txt", "bm25.run", "--format", "csv").out
    target = tmp_path / "values.csv"

    said = say("evaluate", "qrels.txt", "bm25.run", "--format", "csv", "-o", str(target))

    assert (said.code, said.out, said.err) == (0, "", "")
    assert target.read_text(encoding="utf-8") == printed
    assert [path.name for path in tmp_path.iterdir()] == ["values.csv"]


def test_an_error_leaves_the_old_output_file_alone(tmp_path: Path, say: Say) -> None:
    target = tmp_path / "values.csv"
    target.write_text("old", encoding="utf-8")

    said = say("evaluate", "qrels.txt", "nan.run", "-o", str(target))

    assert said.code == 2
    assert target.read_text(encoding="utf-8") == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["values.csv"]


def test_the_output_file_has_the_usual_permissions_and_links_stay_links(
    tmp_path: Path, say: Say
) -> None:
    (tmp_path / "plain").write_text("", encoding="utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "values.csv")

    say("evaluate", "qrels.txt", "bm25.run", "-o", str(tmp_path / "link"))

    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "values.csv").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.skipif(not Path("/dev/null").is_char_device(), reason="needs /dev/null")
def test_a_device_is_written_to_and_not_replaced(say: Say) -> None:
    assert say("evaluate", "qrels.txt", "bm25.run", "-o", "/dev/null").code == 0
    assert Path("/dev/null").is_char_device()


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="needs /dev/stdout")
@pytest.mark.parametrize(
    "work", ["evaluate qrels.txt bm25.run -m AP --format csv -o", "convert bm25.run --to csv"]
)
def test_the_file_behind_an_open_stream_is_written_to_and_not_replaced(
    work: str, tmp_path: Path
) -> None:
    command = f"{shlex.quote(sys.executable)} -m idealrank {work} /dev/stdout"
    for sink in (f"> {tmp_path}/all.txt", f"| cat > {tmp_path}/all.txt"):
        subprocess.run(
            f"(echo first; {command}; echo last) {sink}",
            shell=True,
            cwd=DATA,
            check=True,
            capture_output=True,
        )
        first, *lines, last = (tmp_path / "all.txt").read_text(encoding="utf-8").splitlines()
        assert (first, last) == ("first", "last")
        assert lines[0] in ("run,measure,value,convention", "query_id,doc_id,score")


def test_a_folder_is_no_output_file(tmp_path: Path, say: Say) -> None:
    said = say("evaluate", "qrels.txt", "bm25.run", "-o", str(tmp_path))

    assert (
        said.err == f"error: {tmp_path}: found a directory, expected the name of a file to write\n"
    )


def test_runs_of_one_name_go_by_their_paths(tmp_path: Path, say: Say) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "bm25.run").write_bytes((DATA / "bm25.run").read_bytes())
    (tmp_path / "qrels.txt").write_bytes((DATA / "qrels.txt").read_bytes())

    record = json.loads(
        say(
            "evaluate", "qrels.txt", "a/bm25.run", "b/bm25.run", "--format", "json", cwd=tmp_path
        ).out
    )

    assert [run["name"] for run in record["runs"]] == ["a/bm25.run", "b/bm25.run"]


@pytest.mark.parametrize("which", ["run", "qrels"])
def test_a_dash_reads_standard_input(which: str) -> None:
    typed = ("-", "bm25.run") if which == "qrels" else ("qrels.txt", "-")
    given = DATA / ("qrels.txt" if which == "qrels" else "bm25.run")

    said = idealrank(
        "evaluate", *typed, "--format", "csv", "-m", "nDCG@10", stdin=given.read_bytes()
    )

    name = "bm25" if which == "qrels" else "stdin"
    value = python_evaluation(["nDCG@10"], "standard").mean()["nDCG@10"]
    assert said.out.splitlines()[1].split(",")[:3] == [name, "nDCG@10", repr(value)]


def test_values_are_the_same_for_any_number_of_threads(say: Say) -> None:
    outputs = {
        say(
            "evaluate",
            "qrels.txt",
            "bm25.run",
            "neural.run",
            "--format",
            "json",
            "--per-query",
            "--threads",
            n,
        ).out
        for n in "0123"
    }

    assert len(outputs) == 1


def test_more_threads_than_any_machine_has_are_refused(say: Say) -> None:
    said = say("evaluate", "qrels.txt", "bm25.run", "--threads", "99999999999")

    assert said.code == 2
    assert "--threads" in said.err


def test_a_run_that_shares_no_query_is_refused_and_said_why(tmp_path: Path, say: Say) -> None:
    (tmp_path / "other.run").write_text("x1 Q0 d1 1 1 t\n", encoding="utf-8")

    said = say("evaluate", "qrels.txt", str(tmp_path / "other.run"), "--convention", "trec_eval-9")

    assert said.code == 2
    assert said.err.startswith("error: no query to evaluate:")


def test_the_only_judged_query_is_one_query(tmp_path: Path, say: Say) -> None:
    (tmp_path / "a.qrels").write_text("q1 0 d1 1\n", encoding="utf-8")
    (tmp_path / "a.run").write_text("x1 Q0 d1 1 1 t\n", encoding="utf-8")

    said, checked = (
        say(command, "a.qrels", "a.run", cwd=tmp_path) for command in ("evaluate", "validate")
    )

    assert said.err.startswith(
        "warning: run a does not answer the judged query; do the query ids of both match?"
    )
    assert "a.run: error: 1 judged query, and the run does not answer it; " in checked.out


@pytest.mark.parametrize(
    ("line", "warning"),
    [
        (
            "x1 Q0 d1 1 1 t",
            "run other answers none of the 4 judged queries; do the query ids of both match?",
        ),
        ("q1 Q0 D1 1 1 t", "run other has no judged document; do the document ids of both match?"),
    ],
)
def test_files_that_hardly_belong_together_are_evaluated_with_a_warning(
    line: str, warning: str, tmp_path: Path, say: Say
) -> None:
    (tmp_path / "other.run").write_text(line, encoding="utf-8")

    said = say(
        "evaluate", "qrels.txt", str(tmp_path / "other.run"), "-m", "nDCG", "--format", "csv"
    )

    look = f"`idealrank validate QRELS {tmp_path / 'other.run'}` shows how they differ"
    assert (said.code, said.err) == (0, f"warning: {warning} {look}\n")
    assert ",nDCG,0.0," in said.out


def test_an_empty_run_is_refused_as_what_a_broken_pipe_leaves(tmp_path: Path, say: Say) -> None:
    (tmp_path / "empty.run").write_text("", encoding="utf-8")

    said = say("evaluate", "qrels.txt", str(tmp_path / "empty.run"))

    assert (said.code, said.out) == (2, "")
    assert "found no result, expected at least one" in said.err


def test_the_table_marks_the_best_and_marks_nothing_where_all_are_equal(say: Say) -> None:
    different = say("evaluate", "qrels.txt", "bm25.run", "neural.run", "-m", "AP").out
    same = say("evaluate", "qrels.txt", "bm25.run", "bm25.run.gz", "-m", "AP").out

    assert [line.endswith("*") for line in different.splitlines()[1:3]] == [False, True]
    assert "*" not in same


def test_counts_are_shown_whole_and_nothing_is_better(say: Say) -> None:
    lines = say(
        "evaluate", "qrels.txt", "bm25.run", "neural.run", "-m", "NumRet,NumQ"
    ).out.splitlines()

    assert [line.split() for line in lines[:3]] == [
        ["run", "NumRet", "NumQ"],
        ["bm25", "8", "4"],
        ["neural", "8", "4"],
    ]


@pytest.mark.parametrize("target", ["qrels.txt", "bm25.run", "./bm25.run"])
def test_a_result_never_replaces_what_it_was_computed_from(
    target: str, tmp_path: Path, say: Say
) -> None:
    for name in ("qrels.txt", "bm25.run"):
        (tmp_path / name).write_bytes((DATA / name).read_bytes())

    said = say(
        "evaluate",
        str(tmp_path / "qrels.txt"),
        str(tmp_path / "bm25.run"),
        "-o",
        f"{tmp_path}/{target}",
    )

    assert said.code == 2
    assert "found an input file of this command, expected another name" in said.err
    assert (tmp_path / target).read_bytes() == (DATA / target).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--convention", "ties=best"],
            "error: convention 'ties=best': found a switch, expected the name of a convention "
            "before it",
        ),
        (["-m", ""], "error: -m: found no measure, expected one such as nDCG@10"),
        (
            ["-m", "nrbp@10"],
            "error: measure 'nrbp@10' is not computed here, expected one such as nDCG@10; "
            "`idealrank measures` lists all",
        ),
        (["-m", "hits_5"], "error: measure 'hits_5' is not computed here"),
        (
            ["--convention", "lightgbm,ties"],
            "error: convention 'ties': expected SWITCH=VALUE after the name",
        ),
    ],
)
def test_mistakes_are_told_without_wrong_advice(
    arguments: list[str], message: str, say: Say
) -> None:
    said = say("evaluate", "qrels.txt", "bm25.run", *arguments)

    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(message)
    assert "did you mean" not in said.err
    assert "hint:" not in said.err


def test_a_measure_without_expected_value_is_told_with_ties_that_it_has(
    tmp_path: Path, say: Say
) -> None:
    (tmp_path / "tied.run").write_text("q1 Q0 a 1 1 t\nq1 Q0 b 2 1 t\n", encoding="utf-8")

    said = say(
        "evaluate",
        "qrels.txt",
        str(tmp_path / "tied.run"),
        "-m",
        "IPrec@0.1",
        "--convention",
        "standard,ties=expected",
    )

    assert said.code == 2
    assert said.err.endswith("hint: --convention standard,ties=docid\n")


def test_many_unjudged_documents_have_a_caution_below_the_coverage(
    say: Say, tmp_path: Path
) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\n", encoding="utf-8")
    (tmp_path / "new.run").write_text(
        "".join(f"q1 Q0 {doc} {rank} {9 - rank} new\n" for rank, doc in enumerate("xay")),
        encoding="utf-8",
    )
    (tmp_path / "few.run").write_text("q1 Q0 a 1 1 few\n", encoding="utf-8")

    said = say("evaluate", "qrels.txt", "new.run", "few.run", cwd=tmp_path).out

    assert (
        "new: 67% of the documents within rank 10 are unjudged; values are too low if some "
        "are relevant\n" in said
    )

    (tmp_path / "half.run").write_text("q1 Q0 a 1 2 half\nq1 Q0 z 2 1 half\n", encoding="utf-8")
    (tmp_path / "same.run").write_bytes((tmp_path / "new.run").read_bytes())
    many = say(
        "evaluate", "qrels.txt", "new.run", "few.run", "half.run", "same.run", cwd=tmp_path
    ).out
    assert many.count("are unjudged") == 1
    words = " ".join(many.split())
    assert (
        "3 runs: 50% to 67% of the documents within rank 10 are unjudged; values are too low "
        "if some are relevant" in words
    )
    assert "few: " not in said
