"""Ids, names and texts of others are text on a report, wherever they stand."""

import csv

import pytest

import idealrank as ir
from tests.web import pages
from tests.web.browsing import (
    Shared,
    Visits,
    axe,
    closed,
    drawn,
    expect,
    follow,
    ready,
    shows_query,
)


def test_names_that_mean_harm_are_shown_and_nothing_else_happens(shared: Shared) -> None:
    page = shared.report(pages.hostile())

    assert page.locator("img, svg[onload]").count() == 0
    assert "<img src=x onerror=alert(1)>" in page.locator("h1").inner_text()
    listed = page.locator("#query-table th[scope=row] .id").evaluate_all(
        "all => all.map(one => one.innerText)"
    )
    assert len(listed) == len(pages.HOSTILE)
    assert pages.HOSTILE[0] in listed
    assert "\u202e" not in page.locator("body").inner_text()
    assert axe(page) == ""


@pytest.mark.slow
def test_each_of_them_opens_by_its_link(visit: Visits) -> None:
    page = visit.report(pages.hostile())

    for place, name in enumerate(pages.HOSTILE):
        page.locator("#query-table [data-query]").nth(place).click()
        view = shows_query(page)
        expect(view).to_contain_text(name.replace("\u202e", "\\u202e"))
        said = view.inner_text()
        assert page.locator("#query-body table").count() >= 2
        page.reload()
        ready(page)
        assert shows_query(page).inner_text() == said
        page.keyboard.press("Escape")
        closed(page)
    assert page.locator("img").count() == 0


def test_they_come_out_of_the_table_as_they_went_in(shared: Shared) -> None:
    page = shared.report(pages.hostile())
    page.locator("#query-table").get_by_role("button", name="Download").click()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download Queries as the table shows them as CSV").click()
    text = saved.value.path().read_bytes().decode()
    for name in pages.HOSTILE:
        assert name.replace('"', '""') in text


@pytest.mark.slow
def test_an_address_that_asks_for_what_is_not_there_shows_the_usual_page(visit: Visits) -> None:
    page = visit.report(pages.single(), fragment="#sort=77")
    table = page.locator("#query-table").inner_text()
    follow(page, "")
    usual = page.locator("#query-table").inner_text()

    assert table == usual
    for wrong in (
        "sort=-constructor",
        "slice=constructor",
        "only=toString",
        "query=nobody",
        "measure=9&sheet=-1",
    ):
        follow(page, wrong)
        assert page.locator("#query-table").inner_text() == usual, wrong
        assert page.locator("#query-view[open]").count() == 0


@pytest.mark.slow
def test_a_name_with_a_backslash_does_not_break_what_the_pointer_says(visit: Visits) -> None:
    qrels = {f"q{place}": {"d": 1} for place in range(6)}
    names = ["a\\", 'b\\" + datum.value + "']
    runs = [
        ir.Run(dict.fromkeys(qrels, ranking), name=name)
        for ranking, name in zip((["x", "d"], ["d"]), names, strict=True)
    ]
    evaluations = [ir.evaluate(qrels, run, "RR") for run in runs]
    page = drawn(visit.report(ir.report(ir.compare(*evaluations), evaluations=evaluations)))

    page.locator("#winloss").scroll_into_view_if_needed()
    page.locator("#winloss svg .mark-rect path").first.hover()

    tip = page.locator("#plot-tip")
    tip.wait_for(state="visible")
    assert [
        f"{name} {value}" for name, value in zip(reversed(names), ("1.0000", "0.5000"), strict=True)
    ] == tip.inner_text().splitlines()[-2:]


@pytest.mark.slow
def test_texts_are_no_formulas_in_a_spreadsheet(visit: Visits) -> None:
    qrels = {query: {"d": 1} for query in ("-1", "=q2", "q3")}
    texts = {"-1": '=HYPERLINK("http://x.example")', "=q2": "-2+3", "q3": "a-b = c"}
    page = visit.report(
        ir.report(ir.evaluate(qrels, {query: ["d"] for query in qrels}, "RR"), queries=texts)
    )

    page.locator("#query-table").get_by_role("button", name="Download").click()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download Queries as the table shows them as CSV").click()

    rows = list(csv.reader(saved.value.path().read_text(encoding="utf-8").splitlines()))
    assert [row[1] for row in rows[1:]] == [f"'{texts['-1']}", f"'{texts['=q2']}", texts["q3"]]
    assert [row[0] for row in rows[1:]] == ["-1", "'=q2", "q3"]


@pytest.mark.slow
def test_pressing_a_copy_button_twice_leaves_its_words(shared: Shared) -> None:
    page = shared.report(pages.demo())
    button = page.locator("#made button.copy").first
    words = button.inner_text()
    button.evaluate("""one => {
      one.seen = [];
      new MutationObserver(() => one.seen.push(one.textContent)).observe(one, { childList: true });
    }""")

    button.evaluate("one => { one.click(); one.click(); }")
    page.wait_for_function("() => document.querySelector('#made button.copy').seen.length >= 2")

    assert button.evaluate("one => one.seen") == ["Copied", words]
    expect(button).to_have_text(words)


@pytest.mark.parametrize(
    "names",
    [
        ("constructor", "__proto__"),
        ("__proto__", "toString", "hasOwnProperty", "valueOf"),
    ],
)
@pytest.mark.slow
def test_names_that_every_object_of_a_script_has_draw_their_plots(
    visit: Visits, names: tuple[str, ...]
) -> None:
    qrels = {f"q{place}": {"d": 1} for place in range(6)}
    lists = [
        {
            query: [f"x{n}" for n in range((place + shift) % 4)] + ["d"]
            for place, query in enumerate(qrels)
        }
        for shift in range(len(names))
    ]
    evaluations = [
        ir.evaluate(qrels, ir.Run(one, name=name), "RR")
        for name, one in zip(names, lists, strict=True)
    ]
    page = visit.report(ir.report(ir.compare(*evaluations), evaluations=evaluations))
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on(
        "console",
        lambda said: wrong.append(said.text) if said.type in ("error", "warning") else None,
    )

    for figure in drawn(page).locator("figure[data-plot], .plot").all():
        figure.scroll_into_view_if_needed()
    lines = page.locator("#distribution svg .mark-line path").evaluate_all(
        "all => all.map(one => one.getAttribute('d') || '')"
    )

    assert sum(len(path) > 20 for path in lines) >= len(names)
    assert "NaN" not in page.locator("#distribution svg").first.inner_html()
    shown = page.locator("#distribution svg text").all_text_contents()
    assert len({text.strip("\u2066\u2068\u2069") for text in shown} & set(names)) == 2, shown
    assert not wrong, wrong
