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
def test_a_frame_of_lists_is_refused_with_the_mapping_to_pass(library: str) -> None:
    shown = SHOWN.groupby("user").item.agg(list).reset_index()
    frame = (
        shown
        if library == "pandas"
        else pl.DataFrame({"user": shown["user"].to_list(), "item": shown["item"].to_list()})
    )
    found = "found lists in column 'item', expected one document a row"

    with pytest.raises(ir.InputError, match=f"^run: {found}; pass a mapping") as caught:
        ir.evaluate(_plain(QRELS), frame, "HR@1")
    with pytest.raises(ir.InputError, match=f"^qrels: {found}"):
        ir.evaluate(frame, _plain(RUN), "HR@1")
    advised = eval(caught.value.hint.partition(": ")[2], {"frame": frame})
    assert (
        ir.evaluate(_plain(QRELS), advised, "HR@1").mean()
        == ir.evaluate(_plain(QRELS), _plain(RUN), "HR@1").mean()
    )
