"""Swap rates and significant pairs of each discount and cutoff on given runs."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from idealrank.analysis.comparison.comparisons import distinct
from idealrank.analysis.comparison.families import DRAWS
from idealrank.analysis.comparison.query_table import (
    comparable,
    seed_from,
    unjudged_counts,
    unjudged_share,
)
from idealrank.analysis.comparison.study import Study
from idealrank.analysis.tuning.settings import (
    Choice,
    Choosing,
    Setting,
    Theory,
    distance_to_usual,
    in_words,
    most_unjudged,
    nearest_to_usual,
    recommended_of,
    warnings_of,
)
from idealrank.conventions import Convention
from idealrank.data.types import AnyArray, FloatArray
from idealrank.errors import IncompatibleError, InputError, OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.measures.counts import NumRet
from idealrank.measures.cutoffs import Cutoff, RelativeCutoff, make_cutoff
from idealrank.measures.dcg import DCG, NDCG
from idealrank.measures.discounts import DiscountLike, make_discount
from idealrank.measures.judgedness import JudgedShare
from idealrank.measures.measure import Measure
from idealrank.measures.parse import MeasureLike, parse_measure
from idealrank.stats.discrimination import (
    SwapSpread,
    SwapTable,
    discriminative_power,
    swap_spread,
    swap_table,
)
from idealrank.stats.generalisability import variance_components
from idealrank.stats.multiple_tests import simultaneous
from idealrank.stats.randomness import RandomLike, generator_of, whole_number
from idealrank.stats.tolerance import subtracted
from idealrank.version import __version__

DISCOUNTS = ("log2", "zipf(0.5)", "zipf(1)", "geometric(0.8)", "linear")
CUTOFFS = (1, 3, 5, 10, 20, 50, 100, 1000, None)

# Called with how many settings are done, and of how many.
Tell = Callable[[int, int], None]

_LEAST_SIZE = 5  # queries of each of two sets
_FEWEST = 4  # queries: two sets of two


@dataclass(frozen=True)
class Option:
    """A discount and a cutoff to look at, as a measure."""

    discount: str
    cutoff: Cutoff | None
    measure: Measure


def grid_of(
    measure: MeasureLike = "nDCG",
    discounts: Iterable[DiscountLike] = DISCOUNTS,
    cutoffs: "Iterable[int | str | Cutoff | None]" = CUTOFFS,
    convention: "Convention | str" = "standard",
) -> tuple[Option, ...]:
    """Every discount with every cutoff."""
    base = parse_measure(measure)
    if not isinstance(base, (NDCG, DCG)):
        raise OptionError(
            f"{base}: found a measure without a discount; expected nDCG or DCG, also with options, "
            "as in nDCG(gain=exp2)"
        )
    if base.discount is not None or base.cutoff is not None:
        raise OptionError(
            f"{base}: found a discount or cutoff, which are to be chosen; expected nDCG or "
            f"DCG without them"
        )
    usual = make_discount(Convention.of(convention).rules.discount).text
    options = {}
    for name, settings in (("discounts", discounts), ("cutoffs", cutoffs)):
        if not isinstance(settings, Iterable):
            raise OptionError(f"{name}: found {settings!r}, expected a list of settings")
    cutoffs = list(cutoffs)
    for discount in list(map(make_discount, discounts)):
        set_discount = None if discount.text == usual else discount
        for cutoff in map(make_cutoff, cutoffs):
            changed = replace(base, discount=set_discount, cutoff=cutoff)
            options[changed] = Option(discount.text, cutoff, changed)
    if not options:
        raise OptionError("found no discount or no cutoff, expected at least one of each")
    return tuple(options.values())


def measures_of(grid: Sequence[Option]) -> tuple[Measure, ...]:
    """List the measures to evaluate: the requested ones, and their companions on the reach of
    judgments.
    """
    counts: dict[Measure, None] = {}
    for cutoff in (option.cutoff for option in grid):
        counts |= dict.fromkeys((JudgedShare(cutoff=cutoff), NumRet(cutoff=cutoff)))
    return (*(option.measure for option in grid), *counts)


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """Splits and bootstrap samples of the queries; `idealrank.choose` documents each option."""

    size: int | None = None
    n_splits: int = 2000
    n_resamples: int = 400
    level: float = 0.95
    rng: RandomLike = None
    threads: int | None = None


def chosen_setting(
    evaluations: Sequence[Evaluation],
    grid: Sequence[Option],
    sampling: Sampling,
    *,
    theory: Mapping[Measure, Theory],
    tell: Tell | None = None,
) -> Choice:
    """Compare settings by runs that were evaluated by `measures_of` the grid."""
    if len(evaluations) < 2:
        raise OptionError(
            f"found {len(evaluations)} run, expected two or more: settings are compared by "
            f"their power to distinguish runs"
        )
    study = Study(
        evaluations=tuple(comparable(evaluations)),
        names=distinct([evaluation.name for evaluation in evaluations]),
        measures=tuple(option.measure for option in grid),
    )
    queries = study.queries
    unjoined = study.mismatches
    values = np.stack([table.values for table in study.tables], axis=1)
    kept = np.asarray(np.isfinite(values).all(axis=(1, 2)))
    if kept.sum() < _FEWEST:
        raise InputError(
            f"{int(kept.sum())} of {len(queries)} queries are scored in every run, expected at "
            f"least {_FEWEST}; a convention under which all count has missing=zero and "
            "no_relevant=zero",
            switch="missing=zero",
        )
    seed = seed_from(sampling.rng, study.tables)
    draws = _Draws(values[kept], seed, sampling)
    shares = [_unjudged(evaluations, option.cutoff, queries, kept) for option in grid]
    settings = draws.settings(grid, shares, theory, tell)
    return _choice(
        names=study.names,
        settings=settings,
        draws=draws,
        convention=evaluations[0].convention,
        left_out=int((~kept).sum()),
        unjoined=unjoined,
    )


def _choice(
    names: tuple[str, ...],
    settings: Sequence[Setting],
    draws: "_Draws",
    convention: Convention,
    left_out: int,
    unjoined: Mapping[str, str],
) -> Choice:
    usual = nearest_to_usual(settings)
    settings, best = draws.beside_best(settings)
    recommended = recommended_of(settings, usual)
    warnings = warnings_of(settings, recommended, len(names), len(draws.values), left_out)
    usual = next(setting for setting in settings if setting.measure == usual.measure)
    words = in_words(settings, recommended, best, usual, draws.method.size)
    return Choice(
        names=names,
        n=len(draws.values),
        left_out=left_out,
        settings=settings,
        recommended=recommended,
        best=best,
        usual=usual,
        warnings=warnings,
        recommendation=words,
        method=draws.method,
        convention=convention,
        mismatches=unjoined,
    )


def usual_size(n: int) -> int:
    """Queries of each of two sets, of n: a tenth, but at least five if there are ten.

    Halves are the textbook's choice.
    """
    return min(max(_LEAST_SIZE, n // 10), n // 2)


class _Draws:
    """Values (queries, runs, settings) and all that is random about them: swap rates of all
    settings by the same splits, and how far they can be told apart.
    """

    def __init__(self, values: FloatArray, seed: int, sampling: Sampling) -> None:
        self.values = values
        self.seed = seed
        self.level = sampling.level
        self.threads = sampling.threads
        size = usual_size(len(values)) if sampling.size is None else sampling.size
        generator = generator_of(seed)
        self._swaps: SwapTable = swap_table(
            values,
            size=size,
            trials=whole_number("n_splits", sampling.n_splits, 2),
            rng=generator,
            threads=self.threads,
        )
        self._spread: SwapSpread = swap_spread(
            values,
            size=size,
            resamples=sampling.n_resamples,
            level=self.level,
            rng=generator,
            threads=self.threads,
        )

    def settings(
        self,
        grid: Sequence[Option],
        unjudged: Sequence[float],
        theory: Mapping[Measure, Theory],
        tell: Tell | None,
    ) -> list[Setting]:
        """All that is known of each setting by itself."""
        settings = []
        limit = most_unjudged(unjudged)
        for place, option in enumerate(grid):
            cutoff = option.cutoff
            settings.append(
                Setting(
                    measure=str(option.measure),
                    discount=option.discount,
                    cutoff=cutoff.text if isinstance(cutoff, RelativeCutoff) else cutoff,
                    swap_rate=float(self._swaps.rates[place]),
                    swap_error=float(self._swaps.standard_errors[place]),
                    tied=float(self._swaps.tied[place]),
                    unjudged=unjudged[place],
                    considered=unjudged[place] <= limit,
                    theory=theory.get(option.measure),
                    **self._tested(self.values[:, :, place]),
                )
            )
            if tell is not None:
                tell(place + 1, len(grid))
        return settings

    def _tested(self, table: FloatArray) -> dict[str, Any]:
        """Summarise the tests of one setting, before it is compared with the best."""
        first, second = np.triu_indices(table.shape[1], 1)
        tests = simultaneous(
            subtracted(table[:, first], table[:, second]),
            n_resamples=DRAWS,
            rng=self.seed,
            level=self.level,
            threads=self.threads,
        )
        alpha = 1 - self.level
        return {
            "pairs": first.size,
            "significant": int(tests.differs.sum()),
            "uncorrected": discriminative_power(table, test="t", alpha=alpha).significant,
            "generalisability": _generalisability(table),
            "behind": 0.0,
            "margin": 0.0,
            "as_good": False,
        }

    def beside_best(self, settings: Sequence[Setting]) -> tuple[tuple[Setting, ...], Setting]:
        """The settings with how far they are behind the best of those considered, and that one."""
        considered = [place for place, setting in enumerate(settings) if setting.considered]
        best = min(
            considered,
            key=lambda place: (settings[place].swap_rate, distance_to_usual(settings[place])),
        )
        compared = []
        for place, setting in enumerate(settings):
            behind = setting.swap_rate - settings[best].swap_rate
            margin = float(self._spread.margins[best, place])
            as_good = setting.considered and behind <= margin
            compared.append(replace(setting, behind=behind, margin=margin, as_good=as_good))
        return tuple(compared), compared[best]

    @property
    def method(self) -> Choosing:
        """Method of the measurement."""
        swaps = self._swaps
        test = "sign-flip permutation test, max-T"
        return Choosing(
            size=swaps.size,
            trials=swaps.trials,
            exact=swaps.exact,
            resamples=self._spread.resamples,
            level=self.level,
            test=test,
            seed=self.seed,
            version=__version__,
        )


def _generalisability(table: FloatArray) -> float:
    components = variance_components(table)
    whole = components.systems + components.relative_error(len(table))
    return components.systems / whole if whole > 0 else math.nan


def _unjudged(
    evaluations: Sequence[Evaluation], cutoff: Cutoff | None, queries: Sequence[str], kept: AnyArray
) -> float:
    """Largest share of a run without a judgment, among the documents that it shows down to the
    cutoff.
    """
    shares = []
    for evaluation in evaluations:
        counts = unjudged_counts(evaluation, cutoff, queries)
        if counts is None:
            raise IncompatibleError(
                f"run {evaluation.name!r} was evaluated without the measures that count judged "
                "documents; use measures_of"
            )
        shares.append(unjudged_share(counts[kept]))
    return max(shares)
