"""Plots of a page: drawn from the page's own values, in its colours, for its measure and pair; the
pointer names queries and opens them.
"""

import csv
import io
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import idealrank as ir
from idealrank.analysis.comparison import intervals
from idealrank.pages.figures import specifications
from idealrank.pages.page.html import page_html
from idealrank.reports.subject import CutoffCurve, Subject
from tests.conftest import PYDOCS
from tests.web import browsing
from tests.web.browsing import (
    DESK,
    PHONE,
    Shared,
    Visits,
    address,
    closed,
    expect,
    shot,
    shows_query,
    sideways,
)

if TYPE_CHECKING:
    from playwright.sync_api import Page

QRELS, RUNS = (
    str(PYDOCS / "qrels.txt"),
    tuple(str(PYDOCS / f"{name}.run") for name in ("bm25", "minilm")),
)
ALL = ["means", "distribution", "scatter", "winloss", "cutoffs", "slices", "robust"]
CUTOFFS = (1, 5, 10, 100)


@cache
def subject() -> Subject:
    """The demo, with everything that plots draw."""
    evaluations = tuple(ir.evaluate(QRELS, run, ["nDCG@10", "RR"]) for run in RUNS)
    slices = ir.read_categories(str(PYDOCS / "categories.csv"))
    found = ir.compare(*evaluations, slices=slices, test="t")
    grown = [
        intervals(ir.evaluate(QRELS, run, [f"nDCG@{cutoff}" for cutoff in CUTOFFS])) for run in RUNS
    ]
    means = {
        name: tuple(one[f"nDCG@{cutoff}"] for cutoff in CUTOFFS)
        for name, one in zip(found.names, grown, strict=True)
    }
    return Subject(
        evaluations=evaluations,
        measures=evaluations[0].measures,
        means=found.means,
        comparison=found,
        categories=slices,
        curves=(CutoffCurve(measure="nDCG", cutoffs=CUTOFFS, means=means),),
        robustness=ir.robust(QRELS, *RUNS, "nDCG@10", variants=["cutoff", "gain"]),
        query_texts={"q09": "a text of a query"},
    )


@cache
def demo() -> str:
    return page_html(subject())


@cache
def many(n: int = 10_000) -> str:
    """Many queries, of which no two have the same values."""
    rng = np.random.default_rng(3)
    qrels = {
        f"q{place}": {f"d{rank}": int(grade) for rank, grade in enumerate(rng.integers(0, 4, 9))}
        for place in range(n)
    }
    lists = [
        {query: [f"d{place}" for place in rng.permutation(9)] for query in qrels} for _ in range(2)
    ]
    pair = tuple(
        ir.evaluate(qrels, ir.Run(run, name=name), ["nDCG"])
        for name, run in zip(("old", "new"), lists, strict=True)
    )
    return page_html(
        Subject(evaluations=pair, measures=pair[0].measures, comparison=ir.compare(*pair, test="t"))
    )


def drawn(page: "Page", count: int = len(ALL)) -> "Page":
    """The page, once all plots are there."""
    browsing.drawn(page)
    expect(page.locator("figure[data-plot] :is(svg, canvas)")).to_have_count(count)
    return page


def taken(page: "Page", plot: str, kind: str) -> Path:
    """A file that the menu gives, opened at a plot."""
    page.locator(f"#{plot} .take-along").click()
    page.wait_for_selector("#downloads[open]")
    assert (
        page.evaluate("document.activeElement.closest('li').dataset.heading")
        == page.locator(f"#{plot} h2").inner_text()
    )
    with page.expect_download() as file:
        page.locator("#downloads li:focus-within button", has_text=kind).click()
    page.keyboard.press("Escape")
    closed(page)
    return Path(file.value.path())


@pytest.mark.parametrize(
    ("scheme", "size"),
    [pytest.param("light", DESK, marks=pytest.mark.slow), ("dark", PHONE)],
    ids=["light, desk", "dark, phone"],
)
def test_every_plot_is_drawn_and_said_in_words(
    shared: Shared, scheme: str, size: tuple[int, int]
) -> None:
    page = drawn(shared.report(demo(), scheme=scheme, size=size))  # type: ignore[arg-type]
    shot(page, f"plots-{scheme}", full_page=True)

    figures = page.locator("figure[data-plot]")
    assert figures.evaluate_all("all => all.map(one => one.dataset.plot)") == ALL
    said = figures.evaluate_all("all => all.map(one => one.getAttribute('aria-label'))")
    expected = [
        one.spec(7.0)["description"]
        for one in specifications.figures(subject())
        if "RR" not in one.name
    ]
    order = dict(
        zip(
            ("means", "distribution", "scatter", "winloss", "slices", "cutoffs", "robust"),
            expected,
            strict=True,
        )
    )
    assert said == [order[plot] for plot in ALL]
    assert "minilm 0.708 [" in said[0]
    assert figures.evaluate_all("all => all.every(one => one.tabIndex === 0)")
    assert sideways(page) == 0


@pytest.mark.parametrize("measure", [pytest.param(0, marks=pytest.mark.slow), 1])
def test_the_page_draws_the_rows_that_files_draw(shared: Shared, measure: int) -> None:
    page = drawn(shared.report(demo()))
    page.locator("#choose select[name=measure]").select_option(str(measure))
    drawn(page)
    text = str(subject().measures[measure])

    for plot in ("distribution", "scatter", "winloss"):
        rows = list(
            csv.DictReader(
                io.StringIO(taken(page, plot, "CSV").read_text(encoding="utf-8"), newline="")
            )
        )
        figure = next(
            one
            for one in specifications.figures(subject())
            if one.name == f"{plot}-{text}-bm25-minilm"
        )
        names = {
            "which": "query",
            "a": "bm25",
            "b": "minilm",
            "share": "share of queries that reach it",
            "count": "queries",
        }
        for key in figure.rows[0].keys() & {
            "which",
            "a",
            "b",
            "difference",
            "value",
            "share",
            "run",
        }:
            column = names.get(key, key)
            found = [row[column] for row in rows]
            wanted = [row[key] for row in figure.rows]
            assert len(found) == len(wanted)
            if isinstance(wanted[0], str):
                assert found == wanted
            else:
                np.testing.assert_allclose([float(one) for one in found], wanted, atol=1.1e-6)


@pytest.mark.slow
def test_the_pointer_names_a_query_and_a_click_opens_it(shared: Shared) -> None:
    page = drawn(shared.report(demo()))
    a, b = (one["nDCG@10"] for one in subject().evaluations)
    worst = int(np.argmin(b - a))
    bars = page.locator("#winloss svg .mark-rect path")

    bars.last.hover()
    tip = page.locator("#plot-tip")
    tip.wait_for(state="visible")
    assert subject().queries[worst] in tip.inner_text()
    assert f"{b[worst]:.4f}" in tip.inner_text()
    bars.last.click()

    shows_query(page)
    assert f"query={subject().queries[worst]}" in address(page)


@pytest.mark.slow
def test_another_measure_draws_anew_and_another_theme_does_not(shared: Shared) -> None:
    page = drawn(shared.report(demo()))
    assert "nDCG@10" in str(page.locator("#plot-winloss").get_attribute("aria-label"))

    page.locator("#choose select[name=measure]").select_option("1")
    page.wait_for_selector("#plot-winloss[aria-label*=RR]")
    drawn(page)

    bar = "getComputedStyle(document.querySelector('#winloss svg .mark-rect path')).fill"
    light = page.evaluate(bar)
    page.evaluate("document.querySelector('#winloss svg').dataset.same = 'yes'")
    page.locator("#theme").click()
    expect(page.locator("#theme")).to_have_text("Theme: dark")
    assert page.evaluate(bar) != light
    drawn(page)
    assert page.locator("#winloss svg[data-same]").count() == 1


@pytest.mark.slow
def test_paper_takes_the_colours_of_paper(shared: Shared) -> None:
    page = drawn(shared.report(demo(), scheme="dark"))
    label = "getComputedStyle(document.querySelector('#means svg .mark-text text')).fill"
    dark = page.evaluate(label)

    page.emulate_media(media="print", color_scheme="dark")

    assert page.evaluate(label) != dark
    # ink or quiet, as dark as print needs
    assert page.evaluate(label) in {"rgb(0, 0, 0)", "rgb(68, 76, 82)"}
    assert not page.locator(".take-along").first.is_visible()


@pytest.mark.slow
def test_files_of_a_plot_stand_for_themselves(shared: Shared) -> None:
    page = drawn(shared.report(demo(), scheme="dark"))

    drawing = taken(page, "winloss", "SVG").read_text(encoding="utf-8")
    picture = taken(page, "winloss", "PNG").read_bytes()

    assert drawing.startswith("<svg")
    assert "var(" not in drawing
    assert "minilm better on 43" in drawing
    assert picture.startswith(b"\x89PNG")
    assert int.from_bytes(picture[16:20], "big") == 2 * 813


@pytest.mark.slow
def test_a_table_follows_what_is_drawn(shared: Shared) -> None:
    page = drawn(shared.report(demo()))
    page.locator("#slices summary").click()
    row = page.locator("#slices tbody tr").first
    assert "literal" in row.inner_text()

    page.locator("#choose select[name=measure]").select_option("1")

    page.wait_for_selector("#plot-slices[aria-label*=RR]")
    drawn(page)
    wanted = subject().comparison.pairs[0].measures["RR"]  # type: ignore[union-attr]
    assert row.inner_text().split()[:4] == ["all", "queries", "60", f"{wanted.difference:.4f}"]
    page.locator("#winloss summary").click()
    expect(page.locator("#winloss tbody tr")).to_have_count(60)


@pytest.mark.slow
def test_ten_thousand_points_are_drawn_on_a_canvas_and_named(visit: Visits) -> None:
    page = drawn(visit(many()), 3)

    canvas = page.locator("#scatter canvas")
    assert canvas.count() == 1
    assert page.locator("#winloss svg .mark-rect path").count() == 400
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    assert box
    for step in range(30):  # down the diagonal from the best, where points are dense
        page.mouse.move(
            box["x"] + box["width"] * (0.95 - 0.01 * step),
            box["y"] + box["height"] * (0.1 + 0.01 * step),
        )
        # movements come with a frame
        page.evaluate(
            "new Promise(told => requestAnimationFrame(() => requestAnimationFrame(told)))"
        )
        if page.locator("#plot-tip").is_visible():
            break
    assert re.match(r"query q\d+", page.locator("#plot-tip").inner_text())
