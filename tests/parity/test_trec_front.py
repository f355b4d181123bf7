"""`idealrank trec-eval` against whole outputs of trec_eval 10.0: its own test folder, and TREC Deep Learning 2019."""

import gzip
import shlex
from pathlib import Path

import pytest

from idealrank.app import cli
from idealrank.app.trec.measures import is_offered
from idealrank.app.trec.names import NAMES
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
}
WAITING: set[str] = set()


def printed(path: Path) -> str:
    return gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text(encoding="utf-8")


def of_measures_here(text: str) -> list[str]:
    """Lines of the measures that the library has."""
    return [line for line in text.splitlines() if line.startswith("runid") or is_offered(name_of(line.split()[0]))]


def name_of(label: str) -> str:
    return next(name for name in sorted(NAMES, key=len, reverse=True) if label.startswith((name, f"Z{name}")))


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in WAITING])
def test_its_own_test_folder(name: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    expected = printed(shared_file("data", "trec_eval", name.partition(",")[0]))
    monkeypatch.chdir(FOLDER)

    code = cli.run(["trec-eval", *shlex.split(COMMANDS[name])])

    assert code == 0
    assert of_measures_here(capfd.readouterr().out) == of_measures_here(expected)
