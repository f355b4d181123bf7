"""Ten verdicts for a reader without statistics: at most four sentences, with the verdict, its size,
its basis and the next step.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from tests.cli.terminal import Said
from tests.pools import qrels_text, run_text, written

Say = Callable[..., Said]
Lists = dict[str, list[str]]

QUERIES = [f"q{number:03}" for number in range(60)]
POOL = [f"d{number:02}" for number in range(10)]
# Words that a reader without statistics does not know, or that earlier reports had for one state.
UNKNOWN = (
    "tipping",
    "tips",
    "significan",
    "sign",
    "rbo",
    "d_z",
    "reach",
    "carr",
    "power",
    "one-sided",
    "two-sided",
    "permutation",
    "null",
    "corrected",
    "pseudo",
    "variance",
    "confidence",
    "hypothes",
    "likelihood",
    "alpha",
    "exclusive",
    "neutral",
)
_SIZE = re.compile(r"\d\.\d+ against \d\.\d+")
_DIFFERENCE = re.compile(
    r"a difference of [+-]\d\.\d+ \(95% interval [+-]\d\.\d+ to [+-]\d\.\d+, p \d\.\d+[a-z ]*\)"
)


class Asked(NamedTuple):
    """A command, its exit code, and words of its verdict, basis and next step."""

    command: str
    verdict: str
    basis: str
    step: str
    code: int = 0


_COUNTS = r"is better on \d+, equal on \d+ and worse on \d+ of \d+ queries"
ASKED = {
    "better": Asked(
        "compare full.qrels old.run new.run",
        "new is better than old:",
        _COUNTS,
        r"look at the \d+ quer",
    ),
    "worse": Asked(
        "compare full.qrels new.run old.run",
        "old is worse than new:",
        _COUNTS,
        r"look at the \d+ quer",
    ),
    "equivalent": Asked(
        "compare full.qrels old.run like.run --margin 0.15",
        "like and old are equivalent, within 0.15 of each other:",
        _COUNTS,
        "cost or speed",
    ),
    "undecided": Asked(
        "compare full.qrels old.run like.run",
        "These queries do not show whether like is better than old:",
        _COUNTS,
        r"State the smallest difference worth finding \(--effect, or effect= in Python\) to "
        r"learn how many queries find it|Add queries",
    ),
    "too few, pooled": Asked(
        "compare pools/pooled.qrels pools/main.run pools/new.run",
        "Too few judgments to say whether new is better than main:",
        r"If \d+% of the \d+ unjudged documents that only new returns were relevant",
        r"About \d+ labels will decide; the command below chooses them\.",
    ),
    "too few, one-sided": Asked(
        "compare clicks.qrels old.run new.run",
        "Too few judgments to say whether new is better than old:",
        r"old returns 100% of the labelled relevant documents in its first 10 results, and "
        r"new \d+%",
        "Label documents of both runs and compare again, or declare --labels-are complete",
    ),
    "better, positive-only": Asked(
        "compare gold.qrels old.run new.run",
        "new is better than old:",
        f"{_COUNTS}; documents without a label count as not relevant",
        r"look at the \d+ quer",
    ),
    "better, complete": Asked(
        "compare gold.qrels old.run new.run --labels-are complete",
        "new is better than old:",
        f"{_COUNTS}; the labels were declared complete",
        r"look at the \d+ quer",
    ),
    "passed": Asked(
        "gate full.qrels new.run --baseline old.run",
        "The gate is open: by nDCG@10, new is",
        _COUNTS,
        "Add queries to find smaller drops",
    ),
    "failed": Asked(
        "gate full.qrels old.run --baseline new.run",
        "The gate is closed: by nDCG@10, old is worse than new:",
        _COUNTS,
        "The queries that fell most are listed below",
        code=1,
    ),
}


def _ranked(
    rng: np.random.Generator, grades: Mapping[str, Mapping[str, int]], weight: float
) -> Lists:
    """Ten documents a query, the relevant ones higher with more weight."""
    lists = {}
    for query, judged in grades.items():
        scores = {name: weight * grade + rng.normal() for name, grade in judged.items()}
        lists[query] = sorted(scores, key=scores.__getitem__, reverse=True)[:10]
    return lists


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files with a better and a like run, and the same runs under gold labels and under clicks on
    the old run.
    """
    path, rng = tmp_path_factory.mktemp("ten"), np.random.default_rng(7)
    documents = [f"d{number:02}" for number in range(25)]
    full = {query: {name: int(rng.random() < 0.2) for name in documents} for query in QUERIES}
    old, like, new = (_ranked(rng, full, weight) for weight in (0.8, 0.8, 2.0))
    gold = {
        query: {name: 1 for name, grade in judged.items() if grade}
        for query, judged in full.items()
    }
    clicks = {query: {names[int(rng.integers(10))]: 1} for query, names in old.items()}
    for name, grades in (
        ("full", full),
        ("gold", {query: judged for query, judged in gold.items() if judged}),
        ("clicks", clicks),
    ):
        (path / f"{name}.qrels").write_text(qrels_text(grades), encoding="utf-8")
    for name, lists in (("old", old), ("like", like), ("new", new)):
        (path / f"{name}.run").write_text(run_text(lists), encoding="utf-8")
    (path / "pools").mkdir()
    written(path / "pools")
    return path


def paragraph(said: Said) -> str:
    """The first paragraph of a report, on one line."""
    return " ".join(said.out.split("\n\n")[0].split())


def sentences(text: str) -> list[str]:
    return re.split(r"(?<=\.) ", text)


@pytest.mark.parametrize("name", ASKED)
def test_a_verdict_has_at_most_four_sentences_with_its_size_its_basis_and_the_next_step(
    name: str, say: Say, folder: Path
) -> None:
    asked = ASKED[name]

    said = say(*asked.command.split(), "-m", "nDCG@10", cwd=folder)
    text = paragraph(said)

    assert said.code == asked.code, said.err
    assert text.startswith(asked.verdict)
    assert len(sentences(text)) <= 4, sentences(text)
    assert (_SIZE if asked.command.startswith("gate") else _DIFFERENCE).search(text)
    assert re.search(asked.basis, text), text
    assert re.search(asked.step, text), text


@pytest.mark.parametrize("name", ASKED)
def test_a_verdict_has_no_word_that_needs_statistics_but_p(
    name: str, say: Say, folder: Path
) -> None:
    text = paragraph(say(*ASKED[name].command.split(), "-m", "nDCG@10", cwd=folder)).lower()

    assert [word for word in UNKNOWN if re.search(rf"\b{word}", text)] == []
    assert not re.search(r"\d %", text)


@pytest.mark.parametrize("name", ASKED)
def test_more_adds_sentences_and_takes_none_away(name: str, say: Say, folder: Path) -> None:
    command = (*ASKED[name].command.split(), "-m", "nDCG@10")

    short, full = (say(*command, *options, cwd=folder) for options in ((), ("--more",)))

    assert full.out.startswith(short.out.split("\n\n")[0])
    assert len(full.out) > len(short.out) - len("details: --more, ")
    assert "--more" not in full.out.replace("--more, --explain-method", "")


@pytest.mark.parametrize("measure", ["nDCG@10", "P@10", "R@10", "RR", "AP", "HR@10"])
@pytest.mark.parametrize(
    "runs",
    ["old.run new.run", "old.run like.run new.run", "old.run like.run new.run --baseline old"],
)
def test_positive_only_labels_are_told_once_by_every_measure_and_number_of_runs(
    measure: str, runs: str, say: Say, folder: Path
) -> None:
    text = " ".join(
        say("compare", "gold.qrels", *runs.split(), "-m", measure, cwd=folder).out.split()
    )

    assert text.lower().count("documents without a label count as not relevant") == 1
    assert text.count("labels: positive-only found; change: --labels-are pooled") == 1
    assert "interactions" not in text
    assert "recommend" not in text


def test_six_runs_keep_the_sentence_on_the_labels(say: Say, folder: Path) -> None:
    for number in range(3):
        lines = (folder / "old.run").read_text(encoding="utf-8").splitlines(keepends=True)
        (folder / f"copy{number}.run").write_text("".join(lines), encoding="utf-8")
    runs = [f"{name}.run" for name in ("old", "like", "new", "copy0", "copy1", "copy2")]

    text = " ".join(say("compare", "gold.qrels", *runs, "-m", "nDCG@10", cwd=folder).out.split())

    assert "Documents without a label count as not relevant." in text


def test_three_runs_begin_with_the_verdict_on_the_leading_pair(say: Say, folder: Path) -> None:
    said = say(
        "compare", "full.qrels", "old.run", "like.run", "new.run", "-m", "nDCG@10", cwd=folder
    )

    text = paragraph(said)

    assert re.match(r"new is better than (old|like): ", text)
    assert len(sentences(text)) <= 4
    assert "By nDCG@10, the first measure:" in said.out


def test_nothing_is_said_of_labels_where_every_returned_document_has_one(
    say: Say, folder: Path
) -> None:
    text = say(
        "compare", "full.qrels", "old.run", "new.run", "-m", "nDCG@10", "--more", cwd=folder
    ).out

    assert "label" not in text


def test_one_document_labelled_for_each_query_makes_no_share_of_documents_likely_relevant(
    say: Say, folder: Path
) -> None:
    for kind in ("positive-only", "pooled"):
        text = say(
            "compare",
            "clicks.qrels",
            "new.run",
            "old.run",
            "-m",
            "RR,nDCG@10",
            "--more",
            "--labels-are",
            kind,
            cwd=folder,
        ).out

        assert "likely relevant" not in " ".join(text.split())
