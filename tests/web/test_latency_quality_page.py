"""The page of `search --report` in a browser: names that do not cover each other, and nothing that
axe-core finds.
"""

import itertools
from typing import TYPE_CHECKING, Any

import pytest

from idealrank.live.views.latency_quality import latency_quality_page
from tests.web.browsing import PHONE, Visits, axe

if TYPE_CHECKING:
    from playwright.sync_api import Page


def system(name: str, mean: float, p95: float | None) -> dict[str, Any]:
    measures = {"nDCG@10": {"mean": mean, "low": mean - 0.05, "high": mean + 0.05}}
    latency = {"p50": p95 and p95 / 2, "p95": p95, "p99": p95}
    return {
        "name": name,
        "queries": 50,
        "failed": {"q1": "refused"},
        "empty": 0,
        "latency": latency,
        "measures": measures,
    }


# A sweep, whose settings differ by less than the width of their names; equal points; and names that
# need escapes or much room.
SWEEP = [
    system(f"hnsw ef={ef}", 0.47 + ef / 6400, 0.020 + ef / 50_000)
    for ef in (8, 16, 24, 32, 48, 64, 96, 128)
]
SYSTEMS = [
    *SWEEP,
    system("flat", 0.5, 0.045),
    system("flat again", 0.5, 0.045),
    system("<b>bold</b>", 0.499, 0.0449),
    system("a name that is much longer than there is room for ef_search=200", 0.495, 0.044),
    system("検索エンジン", 0.46, 0.021),
    system("no answer", 0.2, None),
]


def boxes(page: "Page", selector: str) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = page.evaluate(
        """selector => Object.fromEntries([...document.querySelectorAll(selector)].map((one, place) => {
          const { left, top, right, bottom } = one.getBoundingClientRect();
          return [`${place} ${one.textContent}`, { left, top, right, bottom }];
        }))""",  # noqa: E501
        selector,
    )
    return found


def meet(a: dict[str, float], b: dict[str, float]) -> bool:
    return (
        a["left"] < b["right"]
        and b["left"] < a["right"]
        and a["top"] < b["bottom"]
        and b["top"] < a["bottom"]
    )


@pytest.mark.parametrize("systems", [SYSTEMS, SWEEP, SYSTEMS[:1]], ids=["many", "sweep", "one"])
def test_no_name_covers_another_name_or_a_point(
    visit: Visits, systems: list[dict[str, Any]]
) -> None:
    page = visit(latency_quality_page(systems))
    names, points = boxes(page, "svg text.name"), boxes(page, "svg circle")
    assert len(names) == len(points) == sum(one["latency"]["p95"] is not None for one in systems)
    assert [(a, b) for a, b in itertools.combinations(names, 2) if meet(names[a], names[b])] == []
    assert [
        name for name, box in names.items() if any(meet(box, point) for point in points.values())
    ] == []
    (drawing,) = boxes(page, "svg").values()
    assert all(
        drawing["left"] <= box["left"] and box["right"] <= drawing["right"]
        for box in names.values()
    )


@pytest.mark.spread(2)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1280, 900), PHONE], ids=["desk", "phone"])
def test_axe_finds_nothing(visit: Visits, scheme: Any, size: tuple[int, int]) -> None:
    page = visit(latency_quality_page(SYSTEMS), scheme=scheme, size=size)
    assert axe(page) == ""
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
