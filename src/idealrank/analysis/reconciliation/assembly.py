"""From the candidates that fit to what is told: order, groups that the data cannot tell apart, differences in words, what separates."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from idealrank.analysis.reconciliation.result import FOUND, Found, Match, QueryPair, Separation, SwitchDifference, Twins
from idealrank.analysis.reconciliation.stated import FITS, Fit, Reading
from idealrank.analysis.reconciliation.trials import Candidate, Outcome, Refusal, Trials
from idealrank.conventions import PRESETS
from idealrank.conventions.switches import ROWS
from idealrank.measures.measure import Measure

_NEAREST = 5
_SEPARATED = 5
_TOLD_QUERIES = 3
# Steps of the search whose near misses are worth telling.
_PLAUSIBLE: tuple[Found, ...] = ("preset", "one switch", "other cutoff")


@dataclass(frozen=True, eq=False)
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
    """Puts hits in order and in words.

    Parameters
    ----------
    trials : Trials
        The data.
    measure : Measure
        Text of the measure as requested.
    current : Candidate
        Text and fingerprint of the current convention.
    """

    def __init__(self, trials: Trials, measure: Measure, current: Candidate) -> None:
        self._trials = trials
        self._measure = measure
        self._current = current

    def nearest_first(self, hits: Sequence[Hit]) -> list[Hit]:
        """Presets before changed switches, plain fits before cut-off digits, then by distance, then by how many switches differ.

        What fits in single precision only, or as 1 - value, comes after everything else.
        """
        return sorted(hits, key=self._order)

    def _order(self, hit: Hit) -> tuple[object, ...]:
        found, differing = self._plainness(hit)
        fit = FITS.index(hit.fit) if hit.fit else 0
        other = self._trials.signature(hit.candidate, hit.measure) != self._trials.signature(self._current, hit.measure)
        changed = hit.candidate.convention.name not in PRESETS
        return hit.fit == "single precision", hit.reading == "one minus", found, fit, round(hit.distance, 12), differing, other, changed

    def _differing(self, candidate: Candidate, measure: Measure) -> list[str]:
        """Switches in which a candidate differs from the current convention, as far as they can act on these data."""
        here, there = self._trials.settled(candidate, measure), self._trials.settled(self._current, measure)
        return [switch for switch in here if here[switch] != there[switch]]

    def matches(self, hits: Sequence[Hit]) -> tuple[Match, ...]:
        """Hits as they are told, each with the number of its group."""
        groups: list[Hit] = []
        told = []
        for hit in hits:
            group = next((number for number, first in enumerate(groups) if self._alike(first, hit)), len(groups))
            if group == len(groups):
                groups.append(hit)
            told.append(self._match(hit, group))
        return tuple(told)

    def nearest(self, misses: Sequence[Hit], readings: Sequence[Reading], unit: float) -> tuple[Match, ...]:
        """The nearest numbers that do not fit, told apart by a tenth of a unit, each under the convention nearest to the current one."""
        plausible = [miss for miss in misses if miss.found in _PLAUSIBLE and miss.reading in readings]
        clusters: list[list[Hit]] = []
        for miss in sorted(plausible, key=lambda miss: miss.distance):
            if not clusters or miss.distance > clusters[-1][0].distance + unit / 10:
                if len(clusters) == _NEAREST:
                    break
                clusters.append([])
            clusters[-1].append(miss)
        return tuple(self._match(min(cluster, key=self._plainness), number) for number, cluster in enumerate(clusters))

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
        acting, current = self._differing(candidate, measure), dict(self._trials.signature(self._current, measure))
        return tuple(
            SwitchDifference(switch, current[switch], here, switch in acting and self._acts(candidate, measure, switch))
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
        if (one.reading, one.query) != (other.reading, other.query) or not math.isclose(one.value, other.value, abs_tol=1e-12):
            return False
        values, others = self._outcome(one), self._outcome(other)
        return one.query is not None or (values is not None and others is not None and values.same_as(others))

    def _outcome(self, hit: Hit) -> Outcome | None:
        outcome = self._trials.outcome(hit.candidate, hit.measure)
        return None if isinstance(outcome, Refusal) else outcome

    def twins(self, matches: Sequence[Match], hits: Sequence[Hit]) -> tuple[Twins, ...]:
        """Groups of conventions that these data cannot tell apart, with the data that could."""
        told = []
        for group in range(_SEPARATED):
            members = [(match, hit) for match, hit in zip(matches, hits, strict=True) if match.group == group and match.query is None]
            if len(members) > 1:
                signatures = [dict(self._trials.signature(hit.candidate, hit.measure)) for _, hit in members]
                differing = [switch for switch in signatures[0] if len({signature.get(switch) for signature in signatures}) > 1]
                names = tuple(match.conventions[0] for match, _ in members)
                told.append(Twins(names, tuple(ROWS[switch].shown_by for switch in differing)))
        return tuple(told)

    def separations(self, matches: Sequence[Match], hits: Sequence[Hit]) -> tuple[Separation, ...]:
        """The queries that tell the first match from the first of every other group."""
        told: list[Separation] = []
        groups = {match.group for match in matches[:1]}
        for match, hit in zip(matches, hits, strict=True):
            comparable = match.query is None and (match.measure, match.reading) == (matches[0].measure, matches[0].reading)
            if comparable and match.group not in groups and len(told) < _SEPARATED:
                groups.add(match.group)
                told.append(Separation(matches[0].conventions[0], match.conventions[0], self._queries(hits[0], hit)))
        return tuple(told)

    def _queries(self, one: Hit, other: Hit) -> tuple[QueryPair, ...]:
        """The queries on which two outcomes differ most."""
        a, b = self._outcome(one), self._outcome(other)
        if a is None or b is None:
            return ()
        gap = np.where(a.counted & b.counted, np.abs(a.values - b.values), np.where(a.counted == b.counted, 0.0, np.inf))
        order = np.argsort(-gap, kind="stable")[:_TOLD_QUERIES]
        differing = [place for place in order.tolist() if gap[place] > 1e-12]
        return tuple(QueryPair(self._trials.queries[place], _value_at(a, place), _value_at(b, place)) for place in differing)


def _value_at(outcome: Outcome, place: int) -> float | None:
    return float(outcome.values[place]) if outcome.counted[place] else None
