"""Interleaving: lists and credit by hand, tests of preference against SciPy, and what peeking does
to either.
"""

import math
from collections import Counter
from typing import get_args

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from idealrank.clicks import Interleaved, interleave, lists_needed, preference
from idealrank.clicks.arguments import Looks
from idealrank.clicks.interleaving import Method
from idealrank.clicks.views.online import preference_parts
from idealrank.errors import InputError, OptionError


def test_a_team_draft_gives_every_order_of_captains_its_share() -> None:
    lists = Counter(
        interleave(["a", "b", "c"], ["b", "a", "d"], length=4, rng=seed).documents
        for seed in range(2000)
    )
    # Round one gives (a, b) or (b, a); then c and d stand in either order, by another draw.
    assert set(lists) == {
        ("a", "b", "c", "d"),
        ("a", "b", "d", "c"),
        ("b", "a", "c", "d"),
        ("b", "a", "d", "c"),
    }
    assert all(abs(count - 500) < 100 for count in lists.values())


def test_each_round_of_a_team_draft_has_one_document_of_each_team() -> None:
    for seed in range(50):
        mixed = interleave(list("abcdefgh"), list("hgfedcba"), length=8, rng=seed)
        assert sorted(mixed.documents) == list("abcdefgh")
        assert all(
            {mixed.teams[place], mixed.teams[place + 1]} == {"A", "B"} for place in range(0, 8, 2)
        )


def test_a_list_ends_with_the_documents_that_there_are() -> None:
    assert set(interleave(["a"], ["a", "b"], length=10, rng=1).documents) == {"a", "b"}
    for method in get_args(Method):
        assert set(
            interleave(["a", "c"], ["a", "b"], length=10, rng=1, method=method).documents
        ) == {"a", "b", "c"}


@pytest.mark.slow
def test_random_clicks_prefer_neither_ranking_in_a_team_draft_and_one_in_a_balanced_list() -> None:
    """The known fault of balanced interleaving: a ranking that is the other one shifted wins with
    random clicks.
    """
    shifted = ["b", "c", "d", "a"]
    rng = np.random.default_rng(3)

    def share(method: Method) -> float:
        signs = []
        for seed in range(1500):
            shown = interleave(list("abcd"), shifted, length=4, rng=seed, method=method)
            clicks = np.zeros(len(shown.documents), int)
            clicks[rng.integers(clicks.size)] = 1
            signs.append(shown.preference(clicks))
        return float(np.mean(np.array(signs) > 0) / np.mean(np.array(signs) != 0))

    assert share("team-draft") == pytest.approx(0.5, abs=0.04)
    assert share("balanced") == pytest.approx(0.75, abs=0.04)


def test_credit_of_probabilistic_interleaving_is_the_chance_that_a_ranking_gave_the_document() -> (
    None
):
    mixed = interleave(["a", "b"], ["b", "a"], length=2, rng=4, method="probabilistic")
    first = {"a": (1 / 8) / (1 + 1 / 8), "b": 1 / (1 + 1 / 8)}[mixed.documents[0]]
    assert mixed.shares == pytest.approx((first, 0.5))


def test_users_prefer_the_team_of_more_clicks() -> None:
    shown = Interleaved(
        documents=("a", "b", "c"),
        teams=("A", "B", "A"),
        method="team-draft",
        shares=(0.0, 1.0, 0.0),
    )
    assert [
        shown.preference(clicks)
        for clicks in ([1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 0], [1, 1, 1])
    ] == [-1, 1, 0, 0, -1]
    with pytest.raises(InputError, match="expected 0 or 1 for each of the 3 documents"):
        shown.preference([1, 2, 0])


@pytest.mark.parametrize(("a", "b"), [(5, 30), (0, 4), (10, 10), (7, 0), (199, 240)])
def test_a_test_of_planned_size_is_scipys(a: int, b: int) -> None:
    outcome = preference([1] * b + [-1] * a + [0] * 3)
    expected = binomtest(b, a + b, 0.5)
    interval = expected.proportion_ci(0.95, "exact")
    assert outcome.p == pytest.approx(expected.pvalue, rel=1e-9)
    assert outcome.interval == pytest.approx((interval.low, interval.high), abs=1e-9)


def test_users_that_click_at_random_prefer_neither_ranking_in_probabilistic_lists() -> None:
    """Credit has the sign of the team: the sign of a sum of shares prefers A in all of these
    tests.
    """
    rng = np.random.default_rng(8)
    verdicts, by_shares = [], []
    for _ in range(2):
        signs, shares = [], []
        for _ in range(900):
            shown = interleave(
                list("abcdef"), list("fabcde"), length=6, method="probabilistic", rng=rng
            )
            place = int(rng.integers(6))
            signs.append(shown.preference(np.arange(6) == place))
            shares.append(shown.shares[place] - 0.5)
        verdicts.append(preference(signs).verdict)
        by_shares.append(preference(np.where(np.abs(shares) < 1e-12, 0, shares)).verdict)
    assert verdicts == ["undecided"] * 2
    assert by_shares == ["A"] * 2


@pytest.mark.slow
def test_a_test_that_is_looked_at_again_and_again_keeps_its_level_by_the_sequence_alone() -> None:
    rng = np.random.default_rng(6)
    looked, planned = 0, 0
    for _ in range(100):
        wins = np.cumsum(rng.random(400) < 0.5)
        looks = [(size, int(wins[size - 1])) for size in range(20, 401, 20)]
        outcomes = [preference([1] * b + [-1] * (size - b)) for size, b in looks]
        looked += any(outcome.verdict != "undecided" for outcome in outcomes)
        planned += any(outcome.p < 0.05 for outcome in outcomes)
    assert looked <= 5
    assert planned > 12  # what peeking does to the other


def test_a_share_is_in_the_sequence_as_long_as_its_likelihood_ratio_is_small() -> None:
    outcome = preference([1] * 30 + [-1] * 12)
    mixture = math.lgamma(13) + math.lgamma(31) - math.lgamma(44)
    for end in outcome.sequence:
        assert mixture - 30 * math.log(end) - 12 * math.log1p(-end) == pytest.approx(
            math.log(20), abs=1e-6
        )


def test_lists_of_one_user_count_as_one() -> None:
    outcome = preference([1, 1, -1, -1, -1], users=["u", "u", "u", "v", "v"])
    assert (outcome.wins_a, outcome.wins_b) == (1, 1)


@pytest.mark.parametrize("looks", get_args(Looks))
@pytest.mark.parametrize(("share", "wanted"), [(0.6, 0.8), (0.7, 0.9)])
def test_the_verdict_has_the_power_of_the_plan_at_the_planned_size(
    looks: Looks, share: float, wanted: float
) -> None:
    def power(size: int) -> float:
        """Exact probability of the verdict B."""
        decided = [
            b
            for b in range(size + 1)
            if preference([1] * b + [-1] * (size - b), looks=looks).verdict == "B"
        ]
        return float(binom.pmf(decided, size, share).sum())

    size = lists_needed(share, power=wanted, looks=looks)

    assert power(size) >= wanted > power(size - 1)


def test_a_plan_for_any_look_needs_more_lists_than_one_for_a_single_look() -> None:
    assert [lists_needed(0.6, ties=0.5, looks=looks) for looks in get_args(Looks)] == [906, 420]
    with pytest.raises(OptionError, match="looks=twice: expected one of"):
        lists_needed(0.6, looks="twice")  # type: ignore[arg-type]


def test_a_verdict_for_one_look_is_that_of_the_sign_test() -> None:
    outcomes = [1] * 30 + [-1] * 15
    assert binomtest(30, 45, 0.5).pvalue < 0.05
    assert [preference(outcomes, looks=looks).verdict for looks in get_args(Looks)] == [
        "undecided",
        "B",
    ]


def test_a_share_of_one_half_cannot_be_planned() -> None:
    with pytest.raises(OptionError, match=r"share=0\.5"):
        lists_needed(0.5)


def test_rankings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(InputError, match="ranking_b: found 'a' twice"):
        interleave(["a"], ["a", "a"])
    with pytest.raises(InputError, match="ranking_a: found no document"):
        interleave([], ["a"])


@pytest.mark.parametrize("looks", ["any", "once"])
def test_an_undecided_preference_states_the_share_that_it_detects(looks: str) -> None:
    outcome = preference([1] * 103 + [-1] * 97 + [0] * 10, looks=looks)

    assert outcome.verdict == "undecided"
    wins = np.arange(201)
    decides = np.array(
        [preference([1] * b + [-1] * (200 - b), looks=looks).verdict == "B" for b in wins.tolist()]
    )
    power = binom.pmf(wins, 200, outcome.detectable)[decides].sum()
    assert power == pytest.approx(0.8, abs=1e-9)
    (head, *_) = preference_parts(outcome)
    assert " ".join(head[1:]) == (
        f"With these 200 lists with a preference, a share of B of {outcome.detectable:.3f} or "
        f"{1 - outcome.detectable:.3f} would be found 80% of the time; shares between them may be "
        "missed."
    )


def test_three_lists_detect_no_preference() -> None:
    outcome = preference([1, 1, -1])

    assert outcome.detectable is None
    (head, *_) = preference_parts(outcome)
    assert " ".join(head[1:]) == "The 3 lists with a preference are too few to find any preference."
