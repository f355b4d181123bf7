"""An archive whose hashes are right and whose contents make no sense is refused in words, or does
no harm to any command.
"""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

import idealrank as ir
from idealrank.evaluation.judged_hits import judged_hits
from idealrank.store import Record, Store
from tests.in_process import run
from tests.store.store_archives import Archive, Mutation, mutations, some

QRELS = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"c": 2, "d": 1}, "q3": {"a": 1}, "q4": {"e": 0}}
RUN = {"q1": {"a": 3.0, "x": 2.0, "b": 2.0}, "q2": {"x": 2.0, "c": 1.0, "d": 0.5}, "q4": {"e": 1.0}}
MEASURES = ["RR", "nDCG@10", "GMAP", "NumRet", "RelString"]
CONVENTION = "standard,no_relevant=left-out,missing=left-out"
# says what was found; `labels.found` is a field of the record
FOUND = re.compile(r"(?<![.\w])found ")


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """An archive with every file that one can have, and the evaluation itself in a store of its
    own.
    """
    folder = tmp_path_factory.mktemp("senseless")
    hits = judged_hits(ir.Qrels(QRELS), ir.Run(RUN), CONVENTION)
    with Store.open(folder / "first") as store:
        record = Record(
            notes=("seen",),
            tags=("main",),
            command="idealrank evaluate q r",
            commit="0" * 40,
            dirty=False,
        )
        key = store.add(ir.evaluate(QRELS, RUN, MEASURES, CONVENTION), hits=hits, record=record)
        store.export_file(key, folder / "one.zip")
    assert set(Archive.read(folder / "one.zip").files) == {
        "queries",
        "values",
        "scored",
        "missing",
        "texts",
        "hits",
        "coverage",
    }
    return folder / "one.zip", key


def check(
    exported: tuple[Path, str], tried: Sequence[Mutation], folder: Path, asked: int
) -> Counter[str]:
    """Import each mutation, and ask so many questions, in turn, of every one that is taken in."""
    path, kept = exported
    counts: Counter[str] = Counter()
    with Store.open(folder / "second") as store:
        store.import_file(path)
    at = ["--store", str(folder / "second")]
    for mutation in tried:
        other = mutation.archive.write(folder / "other.zip")
        code, out, err = run(["store", "import", str(other), *at])
        assert code in (0, 2), f"{mutation}: {err}"
        counts["refused" if code else "taken in"] += 1
        if code:
            assert err.startswith(f"error: {other}: "), mutation
            assert len(FOUND.findall(err)) == 1, f"{mutation}: {err}"
            assert ", expected " in err, f"{mutation}: {err}"
            continue
        key = out.strip()
        commands = [
            ["history"],
            ["history", "-m", "RR", "--query", "q1"],
            ["store", "show", key],
            ["store", "show", key, "--per-query", "--intervals"],
            ["store", "show", key, "--format", "json"],
            ["store", "diff", kept, key, "--different-judgments"],
            ["store", "sql", "select * from values"],
            ["store", "sql", "select * from hits"],
            ["store", "sql", "select * from evaluations, means, tags"],
            ["report", key, "-o", str(folder / "one.html")],
            ["report", kept, key, "-o", str(folder / "two.html"), "--different-judgments"],
        ]
        begin = asked * counts["taken in"]
        for command in [commands[number % len(commands)] for number in range(begin, begin + asked)]:
            code, _, err = run([*command, *at])
            assert code in (0, 2), f"{mutation}: {command}: {err}"
        with Store.open(folder / "second") as store:
            if key != kept:
                store.remove(key)
    with Store.open(folder / "second") as store:
        assert [entry.id for entry in store.entries()] == [kept]
        assert store.gc(dry_run=True).unfinished == 0
    return counts


@pytest.mark.slow
def test_some_senseless_changes_of_every_place_are_refused_or_do_no_harm(
    exported: tuple[Path, str], tmp_path: Path
) -> None:
    pytest.importorskip("duckdb")
    counts = check(
        exported, some(list(mutations(Archive.read(exported[0]))), 40, seed=11), tmp_path, asked=3
    )
    assert counts["refused"] > 30
    assert counts["taken in"] > 2


@pytest.mark.slow
def test_all_senseless_changes_of_every_place_are_refused_or_do_no_harm(
    exported: tuple[Path, str], tmp_path: Path
) -> None:
    pytest.importorskip("duckdb")
    counts = check(exported, list(mutations(Archive.read(exported[0]))), tmp_path, asked=11)
    assert counts["refused"] > 4500
