"""Write what statsmodels says of variances under weights and clusters, and of equivalence:
statsmodels_recorded.json.

    python -m venv fresh && fresh/bin/pip install statsmodels==0.15.0 && fresh/bin/python
    tests/parity/record_statsmodels.py

The mean is a regression on a constant. Weighted least squares with HC1 errors has the linearised
variance of a ratio mean; clusters have the factor groups/(groups - 1).
"""

import json
from pathlib import Path

import numpy as np
import statsmodels
import statsmodels.api as sm
from statsmodels.stats.weightstats import ttost_paired

HERE = Path(__file__).parent


def samples() -> dict[str, list[float]]:
    """Two systems on 24 queries, with weights and clusters, to 3 digits."""
    rng = np.random.default_rng(31)
    a = rng.beta(0.7, 1.2, 24)
    b = np.clip(a + rng.normal(0.02, 0.08, 24) * (rng.random(24) < 0.6), 0, 1)
    return {
        "a": a.round(3).tolist(),
        "b": b.round(3).tolist(),
        "weights": rng.integers(1, 30, 24).tolist(),
        "clusters": rng.integers(0, 7, 24).tolist(),
    }


def errors(
    differences: np.ndarray, weights: np.ndarray, clusters: np.ndarray
) -> dict[str, list[float]]:
    """Mean and standard error under each design."""
    constant = np.ones(differences.size)
    fits = {
        "weights": sm.WLS(differences, constant, weights=weights).fit(cov_type="HC1"),
        "clusters": sm.OLS(differences, constant).fit(
            cov_type="cluster", cov_kwds={"groups": clusters}
        ),
        "weights and clusters": sm.WLS(differences, constant, weights=weights).fit(
            cov_type="cluster", cov_kwds={"groups": clusters}
        ),
    }
    return {name: [float(fit.params[0]), float(fit.bse[0])] for name, fit in fits.items()}


def main() -> None:
    """Write the file."""
    data = samples()
    a, b, weights, clusters = (np.array(part) for part in data.values())
    record = {
        "statsmodels": statsmodels.__version__,
        "data": data,
        "errors": errors(b - a, weights, clusters),
        "tost": {},
    }
    for margin in (0.01, 0.05):
        p, (_, p_low, _), (_, p_high, _) = ttost_paired(b, a, -margin, margin)
        record["tost"][str(margin)] = [float(p), float(p_low), float(p_high)]
    (HERE / "statsmodels_recorded.json").write_text(
        json.dumps(record, indent=1) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
