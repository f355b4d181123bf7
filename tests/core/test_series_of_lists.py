"""A pandas Series of lists by query, as ``groupby`` makes of interactions, is a mapping of them."""

from collections.abc import Callable

import pandas as pd
import polars as pl
import pytest

import idealrank as ir

SEEN = pd.DataFrame({"user": [1, 1, 2], "item": [10, 11, 12]})
SHOWN = pd.DataFrame({"user": [1, 1, 2, 2], "item": [10, 13, 14, 12]})
QRELS, RUN = (frame.groupby("user").item.agg(list) for frame in (SEEN, SHOWN))
OTHER = pd.Series({1: [13, 10], 2: [12, 14]})


def _plain(lists: pd.Series) -> dict[str, list[str]]:
    return {str(user): list(map(str, items)) for user, items in lists.items()}


@pytest.mark.parametrize("kind", [list, tuple, set])
def test_it_is_evaluated_as_the_mapping_is(kind: Callable[[list[int]], object]) -> None:
    found = ir.evaluate(QRELS.map(kind), RUN, ["HR@1", "AP"])

    assert found.per_query() == ir.evaluate(_plain(QRELS), _plain(RUN), ["HR@1", "AP"]).per_query()


def test_it_is_compared_as_the_mapping_is() -> None:
    series = ir.compare(QRELS, RUN, OTHER, measures="RR")

    assert str(series) == str(ir.compare(_plain(QRELS), _plain(RUN), _plain(OTHER), measures="RR"))


def test_a_series_of_numbers_stays_an_array() -> None:
    assert ir.ndcg(pd.Series([1, 0]), pd.Series([0.2, 0.9])).shape == (1,)


def test_runs_by_name_are_told_to_be_arguments() -> None:
    with pytest.raises(
        ir.InputError,
        match=r"compare\(qrels, run_a, run_b\), .*; give each run by itself, and names=\[\.\.\.\]",
    ):
        ir.compare(SEEN, {"old": SHOWN, "new": SHOWN}, measures="RR")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_of_lists_is_evaluated_as_the_mapping_is(library: str) -> None:
    shown = SHOWN.groupby("user").item.agg(list).reset_index()
    frame = (
        shown
        if library == "pandas"
        else pl.DataFrame({"user": shown["user"].to_list(), "item": shown["item"].to_list()})
    )
    expected = ir.evaluate(_plain(QRELS), _plain(RUN), ["HR@1", "AP"])

    assert ir.evaluate(_plain(QRELS), frame, ["HR@1", "AP"]).per_query() == expected.per_query()
    of_judgments = ir.evaluate(frame, _plain(RUN), ["HR@1", "AP"])
    assert (
        of_judgments.per_query()
        == ir.evaluate(_plain(RUN), _plain(RUN), ["HR@1", "AP"]).per_query()
    )
