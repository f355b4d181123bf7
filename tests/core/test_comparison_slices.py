"""Slices: sums, the same p values as SciPy and corrected as by hand, thirds of traffic, and files
with their line in every error.
"""

import itertools
import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

import idealrank as ir
from idealrank.errors import FileFormatError, InputError
from idealrank.io.query_files import read_clusters
from idealrank.reports.views.attribution import attribution_report
from idealrank.reports.views.comparison.comparison import slices_cells
from tests.conftest import examples

CLOSE = 1e-12

values = st.integers(0, 8).map(lambda number: number / 8)
queries = st.dictionaries(
    st.sampled_from([f"q{number}" for number in range(12)]),
    st.tuples(values, values, st.sampled_from("xyz")),
    min_size=1,
)


@settings(max_examples=examples(40), deadline=None)
@given(table=queries)
def test_slices_that_part_the_queries_sum_to_the_difference(table):
    a, b = ({query: row[side] for query, row in table.items()} for side in (0, 1))
    found = ir.slices(a, b, {query: row[2] for query, row in table.items()}, rng=1)

    assert sum(row.n for row in found) == found.n == len(table)
    assert math.fsum(row.part for row in found) == pytest.approx(found.difference, abs=CLOSE)
    for row in found:
        own = [pair for pair in table.values() if pair[2] == row.name]
        assert row.difference == pytest.approx(
            math.fsum(pair[1] - pair[0] for pair in own) / len(own), abs=CLOSE
        )
        assert (row.wins, row.losses) == (
            sum(pair[1] > pair[0] for pair in own),
            sum(pair[1] < pair[0] for pair in own),
        )
        assert row.interval[0] <= row.difference <= row.interval[1]
    assert [row.difference for row in found] == sorted(row.difference for row in found)


def test_p_values_are_scipys_and_corrected_as_by_hand():
    generator = np.random.default_rng(3)
    sizes = {"long": 9, "news": 7, "short": 10}
    columns = {name: generator.normal(0.1, 0.2, size) for name, size in sizes.items()}
    b = {
        f"{name}{place}": float(value)
        for name, column in columns.items()
        for place, value in enumerate(column)
    }

    found = ir.slices(dict.fromkeys(b, 0.0), b, {query: query.rstrip("0123456789") for query in b})

    expected = {
        name: scipy_stats.permutation_test(
            (column,), np.mean, permutation_type="samples", n_resamples=np.inf, axis=0
        ).pvalue
        for name, column in columns.items()
    }
    assert {row.name: row.p for row in found} == pytest.approx(expected, abs=CLOSE)
    # Slices without a common query are independent under random signs, so that their largest
    # statistic has a product for its law.
    statistics = {name: sign_statistics(column) for name, column in columns.items()}
    for name, of_slice in statistics.items():
        below = math.prod(
            float(np.mean(one < of_slice[0] * (1 - 1e-12))) for one in statistics.values()
        )
        error = 5 * math.sqrt(below * (1 - below) / 100_000)  # of the draws
        assert found[name].p_corrected == pytest.approx(1 - below, abs=error)


def sign_statistics(column: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """|sum| over root of squares under every sign vector, the observed one first."""
    signs = np.array(list(itertools.product((1, -1), repeat=column.size)))
    return np.abs(signs @ column) / math.sqrt(float((column**2).sum()))


def test_the_same_input_gives_the_same_draws_whatever_the_order_and_the_threads():
    generator = np.random.default_rng(4)
    a, b = (
        {f"q{place}": float(value) for place, value in enumerate(generator.random(60))}
        for _ in range(2)
    )
    categories = {query: "even" if place % 2 == 0 else "odd" for place, query in enumerate(a)}

    one = ir.slices(a, b, categories, n_resamples=2000)
    other = ir.slices(a, b, dict(reversed(categories.items())), n_resamples=2000, threads=2)

    assert [(row.p, row.interval) for row in one] == [(row.p, row.interval) for row in other]


def test_queries_without_values_or_categories_are_counted():
    found = ir.slices(
        {"q1": 1.0, "q2": None, "q3": 0.5},
        {"q1": 0.5, "q2": 0.5, "q3": 1.0},
        {"q1": ("x", "y", "x"), "q2": "x", "q9": "x"},
    )

    assert [(row.name, row.n) for row in found] == [("x", 1), ("y", 1)]
    assert (found.n, found.uncategorised, found.unknown) == (2, ("q3",), 2)


def test_values_and_categories_that_do_not_meet_are_refused():
    with pytest.raises(InputError, match="no query has a value in both runs"):
        ir.slices({"q1": 1.0}, {"q2": 1.0}, {"q1": "x"})
    with pytest.raises(
        InputError,
        match="found categories of '1', expected some of the 1 evaluated queries, as 'q1'",
    ):
        ir.slices({"q1": 1.0}, {"q1": 1.0}, {"1": "x"})
    with pytest.raises(
        InputError, match="found no categories, expected some of the 1 evaluated queries, as 'q1'"
    ):
        ir.slices({"q1": 1.0}, {"q1": 1.0}, {})
    with pytest.raises(
        InputError, match=r"categories: found 3\.5 for query 'q1', expected a name, or several"
    ):
        ir.slices({"q1": 1.0}, {"q1": 1.0}, {"q1": 3.5})


@given(
    traffic=st.dictionaries(st.text(min_size=1), st.integers(0, 50), min_size=1).filter(
        lambda counts: any(counts.values())
    )
)
def test_thirds_are_where_the_middle_of_equal_queries_lies(traffic):
    thirds = ir.traffic_thirds(traffic)

    for query, count in traffic.items():
        more = sum(other for other in traffic.values() if other > count)
        same = sum(other for other in traffic.values() if other == count)
        # whole numbers: compared without rounding
        twice_middle, total = 2 * more + same, sum(traffic.values())
        most = count == max(traffic.values())
        assert thirds[query] == (
            "head"
            if most or 3 * twice_middle <= 2 * total
            else "torso"
            if 3 * twice_middle <= 4 * total
            else "tail"
        )


@pytest.mark.parametrize(
    "traffic", [{"q01": 5, "q02": 0}, {"q01": 5}, {"q01": 5, "q02": 1, "q03": 1}]
)
def test_the_query_with_the_most_traffic_is_in_the_head(traffic):
    assert ir.traffic_thirds(traffic) == {
        query: "head" if query == "q01" else "tail" for query in traffic
    }


@pytest.mark.parametrize(
    ("traffic", "message"),
    [
        ({"q": -1}, "traffic -1 of query 'q'"),
        ({"q": math.nan}, "traffic nan"),
        ({"q": 0}, "no traffic"),
    ],
)
def test_traffic_that_is_none_is_refused(traffic, message):
    with pytest.raises(InputError, match=message):
        ir.traffic_thirds(traffic)


def test_categories_and_traffic_are_read_from_either_separator(tmp_path):
    categories, traffic = tmp_path / "slices.tsv", tmp_path / "traffic.csv"
    categories.write_text(
        'Query\tlanguage\tcategory\nq1\ten\t"a, b"\n\nq2\tde\tnews\nq2\tde\tnews\n'
    )
    traffic.write_text("count,qid\r\n7,q1\r\n1e2,q2\r\n")

    assert ir.read_categories(categories) == {"q1": ("a, b",), "q2": ("news",)}
    assert ir.read_traffic(traffic) == {"q1": 7.0, "q2": 100.0}


@pytest.mark.parametrize(
    "text",
    [
        "q1 7\nq#2 1e2\n",
        "# visits\nq1\t7\n\n# more\nq#2\t1e2",
        "q1, 7\r\nq#2 , 100\r\n",
        "visits,Topic\n7,q1\n100,q#2\n",
        "#\nqid n\nq1 7\nq#2 100",
    ],
)
def test_traffic_is_the_same_with_and_without_a_header_line(tmp_path, text):
    path = tmp_path / "traffic"
    path.write_text(text)

    assert ir.read_traffic(path) == {"q1": 7.0, "q#2": 100.0}


def test_a_query_that_begins_with_a_hash_is_no_comment_below_a_header_line(tmp_path):
    path = tmp_path / "slices.csv"
    path.write_text("query,category\n#python,social\n")

    assert ir.read_categories(path) == {"#python": ("social",)}


@pytest.mark.parametrize(
    ("reader", "text", "line", "found"),
    [
        (ir.read_categories, "query,category\nq1,news\nq2,\n", 3, "an empty category"),
        (ir.read_categories, "query,category\n,news\n", 2, "an empty query"),
        (ir.read_categories, "query,category\nq1,news,x\n", 2, "3 cells"),
        (
            ir.read_categories,
            "query,kind,x\nq1,news,y\n",
            1,
            "no column for category among 'query', 'kind', 'x'",
        ),
        (ir.read_categories, "query,qid,category\nq1,1,news\n", 1, "several columns for query"),
        (ir.read_categories, "", 0, "an empty file"),
        (ir.read_traffic, "query,traffic\nq1,-2\n", 2, "'-2'"),
        (ir.read_traffic, "query,traffic\nq1,inf\n", 2, "'inf'"),
        (ir.read_traffic, "query,traffic\n\nq1,1\nq1,2\n", 4, "query 'q1' a second time"),
        (
            ir.read_traffic,
            "# visits\nq1 1\n\n# more\nq2 1 2\n",
            5,
            "3 fields, expected 2: QUERY WEIGHT",
        ),
        (
            ir.read_traffic,
            "q1\t1\nq1\t2\n",
            2,
            "query 'q1' a second time, expected each query once; add up its numbers",
        ),
        (ir.read_traffic, "# nothing\n", 0, "an empty file"),
        (read_clusters, "query,user\nq1,\n", 2, "an empty cluster"),
        (
            partial(ir.read_traffic, zeros="refused"),
            "q1,1\nq2,0\n",
            2,
            "'0', expected a finite weight above 0; omit queries",
        ),
    ],
)
def test_errors_name_file_and_line(tmp_path, reader, text, line, found):
    path = tmp_path / "a.csv"
    path.write_text(text)

    with pytest.raises(FileFormatError, match=found) as caught:
        reader(path)
    assert (caught.value.path, caught.value.line) == (str(path), line)


def test_reports_show_regressions_first_and_say_what_is_left_out():
    qrels = {f"q{number}": {"a": 2, "b": 1} for number in range(4)}
    a = {"q0": ["a", "b"], "q1": ["a", "b"], "q2": ["x", "a"], "q3": ["a"]}
    b = {"q0": ["x", "y", "b"], "q1": ["a", "b"], "q2": ["a"]}
    found = ir.attribute(qrels, a, b, "nDCG@10", "standard,missing=left-out")

    text = attribution_report(found, queries=1, documents=1)

    assert "1 query better, 1 worse, 1 equal" in text
    assert (
        text.index("query q0: 1.0000 -> 0.1900")
        < text.index("1 more changed")
        < text.index("1 more query differs")
    )
    assert "a         2      1 -> none  0.7602 -> 0.0000     -0.7602" in text
    assert "left out of both: 1 query that the convention leaves out of one (q3)" in text
    cells = slices_cells(
        ir.slices({"q": 1.0, "p": 0.0}, {"q": 0.5, "p": 0.0}, {"q": "x", "o": "x"})
    )
    assert cells.rows[-1][0].text == "all"


def test_slices_of_one_run_come_from_a_file_a_dataframe_or_a_series(tmp_path: Path) -> None:
    run = ir.evaluate({1: {"x": 1}, 2: {"x": 1}}, {1: ["x"], 2: ["y", "x"]}, "RR")
    table = pd.DataFrame({"user": [1, 2], "segment": ["new", "old"]})
    table.to_csv(tmp_path / "segments.csv", index=False)
    for categories in (
        tmp_path / "segments.csv",
        table,
        table.set_index("user")["segment"],
        {1: "new", 2: "old"},
    ):
        assert {name: means["RR"].mean for name, means in run.by(categories).slices.items()} == {
            "new": 1.0,
            "old": 0.5,
        }
