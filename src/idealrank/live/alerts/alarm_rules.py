"""Rules of alarms. Each rule reads a round and its drop against the baseline, and decides, for all
queries and for each slice, whether the round signals an alarm or the end of an alarm.
"""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import chdtri, ndtri, stdtr, stdtrit

from idealrank._keys import (
    amount,
    choice,
    flag,
    key,
    schema_of,
    schema_of_kinds,
    text,
    whole,
)
from idealrank._sections import Section
from idealrank.live.alerts.seen_rounds import (
    FEWEST_SAMPLED,
    WHOLE,
    Baseline,
    SamplingError,
    SeenRound,
)
from idealrank.stats import Cusum, Ewma, SequentialDrop
from idealrank.stats.multiple_tests import simultaneous

_DRAWS = 9_999  # resamples of the test; the smallest p value is 1 in 10,000
_SEED = 1  # the same round gives the same answer


@dataclass(frozen=True, kw_only=True)
class RoundDrop:
    """Difference of a round from its baseline in one group of queries."""

    difference: float  # Mean of value less baseline
    high: float  # Upper end of its one-sided interval, simultaneous over the groups
    p: float  # p value of a drop beyond the tolerance, corrected over the groups


def round_drops(
    differences: npt.ArrayLike,
    groups: Mapping[str, Sequence[int]],
    *,
    tolerance: float = 0.0,
    level: float = 0.99,
) -> dict[str, RoundDrop]:
    """Test whether a round dropped below its baseline by more than a tolerance, in each of several
    groups of queries.
    """
    drops = np.asarray(differences, dtype=float)
    chosen = {name: list(places) for name, places in groups.items() if len(places)}
    if not chosen:
        return {}
    counted = np.zeros((drops.size, len(chosen)), dtype=bool)
    for column, places in enumerate(chosen.values()):
        counted[places, column] = True
    table = np.broadcast_to(drops[:, None], counted.shape)
    tests = simultaneous(
        table,
        counted=counted,
        alternative="less",
        null=-tolerance,
        level=level,
        n_resamples=_DRAWS,
        rng=_SEED,
        threads=1,
    )
    return {
        name: RoundDrop(
            difference=float(tests.difference[column]),
            high=float(tests.high[column]),
            p=float(tests.p[column]),
        )
        for column, name in enumerate(chosen)
    }


Memory = Mapping[str, Any]

_ALLOWED_NOISE = 0.8  # confidence that the noise is at most the one that charts take
# confidence, one standard error, that the baseline is too high by at most what charts allow for
_ALLOWED_ERROR = 0.84
# the same for sequential tests, which find a baseline that is too high in the end
_ALLOWED_ERROR_OF_TEST = 0.95
_RAREST = 1e-300  # probability with a finite normal value
_CALM_LATENCY = 0.8  # share of the limit: a latency just below it does not end an alarm
_SMALLEST_RECOVERY = 1e-4  # difference that a test of recovery looks for, at least
_LARGEST_SHOWN = 600  # logarithm of the evidence in messages: the exponential of 710 overflows
_NEARLY = 0.01  # a mean that is lower by less may have recovered from a larger drop


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Answer of a rule about one group of queries in one round."""

    # True if the round speaks for an alarm; None if it says nothing, as when the backend is down or
    # the baseline is being learned
    signal: bool | None
    calm: bool  # True if the round speaks for the end of an open alarm
    text: str  # The reading in words
    # value, limit: What is compared
    value: float | None = None
    limit: float | None = None
    memory: Memory = field(default_factory=dict)  # What the rule needs to know at the next round


NAME = "^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$"
"""Pattern of the names of monitors and of alarms."""
NAME_WORDS = "letters, digits, dots, hyphens and underscores, at most 80"
_MOST_ROUNDS = 1000  # whose signals a rule counts


def _signals(enough: int, among: int) -> Any:
    # 1 to 1000, in at most four digits
    count = "(0{0,3}[1-9]|0{0,2}[1-9][0-9]|0?[1-9][0-9]{2}|1000)"
    number = {"type": "integer", "minimum": 1, "maximum": _MOST_ROUNDS}
    pair = {"type": "array", "items": number, "minItems": 2, "maxItems": 2}
    return key(
        (enough, among),
        about="The alarm opens if so many of the last so many rounds signal, as in `2 of 3`.",
        read=_signals_of,
        schema=lambda: {"anyOf": [{"type": "string", "pattern": f"^{count} of {count}$"}, pair]},
    )


def _signals_of(section: Section, name: str) -> tuple[int, int]:
    signals = section.given[name]
    words = re.fullmatch(r"(\d{1,4}) of (\d{1,4})", signals) if isinstance(signals, str) else None
    pair: Any = [int(words[1]), int(words[2])] if words else signals
    is_pair = isinstance(pair, Sequence) and len(pair) == 2
    if is_pair and all(type(number) is int for number in pair):  # a bool is no number of rounds
        enough, among = pair
        if 1 <= enough <= among <= _MOST_ROUNDS:
            return enough, among
    raise section.error(name, repr(signals), "two numbers, as in `2 of 3`")


def _recover(rounds: int) -> Any:
    return whole("The alarm closes after so many calm rounds in a row.", rounds)


def _severity(usual: str) -> Any:
    return choice(("page", "ticket", "info"), "Label of the messages.", usual)


def _tolerance(usual: float) -> Any:
    return amount("Drop that is no alarm.", usual, most=0.9)


def _rounds() -> Any:
    """Rounds between two false alarms; users give the false alarms in 1,000 rounds."""
    unit = "false alarms in 1,000 rounds"
    return key(
        1000.0,
        about="False alarms in 1,000 rounds.",
        name="false_alarms",
        read=lambda section, name: (
            1000 / section.amount(name, None, least=0.001, most=100.0, unit=unit)
        ),
        schema=lambda: {"type": "number", "minimum": 0.001, "maximum": 100, "default": 1.0},
    )


@dataclass(frozen=True, kw_only=True)
class AlarmRule(ABC):
    """A reading of each round, and how many of its signals open an alarm."""

    name: str = text(
        "Name of the alarm in messages; default its kind. Unique in its monitor.",
        pattern=NAME,
        words=NAME_WORDS,
    )
    signals: tuple[int, int] = _signals(2, 3)
    recover: int = _recover(3)
    slices: bool = flag("Also watch every slice.")
    severity: str = _severity("page")
    kind: ClassVar[str] = ""
    needs_baseline: ClassVar[bool] = False
    by_slice: ClassVar[bool] = True  # False if a reading is about all queries only

    @abstractmethod
    def read(
        self, seen: SeenRound, base: Baseline, memory: Mapping[str, Memory]
    ) -> dict[str, Reading]:
        """Read a round; `memory` has what the rule noted before, by group, and the key ``open``
        while an alarm is open.
        """

    def groups(self, seen: SeenRound) -> list[str]:
        """Return the groups that the rule watches."""
        return [WHOLE, *seen.names()] if self.slices else [WHOLE]


def _silent(text: str, memory: Memory) -> Reading:
    return Reading(signal=None, calm=False, text=text, memory=dict(memory))


def _no_comparison(seen: SeenRound) -> str:
    return "no value" if seen.outcome != "complete" else "the baseline is being learned"


@dataclass(frozen=True, kw_only=True)
class ThresholdRule(AlarmRule):
    """Signal if the mean is below a fixed value, calm if it is above that value by a margin."""

    kind: ClassVar[str] = "threshold"
    least: float = amount(
        "Least mean that is no signal.",
        least=-1e9,
        most=1e9,
        expected="the least value that is no alarm",
    )
    margin: float = amount(
        "The round is calm if its mean is so much above the least one.", 0.01, most=1.0
    )

    def read(
        self, seen: SeenRound, base: Baseline, memory: Mapping[str, Memory]
    ) -> dict[str, Reading]:
        """Read a round."""
        readings = {}
        for group in self.groups(seen):
            value = seen.mean(group)
            if value is None:
                readings[group] = _silent("no value", memory.get(group, {}))
                continue
            readings[group] = Reading(
                signal=value < self.least,
                calm=value >= self.least + self.margin,
                value=value,
                limit=self.least,
                text=f"value {value:.4f}, least {self.least:g}",
            )
        return readings


class _UpperLimit(NamedTuple):
    difference: float  # mean of value less baseline
    high: float  # upper end of its interval


@dataclass(frozen=True, kw_only=True)
class BaselineRule(AlarmRule):
    """Signal if the drop against the baseline is beyond its interval, query by query; slices are
    corrected together.
    """

    kind: ClassVar[str] = "baseline"
    needs_baseline: ClassVar[bool] = True
    tolerance: float = _tolerance(0.0)
    confidence: float = amount(
        "Confidence of the interval of the drop.", 0.99, least=0.5, most=0.999999
    )

    def read(
        self, seen: SeenRound, base: Baseline, memory: Mapping[str, Memory]
    ) -> dict[str, Reading]:
        """Read a round."""
        names = self.groups(seen)
        if seen.outcome != "complete" or not base.known:
            text = _no_comparison(seen)
            return {group: _silent(text, memory.get(group, {})) for group in names}
        return {
            group: self._reading(drop, memory.get(group, {}))
            for group, drop in self._drops(seen, base, names).items()
        }

    def _drops(
        self, seen: SeenRound, base: Baseline, names: list[str]
    ) -> dict[str, _UpperLimit | None]:
        """Mean difference and its upper end by group; None without a query that has both."""
        if base.people and seen.people:
            # The upper end of a two-sided interval is one-sided at half the error.
            drop = base.drop(seen, level=2 * self.confidence - 1)
            return {WHOLE: None if drop is None else _UpperLimit(drop.mean, drop.high)}

        queries = sorted(query for query in seen.values if query in base.values)
        members = {}
        for group in names:
            members[group] = [
                place for place, query in enumerate(queries) if seen.is_in(query, group)
            ]
        drops = round_drops(
            base.differences(seen), members, tolerance=self.tolerance, level=self.confidence
        )
        limits: dict[str, _UpperLimit | None] = dict.fromkeys(names)
        for group, group_drop in drops.items():
            limits[group] = _UpperLimit(group_drop.difference, group_drop.high)
        return limits

    def _reading(self, drop: _UpperLimit | None, memory: Memory) -> Reading:
        if drop is None:
            return _silent("no query with a baseline", memory)
        difference = drop.difference
        high = drop.high
        # An open alarm ends when half of the drop that opened it is made up for.
        halfway = max(self.tolerance, -float(memory.get("drop", 0.0)) / 2)
        signal = high < -self.tolerance
        confidence = f"{100 * self.confidence:g} % confidence"
        return Reading(
            signal=signal,
            calm=not signal and difference >= -halfway,
            value=difference,
            limit=-self.tolerance,
            text=f"difference {difference:+.4f}, at most {high:+.4f} with {confidence}",
            memory={"drop": memory["drop"] if "open" in memory else difference},
        )


@dataclass(frozen=True, kw_only=True)
class _Innovation:
    """Part of a round that the rounds before did not foretell, in standard deviations: independent
    from round to round.

    The mean of all queries is autoregressive of order 1, with a variance of 1.
    """

    value: float
    deviations: float  # of the round from the baseline, whatever was foretold
    correlation: float
    share_of_rounds: float  # of the long-run standard deviation; the rest is sampling error
    memory: Memory

    @classmethod
    def of(
        cls, z: float, sampling: SamplingError, correlation: float, memory: Memory
    ) -> "_Innovation":
        """Compare a standardised round with what the round before foretells."""
        # A step of a Kalman filter: the state is the mean of all queries, and is observed with the
        # sampling error.
        foretold, variance = 0.0, 1.0
        if memory.get("last") is not None:
            foretold = correlation * float(memory["last"])
            variance = 1 - correlation**2 * (1 - float(memory.get("doubt", 0.0)))
        error = sampling.error**2
        total = variance + error
        long_run = (1 + correlation) / (1 - correlation)
        value = (z - foretold) / math.sqrt(total)
        if error > 0:
            # Only the sampling error is estimated. By Satterthwaite's formula, the sum has the
            # degrees of freedom of the estimated part, divided by the square of its share.
            value = _normal_score(value, sampling.degrees * (total / error) ** 2)
        return cls(
            value=value,
            deviations=z / math.sqrt(1 + error),
            correlation=correlation,
            share_of_rounds=math.sqrt(long_run / (long_run + error)),
            memory={
                "last": foretold + variance / total * (z - foretold),
                "doubt": variance * error / total,
            },
        )


def _normal_score(t: float, degrees: float) -> float:
    """Return the normal value as rare as a value of Student's t: an error estimated from few
    queries has long tails.
    """
    if t == 0:
        return 0.0
    tail = max(stdtr(degrees, -abs(t)), _RAREST)
    return math.copysign(float(ndtri(tail)), t)


@dataclass(frozen=True, kw_only=True)
class ChartRule(AlarmRule):
    """Chart of standardised differences from the baseline: base of `CusumRule` and `EwmaRule`.

    The difference is divided by the noise of a usual round, and what the rounds before foretell of
    it is subtracted.
    """

    needs_baseline: ClassVar[bool] = True
    signals: tuple[int, int] = _signals(1, 1)
    recover: int = _recover(1)
    rounds: float = _rounds()
    tolerance: float = _tolerance(0.0)
    least_noise: float = amount(
        "Least standard deviation of the mean of a round.", 0.001, least=1e-9, most=1.0
    )

    @abstractmethod
    def chart(self, families: int) -> "Cusum | Ewma":
        """Return the chart of one of so many groups."""

    def read(
        self, seen: SeenRound, base: Baseline, memory: Mapping[str, Memory]
    ) -> dict[str, Reading]:
        """Read a round."""
        names = self.groups(seen)
        chart = self.chart(len(names))
        readings = {}
        is_comparable = seen.outcome == "complete" and base.known
        for group in names:
            group_memory = memory.get(group, {})
            drop = base.mean_drop(seen, group) if is_comparable else None
            if drop is None or group not in base.noise:
                readings[group] = _silent(_no_comparison(seen), group_memory)
                continue
            sampling = base.sampling_error(seen, group)
            if sampling is None:
                text = f"fewer than {FEWEST_SAMPLED} queries in the sample"
                readings[group] = _silent(text, group_memory)
                continue

            noise = self._noise(base, group)
            z = (drop + self.tolerance) / noise
            step = _Innovation.of(
                z, sampling.over(noise), base.autocorrelation.get(group, 0.0), group_memory
            )
            # A baseline that is too high would add up to an alarm: its error is added to each step.
            error = float(stdtrit(base.degrees(group), _ALLOWED_ERROR)) / math.sqrt(base.rounds)
            readings[group] = self._reading(chart, step, error, group_memory)
        return readings

    def _noise(self, base: Baseline, group: str) -> float:
        """Upper confidence limit of the noise, as too little noise gives false alarms."""
        degrees = base.degrees(group)
        allowance = math.sqrt(degrees / chdtri(degrees, _ALLOWED_NOISE))
        return max(base.noise[group] * allowance, self.least_noise)

    def _reading(
        self, chart: "Cusum | Ewma", step: "_Innovation", error: float, memory: Memory
    ) -> Reading:
        before = chart.held(float(memory.get("level", chart.start)))
        level = chart.step(before, step.value + error * step.share_of_rounds)
        # A drop that lasts is foretold by the last round, and the chart alone would take it for the
        # end of the drop.
        calm = level == chart.start and (step.correlation == 0 or step.deviations >= -1)
        return Reading(
            signal=chart.signals(level),
            calm=calm,
            value=level,
            limit=chart.limit,
            memory={"level": level, **step.memory},
            text=f"{self.kind} {abs(level):.2f} of {chart.limit:.2f} standard deviations",
        )


@dataclass(frozen=True, kw_only=True)
class CusumRule(ChartRule):
    """Signal at the limit of a CUSUM; calm when the sum is back at zero."""

    kind: ClassVar[str] = "cusum"
    allowance: float = amount(
        "Allowance of the sum, in standard deviations.", 0.5, least=0.05, most=10.0
    )

    def chart(self, families: int) -> Cusum:
        """Return the chart of one of so many groups, which together have the false alarms of a
        single chart.
        """
        return _cusum(self.rounds * families, self.allowance)


@dataclass(frozen=True, kw_only=True)
class EwmaRule(ChartRule):
    """Signal at the limit of an EWMA; calm when the weighted mean is back at zero."""

    kind: ClassVar[str] = "ewma"
    weight: float = amount("Weight of the last round.", 0.1, least=0.01, most=1.0)

    def chart(self, families: int) -> Ewma:
        """Return the chart of one of so many groups, which together have the false alarms of a
        single chart.
        """
        return _ewma(self.rounds * families, self.weight)


@lru_cache(maxsize=64)
def _cusum(rounds: float, allowance: float) -> Cusum:
    return Cusum.for_run_length(rounds, allowance=allowance)


@lru_cache(maxsize=64)
def _ewma(rounds: float, weight: float) -> Ewma:
    return Ewma.for_run_length(rounds, weight=weight)


@dataclass(frozen=True, kw_only=True)
class SequentialRule(AlarmRule):
    """Signal by the sequential test of a drop; calm by the same test the other way, that the mean
    is back.

    The error of the baseline is added to the tolerance.
    """

    kind: ClassVar[str] = "sequential"
    needs_baseline: ClassVar[bool] = True
    signals: tuple[int, int] = _signals(1, 1)
    recover: int = _recover(1)
    rounds: float = _rounds()
    tolerance: float = _tolerance(0.005)

    def read(
        self, seen: SeenRound, base: Baseline, memory: Mapping[str, Memory]
    ) -> dict[str, Reading]:
        """Read a round."""
        names = self.groups(seen)
        readings = {}
        for group in names:
            group_memory = memory.get(group, {})
            error = base.error(group)
            is_comparable = seen.outcome == "complete" and base.known and not math.isnan(error)
            differences = (
                base.differences(seen, group).clip(-1, 1) if is_comparable else np.zeros(0)
            )
            if not differences.size:
                readings[group] = _silent(_no_comparison(seen), group_memory)
                continue

            rounds = self.rounds * len(names)  # all groups share the false alarms
            allowance = float(stdtrit(base.degrees(group), _ALLOWED_ERROR_OF_TEST)) * error
            tolerance = min(self.tolerance + allowance, 0.99)  # a drop by 1 is the largest
            weight = 1 / base.dependence.get(group, 1.0)
            test_round = self._test_recovery if "open" in group_memory else self._test_drop
            readings[group] = test_round(
                SequentialDrop(rounds, tolerance), differences, weight, group_memory
            )
        return readings

    def _test_drop(
        self, test: SequentialDrop, differences: Any, weight: float, memory: Memory
    ) -> Reading:
        stakes = _weighted_step(test, _array(memory.get("stakes"), test), differences, weight)
        # The drop is estimated from the rounds since there was no evidence: since its ratio was at
        # most 2.
        total = 0.0
        count = 0
        if test.evidence(stakes) > math.log(2):
            total, count = memory.get("since", (0.0, 0))
        since = (total + float(differences.mean()), count + 1)
        signal = test.signals(stakes)
        new_memory = {"stakes": stakes.tolist(), "since": list(since)}
        return self._reading(test, stakes, differences, new_memory, signal=signal)

    def _test_recovery(
        self, drop_test: SequentialDrop, differences: Any, weight: float, memory: Memory
    ) -> Reading:
        """Test the other way, from zero at the opening: the mean is back, but for the tolerance or
        half a small drop.
        """
        total, count = memory["since"]
        half_drop = -total / count / 2
        recovery = max(drop_test.tolerance, min(_NEARLY, half_drop), _SMALLEST_RECOVERY)
        test = SequentialDrop(drop_test.rounds, -recovery)
        stakes = _weighted_step(test, _array(memory.get("back"), test), -differences, weight)
        new_memory = dict(memory) | {"back": stakes.tolist()}
        return self._reading(
            test, stakes, differences, new_memory, signal=False, calm=test.signals(stakes)
        )

    def _reading(
        self,
        test: SequentialDrop,
        stakes: Any,
        differences: Any,
        memory: Memory,
        *,
        signal: bool,
        calm: bool = False,
    ) -> Reading:
        evidence = test.evidence(stakes)
        text = (
            f"difference {float(differences.mean()):+.4f}, evidence "
            f"{math.exp(min(evidence, _LARGEST_SHOWN)):.3g} of {test.rounds:g}"
        )
        if "open" in memory:
            text += " for recovery"
        return Reading(
            signal=signal,
            calm=calm,
            value=evidence,
            limit=math.log(test.rounds),
            text=text,
            memory=memory,
        )


def _weighted_step(test: SequentialDrop, stakes: Any, differences: Any, weight: float) -> Any:
    """Take a step of a test, with a weight of at most 1 for the evidence of the round."""
    # The evidence is a product over queries, which takes them as independent.
    before = np.maximum(stakes, 0.0)
    return before + weight * (test.step(before, differences) - before)


def _array(stakes: Any, test: SequentialDrop) -> Any:
    return test.start if stakes is None else np.array(stakes, dtype=float)


@dataclass(frozen=True, kw_only=True)
class CoverageRule(AlarmRule):
    """Signal if too many of the top documents are unjudged: the index may be fresh, and the
    judgments old.
    """

    kind: ClassVar[str] = "coverage"
    by_slice: ClassVar[bool] = False
    severity: str = _severity("ticket")
    least: float = amount("Least judged share of the top documents.", 0.8, least=-1e9, most=1e9)
    margin: float = amount(
        "The round is calm if its share is so much above the least one.", 0.02, most=1.0
    )

    def read(
        self, seen: SeenRound, base: Baseline, memory: Mapping[str, Memory]
    ) -> dict[str, Reading]:
        """Read a round."""
        if seen.outcome != "complete" or seen.coverage is None:
            return {WHOLE: _silent("no value", {})}
        value = seen.coverage
        text = f"judged share {value:.3f}, least {self.least:g}"
        calm = value >= min(1.0, self.least + self.margin)
        return {
            WHOLE: Reading(
                signal=value < self.least, calm=calm, value=value, limit=self.least, text=text
            )
        }


@dataclass(frozen=True, kw_only=True)
class LabelAgeRule(AlarmRule):
    """Signal if the judgments are too old."""

    kind: ClassVar[str] = "labels"
    by_slice: ClassVar[bool] = False
    signals: tuple[int, int] = _signals(1, 1)
    recover: int = _recover(1)
    severity: str = _severity("ticket")
    most_days: float = amount("Age of the judgments in days.", 180.0)

    def read(
        self, seen: SeenRound, base: Baseline, memory: Mapping[str, Memory]
    ) -> dict[str, Reading]:
        """Read a round."""
        days = seen.label_days
        if days is None:
            return {WHOLE: _silent("no age", {})}
        if days < 0:  # a clock is wrong
            return {WHOLE: _silent("the judgments are dated in the future", {})}
        text = f"judgments {days:.0f} days old, at most {self.most_days:g}"
        is_old = days > self.most_days
        return {
            WHOLE: Reading(
                signal=is_old, calm=not is_old, value=days, limit=self.most_days, text=text
            )
        }


@dataclass(frozen=True, kw_only=True)
class ErrorRule(AlarmRule):
    """Signal if too many queries get no answer, the engine did not answer for a part of the round,
    or every answer is empty.

    An outage that ends within a round fails a few queries only.
    """

    kind: ClassVar[str] = "errors"
    by_slice: ClassVar[bool] = False
    signals: tuple[int, int] = _signals(1, 1)
    most: float = amount("Share of queries without an answer.", 0.05, most=1.0)

    def read(
        self, seen: SeenRound, base: Baseline, memory: Mapping[str, Memory]
    ) -> dict[str, Reading]:
        """Read a round."""
        text = f"{100 * seen.failed:.1f} % of the queries failed, at most {100 * self.most:g} %"
        if seen.outages:
            text += f"; outages within the round: {seen.outages}"
        if seen.empty == 1:
            text += "; every answer is empty"
        is_out = seen.outages > 0 or seen.empty == 1
        signal = seen.failed > self.most or is_out
        calm = seen.failed <= self.most / 2 and not is_out
        return {
            WHOLE: Reading(signal=signal, calm=calm, value=seen.failed, limit=self.most, text=text)
        }


@dataclass(frozen=True, kw_only=True)
class LatencyRule(AlarmRule):
    """Signal if the answers are slow."""

    kind: ClassVar[str] = "latency"
    by_slice: ClassVar[bool] = False
    severity: str = _severity("ticket")
    most_ms: float = amount("Latency in milliseconds.", 1000.0, most=1e9)
    quantile: str = choice(("p95", "p50", "p99"), "Percentile of the latency that is compared.")

    def read(
        self, seen: SeenRound, base: Baseline, memory: Mapping[str, Memory]
    ) -> dict[str, Reading]:
        """Read a round."""
        value = seen.latency.get(self.quantile)
        if value is None:
            return {WHOLE: _silent("no answer", {})}
        text = f"{self.quantile} of the latency {value:.0f} ms, at most {self.most_ms:g} ms"
        calm = value <= _CALM_LATENCY * self.most_ms
        return {
            WHOLE: Reading(
                signal=value > self.most_ms, calm=calm, value=value, limit=self.most_ms, text=text
            )
        }


RULES: Mapping[str, type[AlarmRule]] = {
    rule.kind: rule
    for rule in (
        ThresholdRule,
        BaselineRule,
        SequentialRule,
        CusumRule,
        EwmaRule,
        CoverageRule,
        LabelAgeRule,
        ErrorRule,
        LatencyRule,
    )
}
"""Kinds of alarms."""


def alarm_schema() -> dict[str, Any]:
    """Return the JSON Schema of an alarm."""
    schemas = {}
    for kind, rule in RULES.items():
        schema = schema_of(rule, kind)
        schemas[kind] = schema
        if not rule.by_slice:
            about = "This kind of alarm watches all queries together, not slices."
            schema["properties"]["slices"] = {"description": about, "enum": [False, None]}
    return schema_of_kinds(schemas, "Kind of alarm, which decides on the other keys.")
