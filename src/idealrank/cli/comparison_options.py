"""Options for the test of differences, and for the table of a paper."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, NamedTuple, get_args

import click

from idealrank.analysis.comparison.families import Correction
from idealrank.cli import options
from idealrank.cli.output import idle_option, typed_options
from idealrank.errors import OptionError, shown
from idealrank.stats.comparison import TESTS


class Testing(NamedTuple):
    """Chosen options, by their names in `idealrank.compare`."""

    test: str = "permutation"  # Where p values and intervals come from
    correction: str = "auto"  # Correction of p values: ``auto`` or ``holm``
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
        words = []
        if self.level != Testing().level:
            words += ["--alpha", f"{round(1 - self.level, 12):g}"]
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
        type=click.Choice(TESTS),
        default=TESTS[0],
        show_default=True,
        help="Test behind p values and intervals: sign-flip permutation (distribution-free), "
        "Student's t, Wilcoxon, or sign test.",
    ),
    click.option(
        "--correction",
        type=click.Choice(get_args(Correction)),
        default="auto",
        show_default=True,
        help="Correction for several tests: auto uses max-T for permutation and Bonferroni's "
        "method for other tests; holm uses Holm's method.",
    ),
    click.option(
        "--level",
        metavar="LEVEL",
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

    decorated: Callable[..., Any] = with_testing
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated


# options of a measure have = in brackets
_LABEL = re.compile(r"((?:[^=(]|\([^)]*\))+)=(.+)", re.DOTALL)
_LAYOUTS = ("table", "markdown", "latex")


@dataclass(frozen=True)
class Paper:
    """Order and labels of the rows."""

    # Text of the measure that orders the runs; empty for the order on the command line
    order: str = ""
    # Name in the table by name of the run, or by text of the measure
    labels: Mapping[str, str] = field(default_factory=dict)
    # Letters of all pairs, where they were asked for, in place of marks against a baseline
    letters: str | None = None

    @classmethod
    def of(cls, order: str | None, labels: Collection[str]) -> "Paper":
        """Parse the options."""
        texts: dict[str, str] = {}
        for label in labels:
            match = _LABEL.fullmatch(label)
            if match is None:
                raise OptionError(f"--rename {shown(label)}: expected NAME=TEXT, as in bm25=BM25")
            texts[match[1]] = match[2]
        measure = str(options.parse_measure_texts([order])[0]) if order else ""
        return cls(order=measure, labels=texts)

    def checked(
        self, layout: str, names: Sequence[str], measures: Collection[str], baseline: str | None
    ) -> "tuple[Paper, str | None]":
        """Return the options with the texts of measures in place of other spellings, and the
        baseline, by default the first run; none for letters.
        """
        if layout not in _LAYOUTS:
            raise OptionError(
                f"--table paper: found --format {layout}, expected one of {', '.join(_LAYOUTS)}"
            )
        context = click.get_current_context()
        typed = typed_options(context)
        for option in sorted(typed.keys() & _ONLY_FULL):
            raise idle_option(option, "--table paper", "--table full")
        if self.order and self.order not in measures:
            raise OptionError(
                f"--sort-by {self.order}: not compared, expected one of {', '.join(measures)}"
            )
        from idealrank.reports.views.comparison.markup import known_labels  # noqa: PLC0415  (for this table alone)

        labels = known_labels(self.labels, names, measures, "--rename ")
        if "--letters" in typed:
            return replace(self, labels=labels, letters=context.params["letters"]), None
        return replace(self, labels=labels), names[0] if baseline is None else baseline


# Options of the full table; `compare` itself refuses --rankings, which a report takes, too
_ONLY_FULL = {"--every-pair", "--more", "--explain-method"}
_PAPER_OPTIONS = (
    click.option(
        "--table",
        "kind",
        type=click.Choice(["full", "paper"]),
        default="full",
        show_default=True,
        help="paper: one row per run and one column per measure, the best value in bold, ▲ or ▼ if "
        "a run is better or worse than the baseline (by default the first run), or --letters of "
        "all pairs. A LaTeX table that is wider than a page is split.",
    ),
    click.option(
        "--sort-by",
        "order",
        metavar="MEASURE",
        cls=options.OnceOption,
        help="Measure that orders the rows of --table paper, the best first.  [default: as given]",
    ),
    click.option(
        "--rename",
        "labels",
        metavar="NAME=TEXT",
        multiple=True,
        help="Name of a run or measure in --table paper; may be repeated.",
    ),
)


def paper_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command; it gets them as one argument, `paper`, which is None for the
    full table.
    """

    @wraps(command)
    def with_paper(*, kind: str, order: str | None, labels: tuple[str, ...], **others: Any) -> Any:
        if kind == "full" and (order or labels):
            raise OptionError(
                f"{'--sort-by' if order else '--rename'}: found no --table paper, expected both"
            )
        return command(paper=Paper.of(order, labels) if kind == "paper" else None, **others)

    decorated: Callable[..., Any] = with_paper
    for option in reversed(_PAPER_OPTIONS):
        decorated = option(decorated)
    return decorated
