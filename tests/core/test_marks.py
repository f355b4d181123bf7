"""Every form of a verdict says the same state: 42 comparisons in each form.

A comparison is computed from real runs, and its rows are then set to one state, so that no rule for
verdicts decides what these tests see. The table `STATES` in `mark_states` says what each form must
show.
"""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from idealrank.analysis.gate.outcome import TOO_FEW
from idealrank.pages.figures import forest, pair_map, specifications
from idealrank.pages.page.tables import every_pair_grid, pair_grid, slices_grid
from idealrank.reports.subject import leading_pairs
from idealrank.reports.table.cells import Cell, Table
from idealrank.reports.table.forms import as_html
from idealrank.reports.table.records import delimited
from idealrank.reports.table.text import parts_text
from idealrank.reports.views.comparison import columns, comparison, league, markup, verdicts
from idealrank.reports.views.comparison.comparison import (
    comparison_json,
    comparison_parts,
    comparison_rows,
    verdict_text,
)
from idealrank.trackers.content import content_of
from tests.core.mark_states import (
    CASES,
    STATES,
    TURNED,
    Case,
    comparison_of,
    measure_of,
    slice_state,
    subject_of,
)

# --- what forms show ------------------------------------------------------------------------------


def says_alone(text: str, field: str, state: str) -> None:
    """The words of this state stand in a text, and those of no other state."""
    wanted = getattr(STATES[state], field)
    assert is_said(field, wanted, text), (field, wanted, text)
    others = {getattr(other, field) for other in STATES.values()} - {wanted}
    assert not [words for words in others if is_said(field, words, text)], (field, text)


def is_said(field: str, words: str, text: str) -> bool:
    """Sentences are patterns: an undecided one, too, asks whether a run is better."""
    if field == "sentence":
        return re.search(words, text) is not None
    return words in text


def column_of(table: Table, title: str) -> list[Cell]:
    titles = [column.title for column in table.columns]
    return [row[titles.index(title)] for row in table.rows] if title in titles else []


def verdict_words(tables: Iterable[Table]) -> set[str]:
    return {cell.text for table in tables for cell in column_of(table, "verdict")} - {"baseline"}


def words_for(case: Case) -> set[str]:
    words = {STATES[case.state].word}
    return words | {STATES[slice_state(case)].word} if case.sliced else words


def check_basis(text: str, case: Case) -> None:
    """A verdict has a caution under pooled labels and a clause under positive-only ones."""
    decided = case.state in ("better", "worse", "equivalent")
    assert ("any documents are unjudged" in text) == (decided and case.labels == "pooled")
    counts = "ocuments without a label count as not relevant" in text
    assert counts == (decided and case.labels == "positive-only")


def check_str(case: Case) -> None:
    check_lines(str(comparison_of(case)), case)


def check_lines(text: str, case: Case) -> None:
    """Each difference has its line; other lines are about all of them."""
    begins = tuple(f"{measure}: " for measure in comparison_of(case).means)
    lines = [line for line in text.splitlines() if line.startswith(begins)]
    assert len(lines) == len(list(comparison_of(case).rows()))
    for line in lines:
        says_alone(line, "line", case.state)


def check_sentence(case: Case) -> None:
    compared = comparison_of(case)
    for pair, row in compared.rows():
        said = verdict_text(pair, row, compared.method)
        says_alone(said, "sentence", case.state)


def check_text(case: Case) -> None:
    parts = comparison_parts(comparison_of(case))
    text = parts_text(parts)
    tables = [part for part in parts if isinstance(part, Table)]

    assert verdict_words(tables) <= words_for(case)
    assert "significant after correction" not in text
    brief = [table for table in tables if table.title.startswith("differences ")]
    stars = {cell.mark for table in brief for row in table.rows for cell in row[1:]}
    assert bool(brief) == case.sliced
    assert stars == ({STATES[slice_state(case)].star} if brief else set())
    told = [("? too few judgments" in table.title) for table in brief]
    assert told == [case.state == TOO_FEW] * len(brief)


def check_markdown_and_latex(case: Case) -> None:
    compared, wanted = comparison_of(case), STATES[case.state]
    text = markup.comparison_markdown(compared)
    latex = markup.comparison_latex(compared)
    if case.runs == 6 and not case.baseline and not case.sliced:
        for form in (text, latex):
            assert ("too few judgments and no letter" in form) == (case.state == TOO_FEW)
            check_basis(form, case)
        return
    table = markup.comparison_cells(compared)
    whole = [row for row in table.rows if not case.sliced or "all" in [cell.text for cell in row]]
    titles = [column.title for column in table.columns]
    at = titles.index("difference")
    assert {row[at].mark for row in whole} == {wanted.star}
    assert {row[-1].text for row in whole} == {wanted.word}
    for form in (text, latex):
        assert wanted.word in form
        assert ("better or worse, p at most 0.05" in form) == (wanted.star == "*")
        assert ("? too few judgments, however small p" in form) == (wanted.star == "?")
        check_basis(form, case)


def check_paper(case: Case) -> None:
    if not case.baseline:
        return
    compared, wanted = comparison_of(case), STATES[case.state]
    rows = markup.paper_table(compared).rows
    against = [cell for row in rows if row[0].text != "run0" for cell in row[1:]]
    assert {cell.mark for cell in against} == {wanted.paper}
    assert not any(cell.mark for row in rows if row[0].text == "run0" for cell in row[1:])
    for form, field in (("table", "paper"), ("markdown", "paper"), ("latex", "latex")):
        text = " ".join(markup.paper_text(compared, form).split())
        body, _, notes = text.rpartition(" the best mean of each measure. ")
        for sign in {getattr(other, field) for other in STATES.values()} - {""}:
            assert (sign in body) == (sign == getattr(wanted, field)), (form, sign)
        assert (" better, " in notes and " worse, p at most " in notes) == bool(wanted.paper)
        assert ("? too few judgments" in notes) == (case.state == TOO_FEW)
        check_basis(notes, case)


def check_league(case: Case) -> None:
    if case.baseline:
        return
    compared, wanted, measure = comparison_of(case), STATES[case.state], measure_of(case)
    letters = league.better_letters(compared, measure, list(compared.names))
    assert any(letters.values()) == wanted.has_letters
    drawn = league.pair_map(compared, measure)
    lines = [re.fullmatch(r"\s+\d+ run\d\s+(.*)\\", line) for line in drawn]
    signs = {sign for line in lines if line is not None for sign in line[1]}
    assert signs
    assert signs <= set(wanted.signs)
    legend = drawn[-1]
    if wanted.has_letters:
        assert "p <= " in legend
    else:
        assert f"{wanted.signs} {wanted.word}" in legend
    note = league.letters_note(compared, "better")
    assert ("have too few judgments and no letter" in note) == (case.state == TOO_FEW)
    assert "p alone" in league.letters_note(compared, "groups")


def check_data(case: Case) -> None:
    compared = comparison_of(case)
    record = json.loads("".join(comparison_json(compared)))
    rows = [row for pair in record["pairs"] for row in pair["measures"].values()]
    assert {row["verdict"] for row in rows} == {STATES[case.state].verdict}
    assert {(row["wins"], row["losses"]) == (0, 0) for row in rows} == {case.state == "identical"}
    table = csv.DictReader(io.StringIO("".join(delimited(comparison_rows(compared)))))
    allowed = {STATES[case.state].verdict, STATES[slice_state(case)].verdict}
    assert {row["verdict"] for row in table} <= allowed


def check_map_caption(case: Case) -> None:
    if case.baseline:
        return
    wanted = STATES[case.state]
    spec = pair_map.pairs_spec(comparison_of(case), measure_of(case))
    said = " ".join(spec["title"]["subtitle"])
    cells = spec["data"]["values"]
    says_alone(said, "caption", case.state)
    for shape in ("dot", "cross"):
        assert (f"a {shape} marks" in said) == (shape == wanted.shape)
    assert {cell["shape"] for cell in cells} == {wanted.shape}
    assert {cell["verdict"] for cell in cells} == {
        wanted.word,
        TURNED.get(wanted.word, wanted.word),
    }


def check_slice_figure(case: Case) -> None:
    rows = forest.slice_rows(comparison_of(case))
    assert bool(rows) == case.sliced
    for row in rows:
        state = case.state if row["all"] else slice_state(case)
        allowed = {state, TURNED.get(state, state)} if case.runs > 2 else {state}
        assert row["side"] in {STATES[one].side for one in allowed}
        assert row["verdict"] in {STATES[one].word for one in allowed}
        assert row["verdict"] in specifications.slices_said([row])


def check_page(case: Case) -> None:
    """Tables of a page turn pairs of several runs so that the better run comes second."""
    compared, wanted = comparison_of(case), STATES[case.state]
    allowed = (
        {wanted.word, TURNED.get(wanted.word, wanted.word)} if case.runs > 2 else {wanted.word}
    )
    measure = measure_of(case)
    tables = [pair_grid(leading_pairs(compared)[0]), every_pair_grid(compared, measure)]
    caution = case.state in ("better", "worse", "equivalent") and case.labels == "pooled"
    for table in tables:
        cells = column_of(table, "verdict")
        assert {cell.text for cell in cells} <= allowed
        assert {cell.tone for cell in cells} <= {verdicts.mark(word).tone for word in allowed}
        assert {cell.mark for cell in cells} == {"!" if caution else ""}
        check_basis(as_html(table), case)
    sliced = slices_grid(leading_pairs(compared)[0], measure)
    assert (sliced is not None) == case.sliced
    if sliced is not None:
        word = STATES[slice_state(case)].word
        turned = {word, TURNED.get(word, word)} if case.runs > 2 else {word}
        assert verdict_words([sliced]) <= turned


def check_whole_page(case: Case) -> None:
    pytest.importorskip("jinja2", reason="needs the extra report")
    pytest.importorskip("vl_convert", reason="needs the extra report")
    from idealrank.pages.page.html import page_context

    context = page_context(subject_of(case))
    table = context["grids"]["pair"] or context["every_pair"]
    assert table is not None
    check_basis(as_html(table), case)
    if case.runs == 2:
        says_alone(context["headline"], "sentence", case.state)


def check_tracker(case: Case) -> None:
    content = content_of(comparison_of(case), page="")
    if case.runs < 6:
        check_lines(content.words["verdicts"], case)
    stored = json.loads(content.files["comparison.json"])
    found = {row["verdict"] for pair in stored["pairs"] for row in pair["measures"].values()}
    assert found == {STATES[case.state].verdict}


CHECKS: Mapping[str, Callable[[Case], None]] = {
    "str": check_str,
    "sentence": check_sentence,
    "text": check_text,
    "Markdown and LaTeX": check_markdown_and_latex,
    "paper": check_paper,
    "league": check_league,
    "JSON and CSV": check_data,
    "caption of the map": check_map_caption,
    "figure of slices": check_slice_figure,
    "tables of the page": check_page,
    "page": check_whole_page,
    "tracker": check_tracker,
}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_form_of_a_comparison_says_its_state(case: Case) -> None:
    for check in CHECKS.values():
        check(case)


@pytest.mark.parametrize("rate_known", [True, False])
def test_a_verdict_of_unknown_error_rate_has_its_caution_in_every_form(rate_known: bool) -> None:
    case = Case(
        "better",
        2,
        1,
        companion=False,
        sliced=False,
        baseline=False,
        labels="complete",
        rate_known=rate_known,
    )
    compared = comparison_of(case)
    (pair, row), *_ = compared.rows()
    for text in (markup.comparison_markdown(compared), markup.comparison_latex(compared)):
        assert ("queries to know the error rate of" in " ".join(text.split())) == (not rate_known)
    assert {cell.mark for cell in column_of(pair_grid(pair), "verdict")} == {
        "" if rate_known else "!"
    }
    assert row.as_dict()["error_rate_known"] == rate_known


def test_the_cases_have_every_trait_with_every_state() -> None:
    assert len(CASES) >= 40
    for state in STATES:
        of_state = [case for case in CASES if case.state == state]
        for field in ("runs", "direction", "companion", "sliced", "baseline", "labels"):
            every = {getattr(case, field) for case in CASES}
            assert {getattr(case, field) for case in of_state} == every, (state, field)


def first_case(state: str, **traits: object) -> Case:
    return next(
        case
        for case in CASES
        if case.state == state
        and all(getattr(case, name) == value for name, value in traits.items())
    )


# A wrong word in one form: of which check, where, for which state, and what is wrong about it.
PLANTED = [
    ("Markdown and LaTeX", columns, TOO_FEW, {"star": "*"}, {"runs": 3}),
    ("Markdown and LaTeX", columns, "equivalent", {"star": "?"}, {"runs": 2}),
    ("text", comparison, TOO_FEW, {"star": ""}, {"sliced": True}),
    ("text", comparison, "better", {"star": ""}, {"sliced": True}),
    ("paper", markup, "worse", {"paper": "▲"}, {"baseline": True}),
    ("paper", markup, TOO_FEW, {"paper": "▲"}, {"baseline": True}),
    ("league", league, TOO_FEW, {"symbol": "."}, {"baseline": False}),
    ("caption of the map", pair_map, TOO_FEW, {"shape": "dot"}, {"baseline": False}),
    ("figure of slices", forest, TOO_FEW, {"side": "equal"}, {"sliced": True}),
    ("tables of the page", columns, "undecided", {"word": "equal"}, {"runs": 2}),
]


@pytest.mark.parametrize(("name", "module", "state", "wrong", "traits"), PLANTED)
def test_a_wrong_mark_in_one_form_is_found(
    monkeypatch: pytest.MonkeyPatch, name: str, module: Any, state: str, wrong: Any, traits: Any
) -> None:
    case = first_case(state, **traits)
    CHECKS[name](case)

    monkeypatch.setattr(module, "mark_of", lambda row: replace(verdicts.mark_of(row), **wrong))

    with pytest.raises(AssertionError):
        CHECKS[name](case)


def test_a_caption_of_another_state_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    case = first_case(TOO_FEW, baseline=False)
    wrong = verdicts.mark("undecided").caption

    monkeypatch.setattr(
        pair_map, "mark", lambda state: replace(verdicts.mark(state), caption=wrong)
    )

    with pytest.raises(AssertionError, match="without a significant difference"):
        check_map_caption(case)


def test_a_caution_that_is_left_out_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    case = first_case("better", labels="pooled", runs=2)
    check_page(case)

    monkeypatch.setattr(columns, "caution_mark", lambda row: "")

    with pytest.raises(AssertionError):
        check_page(case)
