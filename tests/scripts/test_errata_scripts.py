"""The scripts that show where the theory's paper needs a correction: the numbers that they
print.
"""

import importlib.util
import math
from itertools import pairwise
from types import ModuleType

import pytest

from tests.conftest import ROOT
from tests.twins.means_of_lists import mean_ndcg_of_noise


def script(name: str) -> ModuleType:
    """A file as a module, wherever it lies."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "experiments" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_late_winner() -> None:
    """Signs by Definition 20 at 10^3 .. 10^9 as recomputed independently; then the other ranker
    wins, for ever.
    """
    late = script("late_winner")
    found = {k: plain for k, plain, _ in late.rows(0.03)}
    assert [found[3], found[6], found[9]] == pytest.approx([8.6e-3, 1.0e-3, 1.5e-4], rel=0.06)
    assert [k for k, plain in found.items() if plain < 0] == [11, 12, 15, 20, 30, 40, 100, 1000]
    assert all((plain > 0) == (corrected > 0) for _, plain, corrected in late.rows(0.03))
    assert late.pair(0.03).coefficient == pytest.approx(-0.012, abs=1e-13)
    turns = [late.turn(late.pair(tilt)) for tilt in (0.03, 0.01)]
    assert turns == pytest.approx([10.83, 30.07], abs=0.01)


def test_the_constant_of_lemma_22() -> None:
    """The sequences come to a / p; K = 0 would need a difference of equal shares."""
    lemma = script("lemma22_constant")
    for name, pair in lemma.PAIRS.items():
        found = lemma.expansion(*pair)
        assert abs(lemma.nought(name)) < 1e-15
        assert found.order >= 1
        last = lemma.sequence(found)[-1]
        assert last == pytest.approx(found.coefficient, rel=2e-3)
        assert abs(last - found.without_p) > 0.3 * abs(last)


@pytest.mark.slow
def test_the_exponent_of_lemma_23() -> None:
    """n |E - N| and n sd grow; the simulated mean at n = 10^6 was 0.94490109(1); small lists by a
    second program.
    """
    lemma = script("lemma23_exponent")
    assert lemma.mean_and_spread("log2", 10**6)[0] == pytest.approx(0.94490109, abs=3e-8)
    assert lemma.mean_and_spread("zipf(0.5)", 300) == pytest.approx(
        mean_ndcg_of_noise(0.5, 300, "zipf(0.5)"), abs=1e-13
    )
    for discount, expected in (("log2", (-0.9, -0.6)), ("zipf(0.5)", (-0.5, -0.45))):
        assert lemma.exponents(discount) == pytest.approx(expected, abs=0.03)
        scaled = [(n * gap, n * spread) for n, gap, spread in lemma.rows(discount)]
        assert all(
            before[0] < after[0] and 2 * before[1] < after[1] for before, after in pairwise(scaled)
        )


def test_the_mean_of_four_documents_by_all_lists() -> None:
    """Sixteen lists of four, one of them without a relevant document."""
    discount = [1 / math.log(rank + 1) for rank in range(1, 5)]
    lists = [[(code >> place) & 1 for place in range(4)] for code in range(1, 16)]
    values = [
        sum(w * y for w, y in zip(discount, each, strict=True)) / sum(discount[: sum(each)])
        for each in lists
    ]
    mean = sum(values) / 15
    spread = math.sqrt(sum((value - mean) ** 2 for value in values) / 15)
    assert script("lemma23_exponent").mean_and_spread("log2", 4) == pytest.approx(
        (mean, spread), abs=1e-14
    )


def test_small_slips() -> None:
    """Each by its number."""
    small = script("small_errata")
    squares = small.squares().shown
    assert squares["D(1)^2"] == pytest.approx(1 / math.log(2) ** 2)
    assert squares["D(1)^2"] > squares["D(1)"]
    total, integral, bound = small.sums().shown.values()
    assert integral < total < bound
    lemma = small.constant().shown
    assert lemma["zeta(b)"] == pytest.approx(-1.4603545088095868, abs=1e-12)
    assert (lemma["N_0 - N_1"], lemma["N*_0 - N*_1"]) == pytest.approx(
        (-1.58e-4, -1.16e-4), abs=6e-7
    )
    exact = list(lemma.values())[-1]
    assert abs(lemma["N*_0 - N*_1"] - exact) < 0.01 * abs(lemma["N_0 - N_1"] - exact)
    assert math.isnan(*small.nothing().shown.values())
    assert list(small.ties().shown.values()) == [0.25, 0.5]
    assert list(small.sign().shown.values()) == pytest.approx([0.1, -0.1])
    assert list(small.unbounded().shown.values()) == pytest.approx([0.0724, 78627], rel=1e-3)
    assert list(small.divisor().shown.values()) == pytest.approx([0.0786, 1], rel=1e-3)


@pytest.mark.spread(2)
@pytest.mark.parametrize(
    "name", ["late_winner", "lemma22_constant", "lemma23_exponent", "small_errata"]
)
def test_what_is_printed(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Where, what is printed, what was found, and the numbers."""
    script(name).main([])
    text = capsys.readouterr().out
    assert all(
        word in text
        for word in (
            ("printed", "found", "shown")
            if name == "small_errata"
            else ("Where", "Printed", "Found", "Shown by")
        )
    )
    assert len(text.splitlines()) > 20
