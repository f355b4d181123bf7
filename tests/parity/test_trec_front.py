"""`idealrank trec-eval` against whole outputs of trec_eval 10.0: its own test folder, and TREC Deep
Learning 2019.
"""

import gzip
import random
import shlex
from pathlib import Path

import pytest

from idealrank.cli import main
from tests.conftest import SHARED, shared_file

FOLDER = SHARED / "data" / "trec_eval"
COMMANDS = {
    "out.test": "qrels.test results.test",
    "out.test, comments": "qrels.test.with-comments results.test",
    "out.comment.test": "qrels.comment.test.gz results.comment.test.gz",
    "out.test.a": "-m all_trec qrels.test results.test",
    "out.test.aq": "-m all_trec -q qrels.test results.test",
    "out.test.aqc": "-m all_trec -q -c qrels.test results.trunc",
    "out.test.aqcM": "-m all_trec -q -c -M100 qrels.test results.trunc",
    "out.test.aql": "-m all_trec -mrelstring.20 -q -l2 qrels.rel_level results.test",
    "out.test.aqZ": "-q -m all_trec -Z zscores_file qrels.test results.test",
    "out.test.prefs": "-m all_prefs -q -R prefs prefs.test prefs.results.test",
    "out.test.prefs, comments": "-m all_prefs -q -R prefs prefs.comment.test prefs.results.test",
    "out.test.qrels_prefs": "-m all_prefs -q -R qrels_prefs qrels.test results.test",
    "out.test.qrels_jg": "-m qrels_jg -q -R qrels_jg qrels.123.gz results.test",
    "out.test.qrels_jg, comments": "-m qrels_jg -q -R qrels_jg qrels.comments.123.gz results.test",
    "out.test.meas_params": "-q -miprec_at_recall..10,.20,.25,.75,.50 -m P.5,7,3 -m "
    "recall.20,2000 -m "
    "Rprec_mult.5.0,0.2,0.35 "
    "-mutility.2,-1,0,0 -m 11pt_avg..25,.5,.75 -mndcg.1=3,2=9,4=4.5 -mndcg_cut.10,20,23.4 "
    "-msuccess.2,5,20 qrels.test results.test",
}


def printed(path: Path) -> str:
    return (
        gzip.decompress(path.read_bytes()).decode()
        if path.suffix == ".gz"
        else path.read_text(encoding="utf-8")
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_its_own_test_folder(
    name: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    expected = printed(shared_file("data", "trec_eval", name.partition(",")[0]))
    monkeypatch.chdir(FOLDER)

    code = main.run(["trec-eval", *shlex.split(COMMANDS[name])])

    assert code == 0
    assert capfd.readouterr().out == expected


@pytest.mark.parametrize(
    ("version", "convention"), [("9.0.4", "trec_eval-9"), ("10", "trec_eval-10")]
)
@pytest.mark.parametrize("level", [1, 2])
def test_dl19(version: str, convention: str, level: int, capfd: pytest.CaptureFixture[str]) -> None:
    """43 queries, a thousand documents each; the file lacks the lines of relstring."""
    expected = printed(shared_file("data", "dl19", f"dl19.l{level}.trec_eval-{version}.txt.gz"))
    files = [
        str(shared_file("data", "dl19", name))
        for name in ("qrels.dl19-passage.txt.gz", "run.msmarco-v1-passage.bm25-default.dl19.txt.gz")
    ]

    code = main.run(
        [
            "trec-eval",
            "-c",
            "-q",
            "-M1000",
            f"-l{level}",
            "-m",
            "all_trec",
            "--convention",
            convention,
            *files,
        ]
    )

    assert code == 0
    ours = capfd.readouterr().out.splitlines()
    assert [line for line in ours if not line.startswith("relstring")] == expected.splitlines()


# --- version 9, live ------------------------------------------------------------------------------

ODD = ("relstring", "runid", "num_q", "gm_")  # texts, and what only the summary has


def collection(seed: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Judgments with grades from -1 to 3, and a run with unjudged documents, tied scores and
    near-ties.
    """
    draw = random.Random(seed)
    documents = [f"d{number}" for number in range(60)]
    qrels = {
        f"q{n}": {d: draw.choice([-1, 0, 0, 0, 1, 1, 2, 3]) for d in draw.sample(documents, 40)}
        for n in range(12)
    }
    run = {
        q: {
            d: draw.choice([draw.random(), 0.5, 0.5 + 1e-9])
            for d in draw.sample(documents, draw.randint(1, 50))
        }
        for q in qrels
    }
    return {q: grades | {"sure": 3} for q, grades in qrels.items()}, run


def written(
    folder: Path, qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]]
) -> None:
    lines = [
        f"{query} 0 {document} {grade}\n"
        for query, grades in qrels.items()
        for document, grade in grades.items()
    ]
    (folder / "qrels").write_text("".join(lines))
    lines = [
        f"{query} Q0 {document} 0 {score!r} live\n"
        for query, scores in run.items()
        for document, score in scores.items()
    ]
    (folder / "run").write_text("".join(lines))


@pytest.mark.parametrize("options", ["", "-J", "-l2", "-J -l 3"])
def test_version_9_as_its_library_computes_it(
    options: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """pytrec_eval-terrier is the C code of 9.0.8: every measure of every query, at the printed
    digits.
    """
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels, run = collection(seed=len(options))
    written(tmp_path, qrels, run)
    monkeypatch.chdir(tmp_path)
    level = int(options.split("l")[1]) if "l" in options else 1
    peer = pytrec_eval.RelevanceEvaluator(
        qrels, {"all_trec"}, relevance_level=level, judged_docs_only_flag="J" in options
    ).evaluate(run)

    assert (
        main.run(
            [
                "trec-eval",
                *shlex.split(options),
                "-qnm",
                "all_trec",
                "--convention",
                "trec_eval-9",
                "qrels",
                "run",
            ]
        )
        == 0
    )
    lines = [line.split() for line in capfd.readouterr().out.splitlines()]
    ours = {(name, query): float(value) for name, query, value in lines if not name.startswith(ODD)}

    theirs = {
        (name, query): value
        for query, values in peer.items()
        for name, value in values.items()
        if not name.startswith(ODD)
    }
    assert set(ours) == set(theirs)
    assert {
        key: (value, theirs[key])
        for key, value in ours.items()
        if abs(value - theirs[key]) > 0.5e-4 + 1e-9
    } == {}


@pytest.mark.parametrize("coefficients", ["1,2,3,4", "0.5,1,2,8", "0.25,10,3,7"])
def test_the_fourth_coefficient_of_utility_counts_in_a_collection_of_no_documents(
    coefficients: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Unless -N says how many there are. The peer takes parameters apart as a set, so these are
    such as it gives back in order.
    """
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels, run = collection(seed=5)
    written(tmp_path, qrels, run)
    monkeypatch.chdir(tmp_path)
    peer = pytrec_eval.RelevanceEvaluator(qrels, {f"utility.{coefficients}"}).evaluate(run)

    assert main.run(["trec-eval", "-qnm", f"utility.{coefficients}", "qrels", "run"]) == 0
    alone = capfd.readouterr().out
    assert (
        main.run(["trec-eval", "-qnN", "1000", "-m", f"utility.{coefficients}", "qrels", "run"])
        == 0
    )
    within = capfd.readouterr().out

    fourth = float(coefficients.split(",")[3])
    for more, text in ((0.0, alone), (1000 * fourth, within)):
        expected = [
            f"utility_{coefficients:<14}\t{query}\t{peer[query]['utility'] + more:6.4f}"
            for query in sorted(qrels)
        ]
        assert text.splitlines() == expected
