"""The runs of a series in a baseline file: what a new run is held to, and what the file holds
afterwards.
"""

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from idealrank.analysis.comparison.query_table import (
    QueryTable,
    design_by_query,
    queries_of,
    restricted,
)
from idealrank.analysis.gate.outcome import Contract, Gated
from idealrank.analysis.gate.series import ANCHOR, WINDOW, Series
from idealrank.analysis.gate.sides import Opposed, mean_table
from idealrank.data.run import Run
from idealrank.errors import InputError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.io.gate_files.baselines import BaselineRecord, KeptRun
from idealrank.io.query_files import OfQueries
from idealrank.measures.measure import Measure
from idealrank.stats.design import student_mean
from idealrank.stats.unpaired_tests import welch_p

LOOK_AT_HOLDOUT = 10  # every so many looks
_SPACE = 1 << 32
_LEAST_HELD_OUT = 10  # queries, below which a difference of means says nothing
_OVERFITTED = 0.05  # level of the message


@dataclass(frozen=True, kw_only=True)
class OpenedBaseline:
    """A baseline as it was opened."""

    run: Run  # The run that it stands for: of a baseline file, the last accepted one
    record: BaselineRecord | None = None  # First line of a baseline file; None for an ordinary run
    others: tuple[Run, ...] = ()  # The other runs that the record names, in its order


@dataclass(frozen=True, kw_only=True)
class MeasuredBaseline:
    """Evaluations of an opened baseline."""

    first: Evaluation  # Of its run
    others: tuple[Evaluation, ...] = ()  # Of its other runs
    record: BaselineRecord | None = None  # As for `OpenedBaseline`

    @property
    def kept(self) -> list[tuple[KeptRun, Evaluation]]:
        """Each run of a baseline file with its evaluation."""
        assert self.record is not None  # noqa: S101  (only of a baseline file)
        return list(zip(self.record.kept, (self.first, *self.others), strict=True))


def sides_of(
    name: str, runs: Sequence[Evaluation], baseline: MeasuredBaseline, *, in_series: bool
) -> list[Opposed]:
    """Sides of the checks against one baseline."""
    if baseline.record is None:
        return [Opposed(now=tuple(runs), before=(baseline.first,), name=name)]
    kept = baseline.kept
    last = kept[0][0].commit
    sides = [Opposed(now=tuple(runs), before=_of_commits(kept, {last}), name=name)]
    if in_series and last and not is_repeated(runs, baseline):
        accepted = _of_commits(kept, {one.commit for one, _ in kept} - {0})
        sides.append(
            Opposed(now=(*runs, *accepted), before=_of_commits(kept, {0}), name=f"{name} {ANCHOR}")
        )
    return sides


def _of_commits(
    kept: Iterable[tuple[KeptRun, Evaluation]], commits: Collection[int]
) -> tuple[Evaluation, ...]:
    return tuple(evaluation for one, evaluation in kept if one.commit in commits)


def is_repeated(runs: Sequence[Evaluation], baseline: MeasuredBaseline) -> bool:
    """Return whether a commit has the values of the last accepted one: nothing changed, so that it
    is no look of a series.

    Of repeats, the values are their means by query, as in a check.
    """
    last: tuple[Evaluation, ...] = (baseline.first,)
    if baseline.record is not None:
        kept = baseline.kept
        last = _of_commits(kept, {kept[0][0].commit})
    queries, measures = queries_of([*runs, *last]), runs[0].measures
    now, before = (
        mean_table([QueryTable.of(one, measures, queries) for one in side]) for side in (runs, last)
    )
    same = now.equal(before) | ~now.counted
    return bool((now.counted == before.counted).all() and same.all())


def refuse_unlike_repeats(runs: Sequence[Evaluation]) -> None:
    """Refuse repeats that do not answer the same queries: their mean would leave out what one of
    them lacks.
    """
    missing = [set(one.coverage.missing_queries) for one in runs]
    everywhere = set.intersection(*missing)
    for one, lacks in zip(runs, missing, strict=True):
        if alone := sorted(lacks - everywhere):
            named = ", ".join(map(repr, alone[:3])) + (", ..." if len(alone) > 3 else "")
            raise InputError(
                f"{one.name}: found no answer to {len(alone):,} of the queries that another "
                f"run of the same version answers ({named}); "
                "expected repeats with answers to the same queries; make the run again"
            )


def without_held_out(
    contracts: Iterable[Contract], held_out: Collection[str]
) -> tuple[list[Contract], list[str]]:
    """Leave out contracts of held-out queries, which decide nothing, and say so in a note."""
    listed = list(contracts)
    left = [contract for contract in listed if contract.query not in held_out]
    out = list(dict.fromkeys(contract.query for contract in listed if contract.query in held_out))
    if not out:
        return left, []
    return left, [f"contracts of held-out queries are not looked at: {', '.join(out)}"]


def leading_run_note(gated: Gated, sides: Sequence[Opposed], *, by_judge: bool) -> list[str]:
    """Say which run of a side the judge and the labels that are asked for look at, where sides have
    several.
    """
    several = any(len(side.now) > 1 or len(side.before) > 1 for side in sides)
    asked = by_judge or not all(check.carried for check in gated.checks)
    if not (several and asked):
        return []
    what = "the judge and unjudged documents" if by_judge else "unjudged documents"
    return [f"where a side has several runs, only its first run counts for {what}"]


def next_record(
    record: BaselineRecord, before: BaselineRecord, repeats: int, series: Series
) -> tuple[BaselineRecord, list[int]]:
    """Record of a file after one more commit, and the places of the runs that stay."""
    commit = before.kept[0].commit + 1
    accepted = sorted({one.commit for one in before.kept} - {0}, reverse=True)[: WINDOW - 2]
    stays = [
        place for place, one in enumerate(before.kept) if one.commit in accepted or one.is_anchor
    ]
    new = (KeptRun(name=record.name, commit=commit),) * (1 + repeats)
    kept = (*new, *(before.kept[place] for place in stays))
    return replace(record.as_deep_as(before), kept=kept, series=series), stays


def anchored_record(
    record: BaselineRecord, before: BaselineRecord | None, repeats: int, series: Series
) -> BaselineRecord:
    """Record of a file whose anchor is a new run: the first one, or one that a person accepted."""
    kept = (KeptRun(name=record.name, commit=0),) * (1 + repeats)
    deep = record if before is None else record.as_deep_as(before)
    return replace(deep, kept=kept, series=series)


def noise_note(measure: Measure, runs: Sequence[Sequence[Evaluation]]) -> list[str]:
    """Say by how much the mean varies between repeats of one commit; nothing without repeats."""
    text = str(measure)
    groups = [[float(one.mean()[text]) for one in repeats] for repeats in runs if len(repeats) > 1]
    freedom = sum(len(means) - 1 for means in groups)
    if not freedom:
        return []
    squares = sum(float(np.var(means)) * len(means) for means in groups)
    n_runs = sum(map(len, groups))
    return [
        f"noise from run to run: the mean of {text} has a standard deviation of "
        f"{(squares / freedom) ** 0.5:.4f} ({n_runs} runs)"
    ]


def held_out_queries(queries: Iterable[str], share: float) -> frozenset[str]:
    """Queries that are held out: by a hash of their ids, so that a query stays where it is."""

    def place(query: str) -> float:
        return (
            int.from_bytes(
                hashlib.sha256(query.encode("utf-8", "surrogateescape")).digest()[:4], "big"
            )
            / _SPACE
        )

    return frozenset(query for query in queries if place(query) < share)


def overfitting_note(
    measure: Measure,
    runs: Sequence[Evaluation],
    anchor: Sequence[Evaluation],
    held_out: Collection[str],
    of_queries: OfQueries,
) -> list[str]:
    """Compare the gain since the anchor on the queries of the gate with that on held-out
    queries.

    Every run that a gate lets pass was chosen on its queries.
    """
    queries = queries_of([*runs, *anchor])
    now, before = (
        mean_table([QueryTable.of(one, [measure], queries) for one in side])
        for side in (runs, anchor)
    )
    gain = (now.values - before.values) * measure.direction
    is_held_out = np.array([query in held_out for query in queries], np.bool_)
    counts = np.isfinite(gain[:, 0])
    design = design_by_query(queries, of_queries.weights, of_queries.clusters)
    kept = counts & ~is_held_out, counts & is_held_out
    sizes = [int(one.sum()) for one in kept]
    if not min(sizes):
        return [_too_few_held_out(sizes[1], "queries")]
    designs = [restricted(design, one) for one in kept]
    if min(one.n_units for one in designs) < _LEAST_HELD_OUT:
        return [
            _too_few_held_out(
                designs[1].n_units, "queries" if design.clusters is None else "clusters"
            )
        ]
    if not any(np.ptp(gain[one]) for one in kept):
        return []
    inside, outside = (
        student_mean(gain[one], of_these) for one, of_these in zip(kept, designs, strict=True)
    )
    gains = (
        f"{inside.mean[0]:+.4f} on the {sizes[0]:,} queries of the gate and "
        f"{outside.mean[0]:+.4f} on {sizes[1]:,} others"
    )
    means = f"{measure} gained {gains}"
    p = welch_p(outside, inside)
    if p > _OVERFITTED:
        return [f"held out: {means}, which differ by no more than chance (p {p:.2g})"]
    return [f"held out: {means} (p {p:.2g}): the queries of the gate are overfitted; replace them"]


def _too_few_held_out(number: int, units: str) -> str:
    return f"held out: {number} {units}, too few to look at; expected at least {_LEAST_HELD_OUT}"
