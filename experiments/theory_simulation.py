"""Theory against simulation for one ranker and three measures, in one figure: NDCG of single lists,
as they grow.

Under the logarithm, whole lists converge to 1; under r^-1/2, to a limit below 1; and NDCG@10 does
not converge. Lines are N*, dots and bands simulated lists. Takes some seconds.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from idealrank.pages.figures import drawings
from idealrank.theory import limit, pseudo_expectation, simulate_many
from idealrank.theory.expressions import parse_model
from idealrank.theory.views.figures import Simulated, simulated_spec

MODEL = "0.1+0.8s"
MEASURES = (
    ("nDCG", "converges to 1, slowly", "log2", None, True),
    ("nDCG(discount=zipf(0.5))", "converges to a limit below 1", "zipf(0.5)", None, True),
    ("nDCG@10", "does not converge", "log2", 10, False),
)
SIZES = np.unique(np.rint(10 ** np.arange(1, 5.01, 0.125)).astype(np.int64))
LISTS, SEED = 400, 2013
FOLDER = Path("figures")


def main(argv: Sequence[str] | None = None) -> None:
    """Simulate and draw."""
    arguments = _arguments(argv)
    model = parse_model(MODEL)
    pairs = [(discount, cutoff) for _, _, discount, cutoff, _ in MEASURES]
    values = simulate_many(model, SIZES, arguments.lists, pairs, rng=arguments.seed)
    panels = [
        Simulated(
            measure=measure,
            says=says,
            sizes=SIZES,
            values=values[:, :, place],
            means=pseudo_expectation(model, SIZES, discount, cutoff),
            limit=limit(model, discount=discount, cutoff=cutoff).value if settles else None,
        )
        for place, (measure, says, discount, cutoff, settles) in enumerate(MEASURES)
    ]
    print(
        *drawings.save(
            {"simulation": simulated_spec(panels, "0.1 + 0.8 s")}, arguments.out, arguments.format
        ),
        sep="\n",
    )


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="example:\n  python experiments/theory_simulation.py --out figures --format png",
    )
    parser.add_argument(
        "--out", type=Path, default=FOLDER, help="where the figure goes (default: %(default)s)"
    )
    parser.add_argument(
        "--format",
        choices=("svg", "png", "json"),
        default="svg",
        help="of the file (default: %(default)s)",
    )
    parser.add_argument(
        "--lists",
        type=_two_or_more,
        default=LISTS,
        help="lists of each length, 2 or more (default: %(default)s)",
    )
    parser.add_argument(
        "--seed", type=int, default=SEED, help="of the lists (default: %(default)s)"
    )
    return parser.parse_args(argv)


def _two_or_more(text: str) -> int:
    if not text.isdecimal() or int(text) < 2:
        raise argparse.ArgumentTypeError(f"found {text}, expected a whole number from 2 on")
    return int(text)


if __name__ == "__main__":
    main()
