"""Which pair a page shows first, in which direction, and that a comparison turned round says what
the comparison of swapped runs says.
"""

import dataclasses
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import idealrank as ir
from idealrank.pages.figures import specifications
from idealrank.pages.page.cautions import cautions, robust_sentence
from idealrank.pages.page.html import page_html
from idealrank.pages.page.payload import pairs_of
from idealrank.pages.page.wording import glossary
from idealrank.reports.subject import Subject
from idealrank.reports.table.short_names import told_apart
from idealrank.reports.views.comparison.verdicts import mark
from tests.pages.test_page import Reader

pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")

QRELS = {f"q{i:02d}": {"x": 1} for i in range(40)}


def evaluated(qualities: list[float], measure: str = "RR") -> list[ir.Evaluation]:
    """Runs by name; of each the share of queries whose answer is on top."""
    rng = np.random.default_rng(8)
    found = []
    for place, quality in enumerate(qualities):
        run = {query: ["x", "y"] if rng.random() < quality else ["y", "w", "x"] for query in QRELS}
        found.append(ir.evaluate(QRELS, ir.Run(run, name=f"run {place:02d}"), measure))
    return found


def shown(evaluations: list[ir.Evaluation], **options: object) -> Subject:
    comparison = ir.compare(*evaluations, **options)
    return Subject(
        evaluations=tuple(evaluations),
        measures=evaluations[0].measures,
        means=comparison.means,
        comparison=comparison,
    )


def best_first(evaluations: list[ir.Evaluation], direction: int = 1) -> list[int]:
    return sorted(
        range(len(evaluations)),
        key=lambda place: -direction * next(iter(evaluations[place].mean().values())),
    )


@pytest.mark.spread(1)
@pytest.mark.parametrize(("measure", "direction"), [("RR", 1), ("Unjudged@3", -1)])
def test_of_twelve_runs_the_best_is_held_against_the_runner_up_in_everything_that_is_shown(
    measure: str, direction: int
) -> None:
    evaluations = evaluated(
        [0.1, 0.5, 0.9, 0.3, 0.2, 0.7, 0.4, 0.05, 0.6, 0.99, 0.15, 0.35], measure
    )
    best, second, *_ = best_first(evaluations, direction)
    subject = shown(evaluations)

    text = Reader(page_html(subject)).text

    b, a = (evaluations[place].name for place in (best, second))
    assert pairs_of(subject)[0] == specifications.pairs_shown(subject)[0] == (second, best)
    assert sorted(map(sorted, pairs_of(subject))) == [
        [one, other] for one in range(12) for other in range(one + 1, 12)
    ]
    assert (
        f"Best run against runner-up: {b} is" in text
        or f"do not show whether {b} is better than {a}" in text
    )
    assert f"{b} against {a}. A query opens its rankings." in text
    assert {
        figure.name.split("-", 2)[2]
        for figure in specifications.figures(subject)
        if figure.plot == "scatter"
    } == {f"{a} {b}".replace("run ", "run-").replace(" ", "-")}
    if subject.comparison.pair(*sorted((a, b)))[measure].losses:
        assert f"Largest loss from {a} to {b}" in text


def test_with_a_baseline_the_best_other_run_is_held_against_it() -> None:
    evaluations = evaluated([0.1, 0.5, 0.9, 0.99])

    subject = shown(evaluations, baseline="run 03")

    assert pairs_of(subject)[0] == (3, best_first(evaluations[:3])[0])
    assert "Best run against baseline" in page_html(subject)


def test_two_runs_stay_in_the_order_in_which_they_were_given() -> None:
    assert pairs_of(shown(evaluated([0.9, 0.1]))) == [(0, 1)]


@pytest.mark.slow
def test_a_pair_turned_round_says_what_the_swapped_comparison_says() -> None:
    a, b = evaluated([0.3, 0.8])
    slices = {query: "even" if int(query[1:]) % 2 == 0 else "odd" for query in QRELS}
    for test in ("permutation", "t", "wilcoxon", "sign"):
        (one,), (other,) = (
            ir.compare(
                *pair, slices=slices, test=test, margin=None if test == "sign" else 0.01
            ).pairs
            for pair in ((a, b), (b, a))
        )

        found, wanted = (dataclasses.asdict(pair) for pair in (one.reversed(), other))

        assert flat(found) == pytest.approx(flat(wanted), abs=1e-12, nan_ok=True), test


def flat(value: object, name: str = "") -> dict[str, object]:
    """Every number and text by the path that leads to it."""
    if isinstance(value, dict):
        return {
            path: one
            for key, part in value.items()
            for path, one in flat(part, f"{name}.{key}").items()
        }
    if isinstance(value, (list, tuple)):
        return {
            path: one
            for key, part in enumerate(value)
            for path, one in flat(part, f"{name}.{key}").items()
        }
    return {name: value if isinstance(value, (int, float)) else repr(value)}


@given(
    st.lists(st.text("ab-", min_size=1, max_size=60), unique=True, min_size=1, max_size=12),
    st.sampled_from([16, 18, 28]),
)
def test_short_names_are_short_and_all_different(names: list[str], width: int) -> None:
    found = told_apart(names, width)

    assert len(set(found)) == len(names)
    assert max(map(len, found)) <= width
    assert found == names or max(map(len, names)) > width  # what fits stays


def test_a_verdict_of_tomorrow_is_shown_as_undecided_in_its_own_word() -> None:
    subject = shown(evaluated([0.1, 0.9]))
    pair = subject.comparison.pairs[0]
    row = dataclasses.replace(pair["RR"], verdict="a verdict of tomorrow")
    comparison = dataclasses.replace(
        subject.comparison, pairs=(dataclasses.replace(pair, measures={"RR": row}),)
    )

    from idealrank.pages.page.tables import pair_grid

    cell = pair_grid(comparison.pairs[0]).rows[0][1]
    assert (cell.text, cell.tone) == ("a verdict of tomorrow", "quiet")
    assert mark("a verdict of tomorrow").side == "equal"


def test_a_pair_that_the_judgments_do_not_carry_is_no_decided_one_in_maps_and_figures() -> None:
    from idealrank.pages.figures.pair_map import pairs_spec
    from idealrank.reports.views.comparison.league import pair_map

    comparison = shown(evaluated([0.1, 0.9])).comparison
    pair = comparison.pairs[0]
    assert pair["RR"].verdict == "better"
    row = dataclasses.replace(pair["RR"], verdict="too few judgments")
    open_one = dataclasses.replace(
        comparison, pairs=(dataclasses.replace(pair, measures={"RR": row}),)
    )

    decided, withheld = (
        pairs_spec(found, "RR")["data"]["values"] for found in (comparison, open_one)
    )
    assert [(cell["verdict"], cell["shape"]) for cell in decided] == [("better", ""), ("worse", "")]
    assert [(cell["verdict"], cell["shape"]) for cell in withheld] == [
        ("too few judgments", "cross")
    ] * 2
    assert "? too few judgments" in pair_map(open_one, "RR")[-1]
    assert "?" in pair_map(open_one, "RR")[-2]
    assert "?" not in "".join(pair_map(comparison, "RR"))


def robust() -> ir.Robustness:
    """At cutoff 5 both runs are nearly equal; at 1 b is far better, at 3 far worse."""
    a = {query: ["y", "x"] for query in QRELS}
    b = {query: ["x"] if int(query[1:]) % 10 < 4 else ["y", "w", "v", "u", "x"] for query in QRELS}
    return ir.robust(
        QRELS, ir.Run(a, name="a"), ir.Run(b, name="b"), "nDCG@5", variants=["cutoff", "measure"]
    )


def test_the_robust_verdict_is_a_sentence_with_plain_counts() -> None:
    found = robust()
    same = [
        one
        for one in found.variants
        if one.status == "changes the numbers" and one.row.verdict == found.asked.verdict
    ]
    other = [
        one.change
        for one in found.variants
        if one.status == "changes the numbers" and one.row.verdict != found.asked.verdict
    ]

    said = robust_sentence(found)

    counts = [int(number) for number in re.findall(r"\b\d+\b", said.partition(" changes with ")[0])]
    assert other, "the example turns no verdict"
    assert counts == [len(same), len(same) + len(other)]
    assert all(change in said for change in other[:3])


def test_it_stands_before_you_rely_on_it_where_the_page_has_it() -> None:
    subject = dataclasses.replace(shown(evaluated([0.3, 0.9])), robustness=robust())

    assert [one for one in cautions(subject) if one.startswith("The verdict on b against a")] == [
        robust_sentence(robust(), subject.comparison)
    ]
    assert not [
        one
        for one in cautions(dataclasses.replace(subject, robustness=None))
        if one.startswith("The verdict on")
    ]


def test_the_glossary_has_each_measure_of_the_page_and_no_text_of_its_own() -> None:
    one = ir.evaluate(QRELS, {"q01": ["x"]}, ["nDCG@10", "nDCG@5", "RR", "Unjudged@10", "DCG"])
    subject = Subject(evaluations=(one,), measures=one.measures)

    found = glossary(subject)

    assert [entry.names for entry in found] == [
        ("nDCG@10", "nDCG@5"),
        ("RR",),
        ("Unjudged@10",),
        ("DCG",),
    ]
    for entry, measure in zip(found, (one.measures[0], *one.measures[2:]), strict=True):
        assert entry.summary.removesuffix(".") == type(measure).summary
        assert entry.use.removesuffix(".") == type(measure).use.replace("`", "").removesuffix(".")
        assert entry.formula in (type(measure).__doc__ or "")
        assert entry.direction.split()[0] == ("more" if measure.direction > 0 else "less")
        assert entry.range == ("0 and more" if math.isinf(measure.bounds[1]) else "0 to 1")
    text = Reader(page_html(subject)).text
    assert all(entry.summary in text and entry.use in text for entry in found)


def test_the_glossary_has_rbo_and_d_z_where_the_page_has_them() -> None:
    runs = [
        ir.Run(dict.fromkeys(QRELS, ranking), name=name)
        for name, ranking in (("old", ["y", "x"]), ("new", ["x", "y"]))
    ]
    evaluations = [ir.evaluate(QRELS, run, "RR") for run in runs]
    alike = ir.overlap(*runs, ["Same@10", "Same(order=any)@10", "overlap@10", "RBO(p=0.9)"])

    with_both, without_rbo, of_one = (
        Reader(page_html(subject)).text
        for subject in (
            shown(evaluations, rankings=alike),
            shown(evaluations),
            Subject(evaluations=(evaluations[0],), measures=evaluations[0].measures),
        )
    )

    assert "Rank-biased overlap: similarity of two rankings" in with_both
    assert all(
        "Effect size: the mean difference divided by the standard deviation" in text
        for text in (with_both, without_rbo)
    )
    assert "Rank-biased" not in without_rbo
    assert not any(word in of_one for word in ("Rank-biased", "Effect size", "and terms"))


def test_a_power_is_said_as_a_power_in_the_tables_of_a_page() -> None:
    text = Reader(page_html(shown(evaluated([0.3, 0.5])))).text

    assert "detectable with 80 % power" in text
    assert "visible difference" not in text


def test_a_query_stands_by_its_text_with_its_id_behind_where_a_gate_names_it() -> None:
    good, bad = evaluated([0.99, 0.1])
    gated = ir.gate(bad, good, contracts=[ir.Contract(query="q03", at_least=0.9)])
    comparison = ir.compare(good, bad)
    subject = Subject(
        evaluations=(good, bad),
        measures=good.measures,
        means=comparison.means,
        comparison=comparison,
        gated=gated,
        query_texts={query: f"words of {query}" for query in QRELS},
    )

    text = Reader(page_html(subject)).text

    assert "words of q03 (q03)" in text
    for query in gated.closing_queries:
        assert re.search(rf"words of {query} {query}\b", text), query
