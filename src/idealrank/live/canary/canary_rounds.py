"""Rounds of canary queries: ask, evaluate, store the round with the changes of its alarms, and
send the messages that wait.
"""

import math
import os
import random
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.errors import (
    BackendError,
    IdealrankError,
    IdealrankWarning,
    InputError,
    MissingExtraError,
    OptionError,
    shown,
)
from idealrank.evaluation.evaluate import Evaluation
from idealrank.inputs.evaluation import evaluate, to_qrels
from idealrank.inputs.per_query import slices_of
from idealrank.io.label_grades import parse_labels
from idealrank.live.alerts.alarm_channels import Channel, title_of
from idealrank.live.alerts.alarm_states import AlarmPlan, advance
from idealrank.live.alerts.seen_rounds import Baseline, SeenRound
from idealrank.live.backends import backend_from
from idealrank.live.backends.protocol import Backend, SearchQuery
from idealrank.live.canary.monitor_config import MonitorConfig, label_age
from idealrank.live.line_journal import lock_file
from idealrank.live.monitoring import Monitoring, Outcome, RoundStep, StoredAlarm, StoredRound
from idealrank.live.request_jobs import JobTally, Latencies, RequestOutcome
from idealrank.live.search_jobs import SearchJob, SearchOutcome
from idealrank.measures.measure import Measure
from idealrank.measures.parse import parse_measure
from idealrank.store.record import Record
from idealrank.store.store import Store

_LEAST_PEOPLE = 2  # queries with grades of people in a round, for an interval
_ALL_EMPTY = (
    "every answer is empty: check that the index has documents, and that the keys of `backend` "
    "name the hits of its answers"
)
_PROBLEMS = 5  # messages of failed queries in the record of a round


def failure_of(name: str, act: Callable[[], object], hide: Callable[[str], str] = str) -> str:
    """Do something with an engine, a channel or a file, and return why it failed; empty if it did
    not.

    Libraries of engines and channels raise exceptions of any class.
    """
    try:
        act()
    except IdealrankError as error:
        return hide(str(error)) or f"{name}: {type(error).__name__}"
    except Exception as error:  # noqa: BLE001  (see above)
        return f"{name}: {type(error).__name__}: {shown(hide(str(error)))}"
    return ""


@dataclass(frozen=True, kw_only=True, eq=False)
class FinishedRound:
    """Round that has ended, and may wait to be stored."""

    # Number in the store; None if the store could not be written when it started
    number: int | None
    time: str  # Start, UTC, ISO 8601
    seen: SeenRound  # What the alarms see of it
    record: Mapping[str, Any]  # What the store keeps of it
    evaluation: Evaluation | None = None  # Its evaluation


class CanaryMonitor:
    """Monitor of one search engine, for one process."""

    def __init__(
        self,
        config: MonitorConfig,
        *,
        command: str = "",
        say: Callable[[str], None] = lambda _: None,
        backend: Callable[[], Backend] | None = None,
    ) -> None:
        self.config = config
        self._command = command
        self._say = say
        self._backend = backend or (lambda: backend_from(config.backend))
        labels = parse_labels(config.qrels.labels)
        judgments = to_qrels(config.qrels.path, labels=labels)
        self._qrels = judgments.labelled(config.qrels.labels_are)
        people = config.qrels.people
        self._people = None if people is None else to_qrels(people, labels=labels)
        self.measures = [parse_measure(text) for text in config.evaluation.measures]
        _check_measure(self.measures[0], config)
        self.queries = self._canaries()
        self.waiting: list[FinishedRound] = []
        self._wants_baseline = False
        if config.season_note:
            say(config.season_note)

    def _canaries(self) -> list[SearchQuery]:
        judged = set(self._qrels.queries)
        queries = self.config.queries.read()
        canaries = [query for query in queries if query.id in judged]
        if not canaries:
            raise InputError(
                f"{self.config.queries.path}: found no query with a judgment in "
                f"{self.config.qrels.path}, expected canaries"
            )
        if len(canaries) < len(queries):
            n_unjudged = len(queries) - len(canaries)
            self._say(f"{n_unjudged} of {len(queries)} queries have no judgment, and are not asked")
        return canaries

    def check_backend(self, store: Store | None = None) -> None:
        """Refuse a wrong section of the backend before the first round of a store; later, an engine
        that fails is an outcome of the round.
        """
        if store is not None:
            self.plan(store)  # fails if the baseline's entry is missing, or has another measure
        try:
            self._backend().close()
        except MissingExtraError:
            raise
        except IdealrankError as error:
            if isinstance(error, OptionError) and self._is_first(store):
                raise
            self._say(str(error))

    def _is_first(self, store: Store | None) -> bool:
        return store is None or not Monitoring.of(store, self.config.name).rounds(limit=1)

    @cached_property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """Groups of each query; the configuration calls them slices."""
        slices = slices_of(self.config.slices) or {}
        return {
            query: (names,) if isinstance(names, str) else tuple(map(str, names))
            for query, names in slices.items()
        }

    @cached_property
    def epoch(self) -> str:
        """Hash of judgments (also of people), queries, measure, convention, baseline and declared
        season; a change starts another series. The engine and its number of documents do not count.
        """
        people = "" if self._people is None else f"{self._people.fingerprint}"
        queries = hash_of(f"{query.id}\0{query.text}" for query in self.queries)
        baseline = self.config.baseline.entry or ""
        evaluation = f"{self.measures[0]} {self.config.evaluation.convention}"
        declared = self.config.baseline.declared
        season = [] if declared is None else [f"season {declared}"]
        return hash_of(
            [str(self._qrels.fingerprint), people, queries, evaluation, baseline, *season]
        )

    def plan(self, store: Store) -> AlarmPlan:
        """Return the rules and the baseline."""
        config = self.config
        baseline = Baseline()
        if config.baseline.entry:
            values = _entry_values(store, config.baseline.entry, self.measures[0])
            baseline = Baseline(values=values)
        return AlarmPlan(
            monitor=config.name,
            rules=config.rules,
            epoch=self.epoch,
            baseline_rounds=config.baseline.rounds,
            season=config.baseline.season,
            given=baseline,
            groups=self.groups,
            channels=[channel.name for channel in config.channels],
        )

    # --- one round --------------------------------------------------------------------------------

    def rebaseline(self) -> None:
        """Learn the baseline anew from the next round on."""
        self._wants_baseline = True

    def run_round(
        self, store: Store, tell: Callable[[StoredRound], None] = lambda _: None
    ) -> list[StoredRound]:
        """Run a round, store it and all that wait, send messages, and tell of each round stored;
        return them.
        """
        rounds = Monitoring.of(store, self.config.name)
        time = utc_now()
        try:
            number: int | None = rounds.begin(time)
        except InputError as error:
            self._say(f"the start of the round could not be stored: {error}")
            number = None
        self.waiting.append(self._measured(store, number, time))
        stored: list[StoredRound] = []
        try:
            plan = self.plan(store)
            while self.waiting:
                stored.append(self._store_oldest(store, plan))
        except InputError:
            # The rounds stored before no longer wait: no later turn would tell of them.
            if stored:
                self._announce(store, stored, tell)
            raise
        self._announce(store, stored, tell)
        return stored

    def _announce(
        self, store: Store, stored: Sequence[StoredRound], tell: Callable[[StoredRound], None]
    ) -> None:
        self.deliver(store)
        for stored_round in stored:
            tell(stored_round)

    def _measured(self, store: Store, number: int | None, time: str) -> FinishedRound:
        """Ask and evaluate the queries of a round; with too few answers it has no value."""
        queries, share = self._drawn(store, time)
        outcomes, problems, tally = self._asked(queries)
        failed_share = sum(bool(outcome.failure) for outcome in outcomes) / len(queries)
        answered = [outcome for outcome in outcomes if not outcome.failure]
        answers = {outcome.item.id: outcome.answer or () for outcome in answered}
        n_empty = sum(not hits for hits in answers.values())
        seen = SeenRound(
            outcome="failed",
            failed=failed_share,
            empty=n_empty / len(answers) if answers else 0.0,
            outages=tally.outages,
            latency=_latency(outcomes),
            label_days=self._label_days(),
            sampled=share,
            time=datetime.fromisoformat(time).timestamp(),
            groups=self.groups,
        )
        record: dict[str, Any] = {
            "measure": str(self.measures[0]),
            "queries": len(queries),
            "failed": failed_share,
            "empty": n_empty,
            "attempts": tally.attempts,
            "failed_attempts": tally.failed,
            "timed_out": tally.timed_out,
            "outages": tally.outages,
            "paused": round(tally.paused, 3),
            "problems": problems,
            "latency": dict(seen.latency),
            "label_days": seen.label_days,
        }

        finished = partial(FinishedRound, number=number, time=time, record=record)
        if not answers:
            return finished(seen=seen)
        if failed_share > self.config.most_failed:
            return finished(seen=replace(seen, outcome="incomplete"))

        try:
            evaluation, cautions = self._evaluated(answers, self._qrels)
            people, people_cautions = self._human_values(answers)
        # The answers cannot be ranked, for example because a score is not a number.
        except IdealrankError as error:
            all_failed = {"failed": 1.0, "problems": [*problems, str(error)]}
            return finished(seen=replace(seen, failed=1.0), record=record | all_failed)
        if self._people is not None and len(people) < _LEAST_PEOPLE:
            too_few = (
                f"{len(people)} answered queries have grades of people, expected {_LEAST_PEOPLE} "
                "or more"
            )
            return finished(
                seen=replace(seen, outcome="incomplete"),
                record=record | {"problems": [*problems, too_few]},
            )

        considered = evaluation.coverage.considered
        coverage = 1 - evaluation.coverage.unjudged / considered if considered else None
        if seen.empty == 1:  # the one document of the run was made up by `_evaluated`
            coverage = None
            problems = [_ALL_EMPTY, *problems]
        else:
            problems = [*problems, *dict.fromkeys([*cautions, *people_cautions])]
        seen = replace(
            seen,
            outcome="complete",
            values=values_by_query(evaluation),
            people=people,
            coverage=coverage,
        )
        return finished(
            seen=seen,
            record=record | self._values_record(seen, evaluation, problems),
            evaluation=evaluation,
        )

    def _drawn(self, store: Store, time: str) -> tuple[list[SearchQuery], float]:
        """Queries of the round: all, or a random sample once the baseline is known."""
        size = self.config.sample
        if size is None or size >= len(self.queries):
            return self.queries, 1.0
        state = Monitoring.of(store, self.config.name).state()
        if state.get("epoch") != self.epoch or not state.get("baseline") or self._wants_baseline:
            return self.queries, 1.0
        rng = random.Random(f"{self.config.policy.seed} {time}")  # noqa: S311  (no secret)
        places = sorted(rng.sample(range(len(self.queries)), size))
        return [self.queries[place] for place in places], size / len(self.queries)

    def _asked(
        self, queries: Sequence[SearchQuery]
    ) -> tuple[list[SearchOutcome], list[str], JobTally]:
        """Answer or failure of each query, and the counts of the job; a query that the job left out
        has failed.
        """
        outcome_of: dict[str, SearchOutcome] = {}
        jobs: list[SearchJob] = []  # none if the backend cannot be made

        def keep(outcome: SearchOutcome) -> None:
            outcome_of[outcome.item.id] = outcome

        def ask() -> None:
            backend = self._backend()
            job = SearchJob(backend, self.config.policy)
            jobs.append(job)
            try:
                job.ask(queries, keep)
            # The hint is dropped: a round is not continued, and the next one asks every query.
            except BackendError as stopped:
                message, _, _ = stopped.kept().parts
                raise BackendError(message) from None
            finally:
                outcome_of.update({outcome.item.id: outcome for outcome in job.interrupted})
                backend.close()

        failure = failure_of("backend", ask)
        tally = jobs[0].tally if jobs else JobTally()
        problems = [failure] if failure else []
        reason = failure or "not asked"
        outcomes = [
            outcome_of.get(query.id)
            or RequestOutcome(item=query, answer=None, seconds=0.0, attempts=0, failure=reason)
            for query in queries
        ]
        problems += [
            f"{outcome.item.id}: {outcome.failure}"
            for outcome in outcomes
            if outcome.failure and outcome.failure not in problems
        ]
        return outcomes, problems[:_PROBLEMS], tally

    def _evaluated(
        self, answers: Mapping[str, Sequence[Any]], qrels: Qrels
    ) -> tuple[Evaluation, list[str]]:
        grades = {query: qrels[query] for query in qrels.queries if query in answers}
        chosen = Qrels(grades, labels_are=None if qrels.labels.found else qrels.labels.kind)
        with_documents = {query: dict(hits) for query, hits in answers.items() if hits}
        if not with_documents:  # a run may not be empty; an unjudged document changes no value
            with_documents = {next(iter(answers)): {"no-document": 0.0}}
        run = Run(with_documents, name=self.config.name)
        with warnings.catch_warnings(record=True) as cautions:
            warnings.simplefilter("always", IdealrankWarning)
            evaluation = evaluate(chosen, run, self.measures, self.config.evaluation.convention)
        return evaluation, [str(caution.message) for caution in cautions]

    def _human_values(
        self, answers: Mapping[str, Sequence[Any]]
    ) -> tuple[dict[str, float], list[str]]:
        people = self._people
        if people is None or not any(query in answers for query in people.queries):
            return {}, []
        evaluation, cautions = self._evaluated(answers, people)
        return values_by_query(evaluation), cautions

    def _values_record(
        self, seen: SeenRound, evaluation: Evaluation, problems: Sequence[str]
    ) -> dict[str, Any]:
        interval = seen.interval()
        low = high = None
        if interval is not None:
            low, high = interval
        return {
            "value": seen.mean(),
            "low": low,
            "high": high,
            "coverage": seen.coverage,
            "corrected": bool(seen.people),
            "problems": problems,
            "slices": {name: seen.mean(name) for name in seen.names()},
            "convention": evaluation.convention.name,
        }

    def _label_days(self) -> float | None:
        try:
            file_time = Path(self.config.qrels.path).stat().st_mtime
        except OSError:
            return None
        return label_age(self.config.qrels, file_time, datetime.now(UTC))

    # --- storing and telling ----------------------------------------------------------------------

    def _store_oldest(self, store: Store, plan: AlarmPlan) -> StoredRound:
        """Store the round that has waited longest, with the changes of its alarms."""
        finished = self.waiting[0]

        def step(state: dict[str, Any], number: int) -> RoundStep:
            record = dict(finished.record) | _clock_note(state, finished.time)
            followed = advance(
                plan, state, number, finished.seen, record, rebaseline=self._wants_baseline
            )
            latest = max(finished.time, str(state.get("time", "")))
            return replace(followed, state={**followed.state, "time": latest})

        outcome: Outcome = finished.seen.outcome
        stored = Monitoring.of(store, self.config.name).finish(
            finished.number,
            finished.time,
            outcome,
            step,
            evaluation=finished.evaluation,
            record=Record(
                command=self._command,
                time=finished.time,
                tags=("canary", f"monitor-{self.config.name}"),
            ),
        )
        self._wants_baseline = False
        self.waiting.pop(0)
        return stored

    def deliver(self, store: Store) -> list[str]:
        """Send the messages that wait, and return the problems; a message that a channel does not
        take waits on.
        """
        problems: list[str] = []
        try:
            self._deliver(store, problems)
        except InputError as error:
            problems.append(f"what became of the messages could not be stored: {error}")
        for problem in problems:
            self._say(problem)
        return problems

    def _deliver(self, store: Store, problems: list[str]) -> None:
        rounds = Monitoring.of(store, self.config.name)
        channels = {channel.name: channel for channel in self.config.channels}
        broken: set[str] = set()
        for notice in rounds.waiting():
            channel = channels.get(notice.channel)
            if channel is None:
                title = title_of(notice.content)
                self._say(
                    f"the configuration has no channel {notice.channel} any more; this message is "
                    f"not sent: {title}"
                )
                rounds.mark_sent(notice.id, "")
            elif notice.channel not in broken:  # messages of a channel keep their order
                problem = _problem(channel, partial(channel.send, notice))
                if problem:
                    broken.add(notice.channel)
                    problems.append(problem)
                    rounds.mark_failed(notice.id, problem)
                else:
                    rounds.mark_sent(notice.id, utc_now())
        taking = [channel for name, channel in channels.items() if name not in broken]
        problems += self._keep_alive(store, taking)

    def _keep_alive(self, store: Store, channels: Sequence[Channel]) -> list[str]:
        alarms = Monitoring.of(store, self.config.name).alarms(only_open=True)
        problems = (_problem(channel, partial(channel.keep_alive, alarms)) for channel in channels)
        return [problem for problem in problems if problem]

    def open_alarms(self, store: Store) -> list[StoredAlarm]:
        """Return the open alarms, first opened first, and by rule and slice."""
        return sorted(
            Monitoring.of(store, self.config.name).alarms(only_open=True),
            key=lambda alarm: (alarm.opened, alarm.rule, alarm.slice),
        )


def _problem(channel: Channel, send: Callable[[], None]) -> str:
    """Why a message could not be sent, without secrets; empty if it was."""
    return failure_of(channel.name, send, getattr(channel, "hide", str))


def _latency(outcomes: Sequence[SearchOutcome]) -> dict[str, float]:
    """Percentiles of answered and timed-out queries; a refusal is quick, and would make a dead
    engine look fast.
    """
    counted = [outcome for outcome in outcomes if outcome.timed_out or not outcome.failure]
    latencies = Latencies.of([outcome.elapsed for outcome in counted])
    percentiles = {"p50": latencies.p50, "p95": latencies.p95, "p99": latencies.p99}
    return {
        name: round(1000 * seconds, 3)
        for name, seconds in percentiles.items()
        if seconds is not None
    }


def _clock_note(state: Mapping[str, Any], time: str) -> dict[str, Any]:
    last = str(state.get("time", ""))
    return {"clock": f"set back: this round starts before {last}"} if time < last else {}


def _check_measure(measure: Measure, config: MonitorConfig) -> None:
    low, high = measure.bounds
    if any(rule.kind == "sequential" for rule in config.rules) and not (low >= 0 and high <= 1):
        raise OptionError(
            f"evaluation.measures: found {measure}, whose values are not between 0 and 1, expected "
            "such a measure for a sequential test; use a cusum"
        )


def values_by_query(evaluation: Evaluation, place: int = 0) -> dict[str, float]:
    """Values of a measure, by query, without those that do not count."""
    rows = zip(
        evaluation.queries,
        evaluation.values[:, place].tolist(),
        evaluation.scored[:, place].tolist(),
        strict=True,
    )
    return {
        str(query): float(value)
        for query, value, counts in rows
        if counts and not math.isnan(value)
    }


def _entry_values(store: Store, entry: str, measure: Measure) -> dict[str, float]:
    stored = store.evaluation(entry).evaluation
    texts = [str(stored_measure) for stored_measure in stored.measures]
    if str(measure) not in texts:
        raise InputError(
            f"baseline.entry: found {', '.join(texts)} in evaluation {entry}, expected {measure}"
        )
    return values_by_query(stored, texts.index(str(measure)))


def hash_of(texts: Any) -> str:
    """Return the first digits of the SHA-256 of texts."""
    import hashlib  # noqa: PLC0415

    return hashlib.sha256("\n".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def utc_now() -> str:
    """Return the time, UTC, ISO 8601, to the microsecond."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


@contextmanager
def only_process(store: Store, name: str) -> Iterator[None]:
    """Hold the lock of a monitor; the system frees it when the process ends in any way."""
    path = store.folder / f"monitor-{name}.lock"
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise InputError(
            f"{path}: {error.strerror or error}; expected a folder that may be written"
        ) from None
    try:
        if not lock_file(handle):
            raise InputError(
                f"{path}: another process runs the monitor {name}, expected one at a time; let it "
                "end, or stop it"
            )
        yield
    finally:
        os.close(handle)
