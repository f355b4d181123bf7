"""`idealrank monitor`: canary queries in rounds, with alarms that know noise."""

import json
from typing import TYPE_CHECKING, Any

import click

from idealrank._sections import Section
from idealrank.cli import console, headings, options, output
from idealrank.cli.output import Formats
from idealrank.io.configuration_files import read_configuration, require_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from idealrank.live.monitoring import StoredAlarm, StoredRound

_ALARM, _NO_VALUE = 1, 3  # exit codes

_EPILOG = """\
Examples:

\b
  idealrank monitor monitor.yaml --check
  idealrank monitor monitor.yaml --once
  idealrank monitor monitor.yaml

A configuration, here for a table of SQLite's full-text search:

\b
  name: shop
  store: runs/store            # rounds, alarms and messages
  backend: {kind: sqlite-fts5, path: shop.db, table: documents, id: id}
  queries: canaries.tsv
  qrels: {path: canaries.qrels, judged: 2026-05-01}
  evaluation: {measures: [nDCG@10]}
  slices: slices.csv           # optional: query and slice
  every: 15m
  baseline: {season: 1d}       # two days of rounds; or {rounds: 30, season: none}
  alarms:
    - {kind: threshold, least: 0.60, signals: 2 of 3}
    - {kind: sequential, tolerance: 0.005, false_alarms: 1}   # in 1,000 rounds
    - {kind: cusum, slices: true}
    - {kind: coverage, least: 0.8}
    - {kind: labels, most_days: 180}
    - {kind: errors, most: 0.05}
  notify:
    - {kind: log, path: alarms.jsonl}
    - {kind: webhook, url: "https://example.org/hook", headers: {Authorization: "Bearer ${TOKEN}"}}
    - {kind: alertmanager, url: "http://127.0.0.1:9093"}
    - {kind: apprise, urls: ["mailto://user:${PASSWORD}@example.org"]}
  metrics: {port: 9464}        # or {file: idealrank.prom}, {otlp: ADDRESS}

Further kinds of alarms: baseline, ewma, latency. The keys limit, concurrency and rate: see
`search`. Rounds are impatient: timeout 5, retries 0, breaker {failures: 3, pause: 1, probes: 2} by
default.

With --once: 0 no alarm is open, 1 an alarm is open, 3 the round has no value, as when the engine is
down, and no alarm is open.
"""


def _schema() -> dict[str, Any]:
    from idealrank.live.canary.monitor_config import MonitorConfig  # noqa: PLC0415  (help needs none of it)

    return MonitorConfig.schema()


class _Notes:
    """Notes on stderr."""

    def __call__(self, text: str) -> None:
        console.say("note", text)


def _once(watched: Any, store: Any, layout: str, *, say: Any) -> None:
    from idealrank.live.canary.monitor_loop import refresh_metrics  # noqa: PLC0415  (help needs none of it)

    rounds = watched.run_round(store)
    refresh_metrics(store, watched.config.metrics, say)
    alarms = watched.open_alarms(store)
    _FORMATS.write(layout, None, rounds[-1], alarms)
    if alarms:
        raise click.exceptions.Exit(_ALARM)
    if rounds[-1].outcome != "complete":
        raise click.exceptions.Exit(_NO_VALUE)


def _text(stored: "StoredRound", alarms: "Sequence[StoredAlarm]") -> "Iterator[str]":
    title = f"{stored.time[:19]}Z {stored.monitor} round {stored.number}"
    yield f"{title}: {_numbers(stored)}\n"
    for alarm in alarms:
        group = f" (slice {alarm.slice})" if alarm.slice else ""
        reading = stored.record.get("readings", {}).get(f"{alarm.rule}/{alarm.slice}", {})
        since = f"  alarm {alarm.rule}{group} since round {alarm.opened}"
        yield f"{since}: {reading.get('text', '')}{_end_of(reading)}\n"


def _end_of(reading: "Mapping[str, Any]") -> str:
    """Calm rounds after which an open alarm closes; empty if an earlier version stored none."""
    if "recover" not in reading:
        return ""
    rounds = "calm round" if reading["recover"] == 1 else "calm rounds in a row"
    so_far = f", {reading['calm']} so far" if reading["calm"] else ""
    return f"; closes after {reading['recover']} {rounds}{so_far}"


def _json(stored: "StoredRound", alarms: "Sequence[StoredAlarm]") -> str:
    fields = {
        "monitor": stored.monitor,
        "round": stored.number,
        "time": stored.time,
        "outcome": stored.outcome,
        "evaluation": stored.evaluation,
        **stored.record,
        "alarms": [alarm.id for alarm in alarms],
    }
    return json.dumps(fields, ensure_ascii=False) + "\n"


def _numbers(stored: "StoredRound") -> str:
    record = stored.record
    facts: list[str] = [stored.outcome]
    if record.get("value") is not None:
        interval = ""
        if record.get("low") is not None:
            interval = f" [{record['low']:.4f}, {record['high']:.4f}]"
        facts = [f"{record['measure']} {record['value']:.4f}{interval}"]
    if record.get("coverage") is not None:
        facts.append(f"judged {100 * record['coverage']:.1f} %")
    facts.append(f"failed {100 * record.get('failed', 0):.1f} %")
    facts += _trouble(record)
    if record.get("empty"):
        facts.append(f"{record['empty']} of {record['queries']} answers empty")
    if "p95" in record.get("latency", {}):
        facts.append(f"p95 {record['latency']['p95']:.0f} ms")
    if record.get("baseline", "known") != "known":
        facts.append(f"baseline {record['baseline']}")
    facts += record.get("problems", [])[:1]
    return ", ".join(facts)


def _trouble(record: "Mapping[str, Any]") -> list[str]:
    """Failed attempts, with or without a later answer, and pauses of a round in words."""
    facts = []
    if failed := record.get("failed_attempts", 0):
        late = f" ({record['timed_out']} timed out)" if record["timed_out"] else ""
        facts.append(f"{failed} of {record['attempts']} attempts failed{late}")
    if record.get("paused"):
        facts.append(f"paused for {record['paused']:.1f} s")
    return facts


_FORMATS = Formats("Text to read,", {"json": "with one object per round"}, table=_text, json=_json)


@headings.command(
    epilog=_EPILOG,
    short_help="Watch a search engine by canary queries, with alarms that know noise.",
)
@click.argument("config")
@click.option(
    "--once",
    is_flag=True,
    help="Run one round, and tell by the exit code whether an alarm is open.",
)
@_FORMATS.option
@click.option(
    "--rebaseline",
    is_flag=True,
    help="Learn the baseline anew from the next round on; open alarms against the old one end.",
)
@click.option("--check", is_flag=True, help="Only check the configuration and its files.")
@options.schema(_schema)
def monitor(*, config: str, once: bool, layout: str, rebaseline: bool, check: bool) -> None:
    """Ask the canary queries of CONFIG (YAML, TOML or JSON) in rounds, and raise an alarm if the
    engine gets worse.

    Each round is stored with its alarms and messages, all at once. A round in which too many
    queries fail has no value: it opens an alarm of errors, and never closes an alarm of quality.
    """
    from idealrank.live.alerts.round_metrics import telemetry  # noqa: PLC0415  (help needs none of it)
    from idealrank.live.canary import canary_rounds, monitor_loop  # noqa: PLC0415
    from idealrank.live.canary.monitor_config import MonitorConfig  # noqa: PLC0415
    from idealrank.store.store import Store  # noqa: PLC0415

    mapping = read_configuration(config, "monitor")
    chosen = MonitorConfig.of(mapping, config)
    require_files(MonitorConfig, Section(mapping, config, ""))
    say = _Notes()
    watched = canary_rounds.CanaryMonitor(chosen, command=f"idealrank monitor {config}", say=say)
    if check:
        watched.check_backend()
        rules = ", ".join(rule.name for rule in chosen.rules)
        output.write([f"{config}: {len(watched.queries)} canary queries; alarms {rules}\n"], None)
        return
    if rebaseline:
        watched.rebaseline()
    with Store.open(chosen.store) as store, canary_rounds.only_process(store, chosen.name):
        watched.check_backend(store)
        if once:
            with telemetry(chosen.store, chosen.metrics.otlp):
                _once(watched, store, layout, say=say)
            return
        with (
            telemetry(chosen.store, chosen.metrics.otlp),
            monitor_loop.metrics_server(chosen.store, chosen.metrics) as port,
        ):
            if port is not None:
                say(f"metrics on http://{chosen.metrics.host}:{port}/metrics")
            monitor_loop.watch_rounds(
                watched,
                store,
                lambda stored: _FORMATS.write(layout, None, stored, watched.open_alarms(store)),
                say=say,
            )
