"""Very unequal weights of queries: every report and record says so, once, and not on stderr
alone.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import idealrank as ir
from tests.cli.terminal import Said

Say = Callable[..., Said]

QUERIES = 60
COUNTED = "60 queries count as much as 13.4 of equal weight"
MANY = " ".join(f"run{number}.run" for number in range(3, 15))
COMMANDS = {
    "compare": "compare qrels.txt old.run new.run -m nDCG@10 --weights {weights}",
    "several": "compare qrels.txt old.run new.run run5.run -m nDCG@10 --weights {weights}",
    "many": f"compare qrels.txt {MANY} -m nDCG@10 --weights {{weights}}",
    "gate": "gate qrels.txt new.run --baseline old.run --weights {weights}",
    "robust": "robust qrels.txt old.run new.run --try cutoff --weights {weights}",
    "evaluate": "evaluate qrels.txt old.run new.run -m nDCG@10 --intervals --weights {weights}",
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    queries = [f"q{number}" for number in range(QUERIES)]
    lines = [f"{query} 0 a 1\n{query} 0 b 0\n" for query in queries]
    (folder / "qrels.txt").write_text("".join(lines), encoding="utf-8")
    runs = {f"run{number}": number for number in range(3, 15)} | {"old": 3, "new": 4}
    for name, rest in runs.items():
        rankings = ["ab" if place % rest else "ba" for place in range(QUERIES)]
        run = [
            f"{query} Q0 {document} {rank} {9 - rank} t\n"
            for query, ranking in zip(queries, rankings, strict=True)
            for rank, document in enumerate(ranking)
        ]
        (folder / f"{name}.run").write_text("".join(run), encoding="utf-8")
    weights = {"zipf": [1 / place for place in range(1, QUERIES + 1)], "equal": [2.0] * QUERIES}
    for name, values in weights.items():
        rows = [f"{query} {value}\n" for query, value in zip(queries, values, strict=True)]
        (folder / f"{name}.txt").write_text("".join(rows), encoding="utf-8")
    return folder


def asked(command: str, weights: str = "zipf.txt") -> list[str]:
    return COMMANDS[command].format(weights=weights).split()


def times(text: str) -> int:
    """How often a text states the number of queries of equal weight, whatever its lines."""
    return " ".join(text.split()).count(COUNTED)


def _of_weights(warnings: list[str]) -> list[str]:
    """Warnings but for error rates, which few queries leave open whatever their weights."""
    return [warning for warning in warnings if not warning.startswith("The error rate of")]


@pytest.mark.parametrize("command", COMMANDS)
def test_records_have_the_warning(command: str, files: Path, say: Say) -> None:
    said = say(*asked(command), "--format", "json", cwd=files)
    (warning,) = _of_weights(json.loads(said.out)["warnings"])
    assert warning.startswith(f"weights: {COUNTED}; ")
    assert said.err.count(f"warning: weights: {COUNTED}") == 1
    record = json.loads(say(*asked(command, "equal.txt"), "--format", "json", cwd=files).out)
    assert _of_weights(record["warnings"]) == []


@pytest.mark.parametrize("command", COMMANDS)
def test_texts_have_it_once(command: str, files: Path, say: Say) -> None:
    assert times(say(*asked(command), cwd=files).out) == 1
    assert times(say(*asked(command, "equal.txt"), cwd=files).out) == 0


@pytest.mark.parametrize("command", ["compare", "several", "many", "evaluate"])
def test_markdown_has_it_once(command: str, files: Path, say: Say) -> None:
    assert times(say(*asked(command), "--format", "markdown", cwd=files).out) == 1


@pytest.mark.parametrize("command", ["compare", "several", "many", "gate", "evaluate"])
def test_pages_have_it_once(command: str, files: Path, say: Say, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    say(*asked(command), "--report", str(page), cwd=files)
    assert times(page.read_text(encoding="utf-8")) == 1


def test_forms_of_a_gate_have_it_and_it_is_no_reason_to_fail(
    files: Path, say: Say, tmp_path: Path
) -> None:
    junit, markdown = tmp_path / "gate.xml", tmp_path / "gate.md"
    forms = ["--junit", str(junit), "--markdown", str(markdown), "--github"]
    said = say(*asked("gate"), *forms, cwd=files)
    assert times(junit.read_text(encoding="utf-8")) == times(markdown.read_text("utf-8")) == 1
    assert f"::warning title=Caution::Weights: {COUNTED}" in said.err
    record = json.loads(say(*asked("gate"), "--format", "json", cwd=files).out)
    assert not any("equal weight" in reason for reason in record["reasons"])
    assert "cautions" not in record
    assert said.code == (0 if record["passed"] else 1)


def test_a_t_test_says_that_the_permutation_test_has_more_power(files: Path, say: Say) -> None:
    said = say(*asked("compare"), "--test", "t", cwd=files)
    expected = f"Weights: {COUNTED}; Student's t accounts for it, and has less power than the"
    assert expected in " ".join(said.out.split())


@pytest.mark.filterwarnings("ignore:weights:idealrank.IdealrankWarning")
def test_results_in_python_print_it(files: Path) -> None:
    paths = [str(files / f"{name}.run") for name in ("old", "new")]
    old, new = (ir.evaluate(str(files / "qrels.txt"), path, "RR") for path in paths)
    weights = str(files / "zipf.txt")
    compared, gated = ir.compare(old, new, weights=weights), ir.gate(new, old, weights=weights)
    for found in (compared, gated):
        assert times(str(found)) == times(found._repr_html_()) == 1
        assert [times(text) for text in found.warnings] == [1]


@pytest.mark.filterwarnings("ignore:weights:idealrank.IdealrankWarning")
def test_verdicts_made_again_from_a_store_have_it(files: Path, say: Say, tmp_path: Path) -> None:
    stored = say(*asked("compare"), "--store", str(tmp_path / "kept"), cwd=files)
    key = stored.err.split("stored as ")[1].split(",")[0]
    page = tmp_path / "page.html"
    said = say("report", key, "--store", str(tmp_path / "kept"), "-o", str(page), cwd=files)
    assert said.code == 0, said.err
    assert times(page.read_text(encoding="utf-8")) == 1
