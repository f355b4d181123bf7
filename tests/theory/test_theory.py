"""`idealrank theory`: what it prints and draws, and that its errors teach."""

import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import idealrank as ir
from idealrank.data.align import align
from idealrank.data.alignment import Alignment
from idealrank.errors import install_command
from idealrank.theory.commands.limits import labelled
from idealrank.theory.commands.theory import COMMANDS as SUBCOMMANDS
from idealrank.theory.commands.theory import theory
from idealrank.theory.growth import growing_ndcg, growing_sizes, paper_rankers
from tests.cli.terminal import Said, check_snapshot

Say = Callable[..., Said]
ROOT = Path(__file__).resolve().parents[2]

COMMANDS = {
    "feasible": "theory feasible",
    "feasible-one": "theory feasible --discount 'zipf(0.3)' --cutoff n^0.9",
    "feasible-json": "theory feasible --discount linear --cutoff all --format json",
    "feasible-csv": "theory feasible --discount log2,linear --cutoff 0.2n,all --format csv",
    "limits": "theory limits --ybar 0.1+0.8s",
    "limits-one": "theory limits --ybar 'logistic(8,-5)' --discount 'zipf(0.5)' --cutoff 0.2n "
    "--length 1e3,1e12",
    "limits-graded": "theory limits --ybar 2:0.05+0.35s^2 --ybar 1:0.2+0.2s --gain exp2 "
    "--discount log2 "
    "--cutoff all,0.3n",
    "limits-jump-json": "theory limits --ybar 0:0.1,0.8:0.2,0.8:0.9,1:0.9 --format json "
    "--discount log2,[1,0.5] "
    "--cutoff 0.2n --length 1000",
    "limits-csv": "theory limits --ybar s^2 --discount log2 --length 10,10^3 --format csv",
    "limits-certain": "theory limits --ybar s^2 --discount log2 --cutoff 10",
    "limits-certain-json": "theory limits --ybar 0.5-0.5s --discount 'geometric(2)' --cutoff all "
    "--length 10 --format json",
    "limits-run": "theory limits qrels.txt bm25.run --discount log2 --cutoff all,10 --length 100 "
    "--resamples 30",
    "error-limits-both": "theory limits qrels.txt bm25.run --ybar s",
    "error-limits-other-queries": "theory limits qrels.txt stray.txt",
    "limits-file": "theory limits --ybar curve.csv --discount log2 --cutoff 0.2n",
    "distinguish": "theory distinguish --a 0.1+0.8s --b 0.2+0.6s --simulations 40 "
    "--length 10,100,1000 --cutoff all,5",
    "distinguish-graded-csv": "theory distinguish --a 2:0.4s --a 1:0.5 --b 2:0.2 --b 1:0.5 "
    "--simulations 20 --length 50 "
    "--cutoff all --format csv",
    "distinguish-files": "theory distinguish qrels.txt bm25.run neural.run --query q1 "
    "--simulations 20 --cutoff all "
    "--format json",
    "error-distinguish-none": "theory distinguish",
    "error-distinguish-both": "theory distinguish qrels.txt bm25.run neural.run --a s",
    "error-distinguish-query": "theory distinguish qrels.txt bm25.run neural.run",
    "error-distinguish-no-query": "theory distinguish qrels.txt bm25.run neural.run --query q0",
    "error-distinguish-not-in-run": "theory distinguish qrels.txt bm25.run neural.run --query q4",
    "error-distinguish-shares": "theory distinguish --a s --b 0.1",
    "error-ybar": "theory limits --ybar 0.1+0.8t",
    "error-chance": "theory limits --ybar 2s",
    "error-nothing-relevant": "theory limits --ybar 0",
    "error-discount-unknown": "theory feasible --discount zipff",
    "error-cutoff": "theory feasible --cutoff n/5",
    "error-n": "theory limits --ybar s --length 1e99",
    "error-n-underscore": "theory limits --ybar s --length 10_",
    "error-n-none": "theory limits --ybar s --length ,",
    "error-gain": "theory limits --ybar s --gain cubic",
    "error-no-ybar": "theory limits",
    "error-ybar-file": "theory limits --ybar none.csv",
    "error-ybar-file-row": "theory limits --ybar judgments.csv",
    "error-no-folder": "theory figures",
    "error-format": "theory figures --output x --format gif",
    "error-no-format": "theory figures --output x --format ,",
    "error-figure": "theory figures --output x --number 5",
    "error-no-data": "theory figures --output x --rankers none.npz",
    "error-out": "theory figures --output qrels.txt --number 1",
    "error-documents": "theory figures --output x --number 1 --length 9000",
    "error-data": "theory figures --output x --rankers qrels.txt",
    "error-unknown": "theory figure",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_what_theory_says(name: str, say: Say) -> None:
    command = f"idealrank {COMMANDS[name]}"

    said = say(*shlex.split(command)[1:])

    check_snapshot(f"theory-{name}", said.text(command))
    assert said.code == (2 if name.startswith("error") else 0)


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_a_command_of_theory_says_the_same_in_the_list_and_in_its_own_help(name: str) -> None:
    import click

    command = theory.get_command(click.Context(theory), name)
    assert command is not None
    assert command.short_help == SUBCOMMANDS[name]


# --- runs as rankers ------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=12))
def test_a_run_and_its_judgments_are_the_labels_and_ranks_of_its_lists(
    rows: list[tuple[int, int]],
) -> None:
    # Two queries, the second the reverse of the first; grade 3 stands for a document that nobody
    # judged.
    lists = {"q1": rows, "q2": rows[::-1]}
    qrels = ir.Qrels(
        {
            query: {f"d{i}": g for i, (g, _) in enumerate(each) if g != 3} | {"absent": 1}
            for query, each in lists.items()
        }
    )
    run = ir.Run(
        {
            query: {f"d{i}": float(s) for i, (_, s) in enumerate(each)}
            for query, each in lists.items()
        }
    )

    found = labelled(align(qrels, run, Alignment()))

    assert found.lengths.tolist() == [len(rows)] * 2
    for label, place, (query, each) in zip(
        np.split(found.labels, 2), np.split(found.scores, 2), lists.items(), strict=True
    ):
        ranking = run.ranking(query)
        grades = [each[int(document[1:])][0] % 3 for document in ranking.documents]
        assert label.tolist() == grades
        # Documents of a tie in which somebody judged one share the middle rank.
        middle = [
            -(first + last) / 2 for first, last in zip(ranking.first, ranking.last, strict=True)
        ]
        judged = {
            m
            for m, document in zip(middle, ranking.documents, strict=True)
            if each[int(document[1:])][0] != 3
        }
        assert [score for score, m in zip(place, middle, strict=True) if m in judged] == [
            m for m in middle if m in judged
        ]
        assert (np.diff(place) <= 0).all()


# --- figures --------------------------------------------------------------------------------------


def small(folder: Path) -> Path:
    """Three queries, two rankers."""
    rng = np.random.default_rng(1)
    path = folder / "small.npz"
    np.savez(
        path,
        grades=rng.integers(0, 3, (3, 300)),
        mine=rng.normal(size=(3, 300)),
        random=rng.normal(size=(3, 300)),
    )
    return path


def test_figures_of_ones_own_data_in_every_format(say: Say, tmp_path: Path) -> None:
    folder = tmp_path / "out"

    said = say(
        "theory",
        "figures",
        "--output",
        str(folder),
        "--rankers",
        str(small(tmp_path)),
        "--format",
        "svg,json",
        "--format",
        "html",
    )

    assert said.code == 0, said.err
    assert said.out.split() == [
        str(folder / name)
        for name in (*(f"figure-{n}.{e}" for e in ("svg", "json") for n in "1234"), "figures.html")
    ]
    assert {path.name for path in folder.iterdir()} == {
        Path(line).name for line in said.out.split()
    }
    text = (folder / "figure-2.svg").read_text(encoding="utf-8")
    assert "mean NDCG over 3 queries" in text
    assert "read from small.npz" in text


def test_one_figure_from_the_first_documents(say: Say, tmp_path: Path) -> None:
    arguments = (
        "--rankers",
        str(small(tmp_path)),
        "--format",
        "json",
        "--number",
        "3",
        "--length",
        "20",
    )

    said = say("theory", "figures", "--output", str(tmp_path), *arguments)

    assert said.out.split() == [str(tmp_path / "figure-3.json")]
    assert '"n": 20' in (tmp_path / "figure-3.json").read_text(encoding="utf-8")
    assert '"n": 21' not in (tmp_path / "figure-3.json").read_text(encoding="utf-8")


def test_without_the_extra_nothing_is_computed_and_the_error_says_what_to_install(
    say: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    arguments = (
        "theory",
        "figures",
        "--output",
        str(tmp_path / "out"),
        "--rankers",
        str(small(tmp_path)),
        "--number",
        "2",
    )

    refused = say(*arguments)

    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith(
        f"error: drawing SVG, PNG, PDF and HTML needs vl-convert-python; {install_command('plots')}"
    )
    assert not (tmp_path / "out").exists()
    assert say(*arguments, "--format", "json").code == 0


def lines_of(path: Path) -> list[np.ndarray]:
    """The corners of the lines of a drawing."""
    found = re.findall(r' d="(M[^"]*L[^"]*)"', path.read_text(encoding="utf-8"))
    corners = [np.array(re.findall(r"(-?[\d.]+),(-?[\d.]+)", line), np.float64) for line in found]
    return [line for line in corners if len(line) > 100]


def test_the_committed_figures_are_what_the_command_draws(say: Say, tmp_path: Path) -> None:
    # At few list lengths the values of every line are computed anew; the whole drawing takes
    # seconds (the test below).
    collection = paper_rankers()
    some = np.array([420, 480, 522])
    for number, measure in (
        (1, "nDCG"),
        (2, "nDCG(discount=zipf(0.5))"),
        (3, "nDCG(discount=geometric(2))"),
        (4, "nDCG@0.2n"),
    ):
        lines = lines_of(ROOT / "docs" / "figures" / f"figure-{number}.svg")[
            : len(collection.scores)
        ]
        grades = collection.rows(collection.grades)
        means = [
            growing_ndcg(
                grades, collection.rows(scores), measures=measure, sizes=growing_sizes(5000)[some]
            ).mean()[0]
            for scores in collection.scores.values()
        ]
        drawn = np.array([line[some - growing_sizes(5000).size, 1] for line in lines])
        # Heights are a straight line of values, whatever the axis.
        slope, start = np.polyfit(np.ravel(means), np.ravel(drawn), 1)
        assert slope < -250
        np.testing.assert_allclose(drawn, slope * np.array(means) + start, rtol=0, atol=0.02)


@pytest.mark.slow
def test_every_point_of_the_committed_figures_is_what_the_command_draws(
    say: Say, tmp_path: Path
) -> None:
    assert say("theory", "figures", "--output", str(tmp_path), "--format", "svg").code == 0

    for number in range(1, 5):
        committed, drawn = (
            lines_of(folder / f"figure-{number}.svg")
            for folder in (ROOT / "docs" / "figures", tmp_path)
        )
        assert len(committed) == len(drawn) == (6 if number == 1 else 3)
        for old, new in zip(committed, drawn, strict=True):
            np.testing.assert_allclose(new, old, rtol=0, atol=0.02)


@pytest.mark.parametrize("heading", ["", "s,ybar\n", "E,F\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_points_of_a_spreadsheet_may_have_a_heading_and_a_mark(
    heading: str, mark: str, say: Say, tmp_path: Path
) -> None:
    (tmp_path / "points.csv").write_text(f"{mark}{heading}0,0.1\n1,0.9\n", encoding="utf-8")
    typed, read = (
        say("theory", "limits", "--ybar", text, "--length", "10", cwd=tmp_path)
        for text in ("0:0.1,1:0.9", "points.csv")
    )
    assert (read.code, read.out.removeprefix("points.csv")) == (
        0,
        typed.out.removeprefix("0:0.1,1:0.9"),
    )
