"""Options for the test of differences."""

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

import click


class Testing(NamedTuple):
    """Chosen options, by their names in `idealrank.compare`."""

    test: str = "permutation"  # Where p values and intervals come from
    correction: str = "auto"  # Of p values: ``auto`` or ``holm``
    level: float = 0.95  # Confidence level of the intervals
    margin: float | None = None  # A difference that does not matter
    largest_loss: float | None = None  # Greatest difference of one query, for the margin
    effect: float | None = None  # The smallest true difference worth finding
    rng: int | None = None  # The seed of random signs

    @property
    def arguments(self) -> dict[str, Any]:
        """Keywords of `idealrank.compare`."""
        return self._asdict()

    @property
    def judge_words(self) -> list[str]:
        """Options of `judge next` that set the same level, margin and largest loss, where they are
        not the defaults.
        """
        words = (
            [] if self.level == Testing().level else ["--alpha", f"{round(1 - self.level, 12):g}"]
        )
        for option, value in (("--margin", self.margin), ("--largest-loss", self.largest_loss)):
            words += [] if value is None else [option, f"{value:g}"]
        return words


LARGEST_LOSS = click.option(
    "--largest-loss",
    metavar="L",
    type=float,
    help="Largest loss that one query can have, for --margin. [default: the range of the measure]",
)

_OPTIONS = (
    click.option(
        "--test",
        type=click.Choice(["permutation", "t", "wilcoxon", "sign"]),
        default="permutation",
        show_default=True,
        help="Test behind p values and intervals: sign-flip permutation (distribution-free), "
        "Student's t, Wilcoxon, or sign test.",
    ),
    click.option(
        "--correction",
        type=click.Choice(["auto", "holm"]),
        default="auto",
        show_default=True,
        help="Correction for several tests: auto uses max-T for permutation and Bonferroni's "
        "method for other tests; holm uses Holm's "
        "method.",
    ),
    click.option(
        "--level",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        default=0.95,
        show_default=True,
        help="Confidence level; verdicts use significance level 1 - level.",
    ),
    click.option(
        "--margin",
        metavar="X",
        type=float,
        help="Also test equivalence within ±X, in units of the measure.",
    ),
    LARGEST_LOSS,
    click.option(
        "--effect",
        metavar="X",
        type=float,
        help="Smallest true difference worth finding, in units of the measure: state how many "
        "queries detect it with 80 % power.",
    ),
    click.option(
        "--seed",
        metavar="N",
        type=click.IntRange(0),
        help="Random seed; derived from the data by default, and printed.",
    ),
)


def testing_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options; it gets them as one argument, `testing`."""

    @wraps(command)
    def with_testing(*, seed: int | None, **others: Any) -> Any:
        chosen = {name: others.pop(name) for name in Testing._fields if name in others}
        return command(testing=Testing(**chosen, rng=seed), **others)

    found: Callable[..., Any] = with_testing
    for option in reversed(_OPTIONS):
        found = option(found)
    return found
