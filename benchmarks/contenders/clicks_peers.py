"""Peers of the click jobs, each in its own environment, without idealrank: NAME ARRAYS.npz; prints
values and the time of a call.
"""

import json
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

REPLICATES = 100
MOST_STEPS = 5000
Arrays = Mapping[str, Any]


def obp(given: Arrays) -> Callable[[], dict[str, float]]:
    """IPS of the Open Bandit Pipeline with its bootstrap, over rows: two actions, of which the
    first was taken.
    """
    from obp.ope import InverseProbabilityWeighting  # noqa: PLC0415  (in this environment alone)

    target = given["target"]
    policy = np.stack([target, 1 - target], axis=1)[:, :, None]
    rows = {
        "reward": given["reward"],
        "action": np.zeros(target.size, int),
        "pscore": given["logged"],
        "action_dist": policy,
    }

    def call() -> dict[str, float]:
        found = InverseProbabilityWeighting().estimate_interval(
            **rows, n_bootstrap_samples=REPLICATES, random_state=1
        )
        return {"mean": found["mean"]}

    return call


def clax(given: Arrays) -> Callable[[], dict[str, float]]:
    """PBM of clax-models by Adam over all lists at once, until the log-likelihood is a thousandth
    from that of the other program.
    """
    import jax.numpy as jnp  # noqa: PLC0415
    import optax  # noqa: PLC0415
    from clax import PositionBasedModel  # noqa: PLC0415
    from flax import nnx  # noqa: PLC0415

    pair, clicks, goal = given["pair"], given["clicks"], float(given["likelihood"]) * 1.001
    n, ranks = pair.shape
    batch = {
        "positions": jnp.array(np.tile(np.arange(1, ranks + 1), (n, 1))),
        "query_doc_ids": jnp.array(pair),
        "clicks": jnp.array(clicks, jnp.float32),
        "mask": jnp.ones((n, ranks), bool),
    }

    @nnx.jit
    def step(model: Any, optimizer: Any) -> Any:
        loss, slope = nnx.value_and_grad(lambda one: one.compute_loss(batch).mean())(model)
        optimizer.update(model, slope)
        return loss

    def start() -> tuple[Any, Any]:
        model = PositionBasedModel(
            positions=ranks + 1, query_doc_pairs=int(pair.max()) + 1, rngs=nnx.Rngs(1)
        )
        return model, nnx.Optimizer(model, optax.adam(0.05), wrt=nnx.Param)

    def likelihood(model: Any) -> float:
        chances = model.predict_conditional_clicks(batch)
        return float(jnp.where(batch["clicks"] == 1, chances, jnp.log1p(-jnp.exp(chances))).sum())

    step(*start())  # compiled before the clock starts

    def call() -> dict[str, float]:
        model, optimizer = start()
        reached = likelihood(model)
        for number in range(1, MOST_STEPS + 1):
            step(model, optimizer)
            if number % 25 == 0:
                reached = likelihood(model)
                if reached >= goal:
                    break
        return {"log-likelihood": reached, "steps": number}

    return call


def main() -> None:
    call = {"obp": obp, "clax": clax}[sys.argv[1]](np.load(sys.argv[2]))
    wall, cpu = time.perf_counter(), time.process_time()
    values = call()
    print(
        json.dumps(
            {"values": values, "wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
        )
    )


if __name__ == "__main__":
    main()
