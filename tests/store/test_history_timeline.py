"""Series of values: changes against pandas, the last change from fine to failing against a plain
walk.
"""

import math
from dataclasses import replace
from itertools import pairwise

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from idealrank.errors import OptionError
from idealrank.reports.table.text import sparkline
from idealrank.store.timeline import Point, Rule, Timeline, Trace, onset, steps
from idealrank.store.views.history import since_record, since_report

VALUES = st.lists(st.one_of(st.just(math.nan), st.integers(0, 8).map(lambda n: n / 8)), max_size=12)


def line(values: list[float], **others: str) -> list[Point]:
    return [
        Point(id=str(place), when="", run="r", value=value, **others)
        for place, value in enumerate(values)
    ]  # type: ignore[arg-type]


@given(VALUES)
def test_changes_are_those_of_pandas(values: list[float]) -> None:
    changes = [math.nan if step.change is None else step.change for step in steps(line(values))]

    assert changes == pytest.approx(pd.Series(values, dtype=float).diff().tolist(), nan_ok=True)


@given(VALUES, st.sampled_from([0.25, 0.5]))
def test_the_last_fall_below_a_value_is_found_by_a_plain_walk(
    values: list[float], below: float
) -> None:
    known = [(place, value) for place, value in enumerate(values) if not math.isnan(value)]
    falls = [(a[0], b[0]) for a, b in pairwise(known) if a[1] >= below > b[1]]

    found = onset(line(values), Rule(below=below))

    sides = (
        found.last_good and int(found.last_good.id),
        found.first_bad and int(found.first_bad.id),
    )
    if falls:
        assert sides == falls[-1]
        assert found.state == ("fails" if known[-1][1] < below else "fine")
    else:
        assert found.state == (
            "unknown" if not known else "never fine" if known[-1][1] < below else "fine"
        )


@given(VALUES, st.sampled_from([0.125, 0.5]))
def test_a_drop_is_measured_from_the_best_value_before(values: list[float], drop: float) -> None:
    cumulated = pd.Series(values, dtype=float).cummax().ffill().shift()

    fails = Rule(drop=drop).fails(line(values))

    expected = [
        None if math.isnan(v) else bool(v <= best - drop)
        for v, best in zip(values, cumulated, strict=True)
    ]
    assert fails == expected


def test_a_deeper_fall_after_the_line_was_crossed_is_told_with_the_floor_that_finds_it() -> None:
    """Night after night a little noise; the second value was lucky, so that the fourth lies 0.1
    below it; the fifth breaks.
    """
    nights = line([0.83, 1.0, 0.92, 0.88, 0.0, 0.0])

    found = onset(nights, Rule(drop=0.1))

    assert found.first_bad == nights[3]
    assert [point.id for point in found.later_fall or ()] == ["3", "4"]
    said = since_report("r", Trace(onset=found))
    assert (
        "The largest fall came later, from 0.8800 (3) to 0.0000 (4). To find it, use --below 0.44"
        in " ".join(said.split())
    )
    floor = onset(nights, Rule(below=0.44))
    assert floor.first_bad == nights[4]
    assert floor.later_fall is None
    assert since_record(Trace(onset=found))["later_fall"][1]["value"] == 0.0


def test_a_fall_across_other_judgments_or_a_smaller_one_is_not_told() -> None:
    changed = [*line([0.9, 0.7], convention="a"), *line([0.1], convention="b")]

    assert onset(changed, Rule(drop=0.1)).later_fall is None
    assert onset(line([0.9, 0.3, 0.1]), Rule(drop=0.1)).later_fall is None
    assert [
        p.value for p in onset(line([0.1, 0.2, 0.9]), Rule(drop=0.1, direction=-1)).later_fall or ()
    ] == [0.2, 0.9]


@given(VALUES, st.sampled_from([0.25, 0.5]))
def test_where_less_is_better_everything_is_the_other_way_round(
    values: list[float], number: float
) -> None:
    turned = [-value for value in values]

    assert Rule(below=-number, direction=-1).fails(line(turned)) == Rule(below=number).fails(
        line(values)
    )
    assert Rule(drop=number, direction=-1).fails(line(turned)) == Rule(drop=number).fails(
        line(values)
    )


def test_a_drop_in_decimals_is_the_drop_that_was_meant() -> None:
    assert 0.7 - 0.6 < 0.1  # in float64
    assert Rule(drop=0.1).fails(line([0.7, 0.6])) == [False, True]


def test_values_of_other_judgments_or_conventions_are_not_subtracted() -> None:
    a, b, c, d = line([0.9, 0.8, 0.2, 0.1], judgments="1111", convention="standard")
    points = [
        a,
        replace(b, judgments="2222"),
        replace(c, judgments="2222", convention="sklearn"),
        replace(d, judgments="", convention="sklearn"),
    ]

    found = steps(points)

    assert [step.change for step in found] == [None, None, None, pytest.approx(-0.1)]
    assert [step.breaks for step in found] == [(), ("judgments",), ("convention",), ()]
    assert Rule(drop=0.1).fails(points) == [False, False, False, True]
    assert onset(points, Rule(below=0.5)).breaks == ("convention",)


def test_lines_are_runs_unless_they_are_taken_together() -> None:
    points = tuple(
        replace(point, run=name) for point, name in zip(line([0.1, 0.2, 0.3]), "aba", strict=True)
    )

    timeline = Timeline(measure="AP", points=points)

    assert {run: [p.id for p in of_run] for run, of_run in timeline.lines().items()} == {
        "a": ["0", "2"],
        "b": ["1"],
    }
    assert timeline.lines(together=True) == {"": list(points)}
    assert {run: found.state for run, found in timeline.since(Rule(below=0.25)).items()} == {
        "a": "fine",
        "b": "never fine",
    }
    assert timeline.to_frame("pandas")["value"].tolist() == [0.1, 0.2, 0.3]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"below": 0.5, "drop": 0.1},
        {"drop": 0.0},
        {"drop": -1.0},
        {"drop": math.nan},
        {"below": math.inf},
        {"below": 1.0, "direction": 0},
    ],
)
def test_a_rule_that_says_nothing_is_refused(options: dict[str, float]) -> None:
    with pytest.raises(OptionError):
        Rule(**options)  # type: ignore[arg-type]


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=60))
def test_a_sparkline_has_its_ends_at_the_ends_of_the_values(values: list[float]) -> None:
    drawn = sparkline(values, plain=True)

    assert len(drawn) == len(values)
    heights = [int(letter) for letter in drawn]
    if min(values) < max(values):
        assert heights[values.index(min(values))] == 1
        assert heights[values.index(max(values))] == 8
        order = sorted(range(len(values)), key=lambda place: values[place])
        assert [heights[place] for place in order] == sorted(heights)
    else:
        assert set(drawn) == {"4"}


def test_a_sparkline_shows_gaps_breaks_and_the_newest_sixty() -> None:
    assert sparkline([]) == sparkline([math.nan]) == ""
    assert sparkline([0.0, math.nan, 1.0], [False, False, True]) == "▁·│█"
    assert sparkline([0.0, math.nan, 1.0], [False, False, True], plain=True) == "1.|8"
    assert len(sparkline([float(n) for n in range(200)])) == 60
