"""Drawings: specifications that render, pages that need nothing from outside, files that are
whole.
"""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
import vl_convert

from idealrank.errors import InputError, MissingExtraError, OptionError, install_command
from idealrank.pages.figures import drawings
from idealrank.theory.views.figures import (
    FIGURES,
    Simulated,
    SimulatedMeans,
    figure_spec,
    simulated_spec,
)

DOT = {"mark": "point", "data": {"values": [{}]}}
NAMES = ("RankSVM", "ListNet", "random")


def curves(names: tuple[str, ...] = NAMES, n: int = 60) -> SimulatedMeans:
    sizes = np.arange(1, n + 1)
    means = {name: 0.9 - 0.001 * place - 0.5 / (sizes + 1) for place, name in enumerate(names)}
    means[names[0]][0] = np.nan
    return SimulatedMeans(sizes=sizes, means=means, queries=40, source="Data: made by a test.")


def points_of(svg: str) -> list[list[tuple[float, float]]]:
    """The corners of each line of a drawing."""
    lines = re.findall(
        r'aria-roledescription="line mark"[^>]*? '
        r'd="([^"]*)"|<path[^>]*?aria-label="[^"]*"[^>]*? d="(M[^"Z]*)"',
        svg,
    )
    return [
        [(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+),(-?[\d.]+)", first or second)]
        for first, second in lines
    ]


@pytest.mark.parametrize("number", FIGURES)
def test_a_figure_draws_one_line_a_ranker_and_panel_with_its_name_and_caption(number: int) -> None:
    svg = drawings.svg(figure_spec(FIGURES[number], curves()))

    panels = 2 if FIGURES[number].enlarged else 1
    assert len([line for line in points_of(svg) if len(line) > 10]) == panels * len(NAMES)
    for text in (
        *NAMES,
        f"Figure {number}. ",
        "documents in the list, n",
        "mean NDCG over 40 queries",
    ):
        assert text in svg
    assert "made by a test" in re.sub(r"</tspan><tspan[^>]*>", " ", svg)
    # hundredths of a pixel
    assert not re.search(r"\.\d{3}", "".join(re.findall(r' d="([^"]*)"', svg)))
    assert f'role="img" aria-label="Figure {number}. ' in svg


def test_values_stand_where_the_axis_says() -> None:
    shown = curves(("only",))
    spec = figure_spec(FIGURES[2], shown)

    (line,) = (line for line in points_of(drawings.svg(spec)) if len(line) > 10)

    panel = spec["vconcat"][0]
    # a name is no place
    assert "v1.2345678" in drawings.svg(figure_spec(FIGURES[2], curves(("v1.2345678",))))
    low, high = panel["encoding"]["y"]["scale"]["domain"]
    expected = [
        (panel["width"] * (n - 1) / 59, panel["height"] * (high - value) / (high - low))
        for n, value in zip(shown.sizes, shown.means["only"], strict=True)
        if not np.isnan(value)
    ]
    np.testing.assert_allclose(line, expected, atol=0.02)


def test_names_of_lines_that_end_together_do_not_cover_each_other() -> None:
    spec = figure_spec(FIGURES[2], curves())["vconcat"][0]

    low, high = spec["encoding"]["y"]["scale"]["domain"]
    heights = sorted(
        spec["height"] * (row["value"] - low) / (high - low)
        for row in spec["layer"][1]["data"]["values"]
    )
    assert len(heights) == len(NAMES)
    assert np.diff(heights).min() >= 13
    assert sum(heights) / 3 == pytest.approx(
        spec["height"] * (np.mean([m[-1] for m in curves().means.values()]) - low) / (high - low),
        abs=0.1,
    )


def test_theory_and_simulation_stand_on_one_scale() -> None:
    sizes, values = np.array([10, 100, 1000]), np.array([[0.7, 0.8, 0.9], [0.9, 0.8, np.nan]])
    panels = [
        Simulated(
            measure="nDCG",
            says="tends to 1",
            sizes=sizes,
            values=values,
            means=np.array([0.8, 0.8, 0.9]),
            limit=1.0,
        )
    ]
    panels.append(
        Simulated(
            measure="nDCG@10",
            says="never settles",
            sizes=sizes,
            values=values,
            means=np.array([0.8, 0.8, 0.9]),
            limit=None,
        )
    )

    spec = simulated_spec(panels, "s")

    rows = spec["vconcat"][0]["hconcat"][0]["data"]["values"]
    assert [row["mean"] for row in rows] == [0.8, 0.8, 0.9]
    assert rows[0]["low"] == pytest.approx(0.71)
    # no limit, no line for it
    assert [len(panel["layer"]) for panel in spec["vconcat"][0]["hconcat"]] == [4, 3]
    svg = drawings.svg(spec)
    for text in ("nDCG@10", "never settles", "means of 2 simulated lists", "NDCG of one query"):
        assert text in svg


def test_more_rankers_than_colours_are_refused() -> None:
    with pytest.raises(OptionError, match="found 8 rankers, expected at most 7"):
        figure_spec(FIGURES[1], curves(tuple("abcdefgh")))


def test_a_page_asks_nothing_of_any_server_and_evaluates_no_text() -> None:
    spec = figure_spec(FIGURES[1], curves(), interactive=True)
    text = drawings.page({"figure-1": spec}, "Growing lists")

    assert "default-src 'none'" in text
    assert not re.search(r"""(?:src|href)\s*=\s*["']?\s*(?:https?:)?//""", text)
    assert not re.search(r"""\b(?:fetch|import)\(\s*["'`]https?:""", text)
    # Names of namespaces and schemas, and links in messages and menus that are off.
    links = set(re.findall(r"https?://[\w./#-]+", text))
    assert {link.split("/")[2] for link in links} <= {
        "www.w3.org",
        "www.apache.org",
        "vega.github.io",
        "github.com",
    }
    assert "ast: true" in text
    assert "editor: false" in text


def test_texts_of_users_cannot_end_the_script_or_the_markup() -> None:
    evil = "</script><script>alert(1)</script><!-- \u2028"
    spec = DOT | {"description": f'"{evil}', "data": {"values": [{"a": evil}]}}

    text = drawings.page({"one": spec}, evil)

    assert "alert(1)</script>" not in text
    assert text.count("<script>") == text.count("</script>") == 2
    stored = re.search(r"Object\.entries\((\{.*\})\)\) \{", text)
    assert stored
    assert json.loads(stored[1])["one"]["data"]["values"][0]["a"] == evil


def test_files_appear_whole_in_a_new_folder(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "figures"

    written = [
        path
        for kind in ("svg", "png", "json")
        for path in drawings.save({"dot": DOT}, folder, kind)
    ]  # type: ignore[arg-type]

    assert sorted(path.name for path in folder.iterdir()) == ["dot.json", "dot.png", "dot.svg"]
    assert written[1].read_bytes().startswith(b"\x89PNG")
    assert json.loads(written[2].read_text(encoding="utf-8")) == DOT


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match=r"file/dot\.json: cannot be written"):
        drawings.save({"dot": DOT}, tmp_path / "file", "json")


def test_without_the_extra_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(
        MissingExtraError, match=rf"needs vl-convert-python; {re.escape(install_command('plots'))}"
    ):
        drawings.save({"dot": DOT}, tmp_path, "svg")
    assert drawings.save({"dot": DOT}, tmp_path, "json")


@pytest.mark.parametrize("name", ["v1.2", "x[0].y", "'quoted' \"twice\"", "a\\b"])
def test_values_under_the_pointer_are_found_by_names_with_any_signs(name: str) -> None:
    vega = json.dumps(
        vl_convert.vegalite_to_vega(figure_spec(FIGURES[2], curves((name,)), interactive=True))
    )
    assert json.dumps(f"datum[{json.dumps(name)}]")[1:-1] in vega


def test_the_enlarged_panel_begins_at_its_length_and_holds_all_values_from_there_on() -> None:
    figure, shown = FIGURES[1], curves(n=1000)
    whole, enlarged = figure_spec(figure, shown)["vconcat"][0]["hconcat"]
    start, last = enlarged["encoding"]["x"]["scale"]["domain"]
    low, high = enlarged["encoding"]["y"]["scale"]["domain"]

    values = [row["value"] for row in enlarged["data"]["values"]]

    assert {row["n"] for row in enlarged["data"]["values"]} == set(range(start, last + 1))
    assert low <= min(values) < max(values) <= high
    assert high - low < 0.05 + 0.02
    assert min(row["n"] for row in whole["data"]["values"]) == 1
