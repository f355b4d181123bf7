"""A/B tests by tea-tasting and statsmodels, in their own environment: ARRAYS.npz; prints JSON."""

import json
import sys

import numpy as np
import pandas as pd
import statsmodels.api as sm
import tea_tasting as tt
from statsmodels.stats.power import NormalIndPower

given = np.load(sys.argv[1])
rows = pd.DataFrame({name: given[name] for name in ("user", "variant", "clicks")})
users = rows.groupby(["user", "variant"], as_index=False).agg(
    clicks=("clicks", "sum"), lists=("clicks", "size")
)
grades, discounts = np.array([0, 0, 1, 1, 2, 3]), 1 / np.log2([2, 3, 4])
users["lists_before"], users["clicks_before"] = 1.0, given["before"][users.user]
rows["ndcg"] = grades[given["shown"]] @ discounts / (np.array([3, 2, 1]) @ discounts)
measured = rows.groupby(["user", "variant"], as_index=False).agg(
    ndcg=("ndcg", "sum"), lists=("ndcg", "size")
)
own = pd.DataFrame(
    {
        "user": np.arange(given["before"].size),
        "variant": given["side"],
        "value": given["value"],
        "before": given["before"],
    }
)
how = {"equal_var": False, "use_t": False}
ratio = tt.Experiment(
    clicks=tt.RatioOfMeans("clicks", "lists", **how),
    split=tt.SampleRatio(method="norm", correction=False),
).analyze(users)
ratio_cuped = tt.Experiment(
    clicks=tt.RatioOfMeans(
        "clicks", "lists", numer_covariate="clicks_before", denom_covariate="lists_before", **how
    )
).analyze(users)
ndcg = tt.Experiment(ndcg=tt.RatioOfMeans("ndcg", "lists", **how)).analyze(measured)
cuped = tt.Experiment(
    value=tt.Mean("value", "before", **how), plain=tt.Mean("value", **how)
).analyze(own)


def effect(found):
    return {
        "control": found.control,
        "treatment": found.treatment,
        "effect": found.effect_size,
        "low": found.effect_size_ci_lower,
        "high": found.effect_size_ci_upper,
        "p": found.pvalue,
    }


model = sm.OLS(rows.clicks, sm.add_constant(rows.variant.astype(float))).fit(
    cov_type="cluster", cov_kwds={"groups": rows.user, "use_correction": False}
)
power = NormalIndPower().solve_power(effect_size=0.1, alpha=0.05, power=0.8, ratio=1)
print(
    json.dumps(
        {
            "ratio": effect(ratio["clicks"]),
            "ndcg": effect(ndcg["ndcg"]),
            "ratio_cuped": effect(ratio_cuped["clicks"]),
            "split_p": ratio["split"].pvalue,
            "cuped": effect(cuped["value"]),
            "plain": effect(cuped["plain"]),
            "clustered": [float(model.params.iloc[1]), float(model.bse.iloc[1])],
            "users": 2 * float(power),
        }
    )
)
