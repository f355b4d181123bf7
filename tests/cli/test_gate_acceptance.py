"""`idealrank gate --accept`: every form says who accepted the run, and why, before it says what the
gate found.
"""

import html
import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import idealrank as ir
from tests.cli.gate_runs import QUERIES, Gate, asked, record, words, write_run

ACCEPT = ("--accept", "half the latency", "--accepted-by", "Ada")
HEADLINE = "Ada accepted this run: half the latency."


@pytest.fixture
def accept(gate: Gate, folder: Path) -> Gate:
    write_run(folder, "worse", dict.fromkeys(QUERIES, 5))
    (folder / "contracts.csv").write_text("query,at_least\nq001,0.5\n", encoding="utf-8")

    def ask(*options: str) -> object:
        return gate("worse", *ACCEPT, "--contracts", "contracts.csv", *options)

    return ask


def test_a_build_server_sees_no_failure_and_the_reason(accept: Gate, folder: Path) -> None:
    said = accept("--junit", "gate.xml")

    suites = ET.fromstring((folder / "gate.xml").read_text(encoding="utf-8"))
    properties = {one.get("name"): one.get("value") for one in suites.iter("property")}
    skipped = [one.get("message") for one in suites.iter("skipped")]
    assert said.code == 0
    assert (suites.get("failures"), suites[0].get("skipped")) == ("0", "2")
    assert list(suites.iter("failure")) == []
    assert [message.startswith(HEADLINE) for message in skipped] == [True, True]
    assert list(properties)[:2] == ["accepted.by", "accepted.reason"]
    assert suites.findtext("testsuite/system-out", "").startswith(HEADLINE)


def test_a_comment_and_annotations_say_it_first(accept: Gate, folder: Path) -> None:
    said = accept("--markdown", "gate.md", "--github")

    comment = html.unescape((folder / "gate.md").read_text(encoding="utf-8"))
    commands = [line for line in said.err.splitlines() if line.startswith("::")]
    assert comment.startswith(f"**{HEADLINE}**\n\n**The gate is closed")
    assert "| **failed, accepted** |" in comment
    assert commands[0] == f"::notice title=Accepted::{HEADLINE}"
    assert [line.split(" ")[0] for line in commands] == [
        "::notice",
        "::warning",
        "::warning",
        "::notice",
    ]


def test_the_page_and_the_table_say_it(accept: Gate, folder: Path) -> None:
    said = accept("--report", "page.html")

    page = (folder / "page.html").read_text(encoding="utf-8")
    heading = page.partition('<h1 id="verdict">')[2].partition("</h1>")[0]
    assert heading.startswith(f"<bdi>{HEADLINE} The gate is closed")
    assert "verdict unreached" in page
    assert "failed, accepted" in words(said)


def test_json_and_python_say_it_first(accept: Gate, folder: Path) -> None:
    found = json.loads(accept("--format", "json", "--store", "store").out)

    assert next(iter(found)) == "acceptance"
    assert (found["acceptance"]["by"], found["acceptance"]["reason"]) == ("Ada", "half the latency")
    with ir.Store.open(folder / "store") as store:
        (key,) = [entry.id for entry in store.entries(kind="gate")]
        assert str(store.gate_again(key)).startswith(HEADLINE)


def test_an_acceptance_names_the_check_that_its_numbers_are_of(gate: Gate, folder: Path) -> None:
    """Small drops in a row are closed by the anchor, whose mean is not that of the run."""
    run = 0
    while run < 30:
        run += 1
        write_run(folder, "new", dict.fromkeys(QUERIES[: 2 * run], 4))
        if gate("new", "--update-baseline").code:
            break
    said = gate("new", *ACCEPT, "--format", "json")

    (accepted,) = record(folder).series.accepted
    checks = {check["baseline"]: check for check in asked(said)["checks"]}
    assert accepted.baseline == "main (anchor)"
    assert (accepted.before, accepted.now) == (
        checks["main (anchor)"]["mean_baseline"],
        checks["main (anchor)"]["mean_run"],
    )
    assert (
        "accepted the mean of this run and the last accepted ones, RR" in asked(said)["notes"][-1]
    )
    assert checks["main"]["mean_run"] != accepted.now


def test_an_acceptance_of_the_run_names_the_last_accepted_one(gate: Gate, folder: Path) -> None:
    write_run(folder, "worse", dict.fromkeys(QUERIES, 5))

    said = gate("worse", *ACCEPT)

    assert record(folder).series.accepted[0].baseline == "main"
    assert "Ada accepted RR 0.2000 after 0.5000 in main" in words(said)


def test_a_contract_that_alone_closed_the_gate_is_recorded_by_its_query(
    gate: Gate, folder: Path
) -> None:
    write_run(folder, "new", {"q001": 5})
    (folder / "contracts.csv").write_text("query,at_least\nq001,0.5\nq002,0.1\n", encoding="utf-8")

    said = gate("new", *ACCEPT, "--contracts", "contracts.csv")

    (accepted,) = record(folder).series.accepted
    assert said.code == 0
    assert (accepted.contract, accepted.measure, accepted.before, accepted.now) == (
        "q001",
        "RR",
        0.5,
        pytest.approx(0.2),
    )
    assert (accepted.p, accepted.baseline) == (None, "")
    assert (
        "Ada accepted the broken contract of query q001: RR 0.2000, demanded 0.5000 (run new,"
        in words(said)
    )


def test_an_acceptance_under_a_strict_gate_spends_nothing(gate: Gate, folder: Path) -> None:
    write_run(folder, "worse", dict.fromkeys(QUERIES, 5))

    said = gate("worse", *ACCEPT, "--strict", "--margin", "0.05")

    series = record(folder).series
    assert said.code == 0
    assert (len(series.accepted), series.looks, series.spent) == (1, 0, 0.0)


def test_accepting_needs_the_baseline_file_and_says_so_in_the_help(
    gate: Gate, folder: Path
) -> None:
    """A name mistyped would make a new file of an open gate, and the acceptance would be lost."""
    said, told = gate("start", *ACCEPT, baseline="fresh.gz"), gate("start", "--help")

    assert said.code == 2
    assert "with --update-baseline the first run becomes the baseline" in said.err
    assert not (folder / "fresh.gz").exists()
    assert "The file must exist." in words(told)


def test_accepting_a_first_run_that_breaks_a_contract_records_it(gate: Gate, folder: Path) -> None:
    (folder / "contracts.csv").write_text("query,at_least\nq001,0.9\n", encoding="utf-8")

    said = gate(
        "start", *ACCEPT, "--contracts", "contracts.csv", "--update-baseline", baseline="fresh.gz"
    )

    series = record(folder, "fresh.gz").series
    assert said.code == 0
    assert ([one.contract for one in series.accepted], series.looks) == (["q001"], 0)


def test_the_message_of_an_accepted_contract_has_the_id_as_it_is(
    accept: Gate, folder: Path
) -> None:
    accept("--junit", "gate.xml")

    suites = ET.fromstring((folder / "gate.xml").read_text(encoding="utf-8"))
    messages = {
        case.get("classname"): [one.get("message", "") for one in case.iter("skipped")]
        for case in suites.iter("testcase")
    }
    assert messages["contracts"] == [f"{HEADLINE} q001: RR 0.2000, demanded 0.5000"]


def test_a_user_without_a_name_is_asked_for_one_before_any_work(
    gate: Gate, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown() -> str:
        raise KeyError("getpwuid(): uid not found: 4711")

    monkeypatch.setattr("getpass.getuser", unknown)
    write_run(folder, "worse", dict.fromkeys(QUERIES, 5))

    said = gate("worse", "--accept", "half the latency")

    assert said.code == 2
    assert "--accepted-by: found no name of the user, expected one" in " ".join(said.err.split())
