"""What `idealrank compare` calls two runs with one value on every query, and how many queries an
undecided difference takes.
"""

import json
import math
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import idealrank as ir
from idealrank.reports.views.comparison.columns import Shown
from idealrank.reports.views.comparison.pair_sentences import numbers_text
from tests.cli.terminal import Said

Say = Callable[..., Said]
PYDOCS = Path(__file__).parents[2] / "examples" / "pydocs"
NEEDED = re.compile(
    r"About ([\d,]+) queries like these, instead of \d+, would find a true difference of 0.05 "
    r"80% of the time\."
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Judgments of the demo, one of its runs, a copy, and two that exchange the first documents of
    every seventh or second query.
    """
    qrels, run = (
        (PYDOCS / "qrels.txt").read_text(encoding="utf-8"),
        (PYDOCS / "bm25.run").read_text(encoding="utf-8"),
    )
    near, far = (exchanged(run, every) for every in (7, 2))
    (tmp_path / "qrels.txt").write_text(qrels, encoding="utf-8")
    for name, text in (("old", run), ("copy", run), ("near", near), ("far", far)):
        (tmp_path / f"{name}.run").write_text(text, encoding="utf-8")
    return tmp_path


def exchanged(run: str, every: int) -> str:
    changed = []
    for line in run.splitlines():
        query, q0, document, rank, _, tag = line.split()
        place = {"1": 2, "2": 1}.get(rank, int(rank)) if int(query[1:]) % every == 0 else int(rank)
        changed.append(f"{query} {q0} {document} {place} {-place} {tag}")
    return "\n".join(changed) + "\n"


def compared(say: Say, folder: Path, *options: str) -> str:
    return say("compare", "qrels.txt", *options, cwd=folder).out


def test_a_copy_is_identical_in_every_value_and_not_undecided(say: Say, folder: Path) -> None:
    asked = ("old.run", "copy.run", "-m", "nDCG@10,P@5")
    text, markdown = (
        compared(say, folder, *asked, *shown) for shown in (("--more",), ("--format", "markdown"))
    )

    words = " ".join(text.split())
    assert words.startswith("copy and old are identical in every value: nDCG@10 ")
    assert "Verdicts by other measures: identical (P@5)." in words
    assert [
        line.split()[-1] for line in text.splitlines() if line.startswith(("nDCG@10 ", "P@5 "))
    ] == ["identical"] * 2
    assert "copy and old are identical in every value." in markdown
    assert markdown.count("| identical |") == 2
    assert "undecided" not in text + markdown
    assert "queries like these" not in words


def test_programs_read_the_verdict_of_before(say: Say, folder: Path) -> None:
    found = json.loads(
        compared(say, folder, "old.run", "copy.run", "-m", "nDCG@10", "--format", "json")
    )
    assert found["pairs"][0]["measures"]["nDCG@10"]["verdict"] == "undecided"


def test_values_equal_by_one_measure_alone_are_said_of_that_measure(say: Say, folder: Path) -> None:
    words = " ".join(compared(say, folder, "old.run", "near.run", "-m", "P@5,RR").split())
    assert words.startswith("near and old are identical in every value of P@5: P@5 ")


@pytest.mark.slow
def test_the_page_and_the_printed_comparison_call_a_copy_identical(folder: Path) -> None:
    runs = [
        ir.evaluate(folder / "qrels.txt", folder / f"{name}.run", "nDCG@10")
        for name in ("old", "copy")
    ]
    comparison = ir.compare(*runs)

    page = ir.report(comparison, evaluations=runs)

    assert "copy and old are identical in every value." in page
    assert ">undecided<" not in page
    assert "copy and old are identical: " in str(comparison)


def test_an_undecided_report_says_how_many_queries_find_the_effect_asked_about(
    say: Say, folder: Path
) -> None:
    asked = ("old.run", "far.run", "-m", "RR", "--effect", "0.05")
    text, markdown = (
        " ".join(compared(say, folder, *asked, "--format", one).split())
        for one in ("table", "markdown")
    )
    row = json.loads(compared(say, folder, *asked, "--format", "json"))["pairs"][0]["measures"][
        "RR"
    ]

    assert row["verdict"] == "undecided"
    said = [NEEDED.search(one) for one in (text, markdown)]
    assert all(said), (text, markdown)
    assert {
        row["queries_needed"] <= int(one[1].replace(",", "")) <= 1.2 * row["queries_needed"]
        for one in said
        if one
    } == {True}


def test_an_undecided_report_without_an_effect_plans_nothing(say: Say, folder: Path) -> None:
    words = " ".join(compared(say, folder, "old.run", "far.run", "-m", "RR").split())
    assert not NEEDED.search(words)
    assert "State the smallest difference worth finding (--effect, or effect= in Python)" in words


def test_several_pairs_say_it_of_each_undecided_pair(say: Say, folder: Path) -> None:
    words = " ".join(
        compared(
            say, folder, "old.run", "far.run", "copy.run", "-m", "AP", "--effect", "0.03"
        ).split()
    )
    said = (
        r"; about [\d,]+ queries like these, instead of \d+, would find a true difference of 0.03 "
        r"80% of the time"
    )
    assert len(re.findall(said, words)) == 2
    assert "copy and old are identical in every value: +0.0" in words


def test_an_equivalence_that_the_judgments_do_not_carry_is_what_the_sentences_speak_of(
    say: Say, folder: Path
) -> None:
    """Two runs with one mean, and one unjudged document each on every query."""
    ranked = [
        (query, "xu" if query % 2 else "yu", "yv" if query % 2 else "xv") for query in range(40)
    ]
    (folder / "few.txt").write_text(
        "".join(f"q{query} 0 x 1\nq{query} 0 y 0\n" for query, _, _ in ranked), encoding="utf-8"
    )
    for name, column in (("one", 1), ("two", 2)):
        lines = (
            f"q{row[0]} Q0 {document} 1 {-place} t\n"
            for row in ranked
            for place, document in enumerate(row[column])
        )
        (folder / f"{name}.run").write_text("".join(lines), encoding="utf-8")
    asked = ("compare", "few.txt", "one.run", "two.run", "-m", "P@2", "--margin", "0.2")

    row = json.loads(say(*asked, "--format", "json", cwd=folder).out)["pairs"][0]["measures"]["P@2"]
    said = " ".join(say(*asked, cwd=folder).out.split())
    a, b = (
        ir.evaluate(folder / "few.txt", folder / f"{name}.run", "P@2", keep_unjudged=True)
        for name in ("one", "two")
    )

    assert (row["verdict"], row["tipping"]["side"]) == ("too few judgments", None)
    assert (
        "Too few judgments to say whether two and one are equivalent, within 0.2 of each other"
        in said
    )
    assert "At the likely relevant share of the 80 unjudged documents within the cutoff" in said
    assert (
        "the runs would no longer be equivalent. Judge them, the highest ranks first, and "
        "compare again." in said
    )
    assert "is better than" not in said
    assert "documents that only" not in said
    assert re.search(r"p 0\.0\d+ of a difference of the margin or more", said)
    assert "too few judgments to say whether two and one are equivalent: " in str(
        ir.compare(a, b, margin=0.2)
    )


def test_p_stands_before_the_reason_for_a_missing_interval(say: Say, folder: Path) -> None:
    words = " ".join(
        compared(say, folder, "old.run", "near.run", "-m", "RR", "--test", "wilcoxon").split()
    )

    assert re.search(
        r"\(p [0-9.]+; no interval: the pseudo-median of the differences has none if a "
        r"difference is 0 or two are equal ",
        words,
    )


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ((0.092, math.inf), "(95% interval from +0.092 up, p 0.5)"),
        ((-math.inf, 0.5), "(95% interval from +0.500 down, p 0.5)"),
        ((-math.inf, math.inf), "(too few queries for a 95% interval, p 0.5)"),
    ],
)
def test_an_interval_with_an_open_end_is_told_with_its_other_end(
    ends: tuple[float, float], expected: str
) -> None:
    values = [
        ir.evaluate({"p": {"x": 1}, "q": {"x": 1}}, {"p": ranking, "q": ranking}, "RR")
        for ranking in (["y", "x"], ["x"])
    ]
    found = ir.compare(*values)
    row = replace(found["RR"], interval=ends)

    assert numbers_text(row, found.method, Shown(3, 3, 0.05)).endswith(expected)
    assert row.as_dict()["interval"] == [end if math.isfinite(end) else None for end in ends]
