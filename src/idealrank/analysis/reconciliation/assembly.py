"""Candidates that fit a stated number, put in order: groups that the data cannot distinguish, their
differences in words, and the queries that separate them.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from idealrank.analysis.reconciliation.result import (
    FITS,
    FOUND,
    Fit,
    Found,
    Match,
    QueryPair,
    Reading,
    Separation,
    SwitchDifference,
    Twins,
)
from idealrank.analysis.reconciliation.trials import Candidate, Outcome, Refusal, Trials
from idealrank.conventions import PRESETS
from idealrank.conventions.switches import ROWS
from idealrank.measures.measure import Measure

_NEAREST = 5  # numbers listed where none fits
_SEPARATED = 5  # groups of conventions for which distinguishing queries are listed
_SEPARATING_QUERIES = 3  # queries that distinguish two groups
# Steps of the search whose near misses are listed.
_PLAUSIBLE: tuple[Found, ...] = ("preset", "other form", "one switch", "other cutoff")


@dataclass(frozen=True, kw_only=True, eq=False)
class Hit:
    """A candidate whose number was compared with the stated one."""

    candidate: Candidate
    names: tuple[str, ...]
    measure: Measure
    found: Found
    value: float
    query: str | None = None
    form: str = ""
    reading: Reading = "as it is"
    fit: Fit | None = None
    distance: float = 0.0


class _Order(NamedTuple):
    """Sort key of a hit.

    The first hit is taken for the truth, so explanations that need a coincidence come last.
    """

    single_precision: bool
    one_minus: bool
    # Plainness precedes distance: with a few digits printed, some switch always comes nearer than a
    # tool that people use.
    step: int
    fit: int
    # Rounded, so that noise of the sums does not decide before the number of switches does.
    distance: float
    differing: int
    other: bool  # Whether a switch differs that can matter to the measure
    changed: bool  # Whether the convention is not a preset


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

    def _order(self, hit: Hit) -> "_Order":
        step, differing = self._plainness(hit)
        signature = self._trials.signature(hit.candidate, hit.measure)
        return _Order(
            single_precision=hit.fit == "single precision",
            one_minus=hit.reading == "one minus",
            step=step,
            fit=FITS.index(hit.fit) if hit.fit else 0,
            distance=round(hit.distance, 12),
            differing=differing,
            other=signature != self._trials.signature(self._current, hit.measure),
            changed=hit.candidate.convention.name not in PRESETS,
        )

    def _differing(self, candidate: Candidate, measure: Measure) -> list[str]:
        """Switches in which a candidate differs from the current convention, as far as they can act
        on these data.
        """
        here = self._trials.settled(candidate, measure)
        there = self._trials.settled(self._current, measure)
        return [switch for switch in here if here[switch] != there[switch]]

    def matches(self, hits: Sequence[Hit]) -> tuple[Match, ...]:
        """Hits as matches, each with the number of its group."""
        first_of_groups: list[Hit] = []
        matches = []
        for hit in hits:
            alike = (
                group for group, first in enumerate(first_of_groups) if self._alike(first, hit)
            )
            group = next(alike, len(first_of_groups))
            if group == len(first_of_groups):
                first_of_groups.append(hit)
            matches.append(self._match(hit, group))
        return tuple(matches)

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
            form=hit.form,
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

    def _differ(self, first: Candidate, other: Candidate, measure: Measure) -> bool:
        values = self._trials.outcome(first, measure)
        others = self._trials.outcome(other, measure)
        if isinstance(values, Refusal) or isinstance(others, Refusal):
            return isinstance(values, Refusal) != isinstance(others, Refusal)
        return not values.same_as(others)

    def _alike(self, first: Hit, other: Hit) -> bool:
        """Return whether two hits give every query the same value."""
        if (first.reading, first.query) != (other.reading, other.query):
            return False
        if not math.isclose(first.value, other.value, abs_tol=1e-12):
            return False
        if first.query is not None:
            return True
        values = self._outcome(first)
        others = self._outcome(other)
        return values is not None and others is not None and values.same_as(others)

    def _outcome(self, hit: Hit) -> Outcome | None:
        outcome = self._trials.outcome(hit.candidate, hit.measure)
        return None if isinstance(outcome, Refusal) else outcome

    def twins(self, matches: Sequence[Match], hits: Sequence[Hit]) -> tuple[Twins, ...]:
        """Groups of conventions that these data cannot tell apart, with the data that could."""
        twins = []
        for group in range(_SEPARATED):
            names = []
            signatures = []
            for match, hit in zip(matches, hits, strict=True):
                if match.group == group and match.query is None:
                    names.append(match.conventions[0])
                    signatures.append(dict(self._trials.signature(hit.candidate, hit.measure)))
            if len(names) > 1:
                data = tuple(ROWS[switch].shown_by for switch in _differing_switches(signatures))
                twins.append(Twins(tuple(names), data))
        return tuple(twins)

    def separations(self, matches: Sequence[Match], hits: Sequence[Hit]) -> tuple[Separation, ...]:
        """The queries that tell the first match from the first of every other group."""
        separations: list[Separation] = []
        if not matches:
            return ()
        best = matches[0]
        groups = {best.group}
        for match, hit in zip(matches, hits, strict=True):
            same_way = (match.measure, match.reading) == (best.measure, best.reading)
            comparable = match.query is None and same_way
            if comparable and match.group not in groups and len(separations) < _SEPARATED:
                groups.add(match.group)
                queries = self._queries(hits[0], hit)
                separations.append(Separation(best.conventions[0], match.conventions[0], queries))
        return tuple(separations)

    def _queries(self, first: Hit, other: Hit) -> tuple[QueryPair, ...]:
        """The queries on which two outcomes differ most."""
        a = self._outcome(first)
        b = self._outcome(other)
        if a is None or b is None:
            return ()
        # A query that counts under one convention alone differs most.
        gap_of_uncounted = np.where(a.counted == b.counted, 0.0, np.inf)
        gap = np.where(a.counted & b.counted, np.abs(a.values - b.values), gap_of_uncounted)
        order = np.argsort(-gap, kind="stable")[:_SEPARATING_QUERIES]
        differing = [place for place in order.tolist() if gap[place] > 1e-12]
        return tuple(
            QueryPair(self._trials.queries[place], _value_at(a, place), _value_at(b, place))
            for place in differing
        )


def _differing_switches(signatures: Sequence[Mapping[str, str]]) -> list[str]:
    """Switches that have several values among some signatures."""
    differing = []
    for switch in signatures[0]:
        values = {signature.get(switch) for signature in signatures}
        if len(values) > 1:
            differing.append(switch)
    return differing


def _value_at(outcome: Outcome, place: int) -> float | None:
    return float(outcome.values[place]) if outcome.counted[place] else None
