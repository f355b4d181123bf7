"""Training rows of click logs: which rows, with which labels, ranks and propensities; and a ranker
of them beside full labels.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from idealrank.clicks import Sessions, click_rows
from idealrank.errors import IdealrankError

LOG = Sessions.from_arrays(
    ["q", "r", "q", "r"],
    [["a", "b", "c"], ["a", "d", None], ["c", "a", "b"], ["d", None, None]],
    [[0, 1, 0], [0, 0, 0], [1, 0, 1], [1, 0, 0]],
)


def naive_rows(*, every: bool) -> list[tuple[str, str, int, float]]:
    found = []
    for query, pairs, clicks in zip(LOG.query, LOG.pair, LOG.clicks, strict=True):
        shown = [
            (LOG.documents[pair], rank, float(click))
            for rank, (pair, click) in enumerate(zip(pairs, clicks, strict=True), 1)
            if pair >= 0
        ]
        if every or len({click for *_, click in shown}) == 2:
            assert all(one[0] == LOG.queries[query] for one, *_ in shown)
            found += [(*one, rank, click) for one, rank, click in shown]
    return found


@pytest.mark.parametrize("lists", ["all", "with-pairs"])
def test_rows_are_what_lists_show(lists: Any) -> None:
    rows = click_rows(LOG, lists=lists)
    found = [
        (*LOG.documents[pair], rank, label)
        for pair, rank, label in zip(rows.pair, rows.positions, rows.labels, strict=True)
    ]
    assert found == naive_rows(every=lists == "all")
    assert rows.group.sum() == rows.labels.size
    assert rows.group.size + rows.n_left_out == len(LOG)


def test_a_propensity_may_be_of_the_rank_or_of_the_place() -> None:
    by_rank = click_rows(LOG, [1.0, 0.5, 0.25])
    by_place = click_rows(LOG, np.broadcast_to([1.0, 0.5, 0.25], LOG.pair.shape))
    assert (
        by_rank.propensity.tolist()
        == by_place.propensity.tolist()
        == (1.0 / 2.0 ** (by_rank.positions - 1)).tolist()
    )
    assert (
        by_rank.weights.tolist()
        == np.where(by_rank.labels > 0, 1 / by_rank.propensity, 1.0).tolist()
    )
    assert click_rows(LOG, [1.0, 0.5, 0.25], largest_weight=2).propensity.min() == 0.5


def test_weighted_clicks_are_those_of_users_who_see_every_rank() -> None:
    """The mean of label / propensity is the attractiveness: over lists of one document at random
    ranks, for any propensity.
    """
    from idealrank.clicks import simulate

    truth, propensity = np.array([[0.6, 0.3, 0.1]]), np.array([1.0, 0.4, 0.2])
    log = simulate(truth, 40_000, ranks=3, policy="random", propensity=propensity, rng=1)
    rows = click_rows(log, propensity, lists="all")
    document = np.array([int(one) for _, one in log.documents])[rows.pair]
    found = [(rows.labels * rows.weights)[document == one].mean() for one in range(3)]
    # The largest error is sqrt(0.6 / 0.2 / 40,000) = 0.009; four of them.
    assert found == pytest.approx(truth[0], abs=0.035)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([1.0, 0.5],), {}, r"found shape \(2,\), expected \(3,\), one a rank"),
        (([1.0, 0.0, 0.5],), {}, "session 0, rank 2: found 0, expected a number above 0"),
        (([1.0, np.nan, 0.5],), {}, "session 0, rank 2: found nan"),
        ((), {"lists": "clicked"}, "lists=clicked: expected one of with-pairs"),
        ((), {"largest_weight": 0.5}, "largest_weight=0.5: expected a number of 1 or more"),
    ],
)
def test_mistakes_are_refused(
    arguments: tuple[Any, ...], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(IdealrankError, match=message):
        click_rows(LOG, *arguments, **options)


@pytest.fixture
def training(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "experiments"))
    import click_training

    return click_training


def test_weights_of_a_short_log_make_a_better_ranker(
    training: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [
        "--logs",
        "2",
        "--sessions",
        "3000",
        "--queries",
        "100",
        "--rounds",
        "15",
        "--rankers",
        "4",
    ]
    full, naive, _, weighted, _ = training.main(options)
    assert naive.means.mean() + 0.01 < weighted.means.mean() < full.means.mean()
    assert "difference to full labels" in capsys.readouterr().out


RECOVERING = {
    "plackett-luce": {
        "clicks, true propensities",
        "clicks, harvested propensities",
        "clicks, PBM's propensities",
        "unbiased LambdaMART, bias=clicked",
        "LightGBM's, positions, penalty 0",
    },
    "fixed": {
        "clicks, true propensities",
        "unbiased LambdaMART, bias=clicked",
        "LightGBM's, positions, penalty 0",
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("policy", sorted(RECOVERING))
def test_weighted_clicks_recover_two_thirds_of_what_full_labels_give_and_more(
    training: Any, policy: str
) -> None:
    found = {
        one.name: one.means.mean() for one in training.main(["--logs", "2", "--policy", policy])
    }
    full, naive = found["full labels"], found["clicks as labels"]
    assert RECOVERING[policy] <= {
        name for name, mean in found.items() if mean > full - (full - naive) / 3
    }
    assert found["LightGBM's, positions, penalty 0.1"] < full - (full - naive) / 2
    assert ("clicks, harvested propensities" in found) == (policy != "fixed")
