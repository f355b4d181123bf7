"""How sure `choose` is, by the experiment that says so: mistakes are as rare as promised, and small
sets see more than halves.
"""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest


@pytest.fixture
def experiment(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "experiments"))
    yield importlib.import_module("choice_of_size")
    sys.modules.pop("choice_of_size", None)


def test_one_collection_of_each_kind(experiment: ModuleType) -> None:
    generator = np.random.default_rng(1)

    assert experiment.mistakes(20, 3, 1, generator) in (0.0, 1.0)
    assert 0 <= experiment.power(20, 3, 0.25, 1, generator) <= 1


@pytest.mark.slow
def test_settings_that_are_alike_are_seldom_told_apart(experiment: ModuleType) -> None:
    # of 0.05, beyond three standard deviations
    assert experiment.mistakes(50, 5, 100, np.random.default_rng(3)) <= 0.13


@pytest.mark.slow
def test_small_sets_of_queries_tell_settings_apart_and_halves_do_not(
    experiment: ModuleType,
) -> None:
    tenth, half = (
        experiment.power(50, 6, share, 20, np.random.default_rng(3)) for share in (0.1, 0.5)
    )

    assert tenth > 0.5 > 2 * half
