"""Sums over subsets of rows agree with their twin, and refuse arrays that do not fit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from idealrank import _kernel as kernel
from tests.conftest import examples
from tests.twins import subsets_twin as twin


@given(
    n_rows=st.integers(1, 45),
    width=st.integers(1, 19),
    n_draws=st.integers(1, 9),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=examples(100), deadline=None)
def test_sums_over_subsets_agree_with_the_twin(
    n_rows: int, width: int, n_draws: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    columns = rng.integers(-(2**40), 2**40, (n_rows, width)).astype(np.float64)
    picks = rng.integers(0, 256, (-(-n_rows // 8), n_draws), dtype=np.uint8)
    sums = np.full((n_draws, width), np.nan)
    kernel.sum_subsets(columns, picks, sums)
    assert sums.tolist() == twin.sum_subsets(columns.tolist(), picks.tolist())


@pytest.mark.parametrize(
    ("picks", "out", "message"),
    [
        ((2, 3), (3, 2), "picks must have"),
        ((1, 3), (4, 2), "out must have"),
        ((1, 3), (3, 1), "out must have"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(
    picks: tuple[int, int], out: tuple[int, int], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        kernel.sum_subsets(np.zeros((5, 2)), np.zeros(picks, np.uint8), np.zeros(out))
