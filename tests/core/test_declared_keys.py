"""Every key of every configuration: a wrong value is refused by a message that names the file and
the key, null is the default for reader and schema, and a sentence says what the key is.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema
import pytest

from idealrank import _keys
from idealrank._sections import Section
from idealrank.cli import main
from idealrank.errors import IdealrankError
from idealrank.io.gate_files.gate_policies import PolicyFile, find_policy
from idealrank.live.alerts.alarm_channels import CHANNELS
from idealrank.live.alerts.alarm_rules import RULES, alarm_schema
from idealrank.live.backends import KINDS
from idealrank.live.canary.monitor_config import MonitorConfig
from idealrank.live.judges.callers import KINDS as JUDGES
from idealrank.live.judges.judge_configuration import JudgeConfig
from idealrank.live.search_configuration import SearchConfig
from idealrank.training.configuration import TrainingConfig
from idealrank.training.neural_configuration import LOSSES

FILES = ("qrels", "run", "queries", "documents", "contracts", "weights", "cluster")  # of a gate
Given = dict[str, Any]
Schema = dict[str, Any]


class Kind(NamedTuple):
    """A configuration, or a section with a kind."""

    schema: Schema
    needed: Given
    read: Callable[[Given], object]
    place: str = ""  # Start of its keys in messages


MONITOR: Given = {
    "name": "shop",
    "store": "store",
    "backend": {"kind": "replay", "path": "a.jsonl"},
    "queries": "q.tsv",
    "qrels": "a.qrels",
    "slices": "slices.csv",
}
TRAIN: Given = {"data": {"train": "a.svm"}}
TORCH: Given = TRAIN | {"model": {"library": "torch"}}
CLICKS: Given = {"data": {"train": "a.svm", "position": "rank"}, "objective": {}}
SAMPLES = {"retriever": "engine.py:Engine"}  # by the name of a key that a section needs
WRONG: list[Any] = [{"no": [1]}, [[1]], [], True, -1.0, 1e30, "", "no such value\0"]
"""Values of each type; a key is given those that its schema refuses."""


def kinds() -> Iterator[tuple[str, Kind]]:
    search = {"backend": {"kind": "replay", "path": "a.jsonl"}, "queries": "q.tsv"}
    judge = {
        "judge": {"kind": "function", "function": "json:loads"},
        "pairs": "next.csv",
        "scale": {"grades": [0, 1]},
    }
    train = TrainingConfig.schema()
    yield "search", Kind(SearchConfig.schema(), search, _searches)
    yield "judge run", Kind(JudgeConfig.schema(), judge, _judge)
    yield "monitor", Kind(MonitorConfig.schema(), MONITOR, _monitor)
    yield "train", Kind(train, TRAIN, _of(TrainingConfig))
    own = train["else"]["properties"]["objective"]
    yield "objective", Kind(own, {}, _objective(CLICKS), "objective")
    network = train["then"]["properties"]["model"]["properties"]["params"]
    yield "network", Kind(network, {}, _network, "model.params")
    losses = train["then"]["properties"]["objective"]["oneOf"]
    for loss, schema in zip(LOSSES, losses[:-1], strict=True):  # the last is null
        yield loss, Kind(schema, {"loss": loss}, _objective(TORCH), "objective")
    yield "gate", Kind(_keys.schema_of(PolicyFile), {}, _gate)
    for kind, module in KINDS.items():
        yield _section(f"backend {kind}", import_module(module).SECTIONS[kind], "backend")
    for kind, keys in JUDGES.items():
        yield _section(f"judge {kind}", keys, "judge")
    for key, many in (("alarms", RULES), ("notify", CHANNELS)):
        for kind, keys in many.items():
            yield _listed(key, kind, keys)


def _of(config: Any) -> Callable[[Given], object]:
    return lambda given: config.of(given, "a.yaml")


def _searches(given: Given) -> object:
    if given.get("backends") is not None:
        given = {key: value for key, value in given.items() if key != "backend"}
    return [section.kind(KINDS) for section in SearchConfig.of(given, "a.yaml").backends.values()]


def _monitor(given: Given) -> object:
    return MonitorConfig.of(given, "a.yaml").backend.kind(KINDS)


def _judge(given: Given) -> object:
    return JudgeConfig.of(given, "a.yaml").judge.kind(JUDGES)


def _objective(given: Given) -> Callable[[Given], object]:
    return lambda objective: TrainingConfig.of(given | {"objective": objective}, "a.yaml")


def _network(params: Given) -> object:
    return TrainingConfig.of(TRAIN | {"model": {"library": "torch", "params": params}}, "a.yaml")


def _gate(given: Given) -> object:
    table = "\n".join(f"{name} = {toml(value)}" for name, value in given.items())
    Path("pyproject.toml").write_text(f"[tool.idealrank.gate]\n{table}\n", encoding="utf-8")
    return find_policy(Path.cwd())


def _section(name: str, keys: type, place: str) -> tuple[str, Kind]:
    kind = name.split()[1]

    def read(given: Given) -> object:
        return _keys.read(keys, Section(given, "a.yaml", place), known=("kind",))

    schema = _keys.schema_of(keys, kind)
    return name, Kind(schema, needed_of(schema), read, place)


def _listed(key: str, kind: str, keys: type) -> tuple[str, Kind]:
    schemas = alarm_schema() if key == "alarms" else MonitorConfig.schema()["properties"][key]
    rules = schemas["allOf"] if key == "alarms" else schemas["items"]["allOf"]
    schema = next(r["then"] for r in rules if r["then"]["properties"]["kind"]["const"] == kind)

    def read(given: Given) -> object:
        return MonitorConfig.of(MONITOR | {key: [given]}, "a.yaml")

    return f"{key} {kind}", Kind(schema, needed_of(schema), read, f"{key}[1]")


def needed_of(schema: Schema) -> Given:
    """Values of the keys that a section needs."""
    properties = schema["properties"]
    return {name: SAMPLES.get(name) or sample(properties[name]) for name in schema["required"]}


def sample(schema: Schema) -> Any:
    if "const" in schema:
        return schema["const"]
    if "anyOf" in schema:
        return sample(schema["anyOf"][0])
    if schema.get("type") in ("number", "integer"):
        return 1
    if schema.get("type") == "object":
        return {}
    return "http://a" if "http" in schema.get("pattern", "") else "json:loads"


def toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {toml(part)}" for name, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value)


def keys_in(schema: Schema, place: str = "") -> Iterator[tuple[str, Schema, bool]]:
    """Keys of a section and below it, with their schemas; True for a key that is needed."""
    for name, value in schema["properties"].items():
        if "const" in value or value.get("enum") == [False, None]:
            continue
        yield f"{place}{name}", value, name in schema.get("required", ())
        for part in (value, *value.get("anyOf", ())):
            if "properties" in part:
                yield from keys_in(part, f"{place}{name}.")


ALL = dict(kinds())
DOCUMENTS: dict[str, Callable[[], Schema]] = {
    "search": SearchConfig.schema,
    "monitor": MonitorConfig.schema,
    "judge run": JudgeConfig.schema,
    "train": TrainingConfig.schema,
    "gate": lambda: _keys.schema_of(PolicyFile),
}
CASES = [(name, *case) for name, kind in ALL.items() for case in keys_in(kind.schema)]
EACH_KEY = pytest.mark.parametrize(
    ("name", "key", "schema", "is_needed"), CASES, ids=[f"{case[0]}: {case[1]}" for case in CASES]
)


def changed(given: Mapping[str, Any], key: str, value: Any) -> Given:
    """A copy with a value at a key with dots."""
    name, _, rest = key.partition(".")
    if rest:
        below = given.get(name)
        whole = below if isinstance(below, dict) else {"path": below} if below else {}
        value = changed(whole, rest, value)
    return {**given, name: value}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "json:loads").write_text("")
    (tmp_path / "engine.py").write_text("class Engine:\n    def invoke(self, text): ...\n")


@EACH_KEY
def test_a_wrong_value_is_refused_with_file_and_key(
    name: str, key: str, schema: Schema, is_needed: bool
) -> None:
    kind = ALL[name]
    whole = {"$defs": kind.schema.get("$defs", {}), **schema}
    wrong = [v for v in WRONG if not jsonschema.Draft202012Validator(whole).is_valid(v)]
    if (name, key) == ("judge openai", "key"):  # looked at before the environment has filled it in
        wrong = [value for value in wrong if not isinstance(value, str)]
    for value in wrong:
        with pytest.raises(IdealrankError) as caught:
            kind.read(changed(kind.needed, key, value))
        message = str(caught.value)
        file = "pyproject.toml: [tool.idealrank.gate]: " if name == "gate" else "a.yaml: "
        assert message.startswith(f"{file}{'.'.join(filter(None, (kind.place, key)))}"), value
        assert "expected" in message


@EACH_KEY
def test_null_is_the_default_of_a_key_that_may_be_missing(
    name: str, key: str, schema: Schema, is_needed: bool
) -> None:
    kind = ALL[name]
    null = changed(kind.needed, key, None)
    # or `backends`, or `data.folds`
    is_needed = is_needed or (name, key) in (("search", "backend"), ("train", "data.train"))
    is_valid = jsonschema.Draft202012Validator(kind.schema).is_valid(null)
    assert is_valid != is_needed or name == "gate"  # TOML has no null
    if name != "gate" and not is_needed:
        kind.read(null)


def declarations(schema: Any) -> Iterator[tuple[str, Schema]]:
    """Keys of every section in a schema; a part that only sets a condition is no section."""
    if isinstance(schema, list):
        for part in schema:
            yield from declarations(part)
    elif isinstance(schema, dict):
        if schema.get("additionalProperties") is False or "kind" in schema.get("required", ()):
            yield from schema["properties"].items()
        for part in schema.values():
            yield from declarations(part)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_key_of_a_schema_has_a_sentence(name: str) -> None:
    declared = list(declarations(DOCUMENTS[name]()))
    assert declared
    for key, schema in declared:
        # `kind` stands in each kind with its one value, and once with its sentence and all values
        if key == "kind" and "enum" not in schema:
            continue
        sentence = schema.get("description", "")
        assert re.fullmatch(r"[A-Z].*[^.]\.(\.\.)?", sentence), f"{key}: {sentence!r}"
        assert len(sentence.split()) > 1, f"{key}: {sentence!r} says no more than the key"


@pytest.mark.parametrize(
    ("name", "key", "value", "message"),
    [
        ("search", "evaluation.measures", ["nDCG@10", "APP"], "unknown measure 'APP'"),
        ("search", "evaluation.convention", "nope", "unknown convention 'nope', expected one of"),
        ("monitor", "evaluation.measures", "APP", "unknown measure 'APP'"),
        ("train", "evaluation.convention", "nope", "unknown convention 'nope', expected one of"),
        ("train", "evaluation.early_stopping.measure", "APP", "unknown measure 'APP'"),
        ("gate", "holdout", 3.0, "found 3.0, expected a share of the queries"),
        ("gate", "sampled_negatives", 2.0, "found 2.0, expected a number from 0 to 1"),
    ],
)
def test_a_value_that_its_schema_cannot_refuse_is_refused_with_file_and_key(
    name: str, key: str, value: Any, message: str
) -> None:
    kind = ALL[name]
    file = "pyproject.toml: [tool.idealrank.gate]" if name == "gate" else "a.yaml"
    with pytest.raises(IdealrankError, match=re.escape(f"{file}: {key}: {message}")):
        kind.read(changed(kind.needed, key, value))


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("measures", "APP", "measures: unknown measure 'APP'"),
        ("convention", "nope", "convention: unknown convention 'nope'"),
        ("margin", 2.0, "margin=2.0: found a gate that is not strict"),
        *(
            (key, "nofile", f"{key}: found no file nofile, expected one that exists")
            for key in FILES
        ),
    ],
)
def test_a_gate_refuses_a_value_of_its_policy_before_it_reads_data(
    key: str, value: Any, message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("a.qrels").write_text("q 0 d 1\n", encoding="utf-8")
    Path("a.run").write_text("q Q0 d 1 1.0 a\n", encoding="utf-8")
    _gate({"qrels": "a.qrels", "run": "a.run", "baseline": "a.run", key: value})
    assert main.run(["gate"]) == 2
    assert f"pyproject.toml [tool.idealrank.gate]: {message}" in " ".join(
        capfd.readouterr().err.split()
    )
