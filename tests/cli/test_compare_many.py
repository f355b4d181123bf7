"""`idealrank compare` of many runs: groups first, a map of all pairs, and no line beyond a page's
width.
"""

import csv
import io
import json
import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.cli.terminal import Said, check_snapshot

Say = Callable[..., Said]
NAMES = ("bm25", "bm25-rm3", "dense", "dense-large", "fusion", "random", "splade")
# of the queries, put the relevant document at the top
SHARES = (0.5, 0.55, 0.6, 0.72, 0.85, 0.1, 0.7)


def write_runs(
    folder: Path, names: tuple[str, ...], shares: tuple[float, ...], n: int = 60
) -> None:
    """Judgments of n queries with one relevant document, and runs that have it first on a share of
    them, and third on the others.
    """
    generator = np.random.default_rng(7)
    hard = generator.random(n)
    (folder / "qrels.txt").write_text(
        "".join(f"q{i} 0 rel 1\nq{i} 0 bad 0\n" for i in range(n)), encoding="utf-8"
    )
    for name, share in zip(names, shares, strict=True):
        easy = 0.7 * hard + 0.3 * generator.random(n) < share
        rankings = [("rel", "x", "bad") if first else ("x", "bad", "rel") for first in easy]
        lines = [
            f"q{i} Q0 {document} {rank} {9 - rank} t\n"
            for i, ranking in enumerate(rankings)
            for rank, document in enumerate(ranking)
        ]
        (folder / f"{name}.run").write_text("".join(lines), encoding="utf-8")


@pytest.fixture
def seven(tmp_path: Path) -> Path:
    write_runs(tmp_path, NAMES, SHARES)
    return tmp_path


RUNS = " ".join(f"{name}.run" for name in NAMES)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        pytest.param("table", "-m AP,P@1", marks=pytest.mark.slow),
        ("baseline", "-m AP --baseline bm25"),
        pytest.param("markdown", "-m AP,P@1 --format markdown", marks=pytest.mark.slow),
        ("latex", "-m AP,P@1 --format latex"),
        ("groups", "-m AP,P@1 --letters groups"),
        pytest.param(
            "groups-latex", "-m AP --letters groups --format latex", marks=pytest.mark.slow
        ),
    ],
)
def test_what_compare_says_of_seven_runs(name: str, options: str, say: Say, seven: Path) -> None:
    command = f"compare qrels.txt {RUNS} {options}"

    said = say(*shlex.split(command), cwd=seven)

    check_snapshot(f"compare-many-{name}", said.text(f"idealrank {command}"))
    assert said.code == 0
    assert "latex" in name or name == "markdown" or max(map(len, said.out.splitlines())) <= 100


@pytest.mark.parametrize(
    ("runs", "options", "found"),
    [
        (RUNS, "--baseline bm25", "found --baseline, expected every pair of runs"),
        ("bm25.run dense.run", "", "found 2 runs, expected at least 6"),
    ],
)
def test_letters_that_no_table_would_show_are_refused(
    runs: str, options: str, found: str, say: Say, seven: Path
) -> None:
    said = say(
        *shlex.split(f"compare qrels.txt {runs} -m AP --letters groups {options}"), cwd=seven
    )
    assert said.code == 2
    assert f"error: --letters groups: {found}" in said.err


@pytest.mark.slow
def test_every_pair_is_shown_on_request_and_stands_in_json_and_csv(say: Say, seven: Path) -> None:
    command = ("compare", "qrels.txt", *RUNS.split(), "-m", "AP", "--test", "t")

    short, long = (say(*command, *more, cwd=seven).out for more in ((), ("--every-pair",)))
    record = json.loads(say(*command, "--format", "json", cwd=seven).out)
    rows = list(csv.DictReader(io.StringIO(say(*command, "--format", "csv", cwd=seven).out)))
    table = say(*command, "--format", "markdown", "--every-pair", cwd=seven).out

    assert "splade against bm25" not in short
    assert "splade against bm25\n" in long
    assert len(record["pairs"]) == len(rows) == 21
    assert table.count("\n| ") == 2 + 21  # below a sentence: the head, its rule, and the pairs
    assert record["groups"]["AP"]["top"][0] == "fusion"
    assert "\n\nBy AP, fusion " in long


def test_the_map_says_what_the_verdicts_say(say: Say, seven: Path) -> None:
    command = ("compare", "qrels.txt", *RUNS.split(), "-m", "AP", "--test", "t")
    record = json.loads(say(*command, "--format", "json", cwd=seven).out)
    lines = say(*command, cwd=seven).out.split("pairs by AP\n")[1].splitlines()[1:8]

    order = list(record["groups"]["AP"]["letters"])
    p = {
        frozenset((pair["a"], pair["b"])): pair["measures"]["AP"]["p_corrected"]
        for pair in record["pairs"]
    }
    for place, (run, line) in enumerate(zip(order, lines, strict=True)):
        assert line.split()[:2] == [str(place + 1), run]
        for better, sign in zip(order[:place], line.split()[2], strict=False):
            bands = {".": (0.05, 1), ":": (0.01, 0.05), "+": (0.001, 0.01), "#": (0, 0.001)}
            low, high = bands[sign]
            assert low < p[frozenset((better, run))] <= high


@pytest.mark.parametrize("runs", [12, pytest.param(75, marks=pytest.mark.slow)])
def test_runs_beyond_a_page_share_cells(runs: int, say: Say, tmp_path: Path) -> None:
    names = tuple(
        f"a-run-with-a-name-that-is-much-longer-than-any-column-{number}" for number in range(runs)
    )
    write_runs(tmp_path, names, tuple(np.linspace(0.1, 0.9, runs).tolist()), n=30)

    said = say(
        "compare",
        "qrels.txt",
        *(f"{name}.run" for name in names),
        "-m",
        "P@1,AP,P@2,P@3",
        cwd=tmp_path,
    )

    assert said.code == 0
    assert max(map(len, said.out.splitlines())) <= 100
    assert len(said.out.splitlines()) < 4 * runs + 60
    assert said.out.count("pairs by ") == 1
    assert ("Each line and column stands for 2 runs" in said.out) == (runs > 60)


def test_pairs_that_are_not_corrected_together_are_named(say: Say, tmp_path: Path) -> None:
    names = tuple(f"run{number}" for number in range(11))
    write_runs(tmp_path, names, tuple(np.linspace(0.3, 0.7, 11).tolist()), n=30)
    command = (
        "compare",
        "qrels.txt",
        *(f"{name}.run" for name in names),
        "-m",
        "AP",
        "--explain-method",
    )

    more = (("--test", "t"), (), ("--correction", "holm", "--level", "0.9"))
    by_t, by_signs, by_holm = (
        " ".join(say(*command, *one, cwd=tmp_path).out.split()) for one in more
    )

    assert "55 tests of AP corrected together (Bonferroni);" in by_t
    assert "55 tests of AP corrected together (max-T)" in by_signs
    assert "sign-flip permutation test, two-sided; 10,000 draws" in by_holm
    assert "55 tests of AP corrected together (Holm)" in by_holm
    assert "the worse runs, corrected p at most 0.1;" in by_holm


def test_a_figure_beside_the_report(say: Say, seven: Path) -> None:
    command = ("compare", "qrels.txt", *RUNS.split(), "-m", "AP", "--test", "t")

    said = say(*command, "--figure", "pairs.json", cwd=seven)
    refused = say(*command, "--figure", "bm25.run", cwd=seven)

    assert said.code == 0
    assert (
        len(json.loads((seven / "pairs.json").read_text(encoding="utf-8"))["data"]["values"]) == 42
    )
    assert (refused.code, "expected a file that ends in" in refused.err) == (2, True)
