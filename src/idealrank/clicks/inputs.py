"""Page of a click log, from the checked log and the columns of a file of rewards."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from idealrank.clicks import (
    LogCheck,
    PolicyDifference,
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

# Probabilities stay this far from 0 and 1, as in click models: a click that was predicted to be
# impossible does not make the perplexity infinite.
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
    estimated = propensities(
        check.sessions, iterations=iterations, n_resamples=n_resamples, held_out=held_out, rng=seed
    )
    unseen, seen = check.sessions.split(held_out, seed)  # the same lists as for the propensities
    perplexity = {
        name: model.fit(seen).perplexity_by_rank(unseen) for name, model in models.items()
    }
    page = ClickLogPage(
        check=check,
        propensities=estimated,
        perplexity={**perplexity, RATES: rate_perplexity(seen, unseen)},
        estimates=estimates,
        made=made or Made(),
    )
    return click_page_html(page)


def rate_perplexity(seen: Sessions, unseen: Sessions) -> FloatArray:
    """Perplexity at each rank of a model that knows the click rate of each rank alone."""
    rates = np.clip(seen.click_rates()[: unseen.n_ranks], _LEAST, 1 - _LEAST)
    shown = (unseen.pair >= 0).sum(axis=0)
    clicked = unseen.clicks.sum(axis=0)
    bits = -(clicked * np.log2(rates) + (shown - clicked) * np.log2(1 - rates))
    perplexity: FloatArray = 2 ** share(bits, shown, np.nan)
    return perplexity


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
    targets = {"A": target}
    if columns.get("target_b") is not None:
        targets["B"] = columns["target_b"]
    options: dict[str, Any] = {"clusters": columns.get("cluster"), "confidence": confidence}
    draws = {"n_resamples": n_resamples, "rng": seed}
    values: dict[str, list[PolicyValue]] = {policy: [] for policy in targets}
    differences: list[PolicyDifference] = []
    for name, limit in estimators:
        estimate = _by_model if name in WITH_MODEL else _by_weights
        policy_values, difference = estimate(columns, targets, (name, limit), options, draws)
        for policy, value in policy_values.items():
            values[policy].append(value)
        if difference is not None:
            differences.append(difference)
    return RewardEstimates(
        values=values,
        differences=differences,
        weights={policy: probability / logged for policy, probability in targets.items()},
        logged=logged,
        logged_mean=float(rewards.mean()),
    )


def _by_weights(
    columns: Mapping[str, Any],
    targets: Mapping[str, FloatArray],
    estimator: tuple[Any, float | None],
    options: Mapping[str, Any],
    draws: Mapping[str, Any],
) -> tuple[dict[str, PolicyValue], PolicyDifference | None]:
    """Values of policies by weighted rewards, and B less A with two policies."""
    rewards, _, logged = reward_columns(columns)
    name, limit = estimator
    values = {
        policy: ips(rewards, target, logged, name, limit, **options, **draws)
        for policy, target in targets.items()
    }
    if "B" not in targets:
        return values, None
    difference = ips_difference(
        rewards=rewards,
        target_a=targets["A"],
        target_b=targets["B"],
        logged_probability=logged,
        estimator=name,
        clip=limit,
        **options,
    )
    return values, difference


def _by_model(
    columns: Mapping[str, Any],
    targets: Mapping[str, FloatArray],
    estimator: tuple[Any, float | None],
    options: Mapping[str, Any],
    draws: Mapping[str, Any],
) -> tuple[dict[str, PolicyValue], PolicyDifference | None]:
    """Values of policies by predictions and weighted rewards, and B less A; a policy without
    predictions has none.
    """
    rewards, _, logged = reward_columns(columns)
    name, limit = estimator
    needed = ("predicted_logged", "predicted_target")
    missing = [role for role in needed if columns.get(role) is None]
    if missing:
        raise OptionError(
            f"{name}: found no column for {' and '.join(missing)}",
            hint=f"name it with columns={{'{missing[0]}': ...}}",
            command_hint=f"name it with --columns {missing[0]}=NAME",
        )

    predicted = {"A": columns["predicted_target"]}
    if "B" in targets and columns.get("predicted_target_b") is not None:
        predicted["B"] = columns["predicted_target_b"]
    shared = {
        "rewards": rewards,
        "logged_probability": logged,
        "predicted_logged": columns["predicted_logged"],
        "estimator": name,
        "switch": limit,
        **options,
    }
    values = {
        policy: doubly_robust(
            target_probability=targets[policy], predicted_target=prediction, **shared, **draws
        )
        for policy, prediction in predicted.items()
    }
    if "B" not in predicted:
        return values, None
    difference = doubly_robust_difference(
        targets=(targets["A"], targets["B"]),
        predicted_targets=(predicted["A"], predicted["B"]),
        **shared,
    )
    return values, difference


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
    # In this order, the rows of a list are adjacent: their ranks count from its first row.
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    expected = np.arange(row.size) - starts + 1
    wrong = rank[order] != expected
    if wrong.any():
        place = order[int(wrong.argmax())]
        raise InputError(
            f"list {columns['session'][place]}: found rank {rank[place]:g}, expected ranks 1, 2, "
            "3, ..., each once"
        )
    column = rank.astype(np.int64) - 1

    def table(role: str, otherwise: float) -> FloatArray:
        cells = np.full((sizes.size, int(column.max()) + 1), otherwise)
        cells[row, column] = columns[role]
        return cells

    clusters = None
    if columns.get("cluster") is not None:
        by_list: dict[int, str] = {}
        for number, label in zip(row.tolist(), columns["cluster"], strict=True):
            if by_list.setdefault(number, label) != label:
                raise InputError(
                    f"list {list(names)[number]}: found clusters {by_list[number]} and {label}, "
                    "expected one for all its places"
                )
        clusters = [by_list[number] for number in range(sizes.size)]
    target_b = table("target_b", 1.0) if columns.get("target_b") is not None else None
    return SlateColumns(
        rewards=table("reward", 0.0),
        logged=table("logged", 1.0),
        target=table("target", 1.0),
        target_b=target_b,
        clusters=clusters,
    )
