"""Values of policies against the Open Bandit Pipeline, and the recorded values on the samples that
it brings.
"""

import csv
import gzip
import json
from typing import Any

import numpy as np
import pytest

from idealrank.clicks import doubly_robust, ips, slate_value
from tests.conftest import shared_file
from tests.parity_clicks.peer import asked

pytestmark = pytest.mark.peers
ITEMS = 34


@pytest.fixture(scope="module")
def arrays() -> dict[str, Any]:
    """The Bernoulli-TS sample, a uniform target policy, click rates of the uniform sample as a
    model, and lists of three places.
    """
    with gzip.open(shared_file("data", "open-bandit", "bts_men.csv.gz"), "rt") as file:
        rows = list(csv.DictReader(file))
    with gzip.open(shared_file("data", "open-bandit", "random_men.csv.gz"), "rt") as file:
        others = [(int(row["item_id"]), float(row["click"])) for row in csv.DictReader(file)]
    model = np.array(
        [np.mean([click for own, click in others if own == number]) for number in range(ITEMS)]
    )
    rng = np.random.default_rng(5)
    n = len(rows)
    return {
        "reward": np.array([float(row["click"]) for row in rows]),
        "action": np.array([int(row["item_id"]) for row in rows]),
        "pscore": np.array([float(row["propensity_score"]) for row in rows]),
        "target": np.full((n, ITEMS), 1 / ITEMS),
        "predicted": np.tile(model, (n, 1)),
        "slate_rewards": rng.binomial(1, 0.3, (400, 3)).astype(float),
        "slate_target": rng.uniform(0.2, 0.9, (400, 3)),
        "slate_logged": rng.uniform(0.2, 0.9, (400, 3)),
    }


@pytest.fixture(scope="module")
def said(arrays: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Any:
    return asked("obp", "obp_calls.py", tmp_path_factory.mktemp("obp"), **arrays)


def test_values_of_single_decisions_are_the_same(arrays: dict[str, Any], said: Any) -> None:
    reward, logged, rows = arrays["reward"], arrays["pscore"], np.arange(arrays["reward"].size)
    target = arrays["target"][rows, arrays["action"]]
    own, expected = (
        arrays["predicted"][rows, arrays["action"]],
        (arrays["target"] * arrays["predicted"]).sum(axis=1),
    )
    found = {
        "ips": ips(reward, target, logged),
        "snips": ips(reward, target, logged, "snips"),
        "clipped": ips(reward, target, logged, "clipped", 10),
        "dr": doubly_robust(reward, target, logged, own, expected),
        "switch": doubly_robust(reward, target, logged, own, expected, "switch", switch=10),
    }
    assert {name: one.value for name, one in found.items()} == pytest.approx(
        said["values"], rel=1e-10
    )


def test_values_of_lists_are_the_same(arrays: dict[str, Any], said: Any) -> None:
    columns = (arrays["slate_rewards"], arrays["slate_target"], arrays["slate_logged"])
    found = {
        name: slate_value(*columns, name).total.value
        for name in ("ips", "iips", "rips", "snips", "sniips", "snrips")
    }  # type: ignore[arg-type]
    assert found == pytest.approx(said["slates"], rel=1e-10)


@pytest.mark.parametrize("campaign", ["all", "men"])
def test_recorded_values_hold_on_the_samples_that_the_package_brings(
    campaign: str, said: Any
) -> None:
    expected = json.loads(shared_file("data", "open-bandit", "expected_ips.json").read_text())[
        "campaigns"
    ][campaign]
    sample = said["samples"][campaign]
    target = np.full(len(sample["click"]), 1 / expected["n_items"])
    columns = (np.array(sample["click"]), target, np.array(sample["propensity_score"]))
    found, recorded = ips(*columns), expected["uniform_from_bts"]
    assert len(sample["click"]) == expected["rows"]
    assert (found.value, found.standard_error) == pytest.approx(
        (recorded["ips"], recorded["ips_se"]), abs=1e-12
    )
    assert ips(*columns, "snips").value == pytest.approx(recorded["snips"], abs=1e-12)
    assert ips(*columns, "clipped", 10).value == pytest.approx(
        recorded["clipped_ips_at_10"], abs=1e-12
    )
    assert (found.effective_sample_size, found.max_weight, found.mean_weight) == pytest.approx(
        (recorded["ess"], recorded["max_weight"], recorded["mean_weight"]), rel=1e-12
    )
