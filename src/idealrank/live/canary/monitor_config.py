"""Configuration of a monitor, from a mapping; checked before an engine is asked."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, ClassVar

from idealrank._keys import (
    Schema,
    amount,
    choice,
    document,
    file_to_read,
    has_value,
    key,
    level,
    part,
    part_or_text,
    schema_of,
    text,
    texts,
    values_of,
    whole,
)
from idealrank._sections import Section
from idealrank.data.label_kinds import LABEL_KINDS, LabelKind
from idealrank.errors import OptionError
from idealrank.io.configuration_files import labels_key
from idealrank.live.alerts.alarm_channels import (
    Channel,
    can_be_asked,
    channel_schema,
    channels_of,
)
from idealrank.live.alerts.alarm_rules import (
    NAME,
    NAME_WORDS,
    RULES,
    AlarmRule,
    alarm_schema,
)
from idealrank.live.alerts.learned_baselines import Season
from idealrank.live.backends import backend_schema
from idealrank.live.request_jobs import BreakerPolicy, SearchPolicy
from idealrank.live.search_configuration import MeasuresSection, QueriesSection, queries_key

_LONGEST_TIME = 1e8  # seconds, about three years: a longer one is a mistake
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


def _day(section: Section, name: str) -> date:
    day = section.given[name]
    if isinstance(day, date) and not isinstance(day, datetime):
        return day  # YAML reads dates by itself
    try:
        return date.fromisoformat(section.given[name])
    except (TypeError, ValueError):
        raise section.error(name, repr(day), "a day, as in 2026-05-01") from None


@dataclass(frozen=True, kw_only=True)
class JudgmentsSection:
    """Judgments of the canary queries."""

    path: str = file_to_read(
        "File of judgments.", expected="a file of judgments, as in canaries.qrels"
    )
    judged: date | None = key(
        about="Day of the judgments; default the time of the file.",
        read=_day,
        schema=lambda: {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"},
    )
    people: str | None = file_to_read(
        "Grades of people for some of the queries, where a model made the others."
    )
    labels: str = labels_key()
    labels_are: LabelKind | None = choice(
        LABEL_KINDS, "Kind of the labels; default found in the grades.", None
    )


_TIMES = (
    {"type": "number", "minimum": 0.0001, "exclusiveMaximum": _LONGEST_TIME},
    # a digit other than 0 makes the time longer than none
    {"type": "string", "pattern": r"^(?=.*[1-9])\d+(\.\d+)?[smhd]?$"},
)
"""Schemas of a duration."""


def _season_text(section: Section, name: str) -> str:
    season = section.given[name]
    if season == "none":
        return "none"
    seconds_of(section, name, 0.0)
    return str(season)


@dataclass(frozen=True, kw_only=True)
class BaselineSection:
    """Section ``baseline``: the source of the baseline."""

    rounds: int = whole("First complete rounds to learn the baseline from.", 30, least=2)
    entry: str | None = text("Evaluation of the store to take the values from.")
    # Cycle of the values that the baseline learns: the declared one, or else the longest of a week
    # and a day of which the rounds cover two
    season: Season | None = None
    declared: str | None = key(
        name="season",
        about="Cycle of the values, as in 1d or 7d, of which the baseline covers two; none if "
        "there is none.",
        read=_season_text,
        schema=lambda: {"anyOf": [{"const": "none"}, *_TIMES]},
    )

    @classmethod
    def of(cls, section: Section, *, every: float) -> "BaselineSection":
        """Read the section of a monitor with a round every so many seconds."""
        values = values_of(cls, section)
        declared = values.get("declared")
        if declared is None or declared == "none":
            rounds = values.get("rounds", cls.rounds)
            return cls(**values, season=None if declared else _covered_season(rounds, every))

        seconds = seconds_of(section, "season", 0.0)
        if seconds < 2 * every:
            raise section.error(
                "season",
                repr(section.given["season"]),
                f"a season of at least two rounds, which are {every:g} s apart, or none",
            )
        fewest = math.ceil(_SEASONS_IN_BASELINE * seconds / every)
        rounds = values.setdefault("rounds", max(cls.rounds, fewest))
        if rounds < fewest:
            raise section.error(
                "rounds", str(rounds), f"{fewest} or more, which cover two seasons of {declared}"
            )
        return cls(**values, season=Season.of(seconds, every=every))


def _covered_season(rounds: int, every: float) -> Season | None:
    """Longest usual season of which the rounds cover two; None if there is none."""
    for seconds in _USUAL_SEASONS:
        if rounds * every >= _SEASONS_IN_BASELINE * seconds and seconds >= 2 * every:
            return Season.of(seconds, every=every)
    return None


@dataclass(frozen=True, kw_only=True)
class MetricsSection:
    """Section ``metrics``: how Prometheus and OpenTelemetry get the metrics."""

    port: int | None = whole("Port of /metrics while the monitor runs.", least=0, most=65535)
    host: str = text("Address to listen on.", "127.0.0.1")
    # Written after each round
    file: str | None = text("File for the textfile collector of node_exporter.")
    # Such as the name of a service
    names: tuple[str, ...] = texts("Further names of this host that requests may use.")
    otlp: str | None = text(
        "Address that takes metrics of OpenTelemetry by OTLP over HTTP, as in "
        "http://127.0.0.1:4318/v1/metrics.",
        pattern=r"^https?://[^/?#\s][!-~]*$",
        is_valid=can_be_asked,
        words="an address such as http://127.0.0.1:4318/v1/metrics",
    )


_WATCHES_SLICES: Schema = {"properties": {"slices": {"const": True}}, "required": ["slices"]}
_IS_SEQUENTIAL: Schema = {"properties": {"kind": {"const": "sequential"}}, "required": ["kind"]}


@dataclass(frozen=True, kw_only=True)
class MonitorConfig:
    """Configuration of a monitor."""

    schema_rules: ClassVar[Schema] = {
        "allOf": [
            {
                "if": has_value("alarms", {"contains": _WATCHES_SLICES}),
                "then": has_value("slices"),
            },
            {
                "if": has_value("qrels", {"type": "object", **has_value("people")}),
                "then": has_value(
                    "alarms", {"items": {"not": {"anyOf": [_WATCHES_SLICES, _IS_SEQUENTIAL]}}}
                ),
            },
        ]
    }
    name: str = text(
        "Name of the monitor in the store and in all messages.",
        pattern=NAME,
        words=NAME_WORDS,
        expected="a name of the monitor, as in shop",
    )
    store: str = text("Folder of the store.", expected="a folder, as in runs/store")
    backend: Section = key(
        about="Engine to watch.",
        read=lambda top, name: top.section(name),
        schema=lambda: {
            "allOf": [{"$ref": "#/$defs/backend"}],
            "not": {"required": ["sweep"]},
        },
        expected="a section `backend:` with its kind",
    )
    queries: QueriesSection = queries_key()
    qrels: JudgmentsSection = part_or_text(
        JudgmentsSection,
        "path",
        "File of judgments, or a section with the file and what is known of it.",
        expected="a file of judgments, as in canaries.qrels",
    )
    evaluation: MeasuresSection = part(
        MeasuresSection,
        "Measures of each round, of which the first is watched, and their convention.",
    )
    slices: str | None = file_to_read("File with the slices of each query.")
    every: float = key(
        3600.0,
        about="Time between the starts of two rounds: seconds, or as in 15m, 1h or 1d.",
        read=lambda top, name: seconds_of(top, name, 3600.0),
        schema=lambda: {"anyOf": list(_TIMES)},
    )
    sample: int | None = whole(
        "Queries of each round after the baseline is known, drawn at random.", least=10
    )
    most_failed: float = amount(
        "Share of failed queries up to which a round has a value.", 0.1, most=0.5
    )
    # The pace of the rounds decides about the baseline, and how long channels hold an alarm
    baseline: BaselineSection = key(
        BaselineSection,
        about="Source of the values that rounds are compared with.",
        schema=lambda: schema_of(BaselineSection),
    )
    rules: tuple[AlarmRule, ...] = key(
        (),
        name="alarms",
        about="Alarms to watch; default a sequential test, coverage and errors.",
        schema=lambda: {"type": "array", "items": alarm_schema()},
    )
    channels: tuple[Channel, ...] = key(
        (),
        name="notify",
        about="Channels that carry messages about alarms; default JSON lines on standard error.",
        schema=lambda: {"type": "array", "items": channel_schema()},
    )
    metrics: MetricsSection = part(MetricsSection, "Metrics for Prometheus and OpenTelemetry.")
    policy: SearchPolicy = level(SearchPolicy, ROUND_POLICY)

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
        values = values_of(cls, top)
        every = values.get("every", cls.every)
        values["rules"] = rules_of(top)
        _check_rules(top, values["rules"], values["qrels"])
        values["backend"] = _with_time_limit(values["backend"], values["policy"].timeout)
        values["channels"] = channels_of(top, every)
        values["baseline"] = BaselineSection.of(top.section("baseline"), every=every)
        return cls(**values)

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of a configuration."""
        return document("idealrank monitor", cls, backend=backend_schema())


def _with_time_limit(section: Section, timeout: float) -> Section:
    """Section of the backend, which ends an attempt at the time limit of a round unless it has a
    limit of its own.
    """
    content = dict(section.given)
    if not section.has("timeout"):
        content["timeout"] = timeout
    return Section(content, section.path, section.name)


def seconds_of(section: Section, key: str, default: float) -> float:
    """Read a duration: a number of seconds, or a number with s, m, h or d."""
    value = section.given.get(key, default)
    seconds = 0.0
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd]?)", str(value))
    if match is not None:
        number, unit = match.groups()
        seconds = float(number) * _SECONDS[unit or "s"]
    if not 0 < seconds < _LONGEST_TIME:
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
    kind = section.kind(RULES)
    values = values_of(RULES[kind], section, known=("kind",))
    values.setdefault("name", kind)
    try:
        return RULES[kind](**values)
    except OptionError as error:
        raise OptionError(f"{section.path}: {section.name}: {error}") from None


def _check_rules(top: Section, rules: Sequence[AlarmRule], qrels: JudgmentsSection) -> None:
    for rule in rules:
        if qrels.people is not None and (rule.slices or rule.kind == "sequential"):
            refused = "slices" if rule.slices else "a sequential test"
            raise OptionError(
                f"{top.path}: alarm {rule.name}: found {refused} with grades of people for some "
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
