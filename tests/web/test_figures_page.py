"""The page of figures (`theory figures --format html`, `compare --figure map.html`), opened as a
reader opens it.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from idealrank.pages.figures import drawings
from idealrank.theory.views.figures import FIGURES, SimulatedMeans, figure_spec
from tests.conftest import PYDOCS
from tests.in_process import run
from tests.web.browsing import PHONE, Visits, axe, expect, pointed, sideways

if TYPE_CHECKING:
    from playwright.sync_api import Page

HOSTILE = "</script><img src=x onerror=alert(1)> \"'"


def figures(name: str = "ListNet") -> str:
    sizes = np.arange(1, 61)
    shown = SimulatedMeans(
        sizes=sizes,
        means={name: 0.9 - 0.5 / (sizes + 1), "random": 0.6 - 0.5 / (sizes + 1)},
        queries=40,
        source="Data: made by a test.",
    )
    return drawings.page(
        {f"figure-{n}": figure_spec(FIGURES[n], shown, interactive=True) for n in (1, 2)},
        f"Lists of {name}",
    )


def drawn(page: "Page", count: int = 2) -> "Page":
    """The page, once all its figures are drawn and have their menus."""
    expect(page.locator("figure summary[aria-label]")).to_have_count(count)
    return page


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pairs") / "pairs.html"
    files = [str(PYDOCS / name) for name in ("qrels.txt", "bm25.run", "minilm.run")]
    code, _, said = run(["compare", *files, "-m", "nDCG@10", "-m", "RR", "--figure", str(path)])
    assert code == 0, said
    return path


@pytest.mark.slow
def test_a_map_of_pairs_is_drawn_offline_and_for_everybody(visit: Visits, pairs: Path) -> None:
    page = drawn(visit(pairs, size=PHONE))

    assert page.locator("svg.marks").count() == 2
    drawing = page.locator("#pairs-1 [role=graphics-document]")
    assert str(drawing.get_attribute("aria-label")).startswith("All pairs of 2 runs by nDCG@10")
    assert axe(page) == ""
    assert sideways(page) == 0


@pytest.mark.slow
def test_hovering_says_which_values_are_under_the_pointer(visit: Visits) -> None:
    page = drawn(visit(figures()))

    tooltip = pointed(
        page, page.locator("#figure-2 svg.marks"), page.locator("#vg-tooltip-element.visible")
    )

    assert "ListNet" in tooltip.inner_text()
    assert "random" in tooltip.inner_text()


@pytest.mark.slow
def test_a_figure_is_saved_from_its_menu_by_keyboard(visit: Visits) -> None:
    page = drawn(visit(figures()))

    page.get_by_label("Save the figure").first.press("Enter")
    with page.expect_download() as saved:
        page.get_by_text("Save as SVG").first.click()

    text = saved.value.path().read_text(encoding="utf-8")
    assert "ListNet" in text
    assert text.startswith("<svg")


@pytest.mark.parametrize("scheme", [pytest.param("light", marks=pytest.mark.slow), "dark"])
def test_names_of_others_are_text_on_the_page(visit: Visits, scheme: str) -> None:
    page = drawn(visit(figures(HOSTILE), scheme=scheme))

    assert page.title() == f"Lists of {HOSTILE}"
    assert page.locator("img").count() == 0
    assert axe(page) == ""
