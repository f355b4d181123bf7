"""Items in any order are brought together by query, as pandas does it."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from idealrank.data.lists import group_by_id
from idealrank.errors import InputError

NUMBERS = st.lists(st.integers(-3, 3) | st.integers(-(2**62), 2**62), max_size=30).map(np.array)
FEW_NUMBERS = st.lists(st.integers(-2, 2), max_size=30).map(lambda ids: np.array(ids, np.int8))
UNSIGNED = st.lists(st.sampled_from([0, 1, 2**63, 2**64 - 1]), max_size=30).map(
    lambda ids: np.array(ids, np.uint64)
)
TEXTS = st.lists(st.sampled_from(["b", "a", "é", ""]), max_size=30).map(np.array)


@given(NUMBERS | FEW_NUMBERS | UNSIGNED | TEXTS)
def test_queries_and_their_items_are_those_of_pandas(qid: np.ndarray) -> None:
    offsets, order, queries = group_by_id(qid, qid.size)

    order = np.arange(qid.size) if order is None else order
    found = {
        name: order[begin:end].tolist()
        for name, begin, end in zip(queries, offsets[:-1], offsets[1:], strict=True)
    }
    expected = {
        str(name): rows.tolist()
        for name, rows in pd.Series(np.arange(qid.size)).groupby(qid, sort=False).indices.items()
    }
    assert found == expected
    assert list(queries) == [str(name) for name in pd.unique(qid)]


def test_queries_that_stand_together_are_not_moved() -> None:
    offsets, order, queries = group_by_id(np.array([5, 5, 2, 9, 9]), 5)

    assert (offsets.tolist(), order, list(queries)) == ([0, 2, 3, 5], None, ["5", "2", "9"])


@pytest.mark.parametrize(
    ("qid", "message"),
    [
        (np.array([1.0, np.nan]), "NaN at item 1"),
        (np.array(["a", None, 3], object), "several types"),
    ],
)
def test_items_without_a_usable_id_are_refused(qid: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        group_by_id(qid, qid.size)
