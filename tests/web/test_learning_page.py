"""The learning curves of `idealrank train`, opened as a reader opens them."""

import re
from pathlib import Path

import pytest

from idealrank.training.views.learning import learning_page
from tests.web.browsing import PHONE, Visits, axe, sideways

HOSTILE = "nDCG(gain={0:0,1:1})@10 </svg><img src=x onerror=alert(1)>"
CURVES = {
    "train": {"RR": [0.4, 0.7, 0.9], HOSTILE: [0.1, 0.2, 0.3]},
    "valid": {"RR": [0.4, 0.6, 0.5], HOSTILE: [0.2, 0.2, 0.2]},
}


def test_every_measure_has_a_curve_for_each_part_and_the_round_kept() -> None:
    page = learning_page(CURVES, 2)
    assert page.count("<svg") == page.count("<h2>") == 2
    assert page.count("<polyline") == 4
    assert "The model keeps round 2." in page
    assert "train 0.7000 at round 2; valid 0.6000 at round 2" in page
    heights = {
        part: [float(at.split(",")[1]) for at in points.split()]
        for part, points in re.findall(r'"(\w+)" [^>]*points="([^"]+)"', page)
    }
    assert all(len(found) == 3 for found in heights.values())
    assert "<img" not in page


@pytest.mark.slow
def test_the_page_opens_without_a_network_on_a_phone(visit: Visits, tmp_path: Path) -> None:
    path = tmp_path / "curve.html"
    path.write_text(learning_page(CURVES, 2), encoding="utf-8")
    page = visit(path, size=PHONE)
    assert page.locator("svg").count() == 2
    assert page.locator("polyline").count() == 4
    assert page.locator("img").count() == 0
    assert axe(page) == ""
    assert sideways(page) == 0
