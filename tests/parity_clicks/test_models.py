"""Click models against clax-models, which climbs the same likelihood by gradients, and harvested
propensities against ultr-bias-toolkit.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from idealrank.clicks import PBM, Cascade, Sessions, harvested_propensities, simulate
from tests.parity_clicks.peer import asked

pytestmark = pytest.mark.peers
SEEN = np.array([1.0, 0.6, 0.4])


def log() -> Sessions:
    return simulate(
        np.random.default_rng(1).beta(2, 3, (4, 5)),
        3000,
        ranks=3,
        propensity=SEEN,
        policy="random",
        rng=2,
    )


def design() -> Sessions:
    """Every document as often at each rank: then both programs weigh documents alike."""
    rng = np.random.default_rng(3)
    shown = np.tile([[0, 1, 2], [1, 2, 0], [2, 0, 1]], (900, 1))
    return Sessions.from_arrays(
        ["q"] * len(shown), shown, rng.random(shown.shape) < np.array([0.7, 0.4, 0.5])[shown] * SEEN
    )


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Any:
    found, other = log(), design()
    first = found.clicks & (np.cumsum(found.clicks, axis=1) == 1)
    return asked(
        "models",
        "models_calls.py",
        tmp_path_factory.mktemp("models"),
        pair=found.pair,
        clicks=found.clicks,
        first_clicks=first,
        design_pair=other.pair,
        design_clicks=other.clicks,
    )


def test_a_position_based_model_has_the_likelihood_and_the_propensities_of_the_gradient(
    said: Any,
) -> None:
    fitted = PBM(iterations=3000).fit(log())
    likelihood = fitted.log_likelihood(log())
    assert likelihood >= said["pbm"] - 0.05  # single precision there, over 9,000 clicks
    assert likelihood == pytest.approx(said["pbm"], rel=1e-4)
    examination = np.array(said["examination"])
    assert fitted.relative_propensity == pytest.approx(examination / examination[0], abs=0.01)


def test_the_cascade_model_has_a_greater_likelihood_than_that_of_the_gradient(said: Any) -> None:
    """The peer takes the probability of a click without the clicks above for the one given them:
    its maximum is another one.
    """
    first = replace(log(), clicks=log().clicks & (np.cumsum(log().clicks, axis=1) == 1))
    fitted = Cascade().fit(log())
    theirs = replace(
        fitted, attractiveness_values=np.array(said["cascade"])[: len(fitted.documents)]
    )
    assert fitted.log_likelihood(first) > theirs.log_likelihood(first) + 10
    assert np.corrcoef(fitted.attractiveness_values, theirs.attractiveness_values)[0, 1] > 0.95


def test_harvested_propensities_are_the_same_where_documents_weigh_alike(said: Any) -> None:
    pivot = harvested_propensities(design(), method="pivot", n_resamples=0).relative
    assert pivot == pytest.approx(said["harvested"]["pivot"], abs=1e-12)
    every = harvested_propensities(design(), n_resamples=0).relative
    # Adam stops near the top
    assert every == pytest.approx(said["harvested"]["all-pairs"], abs=0.005)
