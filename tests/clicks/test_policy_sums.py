"""Sums of partitions of a log give the values of `ips` and `doubly_robust` over all rows."""

import itertools

import numpy as np
import pytest

import idealrank as ir
from idealrank.clicks import PolicySums, PolicyValue, doubly_robust, ips

N = 4000


def log() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(8)
    logged, target = rng.uniform(0.1, 1, N), rng.uniform(0, 1, N)
    return {
        "rewards": rng.normal(1, 2, N),
        "target": target,
        "logged": logged,
        "users": np.sort(rng.integers(0, 300, N)),
        "predicted_logged": rng.normal(1, 1, N),
        "predicted_target": rng.normal(1, 1, N),
    }


def same(estimated: PolicyValue, whole: PolicyValue) -> None:
    for name, value in vars(whole).items():
        assert getattr(estimated, name) == (
            value
            if isinstance(value, (int, str, tuple)) and name != "interval"
            else pytest.approx(value, rel=1e-10)
        ), name


def merged(parts: list[PolicySums]) -> PolicySums:
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.merge(part)
    return whole


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize(("estimator", "clip"), [("ips", None), ("snips", None), ("clipped", 2.0)])
def test_ips(estimator, clip, clustered: bool) -> None:
    rows = log()
    # a cluster is in one part
    cuts = [0, *np.flatnonzero(np.diff(rows["users"]))[[3, 100, 280]] + 1, N]
    edges = [slice(*edge) for edge in itertools.pairwise(cuts)]
    columns = [rows[name] for name in ("rewards", "target", "logged")]
    users = rows["users"] if clustered else None
    whole = ips(*columns, estimator, clip, clusters=users)
    parts = [
        PolicySums.ips(
            *(column[at] for column in columns),
            estimator,
            clip,
            clusters=None if users is None else users[at],
        )
        for at in edges
    ]
    same(merged(parts).value(), whole)
    same(merged(parts[::-1]).value(), whole)
    same(
        parts[0].merge(parts[1]).merge(parts[2].merge(parts[3])).value(0.9),
        ips(*columns, estimator, clip, clusters=users, confidence=0.9),
    )


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize(("estimator", "switch"), [("dr", None), ("switch", 3.0)])
def test_doubly_robust(estimator, switch, clustered: bool) -> None:
    rows = log()
    columns = [
        rows[name]
        for name in ("rewards", "target", "logged", "predicted_logged", "predicted_target")
    ]
    users = rows["users"] if clustered else None
    edge = int(np.flatnonzero(np.diff(rows["users"]))[60]) + 1
    parts = [
        PolicySums.doubly_robust(
            *(column[at] for column in columns),
            estimator,
            switch=switch,
            clusters=None if users is None else users[at],
        )
        for at in (slice(0, edge), slice(edge, N))
    ]
    same(merged(parts).value(), doubly_robust(*columns, estimator, switch=switch, clusters=users))


def test_what_does_not_fit_is_refused() -> None:
    sums = PolicySums.ips([1, 0], [0.5, 0.5], [0.5, 0.5])
    with pytest.raises(ir.IncompatibleError, match=r"found sums of .*'ips'.* and of .*'snips'"):
        sums.merge(PolicySums.ips([1, 0], [0.5, 0.5], [0.5, 0.5], "snips"))
    with pytest.raises(ir.IncompatibleError, match="clusters"):
        sums.merge(PolicySums.ips([1, 0], [0.5, 0.5], [0.5, 0.5], clusters=["a", "b"]))
