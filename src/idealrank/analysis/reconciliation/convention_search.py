"""The search for the conventions behind a number: presets, one switch changed, other cutoffs, two
switches, one query alone.

The candidates that fit are put in order, with groups that the data cannot tell apart, their
differences in words, and what separates them.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from idealrank.analysis.reconciliation.result import (
    FITS,
    FOUND,
    Fit,
    Found,
    Match,
    QueryPair,
    Reading,
    Reconciliation,
    RefusedBy,
    Separation,
    Stated,
    SwitchDifference,
    Twins,
    UnstableTies,
)
from idealrank.analysis.reconciliation.trials import Candidate, Outcome, Refusal, Trials
from idealrank.conventions import PRESETS, SWITCHES, Convention
from idealrank.conventions.switches import ROWS
from idealrank.data.lists import Lists
from idealrank.data.run import Run
from idealrank.errors import OptionError
from idealrank.evaluation.sweep import JudgmentsSource
from idealrank.measures.cutoffs import Cutoff
from idealrank.measures.dcg import NDCG
from idealrank.measures.measure import Measure
from idealrank.measures.parse import MeasureLike, parse_run_measure

_NEAREST = 5
_SEPARATED = 5
_TOLD_QUERIES = 3
# Steps of the search whose near misses are worth telling.
_PLAUSIBLE: tuple[Found, ...] = ("preset", "one switch", "other cutoff")


@dataclass(frozen=True, kw_only=True, eq=False)
class Hit:
    """A candidate whose number was compared with the stated one."""

    candidate: Candidate
    names: tuple[str, ...]
    measure: Measure
    found: Found
    value: float
    query: str | None = None
    reading: Reading = "as it is"
    fit: Fit | None = None
    distance: float = 0.0


class Assembly:
    """Puts hits in order and in words."""

    def __init__(self, trials: Trials, measure: Measure, current: Candidate) -> None:
        self._trials = trials
        self._measure = measure
        self._current = current

    def nearest_first(self, hits: Sequence[Hit]) -> list[Hit]:
        """Presets before changed switches, plain fits before cut-off digits, then by distance, then
        by how many switches differ.

        What fits in single precision only, or as 1 - value, comes after everything else.
        """
        return sorted(hits, key=self._order)

    def _order(self, hit: Hit) -> tuple[object, ...]:
        found, differing = self._plainness(hit)
        fit = FITS.index(hit.fit) if hit.fit else 0
        other = self._trials.signature(hit.candidate, hit.measure) != self._trials.signature(
            self._current, hit.measure
        )
        changed = hit.candidate.convention.name not in PRESETS
        # The first hit is taken for the truth, so explanations that need a coincidence come last.
        # Plainness precedes distance: with a few digits printed, some switch always comes nearer
        # than a tool that people use. The rounding keeps two distances that differ by noise of the
        # sums from deciding before the number of switches does.
        return (
            hit.fit == "single precision",
            hit.reading == "one minus",
            found,
            fit,
            round(hit.distance, 12),
            differing,
            other,
            changed,
        )

    def _differing(self, candidate: Candidate, measure: Measure) -> list[str]:
        """Switches in which a candidate differs from the current convention, as far as they can act
        on these data.
        """
        here = self._trials.settled(candidate, measure)
        there = self._trials.settled(self._current, measure)
        return [switch for switch in here if here[switch] != there[switch]]

    def matches(self, hits: Sequence[Hit]) -> tuple[Match, ...]:
        """Hits as they are told, each with the number of its group."""
        groups: list[Hit] = []
        told = []
        for hit in hits:
            group = next(
                (number for number, first in enumerate(groups) if self._alike(first, hit)),
                len(groups),
            )
            if group == len(groups):
                groups.append(hit)
            told.append(self._match(hit, group))
        return tuple(told)

    def nearest(
        self, misses: Sequence[Hit], readings: Sequence[Reading], unit: float
    ) -> tuple[Match, ...]:
        """The nearest numbers that do not fit, told apart by a tenth of a unit, each under the
        convention nearest to the current one.
        """
        plausible = [
            miss for miss in misses if miss.found in _PLAUSIBLE and miss.reading in readings
        ]
        clusters: list[list[Hit]] = []
        for miss in sorted(plausible, key=lambda miss: miss.distance):
            if not clusters or miss.distance > clusters[-1][0].distance + unit / 10:
                if len(clusters) == _NEAREST:
                    break
                clusters.append([])
            clusters[-1].append(miss)
        return tuple(
            self._match(min(cluster, key=self._plainness), number)
            for number, cluster in enumerate(clusters)
        )

    def _plainness(self, hit: Hit) -> tuple[int, int]:
        return FOUND.index(hit.found), len(self._differing(hit.candidate, hit.measure))

    def _match(self, hit: Hit, group: int) -> Match:
        convention = hit.candidate.convention
        return Match(
            conventions=hit.names or (convention.name,),
            fingerprint=convention.fingerprint,
            measure=str(hit.measure),
            value=hit.value,
            reading=hit.reading,
            fit=hit.fit,
            distance=hit.distance,
            found=hit.found,
            query=hit.query,
            differences=self._differences(hit.candidate, hit.measure),
            group=group,
        )

    def _differences(self, candidate: Candidate, measure: Measure) -> tuple[SwitchDifference, ...]:
        acting = self._differing(candidate, measure)
        current = dict(self._trials.signature(self._current, measure))
        return tuple(
            SwitchDifference(
                switch=switch,
                current=current[switch],
                here=here,
                acts=switch in acting and self._acts(candidate, measure, switch),
            )
            for switch, here in self._trials.signature(candidate, measure)
            if here != current[switch]
        )

    def _acts(self, candidate: Candidate, measure: Measure, switch: str) -> bool:
        """Return whether the switch alone changes a value, in either direction."""
        back = candidate.changed((switch, self._current.value(switch)))
        alone = self._current.changed((switch, candidate.value(switch)))
        return self._differ(candidate, back, measure) or self._differ(self._current, alone, measure)

    def _differ(self, one: Candidate, other: Candidate, measure: Measure) -> bool:
        values, others = self._trials.outcome(one, measure), self._trials.outcome(other, measure)
        if isinstance(values, Refusal) or isinstance(others, Refusal):
            return isinstance(values, Refusal) != isinstance(others, Refusal)
        return not values.same_as(others)

    def _alike(self, one: Hit, other: Hit) -> bool:
        """Return whether two hits give every query the same value."""
        if (one.reading, one.query) != (other.reading, other.query) or not math.isclose(
            one.value, other.value, abs_tol=1e-12
        ):
            return False
        values, others = self._outcome(one), self._outcome(other)
        return one.query is not None or (
            values is not None and others is not None and values.same_as(others)
        )

    def _outcome(self, hit: Hit) -> Outcome | None:
        outcome = self._trials.outcome(hit.candidate, hit.measure)
        return None if isinstance(outcome, Refusal) else outcome

    def twins(self, matches: Sequence[Match], hits: Sequence[Hit]) -> tuple[Twins, ...]:
        """Groups of conventions that these data cannot tell apart, with the data that could."""
        told = []
        for group in range(_SEPARATED):
            members = [
                (match, hit)
                for match, hit in zip(matches, hits, strict=True)
                if match.group == group and match.query is None
            ]
            if len(members) > 1:
                signatures = [
                    dict(self._trials.signature(hit.candidate, hit.measure)) for _, hit in members
                ]
                differing = [
                    switch
                    for switch in signatures[0]
                    if len({signature.get(switch) for signature in signatures}) > 1
                ]
                names = tuple(match.conventions[0] for match, _ in members)
                told.append(Twins(names, tuple(ROWS[switch].shown_by for switch in differing)))
        return tuple(told)

    def separations(self, matches: Sequence[Match], hits: Sequence[Hit]) -> tuple[Separation, ...]:
        """The queries that tell the first match from the first of every other group."""
        told: list[Separation] = []
        groups = {match.group for match in matches[:1]}
        for match, hit in zip(matches, hits, strict=True):
            comparable = match.query is None and (match.measure, match.reading) == (
                matches[0].measure,
                matches[0].reading,
            )
            if comparable and match.group not in groups and len(told) < _SEPARATED:
                groups.add(match.group)
                told.append(
                    Separation(
                        matches[0].conventions[0], match.conventions[0], self._queries(hits[0], hit)
                    )
                )
        return tuple(told)

    def _queries(self, one: Hit, other: Hit) -> tuple[QueryPair, ...]:
        """The queries on which two outcomes differ most."""
        a, b = self._outcome(one), self._outcome(other)
        if a is None or b is None:
            return ()
        gap = np.where(
            a.counted & b.counted,
            np.abs(a.values - b.values),
            np.where(a.counted == b.counted, 0.0, np.inf),
        )
        order = np.argsort(-gap, kind="stable")[:_TOLD_QUERIES]
        differing = [place for place in order.tolist() if gap[place] > 1e-12]
        return tuple(
            QueryPair(self._trials.queries[place], _value_at(a, place), _value_at(b, place))
            for place in differing
        )


def _value_at(outcome: Outcome, place: int) -> float | None:
    return float(outcome.values[place]) if outcome.counted[place] else None


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
    values = {switch: ROWS[switch].tried for switch in trials.relevant(measure)}
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
    first, *rest = switches
    for value in values[first]:
        if value not in ("error", base.switches[first]):
            yield from _assignments(base.changed((first, value)), rest, values)


def other_cutoffs(measure: Measure) -> list[Measure]:
    """The measure at the other usual cutoffs, those nearest to its own first, the whole list
    last.

    Examples
    --------
    >>> from idealrank.measures.parse import parse_measure
    >>> [str(measure) for measure in other_cutoffs(parse_measure("P@10"))][:3]
    ['P@5', 'P@20', 'P@3']
    """
    own = (
        measure.cutoff
        if isinstance(measure.cutoff, int)
        else max(cutoff for cutoff in CUTOFFS if isinstance(cutoff, int))
    )
    others = [cutoff for cutoff in CUTOFFS if cutoff != measure.cutoff]
    others.sort(
        key=lambda cutoff: (
            max(cutoff / own, own / cutoff) if isinstance(cutoff, int) else float("inf")
        )
    )
    return [changed for cutoff in others if (changed := _with_cutoff(measure, cutoff)) is not None]


def _with_cutoff(measure: Measure, cutoff: Cutoff | None) -> Measure | None:
    try:
        return replace(measure, cutoff=cutoff)
    except OptionError:  # P must have a cutoff, counts have none
        return None


# Work in estimated seconds that the changes of one switch, and the steps after them, may take:
# large data stop earlier, the same data always at the same place. The presets are always tried.
_ONE_SWITCH_WORK = 3.0
_FURTHER_WORK = 2.5
_LISTED = 60
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

    def _try_changes(self, candidates: Iterable[Candidate], found: Found, work: float) -> None:
        limit = self._trials.work + work
        for candidate in candidates:
            if self._trials.work > limit:
                self._complete = False
                return
            self._look(candidate, self._measure, found)

    def _try_other_readings(self) -> None:
        """Try the candidates again, in percent or as 1 - value."""
        known = [miss for miss in self._misses if miss.reading == "as it is"]
        for reading in ("in percent", "one minus"):
            for miss in known if reading not in self._readings else ():
                # 1 - value under a changed switch, or with its digits cut off, would be two guesses
                # at once.
                doubtful = reading == "one minus" and (
                    miss.found != "preset" or self._stated.fit(miss.value, reading) != "rounded"
                )
                if not doubtful and (miss.found == "preset" or not self._is_told(miss)):
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
            near = np.flatnonzero(
                outcome.counted
                & (np.abs(scale * outcome.values - self._stated.number) <= self._stated.unit)
            )
            for place in near.tolist():
                query, value = self._trials.queries[place], float(outcome.values[place])
                if not any(
                    hit.query == query and math.isclose(hit.value, value, abs_tol=1e-12)
                    for hit in self._hits
                ):
                    self._compare(
                        Hit(
                            candidate=candidate,
                            names=names,
                            measure=self._measure,
                            found="one query",
                            value=value,
                            query=query,
                        ),
                        self._readings,
                    )

    def _look(
        self, candidate: Candidate, measure: Measure, found: Found, *, names: tuple[str, ...] = ()
    ) -> None:
        """Measure under a candidate, and compare; changed switches are told only if they make other
        values than what is told already.
        """
        settled = tuple(self._trials.settled(candidate, measure).values())
        changed = found in ("one switch", "two switches")
        if changed and (settled, measure) in self._seen:
            return
        self._seen.add((settled, measure))
        self._tried += 1
        outcome = self._trials.outcome(candidate, measure)
        if isinstance(outcome, Refusal) or math.isnan(outcome.value):
            return
        self._numbers.add(round(outcome.value, 12))
        if not (
            changed
            and self._is_told(
                Hit(
                    candidate=candidate,
                    names=names,
                    measure=measure,
                    found=found,
                    value=outcome.value,
                )
            )
        ):
            self._compare(
                Hit(
                    candidate=candidate,
                    names=names,
                    measure=measure,
                    found=found,
                    value=outcome.value,
                ),
                self._readings,
            )

    def _is_told(self, trial: Hit) -> bool:
        """Return whether a convention found already gives every query the same value."""
        near = [hit for hit in self._hits if math.isclose(hit.value, trial.value, abs_tol=1e-12)]
        outcome = self._trials.outcome(trial.candidate, trial.measure) if near else None
        others = (self._trials.outcome(hit.candidate, hit.measure) for hit in near)
        return isinstance(outcome, Outcome) and any(
            isinstance(other, Outcome) and other.same_as(outcome) for other in others
        )

    def _compare(self, trial: Hit, readings: Sequence[Reading]) -> None:
        for reading in readings:
            fit = self._stated.fit(trial.value, reading)
            distance = self._stated.distance(trial.value, reading)
            (self._hits if fit else self._misses).append(
                replace(trial, reading=reading, fit=fit, distance=distance)
            )

    def _result(self) -> Reconciliation:
        assembly = Assembly(self._trials, self._measure, self._current)
        hits = assembly.nearest_first(self._hits)
        matches = assembly.matches(hits[:_LISTED])
        own = self._trials.outcome(self._current, self._measure)
        convention = self._current.convention
        return Reconciliation(
            stated=self._stated,
            measure=str(self._measure),
            current=convention.name,
            fingerprint=convention.fingerprint,
            value=None if isinstance(own, Refusal) or math.isnan(own.value) else own.value,
            matches=matches,
            nearest=()
            if matches
            else assembly.nearest(self._misses, self._readings, self._stated.unit),
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
        told = []
        for candidate, names in self._named:
            length = candidate.convention.unstable_from
            orders = [
                candidate,
                *(candidate.changed(("ties", order)) for order in ("worst", "best")),
            ]
            outcomes = (
                [self._trials.outcome(one, self._measure) for one in orders] if length else []
            )
            stable, worst, best = (
                outcome if isinstance(outcome, Outcome) else None
                for outcome in outcomes or (None, None, None)
            )
            if stable is None or worst is None or best is None:
                continue
            deciding = (
                (self._trials.returned >= length)
                & stable.counted
                & (best.values - worst.values > 1e-12)
            )
            if deciding.any():
                low, high = (
                    float(
                        (np.where(deciding, end.values, stable.values) * stable.weight)[
                            stable.counted
                        ].sum()
                    )
                    for end in (worst, best)
                )
                told.append(
                    UnstableTies(
                        conventions=names,
                        unstable_from=length,
                        queries=int(deciding.sum()),
                        low=low,
                        high=high,
                    )
                )
        return tuple(told)

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


def reconcile(
    qrels: JudgmentsSource,
    run: Run,
    value: "str | float",
    measure: MeasureLike = "nDCG@10",
    convention: "Convention | str" = "standard",
) -> Reconciliation:
    """The conventions under which a run has a stated value."""
    stated = Stated.parse(value)
    return Search(
        Trials.of_run(qrels, run), stated, parse_run_measure(measure), Convention.of(convention)
    ).run()


def reconcile_lists(
    lists: Lists,
    value: "str | float",
    measure: MeasureLike = "nDCG@10",
    convention: "Convention | str" = "standard",
) -> Reconciliation:
    """The conventions under which labels and scores have a stated value; the array twin of
    `reconcile`.
    """
    stated = Stated.parse(value)
    return Search(
        Trials.of_lists(lists), stated, parse_run_measure(measure), Convention.of(convention)
    ).run()
