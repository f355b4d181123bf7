"""`idealrank history`: what it prints, that its numbers are those of the evaluations, and that it
finds the commit that broke a query.
"""

import io
import json
import math
import shlex
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import idealrank as ir
from idealrank.store import Record, Store
from idealrank.store.value_files import ValueFiles
from tests.cli.terminal import Said, check_snapshot, idealrank
from tests.git import Repository
from tests.store.stores import Clock, add_value, example_store, store_in_repository, with_stable_ids

Say = Callable[..., Said]
FLOATS = {"value": float}  # Python's own reading, to the last bit

COMMANDS = {
    "table": "history",
    "plain-run": "history --measure AP --run bm25",
    "tag": "history --tag main",
    "one-line": "history --one-line --show 2",
    "query": "history --query q1 --run bm25 --below 0.55",
    "below": "history --below 0.25 --run bm25",
    "csv": "history --run neural --format csv",
    "json": "history --run bm25 --query q1 --below 0.55 --show 1 --format json",
    "error-run": "history --run nobody",
    "error-query": "history --query q99",
    "error-measure": "history --measure nDCG@7",
    "error-since": "history --since yesterday",
    "error-later": "history --since 2027-01-01",
    "error-drop": "history --drop 0",
    "error-both": "history --below 0.5 --drop 0.1",
    "error-direction": "history --measure NumQ --below 0.5",
    "error-runs": "history --query q3 --bisect",
    "error-no-commits": "history --query q3 --run bm25 --bisect",
    "error-repository": "history --query q3 --run bm25 --repository nowhere",
    "error-answers": "history --query q3 --run bm25 --bisect --exit-code",
}


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    folder = tmp_path_factory.mktemp("history") / "results"
    return folder, example_store(folder)


@pytest.fixture
def said_of(example: tuple[Path, list[str]], say: Say) -> Say:
    """What a command says of the example store."""
    folder, ids = example

    def run(command: str) -> Said:
        return with_stable_ids(
            say(*shlex.split(command), "--store", "results", cwd=folder.parent), ids
        )

    return run


@pytest.mark.parametrize("name", COMMANDS)
def test_what_history_says(name: str, said_of: Say) -> None:
    said = said_of(COMMANDS[name])

    check_snapshot(f"history-{name}", said.text(f"idealrank {COMMANDS[name]} --store results"))
    assert said.code == (2 if name.startswith("error") else 0)


@pytest.mark.parametrize(
    "since", ["9999-12-31T23:59:59-12:00", "0001-01-01T00:00+14:00", "999999w"]
)
def test_a_time_beyond_the_calendar_is_refused(since: str, said_of: Say) -> None:
    said = said_of(f"history --since {since}")

    assert (said.code, said.out) == (2, "")
    assert said.err == (
        f"error: since {since!r}: found a time outside the years 1 to 9999 in UTC, "
        "expected a date such as 2026-01-31, a time in ISO 8601, or 7d, 12h, 30m, 2w\n"
    )


@pytest.mark.parametrize("since", ["9999-12-31", "0001-01-01"])
def test_the_ends_of_the_calendar_are_times(since: str, said_of: Say) -> None:
    assert said_of(f"history --since {since}").code == (0 if since < "2" else 2)


def test_the_csv_has_every_value_to_the_last_digit(
    example: tuple[Path, list[str]], said_of: Say
) -> None:
    found = pd.read_csv(
        io.StringIO(said_of("history --measure AP --format csv").out), converters=FLOATS
    )
    one = pd.read_csv(
        io.StringIO(said_of("history --measure AP --query q2 --format csv").out), converters=FLOATS
    )

    with Store.open(example[0]) as store:
        evaluations = [store.evaluation(one).evaluation for one in example[1]]
    assert found["value"].tolist() == [evaluation.mean()["AP"] for evaluation in evaluations]
    assert one["value"].tolist() == [
        evaluation["AP"][list(evaluation.queries).index("q2")] for evaluation in evaluations
    ]
    assert found["run"].tolist() == [evaluation.name for evaluation in evaluations]
    # A change is the difference of pandas within a run, judgments and convention.
    runs = found[["run", "judgments", "convention"]].astype(str).agg("|".join, axis=1)
    expected = [found["value"].groupby(runs).diff().iloc[place] for place in range(len(found))]
    assert found["change"].tolist() == pytest.approx(expected, nan_ok=True)


def test_the_library_says_the_same(example: tuple[Path, list[str]], said_of: Say) -> None:
    record = json.loads(said_of("history --run bm25 --format json").out)

    with ir.Store.open(example[0]) as store:
        timeline = store.history(run="bm25")
        with pytest.raises(ir.errors.InputError, match="there are runs: neural, bm25"):
            store.history(run="nobody")
    assert [point["value"] for point in record["points"]] == [
        point.value for point in timeline.points
    ]
    assert timeline.to_frame()["convention"].tolist() == [
        point["convention"] for point in record["points"]
    ]


@pytest.mark.slow
def test_a_terminal_without_utf8_gets_digits(example: tuple[Path, list[str]]) -> None:
    said = idealrank(
        "history", "--run", "bm25", "--store", str(example[0]), PYTHONIOENCODING="ascii"
    )

    assert "11|3|8" in said.out
    assert said.out.isascii()


def test_without_a_store_the_way_to_one_is_said(
    say: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("IDEALRANK_STORE", raising=False)
    nothing, nowhere = say("history"), say("history", "--store", str(tmp_path))
    Store.open(tmp_path / "empty").close()
    monkeypatch.setenv("IDEALRANK_STORE", str(tmp_path / "empty"))
    empty = say("history")

    assert (nothing.code, nowhere.code, empty.code) == (2, 2, 2)
    assert "expected --store DIR or the variable IDEALRANK_STORE" in nothing.err
    assert "found no store" in nowhere.err
    assert "`idealrank evaluate ... --store" in empty.err


def test_value_files_are_read_where_a_query_is_asked_and_their_hashes_checked(
    example: tuple[Path, list[str]], said_of: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, read = ValueFiles.read, []

    def watched(self: ValueFiles, name: str, whose: str) -> bytes:
        read.append(name)
        return plain(self, name, whose)

    monkeypatch.setattr(ValueFiles, "read", watched)
    said_of("history")
    assert read == []
    said_of("history --query q1")
    lists = [name for name in read if name.endswith(".json")]
    assert len(set(lists)) == len(lists)  # of queries, each once
    assert {name.rpartition(".")[2] for name in read} == {"json", "npy"}


def test_a_damaged_value_is_an_error_and_never_printed(tmp_path: Path, say: Say) -> None:
    with Store.open(tmp_path / "store") as store:
        key = store.add(ir.evaluate({"q": {"a": 1, "b": 1}}, {"q": ["x", "a"]}, ["nDCG"]))
        path = store.files.path(store.evaluation(key).fields["files"]["values"])
    content = path.read_bytes()
    for place in (-1, -2):  # the value is 1e209, and 0.2 too large
        path.write_bytes(
            content[:place] + bytes([content[place] ^ 0x20]) + content[len(content) + place + 1 :]
        )
        said = say("history", "--query", "q", "--store", str(tmp_path / "store"))
        assert (said.code, said.out) == (2, "")
        assert f"{path.name}: is damaged" in said.err
        assert (
            f"evaluation {key} needs it: restore the file from a backup, or import the "
            f"exported evaluation" in said.err
        )


def test_names_cannot_move_the_cursor(tmp_path: Path, say: Say) -> None:
    hostile = "q\x1b[2J\n1"
    with Store.open(tmp_path / "store") as store:
        key, other = (
            store.add(
                ir.evaluate({hostile: {"a": 1}}, ir.Run({hostile: ranking}, name=hostile), ["RR"]),
                record=Record(notes=(hostile,), command=f"idealrank '{hostile}'"),
            )
            for ranking in (["x", "a"], ["a"])
        )

    sql = ("store", "sql", "select * from evaluations join values using (id)")
    for command in (
        ("history", "--query", hostile),
        ("store", "show", key, "--per-query"),
        ("store", "diff", key, other),
        sql,
    ):
        said = say(*command, "--store", str(tmp_path / "store"))
        assert said.code == 0
        assert "\x1b" not in said.out + said.err


def test_times_are_kept_in_utc_and_what_is_no_time_is_refused(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store") as store:
        for value, time in (
            (1.0, "2026-01-01T02:00:00+02:00"),
            (0.5, "2026-01-01T00:30:00Z"),
            (0.25, "2026-01-01"),
        ):
            add_value(store, "q1", value, Record(time=time))
        with pytest.raises(ir.errors.OptionError, match="expected a date such as"):
            add_value(store, "q1", 1.0, Record(time="yesterday"))

        points = store.history(query="q1").points
        assert sorted(point.when for point in points) == [point.when for point in points]
        assert [point.when[11:19] for point in points] == ["00:00:00", "00:00:00", "00:30:00"]
        assert points[-1].value == 0.5


def test_a_measure_that_knows_no_better_has_no_failures(tmp_path: Path, say: Say) -> None:
    with Store.open(tmp_path / "store") as store:
        store.add(ir.evaluate({"q1": {"a": 1}}, {"q1": ["a"]}, ["NumQ"]))

    shown = say("history", "--query", "q1", "--store", str(tmp_path / "store"))
    refused = say("history", "--query", "q1", "--below", "0.5", "--store", str(tmp_path / "store"))

    assert (shown.code, refused.code) == (0, 2)
    assert "fails" not in shown.out
    assert "neither higher nor lower values of this measure are better" in refused.err


# --- the commit that broke a query ----------------------------------------------------------------


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    made = Repository(tmp_path_factory.mktemp("repository"))
    for number in range(24):
        made.commit(f"change {number}")
    return made


@pytest.mark.parametrize("broken", [pytest.param(3, marks=pytest.mark.slow), 17])
def test_the_loop_of_the_help_finds_the_commit_that_broke_the_query(
    broken: int, repository: Repository, tmp_path: Path, say: Say
) -> None:
    commits, clock, store_folder = repository.commits(), Clock(day=2), tmp_path / "store"
    store_in_repository(store_folder, repository, {0: 1.0, 23: 0.25})
    command = (
        "history",
        "--query",
        "q1",
        "--below",
        "0.5",
        "--bisect",
        "--store",
        str(store_folder),
    )

    evaluated = []
    while (said := say(*command, cwd=repository.folder)).code == 0:
        commit = said.out.strip()
        evaluated.append(commit)
        with Store.open(store_folder) as store:
            value = 0.25 if commits.index(commit) >= broken else 0.5
            add_value(store, "q1", value, Record(time=clock(), commit=commit, dirty=False))

    assert (said.code, said.out) == (1, f"{commits[broken]}\n")
    assert f"is the first bad commit: change {broken}" in said.err
    assert len(set(evaluated)) == len(evaluated) <= math.ceil(math.log2(23))
    table = say(*(word for word in command if word != "--bisect"), cwd=repository.folder).out
    assert f"{commits[broken][:12]} is the first bad commit: change {broken}" in table


def test_changed_files_and_strange_commits_have_no_place_in_the_order(
    repository: Repository, tmp_path: Path, say: Say
) -> None:
    commits, store_folder = repository.commits(), tmp_path / "store"
    # the older commit was evaluated later
    store_in_repository(store_folder, repository, {23: 0.25, 0: 1.0})
    with Store.open(store_folder) as store:
        add_value(
            store,
            "q1",
            1.0,
            Record(time="2026-02-01T00:00:00.000000+00:00", commit=commits[12], dirty=True),
        )
        add_value(
            store,
            "q1",
            1.0,
            Record(time="2026-02-02T00:00:00.000000+00:00", commit="f" * 40, dirty=False),
        )

    said = say("history", "--query", "q1", "--store", str(store_folder), cwd=repository.folder).out
    elsewhere = say("history", "--query", "q1", "--store", str(store_folder), cwd=tmp_path).out

    assert "fails" in said
    assert "23 commits may be the first bad one" in said
    assert "without 2 evaluations that had uncommitted changes or no commit of this" in said
    assert "the newest value passes" in elsewhere  # by time


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({0: 1.0, 23: 1.0}, "the newest commit is good"),
        ({0: 0.25, 23: 0.25}, "evaluate an older commit"),
    ],
)
def test_where_nothing_is_to_be_found_it_says_why(
    values: dict[int, float], why: str, repository: Repository, tmp_path: Path, say: Say
) -> None:
    store_in_repository(tmp_path / "store", repository, values)

    said = say(
        "history",
        "--query",
        "q1",
        "--bisect",
        "--below",
        "0.5",
        "--store",
        str(tmp_path / "store"),
        cwd=repository.folder,
    )

    assert (said.code, said.out) == (2, "")
    assert why in said.err


@pytest.mark.parametrize(("place", "code"), [(5, 0), (20, 1), (9, 125), (None, 125)])
def test_the_exit_code_is_that_of_the_commit_checked_out(
    place: int | None, code: int, repository: Repository, tmp_path: Path, say: Say
) -> None:
    store_in_repository(tmp_path / "store", repository, {5: 0.5, 20: 0.25})
    with Store.open(tmp_path / "store") as store:
        add_value(store, "q2", 1.0, Record(commit=repository.commits()[9], dirty=False))
    repository.git("checkout", "-q", "main" if place is None else repository.commits()[place])
    try:
        said = say(
            "history",
            "--query",
            "q1",
            "--below",
            "0.5",
            "--exit-code",
            "--store",
            str(tmp_path / "store"),
            cwd=repository.folder,
        )
    finally:
        repository.git("checkout", "-q", "main")

    assert (said.code, said.out, said.err) == (code, "", "")
