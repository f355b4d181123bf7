"""The commands of `idealrank store`: what they print, and that every number is the one that was
stored.
"""

import csv
import io
import json
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import idealrank as ir
from idealrank.data.types import FloatArray
from idealrank.store import Store
from tests.cli.terminal import DATA, Said, check_snapshot
from tests.store.stores import example_store, example_verdicts, with_stable_ids

Say = Callable[..., Said]

COMMANDS = {
    "show": "store show 1",
    "show-intervals": "store show 2 --intervals --per-query",
    "show-csv": "store show 1 --format csv",
    "show-csv-per-query": "store show 2 --per-query --format csv",
    "show-json": "store show 3 --format json",
    "show-comparison": "store show 7",
    "show-comparison-csv": "store show 7 --format csv",
    "show-gate": "store show 8",
    "show-error-short": "store show 12",
    "show-error-none": "store show ffffffffffff",
    "show-error-per-query": "store show 7 --per-query",
    "show-error-intervals": "store show 2 --per-query --intervals --format csv",
    "diff-runs": "store diff 1 2",
    "diff-nothing": "store diff 1 3",
    "diff-judgments": "store diff 3 4 --measure AP --show 1",
    "diff-convention": "store diff 4 5 --no-test",
    "diff-csv": "store diff 1 2 --measure AP --format csv",
    "diff-error-comparison": "store diff 1 7",
    "diff-error-measure": "store diff 1 2 --measure RR",
    "tag-error-remove": "store tag 1 --remove",
    "tag-error-unknown": "store tag 1 nothing --remove",
    "tag-error-note": "store tag 1 --note ' '",
    "gc-nothing": "store gc --dry-run",
    "gc-json": "store gc --format json",
    "store-error-export": "store export 7 out.zip",
    "store-error-import": "store import nothing.zip",
}


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    folder = tmp_path_factory.mktemp("stored") / "results"
    ids = example_store(folder)
    return folder, [*ids, *example_verdicts(folder, ids)]


def typed(command: str, ids: list[str]) -> list[str]:
    """Words of a command, in which a place stands for an id."""
    words = shlex.split(command)
    is_id = [
        word.isdigit() and 0 < int(word) <= len(ids) and before != "--show"
        for before, word in zip(["", *words], words, strict=False)
    ]
    return [ids[int(word) - 1] if named else word for word, named in zip(words, is_id, strict=True)]


@pytest.fixture
def said_of(example: tuple[Path, list[str]], say: Say) -> Say:
    """What a command says of the example store."""
    folder, ids = example

    def run(command: str) -> Said:
        return with_stable_ids(
            say(*typed(command, ids), "--store", "results", cwd=folder.parent), ids
        )

    return run


@pytest.mark.parametrize("name", COMMANDS)
def test_what_the_commands_say(name: str, said_of: Say) -> None:
    said = said_of(COMMANDS[name])

    check_snapshot(f"stored-{name}", said.text(f"idealrank {COMMANDS[name]} --store results"))
    assert said.code == (2 if "-error-" in name else 0)


def test_show_has_every_value_to_the_last_digit(
    example: tuple[Path, list[str]], said_of: Say
) -> None:
    record = json.loads(said_of("store show 2 --per-query --intervals --format json").out)
    rows = list(csv.DictReader(io.StringIO(said_of("store show 2 --per-query --format csv").out)))

    with Store.open(example[0]) as store:
        evaluation = store.evaluation(example[1][1]).evaluation
    (run,) = record["runs"]
    assert run["mean"] == dict(evaluation.mean())
    assert run["queries"] == evaluation.per_query()
    assert {(row["query"], row["measure"]): float(row["value"]) for row in rows} == {
        (query, measure): value
        for query, values in evaluation.per_query().items()
        for measure, value in values.items()
    }
    assert [one["sha256"] for one in record["inputs"]] == [
        one.sha256 for one in evaluation.provenance.inputs
    ]


def cubed(grades: FloatArray) -> FloatArray:
    return grades**3


def test_a_measure_of_ones_own_is_shown_by_its_mean(tmp_path: Path, say: Say) -> None:
    with Store.open(tmp_path / "store") as store:
        key = store.add(ir.evaluate(DATA / "qrels.txt", DATA / "bm25.run", [ir.NDCG(gain=cubed)]))
        (mean,) = (store.entry(key).means or {}).values()

    text, record, table = (
        say("store", "show", key, "--format", layout, "--store", str(tmp_path / "store"))
        for layout in ("table", "json", "csv")
    )

    assert f"{mean:.4f}" in text.out
    assert "of your own" in text.out
    assert list(json.loads(record.out)["mean"].values()) == [mean]
    assert float(next(csv.DictReader(io.StringIO(table.out)))["value"]) == mean


def test_diff_compares_as_compare_does(example: tuple[Path, list[str]], said_of: Say) -> None:
    record = json.loads(said_of("store diff 1 2 --format json").out)
    other = json.loads(said_of("store diff 1 5 --format json").out)

    with Store.open(example[0]) as store:
        a, b = (store.evaluation(one).evaluation for one in example[1][:2])
    expected = ir.compare(a, b).as_dict()
    assert record["comparison"]["pairs"] == json.loads(json.dumps(expected["pairs"]))
    assert [(one["measure"], one["a"], one["b"]) for one in record["means"]] == [
        (m, a.mean()[m], b.mean()[m]) for m in a.mean()
    ]
    differences = {one["query"]: one["difference"] for one in record["changed_queries"]["top"]}
    per_query = {
        query: b.per_query()[query]["nDCG@10"] - a.per_query()[query]["nDCG@10"]
        for query in a.queries
    }
    assert differences == {query: value for query, value in per_query.items() if value}
    assert (other["judgments"], other["comparison"]) == ("changed", None)
    assert "different judgments" in other["why_not_compared"]
    assert {one["switch"] for one in other["convention"]} >= {"ideal", "ties"}


def test_what_a_comparison_was_made_of_stays(example: tuple[Path, list[str]], said_of: Say) -> None:
    said = said_of("store remove 1")

    assert said.code == 2
    assert "id-000000007" in said.err
    assert "remove that entry first" in said.err


def test_tags_and_notes_come_and_go(
    example: tuple[Path, list[str]], tmp_path: Path, say: Say
) -> None:
    shutil.copytree(example[0], tmp_path / "results")
    key = example[1][1]
    given = say(
        "store",
        "tag",
        key[:6],
        "one",
        "two",
        "--note",
        "after the change",
        "--store",
        str(tmp_path / "results"),
    )
    taken = say("store", "tag", key, "one", "--remove", "--store", str(tmp_path / "results"))

    assert (given.out, taken.out) == ("one\ntwo\n", "two\n")
    with Store.open(tmp_path / "results") as store:
        assert (store.entry(key).record.tags, store.entry(key).record.notes) == (
            ("two",),
            ("after the change",),
        )


def test_an_evaluation_goes_from_store_to_store_and_is_freed_again(
    example: tuple[Path, list[str]], tmp_path: Path, say: Say
) -> None:
    key, other = example[1][2], str(tmp_path / "other")
    exported = say(
        "store", "export", key[:8], str(tmp_path / "one.zip"), "--store", str(example[0])
    )
    imported = say("store", "import", str(tmp_path / "one.zip"), "--store", other)
    shown = [
        say("store", "show", key, "--per-query", "--format", "json", "--store", where).out
        for where in (str(example[0]), other)
    ]
    info = json.loads(say("store", "info", "--format", "json", "--store", other).out)
    removed = say("store", "remove", key, "--store", other)
    freed = json.loads(say("store", "gc", "--format", "json", "--store", other).out)

    assert (exported.code, imported.out, removed.code) == (0, f"{key}\n", 0)
    assert shown[0] == shown[1]
    assert (info["evaluations"], info["measures"], info["tags"]) == (
        1,
        ["AP", "nDCG@10"],
        ["main", "release"],
    )
    assert (freed["files"] > 0, freed["bytes"] > 0) == (True, True)
    assert not list((tmp_path / "other" / "values").rglob("*.npy"))
