"""The schema of configurations and their readers agree: on what the pages show, and on what a change makes of it."""

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import jsonschema
import pytest
import yaml

from idealrank._sections import Section
from idealrank.cli import main
from idealrank.cli.commands import search as search_command
from idealrank.cli.commands import train as train_command
from idealrank.errors import IdealrankError, OptionError
from idealrank.io.configuration_files import configuration_schema
from idealrank.live.backends import KINDS, backend_from
from idealrank.live.search_configuration import SearchConfig
from idealrank.training.configuration import TrainingConfig
from idealrank.training.neural_configuration import LOSSES

Config = dict[str, Any]

WHOLE: dict[str, list[Config]] = {
    "search": [
        {
            "backend": {
                "kind": "http", "url": "http://127.0.0.1:1/_search", "method": "POST", "headers": {"x-key": "a"}, "params": {"n": 5},
                "body": {"query": "{text}"}, "hits": "hits.hits", "id": "_id", "score": "_score", "order": "score", "timeout": 3,
            },
            "queries": {"path": "queries.tsv", "vectors": "queries.npy"}, "limit": 50, "concurrency": 8, "rate": 20.5, "timeout": 5,
            "retries": 0, "backoff": 0.1, "breaker": {"failures": 3, "pause": 1, "probes": 2}, "seed": 4, "qrels": "qrels.txt",
            "evaluation": {"measures": ["nDCG@10", "AP"], "convention": "lightgbm"}, "output": "a.run",
        },
        {"backend": {"kind": "function", "function": "json:loads", "takes": "vector", "order": "distance"}, "queries": "queries.tsv"},
        {"backend": {"kind": "command", "command": ["cat", "-u"], "order": "score", "timeout": 1}, "queries": "queries.tsv"},
        {"backends": {"a": {"kind": "replay", "path": "answers.jsonl"}, "b": {"kind": "replay", "path": "answers.jsonl"}}, "queries": "q"},
        {"backend": {"kind": "replay", "sweep": {"path": ["answers.jsonl"]}}, "queries": "queries.tsv", "evaluation": {"measures": "AP"}},
    ],
    "train": [
        {
            "data": {"train": "a.svm", "valid": "b.svm", "test_share": 0.2, "label": "grade", "qid": "query", "features": ["f1"]},
            "model": {"library": "lightgbm", "rounds": 50, "params": {"objective": "lambdarank", "num_leaves": 15}},
            "evaluation": {"measures": ["nDCG@10"], "convention": "lightgbm", "early_stopping": {"rounds": 10, "measure": "nDCG@10"}},
            "seeds": [1, 2], "output": "out",
        },
        {"data": {"train": "a.svm", "propensity": "a.shares"}, "objective": {"measure": "pairs", "cutoff": 10}},
        {"data": {"train": "a.svm"}, "model": {"library": "xgboost"}, "evaluation": {"early_stopping": 5}, "seed": 1},
        {
            "data": {"train": "a.svm"},
            "model": {
                "library": "torch", "rounds": 5,
                "params": {
                    "hidden": [16, 8], "activation": "gelu", "dropout": 0.5, "normalisation": "batch", "transform": "log1p",
                    "optimiser": "adam", "learning_rate": 1, "weight_decay": 0.5, "batch": 4, "threads": 2,
                },
            },
            "objective": {
                "loss": "NeuralNDCGLoss", "cutoff": 5, "temperature": 0.5, "sinkhorn": 3, "samples": 2, "reduction": "sum",
            },
        },
        *(
            {"data": {"train": "a.svm"}, "model": {"library": "torch"}, "objective": {"loss": loss} | dict.fromkeys(numbers, 20)}
            for loss, options in LOSSES.items()
            if (numbers := [name for name in options if name in ("temperature", "sigma", "branching", "pairs_at_once")])
            and "branching" not in options
        ),
    ],
}  # fmt: skip


def read(command: str, given: Config) -> None:
    """Read a configuration, and the sections of its backends."""
    if command == "train":
        TrainingConfig.of(given)
        return
    for section in SearchConfig.of(given).backends.values():
        backend_from(section).close()


def validator(command: str) -> Any:
    schema = configuration_schema(command, KINDS)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def documented() -> Iterator[tuple[str, str]]:
    """Examples of the help texts."""
    for command, module in (("search", search_command), ("train", train_command)):
        for block in re.findall(r"\\b\n((?: {2,}.*\n)+)", module._EPILOG.replace("\b", "\\b")):
            if re.match(r" +(backend|data):\n", block):
                yield command, "\n".join(line[2:] for line in block.splitlines())


def places(given: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(given, dict):
        for key, value in given.items():
            yield (*path, key)
            yield from places(value, (*path, key))


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
    monkeypatch.setattr(httpx, "Client", lambda **_: SimpleNamespace(close=lambda: None))  # certificates take long, and nothing is asked
    (tmp_path / "answers.jsonl").write_text('{"query": "q1", "documents": ["a"], "scores": [1.0]}\n')
    return tmp_path


# Keys whose values are another program's, or are looked at only where they are used.
FREE = {
    ("model", "params"),
    ("objective",),
    ("backend", "body"),
    ("backend", "headers"),
    ("backend", "params"),
    ("backend", "sweep"),
    ("backends",),
}
# But the parameters of our own neural ranker, and its loss, are in the schema.
OF_TORCH = {("model", "params"), ("objective",)}
# What a schema cannot say, or says otherwise: a reader knows which values go together, and whether a file is there.
BEYOND = {("backend", "function"), ("backend", "path"), ("evaluation", "measures"), ("objective", "measure")}
VALUES = [..., -1, 0, 1.5, True, "", "text", [], ["a", 3], {}, {"other": 1}]


@pytest.mark.parametrize(("command", "given"), [(command, one) for command, many in WHOLE.items() for one in many])
def test_schema_and_reader_agree_on_each_change(command: str, given: Config, folder: Path) -> None:
    check = validator(command)
    assert list(check.iter_errors(given)) == []
    read(command, given)
    disagreed = []
    for path in [*places(given), ("other",), *((key, "other") for key, value in given.items() if isinstance(value, dict))]:
        free_here = FREE - OF_TORCH if given.get("model", {}).get("library") == "torch" else FREE
        if any(path[: len(free)] == free and len(path) >= len(free) for free in free_here):
            continue
        for value in VALUES:
            is_new = path[-1] == "other"
            if (is_new and value is ...) or (path in BEYOND and isinstance(value, str)):
                continue
            mutated = changed(given, path, value)
            try:
                read(command, mutated)
                is_read = True
            except IdealrankError:
                is_read = False
            if is_read != check.is_valid(mutated):
                disagreed.append((path, value, "the reader takes it" if is_read else "the schema takes it"))
    assert disagreed == []


def test_documented_examples_are_valid_and_read(folder: Path) -> None:
    found = list(documented())
    assert {command for command, _ in found} == {"search", "train"}
    for command, text in found:
        given = yaml.safe_load(text)
        assert list(validator(command).iter_errors(given)) == []
        if command == "train":
            TrainingConfig.of(given)
        else:
            SearchConfig.of(given)


def test_every_key_of_a_backend_that_a_schema_names_is_known_to_its_reader(folder: Path) -> None:
    kinds = json.loads(json.dumps(configuration_schema("search")["$defs"]["backends"]))
    assert set(kinds) <= set(KINDS)
    for kind, schema in kinds.items():
        with pytest.raises(OptionError) as caught:
            backend_from(Section({"kind": kind, "no such key": 1}, "a.yaml", "backend"))
        known = re.search(r"unknown key \"?'no such key'\"?, expected (.*?)(;|$)", str(caught.value))
        assert known is not None
        assert set(known[1].split(", ")) == set(schema["properties"]) - {"sweep"}


@pytest.mark.parametrize("command", ["search", "train"])
def test_commands_print_their_schema(command: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main.run([command, "--schema"]) == 0
    assert json.loads(capfd.readouterr().out) == configuration_schema(command, KINDS)


def test_a_schema_of_another_name_is_refused() -> None:
    with pytest.raises(OptionError, match="found 'gate', expected one of search, train, monitor"):
        configuration_schema("gate")
