"""Page of a click log, from the checked log and the columns of a file of rewards."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from idealrank.clicks import (
    LogCheck,
    PolicyValue,
    Sessions,
    doubly_robust,
    doubly_robust_difference,
    ips,
    ips_difference,
    propensities,
)
from idealrank.clicks.files.click_logs import reward_columns
from idealrank.clicks.fitted_model import share
from idealrank.clicks.views.page import RATES, ClickLogPage, RewardEstimates, click_page_html
from idealrank.data.types import FloatArray
from idealrank.errors import InputError, OptionError
from idealrank.reports.subject import Made

WITH_MODEL = ("dr", "switch")
"""Estimators that need predictions of a model."""

# as of click models: a click that was held for impossible has no infinite perplexity
_LEAST = 1e-12


def click_page(
    check: LogCheck,
    models: Mapping[str, Any],
    estimates: RewardEstimates | None = None,
    *,
    iterations: int = 500,
    n_resamples: int = 200,
    held_out: float = 0.2,
    seed: int = 0,
    made: Made | None = None,
) -> str:
    """Compute and write the page of a click log."""
    found = propensities(
        check.sessions, iterations=iterations, n_resamples=n_resamples, held_out=held_out, rng=seed
    )
    unseen, seen = check.sessions.split(held_out, seed)  # the same lists as for the propensities
    perplexity = {
        name: model.fit(seen).perplexity_by_rank(unseen) for name, model in models.items()
    }
    page = ClickLogPage(
        check=check,
        propensities=found,
        perplexity={**perplexity, RATES: rate_perplexity(seen, unseen)},
        estimates=estimates,
        made=made or Made(),
    )
    return click_page_html(page)


def rate_perplexity(seen: Sessions, unseen: Sessions) -> FloatArray:
    """Perplexity at each rank of a model that knows the click rate of each rank alone."""
    rates = np.clip(seen.click_rates()[: unseen.n_ranks], _LEAST, 1 - _LEAST)
    shown, clicked = (unseen.pair >= 0).sum(axis=0), unseen.clicks.sum(axis=0)
    bits = -(clicked * np.log2(rates) + (shown - clicked) * np.log2(1 - rates))
    found: FloatArray = 2 ** share(bits, shown, np.nan)
    return found


def reward_estimates(
    columns: Mapping[str, Any],
    *,
    estimators: Sequence[tuple[str, float | None]] = (("ips", None), ("snips", None)),
    confidence: float = 0.95,
    n_resamples: int = 0,
    seed: int = 0,
) -> RewardEstimates:
    """Estimate the values of one or two policies from the columns of a file of rewards."""
    rewards, target, logged = reward_columns(columns)
    policies = {"A": target} | (
        {"B": columns["target_b"]} if columns.get("target_b") is not None else {}
    )
    predicted: dict[str, Any] = {
        "A": columns.get("predicted_target"),
        "B": columns.get("predicted_target_b"),
    }
    options: dict[str, Any] = {"clusters": columns.get("cluster"), "confidence": confidence}
    asked: list[tuple[Any, float | None]] = list(estimators)
    draws = {"n_resamples": n_resamples, "rng": seed}
    values: dict[str, list[PolicyValue]] = {policy: [] for policy in policies}
    differences = []
    for name, most in asked:
        if name not in WITH_MODEL:
            for policy, one in policies.items():
                values[policy].append(ips(rewards, one, logged, name, most, **options, **draws))
            if "B" in policies:
                differences.append(
                    ips_difference(
                        rewards=rewards,
                        target_a=target,
                        target_b=policies["B"],
                        logged_probability=logged,
                        estimator=name,
                        clip=most,
                        **options,
                    )
                )
            continue
        missing = [
            role for role in ("predicted_logged", "predicted_target") if columns.get(role) is None
        ]
        if missing:
            raise OptionError(
                f"{name}: found no column for {' and '.join(missing)}",
                hint=f"name it with columns={{'{missing[0]}': ...}}",
                command_hint=f"name it with --columns {missing[0]}=NAME",
            )
        model, how = columns["predicted_logged"], {"switch": most, **options}
        known = {policy: one for policy, one in policies.items() if predicted[policy] is not None}
        for policy, one in known.items():
            values[policy].append(
                doubly_robust(
                    rewards=rewards,
                    target_probability=one,
                    logged_probability=logged,
                    predicted_logged=model,
                    predicted_target=predicted[policy],
                    estimator=name,
                    **how,
                    **draws,
                )
            )
        if "B" in known:
            pair = (predicted["A"], predicted["B"])
            differences.append(
                doubly_robust_difference(
                    rewards=rewards,
                    targets=(target, policies["B"]),
                    logged_probability=logged,
                    predicted_logged=model,
                    predicted_targets=pair,
                    estimator=name,
                    **how,
                )
            )
    weights = {policy: one / logged for policy, one in policies.items()}
    return RewardEstimates(
        values=values,
        differences=differences,
        weights=weights,
        logged=logged,
        logged_mean=float(rewards.mean()),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class SlateColumns:
    """Lists as tables, a row a list and a column a rank."""

    # rewards, logged, target: shape (lists, ranks): below the end of a shorter list 0, 1 and 1
    rewards: FloatArray
    logged: FloatArray
    target: FloatArray
    target_b: FloatArray | None = None  # shape (lists, ranks): of a second policy
    clusters: Sequence[str] | None = None  # shape (lists,): label of each list


def slates_of(columns: Mapping[str, Any]) -> SlateColumns:
    """Make tables of lists from the columns of a file, one row a place."""
    names: dict[str, int] = {}
    row = np.array([names.setdefault(name, len(names)) for name in columns["session"]], np.int64)
    rank = columns["rank"]
    order = np.lexsort((rank, row))
    sizes = np.bincount(row)
    expected = np.arange(row.size) - np.repeat(np.cumsum(sizes) - sizes, sizes) + 1
    wrong = rank[order] != expected
    if wrong.any():
        place = order[int(wrong.argmax())]
        raise InputError(
            f"list {columns['session'][place]}: found rank {rank[place]:g}, expected ranks 1, "
            f"2, 3, ..., each once"
        )
    column = rank.astype(np.int64) - 1

    def table(role: str, otherwise: float) -> FloatArray:
        found = np.full((sizes.size, int(column.max()) + 1), otherwise)
        found[row, column] = columns[role]
        return found

    clusters = None
    if columns.get("cluster") is not None:
        by_list: dict[int, str] = {}
        for number, label in zip(row.tolist(), columns["cluster"], strict=True):
            if by_list.setdefault(number, label) != label:
                raise InputError(
                    f"list {list(names)[number]}: found clusters {by_list[number]} and "
                    f"{label}, expected one for all its places"
                )
        clusters = [by_list[number] for number in range(sizes.size)]
    other = table("target_b", 1.0) if columns.get("target_b") is not None else None
    return SlateColumns(
        rewards=table("reward", 0.0),
        logged=table("logged", 1.0),
        target=table("target", 1.0),
        target_b=other,
        clusters=clusters,
    )
