"""`idealrank gate` where there are too few judgments: exit code 3, options, the policy file,
baselines, pages and stores.
"""

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.terminal import Said
from tests.pools import collection, written
from tests.workflow_commands import obeyed

Say = Callable[..., Said]
Gate = Callable[..., Said]
SENTENCE = re.compile(
    r"this drop would no longer be significant if \d+% of the \d+ unjudged documents that "
    r"only new returns were relevant"
)


@pytest.fixture
def held(say: Say, tmp_path: Path) -> Gate:
    """The new run, held to main by the judgments of main's pool; or others. Neutral where these
    judgments decide nothing.
    """
    written(tmp_path)

    def ask(
        *options: str,
        qrels: str = "pooled.qrels",
        run: str = "new.run",
        baseline: str = "main.run",
        neutral: bool = True,
        **changes: Any,
    ) -> Said:
        rule = () if "--when-unjudged" in options or not neutral else ("--when-unjudged", "neutral")
        return say(
            "gate", qrels, run, "--baseline", baseline, *rule, *options, cwd=tmp_path, **changes
        )

    return ask


def words(said: Said) -> str:
    return " ".join(said.out.split())


def test_each_outcome_has_its_exit_code(held: Gate) -> None:
    doubtful, truth = held(), held(qrels="full.qrels")
    stopped = held(qrels="full.qrels", run="main.run", baseline="new.run")

    assert [one.code for one in (truth, stopped, held("--alpha", "2"), doubtful)] == [0, 1, 2, 3]
    assert words(doubtful).startswith(
        "Too few judgments to say whether new may replace main: by nDCG@10,"
    )
    assert re.search(
        r"If \d+% of the \d+ unjudged documents that only new returns were relevant, the drop "
        r"could be chance;",
        words(doubtful),
    )
    assert SENTENCE.search(words(held("--more")))
    assert (doubtful.err, truth.err) == ("", "")


def test_without_a_word_on_it_a_gate_that_cannot_decide_is_closed_and_says_the_way_out(
    held: Gate, tmp_path: Path
) -> None:
    doubtful = held("--junit", "gate.xml", "--markdown", "gate.md", "--github", neutral=False)
    size = (
        r"nDCG@10 is 0\.458 against 0\.842 in main, a drop of 0\.384 that cannot be shown to be "
        r"harmless"
    )

    assert doubtful.code == 1
    assert re.match(f"The gate is closed, with too few judgments: {size}", words(doubtful))
    assert re.search(
        r"About \d+ labels will decide; the command below chooses them\.", words(doubtful)
    )
    assert re.search(
        r"idealrank judge next pooled\.qrels main\.run new\.run .*--until gate", words(doubtful)
    )
    assert [kind for kind, _, _ in obeyed(doubtful.err)] == ["error", "notice"]
    (suite,) = ET.parse(tmp_path / "gate.xml").getroot()
    (failure,) = suite.iter("failure")
    comment = (tmp_path / "gate.md").read_text(encoding="utf-8").splitlines()[0]
    assert (suite.get("failures"), suite.get("skipped")) == ("1", "0")
    assert failure.get("type") == "too few judgments"
    assert comment.startswith("**The gate is closed: ")
    assert comment.endswith("(1 of 1 check with too few judgments)**")


def test_exit_code_3_comes_with_its_meaning_and_the_next_step(
    held: Gate, say: Say, tmp_path: Path
) -> None:
    doubtful, truth = (
        held("--markdown", "gate.md", "--report", "gate.html"),
        held(qrels="full.qrels"),
    )
    meaning = "The run neither passed nor failed (exit code 3 of the command)."
    labels = json.loads(held("--format", "json").out)["checks"][0]["tipping"]["labels_needed"]
    step = f"About {labels} labels will decide"

    assert labels > 0
    assert f"{meaning} {step}; the command below chooses them." in words(doubtful)
    assert "exit code 3" not in words(truth)
    for name in ("gate.md", "gate.html"):
        assert f"{step}: idealrank judge next QRELS RUN_A RUN_B --until gate" in (
            tmp_path / name
        ).read_text(encoding="utf-8")
    assert "3 too few judgments under --when-unjudged neutral." in words(say("gate", "--help"))


def test_the_commands_of_the_next_step_show_what_is_unjudged(
    held: Gate, say: Say, tmp_path: Path
) -> None:
    assert (
        "'idealrank why' lists the queries with unjudged documents, and 'idealrank explain' "
        "lists the documents of a query." in words(held("--more"))
    )

    queries = say("why", "pooled.qrels", "main.run", "new.run", cwd=tmp_path).out
    (query,) = re.findall(r"^query (\S+): .*\n +unjudged documents: 0 ->", queries, re.MULTILINE)[
        :1
    ]
    assert (
        "unjudged" in say("explain", "pooled.qrels", "new.run", "--query", query, cwd=tmp_path).out
    )


def test_the_share_of_the_one_sided_test_is_named_so(held: Gate, say: Say, tmp_path: Path) -> None:
    one_sided = "'idealrank compare' reports a different share, because its test is two-sided."
    compared = say(
        "compare", "pooled.qrels", "main.run", "new.run", "-m", "nDCG@10", "--more", cwd=tmp_path
    )

    assert one_sided in words(held("--more"))
    assert one_sided not in words(held("--strict", "--margin", "0.5", "--more", qrels="full.qrels"))
    assert "this difference would no longer be significant" in words(compared).lower()
    assert one_sided not in words(compared)


@pytest.mark.parametrize(("asked", "code"), [("neutral", 3), ("fail", 1), ("pass", 0)])
def test_what_becomes_of_it_is_an_option(held: Gate, asked: str, code: int) -> None:
    said = held("--when-unjudged", asked, "--more")

    assert said.code == code
    assert SENTENCE.search(words(said))


def test_a_pass_over_a_baseline_with_many_more_unjudged_documents_is_cautioned(
    held: Gate, tmp_path: Path
) -> None:
    options = ("--markdown", "gate.md", "--report", "gate.html", "--no-robust")
    said = held(*options, run="main.run", baseline="new.run")
    _, pooled, _, new = collection()
    unjudged = [name not in pooled[query] for query, names in new.items() for name in names]
    share = sum(unjudged) / len(unjudged)
    caution = (
        f"Caution: by nDCG@10 {share:.1%} of the documents of new are unjudged, and 0.0% of main, "
        f"which may hide a drop."
    )
    step = (
        "Judge the documents that only new returns, the highest ranks first, and run the gate "
        "again."
    )

    assert said.code == 0
    assert caution in words(said)
    assert step in words(said)
    assert step.replace("new", "<code>new</code>") in (tmp_path / "gate.md").read_text(
        encoding="utf-8"
    )
    assert caution in re.sub(r"\s+", " ", (tmp_path / "gate.html").read_text(encoding="utf-8"))
    assert "Caution:" not in words(held(qrels="full.qrels"))
    assert "Caution:" not in words(
        held("--strict", "--margin", "0.5", run="main.run", baseline="new.run")
    )


def test_another_word_is_refused(held: Gate) -> None:
    said = held("--when-unjudged", "maybe")

    assert (said.code, said.out) == (2, "")
    assert "'maybe' is not one of 'fail', 'neutral', 'pass'" in said.err


def test_files_and_annotations_are_neutral_too(
    held: Gate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))

    said = held("--junit", "gate.xml", "--markdown", "gate.md", "--format", "json", "--github")

    assert said.code == 3
    assert [kind for kind, _, _ in obeyed(said.err)] == ["warning", "notice"]
    (suite,) = ET.parse(tmp_path / "gate.xml").getroot()
    assert (suite.get("failures"), suite.get("skipped")) == ("0", "1")
    assert (
        (tmp_path / "gate.md")
        .read_text(encoding="utf-8")
        .startswith("**Too few judgments to say whether ")
    )
    assert SENTENCE.search((tmp_path / "summary.md").read_text(encoding="utf-8"))
    found = json.loads(said.out)
    assert (found["outcome"], found["passed"], found["checks"][0]["tipping"]["reaches"]) == (
        "too few judgments",
        False,
        False,
    )


def test_a_run_that_the_judgments_do_not_reach_replaces_no_baseline(
    held: Gate, tmp_path: Path
) -> None:
    made = held("--update-baseline", run="main.run", baseline="best.gz")
    before = (tmp_path / "best.gz").read_bytes()

    kept = held("--update-baseline", baseline="best.gz")
    not_made = held("--baseline", "other.gz", "--update-baseline")
    let = held("--update-baseline", "--when-unjudged", "pass", baseline="best.gz")

    assert [one.code for one in (made, kept, not_made, let)] == [0, 3, 3, 0]
    assert "note: best.gz was not replaced: too few judgments" in words(kept)
    assert "note: other.gz was not made: too few judgments" in words(not_made)
    assert "note: best.gz now holds new as the last accepted run" in words(let)
    assert (tmp_path / "best.gz").read_bytes() != before
    assert not (tmp_path / "other.gz").exists()


@pytest.mark.slow
def test_companions_are_shown_and_close_the_gate_only_where_they_are_named(
    held: Gate, tmp_path: Path
) -> None:
    # The first documents of main are those of new, but for one swap; deeper down it has lost all.
    lines = (tmp_path / "new.run").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "cut.run").write_text(
        "".join(line for line in lines if int(line.split()[3]) <= 5), encoding="utf-8"
    )

    def outcomes(*options: str) -> tuple[int, list[tuple[str, bool, str]]]:
        said = held(
            *options, "--format", "json", qrels="full.qrels", run="cut.run", baseline="new.run"
        )
        return said.code, [
            (one["measure"], one["decides"], one["outcome"])
            for one in json.loads(said.out)["checks"]
        ]

    assert outcomes("-m", "P@5,R@10") == (0, [("P@5", True, "passed"), ("R@10", False, "failed")])
    assert outcomes("-m", "P@5,R@10", "--also", "R@10") == (
        1,
        [("P@5", True, "passed"), ("R@10", True, "failed")],
    )
    assert outcomes("-m", "P@5", "--also", "RR,R@10", "--also", "P@1")[0] == 1
    assert [
        name for name, _, _ in outcomes("-m", "P@5", "--also", "RR,R@10", "--also", "P@1")[1]
    ] == ["P@5", "RR", "R@10", "P@1"]
    assert outcomes("-m", "R@10,P@5") == (1, [("R@10", True, "failed"), ("P@5", False, "passed")])


def test_contracts_without_a_measure_are_of_the_measures_that_decide(
    held: Gate, tmp_path: Path
) -> None:
    (tmp_path / "contracts.csv").write_text("query\nq01\n", encoding="utf-8")
    command = ("-m", "nDCG@10,P@5", "--contracts", "contracts.csv", "--format", "json")

    alone, named = (
        json.loads(held(*command, *also).out)["contracts"] for also in ((), ("--also", "P@5"))
    )

    assert [one["measure"] for one in alone] == ["nDCG@10"]
    assert [one["measure"] for one in named] == ["nDCG@10", "P@5"]


def test_the_policy_of_the_project_has_both(held: Gate, tmp_path: Path) -> None:
    def policy(text: str) -> None:
        (tmp_path / "pyproject.toml").write_text(
            f"[tool.idealrank.gate]\n{text}\n", encoding="utf-8"
        )

    policy('when_unjudged = "neutral"\nalso = ["P@5"]')
    of_file, typed = (
        json.loads(held(*options, "--format", "json", neutral=False).out)
        for options in ((), ("--when-unjudged", "pass", "--also", "RR"))
    )
    policy('when_unjudged = "maybe"')
    wrong = held(neutral=False)
    policy('also = "nDGC@5"')
    unknown = held()

    assert (of_file["outcome"], of_file["policy"]["when_unjudged"]) == (
        "too few judgments",
        "neutral",
    )
    assert [(one["measure"], one["decides"]) for one in of_file["checks"]] == [
        ("nDCG@10", True),
        ("P@5", True),
    ]
    assert (typed["outcome"], [one["measure"] for one in typed["checks"]]) == (
        "passed",
        ["nDCG@10", "RR"],
    )
    assert "when_unjudged: found 'maybe', expected one of fail, neutral, pass" in wrong.err
    assert "pyproject.toml [tool.idealrank.gate]: " in unknown.err
    assert "nDGC@5" in unknown.err


def test_pages_and_stores_keep_the_outcome(held: Gate, say: Say, tmp_path: Path) -> None:
    said = held("--report", "gate.html", "--store", "kept", "--no-robust")
    page = re.sub(r"\s+", " ", (tmp_path / "gate.html").read_text(encoding="utf-8"))
    key = re.findall(r"stored as (\w+)", said.err)[0]

    shown = say("store", "show", key, "--store", "kept", cwd=tmp_path)
    again = say("report", key, "--store", "kept", "-o", "again.html", cwd=tmp_path)

    assert said.code == 3
    for text in (page, re.sub(r"\s+", " ", (tmp_path / "again.html").read_text(encoding="utf-8"))):
        assert "Too few judgments to say whether new may replace main" in text
        assert SENTENCE.search(text)
        assert 'class="verdict unreached"' in text
    assert (shown.code, again.code) == (0, 0)
    assert "There were too few judgments." in shown.out


def test_the_next_step_names_no_run_without_documents_of_its_own(say: Say, tmp_path: Path) -> None:
    """The baseline is judged in full: what the run alone shows without a judgment makes its strict
    pass uncertain.
    """
    judged = [f"s{number}" for number in range(8)]
    qrels, answers = (
        "".join(f"{query} {line}\n" for query in judged) for line in ("0 s 1", "Q0 s 1 1 t")
    )
    (tmp_path / "qrels.txt").write_text(f"{qrels}q4 0 a 0\n", encoding="utf-8")
    (tmp_path / "old.run").write_text(answers, encoding="utf-8")
    (tmp_path / "new.run").write_text(f"{answers}q4 Q0 b 1 1 t\n", encoding="utf-8")
    rule = ("--strict", "--margin", "0.005", "--largest-loss", "0.006")

    said = say(
        "gate", "qrels.txt", "new.run", "--baseline", "old.run", "-m", "P@5", *rule, cwd=tmp_path
    )

    assert said.code == 1
    assert "that only old" not in words(said)
    assert re.search(
        r"About \d+ labels? will decide; the command below chooses them\.", words(said)
    )


def test_the_command_that_chooses_the_labels_has_the_rule_of_the_gate(
    held: Gate, say: Say, tmp_path: Path
) -> None:
    rule = ("--tolerance", "0.0123456789", "--alpha", "0.04")
    lines = held(*rule, "-m", "P@10").out.splitlines()
    (command,) = [line.strip() for line in lines if line.startswith("  idealrank judge next ")]

    chosen = say(*command.split()[1:], cwd=tmp_path)

    assert command.startswith(
        f"idealrank judge next pooled.qrels main.run new.run -m P@10 {' '.join(rule)} "
    )
    assert chosen.code == 0, chosen.err
    assert (tmp_path / "sheet.csv").exists()


@pytest.mark.parametrize("policy", ["fail", "neutral", "pass"])
def test_a_withheld_verdict_has_no_flag_of_its_error_rate(
    say: Say, tmp_path: Path, policy: str
) -> None:
    """Eight of 20 queries fall: with judgments of every document, so few leave the error rate
    open.
    """
    queries = [f"q{number}" for number in range(20)]
    qrels = "".join(f"{query} 0 good 1\n{query} 0 poor 0\n" for query in queries)
    main, late = ("poor", "good"), ("late", "poor", "good")
    (tmp_path / "pooled.qrels").write_text(qrels, encoding="utf-8")
    (tmp_path / "full.qrels").write_text(
        qrels + "".join(f"{query} 0 late 0\n" for query in queries), encoding="utf-8"
    )
    for name, tops in (("main", [main] * 20), ("new", [late] * 8 + [main] * 12)):
        lines = [
            f"{query} Q0 {document} 1 {-rank} t\n"
            for query, top in zip(queries, tops, strict=True)
            for rank, document in enumerate(top)
        ]
        (tmp_path / f"{name}.run").write_text("".join(lines), encoding="utf-8")

    def known(qrels: str) -> Any:
        options = (
            "-m",
            "RR@3",
            "--baseline",
            "main.run",
            "--when-unjudged",
            policy,
            "--format",
            "json",
        )
        check = json.loads(say("gate", qrels, "new.run", *options, cwd=tmp_path).out)["checks"][0]
        return check["carried"], check["error_rate_known"]

    assert (known("pooled.qrels"), known("full.qrels")) == ((False, True), (True, False))
