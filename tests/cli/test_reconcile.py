"""`idealrank reconcile`: what it prints, and its exit codes."""

import gzip
import json
import re
import shlex
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.terminal import Said, check_snapshot
from tests.conftest import PYDOCS, shared_file

Say = Callable[..., Said]

COMMANDS = {
    "fits": "reconcile qrels.txt bm25.run --value 0.119906 -m nDCG@2",
    "switch": "reconcile qrels.txt bm25.run --value 0.925 -m nDCG@2 --convention lightgbm",
    "cut-off": "reconcile qrels.txt bm25.run --value 0.24387 -m nDCG",
    "nothing": "reconcile qrels.txt bm25.run --value 0.00012345 -m nDCG@2",
    "percent": "reconcile qrels.txt bm25.run --value 20.8% -m RR",
    "refused": "reconcile negative.qrels twice.run --value 1.00",
    "twice": "reconcile negative.qrels twice.run --value 1.00 --convention "
    "standard,duplicates=first",
    "versus": "reconcile qrels.txt bm25.run --versus lightgbm -m nDCG@2",
    "versus-same": "reconcile qrels.txt bm25.run --versus trec_eval-10 --convention trec_eval",
    "both": "reconcile qrels.txt bm25.run --value 0.21 --versus standard,no_relevant=one -m RR",
    "json": "reconcile qrels.txt bm25.run --value 0.1199 -m nDCG@2 --versus "
    "standard,missing=left-out "
    "--format json",
    "error-neither": "reconcile qrels.txt bm25.run",
    "error-value": "reconcile qrels.txt bm25.run --value 0,81",
    "error-measure": "reconcile qrels.txt bm25.run --value 0.5 -m nDGC",
    "error-two-measures": "reconcile qrels.txt bm25.run --value 0.5 -m AP,RR",
    "error-convention": "reconcile qrels.txt bm25.run --value 0.5 --versus lightbgm",
    "error-versus-refuses": "reconcile negative.qrels neural.run --versus lightgbm",
    "error-no-file": "reconcile qrels.txt nowhere.run --value 0.5",
    "error-bad-file": "reconcile broken.qrels bm25.run --value 0.5",
}


def mean_of(say: Say, files: tuple[str, str], convention: str) -> float:
    said = say("evaluate", *files, "-m", "nDCG@10", "--convention", convention, "--format", "json")
    return json.loads(said.out)["runs"][0]["mean"]["nDCG@10"]


@pytest.mark.spread(5)
@pytest.mark.parametrize("name", COMMANDS)
def test_what_reconcile_says(name: str, say: Say) -> None:
    command = f"idealrank {COMMANDS[name]}"

    said = say(*shlex.split(command)[1:])

    # How many conventions were tried changes with every preset; the unit tests hold what was found.
    text = re.sub(
        r"Tried [\d,]+ conventions, which gave [\d,]+ different numbers",
        "Tried ... conventions",
        said.text(command),
    )
    check_snapshot(f"reconcile-{name}", re.sub(r'"(tried|numbers)": \d+', r'"\1": ...', text))
    assert said.code == (2 if name.startswith("error") else 0)
    assert name == "json" or max(map(len, said.out.splitlines()), default=0) <= 110


@pytest.mark.spread(3)
@pytest.mark.parametrize(
    "name", ["standard", "sklearn", "lightgbm", "catboost", "elasticsearch", "trec_eval-9"]
)
def test_what_evaluate_prints_is_reconciled(name: str, say: Say) -> None:
    files = (str(PYDOCS / "qrels.txt"), str(PYDOCS / "minilm.run"))
    evaluated = json.loads(
        say("evaluate", *files, "-m", "nDCG@10", "--convention", name, "--format", "json").out
    )["runs"][0]["mean"]["nDCG@10"]

    record = json.loads(
        say("reconcile", *files, "--value", f"{evaluated:.4f}", "--format", "json").out
    )["reconciliation"]

    assert name in [
        convention for match in record["matches"] for convention in match["conventions"]
    ]
    first = record["matches"][0]
    assert abs(first["value"] - evaluated) <= 0.5e-4


def test_the_split_adds_up_to_the_difference_evaluate_prints(say: Say) -> None:
    files = (str(PYDOCS / "qrels.txt"), str(PYDOCS / "bm25.run"))
    means = [mean_of(say, files, name) for name in ("sklearn", "lightgbm")]

    record = json.loads(
        say(
            "reconcile",
            *files,
            "--convention",
            "sklearn",
            "--versus",
            "lightgbm",
            "--format",
            "json",
        ).out
    )["split"]

    assert record["difference"] == means[1] - means[0]
    assert sum(part["part"] for part in record["parts"]) == pytest.approx(
        record["difference"], abs=1e-15
    )


def test_the_output_can_go_to_a_file(say: Say, tmp_path: Path) -> None:
    said = say(
        "reconcile",
        "qrels.txt",
        "bm25.run",
        "--value",
        "0.5",
        "-m",
        "RR",
        "-o",
        str(tmp_path / "found.txt"),
    )

    assert (said.code, said.out) == (0, "")
    assert (tmp_path / "found.txt").read_text(encoding="utf-8").startswith("RR is stated as 0.5;")


def test_judgments_may_come_from_standard_input(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    with Path("qrels.txt").open(encoding="utf-8") as source:
        monkeypatch.setattr("sys.stdin", source)
        said = say("reconcile", "-", "bm25.run", "--value", "0.1199", "-m", "nDCG@2")

    assert said.code == 0
    assert "standard: the current convention" in said.out


def test_dl19_is_reconciled_within_seconds(say: Say, tmp_path: Path) -> None:
    files = []
    for name in ("qrels.dl19-passage.txt", "run.msmarco-v1-passage.bm25-default.dl19.txt"):
        path = tmp_path / name
        path.write_bytes(gzip.decompress(shared_file("data", "dl19", f"{name}.gz").read_bytes()))
        files.append(str(path))

    start = time.process_time()
    said = say("reconcile", *files, "--value", "0.5058")

    assert "trec_eval-10 = trec_eval" in said.out
    assert time.process_time() - start < 20  # a search that does not stop would take minutes
