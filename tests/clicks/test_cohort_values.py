"""Clicks and measures of cohorts: against values worked out list by list, and refusals of logs that
cannot be compared.
"""

import math
from typing import get_args

import numpy as np
import pytest

from idealrank.clicks import LogRows, Sessions, ab_effect, cohort_effects, novelty
from idealrank.clicks.ab_tests import Effect
from idealrank.clicks.arguments import Looks
from idealrank.clicks.cohort_values import CLICKED, CLICKS
from idealrank.errors import InputError, OptionError

QRELS = {"q0": {"d0": 3, "d1": 1, "d2": 0}, "q1": {"d1": 2, "d3": 1}, "q2": {"d0": 0}}


def cohorts(
    n_users: int = 60, seed: int = 1
) -> tuple[Sessions, np.ndarray, list[str], list[list[str]]]:
    """Users with one to three lists of three of five documents; users of B see better documents
    first.
    """
    rng = np.random.default_rng(seed)
    user, side, query, documents, clicks = [], [], [], [], []
    for number in range(n_users):
        cohort = "AB"[int(rng.integers(2))]
        for _ in range(int(rng.integers(1, 4))):
            order = (
                rng.permutation(5)
                if cohort == "A"
                else np.argsort(np.arange(5) + rng.normal(0, 1, 5))
            )
            user.append(f"u{number}")
            side.append(cohort)
            query.append(f"q{rng.integers(4)}")  # q3 has no judgments
            documents.append([f"d{place}" for place in order[:3]])
            clicks.append((rng.random(3) < 0.3).astype(int))
    return (
        Sessions.from_arrays(query, documents, np.array(clicks), user=user),
        np.array(side),
        query,
        documents,
    )


def ndcg(grades: dict[str, int], documents: list[str]) -> float:
    """Of three ranks: gains are grades, discounts are logarithms."""

    def dcg(gains: list[int]) -> float:
        return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains[:3], 1))

    best = dcg(sorted(grades.values(), reverse=True))
    return dcg([grades.get(document, 0) for document in documents]) / best if best else 0.0


def test_each_value_has_the_effect_of_its_values_list_by_list() -> None:
    log, side, query, documents = cohorts()
    compared = cohort_effects(log, side, QRELS, ["nDCG@3"], n_resamples=20)
    judged = np.array([query_id in QRELS for query_id in query])
    values = np.array(
        [
            ndcg(QRELS.get(query_id, {}), shown)
            for query_id, shown in zip(query, documents, strict=True)
        ]
    )
    share = np.array(
        [
            np.mean([document in QRELS.get(name, {}) for document in shown])
            for name, shown in zip(query, documents, strict=True)
        ]
    )
    clicks = log.clicks.sum(axis=1)
    expected = {
        CLICKS: (clicks, judged | True),
        CLICKED: (clicks > 0, judged | True),
        "nDCG@3": (values, judged),
        "Judged@3": (share, judged),
    }
    assert list(compared.effects) == list(expected)
    assert log.user is not None
    for name, (value, kept) in expected.items():
        effect = ab_effect(value[kept], side[kept], users=log.user[kept], n_resamples=20)
        assert compared.effects[name].interval == pytest.approx(effect.interval, abs=1e-12)
        assert compared.effects[name].bootstrap == pytest.approx(effect.bootstrap, abs=1e-12)
    assert (compared.n_lists, compared.n_judged) == (len(log), int(judged.sum()))


@pytest.mark.parametrize("looks", get_args(Looks))
def test_p_values_are_one_family_without_the_judged_share(looks: Looks) -> None:
    log, side, *_ = cohorts()
    compared = cohort_effects(log, side, QRELS, "nDCG@3", looks=looks)
    raw = sorted(
        (compared.effects[name].p if looks == "once" else compared.effects[name].p_always, name)
        for name in compared.p
    )
    assert [name for name in compared.effects if name not in compared.p] == ["Judged@3"]
    worst = 0.0
    for place, (p, name) in enumerate(raw):
        worst = min(1.0, max(worst, p * (len(raw) - place)))
        assert compared.p[name] == pytest.approx(worst)
    assert compared.verdict("Judged@3") == "-"


def test_lists_with_fewer_judged_documents_have_a_caution() -> None:
    lists = [["a", "b"]] * 8 + [["a", "c"]] * 6 + [["a", "b"]] * 2
    log = Sessions.from_arrays(["q"] * 16, lists, np.zeros((16, 2), int))
    cohorts = cohort_effects(log, ["A"] * 8 + ["B"] * 8, {"q": {"a": 1, "b": 1}}, "nDCG@2")
    assert cohorts.cautions == (
        "lists of B have fewer judged documents than lists of A (Judged@2 62.5% against "
        "100.0%): measures count unjudged documents as not "
        "relevant, which favours A; judge them first",
    )


def test_a_wrong_split_stops_every_verdict() -> None:
    log = Sessions.from_arrays(
        ["q"] * 100, [["a"]] * 100, np.r_[np.zeros(80), np.ones(20)].astype(int)[:, None]
    )
    cohorts = cohort_effects(log, ["A"] * 80 + ["B"] * 20)
    assert {cohorts.verdict(name) for name in cohorts.effects} == {"split is wrong"}


def test_a_list_of_two_cohorts_is_left_out() -> None:
    ranks, clicks = np.tile([1.0, 2.0], 2), np.zeros(4)
    rows = LogRows(
        session=["s", "s", "t", "t"],
        query=["q"] * 4,
        document=list("abab"),
        rank=ranks,
        click=clicks,
        cohort=["A", "B", "B", "B"],
    )
    check = rows.check()
    assert [(problem.kind, problem.n_lists) for problem in check.problems] == [("cohorts", 1)]
    assert check.cohort is not None
    assert check.cohort.tolist() == ["B"]


def test_cohorts_that_cannot_be_compared_are_refused() -> None:
    log, side, *_ = cohorts()
    with pytest.raises(InputError, match="cohort: found shape"):
        cohort_effects(log, side[1:])
    with pytest.raises(InputError, match="qrels: found no judgment of the 4 queries of the log"):
        cohort_effects(log, side, {"other": {"a": 1}})
    with pytest.raises(OptionError, match="of which more is not better"):
        cohort_effects(log, side, QRELS, "Unjudged@3")
    one_side = {"q0": {"d0": 1}}
    shown = Sessions.from_arrays(["q0"] * 2 + ["q1"] * 2, [["d0"]] * 4, np.zeros((4, 1), int))
    with pytest.raises(InputError, match="nDCG@10: found no list of cohort B with a value"):
        cohort_effects(shown, ["A", "A", "B", "B"], one_side)


@pytest.mark.slow
def test_intervals_of_a_measure_hold_the_truth() -> None:
    truth = np.mean([difference(20_000, 1000 + seed).difference for seed in range(20)])
    intervals = np.array([difference(150, seed).interval for seed in range(1000)])
    assert 0.93 <= np.mean((intervals[:, 0] <= truth) & (truth <= intervals[:, 1])) <= 0.97


def difference(n_users: int, seed: int) -> Effect:
    log, side, _, _ = cohorts(n_users, seed)
    return cohort_effects(log, side, QRELS, "nDCG@3", n_resamples=20).effects["nDCG@3"]


def test_a_covariate_and_periods_give_each_value_cuped_and_a_trend() -> None:
    log, side, _, _ = cohorts(200)
    assert log.user is not None
    users = np.unique(log.user, return_inverse=True)[1]
    # not from before the test, but it explains
    before = np.bincount(users, log.clicks.sum(axis=1))[users]
    period = np.arange(len(log)) % 3
    compared = cohort_effects(log, side, QRELS, ["nDCG@3"], covariate=before, period=period)
    plain = cohort_effects(log, side, QRELS, ["nDCG@3"])

    clicks = log.clicks.sum(axis=1)
    assert compared.effects[CLICKS] == ab_effect(clicks, side, users=log.user, covariate=before)
    assert compared.effects[CLICKS].standard_error < plain.effects[CLICKS].standard_error
    assert compared.trends[CLICKS].slope == novelty(clicks, side, period, users=log.user).slope
    assert list(compared.trends) == [CLICKS, CLICKED, "nDCG@3"]
    assert not plain.trends


def test_one_period_gives_a_caution_in_place_of_a_trend() -> None:
    log, side, _, _ = cohorts()
    compared = cohort_effects(log, side, period=np.zeros(len(log)))

    assert not compared.trends
    assert "no trend over time" in compared.cautions[0]


def test_lists_without_a_user_are_users_of_their_own_and_long_lists_are_left_out() -> None:
    """1,200 lists of visitors that are not logged in are no program; a list of 2,000 results is no
    list that a user saw.
    """
    sessions = [f"s{number}" for number in range(1200)]
    long = ["long"] * 2000
    rows = LogRows(
        session=sessions + long,
        query=["q"] * 3200,
        document=["a"] * 1200 + [f"d{number}" for number in range(2000)],
        rank=np.concatenate([np.ones(1200), np.arange(1.0, 2001)]),
        click=np.arange(3200) % 2.0,
        user=[""] * 1200 + ["u"] * 2000,
    )
    check = rows.check()
    assert [(problem.kind, problem.n_lists) for problem in check.problems] == [("lengths", 1)]
    assert check.sessions.user is not None
    assert np.unique(check.sessions.user).size == 1200
