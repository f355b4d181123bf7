"""Click models by clax-models and propensities by ultr-bias-toolkit, in their own environment:
ARRAYS.npz; prints JSON.
"""

import json
import sys

import jax.numpy as jnp
import numpy as np
import optax
import pandas as pd
import torch
from clax import CascadeModel, PositionBasedModel
from flax import nnx
from ultr_bias_toolkit.bias.intervention_harvesting import AllPairsEstimator, PivotEstimator

STEPS = 4000


def fitted(model, batch):
    """A model after steps of Adam on all lists at once, and the log-likelihood of the clicks."""
    optimizer = nnx.Optimizer(model, optax.adam(0.05), wrt=nnx.Param)

    @nnx.jit
    def step(model, optimizer):
        loss, slope = nnx.value_and_grad(lambda one: one.compute_loss(batch).mean())(model)
        optimizer.update(model, slope)
        return loss

    for _ in range(STEPS):
        step(model, optimizer)
    chances = model.predict_conditional_clicks(batch)
    likelihood = jnp.where(batch["clicks"] == 1, chances, jnp.log1p(-jnp.exp(chances)))
    return float(likelihood.sum())


def harvested(frame):
    torch.manual_seed(1)
    estimators = {"pivot": PivotEstimator(), "all-pairs": AllPairsEstimator(epochs=1500)}
    return {
        name: one(frame).sort_values("position").examination.tolist()
        for name, one in estimators.items()
    }


given = np.load(sys.argv[1])
pair, clicks = given["pair"], given["clicks"]
n, ranks = pair.shape
places = np.tile(np.arange(1, ranks + 1), (n, 1))
batch = {
    "positions": jnp.array(places),
    "query_doc_ids": jnp.array(pair),
    "clicks": jnp.array(clicks, jnp.float32),
    "mask": jnp.ones((n, ranks), bool),
}
size = int(pair.max()) + 1
pbm = PositionBasedModel(positions=ranks + 1, query_doc_pairs=size, rngs=nnx.Rngs(1))
cascade = CascadeModel(query_doc_pairs=size, rngs=nnx.Rngs(1))
found = {"pbm": fitted(pbm, batch)}
fitted(cascade, {**batch, "clicks": jnp.array(given["first_clicks"], jnp.float32)})
every = {"query_doc_ids": jnp.arange(size)[None], "mask": jnp.ones((1, size), bool)}
one_list = {**batch, "positions": jnp.arange(1, ranks + 1)[None]}
frame = pd.DataFrame(
    {
        "query_id": 0,
        "doc_id": given["design_pair"].reshape(-1),
        "click": given["design_clicks"].reshape(-1).astype(int),
        "position": np.tile(
            np.arange(1, given["design_pair"].shape[1] + 1), len(given["design_pair"])
        ),
    }
)
print(
    json.dumps(
        found
        | {
            "examination": np.asarray(pbm.examination.prob(one_list)).reshape(-1).tolist(),
            "cascade": np.asarray(cascade.attraction.prob(every)).reshape(-1).tolist(),
            "harvested": harvested(frame),
        }
    )
)
