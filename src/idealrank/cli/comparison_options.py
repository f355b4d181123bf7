"""How differences are tested, as options of a command."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import wraps
from typing import Any

import click


@dataclass(frozen=True)
class Testing:
    """What was chosen, by the names that `idealrank.compare` has for it.

    Attributes
    ----------
    test : str
        Where p values and intervals come from.
    correction : str
        Of p values: ``auto`` or ``holm``.
    level : float
        Of the intervals.
    margin : float or None
        A difference that does not matter.
    rng : int or None
        The seed of random signs.

    Examples
    --------
    >>> Testing(test="t").arguments["level"]
    0.95
    """

    test: str = "permutation"
    correction: str = "auto"
    level: float = 0.95
    margin: float | None = None
    rng: int | None = None

    @property
    def arguments(self) -> dict[str, Any]:
        """Keywords of `idealrank.compare`."""
        return asdict(self)


_OPTIONS = (
    click.option(
        "--test", type=click.Choice(["permutation", "t", "wilcoxon", "sign"]), default="permutation", show_default=True,
        help="Where p values and intervals come from: flipped signs of the differences (no assumption of a shape), Student's t, ranks, "
        "signs.",
    ),
    click.option(
        "--correction", type=click.Choice(["auto", "holm"]), default="auto", show_default=True,
        help="Of p values in a family of several tests: auto is max-T for permutation and Bonferroni's method for other tests; holm is "
        "Holm's method.",
    ),
    click.option(
        "--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95, show_default=True,
        help="Of the intervals; verdicts are at 1 - level.",
    ),
    click.option("--margin", metavar="X", type=float, help="Differences below X do not matter: asks for equivalence, too."),
    click.option(
        "--seed", metavar="N", type=click.IntRange(0), help="Of the random signs; without it, one that follows from the values, and is "
        "printed.",
    ),
)  # fmt: skip


def testing_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options; it gets them as one argument, `testing`."""

    @wraps(command)
    def with_testing(*, test: str, correction: str, level: float, margin: float | None, seed: int | None, **others: Any) -> Any:
        return command(testing=Testing(test, correction, level, margin, seed), **others)

    found: Callable[..., Any] = with_testing
    for option in reversed(_OPTIONS):
        found = option(found)
    return found
