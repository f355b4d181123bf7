"""A key of a configuration that names a missing file: the message has the configuration, the key
and the file, and nothing is read or asked before.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from idealrank import _keys
from idealrank._sections import Section
from idealrank.errors import OptionError
from idealrank.io.configuration_files import require_files
from idealrank.live.backends import KINDS, backend_from
from idealrank.live.canary.monitor_config import MonitorConfig
from idealrank.live.judges.callers import KINDS as JUDGES
from idealrank.live.judges.judge_configuration import JudgeConfig
from idealrank.live.search_configuration import SearchConfig
from idealrank.training.configuration import TrainingConfig
from tests.cli.terminal import Said

Say = Callable[..., Said]
Given = dict[str, Any]

FUNCTION: Given = {"kind": "function", "function": "json:loads"}
SEARCH: Given = {
    "backend": FUNCTION,
    "queries": {"path": "queries.tsv", "vectors": "queries.npy"},
    "qrels": "a.qrels",
    "output": "a.run",
}
MONITOR: Given = {
    "name": "shop",
    "store": "store",
    "backend": FUNCTION,
    "queries": {"path": "queries.tsv", "vectors": "queries.npy"},
    "qrels": {"path": "a.qrels", "people": "people.qrels"},
    "slices": "slices.csv",
    "alarms": [],
}
JUDGE: Given = {
    "judge": {
        "kind": "openai",
        "url": "http://127.0.0.1:1",
        "model": "m",
        "prompt": "prompt.txt",
        "system": "system.txt",
    },
    "pairs": "pairs.csv",
    "queries": "queries.tsv",
    "documents": "documents.jsonl",
    "qrels": "a.qrels",
    "output": "model.qrels",
}
TRAIN: Given = {
    "data": {"train": "a.svm", "valid": "b.svm", "test": "c.svm", "propensity": "p.txt"},
    "objective": {},
}


class Configured(NamedTuple):
    """A command, the class of its configuration, and one that names every file."""

    command: tuple[str, ...]
    keys: type
    given: Given


COMMANDS = {
    "search": Configured(("search",), SearchConfig, SEARCH),
    "monitor": Configured(("monitor", "--check"), MonitorConfig, MONITOR),
    "judge": Configured(("judge", "run"), JudgeConfig, JUDGE),
    "train": Configured(("train", "--check"), TrainingConfig, TRAIN),
}
FILES = {
    "queries.tsv": "q1\tred fox\n",
    "a.qrels": "q1 0 d1 1\n",
    "people.qrels": "q1 0 d1 1\n",
    "slices.csv": "query,slice\nq1,a\n",
    "pairs.csv": "query,document\nq1,d1\n",
    "documents.jsonl": '{"id": "d1", "text": "a fox"}\n',
    "prompt.txt": "{query} {text}",
    "system.txt": "You judge.",
    "a.svm": "1 qid:1 1:1\n0 qid:1 1:2\n",
    "b.svm": "1 qid:2 1:1\n",
    "c.svm": "1 qid:3 1:1\n",
    "p.txt": "1\n1\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    import numpy as np

    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    np.save(tmp_path / "queries.npy", np.array([[1.0, 0.0]]))
    return tmp_path


def places_in(name: str) -> Iterator[str]:
    """Keys of the configuration that name files, found by their declarations."""
    configured = COMMANDS[name]
    for holder, key in _keys.files_in(configured.keys, Section(configured.given, "", "")):
        yield f"{holder.name}.{key}" if holder.name else key
    if name == "judge":
        yield from ("judge.prompt", "judge.system")


CASES = [(name, place) for name in COMMANDS for place in places_in(name)]


def changed(given: Mapping[str, Any], place: str, value: str) -> Given:
    name, _, rest = place.partition(".")
    return {**given, name: changed(given[name], rest, value) if rest else value}


def test_every_file_of_the_configurations_is_found() -> None:
    assert len(CASES) == 18
    assert {place for name, place in CASES if name == "train"} == {
        "data.train",
        "data.valid",
        "data.test",
        "data.propensity",
    }


@pytest.mark.parametrize(("name", "place"), CASES)
def test_a_missing_file_is_named_with_the_configuration_and_the_key(
    folder: Path, say: Say, name: str, place: str
) -> None:
    given = changed(COMMANDS[name].given, place, "missing.file")
    (folder / "a.json").write_text(json.dumps(given))
    done = say(*COMMANDS[name].command, "a.json", cwd=folder)
    message = f"error: a.json: {place}: missing.file: found no such file\n"
    assert (done.code, done.err) == (2, message)
    assert not (folder / "store").exists()


def test_a_text_in_place_of_a_section_is_named_by_its_own_key(folder: Path, say: Say) -> None:
    (folder / "a.json").write_text(json.dumps(SEARCH | {"queries": "querys.tsv"}))
    done = say("search", "a.json", cwd=folder)
    assert "error: a.json: queries: querys.tsv: found no such file; did you mean" in done.err


def test_a_folder_in_place_of_a_file_is_named_with_its_key(folder: Path, say: Say) -> None:
    (folder / "a.json").write_text(json.dumps(SEARCH | {"queries": "."}))
    done = say("search", "a.json", cwd=folder)
    assert (done.code, done.err) == (
        2,
        "error: a.json: queries: .: found a directory, expected a file\n",
    )


def test_a_file_that_an_option_replaces_may_be_missing(folder: Path, say: Say) -> None:
    (folder / "engine.py").write_text("def search(text, limit):\n    return {'d1': 1.0}\n")
    backend = {"kind": "function", "function": "engine.py:search"}
    given = SEARCH | {"backend": backend, "qrels": "missing.file"}
    (folder / "a.json").write_text(json.dumps(given))
    assert say("search", "a.json", "--qrels", "a.qrels", cwd=folder).code == 0
    assert say("search", "a.json", cwd=folder).code == 2


def test_a_column_of_parquet_is_no_missing_file(folder: Path, say: Say) -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"label": [1, 0], "qid": [1, 1], "x": [1.0, 2.0], "p": [0.5, 1.0]})
    import_module("pyarrow.parquet").write_table(table, folder / "a.parquet")
    data = {"train": "a.parquet", "propensity": "p"}
    (folder / "a.json").write_text(json.dumps({"data": data, "objective": {}}))
    assert "missing" not in say("train", "a.json", "--check", cwd=folder).err
    (folder / "a.json").write_text(
        json.dumps({"data": data | {"propensity": "q"}, "objective": {}})
    )
    assert "found no such file" not in say("train", "a.json", "--check", cwd=folder).err


@pytest.mark.parametrize("kind", KINDS)
def test_a_backend_names_its_key_and_no_value_of_the_environment(
    kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PLACE", "secret-place")
    keys = import_module(KINDS[kind]).SECTIONS[kind]
    named = [name for name, key in _keys.keys_of(keys).items() if key.is_file]
    for name in named:
        given = {key: "a.svm" for key, declared in _keys.keys_of(keys).items() if declared.expected}
        given |= {"kind": kind, name: "${PLACE}/missing.file"}
        with pytest.raises(OptionError, match=rf"^a\.yaml: backend\.{name}: ") as caught:
            backend_from(Section(given, "a.yaml", "backend"))
        assert "found no such file" in str(caught.value)
        assert "secret-place" not in str(caught.value)


def test_all_kinds_that_read_a_file_declare_it() -> None:
    reading = {
        kind: [
            name
            for name, key in _keys.keys_of(import_module(module).SECTIONS[kind]).items()
            if key.is_file
        ]
        for kind, module in KINDS.items()
    }
    assert {kind: names for kind, names in reading.items() if names} == {
        "sqlite-fts5": ["path"],
        "replay": ["path"],
        "faiss": ["path", "ids"],
        "sqlite-vec": ["path"],
        "duckdb": ["path"],
    }
    assert [name for name, key in _keys.keys_of(JUDGES["openai"]).items() if key.is_file] == [
        "prompt",
        "system",
    ]


def test_standard_input_and_a_name_that_no_file_can_have_are_left_to_the_reader() -> None:
    for path in ("-", "a\0b"):
        require_files(SearchConfig, Section({"queries": path}, "a.yaml", ""))
