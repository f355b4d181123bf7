"""The figure docs/figures/simulation.svg: theory against simulation for one ranker and three measures; takes some seconds.

python -m experiments.theory_simulation
"""

from pathlib import Path

import numpy as np

from idealrank.reports import plots
from idealrank.reports.theory_simulated import Simulated, simulated_spec
from idealrank.theory import limit, pseudo_expectation, simulate_many
from idealrank.theory.expressions import parse_model

MODEL = "0.1+0.8s"
MEASURES = (
    ("nDCG", "tends to 1, slowly", "log2", None, True),
    ("nDCG(discount=zipf(0.5))", "tends to its own limit", "zipf(0.5)", None, True),
    ("nDCG@10", "never settles", "log2", 10, False),
)
SIZES = np.unique(np.rint(10 ** np.arange(1, 5.01, 0.125)).astype(np.int64))
LISTS, SEED = 400, 2013
DESTINATION = Path(__file__).resolve().parents[1] / "docs" / "figures"


def main() -> None:
    """Simulate and draw."""
    model = parse_model(MODEL)
    pairs = [(discount, cutoff) for _, _, discount, cutoff, _ in MEASURES]
    values = simulate_many(model, SIZES, LISTS, pairs, rng=SEED)
    panels = [
        Simulated(
            measure, says, SIZES, values[:, :, place], pseudo_expectation(model, SIZES, discount, cutoff),
            limit(model, discount=discount, cutoff=cutoff).value if settles else None,
        )
        for place, (measure, says, discount, cutoff, settles) in enumerate(MEASURES)
    ]  # fmt: skip
    print(*plots.save({"simulation": simulated_spec(panels, "0.1 + 0.8 s")}, DESTINATION, "svg"))


if __name__ == "__main__":
    main()
