"""Tests with users: false verdicts under peeking, power of the plan, and credit of clicks from
indifferent users.

False verdicts  A/B tests without a difference, read 40 times up to 20, 60, 400 or 2,000 users:
                tests with a verdict at some look, by each convention of `ab_effect`. Half of the
                users are in B, or nearly all.
Worlds          Normal values; 5 % of the users convert; clicks per list of users that differ in
                lists and in click rate; lognormal revenue.
Power           Tests with the true difference of the plan, at the planned number: read once there,
                or 40 times until then.
Credit          Users that click whatever the documents are, on lists of every interleaving method.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import get_args

import numpy as np
from gate_simulation import lined
from models import at_least_1

from idealrank.clicks import Effect, ab_effect, interleave, lists_needed, preference, users_needed
from idealrank.clicks.arguments import Looks
from idealrank.clicks.interleaving import Method
from idealrank.data.types import FloatArray, IntArray

USERS = (20, 60, 400, 2000)
# share of users in B, and users
UNEQUAL = ((0.9, 400), (0.9, 2000), (0.9, 10_000), (0.99, 2000), (0.99, 10_000))
LOOKS = 40
DEFAULT_PLAN = 10_000

Sample = tuple[FloatArray, FloatArray]  # values and denominators, one of each per user
Draw = Callable[[np.random.Generator, int], Sample]


def _normal(rng: np.random.Generator, users: int) -> Sample:
    return rng.normal(size=users), np.ones(users)


def _conversion(rng: np.random.Generator, users: int) -> Sample:
    return (rng.random(users) < 0.05).astype(float), np.ones(users)


def _clicks(rng: np.random.Generator, users: int) -> Sample:
    lists = rng.geometric(0.3, users)
    return rng.binomial(lists, rng.beta(1, 3, users)).astype(float), lists.astype(float)


def _revenue(rng: np.random.Generator, users: int) -> Sample:
    return np.exp(rng.normal(0, 1.5, users)), np.ones(users)


WORLDS: dict[str, Draw] = {
    "normal": _normal,
    "5 % convert": _conversion,
    "clicks per list": _clicks,
    "lognormal": _revenue,
}

# share of B among lists with a preference, share of lists without
LIST_PLANS = ((0.6, 0.5), (0.55, 0.0))
# difference in standard deviations, planned users
USER_PLANS = ((0.5, 10_000), (0.5, 400), (0.2, 10_000))

RANKINGS = {
    "reversed": ("abcdef", "fedcba"),
    "first to last": ("abcdef", "bcdefa"),
    "last to first": ("abcdef", "fabcde"),
}


def _one_click(rng: np.random.Generator) -> IntArray:
    clicked = np.zeros(6, np.int64)
    clicked[rng.integers(6)] = 1
    return clicked


def _top_clicks(rng: np.random.Generator) -> IntArray:
    return (rng.random(6) < 0.8 / np.arange(1, 7)).astype(np.int64)


CLICKS: dict[str, Callable[[np.random.Generator], IntArray]] = {
    "one, at any rank": _one_click,
    "rather at the top": _top_clicks,
}


@dataclass(frozen=True, kw_only=True)
class FalseVerdicts:
    """Shares of tests without a difference that have a verdict at some look.

    `at_any_look` and `own_plan` read the confidence sequence, which is narrowest at 10,000 users or
    at the last look; `peeking` reads the interval of a planned size at every look, and `once` at
    the last one. `too_few` is the share of tests whose cohorts are too small for a verdict even
    then.
    """

    world: str
    users: int
    share_of_b: float
    at_any_look: float
    own_plan: float
    once: float
    peeking: float
    too_few: float


@dataclass(frozen=True, kw_only=True)
class Power:
    """Shares of tests that find the planned difference: read once at the planned number, or 40
    times.
    """

    plan: str
    looks: str
    needed: int
    last_look: float
    some_look: float


@dataclass(frozen=True, kw_only=True)
class Credit:
    """Verdict and share of B among wins by teams, the share by the sign of summed shares, and their
    mean.
    """

    method: str
    rankings: str
    clicks: str
    by_teams: float
    verdict: str
    by_sign_of_shares: float
    mean_credit: float


def looks_until(last: int) -> IntArray:
    """Sizes of a test at 40 looks that end at the last one."""
    return np.unique(np.ceil(np.linspace(last / LOOKS, last, LOOKS)).astype(np.int64))


def effects(sample: Sample, is_b: np.ndarray, sizes: IntArray, **how: object) -> list[Effect]:
    """A/B tests of the first users, where both cohorts have two; the command refuses fewer."""
    values, denominators = sample
    cohort = np.where(is_b, "B", "A")
    found = []
    for size in sizes.tolist():
        some_value = all(
            denominators[:size][side].sum() > 0 for side in (is_b[:size], ~is_b[:size])
        )
        if some_value and 2 <= is_b[:size].sum() <= size - 2:
            rows = {
                "values": values[:size],
                "cohort": cohort[:size],
                "denominator": denominators[:size],
            }
            found.append(ab_effect(**rows, **how))  # type: ignore[arg-type]
    return found


def decided(found: Sequence[Effect]) -> bool:
    """Verdicts exist at some look."""
    return any(effect.verdict in ("better", "worse") for effect in found)


def false_verdicts(
    world: str, users: int, samples: int, seed: int, share_of_b: float = 0.5
) -> FalseVerdicts:
    """A world without a difference, read 40 times."""
    rng = np.random.default_rng((seed, list(WORLDS).index(world), users))
    counts = np.zeros(5)
    for _ in range(samples):
        sample, is_b = WORLDS[world](rng, users), rng.random(users) < share_of_b
        sizes = looks_until(users)
        peeking = effects(sample, is_b, sizes, split=share_of_b, looks="once")
        counts += [
            decided(effects(sample, is_b, sizes, split=share_of_b)),
            decided(effects(sample, is_b, sizes, split=share_of_b, planned_users=users)),
            decided(peeking[-1:]),
            decided(peeking),
            not peeking or peeking[-1].verdict == "too few users",
        ]
    shares = [float(share) for share in counts / samples]
    return FalseVerdicts(
        world=world,
        users=users,
        share_of_b=share_of_b,
        at_any_look=shares[0],
        own_plan=shares[1],
        once=shares[2],
        peeking=shares[3],
        too_few=shares[4],
    )


def power_of_lists(share: float, ties: float, looks: Looks, samples: int, seed: int) -> Power:
    """Interleaving tests in which B has this share of the wins."""
    needed = lists_needed(share, ties=ties, looks=looks)
    rng = np.random.default_rng((seed, needed))
    last = some = 0
    for _ in range(samples):
        signs = rng.choice(
            [1, -1, 0], needed, p=[share * (1 - ties), (1 - share) * (1 - ties), ties]
        )
        verdicts = [
            preference(signs[:size], looks=looks).verdict for size in looks_until(needed).tolist()
        ]
        last += verdicts[-1] == "B"
        some += "B" in verdicts
    plan = f"B wins {share:.0%}, {ties:.0%} ties, lists"
    return Power(
        plan=plan, looks=looks, needed=needed, last_look=last / samples, some_look=some / samples
    )


def power_of_users(difference: float, planned: int, looks: Looks, samples: int, seed: int) -> Power:
    """A/B tests of normal values with this difference in standard deviations."""
    needed = users_needed(1.0, difference, planned_users=planned, looks=looks)
    rng = np.random.default_rng((seed, needed))
    last = some = 0
    for _ in range(samples):
        is_b = rng.random(needed) < 0.5
        sample = rng.normal(size=needed) + difference * is_b, np.ones(needed)
        found = effects(sample, is_b, looks_until(needed), planned_users=planned, looks=looks)
        verdicts = [effect.verdict for effect in found]
        last += verdicts[-1] == "better"
        some += "better" in verdicts
    plan = f"difference of {difference:g} sd, planned {planned:,}, users"
    return Power(
        plan=plan, looks=looks, needed=needed, last_look=last / samples, some_look=some / samples
    )


def indifferent(method: Method, rankings: str, clicks: str, lists: int, seed: int) -> Credit:
    """Users that click by rank alone."""
    places = (list(RANKINGS).index(rankings), list(CLICKS).index(clicks))
    rng = np.random.default_rng((seed, get_args(Method).index(method), *places))
    first, second = RANKINGS[rankings]
    signs, credits_ = np.empty(lists), np.empty(lists)
    for number in range(lists):
        shown = interleave(list(first), list(second), length=6, method=method, rng=rng)
        clicked = CLICKS[clicks](rng)
        signs[number] = shown.preference(clicked)
        credits_[number] = (2 * np.array(shown.shares) - 1) @ clicked
    found = preference(signs)
    return Credit(
        method=method,
        rankings=rankings,
        clicks=clicks,
        by_teams=found.share,
        verdict=found.verdict,
        by_sign_of_shares=preference(
            np.sign(np.where(np.abs(credits_) < 1e-12, 0, credits_))
        ).share,
        mean_credit=float(credits_.mean()),
    )


def results(arguments: argparse.Namespace) -> tuple[list[FalseVerdicts], list[Power], list[Credit]]:
    """All rows."""
    seed, samples = arguments.seed, arguments.samples
    wrong = [false_verdicts(world, users, samples, seed) for world in WORLDS for users in USERS]
    wrong += [
        false_verdicts(world, users, samples, seed, share)
        for world in WORLDS
        for share, users in UNEQUAL
    ]
    powers = [
        power_of_lists(*plan, looks, samples, seed)
        for plan in LIST_PLANS
        for looks in get_args(Looks)
    ]
    powers += [
        power_of_users(*plan, looks, samples, seed)
        for plan in USER_PLANS
        for looks in get_args(Looks)
    ]
    credit = [
        indifferent(method, rankings, clicks, arguments.lists, seed)
        for method in get_args(Method)
        for rankings in RANKINGS
        for clicks in CLICKS
    ]
    return wrong, powers, credit


def tables(
    wrong: Sequence[FalseVerdicts], powers: Sequence[Power], credit: Sequence[Credit]
) -> list[str]:
    """The tables of the page."""
    levels = [
        [
            row.world,
            f"{row.users:,}",
            *(f"{share:.3f}" for share in (row.at_any_look, row.own_plan, row.once, row.peeking)),
        ]
        for row in wrong
        if row.share_of_b == 0.5
    ]
    unequal = [
        [row.world, f"{row.users:,}", f"{row.share_of_b:.0%}"]
        + [f"{share:.3f}" for share in (row.at_any_look, row.own_plan, row.once, row.too_few)]
        for row in wrong
        if row.share_of_b != 0.5
    ]
    plans = [
        [row.plan, row.looks, f"{row.needed:,}", f"{row.last_look:.2f}", f"{row.some_look:.2f}"]
        for row in powers
    ]
    credits_ = [
        [
            *(row.method, row.rankings, row.clicks, row.verdict),
            *(f"{row.by_teams:.3f}", f"{row.by_sign_of_shares:.3f}", f"{row.mean_credit:+.3f}"),
        ]
        for row in credit
    ]
    heads = (
        [
            "values",
            "users",
            "any look",
            "any look, planned for these users",
            "one look",
            "planned-size interval at 40 looks",
        ],
        [
            "values",
            "users",
            "in B",
            "any look",
            "any look, planned for these users",
            "one look",
            "no verdict: too few users",
        ],
        ["plan", "looks", "needed", "found at the planned number", "found at one of 40 looks"],
        [
            "method",
            "rankings",
            "clicks",
            "verdict",
            "B wins, by teams",
            "B wins, by the sign of shares",
            "mean credit",
        ],
    )
    return [
        "**false verdicts**",
        "",
        *lined(heads[0], levels, 1),
        "",
        "**false verdicts of unequal cohorts**",
        "",
        *lined(heads[1], unequal, 1),
        "",
        "**power at the planned number**",
        "",
        *lined(heads[2], plans, 2),
        "",
        "**indifferent users**",
        "",
        *lined(heads[3], credits_, 4),
    ]


def main(asked: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--samples", type=at_least_1, default=500, help="tests for each share (default 500)"
    )
    parser.add_argument(
        "--lists", type=at_least_1, default=4000, help="lists of indifferent users (default 4000)"
    )
    parser.add_argument(
        "--seed", type=int, default=7, help="the same seed, the same numbers (default 7)"
    )
    parser.add_argument("--format", choices=["markdown", "json"], default="markdown")
    arguments = parser.parse_args(asked)
    found = results(arguments)
    if arguments.format == "json":
        names = ("false_verdicts", "power", "credit")
        print(
            json.dumps(
                {
                    name: [asdict(row) for row in rows]
                    for name, rows in zip(names, found, strict=True)
                },
                indent=1,
            )
        )
        return
    print("\n".join(tables(*found)))


if __name__ == "__main__":
    main()
