"""The page of figures (`theory figures --format html`, `compare --figure map.html`), opened as a reader opens it."""

from pathlib import Path

import numpy as np
import pytest

from idealrank.reports.figures import drawings
from idealrank.reports.figures.theory import FIGURES, SimulatedMeans, figure_spec
from tests.conftest import PYDOCS
from tests.in_process import run
from tests.web.browsing import PHONE, Visits, axe, sideways

HOSTILE = "</script><img src=x onerror=alert(1)> \"'"


def figures(name: str = "ListNet") -> str:
    sizes = np.arange(1, 61)
    shown = SimulatedMeans(sizes, {name: 0.9 - 0.5 / (sizes + 1), "random": 0.6 - 0.5 / (sizes + 1)}, 40, "Data: made by a test.")
    return drawings.page({f"figure-{n}": figure_spec(FIGURES[n], shown, interactive=True) for n in (1, 2)}, f"Lists of {name}")


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pairs") / "pairs.html"
    files = [str(PYDOCS / name) for name in ("qrels.txt", "bm25.run", "minilm.run")]
    code, _, said = run(["compare", *files, "-m", "nDCG@10", "-m", "RR", "--figure", str(path)])
    assert code == 0, said
    return path


def test_a_map_of_pairs_is_drawn_offline_and_for_everybody(visit: Visits, pairs: Path) -> None:
    page = visit(pairs, size=PHONE)
    page.wait_for_selector("#pairs-2 svg.marks")

    assert page.locator("svg.marks").count() == 2
    drawing = page.locator("#pairs-1 [role=graphics-document]")
    assert str(drawing.get_attribute("aria-label")).startswith("All pairs of 2 runs by nDCG@10")
    assert axe(page) == ""
    assert sideways(page) == 0


def test_hovering_says_which_values_are_under_the_pointer(visit: Visits) -> None:
    page = visit(figures())
    page.wait_for_selector("#figure-2 svg.marks")
    box = page.locator("#figure-2 svg.marks").bounding_box()
    assert box

    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    tooltip = page.locator("#vg-tooltip-element.visible")
    tooltip.wait_for()
    assert "ListNet" in tooltip.inner_text()
    assert "random" in tooltip.inner_text()


def test_a_figure_is_saved_from_its_menu_by_keyboard(visit: Visits) -> None:
    page = visit(figures())
    page.wait_for_selector("#figure-2 svg.marks")

    page.get_by_label("Save the figure").first.press("Enter")
    with page.expect_download() as saved:
        page.get_by_text("Save as SVG").first.click()

    text = saved.value.path().read_text(encoding="utf-8")
    assert "ListNet" in text
    assert text.startswith("<svg")


@pytest.mark.parametrize("scheme", [pytest.param("light", marks=pytest.mark.slow), "dark"])
def test_names_of_others_are_text_on_the_page(visit: Visits, scheme: str) -> None:
    page = visit(figures(HOSTILE), scheme=scheme)
    page.wait_for_selector("#figure-2 svg.marks")

    assert page.title() == f"Lists of {HOSTILE}"
    assert page.locator("img").count() == 0
    assert axe(page) == ""
