"""How sure a mean, or a difference of two means over the same queries, is: intervals, tests, corrections, power.

Everything here is of plain arrays (queries, measures) and knows nothing of runs or files. Randomness comes in as `rng` alone.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from idealrank.stats.compact_letters import Letters, letters
    from idealrank.stats.design import Design
    from idealrank.stats.discrimination import DiscriminativePower, SwapRates, discriminative_power, swap_rates
    from idealrank.stats.effects import EffectSizes, effect_sizes
    from idealrank.stats.generalisability import (
        QueriesForReliability,
        Reliability,
        VarianceComponents,
        from_mean_squares,
        queries_for_reliability,
        reliability,
        variance_components,
    )
    from idealrank.stats.hsd import HSD, tukey_hsd
    from idealrank.stats.intervals import Interval, difference_interval, mean_interval
    from idealrank.stats.many_to_one import MaxT, max_t, simultaneous
    from idealrank.stats.margins import MarginTest, equivalence, non_inferiority
    from idealrank.stats.multiple import adjust
    from idealrank.stats.paired import PairedTest, paired_t, sign_test, wilcoxon
    from idealrank.stats.pairs import AllPairs, all_pairs
    from idealrank.stats.permutation import PermutationTest, permutation_test
    from idealrank.stats.power import Pilot, detectable, half_width, pilot, queries_for_half_width, queries_needed, t_power
    from idealrank.stats.power_of_flips import SimulatedPower, flip_detectable, flip_power, flip_queries_needed
    from idealrank.stats.rearranged import RandomisedHSD, randomised_hsd
    from idealrank.stats.replicates import ReplicatedDifference, Training, replicated_difference
    from idealrank.stats.unpaired import UnpairedTest, mann_whitney, unpaired_permutation, welch_t

_HOMES: dict[str, str] = {
    "AllPairs": "pairs",
    "Design": "design",
    "DiscriminativePower": "discrimination",
    "EffectSizes": "effects",
    "HSD": "hsd",
    "Interval": "intervals",
    "Letters": "compact_letters",
    "MarginTest": "margins",
    "MaxT": "many_to_one",
    "PairedTest": "paired",
    "PermutationTest": "permutation",
    "Pilot": "power",
    "QueriesForReliability": "generalisability",
    "RandomisedHSD": "rearranged",
    "Reliability": "generalisability",
    "ReplicatedDifference": "replicates",
    "SimulatedPower": "power_of_flips",
    "SwapRates": "discrimination",
    "Training": "replicates",
    "UnpairedTest": "unpaired",
    "VarianceComponents": "generalisability",
    "adjust": "multiple",
    "all_pairs": "pairs",
    "detectable": "power",
    "difference_interval": "intervals",
    "discriminative_power": "discrimination",
    "effect_sizes": "effects",
    "equivalence": "margins",
    "flip_detectable": "power_of_flips",
    "flip_power": "power_of_flips",
    "flip_queries_needed": "power_of_flips",
    "from_mean_squares": "generalisability",
    "half_width": "power",
    "letters": "compact_letters",
    "mann_whitney": "unpaired",
    "max_t": "many_to_one",
    "mean_interval": "intervals",
    "non_inferiority": "margins",
    "paired_t": "paired",
    "permutation_test": "permutation",
    "pilot": "power",
    "queries_for_half_width": "power",
    "queries_for_reliability": "generalisability",
    "queries_needed": "power",
    "randomised_hsd": "rearranged",
    "reliability": "generalisability",
    "replicated_difference": "replicates",
    "sign_test": "paired",
    "simultaneous": "many_to_one",
    "swap_rates": "discrimination",
    "t_power": "power",
    "tukey_hsd": "hsd",
    "unpaired_permutation": "unpaired",
    "variance_components": "generalisability",
    "welch_t": "unpaired",
    "wilcoxon": "paired",
}

__all__ = [
    "HSD",
    "AllPairs",
    "Design",
    "DiscriminativePower",
    "EffectSizes",
    "Interval",
    "Letters",
    "MarginTest",
    "MaxT",
    "PairedTest",
    "PermutationTest",
    "Pilot",
    "QueriesForReliability",
    "RandomisedHSD",
    "Reliability",
    "ReplicatedDifference",
    "SimulatedPower",
    "SwapRates",
    "Training",
    "UnpairedTest",
    "VarianceComponents",
    "adjust",
    "all_pairs",
    "detectable",
    "difference_interval",
    "discriminative_power",
    "effect_sizes",
    "equivalence",
    "flip_detectable",
    "flip_power",
    "flip_queries_needed",
    "from_mean_squares",
    "half_width",
    "letters",
    "mann_whitney",
    "max_t",
    "mean_interval",
    "non_inferiority",
    "paired_t",
    "permutation_test",
    "pilot",
    "queries_for_half_width",
    "queries_for_reliability",
    "queries_needed",
    "randomised_hsd",
    "reliability",
    "replicated_difference",
    "sign_test",
    "simultaneous",
    "swap_rates",
    "t_power",
    "tukey_hsd",
    "unpaired_permutation",
    "variance_components",
    "welch_t",
    "wilcoxon",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
