"""Errors of the libraries in training become errors of input; errors of our own code, and our own
errors, stay what they are.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import idealrank as ir
from idealrank.training import trainers
from idealrank.training.configuration import TrainingConfig


class LibraryError(Exception):
    """As `catboost.CatBoostError`: no ValueError."""


def raises(error: Exception) -> Any:
    raise error


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (
            lambda: raises(LibraryError("Unknown option 'depht'\nmore")),
            "CatBoost: Unknown option 'depht'; expected parameters and data that",
        ),
        (lambda: raises(LibraryError()), "CatBoost: LibraryError; expected parameters"),
        (lambda: int("many"), "CatBoost: invalid literal for int()"),
        (lambda: np.zeros(10**30), "CatBoost: "),
    ],
)
def test_an_error_of_catboost_names_the_keys_to_change(
    work: Callable[[], Any], message: str
) -> None:
    with pytest.raises(ir.InputError) as refused, trainers._refusals("CatBoost", LibraryError):
        work()
    assert str(refused.value).startswith(message)
    assert str(refused.value).endswith("change model.params or data")


def test_our_own_errors_and_faults_stay_what_they_are() -> None:
    with (
        pytest.raises(ir.OptionError, match="expected this"),
        trainers._refusals("CatBoost", LibraryError),
    ):
        raises(ir.OptionError("found that, expected this"))
    with pytest.raises(KeyError), trainers._refusals("CatBoost", LibraryError):
        raises(KeyError("a fault"))
    with pytest.raises(ValueError, match="broadcast"), trainers._refusals("CatBoost", LibraryError):
        exec(
            "raise ValueError('could not broadcast')", {"__name__": "idealrank.training.objectives"}
        )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"params": {"loss_function": 3}},
            "model.params.loss_function: found 3, expected a text, the name of an objective",
        ),
        (
            {"params": {"depth": 3, "iterations": "many"}},
            "model.rounds: found 'many', expected a whole number",
        ),
    ],
)
def test_the_configuration_of_catboost_is_checked_without_it(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ir.OptionError, match=message):
        TrainingConfig.of({"data": {"train": "a"}, "model": {"library": "catboost"} | changes})


def test_catboost_takes_its_own_names_of_rounds_and_objective() -> None:
    model = {
        "library": "catboost",
        "params": {
            "loss_function": "YetiRankPairwise",
            "n_estimators": 7,
            "early_stopping_rounds": 3,
        },
    }
    found = TrainingConfig.of({"data": {"train": "a", "valid_share": 0.2}, "model": model})
    assert (found.own_objective, found.model.rounds, found.truncation, found.takes_grades) == (
        "YetiRankPairwise",
        7,
        None,
        False,
    )
    assert (found.evaluation.convention, found.own_convention) == (
        "standard,ties=expected",
        "catboost",
    )
    assert (found.evaluation.measures, found.evaluation.stop_after) == (("nDCG@10",), 3)


def test_catboost_is_refused_an_objective_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainers, "load_extra", lambda *_: object())
    config = TrainingConfig.of(
        {"data": {"train": "a"}, "model": {"library": "catboost"}, "objective": {"cutoff": 5}}
    )
    with pytest.raises(ir.OptionError, match="objective: CatBoost hands no groups to Python"):
        trainers.train_model(config, {}, 0, lambda *_: None)
