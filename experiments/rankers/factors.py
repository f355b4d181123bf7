"""Matrix factorisation with biases, by alternating least squares (Koren, Bell and Volinsky 2009,
Matrix factorization techniques).

    rating(u, i) = overall mean + b_u + b_i + p_u . q_i

The biases are damped means; then the vectors of all users, and of all items, are found in turn,
each by a ridge regression of its own on what the biases leave.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Model:
    """What was learnt; an item or user without ratings has bias 0 and vector 0."""

    mean: float
    item_mean: FloatArray  # damped, shape (n_items,)
    user_bias: FloatArray
    item_bias: FloatArray
    users: FloatArray  # shape (n_users, rank)
    items: FloatArray  # shape (n_items, rank)

    def predict(self, user: IntArray, item: IntArray) -> FloatArray:
        """Ratings of pairs, each array of shape (n,)."""
        taste = np.einsum("nk,nk->n", self.users[user], self.items[item])
        return self.mean + self.user_bias[user] + self.item_bias[item] + taste


def damped_mean(values: FloatArray, group: IntArray, n_groups: int, damping: float) -> FloatArray:
    """Mean of each group, drawn towards 0 as by `damping` more values of 0; shape (n_groups,)."""
    return np.bincount(group, values, n_groups) / (np.bincount(group, minlength=n_groups) + damping)


def ridge(
    target: FloatArray, factors: FloatArray, group: IntArray, n_groups: int, penalty: float
) -> FloatArray:
    """For every group the vector x that minimises sum (target - factors x)^2 + penalty |x|^2; shape
    (n_groups, rank).

    Parameters
    ----------
    target : float array, shape (n,)
    factors : float array, shape (n, rank)
    group : int array, shape (n,)
        From 0 to n_groups - 1; a group without rows has x = 0.
    """
    rank = factors.shape[1]
    order = np.argsort(group, kind="stable")
    present, first = np.unique(group[order], return_index=True)
    sorted_factors = factors[order]
    squares = np.add.reduceat(
        sorted_factors[:, :, None] * sorted_factors[:, None, :], first, axis=0
    )
    products = np.add.reduceat(sorted_factors * target[order, None], first, axis=0)
    found = np.zeros((n_groups, rank))
    found[present] = np.linalg.solve(squares + penalty * np.eye(rank), products[:, :, None])[
        :, :, 0
    ]
    return found


def fit(
    user: IntArray,
    item: IntArray,
    stars: FloatArray,
    n_users: int,
    n_items: int,
    *,
    rng: np.random.Generator,
    rank: int = 8,
    penalty: float = 12.0,
    rounds: int = 12,
) -> Model:
    """Learn from ratings; `user`, `item` and `stars` have shape (n_ratings,)."""
    mean = float(stars.mean())
    item_bias = damped_mean(stars - mean, item, n_items, 5.0)
    user_bias = damped_mean(stars - mean - item_bias[item], user, n_users, 5.0)
    rest = stars - mean - user_bias[user] - item_bias[item]
    users, items = np.zeros((n_users, rank)), rng.normal(0, 0.1, (n_items, rank))
    for _ in range(rounds):
        users = ridge(rest, items[item], user, n_users, penalty)
        items = ridge(rest, users[user], item, n_items, penalty)
    return Model(
        mean=mean,
        item_mean=mean + item_bias,
        user_bias=user_bias,
        item_bias=item_bias,
        users=users,
        items=items,
    )
