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
from idealrank.analysis.gate.checks import Opposed, mean_table
from idealrank.analysis.gate.contracts import Contract
from idealrank.analysis.gate.outcome import Gated
from idealrank.analysis.gate.series import ANCHOR, WINDOW, Series
from idealrank.data.run import Run
from idealrank.errors import InputError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.io.gate_files.baselines import BaselineRecord, KeptRun
from idealrank.io.query_files import OfQueries
from idealrank.measures.measure import Measure
from idealrank.stats.design import student_mean
from idealrank.stats.unpaired_tests import welch_p

# Held-out queries are compared after every tenth look, so that they are not overfitted as well.
LOOK_AT_HOLDOUT = 10
_SPACE = 1 << 32  # number of values that the first four bytes of a hash have
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

    first: Evaluation  # Evaluation of its run
    others: tuple[Evaluation, ...] = ()  # Evaluations of its other runs
    record: BaselineRecord | None = None  # As for `OpenedBaseline`

    @property
    def kept(self) -> list[tuple[KeptRun, Evaluation]]:
        """Each run of a baseline file with its evaluation."""
        assert self.record is not None  # noqa: S101  (only of a baseline file)
        return list(zip(self.record.kept, (self.first, *self.others), strict=True))

    def of_commits(self, commits: Collection[int]) -> tuple[Evaluation, ...]:
        """Return the evaluations of some commits; commit 0 is the anchor."""
        return tuple(evaluation for kept_run, evaluation in self.kept if kept_run.commit in commits)


def sides_of(
    name: str, runs: Sequence[Evaluation], baseline: MeasuredBaseline, *, in_series: bool
) -> list[Opposed]:
    """Sides of the checks against one baseline."""
    if baseline.record is None:
        return [Opposed(now=tuple(runs), before=(baseline.first,), name=name)]
    last = baseline.record.kept[0].commit
    sides = [Opposed(now=tuple(runs), before=baseline.of_commits({last}), name=name)]
    if in_series and last and not is_repeated(runs, baseline):
        # The runs accepted since the anchor count as runs of the new version, so that many small
        # drops are found together.
        commits = {kept_run.commit for kept_run in baseline.record.kept}
        now = (*runs, *baseline.of_commits(commits - {0}))
        before = baseline.of_commits({0})
        sides.append(Opposed(now=now, before=before, name=f"{name} {ANCHOR}"))
    return sides


def is_repeated(runs: Sequence[Evaluation], baseline: MeasuredBaseline) -> bool:
    """Return whether a commit has the values of the last accepted one: nothing changed, so that it
    is no look of a series.

    Repeats are compared by their mean on each query, as in a check.
    """
    last: tuple[Evaluation, ...] = (baseline.first,)
    if baseline.record is not None:
        last = baseline.of_commits({baseline.record.kept[0].commit})
    now, before = _means_of_sides(runs, last, runs[0].measures, queries_of([*runs, *last]))
    same = now.equal(before) | ~now.counted
    return bool((now.counted == before.counted).all() and same.all())


def _means_of_sides(
    now: Iterable[Evaluation],
    before: Iterable[Evaluation],
    measures: Sequence[Measure],
    queries: Sequence[str],
) -> tuple[QueryTable, QueryTable]:
    """Return the mean of the repeats of each side, query by query."""
    tables_now = [QueryTable.of(evaluation, measures, queries) for evaluation in now]
    tables_before = [QueryTable.of(evaluation, measures, queries) for evaluation in before]
    return mean_table(tables_now), mean_table(tables_before)


def refuse_unlike_repeats(runs: Sequence[Evaluation]) -> None:
    """Refuse repeats that do not answer the same queries: their mean would leave out what one of
    them lacks.
    """
    missing = [set(evaluation.coverage.missing_queries) for evaluation in runs]
    everywhere = set.intersection(*missing)
    for evaluation, missing_queries in zip(runs, missing, strict=True):
        if answered_elsewhere := sorted(missing_queries - everywhere):
            count = f"{len(answered_elsewhere):,}"
            listed = ", ".join(map(repr, answered_elsewhere[:3]))
            listed += ", ..." if len(answered_elsewhere) > 3 else ""
            raise InputError(
                f"{evaluation.name}: found no answer to {count} of the queries that another "
                f"run of the same version answers ({listed}); expected repeats with answers to the "
                "same queries; make the run again"
            )


def without_held_out(
    contracts: Iterable[Contract], held_out: Collection[str]
) -> tuple[list[Contract], list[str]]:
    """Leave out contracts of held-out queries, which decide nothing, and say so in a note."""
    counted = []
    left_out: dict[str, None] = {}
    for contract in contracts:
        if contract.query in held_out:
            left_out[contract.query] = None
        else:
            counted.append(contract)
    if not left_out:
        return counted, []
    return counted, [f"contracts of held-out queries are not looked at: {', '.join(left_out)}"]


def leading_run_note(gated: Gated, sides: Sequence[Opposed], *, by_judge: bool) -> list[str]:
    """Say that only the first run of a side counts for the judge and for unjudged documents, if
    sides have several runs.
    """
    has_repeats = any(len(side.now) > 1 or len(side.before) > 1 for side in sides)
    looks_at_documents = by_judge or not all(check.carried for check in gated.checks)
    if not (has_repeats and looks_at_documents):
        return []
    subject = "the judge and unjudged documents" if by_judge else "unjudged documents"
    return [f"where a side has several runs, only its first run counts for {subject}"]


def next_record(
    record: BaselineRecord, before: BaselineRecord, repeats: int, series: Series
) -> tuple[BaselineRecord, list[int]]:
    """Return the record of a file after one more commit, and the places of the runs that stay."""
    commit = before.kept[0].commit + 1
    # The next gate averages WINDOW commits: its own, this new one, and so many accepted before.
    commits = sorted({kept_run.commit for kept_run in before.kept} - {0}, reverse=True)
    accepted = commits[: WINDOW - 2]
    stays = [
        place
        for place, kept_run in enumerate(before.kept)
        if kept_run.commit in accepted or kept_run.is_anchor
    ]
    new = (KeptRun(name=record.name, commit=commit),) * (1 + repeats)
    kept = (*new, *(before.kept[place] for place in stays))
    return replace(record.as_deep_as(before), kept=kept, series=series), stays


def anchored_record(
    record: BaselineRecord, before: BaselineRecord | None, repeats: int, series: Series
) -> BaselineRecord:
    """Return the record of a file whose anchor is a new run: the first one, or an accepted one."""
    kept = (KeptRun(name=record.name, commit=0),) * (1 + repeats)
    deep = record if before is None else record.as_deep_as(before)
    return replace(deep, kept=kept, series=series)


def noise_note(measure: Measure, runs: Sequence[Sequence[Evaluation]]) -> list[str]:
    """Say by how much the mean varies between repeats of one commit; nothing without repeats."""
    text = str(measure)
    repeated = [repeats for repeats in runs if len(repeats) > 1]
    groups = [[float(evaluation.mean()[text]) for evaluation in repeats] for repeats in repeated]
    freedom = sum(len(means) - 1 for means in groups)
    if not freedom:
        return []
    # Pooled over commits: each has its own mean, so a change between commits is no noise.
    squares = sum(float(np.var(means)) * len(means) for means in groups)
    n_runs = sum(map(len, groups))
    return [
        f"noise from run to run: the mean of {text} has a standard deviation of "
        f"{(squares / freedom) ** 0.5:.4f} ({n_runs} runs)"
    ]


def held_out_queries(queries: Iterable[str], share: float) -> frozenset[str]:
    """Return the queries that are held out, by a hash of their ids: a query stays on its side
    whatever other queries come.
    """

    def hashed_share(query_id: str) -> float:
        digest = hashlib.sha256(query_id.encode("utf-8", "surrogateescape")).digest()
        return int.from_bytes(digest[:4], "big") / _SPACE

    return frozenset(query_id for query_id in queries if hashed_share(query_id) < share)


def overfitting_note(
    measure: Measure,
    runs: Sequence[Evaluation],
    anchor: Sequence[Evaluation],
    held_out: Collection[str],
    of_queries: OfQueries,
) -> list[str]:
    """Compare the gain since the anchor on the queries of the gate with the gain on held-out
    queries.

    Every run that a gate lets pass was chosen on its queries.
    """
    queries = queries_of([*runs, *anchor])
    now, before = _means_of_sides(runs, anchor, [measure], queries)
    gain = (now.values - before.values) * measure.direction
    is_held_out = np.array([query_id in held_out for query_id in queries], np.bool_)
    counts = np.isfinite(gain[:, 0])
    in_gate = counts & ~is_held_out
    out_of_gate = counts & is_held_out
    n_in = int(in_gate.sum())
    n_out = int(out_of_gate.sum())
    if not min(n_in, n_out):
        return [_too_few_held_out(n_out, "queries")]

    design = design_by_query(queries, of_queries.weights, of_queries.clusters)
    design_in = restricted(design, in_gate)
    design_out = restricted(design, out_of_gate)
    if min(design_in.n_units, design_out.n_units) < _LEAST_HELD_OUT:
        units = "queries" if design.clusters is None else "clusters"
        return [_too_few_held_out(design_out.n_units, units)]
    if not (np.ptp(gain[in_gate]) or np.ptp(gain[out_of_gate])):
        return []

    inside = student_mean(gain[in_gate], design_in)
    outside = student_mean(gain[out_of_gate], design_out)
    gains = (
        f"{inside.mean[0]:+.4f} on the {n_in:,} queries of the gate and {outside.mean[0]:+.4f} on "
        f"{n_out:,} others"
    )
    means = f"{measure} gained {gains}"
    p = welch_p(outside, inside)
    if p > _OVERFITTED:
        return [f"held out: {means}, which differ by no more than chance (p {p:.2g})"]
    return [f"held out: {means} (p {p:.2g}): the queries of the gate are overfitted; replace them"]


def _too_few_held_out(number: int, units: str) -> str:
    return f"held out: {number} {units}, too few to look at; expected at least {_LEAST_HELD_OUT}"
