"""Figures of a report: what stands in the drawing is what the values say, counted and placed anew
here.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import vl_convert

import idealrank as ir
from idealrank.analysis.comparison import intervals
from idealrank.cli.figure_files import PLOTS, ChosenFigures, write_figures
from idealrank.errors import OptionError
from idealrank.pages import notebook
from idealrank.pages.figures import drawings, query_values, specifications, value_shares
from idealrank.pages.figures.theme import DARK, LIGHT, POINTS_PER_PIXEL
from idealrank.reports.subject import CutoffCurve, Subject
from idealrank.reports.table.short_names import TITLE, told_apart

CUTOFFS = (1, 3, 10)


def collection(
    n: int = 40, seed: int = 5
) -> tuple[dict[str, dict[str, int]], list[dict[str, list[str]]]]:
    """Judgments, and two runs that order the same documents by chance."""
    rng = np.random.default_rng(seed)
    documents = [f"d{place}" for place in range(12)]
    qrels = {
        f"q{query:02d}": {name: int(rng.integers(0, 4)) for name in documents} for query in range(n)
    }
    runs = [
        {query: [documents[place] for place in rng.permutation(12)] for query in qrels}
        for _ in range(2)
    ]
    return qrels, runs


@pytest.fixture(scope="module")
def subject() -> Subject:
    qrels, runs = collection()
    named = [ir.Run(run, name=name) for name, run in zip(("old", "new"), runs, strict=True)]
    evaluations = tuple(ir.evaluate(qrels, run, ["nDCG@10", "RR"]) for run in named)
    found = ir.compare(
        *evaluations,
        slices={query: "even" if int(query[1:]) % 2 == 0 else "odd" for query in qrels},
    )
    grown = [
        intervals(ir.evaluate(qrels, run, [f"nDCG@{cutoff}" for cutoff in CUTOFFS]))
        for run in named
    ]
    means = {
        run.name: tuple(one[f"nDCG@{cutoff}"] for cutoff in CUTOFFS)
        for run, one in zip(named, grown, strict=True)
    }
    return Subject(
        evaluations=evaluations,
        measures=evaluations[0].measures,
        means=found.means,
        comparison=found,
        curves=(CutoffCurve(measure="nDCG", cutoffs=CUTOFFS, means=means),),
        robustness=ir.robust(qrels, *named, "nDCG@10", variants=["cutoff", "gain", "ties"]),
    )


def figure(subject: Subject, name: str) -> specifications.Figure:
    return next(one for one in specifications.figures(subject) if one.name == name)


def marks(spec: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """What is drawn with one kind of mark: items of the scene, in pixels of the panel."""
    found: list[dict[str, Any]] = []

    def walk(part: dict[str, Any]) -> None:
        if part.get("marktype") == kind and part.get("role") == "mark":
            found.extend(part["items"])
        for item in part.get("items", []):
            walk(item)

    walk(vl_convert.vegalite_to_scenegraph(spec)["scenegraph"])
    return found


def test_each_plot_of_a_comparison_has_a_figure_that_compiles_and_says_what_it_shows(
    subject: Subject,
) -> None:
    found = list(specifications.figures(subject))

    assert [one.name for one in found] == [
        *(
            f"{plot}-{measure}{pair}"
            for measure in ("nDCG@10", "RR")
            for plot, pair in (
                ("means", ""),
                ("distribution", "-old-new"),
                ("scatter", "-old-new"),
                ("winloss", "-old-new"),
                ("slices", "-old-new"),
            )
        ),
        "cutoffs-nDCG",
        "robust-nDCG@10-old-new",
    ]
    for one in found:
        for colours in (LIGHT, DARK):
            spec = one.spec(3.33, colours)
            # every word is filled in
            assert not re.search(r"@[a-z]+\b", json.dumps(spec | {"datasets": {}})), one.name
            assert vl_convert.vegalite_to_vega(spec)["marks"]
        assert len(spec["description"]) > 40
        assert spec["config"]["background"] == DARK["paper"]


def test_points_of_the_scatter_stand_at_the_values_of_their_queries(subject: Subject) -> None:
    spec = figure(subject, "scatter-nDCG@10-old-new").spec(3.33)
    a, b = (evaluation["nDCG@10"] for evaluation in subject.evaluations)

    points = marks(spec, "symbol")

    side = spec["width"]
    assert spec["height"] == side
    expected = sorted(
        (10 + x * (side - 20), side - 10 - y * (side - 20)) for x, y in zip(a, b, strict=True)
    )
    np.testing.assert_allclose(sorted((one["x"], one["y"]) for one in points), expected, atol=0.01)


def test_equal_points_are_one_point_whose_area_is_their_number() -> None:
    a, b = np.repeat([0.0, 1.0, 0.5], [6, 3, 1]), np.repeat([1.0, 1.0, 0.25], [6, 3, 1])
    queries = [f"q{place}" for place in range(10)]

    rows = query_values.scatter_rows(a, b, np.ones(10, bool), queries)
    words = query_values.pair_words(
        a, b, np.ones(10, bool), ("x", "y"), bounds=(0, 1)
    ) | query_values.size_words(rows)
    spec = specifications.Figure(
        name="s",
        plot="scatter",
        template=query_values.scatter_template(),
        rows=rows,
        words=words | {"measure": "RR"},
    )

    assert [(row["which"], row["side"]) for row in rows] == [
        ("q0 and 5 more", "better"),
        ("q6 and 2 more", "equal"),
        ("q9", "worse"),
    ]
    sizes = sorted(one["size"] for one in marks(spec.spec(3.33), "symbol"))
    np.testing.assert_allclose(np.array(sizes) / sizes[0], [1, 3, 6])


def test_the_area_below_a_line_of_shares_is_the_mean() -> None:
    values = np.random.default_rng(1).choice([0.0, 0.2, 0.25, 1 / 3, 0.5, 0.9, 1.0], 77)

    rows = value_shares.distribution_rows(
        [value_shares.CountedValues(name="run", role="b", values=values)]
    )

    at, shares = np.array([[row["value"], row["share"]] for row in rows]).T
    assert shares[0] == 1.0
    # the line steps before its corners
    assert np.sum(np.diff(at) * shares[1:]) == pytest.approx(values.mean(), abs=1e-5)
    assert [row["share"] for row in rows] == pytest.approx(
        [np.mean(values >= value - 1e-5) for value in at], abs=1e-6
    )


def test_bars_are_sorted_and_counted(subject: Subject) -> None:
    a, b = (evaluation["RR"] for evaluation in subject.evaluations)
    shown = figure(subject, "winloss-RR-old-new")

    assert [row["difference"] for row in shown.rows] == pytest.approx(
        sorted(b - a, reverse=True), abs=1e-6
    )
    drawn = drawings.svg(shown.spec(7.0))
    assert f">new better on {int((b > a).sum())}<" in drawn
    assert f">new worse on {int((b < a).sum())}, equal on {int((b == a).sum())}<" in drawn
    mean = f"{(b - a).mean():+.4f}".replace("-", "\u2212")
    assert f">mean {mean}<" in drawn


def test_ten_thousand_bars_become_four_hundred_that_name_the_extremes() -> None:
    rng = np.random.default_rng(7)
    a, b = rng.random(10_000), rng.random(10_000)
    queries = [f"q{place}" for place in range(10_000)]

    rows = query_values.winloss_rows(a, b, np.ones(10_000, bool), queries)

    assert len(rows) == 400
    assert (rows[0]["query"], rows[-1]["query"]) == (
        queries[int(np.argmax(b - a))],
        queries[int(np.argmin(b - a))],
    )
    assert (rows[0]["difference"], rows[-1]["difference"]) == pytest.approx(
        ((b - a).max(), (b - a).min()), abs=1e-6
    )
    assert sum(row["count"] for row in rows) == rows[-1]["last"] == 10_000


def test_where_lower_is_better_the_sides_change_places() -> None:
    words = query_values.pair_words(
        np.zeros(3),
        np.array([1.0, 1.0, -1.0]),
        np.ones(3, bool),
        ("x", "y"),
        direction=-1,
        bounds=(-1, 1),
    )

    assert (words["upper"], words["uppercolour"]) == ("y worse on 2", "worse")
    assert (words["lower"], words["lowercolour"]) == ("y better on 1", "accent")
    assert (words["wins"], words["losses"]) == ("1", "2")


@pytest.mark.parametrize("n", [1, 3], ids=["no interval", "one of no width"])
def test_an_axis_has_right_numbers_where_there_is_nothing_between_its_ends(n: int) -> None:
    qrels, ranked = {f"q{i}": {"x": 1} for i in range(n)}, {f"q{i}": ["y", "x"] for i in range(n)}
    both = tuple(ir.evaluate(qrels, ir.Run(ranked, name=name), "RR") for name in ("a", "b"))
    shown = Subject(evaluations=both, measures=both[0].measures, means=ir.compare(*both).means)
    drawn = drawings.svg(figure(shown, "means-RR").spec(7.0))

    ticks = sorted({float(text) for text in re.findall(r">(0\.\d+|\d)</text>", drawn)})

    assert ticks[0] < 0.5 < ticks[-1]
    assert len(ticks) > 3
    low, high = figure(shown, "winloss-RR-a-b").words["spread"]
    assert high - low > 0.1


def test_queries_that_do_not_count_in_both_runs_are_left_out() -> None:
    a, b, scored = (
        np.array([0.5, np.nan, 1.0]),
        np.array([1.0, 1.0, 0.0]),
        np.array([True, True, False]),
    )

    assert [row["query"] for row in query_values.scatter_rows(a, b, scored, ["p", "q", "r"])] == [
        "p"
    ]
    assert [row["query"] for row in query_values.winloss_rows(a, b, scored, ["p", "q", "r"])] == [
        "p"
    ]


def test_intervals_on_slices_stand_where_the_axis_says(subject: Subject) -> None:
    found = subject.comparison.pairs[0].measures["nDCG@10"] if subject.comparison else None
    assert found
    assert found.slices
    spec = figure(subject, "slices-nDCG@10-old-new").spec(7.0)

    lines = [
        (one["x"], one["x2"])
        for one in marks(spec, "rule")
        if "x2" in one and one.get("strokeWidth") == 1.8
    ]
    centres = [one["x"] for one in marks(spec, "symbol")]

    ends = [found.interval, *(row.interval for row in found.slices)]
    means = [found.difference, *(row.difference for row in found.slices)]
    scale = np.polyfit(means, centres, 1)  # one scale for all marks
    np.testing.assert_allclose(np.polyval(scale, means), centres, atol=0.05)
    np.testing.assert_allclose(
        np.polyval(scale, np.array(ends)), [sorted(line) for line in lines], atol=0.05
    )


def test_each_variant_that_changes_the_numbers_has_a_mark(subject: Subject) -> None:
    assert subject.robustness
    shown = figure(subject, "robust-nDCG@10-old-new")

    drawn = marks(shown.spec(7.0), "symbol")

    assert len(drawn) == 1 + len(subject.robustness.changing) + len(subject.robustness.pairs)
    labels = [row["label"] for row in shown.rows]
    assert labels[0] == "as asked: nDCG@10"
    assert all(
        one.change.removeprefix(f"{one.group}=") in labels for one in subject.robustness.changing
    )


def test_texts_of_users_stay_texts() -> None:
    qrels, runs = collection(6)
    evil = '@a</svg>@measure"\\" + datum.x'
    pair = tuple(
        ir.evaluate(qrels, ir.Run(run, name=name), ["RR"])
        for name, run in zip((evil, "@b"), runs, strict=True)
    )

    made = {
        one.plot: one
        for one in specifications.figures(Subject(evaluations=pair, measures=pair[0].measures))
    }

    assert {
        name: drawings.svg(one.spec(3.33)).count("</svg>") for name, one in made.items()
    } == dict.fromkeys(made, 1)
    assert (
        made["scatter"].spec(3.33)["layer"][1]["encoding"]["x"]["title"]
        == f"{told_apart([evil, '-'], TITLE)[0]}, RR"
    )
    assert made["scatter"].name == "scatter-RR-@a-svg-@measure-+-datum.x-@b"


def test_files_have_the_size_of_columns_and_fonts_of_their_own(
    subject: Subject, tmp_path: Path
) -> None:
    small = Subject(evaluations=subject.evaluations[:1], measures=subject.measures[1:])

    written = write_figures(small, tmp_path / "figures")

    assert [path.name for path in written] == [
        *(
            f"distribution-RR-old{wide}.{kind}"
            for wide in ("", "-wide")
            for kind in ("svg", "png", "pdf")
        ),
        "figures.md",
    ]
    for suffix, inches in (("", 3.33), ("-wide", 7.0)):
        stem = tmp_path / "figures" / f"distribution-RR-old{suffix}"
        wide = re.search(
            r'width="([\d.]+)in"', stem.with_suffix(".svg").read_text(encoding="utf-8")
        )
        assert wide
        assert float(wide[1]) == pytest.approx(inches, abs=0.005)
        picture = stem.with_suffix(".png").read_bytes()
        assert int.from_bytes(picture[16:20], "big") == pytest.approx(300 * inches, abs=2)
        paper = stem.with_suffix(".pdf").read_bytes()
        box = re.search(rb"/MediaBox \[0 0 ([\d.]+)", paper)
        assert box
        assert float(box[1]) == pytest.approx(72 * inches, abs=0.5)
        assert b"LiberationSans" in paper
        assert b"/FontFile2" in paper
    assert (
        "Number of queries that reach each value of RR; half of them reach 1.0000 by old. 40 "
        "queries." in written[-1].read_text(encoding="utf-8")
    )


def test_text_in_print_has_seven_to_nine_points(subject: Subject) -> None:
    for one in specifications.figures(subject):
        sizes = {
            float(size)
            for size in re.findall(r'font-size="([\d.]+)px"', drawings.svg(one.spec(3.33)))
        }
        assert 7 <= min(sizes) * POINTS_PER_PIXEL <= max(sizes) * POINTS_PER_PIXEL <= 9


def test_of_more_runs_all_pairs_have_a_map_and_the_leading_pair_its_figures() -> None:
    qrels, runs = collection(12)
    four = [
        ir.Run(run, name=f"r{place}")
        for place, run in enumerate([*runs, *collection(12, seed=6)[1]])
    ]
    evaluations = tuple(ir.evaluate(qrels, run, ["RR"]) for run in four)
    found = ir.compare(*evaluations, test="t")

    made = list(
        specifications.figures(
            Subject(
                evaluations=evaluations,
                measures=evaluations[0].measures,
                means=found.means,
                comparison=found,
            )
        )
    )

    assert [one.name for one in made] == [
        "means-RR",
        "distribution-RR-r3-r0",
        "scatter-RR-r3-r0",
        "winloss-RR-r3-r0",
        "pairs-RR",
    ]
    assert len(marks(made[-1].spec(3.33), "rect")) == 12
    best = [row["run"] for row in made[0].rows]
    assert best == sorted(best, key=lambda run: -found.means["RR"][run].mean)


def test_notebooks_have_small_drawings_that_take_the_colour_of_their_text(
    subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert subject.comparison
    assert subject.robustness
    found = [
        notebook.evaluation_drawings(subject.evaluations[0]),
        notebook.comparison_drawings(subject.comparison),
        notebook.robustness_drawings(subject.robustness),
    ]

    assert [text.count("<svg ") for text in found] == [1, 2, 1]
    for text in found:
        assert "currentColor" in text
        assert 'role="img" aria-label=' in text
        assert len(text) < 40_000
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    assert notebook.comparison_drawings(subject.comparison) == ""


def test_only_the_chosen_plots_formats_and_widths_are_written(
    subject: Subject, tmp_path: Path
) -> None:
    written = write_figures(subject, tmp_path, ChosenFigures.of("scatter,pdf,wide"))

    *drawn, listed = [path.name for path in written]
    assert drawn
    assert all(re.fullmatch(r"scatter-.+-wide\.pdf", name) for name in drawn)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*drawn, listed])
    text = (tmp_path / "figures.md").read_text()
    assert "Each as PDF; `-wide` for two columns." in text
    assert text.count("\n## ") == len(drawn)


def test_every_plot_of_a_subject_can_be_chosen(subject: Subject) -> None:
    assert {figure.plot for figure in specifications.figures(subject)} <= set(PLOTS)


def test_words_and_plots_that_are_not_there_are_refused(subject: Subject, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="found 'scater', expected some of the plots means, "):
        ChosenFigures.of("scater")
    small = Subject(evaluations=subject.evaluations[:1], measures=subject.measures[1:])
    with pytest.raises(OptionError, match="--only scatter: found none of these plots"):
        write_figures(small, tmp_path, ChosenFigures.of("scatter"))
