"""Check changes in the process of a copy: ``python -m tests.changes.checks COPY NAME...`` prints
what fails, by name, as JSON.
"""

import json
import subprocess
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import idealrank
from tests.changes.copies import ROOT
from tests.in_process import run
from tests.twins import naive_measures

QRELS = {"q1": {"a": 2.0, "b": 1.0, "c": 0.0}, "q2": {"a": 1.0, "d": 1.0, "e": 1.0}}
FIRST = {"q1": [("c", 3.0), ("a", 2.0)], "q2": [("z", 2.0), ("a", 1.0)]}
SECOND = {"q1": [("a", 3.0), ("b", 2.0)], "q2": [("a", 2.0), ("d", 1.0)]}
Rows = list[tuple[str, float]]


def output(*arguments: str) -> str:
    """Standard output of a command that must succeed."""
    code, out, err = run(list(arguments), COLUMNS="100", NO_COLOR="1")
    assert code == 0, err
    return out


def lines_of_run(run: dict[str, Rows]) -> str:
    """A run as TREC lines."""
    return "".join(
        f"{query} Q0 {document} 1 {score:g} x\n" for query in run for document, score in run[query]
    )


def files(folder: Path) -> list[str]:
    """Judgments and two runs of two queries."""
    judgments = [
        f"{query} 0 {document} {grade:g}\n"
        for query, grades in QRELS.items()
        for document, grade in grades.items()
    ]
    texts = {
        "qrels.txt": "".join(judgments),
        "first.run": lines_of_run(FIRST),
        "second.run": lines_of_run(SECOND),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
    return [str(folder / name) for name in texts]


def run_tests(*arguments: str) -> None:
    """Run tests of the copy, all of which must pass."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def values(measure: str, convention: str) -> dict[str, float]:
    """Value of the first run for each query."""
    run = {query: dict(rows) for query, rows in FIRST.items()}
    evaluation = idealrank.evaluate(QRELS, run, measure, convention=convention)
    return dict(zip(QRELS, evaluation.values[:, 0].tolist(), strict=True))


def oracle(measure: str, convention: str) -> dict[str, float | None]:
    """Compute the value again, from its definition."""
    rules = idealrank.Convention.of(convention)
    resolved = str(idealrank.parse_measure(measure).under(rules))
    return naive_measures.evaluate(QRELS, FIRST, resolved, rules.switches())


def main(folder: Path, names: Sequence[str]) -> dict[str, str]:
    """Run the function `check` of each change."""
    assert Path(idealrank.__file__).is_relative_to(folder)  # never the installed package
    failures = {}
    for name in names:
        room = folder / f"check-{name}"
        room.mkdir()
        try:
            import_module(f"tests.changes.{name}").check(room)
        except Exception:  # reported by name; the others are checked all the same
            failures[name] = traceback.format_exc()
        else:
            failures[name] = ""
    return failures


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), sys.argv[2:])))
