"""Configuration of a monitor, from a mapping; checked before an engine is asked."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, date, datetime
from typing import Any

from idealrank._sections import Section
from idealrank.data.label_kinds import LABEL_KINDS, LabelKind
from idealrank.errors import OptionError
from idealrank.live.alerts.alarm_channels import Channel, can_be_asked, channels_of
from idealrank.live.alerts.alarm_rules import RULES, AlarmRule
from idealrank.live.alerts.learned_baselines import Season
from idealrank.live.search_configuration import MeasuresSection, QueriesSection, policy_of
from idealrank.live.search_jobs import BreakerPolicy, SearchPolicy

KEYS = (
    "name",
    "store",
    "backend",
    "queries",
    "qrels",
    "evaluation",
    "slices",
    "every",
    "sample",
    "most_failed",
    "baseline",
    "alarms",
    "notify",
    "metrics",
    "limit",
    "concurrency",
    "rate",
    "timeout",
    "retries",
    "backoff",
    "breaker",
    "seed",
)
"""Keys of a configuration of `idealrank monitor`."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}  # by the unit of a duration
# A round shall report an outage, not wait for its end as a search does. Three attempts are fewer
# than the four queries that are asked at the same time, so that even one time limit of silence is
# an outage.
ROUND_POLICY = SearchPolicy(
    timeout=5.0, retries=0, breaker=BreakerPolicy(failures=3, pause=1.0, probes=2)
)
"""Limits of the searches of a round where the configuration has none."""
_USUAL_SEASONS = (7 * 86400.0, 86400.0)  # seconds of a week and of a day, the longest first
_SEASONS_IN_BASELINE = 2  # one would make each round its own usual value
_USUAL = ("sequential", "coverage", "errors")  # rules without a section `alarms`


@dataclass(frozen=True, kw_only=True)
class JudgmentsSection:
    """Judgments of the canary queries."""

    path: str  # File of judgments
    judged: date | None = None  # Day of the judgments; None takes the time of the file
    # File with the grades of people for some of the queries, where a model made the others
    people: str | None = None
    labels_are: LabelKind | None = None  # Kind of the labels; None finds it in the grades

    @classmethod
    def of(cls, top: Section) -> "JudgmentsSection":
        """Read the key ``qrels``: a path, or a section."""
        if not top.has("qrels"):
            raise top.error("qrels", "nothing", "a file of judgments, as in canaries.qrels")
        if isinstance(top.given["qrels"], str):
            return cls(path=top.text("qrels", None) or "")
        section = top.section("qrels")
        section.refuse_unknown("path", "judged", "people", "labels_are")
        path = section.text("path", None)
        if path is None:
            raise section.error("path", "nothing", "a file of judgments, as in canaries.qrels")
        return cls(
            path=path,
            judged=_day(section),
            people=section.text("people", None),
            labels_are=_label_kind(section),
        )


def _label_kind(section: Section) -> LabelKind | None:
    text = section.given.get("labels_are")
    for kind in LABEL_KINDS:
        if text == kind:
            return kind
    if text is None:
        return None
    raise section.error("labels_are", repr(text), f"one of {', '.join(LABEL_KINDS)}")


def _day(section: Section) -> date | None:
    day = section.given.get("judged")
    if day is None or (isinstance(day, date) and not isinstance(day, datetime)):
        return day  # YAML reads dates by itself
    try:
        return date.fromisoformat(section.given["judged"])
    except (TypeError, ValueError):
        raise section.error("judged", repr(day), "a day, as in 2026-05-01") from None


@dataclass(frozen=True, kw_only=True)
class BaselineSection:
    """Section ``baseline``: the source of the baseline."""

    rounds: int = 30  # First complete rounds to learn the baseline and its noise from
    # Evaluation of the store to take the values from; the noise is learned
    entry: str | None = None
    # Cycle of the values that the baseline learns: the declared one, or else the longest of a week
    # and a day of which the rounds cover two
    season: Season | None = None
    # Text of the key ``season``; ``none`` declares that values have no cycle
    declared: str | None = None

    @classmethod
    def of(cls, section: Section, *, every: float) -> "BaselineSection":
        """Read the section of a monitor with a round every so many seconds."""
        section.refuse_unknown("rounds", "entry", "season")
        entry = section.text("entry", None)
        declared = section.given.get("season")
        if declared is None or declared == "none":
            rounds = section.number("rounds", cls.rounds, least=2)
            season = None if declared else _covered_season(rounds, every)
            return cls(rounds=rounds, entry=entry, season=season, declared=declared)

        seconds = seconds_of(section, "season", 0.0)
        if seconds < 2 * every:
            raise section.error(
                "season",
                repr(declared),
                f"a season of at least two rounds, which are {every:g} s apart, or none",
            )
        least = math.ceil(_SEASONS_IN_BASELINE * seconds / every)
        rounds = section.number("rounds", max(cls.rounds, least), least=2)
        if rounds < least:
            raise section.error(
                "rounds", str(rounds), f"{least} or more, which cover two seasons of {declared}"
            )
        return cls(
            rounds=rounds,
            entry=entry,
            season=Season.of(seconds, every=every),
            declared=str(declared),
        )


def _covered_season(rounds: int, every: float) -> Season | None:
    """Longest usual season of which the rounds cover two; None if there is none."""
    for seconds in _USUAL_SEASONS:
        if rounds * every >= _SEASONS_IN_BASELINE * seconds and seconds >= 2 * every:
            return Season.of(seconds, every=every)
    return None


@dataclass(frozen=True, kw_only=True)
class MetricsSection:
    """Section ``metrics``: how Prometheus and OpenTelemetry get the metrics."""

    port: int | None = None  # Port of /metrics while the monitor runs
    host: str = "127.0.0.1"  # Address to listen on
    # File for the textfile collector of node_exporter, written after each round
    file: str | None = None
    # Further names of this host that requests may use, such as the name of a service
    names: tuple[str, ...] = ()
    # Address of a collector of OpenTelemetry that takes metrics by OTLP over HTTP
    otlp: str | None = None

    @classmethod
    def of(cls, section: Section) -> "MetricsSection":
        """Read the section."""
        section.refuse_unknown("port", "host", "file", "names", "otlp")
        port = section.number("port", 0, least=0) if section.has("port") else None
        if port is not None and port > 65535:
            raise section.error("port", str(port), "a port from 0 to 65535")
        otlp = section.text("otlp", None)
        if otlp is not None and not can_be_asked(otlp):
            raise section.error(
                "otlp", repr(otlp), "an address such as http://127.0.0.1:4318/v1/metrics"
            )
        return cls(
            port=port,
            host=section.text("host", cls.host) or cls.host,
            file=section.text("file", None),
            names=section.texts("names"),
            otlp=otlp,
        )


@dataclass(frozen=True, kw_only=True)
class MonitorConfig:
    """Configuration of a monitor."""

    name: str  # Name of the monitor in the store and in all messages
    store: str  # Folder of the store
    backend: Section  # Section of the backend
    queries: QueriesSection  # Files of queries
    qrels: JudgmentsSection  # Judgments
    evaluation: MeasuresSection  # Measures and convention; the first measure is watched
    rules: tuple[AlarmRule, ...]  # Alarms
    channels: tuple[Channel, ...]  # Where alarms go
    policy: SearchPolicy = ROUND_POLICY  # Limits of the searches
    slices: str | None = None  # File of slices by query
    every: float = 3600.0  # Seconds between the starts of two rounds
    # Queries of each round after the baseline is known, drawn at random; None asks all
    sample: int | None = None
    most_failed: float = 0.1  # Share of failed queries up to which a round has a value
    baseline: BaselineSection = field(default_factory=BaselineSection)  # Baseline
    metrics: MetricsSection = field(default_factory=MetricsSection)  # Metrics

    @property
    def season_note(self) -> str:
        """Caution that alarms assume no season; empty if the baseline has a season, or if the
        configuration has ``season: none``.
        """
        names = [rule.name for rule in self.rules if rule.needs_baseline]
        if not names or self.baseline.season is not None or self.baseline.declared is not None:
            return ""
        hours = self.baseline.rounds * self.every / 3600
        return (
            f"baseline: {self.baseline.rounds} rounds cover {hours:.3g} hours, not two days: "
            f"{', '.join(names)} assumes no season; set `season` in `baseline` to the cycle of the "
            "values, as in 1d or 7d, or to none"
        )

    @classmethod
    def of(cls, mapping: Any, path: str = "configuration") -> "MonitorConfig":
        """Read a mapping, as YAML, TOML or JSON give it."""
        top = Section(mapping, path, "")
        top.refuse_unknown(*KEYS)
        name = _required(top, "name", "a name of the monitor, as in shop")
        if not _NAME.fullmatch(name):
            raise top.error(
                "name", repr(name), "letters, digits, dots, hyphens and underscores, at most 80"
            )
        if not top.has("backend"):
            raise top.error("backend", "nothing", "a section `backend:` with its kind")
        qrels = JudgmentsSection.of(top)
        every = seconds_of(top, "every", 3600.0)
        rules = rules_of(top)
        policy = policy_of(top, ROUND_POLICY)
        _check_rules(top, rules, qrels)
        return cls(
            name=name,
            store=_required(top, "store", "a folder, as in runs/store"),
            backend=_backend(top, policy.timeout),
            queries=QueriesSection.of(top),
            qrels=qrels,
            evaluation=MeasuresSection.of(top.section("evaluation")),
            rules=rules,
            channels=channels_of(top, every),
            policy=policy,
            slices=top.text("slices", None),
            every=every,
            sample=top.number("sample", 1, least=10) if top.has("sample") else None,
            most_failed=top.amount("most_failed", 0.1, most=0.5),
            baseline=BaselineSection.of(top.section("baseline"), every=every),
            metrics=MetricsSection.of(top.section("metrics")),
        )


def _required(top: Section, key: str, expected: str) -> str:
    text = top.text(key, None)
    if text is None:
        raise top.error(key, "nothing", expected)
    return text


def _backend(top: Section, timeout: float) -> Section:
    """Section of the backend, which ends an attempt at the time limit of a round unless it has a
    limit of its own.
    """
    section = top.section("backend")
    return Section({"timeout": timeout, **section.given}, section.path, section.name)


def seconds_of(section: Section, key: str, default: float) -> float:
    """Read a duration: a number of seconds, or a number with s, m, h or d."""
    value = section.given.get(key, default)
    seconds = 0.0
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd]?)", str(value))
    if match is not None:
        number, unit = match.groups()
        seconds = float(number) * _SECONDS[unit or "s"]
    if not 0 < seconds < 1e8:
        raise section.error(key, repr(value), "a time above 0, as in 900, 15m, 1h or 1d")
    return seconds


def rules_of(top: Section) -> tuple[AlarmRule, ...]:
    """Read the list ``alarms``; without it, a sequential test, coverage and errors are watched."""
    entries = top.given.get("alarms")
    if entries is None:
        return tuple(RULES[kind](name=kind) for kind in _USUAL)
    if not isinstance(entries, Sequence) or isinstance(entries, str):
        raise top.error("alarms", repr(entries), "a list of alarms, as in `- kind: sequential`")
    rules = [
        _rule(Section(entry, top.path, f"alarms[{place}]"))
        for place, entry in enumerate(entries, start=1)
    ]
    names = [rule.name for rule in rules]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise top.error(
            "alarms", f"two alarms with the name {repeated!r}", "a key `name` that is unique"
        )
    return tuple(rules)


def _rule(section: Section) -> AlarmRule:
    if not section.has("kind"):
        raise section.error("kind", "nothing", f"one of {', '.join(RULES)}")
    kind = section.choice("kind", tuple(RULES))
    rule = RULES[kind]
    # users give the rate of false alarms, rules take the rounds between two of them
    keys = {"false_alarms" if own.name == "rounds" else own.name for own in fields(rule)}
    section.refuse_unknown("kind", *sorted(keys))
    values: dict[str, Any] = {"name": section.text("name", kind)}
    if not _NAME.fullmatch(str(values["name"])):
        raise section.error(
            "name",
            repr(values["name"]),
            "letters, digits, dots, hyphens and underscores, at most 80",
        )
    for key in section.given:
        if key not in ("kind", "name"):
            values["rounds" if key == "false_alarms" else key] = _value(section, key)
    if kind == "threshold" and "least" not in values:
        raise section.error("least", "nothing", "the least value that is no alarm")
    try:
        return rule(**values)
    except OptionError as error:
        raise OptionError(f"{section.path}: {section.name}: {error}") from None


def _value(section: Section, key: str) -> Any:
    if key == "signals":
        return _signals(section)
    if key == "recover":
        return section.number(key, 1)
    if key == "slices":
        return section.flag(key)
    if key == "severity":
        return section.choice(key, ("page", "ticket", "info"))
    if key == "quantile":
        return section.choice(key, ("p95", "p50", "p99"))
    if key == "false_alarms":
        return 1000 / section.amount(
            key, 1.0, least=0.001, most=100, unit="false alarms in 1,000 rounds"
        )
    least, most = _RANGES.get(key, (0.0, 1.0))
    return section.amount(key, 0.0, least=least, most=most)


# least and greatest number of each key of a rule; without an entry, from 0 to 1
_RANGES: Mapping[str, tuple[float, float]] = {
    "least": (-1e9, 1e9),
    "most_days": (0.0, 1e6),
    "most_ms": (0.0, 1e9),
    "confidence": (0.5, 0.999999),
    "allowance": (0.05, 10.0),
    "weight": (0.01, 1.0),
    "least_noise": (1e-9, 1.0),
    "tolerance": (0.0, 0.9),
}


def _signals(section: Section) -> tuple[int, int]:
    signals = section.given.get("signals")
    text = re.fullmatch(r"(\d{1,4}) of (\d{1,4})", signals) if isinstance(signals, str) else None
    pair: Any = [int(text[1]), int(text[2])] if text else signals
    if isinstance(pair, Sequence) and len(pair) == 2 and all(type(part) is int for part in pair):
        enough, among = pair
        if 1 <= enough <= among <= 1000:
            return enough, among
    raise section.error("signals", repr(signals), "two numbers, as in `2 of 3`")


def _check_rules(top: Section, rules: Sequence[AlarmRule], qrels: JudgmentsSection) -> None:
    for rule in rules:
        if qrels.people is not None and (rule.slices or rule.kind == "sequential"):
            what = "slices" if rule.slices else "a sequential test"
            raise OptionError(
                f"{top.path}: alarm {rule.name}: found {what} with grades of people for some "
                "queries, expected baseline, cusum, ewma or threshold over all queries, which use "
                "the corrected estimate"
            )
        if rule.slices and not top.has("slices"):
            raise top.error(
                "slices", "nothing", f"a file of slices, which the alarm {rule.name} watches"
            )
        if rule.slices and not rule.by_slice:
            raise OptionError(
                f"{top.path}: alarm {rule.name}: found slices, expected an alarm over all queries; "
                f"{rule.kind} knows no slices"
            )


def label_age(section: JudgmentsSection, file_time: float, now: datetime) -> float:
    """Return the age of the judgments in days; negative if they are dated in the future."""
    if section.judged is None:
        judged = datetime.fromtimestamp(file_time, UTC)
    else:
        judged = datetime.combine(section.judged, datetime.min.time(), UTC)
    return (now - judged).total_seconds() / 86400
