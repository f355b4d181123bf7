"""The search for the conventions behind a number: presets, one switch changed, other cutoffs, two
switches, one query alone.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from idealrank.analysis.reconciliation.assembly import Assembly, Hit
from idealrank.analysis.reconciliation.result import (
    Found,
    Match,
    Reading,
    Reconciliation,
    RefusedBy,
    Stated,
    UnstableTies,
)
from idealrank.analysis.reconciliation.trials import Candidate, Outcome, Refusal, Trials
from idealrank.conventions import PRESETS, SWITCHES, Convention
from idealrank.conventions.switches import ROWS
from idealrank.data.types import BoolArray
from idealrank.errors import OptionError
from idealrank.measures.cutoffs import Cutoff
from idealrank.measures.dcg import NDCG
from idealrank.measures.measure import Measure
from idealrank.measures.other_forms import other_forms

CUTOFFS: tuple[Cutoff | None, ...] = (None, 1, 3, 5, 10, 20, 50, 100, 1000)


def named_candidates(
    trials: Trials, measure: Measure, current: Convention
) -> list[tuple[Candidate, tuple[str, ...]]]:
    """The current convention and every preset, those that are one for this measure under all their
    names.
    """
    groups: dict[tuple[tuple[str, str], ...], tuple[Candidate, list[str]]] = {}
    for convention in (current, *PRESETS.values()):
        candidate = Candidate(trials.adapt(convention))
        _, names = groups.setdefault(trials.signature(candidate, measure), (candidate, []))
        if candidate.base.name not in names:
            names.append(candidate.base.name)
    return [(candidate, tuple(names)) for candidate, names in groups.values()]


def switch_values(trials: Trials, measure: Measure) -> dict[str, tuple[str, ...]]:
    """The values worth trying of each switch that can matter to this measure on data of this
    kind.
    """
    values = {switch: ROWS[switch].used_by_tools for switch in trials.relevant(measure)}
    if isinstance(measure, NDCG) and "discount" in values:
        values["discount"] = tuple(
            discount for discount in values["discount"] if not discount.startswith("log(")
        )
    if trials.arrays:
        values["ties"] = tuple(ties for ties in values["ties"] if not ties.startswith("docid"))
    return values


def switch_changes(
    bases: Iterable[Candidate], values: Mapping[str, Sequence[str]], count: int
) -> Iterator[Candidate]:
    """Every base with `count` of the switches changed, base after base, the rules before the
    alignment.
    """
    ordered = sorted(values, key=SWITCHES.index, reverse=True)
    for base in bases:
        for chosen in combinations(ordered, count):
            yield from _assignments(base, chosen, values)


def _assignments(
    base: Candidate, switches: Sequence[str], values: Mapping[str, Sequence[str]]
) -> Iterator[Candidate]:
    if not switches:
        yield base
        return
    switch, *others = switches
    for value in values[switch]:
        if value not in ("error", base.switches[switch]):
            yield from _assignments(base.changed((switch, value)), others, values)


def other_cutoffs(measure: Measure) -> list[Measure]:
    """The measure at the other usual cutoffs, those nearest to its own first, the whole list
    last.

    Examples
    --------
    >>> from idealrank.measures.parse import parse_measure
    >>> [str(measure) for measure in other_cutoffs(parse_measure("P@10"))][:3]
    ['P@5', 'P@20', 'P@3']
    """
    current = measure.cutoff
    if not isinstance(current, int):
        current = max(cutoff for cutoff in CUTOFFS if isinstance(cutoff, int))

    def ratio(cutoff: Cutoff | None) -> float:
        return max(cutoff / current, current / cutoff) if isinstance(cutoff, int) else math.inf

    others = sorted((cutoff for cutoff in CUTOFFS if cutoff != measure.cutoff), key=ratio)
    changed = (_with_cutoff(measure, cutoff) for cutoff in others)
    return [other for other in changed if other is not None]


def _with_cutoff(measure: Measure, cutoff: Cutoff | None) -> Measure | None:
    try:
        return replace(measure, cutoff=cutoff)
    except OptionError:  # P must have a cutoff, counts have none
        return None


# Work in estimated seconds that the changes of one switch, and the steps after them, may take:
# large data stop earlier, the same data always at the same place. The presets are always tried.
_ONE_SWITCH_WORK = 3.0
_FURTHER_WORK = 2.5
_LISTED = 60  # matches in the result; the others are counted
# With more queries than digits can tell apart, some query has the value by chance: this many are
# expected to, at most.
_CHANCE_QUERIES = 0.1


class Search:
    """One search; `run` takes its steps until something fits."""

    def __init__(
        self, trials: Trials, stated: Stated, measure: Measure, current: Convention
    ) -> None:
        self._trials = trials
        self._stated = stated
        self._measure = measure
        self._current = Candidate(trials.adapt(current))
        self._named = named_candidates(trials, measure, current)
        self._hits: list[Hit] = []
        self._misses: list[Hit] = []
        self._seen: set[tuple[tuple[str, ...], Measure]] = set()
        self._numbers: set[float] = set()
        self._tried = 0
        self._complete = True

    def run(self) -> Reconciliation:
        """Search, and put together what was found."""
        self._try_presets()
        self._try_other_forms()
        values = switch_values(self._trials, self._measure)
        # it would fit wherever the unrounded value does
        if self._stated.decimals < 5 and "rounding" in values:
            values["rounding"] = tuple(
                rounding for rounding in values["rounding"] if rounding != "round-5"
            )
        bases = [candidate for candidate, _ in self._named]
        self._try_changes(switch_changes(bases, values, 1), "one switch", _ONE_SWITCH_WORK)
        if not self._hits:
            self._try_other_readings()
            self._try_other_cutoffs()
        if not self._hits:
            self._try_changes(switch_changes(bases, values, 2), "two switches", _FURTHER_WORK)
        if not self._hits:
            self._try_single_queries()
        return self._result()

    @property
    def _readings(self) -> tuple[Reading, ...]:
        """Read the number: in percent if marked so, or if larger than the measure can be."""
        if self._stated.percent:
            return ("in percent",)
        beyond = abs(self._stated.number) > self._measure.bounds[1] + self._stated.unit
        return ("as it is", "in percent") if beyond else ("as it is",)

    def _try_presets(self) -> None:
        for candidate, names in self._named:
            self._look(candidate, self._measure, "preset", names=names)

    def _try_other_forms(self) -> None:
        limit = self._trials.work + _FURTHER_WORK
        for form in other_forms(self._measure, self._trials.grades):
            named = named_candidates(self._trials, form.measure, self._current.base)
            for candidate, names in named:
                if self._trials.work > limit:
                    self._complete = False
                    return
                self._look(candidate, form.measure, "other form", names=names, form=form.words)

    def _try_changes(self, candidates: Iterable[Candidate], step: Found, work: float) -> None:
        limit = self._trials.work + work
        for candidate in candidates:
            if self._trials.work > limit:
                self._complete = False
                return
            self._look(candidate, self._measure, step)

    def _try_other_readings(self) -> None:
        """Try the candidates again, in percent or as 1 - value."""
        misses = [miss for miss in self._misses if miss.reading == "as it is"]
        further: tuple[Reading, ...] = ("in percent", "one minus")
        for reading in further:
            if reading in self._readings:
                continue
            for miss in misses:
                is_preset = miss.found == "preset"
                if reading == "one minus":
                    # 1 - value under a changed switch, or with its digits cut off, would be two
                    # guesses at once.
                    fits_plainly = self._stated.fit(miss.value, reading) == "rounded"
                    if not is_preset or not fits_plainly:
                        continue
                if is_preset or not self._is_listed(miss):
                    self._compare(miss, (reading,))

    def _try_other_cutoffs(self) -> None:
        limit = self._trials.work + _FURTHER_WORK
        for measure in other_cutoffs(self._measure):
            for candidate, names in self._named:
                if self._trials.work > limit:
                    self._complete = False
                    return
                self._look(candidate, measure, "other cutoff", names=names)

    def _try_single_queries(self) -> None:
        scale = 100 if self._stated.percent else 1
        if self._trials.n_queries * self._stated.unit / scale > _CHANCE_QUERIES:
            return
        for candidate, names in self._named:
            outcome = self._trials.outcome(candidate, self._measure)
            if isinstance(outcome, Refusal):
                continue
            distances = np.abs(scale * outcome.values - self._stated.number)
            near = np.flatnonzero(outcome.counted & (distances <= self._stated.unit))
            for place in near.tolist():
                trial = Hit(
                    candidate=candidate,
                    names=names,
                    measure=self._measure,
                    found="one query",
                    value=float(outcome.values[place]),
                    query=self._trials.queries[place],
                )
                if not self._is_known_query(trial):
                    self._compare(trial, self._readings)

    def _is_known_query(self, trial: Hit) -> bool:
        """Return whether this query has given the same value already."""
        return any(
            hit.query == trial.query and math.isclose(hit.value, trial.value, abs_tol=1e-12)
            for hit in self._hits
        )

    def _look(
        self,
        candidate: Candidate,
        measure: Measure,
        step: Found,
        *,
        names: tuple[str, ...] = (),
        form: str = "",
    ) -> None:
        """Measure under a candidate, and compare; changed switches, and other forms, count only if
        they give other values than the hits so far.
        """
        settled = tuple(self._trials.settled(candidate, measure).values())
        changed = step in ("one switch", "two switches")
        if changed and (settled, measure) in self._seen:
            return
        self._seen.add((settled, measure))
        self._tried += 1
        outcome = self._trials.outcome(candidate, measure)
        if isinstance(outcome, Refusal) or math.isnan(outcome.value):
            return
        self._numbers.add(round(outcome.value, 12))
        trial = Hit(
            candidate=candidate,
            names=names,
            measure=measure,
            found=step,
            value=outcome.value,
            form=form,
        )
        if not (changed or form) or not self._is_listed(trial):
            self._compare(trial, self._readings)

    def _is_listed(self, trial: Hit) -> bool:
        """Return whether a convention found already gives every query the same value; of another
        form, all conventions are listed.
        """
        near = [
            hit
            for hit in self._hits
            if math.isclose(hit.value, trial.value, abs_tol=1e-12)
            and not (trial.form and hit.measure == trial.measure)
        ]
        outcome = self._trials.outcome(trial.candidate, trial.measure) if near else None
        others = (self._trials.outcome(hit.candidate, hit.measure) for hit in near)
        return isinstance(outcome, Outcome) and any(
            isinstance(other, Outcome) and other.same_as(outcome) for other in others
        )

    def _compare(self, trial: Hit, readings: Sequence[Reading]) -> None:
        for reading in readings:
            fit = self._stated.fit(trial.value, reading)
            distance = self._stated.distance(trial.value, reading)
            compared = replace(trial, reading=reading, fit=fit, distance=distance)
            (self._hits if fit else self._misses).append(compared)

    def _result(self) -> Reconciliation:
        assembly = Assembly(self._trials, self._measure, self._current)
        hits = assembly.nearest_first(self._hits)
        matches = assembly.matches(hits[:_LISTED])
        outcome = self._trials.outcome(self._current, self._measure)
        value = None
        if isinstance(outcome, Outcome) and not math.isnan(outcome.value):
            value = outcome.value
        nearest: tuple[Match, ...] = ()
        if not matches:
            nearest = assembly.nearest(self._misses, self._readings, self._stated.unit)
        convention = self._current.convention
        return Reconciliation(
            stated=self._stated,
            measure=str(self._measure),
            current=convention.name,
            fingerprint=convention.fingerprint,
            value=value,
            matches=matches,
            nearest=nearest,
            twins=assembly.twins(matches, hits[:_LISTED]),
            separations=assembly.separations(matches, hits[:_LISTED]),
            refused=self._refused(),
            tried=self._tried,
            numbers=len(self._numbers),
            unlisted=max(0, len(hits) - _LISTED),
            complete=self._complete,
            unstable=self._unstable(),
        )

    def _unstable(self) -> tuple[UnstableTies, ...]:
        """Tools whose unstable sort decides the value of some query, with the least and the largest
        number that it can give.
        """
        unstable = []
        for candidate, names in self._named:
            length = candidate.convention.unstable_from
            if not length:
                continue
            stable = self._outcome(candidate)
            worst = self._outcome(candidate.changed(("ties", "worst")))
            best = self._outcome(candidate.changed(("ties", "best")))
            if stable is None or worst is None or best is None:
                continue
            is_long = self._trials.returned >= length
            deciding = is_long & stable.counted & (best.values - worst.values > 1e-12)
            if deciding.any():
                unstable.append(
                    UnstableTies(
                        conventions=names,
                        unstable_from=length,
                        queries=int(deciding.sum()),
                        low=_value_with(deciding, worst, stable),
                        high=_value_with(deciding, best, stable),
                    )
                )
        return tuple(unstable)

    def _outcome(self, candidate: Candidate) -> Outcome | None:
        outcome = self._trials.outcome(candidate, self._measure)
        return None if isinstance(outcome, Refusal) else outcome

    def _refused(self) -> tuple[RefusedBy, ...]:
        """Presets that give no number, those with one reason together."""
        reasons: dict[str, list[str]] = {}
        for candidate, names in self._named:
            outcome = self._trials.outcome(candidate, self._measure)
            if isinstance(outcome, Refusal):
                reasons.setdefault(outcome.reason, []).extend(names)
            elif math.isnan(outcome.value):
                reasons.setdefault("its value is not a number", []).extend(names)
        return tuple(RefusedBy(tuple(names), reason) for reason, names in reasons.items())


def _value_with(deciding: BoolArray, end: Outcome, stable: Outcome) -> float:
    """Value if the queries that ties decide have their value at one end, the others that of the
    stable sort.
    """
    values = np.where(deciding, end.values, stable.values) * stable.weight
    return float(values[stable.counted].sum())
