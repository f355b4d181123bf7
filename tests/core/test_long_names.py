"""Names of any length are refused at once, and comparisons of very many runs are announced."""

import time
import warnings

import pytest

import idealrank as ir
from idealrank.analysis.comparison.procedure import _pairs
from idealrank.errors import IdealrankWarning, OptionError

_LONG = "x" * 1_000_000


@pytest.mark.spread(2)
@pytest.mark.parametrize(
    "measure",
    [_LONG, f"nDCG({_LONG}=3)", f"nDCG(gain={_LONG})", "ndcg_" + "1" * 1_000_000, "n_1" * 300_000],
)
def test_a_measure_of_a_million_letters_is_refused_at_once(measure: str) -> None:
    start = time.process_time()
    with pytest.raises(OptionError) as refused:
        ir.evaluate({"q": {"a": 1}}, {"q": ["a"]}, measure)

    assert time.process_time() - start < 3
    assert len(str(refused.value)) < 1000


def test_a_convention_of_a_million_letters_is_refused_at_once() -> None:
    start = time.process_time()
    with pytest.raises(OptionError, match="unknown convention"):
        ir.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "RR", convention=_LONG)

    assert time.process_time() - start < 3


def test_very_many_pairs_are_announced_with_what_to_do() -> None:
    names = [f"run{number}" for number in range(300)]

    with pytest.warns(IdealrankWarning, match="300 runs make 44,850 pairs.*baseline="):
        assert len(_pairs(names, None)) == 44_850
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(_pairs(names, "run7")) == 299
        assert len(_pairs(names[:200], None)) == 19_900
