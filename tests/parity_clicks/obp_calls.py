"""Values by the Open Bandit Pipeline (sb-obp), in its own environment: ARRAYS.npz; prints JSON."""

import csv
import json
import sys
from pathlib import Path

import numpy as np
import obp
from obp import ope


def values(reward, action, pscore, target, predicted):
    """Values of a policy of one place, by each estimator."""
    n = len(target)
    shared = {
        "reward": reward,
        "action": action,
        "pscore": pscore,
        "action_dist": target[:, :, None],
        "position": np.zeros(n, int),
    }
    model = {**shared, "estimated_rewards_by_reg_model": predicted[:, :, None]}
    return {
        "ips": ope.InverseProbabilityWeighting().estimate_policy_value(**shared),
        "clipped": ope.InverseProbabilityWeighting(lambda_=10).estimate_policy_value(**shared),
        "snips": ope.SelfNormalizedInverseProbabilityWeighting().estimate_policy_value(**shared),
        "dr": ope.DoublyRobust().estimate_policy_value(**model),
        "switch": ope.SwitchDoublyRobust(lambda_=10).estimate_policy_value(**model),
    }


def slates(rewards, target, logged):
    """Estimate the values of lists. Probabilities are conditional on the documents above; the
    estimators by place take the same arrays.
    """
    n, length = rewards.shape
    slate_id, position = np.repeat(np.arange(n), length), np.tile(np.arange(length), n)
    shared = {"slate_id": slate_id, "reward": rewards.reshape(-1), "position": position}
    whole = [np.repeat(np.prod(one, axis=1), length) for one in (logged, target)]
    cascade = [np.cumprod(one, axis=1).reshape(-1) for one in (logged, target)]
    place = [one.reshape(-1) for one in (logged, target)]
    found = {}
    for name, (standard, independent, interaction) in {
        "": (ope.SlateStandardIPS, ope.SlateIndependentIPS, ope.SlateRewardInteractionIPS),
        "sn": (
            ope.SelfNormalizedSlateStandardIPS,
            ope.SelfNormalizedSlateIndependentIPS,
            ope.SelfNormalizedSlateRewardInteractionIPS,
        ),
    }.items():
        found[f"{name}ips"] = standard(len_list=length).estimate_policy_value(
            **shared, pscore=whole[0], evaluation_policy_pscore=whole[1]
        )
        found[f"{name}iips"] = independent(len_list=length).estimate_policy_value(
            **shared, pscore_item_position=place[0], evaluation_policy_pscore_item_position=place[1]
        )
        found[f"{name}rips"] = interaction(len_list=length).estimate_policy_value(
            **shared, pscore_cascade=cascade[0], evaluation_policy_pscore_cascade=cascade[1]
        )
    return found


def sample(campaign):
    """Columns of the sample that the package brings."""
    path = Path(obp.__file__).parent / "dataset" / "obd" / "bts" / campaign / f"{campaign}.csv"
    with path.open() as file:
        rows = list(csv.DictReader(file))
    return {
        name: [float(row[name]) for row in rows]
        for name in ("item_id", "click", "propensity_score")
    }


given = np.load(sys.argv[1])
print(
    json.dumps(
        {
            "values": values(
                *(given[name] for name in ("reward", "action", "pscore", "target", "predicted"))
            ),
            "slates": slates(given["slate_rewards"], given["slate_target"], given["slate_logged"]),
            "samples": {campaign: sample(campaign) for campaign in ("all", "men")},
        }
    )
)
