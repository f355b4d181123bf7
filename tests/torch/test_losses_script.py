"""The committed comparison with sentence-transformers: values and gradients are equal, on lists of
any length.
"""

import runpy
from pathlib import Path

import pytest

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("ignore")]

SCRIPT = Path(__file__).resolve().parents[2] / "experiments" / "torch_losses.py"


def test_values_and_gradients_are_equal_and_the_table_says_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    script = runpy.run_path(str(SCRIPT))
    rows = script["main"](["--lists", "3", "--documents", "7", "40", "--repeats", "1"])
    assert {row.name for row in rows} == set(script["PAIRS"])
    # float32: sums over pairs in another order.
    assert all(row.difference < 1e-6 and row.difference_of_gradients < 1e-5 for row in rows)
    assert "sentence-transformers" in capsys.readouterr().out
