"""`idealrank gate` against a baseline file: a series of commits, its anchor, repeats, drops
accepted by name, and held-out queries.
"""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

import idealrank as ir
from idealrank.inputs.gate_series import held_out_queries
from tests.cli.gate_runs import QUERIES, Gate, asked, noisy, record, words, write_run
from tests.cli.terminal import Said


def test_alpha_is_spent_over_the_horizon_by_commits_that_change_something(
    gate: Gate, folder: Path
) -> None:
    write_run(folder, "new", noisy(1))
    first = asked(gate("new", "--format", "json", "--update-baseline"))
    same = asked(gate("new", "--format", "json", "--update-baseline"))
    short = asked(gate("new", "--format", "json", "--horizon", "2", "--alpha", "0.04"))

    assert (first["policy"]["alpha"], first["series"]["alpha"], first["series"]["looks"]) == (
        0.001,
        0.05,
        0,
    )
    assert record(folder).series.looks == 1  # the second gate saw the same values
    assert same["checks"][0]["reason"] == "the same value on every query"
    assert short["policy"]["alpha"] == pytest.approx((0.04 - 0.001) / 1)


def test_an_ordinary_run_as_baseline_is_one_decision(gate: Gate, folder: Path) -> None:
    write_run(folder, "new", noisy(1))

    alone = asked(gate("new", "--format", "json", baseline="start.run"))

    assert "series" not in alone
    assert alone["policy"]["alpha"] == 0.05


def test_a_series_that_is_over_gives_way_to_the_next_one(gate: Gate, folder: Path) -> None:
    for seed in range(4):
        write_run(folder, f"run{seed}", noisy(seed))
        gate(f"run{seed}", "--update-baseline", "--horizon", "3")

    series = record(folder).series
    assert (series.number, series.looks, round(series.spent, 6)) == (2, 1, round(0.05 / 3, 6))
    write_run(folder, "next", noisy(9))
    assert "commit 2 of 3, series 2; its share of alpha 0.05 is 0.0167" in words(
        gate("next", "--horizon", "3")
    )


@pytest.mark.spread(1)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_an_engine_with_noise_and_no_change_is_never_closed_in_fifty_commits(
    gate: Gate, folder: Path, seed: int
) -> None:
    """Level 0.05 for all fifty together: the gate that kept the best run was closed 17 times."""
    codes = []
    for number in range(15):
        write_run(folder, "new", noisy(1000 * seed + number))
        codes.append(gate("new", "--update-baseline").code)

    assert codes == [0] * 15
    assert len(record(folder).kept) == 5  # the last four accepted commits, and the anchor


def test_small_drops_in_a_row_are_closed_by_the_anchor(gate: Gate, folder: Path) -> None:
    """Each commit lets two more queries fall by a few places: no step can be seen, the sum can."""
    codes, last = [], Said(0, "", "")
    for number in range(1, 25):
        write_run(folder, "new", dict.fromkeys(QUERIES[: 2 * number], 4))
        last = gate("new", "--update-baseline", "--format", "json")
        codes.append(last.code)
        if last.code:
            break
    checks = {check["baseline"]: check["passed"] for check in asked(last)["checks"]}

    assert codes[-1] == 1
    assert len(codes) > 4
    assert checks == {"main": True, "main (anchor)": False}


def test_repeats_are_averaged_and_show_the_noise(gate: Gate, folder: Path) -> None:
    for name in ("new", "again", "third"):
        write_run(folder, name, noisy(len(name)))
    said = gate(
        "new",
        "--repeat",
        "again.run",
        "--repeat",
        "third.run",
        "--update-baseline",
        "--format",
        "json",
    )
    means = [
        gate(name, "--format", "json", baseline="start.run") for name in ("new", "again", "third")
    ]
    found = [asked(one)["checks"][0]["mean_run"] for one in means]
    mean = sum(found) / 3
    spread = (sum((one - mean) ** 2 for one in found) / 2) ** 0.5

    assert asked(said)["checks"][0]["mean_run"] == pytest.approx(mean)
    assert f"has a standard deviation of {spread:.4f} (3 runs)" in asked(said)["notes"][0]
    assert [(one.name, one.commit) for one in record(folder).kept] == [
        ("new", 1),
        ("new", 1),
        ("new", 1),
        ("start", 0),
    ]
    write_run(folder, "next", noisy(7))
    before = asked(gate("next", "--format", "json"))["checks"][0]["mean_baseline"]
    assert before == pytest.approx(mean)


def test_a_drop_is_accepted_by_name_and_becomes_the_anchor(gate: Gate, folder: Path) -> None:
    write_run(folder, "worse", dict.fromkeys(QUERIES, 5))
    closed = gate("worse", "--update-baseline")
    accepted = gate("worse", "--accept", "half the latency", "--accepted-by", "Ada")
    again = gate("worse", "--update-baseline")
    series = record(folder).series

    assert (closed.code, accepted.code, again.code) == (1, 0, 0)
    assert "--accept REASON records that you accept the drop." in words(closed)
    assert "Ada accepted RR 0.2000 after 0.5000" in words(accepted)
    assert [(one.reason, one.by, one.run, one.measure) for one in series.accepted] == [
        ("half the latency", "Ada", "worse", "RR")
    ]
    assert (series.accepted[0].before, series.accepted[0].now) == (0.5, pytest.approx(0.2))
    assert [(one.name, one.commit) for one in record(folder).kept] == [("worse", 0)]


def test_accepting_needs_a_baseline_file(gate: Gate, folder: Path) -> None:
    write_run(folder, "worse", dict.fromkeys(QUERIES, 5))

    said = gate("worse", "--accept", "why not", baseline="start.run")

    assert said.code == 2
    assert "--baseline start.run: found a file that --update-baseline did not make" in said.err


def test_a_folder_holds_the_series_in_place_of_the_baseline_file(gate: Gate, folder: Path) -> None:
    before = (folder / "main.gz").read_bytes()
    for seed in range(3):
        write_run(folder, "new", noisy(seed))
        gate("new", "--series", "state")
    looked = record(folder, "state/main.gz")
    gate("new", "--series", "state", "--update-baseline")

    assert (folder / "main.gz").read_bytes() == before
    assert (looked.series.looks, [one.name for one in looked.kept]) == (3, ["start"])
    assert [one.name for one in record(folder, "state/main.gz").kept] == ["new", "start"]


def test_a_strict_gate_spends_nothing(gate: Gate, folder: Path) -> None:
    write_run(folder, "new", noisy(1))

    said = asked(
        gate("new", "--strict", "--margin", "0.3", "--update-baseline", "--format", "json")
    )

    assert (said["outcome"], said["policy"]["alpha"]) == ("passed", 0.05)
    assert record(folder).series.looks == 0


def test_held_out_queries_decide_nothing_and_show_overfitting(gate: Gate, folder: Path) -> None:
    """A change that helps the queries of the gate alone."""
    held = held_out_queries(QUERIES, 0.3)
    write_run(folder, "bad", dict.fromkeys(held, 9))
    closed_by_all, open_without = gate("bad"), gate("bad", "--holdout", "0.3")
    for number in range(9):
        write_run(folder, "new", noisy(number))
        gate("new", "--holdout", "0.3", "--update-baseline")
    write_run(folder, "tuned", dict.fromkeys(set(QUERIES[:-20]) - held, 1))
    notes = asked(gate("tuned", "--holdout", "0.3", "--format", "json"))["notes"]

    assert 20 < len(held) < 50
    assert (closed_by_all.code, open_without.code) == (1, 0)
    assert any(
        note.startswith("held out: RR gained +0.4") and note.endswith("overfitted; replace them")
        for note in notes
    )


def test_a_file_of_an_earlier_version_is_the_anchor_of_a_new_series(
    gate: Gate, folder: Path
) -> None:
    text = gzip.decompress((folder / "main.gz").read_bytes()).decode()
    head, _, rest = text.partition("\n")
    said = json.loads(head.removeprefix("# idealrank baseline "))
    old = {name: value for name, value in said.items() if name not in ("series", "kept")} | {
        "schema": 1
    }
    (folder / "old.run").write_text(
        "# idealrank baseline " + json.dumps(old, separators=(",", ":")) + "\n" + rest,
        encoding="utf-8",
    )
    write_run(folder, "new", noisy(1))

    found = asked(gate("new", "--update-baseline", "--format", "json", baseline="old.run"))

    assert found["outcome"] == "passed"
    assert [(one.name, one.commit) for one in record(folder, "old.run").kept] == [
        ("new", 1),
        ("start", 0),
    ]


def test_the_file_reads_as_the_last_accepted_run(
    gate: Gate, folder: Path, say: Callable[..., Said]
) -> None:
    write_run(folder, "new", noisy(3))
    gate("new", "--update-baseline")

    of_file, of_run = (
        say("evaluate", "qrels.txt", name, "-m", "RR@10", "--format", "json", cwd=folder)
        for name in ("main.gz", "new.run")
    )

    assert json.loads(of_file.out)["runs"][0]["mean"] == json.loads(of_run.out)["runs"][0]["mean"]


@pytest.mark.parametrize("damage", ["lost", "field"])
def test_a_damaged_series_is_refused(gate: Gate, folder: Path, damage: str) -> None:
    write_run(folder, "new", noisy(3))
    gate("new", "--update-baseline")
    text = gzip.decompress((folder / "main.gz").read_bytes()).decode()
    head, mark, kept = text.partition("# kept 1\n")
    (folder / "main.gz").write_bytes(
        gzip.compress((head if damage == "lost" else f"{head}{mark}#\tq1\n{kept}").encode())
    )

    said = gate("new")

    assert said.code == 2
    assert "main.gz:1: found a" in said.err
    assert "delete it, and create it again with" in said.err


def with_anchor(gate: Gate, folder: Path) -> tuple[str, ...]:
    """Two accepted commits, so that the next gate is held to the anchor, too; options for every
    output.
    """
    for seed in (1, 2):
        write_run(folder, "new", noisy(seed))
        gate("new", "--update-baseline")
    write_run(folder, "next", noisy(3))
    (folder / "judge.txt").write_text(
        (folder / "qrels.txt").read_text(encoding="utf-8"), encoding="utf-8"
    )
    return (
        "--store",
        "store",
        "--report",
        "page.html",
        "--junit",
        "gate.xml",
        "--markdown",
        "gate.md",
        "--judge-qrels",
        "judge.txt",
    )


def test_the_anchor_is_on_the_page_and_in_every_file(gate: Gate, folder: Path) -> None:
    said = gate("next", *with_anchor(gate, folder), "--format", "json")

    assert said.code == 0
    checks = asked(said)["checks"]
    assert [check["baseline"] for check in checks] == ["main", "main (anchor)"]
    assert checks[0]["judge"]["difference"] == pytest.approx(checks[0]["difference"])
    assert checks[1]["judge"]["difference"] == pytest.approx(
        value_of(folder, "next") - value_of(folder, "start")
    )
    for name in ("page.html", "gate.xml", "gate.md"):
        assert "anchor" in (folder / name).read_text(encoding="utf-8")


def value_of(folder: Path, name: str) -> float:
    qrels, run = folder / "qrels.txt", folder / f"{name}.run"
    return float(ir.evaluate(qrels, run, "RR").mean()["RR"])


def test_a_store_makes_the_gate_of_a_series_again_as_it_was(gate: Gate, folder: Path) -> None:
    said = asked(gate("next", *with_anchor(gate, folder)[:2], "--format", "json"))

    with ir.Store.open(folder / "store") as store:
        (key,) = [entry.id for entry in store.entries(kind="gate")]
        again = store.gate_again(key).as_dict()

    assert [check["mean_run"] for check in again["checks"]] == [
        check["mean_run"] for check in said["checks"]
    ]
    for name, value in again.items():
        if name != "checks":
            assert value == said[name], name
    for one, other in zip(again["checks"], said["checks"], strict=True):
        assert {name: one[name] for name in one if one[name] != other[name]} == {}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--accept", " "), "--accept: found an empty reason"),
        (("--accepted-by", "Ada"), "--accepted-by: found it without --accept"),
        (("--holdout", "0.999"), "holds out all 120 queries"),
        (("--holdout", "1"), "expected a share of the queries from 0 to below 1"),
        (("--horizon", "0"), "--horizon 0: expected a number of commits from 1 on"),
        (
            ("--strict", "--margin", "0.1", "--largest-loss", "5"),
            "found more than the range of RR, 0 to 1",
        ),
    ],
)
def test_options_that_mean_nothing_are_refused(
    gate: Gate, folder: Path, options: tuple[str, ...], said: str
) -> None:
    write_run(folder, "new", noisy(1))

    done = gate("new", *options)

    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_only_a_run_that_joins_is_accepted_and_only_into_a_file_that_exists(
    gate: Gate, folder: Path
) -> None:
    lines = (folder / "start.run").read_text(encoding="utf-8").replace(" q", " other-q")
    (folder / "strange.run").write_text(lines, encoding="utf-8")
    before = (folder / "main.gz").read_bytes()

    strange, typo = (
        gate("strange", "--accept", "why not"),
        gate("start", "--accept", "why not", baseline="mian.gz"),
    )

    assert (strange.code, typo.code) == (2, 2)
    assert "cannot be accepted as a baseline" in strange.err
    assert (folder / "main.gz").read_bytes() == before
    assert not (folder / "mian.gz").exists()


@pytest.mark.parametrize(
    ("field", "value"),
    [("spent", -9), ("spent", 1.0), ("looks", -5), ("number", 0), ("spent", float("nan"))],
)
def test_a_state_that_no_gate_writes_is_refused(
    gate: Gate, folder: Path, field: str, value: float
) -> None:
    head, _, rest = gzip.decompress((folder / "main.gz").read_bytes()).decode().partition("\n")
    said = json.loads(head.removeprefix("# idealrank baseline "))
    said["series"][field] = value
    text = "# idealrank baseline " + json.dumps(said, separators=(",", ":")) + "\n" + rest
    (folder / "main.gz").write_bytes(gzip.compress(text.encode()))

    done = gate("start")

    assert done.code == 2
    assert "main.gz:1: found an incomplete first line of a baseline" in done.err


def test_a_first_line_that_holds_no_record_is_refused(gate: Gate, folder: Path) -> None:
    _, _, rest = gzip.decompress((folder / "main.gz").read_bytes()).decode().partition("\n")
    (folder / "main.gz").write_bytes(gzip.compress(("# idealrank baseline []\n" + rest).encode()))

    assert gate("start").code == 2


def test_an_accepted_drop_is_said_first(gate: Gate, folder: Path) -> None:
    write_run(folder, "worse", dict.fromkeys(QUERIES, 5))

    said = gate("worse", "--accept", "half the latency", "--accepted-by", "Ada")

    assert words(said).startswith(
        "Ada accepted this run: half the latency. The gate is closed: by RR, worse is worse "
        "than main"
    )


def test_a_folder_of_a_series_hides_and_replaces_no_run(gate: Gate, folder: Path) -> None:
    """The state in the folder has the name of the baseline: a run of that name is no state."""
    (folder / "base").mkdir()
    write_run(folder, "bad", dict.fromkeys(QUERIES, 6))
    (folder / "start.run").rename(folder / "base" / "bad.run")
    before = (folder / "bad.run").read_bytes()

    said = [
        gate("bad", "--series", ".", *options, baseline="base/bad.run")
        for options in ((), ("--update-baseline",))
    ]

    assert [one.code for one in said] == [2, 2]
    assert (folder / "bad.run").read_bytes() == before


def test_what_is_spent_stays_spent_whatever_the_policy_says_later(gate: Gate, folder: Path) -> None:
    for seed in range(3):
        write_run(folder, "new", noisy(seed))
        gate("new", "--update-baseline")
    write_run(folder, "next", noisy(9))
    gate("next", "--strict", "--margin", "0.3", "--alpha", "0.004", "--update-baseline")
    after_strict = record(folder).series
    write_run(folder, "last", noisy(10))
    gate("last", "--alpha", "0.004", "--update-baseline")
    lower = record(folder).series

    assert (after_strict.looks, after_strict.number, round(after_strict.spent, 6)) == (3, 1, 0.003)
    assert (lower.looks, lower.number) == (4, 1)
    assert lower.spent == pytest.approx(0.003 + 0.001 / 47)


def test_a_folder_of_a_series_needs_a_baseline_file(gate: Gate, folder: Path) -> None:
    write_run(folder, "new", noisy(1))

    said = gate("new", "--series", "state", baseline="start.run")

    assert (said.code, said.out) == (2, "")
    assert (
        "--series 'state': found an ordinary run as the last baseline, start.run, expected a "
        "baseline file" in said.err
    )
    assert not (folder / "state").exists()


def test_a_series_of_a_baseline_that_is_not_the_last_is_not_passed_over_in_silence(
    gate: Gate, folder: Path
) -> None:
    write_run(folder, "new", noisy(1))

    said = gate("new", "--baseline", "start.run")

    assert "main.gz is not the last baseline: its series is neither read nor written" in words(said)
    assert record(folder).series.looks == 0


@pytest.mark.parametrize("accepted", [0, 2])
def test_the_anchor_may_be_the_source_of_the_labels(
    gate: Gate, folder: Path, accepted: int
) -> None:
    """Its name is printed by every gate of a series, and it is the last accepted run until another
    one is accepted.
    """
    relevant = [f"{query} 0 {query}-0 1\n" for query in QUERIES]
    (folder / "qrels.txt").write_text("".join(relevant), encoding="utf-8")
    for number in range(accepted):
        write_run(folder, "new", noisy(number))
        gate("new", "--update-baseline")
    write_run(folder, "worse", dict.fromkeys(QUERIES, 8))

    checks = asked(gate("worse", "--labels-from", "main (anchor)", "--format", "json"))["checks"]
    typo = gate("worse", "--labels-from", "mian (anchor)")

    sources = {
        check["baseline"]: check["basis"] is not None and check["basis"]["one_sided"] is not None
        for check in checks
    }
    assert sources == ({"main": True} if not accepted else {"main": False, "main (anchor)": True})
    assert typo.code == 2
    assert "--labels-from 'mian (anchor)'" in typo.err


def test_contracts_of_held_out_queries_decide_nothing_and_are_named(
    gate: Gate, folder: Path
) -> None:
    held = sorted(held_out_queries(QUERIES, 0.3))
    write_run(folder, "bad", {held[0]: 9})
    (folder / "contracts.csv").write_text(
        f"query,at_least\n{held[0]},0.5\nq001,0.1\n", encoding="utf-8"
    )
    assert "q001" not in held

    closed, opened = (
        gate("bad", "--contracts", "contracts.csv", *options)
        for options in ((), ("--holdout", "0.3"))
    )

    assert (closed.code, opened.code) == (1, 0)
    assert f"contracts of held-out queries are not looked at: {held[0]}" in words(opened)
    assert "contracts: 1 kept, 0 broken" in opened.out


def test_the_note_on_overfitted_queries_has_weights_and_clusters(gate: Gate, folder: Path) -> None:
    """One query has nearly all the weight, or all queries of the gate are of one cluster: nothing
    is shown.
    """
    held = held_out_queries(QUERIES, 0.3)
    for number in range(9):
        write_run(folder, "new", noisy(number))
        gate("new", "--holdout", "0.3", "--update-baseline")
    write_run(folder, "tuned", dict.fromkeys(set(QUERIES[:-20]) - held, 1))
    weights = [f"{query},{1000 if query == 'q119' else 1}\n" for query in QUERIES]
    (folder / "weights.csv").write_text("query,weight\n" + "".join(weights), encoding="utf-8")
    clusters = [f"{query},{query if query in held else 'one'}\n" for query in QUERIES]
    (folder / "clusters.csv").write_text("query,cluster\n" + "".join(clusters), encoding="utf-8")

    notes = []
    for options in ((), ("--weights", "weights.csv"), ("--cluster", "clusters.csv")):
        said = asked(gate("tuned", "--holdout", "0.3", "--format", "json", *options))
        notes.append(next(note for note in said["notes"] if note.startswith("held out: ")))

    plain, weighted, clustered = notes
    assert plain.endswith("overfitted; replace them")
    assert "q119" not in held
    assert "differ by no more than chance" in weighted
    assert "too few to look at" in clustered
