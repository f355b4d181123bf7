"""The script on 500 and 1,000 queries: its simulated values are what it says, and the page has what
it prints.
"""

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from idealrank.stats import swap_rates
from tests.conftest import ROOT


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(ROOT / "experiments")
    yield importlib.import_module("stable_queries")
    sys.modules.pop("stable_queries", None)


@pytest.mark.parametrize(
    ("difference", "sd"), [(0.0, 0.05), (0.01, 0.05), (0.02, 0.2), (0.02, 0.4)]
)
def test_simulated_differences_have_the_mean_and_spread_that_were_asked_for(
    script, difference: float, sd: float
) -> None:
    """Of 400,000 draws, within 4 standard errors; and no value leaves [0, 1]."""
    values = script.differences(script.law_of(difference, sd), (400_000,), np.random.default_rng(1))
    assert abs(values.mean() - difference) < 4 * sd / values.size**0.5
    fourth = ((values - values.mean()) ** 4).mean()
    assert abs(values.var() - sd**2) < 4 * ((fourth - sd**4) / values.size) ** 0.5
    assert np.abs(values).max() <= 1


def test_what_no_values_between_0_and_1_have_is_refused(script) -> None:
    with pytest.raises(
        ValueError, match=r"mean difference of 0.3 with a standard deviation of 0.1"
    ):
        script.law_of(0.3, 0.1)


@pytest.mark.slow
def test_swaps_are_those_of_the_normal_law_and_of_swap_rates(script) -> None:
    """Three ways to one share: simulated pairs of sets, the normal law, random halves of one large
    table. Within 4 standard errors.
    """
    law, trials = script.law_of(0.01, 0.1), 2000
    share = script.swap_share(law, 100, trials, np.random.default_rng(2))
    normal = script.normal_swap(0.01, 0.1, 100)
    assert share == pytest.approx(normal, abs=4 * (normal / trials) ** 0.5)
    change = script.differences(law, (20_000,), np.random.default_rng(3))
    halves = swap_rates(
        np.stack([np.zeros(change.size), change], axis=1), size=100, trials=500, rng=4, threads=1
    )
    assert share == pytest.approx(halves.rate, abs=4 * (normal / trials + normal / 500) ** 0.5)


@pytest.mark.slow
def test_a_quick_run_prints_three_tables_and_the_page_has_the_exact_one(script, capsys) -> None:
    page = (ROOT / "docs" / "concepts" / "stable-queries.md").read_text(encoding="utf-8")
    assert script.printed(script.seen_lines(), "markdown") in page
    script.main(["--quick"])
    printed = capsys.readouterr().out
    assert printed.count("\n\n") == 6
    assert "standard error" in printed.lower()


@pytest.mark.slow
def test_the_page_has_what_simulation_gives(script) -> None:
    """Shares of the page against a shorter run with another seed, and the demo's differences to all
    digits. Within 4 standard errors.
    """
    page = (ROOT / "docs" / "concepts" / "stable-queries.md").read_text(encoding="utf-8")
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in page.splitlines()
        if line.startswith("| ")
    ]
    trials = 400
    for sd, difference in ((0.05, 0.005), (0.2, 0.01), (0.4, 0.02)):
        (row,) = [cells for cells in rows if cells[:2] == [f"{sd:.2f}", f"{difference}"]]
        for n, shown in zip((50, 500), row[2:], strict=False):
            share = script.swap_share(
                script.law_of(difference, sd), n, trials, np.random.default_rng(5)
            )
            assert float(shown.split()[0]) == pytest.approx(share, abs=4 * 0.5 / trials**0.5)
    values = script.demo_runs()
    (row,) = [cells for cells in rows if cells[0] == "fused 2:1, fused 1:1"]
    assert row[1] == f"{(values['fused 1:1'] - values['fused 2:1']).mean():+.4f}"


@pytest.mark.slow
def test_the_figures_of_the_chapter_show_the_demo(
    script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = importlib.import_module("difference_figures")
    monkeypatch.setitem(sys.modules, "difference_figures", figures)
    figures.main(["--out", str(tmp_path), "--format", "json"])
    specs = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in tmp_path.iterdir()}
    kinds = [row["kind"] for row in specs["differences"]["data"]["values"]]
    assert (kinds.count("better"), kinds.count("equal"), kinds.count("worse")) == (43, 4, 13)
    for panel, share in zip(specs["flips"]["hconcat"], (0.0, 0.2559), strict=True):
        rows = panel["layer"][0]["data"]["values"]
        assert sum(row["share"] for row in rows) == pytest.approx(1, abs=1e-3)
        # bins are coarse
        assert sum(row["share"] for row in rows if row["far"]) == pytest.approx(share, abs=0.05)
    verdicts = [row["verdict"] for row in specs["answers"]["data"]["values"]]
    assert verdicts == ["better", "better", "undecided", "equivalent"]
    for name in specs:
        committed = (ROOT / "docs" / "figures" / f"{name}.svg").read_text(encoding="utf-8")
        assert specs[name]["title"]["text"] in committed
