"""The schema of configurations and their readers, which are made from the same declarations, agree:
on what the pages show, and on what a change makes of it.
"""

import copy
import functools
import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import jsonschema
import pytest
import yaml

from idealrank._sections import Section
from idealrank.cli import main
from idealrank.errors import IdealrankError, OptionError
from idealrank.live.alerts.alarm_channels import CHANNELS
from idealrank.live.alerts.alarm_rules import RULES
from idealrank.live.backends import KINDS, backend_from, backend_schema
from idealrank.live.backends.secrets import Secrets
from idealrank.live.canary.monitor_config import MonitorConfig
from idealrank.live.commands import monitor as monitor_command
from idealrank.live.commands import run_judge as judge_command
from idealrank.live.commands import search as search_command
from idealrank.live.judges.callers import judge_from
from idealrank.live.judges.judge_configuration import JudgeConfig
from idealrank.live.search_configuration import SearchConfig
from idealrank.training.commands import train as train_command
from idealrank.training.configuration import TrainingConfig
from idealrank.training.neural_configuration import LOSSES
from tests.conftest import examples

Config = dict[str, Any]

SCHEMAS: dict[str, Callable[[], Config]] = {
    "search": SearchConfig.schema,
    "train": TrainingConfig.schema,
    "monitor": MonitorConfig.schema,
    "judge-run": JudgeConfig.schema,
}

WHOLE: dict[str, list[Config]] = {
    "search": [
        {
            "backend": {
                "kind": "http",
                "url": "http://127.0.0.1:1/_search",
                "method": "POST",
                "headers": {"x-key": "a"},
                "params": {"n": 5},
                "body": {"query": "{text}"},
                "hits": "hits.hits",
                "id": "_id",
                "score": "_score",
                "order": "score",
                "timeout": 3,
            },
            "queries": {"path": "queries.tsv", "vectors": "queries.npy"},
            "limit": 50,
            "concurrency": 8,
            "rate": 20.5,
            "timeout": 5,
            "retries": 0,
            "backoff": 0.1,
            "breaker": {"failures": 3, "pause": 1, "probes": 2},
            "seed": 4,
            "qrels": "qrels.txt",
            "evaluation": {"measures": ["nDCG@10", "AP"], "convention": "lightgbm"},
            "output": "a.run",
        },
        {
            "backend": {
                "kind": "function",
                "function": "json:loads",
                "takes": "vector",
                "order": "distance",
            },
            "queries": "queries.tsv",
        },
        {
            "backend": {
                "kind": "command",
                "command": ["cat", "-u"],
                "order": "score",
                "timeout": 1,
            },
            "queries": "queries.tsv",
        },
        {
            "backends": {
                "a": {"kind": "replay", "path": "answers.jsonl"},
                "b": {"kind": "replay", "path": "answers.jsonl"},
            },
            "queries": "q",
        },
        {
            "backend": {"kind": "replay", "sweep": {"path": ["answers.jsonl"]}},
            "queries": "queries.tsv",
            "evaluation": {"measures": "AP"},
        },
    ],
    "judge-run": [
        {
            "judge": {
                "kind": "openai",
                "url": "http://127.0.0.1:1/v1",
                "model": "tiny",
                "headers": {"x-team": "search"},
                "prompt": "prompt.txt",
                "system": "prompt.txt",
                "params": {"temperature": 0},
                "probabilities": True,
                "pattern": "Grade: ([0-9])",
                "name": "judge",
                "version": "2",
                "most_letters": 2000,
            },
            "pairs": "next.csv",
            "queries": "queries.tsv",
            "documents": "corpus.jsonl",
            "repeats": 3,
            "aggregate": "mean",
            "scale": {"grades": [0, 1, 2.5], "outside": "clip", "choose": "mean"},
            "most_failed": 0.1,
            "price": {"input": 0.15, "output": 0.6},
            "budget": 2,
            "qrels": "human.qrels",
            "output": "model.qrels",
            "cache": "a.jsonl",
            "concurrency": 8,
            "rate": 20.5,
            "timeout": 5,
            "retries": 0,
            "backoff": 0.1,
            "seed": 4,
            "breaker": {"failures": 3, "pause": 1, "probes": 2},
        },
        {
            "judge": {"kind": "function", "function": "json:loads", "takes": "ids"},
            "pairs": "next.csv",
            "scale": [0, 1],
        },
        {
            "judge": {"kind": "command", "command": ["cat", "-u"], "name": "judge", "version": "2"},
            "pairs": "next.csv",
        },
        {
            "judge": {"kind": "command", "command": "cat"},
            "pairs": "next.csv",
            "scale": {"0": "no", "1": "yes"},
        },
    ],
    "train": [
        {
            "data": {
                "train": "a.svm",
                "valid": "b.svm",
                "test_share": 0.2,
                "label": "grade",
                "qid": "query",
                "features": ["f1"],
            },
            "model": {
                "library": "lightgbm",
                "rounds": 50,
                "params": {"objective": "lambdarank", "num_leaves": 15},
            },
            "evaluation": {
                "measures": ["nDCG@10"],
                "convention": "lightgbm",
                "early_stopping": {"rounds": 10, "measure": "nDCG@10"},
            },
            "seeds": [1, 2],
            "output": "out",
        },
        {
            "data": {"train": "a.svm", "propensity": "a.shares"},
            "objective": {"measure": "pairs", "cutoff": 10},
        },
        {
            "data": {"train": "a.svm"},
            "model": {"library": "xgboost"},
            "evaluation": {"early_stopping": 5},
            "seed": 1,
        },
        {
            "data": {"train": "a.svm"},
            "model": {
                "library": "torch",
                "rounds": 5,
                "params": {
                    "hidden": [16, 8],
                    "activation": "gelu",
                    "dropout": 0.5,
                    "normalisation": "batch",
                    "transform": "log1p",
                    "optimiser": "adam",
                    "learning_rate": 1,
                    "weight_decay": 0.5,
                    "batch": 4,
                    "threads": 2,
                },
            },
            "objective": {
                "loss": "NeuralNDCGLoss",
                "cutoff": 5,
                "temperature": 0.5,
                "sinkhorn": 3,
                "samples": 2,
                "reduction": "sum",
            },
        },
        *(
            {
                "data": {"train": "a.svm"},
                "model": {"library": "torch"},
                "objective": {"loss": loss} | dict.fromkeys(numbers, 20),
            }
            for loss, options in LOSSES.items()
            if (
                numbers := [
                    name
                    for name in options
                    if name in ("temperature", "sigma", "branching", "pairs_at_once")
                ]
            )
            and "branching" not in options
        ),
    ],
    "monitor": [
        {
            "name": "shop",
            "store": "store",
            "backend": {"kind": "replay", "path": "answers.jsonl"},
            "queries": {"path": "queries.tsv"},
            "qrels": {"path": "canaries.qrels", "judged": "2026-05-01"},
            "evaluation": {"measures": ["nDCG@10"], "convention": "lightgbm"},
            "slices": "slices.csv",
            "every": "15m",
            "sample": 20,
            "most_failed": 0.2,
            "baseline": {"rounds": 20, "entry": "0123"},
            "metrics": {
                "port": 9464,
                "host": "127.0.0.1",
                "file": "a.prom",
                "names": ["monitor"],
                "otlp": "http://127.0.0.1:4318/v1",
            },
            "limit": 50,
            "concurrency": 8,
            "rate": 20.5,
            "timeout": 5,
            "retries": 0,
            "backoff": 0.1,
            "breaker": {"failures": 3, "pause": 1, "probes": 2},
            "seed": 4,
            "alarms": [
                {
                    "kind": "threshold",
                    "name": "floor",
                    "least": 0.6,
                    "margin": 0.02,
                    "signals": "2 of 3",
                    "recover": 2,
                    "slices": True,
                    "severity": "info",
                },
                {
                    "kind": "baseline",
                    "tolerance": 0.01,
                    "confidence": 0.95,
                    "signals": [2, 4],
                    "slices": True,
                },
                {
                    "kind": "sequential",
                    "false_alarms": 0.5,
                    "tolerance": 0.01,
                    "severity": "ticket",
                },
                {
                    "kind": "cusum",
                    "false_alarms": 2,
                    "allowance": 0.25,
                    "tolerance": 0.01,
                    "least_noise": 0.01,
                    "slices": True,
                },
                {
                    "kind": "ewma",
                    "false_alarms": 2,
                    "weight": 0.2,
                    "tolerance": 0,
                    "least_noise": 0.01,
                    "slices": False,
                },
                {"kind": "coverage", "least": 0.7, "margin": 0.05, "slices": False},
                {"kind": "labels", "most_days": 90, "signals": "1 of 1", "recover": 1},
                {"kind": "errors", "most": 0.1, "signals": "1000 of 1000"},
                {"kind": "latency", "most_ms": 500, "quantile": "p99"},
            ],
            "notify": [
                {"kind": "log", "name": "lines", "path": "alarms.jsonl"},
                {
                    "kind": "webhook",
                    "url": "https://example.org/hook",
                    "headers": {"x-team": "search"},
                },
                {
                    "kind": "alertmanager",
                    "url": "http://127.0.0.1:9093",
                    "headers": {"x-team": "search"},
                    "hold": 600,
                },
                {"kind": "apprise", "urls": ["mailto://a@example.org"]},
            ],
        },
        {
            "name": "shop",
            "store": "store",
            "backend": {"kind": "replay", "path": "answers.jsonl"},
            "queries": "queries.tsv",
            "qrels": {"path": "canaries.qrels", "people": "people.qrels"},
            "every": 900,
            "baseline": {"season": "1d"},
            "alarms": [
                {"kind": "cusum"},
                {"kind": "baseline"},
                {"kind": "threshold", "least": 0.5},
            ],
        },
        {
            "name": "shop",
            "store": "store",
            "backend": {"kind": "replay", "path": "answers.jsonl"},
            "queries": "queries.tsv",
            "qrels": "canaries.qrels",
            "every": 1.5,
            "notify": [{"kind": "log"}],
            "alarms": [],
        },
    ],
}


def read(command: str, given: Config) -> None:
    """Read a configuration, and the sections of its backends."""
    if command == "train":
        TrainingConfig.of(given)
        return
    if command == "judge-run":
        config = JudgeConfig.of(given)
        judge_from(config.judge, config.scale, config.policy.timeout, Secrets()).close()
        return
    if command == "monitor":
        backend_from(MonitorConfig.of(given).backend).close()
        return
    for section in SearchConfig.of(given).backends.values():
        backend_from(section).close()


@functools.cache
def validator(command: str) -> Any:
    schema = SCHEMAS[command]()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def documented() -> Iterator[tuple[str, str]]:
    """Examples of the help texts."""
    modules = {
        "search": search_command,
        "train": train_command,
        "monitor": monitor_command,
        "judge-run": judge_command,
    }
    for command, module in modules.items():
        for block in re.findall(r"\\b\n((?: {2,}.*\n)+)", module._EPILOG.replace("\b", "\\b")):
            if re.match(r" +(backend:\n|data:\n|name: |judge:\n)", block):
                yield command, "\n".join(line[2:] for line in block.splitlines())


def places(given: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Places of all values in sections, and in lists of sections."""
    items = (
        given.items()
        if isinstance(given, dict)
        else enumerate(given)
        if _has_sections(given)
        else ()
    )
    for key, value in items:
        yield (*path, key)
        yield from places(value, (*path, key))


def sections(given: Any) -> Iterator[tuple[Any, ...]]:
    """Places of all sections, and so of keys that are new there."""
    for place in ((), *places(given)):
        value = given
        for key in place:
            value = value[key]
        if isinstance(value, dict):
            yield place


def _has_sections(given: Any) -> bool:
    return isinstance(given, list) and any(isinstance(one, dict) for one in given)


def changed(given: Config, path: tuple[Any, ...], value: Any) -> Config:
    """A copy with another value at a place; without the key for `...`."""
    copied = copy.deepcopy(given)
    place = copied
    for key in path[:-1]:
        place = place[key]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return copied


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    # certificates take long, and nothing is asked
    monkeypatch.setattr(httpx, "Client", lambda **_: SimpleNamespace(close=lambda: None))
    (tmp_path / "prompt.txt").write_text("{query} {text}")
    (tmp_path / "answers.jsonl").write_text(
        '{"query": "q1", "documents": ["a"], "scores": [1.0]}\n'
    )
    return tmp_path


# Keys whose values are another program's, or are looked at only where they are used.
FREE = {
    ("model", "params"),
    ("backend", "body"),
    ("backend", "headers"),
    ("backend", "params"),
    ("backend", "sweep"),
    ("backends",),
    ("judge", "headers"),
    ("judge", "params"),
}
# But the parameters of our own neural ranker are in the schema.
OF_TORCH = {("model", "params")}
# What a schema cannot say, or says otherwise: a reader knows which values go together, and whether
# a file is there.
BEYOND = {
    ("backend", "function"),
    ("backend", "path"),
    ("evaluation", "measures"),
    ("evaluation", "convention"),
    ("evaluation", "early_stopping", "measure"),
    ("judge", "function"),
    ("judge", "command"),
    ("judge", "prompt"),
    ("judge", "system"),
    ("judge", "pattern"),
}
PACED = {("baseline", "season")}  # held to the pace of the rounds, another key
VALUES = [..., None, -1, 0, 1.5, True, "", "text", [], ["a", 3], {}, {"other": 1}]


@pytest.mark.spread(24)
@pytest.mark.parametrize(
    ("command", "given"), [(command, one) for command, many in WHOLE.items() for one in many]
)
def test_schema_and_reader_agree_on_each_change(command: str, given: Config, folder: Path) -> None:
    check = validator(command)
    assert list(check.iter_errors(given)) == []
    read(command, given)
    disagreed = []
    free_here = FREE - OF_TORCH if given.get("model", {}).get("library") == "torch" else FREE
    # in the default run each place has a third of the values, and its neighbours the others
    apart = 3 // examples(3)
    for number, path in enumerate(
        [*places(given), *((*section, "other") for section in sections(given))]
    ):
        if any(path[: len(free)] == free and len(path) >= len(free) for free in free_here):
            continue
        for value in VALUES[number % apart :: apart]:
            is_new = path[-1] == "other"
            if (is_new and value is ...) or (path in BEYOND and isinstance(value, str)):
                continue
            if path in PACED and isinstance(value, float):
                continue
            if path == ("objective",) and (value is ... or value is None):
                continue  # data of clicks need an objective
            mutated = changed(given, path, value)
            try:
                read(command, mutated)
                is_read = True
            except IdealrankError:
                is_read = False
            if is_read != check.is_valid(mutated):
                disagreed.append(
                    (path, value, "the reader takes it" if is_read else "the schema takes it")
                )
    assert disagreed == []


def test_documented_examples_are_valid_and_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TOKEN", "PASSWORD", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "secret")
    readers = {
        "search": SearchConfig.of,
        "train": TrainingConfig.of,
        "monitor": MonitorConfig.of,
        "judge-run": JudgeConfig.of,
    }
    found = list(documented())
    assert {command for command, _ in found} == set(readers)
    for command, text in found:
        given = yaml.safe_load(text)
        readers[command](given)
        # YAML reads days, for which JSON has texts
        as_text = json.loads(json.dumps(given, default=str))
        assert list(validator(command).iter_errors(as_text)) == []


def by_kind(schema: Config) -> dict[str, Config]:
    """Schema of each kind of a section."""
    kinds = {rule["then"]["properties"]["kind"]["const"]: rule["then"] for rule in schema["allOf"]}
    assert schema["properties"]["kind"]["enum"] == list(kinds)
    return kinds


def test_every_key_of_a_backend_that_a_schema_names_is_known_to_its_reader(folder: Path) -> None:
    kinds = by_kind(backend_schema())
    assert list(kinds) == list(KINDS)
    for kind, schema in kinds.items():
        with pytest.raises(OptionError) as caught:
            backend_from(Section({"kind": kind, "no such key": 1}, "a.yaml", "backend"))
        known = re.search(
            r"unknown key \"?'no such key'\"?, expected (.*?)(;|$)", str(caught.value)
        )
        assert known is not None
        assert set(known[1].split(", ")) == set(schema["properties"]) - {"sweep"}


@pytest.mark.parametrize(
    ("key", "kinds"), [("alarms", RULES), ("notify", CHANNELS)], ids=["alarms", "channels"]
)
def test_every_key_of_an_alarm_and_a_channel_is_in_the_schema(
    key: str, kinds: Iterable[str]
) -> None:
    schemas = by_kind(MonitorConfig.schema()["properties"][key]["items"])
    assert list(schemas) == list(kinds)
    usual = {one: value for one, value in WHOLE["monitor"][0].items() if one != key}
    for kind, schema in schemas.items():
        with pytest.raises(OptionError) as caught:
            MonitorConfig.of({**usual, key: [{"kind": kind, "no such key": 1}]})
        known = re.search(
            r"unknown key \"?'no such key'\"?, expected (.*?)(;|$)", str(caught.value)
        )
        assert known is not None
        assert set(known[1].split(", ")) == set(schema["properties"])


# Values at both sides of the limits that the schema states.
ALARMS: list[Config] = [
    {"kind": "threshold"},
    {"kind": "cusum", "allowance": 0.04},
    {"kind": "cusum", "allowance": 10},
    {"kind": "baseline", "confidence": 0.49},
    {"kind": "ewma", "weight": 1.01},
    {"kind": "sequential", "tolerance": 0.91},
    {"kind": "sequential", "false_alarms": 101},
    {"kind": "errors", "signals": "0 of 3"},
    {"kind": "errors", "signals": "3 of 1001"},
    {"kind": "errors", "signals": "0002 of 010"},
    {"kind": "labels", "slices": True},
    {"kind": "coverage", "slices": True},
    {"kind": "latency", "quantile": "p90"},
    {"kind": "errors", "name": "a b"},
]
CHANNELS_GIVEN: list[Config] = [
    {"kind": "apprise", "urls": []},
    {"kind": "log", "name": "a/b"},
    {"kind": "webhook", "url": "ftp://example.org"},
    {"kind": "webhook", "url": "http:///hook"},
    {"kind": "webhook", "url": "http://exa mple/"},
    {"kind": "webhook", "url": "http://a", "hold": 5},
    {"kind": "webhook", "url": "http://a", "headers": {"a": 1}},
    {"kind": "alertmanager", "url": "http://a", "hold": 0},
]
LIMITS: list[tuple[str, Any]] = [
    ("every", 1e8),
    ("every", 0.0001),
    ("every", "0m"),
    ("every", "1.5h"),
    ("rate", 1 / 86400),
    ("rate", 1e-6),
    ("timeout", 86401),
    ("sample", 9),
    ("most_failed", 0.51),
    ("limit", 0),
    ("baseline", {"rounds": 1}),
    ("baseline", {"season": "none"}),
    ("baseline", {"season": "day"}),
    ("metrics", {"port": 65536}),
    ("metrics", {"port": 65535}),
    ("metrics", {"otlp": "127.0.0.1:4318"}),
    ("metrics", {"otlp": "http:///v1"}),
    ("qrels", {"path": "a", "judged": "May"}),
    ("backend", {"kind": "replay", "sweep": {"path": ["answers.jsonl"]}}),
    *(("alarms", [one]) for one in ALARMS),
    *(("notify", [one]) for one in CHANNELS_GIVEN),
]


@pytest.mark.parametrize(("key", "value"), LIMITS)
def test_schema_and_reader_of_a_monitor_have_the_same_limits(
    key: str, value: Any, folder: Path
) -> None:
    given = {**WHOLE["monitor"][0], key: value}
    try:
        read("monitor", given)
        is_read = True
    except IdealrankError:
        is_read = False
    assert validator("monitor").is_valid(given) == is_read


def test_a_monitor_whose_alarms_watch_slices_needs_a_file_of_them(folder: Path) -> None:
    without = {key: value for key, value in WHOLE["monitor"][0].items() if key != "slices"}
    with pytest.raises(OptionError, match="slices: found nothing"):
        MonitorConfig.of(without)
    (error,) = validator("monitor").iter_errors(without)
    assert "'slices' is a required property" in error.message


@pytest.mark.parametrize("alarm", [{"kind": "sequential"}, {"kind": "cusum", "slices": True}, None])
def test_grades_of_people_go_with_alarms_over_all_queries(
    alarm: Config | None, folder: Path
) -> None:
    given = {**WHOLE["monitor"][1], "slices": "slices.csv", "alarms": [alarm]}
    if alarm is None:
        del given["alarms"]  # the usual ones have a sequential test
    with pytest.raises(OptionError, match="grades of people"):
        MonitorConfig.of(given)
    assert not validator("monitor").is_valid(given)


@pytest.mark.parametrize("command", ["search", "train", "monitor", "judge-run"])
def test_commands_print_their_schema(command: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main.run([*command.split("-"), "--schema"]) == 0
    assert json.loads(capfd.readouterr().out) == SCHEMAS[command]()
