"""The runs of a series in a baseline file: what a new run is held to, and what the file holds afterwards."""

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from idealrank.analysis.comparison.query_table import QueryTable, queries_of, same_values
from idealrank.analysis.gate.series import ANCHOR, WINDOW, Series
from idealrank.analysis.gate.sides import Opposed
from idealrank.data.run import Run
from idealrank.evaluation.evaluate import Evaluation
from idealrank.io.gate_files.baselines import BaselineRecord, KeptRun
from idealrank.measures.measure import Measure
from idealrank.stats.unpaired_tests import welch_t

LOOK_AT_HOLDOUT = 10  # every so many looks
_SPACE = 1 << 32
_LEAST_HELD_OUT = 10  # queries, below which a difference of means says nothing
_OVERFITTED = 0.05  # level of the message


@dataclass(frozen=True, kw_only=True)
class OpenedBaseline:
    """A baseline as it was opened.

    Attributes
    ----------
    run : Run
        The run that it stands for: of a baseline file, the last accepted one.
    record : BaselineRecord or None
        First line of a baseline file; None for an ordinary run.
    others : tuple of Run
        The other runs that the record names, in its order.
    """

    run: Run
    record: BaselineRecord | None = None
    others: tuple[Run, ...] = ()


@dataclass(frozen=True, kw_only=True)
class MeasuredBaseline:
    """Evaluations of an opened baseline.

    Attributes
    ----------
    first : Evaluation
        Of its run.
    others : tuple of Evaluation
        Of its other runs.
    record : BaselineRecord or None
        As for `OpenedBaseline`.
    """

    first: Evaluation
    others: tuple[Evaluation, ...] = ()
    record: BaselineRecord | None = None

    @property
    def kept(self) -> list[tuple[KeptRun, Evaluation]]:
        """Each run of a baseline file with its evaluation."""
        assert self.record is not None  # noqa: S101  (only of a baseline file)
        return list(zip(self.record.kept, (self.first, *self.others), strict=True))


def sides_of(name: str, runs: Sequence[Evaluation], baseline: MeasuredBaseline, *, in_series: bool) -> list[Opposed]:
    """Sides of the checks against one baseline.

    A baseline file of a series has two: the run against the last accepted commit, and, once the anchor is not the last
    accepted commit, the mean of the run and of the last accepted commits against the anchor, which shows what many small
    drops sum up to. A mean of several commits has less of the noise from run to run.

    Parameters
    ----------
    name : str
        Of the baseline.
    runs : sequence of Evaluation
        The run and its repeats.
    baseline : MeasuredBaseline
        The baseline.
    in_series : bool
        Whether the baseline's series decides.
    """
    if baseline.record is None:
        return [Opposed(now=tuple(runs), before=(baseline.first,), name=name)]
    kept = baseline.kept
    last = kept[0][0].commit
    sides = [Opposed(now=tuple(runs), before=_of_commits(kept, {last}), name=name)]
    if in_series and last and not is_repeated(runs, baseline):
        accepted = _of_commits(kept, {one.commit for one, _ in kept} - {0})
        sides.append(Opposed(now=(*runs, *accepted), before=_of_commits(kept, {0}), name=f"{name} {ANCHOR}"))
    return sides


def _of_commits(kept: Iterable[tuple[KeptRun, Evaluation]], commits: Collection[int]) -> tuple[Evaluation, ...]:
    return tuple(evaluation for one, evaluation in kept if one.commit in commits)


def is_repeated(runs: Sequence[Evaluation], baseline: MeasuredBaseline) -> bool:
    """Return whether a run has the values of the last accepted one: nothing changed, so that it is no look of a series."""
    return len(runs) == 1 and same_values(runs[0], baseline.first)


def next_record(record: BaselineRecord, before: BaselineRecord, repeats: int, series: Series) -> tuple[BaselineRecord, list[int]]:
    """Record of a file after one more commit, and the places of the runs that stay.

    Parameters
    ----------
    record : BaselineRecord
        Of the new run alone.
    before : BaselineRecord
        Of the file as it is.
    repeats : int
        Further runs of the new commit.
    series : Series
        State after the look.
    """
    commit = before.kept[0].commit + 1
    accepted = sorted({one.commit for one in before.kept} - {0}, reverse=True)[: WINDOW - 2]
    stays = [place for place, one in enumerate(before.kept) if one.commit in accepted or one.is_anchor]
    new = (KeptRun(name=record.name, commit=commit),) * (1 + repeats)
    kept = (*new, *(before.kept[place] for place in stays))
    return replace(record.as_deep_as(before), kept=kept, series=series), stays


def anchored_record(record: BaselineRecord, before: BaselineRecord | None, repeats: int, series: Series) -> BaselineRecord:
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
    return [f"noise from run to run: the mean of {text} has a standard deviation of {(squares / freedom) ** 0.5:.4f} ({n_runs} runs)"]


def held_out_queries(queries: Iterable[str], share: float) -> frozenset[str]:
    """Queries that are held out: by a hash of their ids, so that a query stays where it is.

    Parameters
    ----------
    queries : iterable of str
        Ids.
    share : float
        Share of them, in [0, 1).

    Examples
    --------
    >>> len(held_out_queries(map(str, range(1000)), 0.2)) in range(160, 240), held_out_queries("abc", 0.0)
    (True, frozenset())
    """

    def place(query: str) -> float:
        return int.from_bytes(hashlib.sha256(query.encode("utf-8", "surrogateescape")).digest()[:4], "big") / _SPACE

    return frozenset(query for query in queries if place(query) < share)


def overfitting_note(measure: Measure, run: Evaluation, anchor: Evaluation, held_out: Collection[str]) -> list[str]:
    """Compare the gain since the anchor on the queries of the gate with that on held-out queries.

    Every run that a gate lets pass was chosen on its queries. If it gained more there than on queries that chose nothing,
    by Welch's t test at level 0.05, the set of queries is overfitted.
    """
    queries = queries_of([run, anchor])
    now, before = (QueryTable.of(one, [measure], queries) for one in (run, anchor))
    gain = (now.values - before.values)[:, 0] * measure.direction
    is_held_out = np.array([query in held_out for query in queries], np.bool_)
    counts = np.isfinite(gain)
    inside, outside = gain[counts & ~is_held_out], gain[counts & is_held_out]
    if min(inside.size, outside.size) < _LEAST_HELD_OUT:
        return [f"held out: {outside.size} queries, too few to look at; expected at least {_LEAST_HELD_OUT}"]
    gains = f"{inside.mean():+.4f} on the {inside.size:,} queries of the gate and {outside.mean():+.4f} on {outside.size:,} others"
    means = f"{measure} gained {gains}"
    if not (np.ptp(inside) or np.ptp(outside)):
        return []
    p = welch_t(outside, inside, alternative="greater").p
    if p > _OVERFITTED:
        return [f"held out: {means}, which differ by no more than chance (p {p:.2g})"]
    return [f"held out: {means} (p {p:.2g}): the queries of the gate are overfitted; replace them"]
