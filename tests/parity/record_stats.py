"""Prints what statsmodels and pingouin say of corrections, power, HSD and variance components.

The numbers stand as constants in
tests/core/test_stats_{multiple,power,generalisability,replicates}.py. Run it from the root of the
repository, in an environment of its own: `pip install statsmodels==0.15.0 pingouin==0.7.0
hypothesis pytest`, and this package.
"""

import itertools

import numpy as np
import pandas as pd
import pingouin
from scipy.stats import studentized_range
from statsmodels.formula.api import mixedlm, ols
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower

from tests.core.test_stats_generalisability import BRENNAN, CROSSED, NESTED
from tests.core.test_stats_multiple import GRAFTS, P
from tests.core.test_stats_power import EFFECTS, POWERS, SIZES
from tests.core.test_stats_replicates import CROSSED as DIFFERENCES
from tests.core.test_stats_replicates import A, B


def rows(table, names):
    """One row a value, with the code of each axis; `all` is the one group of the mixed model."""
    return pd.DataFrame(
        [
            {**dict(zip(names, place, strict=True)), "y": value, "all": 1}
            for place, value in np.ndenumerate(table)
        ]
    )


def mixed(formula, frame, effects, scale):
    """Variance components, residual and standard errors of a mixed model by REML."""
    parts = {name: f"0 + C({name})" for name in effects}
    model = mixedlm(formula, frame.assign(y=frame["y"] * scale), groups="all", vc_formula=parts)
    found = model.fit(reml=True, method=["powell"], xtol=1e-13, ftol=1e-15, maxiter=100_000)
    found = model.fit(
        reml=True,
        method="nm",
        start_params=found.params_object,
        xtol=1e-12,
        ftol=1e-14,
        maxiter=100_000,
    )
    components = dict(zip(model.exog_vc.names, (found.vcomp / scale**2).tolist(), strict=True))
    print(
        components,
        "residual",
        found.scale / scale**2,
        "standard errors",
        (found.bse / scale).to_dict(),
    )


def corrections() -> None:
    for method in ("holm", "fdr_bh", "fdr_by"):
        print(method, [float(f"{value:.15g}") for value in multipletests(P, method=method)[1]])


def power() -> None:
    test = TTestPower()
    for n, d, alpha, *_ in POWERS:
        print(n, d, alpha, test.power(d, n, alpha), test.power(d, n, alpha, alternative="larger"))
    for d, wanted, alpha, *_ in SIZES:
        sizes = [
            test.solve_power(d, None, alpha, wanted, alternative=side)
            for side in ("two-sided", "larger")
        ]
        print(d, wanted, alpha, *sizes)
    for n, wanted, alpha, _ in EFFECTS:
        print(n, wanted, alpha, test.solve_power(None, n, alpha, wanted))


def hsd() -> None:
    fit = ols("y ~ C(q) + C(s)", rows(GRAFTS, ("q", "s"))).fit()
    error = np.sqrt(fit.mse_resid / len(GRAFTS))
    print(
        "mean square",
        fit.mse_resid,
        "least difference",
        studentized_range.ppf(0.95, 4, fit.df_resid) * error,
    )
    means = GRAFTS.mean(axis=0)
    for a, b in itertools.combinations(range(4), 2):
        print(a, b, studentized_range.sf(abs(means[b] - means[a]) / error, 4, fit.df_resid))


def components() -> None:
    crossed = rows(CROSSED, ("q", "s"))
    mixed("y ~ 1", crossed, ("q", "s"), 1)
    print(pingouin.intraclass_corr(crossed, targets="s", raters="q", ratings="y").to_string())
    nested = rows(NESTED, ("q", "s", "r"))
    nested = nested.assign(
        r=nested["r"] + BRENNAN.size * nested["s"], qs=nested["q"] + BRENNAN.size * nested["s"]
    )
    mixed("y ~ 1", nested, ("q", "s", "r", "qs"), 1)


def replicates() -> None:
    mixed("y ~ 1", rows(DIFFERENCES, ("q", "r")), ("q", "r"), 100)
    both = rows(np.stack([A, B], axis=1), ("q", "s", "r"))
    both = both.assign(r=both["r"] + 100 * both["s"], qs=both["q"] + 100 * both["s"])
    mixed("y ~ s", both, ("q", "r", "qs"), 100)


if __name__ == "__main__":
    for record in (corrections, power, hsd, components, replicates):
        print(f"\n{record.__name__}")
        record()
