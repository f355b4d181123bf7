"""What a gate writes for build servers and pull requests: read back by independent readers,
whatever names and ids hold.
"""

import html.parser
import math
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from idealrank.analysis.gate.contracts import Contract, KeptContract
from idealrank.analysis.gate.outcome import Check, Gated, Policy, QueryDrop
from idealrank.conventions import Convention
from idealrank.reports.table.text import harmless, harmless_json, one_line, parts_text
from idealrank.reports.views.gate.gate import gate_parts
from idealrank.reports.views.gate.junit import gate_junit
from idealrank.reports.views.gate.pull_request import MARKER, annotations, gate_markdown
from idealrank.reports.views.gate.sentences import could_see, verdict, visible
from tests.workflow_commands import obeyed

HOSTILE = [
    "::warning::x",
    "##[add-mask]x",
    "q\n::error::x",
    "q\r\n##[error]x",
    "q\r::error::x",
    "<script>alert(1)</script>",
    "`a``b```c",
    "a|b\\|c",
    "@torvalds",
    "#1",
    "https://evil.example/x",
    "![x](http://evil.example)",
    "--> <!-- idealrank gate -->",
    "</details></sub>",
    "&lt;b&gt;",
    "%0A%25",
    "a\x00b\x1b[31m\x07\x85\u2028\u202e\ufffe\ud83d",
    "\udc80\udcff",
    "x" * 100_000,
    "**b**_i_~s~",
    "",
    " ",
    "]]>",
    "é漢😀",
    "title=x,file=y",
]


def drop(query: str, before: float = 1.0, now: float = 0.5) -> QueryDrop:
    return QueryDrop(query=query, baseline=before, run=now, difference=now - before)


CHECK = Check(
    baseline="main",
    measure="nDCG@10",
    direction=1,
    mean_baseline=0.7082,
    mean_run=0.6582,
    difference=-0.05,
    bound=-0.0123,
    p=0.001,
    p_corrected=0.002,
    p_two_sided=0.004,
    passed=False,
    outcome="failed",
    reason="a drop of 0.0500 is significant (one-sided p 0.002)",
    n=60,
    excluded_queries=1,
    identical_queries=20,
    wins=10,
    ties=20,
    losses=30,
    detectable=0.0312,
    worst=(drop("q7"), drop("q9", 0.9, 0.6)),
    unjudged_baseline=0.0,
    unjudged_run=0.0871,
)
FINE = replace(
    CHECK,
    measure="AP",
    unjudged_baseline=None,
    unjudged_run=None,
    passed=True,
    outcome="passed",
    family="companions",
    p_corrected=0.4,
    reason="no drop is significant (one-sided p 0.4)",
    detectable=0.0205,
    worst=(),
)
BROKEN = KeptContract(
    contract=Contract(query="q1", measure="RR", at_least=1.0, place="contracts.csv:3"),
    measure="RR",
    baseline=None,
    demanded=1.0,
    found=0.5,
    passed=False,
)
HELD = KeptContract(
    contract=Contract(query="q2"),
    measure="nDCG@10",
    baseline="main",
    demanded=0.5,
    found=0.75,
    passed=True,
)
CLOSED = Gated(
    run="new",
    baselines=("main",),
    passed=False,
    outcome="failed",
    checks=(CHECK, FINE),
    contracts=(BROKEN, HELD),
    policy=Policy(),
    correction="none",
    n_resamples=100_000,
    seed=7,
    convention=Convention.of("standard"),
)
OPEN = replace(CLOSED, passed=True, outcome="passed", checks=(FINE,), contracts=(HELD,))


def hostile(text: str) -> Gated:
    """The same gate, with this text wherever a name or an id stands."""
    worst = (replace(drop(text), text=text), drop(text))
    check = replace(
        CHECK, baseline=text, measure=text, reason=f"a drop against {text}", worst=worst
    )
    kept = replace(
        BROKEN, contract=Contract(query=text, measure=text, place=text), measure=text, baseline=text
    )
    return replace(
        CLOSED,
        run=text,
        baselines=(text, text),
        checks=(check, replace(check, passed=True, outcome="passed")),
        contracts=(kept, kept),
    )


# --- words ----------------------------------------------------------------------------------------


def test_the_verdict_and_what_could_not_be_seen_are_a_line_each() -> None:
    assert verdict(OPEN) == "The gate is open: new may replace main"
    assert (
        verdict(CLOSED)
        == "The gate is closed: new must not replace main (1 of 2 checks failed, 1 of 2 "
        "contracts broken)"
    )
    assert could_see(CLOSED).startswith(
        "True drop that would be found 80% of the time: nDCG@10 0.031; AP 0.021."
    )
    first = replace(CLOSED, baselines=(), checks=(), contracts=(), passed=True, outcome="passed")
    assert (verdict(first), could_see(first)) == (
        "The gate is open: new may become the first baseline",
        "No measure was compared with a baseline.",
    )
    several = replace(
        CLOSED, baselines=("main", "best"), checks=(CHECK, replace(FINE, baseline="best"))
    )
    assert "nDCG@10 against main 0.031; AP against best 0.021" in could_see(several)


def test_what_cannot_be_seen_is_said_in_words() -> None:
    said = {
        value: visible(replace(CHECK, detectable=value))
        for value in (0.5, math.inf, -math.inf, -0.01)
    }

    assert said == {
        0.5: "0.5000",
        math.inf: "none: too few queries",
        -math.inf: "any: only equal values can pass",
        -0.01: "any, and an improvement below 0.0100",
    }
    assert (
        visible(replace(CHECK, detectable=math.nan, detectable_reason="5 queries differ"))
        == "unknown: 5 queries differ"
    )
    same = replace(CHECK, detectable=math.nan, wins=0, losses=0)
    assert visible(same) == "unknown: nothing changed on 60 queries"
    assert could_see(replace(OPEN, checks=(same,))).endswith(
        "80% of the time: nDCG@10 unknown: nothing changed on 60 queries."
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_a_name_is_shown_on_one_line_of_printable_letters(text: str) -> None:
    shown = one_line(text)

    assert shown.isprintable()
    assert len(shown) <= 60
    assert shown == text or not text.isprintable() or len(text) > 60


# --- JUnit ----------------------------------------------------------------------------------------

# Jenkins' junit-10.xsd: element -> (children it may have, attributes it must have, attributes it
# may have besides).
SCHEMA = {
    "testsuites": ({"testsuite"}, set(), {"name", "time", "tests", "failures", "errors"}),
    "testsuite": (
        {"testsuite", "properties", "testcase", "system-out", "system-err"},
        {"name", "tests", "failures", "errors"},
        {
            "group",
            "time",
            "skipped",
            "timestamp",
            "hostname",
            "id",
            "package",
            "file",
            "log",
            "url",
            "version",
        },
    ),
    "properties": ({"property"}, set(), set()),
    "property": (set(), {"name", "value"}, set()),
    "testcase": (
        {"skipped", "errors", "failure", "system-out", "system-err"},
        {"name"},
        {"time", "classname", "group"},
    ),
    "failure": (set(), set(), {"type", "message"}),
    "system-out": (set(), set(), set()),
}


def junit(gated: Gated) -> ET.Element:
    """Parsed from UTF-8, as a build server does it; it must keep to the schema."""
    root = ET.fromstring("".join(gate_junit(gated)).encode())
    assert root.tag == "testsuites"
    for element in root.iter():
        children, needed, optional = SCHEMA[element.tag]
        assert {child.tag for child in element} <= children
        assert needed <= set(element.attrib) <= needed | optional
    return root


def test_junit_has_a_case_for_each_check_and_contract() -> None:
    suite = junit(CLOSED)[0]
    cases = suite.findall("testcase")

    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "4",
        "failures": "2",
        "errors": "0",
        "skipped": "0",
    }
    assert [(case.get("classname"), case.get("name")) for case in cases] == [
        ("main", "nDCG@10"),
        ("main", "AP"),
        ("contracts", "q1: RR"),
        ("contracts", "q2: nDCG@10 against main"),
    ]
    assert [case.find("failure") is not None for case in cases] == [True, False, True, False]


def test_a_junit_failure_says_why_and_where() -> None:
    drop_, contract = junit(CLOSED).findall(".//failure")

    assert (drop_.get("type"), drop_.get("message")) == (
        "drop",
        "a drop of 0.0500 is significant (one-sided p 0.002)",
    )
    for number in (
        "0.6582",
        "0.7082",
        "-0.0500",
        "-0.0123",
        "0.0312",
        "one-sided p 0.001, corrected 0.002; two-sided p, as in compare, 0.004",
        "better 10, equal 20, worse 30",
        "0.0% / 8.7%",
        "q7  1.0000  0.5000  -0.5000",
    ):
        assert number in (drop_.text or "")
    assert contract.get("message") == "q1: RR 0.5000, demanded 1.0000"
    assert "contracts.csv:3" in (contract.text or "")


def test_junit_has_what_decided_as_properties() -> None:
    strict = replace(CLOSED, policy=Policy(strict=True, margin=0.02))
    found = {one.get("name"): one.get("value") for one in junit(strict).iter("property")}

    assert found["policy"] == "a drop of 0.02 or more is ruled out (one-sided, alpha 0.05)"
    assert (found["strict"], found["margin"], found["alpha"], found["seed"], found["draws"]) == (
        "true",
        "0.02",
        "0.05",
        "7",
        "100000",
    )
    assert (found["convention"], found["convention.fingerprint"]) == (
        "standard",
        Convention.of("standard").fingerprint,
    )
    assert {"version", "run", "baselines", "correction"} <= set(found)
    assert "seed" not in {
        one.get("name")
        for one in junit(replace(CLOSED, seed=None, n_resamples=None)).iter("property")
    }


@pytest.mark.parametrize("text", HOSTILE)
def test_junit_holds_any_text(text: str) -> None:
    cases = junit(hostile(text)).findall(".//testcase")
    fit = re.sub(
        "[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]",
        lambda letter: ascii(letter[0])[1:-1],
        text,
    )

    assert [case.get("classname") for case in cases[:2]] == [fit, fit]
    assert f"  {fit}  1.0000" in (cases[0].findtext("failure") or "")


def test_junit_is_read_by_another_library() -> None:
    junitparser = pytest.importorskip(
        "junitparser",
        reason="an independent reader of JUnit XML, in the test group of pyproject.toml",
    )

    (suite,) = junitparser.JUnitXml.fromroot(ET.fromstring("".join(gate_junit(CLOSED))))

    assert (suite.tests, suite.failures, suite.errors, suite.skipped) == (4, 2, 0, 0)
    assert [case.is_passed for case in suite] == [False, True, False, True]
    assert [case.result[0].message for case in suite if not case.is_passed] == [
        CHECK.reason,
        "q1: RR 0.5000, demanded 1.0000",
    ]


# --- GitHub ---------------------------------------------------------------------------------------


def test_github_gets_an_error_for_each_failure_and_one_notice() -> None:
    commands = obeyed("".join(annotations(CLOSED)))

    assert [(kind, properties["title"]) for kind, properties, _ in commands] == [
        ("error", "nDCG@10 against main"),
        ("error", "Contract of q1 is broken"),
        ("notice", verdict(CLOSED)),
    ]
    assert commands[0][2].startswith(
        "a drop of 0.050 is significant (one-sided p 0.002); 0.658 against 0.708, -0.050; "
        "worst queries: q7 (-0.5000)"
    )
    assert commands[1][2] == "RR 0.5000, demanded 1.0000 (contracts.csv:3)"
    assert commands[2][2] == could_see(CLOSED)
    assert [kind for kind, _, _ in obeyed("".join(annotations(OPEN)))] == ["notice"]


def test_github_is_told_of_failures_that_it_would_drop() -> None:
    many = replace(
        CLOSED,
        checks=tuple(replace(CHECK, measure=f"nDCG@{number}") for number in range(1, 31)),
        contracts=(),
    )

    errors = [data for kind, _, data in obeyed("".join(annotations(many))) if kind == "error"]

    assert len(errors) == 10
    assert errors[-1].startswith("21 more checks")


def test_github_is_told_of_warnings_that_it_would_drop_beside_cautions() -> None:
    short = replace(CHECK, outcome="too few judgments", carried=False)
    many = replace(
        CLOSED,
        outcome="too few judgments",
        checks=tuple(replace(short, measure=f"nDCG@{number}") for number in range(1, 31)),
        contracts=(),
        cautions=("one caution", "another"),
    )

    warnings = [data for kind, _, data in obeyed("".join(annotations(many))) if kind == "warning"]

    assert len(warnings) == 10
    assert warnings[:2] == ["One caution.", "Another."]
    assert warnings[-1].startswith("23 more checks and contracts have too few judgments")


@pytest.mark.parametrize("text", HOSTILE)
def test_no_name_or_id_gives_github_a_command(text: str) -> None:
    lines = list(annotations(hostile(text)))
    commands = obeyed("".join(lines))

    assert [kind for kind, _, _ in commands] == ["error", "error", "error", "notice"]
    assert all(set(properties) == {"title"} for _, properties, _ in commands)
    assert commands[0][1]["title"] == f"{one_line(text)} against {one_line(text)}"
    assert all(line.count("\n") == 1 and len(line) < 4000 for line in lines)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_log_that_quotes_a_name_or_id_is_not_obeyed(text: str) -> None:
    assert obeyed(harmless(f"{text}\n  {text} 0.5\nq {text}")) == []
    assert obeyed(harmless_json(f'  "query": "{one_line(text)}"')) == []


def test_a_log_without_commands_stays_as_it_is() -> None:
    report = "measure  main\nnDCG@10  0.5::\n\nfile.py::test # [x] ##\n"

    assert harmless(report) == harmless_json(report) == report


# --- Markdown -------------------------------------------------------------------------------------


class _Tags(html.parser.HTMLParser):
    """The tags and comments of a text, as a browser sees them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.comments: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        assert not attrs
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self.tags.append(f"/{tag}")

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)


def markdown(gated: Gated, **options: int) -> str:
    """A comment, checked for what holds of each: the marker at the end, tags closed, tables even,
    short enough.
    """
    text = "".join(gate_markdown(gated, **options))
    assert text.endswith(f"\n{MARKER}\n")
    assert len(text.encode()) < options.get("most_bytes", 65_536)
    seen = _Tags(text)
    assert seen.comments == [" idealrank gate "]
    assert set(seen.tags) <= {
        f"{slash}{tag}" for slash in ("", "/") for tag in ("code", "details", "summary", "sub")
    }
    assert all(
        seen.tags.count(tag) == seen.tags.count(f"/{tag}")
        for tag in ("code", "details", "summary", "sub")
    )
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        assert len({row.count("|") for row in table.splitlines()}) == 1
    return text


def test_a_comment_has_the_verdict_first_and_every_number() -> None:
    text = markdown(CLOSED)
    lines = text.splitlines()

    assert lines[0] == (
        "**The gate is closed: <code>new</code> must not replace <code>main</code> (1 of 2 "
        "checks failed, 1 of 2 contracts broken)**"
    )
    row = (
        "| **failed** | <code>nDCG&#64;10</code> | <code>main</code> | 0.708 | 0.658 | -0.050 | "
        "-0.012 | 0.002 | 0.004 |"
    )
    assert any(line.startswith(f"{row} 0.031 | 0.0% / 8.7% |") for line in lines)
    assert "| <code>q7</code> | 1.0000 | 0.5000 | -0.5000 |" in lines
    assert (
        text.index("**failed**")
        < text.index("| passed |")
        < text.index("Broken contracts")
        < text.index("<details>")
    )
    assert "seed 7" in lines[-3]
    assert Convention.of("standard").fingerprint in lines[-3]
    assert lines[-1] == MARKER


def test_a_comment_of_an_open_gate_says_what_it_could_not_have_seen() -> None:
    text = markdown(OPEN)

    assert text.startswith("**The gate is open: <code>new</code> may replace <code>main</code>**")
    assert "<code>AP</code> 0.021" in text


@pytest.mark.parametrize("text", HOSTILE)
def test_no_name_or_id_gets_out_of_the_code_it_stands_in(text: str) -> None:
    comment = markdown(hostile(text))

    inside = re.sub(r"<code>[^<`@#|*_~\[\]!]*?(&#\d+;[^<`@|*_~\[\]!]*?)*</code>", "<>", comment)
    outside = inside.replace(MARKER, "")
    assert not re.search(r"[`@\[\]]|https?:|www\.|\n::|#\d(?!\d*;)", outside)
    assert all(letter.isprintable() for letter in comment.replace("\n", ""))


@pytest.mark.parametrize("most_bytes", [5_000, 20_000, 65_536])
def test_a_comment_fits_whatever_there_is_to_say(most_bytes: int) -> None:
    worst = tuple(drop("😀<|`" * 40) for _ in range(10))
    checks = tuple(
        replace(CHECK, measure=f"nDCG@{number}", worst=worst) for number in range(1, 500)
    )
    many = replace(
        CLOSED,
        checks=(FINE, *checks),
        contracts=tuple(replace(BROKEN, measure="😀" * 60) for _ in range(500)),
    )

    text = markdown(many, most_bytes=most_bytes)

    assert "More did not fit here" in text
    assert len(text.encode()) > 0.8 * most_bytes
    assert "| passed |" not in text


def test_a_comment_is_cut_between_the_rows_of_a_fold() -> None:
    long = replace(
        CLOSED, checks=(replace(CHECK, worst=tuple(drop(f"q{number}") for number in range(3000))),)
    )

    text = markdown(long)

    assert text.count("</details>") == 1
    assert text.index("</details>") < text.index("More did not fit here")


@pytest.mark.parametrize("form", ["text", "comment", "annotations", "junit"])
def test_a_broken_contract_shows_the_text_of_its_query(form: str) -> None:
    writers = {
        "text": lambda gated: parts_text(gate_parts(gated)),
        "comment": lambda gated: "".join(gate_markdown(gated)),
        "annotations": lambda gated: "".join(annotations(gated)),
        "junit": lambda gated: "".join(gate_junit(gated)),
    }
    named = CLOSED.with_texts({"q1": "sort a list in place"})

    assert "sort a list in place" in writers[form](named)
    assert "sort a list in place" not in writers[form](CLOSED)


def test_the_record_of_a_contract_has_a_text_only_where_there_is_one() -> None:
    plain = CLOSED.as_dict()["contracts"]
    named = CLOSED.with_texts({"q1": "sort a list in place"}).as_dict()["contracts"]

    assert [row.get("text") for row in named] == ["sort a list in place", None]
    assert [{**row, "text": None} for row in plain] == [{**row, "text": None} for row in named]
