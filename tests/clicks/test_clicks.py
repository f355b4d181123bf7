"""`idealrank clicks`: what it prints, that its formats agree, and that its errors teach."""

import csv
import io
import json
import re
import shlex
import shutil
from collections.abc import Callable
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest

import idealrank as ir
from idealrank.clicks import PBM, Sessions, ips, propensities, simulate
from idealrank.clicks.commands.clicks import COMMANDS as SUBCOMMANDS
from idealrank.clicks.commands.clicks import clicks
from idealrank.clicks.views.log_checks import qrels_lines, qrels_rows
from idealrank.errors import InputError
from tests.cli.terminal import Said, check_snapshot

Say = Callable[..., Said]


def shop() -> Sessions:
    """Lists of a small shop whose first result is swapped at random."""
    truth = np.random.default_rng(1).beta(1, 2, (6, 8))
    return simulate(truth, 300, ranks=4, policy="swap", users=40, rng=3)


@pytest.fixture
def folder(tmp_path: Path, logs: Path) -> Path:
    """A folder of the test's own."""
    shutil.copytree(logs, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs in several formats, and decisions with rewards; written once, to be copied."""
    tmp_path = tmp_path_factory.mktemp("logs")
    log = shop()
    assert log.user is not None
    rows: list[dict[str, Any]] = [
        {
            "session_id": f"s{row}",
            "query": f"q{log.queries[log.query[row]]}",
            "doc_id": f"d{log.documents[log.pair[row, rank]][1]}",
            "position": rank + 1,
            "clicked": int(log.clicks[row, rank]),
            "user": f"u{log.user[row]}",
        }
        for row in range(len(log))
        for rank in range(4)
    ]
    _write(tmp_path / "log.csv", rows)
    (tmp_path / "log.jsonl").write_text(
        "".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8"
    )
    first = rows[0]
    wrong = [
        {**first, "session_id": "x1"},
        {**first, "session_id": "x1"},
        {**first, "session_id": "x2", "position": 2},
        {**first, "session_id": "x3"},
        {**first, "session_id": "x3", "position": 2},
        {**first, "session_id": "x4", "clicked": 3},
        {**first, "session_id": "x5", "doc_id": ""},
        *({**first, "session_id": f"p{n}", "user": "program", "clicked": 1} for n in range(25)),
    ]
    _write(tmp_path / "wrong.csv", [*rows, *wrong])
    _write(tmp_path / "zero.csv", [{**row, "position": row["position"] - 1} for row in rows])
    rng = np.random.default_rng(2)
    logged, target, other = (
        rng.uniform(0.3, 0.9, 400),
        rng.uniform(0.3, 0.9, 400),
        rng.uniform(0.3, 0.9, 400),
    )
    rewards = (rng.random(400) < 0.4).astype(int)
    model = rng.uniform(0.3, 0.5, (2, 400))
    _write(
        tmp_path / "predicted.csv",
        [
            {
                "click": reward,
                "pscore": a,
                "target": b,
                "predicted_logged": c,
                "predicted_target": d,
            }
            for reward, a, b, c, d in zip(
                rewards.tolist(), logged.tolist(), target.tolist(), *model.tolist(), strict=True
            )
        ],
    )
    _write(
        tmp_path / "rewards.csv",
        [
            {"click": reward, "pscore": a, "target": b, "target_b": c}
            for reward, a, b, c in zip(
                rewards.tolist(), logged.tolist(), target.tolist(), other.tolist(), strict=True
            )
        ],
    )
    (tmp_path / "never.csv").write_text(
        "click,pscore,target\n1,0.5,0.5\n0,0,0.5\n", encoding="utf-8"
    )
    blanks = "session,query,document,rank,click\ns,red shoes,a,1,1\ns,red shoes,b,2,0\n"
    (tmp_path / "blanks.csv").write_text(blanks, encoding="utf-8")
    actions = [
        ("s1", "shoes", "a", 1, 1, "clicked", 12),
        ("s1", "shoes", "b", 2, 0, "none", ""),
        ("s1", "shoes", "c", 3, 0, "none", ""),
        ("s2", "shoes", "b", 1, 1, "booked", 3),
        ("s2", "shoes", "a", 2, 0, "none", ""),
        ("s2", "shoes", "c", 3, 1, "clicked", 31),
        ("s3", "shoes", "c", 2, 1, "booked", 99),
    ]
    names = ("session", "query", "document", "rank", "click", "action", "dwell")
    _write(tmp_path / "actions.csv", [dict(zip(names, row, strict=True)) for row in actions])
    _write_runs_and_slates(tmp_path, rng)
    _write_ubi(tmp_path)
    (tmp_path / "text.csv").write_text(
        "session,query,document,rank,click\ns,q,d,first,1\n", encoding="utf-8"
    )
    return tmp_path


def _write_runs_and_slates(folder: Path, rng: np.random.Generator) -> None:
    for name, noise in (("old", 1.5), ("new", 0.2)):
        scores = np.random.default_rng(1).beta(1, 2, (6, 8)) + noise * rng.random((6, 8))
        (folder / f"{name}.run").write_text(
            "".join(
                f"q{query} Q0 d{document} 1 {scores[query, document]:.6f} {name}\n"
                for query in range(6)
                for document in range(8)
            ),
            encoding="utf-8",
        )
    ranks = [{"rank": rank, "propensity": 1 / rank} for rank in range(1, 5)]
    _write(folder / "propensity.csv", ranks)
    _write(folder / "short.csv", ranks[:2])
    lists = [
        {
            "list": f"l{row}",
            "rank": place + 1,
            "click": int(rng.random() < 0.3),
            "logged_probability": round(rng.uniform(0.4, 0.6), 3),
            "target_probability": round(rng.uniform(0.4, 0.6), 3),
            "target_b": round(rng.uniform(0.4, 0.6), 3),
            "user": f"u{row // 2}",
        }
        for row in range(300)
        for place in range(2)
    ]
    _write(folder / "slates.csv", lists)


def _write_ubi(folder: Path) -> None:
    hits = [
        {
            "query_id": f"{n}",
            "user_query": "shoes",
            "query_response_hit_ids": list("abc"),
            "client_id": f"u{n}",
        }
        for n in range(3)
    ]
    event = {
        "action_name": "click",
        "query_id": "1",
        "event_attributes": {"object": {"object_id": "b"}},
    }
    events = [
        event,
        {**event, "action_name": "purchase"},
        {**event, "query_id": "9"},
        {"action_name": "login"},
    ]
    for name, records in (("queries", hits), ("events", events)):
        (folder / f"ubi_{name}.jsonl").write_text(
            "".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8"
        )
    (folder / "secret.txt").write_text("0123456789abcdef\n", encoding="utf-8")


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


COMMANDS = {
    "validate": "clicks validate log.csv",
    "validate-wrong": "clicks validate wrong.csv",
    "validate-zero": "clicks validate zero.csv",
    "validate-json": "clicks validate wrong.csv --format json",
    "propensity": "clicks propensity log.csv --resamples 30",
    "propensity-wrong": "clicks propensity wrong.csv --resamples 20 --iterations 20 --seed 5",
    "propensity-pivot": "clicks propensity log.csv --method pivot --resamples 20",
    "propensity-all-pairs": "clicks propensity log.csv --method all-pairs --resamples 20",
    "propensity-trust": "clicks propensity log.csv --method trust --resamples 50",
    "propensity-trust-csv": "clicks propensity log.csv --method trust --resamples 20 --format csv",
    "runs": "clicks runs log.csv old.run new.run -k 3",
    "runs-one": "clicks runs log.csv new.run --method pivot --format csv",
    "runs-file": "clicks runs log.csv old.run new.run --propensities propensity.csv",
    "slates": "clicks slates slates.csv",
    "slates-several": "clicks slates slates.csv --estimator ips --estimator sniips --discount "
    "1,0.5",
    "error-slates-rank": "clicks slates predicted.csv --columns "
    "session=click,rank=pscore,reward=click,logged=pscore",
    "error-runs-three": "clicks runs log.csv old.run new.run old.run",
    "error-runs-file": "clicks runs log.csv new.run --propensities short.csv",
    "grade": "clicks grade log.csv --cuts 0.2,0.4 --least 5",
    "grade-raw": "clicks grade log.csv --model raw --cuts 0.3 --least 50",
    "grade-csv": "clicks grade blanks.csv --model cascade --least 1 --format csv",
    "error-blank": "clicks grade blanks.csv --model cascade --least 1",
    "grade-actions": "clicks grade actions.csv --actions none=0,clicked=1,booked=4 --dwell "
    "10=2,30=3 --least 2",
    "grade-actions-of-clicks": "clicks grade log.csv --actions none=0,click=1 --least 40",
    "error-action": "clicks grade actions.csv --actions none=0,clicked=1",
    "error-actions": "clicks grade actions.csv --actions none,clicked=1",
    "error-actions-model": "clicks grade actions.csv --actions none=0,clicked=1 --model pbm",
    "error-dwell": "clicks grade log.csv --actions none=0,click=1 --dwell 10=2",
    "validate-redact": "clicks validate wrong.csv --redact",
    "validate-ubi": "clicks validate ubi_queries.jsonl --events ubi_events.jsonl",
    "grade-ubi": "clicks grade ubi_queries.jsonl --events ubi_events.jsonl --actions "
    "none=0,click=1,purchase=4 --least 1",
    "error-ubi-actions": "clicks validate ubi_queries.jsonl --events ubi_events.jsonl "
    "--click-actions watch",
    "error-ubi-columns": "clicks validate ubi_queries.jsonl --events ubi_events.jsonl --columns "
    "rank=place",
    "error-key": "clicks validate log.csv --redact-key log.csv",
    "grade-sdbn": "clicks grade log.jsonl --model sdbn --cuts 0.3 --least 40",
    "estimate": "clicks estimate rewards.csv",
    "estimate-clipped": "clicks estimate rewards.csv --estimator clipped --clip 1.5 --resamples "
    "50 --level "
    "0.9",
    "estimate-model": "clicks estimate predicted.csv --estimator ips --estimator dr --estimator "
    "switch --switch "
    "1.5",
    "error-model": "clicks estimate rewards.csv --estimator dr",
    "estimate-csv": "clicks estimate rewards.csv --format csv",
    "report-error-ending": "clicks report log.csv -o page.txt",
    "error-column": "clicks validate rewards.csv",
    "error-named": "clicks validate log.csv --columns rank=place",
    "error-role": "clicks validate log.csv --columns place=position",
    "error-number": "clicks validate text.csv",
    "error-never": "clicks estimate never.csv",
    "error-cuts": "clicks grade log.csv --cuts 0.4,0.2",
    "error-missing": "clicks validate absent.csv",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_what_clicks_says(name: str, say: Say, folder: Path) -> None:
    command = f"idealrank {COMMANDS[name]}"

    output = say(*shlex.split(command)[1:], cwd=folder)

    check_snapshot(f"clicks-{name}", output.text(command))
    assert output.code == (2 if "error" in name else 0)


def test_the_help_of_the_group_has_the_line_of_each_command() -> None:
    context = click.Context(clicks)
    for name, line in SUBCOMMANDS.items():
        command = clicks.get_command(context, name)
        assert command is not None
        assert command.short_help == line


def test_every_format_of_a_log_is_the_same_log(say: Say, folder: Path) -> None:
    from pyarrow import csv as arrow_csv
    from pyarrow import parquet

    parquet.write_table(arrow_csv.read_csv(folder / "log.csv"), folder / "log.parquet")
    outputs = [
        say("clicks", "validate", f"log.{ending}", "--format", "json", cwd=folder).out
        for ending in ("csv", "jsonl", "parquet")
    ]
    assert outputs[0] == outputs[1] == outputs[2]


def test_propensities_have_the_numbers_of_the_library(say: Say, folder: Path) -> None:
    options = ("clicks", "propensity", "log.csv", "--resamples", "30")
    record = json.loads(say(*options, "--format", "json", cwd=folder).out)["ranks"]
    rows = list(csv.DictReader(io.StringIO(say(*options, "--format", "csv").out)))
    estimated = propensities(shop(), n_resamples=30)
    for rank, (rank_record, row) in enumerate(zip(record, rows, strict=True)):
        assert rank_record["propensity"] == float(row["propensity"]) == estimated.relative[rank]
        assert (
            rank_record["interval"]
            == [float(row["low"]), float(row["high"])]
            == estimated.intervals[rank].tolist()
        )
        assert rank_record["perplexity"] == estimated.perplexity[rank]


def test_a_report_has_the_same_bytes_twice_and_the_numbers_of_the_library(
    say: Say, folder: Path
) -> None:
    command = (
        "clicks",
        "report",
        "wrong.csv",
        "--rewards",
        "rewards.csv",
        "--model",
        "pbm",
        "--resamples",
        "5",
        "-o",
        "page.html",
    )
    output = say(*command, cwd=folder)
    page = (folder / "page.html").read_bytes()
    assert output.code == 0
    assert "note: wrote page.html" in output.err
    assert say(*command, cwd=folder).code == 0
    assert (folder / "page.html").read_bytes() == page
    value = re.escape(repr(propensities(shop(), n_resamples=5).relative[-1].item()))
    assert re.search(f'data-value="{value}"', page.decode())


def test_estimates_have_the_numbers_of_the_library(say: Say, folder: Path) -> None:
    with (folder / "rewards.csv").open(encoding="utf-8") as file:
        columns = list(
            zip(*(map(float, row.values()) for row in csv.DictReader(file)), strict=True)
        )
    rewards, logged, target, _ = map(list, columns)
    record = json.loads(
        say("clicks", "estimate", "rewards.csv", "--format", "json", cwd=folder).out
    )
    for value_record in record["values"]:
        estimate = ips(rewards, target, logged, value_record["estimator"])
        assert (value_record["value"], value_record["interval"]) == (
            estimate.value,
            list(estimate.interval),
        )
    assert [difference["estimator"] for difference in record["differences"]] == ["ips", "snips"]


def test_redacted_output_has_no_text_of_a_user(say: Say, folder: Path) -> None:
    rows = ["session,query,document,rank,click,user"]
    rows += [f"secret-s{n},my name is secret,d{n % 3},1,{n % 2},secret-u{n}" for n in range(30)]
    rows += ["secret-t,my name is secret,d1,2,1,secret-u1"]  # a problem with an example
    (folder / "private.csv").write_text("\n".join(rows), encoding="utf-8")
    for command in (
        "validate",
        "grade --model raw --least 1",
        "grade --actions none=0,click=1 --least 1",
    ):
        plain = say(
            "clicks",
            *command.split(),
            "private.csv",
            *(["--format", "csv"] if "grade" in command else ()),
            cwd=folder,
        )
        output = say("clicks", *command.split(), "private.csv", "--redact", cwd=folder)
        assert plain.code == output.code == 0, output.err
        assert "secret" in plain.out + plain.err
        assert "secret" not in output.out + output.err
        if "grade" in command:
            assert [line.split()[2:] for line in output.out.splitlines()] == [
                row.split(",")[1:3] for row in plain.out.splitlines()[1:]
            ]


def test_a_key_makes_other_hashes_with_the_same_grades(say: Say, folder: Path) -> None:
    command = ("clicks", "grade", "log.csv", "--least", "5")
    plain, hashed, keyed = (
        say(*command, *more, cwd=folder).out.splitlines()
        for more in ((), ("--redact",), ("--redact-key", "secret.txt"))
    )
    queries = [{line.split()[0] for line in lines} for lines in (plain, hashed, keyed)]
    assert not queries[1] & queries[2]
    assert [len(hits) for hits in queries] == [6, 6, 6]
    assert (
        [line.split()[1:] for line in plain]
        == [line.split()[1:] for line in hashed]
        == [line.split()[1:] for line in keyed]
    )
    guess = {blake2b(query.encode(), digest_size=8).hexdigest() for query in queries[0]}
    assert guess == queries[1]  # without a key, the hash of a guessed query identifies the query


def test_judgments_have_their_source_and_a_file_of_their_provenance(say: Say, folder: Path) -> None:
    command = (
        "clicks",
        "grade",
        "wrong.csv",
        "--cuts",
        "0.2,0.4",
        "--least",
        "5",
        "-o",
        "clicks.qrels",
    )
    assert say(*command, cwd=folder).code == 0
    assert {line.split()[1] for line in (folder / "clicks.qrels").read_text().splitlines()} == {
        "clicks-pbm"
    }
    first = (folder / "clicks.qrels.provenance.json").read_text()
    record = json.loads(first)
    assert (record["source"], record["cuts"], record["least"], record["redacted"]) == (
        "clicks-pbm",
        [0.2, 0.4],
        5,
        "no",
    )
    assert record["inputs"] == [
        {"name": "wrong.csv", "sha256": sha256((folder / "wrong.csv").read_bytes()).hexdigest()}
    ]
    assert (record["lists"] - record["lists_kept"], record["problems"]["programs"]) == (30, 25)
    assert record["pairs_graded"] == len((folder / "clicks.qrels").read_text().splitlines())
    assert record["position_bias"] > 1
    assert say(*command, cwd=folder).code == 0
    assert (folder / "clicks.qrels.provenance.json").read_text() == first


def test_bytes_that_are_no_utf_8_are_redacted_too(say: Say, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_bytes(
        b"session,query,document,rank,click\ns\xb1,q\xee,d1,1,1\ns2,q2,d1,1,0\n"
    )

    output = say("clicks", "validate", "log.csv", "--redact", cwd=tmp_path)

    assert (output.code, "Traceback" in output.err) == (0, False), output.err


def test_grades_are_written_as_judgments_that_evaluate_reads(say: Say, folder: Path) -> None:
    output = say(
        "clicks",
        "grade",
        "log.csv",
        "--cuts",
        "0.2,0.4",
        "--least",
        "5",
        "-o",
        "clicks.qrels",
        cwd=folder,
    )
    assert output.code == 0
    qrels = ir.read_qrels(folder / "clicks.qrels")
    log = shop()
    fitted = PBM().fit(log)
    rates = {
        (f"q{query}", f"d{document}"): value
        for (query, document), value in zip(
            fitted.documents, fitted.attractiveness_values, strict=True
        )
    }
    for query in qrels.queries:
        for document, grade in qrels[query].items():
            assert grade == sum(rates[query, document] >= cut for cut in (0.2, 0.4))


def test_a_share_that_was_played_is_graded_like_seconds(say: Say, tmp_path: Path) -> None:
    rows = "s1,q,a,1,1,0.95\ns1,q,b,2,1,0.4\ns1,q,c,3,0,0\ns2,q,a,1,1,0.1\n"
    (tmp_path / "played.csv").write_text(
        f"session,query,document,rank,click,played\n{rows}", encoding="utf-8"
    )
    options = [
        "--actions",
        "none=0,click=1",
        "--dwell",
        "0.3=2,0.9=4",
        "--columns",
        "dwell=played",
        "--least",
        "1",
    ]
    output = say("clicks", "grade", "played.csv", *options, cwd=tmp_path)
    assert output.out.splitlines() == [
        "q clicks-actions a 4",
        "q clicks-actions b 2",
        "q clicks-actions c 0",
    ]


@pytest.mark.parametrize("command", ["validate", "propensity --resamples 5", "grade --least 5"])
def test_the_user_of_a_log_may_have_any_column(command: str, say: Say, folder: Path) -> None:
    header, _, rows = (folder / "log.csv").read_text(encoding="utf-8").partition("\n")
    name = next(column for column in header.split(",") if column.startswith("user"))
    (folder / "own.csv").write_text(f"{header.replace(name, 'customer')}\n{rows}", encoding="utf-8")
    word, *options = command.split()
    usual = say("clicks", word, "log.csv", *options, cwd=folder)
    named = say("clicks", word, "own.csv", *options, "--columns", "user=customer", cwd=folder)
    both = say(
        "clicks", word, "own.csv", *options, "--columns", "user=customer,query=query", cwd=folder
    )
    assert (named.code, both.code) == (0, 0)
    assert named.out == both.out == usual.out


@pytest.mark.parametrize(
    "command",
    [
        "propensity log.csv --resamples 2",
        "grade log.csv --least 5",
        "runs log.csv old.run new.run -k 3",
        "report log.csv -o p.html",
    ],
)
def test_every_command_says_that_a_fit_has_not_converged(
    command: str, say: Say, folder: Path
) -> None:
    pytest.importorskip("jinja2")
    early = say("clicks", *command.split(), "--iterations", "1", cwd=folder)
    assert early.code == 0
    assert (
        early.err.count(
            "warning: the click model has not converged at 1 iterations; raise the number of "
            "iterations"
        )
        == 1
    )
    assert "has not converged" not in say("clicks", *command.split(), cwd=folder).err


def test_runs_give_no_verdict_by_propensities_that_have_not_converged(
    say: Say, folder: Path
) -> None:
    output = say(
        "clicks",
        "runs",
        "log.csv",
        "old.run",
        "new.run",
        "-k",
        "3",
        "--iterations",
        "1",
        "--format",
        "json",
        cwd=folder,
    )
    record = json.loads(output.out)
    assert record["difference"]["verdict"] == "no support"
    assert all("has not converged" in " ".join(run["cautions"]) for run in record["runs"])


def test_a_page_of_propensities_that_have_not_converged_has_a_stop_sign(
    say: Say, folder: Path
) -> None:
    pytest.importorskip("vl_convert")
    say("clicks", "report", "log.csv", "-o", "early.html", "--iterations", "1", cwd=folder)
    page = (folder / "early.html").read_text(encoding="utf-8")
    assert "No verdict on propensities: the click model has not converged at 1 iterations" in page
    assert "No stop sign in this log" not in page


def test_runs_of_a_large_log_hold_the_true_dcg(say: Say, tmp_path: Path) -> None:
    """Of 133 queries and examination 1 / rank^0.9, 50 steps of expectation maximisation had a DCG
    12 standard errors too small.
    """
    rng, examined = np.random.default_rng(1), np.arange(1, 10) ** -0.9
    truth = rng.beta(2, 6, (133, 12))
    log = simulate(truth, 12_000, ranks=9, propensity=examined, scores=3 * truth, rng=rng)
    rows = [
        f"s{row},{log.queries[log.query[row]]},{log.documents[pair][1]},{rank + 1},{int(log.clicks[row, rank])}\n"  # noqa: E501
        for row, pairs in enumerate(log.pair)
        for rank, pair in enumerate(pairs)
    ]
    (tmp_path / "log.csv").write_text(
        "session,query,document,rank,click\n" + "".join(rows), encoding="utf-8"
    )
    best = "".join(
        f"{query} Q0 {document} 1 {score} best\n"
        for query in range(133)
        for document, score in enumerate(truth[query])
    )
    (tmp_path / "best.run").write_text(best, encoding="utf-8")
    output = say(
        "clicks", "runs", "log.csv", "best.run", "-k", "9", "--format", "json", cwd=tmp_path
    )
    assert output.err == ""
    dcg = json.loads(output.out)["runs"][0]["dcg"]
    ordered = np.sort(truth, axis=1)[:, ::-1][:, :9]
    per_query = (ordered / np.log2(np.arange(2, 11))).sum(axis=1)
    expected = float(per_query[[int(log.queries[query]) for query in log.query]].mean())
    low, high = dcg["interval"]
    assert low <= expected <= high


@pytest.mark.parametrize("command", ["estimate", "slates"])
def test_the_user_of_rewards_is_the_cluster(command: str, say: Say, tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    reward = rng.random((200, 2)) < 0.3
    rows = "".join(
        f"s{row},{rank + 1},{int(reward[row, rank])},0.5,0.4,u{row // 40}\n"
        for row in range(200)
        for rank in range(2)
    )
    for name, user in (("named", "user"), ("other", "customer")):
        header = f"session,rank,reward,logged_probability,target_probability,{user}\n"
        (tmp_path / f"{name}.csv").write_text(header + rows, encoding="utf-8")
    usual = say("clicks", command, "named.csv", cwd=tmp_path)
    for role in ("user", "cluster"):
        output = say("clicks", command, "other.csv", "--columns", f"{role}=customer", cwd=tmp_path)
        assert (output.code, output.out) == (0, usual.out)
    twice = say(
        "clicks", command, "other.csv", "--columns", "user=customer,cluster=session", cwd=tmp_path
    )
    assert twice.code == 2
    assert "found cluster and user, expected one of them" in " ".join(twice.err.split())


def test_a_role_of_judgments_is_none_of_a_click_log(say: Say, folder: Path) -> None:
    for columns, expected in (
        (
            "item=document",
            "found the role 'item', expected some of session, query, document, rank, click, user",
        ),
        ("user=a,user=b", "found a role twice, expected each once"),
        ("user", "expected ROLE=NAME,... with roles among session, query"),
    ):
        output = say("clicks", "validate", "log.csv", "--columns", columns, cwd=folder)
        assert output.code == 2
        assert expected in " ".join(output.err.split())


@pytest.mark.parametrize(
    ("query", "problem"), [("#metoo", "found # at the start"), ("\u3000", "found a blank")]
)
def test_judgments_that_trec_lines_cannot_hold_are_refused(query: str, problem: str) -> None:
    qrels = ir.Qrels({query: {"d": 1}})

    with pytest.raises(InputError, match=problem):
        list(qrels_lines(qrels))
    assert list(qrels_rows(qrels))[1] == [query, "d", "1", "0"]


def test_whole_grades_keep_all_of_their_digits() -> None:
    qrels = ir.Qrels({"q": {"a": 1234567, "b": 0.123456789}})

    assert list(qrels_lines(qrels)) == ["q 0 a 1234567\n", "q 0 b 0.123457\n"]
