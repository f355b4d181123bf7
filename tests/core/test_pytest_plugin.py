"""The plug-in for pytest, in sessions of its own: what it costs, what it fails, and what it
says.
"""

import subprocess
import sys
import xml.etree.ElementTree as ET
from inspect import signature
from pathlib import Path
from typing import Any, cast, get_type_hints

import pytest

from idealrank._keys import keys_of
from idealrank.analysis.gate.contracts import Contract
from idealrank.analysis.gate.outcome import Gated, Policy, WhenUnjudged
from idealrank.data.label_kinds import LabelKind
from idealrank.integrations import pytest_gate
from idealrank.pytest_plugin import RankingGate
from tests.pools import written

_ROWS = {f"q{number}": {"x": 1} for number in range(30)}
PLUGIN = "idealrank.pytest_plugin"
# Plug-ins that no gate needs; each takes its time to be loaded by each of these sessions.
WITHOUT = (
    "xdist",
    "cacheprovider",
    "hypothesispytest",
    "anyio",
    "doctest",
    "faulthandler",
    "legacypath",
    "pastebin",
    "stepwise",
)
QUIET = tuple(word for name in WITHOUT for word in ("-p", f"no:{name}"))
TEST = """
def test_search_did_not_get_worse(ranking_gate):
    ranking_gate("qrels.txt", "{run}.run", baseline="main.run"{options})
"""


def listed(folder: Path, name: str, ranking: list[str]) -> None:
    """A run with the same ranking for every query; every third query has another, so that
    differences vary.
    """
    lines = []
    for number, query in enumerate(_ROWS):
        order = (
            ["x", *(document for document in ranking if document != "x")]
            if number % 3 == 0
            else ranking
        )
        lines += [
            f"{query} Q0 {document} {rank} {9 - rank} {name}\n"
            for rank, document in enumerate(order)
        ]
    (folder / f"{name}.run").write_text("".join(lines), encoding="utf-8")


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> None:
    """All that a gate loads, before pytest runs inside pytest, which forgets what was imported
    there, and NumPy bears no second time.
    """
    folder = tmp_path_factory.mktemp("loaded")
    ranked = {query: ["x", "y"] for query in _ROWS}
    for update in (True, False):
        assert not pytest_gate.ask(
            _ROWS, ranked | {"q1": ["y", "x"]}, folder / "a.run.gz", {}, root=folder, update=update
        ).failure


@pytest.fixture
def session(pytester: pytest.Pytester, loaded: None) -> pytest.Pytester:
    """A project with judgments and three runs: main, the same again, and one that is worse on two
    queries of three.
    """
    (pytester.path / "qrels.txt").write_text(
        "".join(f"{query} 0 x 1\n" for query in _ROWS), encoding="utf-8"
    )
    (pytester.path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n", encoding="utf-8")
    for name, ranking in {
        "main": ["x", "y", "z"],
        "same": ["x", "y", "z"],
        "worse": ["y", "z", "x"],
    }.items():
        listed(pytester.path, name, ranking)
    return pytester


def main_runs(session: pytest.Pytester) -> bytes:
    """Bytes of the baseline."""
    return (session.path / "main.baseline.gz").read_bytes()


def asked(
    session: pytest.Pytester, run: str, *arguments: str, options: str = ""
) -> pytest.RunResult:
    session.makepyfile(TEST.format(run=run, options=options))
    return session.runpytest_inprocess("-p", PLUGIN, *QUIET, *arguments)


def test_loading_the_plug_in_loads_neither_numpy_nor_the_library() -> None:
    code = (
        f"import pytest, sys; before = set(sys.modules); import {PLUGIN}; "
        f"print(*(set(sys.modules) - before))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.split()

    assert {name.partition(".")[0] for name in loaded} == {"idealrank"}
    assert set(loaded) == {"idealrank", "idealrank._lazy", "idealrank.version", PLUGIN}


def test_a_gate_without_arguments_reads_the_files_and_columns_of_the_policy(
    session: pytest.Pytester,
) -> None:
    rows = ["need,page,stars", *(f"{query},x,1" for query in _ROWS)]
    (session.path / "labels.csv").write_text("\n".join(rows), encoding="utf-8")
    table = """
    [tool.pytest.ini_options]
    [tool.idealrank.gate]
    baseline = "main.run"
    measures = "RR"
    qrels = "labels.csv"
    qrels_columns = "query=need,document=page,grade=stars"
    run = "{run}.run"
    """
    session.makepyfile("def test_gate(ranking_gate):\n    ranking_gate()")
    for run, outcome in (("same", {"passed": 1}), ("worse", {"failed": 1})):
        (session.path / "pyproject.toml").write_text(table.format(run=run), encoding="utf-8")
        session.runpytest_inprocess("-p", PLUGIN, *QUIET).assert_outcomes(**outcome)


def test_labels_of_the_policy_are_grades_of_files_and_of_dataframes(
    session: pytest.Pytester,
) -> None:
    rows = ["need,sku,stars", *(f"{query},x,Exact" for query in _ROWS)]
    (session.path / "labels.csv").write_text("\n".join(rows), encoding="utf-8")
    table = """
    [tool.idealrank.gate]
    baseline = "main.run"
    measures = "RR"
    qrels = "labels.csv"
    qrels_columns = "query=need,document=sku,grade=stars"
    labels = "Exact=3,Not relevant=0"
    run = "{run}.run"
    """
    frame = 'polars.read_csv("labels.csv").rename({"need": "query"})'
    session.makepyfile(
        f"import polars\ndef test_gate(ranking_gate):\n    ranking_gate()\n"
        f"def test_frame(ranking_gate):\n    ranking_gate({frame}.rename({{'stars': 'grade'}}))"
    )
    for run, outcome in (("same", {"passed": 2}), ("worse", {"failed": 2})):
        (session.path / "pyproject.toml").write_text(table.format(run=run), encoding="utf-8")
        session.runpytest_inprocess("-p", PLUGIN, *QUIET).assert_outcomes(**outcome)


def test_columns_of_the_policy_are_not_those_of_a_dataframe(session: pytest.Pytester) -> None:
    """A test that ranks by itself has columns of its own, here the usual names."""
    columns = '[tool.idealrank.gate]\nrun_columns = "query=need,document=page,score=sureness"\n'
    (session.path / "pyproject.toml").write_text(columns, encoding="utf-8")
    frame = 'polars.DataFrame({"query": ["q1"], "document": ["x"], "score": [1.0]})'
    call = (
        f'ranking_gate("qrels.txt", {frame}, baseline="main.run", measures="RR", tolerance=0.999)'
    )
    session.makepyfile(f"import polars\ndef test_gate(ranking_gate):\n    {call}")

    session.runpytest_inprocess("-p", PLUGIN, *QUIET).assert_outcomes(passed=1)


def test_a_gate_without_files_names_the_key(session: pytest.Pytester) -> None:
    session.makepyfile("def test_gate(ranking_gate):\n    ranking_gate(baseline='main.run')")

    result = session.runpytest_inprocess("-p", PLUGIN, *QUIET)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*qrels: found none, expected ranking_gate(qrels, run), or the key qrels in*"]
    )


def test_an_open_gate_passes_and_says_what_it_could_have_seen(session: pytest.Pytester) -> None:
    result = asked(session, "same", options=', measures="RR"')

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            "*= ranking gates =*",
            "*::test_search_did_not_get_worse",
            "  The gate is open: same may replace main",
            "  True drop that would be found 80% of the time: RR *",
        ]
    )


def test_a_closed_gate_fails_with_a_report_and_no_traceback(session: pytest.Pytester) -> None:
    result = asked(session, "worse", options=', measures="RR"')

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "The gate is closed: by RR, worse is worse than main: 0.556 against 1.000, a drop*",
            "worst queries by RR *",
        ]
    )
    result.stdout.fnmatch_lines(
        ["*= ranking gates =*", "*The gate is closed: worse must not replace main*"]
    )
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*def test_search*")
    result.stdout.no_fnmatch_line("*gating.py*")


@pytest.mark.spread(3)
@pytest.mark.parametrize(
    ("options", "outcome"),
    [
        (', measures="RR", tolerance=0.6', "passed"),
        (', measures="RR", tolerance=0.2, when_unjudged="fail"', "failed"),
        (', measures="RR", strict=True, margin=0.6', "passed"),
        (', measures="RR", strict=True, margin=0.3', "failed"),
        (', measures="R@3"', "passed"),
    ],
)
def test_a_test_says_what_it_asks(session: pytest.Pytester, options: str, outcome: str) -> None:
    asked(session, "worse", options=options).assert_outcomes(**{outcome: 1})


def test_a_judge_that_contradicts_the_sign_leaves_the_test_undecided(
    session: pytest.Pytester,
) -> None:
    (session.path / "judge.qrels").write_text(
        "".join(f"{query} 0 y 1\n" for query in _ROWS), encoding="utf-8"
    )
    for judge, options, outcome in (
        ('"judge.qrels"', ', when_unjudged="neutral"', "skipped"),
        (
            '{f"q{number}": {"y": 1} for number in range(30)}',
            ', when_unjudged="neutral"',
            "skipped",
        ),
        ('"judge.qrels"', "", "failed"),
        ('"qrels.txt"', "", "failed"),
    ):
        result = asked(
            session, "worse", "-rs", options=f', measures="RR", judge_qrels={judge}{options}'
        )

        result.assert_outcomes(**{outcome: 1})
        result.stdout.fnmatch_lines(
            [
                "*People and the judge disagree on *"
                if outcome == "skipped"
                else "*The gate is closed: *"
            ]
        )
        if outcome == "skipped":
            result.stdout.fnmatch_lines(
                ["SKIPPED *people find -0.444* and the judge +*disagree on the sign*"]
            )


def test_a_judge_that_cannot_be_read_fails_in_a_sentence(session: pytest.Pytester) -> None:
    result = asked(session, "worse", options=', judge_qrels="nowhere.qrels"')

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["ranking gate: nowhere.qrels: found no such file*"])
    result.stdout.no_fnmatch_line("*Traceback*")


def test_a_gate_that_cannot_be_asked_fails_in_a_sentence(session: pytest.Pytester) -> None:
    result = asked(session, "nowhere")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["ranking gate: nowhere.run: found no such file*", "  not asked: nowhere.run*"]
    )
    result.stdout.no_fnmatch_line("*Traceback*")


def test_the_plug_in_may_be_asked_for_more_than_once(session: pytest.Pytester) -> None:
    # By its entry point, by -p, and by a conftest.py.
    session.makeconftest(f'pytest_plugins = ["{PLUGIN}"]')

    asked(session, "same", "-p", PLUGIN).assert_outcomes(passed=1)


def test_an_entry_point_beside_the_option_does_no_harm(session: pytest.Pytester) -> None:
    folder = session.mkdir("installed") / "other-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: other\nVersion: 1\n", encoding="utf-8"
    )
    (folder / "entry_points.txt").write_text(f"[pytest11]\n{PLUGIN} = {PLUGIN}\n", encoding="utf-8")
    session.syspathinsert(folder.parent)

    for arguments in ((), ("-p", PLUGIN)):
        session.makepyfile(TEST.format(run="same", options=""))
        session.runpytest_inprocess(*arguments, *QUIET).assert_outcomes(passed=1)


def test_relative_paths_start_at_the_root(
    session: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.makepyfile(TEST.format(run="same", options=""))
    monkeypatch.chdir(session.mkdir("below"))

    session.runpytest_inprocess(
        "-p", PLUGIN, *QUIET, "--rootdir", str(session.path), str(session.path)
    ).assert_outcomes(passed=1)


def test_pytests_own_junit_file_has_what_the_gate_could_have_seen(session: pytest.Pytester) -> None:
    asked(session, "same", "--junitxml=junit.xml", options=', measures="RR"')

    found = list(ET.parse(session.path / "junit.xml").iter("property"))
    assert [one.get("name") for one in found] == ["ranking_gate", "ranking_gate"]
    assert "RR" in (found[1].get("value") or "")


def test_two_gates_of_a_test_are_told_once_each(session: pytest.Pytester) -> None:
    session.makepyfile("""
        import pytest

        @pytest.fixture
        def gate(ranking_gate):
            yield ranking_gate
            raise OSError("a tear-down that fails")

        def test_twice(gate):
            gate("qrels.txt", "same.run", baseline="main.run", measures="RR")
            gate("qrels.txt", "worse.run", baseline="main.run", measures="R@3")
    """)

    result = session.runpytest_inprocess("-p", PLUGIN, *QUIET)

    lines = result.stdout.str().splitlines()
    assert sum(line.startswith("  The gate is open: same") for line in lines) == 1
    assert sum(line.startswith("  The gate is open: worse") for line in lines) == 1


def test_a_session_without_gates_says_nothing_of_them(session: pytest.Pytester) -> None:
    session.makepyfile("def test_nothing(): pass")

    session.runpytest_inprocess("-p", PLUGIN, *QUIET).stdout.no_fnmatch_line("*ranking gates*")


@pytest.mark.slow  # starts a process of pytest
def test_processes_of_xdist_tell_their_gates_too(session: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    session.makepyfile(TEST.format(run="same", options=', measures="RR"'))

    result = session.runpytest_inprocess("-p", PLUGIN, "-p", "no:cacheprovider", "-n", "1")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["*= ranking gates =*", "  The gate is open: same may replace main"]
    )


# --- policy and baselines -------------------------------------------------------------------------


def test_what_a_test_does_not_say_comes_from_the_project(session: pytest.Pytester) -> None:
    session.makepyprojecttoml("""
        [tool.idealrank.gate]
        baseline = "main.run"
        measures = ["RR"]
        tolerance = 0.6
        when_unjudged = "fail"
    """)
    session.makepyfile("""
        def test_as_the_project_says(ranking_gate):
            gated = ranking_gate("qrels.txt", "worse.run")
            assert (gated.policy.tolerance, [check.measure for check in gated.checks]) == (0.6, ["RR"])

        def test_more_strictly(ranking_gate):
            ranking_gate("qrels.txt", "worse.run", tolerance=0.1)

        def test_by_the_other_rule(ranking_gate):
            assert ranking_gate("qrels.txt", "worse.run", strict=True, margin=0.7).policy.tolerance == 0
    """)  # noqa: E501

    result = session.runpytest_inprocess("-p", PLUGIN, *QUIET)

    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        ["*policy from pyproject.toml [[]tool.idealrank.gate[]]*", "FAILED *::test_more_strictly*"]
    )


def test_weights_and_clusters_of_the_project_count(session: pytest.Pytester) -> None:
    (session.path / "traffic.txt").write_text(
        "".join(f"{query} {number + 1}\n" for number, query in enumerate(_ROWS)), encoding="utf-8"
    )
    session.makepyprojecttoml("""
        [tool.idealrank.gate]
        baseline = "main.run"
        weights = "traffic.txt"
        cluster = "traffic.txt"
    """)
    session.makepyfile("""
        def test_weighted(ranking_gate):
            gated = ranking_gate("qrels.txt", "same.run")
            assert gated.weighted and gated.clustered
    """)

    session.runpytest_inprocess("-p", PLUGIN, *QUIET).assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("alpha = 2.0", "ranking gate: pyproject.toml [[]tool.idealrank.gate[]]: alpha*"),
        (
            'weights = "traffic.txt"',
            "ranking gate: *traffic.txt: found no line for query 'q1' (29 of 30 queries)*",
        ),
    ],
)
def test_a_mistake_of_the_project_is_told_with_its_file(
    session: pytest.Pytester, policy: str, said: str
) -> None:
    (session.path / "traffic.txt").write_text("q0 1\n", encoding="utf-8")
    session.makepyprojecttoml(f'[tool.idealrank.gate]\nbaseline = "main.run"\n{policy}\n')
    session.makepyfile('def test_it(ranking_gate): ranking_gate("qrels.txt", "same.run")')

    result = session.runpytest_inprocess("-p", PLUGIN, *QUIET)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([said])


def test_contracts_hold_single_queries(session: pytest.Pytester) -> None:
    (session.path / "contracts.csv").write_text(
        "query,measure,at_least\nq1,P@1,1\n", encoding="utf-8"
    )

    result = asked(session, "worse", options=', measures="R@3", contracts="contracts.csv"')

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "The gate is closed: 1 contract broken, first that of query q1: P@1 0.0000, "
            "demanded 1.0000*"
        ]
    )


BASELINE = """
def test_it(ranking_gate):
    ranking_gate("qrels.txt", "{run}.run", baseline={baseline!r}, measures="RR")
"""


def test_a_baseline_is_made_and_replaced_on_request_alone(session: pytest.Pytester) -> None:
    def outcome(run: str, *arguments: str) -> pytest.RunResult:
        session.makepyfile(BASELINE.format(run=run, baseline=["main.run", "main.baseline.gz"]))
        return session.runpytest_inprocess("-p", PLUGIN, *QUIET, *arguments)

    missing = outcome("same")
    made = outcome("same", "--update-ranking-baseline")
    first = main_runs(session)
    held = outcome("worse")
    replaced = outcome("worse", "--update-ranking-baseline")

    missing.stdout.fnmatch_lines(
        ["*main.baseline.gz: found no such file; `pytest --update-ranking-baseline` makes it*"]
    )
    made.assert_outcomes(passed=1)
    made.stdout.fnmatch_lines(
        ["*= ranking gates =*", "  main.baseline.gz now holds same: RR 1.0000"]
    )
    held.assert_outcomes(failed=1)
    replaced.assert_outcomes(passed=1)
    replaced.stdout.fnmatch_lines(["  main.baseline.gz now holds worse: RR 0.5556"])
    assert main_runs(session) != first
    assert not list(session.path.glob(".*unfinished"))
    (session.path / "main.baseline.gz").rename(session.path / "kept.gz")
    (session.path / "main.baseline.gz").symlink_to("kept.gz")
    outcome("same", "--update-ranking-baseline")
    assert (session.path / "main.baseline.gz").is_symlink()
    assert main_runs(session) == first


def test_a_baseline_is_scored_by_the_judgments_of_today(session: pytest.Pytester) -> None:
    session.makepyfile(BASELINE.format(run="same", baseline="main.baseline.gz"))
    session.runpytest_inprocess("-p", PLUGIN, *QUIET, "--update-ranking-baseline").assert_outcomes(
        passed=1
    )
    judged = (
        "".join(f"{query} 0 {document} 1\n" for query in list(_ROWS)[:20] for document in "xy")
        + "q29 0 z 1\n"
    )
    (session.path / "qrels.txt").write_text(judged, encoding="utf-8")

    result = session.runpytest_inprocess("-p", PLUGIN, *QUIET)

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["  main.baseline.gz had other judgments when it was created: RR is *"]
    )


def test_no_run_is_replaced_by_a_baseline(session: pytest.Pytester) -> None:
    session.makepyfile(BASELINE.format(run="worse", baseline="main.run"))
    before = (session.path / "main.run").read_bytes()

    result = session.runpytest_inprocess("-p", PLUGIN, *QUIET, "--update-ranking-baseline")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*main.run: found a file that is no baseline, and it is not replaced*"]
    )
    assert (session.path / "main.run").read_bytes() == before


@pytest.mark.parametrize(
    ("baseline", "said"),
    [
        (None, "baseline: found none, expected ranking_gate(qrels, run, baseline=*"),
        ([], "baseline: found none, expected ranking_gate(qrels, run, baseline=*"),
        ({"q1": ["x"]}, "baseline: found dict, expected a path, or a list of paths*"),
    ],
)
def test_a_baseline_is_a_file(session: pytest.Pytester, baseline: object, said: str) -> None:
    session.makepyfile(BASELINE.format(run="same", baseline=baseline))

    result = session.runpytest_inprocess("-p", PLUGIN, *QUIET)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"ranking gate: {said}"])


# --- too few judgments ----------------------------------------------------------------------------

POOLED = """
def test_it(ranking_gate):
    ranking_gate("pooled.qrels", "new.run", baseline="main.run"{options})
"""


@pytest.mark.spread(2)
@pytest.mark.parametrize(
    ("options", "outcome"),
    [
        ("", "failed"),
        (', when_unjudged="neutral"', "skipped"),
        (', when_unjudged="pass"', "passed"),
        (', measures=["nDCG@10", "P@5"], also="P@5", when_unjudged="neutral"', "skipped"),
    ],
)
def test_a_test_fails_where_the_judgments_do_not_reach_unless_the_policy_is_neutral(
    pytester: pytest.Pytester, loaded: None, options: str, outcome: str
) -> None:
    written(pytester.path)
    (pytester.path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n", encoding="utf-8")
    pytester.makepyfile(POOLED.format(options=options))

    result = pytester.runpytest_inprocess("-p", PLUGIN, *QUIET, "-rs")

    result.assert_outcomes(**{outcome: 1})
    if outcome == "skipped":
        result.stdout.fnmatch_lines(
            [
                "*= ranking gates =*",
                "  Too few judgments to say whether new may replace main*",
                "SKIPPED *: Too few judgments to say * the values show a drop of * (one-sided "
                "p *, two-sided p *), but there "
                "are too few judgments to support it: this drop would no longer be "
                "significant if *% of the * "
                "unjudged documents that only new returns were relevant*",
            ]
        )


def test_companions_fail_no_test_unless_they_are_named(session: pytest.Pytester) -> None:
    for options, outcome in (
        ("", "passed"),
        (', also="RR"', "failed"),
        (', also=["P@3", "RR"]', "failed"),
    ):
        asked(session, "worse", options=f', measures=["R@3", "RR"]{options}').assert_outcomes(
            **{outcome: 1}
        )


def test_the_project_may_say_what_is_made_of_it(pytester: pytest.Pytester, loaded: None) -> None:
    written(pytester.path)
    pytester.makepyprojecttoml("""
        [tool.idealrank.gate]
        baseline = "main.run"
        also = ["P@5"]
        when_unjudged = "neutral"
    """)
    pytester.makepyfile("""
        def test_as_the_project_says(ranking_gate):
            ranking_gate("pooled.qrels", "new.run")

        def test_otherwise(ranking_gate):
            gated = ranking_gate("pooled.qrels", "new.run", when_unjudged="pass")
            assert [(check.measure, check.decides) for check in gated.checks] == [("nDCG@10", True), ("P@5", True)]
    """)  # noqa: E501

    pytester.runpytest_inprocess("-p", PLUGIN, *QUIET).assert_outcomes(passed=1, skipped=1)


FROM_THE_FILE = {"horizon"}
"""Parts of the rule that a test cannot set: a series of baselines spends its alpha over one
horizon, which `pyproject.toml` declares for the whole project.
"""
NAMES = {kind.__name__: kind for kind in (Contract, Gated)} | {
    "WhenUnjudged": WhenUnjudged,
    "LabelKind": LabelKind,
}
"""Types that the plug-in names without importing them."""


def test_the_fixture_takes_every_part_of_the_rule_but_those_of_the_whole_project() -> None:
    parts = set(keys_of(Policy))
    options = signature(RankingGate.__call__).parameters
    assert parts - set(options) == FROM_THE_FILE
    kinds = get_type_hints(Policy)
    offered = get_type_hints(RankingGate.__call__, localns=NAMES)
    for name in parts - FROM_THE_FILE:
        assert options[name].default is None, name  # then the file decides, and else the default
        assert offered[name] == kinds[name] | None, name


def test_every_part_of_the_rule_that_a_test_gives_reaches_the_gate(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    given: dict[str, Any] = {}

    def ask(qrels: Any, run: Any, baseline: Any, settings: Any, **others: Any) -> Any:
        given.update(settings)
        return pytest_gate.GateAnswer(said=())

    monkeypatch.setattr(pytest_gate, "ask", ask)
    parts = {name: f"given {name}" for name in set(keys_of(Policy)) - FROM_THE_FILE}
    RankingGate(request.config, [])(**cast("dict[str, Any]", parts))
    assert given == parts
