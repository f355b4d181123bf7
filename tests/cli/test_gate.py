"""`idealrank gate`: its exit codes, what it prints, the baselines it keeps, and that its errors
teach.
"""

import json
import math
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import idealrank as ir
from idealrank.io.complaints import Notes
from idealrank.io.gate_files.baselines import KeptRun, read_record
from tests.cli.terminal import DATA, Said, check_snapshot
from tests.conftest import PYDOCS

Say = Callable[..., Said]

COMMANDS = {
    "open": "gate qrels.txt neural.run --baseline bm25.run",
    "more": "gate qrels.txt neural.run --baseline bm25.run --more",
    "same": "gate qrels.txt bm25.run --baseline bm25.run.gz -m nDCG@10,AP",
    "json": "gate qrels.txt neural.run --baseline bm25.run --format json",
    "strict": "gate qrels.txt neural.run --baseline bm25.run --strict --margin 0.1",
    "error-no-baseline": "gate qrels.txt bm25.run",
    "error-missing": "gate qrels.txt bm25.run --baseline bm26.run",
    "error-twice": "gate qrels.txt bm25.run --baseline neural.run --baseline neural.run",
    "error-same-file": "gate qrels.txt bm25.run --baseline neural.run --baseline ./neural.run",
    "error-stdin": "gate qrels.txt bm25.run --baseline -",
    "error-margin": "gate qrels.txt bm25.run --baseline neural.run --margin 0.1",
    "error-strict": "gate qrels.txt bm25.run --baseline neural.run --strict",
    "error-tolerance": "gate qrels.txt bm25.run --baseline neural.run --tolerance -1",
    "error-measure": "gate qrels.txt bm25.run --baseline neural.run -m NumRet",
    "error-run-as-target": "gate qrels.txt bm25.run --baseline neural.run --update-baseline",
    "error-no-folder": "gate qrels.txt bm25.run --baseline nowhere/best.run --update-baseline",
    "error-contracts": "gate qrels.txt bm25.run --baseline neural.run --contracts qrels.txt",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_what_gate_says(name: str, say: Say) -> None:
    command = f"idealrank {COMMANDS[name]}"

    said = say(*shlex.split(command)[1:])

    check_snapshot(f"gate-{name}", said.text(command))
    assert said.code == (2 if name.startswith("error") else 1 if name == "strict" else 0)


def worse(path: Path, share: float) -> str:
    """A run with the first ten documents of some queries in the reverse order."""
    generator = np.random.default_rng(3)
    run, lines = ir.read_run(path), []
    queries = sorted({line.split()[0] for line in path.read_text(encoding="utf-8").splitlines()})
    for query in queries:
        documents = run.ranking(query).documents
        if generator.random() < share:
            documents[:10] = documents[9::-1]
        lines += [
            f"{query} Q0 {document} {rank} {1000 - rank} worse\n"
            for rank, document in enumerate(documents, 1)
        ]
    return "".join(lines)


@pytest.fixture(scope="module")
def worsened() -> dict[str, str]:
    """MiniLM made worse on most queries and on a few."""
    return {
        "worse.run": worse(PYDOCS / "minilm.run", 0.8),
        "little.run": worse(PYDOCS / "minilm.run", 0.05),
    }


@pytest.fixture
def pydocs(tmp_path: Path, worsened: dict[str, str]) -> Path:
    """The demo's collection, and worse runs."""
    for name in ("qrels.txt", "bm25.run", "minilm.run"):
        shutil.copy(PYDOCS / name, tmp_path)
    for name, text in worsened.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """The example files, for what is refused whatever the runs hold."""
    for name in ("qrels.txt", "bm25.run", "neural.run"):
        shutil.copy(DATA / name, tmp_path)
    return tmp_path


def words(said: Said) -> str:
    return " ".join(said.out.split())


def test_a_worse_run_is_stopped_an_equal_and_a_better_one_pass(pydocs: Path, say: Say) -> None:
    stopped = say("gate", "qrels.txt", "worse.run", "--baseline", "minilm.run", cwd=pydocs)
    equal = say("gate", "qrels.txt", "minilm.run", "--baseline", "minilm.run", cwd=pydocs)
    nearly = say("gate", "qrels.txt", "little.run", "--baseline", "minilm.run", cwd=pydocs)
    better = say("gate", "qrels.txt", "minilm.run", "--baseline", "bm25.run", cwd=pydocs)

    assert [one.code for one in (stopped, equal, nearly, better)] == [1, 0, 0, 0]
    values = [
        ir.evaluate(pydocs / "qrels.txt", pydocs / f"{name}.run", "nDCG@10").mean()["nDCG@10"]
        for name in ("worse", "minilm")
    ]
    assert (
        f"by nDCG@10, worse is worse than minilm: {values[0]:.3f} against {values[1]:.3f}, a "
        f"drop of" in words(stopped)
    )
    assert "worst queries by nDCG@10 (10 of" in words(stopped)
    # Nobody saw a change on 60 queries: with 1 - 0.05^(1/60) of such queries changed, that has a
    # chance of 0.05.
    assert (
        f"but a change that affects up to {100 * (1 - math.exp(math.log(0.05) / 60)):.2g}% of "
        f"such queries can pass unseen." in words(equal)
    )
    assert "has the same value as" in words(equal)
    assert "little is not shown to be worse than minilm" in words(nearly)
    assert "No power is stated, since 2 queries differ, fewer than 12. Add queries" in words(nearly)
    assert (
        "The gate is open: by nDCG@10, minilm is 0.203 higher than bm25 (0.708 against 0.505)."
        in words(better)
    )


def test_a_run_that_leaves_queries_out_is_told_so(pydocs: Path, say: Say) -> None:
    """The commonest accident in a build is a file that is cut short; nobody should have to infer it
    from the worst queries.
    """
    lines = (pydocs / "minilm.run").read_text(encoding="utf-8").splitlines(keepends=True)
    lost = {f"q{number:02d}" for number in range(41, 61)}
    (pydocs / "short.run").write_text(
        "".join(line for line in lines if line.split()[0] not in lost), encoding="utf-8"
    )

    said = say(
        "gate",
        "qrels.txt",
        "short.run",
        "--baseline",
        "minilm.run",
        "--markdown",
        "gate.md",
        cwd=pydocs,
    )
    record = json.loads(
        say(
            "gate",
            "qrels.txt",
            "short.run",
            "--baseline",
            "minilm.run",
            "--format",
            "json",
            cwd=pydocs,
        ).out
    )

    assert "Judged queries without an answer: 20 in short." in words(said)
    assert "Judged queries without an answer: 20 in <code>short</code>." in (
        pydocs / "gate.md"
    ).read_text(encoding="utf-8")
    assert record["missing"] == {"short": 20, "minilm": 0}
    whole = say("gate", "qrels.txt", "bm25.run", "--baseline", "minilm.run", cwd=pydocs)
    assert "without an answer" not in words(whole)


def test_a_tolerance_lets_a_drop_pass_and_a_strict_gate_does_not(pydocs: Path, say: Say) -> None:
    little = ("gate", "qrels.txt", "little.run", "--baseline", "minilm.run")

    assert (
        say(
            "gate",
            "qrels.txt",
            "worse.run",
            "--baseline",
            "minilm.run",
            "--tolerance",
            "0.5",
            cwd=pydocs,
        ).code
        == 0
    )
    strict = say(*little, "--strict", "--margin", "0.005", cwd=pydocs)
    assert strict.code == 1
    assert "little may be more than 0.005 worse than minilm" in words(strict)
    assert say(*little, "--strict", "--margin", "0.2", cwd=pydocs).code == 0


def test_the_json_is_what_the_library_says(pydocs: Path, say: Say) -> None:
    record = json.loads(
        say(
            "gate",
            "qrels.txt",
            "worse.run",
            "--baseline",
            "minilm.run",
            "-m",
            "nDCG@10,P@5",
            "--format",
            "json",
            cwd=pydocs,
        ).out
    )

    measures = ["nDCG@10", "P@5", "Judged@10", "NumRet@10", "Judged@5", "NumRet@5"]
    runs = [
        ir.evaluate(pydocs / "qrels.txt", pydocs / f"{name}.run", measures, keep_unjudged=True)
        for name in ("worse", "minilm")
    ]
    expected = json.loads(json.dumps(ir.gate(*runs, measures=["nDCG@10", "P@5"]).as_dict()))
    assert {name: record[name] for name in expected} == expected
    assert (record["notes"], record["policy_file"], record["passed"]) == ([], None, False)


def best(folder: Path, say: Say, run: str, *options: str) -> Said:
    return say(
        "gate",
        "qrels.txt",
        run,
        "--baseline",
        "best.run.gz",
        "--update-baseline",
        *options,
        cwd=folder,
    )


def test_every_run_that_passes_is_the_last_accepted_one(pydocs: Path, say: Say) -> None:
    target = pydocs / "best.run.gz"

    made = best(pydocs, say, "bm25.run")
    replaced = best(pydocs, say, "minilm.run")
    lower = best(pydocs, say, "little.run")
    accepted = target.read_bytes()
    closed = best(pydocs, say, "worse.run")
    looked = target.read_bytes()

    assert [one.code for one in (made, replaced, lower, closed)] == [0, 0, 0, 1]
    assert "there is no baseline yet" in made.out
    assert "note: saved bm25 as the baseline best.run.gz" in made.out
    assert (
        "note: best.run.gz now holds minilm as the last accepted run: nDCG@10 0.7082, against "
        "0.5047 in bm25" in words(replaced)
    )
    assert "note: best.run.gz now holds little as the last accepted run: nDCG@10" in words(lower)
    assert "note: best.run.gz was not replaced: the gate is closed" in closed.out
    assert accepted != looked  # one more commit was looked at
    assert read_record(str(target), Notes()).kept == tuple(
        KeptRun(name=name, commit=commit) for name, commit in ACCEPTED
    )
    assert best(pydocs, say, "little.run").code == 0
    assert target.read_bytes() == looked  # the values of the last accepted run: no look
    assert sorted(path.name for path in pydocs.iterdir() if path.name.startswith(".")) == []


ACCEPTED = (("little", 2), ("minilm", 1), ("bm25", 0))


def test_only_the_last_baseline_is_replaced(pydocs: Path, say: Say) -> None:
    best(pydocs, say, "bm25.run")
    shutil.copy(pydocs / "best.run.gz", pydocs / "pinned.run.gz")
    pinned = (pydocs / "pinned.run.gz").read_bytes()

    said = say(
        "gate",
        "qrels.txt",
        "minilm.run",
        "--baseline",
        "pinned.run.gz",
        "--baseline",
        "best.run.gz",
        "--update-baseline",
        cwd=pydocs,
    )
    both = say(
        "gate",
        "qrels.txt",
        "little.run",
        "--baseline",
        "pinned.run.gz",
        "--baseline",
        "best.run.gz",
        "--format",
        "json",
        cwd=pydocs,
    )

    assert said.code == 0
    assert (pydocs / "pinned.run.gz").read_bytes() == pinned
    assert [check["baseline"] for check in json.loads(both.out)["checks"]] == [
        "pinned",
        "best",
        "best (anchor)",
    ]


def test_a_closed_gate_makes_no_baseline(pydocs: Path, say: Say) -> None:
    said = say(
        "gate",
        "qrels.txt",
        "worse.run",
        "--baseline",
        "minilm.run",
        "--baseline",
        "new.run",
        "--update-baseline",
        cwd=pydocs,
    )

    assert said.code == 1
    assert "new.run was not made: the gate is closed" in said.out
    assert not (pydocs / "new.run").exists()


def test_a_baseline_is_scored_by_the_judgments_of_today(pydocs: Path, say: Say) -> None:
    best(pydocs, say, "minilm.run")
    lines = (pydocs / "qrels.txt").read_text(encoding="utf-8").splitlines()
    changed = [
        line.rsplit(maxsplit=1)[0] + (" 0" if number % 3 == 0 else " " + line.split()[-1])
        for number, line in enumerate(lines)
    ]
    (pydocs / "qrels.txt").write_text("\n".join(changed) + "\n", encoding="utf-8")

    said = say(
        "gate", "qrels.txt", "bm25.run", "--baseline", "best.run.gz", "--format", "json", cwd=pydocs
    )

    record = json.loads(said.out)
    whole = ir.evaluate(pydocs / "qrels.txt", pydocs / "minilm.run", "nDCG@10")
    assert record["checks"][0]["mean_baseline"] == whole.mean()["nDCG@10"]
    assert record["notes"] == [
        f"best.run.gz had other judgments when it was created: nDCG@10 is "
        f"{whole.mean()['nDCG@10']:.4f} and was 0.7082"
    ]


def test_a_baseline_is_never_made_shallower(pydocs: Path, say: Say) -> None:
    best(pydocs, say, "bm25.run", "-m", "nDCG@10,P@20")
    best(pydocs, say, "minilm.run", "-m", "nDCG@10")

    deep = say(
        "gate", "qrels.txt", "minilm.run", "--baseline", "best.run.gz", "-m", "P@20", cwd=pydocs
    )
    deeper = say(
        "gate", "qrels.txt", "minilm.run", "--baseline", "best.run.gz", "-m", "P@21", cwd=pydocs
    )

    assert deep.code == 0
    assert "same value" in deep.out
    assert deeper.code == 2
    assert "best.run.gz: found lists cut after rank 20, expected 21 ranks" in deeper.err


def test_contracts_close_an_open_gate_and_say_where_they_stand(pydocs: Path, say: Say) -> None:
    (pydocs / "contracts.csv").write_text(
        "query,measure,at_least\nq01,,\nq02,RR,0.01\nq46,nDCG@10,\nnobody,,0.5\n", encoding="utf-8"
    )
    command = (
        "gate",
        "qrels.txt",
        "minilm.run",
        "--baseline",
        "bm25.run",
        "--contracts",
        "contracts.csv",
    )

    said = say(*command, cwd=pydocs)

    assert said.code == 1
    assert (
        "The gate is closed: 2 contracts broken, first that of query q46: nDCG@10 0.2346, "
        "demanded 0.7039." in words(said)
    )
    assert "q46 nDCG@10 0.7039 0.2346 contracts.csv:4, its value in bm25" in words(said)
    assert "nobody nDCG@10 0.5000 no value contracts.csv:5" in words(said)
    assert len(json.loads(say(*command, "--format", "json", cwd=pydocs).out)["contracts"]) == 4
    (pydocs / "texts.tsv").write_text("q46\tread a file backwards\n", encoding="utf-8")
    named = words(say(*command, "--queries", "texts.tsv", cwd=pydocs))
    assert 'that of query q46 "read a file backwards": nDCG@10 0.2346, demanded 0.7039.' in named
    assert "contracts.csv:4, its value in bm25 read a file backwards" in named


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (
            "",
            "contracts.csv: found the header of an empty file, expected query[,measure][,at_least]",
        ),
        ("query\n", "contracts.csv: found no contract"),
        ("topic,at_least\nq,1\n", "contracts.csv:1: found the header topic,at_least"),
        ("query,query\nq,q\n", "contracts.csv:1: found the header query,query"),
        ("query,least\nq,1\n", "contracts.csv:1: found the header query,least"),
        ("query,at_least\nq,1,2\n", "contracts.csv:2: found 3 fields, expected 2: query,at_least"),
        (
            "query,at_least\n# x\n\nq,many\n",
            "contracts.csv:4: found at_least many, expected a finite number",
        ),
        ("query,measure\nq,nDGC@10\n", "contracts.csv:2: found no valid measure (unknown measure"),
        (
            "query,measure\nq,NumRet\n",
            "contracts.csv:2: found NumRet, for which neither more nor less is better",
        ),
        (
            "query\nq\nq\n",
            "contracts.csv:3: found the contract of contracts.csv:2 a second time, expected "
            "each once",
        ),
        ("query,measure\n,AP\n", "contracts.csv:2: found no query"),
        ('query\n"q\n', "contracts.csv:2: found a line that is not CSV"),
        ("query,at_least\nq\u2028r\x0c\x85,1\nq,many\n", "contracts.csv:3: found at_least many"),
    ],
)
def test_errors_of_contracts_have_file_and_line(
    text: str, error: str, small: Path, say: Say
) -> None:
    (small / "contracts.csv").write_text(text, encoding="utf-8")

    said = say(
        "gate",
        "qrels.txt",
        "neural.run",
        "--baseline",
        "bm25.run",
        "--contracts",
        "contracts.csv",
        cwd=small,
    )

    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(f"error: {error}")


def policy(folder: Path, *lines: str) -> None:
    (folder / "pyproject.toml").write_text(
        "\n".join(["[tool.idealrank.gate]", *lines]) + "\n", encoding="utf-8"
    )


def test_the_policy_of_the_project_holds_where_nothing_is_typed(pydocs: Path, say: Say) -> None:
    (pydocs / "base").mkdir()
    shutil.copy(pydocs / "minilm.run", pydocs / "base" / "old.run")
    (pydocs / "deep" / "er").mkdir(parents=True)
    policy(
        pydocs,
        'baseline = "base/old.run"',
        'measures = ["RR", "nDCG@5"]',
        "tolerance = 0.9",
        "alpha = 0.01",
        'convention = "trec_eval"',
    )
    command = ("gate", "qrels.txt", "worse.run", "--format", "json")

    found = json.loads(say(*command, cwd=pydocs).out)
    typed = json.loads(
        say(
            *command,
            "--tolerance",
            "0",
            "-m",
            "AP",
            "--baseline",
            "bm25.run",
            "--convention",
            "standard",
            cwd=pydocs,
        ).out
    )
    below = say("gate", "../../qrels.txt", "../../worse.run", cwd=pydocs / "deep" / "er")

    assert [check["measure"] for check in found["checks"]] == ["RR", "nDCG@5"]
    assert (found["baselines"], found["policy"]["tolerance"], found["policy"]["alpha"]) == (
        ["old"],
        0.9,
        0.01,
    )
    assert (found["convention"]["name"], found["policy_file"]) == (
        "trec_eval",
        "pyproject.toml [tool.idealrank.gate]",
    )
    assert (typed["baselines"], typed["policy"]["tolerance"], typed["policy"]["alpha"]) == (
        ["bm25"],
        0,
        0.01,
    )
    assert (typed["checks"][0]["measure"], typed["convention"]["name"]) == ("AP", "standard")
    assert below.code == 0
    assert f"policy from {pydocs / 'pyproject.toml'} [tool.idealrank.gate]" in words(below)


def test_a_typed_rule_leaves_out_what_the_file_says_of_the_other(pydocs: Path, say: Say) -> None:
    command = ("gate", "qrels.txt", "little.run", "--baseline", "minilm.run", "--format", "json")

    policy(pydocs, "tolerance = 0.1")
    strict = json.loads(say(*command, "--strict", "--margin", "0.2", cwd=pydocs).out)
    policy(pydocs, "strict = true", "margin = 0.2")
    plain = json.loads(say(*command, "--no-strict", "--tolerance", "0.1", cwd=pydocs).out)
    file = json.loads(say(*command, cwd=pydocs).out)

    rest = {"alpha": 0.05, "when_unjudged": "fail", "largest_loss": None, "horizon": 50}
    assert (
        strict["policy"]
        == file["policy"]
        == {"tolerance": 0.0, "strict": True, "margin": 0.2} | rest
    )
    assert plain["policy"] == {"tolerance": 0.1, "strict": False, "margin": None} | rest


@pytest.mark.slow
def test_weights_and_clusters_of_the_policy_are_those_of_the_options(
    pydocs: Path, say: Say
) -> None:
    (pydocs / "eval").mkdir()
    queries = ir.read_qrels(pydocs / "qrels.txt")
    for name, words in (
        ("traffic.txt", range(1, 61)),
        ("users.txt", (number // 3 for number in range(60))),
    ):
        (pydocs / "eval" / name).write_text(
            "".join(f"{query} {word}\n" for query, word in zip(queries, words, strict=True)),
            encoding="utf-8",
        )
    command = ("gate", "qrels.txt", "little.run", "--baseline", "minilm.run", "--format", "json")
    typed = json.loads(
        say(
            *command, "--weights", "eval/traffic.txt", "--cluster", "eval/users.txt", cwd=pydocs
        ).out
    )

    policy(pydocs, 'weights = "eval/traffic.txt"', 'cluster = "eval/users.txt"')
    found = json.loads(say(*command, cwd=pydocs).out)

    assert (found["weighted"], found["clustered"]) == (True, True)
    assert found["checks"] == typed["checks"]


@pytest.mark.parametrize(
    ("lines", "error"),
    [
        (
            ["tolerence = 0.1"],
            "pyproject.toml: [tool.idealrank.gate]: unknown key 'tolerence', expected qrels, run, ",
        ),
        (
            ["tolerance = true"],
            "pyproject.toml: [tool.idealrank.gate]: tolerance: found True, expected a number",
        ),
        (
            ["strict = 1"],
            "pyproject.toml: [tool.idealrank.gate]: strict: found 1, expected true or false",
        ),
        (
            ["baseline = []"],
            "pyproject.toml: [tool.idealrank.gate]: baseline: found [], expected a path, or a "
            "list of paths",
        ),
        (["measures = ["], "pyproject.toml: found a file that is not TOML ("),
        (
            ["margin = 0.1"],
            "pyproject.toml [tool.idealrank.gate]: margin=0.1: found a gate that is not strict",
        ),
        (
            ["alpha = 1e-300"],
            "pyproject.toml [tool.idealrank.gate]: alpha=1e-300: expected a probability from "
            "1e-09 to below 0.5",
        ),
        (
            ['measures = ["nope"]'],
            "pyproject.toml [tool.idealrank.gate]: measures: unknown measure 'nope'",
        ),
        (
            ['convention = "nope"'],
            "pyproject.toml [tool.idealrank.gate]: convention: unknown convention 'nope'",
        ),
    ],
)
def test_a_policy_that_is_wrong_is_refused(
    lines: list[str], error: str, small: Path, say: Say
) -> None:
    policy(small, *lines)

    said = say("gate", "qrels.txt", "neural.run", "--baseline", "bm25.run", cwd=small)

    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(f"error: {error.format(folder=small)}")


def test_weights_and_threads_reach_the_gate(pydocs: Path, say: Say) -> None:
    queries = sorted(
        {
            line.split()[0]
            for line in (pydocs / "qrels.txt").read_text(encoding="utf-8").splitlines()
        }
    )
    (pydocs / "traffic.txt").write_text(
        "".join(f"{query} {number + 1}\n" for number, query in enumerate(queries)), encoding="utf-8"
    )
    command = (
        "gate",
        "qrels.txt",
        "little.run",
        "--baseline",
        "minilm.run",
        "--weights",
        "traffic.txt",
        "--format",
        "json",
    )

    one, three = (
        json.loads(say(*command, "--threads", threads, cwd=pydocs).out) for threads in ("1", "3")
    )

    runs = [
        ir.evaluate(pydocs / "qrels.txt", pydocs / f"{name}.run", "nDCG@10")
        for name in ("little", "minilm")
    ]
    weighted = ir.gate(*runs, weights={query: number + 1 for number, query in enumerate(queries)})
    assert one == three
    assert one["checks"][0]["p"] == weighted.checks[0].p


def test_one_query_is_said_to_show_nothing(tmp_path: Path, say: Say) -> None:
    for name, text in (
        ("qrels", "q 0 x 1\n"),
        ("old", "q Q0 x 1 2.0 t\n"),
        ("new", "q Q0 y 1 3.0 t\nq Q0 x 2 2.0 t\n"),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")

    plain = say("gate", "qrels", "new", "--baseline", "old", cwd=tmp_path)
    strict = say(
        "gate", "qrels", "new", "--baseline", "old", "--strict", "--margin", "0.9", cwd=tmp_path
    )

    assert (plain.code, strict.code) == (0, 1)
    assert (
        "1 query is too few to show any drop, however large: this gate passes every run."
        in words(plain)
    )
    assert "worse on 1 of 1 query" in words(strict)


def test_a_run_from_standard_input_becomes_a_baseline(pydocs: Path, say: Say) -> None:
    from tests.cli.terminal import idealrank

    said = idealrank(
        "gate",
        "qrels.txt",
        "-",
        "--baseline",
        "best.run.gz",
        "--update-baseline",
        stdin=(pydocs / "bm25.run").read_bytes(),
        cwd=pydocs,
    )

    assert (said.code, said.err) == (0, "")
    assert (
        "same value"
        in say("gate", "qrels.txt", "bm25.run", "--baseline", "best.run.gz", cwd=pydocs).out
    )


def test_documents_that_nobody_judged_are_said(pydocs: Path, say: Say) -> None:
    lines = (pydocs / "qrels.txt").read_text(encoding="utf-8").splitlines()
    (pydocs / "qrels.txt").write_text("\n".join(lines[::2]) + "\n", encoding="utf-8")
    best(pydocs, say, "bm25.run")

    said = say("gate", "qrels.txt", "minilm.run", "--baseline", "best.run.gz", cwd=pydocs)

    shares = [
        ir.evaluate(pydocs / "qrels.txt", pydocs / f"{name}.run", "P@10").coverage.unjudged_share
        for name in ("bm25", "minilm")
    ]
    assert f"nDCG@10 best {shares[0]:.1%} {shares[1]:.1%}" in words(said)


def test_no_file_that_is_read_becomes_the_baseline(pydocs: Path, say: Say) -> None:
    best(pydocs, say, "bm25.run")
    before = (pydocs / "best.run.gz").read_bytes()

    itself = say(
        "gate",
        "qrels.txt",
        "best.run.gz",
        "--baseline",
        "best.run.gz",
        "--update-baseline",
        cwd=pydocs,
    )
    output = say(
        "gate",
        "qrels.txt",
        "minilm.run",
        "--baseline",
        "best.run.gz",
        "-o",
        "best.run.gz",
        cwd=pydocs,
    )

    new = say(
        "gate",
        "qrels.txt",
        "minilm.run",
        "--baseline",
        "new.run",
        "--update-baseline",
        "-o",
        "./new.run",
        cwd=pydocs,
    )

    assert (itself.code, output.code, new.code) == (2, 2, 2)
    assert "-o ./new.run: found the file that --update-baseline writes" in new.err
    assert "found an input file of this command" in itself.err
    assert (pydocs / "best.run.gz").read_bytes() == before


def test_the_example_files_are_as_they_were() -> None:
    assert sorted(path.name for path in DATA.glob("best*")) == []
